//! Accesses that a kernel checks and reports: what a record of [`crate::abi::report`] is about.
//!
//! The pass that adds the checks fills the list [`KernelMeta::checked`](crate::KernelMeta::checked), in the order of
//! the records. It goes with the code, so that the launcher can say where an access is without the module.

use crate::module::{CallSite, Span};
use crate::types::Space;
use serde::{Deserialize, Serialize};

/// An access that is checked.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CheckedAccess {
    /// Where it is: its [`Span::inlined`] is 0,
    pub span: Span,
    /// because these are the calls around it, the innermost first.
    pub calls: Vec<CallSite>,
    /// Whether it writes.
    pub is_store: bool,
    /// Bytes.
    pub bytes: u64,
    /// The alignment that it needs, as a power of two.
    pub align: u8,
    /// What it should access.
    pub object: AccessedObject,
}

/// The object that an address points into.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum AccessedObject {
    /// That of this parameter.
    Param(u32),
    /// A variable.
    Variable {
        /// Its name in the source, if it has one.
        name: String,
        /// Where it lies.
        space: Space,
    },
    /// One of several.
    Several,
    /// None: the address comes from memory or from an integer.
    Foreign,
}
