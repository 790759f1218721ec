//! How much is tried on a module.
//!
//! The lists of passes are in `cpp/pipeline.cpp`. They are short on purpose: kernels come already inlined and in SSA
//! form, so the standard pipelines spend most of their time looking for work (0.7 ms against 3.7 ms on a kernel of 200
//! instructions, with the same code).
//!
//! Several of LLVM's passes take time in the square of the number of blocks (a `switch` of 4000 cases that fall
//! through: 9 s), so that less is tried on large functions, and nothing on huge ones: programs come from anywhere, and
//! a build has to end.

use crate::handles::LlvmModule;
use crate::own_passes::{IN_CPP, PassRecord};
use crate::target::Machine;
use llvm_sys::prelude::LLVMModuleRef;
use llvm_sys::target_machine::LLVMTargetMachineRef;

unsafe extern "C" {
    /// Of `cpp/pipeline.cpp`.
    fn cloom_llvm_run_passes(
        module: LLVMModuleRef,
        machine: LLVMTargetMachineRef,
        effort: std::ffi::c_int,
        records: *mut PassRecord,
    );
    /// Of `cpp/pipeline.cpp`.
    fn cloom_llvm_run_own_passes(module: LLVMModuleRef, machine: LLVMTargetMachineRef, records: *mut PassRecord);
    /// Of `cpp/pipeline.cpp`.
    fn cloom_llvm_spoil(module: LLVMModuleRef);
}

/// So many loops are too many for strength reduction.
const MANY_LOOPS: usize = 700;

/// How much is tried.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Effort {
    /// Instructions are translated one by one.
    None,
    /// The same for functions with vectors. The unoptimised instruction selection does not terminate on some shuffles
    /// of narrow lanes (LLVM 19); that of optimised code does.
    Plain,
    /// What is nearly linear in time.
    Quick,
    /// Everything.
    Full,
}

impl Effort {
    /// The effort for a function with so many blocks, loops and instructions. Loops count because loop strength
    /// reduction, which every effort but the lowest includes, takes time in the cube of their number: 16 s for 1200
    /// loops, which come from 400 barriers.
    pub fn of(blocks: usize, loops: usize, insts: usize) -> Effort {
        match () {
            // First: many loops count even in a function of few blocks and instructions.
            () if loops > MANY_LOOPS => Effort::None,
            () if blocks <= 1_000 && insts <= 40_000 => Effort::Full,
            () if blocks <= 8_000 && insts <= 150_000 => Effort::Quick,
            () => Effort::None,
        }
    }

    /// What replaces [`Effort::None`] on functions with vectors and so many loops.
    pub fn of_vectors(loops: usize) -> Effort {
        if loops <= MANY_LOOPS { Effort::Plain } else { Effort::None }
    }
}

/// Optimises a verified module in place, with the own passes that are on. For a GPU, its control flow is reducible
/// afterwards, whatever the effort.
pub fn run(module: &LlvmModule<'_>, machine: &Machine, effort: Effort, records: &mut [PassRecord; IN_CPP]) {
    let effort = match effort {
        Effort::None | Effort::Plain => 0,
        Effort::Quick => 1,
        Effort::Full => 2,
    };
    // SAFETY: module and machine are valid, the module is used by this thread alone, and there is a record for each
    // pass in C++.
    unsafe { cloom_llvm_run_passes(module.raw, machine.raw, effort, records.as_mut_ptr()) }
}

/// Runs the own passes in C++ that are on, and no pass of LLVM.
pub fn run_own_passes(module: &LlvmModule<'_>, machine: &Machine, records: &mut [PassRecord; IN_CPP]) {
    // SAFETY: the module is valid and used by this thread alone, the machine is valid, and there is a record for
    // each pass in C++.
    unsafe { cloom_llvm_run_own_passes(module.raw, machine.raw, records.as_mut_ptr()) }
}

/// Makes the results of a module wrong, as a test that plants a miscompilation wants it.
pub fn spoil(module: &LlvmModule<'_>) {
    // SAFETY: the module is valid, and used by this thread alone.
    unsafe { cloom_llvm_spoil(module.raw) }
}

#[cfg(test)]
mod tests {
    use super::Effort;

    #[test]
    fn large_functions_get_less() {
        assert_eq!(Effort::of(100, 50, 5_000), Effort::Full);
        assert_eq!(Effort::of(4_000, 50, 20_000), Effort::Quick);
        assert_eq!(Effort::of(100, 50, 100_000), Effort::Quick);
        assert_eq!(Effort::of(2_000, 1_200, 20_000), Effort::None);
        assert_eq!(Effort::of(100_000, 1, 300_000), Effort::None);
        assert_eq!(Effort::of_vectors(1), Effort::Plain);
        assert_eq!(Effort::of_vectors(1_200), Effort::None);
    }
}
