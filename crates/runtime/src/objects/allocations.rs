//! The allocations of shared virtual memory of a context, by address: kept to free them and to answer queries.
//! `memory::svm` and `memory::usm` make them.

use crate::status::bail;
use crate::{Device, Result};
use cloom_hal::Memory;
use cloom_hal::lock::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Whose memory an allocation is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UsmKind {
    /// The host's, which all devices access.
    Host,
    /// A device's.
    Device,
    /// The host's and a device's.
    Shared,
}

/// What an allocation was asked for with.
#[derive(Clone)]
pub struct Usm {
    /// Whose it is.
    pub kind: UsmKind,
    /// The device it belongs to.
    pub device: Option<Arc<Device>>,
    /// Bytes.
    pub size: u64,
    /// `cl_mem_alloc_flags_intel`
    pub flags: u64,
}

/// The allocations of a context by address.
#[derive(Default)]
pub(crate) struct Allocations(Mutex<BTreeMap<usize, Allocation>>);

/// The memory of an allocation; one of unified shared memory says what it is.
type Allocation = (Arc<dyn Memory>, Option<Usm>);

impl Allocations {
    /// Keeps an allocation. Returns its address.
    pub fn add(&self, memory: Arc<dyn Memory>, usm: Option<Usm>) -> Result<usize> {
        let Some(address) = memory.host_address() else {
            bail!(OutOfResources, "the device gave shared memory without an address");
        };
        self.0.lock().insert(address, (memory, usm));
        Ok(address)
    }

    /// The allocation of unified shared memory that an address lies in, and where it begins.
    pub fn usm_at(&self, address: usize) -> Option<(usize, Usm)> {
        let allocations = self.0.lock();
        // The last allocation that begins at the address or before it is the only one that the address can lie in.
        let (&begin, (_, usm)) = allocations.range(..=address).next_back()?;
        let usm = usm.as_ref().filter(|usm| ((address - begin) as u64) < usm.size)?;
        Some((begin, usm.clone()))
    }

    /// Gives up the allocation that begins at an address, if there is one: its memory is freed with the result.
    pub fn remove(&self, address: usize) -> Option<Arc<dyn Memory>> {
        self.0.lock().remove(&address).map(|(memory, _)| memory)
    }

    /// The memory of all allocations.
    pub fn all(&self) -> Vec<Arc<dyn Memory>> {
        self.0.lock().values().map(|(memory, _)| memory.clone()).collect()
    }

    /// Bytes from an address to the end of its allocation; `None` if it is in none.
    pub fn room(&self, address: usize) -> Option<u64> {
        let allocations = self.0.lock();
        let (begin, (memory, _)) = allocations.range(..=address).next_back()?;
        memory.size().checked_sub((address - begin) as u64).filter(|&room| room > 0)
    }
}
