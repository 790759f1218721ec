//! Which checks a kernel gets: part of what its code depends on.

use serde::Serialize;

/// What a kernel does about accesses outside of their objects.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize)]
pub enum BoundsChecks {
    /// They are undefined.
    #[default]
    Off,
    /// They do not happen: [`bounds`](crate::bounds).
    Silent,
    /// They do not happen, and the launcher is told of them ([`Hidden::Reports`](cloom_ir::Hidden::Reports)).
    Reported,
}

impl BoundsChecks {
    /// Whether accesses are checked.
    pub fn are_on(self) -> bool {
        self != BoundsChecks::Off
    }
}
