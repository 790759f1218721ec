//! Modules and launches.
//!
//! In: PTX text; later the sizes of a launch and the parameters. Out: a module, a module with its variables in memory,
//! and the effects of a launch on memory. Blocks run one after another. A block that runs for long is interrupted,
//! because it may wait for a later block; up to [`RESIDENT`] blocks share the time, as on a device with that much room.

use super::block::Block;
use super::code::{Code, Data, Function, ParamInfo, Relocation, Target};
use super::fault::Fault;
use super::grid::Grid;
use super::lower;
use super::memory::{GlobalMemory, SHARED_START, align_up};
use super::thread::{Common, Context, GARBAGE, Thread};
use cloom_ptx::ParseError;
use std::collections::VecDeque;
use std::sync::Arc;

/// Blocks that take turns.
const RESIDENT: usize = 128;
/// Instructions of a block before others get their turn.
const QUANTUM: u64 = 1 << 23;
/// Threads of a block, as on hardware.
const MAX_THREADS: u64 = 1024;

/// A parsed module. Clones share the code.
#[derive(Clone, Debug)]
pub struct Module {
    code: Arc<Code>,
}

/// A module whose variables are in memory. They keep their values from launch to launch.
#[derive(Clone, Debug)]
pub struct Loaded {
    module: Module,
    addresses: Vec<u64>,
    constants: Vec<u8>,
}

impl Module {
    /// Parses a module. All of it is decoded, so that an unknown instruction is an error even if it is never executed.
    /// PTX that ptxas may compile wrongly is an error, too.
    pub fn parse(text: &str) -> Result<Module, ParseError> {
        let module = cloom_ptx::parse(text)?;
        // The printer is tested with every text of these tests.
        #[cfg(test)]
        assert_eq!(cloom_ptx::parse(&module.to_string()), Ok(module.clone()), "{module}");
        let lowered = Module::lower(&module)?;
        lower::refuse_faults(&module.items)?;
        Ok(lowered)
    }

    /// Parses a module even if ptxas may compile it wrongly.
    #[cfg(test)]
    pub(super) fn parse_with_faults(text: &str) -> Result<Module, ParseError> {
        Module::lower(&cloom_ptx::parse(text)?)
    }

    fn lower(module: &cloom_ptx::tree::Module<'_>) -> Result<Module, ParseError> {
        Ok(Module { code: Arc::new(lower::lower(&module.items)?) })
    }

    /// The names of the entries, in the order of the text.
    pub fn entries(&self) -> impl Iterator<Item = &str> {
        self.code.functions.iter().filter(|function| function.entry).map(|function| function.name.as_str())
    }

    /// The parameters of an entry.
    pub fn params(&self, entry: &str) -> Option<&[ParamInfo]> {
        self.find(entry).map(|(_, function)| function.infos.as_slice())
    }

    /// Puts the module's global variables into memory with their initial values.
    pub fn load(&self, memory: &mut dyn GlobalMemory) -> Loaded {
        let mut addresses = Vec::new();
        for variable in &self.code.variables {
            addresses.push(memory.add_block(variable.bytes.clone(), variable.align));
        }
        // All variables have addresses before the first relocation: an initialiser may name a later variable.
        for (variable, address) in self.code.variables.iter().zip(&addresses) {
            relocate(variable, &addresses, memory.bytes_mut(*address));
        }
        let mut constants = self.code.constants.bytes.clone();
        relocate(&self.code.constants, &addresses, &mut constants);
        Loaded { module: self.clone(), addresses, constants }
    }

    fn find(&self, entry: &str) -> Option<(u32, &Function)> {
        let is_entry = |function: &Function| function.entry && function.defined && function.name == entry;
        let index = self.code.functions.iter().position(is_entry)?;
        Some((index as u32, &self.code.functions[index]))
    }
}

impl Loaded {
    /// The module.
    pub fn module(&self) -> &Module {
        &self.module
    }
}

/// Writes the addresses in a variable's initial value.
fn relocate(data: &Data, addresses: &[u64], bytes: &mut [u8]) {
    for Relocation { at, size, target, offset, mask } in &data.relocations {
        let base = match target {
            Target::Variable(index) => addresses.get(*index as usize).copied().unwrap_or(0),
            Target::Fixed(address) => *address,
        };
        // `0xFF00(x)` is the second byte of the address. A mask of zero would shift by 64.
        let value = (base.wrapping_add_signed(*offset) & mask) >> mask.trailing_zeros().min(63);
        if let Some(place) = bytes.get_mut(*at..at + size) {
            place.copy_from_slice(&value.to_le_bytes()[..*size]);
        }
    }
}

/// Runs an entry of a module on all threads of a grid.
///
/// Each parameter is given as its bytes in little-endian order, of exactly the size that [`Module::params`] tells.
/// The budget is the number of instructions that all threads together may execute. After a fault the memory has what
/// was written until then.
pub fn launch(
    module: &Loaded,
    entry: &str,
    params: &[Vec<u8>],
    grid: &Grid,
    memory: &mut dyn GlobalMemory,
    budget: u64,
) -> Result<(), Fault> {
    let code = &*module.module.code;
    let Some((index, function)) = module.module.find(entry) else {
        return Err(Fault::UnknownEntry(entry.to_owned()));
    };
    let area = param_area(function, params)?;
    let threads = check_grid(function, grid)?;
    // Dynamic shared memory follows the static variables, at the address that `Src::DynamicShared` computes.
    let start = align_up(SHARED_START + code.shared_size, code.dynamic_align) - SHARED_START;
    let shared = (start + u64::from(grid.dynamic_shared)) as usize;
    let mut cx = Context {
        code,
        addresses: &module.addresses,
        constants: &module.constants,
        grid,
        memory,
        budget,
        left: budget,
    };
    let [x, y, z] = grid.groups.map(u64::from);
    let mut next = 0;
    let mut resident: VecDeque<Block> = VecDeque::new();
    loop {
        // A new block begins before an interrupted one goes on, as long as there is room: the interrupted one may wait
        // for it.
        let full = resident.len() >= RESIDENT || next >= x * y * z;
        let mut block = if full {
            match resident.pop_front() {
                Some(block) => block,
                None => return Ok(()),
            }
        } else {
            let group = [next % x, next / x % y, next / (x * y)].map(|number| number as u32);
            next += 1;
            let [width, height, _] = grid.threads;
            let thread = |number: u32| {
                let tid = [number % width, number / width % height, number / (width * height)];
                Thread::new(number, tid, index, function, &area)
            };
            Block {
                threads: (0..threads).map(thread).collect(),
                common: Common { group, shared: vec![GARBAGE; shared], arrived: [0; 16] },
            }
        };
        if !block.run(&mut cx, QUANTUM)? {
            // At the end of the queue, so that the blocks take turns.
            resident.push_back(block);
        }
    }
}

/// The parameter area of an entry.
fn param_area(function: &Function, params: &[Vec<u8>]) -> Result<Vec<u8>, Fault> {
    let name = &function.name;
    if params.len() != function.params.len() {
        let (have, want) = (params.len(), function.params.len());
        return Err(Fault::WrongLaunch(format!("{name} has {want} parameters, but {have} are given")));
    }
    let mut area = vec![0; function.param_size as usize];
    for (number, (bytes, slot)) in params.iter().zip(&function.params).enumerate() {
        if bytes.len() != slot.size as usize {
            let (have, want) = (bytes.len(), slot.size);
            let what = format!("parameter {number} of {name} has {want} bytes, but {have} are given");
            return Err(Fault::WrongLaunch(what));
        }
        let start = slot.offset as usize;
        if let Some(place) = area.get_mut(start..start + bytes.len()) {
            place.copy_from_slice(bytes);
        }
    }
    Ok(area)
}

/// The number of threads of a block, if the grid is possible.
fn check_grid(function: &Function, grid: &Grid) -> Result<u32, Fault> {
    // A product that is too large for 64 bits is more than the limit below, too.
    let threads = grid.threads.iter().fold(1_u64, |product, size| product.saturating_mul(u64::from(*size)));
    let groups = grid.groups.iter().try_fold(1_u64, |product, size| product.checked_mul(u64::from(*size)));
    let wrong = |what: String| Err(Fault::WrongLaunch(what));
    if threads == 0 || groups.is_none_or(|groups| groups == 0) {
        return wrong(format!("a grid of {:?} blocks of {:?} threads", grid.groups, grid.threads));
    }
    if threads > MAX_THREADS {
        return wrong(format!("a block of {threads} threads; {MAX_THREADS} are possible"));
    }
    if let Some(required) = function.required
        && required != grid.threads.map(u64::from)
    {
        return wrong(format!("{} requires blocks of {required:?} threads", function.name));
    }
    if let Some(most) = function.most
        && threads > most
    {
        return wrong(format!("{} allows at most {most} threads in a block", function.name));
    }
    Ok(threads as u32)
}
