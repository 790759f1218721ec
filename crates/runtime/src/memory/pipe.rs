//! Pipes: memory objects that kernels alone access, packet by packet.
//!
//! The memory of a pipe is a header and packets (`cloom_ir::abi::pipe`), which built-in functions work on. It has no
//! addresses, so that it is copied between memory spaces as a buffer is. The runtime makes the header; what happens to
//! a pipe later is the kernels' affair.

use crate::memory::object::{KERNEL_ACCESS, MemKind};
use crate::memory::residency::{AccessMode, Residency};
use crate::status::{bail, ensure};
use crate::{Context, Error, MemFlags, MemObject, Result, Status};
use cloom_ir::abi::pipe;
use cloom_ir::{KernelParam, ParamKind};
use std::sync::Arc;

/// What a pipe was made for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pipe {
    /// Bytes of a packet.
    pub packet_size: u32,
    /// How many packets it holds at most.
    pub max_packets: u32,
}

impl Pipe {
    /// Whether a kernel takes a pipe for a parameter.
    pub fn is_parameter(param: &KernelParam) -> bool {
        param.kind == ParamKind::Pipe
    }
}

impl MemObject {
    // OpenCL 3.0 API, 5.4.1: Creating Pipe Objects.
    /// A pipe without packets.
    pub fn new_pipe(context: &Arc<Context>, bits: u64, packet_size: u32, max_packets: u32) -> Result<Arc<MemObject>> {
        let largest = context.devices().iter().filter_map(|d| d.caps().pipes).map(|p| p.packet_size).max();
        let Some(largest) = largest else {
            bail!(InvalidOperation, "no device of the context has pipes");
        };
        let possible = MemFlags::READ_WRITE | MemFlags::HOST_NO_ACCESS;
        let Some(flags) = MemFlags::from_bits(bits).filter(|f| possible.contains(*f)) else {
            bail!(InvalidValue, "memory flags {bits:#x}: pipes know CL_MEM_READ_WRITE and CL_MEM_HOST_NO_ACCESS");
        };
        let flags = match flags {
            none if none.is_empty() => possible,
            some if some.intersects(KERNEL_ACCESS) => some,
            some => some | MemFlags::READ_WRITE,
        };
        ensure!(
            (1..=largest).contains(&packet_size),
            InvalidPipeSize,
            "packets of {packet_size} bytes; 1 to CL_DEVICE_PIPE_MAX_PACKET_SIZE, {largest}, are possible"
        );
        ensure!(max_packets > 0, InvalidPipeSize, "a pipe for no packets");
        let layout = pipe::layout(packet_size, max_packets);
        let room = context.devices().iter().map(|d| d.max_allocation()).max().unwrap_or(0);
        ensure!(
            layout.size <= room,
            MemObjectAllocationFailure,
            "a pipe for {max_packets} packets takes {} bytes, more than CL_DEVICE_MAX_MEM_ALLOC_SIZE, {room}",
            layout.size
        );
        let fails = |e: Error| Error::new(Status::MemObjectAllocationFailure, e.why);
        let residency = Residency::new(context, layout.size, MemFlags::empty()).map_err(fails)?;
        let first = context.space_of(&context.devices()[0]);
        let memory = residency.acquire(context, first, 0..layout.size, AccessMode::Overwrite).map_err(fails)?;
        // All in front of the packets begins as zeros; the packets need no content while the pipe is empty.
        memory.fill(0, layout.slots_offset(), &[0; 16])?;
        memory.write(0, &layout.header())?;
        let kind = MemKind::Pipe(Pipe { packet_size, max_packets });
        Ok(Self::of_kind(context, kind, layout.size, flags, None, Arc::new(residency), None))
    }

    /// What it is as a pipe.
    pub fn as_pipe(&self) -> Option<&Pipe> {
        match &self.kind {
            MemKind::Pipe(pipe) => Some(pipe),
            _ => None,
        }
    }

    /// What it is as a pipe, or the specification's error.
    pub fn pipe(&self) -> Result<&Pipe> {
        match self.as_pipe() {
            Some(pipe) => Ok(pipe),
            None => bail!(InvalidMemObject, "the memory object is {}, not a pipe", self.noun()),
        }
    }
}
