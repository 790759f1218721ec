//! Buffers that a kernel only writes, and what it writes to them.
//!
//! In comes a kernel; out go its parameters for such buffers, and the stores to them that each work-item does at most
//! once. A launch that writes more than the caches keep leaves nothing there for who reads it, but each line would be
//! fetched from memory before it is overwritten, and push out another one. Stores past the caches save that third of
//! the traffic of a copy (4096 by 4096 numbers: from 78 to 95 % of what the machine can do; of 2048 by 2048, which its
//! caches hold, the copy would take 1.7 times as long). What a launch writes is known when it starts, so that the code
//! asks.
//!
//! Such stores are not in order with others. Within a thread that does not show, and the launcher puts them in order
//! behind the groups; but a kernel whose groups tell each other what is done (atomic operations on global memory,
//! fences wider than the group) has none.

use crate::split::continuation_fn::Param;
use cloom_ir::cfg::Cfg;
use cloom_ir::dom::DomTree;
use cloom_ir::loops::Loops;
use cloom_ir::{Flags, Function, Inst, Op, ParamKind, Scope, Space, Value, ValueDef};
use rustc_hash::FxHashSet;

/// The buffers that a kernel only writes.
#[derive(Default)]
pub struct WriteOnly {
    /// By parameter of the kernel: whether it is a buffer that is only written.
    buffers: Vec<bool>,
    /// Bytes that each work-item writes there at most, out of loops.
    pub bytes: u32,
}

impl WriteOnly {
    /// Of a kernel.
    pub fn of(kernel: &Function) -> WriteOnly {
        let Some(meta) = &kernel.kernel else { return WriteOnly { buffers: Vec::new(), bytes: 0 } };
        let mut buffers: Vec<bool> = meta.params.iter().map(|p| p.kind == ParamKind::Global).collect();
        let insts = kernel.layout.iter().flat_map(|&b| &kernel.blocks[b].insts).map(|&i| &kernel.insts[i]);
        let read = |buffers: &mut [bool], p: Value| {
            if let Some(only_written) = buffer(kernel, p).and_then(|k| buffers.get_mut(k)) {
                *only_written = false;
            }
        };
        for data in insts {
            if synchronises_groups(kernel, &data.op, data.args.first().copied()) {
                buffers.fill(false);
            }
            // Whatever is not the address of a store may be read.
            let stored = matches!(data.op, Op::Store { .. }) && !data.flags.contains(Flags::VOLATILE);
            let known = usize::from(stored || data.op == Op::PtrAdd);
            data.args.iter().skip(known).for_each(|&p| read(&mut buffers, p));
        }
        for &b in &kernel.layout {
            kernel.blocks[b].term.for_each_use(|p| read(&mut buffers, p));
        }
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

    /// The stores to them in a function with these parameters, out of loops.
    pub fn stores(&self, func: &Function, loops: &Loops, params: &[Param]) -> FxHashSet<Inst> {
        let is_write_only = |p: Value| {
            let param = buffer(func, p).and_then(|k| params.get(k));
            matches!(param, Some(&Param::Kernel(n)) if self.buffers.get(n as usize) == Some(&true))
        };
        let blocks = func.layout.iter().filter(|&&b| loops.innermost(b).is_none());
        let insts = blocks.flat_map(|&b| &func.blocks[b].insts).copied();
        insts
            .filter(|&i| matches!(func.insts[i].op, Op::Store { .. }) && is_write_only(func.insts[i].args[0]))
            .collect()
    }
}

/// Whether an operation may synchronise with other groups: tell them that something is written.
fn synchronises_groups(func: &Function, op: &Op, p: Option<Value>) -> bool {
    let own = || p.is_some_and(|p| matches!(func.ty(p).space(), Some(Space::Local | Space::Private)));
    match op {
        op if op.is_atomic() => !own(),
        Op::Fence { scope, .. } => !matches!(scope, Scope::Group | Scope::SubGroup),
        Op::Call(_) => true,
        _ => false,
    }
}

/// The parameter that an address lies in.
fn buffer(func: &Function, p: Value) -> Option<usize> {
    let base = base(func, p);
    match func.values[base].def {
        ValueDef::Param(b, k) if func.ty(base).space() == Some(Space::Global) && func.layout.first() == Some(&b) => {
            Some(k as usize)
        }
        _ => None,
    }
}

/// Where an address begins, as far as it is a sum.
pub fn base(func: &Function, mut p: Value) -> Value {
    while let Some(data) = func.def_inst(p).map(|i| &func.insts[i]).filter(|data| data.op == Op::PtrAdd) {
        p = data.args[0];
    }
    p
}
