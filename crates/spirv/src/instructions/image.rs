//! Images and samplers: each access is a built-in function of OpenCL C.
//!
//! Integers have no sign in SPIR-V: unless an access says which it means, the format of the image decides, when the
//! kernel runs or is specialised for that format.

use crate::builtin::{Sign, c_image, c_type};
use crate::error::{Result, bail, ensure};
use crate::func::Fn;
use crate::reader::{Id, Inst};
use crate::types::{Image, Kind};
use cloom_ir::{BinOp, Scalar, Type, Value};
use spirv::{ImageOperands, Op};

/// The formats of unsigned integers follow those of signed ones.
const IS_UNSIGNED: &str = "get_image_channel_data_type(a) >= CLK_UNSIGNED_INT8";

/// The first numbers of `cl_channel_type` and `cl_channel_order`; SPIR-V counts from 0.
const FIRST_TYPE: u64 = 0x10D0;
const FIRST_ORDER: u64 = 0x10B0;

impl Fn<'_, '_, '_> {
    /// Lowers an instruction, if it is one of these.
    pub fn image(&mut self, inst: &Inst<'_>) -> Result<bool> {
        match inst.op {
            Op::SampledImage => {
                let (ty, id) = inst.result()?;
                let [image, sampler] = inst.operands()?;
                let ((image, of), sampler) = (self.image_of(image)?, self.one(sampler)?);
                let ty = self.cx.types.get(ty)?;
                ensure!(self.cx.types[ty].kind == Kind::SampledImage(of), "its type is of another image");
                self.define(id, ty, vec![image, sampler])
            }
            Op::Image => {
                let val = self.value_of(inst.word(2)?)?;
                ensure!(matches!(self.cx.types[val.ty].kind, Kind::SampledImage(_)), "there is no sampler");
                self.result(inst, val.parts[0])
            }
            Op::ImageSampleExplicitLod => {
                let [sampled, at] = inst.operands()?;
                let val = self.value_of(sampled)?;
                let Kind::SampledImage(image) = self.cx.types[val.ty].kind else { bail!("there is no sampler") };
                let sign = self.operands(inst.rest(4))?;
                self.read(inst, image, &val.parts, at, sign)
            }
            Op::ImageRead | Op::ImageFetch => {
                let [image, at] = inst.operands()?;
                let (value, image) = self.image_of(image)?;
                let sign = self.operands(inst.rest(4))?;
                self.read(inst, image, &[value], at, sign)
            }
            Op::ImageWrite => self.write(inst),
            Op::ImageQueryFormat => self.query_number(inst, "get_image_channel_data_type(a)", FIRST_TYPE),
            Op::ImageQueryOrder => self.query_number(inst, "get_image_channel_order(a)", FIRST_ORDER),
            Op::ImageQueryLevels | Op::ImageQuerySamples => {
                self.image_of(inst.word(2)?)?;
                let ty = self.result_type(inst)?;
                let one = self.b().iconst(ty, 1);
                self.result(inst, one)
            }
            Op::ImageQuerySize | Op::ImageQuerySizeLod => self.query_size(inst),
            _ => Ok(false),
        }
    }

    /// An image, and its type.
    pub fn image_of(&mut self, id: Id) -> Result<(Value, Image)> {
        let val = self.value_of(id)?;
        match self.cx.types[val.ty].kind {
            Kind::Image(image) => Ok((val.parts[0], image)),
            _ => bail!("%{id} is no image"),
        }
    }

    /// The operands of an access that may follow: only what says nothing new, and the sign.
    fn operands(&mut self, words: &[u32]) -> Result<Option<Sign>> {
        let Some(&mask) = words.first() else { return Ok(None) };
        let mask = ImageOperands::from_bits_truncate(mask);
        if mask.contains(ImageOperands::LOD) {
            let Some(&lod) = words.get(1) else { bail!("the level of detail is missing") };
            let lod = self.one(lod)?;
            ensure!(self.func.const_bits(lod) == Some(0), "there are no mip-mapped images");
        }
        let known = ImageOperands::LOD
            | ImageOperands::SIGN_EXTEND
            | ImageOperands::ZERO_EXTEND
            | ImageOperands::NONTEMPORAL
            | ImageOperands::VOLATILE_TEXEL;
        ensure!(known.contains(mask), "image operands {:?} are not supported", mask & !known);
        Ok(if mask.contains(ImageOperands::SIGN_EXTEND) {
            Some(Sign::Signed)
        } else if mask.contains(ImageOperands::ZERO_EXTEND) {
            Some(Sign::Unsigned)
        } else {
            None
        })
    }

    /// The coordinates, as many as OpenCL C wants: three come in a vector of four.
    fn coordinates(&mut self, image: Image, id: Id) -> Result<Value> {
        let v = self.one(id)?;
        let ty = self.ty(v);
        ensure!(matches!(ty.scalar, Scalar::I32 | Scalar::F32), "coordinates are of 32 bits");
        let (has, needs) = (ty.lanes, image.coordinates());
        ensure!(has >= needs, "{has} coordinates for an image of {needs}");
        let wanted = if needs == 3 { 4 } else { needs };
        if has == wanted {
            return Ok(v);
        }
        if wanted == 1 {
            return Ok(self.b().extract_lane(v, 0));
        }
        let mut lanes: Vec<Value> = (0..needs).map(|lane| self.b().extract_lane(v, lane)).collect();
        // The fourth coordinate is not looked at, so that any number will do.
        lanes.resize(usize::from(wanted), lanes[0]);
        Ok(self.b().build(&lanes))
    }

    /// Reads a colour: of the image in `parts`, or by the sampler that follows it.
    fn read(&mut self, inst: &Inst<'_>, image: Image, parts: &[Value], at: Id, sign: Option<Sign>) -> Result<bool> {
        let at = self.coordinates(image, at)?;
        let to = self.result_type(inst)?;
        ensure!(matches!(to.scalar, Scalar::F32 | Scalar::I32), "colours are of 32 bits");
        ensure!(matches!(to.lanes, 1 | 4), "a colour has four components");
        let (mut params, mut args) = (vec![c_image(image)], parts.to_vec());
        if parts.len() == 2 {
            params.push("sampler_t".into());
        }
        params.push(c_type(self.ty(at), Sign::Signed));
        args.push(at);
        let list = if parts.len() == 2 { "a, b, c" } else { "a, b" };
        let (text, colour) = match (to.is_float(), sign) {
            (true, _) => (format!("read_imagef({list})"), Scalar::F32),
            // Unsigned, so that both kinds of reads have one type.
            (false, Some(Sign::Signed)) => (format!("as_uint4(read_imagei({list}))"), Scalar::I32),
            (false, Some(Sign::Unsigned)) => (format!("read_imageui({list})"), Scalar::I32),
            (false, None) => {
                let text = format!("{IS_UNSIGNED} ? read_imageui({list}) : as_uint4(read_imagei({list}))");
                (text, Scalar::I32)
            }
        };
        // A function of OpenCL C gives one number for a depth image, and a colour for others. The instruction may want
        // either.
        let ty = Type::vector(colour, if image.is_depth { 1 } else { 4 });
        let v = self.call_c(&c_type(ty, Sign::Unsigned), &params, &args, &text, ty)?;
        let v = match (ty.lanes, to.lanes) {
            (1, 4) => {
                let zero = self.b().iconst(ty, 0);
                self.b().build(&[v, zero, zero, zero])
            }
            (4, 1) => self.b().extract_lane(v, 0),
            _ => v,
        };
        self.result(inst, v)
    }

    fn write(&mut self, inst: &Inst<'_>) -> Result<bool> {
        let (value, image) = self.image_of(inst.word(0)?)?;
        let at = self.coordinates(image, inst.word(1)?)?;
        let mut colour = self.one(inst.word(2)?)?;
        let sign = self.operands(inst.rest(3))?;
        let mut ty = self.ty(colour);
        ensure!(matches!(ty.scalar, Scalar::F32 | Scalar::I32), "colours are of 32 bits");
        ensure!(matches!(ty.lanes, 1 | 4), "a colour has four components");
        match (image.is_depth, ty.lanes) {
            // The function for a depth image takes one number.
            (true, 4) => colour = self.b().extract_lane(colour, 0),
            (false, 1) => colour = self.b().splat(colour, 4),
            _ => {}
        }
        ty = self.ty(colour);
        let params = [c_image(image), c_type(self.ty(at), Sign::Signed), c_type(ty, Sign::Unsigned)];
        let signed = "write_imagei(a, b, as_int4(c))";
        let text = match (ty.is_float(), sign) {
            (true, _) => "write_imagef(a, b, c)".to_owned(),
            (false, Some(Sign::Signed)) => signed.to_owned(),
            (false, Some(Sign::Unsigned)) => "write_imageui(a, b, c)".to_owned(),
            (false, None) => format!("if ({IS_UNSIGNED}) write_imageui(a, b, c); else {signed}"),
        };
        self.run_c(&params, &[value, at, colour], &text)?;
        Ok(true)
    }

    fn query_number(&mut self, inst: &Inst<'_>, text: &str, first: u64) -> Result<bool> {
        let (value, image) = self.image_of(inst.word(2)?)?;
        let v = self.call_c("int", &[c_image(image)], &[value], text, Type::I32)?;
        let first = self.b().iconst(Type::I32, first);
        let v = self.b().binary(BinOp::Sub, v, first);
        let ty = self.result_type(inst)?;
        let v = self.resized(v, ty, false);
        self.result(inst, v)
    }

    /// Width, height and depth, as far as there are, and the number of layers.
    fn query_size(&mut self, inst: &Inst<'_>) -> Result<bool> {
        let (value, image) = self.image_of(inst.word(2)?)?;
        let names = ["get_image_width", "get_image_height", "get_image_depth"];
        let mut sizes = Vec::new();
        for name in &names[..usize::from(image.dims)] {
            sizes.push(self.call_c("int", &[c_image(image)], &[value], &format!("{name}(a)"), Type::I32)?);
        }
        if image.is_array {
            let text = "(int)get_image_array_size(a)";
            sizes.push(self.call_c("int", &[c_image(image)], &[value], text, Type::I32)?);
        }
        let v = if sizes.len() == 1 { sizes[0] } else { self.b().build(&sizes) };
        let ty = self.result_type(inst)?;
        ensure!(ty.is_int() && ty.scalar != Scalar::I1, "sizes are integers");
        let v = self.resized(v, ty, false);
        self.result(inst, v)
    }
}
