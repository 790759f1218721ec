//! Makes values narrow in place, and converts at the borders.
//!
//! In comes what [`super`] has chosen; an instruction keeps its place and its result's name, so that only types,
//! operations and the operands from outside change. Conversions stand where they are first needed in a block.

use super::{Needs, data_args, is_index};
use crate::transform::canonicalize::Unspecified;
use cloom_ir::{Block, Builder, CastOp, Entity, Flags, Function, Inst, IntCc, Op, Scalar, Term, Type, Value};
use rustc_hash::FxHashMap;

/// The function that is being changed.
pub(super) struct Writer<'a> {
    /// It.
    pub func: Function,
    /// The types that values had.
    pub wide: Vec<Type>,
    /// Values that become narrow,
    pub narrow: Vec<bool>,
    /// and those that are signed numbers in full.
    pub signed: Vec<bool>,
    /// Operations on them, and what these need.
    pub ops: FxHashMap<Inst, Needs>,
    /// Constants, by their bits and type.
    pub made: FxHashMap<(u64, Type), Value>,
    /// Values that nobody needs.
    pub unspecified: &'a mut Unspecified,
}

/// The block that is being written.
struct Home {
    block: Block,
    /// Narrow values in full, and wide ones cut.
    full: FxHashMap<Value, Value>,
    cut: FxHashMap<Value, Value>,
}

fn narrowed(ty: Type) -> Type {
    ty.with_scalar(Scalar::I16)
}

impl Writer<'_> {
    fn is_narrow(&self, v: Value) -> bool {
        self.narrow.get(v.index()).is_some_and(|&n| n)
    }

    /// Changes it.
    pub fn write(&mut self) {
        for v in (0..self.narrow.len()).map(Value::new).filter(|v| self.narrow[v.index()]) {
            self.func.values[v].ty = narrowed(self.wide[v.index()]);
        }
        // Values whose instructions have become nothing, and what they are now.
        let mut same: FxHashMap<Value, Value> = FxHashMap::default();
        for block in self.func.layout.clone() {
            let mut home = Home { block, full: FxHashMap::default(), cut: FxHashMap::default() };
            for i in std::mem::take(&mut self.func.blocks[block].insts) {
                self.operands(i, &mut home);
                match self.convert(i) {
                    Some((result, operand)) => drop(same.insert(result, operand)),
                    None => self.func.blocks[block].insts.push(i),
                }
            }
            let mut term = std::mem::replace(&mut self.func.blocks[block].term, Term::Unreachable);
            if let Term::Return(Some(v)) = &mut term
                && self.is_narrow(*v)
            {
                *v = self.full(*v, &mut home);
            }
            for e in term.edges_mut() {
                let params = self.func.blocks[e.block].params.clone();
                for (&p, a) in params.iter().zip(&mut e.args) {
                    *a = match (self.is_narrow(p), self.is_narrow(*a)) {
                        (true, false) if self.unspecified.contains(a) => self.unspecified(self.func.ty(p)),
                        (true, false) => self.cut(*a, &mut home),
                        (false, true) => self.full(*a, &mut home),
                        _ => *a,
                    };
                }
            }
            self.func.blocks[block].term = term;
        }
        self.func.map_uses(|mut v| {
            while let Some(&next) = same.get(&v) {
                v = next;
            }
            v
        });
    }

    /// Converts the operands of an instruction to what it takes from now on.
    fn operands(&mut self, i: Inst, home: &mut Home) {
        let data = self.func.insts[i].clone();
        let becomes = match self.ops.contains_key(&i) {
            true => data_args(&data.op, data.args.len()),
            false => 0..0,
        };
        // Casts take what there is.
        let takes_any = match data.op {
            Op::Cast(CastOp::Trunc) => data.result.is_some_and(|r| self.func.ty(r).scalar.bits() <= 16),
            Op::Cast(_) => self.ops.contains_key(&i),
            _ => false,
        };
        for (k, &a) in data.args.iter().enumerate().filter(|_| !takes_any) {
            let narrow = becomes.contains(&k) && !is_index(&data.op, k);
            self.func.insts[i].args[k] = match (narrow, self.is_narrow(a)) {
                (true, false) => self.cut(a, home),
                (false, true) => self.full(a, home),
                _ => a,
            };
        }
    }

    /// Makes an instruction's operation one of 16 bits, if it is among those. If that leaves nothing to do: its result and what that is.
    fn convert(&mut self, i: Inst) -> Option<(Value, Value)> {
        let from = self.func.insts[i].args.first().map(|&a| (a, self.func.ty(a).scalar.bits()));
        let result = self.func.insts[i].result.map(|r| (r, self.func.ty(r).scalar.bits()));
        let data = &mut self.func.insts[i];
        if let (Op::Cast(op @ (CastOp::Trunc | CastOp::Zext | CastOp::Sext)), Some((a, from)), Some((r, to))) =
            (&mut data.op, from, result)
        {
            match from.cmp(&to) {
                std::cmp::Ordering::Equal => return Some((r, a)),
                std::cmp::Ordering::Greater => *op = CastOp::Trunc,
                std::cmp::Ordering::Less => {}
            }
        }
        let needs = *self.ops.get(&i)?;
        data.flags.remove(Flags::NSW | Flags::NUW);
        match &mut data.op {
            Op::Icmp(cc) if needs == Needs::Unsigned => *cc = unsigned(*cc),
            Op::Binary(op) if needs == Needs::Unsigned => *op = op.unsigned(),
            _ => {}
        }
        None
    }

    /// The low 16 bits of a wide value.
    fn cut(&mut self, v: Value, home: &mut Home) -> Value {
        let ty = narrowed(self.func.ty(v));
        if let Some(bits) = self.func.const_bits(v) {
            let bits = bits & Scalar::I16.mask();
            if let Some(&known) = self.made.get(&(bits, ty)) {
                return known;
            }
            let made = self.constant(bits, ty);
            self.made.insert((bits, ty), made);
            return made;
        }
        let (func, block) = (&mut self.func, home.block);
        *home.cut.entry(v).or_insert_with(|| Builder::new(func, block).cast(CastOp::Trunc, v, ty))
    }

    /// A narrow value in full.
    fn full(&mut self, v: Value, home: &mut Home) -> Value {
        let op = if self.signed[v.index()] { CastOp::Sext } else { CastOp::Zext };
        let (func, block, ty) = (&mut self.func, home.block, self.wide[v.index()]);
        *home.full.entry(v).or_insert_with(|| Builder::new(func, block).cast(op, v, ty))
    }

    /// A value that nobody needs.
    fn unspecified(&mut self, ty: Type) -> Value {
        let any = self.constant(0, ty);
        self.unspecified.insert(any);
        any
    }

    /// A constant, at the front of the function.
    fn constant(&mut self, bits: u64, ty: Type) -> Value {
        let entry = self.func.entry();
        let v = Builder::new(&mut self.func, entry).iconst(ty, bits);
        self.func.move_last_to_front(entry);
        v
    }
}

/// The comparison of the same numbers as unsigned ones.
fn unsigned(cc: IntCc) -> IntCc {
    match cc {
        IntCc::Slt => IntCc::Ult,
        IntCc::Sle => IntCc::Ule,
        IntCc::Sgt => IntCc::Ugt,
        IntCc::Sge => IntCc::Uge,
        cc => cc,
    }
}
