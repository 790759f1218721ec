//! Specifiers and declarators to types: `constant struct s *p[4]` is read from the specifiers outwards. Records are
//! laid out and enumerators get their values here.

use super::Sema;
use super::scope::Entry;
use super::types::{Field, QTy, Record, RecordId, Ty, TyKind, elem_of, image_name, space_name};
use super::{attrs, limits};
use crate::source::{Diagnostic, Span};
use crate::syntax::ast::{self, AccessQual, DerivationKind, SpaceQual, TypeSpec};
use crate::syntax::{AtomicType, BuiltinType};
use cloom_builtins::Elem;
use cloom_caps::feature;
use cloom_ir::Space;

/// The type that specifiers or a declarator name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Declared {
    /// The type; its `space` is [`Space::Private`] when none was written.
    pub ty: QTy,
    /// The address space, if one was written.
    pub space: Option<Space>,
}

/// The value type of an atomic type; halves have no atomic operations.
fn atomic_elem(of: AtomicType) -> Option<Elem> {
    Some(match of {
        AtomicType::Int => Elem::I32,
        AtomicType::UInt => Elem::U32,
        AtomicType::Long | AtomicType::PtrdiffT | AtomicType::IntptrT => Elem::I64,
        AtomicType::ULong | AtomicType::SizeT | AtomicType::UintptrT => Elem::U64,
        AtomicType::Float => Elem::F32,
        AtomicType::Double => Elem::F64,
        AtomicType::Half => return None,
    })
}

impl Declared {
    pub fn plain(ty: Ty) -> Self {
        Self { ty: QTy::plain(ty), space: None }
    }

    /// With the address space in the type.
    pub fn qty(self) -> QTy {
        QTy { space: self.space.unwrap_or(Space::Private), ..self.ty }
    }
}

impl Sema<'_> {
    /// What a pointer to a declared type points to.
    fn pointee(&self, d: Declared) -> QTy {
        QTy { space: d.space.unwrap_or(self.types.unnamed), ..d.ty }
    }

    /// The type of specifiers.
    pub(super) fn specs(&mut self, specs: &ast::DeclSpecs) -> Declared {
        // The order matters: the attributed type is that of the packets, `pipe` makes a pipe of them, and an access
        // qualifier then belongs to the pipe.
        let mut d = self.type_spec(&specs.ty, specs.ty_span);
        d.ty.ty = self.attributed_type(d.ty.ty, &specs.attrs);
        if let Some(span) = specs.pipe {
            d = Declared::plain(self.pipe_type(d, span));
        }
        self.qualify(&mut d, &specs.quals);
        d
    }

    fn qualify(&mut self, d: &mut Declared, quals: &ast::Qualifiers) {
        // Added to those of a `typedef`: `const` may be written at either place, or at both.
        d.ty.is_const |= quals.is_const.is_some();
        d.ty.is_volatile |= quals.is_volatile.is_some();
        if let Some(span) = quals.is_restrict {
            if self.types.is_pointer(d.ty.ty) {
                d.ty.is_restrict = true;
            } else if d.ty.ty != Ty::ERROR {
                self.error("E0304", span, "`restrict` qualifies pointers only");
            }
        }
        if let Some(span) = quals.is_atomic {
            self.unavailable(span, "`_Atomic` is", "use `atomic_int` and its like");
            d.ty.ty = Ty::ERROR;
        }
        if let Some((access, span)) = quals.access {
            self.access_qualifier(d, access, span);
        }
        if let Some((qual, span)) = quals.space
            && let Some(space) = self.space(qual, span)
        {
            if let Some(before) = d.space
                && before != space
            {
                let message =
                    format!("type is in two address spaces, `{}` and `{}`", space_name(before), space_name(space));
                self.error("E0307", span, message);
            }
            d.space = Some(space);
        }
    }

    fn access_qualifier(&mut self, d: &mut Declared, access: AccessQual, span: Span) {
        match *self.types.kind(d.ty.ty) {
            // The access is a part of the type: `read_only` and `write_only` images of one kind are two types.
            TyKind::Image(kind, _) => d.ty.ty = self.types.intern(TyKind::Image(kind, access)),
            TyKind::Pipe(..) if access == AccessQual::ReadWrite => {
                let d = Diagnostic::error("E0304", span, "a pipe cannot be `read_write`");
                self.push(d.note("a kernel either reads from a pipe or writes to it"));
            }
            TyKind::Pipe(packet, _) => d.ty.ty = self.types.intern(TyKind::Pipe(packet, access)),
            TyKind::Error => {}
            _ => self.error("E0304", span, "access qualifiers are for images and pipes only"),
        }
    }

    fn space(&mut self, qual: SpaceQual, span: Span) -> Option<Space> {
        Some(match qual {
            SpaceQual::Global => Space::Global,
            SpaceQual::Local => Space::Local,
            SpaceQual::Constant => Space::Constant,
            SpaceQual::Private => Space::Private,
            SpaceQual::Generic if self.opts.generic => Space::Generic,
            SpaceQual::Generic => {
                self.no_generic(span, "the generic address space");
                return None;
            }
        })
    }

    /// Reports a use of the generic address space, which the device or the version of the language does not have.
    pub(super) fn no_generic(&mut self, span: Span, what: &str) {
        let help = "name the address space: `global`, `local` or `private`";
        if self.has_feature(feature::GENERIC_ADDRESS_SPACE) {
            // The device could, the version of the language cannot: there is a second remedy then.
            let message = format!("{what} is not in this version of the language");
            self.push(Diagnostic::error("E0326", span, message).help(format!("build with `-cl-std=CL3.0`, or {help}")));
        } else {
            self.unavailable(span, &format!("{what} is"), help);
        }
    }

    /// Reports something that the device does not have.
    pub(super) fn unavailable(&mut self, span: Span, what: &str, help: &str) {
        self.push(Diagnostic::error("E0326", span, format!("{what} not supported by this device")).help(help));
    }

    fn type_spec(&mut self, spec: &TypeSpec, span: Span) -> Declared {
        match spec {
            TypeSpec::Builtin(b) => Declared::plain(self.builtin_type(*b, span)),
            TypeSpec::Typedef(name) => match self.scopes.get(name.name) {
                Some((Entry::Typedef(ty, space), _)) => Declared { ty: *ty, space: *space },
                Some((Entry::Error, _)) => Declared::plain(Ty::ERROR),
                _ => {
                    let message = format!("`{}` is not a type here", self.text(name.name));
                    self.error("E0206", name.span, message);
                    Declared::plain(Ty::ERROR)
                }
            },
            TypeSpec::Record(r) => Declared::plain(self.record(r)),
            TypeSpec::Enum(e) => Declared::plain(self.enumeration(e)),
            TypeSpec::Typeof(t) => match &**t {
                ast::TypeOrExpr::Type(t) => self.type_of_name(t),
                ast::TypeOrExpr::Expr(e) => {
                    let e = self.expr(e);
                    // The address space belongs to the object, not to its type: `typeof(*p) x;` declares a private
                    // variable, whatever `p` points to.
                    Declared { ty: QTy { space: Space::Private, ..e.ty }, space: None }
                }
            },
            TypeSpec::Error => Declared::plain(Ty::ERROR),
        }
    }

    fn builtin_type(&mut self, b: BuiltinType, span: Span) -> Ty {
        match b {
            BuiltinType::Void => Ty::VOID,
            BuiltinType::Bool => Ty::BOOL,
            BuiltinType::Scalar(s) => {
                let elem = elem_of(s);
                self.check_double(elem, span);
                self.types.value(elem, 1)
            }
            BuiltinType::Vector(s, n) => {
                let elem = elem_of(s);
                self.check_double(elem, span);
                self.types.value(elem, n)
            }
            BuiltinType::SizeT | BuiltinType::UintptrT => Ty::ULONG,
            BuiltinType::PtrdiffT | BuiltinType::IntptrT => Ty::LONG,
            BuiltinType::Event => Ty::EVENT,
            BuiltinType::Sampler => Ty::SAMPLER,
            BuiltinType::Image(kind) if self.opts.images => {
                self.types.intern(TyKind::Image(kind, AccessQual::ReadOnly))
            }
            BuiltinType::Image(kind) => {
                self.unavailable(
                    span,
                    &format!("`{}`: images are", image_name(kind)),
                    "the device reports no image support (CL_DEVICE_IMAGE_SUPPORT): pass a buffer",
                );
                Ty::ERROR
            }
            BuiltinType::MemFenceFlags => Ty::UINT,
            BuiltinType::MemoryOrder | BuiltinType::MemoryScope => Ty::INT,
            BuiltinType::Atomic(of) => match atomic_elem(of) {
                Some(elem) => {
                    self.check_double(elem, span);
                    self.types.intern(TyKind::Atomic(elem))
                }
                None => {
                    self.unavailable(span, "`atomic_half` is", "use `atomic_float`");
                    Ty::ERROR
                }
            },
            // A flag is an `int` that is 0 or 1; `atomic_flag_test_and_set` exchanges it with 1.
            BuiltinType::AtomicFlag => self.types.intern(TyKind::Atomic(Elem::I32)),
            BuiltinType::Queue if self.opts.blocks => Ty::QUEUE,
            BuiltinType::ClkEvent if self.opts.blocks => Ty::CLK_EVENT,
            BuiltinType::NdRange if self.opts.blocks => self.range_type,
            BuiltinType::EnqueueFlags if self.opts.blocks => Ty::UINT,
            BuiltinType::ProfilingInfo if self.opts.blocks => Ty::INT,
            BuiltinType::Queue
            | BuiltinType::ClkEvent
            | BuiltinType::NdRange
            | BuiltinType::EnqueueFlags
            | BuiltinType::ProfilingInfo => {
                self.no_enqueue(span);
                Ty::ERROR
            }
            BuiltinType::ReserveId if self.opts.pipes => Ty::RESERVE_ID,
            BuiltinType::ReserveId => {
                self.no_pipes(span, "`reserve_id_t`: pipes");
                Ty::ERROR
            }
        }
    }

    pub(super) fn check_double(&mut self, elem: Elem, span: Span) {
        if elem == Elem::F64 && !self.opts.fp64 {
            self.unavailable(span, "`double` is", "use `float`");
        }
    }

    /// The type of a type name, as in a cast.
    pub(super) fn type_of_name(&mut self, t: &ast::TypeName) -> Declared {
        let base = self.specs(&t.specs);
        self.declarator(base, &t.declarator)
    }

    /// Applies a declarator. A function derivation, which can only be the first, gives a function type.
    pub(super) fn declarator(&mut self, base: Declared, declarator: &ast::Declarator) -> Declared {
        let mut d = base;
        // The list goes from the name outwards (`int *a[3]`: array, pointer); the type is built from the specifiers
        // inwards.
        for (i, step) in declarator.derivations.iter().enumerate().rev() {
            if self.types.depth(d.ty.ty) >= limits::TYPE_DEPTH {
                self.error(
                    "E0325",
                    step.span,
                    format!("more than {} pointers and arrays in one type", limits::TYPE_DEPTH),
                );
                d = Declared::plain(Ty::ERROR);
            }
            match &step.kind {
                // The address space that was written in front belongs to the target: `global int *p` is a private
                // pointer.
                DerivationKind::Pointer { quals, attrs: _ } => {
                    let to = self.pointee(d);
                    if matches!(self.types.kind(to.ty), TyKind::Function(..)) {
                        self.error("E0211", step.span, "function pointers are not allowed in OpenCL C");
                        d = Declared::plain(Ty::ERROR);
                        continue;
                    }
                    if self.is_part_pipe(to.ty, "a pointer cannot point to", step.span)
                        || self.is_part_block(to.ty, "pointers to blocks", step.span)
                    {
                        d = Declared::plain(Ty::ERROR);
                        continue;
                    }
                    let ty = if to.ty == Ty::ERROR { Ty::ERROR } else { self.types.pointer(to) };
                    d = Declared::plain(ty);
                    self.qualify(&mut d, quals);
                }
                DerivationKind::Block { quals } => {
                    d = self.block_type(d, step.span);
                    self.qualify(&mut d, quals);
                }
                DerivationKind::Array { size, quals: _ } => {
                    let n = match size {
                        // A length that is missing comes from the initialiser; one that is wrong makes the type an
                        // error.
                        None => None,
                        Some(e) => match self.array_size(e) {
                            Some(n) => Some(n),
                            None => {
                                d.ty.ty = Ty::ERROR;
                                continue;
                            }
                        },
                    };
                    if d.ty.ty == Ty::ERROR {
                        continue;
                    }
                    if self.is_part_pipe(d.ty.ty, "an array cannot have elements of type", step.span)
                        || self.is_part_block(d.ty.ty, "arrays of blocks", step.span)
                    {
                        d = Declared::plain(Ty::ERROR);
                        continue;
                    }
                    if self.types.layout(d.ty.ty).is_none() {
                        let message = format!("array of `{}`, which has no size", self.type_name(d.ty.ty));
                        self.error("E0316", step.span, message);
                        d.ty.ty = Ty::ERROR;
                        continue;
                    }
                    // `const`, `volatile` and the address space stay with the array, where `rvalue` reads them when the
                    // array becomes a pointer. The element keeps only what belongs to each element.
                    let of = QTy { is_restrict: d.ty.is_restrict, align: d.ty.align, ..QTy::plain(d.ty.ty) };
                    let size = self.types.size(of.ty);
                    // An alignment from a `typedef` does not change the size: after `typedef float f
                    // __attribute__((aligned(16)))`, the second element of `f a[2]` would not be aligned.
                    if !size.is_multiple_of(u64::from(of.align.max(1))) {
                        let message =
                            format!("the elements of an array have {size} bytes, but an alignment of {}", of.align);
                        let help = "align the array, or a structure that holds the element";
                        self.push(Diagnostic::error("E0317", step.span, message).help(help));
                        d.ty.ty = Ty::ERROR;
                        continue;
                    }
                    // The bound keeps sizes and offsets far from the limits of 64 bits, so that later sums of them do
                    // not overflow.
                    let bytes = self.types.size(of.ty).checked_mul(n.unwrap_or(0));
                    if bytes.is_none_or(|b| b > limits::OBJECT) {
                        let limit = format!("the limit is {} bytes", limits::OBJECT);
                        self.push(Diagnostic::error("E0325", step.span, "array is too large").note(limit));
                        d.ty.ty = Ty::ERROR;
                        continue;
                    }
                    d.ty = QTy { is_restrict: false, ..d.ty }.with_ty(self.types.intern(TyKind::Array(of, n)));
                }
                DerivationKind::Function { params, variadic } => {
                    // Programs repeat the prototype of `printf` for other compilers.
                    let is_printf = declarator.name.is_some_and(|n| self.text(n.name) == "printf");
                    if let Some(span) = variadic.filter(|_| !is_printf) {
                        self.error(
                            "E0217",
                            span,
                            "functions with a variable number of arguments are not allowed in OpenCL C",
                        );
                    }
                    let is_block = i > 0 && matches!(declarator.derivations[i - 1].kind, DerivationKind::Block { .. });
                    // A function whose result is a function, `int f(void)(void)`, has an error of its own below.
                    if i != 0 && !is_block && !matches!(declarator.derivations[0].kind, DerivationKind::Function { .. })
                    {
                        self.error("E0211", step.span, "function pointers are not allowed in OpenCL C");
                        d = Declared::plain(Ty::ERROR);
                        continue;
                    }
                    if matches!(self.types.kind(d.ty.ty), TyKind::Array(..) | TyKind::Function(..)) {
                        let message = format!("a function cannot return `{}`", self.type_name(d.ty.ty));
                        self.error("E0304", step.span, message);
                        d = Declared::plain(Ty::ERROR);
                    }
                    if self.types.block(d.ty.ty).is_some() {
                        self.error("E0332", step.span, "a block cannot be the result of a function");
                        d = Declared::plain(Ty::ERROR);
                    }
                    // Which block a parameter means is known only for functions, which are copied for each choice of
                    // blocks.
                    let params = params.iter().map(|p| self.param_type(p, !is_block)).collect();
                    // The space in front of a function belongs to its result.
                    let ty = self.types.intern(TyKind::Function(d.qty(), params));
                    d = Declared::plain(ty);
                }
            }
        }
        d
    }

    /// The type of a parameter, which may be a block or not: arrays become pointers.
    pub(super) fn param_type(&mut self, p: &ast::Param, blocks: bool) -> QTy {
        // The declared type first, then the adjustments of C: an array is a pointer to its element.
        let base = self.specs(&p.specs);
        let d = self.declarator(base, &p.declarator);
        attrs::TypeAttrs::read(self, &p.attrs);
        match *self.types.kind(d.ty.ty) {
            TyKind::Array(of, _) => {
                let to = QTy {
                    // `const float a[4]` is a pointer to `const float`: the qualifiers of the array belong to the
                    // elements.
                    ty: of.ty,
                    is_const: d.ty.is_const,
                    is_volatile: d.ty.is_volatile,
                    align: of.align,
                    ..self.pointee(d)
                };
                return QTy::plain(self.types.pointer(to));
            }
            TyKind::Function(..) => {
                self.error("E0211", p.span, "function pointers are not allowed in OpenCL C");
                return QTy::plain(Ty::ERROR);
            }
            TyKind::Void => {
                self.error("E0316", p.span, "parameter of type `void`");
                return QTy::plain(Ty::ERROR);
            }
            TyKind::Block(..) if blocks => return QTy::plain(d.ty.ty),
            TyKind::Block(..) => {
                self.push(
                    Diagnostic::error("E0332", p.span, "a block cannot be a parameter of a block")
                        .note("which block a call means must be known when the program is built"),
                );
                return QTy::plain(Ty::ERROR);
            }
            TyKind::Scalar(Elem::F16) | TyKind::Vector(Elem::F16, _) if !self.opts.fp16 => {
                self.no_half(p.span);
                return QTy::plain(Ty::ERROR);
            }
            _ => {}
        }
        if let Some(space) = d.space
            && space != Space::Private
        {
            let message = format!("parameter in the `{}` address space", space_name(space));
            self.push(
                Diagnostic::error("E0319", p.span, message)
                    .note("a parameter itself is private; what a pointer points to may be elsewhere")
                    .help("write the address space in front of the type that the pointer points to"),
            );
        }
        if self.types.layout(d.ty.ty).is_none() {
            let message = format!("parameter of incomplete type `{}`", self.type_name(d.ty.ty));
            self.error("E0316", p.span, message);
            return QTy::plain(Ty::ERROR);
        }
        QTy { space: Space::Private, align: 0, ..d.ty }
    }

    pub(super) fn no_half(&mut self, span: Span) {
        self.push(
            Diagnostic::error(
                "E0326",
                span,
                "`half` is a storage format on this device: only pointers to it are allowed",
            )
            .help("read with `vload_half`, which gives a `float`, and write with `vstore_half`"),
        );
    }

    fn array_size(&mut self, e: &ast::Expr) -> Option<u64> {
        let value = self.rvalue_of(e);
        if self.is_left_out(&value) {
            return None;
        }
        if !self.types.is_integer(value.ty.ty) {
            let message = format!("size of an array is a `{}`", self.type_name(value.ty.ty));
            self.error("E0317", e.span, message);
            return None;
        }
        match self.eval_int(&value) {
            // Also none: GNU C's arrays without elements are common as last members.
            Some(n) if n >= 0 => Some(n as u64),
            Some(n) => {
                self.error("E0317", e.span, format!("size of an array is negative: {n}"));
                None
            }
            None => {
                self.push(
                    Diagnostic::error("E0317", e.span, "size of an array is not a constant")
                        .label("its value is not known when the program is compiled")
                        .note("OpenCL C has no variable-length arrays")
                        .help("use a macro (`#define N 16`, or `-D N=16` when the program is built) or an enumerator"),
                );
                None
            }
        }
    }

    fn record(&mut self, r: &ast::RecordSpec) -> Ty {
        // With members, `struct s` defines a type of this scope, which may hide an outer one; without, it names a
        // visible type.
        let known = match (r.tag, &r.fields) {
            (Some(tag), Some(_)) => self.scopes.tag_here(tag.name),
            (Some(tag), None) => self.scopes.tag(tag.name),
            (None, _) => None,
        };
        let word = if r.is_union { "union" } else { "struct" };
        let ty = match known {
            Some((ty, span)) => {
                if self.types.record(ty).is_none_or(|known| known.is_union != r.is_union) {
                    let message = format!("`{}` is not a {word}", r.tag.map_or("", |t| self.text(t.name)));
                    self.push(
                        Diagnostic::error("E0301", r.span, message).also(span, "declared here as something else"),
                    );
                    return Ty::ERROR;
                }
                ty
            }
            None => {
                // The type exists before its members are analysed, because they may point to it.
                let id = RecordId(self.types.records.len() as u32);
                self.types.records.push(Record {
                    is_union: r.is_union,
                    tag: r.tag.map(|t| t.name),
                    fields: None,
                    size: 0,
                    align: 1,
                    span: r.span,
                });
                let ty = self.types.intern(TyKind::Record(id));
                if let Some(tag) = r.tag {
                    self.scopes.put_tag(tag.name, ty, tag.span);
                }
                ty
            }
        };
        if let Some(fields) = &r.fields {
            if self.types.record(ty).is_some_and(|known| known.fields.is_some()) {
                let message = format!("{word} `{}` is defined twice", r.tag.map_or("", |t| self.text(t.name)));
                let first = self.types.record(ty).map_or(r.span, |k| k.span);
                self.push(Diagnostic::error("E0301", r.span, message).also(first, "first definition"));
                return ty;
            }
            self.define_record(ty, r, fields);
        }
        ty
    }

    fn define_record(&mut self, ty: Ty, r: &ast::RecordSpec, decls: &[ast::FieldDecl]) {
        let TyKind::Record(id) = *self.types.kind(ty) else { return };
        let a = attrs::TypeAttrs::read(self, &r.attrs);
        // Where the structure is defined counts, not where it is used.
        let limit = self.packing.limit();
        let (mut end, mut align, mut size) = (0u64, 1u64, 0u64);
        let mut fields: Vec<Field> = Vec::new();
        for (i, decl) in decls.iter().enumerate() {
            let base = self.specs(&decl.specs);
            let mut outer = attrs::TypeAttrs::read(self, &decl.specs.attrs);
            outer.align = outer.align.max(self.alignas(&decl.specs.alignas));
            let mut add =
                |this: &mut Self, name: Option<ast::Ident>, d: Declared, span: Span, own: attrs::TypeAttrs| {
                    let ty = this.field_type(d, span);
                    let packed = a.packed || own.packed || outer.packed;
                    let natural = if packed { 1 } else { this.types.align_of(ty) };
                    let asked = own.align.max(outer.align).unwrap_or(1);
                    // `packed` takes away the alignment of the type, `aligned` of the member raises what is left, and
                    // `#pragma pack` limits both.
                    let alignment = natural.max(asked.into()).min(limit);
                    let offset = if r.is_union { 0 } else { end.next_multiple_of(alignment) };
                    if let Some(name) = name
                        && let Some(before) = fields.iter().find(|f| f.name == Some(name.name))
                    {
                        let message = format!("two members are called `{}`", this.text(name.name));
                        let d = Diagnostic::error("E0301", span, message).also(before.span, "the first one");
                        this.push(d);
                    }
                    // Of a union each member begins at 0; the size is that of the largest.
                    end = offset.saturating_add(this.types.size(ty.ty));
                    size = size.max(end);
                    align = align.max(alignment);
                    fields.push(Field { name: name.map(|n| n.name), ty, offset, span });
                };
            // A declaration without a declarator is an anonymous member, or declares only a tag.
            if decl.declarators.is_empty() {
                // Only one that is written here: a name for it would be an ordinary declaration without a declarator.
                let written = matches!(decl.specs.ty, TypeSpec::Record(_));
                if written && self.types.record(base.ty.ty).is_some_and(|r| r.tag.is_none()) {
                    add(self, None, base, decl.span, attrs::TypeAttrs::default());
                }
                continue;
            }
            for (k, f) in decl.declarators.iter().enumerate() {
                let mut d = self.declarator(base, &f.declarator);
                d.ty.ty = self.attributed_type(d.ty.ty, &f.attrs);
                // Only the last member may be an array without a length, and only of a structure: members of a union
                // overlap.
                let is_last = i + 1 == decls.len() && k + 1 == decl.declarators.len();
                if is_last && !r.is_union {
                    d.ty.ty = self.flexible_array(d.ty.ty);
                }
                let own = attrs::TypeAttrs::read(self, &f.attrs);
                add(self, f.declarator.name, d, f.declarator.span, own);
            }
        }
        if size > limits::OBJECT {
            self.error("E0325", r.span, "structure is too large");
            (size, fields) = (0, Vec::new());
        }
        // `aligned` of the structure only raises the alignment; `#pragma pack` does not limit it.
        let align = align.max(a.align.unwrap_or(1).into());
        let record = &mut self.types.records[id.0 as usize];
        record.align = align;
        // With padding at the end, so that the elements of an array are aligned.
        record.size = size.next_multiple_of(align);
        record.fields = Some(fields);
        record.span = r.span;
    }

    /// The type of the last member of a structure: an array without a size takes no part of the structure, as in C99.
    fn flexible_array(&mut self, ty: Ty) -> Ty {
        match *self.types.kind(ty) {
            TyKind::Array(of, None) => self.types.intern(TyKind::Array(of, Some(0))),
            _ => ty,
        }
    }

    fn field_type(&mut self, d: Declared, span: Span) -> QTy {
        if let Some(space) = d.space {
            let message = format!("a member cannot be in an address space of its own (`{}`)", space_name(space));
            self.error("E0319", span, message);
        }
        let ty = QTy { space: Space::Private, ..d.ty };
        if ty.ty == Ty::ERROR {
            return ty;
        }
        if self.types.block(ty.ty).is_some() {
            self.error("E0332", span, "a member cannot be a block");
            return QTy::plain(Ty::ERROR);
        }
        if self.types.layout(ty.ty).is_none() {
            // Three reasons for a type without a size, each with its own message.
            let message = match self.types.kind(ty.ty) {
                TyKind::Function(..) => "a member cannot be a function".to_owned(),
                TyKind::Array(_, None) => {
                    "only the last member of a structure can be an array without a size".to_owned()
                }
                _ => format!("member of incomplete type `{}`", self.type_name(ty.ty)),
            };
            self.error("E0316", span, message);
            return QTy::plain(Ty::ERROR);
        }
        if matches!(self.types.kind(ty.ty), TyKind::Event | TyKind::Sampler | TyKind::Image(..) | TyKind::Pipe(..)) {
            let message = format!("`{}` cannot be a member", self.type_name(ty.ty));
            self.error("E0326", span, message);
            return QTy::plain(Ty::ERROR);
        }
        ty
    }

    fn enumeration(&mut self, e: &ast::EnumSpec) -> Ty {
        let Some(list) = &e.enumerators else {
            if let Some(tag) = e.tag
                && self.scopes.tag(tag.name).is_none()
            {
                let message = format!("`enum {}` is not defined", self.text(tag.name));
                self.error("E0316", tag.span, message);
            }
            // `int` if it is not defined, which was reported above.
            return e.tag.and_then(|t| self.scopes.tag(t.name)).map_or(Ty::INT, |t| t.0);
        };
        let mut next = 0i64;
        let (mut low, mut high) = (0i64, 0i64);
        for item in list {
            if let Some(value) = &item.value {
                let value = self.rvalue_of(value);
                match self.eval_int(&value) {
                    Some(n) => next = n,
                    None if self.is_left_out(&value) => {}
                    None => self.not_constant(value.span, "the value of an enumerator"),
                }
            }
            (low, high) = (low.min(next), high.max(next));
            // Each enumerator has the least type that holds it, so that small ones stay `int` beside a large one.
            let ty = enum_type(next, next);
            let bits = next as u64 & super::constant::mask(&self.types, ty);
            // Declared at once: the values of later enumerators may use this one.
            self.declare(item.name, Entry::Constant(bits, ty));
            next = next.wrapping_add(1);
        }
        let packed = attrs::TypeAttrs::read(self, &e.attrs).packed;
        let ty = if packed { packed_enum_type(low, high) } else { enum_type(low, high) };
        if let Some(tag) = e.tag {
            self.scopes.put_tag(tag.name, ty, tag.span);
        }
        ty
    }
}

/// The smallest integer type of an enumeration with values in a range.
fn packed_enum_type(low: i64, high: i64) -> Ty {
    match (low < 0, low, high) {
        (false, _, 0..=0xff) => Ty::UCHAR,
        (false, _, 0x100..=0xffff) => Ty::USHORT,
        (true, -0x80.., ..=0x7f) => Ty::CHAR,
        (true, -0x8000.., ..=0x7fff) => Ty::SHORT,
        _ => enum_type(low, high),
    }
}

/// The integer type of an enumeration with values in a range.
fn enum_type(low: i64, high: i64) -> Ty {
    if i32::try_from(low).is_ok() && i32::try_from(high).is_ok() {
        Ty::INT
    } else if low >= 0 && u32::try_from(high).is_ok() {
        Ty::UINT
    } else {
        Ty::LONG
    }
}
