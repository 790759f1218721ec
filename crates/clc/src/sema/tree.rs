//! The typed tree: the program with all types and conversions explicit, so close to the IR that lowering makes no
//! decision.
//!
//! Every conversion is a node, every operator names its IR operation, every name is resolved. The constant evaluator
//! and the lowering read the same tree and use the same IR operations, so that a constant has the bits that the device
//! would compute.

use super::operations::{BlockAccess, ImageOp, PipeOp};
use super::types::{QTy, Ty};
use crate::source::{Span, Symbol};
use cloom_builtins::Sig;
use cloom_ir::{
    BinOp, DeviceCall, FloatCc, GlobalLinkage, IntCc, KernelMeta, Linkage, Order, Query, RmwOp, Scope, Space, UnOp,
};
use smallvec::SmallVec;

/// A variable of a function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct LocalId(pub u32);

/// A variable of program scope, of local memory, or a string.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct GlobalId(pub u32);

/// A function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FuncId(pub u32);

/// A position in a function that `goto` or `switch` jumps to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct LabelId(pub u32);

/// The program.
#[derive(Debug, Default)]
pub struct Unit {
    /// The functions.
    pub funcs: Vec<Func>,
    /// The data.
    pub globals: Vec<GlobalVar>,
    /// Formats of `printf`.
    pub formats: Vec<Vec<u8>>,
}

/// A function.
#[derive(Debug)]
pub struct Func {
    /// Its name.
    pub name: Symbol,
    /// Its name in the IR.
    pub ir_name: String,
    /// Result.
    pub ret: QTy,
    /// Parameters.
    pub params: Vec<QTy>,
    /// Its linkage.
    pub linkage: Linkage,
    /// `__attribute__((noinline))`
    pub noinline: bool,
    /// `__attribute__((overloadable))`
    pub overloadable: bool,
    /// The metadata of a kernel.
    pub kernel: Option<Box<KernelMeta>>,
    /// The span of the name.
    pub span: Span,
    /// The body, if there is one.
    pub body: Option<Body>,
    /// It is called: (by whom, where).
    pub calls: Vec<(FuncId, Span)>,
    /// The first call of it.
    pub used: Option<Span>,
    /// Of a block: the variables that the last parameters are, those that the block captures. The others are the
    /// first variables, as in any function.
    pub captures: Vec<LocalId>,
}

impl Func {
    /// A function without parameters that other modules do not see; what makes it says what else it is.
    pub fn internal(name: Symbol, ir_name: String, ret: QTy, span: Span) -> Func {
        Func {
            name,
            ir_name,
            ret,
            params: Vec::new(),
            linkage: Linkage::Internal,
            noinline: false,
            overloadable: false,
            kernel: None,
            span,
            body: None,
            calls: Vec::new(),
            used: None,
            captures: Vec::new(),
        }
    }
}

/// The body of a function.
#[derive(Debug, Default)]
pub struct Body {
    /// The variables; the first ones are the parameters.
    pub locals: Vec<LocalVar>,
    /// What is done.
    pub stmts: Vec<Stmt>,
    /// How many labels there are.
    pub labels: u32,
    /// The closing brace.
    pub end: Span,
}

/// A variable of a function.
#[derive(Debug)]
pub struct LocalVar {
    /// Its name, if it has one.
    pub name: Option<Symbol>,
    /// Its type.
    pub ty: QTy,
    /// Its alignment.
    pub align: u64,
    /// The bits of a `const` integer whose initial value is constant.
    pub constant: Option<u64>,
    /// Where it is declared, if that gives it no initial value.
    pub declared: Option<Span>,
    /// Where its name is declared.
    pub named: Option<Span>,
}

/// The scope that an atomic operation names, if it is a constant.
pub type NamedScope = Option<Scope>;

/// Data.
#[derive(Debug)]
pub struct GlobalVar {
    /// Its name in the IR, unique.
    pub name: String,
    /// Its type.
    pub ty: QTy,
    /// Its alignment.
    pub align: u64,
    /// Which programs see it when several are linked.
    pub linkage: GlobalLinkage,
    /// The initial value; `None` for local memory and for variables of another program.
    pub data: Option<Data>,
}

/// Initial bytes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Data {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Addresses in them: offset, target, addend.
    pub relocs: Vec<(u64, GlobalId, i64)>,
}

/// A statement.
#[derive(Debug)]
pub struct Stmt {
    /// What it does.
    pub kind: StmtKind,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of [`Stmt`].
#[derive(Debug)]
pub enum StmtKind {
    /// For its effects.
    Expr(Expr),
    /// A variable gets its first value.
    Init(LocalId, Init),
    /// A variable begins that has no initial value.
    Declare(LocalId),
    /// One after the other.
    Block(Vec<Stmt>),
    /// `if`
    If(Expr, Box<Stmt>, Option<Box<Stmt>>),
    /// A loop.
    Loop {
        /// Before the first iteration.
        init: Vec<Stmt>,
        /// Goes on while it holds.
        cond: Option<Expr>,
        /// The condition is looked at after the body.
        cond_last: bool,
        /// After each iteration.
        step: Option<Expr>,
        /// The body.
        body: Box<Stmt>,
    },
    /// `switch`; the cases are labels in the body.
    Switch {
        /// The value.
        value: Expr,
        /// From, to (both included, as bits of the value's type), where to.
        cases: Vec<(u64, u64, LabelId)>,
        /// Where to otherwise.
        default: Option<LabelId>,
        /// The body.
        body: Box<Stmt>,
    },
    /// The target of a jump.
    Label(LabelId),
    /// `goto`
    Goto(LabelId),
    /// `break`
    Break,
    /// `continue`
    Continue,
    /// `return`
    Return(Option<Expr>),
}

/// How an object gets its first value: optionally zeros or a copy of data, then parts, one after the other.
#[derive(Debug, Default)]
pub struct Init {
    /// What no part writes is zero.
    pub zero: bool,
    /// Data of the object's type that it is a copy of before; what no part writes is as it is there.
    pub template: Option<GlobalId>,
    /// The written parts, in order; a later part overwrites an earlier one.
    pub parts: Vec<InitPart>,
    /// There is a [`InitPart::Repeat`] among them.
    pub repeats: bool,
    /// No part writes from this offset on.
    pub end: u64,
}

/// One write of an [`Init`].
#[derive(Debug)]
pub enum InitPart {
    /// A value at an offset.
    Value(u64, Expr),
    /// So many bytes from an offset on become zero.
    Zero(u64, u64),
    /// Bytes that were written before are copied: `[0 ... 9] = x` writes element 0 and repeats it.
    Repeat(Repeat),
}

/// `size` bytes at `offset` are copied to `offset + k * stride` for each `k` from 1 to `count`.
#[derive(Clone, Copy, Debug)]
pub struct Repeat {
    /// Where the bytes are.
    pub offset: u64,
    /// How many; at most `stride`.
    pub size: u64,
    /// From one element to the next.
    pub stride: u64,
    /// How many copies.
    pub count: u64,
    /// The designator.
    pub span: Span,
}

/// An expression.
#[derive(Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Its type. The qualifiers and the address space matter for an lvalue.
    pub ty: QTy,
    /// It designates an object.
    pub lvalue: bool,
    /// Where it stands.
    pub span: Span,
}

/// A comparison of one lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cc {
    /// Of integers or pointers.
    Int(IntCc),
    /// Of floats.
    Float(FloatCc),
}

/// A rounding mode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the names are those of the language")]
pub enum Rounding {
    Rte,
    Rtz,
    Rtp,
    Rtn,
}

/// A component that does not exist, as the second one of `v.hi` of three components: it has any value when it is read,
/// and is not written.
pub const NO_LANE: u8 = u8::MAX;

/// Lanes, each its bits.
pub type Lanes = SmallVec<[u64; 2]>;

/// The kinds of [`Expr`]. Operands are values (loaded, converted) unless said otherwise.
#[derive(Debug)]
pub enum ExprKind {
    /// Wrong and reported.
    Error,
    /// A number, a vector, or a null pointer.
    Const(Lanes),
    /// A variable of the function; an lvalue.
    Local(LocalId),
    /// Data; an lvalue.
    Global(GlobalId),
    /// A function's name, which can only be called.
    FuncName(Symbol),
    /// The target of a pointer; an lvalue.
    Deref(Box<Expr>),
    /// A member of a record, by its offset; an lvalue if the record is one.
    Field(Box<Expr>, u64),
    /// Components of a vector, each a number or [`NO_LANE`]; an lvalue if the vector is one.
    Swizzle(Box<Expr>, SmallVec<[u8; 16]>),
    /// The component of a vector with a number (`long`) that is not constant; an lvalue if the vector is one.
    Lane(Box<Expr>, Box<Expr>),
    /// The value of an lvalue.
    Load(Box<Expr>),
    /// The address of an lvalue (or of the first element of an array).
    Addr(Box<Expr>),
    /// One operand.
    Unary(UnOp, Box<Expr>),
    /// Two operands of the result's type.
    Binary(BinOp, Box<Expr>, Box<Expr>),
    /// `a * b + c`, rounded once.
    Fma(Box<[Expr; 3]>),
    /// Gives 0 or 1 for scalars, 0 or −1 in each lane for vectors.
    Compare(Cc, Box<Expr>, Box<Expr>),
    /// Scalar `&&` or `||`.
    Logic {
        /// `&&`
        and: bool,
        /// Left.
        lhs: Box<Expr>,
        /// Right, evaluated only if the left one does not decide.
        rhs: Box<Expr>,
    },
    /// Scalar `!`.
    Not(Box<Expr>),
    /// Pointer plus so many elements (`long`) of so many bytes.
    PtrAdd(Box<Expr>, Box<Expr>, u64),
    /// Difference of pointers in elements of so many bytes.
    PtrDiff(Box<Expr>, Box<Expr>, u64),
    /// A number to another type of number with as many lanes, or to `bool`.
    Convert(Box<Expr>),
    /// `convert_…`: with saturation or a rounding mode.
    ConvertExact(Box<Expr>, bool, Option<Rounding>),
    /// A pointer to another type of pointer, or to or from an integer.
    PtrCast(Box<Expr>),
    /// The bits as another type of the same size (3 and 4 lanes count as the same).
    Bits(Box<Expr>),
    /// A scalar in every lane.
    Splat(Box<Expr>),
    /// A vector from scalars and shorter vectors.
    Vector(Vec<Expr>),
    /// `c ? a : b` with a scalar condition.
    Cond(Box<[Expr; 3]>),
    /// `c ? a : b` lane by lane, by the sign bit of `c`.
    Select(Box<[Expr; 3]>),
    /// The left for its effects, the right for its value.
    Comma(Box<Expr>, Box<Expr>),
    /// Statements, then the value.
    Statements(Vec<Stmt>, Box<Expr>),
    /// The lvalue gets the value, and that is the result.
    Assign(Box<Expr>, Box<Expr>),
    /// The lvalue gets the value, in which [`ExprKind::Old`] is its old value. The result is the new value, or the old
    /// one.
    Update {
        /// The lvalue.
        target: Box<Expr>,
        /// The new value.
        value: Box<Expr>,
        /// `x++`
        post: bool,
    },
    /// The old value of the lvalue of the innermost [`ExprKind::Update`].
    Old,
    /// A nameless variable, initialised here; an lvalue.
    Compound(LocalId, Box<Init>),
    /// A call.
    Call(FuncId, Vec<Expr>),
    /// A call of a built-in function of the table.
    Builtin(&'static str, Box<Sig>, Vec<Expr>),
    /// Another built-in function.
    Special(Special, Vec<Expr>),
    /// A block, which can only be called or enqueued: its function, and the values of what it captures.
    Block(FuncId, Vec<Expr>),
}

/// A function on bytes of memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MemoryOp {
    /// `memcpy`
    Copy,
    /// `memmove`: the two may overlap.
    Move,
    /// `memset`
    Set,
}

/// Built-in functions whose types the table cannot express.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the names are those of the language")]
pub enum Special {
    /// Offset, pointer. `aligned`: the 3-vector steps by 4 elements.
    Vload {
        aligned: bool,
    },
    /// Value, offset, pointer.
    Vstore {
        aligned: bool,
    },
    VloadHalf {
        aligned: bool,
    },
    VstoreHalf {
        aligned: bool,
        rounding: Rounding,
    },
    /// Pointer, operand.
    Atomic(RmwOp, Order, NamedScope),
    /// Pointer.
    AtomicLoad(Order, NamedScope),
    /// Pointer, value.
    AtomicStore(Order, NamedScope),
    /// Pointer, value.
    AtomicInit,
    /// Pointer, pointer to what is expected (where the old value is put), new; gives whether it was as expected.
    CompareExchange(Order, NamedScope),
    Fence(Order, Scope),
    /// Pointer, expected, new.
    CmpXchg,
    /// The format, then the arguments.
    Printf(u32),
    /// One or two vectors, then the mask.
    Shuffle,
    /// Destination, source, count, event, then a stride if there is one.
    AsyncCopy {
        strided: bool,
        scatter: bool,
    },
    /// The arguments as written.
    AsyncCopyLines {
        planes: bool,
    },
    WaitEvents,
    Prefetch,
    Trap,
    /// Target, source or byte, number of bytes; gives the target.
    Memory(MemoryOp),
    /// An access to an image.
    Image(ImageOp),
    /// A function of pipes.
    Pipe(PipeOp),
    /// What the work-items of a sub-group access side by side.
    BlockAccess(BlockAccess),
    /// A generic pointer: as one into this address space, or null if it points elsewhere.
    ToSpace(Space),
    /// A generic pointer: the flags of a fence for the memory that it points into.
    GetFence,
    /// An index that is no function of the language: for composing others.
    Query(Query),
    /// A call of the launcher, with its operands in the order of [`cloom_ir::abi::device`]. Of a call that names a
    /// block, the kernel; the first arguments are then what is captured, so many.
    Device {
        call: DeviceCall,
        block: Option<FuncId>,
        captured: u32,
    },
}

/// The type traits of an expression.
impl Expr {
    /// A value.
    pub fn value(kind: ExprKind, ty: Ty, span: Span) -> Expr {
        Expr { kind, ty: QTy::plain(ty), lvalue: false, span }
    }

    /// An error.
    pub fn error(span: Span) -> Expr {
        Expr::value(ExprKind::Error, Ty::ERROR, span)
    }

    /// Whether it was wrong.
    pub fn is_error(&self) -> bool {
        self.ty.ty == Ty::ERROR
    }
}
