//! Block parameters: variables that edges assign, blended where lanes from several edges join.
//!
//! A parameter of the work-item's function becomes one variable for each component of a varying value, one for the
//! base of a strided value, and three for a value with a checked stride: base, check and lanes. [`cloom_ir::ssa`]
//! turns them into SSA values.

use super::{VecValue, Widener};
use crate::analysis::shape::Shape;
use crate::error::Stop;
use cloom_ir::ssa::Var;
use cloom_ir::{Edge, Type, Value};
use smallvec::SmallVec;

impl Widener<'_> {
    pub(super) fn param_vars(&mut self, p: Value) -> SmallVec<[Var; 4]> {
        if let Some(v) = self.joins.vars.get(&p) {
            return v.clone();
        }
        let ty = self.item.func.ty(p);
        let vars: SmallVec<[Var; 4]> = match self.item.shapes.of(p) {
            Shape::Varying if self.joins.interleaved.contains(&p) => {
                let interleaved_type = Type::vector(ty.scalar, ty.lanes * self.lanes);
                SmallVec::from_slice(&[self.ssa.var(interleaved_type)])
            }
            Shape::Varying => {
                let wide = self.wide_type(ty);
                (0..ty.lanes).map(|_| self.ssa.var(wide)).collect()
            }
            // The lanes are a variable too: where the check fails, they cannot be computed again from operands, since
            // which argument came in is known to the edges alone.
            Shape::Strided { checked: true, .. } => {
                let wide = self.wide_type(ty);
                SmallVec::from_slice(&[self.ssa.var(ty), self.ssa.var(Type::I1), self.ssa.var(wide)])
            }
            _ => SmallVec::from_slice(&[self.ssa.var(ty)]),
        };
        self.joins.vars.insert(p, vars.clone());
        vars
    }

    pub(super) fn read_param(&mut self, p: Value) -> VecValue {
        let vars = self.param_vars(p);
        let cur = self.cur;
        let values: SmallVec<[Value; 4]> = vars.iter().map(|&v| self.ssa.read(self.func, cur, v)).collect();
        // `lanes_of_checked` stops here: these lanes are right whether the check holds or not.
        if let (Shape::Strided { checked: true, .. }, [_, _, lanes]) = (self.item.shapes.of(p), &values[..]) {
            self.joins.checked.insert(p, *lanes);
        }
        match self.item.shapes.of(p) {
            Shape::Varying if self.joins.interleaved.contains(&p) => {
                let n = self.item.func.ty(p).lanes;
                VecValue::Varying(self.deinterleave(values[0], n))
            }
            Shape::Varying => VecValue::Varying(values),
            Shape::Strided { by, .. } => VecValue::Strided { base: values[0], by, cond: values.get(1).copied() },
            _ => VecValue::Uniform(values[0]),
        }
    }

    /// Assigns an edge's arguments to the target's parameters. With `blend`, only in the lanes of that mask; at a
    /// join (`joins`) the first edge need not blend, as it finds the parameter cleared.
    pub(super) fn write_params(&mut self, e: &Edge, blend: Option<Value>, joins: bool) -> Result<(), Stop> {
        let item = self.item;
        // Reads all before assigning any: a back edge may permute them.
        let mut values = Vec::new();
        for (&p, &a) in item.func.blocks[e.block].params.iter().zip(&e.args) {
            // The parameter keeps what it has, which is as good as any other value, and costs no blend.
            if item.unspecified.contains(&a) {
                continue;
            }
            let vars = self.param_vars(p);
            match item.shapes.of(p) {
                Shape::Varying => {
                    // `clear_join` has removed the parameter from `assigned`. Until the first edge no lane has a value
                    // here that must be kept, so that the first write may cover all lanes.
                    let mut mask = if joins && self.joins.assigned.insert(p) { None } else { blend };
                    let mut lanes = self.lanes(a)?;
                    if self.joins.interleaved.contains(&p) {
                        // One bit for each component of each lane.
                        mask = mask.map(|m| self.repeat_mask(m, lanes.len() as u16));
                        // Without shuffles: `aos_passthrough::params` admits only parameters whose arguments allow
                        // that.
                        lanes = smallvec::smallvec![self.interleave(&lanes)];
                    }
                    for (&var, new) in vars.iter().zip(lanes) {
                        let new = match mask {
                            Some(mask) => {
                                let old = self.ssa.read(self.func, self.cur, var);
                                self.b().select(mask, new, old)
                            }
                            None => new,
                        };
                        values.push((var, new));
                    }
                }
                // No blend here and below. Where lanes of several edges join, all edges bring one value, or the shape
                // would be varying; elsewhere one edge is taken, and its source has a guard.
                Shape::Strided { checked, .. } => {
                    values.push((vars[0], self.base(a)?));
                    if checked {
                        let cond = match self.get(a)? {
                            // The shape of a join is checked if one argument's is: an argument with a stride that
                            // always holds brings true.
                            VecValue::Strided { cond: Some(c), .. } => c,
                            _ => self.b().iconst(Type::I1, 1),
                        };
                        values.push((vars[1], cond));
                        values.push((vars[2], self.lane(a)?));
                    }
                }
                _ => values.push((vars[0], self.base(a)?)),
            }
        }
        for (var, value) in values {
            self.ssa.write(self.cur, var, value);
        }
        Ok(())
    }
}
