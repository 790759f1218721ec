//! The form in which each access to memory was written, recorded where the code is written.
//!
//! The remarks come from these records ([`crate::remarks::accesses`]), so that they say what the code is. A shape
//! alone does not tell: the form also depends on the mask, on other accesses, and on the processor.

use super::Widener;
use crate::decisions::{Access, AccessForm};
use cloom_ir::Inst;

impl Widener<'_> {
    /// Records the form of an access that is about to be written.
    pub(super) fn decide(&mut self, inst: Inst, form: AccessForm, checked: bool) {
        let masked = self.masks.current.is_some();
        self.accesses.push(Access { inst, form, checked, masked });
    }
}
