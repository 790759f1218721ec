//! Marks for the checker of kernels: what the instructions do not say of the source. They change no value, and programs
//! that are built without the checker have none.

use serde::{Deserialize, Serialize};

/// What a mark tells.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Mark {
    /// `a` (`i64`) is the index of an element of an array that has so many, and `b` the element's address.
    Index(u64),
    /// The lifetime of the private variable at `a` begins. It has so many bytes, none of which has a value.
    Begin(u64),
    /// The lifetime of the private variable at `a` ends.
    End,
    /// An asynchronous copy begins: the accesses of this position that follow. `a` (`i64`) is the event that it is
    /// added to, or 0. Gives the event.
    Copy,
    /// The group waits for `a` (`i32`) events, which lie at `b`.
    Wait,
    /// `a` (`i64` or an address) is an argument of the asynchronous copy that has begun last, in the order of its
    /// parameters: the same in all work-items of the group.
    Argument,
}

impl Mark {
    /// Its word in the text form.
    pub fn name(self) -> &'static str {
        match self {
            Mark::Index(_) => "index",
            Mark::Begin(_) => "begin",
            Mark::End => "end",
            Mark::Copy => "copy",
            Mark::Wait => "wait",
            Mark::Argument => "argument",
        }
    }
}
