//! Launches in command buffers: recording them, changing them, and queries.

use super::command_buffer::{asserts, place, properties};
use super::launch::sizes;
use super::{fail, kernel, svm};
use crate::args::{HostMemory, In, Out, OutBytes};
use crate::cl;
use crate::handle::{self, Handle};
use crate::info::Info;
use cloom_runtime::{
    CommandBuffer, CommandBufferState, CommandType, DispatchInput, DispatchUpdate, Kernel, MutableCommand,
    MutableFields, Queue, RangeInput, Result, Status,
};
use std::sync::Arc;

/// `cl_mutable_dispatch_arg_khr`
#[derive(Clone, Copy)]
#[repr(C)]
pub struct ArgConfig {
    index: u32,
    size: usize,
    value: HostMemory,
}

/// `cl_mutable_dispatch_exec_info_khr`
#[derive(Clone, Copy)]
#[repr(C)]
pub struct ExecInfoConfig {
    name: u32,
    size: usize,
    value: HostMemory,
}

/// `cl_mutable_dispatch_config_khr`
#[derive(Clone, Copy)]
#[repr(C)]
pub struct DispatchConfig {
    command: Handle<MutableCommand>,
    num_args: u32,
    num_svm_args: u32,
    num_exec_infos: u32,
    work_dim: u32,
    args: In<ArgConfig>,
    svm_args: In<ArgConfig>,
    exec_infos: In<ExecInfoConfig>,
    offset: In<usize>,
    global: In<usize>,
    local: In<usize>,
}

// OpenCL 3.0 API, Recording Commands to a Command-Buffer.
#[allow(clippy::too_many_arguments, reason = "the specification's")]
pub fn nd_range(
    buffer: Handle<CommandBuffer>,
    queue: Handle<Queue>,
    list: In<u64>,
    kernel: Handle<Kernel>,
    dim: u32,
    offset: In<usize>,
    global: In<usize>,
    local: In<usize>,
    count: u32,
    points: In<u32>,
    point: Out<u32>,
    mutable_handle: Out<Handle<MutableCommand>>,
) -> Result<()> {
    let place = place(buffer, queue, count, points)?;
    let kernel = kernel.get()?;
    let (given, pairs) = properties(list)?;
    let (mut fields, mut no_more_groups) = (None, false);
    for (name, value) in pairs {
        match name {
            cl::MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR => match MutableFields::from_bits(value) {
                Some(known) => fields = Some(known),
                None => {
                    return fail(
                        Status::InvalidOperation,
                        format!("the updatable fields {value:#x} have unknown bits"),
                    );
                }
            },
            cl::MUTABLE_DISPATCH_ASSERTS_KHR => no_more_groups = asserts(value)?,
            _ => return fail(Status::InvalidValue, format!("the property {name:#x} is unknown")),
        }
    }
    let range =
        RangeInput { work_dim: dim, offset: sizes(offset, dim), global: sizes(global, dim), local: sizes(local, dim) };
    let input = DispatchInput { kernel: &kernel, range, fields, no_more_groups, properties: given };
    let (number, command) = place.buffer.record_launch(input, &place.wait, !mutable_handle.is_null())?;
    if let Some(command) = command {
        mutable_handle.set(handle::borrow(&command)?);
    }
    point.set(number);
    Ok(())
}

/// A list of a configuration: its length and whether it is NULL must agree.
fn agree<T: Copy>(count: u32, list: In<T>, what: &str) -> Result<Vec<T>> {
    if (count == 0) != list.is_null() {
        return fail(Status::InvalidValue, format!("there are {count} {what}, and the list says something else"));
    }
    list.take(count as usize)
}

// OpenCL 3.0 API, Mutable Commands.
pub fn update(
    buffer: Handle<CommandBuffer>,
    count: u32,
    kinds: In<u32>,
    configs: In<In<DispatchConfig>>,
) -> Result<()> {
    let buffer = buffer.get()?;
    if buffer.state() == CommandBufferState::Recording {
        return fail(Status::InvalidOperation, "the command buffer has not been finalized");
    }
    buffer.check_mutable()?;
    let (kinds, configs) = (agree(count, kinds, "kinds")?, agree(count, configs, "configurations")?);
    if kinds.iter().any(|kind| *kind != cl::STRUCTURE_TYPE_MUTABLE_DISPATCH_CONFIG_KHR) {
        return fail(Status::InvalidValue, "a kind of configuration is unknown");
    }
    let read = |config: &In<DispatchConfig>| match config.get() {
        Some(config) => dispatch_update(&config),
        None => fail(Status::InvalidValue, "a configuration is NULL"),
    };
    buffer.update(configs.iter().map(read).collect::<Result<_>>()?)
}

/// Reads a configuration.
fn dispatch_update(config: &DispatchConfig) -> Result<DispatchUpdate<'static>> {
    let command = config.command.get()?;
    let args = agree(config.num_args, config.args, "arguments")?;
    let svm_args = agree(config.num_svm_args, config.svm_args, "pointers to shared memory")?;
    let exec_infos = agree(config.num_exec_infos, config.exec_infos, "parameters of the kernel")?;
    let mut sets = MutableFields::empty();
    sets.set(MutableFields::ARGUMENTS, !args.is_empty() || !svm_args.is_empty());
    sets.set(MutableFields::EXEC_INFO, !exec_infos.is_empty());
    let dim = command.range()?.work_dim;
    let range = RangeInput {
        work_dim: dim,
        offset: sizes(config.offset, dim),
        global: sizes(config.global, dim),
        local: sizes(config.local, dim),
    };
    // The runtime calls it on a copy of the recorded kernel, so that a wrong argument leaves the command as it was.
    let set = Box::new(move |target: &Arc<Kernel>| {
        for arg in args {
            kernel::set_arg_of(target, arg.index, arg.size, arg.value)?;
        }
        for arg in svm_args {
            target.set_svm_arg(arg.index, arg.value.address())?;
        }
        for param in exec_infos {
            svm::set_exec_info(target, param.name, param.size, param.value)?;
        }
        Ok(())
    });
    Ok(DispatchUpdate { command, work_dim: config.work_dim, range, sets, set })
}

// OpenCL 3.0 API, Command-Buffer Queries.
pub fn info(
    command: Handle<MutableCommand>,
    name: u32,
    size: usize,
    value: OutBytes,
    size_ret: Out<usize>,
) -> Result<()> {
    let object = command.get()?;
    let info = Info::new(size, value, size_ret);
    let range = object.range()?;
    let dimensions = |sizes: Option<[u64; 3]>| {
        let sizes = sizes.unwrap_or_default().map(|size| size as usize);
        info.array(&sizes[..(range.work_dim as usize).min(3)])
    };
    match name {
        cl::MUTABLE_COMMAND_COMMAND_QUEUE_KHR => info.value(handle::borrow(object.command_buffer()?.queue())?),
        cl::MUTABLE_COMMAND_COMMAND_BUFFER_KHR => info.value(handle::borrow(&object.command_buffer()?)?),
        cl::MUTABLE_COMMAND_COMMAND_TYPE_KHR => info.value(CommandType::NdRangeKernel as u32),
        cl::MUTABLE_COMMAND_PROPERTIES_ARRAY_KHR => info.array(object.properties().unwrap_or_default()),
        cl::MUTABLE_DISPATCH_KERNEL_KHR => info.value(handle::borrow(object.kernel())?),
        cl::MUTABLE_DISPATCH_DIMENSIONS_KHR => info.value(range.work_dim),
        cl::MUTABLE_DISPATCH_GLOBAL_WORK_OFFSET_KHR => dimensions(range.offset),
        cl::MUTABLE_DISPATCH_GLOBAL_WORK_SIZE_KHR => dimensions(range.global),
        cl::MUTABLE_DISPATCH_LOCAL_WORK_SIZE_KHR => dimensions(range.local),
        _ => info.unknown(name),
    }
    .map(drop)
}
