//! The target machine: what code is made for, and making it.

use crate::Error;
use crate::handles::{LlvmModule, c_string, take_message};
use crate::optimise::Effort;
use cloom_caps::cpu;
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

/// What code may use, by `cloom_caps`'s table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Level {
    /// SSE 4.2.
    V2,
    /// AVX2, FMA, F16C.
    V3,
    /// AVX-512.
    V4,
    /// NEON.
    Neon,
}

impl Level {
    /// The level of a target and LLVM's names for machine and CPU, or why there is no code for it.
    pub fn of(target: &str) -> Result<(Self, &'static cpu::Level), String> {
        let of_family = |l: &&cpu::Level| target.split(':').next() == Some(l.triple);
        let Some(found) = cpu::Level::of(target) else {
            let cpus: Vec<_> = cpu::LEVELS.iter().filter(of_family).map(|l| l.cpu).collect();
            return Err(match &*cpus {
                [] if !target.contains(':') => "expected triple:cpu".to_owned(),
                [] => "no code is made for this triple".to_owned(),
                cpus => format!("the CPU must be {}", cpus.join(" or ")),
            });
        };
        if !families().contains(&found.triple) {
            return Err("this compiler is without that machine".to_owned());
        }
        let level = [Level::V2, Level::V3, Level::V4, Level::Neon].into_iter().find(|l| l.cpu() == found.cpu);
        Ok((level.ok_or("no code is made for this CPU")?, found))
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

    /// Bits of a vector register; `None` if masks have registers of their own.
    pub fn mask_register(self) -> Option<u32> {
        match self {
            Level::V2 | Level::Neon => Some(128),
            Level::V3 => Some(256),
            Level::V4 => None,
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

/// The machines that this compiler knows.
fn families() -> &'static [&'static str] {
    if cfg!(feature = "foreign") { &[cpu::X86_64, cpu::AARCH64] } else { &[cpu::HOST] }
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
                #[cfg(any(feature = "foreign", target_arch = "x86_64"))]
                {
                    LLVMInitializeX86TargetInfo();
                    LLVMInitializeX86Target();
                    LLVMInitializeX86TargetMC();
                    LLVMInitializeX86AsmPrinter();
                }
                #[cfg(any(feature = "foreign", target_arch = "aarch64"))]
                {
                    LLVMInitializeAArch64TargetInfo();
                    LLVMInitializeAArch64Target();
                    LLVMInitializeAArch64TargetMC();
                    LLVMInitializeAArch64AsmPrinter();
                }
            }
        });
        let refuse = |why: String| Error::Target(target.to_owned(), why);
        let (level, names) = Level::of(target).map_err(refuse)?;
        let (triple, cpu_name) = (c_string(names.triple), c_string(names.cpu));
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
            return Err(refuse("no such machine".to_owned()));
        }
        // Where nothing is optimised, some targets select instructions in another way, which takes minutes for vectors of more lanes than
        // a register has.
        // SAFETY: the machine was made.
        unsafe { LLVMSetTargetMachineGlobalISel(raw, 0) };
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
