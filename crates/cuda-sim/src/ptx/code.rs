//! Code as threads run it: functions whose instructions have no names, and variables with their contents.

use super::flow::Flow;
use super::op::{self, Slot};

/// A parameter of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParamInfo {
    /// Its name in the PTX text.
    pub name: String,
    /// Size in bytes.
    pub size: usize,
    /// Alignment in bytes.
    pub align: usize,
}

/// A function or an entry.
#[derive(Clone, Debug, Default)]
pub(super) struct Function {
    pub(super) name: String,
    pub(super) entry: bool,
    /// Whether there is a body.
    pub(super) defined: bool,
    pub(super) infos: Vec<ParamInfo>,
    pub(super) params: Vec<Slot>,
    pub(super) returns: Vec<Slot>,
    /// Bytes of the parameter area: parameters, results, and what calls pass.
    pub(super) param_size: u32,
    pub(super) local_size: u32,
    pub(super) local_align: u32,
    pub(super) registers: u32,
    pub(super) code: Vec<op::Inst>,
    /// Empty if the module has no reconvergence points.
    pub(super) flow: Flow,
    /// The block size that `.reqntid` demands.
    pub(super) required: Option<[u64; 3]>,
    /// The threads of a block that `.maxntid` allows.
    pub(super) most: Option<u64>,
}

/// The object that an address in an initialiser points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Variable(u32),
    Fixed(u64),
}

/// An address in an initialiser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Relocation {
    pub(super) at: usize,
    pub(super) size: usize,
    pub(super) target: Target,
    pub(super) offset: i64,
    pub(super) mask: u64,
}

/// A variable with its contents.
#[derive(Clone, Debug, Default)]
pub(super) struct Data {
    pub(super) align: u64,
    pub(super) bytes: Vec<u8>,
    pub(super) relocations: Vec<Relocation>,
}

/// A module without names.
#[derive(Debug, Default)]
pub(super) struct Code {
    pub(super) functions: Vec<Function>,
    /// Global variables, by number.
    pub(super) variables: Vec<Data>,
    /// All of constant memory, from [`CONST_START`](super::memory::CONST_START).
    pub(super) constants: Data,
    /// Bytes of static shared variables, from [`SHARED_START`](super::memory::SHARED_START).
    pub(super) shared_size: u64,
    /// Alignment of dynamic shared memory.
    pub(super) dynamic_align: u64,
}
