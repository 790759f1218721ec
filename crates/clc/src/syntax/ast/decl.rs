//! The syntax tree of declarations, types and initialisers.

use super::super::types::BuiltinType;
use super::{Expr, Ident};
use crate::source::Span;

/// A declaration: specifiers and any number of declarators.
#[derive(Debug)]
pub struct Declaration {
    /// The specifiers, which all declarators share.
    pub specs: DeclSpecs,
    /// The declarators; empty for `struct s { … };`.
    pub declarators: Vec<InitDeclarator>,
    /// To the semicolon.
    pub span: Span,
}

/// One declared thing.
#[derive(Debug)]
pub struct InitDeclarator {
    /// Name and derivations.
    pub declarator: Declarator,
    /// Attributes after the declarator.
    pub attrs: Vec<Attribute>,
    /// The initial value.
    pub init: Option<Initializer>,
    /// All of it.
    pub span: Span,
}

/// The part of a declaration before the declarators.
#[derive(Debug)]
pub struct DeclSpecs {
    /// `typedef`, `extern`, `static`, … with its span.
    pub storage: Option<(Storage, Span)>,
    /// The type.
    pub ty: TypeSpec,
    /// The span of the type, or of all specifiers if it is missing.
    pub ty_span: Span,
    /// Qualifiers of the type, address space among them.
    pub quals: Qualifiers,
    /// `pipe`: the type is that of the packets.
    pub pipe: Option<Span>,
    /// `kernel`
    pub kernel: Option<Span>,
    /// `inline`
    pub inline: Option<Span>,
    /// `_Noreturn`
    pub noreturn: Option<Span>,
    /// `_Alignas(…)`
    pub alignas: Vec<TypeOrExpr>,
    /// Attributes among the specifiers.
    pub attrs: Vec<Attribute>,
    /// All of them.
    pub span: Span,
}

/// Storage-class specifiers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the names are those of the language")]
pub enum Storage {
    Typedef,
    Extern,
    Static,
    Auto,
    Register,
}

/// Qualifiers with the span of each.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Qualifiers {
    /// `const`
    pub is_const: Option<Span>,
    /// `volatile`
    pub is_volatile: Option<Span>,
    /// `restrict`
    pub is_restrict: Option<Span>,
    /// `_Atomic`
    pub is_atomic: Option<Span>,
    /// `global`, `local`, …
    pub space: Option<(SpaceQual, Span)>,
    /// `read_only`, `write_only`, `read_write`
    pub access: Option<(AccessQual, Span)>,
}

/// Address space qualifiers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, reason = "the names are those of the language")]
pub enum SpaceQual {
    Global,
    Local,
    Constant,
    Private,
    Generic,
}

/// Access qualifiers of images and pipes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, reason = "the names are those of the language")]
pub enum AccessQual {
    ReadOnly,
    WriteOnly,
    ReadWrite,
}

impl AccessQual {
    /// The number that kernel metadata has for it: 0 means none.
    pub fn number(self) -> u8 {
        self as u8 + 1
    }

    /// The qualifier as it is written.
    pub fn word(self) -> &'static str {
        match self {
            AccessQual::ReadOnly => "read_only",
            AccessQual::WriteOnly => "write_only",
            AccessQual::ReadWrite => "read_write",
        }
    }
}

/// A type specifier.
#[derive(Debug)]
pub enum TypeSpec {
    /// One of the language's own types; `unsigned long int` and the like are resolved.
    Builtin(BuiltinType),
    /// A name declared by `typedef`.
    Typedef(Ident),
    /// `struct` or `union`
    Record(Box<RecordSpec>),
    /// `enum`
    Enum(Box<EnumSpec>),
    /// `typeof(…)`
    Typeof(Box<TypeOrExpr>),
    /// There was none, or a wrong one; reported.
    Error,
}

/// A `struct` or `union`, defined or mentioned.
#[derive(Debug)]
pub struct RecordSpec {
    /// `union` rather than `struct`.
    pub is_union: bool,
    /// The tag.
    pub tag: Option<Ident>,
    /// The members, if this defines it.
    pub fields: Option<Vec<FieldDecl>>,
    /// Attributes after the keyword or the closing brace.
    pub attrs: Vec<Attribute>,
    /// All of it.
    pub span: Span,
}

/// Members that share specifiers.
#[derive(Debug)]
pub struct FieldDecl {
    /// The type.
    pub specs: DeclSpecs,
    /// The members; empty for an anonymous struct or union.
    pub declarators: Vec<FieldDeclarator>,
    /// All of it.
    pub span: Span,
}

/// One member.
#[derive(Debug)]
pub struct FieldDeclarator {
    /// Name and derivations.
    pub declarator: Declarator,
    /// Attributes after the declarator.
    pub attrs: Vec<Attribute>,
}

/// An `enum`, defined or mentioned.
#[derive(Debug)]
pub struct EnumSpec {
    /// The tag.
    pub tag: Option<Ident>,
    /// The enumerators, if this defines it.
    pub enumerators: Option<Vec<Enumerator>>,
    /// Attributes after the keyword or the closing brace.
    pub attrs: Vec<Attribute>,
    /// All of it.
    pub span: Span,
}

/// One enumerator.
#[derive(Debug)]
pub struct Enumerator {
    /// Its name.
    pub name: Ident,
    /// Its value, if given.
    pub value: Option<Expr>,
}

/// A name with what makes its type out of the specifiers' type.
#[derive(Debug)]
pub struct Declarator {
    /// The name; `None` in type names and unnamed parameters.
    pub name: Option<Ident>,
    /// Read from the name outwards: `int *a[3]` has array, then pointer ("an array of pointers"). To make the type,
    /// apply them to the specifiers' type from the last to the first.
    pub derivations: Vec<Derivation>,
    /// All of it; for an empty one an empty span where it would be.
    pub span: Span,
}

/// One step from a type to another.
#[derive(Debug)]
pub struct Derivation {
    /// What it is.
    pub kind: DerivationKind,
    /// The `*`, the brackets or the parameter list.
    pub span: Span,
}

/// The kinds of [`Derivation`].
#[derive(Debug)]
pub enum DerivationKind {
    /// A pointer, itself qualified.
    Pointer {
        /// Qualifiers after the `*`: of the pointer, not of what it points to.
        quals: Qualifiers,
        /// Attributes after the `*`.
        attrs: Vec<Attribute>,
    },
    /// A block (`^`) of the function type that follows.
    Block {
        /// Qualifiers after the `^`, of the variable.
        quals: Qualifiers,
    },
    /// An array.
    Array {
        /// `None` for `[]`.
        size: Option<Box<Expr>>,
        /// Qualifiers in the brackets (of a parameter).
        quals: Qualifiers,
    },
    /// A function.
    Function {
        /// The parameters; empty for `()` and `(void)`.
        params: Vec<Param>,
        /// `...`
        variadic: Option<Span>,
    },
}

/// One parameter.
#[derive(Debug)]
pub struct Param {
    /// Type and qualifiers.
    pub specs: DeclSpecs,
    /// Name and derivations.
    pub declarator: Declarator,
    /// Attributes after the declarator.
    pub attrs: Vec<Attribute>,
    /// All of it.
    pub span: Span,
}

/// A type without a name, as in a cast.
#[derive(Debug)]
pub struct TypeName {
    /// The base type.
    pub specs: DeclSpecs,
    /// Derivations, no name.
    pub declarator: Declarator,
    /// All of it.
    pub span: Span,
}

/// `__attribute__((name(args)))`, one of them.
#[derive(Debug)]
pub struct Attribute {
    /// The name, without the underscores of `__name__`.
    pub name: Ident,
    /// The arguments.
    pub args: Vec<TypeOrExpr>,
    /// Name and arguments.
    pub span: Span,
}

/// The operand of `sizeof`, `typeof`, `_Alignas` and attributes.
#[derive(Debug)]
pub enum TypeOrExpr {
    /// A type.
    Type(Box<TypeName>),
    /// An expression.
    Expr(Box<Expr>),
}

/// An initial value.
#[derive(Debug)]
pub enum Initializer {
    /// `= expression`
    Expr(Expr),
    /// `= { … }`
    List(InitList),
}

/// A list in braces.
#[derive(Debug)]
pub struct InitList {
    /// In source order.
    pub entries: Vec<InitEntry>,
    /// With the braces.
    pub span: Span,
}

/// One entry of a list.
#[derive(Debug)]
pub struct InitEntry {
    /// `.a[2].b =`, outermost first; empty in most.
    pub designators: Vec<Designator>,
    /// The value.
    pub value: Initializer,
}

/// One step of a designation.
#[derive(Debug)]
pub enum Designator {
    /// `.name`
    Field(Ident),
    /// `[index]`
    Index(Expr),
    /// `[first ... last]`, a GNU extension: each of these elements.
    Range(Expr, Expr),
}
