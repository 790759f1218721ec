//! Conversions between numbers, and between pointers.

use crate::builtin::{Sign, c_type};
use crate::error::{Result, bail, ensure};
use crate::func::Fn;
use crate::reader::Inst;
use cloom_ir::{CastOp, IntCc, Scalar, Space, Type, Value};
use spirv::{Decoration, FPRoundingMode, Op};

impl Fn<'_, '_, '_> {
    /// Lowers an instruction, if it is one of these.
    pub fn convert(&mut self, inst: &Inst<'_>) -> Result<bool> {
        let v = match inst.op {
            Op::ConvertFToU => self.float_to_int(inst, CastOp::FtoU, Sign::Unsigned)?,
            Op::ConvertFToS => self.float_to_int(inst, CastOp::FtoS, Sign::Signed)?,
            Op::ConvertSToF => self.int_to_float(inst, CastOp::StoF, Sign::Signed)?,
            Op::ConvertUToF => self.int_to_float(inst, CastOp::UtoF, Sign::Unsigned)?,
            Op::UConvert | Op::SConvert => {
                let a = self.int(inst.word(2)?)?;
                let to = self.number(inst)?;
                ensure!(to.is_int(), "the result is no integer");
                let signed = inst.op == Op::SConvert;
                let saturates = self.cx.module.decoration(inst.result()?.1, Decoration::SaturatedConversion).is_some();
                // A wider type holds every number of the narrower one.
                if saturates && to.scalar.bits() < self.ty(a).scalar.bits() {
                    let sign = if signed { Sign::Signed } else { Sign::Unsigned };
                    self.saturated(a, sign, to, sign)?
                } else {
                    self.resized(a, to, signed)
                }
            }
            Op::SatConvertSToU | Op::SatConvertUToS => {
                let a = self.int(inst.word(2)?)?;
                let to = self.number(inst)?;
                let (from_sign, to_sign) = match inst.op {
                    Op::SatConvertSToU => (Sign::Signed, Sign::Unsigned),
                    _ => (Sign::Unsigned, Sign::Signed),
                };
                self.saturated(a, from_sign, to, to_sign)?
            }
            Op::FConvert => self.float_to_float(inst)?,
            Op::ConvertPtrToU => {
                let p = self.pointer(inst.word(2)?)?;
                let to = self.number(inst)?;
                // An address has 64 bits; the result may have fewer.
                let n = self.b().cast(CastOp::PtrToInt, p, Type::I64);
                self.resized(n, to, false)
            }
            Op::ConvertUToPtr => {
                let n = self.scalar_int(inst.word(2)?)?;
                let to = self.result_type(inst)?;
                ensure!(to.is_ptr(), "the result is no pointer");
                let n = self.resized(n, Type::I64, false);
                self.b().cast(CastOp::IntToPtr, n, to)
            }
            Op::PtrCastToGeneric | Op::GenericCastToPtr => {
                let p = self.pointer(inst.word(2)?)?;
                let Some(space) = self.result_type(inst)?.space() else { bail!("the result is no pointer") };
                ensure!(
                    self.ty(p).space().is_some_and(castable) && castable(space),
                    "it is not between these memories"
                );
                self.in_space(p, space)
            }
            Op::GenericCastToPtrExplicit => {
                let p = self.generic(inst)?;
                let Some(space) = self.result_type(inst)?.space() else { bail!("the result is no pointer") };
                ensure!(castable(space) && space != Space::Generic, "it is not to one memory");
                // By the tag, which says where the pointer came from: a null pointer results if that was another
                // memory.
                let (is_there, null) = (self.is_in(p, space), self.b().iconst(Type::ptr(space), 0));
                let there = self.in_space(p, space);
                self.b().select(is_there, there, null)
            }
            Op::GenericPtrMemSemantics => {
                let p = self.generic(inst)?;
                // The bits of MemorySemantics; private memory has none.
                let (global, local) = (self.is_in(p, Space::Global), self.is_in(p, Space::Local));
                let [none, of_group, of_device] = [0, 0x100, 0x200].map(|n| self.b().iconst(Type::I32, n));
                let rest = self.b().select(local, of_group, none);
                self.b().select(global, of_device, rest)
            }
            Op::Bitcast => self.bitcast(inst)?,
            _ => return Ok(false),
        };
        self.result(inst, v)
    }

    /// An integer, or its nearest value in another type.
    fn saturated(&mut self, a: Value, sign: Sign, to: Type, to_sign: Sign) -> Result<Value> {
        ensure!(to.is_int() && to.lanes == self.ty(a).lanes, "the result is not as many integers");
        let (from, name) = (c_type(self.ty(a), sign), c_type(to, to_sign));
        self.call_c(&name, &[from], &[a], &format!("convert_{name}_sat(a)"), to)
    }

    /// A number, or a vector, is what an instruction gives.
    fn number(&self, inst: &Inst<'_>) -> Result<Type> {
        let ty = self.result_type(inst)?;
        let number = !ty.is_ptr() && ty.scalar != Scalar::I1;
        ensure!(number, "the result is no number");
        Ok(ty)
    }

    /// The way to round that is written at an instruction, as names of conversions end.
    fn rounding(&self, inst: &Inst<'_>) -> Result<Option<&'static str>> {
        let (_, id) = inst.result()?;
        match self.cx.module.decoration(id, Decoration::FPRoundingMode) {
            None => Ok(None),
            Some(words) => rounding_suffix(words.first().copied().unwrap_or(u32::MAX)).map(Some),
        }
    }

    fn float_to_int(&mut self, inst: &Inst<'_>, op: CastOp, sign: Sign) -> Result<Value> {
        let a = self.float_in_memory(inst.word(2)?)?;
        let (from, to) = (self.ty(a), self.number(inst)?);
        ensure!(to.is_int() && to.lanes == from.lanes, "the result is not as many integers");
        match self.rounding(inst)? {
            // The IR saturates always.
            None | Some("_rtz") => Ok(self.b().cast(op, a, to)),
            Some(suffix) => {
                let name = c_type(to, sign);
                let text = format!("convert_{name}_sat{suffix}(a)");
                self.call_c(&name, &[c_type(from, sign)], &[a], &text, to)
            }
        }
    }

    fn int_to_float(&mut self, inst: &Inst<'_>, op: CastOp, sign: Sign) -> Result<Value> {
        let a = self.int(inst.word(2)?)?;
        let (from, to) = (self.ty(a), self.number(inst)?);
        ensure!(to.is_float() && to.lanes == from.lanes, "the result is not as many floats");
        match self.rounding(inst)? {
            None | Some("_rte") => Ok(self.b().cast(op, a, to)),
            Some(suffix) => {
                let name = c_type(to, sign);
                self.call_c(&name, &[c_type(from, sign)], &[a], &format!("convert_{name}{suffix}(a)"), to)
            }
        }
    }

    /// A float that is only converted: `half` needs no arithmetic for that.
    fn float_in_memory(&mut self, id: u32) -> Result<Value> {
        let v = self.one(id)?;
        let ty = self.ty(v);
        ensure!(ty.is_float(), "%{id} is of type {ty}, not a float");
        Ok(v)
    }

    fn float_to_float(&mut self, inst: &Inst<'_>) -> Result<Value> {
        let a = self.float_in_memory(inst.word(2)?)?;
        let (from, to) = (self.ty(a), self.number(inst)?);
        ensure!(to.is_float() && to.lanes == from.lanes, "the result is not as many floats");
        let (wider, narrower) = (to.scalar.bits() > from.scalar.bits(), to.scalar.bits() < from.scalar.bits());
        match self.rounding(inst)? {
            // Exact, whatever the way to round.
            _ if wider => Ok(self.b().cast(CastOp::Fext, a, to)),
            _ if !narrower => Ok(a),
            None | Some("_rte") => Ok(self.b().cast(CastOp::Ftrunc, a, to)),
            Some(suffix) if to.scalar == Scalar::F16 => {
                // Without arithmetic in `half`: by a store, which rounds.
                let bits = to.with_scalar(Scalar::I16);
                let lanes = if to.lanes == 1 { String::new() } else { to.lanes.to_string() };
                let text = format!(
                    "{{ ushort r[16]; vstore_half{lanes}{suffix}(a, 0, (half *)r); return {}; }}",
                    match to.lanes {
                        1 => "r[0]".to_owned(),
                        n => format!("vload{n}(0, r)"),
                    }
                );
                let from = c_type(from, Sign::Signed);
                let v = self.call_c(&c_type(bits, Sign::Unsigned), &[from], &[a], &text, bits)?;
                Ok(self.b().cast(CastOp::Bitcast, v, to))
            }
            Some(suffix) => {
                let name = c_type(to, Sign::Signed);
                let from = c_type(from, Sign::Signed);
                self.call_c(&name, &[from], &[a], &format!("convert_{name}{suffix}(a)"), to)
            }
        }
    }

    fn generic(&mut self, inst: &Inst<'_>) -> Result<Value> {
        let p = self.pointer(inst.word(2)?)?;
        ensure!(self.ty(p).space() == Some(Space::Generic), "the pointer is not generic");
        Ok(p)
    }

    /// Whether a generic pointer points into an address space.
    fn is_in(&mut self, p: Value, space: Space) -> Value {
        let tag = self.b().cast(CastOp::SpaceOf, p, Type::I64);
        let wanted = self.b().iconst(Type::I64, space.tag());
        self.b().icmp(IntCc::Eq, tag, wanted)
    }

    fn bitcast(&mut self, inst: &Inst<'_>) -> Result<Value> {
        let a = self.one(inst.word(2)?)?;
        let (from, to) = (self.ty(a), self.result_type(inst)?);
        ensure!(from.scalar != Scalar::I1 && to.scalar != Scalar::I1, "truth values have no bits");
        if from == to {
            return Ok(a);
        }
        match (from.is_ptr(), to.is_ptr()) {
            (true, true) => bail!("it does not change the memory that a pointer points into"),
            (true, false) => {
                ensure!(to.bytes() == 8, "the types have different sizes");
                let n = self.b().cast(CastOp::PtrToInt, a, Type::I64);
                Ok(if to == Type::I64 { n } else { self.b().cast(CastOp::Bitcast, n, to) })
            }
            (false, true) => {
                ensure!(from.bytes() == 8, "the types have different sizes");
                let n = if from == Type::I64 { a } else { self.b().cast(CastOp::Bitcast, a, Type::I64) };
                Ok(self.b().cast(CastOp::IntToPtr, n, to))
            }
            (false, false) => {
                ensure!(from.bytes() == to.bytes(), "the types have different sizes");
                Ok(self.b().cast(CastOp::Bitcast, a, to))
            }
        }
    }
}

/// Whether pointers into an address space can be generic, or are.
fn castable(space: Space) -> bool {
    matches!(space, Space::Private | Space::Global | Space::Local | Space::Generic)
}

/// The end of the name of a conversion that rounds so.
pub(crate) fn rounding_suffix(mode: u32) -> Result<&'static str> {
    Ok(match FPRoundingMode::from_u32(mode) {
        Some(FPRoundingMode::RTE) => "_rte",
        Some(FPRoundingMode::RTZ) => "_rtz",
        Some(FPRoundingMode::RTP) => "_rtp",
        Some(FPRoundingMode::RTN) => "_rtn",
        None => bail!("the rounding mode {mode} is not known"),
    })
}
