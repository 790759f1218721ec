//! The syntax tree: OpenCL C 1.2 and 3.0 as written, before any name but those of types is known.
//!
//! The tree is made of boxes. Its depth is bounded by the parser ([`MAX_DEPTH`]), so that dropping and walking it by
//! recursion is safe on an ordinary stack. Whatever could not be parsed became an `Error` node and was reported: later
//! stages skip such nodes silently.

use super::types::BuiltinType;
use crate::source::{Span, Symbol};

/// The greatest depth of an expression tree, and of a statement tree.
pub const MAX_DEPTH: u16 = 1000;

/// A name at a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ident {
    /// The name.
    pub name: Symbol,
    /// Where it stands.
    pub span: Span,
}

/// A whole source with what it includes.
#[derive(Debug, Default)]
pub struct TranslationUnit {
    /// In source order.
    pub items: Vec<Item>,
}

/// What stands at file level.
#[derive(Debug)]
pub struct Item {
    /// What it is.
    pub kind: ItemKind,
    /// All of it.
    pub span: Span,
}

/// The kinds of [`Item`].
#[derive(Debug)]
pub enum ItemKind {
    /// A function with a body.
    Function(Box<FunctionDef>),
    /// Variables, types, prototypes.
    Declaration(Box<Declaration>),
    /// A pragma that later stages obey.
    Pragma(Pragma),
    /// `_Static_assert(…);`
    StaticAssert(Box<StaticAssert>),
}

/// A pragma.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pragma {
    /// What it says.
    pub kind: PragmaKind,
    /// From `#` (or `_Pragma`) to the end.
    pub span: Span,
}

/// The pragmas that mean something; others were warned about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PragmaKind {
    /// `OPENCL EXTENSION name : behaviour`
    Extension {
        /// The extension, or `all`.
        name: Ident,
        /// `enable` (also `begin`, `require`, `warn`) rather than `disable`.
        enable: bool,
    },
    /// `OPENCL FP_CONTRACT ON|OFF|DEFAULT`; `None` is the default.
    FpContract(Option<bool>),
    /// `unroll`; the parser hangs it on the loop, so that later stages never see it as an item or statement.
    Unroll(Unroll),
}

/// How a loop is to be unrolled.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Unroll {
    /// Nothing was said.
    #[default]
    Unspecified,
    /// As the compiler likes, but do.
    Enable,
    /// By this factor; 1 means not at all.
    Factor(u32),
}

/// `_Static_assert(condition, "text")`
#[derive(Debug)]
pub struct StaticAssert {
    /// Must be a constant other than 0.
    pub condition: Expr,
    /// What to say when it is 0.
    pub message: Option<StringLit>,
}

/// A function with a body.
#[derive(Debug)]
pub struct FunctionDef {
    /// Result type, storage, qualifiers (`kernel`, `inline`), attributes.
    pub specs: DeclSpecs,
    /// The name and, as the first of the derivations, the parameters.
    pub declarator: Declarator,
    /// Attributes after the declarator.
    pub attrs: Vec<Attribute>,
    /// The body.
    pub body: Block,
}

impl FunctionDef {
    /// The parameters; the parser guarantees that the first derivation is a function.
    pub fn params(&self) -> &[Param] {
        match self.declarator.derivations.first().map(|d| &d.kind) {
            Some(DerivationKind::Function { params, .. }) => params,
            _ => &[],
        }
    }
}

/// A declaration: specifiers and any number of declarators.
#[derive(Debug)]
pub struct Declaration {
    /// What all declarators share.
    pub specs: DeclSpecs,
    /// What is declared; empty for `struct s { … };`.
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
    /// `typedef`, `extern`, `static`, … with its place.
    pub storage: Option<(Storage, Span)>,
    /// The type.
    pub ty: TypeSpec,
    /// Where the type stands; the whole of the specifiers if it is missing.
    pub ty_span: Span,
    /// Qualifiers of the type, address space among them.
    pub quals: Qualifiers,
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

/// Qualifiers with the place of each.
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
    /// All of it; for an empty one the place where it would be.
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

/// What `sizeof`, `typeof`, `_Alignas` and attributes are given.
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
}

/// Statements in braces.
#[derive(Debug)]
pub struct Block {
    /// In source order.
    pub stmts: Vec<Stmt>,
    /// With the braces.
    pub span: Span,
}

/// A statement.
#[derive(Debug)]
pub struct Stmt {
    /// What it is.
    pub kind: StmtKind,
    /// All of it.
    pub span: Span,
    /// Height of the tree.
    pub(crate) height: u16,
}

/// What is said about a loop.
#[derive(Clone, Debug, Default)]
pub struct LoopHints {
    /// From `#pragma unroll` or the attribute `opencl_unroll_hint`.
    pub unroll: Unroll,
}

/// The kinds of [`Stmt`].
#[derive(Debug)]
pub enum StmtKind {
    /// `{ … }`
    Block(Block),
    /// A declaration.
    Declaration(Box<Declaration>),
    /// `_Static_assert(…);`
    StaticAssert(Box<StaticAssert>),
    /// `expression;`
    Expr(Expr),
    /// `;`
    Empty,
    /// `if`
    If {
        /// Condition.
        cond: Expr,
        /// When it holds.
        then: Box<Stmt>,
        /// When not; an `else if` chain nests here.
        els: Option<Box<Stmt>>,
    },
    /// `switch`
    Switch {
        /// What is compared.
        value: Expr,
        /// The body, with the labels somewhere in it.
        body: Box<Stmt>,
    },
    /// `while`
    While {
        /// Condition.
        cond: Expr,
        /// Body.
        body: Box<Stmt>,
        /// Unrolling.
        hints: LoopHints,
    },
    /// `do … while`
    DoWhile {
        /// Body.
        body: Box<Stmt>,
        /// Condition.
        cond: Expr,
        /// Unrolling.
        hints: LoopHints,
    },
    /// `for`
    For {
        /// First part: `Declaration`, `Expr` or `Empty`.
        init: Box<Stmt>,
        /// Condition.
        cond: Option<Expr>,
        /// Third part.
        step: Option<Expr>,
        /// Body.
        body: Box<Stmt>,
        /// Unrolling.
        hints: LoopHints,
    },
    /// `goto`
    Goto(Ident),
    /// `break`
    Break,
    /// `continue`
    Continue,
    /// `return`
    Return(Option<Expr>),
    /// A statement with labels: `case 1: case 2: x;` is one of these with two.
    Labelled {
        /// In source order; never empty.
        labels: Vec<StmtLabel>,
        /// What they are in front of.
        body: Box<Stmt>,
    },
    /// A pragma that holds from here to the end of the block.
    Pragma(Pragma),
    /// Could not be parsed; reported.
    Error,
}

/// A label of a statement.
#[derive(Debug)]
pub enum StmtLabel {
    /// `name:`
    Name(Ident),
    /// `case value:` or, as GNU C has it, `case low ... high:`
    Case {
        /// The value, or the first of the range.
        value: Expr,
        /// The last of the range.
        end: Option<Expr>,
        /// With the keyword.
        span: Span,
    },
    /// `default:`
    Default(Span),
}

/// An expression.
#[derive(Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// All of it.
    pub span: Span,
    /// Height of the tree.
    pub(crate) height: u16,
}

/// The kinds of [`Expr`].
#[derive(Debug)]
pub enum ExprKind {
    /// A name.
    Ident(Symbol),
    /// An integer.
    Int(IntLit),
    /// A floating-point number.
    Float(FloatLit),
    /// A character constant with its value as an `int`.
    Char(i32),
    /// `true`, `false`
    Bool(bool),
    /// String literals, adjacent ones joined.
    Str(StringLit),
    /// `(e)`
    Paren(Box<Expr>),
    /// An operator before or after its operand.
    Unary {
        /// Which.
        op: UnaryOp,
        /// On what.
        operand: Box<Expr>,
    },
    /// An operator between its operands, assignment and comma excepted.
    Binary {
        /// Which.
        op: BinaryOp,
        /// Where it stands.
        op_span: Span,
        /// Left.
        lhs: Box<Expr>,
        /// Right.
        rhs: Box<Expr>,
    },
    /// `lhs = rhs`, or `lhs op= rhs`.
    Assign {
        /// Of a compound assignment.
        op: Option<BinaryOp>,
        /// Where the operator stands.
        op_span: Span,
        /// What is assigned to.
        lhs: Box<Expr>,
        /// The value.
        rhs: Box<Expr>,
    },
    /// `cond ? then : els`
    Conditional {
        /// Condition.
        cond: Box<Expr>,
        /// When it holds; `None` for GNU's `cond ?: els`.
        then: Option<Box<Expr>>,
        /// When not.
        els: Box<Expr>,
    },
    /// `a, b`
    Comma {
        /// Evaluated for its effects.
        lhs: Box<Expr>,
        /// The value.
        rhs: Box<Expr>,
    },
    /// `callee(args)`
    Call {
        /// Mostly a name.
        callee: Box<Expr>,
        /// Arguments.
        args: Vec<Expr>,
    },
    /// `base[index]`
    Index {
        /// Pointer or array (or, rarely, the index).
        base: Box<Expr>,
        /// Index.
        index: Box<Expr>,
    },
    /// `base.name` or `base->name`; whether it is a member or a swizzle is for later stages to find out.
    Member {
        /// Left.
        base: Box<Expr>,
        /// The name after the dot or arrow.
        name: Ident,
        /// `->`
        arrow: bool,
    },
    /// `(type)operand`; the type does not name a vector, or no parenthesis follows it.
    Cast {
        /// To what.
        ty: Box<TypeName>,
        /// What.
        operand: Box<Expr>,
    },
    /// `(type)(a, b, …)` where the type names a vector; with one element the value is converted as in a cast, so that
    /// `(float4)(x)` fills all components.
    VectorLit {
        /// A vector type.
        ty: Box<TypeName>,
        /// In source order; never empty.
        elems: Vec<Expr>,
    },
    /// `(type){ … }`
    CompoundLit {
        /// Of what type.
        ty: Box<TypeName>,
        /// The values.
        init: InitList,
    },
    /// `sizeof`, `alignof`, `vec_step`
    Query {
        /// Which.
        query: TypeQuery,
        /// Of what.
        arg: TypeOrExpr,
    },
    /// `__builtin_offsetof(type, member)`
    Offsetof {
        /// Of what type.
        ty: Box<TypeName>,
        /// The first is a field.
        path: Vec<Designator>,
    },
    /// Could not be parsed; reported.
    Error,
}

/// Operators with one operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, reason = "the names are those of the language")]
pub enum UnaryOp {
    Plus,
    Minus,
    BitNot,
    Not,
    Deref,
    AddrOf,
    PreInc,
    PreDec,
    PostInc,
    PostDec,
}

/// Operators with two operands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, reason = "the names are those of the language")]
pub enum BinaryOp {
    Mul,
    Div,
    Rem,
    Add,
    Sub,
    Shl,
    Shr,
    Lt,
    Gt,
    Le,
    Ge,
    Eq,
    Ne,
    BitAnd,
    BitXor,
    BitOr,
    And,
    Or,
}

impl UnaryOp {
    /// As written.
    pub fn text(self) -> &'static str {
        match self {
            UnaryOp::Plus => "+",
            UnaryOp::Minus => "-",
            UnaryOp::BitNot => "~",
            UnaryOp::Not => "!",
            UnaryOp::Deref => "*",
            UnaryOp::AddrOf => "&",
            UnaryOp::PreInc | UnaryOp::PostInc => "++",
            UnaryOp::PreDec | UnaryOp::PostDec => "--",
        }
    }
}

impl BinaryOp {
    /// As written.
    pub fn text(self) -> &'static str {
        match self {
            BinaryOp::Mul => "*",
            BinaryOp::Div => "/",
            BinaryOp::Rem => "%",
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::Shl => "<<",
            BinaryOp::Shr => ">>",
            BinaryOp::Lt => "<",
            BinaryOp::Gt => ">",
            BinaryOp::Le => "<=",
            BinaryOp::Ge => ">=",
            BinaryOp::Eq => "==",
            BinaryOp::Ne => "!=",
            BinaryOp::BitAnd => "&",
            BinaryOp::BitXor => "^",
            BinaryOp::BitOr => "|",
            BinaryOp::And => "&&",
            BinaryOp::Or => "||",
        }
    }
}

/// What is asked about a type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, reason = "the names are those of the language")]
pub enum TypeQuery {
    Sizeof,
    Alignof,
    VecStep,
}

/// An integer as written; its type depends on value, base and suffix.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IntLit {
    /// The value.
    pub value: u64,
    /// `u`
    pub unsigned: bool,
    /// `l` (or `ll`)
    pub long: bool,
    /// Written in base 10, so that it is never unsigned without suffix.
    pub decimal: bool,
}

/// A floating-point number, rounded once to each type it may come to have.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FloatLit {
    /// The nearest `double`.
    pub double: f64,
    /// The nearest `float`; not the same as rounding `double` once more.
    pub single: f32,
    /// The suffix.
    pub suffix: FloatSuffix,
}

/// The suffixes of floating-point numbers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FloatSuffix {
    /// None: `double`, or `float` without double precision or with `-cl-single-precision-constant`.
    None,
    /// `f`
    Float,
    /// `h`
    Half,
}

/// A string.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StringLit {
    /// The bytes, escapes resolved, without the closing zero.
    pub bytes: Box<[u8]>,
    /// From the first quotation mark to the last.
    pub span: Span,
}

impl Expr {
    /// This without the parentheses around it.
    pub fn unparenthesised(&self) -> &Expr {
        let mut e = self;
        while let ExprKind::Paren(inner) = &e.kind {
            e = inner;
        }
        e
    }
}
