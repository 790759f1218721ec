//! The pass list. Short on purpose: kernels come already inlined and in SSA form, so the standard pipelines spend most
//! of their time looking for work (0.7 ms against 3.7 ms on a kernel of 200 instructions, with the same code).
//!
//! Several of LLVM's passes take time in the square of the number of blocks (a `switch` of 4000 cases that fall
//! through: 9 s), so that less is tried on large functions, and nothing on huge ones: programs come from anywhere, and
//! a build has to end.

use crate::Error;
use crate::handles::{LlvmModule, c_string};
use crate::target::Machine;
use llvm_sys::error::LLVMGetErrorMessage;
use llvm_sys::transforms::pass_builder::*;

/// `instcombine` would by default end the process if one more iteration still changed something. What is equal after
/// it, `early-cse` finds as well as `gvn`: the code of the gallery is the same, and `gvn` took 45 ms of 140 on a kernel
/// with a thousand loads, as it looks for the store before each of them.
const PASSES: &str = "function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,loop-mssa(licm),\
                      early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg)";

/// For large functions: what is nearly linear.
const QUICK_PASSES: &str = "function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg)";

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

/// Optimises a verified module in place.
pub fn run(module: &LlvmModule<'_>, machine: &Machine, effort: Effort) -> Result<(), Error> {
    let passes = match effort {
        Effort::None | Effort::Plain => return Ok(()),
        Effort::Quick => c_string(QUICK_PASSES),
        Effort::Full => c_string(PASSES),
    };
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
