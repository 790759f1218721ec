//! The built-in functions of images: `read_image…`, `write_image…`, `get_image_…`.
//!
//! In come a name and typed arguments; out goes a node that says what is accessed and how, its coordinates and colours
//! converted. The image's type decides how many coordinates there are (OpenCL C 6.15.15).

use crate::sema::Sema;
use crate::sema::counts::arguments;
use crate::sema::operations::{ImageOp, ImageQuery, Shape};
use crate::sema::tree::{Expr, ExprKind, Special};
use crate::sema::types::{Ty, TyKind};
use crate::source::{Diagnostic, Span};
use crate::syntax::ImageKind;
use crate::syntax::ast::AccessQual;
use cloom_builtins::Elem;

/// What to do without images.
pub(in crate::sema) const IMAGES_HELP: &str =
    "the device reports no image support (CL_DEVICE_IMAGE_SUPPORT): read from a buffer";

/// The names of the queries, and what each asks.
const QUERIES: [(&str, ImageQuery); 9] = [
    ("get_image_width", ImageQuery::Width),
    ("get_image_height", ImageQuery::Height),
    ("get_image_depth", ImageQuery::Depth),
    ("get_image_channel_data_type", ImageQuery::ChannelType),
    ("get_image_channel_order", ImageQuery::ChannelOrder),
    ("get_image_dim", ImageQuery::Dim),
    ("get_image_array_size", ImageQuery::ArraySize),
    ("get_image_num_mip_levels", ImageQuery::MipLevels),
    ("get_image_num_samples", ImageQuery::Samples),
];

/// A family of functions of images.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::sema) enum Function {
    /// The element type of the colour.
    Read(Elem),
    /// The element type of the colour.
    Write(Elem),
    Query(ImageQuery),
}

/// The function of a name.
pub(in crate::sema) fn function(name: &str) -> Option<Function> {
    let elem = |suffix: &str| match suffix {
        "f" => Some(Elem::F32),
        "i" => Some(Elem::I32),
        "ui" => Some(Elem::U32),
        "h" => Some(Elem::F16),
        _ => None,
    };
    if let Some(suffix) = name.strip_prefix("read_image") {
        return elem(suffix).map(Function::Read);
    }
    if let Some(suffix) = name.strip_prefix("write_image") {
        return elem(suffix).map(Function::Write);
    }
    QUERIES.iter().find(|(query, _)| *query == name).map(|&(_, query)| Function::Query(query))
}

/// Whether the library has the parts of the functions above in a function of this name, such as `__read_imagef_2d`.
pub(in crate::sema) fn is_library_function(name: &str) -> bool {
    ["__read_image", "__write_image", "__image_"].iter().any(|prefix| name.starts_with(prefix))
}

/// Names for suggestions.
pub(in crate::sema) fn names() -> impl Iterator<Item = &'static str> {
    const ACCESSES: [&str; 8] = [
        "read_imagef",
        "read_imageh",
        "read_imagei",
        "read_imageui",
        "write_imagef",
        "write_imageh",
        "write_imagei",
        "write_imageui",
    ];
    ACCESSES.into_iter().chain(QUERIES.iter().map(|q| q.0))
}

impl Sema<'_> {
    /// A call of a function of images.
    pub(in crate::sema) fn image_call(
        &mut self,
        f: Function,
        name: &str,
        args: Vec<Expr>,
        at: Span,
        span: Span,
    ) -> Option<Expr> {
        let counts: &[usize] = match f {
            Function::Read(_) => &[2, 3],
            Function::Write(_) => &[3],
            Function::Query(_) => &[1],
        };
        if !counts.contains(&args.len()) {
            self.wrong_count(name, &arguments(counts), args.len(), at);
            return None;
        }
        let TyKind::Image(kind, access) = *self.types.kind(args[0].ty.ty) else {
            return self.bad_argument(&args[0], "an image");
        };
        let Some(shape) = Shape::of(kind) else {
            self.unavailable(args[0].span, "multi-sampled images are", "use an image with one sample");
            return None;
        };
        match f {
            Function::Query(query) => self.image_query(query, name, shape, args, span),
            Function::Read(elem) => {
                self.check_half(elem, at)?;
                let sampled = args.len() == 3;
                // A `read_write` image is read without a sampler only.
                self.may_access(access, AccessQual::ReadOnly, sampled, &args[0])?;
                self.image_colour(shape, elem, name, at)?;
                self.read_image(shape, kind, elem, args, span)
            }
            Function::Write(elem) => {
                self.check_half(elem, at)?;
                self.may_access(access, AccessQual::WriteOnly, false, &args[0])?;
                self.image_colour(shape, elem, name, at)?;
                self.write_image(shape, elem, args, span)
            }
        }
    }

    /// Checks the access qualifier.
    pub(in crate::sema) fn may_access(
        &mut self,
        has: AccessQual,
        needs: AccessQual,
        sampled: bool,
        image: &Expr,
    ) -> Option<()> {
        // What is wrong follows from the image's own qualifier: of each there is only one access that it refuses.
        let verb = match has {
            AccessQual::ReadOnly => "written",
            AccessQual::WriteOnly => "read",
            AccessQual::ReadWrite => "read with a sampler",
        };
        if has == needs || has == AccessQual::ReadWrite && !sampled {
            return Some(());
        }
        self.error("E0306", image.span, format!("a `{}` image cannot be {verb}", has.word()));
        None
    }

    /// Depth images have colours of floats only.
    fn image_colour(&mut self, shape: Shape, elem: Elem, name: &str, at: Span) -> Option<()> {
        if shape.is_depth && elem != Elem::F32 {
            self.error("E0308", at, format!("`{name}` does not take depth images: their values are floats"));
            return None;
        }
        Some(())
    }

    /// The type of a colour.
    fn colour_type(&mut self, shape: Shape, elem: Elem) -> Ty {
        self.types.value(elem, if shape.is_depth { 1 } else { 4 })
    }

    /// The coordinate, converted; whether it is of floats.
    fn coordinate(&mut self, shape: Shape, may_be_float: bool, e: Expr) -> Option<(Expr, bool)> {
        let lanes = shape.lanes();
        let found = self.types.numeric(e.ty.ty);
        // Only reads with a sampler take float coordinates; elsewhere a float is converted or refused like any other
        // argument.
        let float = may_be_float && found.is_some_and(|(elem, _)| elem.is_float());
        let ty = self.types.value(if float { Elem::F32 } else { Elem::I32 }, lanes);
        // Scalars are converted; vectors are not (OpenCL C 6.4.1).
        if e.ty.ty == ty || found.is_some_and(|(_, n)| n == 1 && lanes == 1) {
            let at = e.span;
            return Some((self.assigned(e, ty, "pass", at), float));
        }
        let int = self.types.value(Elem::I32, lanes);
        let mut wanted = format!("a coordinate of type `{}`", self.type_name(int));
        if may_be_float {
            let float = self.types.value(Elem::F32, lanes);
            wanted.push_str(&format!(" or `{}`", self.type_name(float)));
        }
        self.bad_argument(&e, &wanted);
        None
    }

    fn read_image(&mut self, shape: Shape, kind: ImageKind, elem: Elem, args: Vec<Expr>, span: Span) -> Option<Expr> {
        let mut args = args.into_iter();
        let image = args.next()?;
        // Three arguments: image, sampler, coordinate. Two: there is no sampler.
        let (first, second) = (args.next()?, args.next());
        let sampled = second.is_some();
        if sampled && kind == ImageKind::D1Buffer {
            let message = "images of buffers are read without a sampler";
            self.push(Diagnostic::error("E0308", first.span, message).help("leave the sampler out"));
            return None;
        }
        let mut all = vec![image];
        let coordinate = match second {
            Some(coordinate) => {
                let at = first.span;
                let sampler = self.assigned(first, Ty::SAMPLER, "pass", at);
                if sampler.is_error() {
                    return None;
                }
                all.push(sampler);
                coordinate
            }
            None => first,
        };
        let (coordinate, float) = self.coordinate(shape, sampled, coordinate)?;
        all.push(coordinate);
        let ty = self.colour_type(shape, elem);
        let op = ImageOp::Read { shape, elem, sampled, float };
        Some(Expr::value(ExprKind::Special(Special::Image(op), all), ty, span))
    }

    fn write_image(&mut self, shape: Shape, elem: Elem, args: Vec<Expr>, span: Span) -> Option<Expr> {
        let [image, coordinate, colour] = <[Expr; 3]>::try_from(args).ok()?;
        let (coordinate, _) = self.coordinate(shape, false, coordinate)?;
        let (ty, at) = (self.colour_type(shape, elem), colour.span);
        let colour = self.assigned(colour, ty, "pass", at);
        if colour.is_error() {
            return None;
        }
        let op = ImageOp::Write { shape, elem };
        let kind = ExprKind::Special(Special::Image(op), vec![image, coordinate, colour]);
        Some(Expr::value(kind, Ty::VOID, span))
    }

    fn image_query(
        &mut self,
        query: ImageQuery,
        name: &str,
        shape: Shape,
        args: Vec<Expr>,
        span: Span,
    ) -> Option<Expr> {
        let ty = match query {
            // `None`: images of this shape have no such size, so that the function does not take them.
            ImageQuery::Height if shape.dims < 2 => None,
            ImageQuery::Depth if shape.dims < 3 => None,
            ImageQuery::Dim => match shape.dims {
                2 => Some(self.types.value(Elem::I32, 2)),
                3 => Some(self.types.value(Elem::I32, 4)),
                _ => None,
            },
            ImageQuery::ArraySize => shape.is_array.then_some(Ty::ULONG),
            _ => Some(Ty::INT),
        };
        let Some(ty) = ty else {
            let message = format!("`{name}` does not take a `{}`", self.type_name(args[0].ty.ty));
            self.error("E0308", args[0].span, message);
            return None;
        };
        Some(Expr::value(ExprKind::Special(Special::Image(ImageOp::Query(query)), args), ty, span))
    }
}
