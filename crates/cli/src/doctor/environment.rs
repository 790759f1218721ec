//! Lists and checks environment variables: Cloom's own, from their table, and those of the loaders and the dynamic
//! linker.

use super::Finding;
use cloom_caps::cpu::{is_here, named, names};
use cloom_caps::env;
use serde::Serialize;

const AREA: &str = "settings";

/// A variable.
#[derive(Serialize, Debug)]
pub struct Row {
    /// Its name.
    pub name: String,
    /// Its value here.
    pub value: Option<String>,
    /// What it does.
    pub meaning: String,
}

/// Those that are not Cloom's.
const OTHERS: &[(&str, &str)] = &[
    (
        "OCL_ICD_VENDORS",
        "the folder of .icd files that the loader reads; ocl-icd also takes one .icd file or one driver",
    ),
    ("OCL_ICD_FILENAMES", "drivers for the Khronos loader, separated by colons"),
    ("OPENCL_VENDOR_PATH", "the folder of .icd files, for ocl-icd, unless OCL_ICD_VENDORS is set"),
    ("OPENCL_DYLIB_PATH", "the OpenCL library that programs written in Rust load, this one too"),
    ("LD_LIBRARY_PATH", "folders in which libraries are looked for first, a loader or a driver too"),
    ("LD_PRELOAD", "libraries that every program loads first"),
    ("XDG_CACHE_HOME", "the folder of caches, ~/.cache if it is not set"),
];

/// Every variable and its value.
pub fn rows() -> Vec<Row> {
    let own = env::VARS.iter().map(|v| (v.name, format!("{} (default: {})", v.meaning, v.default)));
    let others = OTHERS.iter().map(|&(name, meaning)| (name, meaning.to_owned()));
    let value = |name: &str| std::env::var_os(name).map(|v| v.to_string_lossy().into_owned()).filter(|v| !v.is_empty());
    own.chain(others).map(|(name, meaning)| Row { name: name.to_owned(), value: value(name), meaning }).collect()
}

/// Findings about invalid values and unknown `CLOOM_…` names.
pub fn judge() -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some(value) = env::CPU.get() {
        findings.extend(judge_cpu(&value));
    }
    findings.extend(env::VARS.iter().filter_map(|v| judge_value(v.name, &v.get()?)));
    findings.extend(
        cloom_compiler::passes::warnings()
            .into_iter()
            .map(|what| Finding::warning(AREA, what, "correct the name, or unset the variable")),
    );
    let known: Vec<&str> = env::VARS.iter().map(|v| v.name).collect();
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        if name.starts_with("CLOOM_") && !known.contains(&&*name) {
            let advice = format!("unset it; the variables are {}", known.join(", "));
            findings.push(Finding::warning(AREA, format!("{name} is set, and Cloom does not know it"), advice));
        }
    }
    findings
}

/// A value that means nothing to Cloom, and what it takes instead.
fn judge_value(name: &str, value: &str) -> Option<Finding> {
    let number = |range: std::ops::RangeInclusive<usize>| value.parse().is_ok_and(|n: usize| range.contains(&n));
    let (is_right, wanted) = match name {
        n if n == env::THREADS.name => (number(1..=usize::MAX), "a number of threads, from 1 on"),
        n if n == env::LANES.name => (number(1..=64), "a number of lanes, from 1 to 64"),
        n if n == env::DEVICES.name => {
            let known = |kind: &str| matches!(kind.trim(), "cpu" | "gpu");
            (value.split(',').all(known), "cpu, gpu or both, separated by commas")
        }
        n if [env::LOG, env::CACHE, env::REMARKS, env::QUICK_START].iter().any(|v| v.name == n) => {
            let words = ["0", "no", "off", "false", "1", "yes", "on", "true"];
            (words.contains(&value), "0 or 1")
        }
        _ => return None,
    };
    let advice = format!("set it to {wanted}, or unset it");
    (!is_right).then(|| Finding::warning(AREA, format!("{name}={value} means nothing"), advice))
}

fn judge_cpu(value: &str) -> Option<Finding> {
    match named(value) {
        None => {
            let what = format!("CLOOM_CPU={value} is not known and ignored");
            Some(Finding::warning(AREA, what, format!("set it to one of {}, or unset it", names().join(", "))))
        }
        // Code of that level would end the process with an illegal instruction, so the driver offers no device.
        Some(target) if !target.level().is_some_and(is_here) => {
            let what = format!("CLOOM_CPU={value} is more than this machine has; the driver offers no device");
            Some(Finding::problem(AREA, what, "unset it"))
        }
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variable_of_the_table_is_listed() {
        let rows = rows();
        for v in env::VARS {
            assert!(rows.iter().any(|r| r.name == v.name));
        }
        for (name, wrong, right) in [
            ("CLOOM_LANES", "abc", "8"),
            ("CLOOM_LANES", "1000", "64"),
            ("CLOOM_LOG", "maybe", "1"),
            ("CLOOM_THREADS", "0", "4"),
            ("CLOOM_DEVICES", "tpu", "gpu,cpu"),
            ("CLOOM_CACHE", "2", "off"),
        ] {
            assert!(judge_value(name, wrong).is_some_and(|f| f.what.contains(wrong)), "{name}={wrong}");
            assert_eq!(judge_value(name, right), None, "{name}={right}");
        }
        assert!(judge_cpu("pentium").is_some());
        assert!(judge_cpu(cloom_caps::cpu::here().next().unwrap().name).is_none());
    }
}
