//! Hostile kernels: random programs with damaged arithmetic and guards, launched with arguments that do not fit them.
//!
//! In comes a program of the generator, which is right; out go programs that compute any address: constants,
//! comparisons and operations are exchanged, guards are dropped, alignments and promises are invented, private arrays
//! shrink. Their launches have buffers that are too small, null pointers and extreme numbers. Under bounds checks
//! ([`cloom_passes::bounds`]) such a launch touches its own memory only.

use crate::case::CaseArg;
use crate::generate::types::Rng;
use cloom_ir::{BinOp, CastOp, Flags, Function, IntCc, Module, Op, ParamKind, Term, Type};

/// A number that arithmetic on addresses does not expect.
fn extreme(random: &mut Rng) -> u64 {
    let near = random.below(9).wrapping_sub(4);
    let power = 1u64 << random.below(64);
    match random.below(5) {
        0 => near,
        1 => power.wrapping_add(near),
        2 => power.wrapping_neg().wrapping_add(near),
        3 => random.next(),
        _ => random.below(5000),
    }
}

/// Damages the functions of a module, with up to this many changes in all. The module may not verify afterwards.
pub fn damage(module: &mut Module, changes: u64, random: &mut Rng) {
    let funcs: Vec<_> = module.funcs.keys().filter(|&f| !module.funcs[f].is_declaration()).collect();
    for _ in 0..changes {
        let f = random.pick(&funcs);
        damage_once(&mut module.funcs[f], random);
    }
}

fn damage_once(func: &mut Function, random: &mut Rng) {
    const BINARY: [BinOp; 9] =
        [BinOp::Add, BinOp::Sub, BinOp::Mul, BinOp::Shl, BinOp::And, BinOp::Or, BinOp::Xor, BinOp::Smax, BinOp::Umin];
    const COMPARISONS: [IntCc; 6] = [IntCc::Eq, IntCc::Ne, IntCc::Slt, IntCc::Sge, IntCc::Ult, IntCc::Ugt];
    if random.below(6) == 0 {
        // A guard that is always taken, or never.
        let block = func.layout[random.below(func.layout.len() as u64) as usize];
        if let Term::Branch { then, els, .. } = func.blocks[block].term.clone() {
            let edge = if random.below(2) == 0 { then } else { els };
            func.blocks[block].term = Term::Jump(edge);
        }
        return;
    }
    let insts: Vec<_> = func.insts_in_layout().map(|(i, _)| i).collect();
    if insts.is_empty() {
        return;
    }
    // Most instructions are of no interest.
    for _ in 0..20 {
        let i = insts[random.below(insts.len() as u64) as usize];
        let ty = func.insts[i].result.map(|r| func.ty(r));
        let is_int = ty.is_some_and(Type::is_int);
        let data = &mut func.insts[i];
        match &mut data.op {
            Op::Const(bits) if is_int => *bits = extreme(random) & ty.map_or(0, |ty| ty.scalar.mask()),
            Op::Binary(op) if is_int && BINARY.contains(op) => {
                *op = random.pick(&BINARY);
                data.flags |= random.pick(&[Flags::empty(), Flags::NSW, Flags::NUW, Flags::NSW | Flags::NUW]);
            }
            Op::Icmp(cc) => *cc = random.pick(&COMPARISONS),
            Op::Cast(op @ (CastOp::Sext | CastOp::Zext)) => *op = random.pick(&[CastOp::Sext, CastOp::Zext]),
            Op::Alloca { size, .. } if *size > 4 => *size = 4 + random.below(*size - 4),
            Op::Load { align } | Op::Store { align } => *align = 1 << random.below(5),
            _ => continue,
        }
        return;
    }
}

/// Arguments that do not fit: smaller buffers and local memory, no buffer at all, other numbers.
pub fn damage_args(args: &mut [CaseArg], random: &mut Rng) {
    for arg in args {
        match arg {
            CaseArg::Buffer(bytes) => {
                let size = bytes.len() as u64;
                let smaller = match random.below(6) {
                    0 => 0,
                    1 => random.below(64),
                    2 => size / 2,
                    3 => size.saturating_sub(random.below(9)),
                    _ => size,
                };
                bytes.truncate(smaller as usize);
            }
            CaseArg::Local(size) => {
                let few = 1 + random.below(16);
                *size = random.pick(&[*size, *size / 2, few, *size - 1]);
            }
            CaseArg::Bytes(bytes) if random.below(3) == 0 => {
                for word in bytes.chunks_mut(4) {
                    let from = extreme(random).to_le_bytes();
                    word.copy_from_slice(&from[..word.len()]);
                }
            }
            CaseArg::Bytes(_) | CaseArg::Again(_) => {}
        }
    }
}

/// The values of the parameters that the bounds checks add to a kernel: sizes, in the order of the parameters.
pub fn hidden_args(module: &Module, kernel: &str, args: &[CaseArg]) -> Vec<CaseArg> {
    let meta = module.find(kernel).and_then(|k| module.funcs[k].kernel.as_deref());
    let params = meta.map_or(&[][..], |meta| &meta.params);
    let is_object = |k: &ParamKind| matches!(k, ParamKind::Global | ParamKind::Constant | ParamKind::Local);
    let shown = params.iter().zip(0..args.len() as u32).filter(|(p, _)| is_object(&p.kind));
    shown.map(|(_, n)| CaseArg::Bytes(size(args, n as usize).to_le_bytes().to_vec())).collect()
}

fn size(args: &[CaseArg], n: usize) -> u64 {
    match &args[n] {
        CaseArg::Buffer(bytes) => bytes.len() as u64,
        CaseArg::Again(earlier) => size(args, *earlier),
        CaseArg::Local(size) => *size,
        CaseArg::Bytes(_) => 0,
    }
}
