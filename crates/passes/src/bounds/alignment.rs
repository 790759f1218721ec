//! How many of the lowest bits of integers are zeros: what the alignment of an offset is known to be.
//!
//! An optimistic data flow over the integers of a function: a parameter of a block has the zeros that all its arguments
//! have, so that an index which a loop counts in steps of four keeps two of them.

use crate::infer_alignment::zeros_of_result;
use cloom_ir::cfg::Cfg;
use cloom_ir::{BinOp, Entity, Function, Inst, Op, Value};

/// More zeros are of no use: the largest type has 128 bytes.
pub(super) const MOST: u8 = 7;

/// The zeros of each value.
pub(super) struct LowZeros {
    of: Vec<u8>,
}

impl LowZeros {
    /// The zeros of a function's integers.
    pub fn new(func: &Function, cfg: &Cfg) -> LowZeros {
        let mut zeros = LowZeros { of: vec![MOST; func.values.len()] };
        for &p in func.param_values() {
            zeros.of[p.index()] = 0;
        }
        // Each round that changes something takes zeros away, of which no value has more than `MOST`. A loop takes a
        // round or two.
        let mut changed = true;
        while changed {
            changed = false;
            for &b in cfg.rpo() {
                for &i in &func.blocks[b].insts {
                    if let Some(result) = func.insts[i].result {
                        changed |= zeros.lower(result, zeros.result(func, i));
                    }
                }
                for edge in func.blocks[b].term.edges() {
                    for (&p, &arg) in func.blocks[edge.block].params.iter().zip(&edge.args) {
                        changed |= zeros.lower(p, zeros.get(arg));
                    }
                }
            }
        }
        zeros
    }

    /// The zeros of a value.
    pub fn get(&self, v: Value) -> u8 {
        self.of.get(v.index()).copied().unwrap_or(0)
    }

    fn lower(&mut self, v: Value, to: u8) -> bool {
        let old = &mut self.of[v.index()];
        let is_lower = to < *old;
        if is_lower {
            *old = to;
        }
        is_lower
    }

    fn result(&self, func: &Function, i: Inst) -> u8 {
        let data = &func.insts[i];
        let arg = |k: usize| u32::from(self.get(data.args[k]));
        let zeros = match data.op {
            _ if data.result.is_some_and(|r| func.ty(r).is_vector()) => 0,
            Op::Binary(BinOp::Shl) => {
                let bits = data.result.map_or(0, |r| func.ty(r).scalar.bits());
                let by = func.const_bits(data.args[1]).filter(|&by| by < u64::from(bits)).unwrap_or(0);
                arg(0) + by.min(u64::from(MOST)) as u32
            }
            _ => zeros_of_result(data, arg),
        };
        zeros.min(MOST.into()) as u8
    }
}
