//! Maps names of instruction sets, as `--cpu` and `CLOOM_CPU` take them, to compilation targets.

use crate::outcome::Failure;
use cloom_caps::cpu::{LEVELS, Level, instructions};
use cloom_hal::Device;
use cloom_hal_cpu::CpuDevice;

/// The target of this machine (`triple:level`), limited to the level `at_most`.
pub fn native(at_most: Option<&str>) -> String {
    CpuDevice::new(1, at_most).info().target.clone()
}

/// The target of a name, whether this machine supports it or not; without a name, the target that the driver uses here.
pub fn target(name: Option<&str>) -> Result<String, Failure> {
    let Some(name) = name else { return Ok(native(cloom_caps::env::CPU.get().as_deref())) };
    let (plain, tuned) = name.split_at(instructions(name).len());
    let is_meant = |l: &&Level| l.is_called(plain) && (tuned.is_empty() || l.may_be_tuned());
    let Some(level) = LEVELS.iter().find(is_meant) else {
        let names: Vec<_> = LEVELS.iter().flat_map(Level::names).collect();
        return Err(Failure::wrong(format!("--cpu {name}: give one of {}", names.join(", "))));
    };
    Ok(level.target() + tuned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cloom_caps::cpu;

    #[test]
    fn levels_are_found_by_both_names() {
        assert_eq!(target(Some("avx512")).unwrap(), target(Some("x86-64-v4")).unwrap());
        assert_eq!(target(Some("avx512+intel")).unwrap(), "x86_64-unknown-linux-gnu:x86-64-v4+intel");
        assert!(target(Some("avx2+intel")).is_err());
        assert!(target(Some("mmx")).unwrap_err().message.contains("sse4.2, avx2, avx512, avx512+intel, neon"));
        let least = cpu::here().next().unwrap();
        assert!(least.is_here() || native(None) != least.target());
        assert!(LEVELS.iter().filter(|l| l.triple != cpu::HOST).all(|l| !l.is_here()));
    }
}
