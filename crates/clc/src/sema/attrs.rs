//! Attributes: `packed`, `aligned`, `ext_vector_type` of types and objects; work-group sizes, `overloadable`,
//! `noinline` of functions. Others are ignored, as the specification allows.

use super::Sema;
use super::types::{Ty, TyKind};
use crate::source::Diagnostic;
use crate::syntax::ast::{Attribute, TypeOrExpr};
use cloom_caps::limits;
use cloom_ir::KernelMeta;

/// Attributes of a type or an object.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TypeAttrs {
    /// `packed`
    pub packed: bool,
    /// `aligned(n)`
    pub align: Option<u64>,
}

impl TypeAttrs {
    pub fn read(sema: &mut Sema<'_>, attrs: &[Attribute]) -> Self {
        let mut this = Self::default();
        for a in attrs {
            match sema.text(a.name.name) {
                "packed" => this.packed = true,
                "aligned" => {
                    let n = match a.args.first() {
                        None => Some(16),
                        Some(_) => sema.attribute_int(a, 0),
                    };
                    match n {
                        Some(n) if n > 0 && (n as u64).is_power_of_two() && n <= 4096 => {
                            this.align = Some(this.align.unwrap_or(1).max(n as u64));
                        }
                        Some(n) => {
                            let message = format!("alignment {n} is not a power of two of at most 4096");
                            sema.error("E0328", a.span, message);
                        }
                        None => {}
                    }
                }
                _ => {}
            }
        }
        this
    }

    /// Both.
    pub fn and(self, other: Self) -> Self {
        Self { packed: self.packed || other.packed, align: self.align.max(other.align) }
    }
}

impl Sema<'_> {
    /// `ext_vector_type(n)` makes of a number the vector of so many components, the same type as the built-in one.
    pub(super) fn vector_attribute(&mut self, ty: Ty, attrs: &[Attribute]) -> Ty {
        let Some(a) = attrs.iter().find(|a| self.text(a.name.name) == "ext_vector_type") else { return ty };
        let Some(n) = self.attribute_int(a, 0) else { return Ty::ERROR };
        let lanes = u8::try_from(n).ok().filter(|n| cloom_builtins::table::VX.contains(n));
        match (self.types.kind(ty), lanes) {
            (TyKind::Error, _) => ty,
            (&TyKind::Scalar(elem), Some(lanes)) => self.types.value(elem, lanes),
            (TyKind::Scalar(_), None) => {
                let message = format!("`ext_vector_type({n})`: vectors have 2, 3, 4, 8 or 16 components");
                self.error("E0328", a.span, message);
                Ty::ERROR
            }
            _ => {
                let message = format!("there are no vectors of `{}`", self.type_name(ty));
                self.error("E0328", a.span, message);
                Ty::ERROR
            }
        }
    }
}

/// Attributes of a function.
#[derive(Clone, Debug, Default)]
pub(super) struct FuncAttrs {
    pub overloadable: bool,
    pub noinline: bool,
    pub meta: KernelMeta,
}

impl FuncAttrs {
    pub fn read<'a>(sema: &mut Sema<'_>, attrs: impl Iterator<Item = &'a Attribute>) -> Self {
        let mut this = Self::default();
        for a in attrs {
            match sema.text(a.name.name) {
                "overloadable" => this.overloadable = true,
                "noinline" => this.noinline = true,
                "reqd_work_group_size" => this.meta.reqd_group_size = sema.group_size(a),
                "intel_reqd_sub_group_size" => this.meta.reqd_subgroup_size = sema.subgroup_size(a),
                "work_group_size_hint" => this.meta.group_size_hint = sema.group_size(a),
                "vec_type_hint" => {
                    if let Some(TypeOrExpr::Type(t)) = a.args.first() {
                        let ty = sema.type_of_name(t).ty.ty;
                        this.meta.vec_type_hint = Some(sema.type_name(ty));
                    } else {
                        sema.error("E0328", a.span, "`vec_type_hint` needs a type");
                    }
                }
                _ => {}
            }
        }
        this
    }
}

impl Sema<'_> {
    fn attribute_int(&mut self, a: &Attribute, index: usize) -> Option<i64> {
        let Some(TypeOrExpr::Expr(e)) = a.args.get(index) else {
            let message = format!("attribute `{}` needs an integer", self.text(a.name.name));
            self.error("E0328", a.span, message);
            return None;
        };
        let value = self.rvalue_of(e);
        if value.is_error() {
            return None;
        }
        let n = self.eval_int(&value);
        if n.is_none() {
            self.not_constant(e.span, "the argument of an attribute");
        }
        n
    }

    fn subgroup_size(&mut self, a: &Attribute) -> Option<u16> {
        let n = self.attribute_int(a, 0)?;
        let size = limits::SUB_GROUP_SIZES.iter().find(|&&size| i64::from(size) == n);
        if size.is_none() {
            let sizes: Vec<String> = limits::SUB_GROUP_SIZES.iter().map(u16::to_string).collect();
            let message = format!("there are no sub-groups of {n} work-items");
            let help = format!("the sizes are {}", sizes.join(", "));
            self.push(Diagnostic::error("E0328", a.span, message).help(help));
        }
        size.copied()
    }

    fn group_size(&mut self, a: &Attribute) -> Option<[u32; 3]> {
        let mut size = [1; 3];
        if a.args.len() != 3 {
            let message = format!("attribute `{}` takes 3 sizes, not {}", self.text(a.name.name), a.args.len());
            self.push(Diagnostic::error("E0328", a.span, message).help("write 1 for dimensions that are not used"));
            return None;
        }
        for (i, s) in size.iter_mut().enumerate() {
            let n = self.attribute_int(a, i)?;
            match u32::try_from(n) {
                Ok(n) if n > 0 => *s = n,
                _ => {
                    self.error("E0328", a.span, format!("{n} is not a size of a work-group"));
                    return None;
                }
            }
        }
        Some(size)
    }
}
