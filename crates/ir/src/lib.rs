//! The intermediate representation of Cloom: data, builder, text form, verifier and analyses.
//!
//! In comes what the front end lowers, or a text; out goes a [`Module`] that every later stage reads and rewrites. The
//! shape follows what the work-item vectoriser needs rather than what C looks like: SSA with block parameters (no phis
//! to keep in sync with predecessors), integers that carry a width and no sign (the operation knows), pointers that
//! carry an address space only (memory is bytes; the type and the alignment are written at the access), and no
//! aggregate value but the short vectors of OpenCL. Nothing in the IR is undefined except memory: a division by zero,
//! an oversized shift or an out-of-range conversion has a defined result, so that the interpreter and every device
//! agree on each bit.

#![forbid(unsafe_code)]

pub mod abi;
pub mod affine;
pub mod builder;
pub mod cfg;
mod checked;
pub mod clone;
pub mod dom;
pub mod effects;
pub mod entity;
pub mod eval;
pub mod flags;
pub mod float_range;
pub mod function;
pub mod import;
pub mod inlined;
pub mod inst;
pub mod loops;
pub mod mark;
pub mod module;
pub mod parse;
pub mod print;
pub mod ssa;
pub mod subgroup;
pub mod types;
pub mod uses;
pub mod variables;
pub mod verify;

pub use builder::Builder;
pub use checked::{AccessedObject, CheckedAccess};
pub use clone::CloneMap;
pub use effects::{Effects, OpClass};
pub use entity::{Arena, Block, Entity, FuncRef, GlobalRef, Inst, StrRef, Value};
pub use flags::Flags;
pub use function::{BlockData, Function, Hidden, KernelMeta, KernelParam, Linkage, ParamKind, ValueData, ValueDef};
pub use import::ImportError;
pub use inlined::InlinedSpans;
pub use inst::{
    Args, BarrierMemory, BinOp, CastOp, DeviceCall, Edge, FloatCc, InstData, IntCc, Op, Order, Query, RmwOp, Scope,
    Term, UnOp,
};
pub use mark::Mark;
pub use module::{CallSite, Global, GlobalLinkage, Module, Reloc, Span};
pub use parse::{ParseError, parse};
pub use ssa::Ssa;
pub use types::{Scalar, Space, Type};
pub use verify::{AnyEntity, Rule, VerifyError, verify, verify_work_group};
