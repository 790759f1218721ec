//! Owners of LLVM's objects, so that each is freed once, also on errors.

use crate::Error;
use llvm_sys::analysis::{LLVMVerifierFailureAction, LLVMVerifyModule};
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use std::ffi::{CStr, CString, c_char};
use std::ptr;

/// A zero-terminated copy; names never hold a zero byte, and one that did would be cut there.
pub fn c_string(s: &str) -> CString {
    CString::new(s.split('\0').next().unwrap_or_default()).unwrap_or_default()
}

/// Takes over a message that LLVM allocated.
pub fn take_message(message: *mut c_char) -> String {
    if message.is_null() {
        return String::new();
    }
    // SAFETY: LLVM hands out a zero-terminated string that the caller frees with this function.
    unsafe {
        let text = CStr::from_ptr(message).to_string_lossy().into_owned();
        LLVMDisposeMessage(message);
        text
    }
}

/// A context: everything else lives in it.
pub struct Context(pub LLVMContextRef);

impl Context {
    pub fn new() -> Self {
        // SAFETY: creates an independent object.
        Context(unsafe { LLVMContextCreate() })
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: owned; modules borrow the context's lifetime and are gone.
        unsafe { LLVMContextDispose(self.0) }
    }
}

/// A module in a context.
pub struct LlvmModule<'c> {
    pub raw: LLVMModuleRef,
    context: &'c Context,
}

impl<'c> LlvmModule<'c> {
    pub fn new(context: &'c Context, name: &str) -> Self {
        // SAFETY: the name lives through the call; the module is owned by the result.
        let raw = unsafe { LLVMModuleCreateWithNameInContext(c_string(name).as_ptr(), context.0) };
        Self { raw, context }
    }

    /// An equal module.
    pub fn copy(&self) -> LlvmModule<'c> {
        // SAFETY: the module is valid.
        Self { raw: unsafe { LLVMCloneModule(self.raw) }, context: self.context }
    }

    /// The text form.
    pub fn text(&self) -> String {
        // SAFETY: the module is valid.
        take_message(unsafe { LLVMPrintModuleToString(self.raw) })
    }

    /// Checks it, because code generation of an invalid module is undefined.
    pub fn verify(&self) -> Result<(), Error> {
        let mut message = ptr::null_mut();
        // SAFETY: the module is valid; the message is taken over.
        let bad =
            unsafe { LLVMVerifyModule(self.raw, LLVMVerifierFailureAction::LLVMReturnStatusAction, &mut message) } != 0;
        let message = take_message(message);
        if bad { Err(Error::Internal(message)) } else { Ok(()) }
    }
}

impl Drop for LlvmModule<'_> {
    fn drop(&mut self) {
        // SAFETY: owned, and its context is alive.
        unsafe { LLVMDisposeModule(self.raw) }
    }
}

/// An instruction builder.
pub struct IrBuilder(pub LLVMBuilderRef);

impl IrBuilder {
    pub fn new(context: &Context) -> Self {
        // SAFETY: the context is alive.
        IrBuilder(unsafe { LLVMCreateBuilderInContext(context.0) })
    }
}

impl Drop for IrBuilder {
    fn drop(&mut self) {
        // SAFETY: owned.
        unsafe { LLVMDisposeBuilder(self.0) }
    }
}
