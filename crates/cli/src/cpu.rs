//! Maps names of instruction sets, as `--cpu` and `CLOOM_CPU` take them, to compilation targets.

use crate::outcome::Failure;
use cloom_hal::Device;
use cloom_hal_cpu::CpuDevice;
use cloom_target::{Architecture, LEVELS, Level, Target, cpu};

/// The target of this machine, limited to the level `at_most`.
pub fn native(at_most: Option<&str>) -> Target {
    CpuDevice::new(1, at_most).info().target.clone()
}

/// The target of a name, whether this machine supports it or not; without a name, the target that the driver uses here.
pub fn target(name: Option<&str>) -> Result<Target, Failure> {
    let Some(name) = name else { return Ok(native(cloom_caps::env::CPU.get().as_deref())) };
    if let Ok(gpu) = Target::gpu(name) {
        return Ok(gpu);
    }
    let found = [Architecture::X86_64, Architecture::AArch64].iter().find_map(|&a| cpu::named(a, name));
    found.ok_or_else(|| {
        let names: Vec<_> = LEVELS.iter().flat_map(Level::names).collect();
        Failure::wrong(format!("--cpu {name}: give one of {}, or a GPU such as sm_90", names.join(", ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_found_by_both_names() {
        assert_eq!(target(Some("avx512")).unwrap(), target(Some("x86-64-v4")).unwrap());
        assert_eq!(target(Some("avx512+intel")).unwrap().name(), "x86_64-unknown-linux-gnu:x86-64-v4+intel");
        assert!(target(Some("avx2+intel")).is_err());
        assert!(target(Some("mmx")).unwrap_err().message.contains("sse4.2, avx2, avx512, avx512+intel, neon"));
    }
}
