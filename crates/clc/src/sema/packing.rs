//! `#pragma pack`: the largest alignment that members of structures get.
//!
//! In come the pragmas in the order of the source; [`Packing::limit`] is what a structure that is defined now heeds.
//! The stack and its names are those of GNU C and MSVC: headers that host and kernel share use them.

use super::Sema;
use crate::source::{Diagnostic, Span, Symbol};
use crate::syntax::ast::Pack;

/// How many alignments can be kept at a time; real headers keep a few.
const MAX_KEPT: usize = 1024;

/// The alignment of now and those that were kept.
#[derive(Debug, Default)]
pub(super) struct Packing {
    /// In bytes; 0 is that of the types.
    now: u16,
    kept: Vec<(Option<Symbol>, u16)>,
}

impl Packing {
    /// The largest alignment of a member, in bytes.
    pub fn limit(&self) -> u64 {
        if self.now == 0 { u64::MAX } else { self.now.into() }
    }
}

impl Sema<'_> {
    /// Obeys one pragma.
    pub(super) fn pack(&mut self, pack: &Pack, span: Span) {
        let state = &mut self.packing;
        if let Some(name) = pack.push {
            if state.kept.len() == MAX_KEPT {
                let message = format!("more than {MAX_KEPT} `#pragma pack(push)` without a `pop`");
                self.error("E0325", span, message);
                return;
            }
            state.kept.push((name, state.now));
        }
        if let Some(name) = pack.pop {
            // `pop, name` drops all that was kept since the `push` of that name.
            let at = state.kept.iter().rposition(|kept| name.is_none() || kept.0 == name);
            match at {
                Some(at) => {
                    state.now = state.kept[at].1;
                    state.kept.truncate(at);
                }
                None => {
                    let message = "`#pragma pack(pop)` without a `push` before it";
                    self.push(Diagnostic::warning("W0202", span, message));
                }
            }
        }
        if let Some(align) = pack.align {
            self.packing.now = align;
        }
    }
}
