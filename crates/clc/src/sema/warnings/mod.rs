//! Warnings about correct programs: suspicious code, values that are never set or used, formats. Also the check that
//! the others were refused.

pub(super) mod format;
pub(super) mod overflow;
pub(super) mod reported;
pub(super) mod selection;
pub(super) mod suspicious;
pub(super) mod uninitialised;
pub(super) mod unused;
