//! Composites: making, taking apart and changing vectors, structures and arrays.

use crate::error::{Result, bail, ensure};
use crate::func::Fn;
use crate::reader::Inst;
use crate::types::{Kind, Ty};
use cloom_ir::{Type, Value};
use spirv::Op;

/// Where a component is: its type, its first part, and its lane if it is in a vector.
struct Component {
    ty: Ty,
    part: usize,
    lane: Option<u16>,
}

impl Fn<'_, '_, '_> {
    /// Lowers an instruction, if it is one of these.
    pub fn composite(&mut self, inst: &Inst<'_>) -> Result<bool> {
        match inst.op {
            Op::Undef => {
                let (ty, id) = inst.result()?;
                let ty = self.cx.types.get(ty)?;
                let parts = self.cx.types.parts(ty)?;
                // Zeros, because the IR has no undefined values.
                let parts = parts.iter().map(|p| self.b().iconst(p.ty, 0)).collect();
                self.define(id, ty, parts)
            }
            Op::CopyObject | Op::CopyLogical => {
                let (ty, id) = inst.result()?;
                let val = self.value_of(inst.word(2)?)?;
                let ty = self.cx.types.get(ty)?;
                self.define(id, ty, val.parts.to_vec())
            }
            Op::VectorExtractDynamic => {
                let [v, lane] = inst.operands()?;
                let (v, lane) = (self.vector(v)?, self.scalar_int(lane)?);
                let v = self.b().extract(v, lane);
                self.result(inst, v)
            }
            Op::VectorInsertDynamic => {
                let [v, x, lane] = inst.operands()?;
                let (v, x, lane) = (self.vector(v)?, self.one(x)?, self.scalar_int(lane)?);
                ensure!(self.ty(x) == self.ty(v).lane(), "the component is not of the vector's type");
                let v = self.b().insert(v, lane, x);
                self.result(inst, v)
            }
            Op::VectorShuffle => self.shuffle(inst),
            Op::CompositeConstruct => self.construct(inst),
            Op::CompositeExtract => {
                let (ty, id) = inst.result()?;
                let val = self.value_of(inst.word(2)?)?;
                let at = self.component(val.ty, inst.rest(3))?;
                let parts = match at.lane {
                    Some(lane) => vec![self.b().extract_lane(val.parts[at.part], lane)],
                    None => {
                        let count = self.cx.types[at.ty].parts as usize;
                        val.parts[at.part..at.part + count].to_vec()
                    }
                };
                let ty = self.cx.types.get(ty)?;
                self.define(id, ty, parts)
            }
            Op::CompositeInsert => {
                let (ty, id) = inst.result()?;
                let [x, of] = inst.operands()?;
                let (x, of) = (self.value_of(x)?, self.value_of(of)?);
                let at = self.component(of.ty, inst.rest(4))?;
                ensure!(self.cx.same(x.ty, at.ty)?, "the component has another type");
                let mut parts = of.parts.to_vec();
                match at.lane {
                    Some(lane) => parts[at.part] = self.b().insert_lane(parts[at.part], lane, x.parts[0]),
                    // The parts of a nested composite stand side by side, so that it is replaced as a whole.
                    None => parts[at.part..at.part + x.parts.len()].copy_from_slice(&x.parts),
                }
                let ty = self.cx.types.get(ty)?;
                self.define(id, ty, parts)
            }
            _ => Ok(false),
        }
    }

    pub fn vector(&mut self, id: u32) -> Result<Value> {
        let v = self.one(id)?;
        ensure!(self.ty(v).is_vector(), "%{id} is no vector");
        Ok(v)
    }

    /// The component that literal indices name.
    fn component(&mut self, ty: Ty, indices: &[u32]) -> Result<Component> {
        let mut at = Component { ty, part: 0, lane: None };
        for &index in indices {
            ensure!(at.lane.is_none(), "too many indices");
            let is_vector = matches!(self.cx.types[at.ty].kind, Kind::Vector(..));
            let (ty, _, part) = self.cx.types.component(at.ty, u64::from(index))?;
            at = Component { ty, part: at.part + part as usize, lane: is_vector.then_some(index as u16) };
        }
        Ok(at)
    }

    fn shuffle(&mut self, inst: &Inst<'_>) -> Result<bool> {
        let [a, b] = inst.operands()?;
        let (a, b) = (self.vector(a)?, self.vector(b)?);
        let (left, right) = (self.ty(a), self.ty(b));
        ensure!(left.scalar == right.scalar, "the vectors have components of different types");
        let picks = inst.rest(4);
        ensure!(matches!(picks.len(), 2 | 3 | 4 | 8 | 16), "there are no vectors of {} components", picks.len());
        let total = u32::from(left.lanes + right.lanes);
        // A component may be left undefined.
        let picks: Vec<u32> = picks.iter().map(|&p| if p == u32::MAX { 0 } else { p }).collect();
        ensure!(picks.iter().all(|&p| p < total), "a component outside of both vectors");
        let v = if left == right {
            let picks: Vec<u16> = picks.iter().map(|&p| p as u16).collect();
            self.b().shuffle(a, b, &picks)
        } else {
            // The IR's shuffle takes two vectors of one type.
            let lane = |this: &mut Self, p: u32| match p.checked_sub(u32::from(left.lanes)) {
                None => this.b().extract_lane(a, p as u16),
                Some(p) => this.b().extract_lane(b, p as u16),
            };
            let lanes: Vec<Value> = picks.iter().map(|&p| lane(self, p)).collect();
            self.b().build(&lanes)
        };
        self.result(inst, v)
    }

    fn construct(&mut self, inst: &Inst<'_>) -> Result<bool> {
        let (ty, id) = inst.result()?;
        let ty = self.cx.types.get(ty)?;
        let mut parts = Vec::new();
        let Kind::Vector(..) = self.cx.types[ty].kind else {
            let is_composite = matches!(self.cx.types[ty].kind, Kind::Struct(_) | Kind::Array(..));
            ensure!(is_composite, "its type has no components");
            for (i, &component) in inst.rest(2).iter().enumerate() {
                let val = self.value_of(component)?;
                let (wanted, ..) = self.cx.types.component(ty, i as u64)?;
                ensure!(self.cx.same(wanted, val.ty)?, "component {i} has another type");
                parts.extend(val.parts.iter().copied());
            }
            return self.define(id, ty, parts);
        };
        // Components of a vector may come in vectors.
        let wanted = self.cx.types.value(ty)?;
        for &component in inst.rest(2) {
            let v = self.one(component)?;
            ensure!(self.ty(v).scalar == wanted.scalar, "%{component} is not of the vector's type");
            match self.ty(v).lanes {
                1 => parts.push(v),
                lanes => {
                    for lane in 0..lanes {
                        parts.push(self.b().extract_lane(v, lane));
                    }
                }
            }
            ensure!(parts.len() <= 16, "too many components");
        }
        let v = match parts.len() {
            0 => bail!("it has no components"),
            n if n == usize::from(wanted.lanes) => self.b().build(&parts),
            n => bail!("{n} components for a vector of {}", wanted.lanes),
        };
        debug_assert_eq!(self.ty(v), Type::vector(wanted.scalar, wanted.lanes));
        self.define(id, ty, vec![v])
    }
}
