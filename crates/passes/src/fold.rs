//! Folding: operations on constants, and identities that cost nothing to see.
//!
//! What an operation computes is defined in `cloom_ir::eval` alone.

use cloom_ir::cfg::Cfg;
use cloom_ir::{BinOp, CastOp, Entity, Function, Inst, IntCc, Op, Scalar, Type, Value, eval};

/// What an instruction becomes.
enum Simpler {
    Same(Value),
    Constant(u64),
}

/// Folds in one walk in reverse postorder.
pub fn run(func: &mut Function) {
    let cfg = Cfg::new(func);
    let mut replaced: Vec<Option<Value>> = vec![None; func.values.len()];
    for &b in cfg.rpo() {
        let mut insts = std::mem::take(&mut func.blocks[b].insts);
        insts.retain(|&i| {
            for a in &mut func.insts[i].args {
                *a = replaced[a.index()].unwrap_or(*a);
            }
            let Some(r) = func.insts[i].result else { return true };
            match simplify(func, i, func.ty(r)) {
                None => true,
                Some(Simpler::Same(v)) => {
                    replaced[r.index()] = Some(v);
                    false
                }
                Some(Simpler::Constant(bits)) => {
                    func.insts[i].op = Op::Const(bits);
                    func.insts[i].args.clear();
                    func.insts[i].flags = cloom_ir::Flags::empty();
                    true
                }
            }
        });
        func.blocks[b].insts = insts;
        let mut term = std::mem::replace(&mut func.blocks[b].term, cloom_ir::Term::Unreachable);
        term.map_uses(|v| replaced[v.index()].unwrap_or(v));
        func.blocks[b].term = term;
    }
    // A use in a block that comes earlier in the order (along a back edge) is an edge's argument.
    func.map_uses(|v| replaced[v.index()].unwrap_or(v));
}

fn simplify(func: &Function, inst: Inst, ty: Type) -> Option<Simpler> {
    let data = &func.insts[inst];
    let bits = |n: usize| func.const_bits(data.args[n]);
    let s = ty.scalar;
    let constant = |c: u64| Some(Simpler::Constant(c));
    match &data.op {
        Op::Unary(op) => constant(eval::unary(*op, s, bits(0)?)),
        Op::Binary(op) => match (bits(0), bits(1)) {
            (Some(a), Some(b)) => constant(eval::binary(*op, s, a, b)),
            (a, b) => identity(*op, s, data.args[0], data.args[1], a, b),
        },
        Op::Fma => constant(eval::fma(s, bits(0)?, bits(1)?, bits(2)?)),
        Op::Icmp(cc) => {
            let from = func.ty(data.args[0]).scalar;
            if data.args[0] == data.args[1] {
                let holds = matches!(cc, IntCc::Eq | IntCc::Sle | IntCc::Sge | IntCc::Ule | IntCc::Uge);
                return constant(u64::from(holds));
            }
            constant(u64::from(eval::icmp(*cc, from, bits(0)?, bits(1)?)))
        }
        Op::Fcmp(cc) => constant(u64::from(eval::fcmp(*cc, func.ty(data.args[0]).scalar, bits(0)?, bits(1)?))),
        Op::Cast(op) => cast(func, *op, data.args[0], ty),
        Op::Select => match bits(0) {
            Some(c) => Some(Simpler::Same(data.args[if c != 0 { 1 } else { 2 }])),
            None => (data.args[1] == data.args[2]).then_some(Simpler::Same(data.args[1])),
        },
        Op::Extract => extract(func, data.args[0], bits(1)?),
        Op::Splat => constant(bits(0)?),
        Op::Build => {
            let first = bits(0)?;
            (1..data.args.len()).all(|n| bits(n) == Some(first)).then_some(Simpler::Constant(first))
        }
        Op::PtrAdd => (bits(1)? == 0).then_some(Simpler::Same(data.args[0])),
        _ => None,
    }
}

fn identity(op: BinOp, s: Scalar, x: Value, y: Value, a: Option<u64>, b: Option<u64>) -> Option<Simpler> {
    let same = |v| Some(Simpler::Same(v));
    match (op, a, b) {
        (BinOp::Add | BinOp::Or | BinOp::Xor | BinOp::Sub | BinOp::Shl | BinOp::Lshr | BinOp::Ashr, _, Some(0)) => {
            same(x)
        }
        (BinOp::Add | BinOp::Or | BinOp::Xor, Some(0), _) => same(y),
        (BinOp::Mul | BinOp::Udiv | BinOp::Sdiv, _, Some(1)) => same(x),
        (BinOp::Mul, Some(1), _) => same(y),
        (BinOp::Mul | BinOp::And, _, Some(0)) | (BinOp::Mul | BinOp::And, Some(0), _) => Some(Simpler::Constant(0)),
        (BinOp::And, _, Some(m)) if m == s.mask() => same(x),
        (BinOp::And, Some(m), _) if m == s.mask() => same(y),
        (BinOp::And | BinOp::Or | BinOp::Umin | BinOp::Umax | BinOp::Smin | BinOp::Smax, _, _) if x == y => same(x),
        (BinOp::Sub | BinOp::Xor, _, _) if x == y => Some(Simpler::Constant(0)),
        _ => None,
    }
}

fn cast(func: &Function, op: CastOp, from: Value, ty: Type) -> Option<Simpler> {
    let from_ty = func.ty(from);
    if from_ty == ty {
        return Some(Simpler::Same(from));
    }
    if let Some(bits) = func.const_bits(from) {
        // A change in the number of lanes mixes lanes, unless all bits are equal.
        let plain = from_ty.lanes == ty.lanes || bits == 0;
        return plain.then(|| Simpler::Constant(eval::cast(op, from_ty.scalar, ty.scalar, bits)));
    }
    // There and back.
    let inner = func.def_inst(from).map(|i| &func.insts[i])?;
    match (&inner.op, op) {
        (Op::Cast(CastOp::Bitcast), CastOp::Bitcast)
        | (Op::Cast(CastOp::Zext | CastOp::Sext), CastOp::Trunc)
        | (Op::Cast(CastOp::PtrToInt), CastOp::IntToPtr)
            if func.ty(inner.args[0]) == ty =>
        {
            Some(Simpler::Same(inner.args[0]))
        }
        _ => None,
    }
}

/// A lane of a vector that was just put together.
fn extract(func: &Function, mut vector: Value, lane: u64) -> Option<Simpler> {
    let lane = lane % u64::from(func.ty(vector).lanes);
    loop {
        let data = func.def_inst(vector).map(|i| &func.insts[i])?;
        match &data.op {
            Op::Const(bits) => return Some(Simpler::Constant(*bits)),
            Op::Build => return Some(Simpler::Same(data.args[lane as usize])),
            Op::Splat => return Some(Simpler::Same(data.args[0])),
            Op::Insert => {
                let at = func.const_bits(data.args[1])? % u64::from(func.ty(vector).lanes);
                if at == lane {
                    return Some(Simpler::Same(data.args[2]));
                }
                vector = data.args[0];
            }
            _ => return None,
        }
    }
}
