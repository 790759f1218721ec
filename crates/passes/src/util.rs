//! Shared by passes: replaced values, removal of unreachable blocks, uses.

use cloom_ir::affine::{Ext, Form, Symbol};
use cloom_ir::cfg::Cfg;
use cloom_ir::{Block, Builder, Entity, Function, Op, Term, Type, Value, ValueDef};

/// Values that are replaced by others, applied later in one sweep.
#[derive(Default)]
pub(crate) struct Renames {
    to: Vec<Option<Value>>,
    count: usize,
}

impl Renames {
    /// From now on `from` means `to`.
    pub fn set(&mut self, from: Value, to: Value) {
        // The end of the chain, so that a value never comes to mean itself: that would be a cycle.
        let to = self.get(to);
        if to == from {
            return;
        }
        if self.to.len() <= from.index() {
            self.to.resize(from.index() + 1, None);
        }
        self.count += usize::from(self.to[from.index()].is_none());
        self.to[from.index()] = Some(to);
    }

    /// What a value means now. Paths are shortened on the way, so that long chains stay cheap.
    pub fn get(&mut self, v: Value) -> Value {
        let mut end = v;
        while let Some(&Some(next)) = self.to.get(end.index()) {
            end = next;
        }
        let mut at = v;
        while let Some(Some(next)) = self.to.get(at.index()).copied() {
            self.to[at.index()] = Some(end);
            at = next;
        }
        end
    }

    /// Applies the replacements to all uses. Returns how many values were replaced.
    pub fn apply(mut self, func: &mut Function) -> usize {
        if self.count > 0 {
            func.map_uses(|v| self.get(v));
        }
        self.count
    }
}

/// Removes unreachable blocks from the layout. Returns how many there were.
pub(crate) fn remove_unreachable(func: &mut Function) -> usize {
    let cfg = Cfg::new(func);
    let before = func.layout.len();
    let (kept, dropped): (Vec<Block>, Vec<Block>) =
        std::mem::take(&mut func.layout).into_iter().partition(|&b| cfg.is_reachable(b));
    func.layout = kept;
    for b in dropped {
        // No edge may remain: its arguments would no longer match the target's parameters.
        func.blocks[b].term = Term::Unreachable;
        func.blocks[b].insts.clear();
    }
    before - func.layout.len()
}

/// How many operations blocks have. Constants are none.
pub(crate) fn operations(func: &Function, blocks: &[Block]) -> usize {
    func.insts_in(blocks).filter(|(_, data)| !matches!(data.op, Op::Const(_))).count()
}

/// The block in which each value is defined, by value index, for values in the layout.
pub(crate) fn homes(func: &Function) -> Vec<Option<Block>> {
    let mut home = vec![None; func.values.len()];
    for &b in &func.layout {
        for &p in &func.blocks[b].params {
            home[p.index()] = Some(b);
        }
        for &i in &func.blocks[b].insts {
            if let Some(r) = func.insts[i].result {
                home[r.index()] = Some(b);
            }
        }
    }
    home
}

/// Which values are used in another block than their own.
pub(crate) fn used_elsewhere(func: &Function) -> Vec<bool> {
    let home = homes(func);
    let mut used = vec![false; func.values.len()];
    for &b in &func.layout {
        // An argument of an edge is a use in the block that the edge leaves.
        let mut note = |v: Value| used[v.index()] |= home[v.index()] != Some(b);
        for &i in &func.blocks[b].insts {
            func.insts[i].args.iter().copied().for_each(&mut note);
        }
        func.blocks[b].term.for_each_use(note);
    }
    used
}

/// An address as its pointer and the rest in bytes, if it has one pointer, which is of such values.
pub(crate) fn address_parts(form: &Form, is_base: impl Fn(Value) -> bool) -> Option<(Value, Form)> {
    match form.base(|s| matches!(s, Symbol::Value(v, Ext::Own) if is_base(v)))? {
        (Symbol::Value(base, _), bytes) => Some((base, bytes)),
        _ => None,
    }
}

/// Emits code that computes an address of this form and type, where `value` gives the value of each symbol.
pub(crate) fn emit_address(
    b: &mut Builder<'_>,
    form: &Form,
    ty: Type,
    value: &dyn Fn(Symbol) -> Option<Value>,
) -> Option<Value> {
    let (base, bytes) = address_parts(form, |v| b.ty(v) == ty)?;
    let bytes = bytes.emit(b, |_, s| value(s))?;
    Some(b.ptr_add(base, bytes))
}

/// Number of a block's parameter, if the value is one of this block.
pub(crate) fn param_of(func: &Function, v: Value, b: Block) -> Option<usize> {
    match func.values[v].def {
        ValueDef::Param(home, i) if home == b => Some(i as usize),
        _ => None,
    }
}
