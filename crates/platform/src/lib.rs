//! The devices of this machine, and the platform on them: what the C interface and the Rust crate begin with.
//!
//! In come options, whose defaults are the environment variables of Cloom; out come the devices, or a platform with
//! them, and warnings for the user: a name that is no kind of device, a CPU without the instructions asked for.

#![forbid(unsafe_code)]

mod check;

use cloom_caps::{DeviceKind, env};
use cloom_hal::Device;
use cloom_hal_cpu::{Choice, fpenv};
use cloom_hal_cuda::DirectoryCache;
use cloom_hal_remote::{Program, remote};
use cloom_runtime::{Compiler, Config, Engine, Hooks, Platform, Printer};
use std::sync::Arc;
use std::time::Duration;

/// Which devices, and how. The default is what the environment says.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// The kinds of devices, in their order; `None`: `CLOOM_DEVICES`, or the CPU and then the GPUs.
    pub kinds: Option<Vec<DeviceKind>>,
    /// How many threads the CPU runs kernels on; 0: `CLOOM_THREADS`, or as many as there are cores.
    pub threads: usize,
    /// The set of instructions of the CPU (`sse4.2`, `avx2`, `avx512`, `neon`); `None`: `CLOOM_CPU`, or the best that
    /// the machine has.
    pub cpu: Option<String>,
}

/// The devices of this machine.
pub struct Found {
    /// The devices; the first one is the default.
    pub devices: Vec<Arc<dyn Device>>,
    /// What the user should know, a line each.
    pub warnings: Vec<String>,
}

/// Looks for the devices.
pub fn devices(options: &Options) -> Found {
    let (kinds, wrong) = match &options.kinds {
        Some(kinds) => (kinds.clone(), Vec::new()),
        None => kinds(env::DEVICES.get().as_deref()),
    };
    let mut warnings: Vec<String> =
        wrong.iter().map(|name| format!("{}: `{name}` is neither cpu nor gpu", env::DEVICES.name)).collect();
    let mut devices = Vec::new();
    for kind in kinds {
        match kind {
            DeviceKind::Cpu => devices.extend(cpu(options, &mut warnings)),
            DeviceKind::Gpu => devices.extend(gpus()),
            // Cloom has none.
            DeviceKind::Accelerator => {}
        }
    }
    Found { devices, warnings }
}

/// A platform with the devices of this machine, of which there may be none, and warnings for the user. `print` gets the
/// output of kernels.
pub fn platform(options: &Options, print: Printer) -> (Arc<Platform>, Vec<String>) {
    // The caller may be a thread with another rounding mode or traps.
    let _float_env = fpenv::enter(false);
    let compiler = Compiler::from_env();
    let checker = check::from_env(&compiler);
    // Ten seconds are what a person waits.
    let seconds = env::SAFE_SECONDS.get().and_then(|text| text.parse().ok()).filter(|&seconds: &u32| seconds > 0);
    let hooks = Hooks {
        print,
        enter_float_env: || Box::new(fpenv::enter(false)),
        checker,
        bounds_checks: env::SAFE.is_on(),
        time_limit: Duration::from_secs(seconds.unwrap_or(10).into()),
    };
    let engine = Engine::new(compiler, hooks);
    let Found { devices, warnings } = devices(options);
    (Platform::new(engine, devices), warnings)
}

/// The kinds in a list, each once, and what in it is none; both kinds where there is no list.
fn kinds(list: Option<&str>) -> (Vec<DeviceKind>, Vec<String>) {
    let (mut kinds, mut wrong) = (Vec::new(), Vec::new());
    for name in list.unwrap_or(env::DEVICES.default).split(',').map(str::trim).filter(|name| !name.is_empty()) {
        match name {
            "cpu" if !kinds.contains(&DeviceKind::Cpu) => kinds.push(DeviceKind::Cpu),
            "gpu" if !kinds.contains(&DeviceKind::Gpu) => kinds.push(DeviceKind::Gpu),
            "cpu" | "gpu" => {}
            _ => wrong.push(name.to_owned()),
        }
    }
    (kinds, wrong)
}

fn cpu(options: &Options, warnings: &mut Vec<String>) -> Option<Arc<dyn Device>> {
    let choice = Choice::new(options.threads, options.cpu.as_deref());
    warnings.extend(choice.warnings);
    match choice.device {
        Ok(cpu) => Some(Arc::new(cpu)),
        Err(why) => {
            warnings.push(format!("{}: {why}; the CPU is not offered", env::CPU.name));
            None
        }
    }
}

/// The GPUs of this machine. Their machine code is kept beside the compiled kernels.
fn gpus() -> Vec<Arc<dyn Device>> {
    let folder = Config::from_env().cache_dir.map(|folder| folder.join("cubin"));
    if let Some(path) = env::GPU_HELPER.path() {
        // They are only looked at here; the helper keeps the machine code.
        let found = cloom_hal_cuda::devices(None);
        let program = Program { path, cache: folder };
        return shared(remote(&found.devices, program));
    }
    shared(cloom_hal_cuda::devices(folder.map(DirectoryCache::shared)).devices)
}

fn shared<D: Device + 'static>(devices: Vec<D>) -> Vec<Arc<dyn Device>> {
    devices.into_iter().map(|device| Arc::new(device) as Arc<dyn Device>).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_names_kinds_in_their_order() {
        assert_eq!(kinds(None).0, [DeviceKind::Cpu, DeviceKind::Gpu]);
        assert_eq!(kinds(Some("gpu, cpu,gpu")), (vec![DeviceKind::Gpu, DeviceKind::Cpu], vec![]));
        assert_eq!(kinds(Some("gpu,tpu")), (vec![DeviceKind::Gpu], vec!["tpu".to_owned()]));
    }

    #[test]
    fn a_set_of_instructions_that_no_machine_has_is_a_warning() {
        let options = Options { kinds: Some(vec![DeviceKind::Cpu]), cpu: Some("z80".into()), ..Options::default() };
        let found = devices(&options);
        assert!(found.devices.is_empty() && found.warnings.len() == 1, "{:?}", found.warnings);
        assert!(found.warnings[0].contains("z80"), "{:?}", found.warnings);
    }
}
