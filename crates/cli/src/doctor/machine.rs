//! Reports the CPU: its name, the instruction sets that it has, and the one that kernels are compiled for.

use super::Finding;
use crate::cpu;
use cloom_caps::cpu::{here, is_here};
use cloom_caps::env;
use cloom_hal::Device;
use cloom_hal_cpu::CpuDevice;
use cloom_target::Level;

const AREA: &str = "cpu";

/// Checks it.
pub fn look() -> Vec<Finding> {
    let device = CpuDevice::new(0, env::CPU.get().as_deref());
    let info = device.info();
    let mut findings = vec![Finding::info(
        AREA,
        format!("{}, {} threads, {} of memory", info.name, info.compute_units, crate::stats::bytes(info.memory_size)),
    )];
    let chosen = info.target.level();
    for level in here() {
        let Level { name, cpu, brings, .. } = level;
        let has = if is_here(level) { "has" } else { "lacks" };
        let is_chosen = if chosen == Some(level) { "; kernels are compiled for it" } else { "" };
        findings.push(Finding::info(AREA, format!("{has} {name} ({cpu}, {brings}){is_chosen}")));
    }
    if info.target.tuning().fast_gather {
        findings.push(Finding::info(AREA, "kernels are tuned for Intel's processors"));
    }
    if chosen.is_none() {
        findings.push(Finding::problem(
            AREA,
            format!("code would be made for {}, which Cloom does not support", info.target),
            "Cloom needs a CPU with SSE 4.2; in a virtual machine, let it show the host's CPU",
        ));
    } else if env::CPU.get().is_none() && info.target != cpu::native(None) {
        findings.push(Finding::warning(AREA, "not the best level is used", "unset CLOOM_CPU"));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_level_is_chosen() {
        let chosen = look().iter().filter(|f| f.what.contains("compiled for it")).count();
        assert_eq!(chosen, 1, "{:?}", look());
    }
}
