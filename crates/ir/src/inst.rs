//! Instructions and terminators.
//!
//! An instruction is an [`Op`] (what, with its immediates), a flat list of operands, at most one result, [`Flags`] and
//! a span. The flat list keeps rewriting uniform: a pass that renames values needs no case per operation.
//!
//! Arithmetic is total. `x / 0` divides by one instead (so it is `x`, and the remainder 0), `INT_MIN / -1` wraps, a
//! shift takes its amount modulo the width, a conversion from float saturates and takes NaN to 0. What is undefined in
//! OpenCL C must still not kill the host, and interpreter and devices must agree on every bit.

use crate::entity::{Block, FuncRef, GlobalRef, StrRef, Value};
use crate::flags::Flags;
use crate::mark::Mark;
use crate::module::Span;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;
use std::sync::Arc;

/// The operands of an instruction.
pub type Args = SmallVec<[Value; 4]>;

/// One instruction.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct InstData {
    /// What it does.
    pub op: Op,
    /// The operands, in the order that [`Op`] documents.
    pub args: Args,
    /// The result, unless it has none.
    pub result: Option<Value>,
    /// Promises and permissions.
    pub flags: Flags,
    /// The source location.
    pub span: Span,
}

/// What an instruction does. `a`, `b`, `c` are the operands; "lane-wise" operations take scalars or vectors of one
/// type.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Op {
    /// The constant with these bits (zero-extended); of a vector type, the same in all lanes.
    Const(u64),
    /// Lane-wise `op a`.
    Unary(UnOp),
    /// Lane-wise `a op b`.
    Binary(BinOp),
    /// Lane-wise `a * b + c`, rounded once.
    Fma,
    /// Lane-wise comparison of integers or pointers; gives `i1` lanes.
    Icmp(IntCc),
    /// Lane-wise comparison of floats; gives `i1` lanes.
    Fcmp(FloatCc),
    /// Lane-wise conversion to the result type.
    Cast(CastOp),
    /// Lane-wise `a ? b : c`; `a` is `i1` lanes, or one `i1` for all lanes.
    Select,
    /// Lane `b` (any integer) of vector `a`; lanes count modulo the number of lanes.
    Extract,
    /// Vector `a` with lane `b` replaced by `c`.
    Insert,
    /// Lanes picked from `a` then `b` (both of one vector or scalar type): the mask indexes their concatenation.
    Shuffle(Box<[u16]>),
    /// `a` in every lane.
    Splat,
    /// A vector from its lanes, one operand each.
    Build,
    /// Fresh private memory, one for each execution of the function; gives its address. Stands in the entry block only.
    Alloca {
        /// Bytes.
        size: u64,
        /// Alignment in bytes, a power of two.
        align: u32,
        /// The name of the variable in the source, for people. It is one word, because a name as a slice would make
        /// every instruction larger.
        name: Option<Arc<String>>,
    },
    /// The address `a + b`: `a` a pointer, `b` an `i64` of bytes (or vectors of these).
    PtrAdd,
    /// The value at address `a`.
    Load {
        /// Alignment that the address surely has, in bytes.
        align: u32,
    },
    /// Stores `b` at address `a`.
    Store {
        /// Alignment that the address surely has, in bytes.
        align: u32,
    },
    /// 0, 1, 2 … in the lanes of a vector of integers.
    Iota,
    /// Whether a lane of mask `a` (a vector of `i1`) is on.
    Any,
    /// Whether all lanes of mask `a` are on.
    All,
    /// The lanes of mask `a`, 64 at most, as the low bits of an `i64`, lane 0 the lowest.
    Ballot,
    /// Consecutive lanes from address `a` on, only those that are on in mask `b`; the others are 0 and not touched.
    MaskedLoad {
        /// Alignment that the address surely has, in bytes, also when lane 0 is off.
        align: u32,
    },
    /// Stores the lanes of `b` that are on in mask `c` at consecutive addresses from `a` on.
    MaskedStore {
        /// Alignment that the address surely has, in bytes.
        align: u32,
    },
    /// Each lane from its own address of `a`, if it is on in mask `b`; the others are 0. Lanes of `a` that are off may
    /// be any bits.
    Gather {
        /// Alignment that each address surely has, in bytes.
        align: u32,
    },
    /// Stores each lane of `b` that is on in mask `c` at its own address of `a`, in the order of lanes.
    Scatter {
        /// Alignment that each address surely has, in bytes.
        align: u32,
    },
    /// Copies `size` bytes from `b` to `a`, which do not overlap.
    MemCopy {
        /// Bytes.
        size: u64,
        /// Alignment that both addresses surely have.
        align: u32,
    },
    /// Sets `size` bytes at `a` to the constant byte.
    MemSet {
        /// Bytes.
        size: u64,
        /// What to set.
        byte: u8,
        /// Alignment that the address surely has.
        align: u32,
    },
    /// Prefetch: memory at `a` will be read soon. The address may be invalid.
    Prefetch,
    /// The address of a global.
    GlobalAddr(GlobalRef),
    /// Atomically replaces the value at `a` by `op(old, b)`; gives the old value.
    AtomicRmw {
        /// How old value and operand combine.
        op: RmwOp,
        /// Memory order.
        order: Order,
        /// Who must see it.
        scope: Scope,
    },
    /// Atomically replaces the value at `a` by `c` if it equals `b` (bitwise); gives the old value.
    AtomicCmpXchg {
        /// Memory order on success (on failure: the same without release).
        order: Order,
        /// Who must see it.
        scope: Scope,
    },
    /// Atomically loads from `a`.
    AtomicLoad {
        /// Memory order.
        order: Order,
        /// Who must see it.
        scope: Scope,
    },
    /// Atomically stores `b` at `a`.
    AtomicStore {
        /// Memory order.
        order: Order,
        /// Who must see it.
        scope: Scope,
    },
    /// Orders memory accesses of this work-item. Of the scope of a sub-group, it is the sub-group's barrier: all its
    /// work-items come to it, and wait for each other where they do not run in step.
    Fence {
        /// Memory order.
        order: Order,
        /// Who must see it.
        scope: Scope,
    },
    /// Tells the checker of kernels, for which such programs are built, something of the source. Changes no result.
    Mark(Mark),
    /// The ticks of a clock of the device, as an `i64`, which may wrap. Stays in order with accesses to memory.
    Clock,
    /// Whether the launcher asks the kernel to end: the `i32` at address `a`, an `i64`, is not 0. Read anew each time.
    Poll,
    /// Tells the launcher of an access that did not happen, if it is the first one of its record: `a` is the address of
    /// the record ([`crate::abi::report`]), and the others are what the record holds. All are `i64`.
    Report,
    /// An index or a size of the launch: `i64`, for `WorkDim` `i32`. Gone after `spmd`.
    Query {
        /// Which.
        what: Query,
        /// Dimension, 0 to 2.
        dim: u8,
    },
    /// All work-items of the group arrive before one leaves. Orders this memory. Gone after `spmd`.
    Barrier(BarrierMemory),
    /// Ballot: the active work-items of the sub-group whose `a` (an `i1`) is true, as bits of an `i64`: bit n is
    /// work-item n. In this operation and the next three, active means executing the instruction together with this
    /// work-item. Gone after `spmd`.
    SubgroupBallot,
    /// The `a` of work-item `b` (an `i32`, modulo the size of whole sub-groups), or 0 if it is not active.
    SubgroupShuffle,
    /// The `a` of the active work-items of each cluster of `cluster` (a power of two) consecutive ones, combined in a
    /// tree: see [`crate::subgroup`].
    SubgroupReduce {
        /// How two combine.
        op: BinOp,
        /// Size of a cluster, which begins at a multiple of it.
        cluster: u16,
    },
    /// Scan: the `a` of the active work-items of the sub-group before this one, and its own unless `exclusive`,
    /// combined.
    SubgroupScan {
        /// How two combine.
        op: BinOp,
        /// Whether the work-item's own value is left out.
        exclusive: bool,
    },
    /// Sample: the linear filter of a GPU's texture unit for the texture `a` at (`b`, `c`) in elements, as `f32x4`.
    Sample,
    /// Calls a function of the module.
    Call(FuncRef),
    /// Calls a pure function ([`crate::Function::is_pure`]): the result depends on the operands alone, for any
    /// operands, and there is no effect. (`memory(none) willreturn` of LLVM.)
    PureCall(FuncRef),
    /// Prints: the first operand is the work-item's global linear id (`i64`), the others the arguments as promoted by
    /// the front end (`i32`, `i64`, `f64`, pointers, and vectors of any scalar). A `%s` argument is the address of
    /// constant data.
    Printf(StrRef),
    /// Calls the launcher, for device-side enqueue: what the operands are, `i64`s and pointers, [`crate::abi::device`]
    /// says. Gives an `i64`. It may read and write what the operands point to.
    DeviceCall(DeviceCall),
}

macro_rules! named {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
        pub enum $name { $($(#[$vdoc])* $variant,)* }

        impl $name {
            /// Every one.
            pub const ALL: &'static [$name] = &[$($name::$variant,)*];

            /// The name in the text form.
            pub fn name(self) -> &'static str {
                match self { $($name::$variant => $text,)* }
            }

            /// From the name in the text form.
            pub fn from_name(name: &str) -> Option<Self> {
                Some(match name { $($text => $name::$variant,)* _ => return None })
            }
        }
    };
}

named! {
    /// What a kernel asks its launcher for; [`crate::abi::device`] has the operands.
    DeviceCall {
        /// `enqueue_kernel`
        EnqueueKernel "enqueue_kernel",
        /// `enqueue_marker`
        EnqueueMarker "enqueue_marker",
        /// `get_default_queue`
        DefaultQueue "default_queue",
        /// `create_user_event`
        CreateUserEvent "create_user_event",
        /// `retain_event`
        RetainEvent "retain_event",
        /// `release_event`
        ReleaseEvent "release_event",
        /// `is_valid_event`
        IsValidEvent "is_valid_event",
        /// `set_user_event_status`
        SetUserEventStatus "set_user_event_status",
        /// `capture_event_profiling_info`
        CaptureProfiling "capture_profiling",
        /// `get_kernel_work_group_size`
        WorkGroupSize "work_group_size",
        /// `get_kernel_preferred_work_group_size_multiple`
        PreferredMultiple "preferred_multiple",
        /// `get_kernel_max_sub_group_size_for_ndrange`
        MaxSubgroupSize "max_subgroup_size",
        /// `get_kernel_sub_group_count_for_ndrange`
        SubgroupCount "subgroup_count",
        /// `OpGetKernelLocalSizeForSubgroupCount`
        LocalSizeForCount "local_size_for_count",
        /// `OpGetKernelMaxNumSubgroups`
        MaxSubgroupCount "max_subgroup_count",
    }
}

named! {
    /// Operations of one operand; the result has its type.
    UnOp {
        /// All bits flipped.
        Not "not",
        /// Leading zeros; the width for 0.
        Clz "clz",
        /// Trailing zeros; the width for 0.
        Ctz "ctz",
        /// Set bits.
        Popcount "popcount",
        /// Bits in reverse order.
        BitReverse "bitreverse",
        /// Sign flipped, also of NaN and zero.
        Fneg "fneg",
        /// Sign cleared.
        Fabs "fabs",
        /// Square root, correctly rounded.
        Sqrt "sqrt",
        /// An estimate of the reciprocal square root of an `f32`, with an error of at most 6144 ULP (1.5 · 2⁻¹²). The
        /// exact bits depend on the machine. Denormal operands may count as zeros. The results for zeros and infinities
        /// are exact.
        RsqrtNear "rsqrt_near",
        /// An estimate of the reciprocal of an `f32`, with the same error. Denormal results may be zeros.
        RecipNear "recip_near",
        /// A GPU's own instruction for 2 to the power of an `f32`, with a relative error of at most 2⁻²². Denormal
        /// operands and results count as zeros. Only a GPU has this one and the next three.
        Exp2Near "exp2_near",
        /// The same for the binary logarithm, with an absolute error of at most 2⁻²² between 1/2 and 2, and a relative
        /// one elsewhere.
        Log2Near "log2_near",
        /// The same for the sine, with an absolute error of at most 2⁻²⁰ between -π and π, which grows beyond.
        SinNear "sin_near",
        /// The same for the cosine.
        CosNear "cos_near",
        /// To an integer, down.
        Floor "floor",
        /// To an integer, up.
        Ceil "ceil",
        /// To an integer, toward zero.
        Trunc "ftrunc",
        /// To the nearest integer, ties to even.
        Rint "rint",
    }
}

named! {
    /// Operations of two operands of one type; the result has it too.
    BinOp {
        /// Sum.
        Add "add",
        /// Difference.
        Sub "sub",
        /// Low half of the product.
        Mul "mul",
        /// Quotient, unsigned.
        Udiv "udiv",
        /// Quotient, signed, toward zero.
        Sdiv "sdiv",
        /// Remainder, unsigned.
        Urem "urem",
        /// Remainder, signed, with the dividend's sign.
        Srem "srem",
        /// Bitwise and.
        And "and",
        /// Bitwise or.
        Or "or",
        /// Bitwise exclusive or.
        Xor "xor",
        /// Shift left.
        Shl "shl",
        /// Shift right, zeros in.
        Lshr "lshr",
        /// Shift right, sign in.
        Ashr "ashr",
        /// Rotate left.
        Rotl "rotl",
        /// Smaller, unsigned.
        Umin "umin",
        /// Larger, unsigned.
        Umax "umax",
        /// Smaller, signed.
        Smin "smin",
        /// Larger, signed.
        Smax "smax",
        /// High half of the product, unsigned.
        UmulHi "umulhi",
        /// High half of the product, signed.
        SmulHi "smulhi",
        /// Saturating sum, unsigned.
        UaddSat "uaddsat",
        /// Saturating sum, signed.
        SaddSat "saddsat",
        /// Saturating difference, unsigned.
        UsubSat "usubsat",
        /// Saturating difference, signed.
        SsubSat "ssubsat",
        /// Sum.
        Fadd "fadd",
        /// Difference.
        Fsub "fsub",
        /// Product.
        Fmul "fmul",
        /// Quotient, correctly rounded.
        Fdiv "fdiv",
        /// Smaller number; the other one if one is NaN. `-0 < +0`.
        Fmin "fmin",
        /// Larger number; the other one if one is NaN. `-0 < +0`.
        Fmax "fmax",
        /// Magnitude of `a`, sign of `b`.
        Copysign "copysign",
    }
}

impl BinOp {
    /// The unsigned operation with the same result for non-negative numbers; the operation itself if it has no
    /// signedness.
    pub fn unsigned(self) -> BinOp {
        match self {
            BinOp::Sdiv => BinOp::Udiv,
            BinOp::Srem => BinOp::Urem,
            BinOp::Ashr => BinOp::Lshr,
            BinOp::Smin => BinOp::Umin,
            BinOp::Smax => BinOp::Umax,
            op => op,
        }
    }
}

named! {
    /// Comparisons of integers.
    IntCc {
        /// Equal.
        Eq "eq",
        /// Not equal.
        Ne "ne",
        /// Less, signed.
        Slt "slt",
        /// Less or equal, signed.
        Sle "sle",
        /// Greater, signed.
        Sgt "sgt",
        /// Greater or equal, signed.
        Sge "sge",
        /// Less, unsigned.
        Ult "ult",
        /// Less or equal, unsigned.
        Ule "ule",
        /// Greater, unsigned.
        Ugt "ugt",
        /// Greater or equal, unsigned.
        Uge "uge",
    }
}

impl IntCc {
    /// The negated comparison.
    pub fn negated(self) -> IntCc {
        match self {
            IntCc::Eq => IntCc::Ne,
            IntCc::Ne => IntCc::Eq,
            IntCc::Slt => IntCc::Sge,
            IntCc::Sle => IntCc::Sgt,
            IntCc::Sgt => IntCc::Sle,
            IntCc::Sge => IntCc::Slt,
            IntCc::Ult => IntCc::Uge,
            IntCc::Ule => IntCc::Ugt,
            IntCc::Ugt => IntCc::Ule,
            IntCc::Uge => IntCc::Ult,
        }
    }

    /// The comparison for exchanged operands.
    pub fn swapped(self) -> IntCc {
        match self {
            IntCc::Eq | IntCc::Ne => self,
            IntCc::Slt => IntCc::Sgt,
            IntCc::Sle => IntCc::Sge,
            IntCc::Sgt => IntCc::Slt,
            IntCc::Sge => IntCc::Sle,
            IntCc::Ult => IntCc::Ugt,
            IntCc::Ule => IntCc::Uge,
            IntCc::Ugt => IntCc::Ult,
            IntCc::Uge => IntCc::Ule,
        }
    }
}

named! {
    /// Comparisons of floats; `O…` false and `U…` true when an operand is NaN.
    FloatCc {
        /// Ordered and equal.
        Oeq "oeq",
        /// Unordered or not equal.
        Une "une",
        /// Ordered and not equal.
        One "one",
        /// Ordered and less.
        Olt "olt",
        /// Ordered and less or equal.
        Ole "ole",
        /// Ordered and greater.
        Ogt "ogt",
        /// Ordered and greater or equal.
        Oge "oge",
        /// Neither is NaN.
        Ord "ord",
        /// One is NaN.
        Uno "uno",
    }
}

named! {
    /// Conversions; the number of lanes stays, except for `Bitcast`, where the number of bits stays.
    CastOp {
        /// Integer to a narrower one; to `i1`: the lowest bit.
        Trunc "trunc",
        /// Integer to a wider one, zeros above.
        Zext "zext",
        /// Integer to a wider one, sign above. `i1` true gives all ones.
        Sext "sext",
        /// Float to a signed integer, toward zero, saturating, NaN to 0.
        FtoS "ftos",
        /// Float to an unsigned integer, toward zero, saturating, NaN to 0.
        FtoU "ftou",
        /// Signed integer to the nearest float.
        StoF "stof",
        /// Unsigned integer to the nearest float.
        UtoF "utof",
        /// Float to a wider one.
        Fext "fext",
        /// Float to the nearest narrower one.
        Ftrunc "fptrunc",
        /// Same bits, other type: integers and floats, scalars and vectors, of one total width.
        Bitcast "bitcast",
        /// `i64` to a pointer.
        IntToPtr "inttoptr",
        /// Pointer to `i64`.
        PtrToInt "ptrtoint",
        /// Pointer into another address space, same address. To `generic`: with the tag of where it came from, if it is
        /// not null; from `generic`: without.
        Space "spacecast",
        /// The tag of a generic pointer, as an `i64`: which address space it came from ([`crate::Space::tag`]). Of a
        /// null pointer, any.
        SpaceOf "spaceof",
    }
}

named! {
    /// How an atomic read-modify-write combines.
    RmwOp {
        /// The operand.
        Xchg "xchg",
        /// Sum.
        Add "add",
        /// Difference.
        Sub "sub",
        /// Bitwise and.
        And "and",
        /// Bitwise or.
        Or "or",
        /// Bitwise exclusive or.
        Xor "xor",
        /// Smaller, signed.
        Smin "smin",
        /// Larger, signed.
        Smax "smax",
        /// Smaller, unsigned.
        Umin "umin",
        /// Larger, unsigned.
        Umax "umax",
        /// Sum of floats.
        Fadd "fadd",
        /// Smaller of floats; a NaN is no number.
        Fmin "fmin",
        /// Larger of floats; a NaN is no number.
        Fmax "fmax",
    }
}

named! {
    /// Memory orders.
    Order {
        /// No order beyond the single object.
        Relaxed "relaxed",
        /// Acquire: later accesses stay after it.
        Acquire "acquire",
        /// Release: earlier accesses stay before it.
        Release "release",
        /// Both.
        AcqRel "acqrel",
        /// One total order.
        SeqCst "seqcst",
    }
}

named! {
    /// The memory that a barrier of the work-group orders: the flags of `barrier`. Devices order both memories, but a
    /// program that relies on it has a data race.
    BarrierMemory {
        /// None: `barrier(0)`.
        Nothing "nothing",
        /// `CLK_LOCAL_MEM_FENCE`
        Local "local",
        /// `CLK_GLOBAL_MEM_FENCE`
        Global "global",
        /// Both, or flags that are not known when the program is compiled.
        Both "both",
    }
}

named! {
    /// Memory scopes.
    Scope {
        /// The work-item itself.
        Item "item",
        /// Its sub-group.
        SubGroup "subgroup",
        /// Its work-group.
        Group "group",
        /// The device.
        Device "device",
        /// All devices that share the memory.
        All "all",
    }
}

named! {
    /// The ids and sizes that a work-item can query.
    Query {
        /// `get_work_dim()`.
        WorkDim "work_dim",
        /// `get_global_id(dim)`, offset included.
        GlobalId "global_id",
        /// `get_local_id(dim)`.
        LocalId "local_id",
        /// `get_group_id(dim)`.
        GroupId "group_id",
        /// `get_global_size(dim)`.
        GlobalSize "global_size",
        /// `get_local_size(dim)`: of this group, so smaller in a partial one.
        LocalSize "local_size",
        /// `get_enqueued_local_size(dim)`.
        EnqueuedLocalSize "enqueued_local_size",
        /// `get_num_groups(dim)`.
        NumGroups "num_groups",
        /// `get_global_offset(dim)`.
        GlobalOffset "global_offset",
        /// `get_sub_group_local_id()`. This and the next ones have dimension 0.
        SubgroupLocalId "subgroup_local_id",
        /// `get_sub_group_size()`.
        SubgroupSize "subgroup_size",
        /// `get_max_sub_group_size()`.
        MaxSubgroupSize "max_subgroup_size",
        /// `get_sub_group_id()`.
        SubgroupId "subgroup_id",
        /// `get_num_sub_groups()`.
        NumSubgroups "num_subgroups",
        /// `get_enqueued_num_sub_groups()`.
        EnqueuedNumSubgroups "enqueued_num_subgroups",
        /// Bytes of the group's local memory, of variables and arguments, a multiple of
        /// [`BLOCK_ALIGN`](crate::abi::BLOCK_ALIGN). No function of the language; it has dimension 0.
        LocalMemorySize "local_memory_size",
    }
}

/// A branch target: a block, with the arguments for its parameters.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Edge {
    /// The block.
    pub block: Block,
    /// One value per parameter.
    pub args: SmallVec<[Value; 2]>,
}

impl Edge {
    /// An edge with arguments.
    pub fn new(block: Block, args: impl IntoIterator<Item = Value>) -> Self {
        Self { block, args: args.into_iter().collect() }
    }
}

/// How a block ends.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Term {
    /// To another block.
    Jump(Edge),
    /// By an `i1`.
    Branch {
        /// The truth value.
        cond: Value,
        /// If true.
        then: Edge,
        /// If false.
        els: Edge,
    },
    /// By an integer.
    Switch {
        /// The integer.
        value: Value,
        /// Where to go for which bits (zero-extended, each at most once).
        cases: Vec<(u64, Edge)>,
        /// Where to go for all others.
        default: Edge,
    },
    /// Back to the caller.
    Return(Option<Value>),
    /// Never reached. (An infinite loop that the source wrote is a loop, not this.)
    Unreachable,
}

impl Term {
    /// The edges, in order: then before else, cases before the default.
    pub fn edges(&self) -> SmallVec<[&Edge; 2]> {
        match self {
            Term::Jump(e) => smallvec::smallvec![e],
            Term::Branch { then, els, .. } => smallvec::smallvec![then, els],
            Term::Switch { cases, default, .. } => cases.iter().map(|(_, e)| e).chain([default]).collect(),
            Term::Return(_) | Term::Unreachable => SmallVec::new(),
        }
    }

    /// Edge number `i`, without making the list.
    pub fn edge(&self, i: usize) -> Option<&Edge> {
        match (self, i) {
            (Term::Jump(e), 0) => Some(e),
            (Term::Branch { then, .. }, 0) => Some(then),
            (Term::Branch { els, .. }, 1) => Some(els),
            // The default comes after the cases, as in `edges`.
            (Term::Switch { cases, default, .. }, _) => match i.checked_sub(cases.len()) {
                None => Some(&cases[i].1),
                Some(0) => Some(default),
                Some(_) => None,
            },
            _ => None,
        }
    }

    /// The edges, to change.
    pub fn edges_mut(&mut self) -> SmallVec<[&mut Edge; 2]> {
        match self {
            Term::Jump(e) => smallvec::smallvec![e],
            Term::Branch { then, els, .. } => smallvec::smallvec![then, els],
            Term::Switch { cases, default, .. } => cases.iter_mut().map(|(_, e)| e).chain([default]).collect(),
            Term::Return(_) | Term::Unreachable => SmallVec::new(),
        }
    }

    /// Lets the edges to one block lead to another one, with the same arguments.
    pub fn redirect(&mut self, from: Block, to: Block) {
        self.edges_mut().into_iter().filter(|e| e.block == from).for_each(|e| e.block = to);
    }

    /// The value that decides or is returned.
    pub fn operand(&self) -> Option<Value> {
        match self {
            Term::Branch { cond, .. } => Some(*cond),
            Term::Switch { value, .. } => Some(*value),
            Term::Return(v) => *v,
            Term::Jump(_) | Term::Unreachable => None,
        }
    }

    /// Calls `f` on every value that is used, edge arguments included.
    pub fn for_each_use(&self, mut f: impl FnMut(Value)) {
        if let Some(v) = self.operand() {
            f(v);
        }
        for e in self.edges() {
            e.args.iter().copied().for_each(&mut f);
        }
    }

    /// Replaces every value that is used, edge arguments included.
    pub fn map_uses(&mut self, mut f: impl FnMut(Value) -> Value) {
        match self {
            Term::Branch { cond: v, .. } | Term::Switch { value: v, .. } | Term::Return(Some(v)) => *v = f(*v),
            Term::Jump(_) | Term::Return(None) | Term::Unreachable => {}
        }
        for e in self.edges_mut() {
            for v in &mut e.args {
                *v = f(*v);
            }
        }
    }
}
