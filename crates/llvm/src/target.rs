//! LLVM's target machines: from a [`Target`] to LLVM's description of it, and from an LLVM module to object code.

use crate::handles::{LlvmModule, c_string, take_message};
use crate::optimise::Effort;
use crate::{Error, gpu_target};
use cloom_target::{Architecture, Target};
use llvm_sys::core::*;
use llvm_sys::prelude::{LLVMMemoryBufferRef, LLVMModuleRef};
use llvm_sys::support::LLVMParseCommandLineOptions;
use llvm_sys::target::*;
use llvm_sys::target_machine::*;
use std::ffi::{CStr, CString, c_int};
use std::ptr;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

unsafe extern "C" {
    /// Of `cpp/codegen.cpp`.
    fn cloom_llvm_emit(module: LLVMModuleRef, machine: LLVMTargetMachineRef, is_assembly: c_int)
    -> LLVMMemoryBufferRef;
}

/// The form of the code.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Output {
    /// A relocatable object.
    Object,
    /// Text for people.
    Assembly,
}

/// The reason why no code can be made for a target; `None` if it can.
fn check(target: &Target) -> Result<(), String> {
    if gpu_target::has(target) {
        return Ok(());
    }
    if target.level().is_none() {
        return Err("no code is made for this triple".to_owned());
    }
    if !architectures().contains(&target.architecture()) {
        return Err("this compiler is built without that architecture".to_owned());
    }
    Ok(())
}

/// The architectures that this compiler is built with.
fn architectures() -> &'static [Architecture] {
    if cfg!(feature = "foreign") { &[Architecture::X86_64, Architecture::AArch64] } else { &[Architecture::HOST] }
}

/// A target machine.
pub struct Machine {
    pub raw: LLVMTargetMachineRef,
    target: Target,
    effort: Effort,
    triple: CString,
}

// SAFETY: a machine is not tied to the thread that made it, and one thread at a time has it.
unsafe impl Send for Machine {}

/// Machines that nobody uses.
static IDLE: Mutex<Vec<Machine>> = Mutex::new(Vec::new());
/// The lock of [`IDLE`].
pub type IdleGuard = MutexGuard<'static, Vec<Machine>>;

/// Takes the list of idle machines for the time of a `fork`.
pub fn lock_idle() -> IdleGuard {
    IDLE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// At most so many are kept.
const MAX_IDLE: usize = 16;

/// LLVM's table of targets is global and filled once, and its options are set once.
static INITIALISED: Once = Once::new();

/// LLVM's options, beside the name of a program. The library is linked statically and its symbols are hidden, so that
/// they are those of no other LLVM in the process.
///
/// * The scheduler of machine instructions relates each load and store to those before it, which takes time in the
///   square of their number. Of so many (by default 1000) it forgets most, behind a barrier. (Matrices of 36 variables:
///   50 ms instead of 180. With 200, bicubic sampling by a table, 500 accesses in a block, took 1.2 times as long.)
/// * Loops of up to so many instructions when unrolled (by default 300) are unrolled, which only happens on GPUs: an
///   array that they index is registers then, and in memory else.
/// * Addresses of a GPU's local memory have 32 bits, which are half the registers.
/// * A pass that moves chains of scalar instructions to mask registers takes time in the square of a block's length: 13
///   of 14 s for 10,000 statements. It changes no kernel of the gallery.
const OPTIONS: &[&CStr] = &[
    c"cloom",
    c"-dag-maps-huge-region=600",
    c"-dag-maps-reduction-size=500",
    #[cfg(any(feature = "foreign", target_arch = "x86_64"))]
    c"-disable-x86-domain-reassignment",
    gpu_target::SHORT_LOCAL_POINTERS,
    c"-unroll-threshold=700",
    c"-unroll-partial-threshold=200",
];

/// Sets LLVM's options and fills its registries.
fn initialise() {
    let options: Vec<_> = OPTIONS.iter().map(|o| o.as_ptr()).collect();
    // SAFETY: sets options and fills LLVM's registries; `Once` keeps it to one thread, the only caller. The strings
    // live for ever, and the array through the call.
    unsafe {
        LLVMParseCommandLineOptions(options.len() as i32, options.as_ptr(), ptr::null());
        #[cfg(any(feature = "foreign", target_arch = "x86_64"))]
        {
            LLVMInitializeX86TargetInfo();
            LLVMInitializeX86Target();
            LLVMInitializeX86TargetMC();
            LLVMInitializeX86AsmPrinter();
            LLVMInitializeX86AsmParser();
        }
        gpu_target::initialise();
        #[cfg(any(feature = "foreign", target_arch = "aarch64"))]
        {
            LLVMInitializeAArch64TargetInfo();
            LLVMInitializeAArch64Target();
            LLVMInitializeAArch64TargetMC();
            LLVMInitializeAArch64AsmPrinter();
        }
    }
}

impl Machine {
    /// The machine for a target: a kept one if there is one.
    pub fn take(target: &Target, effort: Effort) -> Result<Self, Error> {
        let mut idle = lock_idle();
        // The level of code generation is fixed when a machine is made, so that one of another effort does not do.
        let found = idle.iter().position(|m| m.target == *target && m.effort == effort);
        match found {
            Some(i) => Ok(idle.swap_remove(i)),
            None => {
                drop(idle);
                Machine::new(target, effort)
            }
        }
    }

    /// Keeps the machine for the next kernel. It holds the tables of instruction selection, which take as long to build
    /// as the code of a small kernel.
    pub fn keep(self) {
        let mut idle = lock_idle();
        if idle.len() < MAX_IDLE {
            idle.push(self);
        }
    }

    fn new(target: &Target, effort: Effort) -> Result<Self, Error> {
        INITIALISED.call_once(initialise);
        let refuse = |why: String| Error::Target(target.name().to_owned(), why);
        check(target).map_err(refuse)?;
        let (triple, cpu_name) = (c_string(target.triple()), c_string(target.cpu()));
        let mut found = ptr::null_mut();
        let mut message = ptr::null_mut();
        // SAFETY: the triple is a C string; results are written to the two pointers.
        if unsafe { LLVMGetTargetFromTriple(triple.as_ptr(), &mut found, &mut message) } != 0 {
            return Err(refuse(take_message(message)));
        }
        let level_of_effort = match effort {
            Effort::Full => LLVMCodeGenOptLevel::LLVMCodeGenLevelDefault,
            Effort::Quick | Effort::Plain => LLVMCodeGenOptLevel::LLVMCodeGenLevelLess,
            Effort::None => LLVMCodeGenOptLevel::LLVMCodeGenLevelNone,
        };
        // The name of a CPU implies its features.
        let features = if gpu_target::has(target) { gpu_target::FEATURES } else { c"" };
        // SAFETY: the target was found; strings live through the call.
        let raw = unsafe {
            LLVMCreateTargetMachine(
                found,
                triple.as_ptr(),
                cpu_name.as_ptr(),
                features.as_ptr(),
                level_of_effort,
                LLVMRelocMode::LLVMRelocPIC,
                LLVMCodeModel::LLVMCodeModelSmall,
            )
        };
        if raw.is_null() {
            return Err(refuse("no such machine".to_owned()));
        }
        // Without optimisation, some targets default to GlobalISel, which takes minutes for vectors wider than a
        // register.
        // SAFETY: the machine was made.
        unsafe { LLVMSetTargetMachineGlobalISel(raw, 0) };
        Ok(Machine { raw, target: target.clone(), effort, triple })
    }

    /// Sets a module's triple and data layout.
    pub fn prepare(&self, module: &LlvmModule<'_>) {
        // SAFETY: module and machine are valid; the layout is freed after use.
        unsafe {
            LLVMSetTarget(module.raw, self.triple.as_ptr());
            let layout = LLVMCreateTargetDataLayout(self.raw);
            LLVMSetModuleDataLayout(module.raw, layout);
            LLVMDisposeTargetData(layout);
        }
    }

    /// Makes code of a verified module. The module is changed by it.
    pub fn emit(&self, module: &LlvmModule<'_>, output: Output) -> Result<Vec<u8>, Error> {
        let is_assembly = (output == Output::Assembly).into();
        // SAFETY: machine and module are valid, and used by this thread alone.
        let buffer = unsafe { cloom_llvm_emit(module.raw, self.raw, is_assembly) };
        if buffer.is_null() {
            return Err(Error::Internal(format!("LLVM makes no code for {}", self.target)));
        }
        // SAFETY: the buffer is valid and ours; its bytes are copied before it is freed.
        unsafe {
            let bytes = std::slice::from_raw_parts(LLVMGetBufferStart(buffer).cast::<u8>(), LLVMGetBufferSize(buffer));
            let bytes = bytes.to_vec();
            LLVMDisposeMemoryBuffer(buffer);
            Ok(bytes)
        }
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        // SAFETY: owned.
        unsafe { LLVMDisposeTargetMachine(self.raw) }
    }
}
