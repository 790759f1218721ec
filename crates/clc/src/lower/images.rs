//! Functions of images: queries load fields of the image's descriptor ([`cloom_ir::abi::image`]), reads and writes call
//! the library, with each coordinate an argument of its own. Colours of halves are the library's floats, converted.

use super::func::Fn;
use crate::sema::operations::{ImageOp, ImageQuery, Shape};
use cloom_builtins::{Elem, Ty, mangle};
use cloom_ir::abi::image;
use cloom_ir::{CastOp, Flags, Space, Type, Value};

/// The part of a library function's name that says how many coordinates there are.
fn shape_name(shape: Shape) -> &'static str {
    match (shape.dims, shape.is_array) {
        (1, false) => "1d",
        (1, true) => "1d_array",
        (2, false) => "2d",
        (2, true) => "2d_array",
        _ => "3d",
    }
}

/// The letters for the elements of a colour.
fn elem_letters(elem: Elem) -> &'static str {
    match elem {
        Elem::I32 => "i",
        Elem::U32 => "ui",
        _ => "f",
    }
}

/// The elements of a colour that the library reads and writes for those of a program.
fn in_library(elem: Elem) -> Elem {
    if elem == Elem::F16 { Elem::F32 } else { elem }
}

impl Fn<'_, '_> {
    /// An access to an image, whose descriptor is the first value; `ty` is the result's type.
    pub fn image(&mut self, op: ImageOp, v: &[Value], ty: Type) -> Value {
        match op {
            ImageOp::Query(query) => self.image_query(query, v[0], ty),
            ImageOp::Read { shape, elem, sampled, float } => {
                let coordinate = if float { Elem::F32 } else { Elem::I32 };
                let (mut params, mut args) = (vec![Ty::Ptr(Space::Constant, Elem::U64, 1)], vec![v[0]]);
                if sampled {
                    params.push(Ty::Value(Elem::U32, 1));
                    args.push(v[1]);
                }
                // Scalars, not a vector: the library's code is then the same for all widths of coordinates, and
                // vectorises like a kernel's.
                self.coordinates(shape, coordinate, v[1 + usize::from(sampled)], &mut params, &mut args);
                let name = format!("__read_image{}_{}", elem_letters(elem), shape_name(shape));
                let of = in_library(elem);
                let colour = Type::vector(crate::sema::types::ir_scalar(of), 4);
                let Some(colour) = self.image_function(&name, &params, &args, Some(colour)) else {
                    return self.zero(ty);
                };
                let colour = self.convert_elem(colour, of, elem);
                if shape.is_depth { self.b().extract_lane(colour, 0) } else { colour }
            }
            ImageOp::Write { shape, elem } => {
                let (mut params, mut args) = (vec![Ty::Ptr(Space::Constant, Elem::U64, 1)], vec![v[0]]);
                self.coordinates(shape, Elem::I32, v[1], &mut params, &mut args);
                params.push(Ty::Value(in_library(elem), 4));
                let colour = self.convert_elem(v[2], elem, in_library(elem));
                // The library takes four components and writes those that the format has.
                args.push(if shape.is_depth { self.b().splat(colour, 4) } else { colour });
                let name = format!("__write_image{}_{}", elem_letters(elem), shape_name(shape));
                self.image_function(&name, &params, &args, None);
                self.zero(ty)
            }
        }
    }

    /// Adds the coordinates as scalars.
    fn coordinates(&mut self, shape: Shape, elem: Elem, v: Value, params: &mut Vec<Ty>, args: &mut Vec<Value>) {
        for lane in 0..shape.coordinates() {
            params.push(Ty::Value(elem, 1));
            args.push(match self.ty(v).lanes {
                1 => v,
                _ => self.b().extract_lane(v, u16::from(lane)),
            });
        }
    }

    /// Calls a function of the library.
    pub fn image_function(&mut self, name: &str, params: &[Ty], args: &[Value], ret: Option<Type>) -> Option<Value> {
        let types = args.iter().map(|&a| self.ty(a)).collect();
        let f = self.lw.library_func(mangle(name, params), types, ret);
        self.b().call(f, args, ret)
    }

    fn image_field(&mut self, descriptor: Value, offset: usize) -> Value {
        let p = self.b().ptr_offset(descriptor, offset as u64);
        self.b().load(Type::I32, p, 4, Flags::empty())
    }

    fn image_query(&mut self, query: ImageQuery, descriptor: Value, ty: Type) -> Value {
        let fields: &[usize] = match query {
            ImageQuery::Width => &[image::WIDTH],
            ImageQuery::Height => &[image::HEIGHT],
            ImageQuery::Depth => &[image::DEPTH],
            ImageQuery::ChannelType => &[image::CHANNEL_TYPE],
            ImageQuery::ChannelOrder => &[image::CHANNEL_ORDER],
            ImageQuery::Dim if ty.lanes == 2 => &[image::WIDTH, image::HEIGHT],
            ImageQuery::Dim => &[image::WIDTH, image::HEIGHT, image::DEPTH],
            ImageQuery::ArraySize => &[image::ARRAY_SIZE],
            ImageQuery::MipLevels => &[image::NUM_MIP_LEVELS],
            ImageQuery::Samples => &[image::NUM_SAMPLES],
        };
        let mut values: Vec<Value> = fields.iter().map(|&offset| self.image_field(descriptor, offset)).collect();
        // `get_image_dim` of a 3D image is an `int4`, whose last component is zero.
        if values.len() == 3 {
            values.push(self.zero(Type::I32));
        }
        match values[..] {
            [one] if ty == Type::I64 => self.b().cast(CastOp::Zext, one, ty),
            [one] => one,
            _ => self.b().build(&values),
        }
    }
}
