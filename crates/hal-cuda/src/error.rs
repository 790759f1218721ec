//! Errors of the driver, and what they mean for the device.
//!
//! In comes the number that a function returned; out goes a [`Failure`], which becomes a [`HalError`]. After a fault of
//! a kernel the driver fails every call of the process, also for devices that had no part in it, and only another
//! process can go on. So the first such error marks CUDA as *lost* for good, and later calls end before they reach the
//! driver.

use crate::library::{Code, Driver, error_name};
use cloom_cuda_abi::constants::{ERROR_INVALID_VALUE, ERROR_LAUNCH_OUT_OF_RESOURCES, ERROR_OUT_OF_MEMORY};
use cloom_hal::HalError;
use cloom_hal::lock::Mutex;
use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

/// Why no call reaches the driver any more.
static LOST: OnceLock<String> = OnceLock::new();

/// The launches in progress.
static RUNNING: Mutex<Running> = Mutex::new(Running { last: 0, kernels: Vec::new(), free: Vec::new() });

struct Running {
    /// The number of the last launch.
    last: u64,
    /// The number of each launch and the name of its kernel.
    kernels: Vec<Option<(u64, Arc<str>)>>,
    /// The free slots of `kernels`.
    free: Vec<usize>,
}

impl Running {
    /// The names of the kernels, in the order of their launches.
    fn names(&self) -> Vec<Arc<str>> {
        let mut kernels: Vec<_> = self.kernels.iter().flatten().cloned().collect();
        kernels.sort_unstable_by_key(|&(number, _)| number);
        kernels.into_iter().map(|(_, name)| name).collect()
    }
}

/// Kernels that an error names.
const MAX_NAMED: usize = 4;

/// A launch is in progress until the value is dropped: a fault meanwhile may be that kernel's.
pub struct InFlight {
    kernel: Arc<str>,
    /// Its slot in `Running::kernels`.
    at: usize,
}

impl InFlight {
    /// A launch of this kernel.
    pub fn new(kernel: &Arc<str>) -> InFlight {
        let mut running = RUNNING.lock();
        running.last += 1;
        let launch = Some((running.last, kernel.clone()));
        // Slots are used again, so that a launch allocates nothing and finds its entry without a search.
        let at = match running.free.pop() {
            Some(at) => {
                running.kernels[at] = launch;
                at
            }
            None => {
                running.kernels.push(launch);
                running.kernels.len() - 1
            }
        };
        InFlight { kernel: kernel.clone(), at }
    }

    /// Whether it is of this kernel.
    pub fn is_of(&self, kernel: &Arc<str>) -> bool {
        Arc::ptr_eq(&self.kernel, kernel)
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        let mut running = RUNNING.lock();
        running.kernels[self.at] = None;
        running.free.push(self.at);
    }
}

/// The errors after which every call of the process fails.
fn is_sticky(code: Code) -> bool {
    match code {
        // Double-bit error of memory; a link between GPUs.
        214 | 220 => true,
        // Address, time-out, context gone, assertion.
        700 | 702 | 709 | 710 => true,
        // Stack, instruction, alignment, address space, program counter, and any other.
        714..=719 => true,
        _ => false,
    }
}

/// The fault in words.
fn fault(code: Code) -> &'static str {
    match code {
        214 => "its memory has an error that cannot be corrected",
        220 => "a link between GPUs failed",
        700 => "a kernel accessed memory that is not its own",
        702 => "a kernel ran longer than the system allows",
        709 => "its context is gone",
        710 => "an assertion in a kernel failed",
        714 => "a kernel's stack failed",
        715 => "a kernel has an illegal instruction or a trap",
        716 => "a kernel accessed memory at an address that is not aligned",
        717 => "a kernel used an address in the wrong address space",
        718 => "a kernel jumped to no code",
        _ => "a kernel failed",
    }
}

/// A failed call.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The driver's function.
    pub call: &'static str,
    /// Its error code.
    pub code: Code,
    /// The error's name.
    pub name: String,
}

impl Failure {
    /// A call that returned an error.
    pub fn new(driver: &Driver, call: &'static str, code: Code) -> Failure {
        let name = error_name(&driver.table, code);
        if is_sticky(code) && !is_lost() {
            // The driver does not say which kernel it was, so that all launches in flight are named. Only the first
            // fault is kept: calls that fail after it say nothing new.
            let running = RUNNING.lock().names();
            let _ = LOST.set(lost_because(code, &name, running));
        }
        Failure { call, code, name }
    }

    /// As an error of a call that asked for so much memory.
    pub fn of_size(self, size: u64) -> HalError {
        match self.code {
            // A size that no device has is an invalid value for some functions.
            ERROR_OUT_OF_MEMORY | ERROR_INVALID_VALUE => HalError::OutOfMemory(size),
            _ => self.into(),
        }
    }
}

/// The reason in words. `running` are the kernels in progress, in the order of their launches; one of them caused the
/// fault.
fn lost_because(code: Code, name: &str, mut running: Vec<Arc<str>>) -> String {
    let mut seen = BTreeSet::new();
    // A kernel that is in flight several times is named once, at its first launch.
    running.retain(|kernel| seen.insert(kernel.clone()));
    let more = if running.len() > MAX_NAMED { " or another" } else { "" };
    running.truncate(MAX_NAMED);
    let named: Vec<String> = running.iter().map(|kernel| format!("`{kernel}`")).collect();
    let kernel = match named.len() {
        0 => String::new(),
        _ => format!(" (kernel {}{more})", named.join(" or ")),
    };
    format!("the GPU is lost because {}: {name}{kernel}", fault(code))
}

impl From<Failure> for HalError {
    fn from(failure: Failure) -> HalError {
        let Failure { call, code, name } = failure;
        match code {
            // The first fault is what the application has to know, not the error of this call.
            code if is_sticky(code) => lost().unwrap_or(HalError::Device(name)),
            // Here the size is not known. Callers that know it use `of_size`.
            ERROR_OUT_OF_MEMORY => HalError::OutOfMemory(0),
            ERROR_LAUNCH_OUT_OF_RESOURCES => HalError::Device(format!(
                "the launch needs more registers or local memory than a multiprocessor has for a group of this size \
                 ({name}); use smaller groups"
            )),
            _ => HalError::Device(format!("{call}: {name}")),
        }
    }
}

/// The error of every call since a fault; `None` if there was none.
pub fn lost() -> Option<HalError> {
    why_lost().map(|why| HalError::Device(format!("{why}; start the program again")))
}

/// The fault in words, if there was one.
pub fn why_lost() -> Option<&'static str> {
    LOST.get().map(String::as_str)
}

/// Whether the driver must not be called any more.
pub fn is_lost() -> bool {
    LOST.get().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cloom_cuda_abi::constants::{ERROR_NOT_READY, SUCCESS};

    #[test]
    fn only_faults_are_sticky() {
        let of = |code| is_sticky(code);
        assert!([700, 702, 710, 714, 715, 716, 717, 718, 719, 214].into_iter().all(of));
        assert!(
            ![SUCCESS, 1, ERROR_OUT_OF_MEMORY, ERROR_NOT_READY, ERROR_LAUNCH_OUT_OF_RESOURCES, 218, 999]
                .into_iter()
                .any(of)
        );
    }

    #[test]
    fn an_error_says_what_happened_and_what_to_do() {
        let failure = |code| Failure { call: "cuLaunchKernel", code, name: "CUDA_ERROR_X".into() };
        assert_eq!(failure(ERROR_OUT_OF_MEMORY).of_size(7), HalError::OutOfMemory(7));
        assert!(HalError::from(failure(ERROR_LAUNCH_OUT_OF_RESOURCES)).to_string().contains("use smaller groups"));
        assert_eq!(HalError::from(failure(1)), HalError::Device("cuLaunchKernel: CUDA_ERROR_X".into()));
    }

    #[test]
    fn launches_on_their_way_are_named_in_their_order() {
        let ours = || -> Vec<String> {
            let names = RUNNING.lock().names();
            names.iter().filter(|name| name.starts_with("of this test")).map(|name| name[13..].to_owned()).collect()
        };
        let launch = |name: &str| InFlight::new(&format!("of this test {name}").into());
        let (a, b, c) = (launch("a"), launch("b"), launch("c"));
        drop(a);
        let d = launch("d");
        assert_eq!(ours(), ["b", "c", "d"]);
        drop((b, c));
        assert_eq!(ours(), ["d"]);
        drop(d);
        assert!(ours().is_empty());
    }

    #[test]
    fn a_fault_names_the_kernels_that_may_have_caused_it() {
        let lost = |names: &[&str]| lost_because(700, "X", names.iter().map(|&name| name.into()).collect());
        assert!(lost(&[]).ends_with("not its own: X"), "{}", lost(&[]));
        assert!(lost(&["k", "k"]).ends_with("X (kernel `k`)"));
        assert!(lost(&["b", "a", "b"]).ends_with("(kernel `b` or `a`)"));
        assert!(lost(&["a", "b", "c", "d", "e"]).contains("(kernel `a` or `b` or `c` or `d` or another)"));
    }
}
