//! The syntax tree of expressions and constants.

use super::{Block, Designator, Ident, InitList, Param, TypeName, TypeOrExpr};
use crate::source::{Span, Symbol};

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
        /// The span of the operator.
        op_span: Span,
        /// The target of the assignment.
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
    /// `__builtin_astype(value, type)` and its like: a function with types among its arguments.
    TypedCall {
        /// Its name.
        name: Ident,
        /// Values and types.
        args: Vec<TypeOrExpr>,
    },
    /// `_Generic(control, int: a, default: b)`: the value whose type is that of `control`, which is not evaluated.
    Selection {
        /// Its type chooses.
        control: Box<Expr>,
        /// The choices; without a type the default one.
        choices: Vec<(Option<TypeName>, Expr)>,
    },
    /// `({ … })`, GNU's: the value is that of the last statement.
    Statements(Box<Block>),
    /// `^{ … }`, `^(int x) { … }`, `^int(int x) { … }`
    Block(Box<BlockLit>),
    /// Could not be parsed; reported.
    Error,
}

/// A block literal.
#[derive(Debug)]
pub struct BlockLit {
    /// The type of the result, if it is written: the derivations of its declarator are without the parameters.
    pub ret: Option<TypeName>,
    /// The parameters.
    pub params: Vec<Param>,
    /// `...`
    pub variadic: Option<Span>,
    /// What it does.
    pub body: Block,
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

/// A query of a type.
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
    /// The bits of the nearest `half`.
    pub half: u16,
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
