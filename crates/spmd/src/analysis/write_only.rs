//! Write-only buffers and images, and the stores to them that may be non-temporal.
//!
//! In comes a kernel; out go its buffer parameters that are only written, its `write_only` images, and the stores to
//! them that each work-item executes at most once.
//!
//! A launch that writes more than the last-level cache holds evicts its own results before anyone reads them. An
//! ordinary store would still fetch each line before overwriting it. Non-temporal stores save that third of the
//! traffic of a copy (4096 by 4096 floats: from 78 to 95 % of the memory bandwidth). A smaller launch must not use
//! them (2048 by 2048, which the caches hold: the copy would take 1.7 times as long). How much a launch writes is
//! known when it starts, so the code tests it.
//!
//! Non-temporal stores are not ordered with others. Within a thread that is invisible, and the launcher fences after
//! the groups. A kernel whose groups synchronise (atomic operations on global memory, fences wider than the group)
//! gets none.

use crate::params::Param;
use cloom_ir::cfg::Cfg;
use cloom_ir::dom::DomTree;
use cloom_ir::loops::Loops;
use cloom_ir::{Flags, Function, Inst, KernelParam, Op, ParamKind, Scope, Space, Value, ValueDef};
use rustc_hash::FxHashSet;

/// The access qualifier `write_only` of [`KernelParam`].
const WRITE_ONLY: u8 = 2;

/// The buffers and images that a kernel only writes.
#[derive(Default)]
pub struct WriteOnly {
    /// For each parameter of the kernel, whether it is a buffer or image that is only written.
    buffers: Vec<bool>,
    /// Upper bound of the bytes that a work-item writes there outside of loops.
    pub bytes: u32,
}

impl WriteOnly {
    /// Analyses a kernel.
    pub fn of(kernel: &Function) -> WriteOnly {
        let Some(meta) = &kernel.kernel else { return WriteOnly { buffers: Vec::new(), bytes: 0 } };
        let may_be =
            |p: &KernelParam| p.kind == ParamKind::Global || (p.kind == ParamKind::Image && p.access == WRITE_ONLY);
        let mut buffers: Vec<bool> = meta.params.iter().map(may_be).collect();
        let read = |buffers: &mut [bool], p: Value| {
            if let Some(only_written) = buffer(kernel, p).and_then(|k| buffers.get_mut(k)) {
                *only_written = false;
            }
        };
        for (_, data) in kernel.insts_in_layout() {
            // Another group may then read what this one has written, in an order that non-temporal stores do not keep.
            if synchronises_groups(kernel, &data.op, data.args.first().copied()) {
                buffers.fill(false);
            }
            // Any use but as the address of a store may be a read.
            let stored = matches!(data.op, Op::Store { .. }) && !data.flags.contains(Flags::VOLATILE);
            // The first operand: the address of a store, or that of a sum, whose own uses are looked at.
            let write_only_args = usize::from(stored || data.op == Op::PtrAdd);
            data.args.iter().skip(write_only_args).for_each(|&p| read(&mut buffers, p));
        }
        for &b in &kernel.layout {
            // An address that is passed on to a block parameter is not followed.
            kernel.blocks[b].term.for_each_use(|p| read(&mut buffers, p));
        }
        // In the kernel, each parameter is an argument; in a continuation it may be something else.
        let params: Vec<Param> = (0..buffers.len() as u32).map(Param::Kernel).collect();
        let mut found = WriteOnly { buffers, bytes: 0 };
        let cfg = Cfg::new(kernel);
        let loops = Loops::new(kernel, &cfg, &DomTree::new(kernel, &cfg));
        let stored =
            found.stores(kernel, &loops, &params).into_iter().map(|i| kernel.ty(kernel.insts[i].args[1]).bytes());
        found.bytes = stored.fold(0, u32::saturating_add);
        found
    }

    /// How many such buffers there are.
    pub fn buffers(&self) -> usize {
        self.buffers.iter().filter(|&&only_written| only_written).count()
    }

    /// The stores to such buffers, outside of loops, in a function with these parameters.
    pub fn stores(&self, func: &Function, loops: &Loops, params: &[Param]) -> FxHashSet<Inst> {
        let is_write_only = |p: Value| {
            let param = buffer(func, p).and_then(|k| params.get(k));
            matches!(param, Some(&Param::Kernel(n)) if self.buffers.get(n as usize) == Some(&true))
        };
        // In a loop, a work-item may write the same line again, and a line in memory is slower than one in the cache.
        let blocks = func.layout.iter().filter(|&&b| loops.innermost(b).is_none());
        let insts = blocks.flat_map(|&b| &func.blocks[b].insts).copied();
        insts
            .filter(|&i| matches!(func.insts[i].op, Op::Store { .. }) && is_write_only(func.insts[i].args[0]))
            .collect()
    }
}

/// Whether an operation may synchronise with other groups, that is, publish what was written.
fn synchronises_groups(func: &Function, op: &Op, p: Option<Value>) -> bool {
    // Other groups do not see local and private memory.
    let is_group_private = || p.is_some_and(|p| matches!(func.ty(p).space(), Some(Space::Local | Space::Private)));
    match op {
        op if op.is_atomic() => !is_group_private(),
        Op::Fence { scope, .. } => !matches!(scope, Scope::Group | Scope::SubGroup),
        Op::Call(_) | Op::DeviceCall(_) => true,
        _ => false,
    }
}

/// The index of the buffer or image parameter that an address is derived from: of an image, whose descriptor
/// (`ir::abi::image`) begins with the address of its elements.
fn buffer(func: &Function, p: Value) -> Option<usize> {
    let base = base(func, p);
    if func.ty(base).space() != Some(Space::Global) {
        return None;
    }
    let Some(inst) = func.def_inst(base) else { return parameter(func, base) };
    let data = &func.insts[inst];
    // The address of an image's elements is loaded from its descriptor, which is the argument.
    let descriptor = *data.args.first().filter(|_| matches!(data.op, Op::Load { .. }))?;
    parameter(func, descriptor).filter(|_| func.ty(descriptor).space() == Some(Space::Constant))
}

/// The index of the function's parameter that a value is.
fn parameter(func: &Function, v: Value) -> Option<usize> {
    match func.values[v].def {
        ValueDef::Param(b, k) if func.layout.first() == Some(&b) => Some(k as usize),
        _ => None,
    }
}

/// The base of an address: the first operand of its chain of `ptradd`.
pub fn base(func: &Function, mut p: Value) -> Value {
    while let Some(data) = func.def_inst(p).map(|i| &func.insts[i]).filter(|data| data.op == Op::PtrAdd) {
        p = data.args[0];
    }
    p
}
