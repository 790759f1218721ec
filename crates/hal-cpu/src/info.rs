//! What this CPU is: from `/proc/cpuinfo`, `/sys` and the instruction `cpuid`. Everything has a fallback.

use cloom_hal::DeviceInfo;
use cloom_ir::abi;
use std::fs;

/// Levels of the x86-64 psABI that code is made for, best last. A level stands for a set of features, and every CPU of the
/// last decade has one of them.
const LEVELS: [&str; 4] = ["x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"];

/// The triple and level that code for this machine is compiled for. `wanted` (a level, or `sse4.2`, `avx2`, `avx512`) lowers it, or says
/// whether it is tuned for Intel's processors (`avx512+intel`).
pub fn target(wanted: Option<&str>) -> String {
    let best = best_level();
    let wished = wanted.and_then(|w| w.strip_suffix(abi::INTEL));
    let level = match wished.or(wanted) {
        Some("sse4.2" | "x86-64-v2") => 1,
        Some("avx2" | "x86-64-v3") => 2,
        Some("avx512" | "x86-64-v4") => 3,
        Some("x86-64") => 0,
        _ => best,
    };
    let level = level.min(best);
    let tuned = level == TUNED && (wished.is_some() || wanted.is_none() && is_like_intel());
    format!("{TRIPLE}:{}{}", LEVELS[level], if tuned { abi::INTEL } else { "" })
}

/// Whether code for `target` runs here.
pub fn runs(target: &str) -> bool {
    let level = target.strip_prefix(TRIPLE).and_then(|rest| rest.strip_prefix(':'));
    let level = level.map(abi::instructions);
    LEVELS.iter().position(|&l| Some(l) == level).is_some_and(|l| l <= best_level())
}

/// The level that is tuned.
const TUNED: usize = 3;

/// Whether the machine gathers faster than it loads lane by lane: Intel's processors do (a Xeon of 2023 took a quarter to two fifths of the
/// time where kernels read scattered numbers, Zen 5 1.1 to 1.3 times as long), unless the system has slowed gathers down to keep what they
/// read secret.
fn is_like_intel() -> bool {
    let slowed = || {
        let secret = fs::read_to_string("/sys/devices/system/cpu/vulnerabilities/gather_data_sampling");
        secret.is_ok_and(|text| text.starts_with("Mitigation"))
    };
    vendor() == *b"GenuineIntel" && !slowed()
}

/// The processor's vendor as it says itself.
fn vendor() -> [u8; 12] {
    let mut name = [0; 12];
    #[cfg(target_arch = "x86_64")]
    {
        let leaf = std::arch::x86_64::__cpuid(0);
        let words = [leaf.ebx, leaf.edx, leaf.ecx].map(u32::to_le_bytes);
        name.copy_from_slice(words.as_flattened());
    }
    name
}

const TRIPLE: &str = "x86_64-unknown-linux-gnu";

fn best_level() -> usize {
    macro_rules! have {
        ($($feature:tt)*) => { $(std::arch::is_x86_feature_detected!($feature))&&* };
    }
    if !have!("sse3" "ssse3" "sse4.1" "sse4.2" "popcnt" "cmpxchg16b") {
        0
    } else if !have!("avx" "avx2" "bmi1" "bmi2" "f16c" "fma" "lzcnt" "movbe") {
        1
    } else if !have!("avx512f" "avx512bw" "avx512cd" "avx512dq" "avx512vl") {
        2
    } else {
        3
    }
}

/// Describes the machine; `threads` is how many will work.
pub fn detect(threads: usize, target: String) -> DeviceInfo {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |key: &str| {
        cpuinfo.lines().find_map(|l| {
            let (k, v) = l.split_once(':')?;
            (k.trim() == key).then(|| v.trim().to_owned())
        })
    };
    let vendor = field("vendor_id").unwrap_or_else(|| "unknown".into());
    DeviceInfo {
        name: field("model name").unwrap_or_else(|| "CPU".into()),
        vendor_id: match vendor.as_str() {
            "GenuineIntel" => 0x8086,
            "AuthenticAMD" => 0x1022,
            _ => 0,
        },
        vendor,
        vector_bits: if target.ends_with("v4") {
            512
        } else if target.ends_with("v3") {
            256
        } else {
            128
        },
        target,
        compute_units: threads as u32,
        clock_mhz: clock_mhz().or_else(|| Some(field("cpu MHz")?.parse::<f64>().ok()? as u32)).unwrap_or(1000),
        memory_size: memory_size(),
        local_memory: 512 << 10,
        cache_size: cache_size().unwrap_or(8 << 20),
        cache_line: 64,
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
    sizes.max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wish_lowers_the_level_and_never_raises_it() {
        assert!(target(Some("sse4.2")).ends_with("x86-64-v2"));
        assert!(runs(&target(Some("avx512"))));
        assert!(runs(&target(None)));
        assert!(runs(&target(Some("avx512+intel"))) && !target(Some("avx2+intel")).ends_with(abi::INTEL));
        assert!(!runs("nvptx64-nvidia-cuda:sm_90"));
        assert!(!runs("x86_64-unknown-linux-gnu:x86-64-v9"));
    }

    #[test]
    fn the_machine_has_a_name_memory_and_a_thread() {
        let info = detect(3, target(None));
        assert_eq!(info.compute_units, 3);
        assert!(!info.name.is_empty() && info.memory_size >= 1 << 28 && info.cache_size >= 1 << 15);
    }
}
