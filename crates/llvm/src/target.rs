//! The target machine: what code is made for, and making it.

use crate::Error;
use crate::handles::{LlvmModule, c_string, take_message};
use crate::optimise::Effort;
use cloom_ir::abi;
use llvm_sys::core::*;
use llvm_sys::target::*;
use llvm_sys::target_machine::*;
use std::ffi::CString;
use std::ptr;
use std::sync::{Mutex, Once, PoisonError};

/// Which form code takes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Output {
    /// A relocatable object.
    Object,
    /// Text for people.
    Assembly,
}

/// What code may use: the levels of the x86-64 psABI, without the first, because without SSE 4.1 rounding would need a library; and
/// AArch64, which always has its vector unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Level {
    /// SSE 4.2.
    V2,
    /// AVX2, FMA, F16C.
    V3,
    /// AVX-512.
    V4,
    /// NEON. Only with the feature `aarch64`.
    Neon,
}

/// The triple of the machines that run what is compiled.
pub const TRIPLE: &str = "x86_64-unknown-linux-gnu";

impl Level {
    /// What this machine has.
    pub fn of_host() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            macro_rules! have { ($($name:tt)*) => { $(is_x86_feature_detected!($name))&&* } }
            if have!("avx512f" "avx512bw" "avx512cd" "avx512dq" "avx512vl") {
                return Level::V4;
            }
            if is_x86_feature_detected!("avx2") {
                return Level::V3;
            }
        }
        Level::V2
    }

    /// The level of a target, or why there is no code for it.
    fn find(triple: &str, cpu: &str) -> Result<Self, &'static str> {
        let (levels, wrong): (&[Level], _) = match triple {
            TRIPLE => (&[Level::V2, Level::V3, Level::V4], "the CPU must be x86-64-v2, x86-64-v3 or x86-64-v4"),
            "aarch64-unknown-linux-gnu" if cfg!(feature = "aarch64") => (&[Level::Neon], "the CPU must be generic"),
            _ => return Err("no code is made for this triple"),
        };
        levels.iter().copied().find(|l| l.cpu() == cpu).ok_or(wrong)
    }

    /// Bits of a vector register; `None` if masks have registers of their own.
    pub fn mask_register(self) -> Option<u32> {
        match self {
            Level::V2 | Level::Neon => Some(128),
            Level::V3 => Some(256),
            Level::V4 => None,
        }
    }

    /// LLVM's name.
    pub fn cpu(self) -> &'static str {
        match self {
            Level::V2 => "x86-64-v2",
            Level::V3 => "x86-64-v3",
            Level::V4 => "x86-64-v4",
            Level::Neon => "generic",
        }
    }

    /// Whether a multiplication and an addition are one instruction.
    pub fn has_fma(self) -> bool {
        self != Level::V2
    }

    /// Whether halves are converted by an instruction.
    pub fn has_f16c(self) -> bool {
        self != Level::V2
    }
}

/// A target machine.
pub struct Machine {
    pub raw: LLVMTargetMachineRef,
    name: String,
    effort: Effort,
    triple: CString,
    /// What it can do.
    pub level: Level,
}

// SAFETY: a machine has no tie to the thread that made it, and one thread at a time has it.
unsafe impl Send for Machine {}

/// Machines that nobody uses.
static IDLE: Mutex<Vec<Machine>> = Mutex::new(Vec::new());
/// More than as many are not kept.
const MAX_IDLE: usize = 16;

/// LLVM's table of targets is global and filled once.
static INITIALISED: Once = Once::new();

impl Machine {
    /// For `triple:cpu`; one that was kept, if there is one.
    pub fn take(target: &str, effort: Effort) -> Result<Self, Error> {
        let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
        let found = idle.iter().position(|Machine { name, effort: e, .. }| name == target && *e == effort);
        match found {
            Some(i) => Ok(idle.swap_remove(i)),
            None => {
                drop(idle);
                Machine::new(target, effort)
            }
        }
    }

    /// Keeps it for the next kernel: it holds the tables of instruction selection, which take as long to make as the code of a
    /// small kernel.
    pub fn keep(self) {
        let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < MAX_IDLE {
            idle.push(self);
        }
    }

    fn new(target: &str, effort: Effort) -> Result<Self, Error> {
        INITIALISED.call_once(|| {
            // SAFETY: fills LLVM's registries; `Once` keeps it to one thread.
            unsafe {
                LLVMInitializeX86TargetInfo();
                LLVMInitializeX86Target();
                LLVMInitializeX86TargetMC();
                LLVMInitializeX86AsmPrinter();
                #[cfg(feature = "aarch64")]
                {
                    LLVMInitializeAArch64TargetInfo();
                    LLVMInitializeAArch64Target();
                    LLVMInitializeAArch64TargetMC();
                    LLVMInitializeAArch64AsmPrinter();
                }
            }
        });
        let refuse = |why: &str| Error::Target(target.to_owned(), why.to_owned());
        let (triple, cpu) = target.split_once(':').ok_or_else(|| refuse("expected triple:cpu"))?;
        let level = Level::find(triple, abi::instructions(cpu)).map_err(refuse)?;
        let (triple, cpu_name) = (c_string(triple), c_string(level.cpu()));
        let mut found = ptr::null_mut();
        let mut message = ptr::null_mut();
        // SAFETY: the triple is a C string; results are written to the two pointers.
        if unsafe { LLVMGetTargetFromTriple(triple.as_ptr(), &mut found, &mut message) } != 0 {
            return Err(refuse(&take_message(message)));
        }
        let level_of_effort = match effort {
            Effort::Full => LLVMCodeGenOptLevel::LLVMCodeGenLevelDefault,
            Effort::Quick => LLVMCodeGenOptLevel::LLVMCodeGenLevelLess,
            Effort::None => LLVMCodeGenOptLevel::LLVMCodeGenLevelNone,
        };
        // SAFETY: the target was found; strings live through the call.
        let raw = unsafe {
            LLVMCreateTargetMachine(
                found,
                triple.as_ptr(),
                cpu_name.as_ptr(),
                c"".as_ptr(),
                level_of_effort,
                LLVMRelocMode::LLVMRelocPIC,
                LLVMCodeModel::LLVMCodeModelSmall,
            )
        };
        if raw.is_null() {
            return Err(refuse("no such machine"));
        }
        Ok(Machine { raw, name: target.to_owned(), effort, triple, level })
    }

    /// Tells a module what it is for.
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
        let kind = match output {
            Output::Object => LLVMCodeGenFileType::LLVMObjectFile,
            Output::Assembly => LLVMCodeGenFileType::LLVMAssemblyFile,
        };
        let mut message = ptr::null_mut();
        let mut buffer = ptr::null_mut();
        // SAFETY: machine and module are valid; results are written to the two pointers.
        let failed =
            unsafe { LLVMTargetMachineEmitToMemoryBuffer(self.raw, module.raw, kind, &mut message, &mut buffer) } != 0;
        if failed {
            return Err(Error::Internal(take_message(message)));
        }
        // SAFETY: on success the buffer is valid and ours; its bytes are copied before it is freed.
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
