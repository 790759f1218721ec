//! What the CPU offers: every row of the tables. Kernels work in the host's memory, and the launcher runs on the host.

use cloom_caps::{DeviceCaps, DeviceKind};

/// The capabilities.
pub fn caps() -> DeviceCaps {
    DeviceCaps {
        kind: DeviceKind::Cpu,
        // Local memory is a part of the host's.
        dedicated_local_memory: false,
        native_kernels: true,
        ..DeviceCaps::full().clone()
    }
}
