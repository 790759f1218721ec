//! `cloom probe`, the child process of `doctor`: lists the devices that the loader offers in this environment and runs
//! a small kernel on each. It is a process of its own because a driver may crash or hang.

use crate::outcome::{Answer, Exit};
use cloom_gallery::{Found, Session, args, cl};
use serde::{Deserialize, Serialize};

/// What the probe found.
#[derive(Serialize, Deserialize, Debug, Default)]
pub struct Report {
    /// The file of the OpenCL library that was loaded.
    pub library: Option<String>,
    /// Why nothing can be listed.
    pub error: Option<String>,
    /// The devices.
    pub devices: Vec<Device>,
}

/// A device and whether it works.
#[derive(Serialize, Deserialize, Debug)]
pub struct Device {
    /// Its platform.
    pub platform: String,
    /// Its name.
    pub name: String,
    /// What went wrong when it should compute something.
    pub error: Option<String>,
}

/// Prefix of the line with the report; drivers may print other lines before it.
pub const MARK: &str = "cloom-probe/1 ";

/// Runs the probe.
pub fn run() -> Answer {
    let mut report = Report::default();
    match cl::devices() {
        Ok(found) => report.devices = found.iter().map(device).collect(),
        Err(e) => report.error = Some(e.to_string()),
    }
    report.library = loaded_library();
    let json = serde_json::to_string(&report).unwrap_or_default();
    Answer::text(format!("\n{MARK}{json}\n"), Exit::Fine)
}

fn device(found: &Found) -> Device {
    let error = compute(found).err();
    Device { platform: found.platform.clone(), name: found.device.clone(), error }
}

const SOURCE: &str = "kernel void triangle(global uint *out) {
    uint sum = 0;
    for (uint i = 0; i <= get_global_id(0); i++) sum += i;
    out[get_global_id(0)] = sum;
}";

fn compute(found: &Found) -> Result<(), String> {
    const N: u32 = 64;
    // A loop and the ids of all work-items: enough that a driver whose compiler or launch does not work is seen.
    let go = || -> cloom_gallery::Result<Vec<u32>> {
        let session = Session::on(found)?;
        let built = session.build("probe", SOURCE, "")?;
        let kernel = built.kernel("triangle")?;
        let out = session.zeroed::<u32>(N as usize)?;
        session.launch(&kernel, args![&out], &[N as usize], &[])?;
        session.read(&out)
    };
    let got = go().map_err(|e| e.to_string())?;
    let want: Vec<u32> = (0..N).map(|i| i * (i + 1) / 2).collect();
    if got == want { Ok(()) } else { Err(format!("a wrong result: {got:?}")) }
}

/// The file of the OpenCL library that this process has loaded.
pub fn loaded_library() -> Option<String> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let files = || maps.lines().filter_map(|l| Some(&l[l.find('/')?..]));
    let named = |part: &str| files().find(|f| f.rsplit('/').next().is_some_and(|n| n.contains(part)));
    // The map shows real paths, and the variable may name a link.
    let wanted = std::env::var("OPENCL_DYLIB_PATH").ok().and_then(|p| std::fs::canonicalize(p).ok());
    let wanted = wanted.and_then(|p| files().find(|f| std::path::Path::new(f) == p));
    // If Cloom's driver replaces the loader, a link has the loader's name, and the map shows its target.
    wanted.or_else(|| named("libOpenCL")).or_else(|| named(crate::driver::FILE)).map(str::to_owned)
}
