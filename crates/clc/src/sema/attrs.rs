//! Attributes: `packed`, `aligned`, `ext_vector_type`, `vector_size`, `mode` of types and objects; work-group sizes,
//! `overloadable`, `noinline` of functions. The parser warns about every attribute that means nothing to this compiler.

use super::Sema;
use super::types::{Ty, TyKind, elem_signed};
use crate::source::Diagnostic;
use crate::syntax::ast::{Attribute, Expr, TypeOrExpr};
use crate::syntax::attributes;
use cloom_builtins::Elem;
use cloom_caps::limits;
use cloom_ir::KernelMeta;

/// The largest alignment that `aligned` and `_Alignas` may ask for, in bytes.
const MAX_ALIGN: u64 = 4096;

/// Attributes of a type or an object.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TypeAttrs {
    /// `packed`
    pub packed: bool,
    /// `aligned(n)`
    pub align: Option<u16>,
}

impl TypeAttrs {
    pub fn read(sema: &mut Sema<'_>, attrs: &[Attribute]) -> Self {
        let mut this = Self::default();
        for a in attrs {
            match sema.text(a.name.name) {
                "packed" => this.packed = true,
                // The parser makes qualifiers of those that stand where a qualifier may; what is left stands behind the
                // declarator.
                name if attributes::address_space(name).is_some() => {
                    let message = format!("attribute `{name}` names an address space after the declarator");
                    let help = "write it, or the keyword, in front of the type that the pointer points to";
                    sema.push(Diagnostic::error("E0328", a.span, message).help(help));
                }
                "aligned" => {
                    let n = match a.args.first() {
                        None => Some(16),
                        Some(_) => sema.attribute_int(a, 0),
                    };
                    match n {
                        // Several attributes on one object: the greatest alignment counts.
                        Some(n) if n > 0 && (n as u64).is_power_of_two() && n as u64 <= MAX_ALIGN => {
                            this.align = Some(this.align.unwrap_or(1).max(n as u16));
                        }
                        Some(n) => {
                            let message = format!("alignment {n} is not a power of two of at most {MAX_ALIGN}");
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
    /// The type that attributes make of a type: `ext_vector_type(n)` and `vector_size(bytes)` the vector of a number,
    /// the same type as the built-in one; `mode(HI)` the number of another size.
    pub(super) fn attributed_type(&mut self, mut ty: Ty, attrs: &[Attribute]) -> Ty {
        for a in attrs {
            ty = match self.text(a.name.name) {
                "ext_vector_type" => match self.attribute_int(a, 0) {
                    Some(n) => self.vector_of(ty, n, a),
                    None => Ty::ERROR,
                },
                "vector_size" => {
                    // The attribute gives bytes; an erroneous type must not divide by zero.
                    let size = self.types.size(ty).max(1) as i64;
                    match self.attribute_int(a, 0) {
                        Some(bytes) if bytes % size == 0 => self.vector_of(ty, bytes / size, a),
                        Some(bytes) => {
                            let message = format!("{bytes} bytes are not a multiple of `{}`", self.type_name(ty));
                            self.error("E0328", a.span, message);
                            Ty::ERROR
                        }
                        None => Ty::ERROR,
                    }
                }
                "mode" => self.type_of_mode(ty, a),
                _ => ty,
            };
        }
        ty
    }

    fn vector_of(&mut self, ty: Ty, n: i64, a: &Attribute) -> Ty {
        let lanes = u8::try_from(n).ok().filter(|n| VECTOR_LANES.contains(n));
        match (self.types.kind(ty), lanes) {
            (TyKind::Error, _) => ty,
            (&TyKind::Scalar(elem), Some(lanes)) => self.types.value(elem, lanes),
            (TyKind::Scalar(_), None) => {
                let message = format!("`{}`: there are no vectors of {n} components", self.text(a.name.name));
                let help = "vectors have 2, 3, 4, 8, 16 or 32 components";
                self.push(Diagnostic::error("E0328", a.span, message).help(help));
                Ty::ERROR
            }
            _ => {
                let message = format!("there are no vectors of `{}`", self.type_name(ty));
                self.error("E0328", a.span, message);
                Ty::ERROR
            }
        }
    }

    /// GNU C's machine modes: an integer or float of a size in bytes, with the sign of the type.
    fn type_of_mode(&mut self, ty: Ty, a: &Attribute) -> Ty {
        let word = match a.args.first() {
            Some(TypeOrExpr::Expr(e)) => match e.kind {
                crate::syntax::ast::ExprKind::Ident(name) => self.text(name).trim_matches('_').to_owned(),
                _ => String::new(),
            },
            _ => String::new(),
        };
        let (bytes, float) = match &*word {
            // The names are those of GCC's machine modes: quarter, half, single and double integer, then the floats.
            "QI" | "byte" => (1, false),
            "HI" => (2, false),
            "SI" => (4, false),
            "DI" | "word" | "pointer" => (8, false),
            "HF" => (2, true),
            "SF" => (4, true),
            "DF" => (8, true),
            _ => {
                let message = format!("there is no machine mode `{word}`");
                let help = "integers have the modes QI, HI, SI and DI, floats HF, SF and DF";
                self.push(Diagnostic::error("E0328", a.span, message).help(help));
                return Ty::ERROR;
            }
        };
        let elem = match *self.types.kind(ty) {
            // A mode changes the size of a type and not its kind: an integer stays one.
            TyKind::Scalar(elem) if elem.is_float() == float => elem,
            TyKind::Error => return ty,
            _ => {
                let message = format!("`{}` has no machine mode `{word}`", self.type_name(ty));
                self.error("E0328", a.span, message);
                return Ty::ERROR;
            }
        };
        let elem = match (bytes, float, elem_signed(elem)) {
            (1, _, true) => Elem::I8,
            (1, _, false) => Elem::U8,
            (2, false, true) => Elem::I16,
            (2, false, false) => Elem::U16,
            (4, false, true) => Elem::I32,
            (4, false, false) => Elem::U32,
            (_, false, true) => Elem::I64,
            (_, false, false) => Elem::U64,
            (2, true, _) => Elem::F16,
            (4, true, _) => Elem::F32,
            (_, true, _) => Elem::F64,
        };
        if elem == Elem::F64 {
            self.check_double(elem, a.span);
        }
        self.types.value(elem, 1)
    }
}

/// How many components vectors may have; those of 32 have a name only by an attribute, and no functions.
const VECTOR_LANES: [u8; 6] = [2, 3, 4, 8, 16, 32];

/// Attributes of a function.
#[derive(Clone, Debug, Default)]
pub(super) struct FuncAttrs {
    pub overloadable: bool,
    pub noinline: bool,
    pub meta: KernelMeta,
}

impl FuncAttrs {
    pub fn read<'a>(sema: &mut Sema<'_>, attrs: impl Iterator<Item = &'a Attribute>) -> Self {
        // The defaults depend on the pragmas before this function, so that they are read here and not at its end.
        let mut this = Self { meta: sema.kernel_defaults(), ..Self::default() };
        for a in attrs {
            match sema.text(a.name.name) {
                "overloadable" => this.overloadable = true,
                "noinline" => this.noinline = true,
                "reqd_work_group_size" => this.meta.reqd_group_size = sema.group_size(a),
                "intel_reqd_sub_group_size" => this.meta.reqd_subgroup_size = sema.subgroup_size(a),
                "work_group_size_hint" => this.meta.group_size_hint = sema.group_size(a),
                // Only told to the host: the vectoriser makes its own choice.
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
    /// The greatest alignment that `_Alignas` specifiers ask for.
    pub(super) fn alignas(&mut self, specifiers: &[TypeOrExpr]) -> Option<u16> {
        let mut most = None;
        for a in specifiers {
            let align = match a {
                TypeOrExpr::Type(t) => {
                    let ty = self.type_of_name(t).ty;
                    Some(self.types.align_of(ty))
                }
                TypeOrExpr::Expr(e) => self.alignas_value(e),
            };
            most = most.max(align.map(|n| n as u16));
        }
        most
    }

    fn alignas_value(&mut self, e: &Expr) -> Option<u64> {
        let value = self.rvalue_of(e);
        if self.is_left_out(&value) {
            return None;
        }
        match self.eval_int(&value) {
            // As C11 has it, zero asks for nothing.
            Some(0) => None,
            Some(n) if (n as u64).is_power_of_two() && n as u64 <= MAX_ALIGN => Some(n as u64),
            Some(n) => {
                let message = format!("alignment {n} is not a power of two of at most {MAX_ALIGN}");
                self.error("E0328", e.span, message);
                None
            }
            None => {
                self.not_constant(e.span, "an alignment");
                None
            }
        }
    }

    fn attribute_int(&mut self, a: &Attribute, index: usize) -> Option<i64> {
        let Some(TypeOrExpr::Expr(e)) = a.args.get(index) else {
            let message = format!("attribute `{}` needs an integer", self.text(a.name.name));
            self.error("E0328", a.span, message);
            return None;
        };
        let value = self.rvalue_of(e);
        if self.is_left_out(&value) {
            return None;
        }
        let n = self.eval_int(&value);
        if n.is_none() {
            self.not_constant(e.span, "the argument of an attribute");
        }
        n
    }

    /// Warns about attributes of kernels on something else.
    pub(super) fn warn_of_kernel_attributes<'a>(&mut self, attrs: impl Iterator<Item = &'a Attribute>) {
        const OF_KERNELS: [&str; 4] =
            ["intel_reqd_sub_group_size", "reqd_work_group_size", "vec_type_hint", "work_group_size_hint"];
        for a in attrs {
            let name = self.text(a.name.name);
            if OF_KERNELS.contains(&name) {
                let message = format!("attribute `{name}` is for kernels and is ignored");
                self.push(Diagnostic::warning("W0201", a.span, message));
            }
        }
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
