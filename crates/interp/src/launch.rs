//! Runs a launch: group after group, the work-items of a group in turns between barriers; or a work-group function from
//! `spmd`, once per group or per batch of groups, with the descriptors of [`cloom_ir::abi`].

use crate::code::{Code, Program};
use crate::exec::{Item, Stop, WorkItemIds};
use crate::fault::{Fault, FaultKind};
use crate::memory::Memory;
use crate::observe::{Divergence, Observer};
use crate::running::Shared;
use crate::subgroup;
use cloom_ir::abi::{CpuLaunch, NdRange};
use cloom_ir::{BarrierMemory, Entity, FuncRef, Function, Global, KernelMeta, ParamKind, Space, abi};
use std::collections::VecDeque;

/// One argument of a kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Arg {
    /// The bytes of a value or a structure.
    Bytes(Vec<u8>),
    /// An address, of a buffer, of the descriptor of an image ([`Machine::image`]), or 0.
    Buffer(u64),
    /// So many bytes of local memory.
    Local(u64),
}

/// Limits and options of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// Bytes of memory, at most.
    pub memory: u64,
    /// Instructions of a launch, at most,
    pub fuel: u64,
    /// and of one work-item between two barriers.
    pub turn: u64,
    /// The content of unwritten memory. Runs with different ones must agree.
    pub canary: u8,
    /// Shuffles the order of the work-items between barriers, unless 0.
    pub order_seed: u64,
    /// Whether it is a fault if a work-item has ended while others wait at a barrier. Devices count it as arrived.
    pub strict_barriers: bool,
    /// Work-items of a whole sub-group, a power of two of at most 64: neighbours in dimension 0.
    pub subgroup: u16,
    /// What a kernel that asks for the size of local memory is told; each variable and each argument there has as much
    /// room at least.
    pub local_memory_size: u64,
    /// `-cl-denorms-are-zero`: arithmetic takes denormal numbers for zeros, as devices that can do so.
    pub denorms_are_zero: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            memory: 1 << 30,
            fuel: 2_000_000_000,
            turn: u64::MAX,
            canary: 0xa5,
            order_seed: 0,
            strict_barriers: false,
            subgroup: 1,
            local_memory_size: 0,
            denorms_are_zero: false,
        }
    }
}

/// A work-group function and how to launch it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WorkGroupLayout {
    /// The kernel that it was made of.
    pub kernel: FuncRef,
    /// The function.
    pub func: FuncRef,
    /// Bytes of static local memory.
    pub local_size: u64,
    /// How it is launched.
    pub launch: CpuLaunch,
}

/// Groups of a batch, for functions that can run batches.
const TOGETHER: u64 = 3;

/// Work-items of a group, at most.
const MAX_ITEMS: u64 = 1 << 20;

/// A program with memory.
pub struct Machine<'p> {
    program: &'p Program,
    /// All memory; buffers are segments of it.
    pub memory: Memory,
    /// The address of each global of the module; those in local memory are of the group that runs.
    pub globals: Vec<u64>,
    options: Options,
}

/// Puts a global into memory of the host that holds the program's variables, if it has a place there. Gives its
/// address.
fn place(global: &Global, variables: Option<(u64, &[u8])>, memory: &mut Memory) -> Result<Option<u64>, FaultKind> {
    let (Some((base, bytes)), Some(at)) = (variables, global.place) else { return Ok(None) };
    let Some(bytes) = bytes.get(at as usize..(at + global.size) as usize) else { return Ok(None) };
    memory.place(base + at, bytes)?;
    Ok(Some(base + at))
}

impl<'p> Machine<'p> {
    /// A machine whose program-scope variables hold their initial values.
    pub fn new(program: &'p Program, options: Options) -> Result<Self, FaultKind> {
        Self::with_variables(program, options, None)
    }

    /// A machine whose program-scope variables are at an address of the host, with these bytes.
    pub fn with_variables(
        program: &'p Program,
        options: Options,
        variables: Option<(u64, &[u8])>,
    ) -> Result<Self, FaultKind> {
        let mut memory = Memory::new(options.memory, options.canary);
        let mut globals = Vec::new();
        // First all that has addresses of the host: no other memory must get these.
        let placed: Vec<Option<u64>> =
            program.module.globals.values().map(|g| place(g, variables, &mut memory)).collect::<Result<_, _>>()?;
        for (g, placed) in program.module.globals.values().zip(&placed) {
            if let Some(address) = placed {
                globals.push(*address);
                continue;
            }
            if g.space == Space::Local {
                // Each group has memory of its own, which `scalar_group` makes.
                globals.push(0);
                continue;
            }
            let address = memory.allocate(g.size)?;
            let bytes = memory.write(address, g.size)?;
            bytes.fill(0);
            bytes[..g.init.len()].copy_from_slice(&g.init);
            memory.share(address);
            globals.push(address);
        }
        // Now each global has its address. Constants are protected after their bytes are written.
        for ((g, &address), placed) in program.module.globals.values().zip(&globals).zip(&placed) {
            // The bytes of what is placed hold addresses already.
            for r in g.relocs.iter().filter(|_| placed.is_none()) {
                let target = globals[r.target.index()].wrapping_add_signed(r.addend);
                memory.write(address + r.offset, 8)?.copy_from_slice(&target.to_le_bytes());
            }
            if g.space == Space::Constant {
                memory.protect(address);
            }
        }
        Ok(Self { program, memory, globals, options })
    }

    /// A buffer with these bytes; gives its address.
    pub fn buffer(&mut self, bytes: &[u8]) -> Result<u64, FaultKind> {
        self.memory.allocate_with(bytes)
    }

    /// An image whose elements are a buffer's; gives the address of its descriptor.
    pub fn image(&mut self, descriptor: &abi::image::Descriptor) -> Result<u64, FaultKind> {
        let address = self.memory.allocate_with(&descriptor.bytes())?;
        self.memory.protect(address);
        Ok(address)
    }

    /// Runs a kernel over a range, work-item by work-item.
    pub fn run_kernel<O: Observer>(
        &mut self,
        kernel: FuncRef,
        range: &NdRange,
        args: &[Arg],
        observer: &mut O,
    ) -> Result<(), Fault> {
        let func = &self.program.module.funcs[kernel];
        let meta = check(func, range, args)?;
        // A work-item gets its arguments in registers, local addresses among them; of the block it sees structures
        // only.
        let block = self.argument_block(meta, args, |_| 0)?;
        let (offsets, _) = meta.layout();
        let mut fuel = self.options.fuel;
        let mut pool = Vec::new();
        let mut run = || {
            for group in groups(range) {
                self.scalar_group(func, kernel, range, group, &block, &offsets, args, &mut fuel, observer, &mut pool)?;
            }
            Ok(())
        };
        let result = run();
        self.memory.free(block.address);
        result
    }

    #[expect(clippy::too_many_arguments, reason = "what is the same for all groups is made once by the caller")]
    fn scalar_group<O: Observer>(
        &mut self,
        func: &Function,
        kernel: FuncRef,
        range: &NdRange,
        group: [u64; 3],
        block: &Block,
        offsets: &[u32],
        args: &[Arg],
        fuel: &mut u64,
        observer: &mut O,
        pool: &mut Vec<Item>,
    ) -> Result<(), Fault> {
        let mut locals = Vec::new();
        let room = |size: u64| size.max(self.options.local_memory_size);
        for (g, address) in self.program.module.globals.values().zip(&mut self.globals) {
            if g.space == Space::Local {
                // New for each group, and freed at its end: an address that a group leaves in a buffer is invalid in
                // the next one.
                *address = self.memory.allocate(room(g.size))?;
                locals.push((*address, room(g.size)));
            }
        }
        let mut lanes = Vec::new();
        for ((arg, &at), &ty) in args.iter().zip(offsets).zip(&func.params) {
            match arg {
                Arg::Local(size) => {
                    let address = self.memory.allocate(room(*size))?;
                    locals.push((address, room(*size)));
                    lanes.push(address);
                }
                Arg::Buffer(address) => lanes.push(*address),
                Arg::Bytes(_) if ty.is_ptr() => lanes.push(block.address + u64::from(at)),
                Arg::Bytes(bytes) => {
                    let size = ty.scalar.bytes() as usize;
                    let lane = |b: &[u8]| b.iter().rev().fold(0u64, |x, &b| x << 8 | u64::from(b)) & ty.scalar.mask();
                    lanes.extend(bytes.chunks_exact(size).take(usize::from(ty.lanes)).map(lane));
                }
            }
        }
        let (program, options) = (self.program, self.options);
        let mut shared = Shared {
            program,
            memory: &mut self.memory,
            globals: &self.globals,
            fuel,
            turn: options.turn,
            denorms_are_zero: options.denorms_are_zero,
            observer,
        };
        shared.observer.group(group, &locals);
        let mut items: Vec<Option<Item>> = Vec::new();
        let result = take_turns(&mut shared, kernel, range, group, &lanes, &options, &mut items, pool);
        for mut item in items.into_iter().flatten() {
            item.release(&mut shared);
            pool.push(item);
        }
        locals.into_iter().for_each(|(address, _)| shared.free(address));
        result
    }

    /// Runs the function that `spmd` made of a kernel, once for each group.
    pub fn run_work_groups<O: Observer>(
        &mut self,
        layout: &WorkGroupLayout,
        range: &NdRange,
        args: &[Arg],
        observer: &mut O,
    ) -> Result<(), Fault> {
        let program = self.program;
        let meta = check(&program.module.funcs[layout.kernel], range, args)?;
        // The function has the dimensions in an order of its own, in which it is given all sizes and ids.
        let range = &range.in_order(layout.launch.dim_order);
        if program.module.funcs[layout.func].params.len() != 5 {
            return Err(FaultKind::BadLaunch("not a work-group function").into());
        }
        let mut local_size = layout.local_size;
        let block = self.argument_block(meta, args, |size| {
            let at = local_size.next_multiple_of(u64::from(abi::BLOCK_ALIGN));
            local_size = at + size;
            at
        })?;
        let mut launch = vec![0u8; abi::LAUNCH_SIZE as usize];
        put(&mut launch, abi::LAUNCH_WORK_DIM, u64::from(range.work_dim));
        // Non-temporal stores make no difference to results: both variants are run.
        put(&mut launch, abi::LAUNCH_NONTEMPORAL, range.global[0] & 1);
        put3(&mut launch, abi::LAUNCH_GLOBAL_OFFSET, range.offset);
        put3(&mut launch, abi::LAUNCH_GLOBAL_SIZE, range.global);
        put3(&mut launch, abi::LAUNCH_LOCAL_SIZE, range.local);
        put3(&mut launch, abi::LAUNCH_NUM_GROUPS, range.groups());
        let launch = self.memory.allocate_with(&launch)?;
        self.memory.protect(launch);
        let [x, y, z] = range.local;
        // The lanes of a last, partial vector have room, too.
        let items = x.next_multiple_of(u64::from(layout.launch.lanes.max(1))) * y * z;
        let scratch_size = layout.launch.scratch_fixed + layout.launch.scratch_per_item * items;
        let mut fuel = self.options.fuel;
        let mut item = Item::default();
        let mut run = || {
            let mut left = groups(range).peekable();
            while let Some(group) = left.next() {
                let size = group_size(range, group);
                let mut count = 1;
                // Groups of a batch are neighbours of dimension 0 and of one size, as `abi::GROUP_COUNT` demands.
                let beside = |next: &[u64; 3]| next[1..] == group[1..] && group_size(range, *next) == size;
                while layout.launch.grid_stride_bytes > 0 && count < TOGETHER && left.next_if(beside).is_some() {
                    count += 1;
                }
                let [local_stride, scratch_stride] =
                    [local_size, scratch_size].map(|size| size.next_multiple_of(u64::from(abi::BLOCK_ALIGN)));
                let mut descriptor = vec![0u8; abi::GROUP_SIZE as usize];
                put3(&mut descriptor, abi::GROUP_ID, group);
                put3(&mut descriptor, abi::GROUP_LOCAL_SIZE, size);
                put(&mut descriptor, abi::GROUP_COUNT, count);
                put(&mut descriptor, abi::GROUP_LOCAL_STRIDE, local_stride);
                put(&mut descriptor, abi::GROUP_SCRATCH_STRIDE, scratch_stride);
                let descriptor = self.memory.allocate_with(&descriptor)?;
                self.memory.protect(descriptor);
                // Without the margin that `abi::LOCAL_MARGIN` demands of devices: a masked access here touches only the
                // lanes that are on.
                let local = self.memory.allocate(local_stride * (count - 1) + local_size)?;
                let scratch = self.memory.allocate(scratch_stride * (count - 1) + scratch_size)?;
                item.start(program, layout.func, &[launch, block.address, descriptor, local, scratch], None);
                let mut shared = Shared {
                    program,
                    memory: &mut self.memory,
                    globals: &self.globals,
                    fuel: &mut fuel,
                    turn: u64::MAX,
                    denorms_are_zero: self.options.denorms_are_zero,
                    observer: &mut *observer,
                };
                let result = item.run(&mut shared);
                item.release(&mut shared);
                [descriptor, local, scratch].into_iter().for_each(|s| self.memory.free(s));
                // Only after the memory of the group is freed.
                result?;
            }
            Ok(())
        };
        let result = run();
        self.memory.free(launch);
        self.memory.free(block.address);
        result
    }

    /// The argument block. A local argument becomes what `allocate` returns for its size.
    fn argument_block(
        &mut self,
        meta: &KernelMeta,
        args: &[Arg],
        mut allocate: impl FnMut(u64) -> u64,
    ) -> Result<Block, FaultKind> {
        let (offsets, size) = meta.layout();
        let mut bytes = vec![0u8; size as usize];
        for (arg, &at) in args.iter().zip(&offsets) {
            match arg {
                Arg::Bytes(b) => bytes[at as usize..at as usize + b.len()].copy_from_slice(b),
                Arg::Buffer(address) => put(&mut bytes, u64::from(at), *address),
                Arg::Local(size) => put(&mut bytes, u64::from(at), allocate(*size)),
            }
        }
        let address = self.memory.allocate_with(&bytes)?;
        self.memory.protect(address);
        Ok(Block { address })
    }
}

struct Block {
    address: u64,
}

fn put(bytes: &mut [u8], at: u64, x: u64) {
    bytes[at as usize..at as usize + 8].copy_from_slice(&x.to_le_bytes());
}

fn put3(bytes: &mut [u8], at: u64, x: [u64; 3]) {
    for (d, x) in (0u64..).zip(x) {
        put(bytes, at + 8 * d, x);
    }
}

/// Every group of a range, dimension 0 fastest.
fn groups(range: &NdRange) -> impl Iterator<Item = [u64; 3]> + use<> {
    let n = range.groups();
    (0..n[2]).flat_map(move |z| (0..n[1]).flat_map(move |y| (0..n[0]).map(move |x| [x, y, z])))
}

fn group_size(range: &NdRange, group: [u64; 3]) -> [u64; 3] {
    std::array::from_fn(|d| range.local[d].min(range.global[d] - group[d] * range.local[d]))
}

/// Checks a launch, so that nothing later is out of range.
fn check<'f>(func: &'f Function, range: &NdRange, args: &[Arg]) -> Result<&'f KernelMeta, FaultKind> {
    let Some(meta) = func.kernel.as_deref().filter(|_| !func.is_declaration()) else {
        return Err(FaultKind::NoKernel(func.name.clone()));
    };
    if !(1..=3).contains(&range.work_dim) || range.local.contains(&0) {
        return Err(FaultKind::BadLaunch("a range without a dimension or with an empty group"));
    }
    let items = range.local.iter().try_fold(1u64, |a, &b| a.checked_mul(b));
    if items.is_none_or(|n| n > MAX_ITEMS) {
        return Err(FaultKind::BadLaunch("too many work-items in a group"));
    }
    // Global ids are sums of these, and are computed without checks.
    let ends = range.offset.iter().zip(&range.global).all(|(&o, &g)| o.checked_add(g).is_some() && g < 1 << 60);
    if !ends {
        return Err(FaultKind::BadLaunch("global ids that do not fit"));
    }
    if args.len() != meta.params.len() {
        return Err(FaultKind::BadLaunch("a wrong number of arguments"));
    }
    for ((arg, p), ty) in args.iter().zip(&meta.params).zip(&func.params) {
        // The verifier has checked that kinds and types of parameters agree (V11); here the arguments are compared with
        // them.
        let good = match (arg, p.kind) {
            (Arg::Bytes(b), ParamKind::Value | ParamKind::Sampler) => {
                b.len() == p.size as usize && p.size >= ty.bytes() && !ty.is_ptr()
            }
            (Arg::Bytes(b), ParamKind::Struct) => b.len() == p.size as usize && ty.is_ptr(),
            (Arg::Buffer(_), ParamKind::Global | ParamKind::Constant | ParamKind::Pipe | ParamKind::Image) => {
                p.size == 8 && ty.is_ptr() && !ty.is_vector()
            }
            (Arg::Local(_), ParamKind::Local) => p.size == 8 && ty.is_ptr() && !ty.is_vector(),
            _ => false,
        };
        if !good {
            return Err(FaultKind::BadLaunch("an argument that does not fit its parameter"));
        }
    }
    Ok(meta)
}

/// Runs each work-item to its next barrier, until all have ended.
#[expect(clippy::too_many_arguments, reason = "what is the same for all groups is made once by the caller")]
fn take_turns<O: Observer>(
    shared: &mut Shared<'_, O>,
    kernel: FuncRef,
    range: &NdRange,
    group: [u64; 3],
    args: &[u64],
    options: &Options,
    items: &mut Vec<Option<Item>>,
    pool: &mut Vec<Item>,
) -> Result<(), Fault> {
    let size = group_size(range, group);
    let count = size.iter().product::<u64>() as usize;
    items.resize_with(count, || None);
    let mut order: Vec<usize> = (0..count).collect();
    let &Options { order_seed, strict_barriers: strict, .. } = options;
    let mut seed = order_seed;
    let mut first = true;
    loop {
        if order_seed != 0 {
            for i in (1..count).rev() {
                // Fisher and Yates' shuffle, with Knuth's linear congruential generator, whose high bits are the random
                // ones.
                seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                order.swap(i, (seed >> 33) as usize % (i + 1));
            }
        }
        // One round: each work-item runs to a barrier or to its end.
        let mut barrier = None;
        let (mut diverged, mut ended) = (false, false);
        let (mut ready, mut waiting) = (VecDeque::from(order.clone()), Vec::new());
        while let Some(i) = next_of(&mut ready, &mut waiting, items, shared.program) {
            // A work-item starts at its first turn, with the buffers of one that has ended: a kernel without barriers
            // needs those of one work-item only.
            let mut item = match items[i].take() {
                Some(item) => item,
                None if first => {
                    let mut item = pool.pop().unwrap_or_default();
                    item.start(
                        shared.program,
                        kernel,
                        args,
                        Some(work_item_ids(range, group, size, i as u64, options)),
                    );
                    item
                }
                None => {
                    ended = true;
                    continue;
                }
            };
            match item.run(shared) {
                Ok(Stop::Done) => {
                    ended = true;
                    pool.push(item);
                }
                Ok(Stop::Barrier(func, pc)) => {
                    // Barriers are told apart by function and instruction. Two calls of one function that waits are one
                    // barrier.
                    diverged |= barrier.is_some_and(|b| b != (func, pc));
                    barrier = Some((func, pc));
                    items[i] = Some(item);
                }
                Ok(Stop::Subgroup) => {
                    items[i] = Some(item);
                    // Its operation is executed when all others wait, too, or have ended.
                    waiting.push(i);
                }
                Err(fault) => {
                    items[i] = Some(item);
                    return Err(fault);
                }
            }
        }
        first = false;
        // Nobody waits: all have ended.
        let Some((func, pc)) = barrier else { return Ok(()) };
        let span = shared.program.funcs[func.index()].spans[pc];
        let mut goes_on = false;
        if O::FOLLOWS_VALUES
            && let Some(found) = divergence(items, shared.program, |i| work_item_ids(range, group, size, i, options))
        {
            diverged |= found.other.is_some();
            goes_on = shared.observer.diverged(&found);
        }
        if !goes_on && (diverged || (ended && strict)) {
            let kind = if diverged { FaultKind::BarrierDivergence } else { FaultKind::BarrierAfterReturn };
            let name = shared.program.module.funcs[func].name.clone();
            return Err(Fault {
                kind,
                func: name,
                span,
                item: work_item_ids(range, group, size, 0, options).global_id,
            });
        }
        let memory = match shared.program.funcs[func.index()].code[pc] {
            Code::Barrier(memory) => memory,
            _ => BarrierMemory::Both,
        };
        shared.observer.barrier(group, memory, span);
    }
}

/// Two work-items that do not meet at a barrier: the first one that waits, and one that has ended, waits elsewhere or
/// in another iteration of a loop.
fn divergence(items: &[Option<Item>], program: &Program, ids: impl Fn(u64) -> WorkItemIds) -> Option<Divergence> {
    let (waits, position) = items.iter().flatten().next()?.meeting(program);
    for (i, item) in (0..).zip(items) {
        let other = item.as_ref().map(|item| item.meeting(program));
        if other.as_ref().is_none_or(|o| o.1 != position) {
            return Some(Divergence { waits, other: other.map(|o| o.0), other_item: ids(i).global_id });
        }
    }
    None
}

/// The work-item that runs next. When none is ready, pending collective operations of sub-groups are executed, which
/// makes their work-items ready.
fn next_of(
    ready: &mut VecDeque<usize>,
    waiting: &mut Vec<usize>,
    items: &mut [Option<Item>],
    program: &Program,
) -> Option<usize> {
    if ready.is_empty() && !waiting.is_empty() {
        *ready = subgroup::act(waiting, items, program).into();
    }
    ready.pop_front()
}

fn work_item_ids(range: &NdRange, group: [u64; 3], size: [u64; 3], number: u64, options: &Options) -> WorkItemIds {
    let local_id = [number % size[0], number / size[0] % size[1], number / (size[0] * size[1])];
    WorkItemIds {
        work_dim: range.work_dim,
        global_id: std::array::from_fn(|d| range.offset[d] + group[d] * range.local[d] + local_id[d]),
        local_id,
        group_id: group,
        global_size: range.global,
        local_size: size,
        enqueued_local_size: range.local,
        num_groups: range.groups(),
        global_offset: range.offset,
        local_memory_size: options.local_memory_size,
        subgroup: subgroup::of(local_id, size, range.local, options.subgroup),
    }
}
