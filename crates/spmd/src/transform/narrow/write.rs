//! Rewriting of the chosen webs to 16 bits in place, with conversions at their borders.
//!
//! In comes the choice of [`super`]. An instruction keeps its position and its result's name: only types, operations
//! and operands from outside of the web change. A conversion is emitted where it is first needed in a block.

use super::{Needs, data_args, is_index};
use crate::analysis::loop_form::Unspecified;
use cloom_ir::{Block, Builder, CastOp, Entity, Flags, Function, Inst, IntCc, Op, Scalar, Term, Type, Value};
use rustc_hash::FxHashMap;

/// The function being rewritten.
pub(super) struct Writer<'a> {
    /// The function.
    pub func: Function,
    /// The types of values before.
    pub wide: Vec<Type>,
    /// Values that become narrow.
    pub narrow: Vec<bool>,
    /// Those of them that are sign-extended.
    pub signed: Vec<bool>,
    /// Operations on them, with what these need.
    pub ops: FxHashMap<Inst, Needs>,
    /// Narrow constants, by bits and type.
    pub constants: FxHashMap<(u64, Type), Value>,
    /// Values that may be anything.
    pub unspecified: &'a mut Unspecified,
}

/// The conversions emitted in the present block.
struct BlockConversions {
    block: Block,
    /// Extended narrow values, and truncated wide ones.
    extended: FxHashMap<Value, Value>,
    truncated: FxHashMap<Value, Value>,
}

fn narrowed(ty: Type) -> Type {
    ty.with_scalar(Scalar::I16)
}

impl Writer<'_> {
    fn is_narrow(&self, v: Value) -> bool {
        self.narrow.get(v.index()).is_some_and(|&n| n)
    }

    /// Rewrites the function.
    pub fn write(&mut self) {
        for v in (0..self.narrow.len()).map(Value::new).filter(|v| self.narrow[v.index()]) {
            // All types first: an operand may be rewritten before its definition, in a block that comes later.
            self.func.values[v].ty = narrowed(self.wide[v.index()]);
        }
        // Results of casts that have become no-ops, and their operands.
        let mut replaced_by: FxHashMap<Value, Value> = FxHashMap::default();
        for block in self.func.layout.clone() {
            let mut conversions =
                BlockConversions { block, extended: FxHashMap::default(), truncated: FxHashMap::default() };
            for i in std::mem::take(&mut self.func.blocks[block].insts) {
                self.operands(i, &mut conversions);
                match self.convert(i) {
                    // A cast between two values that now have 16 bits. Its uses are renamed at the end.
                    Some((result, operand)) => drop(replaced_by.insert(result, operand)),
                    None => self.func.blocks[block].insts.push(i),
                }
            }
            let mut term = std::mem::replace(&mut self.func.blocks[block].term, Term::Unreachable);
            if let Term::Return(Some(v)) = &mut term
                && self.is_narrow(*v)
            {
                *v = self.extend(*v, &mut conversions);
            }
            for e in term.edges_mut() {
                // An argument takes the width of its parameter.
                let params = self.func.blocks[e.block].params.clone();
                for (&p, a) in params.iter().zip(&mut e.args) {
                    *a = match (self.is_narrow(p), self.is_narrow(*a)) {
                        (true, false) if self.unspecified.contains(a) => self.unspecified(self.func.ty(p)),
                        (true, false) => self.truncate(*a, &mut conversions),
                        (false, true) => self.extend(*a, &mut conversions),
                        _ => *a,
                    };
                }
            }
            self.func.blocks[block].term = term;
        }
        self.func.map_uses(|mut v| {
            while let Some(&next) = replaced_by.get(&v) {
                v = next;
            }
            v
        });
    }

    /// Converts the operands of an instruction to the widths it now takes.
    fn operands(&mut self, i: Inst, conversions: &mut BlockConversions) {
        let data = self.func.insts[i].clone();
        let narrow_operands = match self.ops.contains_key(&i) {
            true => data_args(&data.op, data.args.len()),
            false => 0..0,
        };
        // Casts take operands of any width.
        let takes_any = match data.op {
            Op::Cast(CastOp::Trunc) => data.result.is_some_and(|r| self.func.ty(r).scalar.bits() <= 16),
            Op::Cast(_) => self.ops.contains_key(&i),
            _ => false,
        };
        for (k, &a) in data.args.iter().enumerate().filter(|_| !takes_any) {
            let narrow = narrow_operands.contains(&k) && !is_index(&data.op, k);
            self.func.insts[i].args[k] = match (narrow, self.is_narrow(a)) {
                (true, false) => self.truncate(a, conversions),
                (false, true) => self.extend(a, conversions),
                _ => a,
            };
        }
    }

    /// Narrows an instruction. If that makes it a no-op, returns its result and the operand that replaces it.
    fn convert(&mut self, i: Inst) -> Option<(Value, Value)> {
        let from = self.func.insts[i].args.first().map(|&a| (a, self.func.ty(a).scalar.bits()));
        let result = self.func.insts[i].result.map(|r| (r, self.func.ty(r).scalar.bits()));
        let data = &mut self.func.insts[i];
        if let (Op::Cast(op @ (CastOp::Trunc | CastOp::Zext | CastOp::Sext)), Some((a, from)), Some((r, to))) =
            (&mut data.op, from, result)
        {
            match from.cmp(&to) {
                std::cmp::Ordering::Equal => return Some((r, a)),
                // An extension to 32 bits of a value that stays wide, but whose result is narrow.
                std::cmp::Ordering::Greater => *op = CastOp::Trunc,
                std::cmp::Ordering::Less => {}
            }
        }
        let needs = *self.ops.get(&i)?;
        // In 16 bits the sum may wrap where the wide one does not.
        data.flags.remove(Flags::NSW | Flags::NUW);
        match &mut data.op {
            Op::Icmp(cc) if needs == Needs::Unsigned => *cc = unsigned(*cc),
            Op::Binary(op) if needs == Needs::Unsigned => *op = op.unsigned(),
            _ => {}
        }
        None
    }

    /// Truncates a wide value.
    fn truncate(&mut self, v: Value, conversions: &mut BlockConversions) -> Value {
        let ty = narrowed(self.func.ty(v));
        if let Some(bits) = self.func.const_bits(v) {
            // One constant in the entry for all blocks.
            let bits = bits & Scalar::I16.mask();
            if let Some(&known) = self.constants.get(&(bits, ty)) {
                return known;
            }
            let constant = self.constant(bits, ty);
            self.constants.insert((bits, ty), constant);
            return constant;
        }
        let (func, block) = (&mut self.func, conversions.block);
        // One for each block: that of another block may not dominate this one.
        *conversions.truncated.entry(v).or_insert_with(|| Builder::new(func, block).cast(CastOp::Trunc, v, ty))
    }

    /// Extends a narrow value.
    fn extend(&mut self, v: Value, conversions: &mut BlockConversions) -> Value {
        let op = if self.signed[v.index()] { CastOp::Sext } else { CastOp::Zext };
        let (func, block, ty) = (&mut self.func, conversions.block, self.wide[v.index()]);
        *conversions.extended.entry(v).or_insert_with(|| Builder::new(func, block).cast(op, v, ty))
    }

    /// A value that may be anything.
    fn unspecified(&mut self, ty: Type) -> Value {
        let any = self.constant(0, ty);
        self.unspecified.insert(any);
        any
    }

    /// A constant at the start of the function.
    fn constant(&mut self, bits: u64, ty: Type) -> Value {
        let entry = self.func.entry();
        let v = Builder::new(&mut self.func, entry).iconst(ty, bits);
        self.func.move_last_to_front(entry);
        v
    }
}

/// The unsigned form of a comparison.
fn unsigned(cc: IntCc) -> IntCc {
    match cc {
        IntCc::Slt => IntCc::Ult,
        IntCc::Sle => IntCc::Ule,
        IntCc::Sgt => IntCc::Ugt,
        IntCc::Sge => IntCc::Uge,
        cc => cc,
    }
}
