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
//! one, the nearest in the program is taken. This is what LLVM's `SeparateConstOffsetFromGEP` does for one function of
//! the index; it sees no promises here, because in LLVM's hands a broken one would be poison.

use crate::util::Renames;
use cloom_ir::affine::{Affine, Ext, Facts, Form};
use cloom_ir::cfg::Cfg;
use cloom_ir::dom::DomTree;
use cloom_ir::loops::Loops;
use cloom_ir::{Block, Flags, Function, Inst, Op, Type, Value};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

/// Offsets that every access takes.
const NEAR: std::ops::Range<i64> = -(1 << 22)..1 << 22;

/// An address, with the constant part of its form.
struct Known {
    home: Block,
    address: Value,
    constant: i64,
}

/// Runs the pass. Returns how often it changed something.
pub fn run(func: &mut Function) -> usize {
    let near = find(func);
    let changed = near.len();
    let mut renames = Renames::default();
    let mut at: FxHashMap<Inst, (Value, i64)> = near.into_iter().collect();
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

/// Which additions to addresses are an earlier address and a constant.
fn find(func: &Function) -> Vec<(Inst, (Value, i64))> {
    let cfg = Cfg::new(func);
    let dom = DomTree::new(func, &cfg);
    let loops = Loops::new(func, &cfg, &dom);
    let affine = Affine::new(func, &cfg, &loops, Facts::default());
    let mut known: FxHashMap<(Type, Form), SmallVec<[Known; 1]>> = FxHashMap::default();
    let mut found = Vec::new();
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
            let nearest = same.iter().rev().find(|k| dom.dominates(k.home, home) && NEAR.contains(&distance(k)));
            match nearest {
                Some(k) => {
                    let is_so_already = data.args[0] == k.address && func.const_bits(data.args[1]).is_some();
                    if !is_so_already {
                        found.push((i, (k.address, distance(k))));
                    }
                }
                None => same.push(Known { home, address, constant }),
            }
        }
    }
    found
}
