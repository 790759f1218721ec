//! The floating-point environment of kernels and of their compiler: round to nearest, no traps, denormals kept unless the program gave
//! them up.
//!
//! A host may have changed its own (`-ffast-math` flushes denormals; some libraries unmask traps), so each thread sets it before it
//! runs groups, and the interface before it does anything, and puts back what it found. Threads begin with what their maker has.

use std::arch::asm;

const DEFAULT: u32 = 0x1f80;
const FLUSH_AND_ZERO: u32 = 0x8040;

/// Restores the environment when dropped.
pub struct Guard {
    saved: u32,
    changed: bool,
}

/// Sets the environment of kernels on this thread.
pub fn enter(denorms_are_zero: bool) -> Guard {
    let want = if denorms_are_zero { DEFAULT | FLUSH_AND_ZERO } else { DEFAULT };
    let saved = get();
    // The six lowest bits are sticky exception flags and do not matter.
    let changed = saved & !0x3f != want;
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

fn get() -> u32 {
    let mut csr = 0u32;
    // SAFETY: stmxcsr writes four bytes to the given address, which is a live u32.
    unsafe { asm!("stmxcsr [{}]", in(reg) &mut csr, options(nostack, preserves_flags)) };
    csr
}

fn set(csr: u32) {
    // SAFETY: ldmxcsr reads four bytes; the value has no reserved bit set (it was read from the register, or is one of the
    // constants above). Rust code counts on the default one; in another, only the launcher's loop runs in between, which has no floats.
    unsafe { asm!("ldmxcsr [{}]", in(reg) &csr, options(nostack, preserves_flags)) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_is_set_and_put_back() {
        let before = get() & !0x3f;
        {
            let _guard = enter(true);
            assert_eq!(get() & FLUSH_AND_ZERO, FLUSH_AND_ZERO);
            {
                let _inner = enter(false);
                assert_eq!(get() & FLUSH_AND_ZERO, 0);
            }
            assert_eq!(get() & FLUSH_AND_ZERO, FLUSH_AND_ZERO);
        }
        assert_eq!(get() & !0x3f, before);
    }
}
