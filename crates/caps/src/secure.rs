//! Whether this process runs with rights that its caller does not have: a set-user-ID or set-group-ID program, or one
//! with file capabilities. Then its environment is the caller's word, and nothing there may be obeyed.

#![allow(unsafe_code, reason = "the auxiliary vector is only to be had from the C library")]

/// Whether the kernel has marked this program as one with other rights than its caller (`AT_SECURE`).
pub fn is_privileged() -> bool {
    // SAFETY: it reads a word of the auxiliary vector, which does not change; 0 where there is none.
    let marked = unsafe { libc::getauxval(libc::AT_SECURE) };
    marked != 0
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_test_has_no_rights_of_its_own() {
        assert!(!super::is_privileged());
    }
}
