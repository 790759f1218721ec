//! Addresses that are a constant apart are made of one: `a[i - 1]` is four bytes before `a[i]`.
//!
//! For a machine whose accesses take an address and a constant, as a GPU's do:
//!
//! ```text
//! p = a + 4·sext(i)                p = a + 4·sext(i)
//! q = a + 4·sext(i -nsw 1)   ▸     q = p + -4
//! ```
//!
//! The affine analysis says how far two addresses are apart, also where extensions are between, by promises and
//! ranges. An address that is already a base and a constant stays. Of several earlier addresses that dominate this
//! one, the nearest in the program is taken. If none does, as where each access has a guard of its own, the latest one
//! moves up to where it does, within its loop. This is what LLVM's `SeparateConstOffsetFromGEP` does for one function
//! of the index; it sees no promises here, because in LLVM's hands a broken one would be poison.

use crate::util::{self, Renames};
use cloom_ir::affine::{Affine, Ext, Facts, Form};
use cloom_ir::cfg::Cfg;
use cloom_ir::dom::DomTree;
use cloom_ir::loops::Loops;
use cloom_ir::{Block, Entity, Flags, Function, Inst, Op, Type, Value, ValueDef};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};

/// Offsets that every access takes.
const NEAR: std::ops::Range<i64> = -(1 << 22)..1 << 22;

/// The most operations that move with an address.
const MAX_MOVED: usize = 8;

/// An address, with the constant part of its form.
struct Known {
    home: Block,
    address: Value,
    constant: i64,
}

/// What the pass will change.
#[derive(Default)]
struct Plan {
    /// Operations that move to the end of an earlier block, operands first. Of one that is here twice, the last counts.
    moved: Vec<(Inst, Block)>,
    /// Additions to addresses that become an earlier address and a constant.
    near: FxHashMap<Inst, (Value, i64)>,
}

/// Runs the pass. Returns how often it changed something.
pub fn run(func: &mut Function) -> usize {
    let Plan { moved, near: mut at } = find(func);
    let changed = at.len();
    let mut leaving = FxHashSet::default();
    let last: Vec<(Inst, Block)> = moved.into_iter().rev().filter(|&(i, _)| leaving.insert(i)).collect();
    if !leaving.is_empty() {
        for b in func.layout.clone() {
            func.blocks[b].insts.retain(|i| !leaving.contains(i));
        }
    }
    for (i, b) in last.into_iter().rev() {
        func.blocks[b].insts.push(i);
    }
    let mut renames = Renames::default();
    for b in func.layout.clone() {
        let insts = std::mem::take(&mut func.blocks[b].insts);
        let mut kept = Vec::with_capacity(insts.len());
        for i in insts {
            match (at.remove(&i), func.insts[i].result) {
                (Some((address, 0)), Some(r)) => renames.set(r, address),
                (Some((address, bytes)), _) => {
                    let span = func.insts[i].span;
                    let op = Op::Const(bytes as u64);
                    let offset = func.make_inst(op, smallvec![], Some(Type::I64), Flags::empty(), span);
                    if let Some(bytes) = func.insts[offset].result {
                        func.insts[i].args = smallvec![address, bytes];
                        kept.push(offset);
                    }
                    kept.push(i);
                }
                (None, _) => kept.push(i),
            }
        }
        func.blocks[b].insts = kept;
    }
    renames.apply(func);
    changed
}

/// Looks for addresses that are a constant apart.
fn find(func: &Function) -> Plan {
    let cfg = Cfg::new(func);
    let dom = DomTree::new(func, &cfg);
    let loops = Loops::new(func, &cfg, &dom);
    let affine = Affine::new(func, &cfg, &loops, Facts::default());
    let mut mover = Mover { func, dom: &dom, loops: &loops, home: util::homes(func), plan: Plan::default() };
    let mut known: FxHashMap<(Type, Form), SmallVec<[Known; 1]>> = FxHashMap::default();
    for &home in cfg.rpo() {
        for &i in &func.blocks[home].insts {
            let data = &func.insts[i];
            let (Op::PtrAdd, Some(address)) = (&data.op, data.result) else { continue };
            let form = affine.form(address, Ext::Own);
            let constant = form.constant_part();
            let rest = form.minus(&Form::constant(form.bits(), constant));
            if rest.as_symbol().is_some() {
                continue;
            }
            let same = known.entry((func.ty(address), rest)).or_default();
            let distance = |k: &Known| constant.wrapping_sub(k.constant);
            let is_near = |k: &Known| NEAR.contains(&distance(k));
            let mut nearest = same.iter().rposition(|k| dom.dominates(k.home, home) && is_near(k));
            if nearest.is_none()
                && let Some(latest) = same.iter().rposition(is_near)
                && let Some(up) = mover.raise(&same[latest], home)
            {
                same[latest].home = up;
                nearest = Some(latest);
            }
            match nearest.map(|n| &same[n]) {
                Some(k) => {
                    let is_so_already = data.args[0] == k.address && func.const_bits(data.args[1]).is_some();
                    if !is_so_already {
                        mover.plan.near.insert(i, (k.address, distance(k)));
                    }
                }
                None => same.push(Known { home, address, constant }),
            }
        }
    }
    mover.plan
}

/// Moves addresses up.
struct Mover<'a> {
    func: &'a Function,
    dom: &'a DomTree,
    loops: &'a Loops,
    /// Where each value is, after the moves so far.
    home: Vec<Option<Block>>,
    plan: Plan,
}

impl Mover<'_> {
    /// Moves an address, with what it is made of, up to a block that dominates `user`, too. Returns the block; `None`
    /// if the address is to stay.
    fn raise(&mut self, known: &Known, user: Block) -> Option<Block> {
        let mut up = user;
        while !self.dom.dominates(up, known.home) {
            up = self.dom.idom(up)?;
        }
        let inside = self.loops.innermost(up);
        if self.loops.innermost(user) != inside || self.loops.innermost(known.home) != inside {
            return None;
        }
        let mut moved = Vec::new();
        self.collect(known.address, up, MAX_MOVED, &mut moved)?;
        for &(i, _) in &moved {
            if let Some(r) = self.func.insts[i].result {
                self.home[r.index()] = Some(up);
            }
        }
        self.plan.moved.extend(moved);
        Some(up)
    }

    /// Adds the operations that a value in `up` would need there, operands first. `None` if they cannot move, are too
    /// many, or more than `depth` of them wait for each other.
    fn collect(&self, value: Value, up: Block, depth: usize, moved: &mut Vec<(Inst, Block)>) -> Option<()> {
        if self.home[value.index()].is_some_and(|b| self.dom.dominates(b, up)) {
            return Some(());
        }
        let ValueDef::Inst(i) = self.func.values[value].def else { return None };
        if moved.iter().any(|m| m.0 == i) {
            return Some(());
        }
        let op = &self.func.insts[i].op;
        let is_cheap = op.is_pure() && !matches!(op, Op::PureCall(_));
        if !is_cheap || depth == 0 || moved.len() >= MAX_MOVED || self.plan.near.contains_key(&i) {
            return None;
        }
        for &arg in &self.func.insts[i].args {
            self.collect(arg, up, depth - 1, moved)?;
        }
        moved.push((i, up));
        Some(())
    }
}
