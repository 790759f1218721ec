//! The extended instructions of OpenCL.std: each is a built-in function of OpenCL C.

use super::convert::rounding_suffix;
use crate::builtin::{Sign, c_pointer, c_type, param_name};
use crate::error::{Result, bail, ensure};
use crate::func::Fn;
use crate::module::Set;
use crate::reader::Inst;
use cloom_ir::{Scalar, Type, Value};
use spirv::{Op, OpenclStd100Op as Std};

impl Fn<'_, '_, '_> {
    /// `OpExtInst`
    pub fn extended(&mut self, inst: &Inst<'_>) -> Result<bool> {
        if inst.op != Op::ExtInst {
            return Ok(false);
        }
        let [set, number] = inst.operands()?;
        match self.cx.module.sets.get(&set) {
            Some(Set::OpenCl) => {}
            Some(Set::Ignored) => return Ok(true),
            None => bail!("%{set} is no set of extended instructions"),
        }
        let Some(op) = Std::from_u32(number) else { bail!("the instruction {number} of OpenCL.std is not known") };
        let words = inst.rest(4);
        match op {
            Std::printf => return self.printf(inst),
            // A prefetch changes no result.
            Std::prefetch => return Ok(true),
            Std::vloadn | Std::vload_half | Std::vload_halfn | Std::vloada_halfn => return self.vload(inst, op),
            Std::vstoren
            | Std::vstore_half
            | Std::vstore_half_r
            | Std::vstore_halfn
            | Std::vstore_halfn_r
            | Std::vstorea_halfn
            | Std::vstorea_halfn_r => return self.vstore(inst, op),
            _ => {}
        }
        let ty = self.result_type(inst)?;
        let mut args = Vec::with_capacity(words.len());
        for &id in words {
            args.push(self.one(id)?);
        }
        ensure!(!args.is_empty() && args.len() <= 4, "`{op:?}` does not take {} operands", args.len());
        let v = self.function(op, &args, ty)?;
        self.result(inst, v)
    }

    /// A function of numbers, by the name of its instruction: `s_max`, `u_max`, `fmax_common`, `sin`.
    fn function(&mut self, op: Std, args: &[Value], ty: Type) -> Result<Value> {
        // The names of the variants are those of the instructions in the specification's grammar.
        let text = format!("{op:?}");
        let (name, sign) = match text.split_once('_') {
            Some(("s", name)) => (name, Sign::Signed),
            Some(("u", name)) => (name, Sign::Unsigned),
            // Functions of floats, or of integers whose sign makes no difference.
            _ => (text.as_str(), Sign::Signed),
        };
        let name = match op {
            Std::fclamp => "clamp",
            Std::fmax_common => "max",
            Std::fmin_common => "min",
            _ => name,
        };
        let int = ty.with_scalar(Scalar::I32);
        let mut params = Vec::with_capacity(args.len());
        for (i, &arg) in args.iter().enumerate() {
            let own = self.ty(arg);
            params.push(match (op, own.space()) {
                // What is written has the type of the result, or is an `int` for each component.
                (Std::frexp | Std::remquo | Std::lgamma_r, Some(space)) => c_pointer(space, &c_type(int, sign)),
                (Std::fract | Std::modf | Std::sincos, Some(space)) => c_pointer(space, &c_type(ty, sign)),
                (_, Some(_)) => bail!("`{name}` does not take a pointer"),
                // Unsigned in OpenCL C, although the instruction's name does not say it: the code of a NaN, the low
                // half of a wider number, the mask of a shuffle.
                (Std::nan, _) => c_type(own, Sign::Unsigned),
                (Std::s_upsample, _) if i == 1 => c_type(own, Sign::Unsigned),
                (Std::shuffle | Std::shuffle2, _) if i + 1 == args.len() => c_type(own, Sign::Unsigned),
                _ => c_type(own, sign),
            });
        }
        // The magnitude of the least number is no signed number.
        let unsigned = matches!(op, Std::s_abs | Std::s_abs_diff);
        let ret = c_type(ty, if unsigned { Sign::Unsigned } else { sign });
        let names: Vec<String> = (0..args.len()).map(param_name).collect();
        self.call_c(&ret, &params, args, &format!("{name}({})", names.join(", ")), ty)
    }

    /// `vload…(offset, pointer)`
    fn vload(&mut self, inst: &Inst<'_>, op: Std) -> Result<bool> {
        let (Some(&offset), Some(&p)) = (inst.words.get(4), inst.words.get(5)) else {
            bail!("it has too few operands")
        };
        let (offset, p) = (self.scalar_int(offset)?, self.pointer(p)?);
        let ty = self.result_type(inst)?;
        let lanes = if ty.lanes == 1 { String::new() } else { ty.lanes.to_string() };
        let (name, of) = match op {
            Std::vloadn => (format!("vload{lanes}"), c_type(ty.lane(), Sign::Signed)),
            Std::vloada_halfn => (format!("vloada_half{lanes}"), "half".to_owned()),
            _ => (format!("vload_half{lanes}"), "half".to_owned()),
        };
        let Some(space) = self.ty(p).space() else { bail!("it takes a pointer") };
        let offset = self.resized(offset, Type::I64, false);
        let params = ["ulong".to_owned(), c_pointer(space, &format!("const {of} "))];
        let v = self.call_c(&c_type(ty, Sign::Signed), &params, &[offset, p], &format!("{name}(a, b)"), ty)?;
        self.result(inst, v)
    }

    /// `vstore…(data, offset, pointer)`, which may say how to round.
    fn vstore(&mut self, inst: &Inst<'_>, op: Std) -> Result<bool> {
        let Some(&[data, offset, p]) = inst.rest(4).first_chunk() else { bail!("it has too few operands") };
        let (data, offset, p) = (self.one(data)?, self.scalar_int(offset)?, self.pointer(p)?);
        let ty = self.ty(data);
        let lanes = if ty.lanes == 1 { String::new() } else { ty.lanes.to_string() };
        let rounding = match op {
            Std::vstore_half_r | Std::vstore_halfn_r | Std::vstorea_halfn_r => rounding_suffix(inst.word(7)?)?,
            _ => "",
        };
        let (name, of) = match op {
            Std::vstoren => (format!("vstore{lanes}"), c_type(ty.lane(), Sign::Signed)),
            Std::vstorea_halfn | Std::vstorea_halfn_r => (format!("vstorea_half{lanes}{rounding}"), "half".to_owned()),
            _ => (format!("vstore_half{lanes}{rounding}"), "half".to_owned()),
        };
        let Some(space) = self.ty(p).space() else { bail!("it takes a pointer") };
        let offset = self.resized(offset, Type::I64, false);
        let params = [c_type(ty, Sign::Signed), "ulong".to_owned(), c_pointer(space, &format!("{of} "))];
        self.run_c(&params, &[data, offset, p], &format!("{name}(a, b, c)"))?;
        Ok(true)
    }
}
