//! Own passes alone, on LLVM's text form: for file tests.

use crate::handles::{Context, LlvmModule};
use crate::own_passes::{LEGALISE_GPU, LEGALISE_MASKS, OwnPasses};
use crate::{Effort, Error, gpu, masks, optimise, target};
use cloom_passes::{PassId, PassOptions, Statistics};
use cloom_target::Target;

/// Runs those of the [own passes](crate::own_passes) that are `wanted`, and no pass of LLVM, on a module in LLVM's text
/// form. Returns its text afterwards, and what the passes did. The text needs neither triple nor data layout.
pub fn run_own_passes(
    text: &str,
    target: &Target,
    wanted: &[PassId],
    passes: &PassOptions,
) -> Result<(String, Statistics), Error> {
    crate::guard::run(|| {
        let machine = target::Machine::take(target, Effort::Full)?;
        let context = Context::new();
        let llvm = LlvmModule::parse(&context, text)?;
        machine.prepare(&llvm);
        llvm.verify()?;
        let mut own = OwnPasses::only(passes, wanted);
        own.in_cpp(|records| optimise::run_own_passes(&llvm, &machine, records));
        own.step(LEGALISE_MASKS, || masks::widen(&llvm, target.features()));
        own.step(LEGALISE_GPU, || gpu::legalise::run(&llvm));
        llvm.verify()?;
        Ok((llvm.text(), own.into_statistics()))
    })
}
