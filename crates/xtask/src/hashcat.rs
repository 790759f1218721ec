//! `hashcat`: the pass over hashcat's kernels, 1200 large sources that were written for GPUs. Each is built the way
//! hashcat builds it, its kernels are created, and their code is made.

use crate::outcome::Outcome;
use crate::packages;
use crate::tools::{cargo, must, target};
use anyhow::{Context, Result};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// Where the package has them.
const KERNELS: &str = "/usr/share/hashcat/OpenCL";

/// The options that hashcat passes for every source, on a CPU of no known vendor.
const OPTIONS: &str = "-D KERNEL_STATIC -D INCLUDE_PATH=/usr/share/hashcat/OpenCL -D XM2S(x)=#x -D M2S(x)=XM2S(x) \
    -D LOCAL_MEM_TYPE=2 -D VENDOR_ID=2147483648 -D CUDA_ARCH=0 -D HAS_ADD=0 -D HAS_ADDC=0 -D HAS_SUB=0 -D HAS_SUBC=0 -D HAS_VADD=0 \
    -D HAS_VADDC=0 -D HAS_VADD_CO=0 -D HAS_VADDC_CO=0 -D HAS_VSUB=0 -D HAS_VSUBB=0 -D HAS_VSUB_CO=0 -D HAS_VSUBB_CO=0 -D HAS_VPERM=0 \
    -D HAS_VADD3=0 -D HAS_VBFE=0 -D HAS_BFE=0 -D HAS_LOP3=0 -D HAS_MOV64=0 -D HAS_PRMT=0 -D VECT_SIZE=1 -D DEVICE_TYPE=2";

/// Which words of a digest are compared. hashcat's modules say it for each kind of hash; the code differs in constant
/// indices only.
const DIGEST: &str = "-D DGST_R0=0 -D DGST_R1=3 -D DGST_R2=2 -D DGST_R3=1 -D DGST_ELEM=16";

/// Additional options of some modules: sizes of scrypt, work-items of a group, a salt.
const SPECIAL: &[(&[&str], &str)] = &[
    (
        &["m08900", "m15700", "m22700", "m27700", "m28200"],
        "-D SCRYPT_N=16384 -D SCRYPT_R=8 -D SCRYPT_P=1 -D SCRYPT_TMTO=1 -D SCRYPT_TMP_ELEM=65536",
    ),
    (&["m01500"], "-D DESCRYPT_SALT=0"),
    (
        &[
            "m03200", "m07500", "m09000", "m097", "m098", "m104", "m10500", "m13100", "m18200", "m25400", "m25600",
            "m25800", "m28400",
        ],
        "-D FIXED_LOCAL_SIZE=1",
    ),
    (&["m18600"], "-D FIXED_LOCAL_SIZE_COMP=1"),
];

/// A line for the builder: the file, a tab, its options.
fn line(path: &Path, name: &str) -> String {
    let number = name.get(1..6).and_then(|n| n.parse().ok()).unwrap_or(0u32);
    // How candidates come: from a list with rules, from two lists, from a mask; slow hashes have one source for all.
    let attack = ["_a0", "_a1", "_a3"].into_iter().find(|a| name.contains(a));
    let kind = attack.map_or("0", |a| &a[2..]);
    let place = if attack.is_some() { 11 } else { 10 };
    let mut options = format!(
        "{OPTIONS} {DIGEST} -D KERN_TYPE={number} -D ATTACK_EXEC={place} -D ATTACK_KERN={kind} -D ATTACK_MODE={kind} -w"
    );
    for (names, more) in SPECIAL {
        if names.iter().any(|n| name.starts_with(n)) {
            let _ = write!(options, " {more}");
        }
    }
    format!("{}\t{options}\n", path.display())
}

/// Builds all sources, or those whose names begin with one of the arguments.
pub fn run(args: &[String]) -> Result<Outcome> {
    packages::ensure()?;
    packages::install(&["hashcat-data"])?;
    must(&mut cargo(&["build", "--release", "--package", "cloom-capi", "--lib", "--example", "build_all"]))?;
    let mut list = String::new();
    let mut paths: Vec<_> = std::fs::read_dir(KERNELS)
        .with_context(|| format!("cannot read {KERNELS}"))?
        .filter_map(|e| Some(e.ok()?.path()))
        .collect();
    paths.sort();
    for path in paths {
        let Some(name) = path.file_name().and_then(|n| n.to_str()) else { continue };
        // Files that begin with `inc_` are included by others.
        let source = name.ends_with(".cl") && !name.starts_with("inc_");
        if source && (args.is_empty() || args.iter().any(|a| name.starts_with(a.as_str()))) {
            list.push_str(&line(&path, name));
        }
    }
    let release = target().join("release");
    let mut child = Command::new(release.join("examples").join("build_all"))
        .env("CLOOM_TEST_LIBRARY", release.join("libcloom.so"))
        .stdin(Stdio::piped())
        .spawn()
        .context("cannot run build_all")?;
    // The pipe is closed at the end of this statement, which ends the list.
    child.stdin.take().context("build_all takes no list")?.write_all(list.as_bytes())?;
    let good = child.wait()?.success();
    Ok(Outcome::of(good))
}
