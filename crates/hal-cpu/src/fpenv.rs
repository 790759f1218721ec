//! The floating-point environment of kernels and of their compiler: round to nearest, no traps, denormals kept unless
//! the program's options flush them.
//!
//! A host may have changed its own (`-ffast-math` flushes denormals; some libraries unmask traps), so each thread sets
//! it before it runs groups, and the interface before it does anything, and restores the previous one. Threads inherit
//! the environment of their creator.

use register::{DEFAULT, FLUSH, STICKY, get, set};

/// Restores the environment when dropped.
pub struct Guard {
    saved: register::Word,
    changed: bool,
}

/// Sets the environment of kernels on this thread.
pub fn enter(denorms_are_zero: bool) -> Guard {
    let want = if denorms_are_zero { DEFAULT | FLUSH } else { DEFAULT };
    let saved = get();
    // Flags of past exceptions do not matter. Writing the register costs more than reading it, and mostly nothing
    // differs.
    let changed = saved & !STICKY != want;
    if changed {
        set(want);
    }
    Guard { saved, changed }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if self.changed {
            set(self.saved);
        }
    }
}

/// MXCSR.
#[cfg(target_arch = "x86_64")]
mod register {
    use std::arch::asm;

    pub type Word = u32;
    /// All exceptions masked.
    pub const DEFAULT: Word = 0x1f80;
    /// Denormal results become zeros, and denormal operands count as zeros.
    pub const FLUSH: Word = 0x8040;
    /// Flags of exceptions that there have been.
    pub const STICKY: Word = 0x3f;

    pub fn get() -> Word {
        let mut csr = 0u32;
        // SAFETY: stmxcsr writes four bytes to the given address, which is a live u32.
        unsafe { asm!("stmxcsr [{}]", in(reg) &mut csr, options(nostack, preserves_flags)) };
        csr
    }

    pub fn set(csr: Word) {
        // SAFETY: ldmxcsr reads four bytes; the value has no reserved bit set (it was read from the register, or is
        // made of the constants above). Rust code counts on the default one; in another, only the launcher's loop runs
        // in between, which has no floats.
        unsafe { asm!("ldmxcsr [{}]", in(reg) &csr, options(nostack, preserves_flags)) };
    }
}

/// FPCR; flags of exceptions have a register of their own.
#[cfg(target_arch = "aarch64")]
mod register {
    use std::arch::asm;

    pub type Word = u64;
    /// No exception traps, NaNs propagate, round to nearest.
    pub const DEFAULT: Word = 0;
    /// FZ: denormal results and operands become zeros. That of halves (FZ16) stays off: they keep their denormals
    /// everywhere.
    pub const FLUSH: Word = 1 << 24;
    pub const STICKY: Word = 0;

    pub fn get() -> Word {
        let fpcr: u64;
        // SAFETY: reads a register that every program may read.
        unsafe { asm!("mrs {}, fpcr", out(reg) fpcr, options(nomem, nostack, preserves_flags)) };
        fpcr
    }

    pub fn set(fpcr: Word) {
        // SAFETY: the value was read from the register, or is made of the constants above. Rust code counts on the
        // default one; in another, only the launcher's loop runs in between, which has no floats.
        unsafe { asm!("msr fpcr, {}", in(reg) fpcr, options(nostack, preserves_flags)) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_is_set_and_put_back() {
        let before = get() & !STICKY;
        {
            let _guard = enter(true);
            assert_eq!(get() & FLUSH, FLUSH);
            {
                let _inner = enter(false);
                assert_eq!(get() & FLUSH, 0);
            }
            assert_eq!(get() & FLUSH, FLUSH);
        }
        assert_eq!(get() & !STICKY, before);
    }
}
