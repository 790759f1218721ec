//! The block reads and writes of `cl_intel_subgroups`: what the work-items of a sub-group access side by side.
//!
//! In come a name such as `intel_sub_group_block_read_us4` and typed arguments; out goes a node with the elements, how
//! many each work-item has, and whether memory or an image is accessed. A pointer, or the coordinate of an image in
//! bytes, is that of the whole sub-group's first element.

use super::images::IMAGES_HELP;
use crate::sema::Sema;
use crate::sema::counts::arguments;
use crate::sema::operations::BlockAccess;
use crate::sema::tree::{Expr, ExprKind, Special};
use crate::sema::types::{Ty, TyKind, elem_name};
use crate::source::Span;
use crate::syntax::ImageKind;
use crate::syntax::ast::AccessQual;
use cloom_builtins::Elem;
use cloom_ir::Space;

/// A function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::sema) struct Function {
    pub write: bool,
    pub elem: Elem,
    /// Elements of one work-item.
    pub lanes: u8,
}

/// The function of a name.
pub(in crate::sema) fn function(name: &str) -> Option<Function> {
    let rest = name.strip_prefix("intel_sub_group_block_")?;
    let (write, rest) = match rest.strip_prefix("read") {
        Some(rest) => (false, rest),
        None => (true, rest.strip_prefix("write")?),
    };
    // From the first digit on: the number of elements of a work-item. Before it: the letters of the type.
    let digits = rest.trim_start_matches(|c: char| !c.is_ascii_digit());
    let elem = match rest.strip_suffix(digits)? {
        "" | "_ui" => Elem::U32,
        "_uc" => Elem::U8,
        "_us" => Elem::U16,
        "_ul" => Elem::U64,
        _ => return None,
    };
    let lanes = match digits {
        "" => 1,
        "2" => 2,
        "4" => 4,
        "8" => 8,
        "16" if elem == Elem::U8 => 16,
        _ => return None,
    };
    Some(Function { write, elem, lanes })
}

impl Sema<'_> {
    /// A call of a function.
    pub(in crate::sema) fn block_access(
        &mut self,
        f: Function,
        name: &str,
        args: Vec<Expr>,
        at: Span,
        span: Span,
    ) -> Option<Expr> {
        let Function { write, elem, lanes } = f;
        let image = match args.first().map(|a| self.types.kind(a.ty.ty)) {
            Some(&TyKind::Image(kind, access)) => Some((kind, access)),
            _ => None,
        };
        // Pointer or image, the coordinate of an image, and what is written.
        let count = 1 + usize::from(image.is_some()) + usize::from(write);
        if args.len() != count {
            self.wrong_count(name, &format!("{} here", arguments(&[count])), args.len(), at);
            return None;
        }
        match image {
            None => self.block_pointer(elem, write, &args[0])?,
            Some(_) if !self.opts.images => {
                self.unavailable(args[0].span, "images are", IMAGES_HELP);
                return None;
            }
            Some((kind, access)) => {
                if kind != ImageKind::D2 {
                    return self.bad_argument(&args[0], "an `image2d_t`");
                }
                let needs = if write { AccessQual::WriteOnly } else { AccessQual::ReadOnly };
                self.may_access(access, needs, false, &args[0])?;
            }
        }
        let ty = self.types.value(elem, lanes);
        let mut all = Vec::with_capacity(count);
        for (i, arg) in args.into_iter().enumerate() {
            let at = arg.span;
            let to = match i {
                0 => None,
                1 if image.is_some() => Some(self.types.value(Elem::I32, 2)),
                _ => Some(ty),
            };
            all.push(match to {
                Some(to) => self.assigned(arg, to, "pass", at),
                None => arg,
            });
        }
        if all.iter().any(Expr::is_error) {
            return None;
        }
        let op = BlockAccess { write, image: image.is_some(), elem };
        let ret = if write { Ty::VOID } else { ty };
        Some(Expr::value(ExprKind::Special(Special::BlockAccess(op), all), ret, span))
    }

    /// A pointer into global memory to the elements, with any sign.
    fn block_pointer(&mut self, elem: Elem, write: bool, p: &Expr) -> Option<()> {
        let to = self.pointer_arg(p, write)?;
        let fits = match *self.types.kind(to.ty) {
            TyKind::Scalar(e) => !e.is_float() && e.bits() == elem.bits(),
            _ => false,
        };
        if !fits || to.space != Space::Global {
            self.bad_argument(p, &format!("a `global {}*`", elem_name(elem)));
            return None;
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_apart() {
        let f = |name: &str| function(name).map(|f| (f.write, f.elem, f.lanes));
        assert_eq!(f("intel_sub_group_block_read"), Some((false, Elem::U32, 1)));
        assert_eq!(f("intel_sub_group_block_write_us8"), Some((true, Elem::U16, 8)));
        assert_eq!(f("intel_sub_group_block_read_uc16"), Some((false, Elem::U8, 16)));
        for wrong in ["read3", "read_ui16", "read_f", "copy", "read_", "read_uc4x"] {
            assert_eq!(f(&format!("intel_sub_group_block_{wrong}")), None, "{wrong}");
        }
    }
}
