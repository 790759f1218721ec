//! Private arrays and their accesses.

use cloom_ir::cfg::Cfg;
use cloom_ir::uses::{User, Uses};
use cloom_ir::{Flags, Function, Inst, Op, Term, Value, ValueDef};
use rustc_hash::FxHashSet;

/// An array of which all uses are known: loads and stores.
pub(super) struct Array {
    /// Its address.
    pub slot: Value,
    /// In bytes.
    pub size: u64,
    /// Of the address, in bytes.
    pub align: u32,
    /// Loads and stores.
    pub accesses: Vec<Inst>,
    /// Addresses in the array that are computed from `slot`.
    pub pointers: FxHashSet<Value>,
}

/// The arrays of a function with accesses at offsets that are no constants.
pub(super) fn indexed(func: &Function) -> Vec<Array> {
    let (cfg, uses) = (Cfg::new(func), Uses::new(func));
    let entry = func.blocks[func.entry()].insts.iter().filter_map(|&i| match func.insts[i].op {
        Op::Alloca { size, align, .. } => Some((func.insts[i].result?, size, align)),
        _ => None,
    });
    let arrays = entry.filter_map(|(slot, size, align)| {
        let array = Array { slot, size, align, accesses: Vec::new(), pointers: FxHashSet::default() };
        array.with_uses(func, &cfg, &uses)
    });
    arrays.filter(|array| array.accesses.iter().any(|&i| !is_at_constant(func, func.insts[i].args[0]))).collect()
}

impl Array {
    /// The array with its accesses; nothing if its address is used for anything else, or if a pointer may point to it
    /// or to something else.
    fn with_uses(mut self, func: &Function, cfg: &Cfg, uses: &Uses) -> Option<Array> {
        let mut open = vec![self.slot];
        while let Some(pointer) = open.pop() {
            for &user in uses.of(pointer) {
                match user {
                    User::Inst(_, i) => {
                        let data = &func.insts[i];
                        match data.op {
                            _ if data.flags.contains(Flags::VOLATILE) => return None,
                            Op::Load { .. } => self.accesses.push(i),
                            // A store of the address itself falls to the last arm: whoever loads it could access the
                            // array.
                            Op::Store { .. } if data.args[1] != pointer => self.accesses.push(i),
                            // A cast to an integer has no pointer as its result, and the array stays in memory.
                            Op::PtrAdd | Op::Cast(_) | Op::Select => {
                                let result = data.result.filter(|&r| func.ty(r).is_ptr() && !func.ty(r).is_vector())?;
                                if self.pointers.insert(result) {
                                    open.push(result);
                                }
                            }
                            _ => return None,
                        }
                    }
                    User::Term(b) => {
                        if matches!(func.blocks[b].term, Term::Return(_)) {
                            return None;
                        }
                        for e in func.blocks[b].term.edges() {
                            // The address goes on to a parameter of the next block, as a pointer that a loop moves.
                            let passed = e.args.iter().zip(&func.blocks[e.block].params);
                            for (_, &param) in passed.filter(|&(&arg, _)| arg == pointer) {
                                if self.pointers.insert(param) {
                                    open.push(param);
                                }
                            }
                        }
                    }
                }
            }
        }
        // Only now, since a pointer's other sources may have been found after it.
        let is_own = |v: Value| v == self.slot || self.pointers.contains(&v);
        let is_only_own = |&pointer: &Value| match func.values[pointer].def {
            ValueDef::Param(b, k) => cfg.incoming(func, b).all(|(_, e)| is_own(e.args[k as usize])),
            ValueDef::Inst(i) if func.insts[i].op == Op::Select => func.insts[i].args[1..].iter().all(|&v| is_own(v)),
            ValueDef::Inst(_) => true,
        };
        self.pointers.iter().all(is_only_own).then_some(self)
    }
}

/// Whether an address is that of an array and a constant.
fn is_at_constant(func: &Function, mut p: Value) -> bool {
    while let Some(i) = func.def_inst(p) {
        let data = &func.insts[i];
        match data.op {
            Op::Alloca { .. } => return true,
            Op::PtrAdd if func.const_bits(data.args[1]).is_some() => p = data.args[0],
            Op::Cast(_) => p = data.args[0],
            _ => return false,
        }
    }
    false
}
