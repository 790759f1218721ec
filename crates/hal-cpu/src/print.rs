//! Output of kernels (`printf`): the hook that code calls, and what it needs.

use crate::kernel::cpu_kernel;
use crate::loader::Image;
use cloom_hal::{Kernel, PrintSink};
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};

/// What the print hook needs.
pub struct PrintState<'a> {
    pub image: &'a Image,
    /// The code of the higher tier, once a group runs it.
    pub optimised: OnceLock<Arc<dyn Kernel>>,
    pub sink: &'a dyn PrintSink,
}

impl PrintState<'_> {
    /// The constant text at an address, which lies in the code of one of the kernel's tiers.
    fn text(&self, address: u64) -> Option<Vec<u8>> {
        // The launch may have changed to code of the higher tier, whose constants lie in an image of their own.
        let optimised = || cpu_kernel(&**self.optimised.get()?)?.image.text(address);
        self.image.text(address).or_else(optimised)
    }
}

/// The print hook that kernels call. Never unwinds into compiled code.
///
/// # Safety
/// `state` is the launch's [`PrintState`]; `args` has `size` bytes.
pub unsafe extern "C" fn print_hook(state: *const c_void, format: u32, item: u64, args: *const u8, size: u32) {
    let result = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: compiled code passes what the launch descriptor holds, which outlives the launch.
        let state = unsafe { &*state.cast::<PrintState<'_>>() };
        let args = match size {
            0 => &[][..],
            // SAFETY: `args` points to `size` bytes, as this function's caller promises.
            _ => unsafe { std::slice::from_raw_parts(args, size as usize) },
        };
        state.sink.print(format, item, args, &|address| state.text(address));
    }));
    // A sink that panics loses its line; the kernel goes on.
    drop(result);
}
