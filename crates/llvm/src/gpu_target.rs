//! The GPUs that LLVM makes code for, and its settings for them.

use cloom_target::{Target, nvidia};
use llvm_sys::target::*;
use std::ffi::CStr;

/// LLVM's features of the target: the version of PTX, that of CUDA 11.8, which later drivers take too.
pub const FEATURES: &CStr = c"+ptx78";

/// The option for addresses of local memory with 32 bits.
pub const SHORT_LOCAL_POINTERS: &CStr = c"-nvptx-short-ptr";

/// Whether a target is such a GPU.
pub fn has(target: &Target) -> bool {
    target.triple() == nvidia::TRIPLE
}

/// Adds the target to LLVM's registries.
///
/// # Safety
///
/// No other thread uses the registries meanwhile.
pub unsafe fn initialise() {
    // SAFETY: the caller keeps other threads away.
    unsafe {
        LLVMInitializeNVPTXTargetInfo();
        LLVMInitializeNVPTXTarget();
        LLVMInitializeNVPTXTargetMC();
        LLVMInitializeNVPTXAsmPrinter();
    }
}
