//! The types of the program, interned: equal types have equal [`Ty`]s, so that types are compared as numbers.
//!
//! Sizes and alignments are fixed by the specification (OpenCL C 6.3.5): a vector of 3 components has the size of one
//! of 4, and every type is aligned to its size. Records are laid out when they are completed.

use crate::source::{Interner, Span, Symbol};
use crate::syntax::ast::AccessQual;
use crate::syntax::{ImageKind, Scalar};
use cloom_builtins::Elem;
use cloom_ir::Space;
use rustc_hash::{FxHashMap, FxHashSet};

/// A type without qualifiers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Ty(u32);

/// A type with the qualifiers and the address space of the object that has it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct QTy {
    /// The type.
    pub ty: Ty,
    /// `const`
    pub is_const: bool,
    /// `volatile`
    pub is_volatile: bool,
    /// `restrict`, of a pointer.
    pub is_restrict: bool,
    /// Where the object lives.
    pub space: Space,
    /// The alignment in bytes that an attribute of a `typedef` gives the type, more or less than its own; 0: its own.
    pub align: u16,
}

impl QTy {
    /// Without qualifiers, private.
    pub fn plain(ty: Ty) -> Self {
        Self { ty, is_const: false, is_volatile: false, is_restrict: false, space: Space::Private, align: 0 }
    }

    /// The same qualifiers on another type.
    pub fn with_ty(self, ty: Ty) -> Self {
        Self { ty, is_restrict: false, align: 0, ..self }
    }
}

/// Which record.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct RecordId(pub u32);

/// What a type is.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum TyKind {
    /// Something was wrong and has been reported.
    Error,
    /// `void`
    Void,
    /// `bool`
    Bool,
    /// A number.
    Scalar(Elem),
    /// A vector.
    Vector(Elem, u8),
    /// A pointer to an object.
    Pointer(QTy),
    /// An array; `None` where the length is yet unknown.
    Array(QTy, Option<u64>),
    /// A structure or union.
    Record(RecordId),
    /// `atomic_int` and its like: only the atomic functions look inside.
    Atomic(Elem),
    /// `event_t`
    Event,
    /// `sampler_t`
    Sampler,
    /// `reserve_id_t`
    ReserveId,
    /// An image, and what the program may do with it.
    Image(ImageKind, AccessQual),
    /// A pipe of packets of a type, and what the program may do with it.
    Pipe(Ty, AccessQual),
    /// A function: result and parameters.
    Function(QTy, Vec<QTy>),
    /// A block: result and parameters.
    Block(QTy, Vec<QTy>),
    /// `queue_t`
    Queue,
    /// `clk_event_t`
    ClkEvent,
}

/// A member of a record.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name; `None` for an anonymous record.
    pub name: Option<Symbol>,
    /// Its type.
    pub ty: QTy,
    /// Bytes from the start of the record.
    pub offset: u64,
    /// Where it was declared.
    pub span: Span,
}

/// A structure or union.
#[derive(Clone, Debug)]
pub struct Record {
    /// `union`
    pub is_union: bool,
    /// The tag.
    pub tag: Option<Symbol>,
    /// The members, if complete.
    pub fields: Option<Vec<Field>>,
    /// Bytes, if complete.
    pub size: u64,
    /// Alignment, if complete.
    pub align: u64,
    /// Where it was first seen.
    pub span: Span,
}

/// The interner of types.
#[derive(Debug)]
pub struct Types {
    kinds: Vec<TyKind>,
    index: FxHashMap<TyKind, Ty>,
    /// How many pointers and arrays are nested in each type.
    depths: Vec<u32>,
    /// The records.
    pub records: Vec<Record>,
    /// The name that a `typedef` gave to an anonymous record, for messages.
    pub record_names: FxHashMap<RecordId, Symbol>,
    /// The address space of what a pointer points to where none is written.
    pub unnamed: Space,
}

macro_rules! fixed {
    ($($name:ident $number:literal $kind:expr;)*) => {
        #[allow(missing_docs, reason = "the names are those of the language")]
        impl Ty { $(pub const $name: Ty = Ty($number);)* }
        const FIXED: &[TyKind] = &[$($kind,)*];
    };
}

fixed! {
    ERROR 0 TyKind::Error;
    VOID 1 TyKind::Void;
    BOOL 2 TyKind::Bool;
    CHAR 3 TyKind::Scalar(Elem::I8);
    UCHAR 4 TyKind::Scalar(Elem::U8);
    SHORT 5 TyKind::Scalar(Elem::I16);
    USHORT 6 TyKind::Scalar(Elem::U16);
    INT 7 TyKind::Scalar(Elem::I32);
    UINT 8 TyKind::Scalar(Elem::U32);
    LONG 9 TyKind::Scalar(Elem::I64);
    ULONG 10 TyKind::Scalar(Elem::U64);
    HALF 11 TyKind::Scalar(Elem::F16);
    FLOAT 12 TyKind::Scalar(Elem::F32);
    DOUBLE 13 TyKind::Scalar(Elem::F64);
    EVENT 14 TyKind::Event;
    SAMPLER 15 TyKind::Sampler;
    RESERVE_ID 16 TyKind::ReserveId;
    QUEUE 17 TyKind::Queue;
    CLK_EVENT 18 TyKind::ClkEvent;
}

/// The scalar of the syntax tree as that of the table of built-ins.
pub fn elem_of(s: Scalar) -> Elem {
    match s {
        Scalar::Char => Elem::I8,
        Scalar::UChar => Elem::U8,
        Scalar::Short => Elem::I16,
        Scalar::UShort => Elem::U16,
        Scalar::Int => Elem::I32,
        Scalar::UInt => Elem::U32,
        Scalar::Long => Elem::I64,
        Scalar::ULong => Elem::U64,
        Scalar::Half => Elem::F16,
        Scalar::Float => Elem::F32,
        Scalar::Double => Elem::F64,
    }
}

/// The name of a scalar in the language.
pub fn elem_name(e: Elem) -> &'static str {
    match e {
        Elem::I8 => "char",
        Elem::U8 => "uchar",
        Elem::I16 => "short",
        Elem::U16 => "ushort",
        Elem::I32 => "int",
        Elem::U32 => "uint",
        Elem::I64 => "long",
        Elem::U64 => "ulong",
        Elem::F16 => "half",
        Elem::F32 => "float",
        Elem::F64 => "double",
    }
}

/// Whether a scalar has a sign (floats have one).
pub fn elem_signed(e: Elem) -> bool {
    !matches!(e, Elem::U8 | Elem::U16 | Elem::U32 | Elem::U64)
}

/// The scalar of the IR.
pub fn ir_scalar(e: Elem) -> cloom_ir::Scalar {
    use cloom_ir::Scalar as S;
    match e {
        Elem::I8 | Elem::U8 => S::I8,
        Elem::I16 | Elem::U16 => S::I16,
        Elem::I32 | Elem::U32 => S::I32,
        Elem::I64 | Elem::U64 => S::I64,
        Elem::F16 => S::F16,
        Elem::F32 => S::F32,
        Elem::F64 => S::F64,
    }
}

/// Whether pointers into one address space are converted implicitly to pointers into the other.
pub fn becomes(from: Space, to: Space) -> bool {
    to == Space::Generic && matches!(from, Space::Private | Space::Global | Space::Local)
}

/// Whether two address spaces are one, or one holds the other.
pub fn overlap(a: Space, b: Space) -> bool {
    a == b || becomes(a, b) || becomes(b, a)
}

/// The word for an address space.
pub fn space_name(space: Space) -> &'static str {
    match space {
        // Memory of the launcher is no address space of the language; a program never sees the word.
        Space::Private | Space::Context => "private",
        Space::Global => "global",
        Space::Constant => "constant",
        Space::Local => "local",
        Space::Generic => "generic",
    }
}

impl Types {
    /// The types that every program has. `unnamed` is where pointers without a written address space point.
    pub fn new(unnamed: Space) -> Self {
        let mut this = Self {
            kinds: Vec::new(),
            index: FxHashMap::default(),
            depths: Vec::new(),
            records: Vec::new(),
            record_names: FxHashMap::default(),
            unnamed,
        };
        // In the order of the numbers in `fixed!`, which the constants of `Ty` rely on.
        for kind in FIXED {
            this.intern(kind.clone());
        }
        this
    }

    /// The type of a kind.
    pub fn intern(&mut self, kind: TyKind) -> Ty {
        // Equal kinds have one number: types are compared as numbers everywhere.
        if let Some(&ty) = self.index.get(&kind) {
            return ty;
        }
        let ty = Ty(self.kinds.len() as u32);
        // Only what later functions recurse into: they stop at records, whose members have been bounded on their own.
        self.depths.push(match &kind {
            TyKind::Pointer(of) | TyKind::Array(of, _) => self.depth(of.ty) + 1,
            TyKind::Pipe(of, _) => self.depth(*of),
            _ => 0,
        });
        self.kinds.push(kind.clone());
        self.index.insert(kind, ty);
        ty
    }

    /// How many pointers and arrays are nested in a type: functions that recurse over types go as deep.
    pub fn depth(&self, ty: Ty) -> u32 {
        self.depths[ty.0 as usize]
    }

    /// What a type is.
    pub fn kind(&self, ty: Ty) -> &TyKind {
        &self.kinds[ty.0 as usize]
    }

    /// The type of the values that initialise an object: of an atomic one, the type that it stands for.
    pub fn stored(&mut self, ty: Ty) -> Ty {
        match *self.kind(ty) {
            TyKind::Atomic(elem) => self.value(elem, 1),
            _ => ty,
        }
    }

    /// A scalar (1 lane) or a vector.
    pub fn value(&mut self, elem: Elem, lanes: u8) -> Ty {
        self.intern(if lanes == 1 { TyKind::Scalar(elem) } else { TyKind::Vector(elem, lanes) })
    }

    /// A pointer.
    pub fn pointer(&mut self, to: QTy) -> Ty {
        self.intern(TyKind::Pointer(to))
    }

    /// Scalar and number of lanes of a number or vector; `bool` counts as an unsigned byte.
    pub fn numeric(&self, ty: Ty) -> Option<(Elem, u8)> {
        match *self.kind(ty) {
            TyKind::Bool => Some((Elem::U8, 1)),
            TyKind::Scalar(e) => Some((e, 1)),
            TyKind::Vector(e, n) => Some((e, n)),
            _ => None,
        }
    }

    /// The pointee.
    pub fn pointee(&self, ty: Ty) -> Option<QTy> {
        match *self.kind(ty) {
            TyKind::Pointer(to) => Some(to),
            _ => None,
        }
    }

    /// Whether it is a pointer.
    pub fn is_pointer(&self, ty: Ty) -> bool {
        matches!(self.kind(ty), TyKind::Pointer(_))
    }

    /// Result and parameters of a block.
    pub fn block(&self, ty: Ty) -> Option<(QTy, &[QTy])> {
        match self.kind(ty) {
            TyKind::Block(ret, params) => Some((*ret, params)),
            _ => None,
        }
    }

    /// Whether it is a vector.
    pub fn is_vector(&self, ty: Ty) -> bool {
        matches!(self.kind(ty), TyKind::Vector(..))
    }

    /// Whether it is a number, `bool` included, but no vector.
    pub fn is_arithmetic(&self, ty: Ty) -> bool {
        matches!(self.kind(ty), TyKind::Bool | TyKind::Scalar(_))
    }

    /// Whether it is an integer, `bool` included, but no vector.
    pub fn is_integer(&self, ty: Ty) -> bool {
        match self.kind(ty) {
            TyKind::Bool => true,
            TyKind::Scalar(e) => !e.is_float(),
            _ => false,
        }
    }

    /// Whether a condition may have this type.
    pub fn is_scalar(&self, ty: Ty) -> bool {
        matches!(self.kind(ty), TyKind::Bool | TyKind::Scalar(_) | TyKind::Pointer(_))
    }

    /// Whether it lives in memory only: a record or an array.
    pub fn is_aggregate(&self, ty: Ty) -> bool {
        matches!(self.kind(ty), TyKind::Record(_) | TyKind::Array(..))
    }

    /// The record.
    pub fn record(&self, ty: Ty) -> Option<&Record> {
        match self.kind(ty) {
            TyKind::Record(id) => self.records.get(id.0 as usize),
            _ => None,
        }
    }

    /// Size and alignment in bytes; `None` of a type that has no (known) size.
    pub fn layout(&self, ty: Ty) -> Option<(u64, u64)> {
        Some(match *self.kind(ty) {
            // An error has a size, so that a check of sizes does not report it a second time.
            TyKind::Error | TyKind::Bool => (1, 1),
            TyKind::Scalar(e) | TyKind::Atomic(e) => (u64::from(e.bits() / 8), u64::from(e.bits() / 8)),
            TyKind::Vector(e, n) => {
                // A vector of three has the size and alignment of one of four.
                let size = u64::from(e.bits() / 8) * if n == 3 { 4 } else { u64::from(n) };
                (size, size)
            }
            TyKind::Pointer(_) | TyKind::Event | TyKind::Queue | TyKind::ClkEvent | TyKind::ReserveId => (8, 8),
            TyKind::Image(..) | TyKind::Pipe(..) => (8, 8),
            TyKind::Sampler => (4, 4),
            TyKind::Array(of, Some(n)) => {
                let (size, align) = self.layout_of(of)?;
                (size.checked_mul(n)?, align)
            }
            TyKind::Record(id) => {
                let r = &self.records[id.0 as usize];
                // Declared and not yet defined: no size.
                r.fields.as_ref()?;
                (r.size, r.align)
            }
            TyKind::Void | TyKind::Array(_, None) | TyKind::Function(..) | TyKind::Block(..) => return None,
        })
    }

    /// Size and alignment in bytes of an object whose type may have an alignment from an attribute.
    pub fn layout_of(&self, ty: QTy) -> Option<(u64, u64)> {
        let (size, align) = self.layout(ty.ty)?;
        Some((size, if ty.align == 0 { align } else { ty.align.into() }))
    }

    /// Bytes; 0 when there is no known size.
    pub fn size(&self, ty: Ty) -> u64 {
        self.layout(ty).map_or(0, |l| l.0)
    }

    /// Alignment in bytes, also of an array whose length is not known yet.
    pub fn align(&self, ty: Ty) -> u64 {
        match *self.kind(ty) {
            TyKind::Array(of, None) => self.align_of(of),
            _ => self.layout(ty).map_or(1, |l| l.1),
        }
    }

    /// As [`Self::align`], with the alignment from an attribute.
    pub fn align_of(&self, ty: QTy) -> u64 {
        if ty.align == 0 { self.align(ty.ty) } else { ty.align.into() }
    }

    /// The type of a value in the IR: of aggregates, the pointer to them.
    pub fn ir(&self, ty: Ty) -> cloom_ir::Type {
        use cloom_ir::Type;
        match *self.kind(ty) {
            TyKind::Scalar(e) | TyKind::Atomic(e) => Type::scalar(ir_scalar(e)),
            TyKind::Vector(e, n) => Type::vector(ir_scalar(e), u16::from(n)),
            TyKind::Pointer(to) => Type::ptr(to.space),
            TyKind::Event | TyKind::Queue | TyKind::ClkEvent | TyKind::ReserveId => Type::I64,
            // The address of its descriptor.
            TyKind::Image(..) => Type::ptr(Space::Constant),
            // The address of its header.
            TyKind::Pipe(..) => Type::ptr(Space::Global),
            TyKind::Sampler => Type::I32,
            TyKind::Record(_) | TyKind::Array(..) => Type::ptr(Space::Private),
            // A `bool` is a byte that is 0 or 1. The others have no values; a type is needed where lowering asks for
            // one.
            TyKind::Bool | TyKind::Error | TyKind::Void | TyKind::Function(..) | TyKind::Block(..) => Type::I8,
        }
    }

    /// A member by name, through anonymous members: its type and offset.
    pub fn field(&self, ty: Ty, name: Symbol) -> Option<(QTy, u64)> {
        let fields = self.record(ty)?.fields.as_ref()?;
        for f in fields {
            if f.name == Some(name) {
                return Some((f.ty, f.offset));
            }
            if f.name.is_none()
                // The members of an anonymous record are members of the record around it.
                && let Some((inner, offset)) = self.field(f.ty.ty, name)
            {
                return Some((inner, f.offset + offset));
            }
        }
        None
    }

    /// Whether a value of this type holds something that the test finds, itself or in a member.
    pub fn any_part(&self, ty: Ty, test: &mut dyn FnMut(&TyKind) -> bool) -> bool {
        // Records may hold the same record many times over, level by level: each is looked at once.
        let mut seen = FxHashSet::default();
        let mut work = vec![ty];
        while let Some(ty) = work.pop() {
            if test(self.kind(ty)) {
                return true;
            }
            match self.kind(ty) {
                TyKind::Array(of, _) => work.push(of.ty),
                TyKind::Record(id) if seen.insert(*id) => {
                    work.extend(self.records[id.0 as usize].fields.iter().flatten().map(|f| f.ty.ty));
                }
                _ => {}
            }
        }
        false
    }

    /// The type as a person would write it.
    pub fn name(&self, ty: Ty, names: &Interner) -> String {
        match self.kind(ty) {
            TyKind::Error => "<error>".into(),
            TyKind::Void => "void".into(),
            TyKind::Bool => "bool".into(),
            TyKind::Scalar(e) => elem_name(*e).into(),
            TyKind::Vector(e, n) => format!("{}{n}", elem_name(*e)),
            TyKind::Pointer(to) => format!("{}*", self.pointee_name(*to, names)),
            TyKind::Array(of, n) => {
                let n = n.map_or(String::new(), |n| n.to_string());
                // The outermost length comes first: `int[2][3]`.
                let inner = self.name(of.ty, names);
                match inner.find('[') {
                    Some(at) => format!("{}[{n}]{}", &inner[..at], &inner[at..]),
                    None => format!("{inner}[{n}]"),
                }
            }
            TyKind::Record(id) => {
                let r = &self.records[id.0 as usize];
                let word = if r.is_union { "union" } else { "struct" };
                match (self.record_names.get(id), r.tag) {
                    (_, Some(tag)) => format!("{word} {}", names.text(tag)),
                    (Some(&name), None) => names.text(name).to_owned(),
                    (None, None) => format!("{word} <unnamed>"),
                }
            }
            TyKind::Atomic(e) => atomic_name(*e).into(),
            TyKind::Event => "event_t".into(),
            TyKind::Sampler => "sampler_t".into(),
            TyKind::ReserveId => "reserve_id_t".into(),
            TyKind::Image(kind, _) => image_name(*kind).into(),
            TyKind::Pipe(packet, access) => format!("{} pipe {}", access.word(), self.name(*packet, names)),
            TyKind::Function(ret, params) => {
                let params: Vec<String> = params.iter().map(|p| self.name(p.ty, names)).collect();
                format!("{} ({})", self.name(ret.ty, names), params.join(", "))
            }
            TyKind::Block(ret, params) => {
                let params: Vec<String> = params.iter().map(|p| self.name(p.ty, names)).collect();
                let params = if params.is_empty() { "void".to_owned() } else { params.join(", ") };
                format!("{} (^)({params})", self.name(ret.ty, names))
            }
            TyKind::Queue => "queue_t".into(),
            TyKind::ClkEvent => "clk_event_t".into(),
        }
    }

    /// A qualified type in front of a `*`: `const global float`.
    pub fn pointee_name(&self, to: QTy, names: &Interner) -> String {
        let mut s = String::new();
        if to.is_const && to.space != Space::Constant {
            s.push_str("const ");
        }
        if to.is_volatile {
            s.push_str("volatile ");
        }
        // Where unnamed pointers are private, the word `private` would only be noise.
        if to.space != Space::Private || self.unnamed != Space::Private {
            s.push_str(space_name(to.space));
            s.push(' ');
        }
        s + &self.name(to.ty, names)
    }

    /// The code of a type in mangled names.
    pub fn code(&self, ty: Ty) -> String {
        match self.kind(ty) {
            TyKind::Scalar(e) => cloom_builtins::Ty::Value(*e, 1).to_string(),
            TyKind::Vector(e, n) => cloom_builtins::Ty::Value(*e, *n).to_string(),
            TyKind::Pointer(to) => format!("p{}{}", cloom_builtins::space_digit(to.space), self.code(to.ty)),
            TyKind::Bool => "b".into(),
            TyKind::Void => "v".into(),
            TyKind::Atomic(e) => atomic_name(*e).into(),
            TyKind::Event => "event".into(),
            TyKind::Sampler => "sampler".into(),
            TyKind::ReserveId => "reserve".into(),
            TyKind::Image(kind, access) => format!("{}.{}", image_name(*kind), access.number()),
            TyKind::Pipe(packet, access) => format!("pipe{}.{}", self.code(*packet), access.number()),
            TyKind::Array(of, n) => format!("a{}{}", n.unwrap_or(0), self.code(of.ty)),
            // The number is unique in the program, which a tag is not: scopes may have several records of one tag.
            TyKind::Record(id) => format!("s{}", id.0),
            TyKind::Queue => "queue".into(),
            TyKind::ClkEvent => "clkevent".into(),
            TyKind::Error | TyKind::Function(..) | TyKind::Block(..) => "e".into(),
        }
    }
}

/// The name of an image type.
pub fn image_name(kind: ImageKind) -> &'static str {
    match kind {
        ImageKind::D1 => "image1d_t",
        ImageKind::D1Array => "image1d_array_t",
        ImageKind::D1Buffer => "image1d_buffer_t",
        ImageKind::D2 => "image2d_t",
        ImageKind::D2Array => "image2d_array_t",
        ImageKind::D2Depth => "image2d_depth_t",
        ImageKind::D2ArrayDepth => "image2d_array_depth_t",
        ImageKind::D2Msaa => "image2d_msaa_t",
        ImageKind::D2ArrayMsaa => "image2d_array_msaa_t",
        ImageKind::D2MsaaDepth => "image2d_msaa_depth_t",
        ImageKind::D2ArrayMsaaDepth => "image2d_array_msaa_depth_t",
        ImageKind::D3 => "image3d_t",
    }
}

/// The name of an atomic type.
fn atomic_name(e: Elem) -> &'static str {
    match e {
        Elem::I32 => "atomic_int",
        Elem::U32 => "atomic_uint",
        Elem::I64 => "atomic_long",
        Elem::U64 => "atomic_ulong",
        Elem::F32 => "atomic_float",
        _ => "atomic_double",
    }
}
