//! The instruction sets that code is made for, under the names that `CLOOM_CPU` takes.

use crate::outcome::Failure;
use cloom_hal::Device;
use cloom_hal_cpu::CpuDevice;
use cloom_ir::abi::instructions;

/// Name, level of the x86-64 psABI, and what it brings; the least first.
pub const LEVELS: &[(&str, &str, &str)] = &[
    ("sse4.2", "x86-64-v2", "vectors of 128 bits"),
    ("avx2", "x86-64-v3", "vectors of 256 bits, fused multiply-add, half conversion"),
    ("avx512", "x86-64-v4", "vectors of 512 bits, masks"),
    ("avx512+intel", "x86-64-v4+intel", "the same, tuned for Intel's processors"),
];

/// What code for this machine is compiled for, at most the level named: `triple:level`.
pub fn native(at_most: Option<&str>) -> String {
    CpuDevice::new(1, at_most).info().target.clone()
}

/// Whether this machine runs code of a level.
pub fn runs(level: &str) -> bool {
    // Every processor runs what is tuned for others.
    let wanted = LEVELS.iter().position(|l| l.1 == instructions(level));
    let have = LEVELS.iter().position(|l| instructions(&native(None)).ends_with(l.1));
    wanted.is_some() && wanted <= have
}

/// The target of a name, whether this machine runs it or not; without a name, what the driver would choose here.
pub fn target(name: Option<&str>) -> Result<String, Failure> {
    let Some(name) = name else { return Ok(native(cloom_caps::env::CPU.get().as_deref())) };
    let Some((_, level, _)) = LEVELS.iter().find(|l| l.0 == name || l.1 == name) else {
        let names: Vec<_> = LEVELS.iter().map(|l| l.0).collect();
        return Err(Failure::wrong(format!("--cpu {name}: give one of {}", names.join(", "))));
    };
    let native = native(None);
    let triple = native.split(':').next().unwrap_or_default();
    Ok(format!("{triple}:{level}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_found_by_both_names() {
        assert_eq!(target(Some("avx512")).unwrap(), target(Some("x86-64-v4")).unwrap());
        assert!(target(Some("mmx")).unwrap_err().message.contains("sse4.2, avx2, avx512"));
        assert!(runs("x86-64-v2") || native(None).ends_with(":x86-64"));
        assert!(!runs("x86-64-v9"));
        assert_eq!(runs("x86-64-v4"), runs("x86-64-v4+intel"));
    }
}
