//! Constant folding and algebraic simplification.
//!
//! Instructions are visited once, operands first, and each is rewritten until no rule applies to it. A rule must give
//! the same bits for all operands; the exceptions are NaN payloads (OpenCL leaves them open) and what the instruction's
//! fast-math flags allow. Operations on constants are computed by [`cloom_ir::eval`], as in the interpreter.

mod compare;
mod lanes;
mod rules;
mod vector;

use crate::pass::Pass;
use crate::util::Renames;
use cloom_ir::cfg::Cfg;
use cloom_ir::{Args, CastOp, Entity, Flags, Function, Inst, Op, Type, Value, eval};
use lanes::Effect;
use smallvec::smallvec;

/// The pass.
pub const PASS: Pass = Pass::new("fold", "constants and algebra", run);

/// Runs the pass. Returns how often it changed something.
pub fn run(func: &mut Function) -> usize {
    let cfg = Cfg::new(func);
    let mut renames = Renames::default();
    let mut changed = 0;
    for &b in cfg.rpo() {
        // Rules may emit instructions in front of the one that they fold, so the block is written anew.
        let insts = std::mem::take(&mut func.blocks[b].insts);
        let mut folder = Folder { func, out: Vec::with_capacity(insts.len()) };
        for inst in insts {
            for a in &mut folder.func.insts[inst].args {
                *a = renames.get(*a);
            }
            changed += usize::from(folder.fold(inst, &mut renames));
        }
        let out = folder.out;
        func.blocks[b].insts = out;
    }
    renames.apply(func);
    changed
}

/// The outcome of a rule.
enum Folded {
    /// Nothing: no rule applies.
    Keep,
    /// Its result is this value.
    Is(Value),
    /// Its result is this constant, in each lane.
    Const(u64),
    /// It is replaced by this operation, with the same result type.
    Becomes(Op, Args, Flags),
}

struct Folder<'a> {
    func: &'a mut Function,
    out: Vec<Inst>,
}

/// An instruction is rewritten at most so often. Each rule simplifies; this guards against two rules that undo each
/// other.
const MAX_STEPS: usize = 16;

impl Folder<'_> {
    /// Folds one instruction and appends the result, if any, to the block.
    fn fold(&mut self, inst: Inst, renames: &mut Renames) -> bool {
        let mut changed = false;
        let Some(result) = self.func.insts[inst].result else { return self.fold_effect(inst) };
        for _ in 0..MAX_STEPS {
            match self.step(inst, self.func.ty(result)) {
                Folded::Keep => break,
                Folded::Is(v) => {
                    // The instruction is dropped here: it is not put into the block again.
                    renames.set(result, v);
                    return true;
                }
                Folded::Const(bits) => {
                    let bits = bits & self.func.ty(result).scalar.mask();
                    self.rewrite(inst, Op::Const(bits), Args::new(), Flags::empty());
                }
                Folded::Becomes(op, args, flags) => self.rewrite(inst, op, args, flags),
            }
            changed = true;
        }
        // Behind whatever the rules have emitted for it.
        self.out.push(inst);
        changed
    }

    /// Folds an instruction without a result.
    fn fold_effect(&mut self, inst: Inst) -> bool {
        let mut changed = false;
        for _ in 0..MAX_STEPS {
            let data = &self.func.insts[inst];
            let (op, args, flags) = (data.op.clone(), data.args.clone(), data.flags);
            match self.masked_effect(&op, &args) {
                Effect::Keep => break,
                Effect::Gone => return true,
                Effect::Becomes(op, args) => self.rewrite(inst, op, args, flags),
            }
            changed = true;
        }
        self.out.push(inst);
        changed
    }

    fn rewrite(&mut self, inst: Inst, op: Op, args: Args, flags: Flags) {
        let data = &mut self.func.insts[inst];
        (data.op, data.args, data.flags) = (op, args, flags);
    }

    fn step(&mut self, inst: Inst, ty: Type) -> Folded {
        // Before any rule: with constant operands, `eval` gives the result.
        if let Some(bits) = self.constant(inst, ty) {
            return Folded::Const(bits);
        }
        let data = &self.func.insts[inst];
        let (args, flags) = (data.args.clone(), data.flags);
        match data.op.clone() {
            Op::Unary(op) => self.unary(op, args[0]),
            Op::Binary(op) => self.binary(op, args[0], args[1], ty, flags),
            Op::Icmp(cc) => match self.icmp_iota(cc, args[0], args[1]) {
                Some(truth) => Folded::Const(truth.into()),
                None => self.icmp(cc, args[0], args[1]),
            },
            Op::Fcmp(cc) => self.fcmp(cc, args[0], args[1]),
            Op::Cast(op) => self.cast(op, args[0], ty, flags),
            Op::Select => self.select(args[0], args[1], args[2], ty),
            Op::PtrAdd => self.ptr_add(args[0], args[1], ty),
            Op::Extract => self.extract(args[0], args[1]),
            Op::Insert => self.insert(args[0], args[1], args[2], ty),
            Op::Shuffle(mask) => self.shuffle(args[0], args[1], &mask, ty),
            Op::Splat => match self.bits(args[0]) {
                Some(bits) => Folded::Const(bits),
                None => Folded::Keep,
            },
            Op::Build => self.build(&args, ty),
            Op::Any | Op::All => self.any_or_all(args[0]),
            Op::MaskedLoad { align } => self.masked_load(args[0], args[1], align, flags),
            Op::Gather { align } => self.gather(args[0], args[1], align, ty, flags),
            _ => Folded::Keep,
        }
    }

    /// The constant, the same in each lane, that an instruction with constant operands gives.
    fn constant(&self, inst: Inst, ty: Type) -> Option<u64> {
        let data = &self.func.insts[inst];
        let mut bits = smallvec::SmallVec::<[u64; 4]>::new();
        // A constant itself, or a query, has nothing to compute.
        if data.args.is_empty() {
            return None;
        }
        for &a in &data.args {
            bits.push(self.bits(a)?);
        }
        lane(&data.op, self.func.ty(data.args[0]), ty, &bits)
    }

    /// The bits of a constant.
    fn bits(&self, v: Value) -> Option<u64> {
        self.func.const_bits(v)
    }

    /// A constant before the instruction that is being folded.
    fn iconst(&mut self, ty: Type, bits: u64) -> Value {
        self.emit(Op::Const(bits & ty.scalar.mask()), smallvec![], ty)
    }

    /// An instruction before the one that is being folded. Its result is not used until it is returned by a rule.
    fn emit(&mut self, op: Op, args: Args, ty: Type) -> Value {
        self.emit_with(op, args, ty, Flags::empty())
    }

    /// [`Self::emit`] with flags.
    fn emit_with(&mut self, op: Op, args: Args, ty: Type, flags: Flags) -> Value {
        let span = self.out.last().map_or(cloom_ir::Span::NONE, |&i| self.func.insts[i].span);
        let inst = self.func.make_inst(op, args, Some(ty), flags, span);
        self.out.push(inst);
        match self.func.insts[inst].result {
            Some(v) => v,
            // An instruction that is made with a result type has a result.
            None => Value::new(0),
        }
    }

    /// Operation and operands of the instruction that defines a value.
    fn def(&self, v: Value) -> Option<(&Op, &[Value])> {
        let data = &self.func.insts[self.func.def_inst(v)?];
        Some((&data.op, &data.args))
    }

    /// The operand of the conversion that defines a value.
    fn cast_of(&self, v: Value) -> Option<(CastOp, Value)> {
        match self.def(v)? {
            (Op::Cast(op), args) => Some((*op, args[0])),
            _ => None,
        }
    }
}

/// What a lane-wise operation gives for one lane of each operand. `from` is the type of the first operand.
pub(crate) fn lane(op: &Op, from: Type, to: Type, bits: &[u64]) -> Option<u64> {
    Some(match (op, bits) {
        (Op::Unary(op), &[a]) => eval::unary(*op, to.scalar, a),
        (Op::Binary(op), &[a, b]) => eval::binary(*op, to.scalar, a, b),
        (Op::Fma, &[a, b, c]) => eval::fma(to.scalar, a, b, c),
        (Op::Icmp(cc), &[a, b]) => eval::icmp(*cc, from.scalar, a, b).into(),
        (Op::Fcmp(cc), &[a, b]) => eval::fcmp(*cc, from.scalar, a, b).into(),
        // A bitcast between different numbers of lanes is no operation on single lanes.
        (Op::Cast(op), &[a]) if from.lanes == to.lanes => eval::cast(*op, from.scalar, to.scalar, a),
        (Op::Select, &[c, a, b]) => {
            if c == 1 {
                a
            } else {
                b
            }
        }
        (Op::PtrAdd, &[a, b]) => a.wrapping_add(b),
        (Op::Extract | Op::Splat, &[a, ..]) => a,
        // Every lane has this bit, so `any` and `all` give it too.
        (Op::Any | Op::All, &[a]) => a,
        // The verifier allows 64 lanes at most.
        (Op::Ballot, &[a]) => a * (u64::MAX >> (64 - u32::from(from.lanes).clamp(1, 64))),
        _ => return None,
    })
}
