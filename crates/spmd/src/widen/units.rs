//! Short vectors that stay as they lie in memory.
//!
//! In lanes, a short vector is taken apart: a vector for each component. What was loaded as `float4` comes as `xyzwxyzw…` and is shuffled to
//! `xxxx…`, `yyyy…`; to be stored, it is shuffled back. Where all that happens in between is done to each component alike, the same
//! operations on what was loaded give what is to be stored, and nothing is shuffled:
//!
//! ```c
//! tile[l] += tile[l + half];   // uint4
//! ```
//!
//! So before components are put together, they are followed back to where they were taken apart, through operations that are the same for
//! all of them. Those on the components are left for dead, unless something else needs them.

use super::{Lanes, Widener};
use cloom_ir::{CastOp, Inst, Op, Type, Value};
use smallvec::SmallVec;

/// So many operations are done again on what is not taken apart.
const MOST: usize = 16;

/// What components were found to be parts of.
type Known = SmallVec<[(Lanes, Value); 8]>;

impl Widener<'_> {
    /// All components of all lanes in one vector, lane-major, without shuffles, if they come from such vectors.
    pub(super) fn units_of(&mut self, parts: &[Value]) -> Option<Value> {
        let mut order = Vec::new();
        let from_memory = self.plan_units(parts, MOST, &mut order)?;
        if !from_memory {
            return None;
        }
        let mut known = Known::new();
        for parts in order {
            let whole = self.make_units(&parts, &known);
            known.push((parts, whole));
        }
        known.pop().map(|(_, whole)| whole)
    }

    /// Lists what has to be made, operands first. Says whether something of it was in one vector before; nothing if it cannot be made.
    fn plan_units(&self, parts: &[Value], depth: usize, order: &mut Vec<Lanes>) -> Option<bool> {
        if order.iter().any(|known| known[..] == *parts) {
            return Some(false);
        }
        let is_whole = self.taken_apart(parts).is_some();
        if !is_whole && !self.is_one_for_all(parts) {
            let operands = self.operands(parts)?;
            let mut from_memory = false;
            for operand in &operands {
                from_memory |= self.plan_units(operand, depth.checked_sub(1)?, order)?;
            }
            if order.len() == MOST {
                return None;
            }
            order.push(parts.into());
            return Some(from_memory);
        }
        order.push(parts.into());
        Some(is_whole)
    }

    fn make_units(&mut self, parts: &[Value], known: &Known) -> Value {
        if let Some(whole) = self.taken_apart(parts) {
            return whole;
        }
        let (n, ty) = (parts.len() as u16, self.func.ty(parts[0]));
        let ty = Type::vector(ty.scalar, ty.lanes * n);
        let inst = self.func.def_inst(parts[0]);
        let data = inst.map(|i| &self.func.insts[i]);
        match data.map(|data| (data.op.clone(), data.args.clone(), data.flags)) {
            Some((op @ Op::Const(_), args, flags)) => self.push_units(op, args, ty, flags),
            Some((Op::Splat, args, _)) => self.b().splat(args[0], ty.lanes),
            Some((op, _, flags)) => {
                let operands = self.operands(parts).unwrap_or_default();
                let whole = |operand: &Lanes| known.iter().find(|k| k.0 == *operand).map(|k| k.1);
                let args = operands.iter().filter_map(whole).collect();
                self.push_units(op, args, ty, flags)
            }
            None => parts[0],
        }
    }

    fn push_units(&mut self, op: Op, args: cloom_ir::Args, ty: Type, flags: cloom_ir::Flags) -> Value {
        // An instruction that is made with a result type has a result.
        self.b().push(op, args, Some(ty), flags).unwrap_or_else(|| cloom_ir::Entity::new(0))
    }

    /// The vector that components were taken out of, if they are all of it.
    fn taken_apart(&self, parts: &[Value]) -> Option<Value> {
        let n = parts.len() as u16;
        let mut whole = None;
        for (c, &part) in (0..n).zip(parts) {
            let data = &self.func.insts[self.func.def_inst(part)?];
            let Op::Shuffle(lanes) = &data.op else { return None };
            let in_order = lanes.iter().zip(0..).all(|(&lane, l)| lane == l * n + c);
            let all = self.func.ty(data.args[0]).lanes == n * self.lanes && lanes.len() == usize::from(self.lanes);
            if !in_order || !all || *whole.get_or_insert(data.args[0]) != data.args[0] {
                return None;
            }
        }
        whole
    }

    /// Whether all components of all lanes are one number.
    fn is_one_for_all(&self, parts: &[Value]) -> bool {
        let source = |v: Value| {
            let data = &self.func.insts[self.func.def_inst(v)?];
            match data.op {
                Op::Const(bits) => Some((Some(bits), None)),
                Op::Splat => Some((None, Some(data.args[0]))),
                _ => None,
            }
        };
        let first = source(parts[0]);
        first.is_some() && parts.iter().all(|&part| source(part) == first)
    }

    /// The operands, each of all components, of an operation that is the same for all components.
    fn operands(&self, parts: &[Value]) -> Option<SmallVec<[Lanes; 3]>> {
        let insts: SmallVec<[Inst; 4]> = parts.iter().map(|&part| self.func.def_inst(part)).collect::<Option<_>>()?;
        let first = &self.func.insts[insts[0]];
        let to = self.func.ty(parts[0]);
        let alike = |a: Value| self.func.ty(a).lanes == to.lanes;
        let each = match first.op {
            Op::Unary(_) | Op::Binary(_) | Op::Fma | Op::Icmp(_) | Op::Fcmp(_) | Op::Select => true,
            Op::Cast(op) => !matches!(op, CastOp::PtrToInt | CastOp::IntToPtr | CastOp::Space),
            _ => false,
        };
        let same = insts.iter().zip(parts).all(|(&i, &part)| {
            let data = &self.func.insts[i];
            data.op == first.op && data.flags == first.flags && self.func.ty(part) == to
        });
        if !each || !same || !first.args.iter().all(|&a| alike(a) && !self.func.ty(a).is_ptr()) {
            return None;
        }
        let operand = |k: usize| -> Lanes { insts.iter().map(|&i| self.func.insts[i].args[k]).collect() };
        let operands: SmallVec<[Lanes; 3]> = (0..first.args.len()).map(operand).collect();
        let typed = operands.iter().all(|o| o.iter().all(|&v| self.func.ty(v) == self.func.ty(o[0])));
        typed.then_some(operands)
    }
}
