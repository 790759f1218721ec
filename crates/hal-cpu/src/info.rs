//! Describes this CPU, from `/proc/cpuinfo`, `/sys` and the instruction `cpuid`. Everything has a fallback.

use crate::caps::caps;
use cloom_caps::cpu;
use cloom_hal::{DeviceInfo, uuid};
use cloom_target::Target;
use std::fs;

/// The target for this machine. `wanted` (a level by one of its names) lowers the level, or selects the tuning for
/// Intel's processors (`avx512+intel`). A machine without any of the levels gets the generic target, for which no code
/// is made.
pub fn target(wanted: Option<&str>) -> Target {
    let Some(best) = cpu::best() else { return Target::generic() };
    match wanted {
        Some(name) => cpu::named(name).filter(runs).unwrap_or_else(|| best.target()),
        None if is_like_intel() => best.tuned_for_intel(),
        None => best.target(),
    }
}

/// Whether code for `target` runs here.
pub fn runs(target: &Target) -> bool {
    target.level().is_some_and(cpu::is_here)
}

/// Whether the machine is like Intel's: gathers are faster than loads lane by lane
/// ([`cloom_target::Tuning::fast_gather`]), unless a mitigation of the system makes gathers slow (Downfall).
fn is_like_intel() -> bool {
    let slowed = || {
        let secret = fs::read_to_string("/sys/devices/system/cpu/vulnerabilities/gather_data_sampling");
        secret.is_ok_and(|text| text.starts_with("Mitigation"))
    };
    cpuid_vendor() == *b"GenuineIntel" && !slowed()
}

/// The processor's vendor as it says itself.
fn cpuid_vendor() -> [u8; 12] {
    #[cfg(target_arch = "x86_64")]
    {
        let leaf = std::arch::x86_64::__cpuid(0);
        let words = [leaf.ebx, leaf.edx, leaf.ecx].map(u32::to_le_bytes);
        words.as_flattened().try_into().unwrap_or_default()
    }
    #[cfg(not(target_arch = "x86_64"))]
    [0; 12]
}

/// Vendor and name of an Arm processor, by the numbers in its main ID register.
fn arm_processor(implementer: u32, part: u32) -> (&'static str, String) {
    let vendor = match implementer {
        0x41 => "ARM",
        0x42 => "Broadcom",
        0x43 => "Cavium",
        0x46 => "Fujitsu",
        0x48 => "HiSilicon",
        0x4e => "NVIDIA",
        0x51 => "Qualcomm",
        0x61 => "Apple",
        0x6d => "Microsoft",
        0xc0 => "Ampere",
        _ => "unknown",
    };
    let core = match (implementer, part) {
        (0x41, 0xd03) => "Cortex-A53",
        (0x41, 0xd05) => "Cortex-A55",
        (0x41, 0xd07) => "Cortex-A57",
        (0x41, 0xd08) => "Cortex-A72",
        (0x41, 0xd0b) => "Cortex-A76",
        (0x41, 0xd0c) => "Neoverse-N1",
        (0x41, 0xd40) => "Neoverse-V1",
        (0x41, 0xd49) => "Neoverse-N2",
        (0x41, 0xd4f) => "Neoverse-V2",
        (0x41, 0xd8e) => "Neoverse-N3",
        (0x4e, 0x004) => "Carmel",
        (0xc0, 0xac3) => "Ampere-1",
        (0xc0, 0xac4) => "Ampere-1A",
        _ => return (vendor, format!("{vendor} CPU, part {part:#05x}")),
    };
    (vendor, format!("{vendor} {core}"))
}

/// Describes the machine; `threads` is how many will work.
pub fn detect(threads: usize, target: Target) -> DeviceInfo {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |key: &str| {
        cpuinfo.lines().find_map(|l| {
            let (k, v) = l.split_once(':')?;
            (k.trim() == key).then(|| v.trim().to_owned())
        })
    };
    let number = |key: &str| u32::from_str_radix(field(key)?.strip_prefix("0x")?, 16).ok();
    let arm = number("CPU implementer").map(|maker| arm_processor(maker, number("CPU part").unwrap_or(0)));
    let (vendor, arm_name) = arm.unzip();
    let vendor = field("vendor_id").or_else(|| vendor.map(str::to_owned)).unwrap_or_else(|| "unknown".into());
    // On Arm, the file has numbers instead of names.
    let name = field("model name").or(arm_name).unwrap_or_else(|| "CPU".into());
    // The processor, and not how many of its cores this process may use.
    let [family, model, stepping] = ["cpu family", "model", "stepping"].map(|key| field(key).unwrap_or_default());
    DeviceInfo {
        uuid: uuid(&["CPU", &vendor, &name, &family, &model, &stepping]),
        name,
        vendor_id: match vendor.as_str() {
            "GenuineIntel" => 0x8086,
            "AuthenticAMD" => 0x1022,
            "ARM" => 0x13b5,
            "Apple" => 0x106b,
            "NVIDIA" => 0x10de,
            "Qualcomm" => 0x5143,
            "Ampere" => 0x1def,
            _ => 0,
        },
        vendor,
        vector_bits: target.features().vector_bits,
        compute_units: threads as u32,
        clock_mhz: clock_mhz().or_else(|| Some(field("cpu MHz")?.parse::<f64>().ok()? as u32)).unwrap_or(1000),
        memory_size: memory_size(),
        cache_size: cache_size().unwrap_or(8 << 20),
        cache_line: target.tuning().cache_line,
        caps: caps(),
        gpu: None,
        target,
    }
}

fn clock_mhz() -> Option<u32> {
    let khz = fs::read_to_string("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq").ok()?;
    Some(khz.trim().parse::<u32>().ok()? / 1000)
}

/// The machine's memory, or less if a control group allows less.
fn memory_size() -> u64 {
    let total = fs::read_to_string("/proc/meminfo")
        .ok()
        .and_then(|s| {
            let line = s.lines().find(|l| l.starts_with("MemTotal:"))?;
            line.split_whitespace().nth(1)?.parse::<u64>().ok()
        })
        .map_or(1 << 30, |kib| kib << 10);
    let limit = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"]
        .iter()
        .find_map(|p| fs::read_to_string(p).ok()?.trim().parse::<u64>().ok());
    total.min(limit.unwrap_or(u64::MAX))
}

fn cache_size() -> Option<u64> {
    let sizes = (0..5).filter_map(|i| {
        let text = fs::read_to_string(format!("/sys/devices/system/cpu/cpu0/cache/index{i}/size")).ok()?;
        let text = text.trim();
        let (digits, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
        let scale = match unit {
            "K" => 1 << 10,
            "M" => 1 << 20,
            _ => 1,
        };
        Some(digits.parse::<u64>().ok()? * scale)
    });
    // The last level is the largest.
    sizes.max()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cloom_target::{Architecture, LEVELS};

    #[test]
    fn a_wish_lowers_the_level_and_never_raises_it() {
        let least = cpu::here().next().unwrap();
        assert_eq!(target(Some(least.name)), least.target());
        assert!(cpu::names().iter().all(|name| runs(&target(Some(name)))));
        assert!(runs(&target(None)));
        assert_eq!(target(Some("mmx")), cpu::best().unwrap().target());
        assert!(!runs(&"nvptx64-nvidia-cuda:sm_90".parse().unwrap()));
        assert!(!runs(&Target::generic()));
        let foreign = LEVELS.iter().find(|l| l.architecture != Architecture::HOST).unwrap();
        assert!(!runs(&foreign.target()));
    }

    #[test]
    fn registers_are_as_wide_as_the_level_has_them() {
        for name in cpu::names() {
            let target = target(Some(&name));
            let level = target.level().unwrap();
            assert_eq!(detect(1, target.clone()).vector_bits, level.features.vector_bits, "{target}");
        }
    }

    #[test]
    fn arm_processors_are_named() {
        assert_eq!(arm_processor(0x41, 0xd0c), ("ARM", "ARM Neoverse-N1".to_owned()));
        assert_eq!(arm_processor(0x61, 0x22), ("Apple", "Apple CPU, part 0x022".to_owned()));
    }

    #[test]
    fn the_machine_has_a_name_memory_and_a_thread() {
        let info = detect(3, target(None));
        assert_eq!(info.compute_units, 3);
        assert!(!info.name.is_empty() && info.memory_size >= 1 << 28 && info.cache_size >= 1 << 15);
    }
}
