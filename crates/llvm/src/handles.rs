//! Owners of LLVM's objects, so that each is freed once, also on errors.

use crate::Error;
use llvm_sys::LLVMDiagnosticSeverity;
use llvm_sys::analysis::{LLVMVerifierFailureAction, LLVMVerifyModule};
use llvm_sys::core::*;
use llvm_sys::ir_reader::LLVMParseIRInContext;
use llvm_sys::prelude::*;
use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr;
use std::sync::Mutex;

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

/// A context: everything else lives in it. What LLVM reports while it generates code is kept; without a handler it
/// would print errors and end the process.
pub struct Context {
    pub raw: LLVMContextRef,
    reports: Box<Mutex<Reports>>,
}

/// What LLVM reported.
#[derive(Default)]
struct Reports {
    errors: Vec<String>,
    /// Bytes on the stack of all functions together whose code was made.
    frames: u64,
}

/// The text before the number of bytes in the report of a function's frame. [`STACK_REPORT`] asks for the report: the C
/// interface has no other way to learn the frame's size.
const FRAME: &str = "stack frame size (";

/// The attribute of functions whose frames are reported: name, and the least size to report.
pub const STACK_REPORT: (&str, &str) = ("warn-stack-size", "0");

impl Context {
    pub fn new() -> Self {
        let reports = Box::new(Mutex::new(Reports::default()));
        // SAFETY: creates an independent object; the box does not move and outlives the context.
        unsafe {
            let raw = LLVMContextCreate();
            LLVMContextSetDiagnosticHandler(raw, Some(keep), (&raw const *reports).cast_mut().cast());
            Context { raw, reports }
        }
    }

    /// The first error that was reported so far.
    pub fn check(&self) -> Result<(), Error> {
        match self.reports.lock().ok().and_then(|r| r.errors.first().cloned()) {
            Some(message) => Err(Error::Internal(message)),
            None => Ok(()),
        }
    }

    /// Bytes of stack of the functions whose code was made since the last call; resets the sum.
    pub fn take_frames(&self) -> u64 {
        self.reports.lock().map_or(0, |mut r| std::mem::take(&mut r.frames))
    }
}

extern "C" fn keep(info: LLVMDiagnosticInfoRef, reports: *mut c_void) {
    // SAFETY: LLVM passes a valid diagnostic and what `Context::new` registered.
    let (severity, message, reports) = unsafe {
        let message = take_message(LLVMGetDiagInfoDescription(info));
        (LLVMGetDiagInfoSeverity(info), message, &*reports.cast::<Mutex<Reports>>())
    };
    let Ok(mut reports) = reports.lock() else { return };
    match (severity, message.split_once(FRAME)) {
        (LLVMDiagnosticSeverity::LLVMDSError, _) => reports.errors.push(message),
        // The reports of frames are warnings, which LLVM gives for each function.
        (_, Some((_, rest))) => {
            let bytes = rest.split(')').next().and_then(|n| n.parse::<u64>().ok()).unwrap_or(0);
            reports.frames = reports.frames.saturating_add(bytes);
        }
        _ => {}
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: owned; modules borrow the context's lifetime and are gone.
        unsafe { LLVMContextDispose(self.raw) }
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
        let raw = unsafe { LLVMModuleCreateWithNameInContext(c_string(name).as_ptr(), context.raw) };
        Self { raw, context }
    }

    /// The module of a text.
    pub fn parse(context: &'c Context, text: &str) -> Result<Self, Error> {
        let text = c_string(text);
        let (mut raw, mut message) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: the text lives through the call of the parser, which frees the buffer; the module is owned by the
        // result, and the message is taken over.
        unsafe {
            let buffer =
                LLVMCreateMemoryBufferWithMemoryRangeCopy(text.as_ptr(), text.as_bytes().len(), c"text".as_ptr());
            if LLVMParseIRInContext(context.raw, buffer, &mut raw, &mut message) != 0 {
                return Err(Error::Internal(take_message(message)));
            }
        }
        Ok(Self { raw, context })
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
        IrBuilder(unsafe { LLVMCreateBuilderInContext(context.raw) })
    }
}

impl Drop for IrBuilder {
    fn drop(&mut self) {
        // SAFETY: owned.
        unsafe { LLVMDisposeBuilder(self.0) }
    }
}
