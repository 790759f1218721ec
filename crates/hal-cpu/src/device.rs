//! The device: ties memory, loader and pool to the traits of `cloom_hal`.

use crate::cores::Cores;
use crate::counts::CountsFile;
use crate::kernel::{CpuKernel, cpu_kernel};
use crate::loader::Image;
use crate::memory;
use crate::pool::{self, Clock, Contention};
use crate::resources::Resources;
use crate::topology::Topology;
use crate::{cgroup, info, launch};
use cloom_artifact::{CpuLaunch, KernelArtifact, LaunchForm};
use cloom_hal::{
    Assist, Completion, Device, DeviceInfo, Domain, HalError, HostShared, Kernel, Launch, Memory, Partition, Svm,
    SvmKind, TUNING,
};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock};

/// The CPU of this machine.
pub struct CpuDevice {
    resources: Resources,
    /// Which cores share what; its parts ask it too.
    topology: Arc<Topology>,
    /// Whether the runtime's threads, which it wakes for commands, come in time.
    command_threads: Contention,
}

impl CpuDevice {
    /// The device with `threads` threads and code for at most the level `cpu` (`sse4.2`, `avx2`, `avx512`). 0 threads
    /// are as many as the process may use cores, by its affinity mask and the quota of its control groups. No thread is
    /// started before the first launch.
    pub fn new(threads: usize, cpu: Option<&str>) -> CpuDevice {
        let allowed = std::thread::available_parallelism().map_or(1, usize::from);
        // The quota may allow fewer cores than the mask: with a thread more, the system stops threads in the middle of
        // a chunk.
        let cores = allowed.min(cgroup::cores().unwrap_or(usize::MAX));
        let threads = match threads {
            0 => cores,
            n => n.min(1024),
        };
        let info = info::detect(threads, info::target(cpu));
        let clock = Clock::new();
        let command_threads = Contention::new(clock, cores <= 1);
        let topology = Arc::default();
        let resources = Resources { info, threads, pool: OnceLock::new(), cores, bound: None, clock, counts: None };
        CpuDevice { resources, topology, command_threads }
    }

    /// Reports the operations of each launch to a file, if the code counts them.
    pub fn with_counts(mut self, file: CountsFile) -> CpuDevice {
        self.resources.counts = Some(Arc::new(file));
        self
    }

    /// Overrides the size of the last-level cache, for tests: launches that write more use non-temporal stores.
    pub fn with_cache(mut self, bytes: u64) -> CpuDevice {
        self.resources.info.cache_size = bytes;
        self
    }

    /// Whether launches have had all cores at some moment since then.
    fn had_all_cores(&self, since: u64) -> bool {
        self.resources.pool.get().is_some_and(|pool| pool.had_all_cores(since))
    }

    /// A device in the same memory with so many threads.
    fn with_threads(&self, compute_units: u32, bound: Option<Cores>) -> CpuDevice {
        let Resources { info, cores, clock, counts, .. } = &self.resources;
        let resources = Resources {
            info: DeviceInfo { compute_units, ..info.clone() },
            threads: (compute_units as usize).max(1),
            pool: OnceLock::new(),
            cores: *cores,
            bound,
            clock: *clock,
            counts: counts.clone(),
        };
        let command_threads = Contention::new(*clock, *cores <= 1);
        CpuDevice { resources, topology: self.topology.clone(), command_threads }
    }
}

impl Device for CpuDevice {
    fn info(&self) -> &DeviceInfo {
        &self.resources.info
    }

    fn allocate(&self, size: u64) -> Result<Arc<dyn Memory>, HalError> {
        Ok(Arc::new(memory::allocate(size).ok_or(HalError::OutOfMemory(size))?))
    }

    fn load(
        &self,
        artifact: Arc<KernelArtifact>,
        variables: Option<Arc<dyn Memory>>,
    ) -> Result<Arc<dyn Kernel>, HalError> {
        if !info::runs(&artifact.target) {
            return Err(HalError::BadCode(format!(
                "it was compiled for {}, this is {}",
                artifact.target, self.resources.info.target
            )));
        }
        let LaunchForm::WorkGroup(cpu) = artifact.launch else {
            return Err(HalError::BadCode("it runs a work-item, and a CPU runs work-groups".into()));
        };
        let mut dim_order = cpu.dim_order;
        // The artifact may come from a damaged cache, and an order such as 0, 0, 1 would lose a dimension of the range.
        dim_order.sort_unstable();
        if dim_order != [0, 1, 2] {
            return Err(HalError::BadCode(format!("{:?} is no order of dimensions", cpu.dim_order)));
        }
        let image = Image::load(&artifact.code, &artifact.entry, variables)?;
        let max_group = self.resources.max_group(&cpu);
        Ok(Arc::new(CpuKernel { artifact, cpu, image, max_group, item_time: AtomicU64::new(0) }))
    }

    fn group_limit(&self, bytes_per_item: u64) -> Option<u64> {
        Some(self.resources.max_group(&CpuLaunch { scratch_per_item: bytes_per_item, ..CpuLaunch::SCALAR }))
    }

    /// Runs every group on the calling thread and those of the pool; nothing is pending on return.
    fn submit(&self, launch: &Launch<'_>) -> Result<Completion, HalError> {
        let kernel = cpu_kernel(launch.kernel);
        let kernel = kernel.ok_or_else(|| HalError::BadCode("another device's kernel".into()))?;
        if launch.args.len() < kernel.artifact.arg_block as usize || launch.local_size < kernel.artifact.local_size {
            return Err(HalError::Device("the argument block or local memory is too small".into()));
        }
        // The calling thread runs groups, too.
        let bound = self.resources.bound.as_ref().map(Cores::bind);
        let result = launch::run(&self.resources, kernel, launch);
        drop(bound);
        result?;
        Ok(Completion::Done)
    }

    fn as_host_shared(&self) -> Option<&dyn HostShared> {
        Some(self)
    }

    fn as_svm(&self) -> Option<&dyn Svm> {
        Some(self)
    }

    fn as_partition(&self) -> Option<&dyn Partition> {
        Some(self)
    }

    fn as_assist(&self) -> Option<&dyn Assist> {
        Some(self)
    }
}

impl HostShared for CpuDevice {
    fn wrap(&self, address: usize, size: u64) -> Arc<dyn Memory> {
        Arc::new(memory::wrap(address, size))
    }
}

impl Svm for CpuDevice {
    fn kind(&self) -> SvmKind {
        SvmKind::FineGrainSystem
    }

    fn atomics(&self) -> bool {
        true
    }

    fn allocate(&self, size: u64) -> Result<Arc<dyn Memory>, HalError> {
        Device::allocate(self, size)
    }
}

impl Partition for CpuDevice {
    /// As many threads of its own as compute units. They run where those of the whole do.
    fn part(&self, compute_units: u32) -> Arc<dyn Device> {
        Arc::new(self.with_threads(compute_units, self.resources.bound.clone()))
    }

    fn split(&self, domain: Domain) -> Vec<Vec<u32>> {
        // Threads have a core each only where there are as many.
        let cores = self.resources.bound.clone().or_else(Cores::allowed).map_or_else(Vec::new, |cores| cores.numbers());
        if cores.len() == self.resources.threads { self.topology.split(&cores, domain) } else { Vec::new() }
    }

    fn part_on(&self, cores: &[u32]) -> Arc<dyn Device> {
        Arc::new(self.with_threads(cores.len() as u32, Some(Cores::of(cores))))
    }
}

impl Assist for CpuDevice {
    fn assist(&self, queue: u64, done: &dyn Fn() -> bool, may_migrate: bool) -> bool {
        // An application's thread spins for what it needs; one of the runtime's only for what may come.
        let time = if may_migrate { self.command_threads.spin_time() } else { TUNING.spin_time };
        match self.resources.pool.get() {
            // A thread that is bound for this device would stay so when it works for another.
            Some(pool) => pool.assist(queue, done, may_migrate && self.resources.bound.is_none(), time),
            // Nothing has been launched yet.
            None => pool::spin(time, done),
        }
    }

    fn woke(&self) {
        self.command_threads.woke();
    }

    fn came(&self) {
        self.command_threads.came(|woken| self.had_all_cores(woken));
    }

    fn is_contended(&self) -> bool {
        self.command_threads.is_contended(|woken| self.had_all_cores(woken))
    }
}
