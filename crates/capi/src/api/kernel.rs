//! Kernels: their arguments and queries.

use super::fail;
use crate::args::{HostMemory, Out, OutArray, OutBytes, Text};
use crate::cl;
use crate::handle::{self, Handle};
use crate::info::Info;
use cloom_runtime::{
    Access, ArgInput, ArgSpace, Device, Kernel, MemObject, Pipe, Program, ProgramOrigin, Queue, Result, Sampler,
    Status, WithMemObject, WithQueue, WithSampler, subgroup,
};

// OpenCL 3.0 API, 5.9.1: Creating Kernel Objects.
pub fn create(program: Handle<Program>, name: Text) -> Result<Handle<Kernel>> {
    let program = program.get()?;
    match name.string() {
        Some(name) => handle::create(program.kernel(&name)?),
        None => fail(Status::InvalidValue, "the kernel's name is NULL"),
    }
}

// OpenCL 3.0 API, 5.9.1: Creating Kernel Objects.
pub fn create_all(
    program: Handle<Program>,
    room: u32,
    kernels: OutArray<Handle<Kernel>>,
    count: Out<u32>,
) -> Result<()> {
    let program = program.get()?;
    let all = program.kernels()?;
    if !kernels.is_null() {
        if (room as usize) < all.len() {
            return fail(
                Status::InvalidValue,
                format!("the program has {} kernels, the array has {room} places", all.len()),
            );
        }
        // First all, so that a failure leaves nothing behind.
        let made = all.iter().map(|name| program.kernel(name)).collect::<Result<Vec<_>>>()?;
        for (i, kernel) in made.into_iter().enumerate() {
            kernels.set(i, handle::create(kernel)?);
        }
    }
    count.set(all.len() as u32);
    Ok(())
}

// OpenCL 3.0 API, 5.9.3: Copying Kernel Objects.
pub fn duplicate(kernel: Handle<Kernel>) -> Result<Handle<Kernel>> {
    handle::create(kernel.get()?.duplicate())
}

// OpenCL 3.0 API, 5.9.2: Setting Kernel Arguments.
pub fn set_arg(kernel: Handle<Kernel>, index: u32, size: usize, value: HostMemory) -> Result<()> {
    kernel.with(|kernel| set_arg_of(kernel, index, size, value))
}

/// `clSetKernelArg` on a kernel that may have no handle.
pub(super) fn set_arg_of(kernel: &Kernel, index: u32, size: usize, value: HostMemory) -> Result<()> {
    // The runtime knows no handles: it asks for the object of an address once it knows the kind of the argument.
    let with_mem_object: &WithMemObject<'_> = &|address, set| Handle::<MemObject>::from_address(address).with(set);
    let with_sampler: &WithSampler<'_> = &|address, set| Handle::<Sampler>::from_address(address).with(set);
    let with_queue: &WithQueue<'_> = &|address, set| Handle::<Queue>::from_address(address).with(set);
    kernel
        .set_arg(index, &ArgInput { size: size as u64, value: value.get(), with_mem_object, with_sampler, with_queue })
}

// OpenCL 3.0 API, 5.9.4: Kernel Object Queries.
pub fn info(kernel: Handle<Kernel>, name: u32, size: usize, value: OutBytes, size_ret: Out<usize>) -> Result<()> {
    let object = kernel.get()?;
    let info = Info::new(size, value, size_ret);
    match name {
        cl::KERNEL_FUNCTION_NAME => info.text(object.name()),
        cl::KERNEL_NUM_ARGS => info.value(object.meta().params.len() as u32),
        cl::KERNEL_REFERENCE_COUNT => info.value(kernel.references()?),
        cl::KERNEL_CONTEXT => info.value(handle::borrow(object.program().context())?),
        cl::KERNEL_PROGRAM => info.value(handle::borrow(object.program())?),
        cl::KERNEL_ATTRIBUTES => info.text(&attributes(&object)),
        _ => info.unknown(name),
    }
    .map(drop)
}

/// The attributes as they may stand in the source; none of a program that was not made from source.
fn attributes(kernel: &Kernel) -> String {
    if matches!(kernel.program().origin(), ProgramOrigin::Binary | ProgramOrigin::Il(_)) {
        return String::new();
    }
    let meta = kernel.meta();
    let sizes = |name: &str, sizes: Option<[u32; 3]>| sizes.map(|[x, y, z]| format!("{name}({x},{y},{z})"));
    let all = [
        sizes("reqd_work_group_size", meta.reqd_group_size),
        sizes("work_group_size_hint", meta.group_size_hint),
        meta.reqd_subgroup_size.map(|size| format!("intel_reqd_sub_group_size({size})")),
        meta.vec_type_hint.as_ref().map(|t| format!("vec_type_hint({t})")),
    ];
    all.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

// OpenCL 3.0 API, 5.9.4: Kernel Object Queries.
pub fn arg_info(
    kernel: Handle<Kernel>,
    index: u32,
    name: u32,
    size: usize,
    value: OutBytes,
    size_ret: Out<usize>,
) -> Result<()> {
    let kernel = kernel.get()?;
    let Some(param) = kernel.meta().params.get(index as usize) else {
        return fail(Status::InvalidArgIndex, format!("kernel `{}` has no argument number {index}", kernel.name()));
    };
    let info = Info::new(size, value, size_ret);
    let space = ArgSpace::of(param);
    match name {
        cl::KERNEL_ARG_ADDRESS_QUALIFIER => info.value(match space {
            ArgSpace::Global => cl::KERNEL_ARG_ADDRESS_GLOBAL,
            ArgSpace::Local => cl::KERNEL_ARG_ADDRESS_LOCAL,
            ArgSpace::Constant => cl::KERNEL_ARG_ADDRESS_CONSTANT,
            ArgSpace::Private => cl::KERNEL_ARG_ADDRESS_PRIVATE,
        }),
        cl::KERNEL_ARG_ACCESS_QUALIFIER => info.value(match Access::of(param) {
            Access::None => cl::KERNEL_ARG_ACCESS_NONE,
            Access::ReadOnly => cl::KERNEL_ARG_ACCESS_READ_ONLY,
            Access::WriteOnly => cl::KERNEL_ARG_ACCESS_WRITE_ONLY,
            Access::ReadWrite => cl::KERNEL_ARG_ACCESS_READ_WRITE,
        }),
        cl::KERNEL_ARG_TYPE_NAME => info.text(&param.type_name),
        cl::KERNEL_ARG_NAME => info.text(&param.name),
        cl::KERNEL_ARG_TYPE_QUALIFIER => {
            // Pointees in constant memory count as const without the qualifier.
            let constant = param.is_const || space == ArgSpace::Constant;
            let is_pipe = Pipe::is_parameter(param);
            let bits = [(constant, 1u64), (param.is_restrict, 2), (param.is_volatile, 4), (is_pipe, 8)];
            info.value(bits.iter().filter(|(set, _)| *set).map(|(_, bit)| bit).sum::<u64>())
        }
        _ => info.unknown(name),
    }
    .map(drop)
}

// OpenCL 3.0 API, 5.9.4: Kernel Object Queries.
pub fn work_group_info(
    kernel: Handle<Kernel>,
    device: Handle<Device>,
    name: u32,
    size: usize,
    value: OutBytes,
    size_ret: Out<usize>,
) -> Result<()> {
    let kernel = kernel.get()?;
    let device = if device.is_null() { None } else { Some(device.get()?) };
    let code = kernel.code_on(device.as_ref())?;
    // Memory is asked of the code that a launch would run. The code for all formats needs other amounts, and to compile
    // it for a kernel with an image and a sampler takes 1.17 s instead of 0.03 s.
    let expected = || kernel.expected_code(device.as_ref());
    let info = Info::new(size, value, size_ret);
    let required = kernel.meta().reqd_group_size;
    match name {
        cl::KERNEL_WORK_GROUP_SIZE => {
            // Not more than the largest group, even if the kernel requires more.
            let most = code.max_group();
            let required = required.map(|sizes| sizes.iter().fold(1u64, |n, &s| n.saturating_mul(u64::from(s))));
            info.value(required.unwrap_or(most).min(most) as usize)
        }
        cl::KERNEL_COMPILE_WORK_GROUP_SIZE => info.array(&required.unwrap_or([0; 3]).map(|s| s as usize)),
        cl::KERNEL_LOCAL_MEM_SIZE => {
            let fixed = expected()?.loaded()?.artifact().local_size;
            info.value(fixed.saturating_add(kernel.local_arg_bytes()))
        }
        cl::KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE => info.value(code.device().group_multiple() as usize),
        cl::KERNEL_PRIVATE_MEM_SIZE => info.value(expected()?.loaded()?.artifact().private_size),
        // Registers are kept on a stack that the device always has.
        cl::KERNEL_SPILL_MEM_SIZE_INTEL => info.value(0u64),
        cl::KERNEL_GLOBAL_WORK_SIZE => {
            return fail(Status::InvalidValue, "CL_KERNEL_GLOBAL_WORK_SIZE is of built-in kernels and custom devices");
        }
        _ => info.unknown(name),
    }
    .map(drop)
}

// OpenCL 3.0 API, 5.9.4: Kernel Object Queries.
/// Sizes and counts of sub-groups.
#[allow(clippy::too_many_arguments, reason = "the specification's")]
pub fn sub_group_info(
    kernel: Handle<Kernel>,
    device: Handle<Device>,
    name: u32,
    input_size: usize,
    input: HostMemory,
    size: usize,
    value: OutBytes,
    size_ret: Out<usize>,
) -> Result<()> {
    const WORD: usize = size_of::<usize>();
    let kernel = kernel.get()?;
    let device = if device.is_null() { None } else { Some(device.get()?) };
    // The sizes are those of the code that a launch would run; no launch runs the code for all formats.
    let code = kernel.expected_code(device.as_ref())?;
    let info = Info::new(size, value, size_ret);
    let words = || -> Result<Vec<u64>> {
        if input.is_null() || input_size == 0 || !input_size.is_multiple_of(WORD) || input_size > 3 * WORD {
            return fail(Status::InvalidValue, format!("the input value has {input_size} bytes, or is NULL"));
        }
        let words = input.bytes(input_size)?;
        Ok(words.chunks_exact(WORD).map(|w| w.iter().rev().fold(0, |n, &b| n << 8 | u64::from(b))).collect())
    };
    match name {
        cl::KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE => {
            info.value(subgroup::of_local_size(&code, &words()?)?.max_size as usize)
        }
        cl::KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE => info.value(subgroup::of_local_size(&code, &words()?)?.count as usize),
        cl::KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT => {
            let words = words()?;
            let dims = (size / WORD).clamp(1, 3);
            if words.len() != 1 || !value.is_null() && (!size.is_multiple_of(WORD) || size == 0 || size > 3 * WORD) {
                return fail(Status::InvalidValue, "one count goes in, and one to three sizes come out");
            }
            let local = subgroup::for_count(kernel.meta(), &code, words[0], dims)?;
            info.array(&local.map(|s| s as usize)[..dims])
        }
        cl::KERNEL_MAX_NUM_SUB_GROUPS => info.value(subgroup::max_count(kernel.meta(), &code)? as usize),
        // OpenCL C has no attribute for it.
        cl::KERNEL_COMPILE_NUM_SUB_GROUPS => info.value(0usize),
        cl::KERNEL_COMPILE_SUB_GROUP_SIZE_INTEL => {
            info.value(usize::from(kernel.meta().reqd_subgroup_size.unwrap_or_default()))
        }
        _ => info.unknown(name),
    }
    .map(drop)
}
