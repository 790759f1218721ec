//! The pass list. Short on purpose: kernels come already inlined and in SSA form, so the standard pipelines spend most of their
//! time looking for work (0.7 ms against 3.7 ms on a kernel of 200 instructions, with the same code).

use crate::Error;
use crate::handles::{LlvmModule, c_string};
use crate::target::Machine;
use llvm_sys::error::LLVMGetErrorMessage;
use llvm_sys::transforms::pass_builder::*;

/// `instcombine` would by default end the process if one more round still found something.
const PASSES: &str = "function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,loop-mssa(licm),gvn,\
                      instcombine<no-verify-fixpoint>,simplifycfg)";

/// Optimises a verified module in place.
pub fn run(module: &LlvmModule<'_>, machine: &Machine) -> Result<(), Error> {
    let passes = c_string(PASSES);
    // SAFETY: module and machine are valid; options are freed; an error is taken over by reading its message.
    unsafe {
        let options = LLVMCreatePassBuilderOptions();
        let error = LLVMRunPasses(module.raw, passes.as_ptr(), machine.raw, options);
        LLVMDisposePassBuilderOptions(options);
        if error.is_null() {
            return Ok(());
        }
        let raw = LLVMGetErrorMessage(error);
        let message = std::ffi::CStr::from_ptr(raw).to_string_lossy().into_owned();
        llvm_sys::error::LLVMDisposeErrorMessage(raw);
        Err(Error::Internal(message))
    }
}
