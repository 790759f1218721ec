//! What sub-groups do together by `SPV_INTEL_subgroups`: shuffles, and blocks of memory and of images. Each is a
//! function of `cl_intel_subgroups`.

use crate::builtin::{Sign, c_image, c_pointer, c_type, param_name};
use crate::error::{Result, bail, ensure};
use crate::func::Fn;
use crate::reader::{Id, Inst};
use cloom_ir::{CastOp, Scalar, Type, Value};
use spirv::Op;

impl Fn<'_, '_, '_> {
    /// Lowers an instruction, if it is one of these.
    pub fn intel(&mut self, inst: &Inst<'_>) -> Result<bool> {
        match inst.op {
            Op::SubgroupShuffleINTEL => self.intel_shuffle(inst, "intel_sub_group_shuffle", 1),
            Op::SubgroupShuffleXorINTEL => self.intel_shuffle(inst, "intel_sub_group_shuffle_xor", 1),
            Op::SubgroupShuffleDownINTEL => self.intel_shuffle(inst, "intel_sub_group_shuffle_down", 2),
            Op::SubgroupShuffleUpINTEL => self.intel_shuffle(inst, "intel_sub_group_shuffle_up", 2),
            Op::SubgroupBlockReadINTEL | Op::SubgroupImageBlockReadINTEL => {
                let ty = self.result_type(inst)?;
                let (mut params, args, names) = self.intel_block(inst, 2)?;
                // Blocks are bits: the functions take unsigned integers, and floats are cast.
                let (name, of) = block_function("read", ty)?;
                // An image has two parameters, whose types are complete.
                if let [pointer] = &mut params[..] {
                    *pointer = pointer.replace("void", &format!("const {}", c_type(of.lane(), Sign::Unsigned)));
                }
                let v = self.call_c(&c_type(of, Sign::Unsigned), &params, &args, &format!("{name}({names})"), of)?;
                let v = if of == ty { v } else { self.b().cast(CastOp::Bitcast, v, ty) };
                self.result(inst, v)
            }
            Op::SubgroupBlockWriteINTEL | Op::SubgroupImageBlockWriteINTEL => {
                let (mut params, mut args, names) = self.intel_block(inst, 0)?;
                let v = self.one(inst.word(args.len())?)?;
                let (name, of) = block_function("write", self.ty(v))?;
                if let [pointer] = &mut params[..] {
                    *pointer = pointer.replace("void", &c_type(of.lane(), Sign::Unsigned));
                }
                let v = if of == self.ty(v) { v } else { self.b().cast(CastOp::Bitcast, v, of) };
                let last = param_name(args.len());
                args.push(v);
                params.push(c_type(of, Sign::Unsigned));
                self.run_c(&params, &args, &format!("{name}({names}, {last})"))?;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// A shuffle of so many values.
    fn intel_shuffle(&mut self, inst: &Inst<'_>, name: &str, values: usize) -> Result<bool> {
        let ty = self.result_type(inst)?;
        ensure!(!ty.is_ptr() && ty.scalar != Scalar::I1, "values of type {ty} are not exchanged");
        let (mut params, mut args) = (Vec::new(), Vec::new());
        for k in 0..values {
            let v = self.one(inst.word(2 + k)?)?;
            ensure!(self.ty(v) == ty, "the operand is of type {}, not of {ty}", self.ty(v));
            args.push(v);
            params.push(c_type(ty, Sign::Signed));
        }
        let number = self.scalar_int(inst.word(2 + values)?)?;
        args.push(self.resized(number, Type::I32, false));
        params.push("uint".into());
        let names: Vec<String> = (0..args.len()).map(param_name).collect();
        let v = self.call_c(&c_type(ty, Sign::Signed), &params, &args, &format!("{name}({})", names.join(", ")), ty)?;
        self.result(inst, v)
    }

    /// Where a block is, from operand `at` on: parameters in OpenCL C (`void` in place of the elements), arguments, and
    /// their names.
    fn intel_block(&mut self, inst: &Inst<'_>, at: usize) -> Result<(Vec<String>, Vec<Value>, String)> {
        let of_image = matches!(inst.op, Op::SubgroupImageBlockReadINTEL | Op::SubgroupImageBlockWriteINTEL);
        if !of_image {
            let p = self.pointer(inst.word(at)?)?;
            let Some(space) = self.ty(p).space() else { bail!("it takes a pointer") };
            return Ok((vec![c_pointer(space, "void ")], vec![p], param_name(0)));
        }
        let (image, kind) = self.image_of(inst.word(at)?)?;
        let coordinate: Id = inst.word(at + 1)?;
        let coordinate = self.int(coordinate)?;
        ensure!(self.ty(coordinate) == Type::vector(Scalar::I32, 2), "the coordinate is no vector of two integers");
        let names = format!("{}, {}", param_name(0), param_name(1));
        Ok((vec![c_image(kind), "int2".into()], vec![image, coordinate], names))
    }
}

/// The function for values of a type, and the integers that it takes them as.
fn block_function(word: &str, ty: Type) -> Result<(String, Type)> {
    let (suffix, scalar) = match ty.scalar.bits() {
        8 => ("_uc", Scalar::I8),
        16 => ("_us", Scalar::I16),
        32 => ("", Scalar::I32),
        64 => ("_ul", Scalar::I64),
        _ => bail!("there are no blocks of {ty}"),
    };
    ensure!(!ty.is_ptr() && ty.scalar != Scalar::I1, "there are no blocks of {ty}");
    let lanes = match ty.lanes {
        1 => String::new(),
        lanes @ (2 | 4 | 8) => lanes.to_string(),
        16 if scalar == Scalar::I8 => "16".into(),
        lanes => bail!("there are no blocks of {lanes} elements a work-item"),
    };
    Ok((format!("intel_sub_group_block_{word}{suffix}{lanes}"), ty.with_scalar(scalar)))
}
