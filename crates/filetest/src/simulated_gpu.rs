//! The rung of a simulated GPU: PTX as NVIDIA's driver would get it, run by `cloom-cuda-sim`.
//!
//! In comes a linked module; it is compiled as the backend for GPUs does it: the scalar passes, coarsening, the passes
//! for GPUs, LLVM. A launch is divided into grids as `hal-cuda` divides it, but a coarsened kernel is run whenever it
//! may be: the thresholds of the device are about speed.

use crate::case::{CaseArg, NdRange, Outcome, format_ref};
use crate::device::pack_args;
use crate::rungs::{Ready, Rung, find};
use cloom_artifact::{KernelArtifact, KernelCode, LaunchForm};
use cloom_cuda_sim::ptx::{self, GlobalMemory, Memory};
use cloom_hal_gpu::grids::{Descriptor, GRID_LIMITS, coarsened_groups, coarsened_items, grids};
use cloom_hal_gpu::print::{UNWRITTEN, records};
use cloom_ir::abi::gpu::{Coarsening, GpuLaunch, PRINT_CAPACITY, PRINT_RECORDS};
use cloom_ir::{Module, abi};
use cloom_llvm::OptLevel;
use cloom_passes::{FINISH_GPU, PassManager, PassOptions};
use cloom_spmd::Coarse;
use cloom_target::Target;

/// Instructions that all threads of a grid may execute.
const BUDGET: u64 = 1 << 31;
/// Bytes for what a launch prints.
const PRINT_BYTES: usize = 1 << 20;

/// A simulated GPU.
#[derive(Clone, Copy, Debug)]
pub struct SimulatedGpu {
    /// Whether work-items are coarsened where they may be.
    pub is_coarsened: bool,
}

impl Rung for SimulatedGpu {
    fn name(&self) -> String {
        format!("simulated GPU ({})", if self.is_coarsened { "coarsened" } else { "a thread a work-item" })
    }

    fn prepare_with(&self, module: &Module, kernel: &str, passes: &PassOptions) -> Result<Box<dyn Ready + '_>, String> {
        let mut module = module.clone();
        let kernel = find(&module, kernel)?;
        let target = Target::gpu("sm_90").map_err(|e| e.to_string())?;
        let passes = passes.for_gpu(target.machine().has_generic_pointers());
        let manager = PassManager::new(&passes);
        cloom_passes::run_with(&mut module, kernel, &manager, |_, _| {});
        let coarse = self.is_coarsened.then(|| cloom_spmd::coarsen(&mut module, kernel, &manager).0).flatten();
        let kernels: Vec<_> = std::iter::once(kernel).chain(coarse.map(|coarse| coarse.func)).collect();
        for &func in &kernels {
            FINISH_GPU.iter().for_each(|&pass| manager.in_module(&mut module, func, pass));
        }
        let options = cloom_llvm::Options {
            target: target.clone(),
            level: OptLevel::Default,
            denorms_are_zero: false,
            texts: false,
            lines: false,
            count: false,
        };
        let code = cloom_llvm::compile_kernels(&module, &kernels, &options, &passes).map_err(|e| e.to_string())?;
        let text = String::from_utf8_lossy(&code.object);
        let ptx = ptx::Module::parse(&text).map_err(|e| format!("{e}\n{text}"))?;
        let entries = code.symbols.clone();
        let code = KernelCode {
            target,
            code: code.object,
            entry: entries[0].clone(),
            local_size: code.local_size,
            private_size: code.private_size,
            subgroup_size: None,
            denorms_are_zero: false,
            launch: LaunchForm::WorkItem(GpuLaunch::default()),
        };
        let artifact = KernelArtifact::new(&module, kernel, code).map_err(|e| e.to_string())?;
        Ok(Box::new(Loaded { module, artifact, ptx, entries, coarse }))
    }
}

/// A kernel on the simulated GPU.
struct Loaded {
    module: Module,
    artifact: KernelArtifact,
    ptx: ptx::Module,
    /// The ordinary kernel, and the coarsened one if there is one.
    entries: Vec<String>,
    coarse: Option<Coarse>,
}

/// What one kernel runs of a launch.
struct Part<'a> {
    entry: &'a str,
    range: NdRange,
    /// The id of the first group.
    first_group: [u64; 3],
    local_size: u64,
}

impl Loaded {
    /// The parts of a launch.
    fn parts(&self, range: NdRange, local_size: u64) -> Vec<Part<'_>> {
        let all = Part { entry: &self.entries[0], range, first_group: [0; 3], local_size };
        let (Some(coarse), Some(entry)) = (&self.coarse, self.entries.get(1)) else { return vec![all] };
        let (coarsened, rest, local_size) = match coarse.coarsening {
            Coarsening::WorkItems => match coarsened_items(&range, coarse.factor.into(), 1) {
                Some((coarsened, rest)) => (coarsened, rest.map(|rest| (rest, [0; 3])), local_size),
                None => return vec![all],
            },
            Coarsening::Groups { dim, local_size: fixed } => {
                let dim = usize::from(dim);
                // Each of the joined groups has its own copy of the local memory, aligned like the first one.
                let of_all = local_size.next_multiple_of(u64::from(abi::BLOCK_ALIGN)) * u64::from(coarse.factor);
                match coarsened_groups(&range, dim, coarse.factor.into()) {
                    Some((coarsened, rest)) => {
                        let first = |at| std::array::from_fn(|d| if d == dim { at } else { 0 });
                        (coarsened, rest.map(|(rest, at)| (rest, first(at))), fixed.unwrap_or(of_all))
                    }
                    None => return vec![all],
                }
            }
        };
        // What the coarse kernel leaves over is run by the ordinary one, which must see the ids that these work-items
        // have in the whole launch.
        let rest = rest.map(|(range, first_group)| Part { range, first_group, ..all });
        std::iter::once(Part { entry, range: coarsened, first_group: [0; 3], local_size }).chain(rest).collect()
    }

    /// The memory of the program's variables.
    fn variables(&self, memory: &mut Memory) -> u64 {
        let all = self.module.variables();
        let address = memory.allocate(vec![0; all.size as usize + 16]);
        let mut put = |at: u64, bytes: &[u8]| memory.bytes_mut(address + at)[..bytes.len()].copy_from_slice(bytes);
        all.init.iter().for_each(|(at, bytes)| put(*at, bytes));
        all.relocs.iter().for_each(|&(at, target)| put(at, &address.wrapping_add_signed(target).to_le_bytes()));
        address
    }
}

impl Ready for Loaded {
    fn run(&self, range: &NdRange, args: &[CaseArg], _: bool) -> Result<Outcome, String> {
        let mut memory = Memory::new();
        let loaded = self.ptx.load(&mut memory);
        let variables = self.variables(&mut memory);
        let mut room = vec![UNWRITTEN; PRINT_RECORDS as usize + PRINT_BYTES];
        // No byte is asked for yet. All else is `UNWRITTEN`, which ends the list of records behind the last one that
        // the kernel wrote.
        room[..4].fill(0);
        room[PRINT_CAPACITY as usize..][..4].copy_from_slice(&(PRINT_BYTES as u32).to_le_bytes());
        let print = memory.allocate(room);
        let mut block = vec![0u8; self.artifact.arg_block as usize];
        let (local_size, buffers) = pack_args(&self.artifact, args, &mut block, |bytes| {
            let address = memory.allocate(bytes.to_vec());
            Ok((address, (address, bytes.len())))
        })?;
        // All parts see the range of the launch.
        let mut descriptor = Descriptor::new(range, variables, print);
        for part in self.parts(*range, local_size) {
            let infos = self.ptx.params(part.entry).ok_or("the entry is not in the code")?;
            for mut grid in grids(&part.range, GRID_LIMITS).ok_or("too many grids")? {
                grid.first_group = std::array::from_fn(|d| grid.first_group[d] + part.first_group[d]);
                descriptor.set_grid(&grid);
                // The first parameter of an entry is the descriptor of the launch; those of the kernel follow.
                let values = self.artifact.args.iter().zip(&infos[1..]);
                let values = values.map(|(arg, info)| block[arg.offset as usize..][..info.size].to_vec());
                let params: Vec<Vec<u8>> = std::iter::once(descriptor.0.to_vec()).chain(values).collect();
                let dynamic_shared = u32::try_from(part.local_size).map_err(|_| "too much local memory")?;
                let sizes = ptx::Grid { groups: grid.groups, threads: grid.local, dynamic_shared };
                ptx::launch(&loaded, part.entry, &params, &sizes, &mut memory, BUDGET).map_err(|e| e.to_string())?;
            }
        }
        let printed = &memory.bytes(print)[PRINT_RECORDS as usize..];
        let printed = records(printed).map(|record| (record.item, format_ref(record.format), record.args.to_vec()));
        let contents = buffers.iter().map(|&(address, size)| memory.bytes(address)[..size].to_vec()).collect();
        Ok(Outcome::new(&self.module, contents, printed))
    }
}
