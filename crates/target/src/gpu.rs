//! The properties of GPUs that code generation needs.
//!
//! The figures are those of the table of compute capabilities in the CUDA programming guide.

/// The properties of a GPU that decide how many groups a multiprocessor runs at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Gpu {
    /// Work-items that run in lockstep.
    pub warp_size: u32,
    /// Registers of 32 bits of a multiprocessor.
    pub registers: u32,
    /// Bytes of shared (local) memory of a multiprocessor.
    pub shared_memory: u32,
}

impl Gpu {
    /// NVIDIA's GPU of a compute capability (`sm_90`). `None` before 7.0, which lacks independent thread scheduling.
    pub fn nvidia(cpu: &str) -> Option<Gpu> {
        let capability: u32 = cpu.strip_prefix("sm_")?.parse().ok()?;
        let kib = match capability {
            ..70 => return None,
            70 | 72 => 96,
            75 => 64,
            80 | 87 => 164,
            86 | 89 => 100,
            90 | 100 => 228,
            // The smallest shared memory of any of them.
            _ => 64,
        };
        Some(Gpu { warp_size: 32, registers: 64 << 10, shared_memory: kib << 10 })
    }
}
