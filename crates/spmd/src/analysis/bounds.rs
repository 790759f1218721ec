//! Bounds: the largest value of each integer, how many of its low bits are zero, and whether lanes of a strided value
//! can wrap.
//!
//! In come a function and the largest values of its parameters; out come bounds for all values, found in one pass in
//! reverse postorder, so that parameters of loop headers have those of their type.
//!
//! A bound holds for every lane, also for one that is off: it comes from constants, widths and the ids of the launch,
//! not from branches. That no global id reaches 2³¹ is a condition on launches ([`crate::params::MAX_ID`]).

use cloom_ir::cfg::Cfg;
use cloom_ir::{BinOp, CastOp, Edge, Entity, Flags, Function, Op, Scalar, Type, Value, ValueDef, eval};

/// The bounds of a function's integers.
pub struct Bounds {
    /// The largest value of a lane, as an unsigned number, by value.
    max: Vec<u64>,
    /// How many low bits are zero in every lane, by value.
    zeros: Vec<u32>,
}

/// The stride of a value from lane to lane, as far as an analysis has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stride {
    /// It was not reached yet.
    Unknown,
    /// A number; 0 of a uniform value.
    By(i64),
    /// It has none.
    None,
}

impl Stride {
    fn known(self) -> Option<i64> {
        match self {
            Stride::By(by) => Some(by),
            Stride::Unknown | Stride::None => None,
        }
    }
}

impl Bounds {
    /// Finds the bounds; `params` are the largest values of the function's parameters.
    pub fn new(func: &Function, params: &[u64]) -> Bounds {
        // Of pointers and floats, nothing is known.
        let full = |ty: Type| if ty.is_int() { ty.scalar.mask() } else { u64::MAX };
        let mut b =
            Bounds { max: func.values.values().map(|v| full(v.ty)).collect(), zeros: vec![0; func.values.len()] };
        // Values that no instruction of the loop below defines, such as loop counters, keep the bound of their type.
        for (&p, &max) in func.param_values().iter().zip(params) {
            b.max[p.index()] = max.min(full(func.ty(p)));
        }
        // One pass: in reverse postorder operands come first, but for those of back edges, which only parameters have.
        for &block in Cfg::new(func).rpo() {
            for &i in &func.blocks[block].insts {
                let data = &func.insts[i];
                if let Some(r) = data.result
                    && func.ty(r).is_int()
                {
                    let (max, zeros) = b.transfer(func, &data.op, &data.args, func.ty(r).scalar);
                    b.max[r.index()] = max.min(full(func.ty(r)));
                    b.zeros[r.index()] = zeros.min(func.ty(r).scalar.bits());
                }
            }
        }
        b
    }

    fn transfer(&self, func: &Function, op: &Op, args: &[Value], scalar: Scalar) -> (u64, u32) {
        let max = |k: usize| self.max[args[k].index()];
        let zeros = |k: usize| self.zeros[args[k].index()];
        let all = scalar.mask();
        // A sum or a product is exact only if its bound fits.
        let fit = |x: Option<u64>| x.filter(|&x| x <= all).unwrap_or(all);
        let constant = |k: usize| func.const_bits(args[k]);
        // `sdiv` of two numbers that are never negative is `udiv`: the cases below need no signs.
        if let Some(op) = self.unsigned(func, op, args) {
            return self.transfer(func, &Op::Binary(op), args, scalar);
        }
        match op {
            // Each low bit of zero is zero, in any width.
            Op::Const(bits) => (*bits, if *bits == 0 { 64 } else { bits.trailing_zeros() }),
            Op::Binary(BinOp::Add) => (fit(max(0).checked_add(max(1))), zeros(0).min(zeros(1))),
            // A difference may wrap to any number.
            Op::Binary(BinOp::Sub) => (all, zeros(0).min(zeros(1))),
            Op::Binary(BinOp::Mul) => (fit(max(0).checked_mul(max(1))), zeros(0).saturating_add(zeros(1))),
            Op::Binary(BinOp::Shl) => match constant(1) {
                Some(by) if by < u64::from(scalar.bits()) => {
                    (fit(max(0).checked_mul(1 << by)), zeros(0).saturating_add(by as u32))
                }
                _ => (all, zeros(0)),
            },
            Op::Binary(BinOp::Lshr) => match constant(1) {
                Some(by) if by < u64::from(scalar.bits()) => (max(0) >> by, zeros(0).saturating_sub(by as u32)),
                _ => (max(0), 0),
            },
            Op::Binary(BinOp::And) => (max(0).min(max(1)), zeros(0).max(zeros(1))),
            Op::Binary(BinOp::Or | BinOp::Xor) => {
                // No bit above the highest one of both bounds can be set.
                let bits = max(0) | max(1);
                (if bits == 0 { 0 } else { u64::MAX >> bits.leading_zeros() }, zeros(0).min(zeros(1)))
            }
            Op::Binary(BinOp::Umin) => (max(0).min(max(1)), 0),
            Op::Binary(BinOp::Umax) => (max(0).max(max(1)), 0),
            Op::Binary(BinOp::Udiv) => (constant(1).map_or(max(0), |by| max(0) / by.max(1)), 0),
            Op::Binary(BinOp::Urem) => match constant(1) {
                Some(by) if by > 0 => (max(0).min(by - 1), 0),
                _ => (max(0), 0),
            },
            Op::Cast(CastOp::Trunc) if scalar != Scalar::I1 => (if max(0) <= all { max(0) } else { all }, zeros(0)),
            Op::Cast(CastOp::Zext) => (max(0), if func.ty(args[0]).scalar == Scalar::I1 { 0 } else { zeros(0) }),
            Op::Cast(CastOp::Sext) => {
                let sign = func.ty(args[0]).scalar.mask() >> 1;
                (if max(0) <= sign { max(0) } else { all }, if sign == 0 { 0 } else { zeros(0) })
            }
            Op::Select => (max(1).max(max(2)), zeros(1).min(zeros(2))),
            _ => (all, 0),
        }
    }

    /// The unsigned operation with the same result as a signed one, if its operands are never negative.
    pub fn unsigned(&self, func: &Function, op: &Op, args: &[Value]) -> Option<BinOp> {
        let &Op::Binary(op) = op else { return None };
        // The amount of a shift has no sign.
        let signed = if op == BinOp::Ashr { &args[..1] } else { args };
        let positive = |&v: &Value| func.ty(v).is_int() && self.max(v) <= func.ty(v).scalar.mask() >> 1;
        (op.unsigned() != op && signed.iter().all(positive)).then(|| op.unsigned())
    }

    /// How many low bits are zero in every lane.
    pub fn low_zeros(&self, v: Value) -> u32 {
        self.zeros[v.index()]
    }

    /// The largest value of a lane, as an unsigned number.
    pub fn max(&self, v: Value) -> u64 {
        self.max[v.index()]
    }

    /// Whether a strided value keeps its stride when it is extended, as a signed (or unsigned) number.
    ///
    /// It does if every value that it is made of is bounded away from the wrap, uniform, or a sum or product that the
    /// source promises not to wrap (`nsw`, `nuw`) and whose stride does not wrap either: two lanes may be on whose
    /// distance is no positive number of the type. A promise speaks for lanes that are on; see [`crate::emit::widen`]
    /// for how bases are computed where lane 0 may be off. `stride` is the stride of a value, as far as it is known; 0
    /// of a uniform one. What is not reached yet is taken to keep it: a counter is asked for before its next value.
    pub fn lanes_do_not_wrap(&self, func: &Function, v: Value, signed: bool, stride: &dyn Fn(Value) -> Stride) -> bool {
        let promise = if signed { Flags::NSW } else { Flags::NUW };
        // Through sums, selects and parameters back to where values come from; the list is also the set of those
        // visited.
        let mut seen = vec![v];
        let mut at = 0;
        while let Some(&x) = seen.get(at) {
            at += 1;
            // Long chains are given up: to be wrong here would be worse than a run-time check.
            if seen.len() > 64 {
                return false;
            }
            // What has no sign bit in any lane does not wrap in either reading.
            let by = stride(x);
            if matches!(by, Stride::By(0) | Stride::Unknown) || self.max(x) <= func.ty(x).scalar.mask() >> 1 {
                continue;
            }
            let next: Vec<Value> = match func.values[x].def {
                // A parameter of the function with no bound below the sign bit may wrap between two lanes.
                ValueDef::Param(b, _) if b == func.entry() => return false,
                // A block parameter does not wrap if no argument does.
                ValueDef::Param(b, k) => incoming(func, b, k as usize),
                ValueDef::Inst(i) => {
                    let data = &func.insts[i];
                    match &data.op {
                        Op::Binary(op @ (BinOp::Add | BinOp::Sub | BinOp::Mul)) if data.flags.contains(promise) => {
                            // `mul nsw i, 0x10000` of two lanes: each product fits, but their distance must be the
                            // stride as well, not the stride modulo the width.
                            if data.args.iter().all(|&a| stride(a) != Stride::Unknown)
                                && distance(func, *op, &data.args, signed, stride) != by.known().map(i128::from)
                            {
                                return false;
                            }
                            data.args.to_vec()
                        }
                        // The bounds of the operands keep the sum from wrapping, though it may have the sign bit.
                        Op::Binary(BinOp::Add) if !signed && self.fits(func, x, &data.args) => data.args.to_vec(),
                        Op::Select => data.args[1..].to_vec(),
                        _ => return false,
                    }
                }
            };
            for n in next {
                if !seen.contains(&n) {
                    seen.push(n);
                }
            }
        }
        true
    }

    fn fits(&self, func: &Function, sum: Value, args: &[Value]) -> bool {
        let bound = args.iter().try_fold(0u64, |a, &v| a.checked_add(self.max(v)));
        // Narrow types have no room for the margin.
        let limit = func.ty(sum).scalar.mask().checked_sub(1 << 12);
        bound.zip(limit).is_some_and(|(b, limit)| b < limit)
    }
}

/// The stride of a sum or product, computed without a wrap.
fn distance(
    func: &Function,
    op: BinOp,
    args: &[Value],
    signed: bool,
    stride: &dyn Fn(Value) -> Stride,
) -> Option<i128> {
    let of = |k: usize| stride(args[k]).known().map(i128::from);
    let (a, b) = (of(0)?, of(1)?);
    let factor = |k: usize| {
        let bits = func.const_bits(args[k])?;
        Some(if signed { eval::signed(func.ty(args[k]).scalar, bits).into() } else { i128::from(bits) })
    };
    match op {
        BinOp::Add => Some(a + b),
        BinOp::Sub => Some(a - b),
        _ if b == 0 => a.checked_mul(factor(1)?),
        _ if a == 0 => b.checked_mul(factor(0)?),
        _ => None,
    }
}

/// What the edges to a block give for its parameter `k`.
fn incoming(func: &Function, b: cloom_ir::Block, k: usize) -> Vec<Value> {
    let edges = func.layout.iter().flat_map(|&x| func.blocks[x].term.edges());
    edges.filter(|e: &&Edge| e.block == b).map(|e| e.args[k]).collect()
}
