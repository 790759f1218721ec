//! The memory of a program's variables on a device, which all its kernels share. It lives as long as the build and the
//! code that refers to it.

use crate::{Device, Result};
use cloom_compiler::Program;
use cloom_hal::{Memory, initialised};
use std::sync::Arc;

/// The variables of an executable with their initial values; `None` if it has none.
pub fn variables(device: &Device, program: &Program) -> Result<Option<Arc<dyn Memory>>> {
    let all = program.module().variables();
    if all.size == 0 {
        return Ok(None);
    }
    Ok(Some(initialised(&**device.hal(), all.size, &all.init, &all.relocs)?))
}
