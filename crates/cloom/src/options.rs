//! Options of a context with a platform of its own.

use cloom_runtime::DeviceKind;
use std::fmt;

/// Receives the output of kernels, as bytes.
pub type Printer = Box<dyn Fn(&[u8]) + Send + Sync>;

/// Options of a context. The default is read from the environment variables of Cloom.
#[derive(Default)]
pub struct Options {
    /// The kinds of devices; `None`: `CLOOM_DEVICES`, or the CPU and then the GPUs.
    pub kinds: Option<Vec<DeviceKind>>,
    /// How many threads run kernels on the CPU; 0: `CLOOM_THREADS`, or as many as there are cores.
    pub threads: usize,
    /// The set of instructions of the CPU (`sse4.2`, `avx2`, `avx512`, `neon`); `None`: `CLOOM_CPU`, or the best that
    /// the machine has.
    pub cpu: Option<String>,
    /// Whether events of the context's own queue have times. Launches then wait for the optimised code of their kernel.
    pub profiling: bool,
    /// Receives the output of kernels; `None`: standard output.
    pub printer: Option<Printer>,
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Options { kinds, threads, cpu, profiling, printer } = self;
        let mut all = f.debug_struct("Options");
        all.field("kinds", kinds).field("threads", threads).field("cpu", cpu).field("profiling", profiling);
        all.field("printer", &printer.is_some()).finish()
    }
}
