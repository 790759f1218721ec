//! Programs: creating, building and queries.

use super::{devices, fail, list, platform};
use crate::args::{HostMemory, In, Out, OutArray, OutBytes, Text, UserData};
use crate::callback::{self, ObjectNotify};
use crate::cl;
use crate::handle::{self, Handle};
use crate::info::Info;
use cloom_runtime::{Context, Device, ImageKind, Platform, Program, ProgramOrigin, Result, Status};
use std::sync::Arc;

// OpenCL 3.0 API, 5.8.1: Creating Program Objects.
pub fn with_source(
    context: Handle<Context>,
    count: u32,
    strings: In<Text>,
    lengths: In<usize>,
) -> Result<Handle<Program>> {
    let context = context.get()?;
    if count == 0 || strings.is_null() {
        return fail(Status::InvalidValue, "there are no strings");
    }
    let lengths = lengths.take(count as usize)?;
    let mut source = Vec::new();
    for (i, string) in strings.take(count as usize)?.into_iter().enumerate() {
        // A length of 0 means that the string ends with a zero.
        let piece = match lengths.get(i) {
            Some(&length) if length > 0 => string.sized(length),
            _ => string.bytes(),
        };
        match piece {
            Some(piece) if source.try_reserve(piece.len()).is_ok() => source.extend_from_slice(piece),
            Some(_) => return fail(Status::OutOfHostMemory, "there is no memory for a copy of the source"),
            None => return fail(Status::InvalidValue, format!("string {i} is NULL")),
        }
    }
    handle::create(Program::with_source(&context, source))
}

// OpenCL 3.0 API, 5.8.1: Creating Program Objects.
pub fn with_binary(
    context: Handle<Context>,
    count: u32,
    handles: In<Handle<Device>>,
    lengths: In<usize>,
    binaries: In<Text>,
    statuses: OutArray<i32>,
) -> Result<Handle<Program>> {
    let context = context.get()?;
    let devices = devices(count, handles)?;
    of_context(&context, &devices)?;
    if lengths.is_null() || binaries.is_null() {
        return fail(Status::InvalidValue, "lengths or binaries is NULL");
    }
    let lengths = lengths.take(count as usize)?;
    let binaries = binaries.take(count as usize)?;
    let mut bytes = Vec::new();
    for (i, (binary, length)) in binaries.iter().zip(&lengths).enumerate() {
        match binary.sized(*length).filter(|b| !b.is_empty()) {
            Some(binary) => bytes.push(binary),
            None => {
                // The status of the wrong binary is told although the call fails.
                statuses.set(i, Status::InvalidValue.code());
                return fail(Status::InvalidValue, format!("binary {i} is empty or NULL"));
            }
        }
    }
    let (program, valid) = Program::with_binaries(&context, &devices, &bytes);
    for (i, valid) in valid.into_iter().enumerate() {
        statuses.set(i, if valid { 0 } else { Status::InvalidBinary.code() });
    }
    handle::create(program?)
}

// OpenCL 3.0 API, 5.8.1: Creating Program Objects.
pub fn with_il(context: Handle<Context>, il: HostMemory, length: usize) -> Result<Handle<Program>> {
    let context = context.get()?;
    if il.is_null() || length == 0 {
        return fail(Status::InvalidValue, "il is NULL, or its length is 0");
    }
    handle::create(Program::with_il(&context, il.bytes(length)?)?)
}

// OpenCL 3.0 API, 5.8.3: Setting SPIR-V Specialization Constants.
pub fn set_specialization_constant(program: Handle<Program>, id: u32, size: usize, value: HostMemory) -> Result<()> {
    let program = program.get()?;
    if value.is_null() {
        return fail(Status::InvalidValue, "the value is NULL");
    }
    // No constant has more than eight bytes: nine show the runtime that the size is wrong.
    program.set_specialization_constant(id, &value.bytes(size.min(9))?)
}

fn of_context(context: &Context, devices: &[Arc<Device>]) -> Result<()> {
    match devices.iter().all(|d| context.index_of(d).is_some()) {
        true => Ok(()),
        false => fail(Status::InvalidDevice, "a device is not of the context"),
    }
}

// OpenCL 3.0 API, 5.8.1: Creating Program Objects.
pub fn with_built_in_kernels(
    context: Handle<Context>,
    count: u32,
    handles: In<Handle<Device>>,
    names: Text,
) -> Result<Handle<Program>> {
    let context = context.get()?;
    of_context(&context, &devices(count, handles)?)?;
    match names.string() {
        Some(names) => fail(Status::InvalidValue, format!("no device has built-in kernels, so none of `{names}`")),
        None => fail(Status::InvalidValue, "kernel_names is NULL"),
    }
}

// OpenCL 3.0 API, 5.8.4: Building Program Executables.
pub fn build(
    program: Handle<Program>,
    count: u32,
    handles: In<Handle<Device>>,
    options: Text,
    notify: Option<ObjectNotify>,
    user_data: UserData,
) -> Result<()> {
    let object = program.get()?;
    let devices = list(count, handles)?;
    let notify = callback::pair(notify, user_data)?.map(|f| callback::object(program, f, user_data));
    object.build_for(devices.as_deref(), options.string().as_deref(), notify)
}

// OpenCL 3.0 API, 5.8.5: Separate Compilation and Linking of Programs.
#[allow(clippy::too_many_arguments, reason = "the specification's")]
pub fn compile(
    program: Handle<Program>,
    count: u32,
    handles: In<Handle<Device>>,
    options: Text,
    num_headers: u32,
    headers: In<Handle<Program>>,
    names: In<Text>,
    notify: Option<ObjectNotify>,
    user_data: UserData,
) -> Result<()> {
    let object = program.get()?;
    let devices = list(count, handles)?;
    if headers.is_null() != names.is_null() {
        return fail(Status::InvalidValue, "headers without names, or names without headers");
    }
    let headers = list(num_headers, headers)?.unwrap_or_default();
    let mut named = Vec::new();
    for (header, name) in headers.into_iter().zip(names.take(num_headers as usize)?) {
        match name.string() {
            Some(name) => named.push((name, header)),
            None => return fail(Status::InvalidValue, "the name of a header is NULL"),
        }
    }
    let notify = callback::pair(notify, user_data)?.map(|f| callback::object(program, f, user_data));
    object.compile_for(devices.as_deref(), &options.string().unwrap_or_default(), &named, notify)
}

// OpenCL 3.0 API, 5.8.5: Separate Compilation and Linking of Programs.
#[allow(clippy::too_many_arguments, reason = "the specification's")]
pub fn link(
    context: Handle<Context>,
    count: u32,
    handles: In<Handle<Device>>,
    options: Text,
    num_programs: u32,
    programs: In<Handle<Program>>,
    notify: Option<ObjectNotify>,
    user_data: UserData,
) -> (Option<Handle<Program>>, Result<()>) {
    let checked = || -> Result<_> {
        let context = context.get()?;
        let devices = list(count, handles)?;
        let Some(inputs) = list(num_programs, programs)? else {
            return fail(Status::InvalidValue, "there are no programs to link");
        };
        Ok((context, devices, inputs, callback::pair(notify, user_data)?))
    };
    let (context, devices, inputs, notify) = match checked() {
        Ok(checked) => checked,
        Err(error) => return (None, Err(error)),
    };
    // The callback gets the handle, which is made before the linker runs; the application may have released its
    // reference when the linker has run.
    let call = |program: &Arc<Program>| {
        let handle = handle::borrow(program).ok()?;
        notify.map(|f| callback::object(handle, f, user_data))
    };
    let options = options.string().unwrap_or_default();
    let (program, result) = Program::link(&context, devices.as_deref(), &options, &inputs, call);
    match program.map(handle::create).transpose() {
        Ok(handle) => (handle, result),
        Err(error) => (None, Err(error)),
    }
}

// OpenCL 3.0 API, 5.8.8: Unloading the OpenCL Compiler.
pub fn unload_compiler() -> Result<()> {
    Ok(())
}

// OpenCL 3.0 API, 5.8.8: Unloading the OpenCL Compiler.
/// Permission to free the compiler, which is not used: the library of built-in functions stays, for the next program.
pub fn unload_platform_compiler(handle: Handle<Platform>) -> Result<()> {
    platform::find(handle)?;
    match handle.is_null() {
        true => fail(Status::InvalidPlatform, "the platform is NULL"),
        false => Ok(()),
    }
}

// OpenCL 3.0 API, 5.8.2: Retaining and Releasing Program Objects.
/// For programs with program-scope destructors. OpenCL 3.0 requires an error if the device has none.
pub fn set_release_callback(program: Handle<Program>, notify: Option<ObjectNotify>, _data: UserData) -> Result<()> {
    program.get()?;
    callback::needed(notify)?;
    fail(Status::InvalidOperation, "no device has constructors and destructors in program scope")
}

// OpenCL 3.0 API, 5.8.9: Program Object Queries.
pub fn info(program: Handle<Program>, name: u32, size: usize, value: OutBytes, size_ret: Out<usize>) -> Result<()> {
    let object = program.get()?;
    let info = Info::new(size, value, size_ret);
    let binaries = || -> Vec<Vec<u8>> {
        let encoded = |i| object.unit(i).map(|u| u.encode()).unwrap_or_default();
        (0..object.devices().len()).map(encoded).collect()
    };
    match name {
        cl::PROGRAM_REFERENCE_COUNT => info.value(program.references()?),
        cl::PROGRAM_CONTEXT => info.value(handle::borrow(object.context())?),
        cl::PROGRAM_NUM_DEVICES => info.value(object.devices().len() as u32),
        cl::PROGRAM_DEVICES => info.array(&object.devices().iter().map(handle::borrow).collect::<Result<Vec<_>>>()?),
        cl::PROGRAM_SOURCE => match object.origin() {
            ProgramOrigin::Source(text) => info.text(&String::from_utf8_lossy(text)),
            ProgramOrigin::Il(_) | ProgramOrigin::Binary | ProgramOrigin::Linked => info.text(""),
        },
        cl::PROGRAM_BINARY_SIZES => info.array(&binaries().iter().map(Vec::len).collect::<Vec<_>>()),
        cl::PROGRAM_BINARIES => info.scatter(&binaries()),
        cl::PROGRAM_NUM_KERNELS => info.value(object.kernels()?.len()),
        cl::PROGRAM_KERNEL_NAMES => info.text(&object.kernels()?.join(";")),
        cl::PROGRAM_IL => info.array(object.il().map_or(&[][..], |il| il.binary())),
        cl::PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT | cl::PROGRAM_SCOPE_GLOBAL_DTORS_PRESENT => info.bool(false),
        _ => info.unknown(name),
    }
    .map(drop)
}

// OpenCL 3.0 API, 5.8.9: Program Object Queries.
pub fn build_info(
    program: Handle<Program>,
    device: Handle<Device>,
    name: u32,
    size: usize,
    value: OutBytes,
    size_ret: Out<usize>,
) -> Result<()> {
    let program = program.get()?;
    let index = program.index_of(&device.get()?)?;
    let state = program.build(index);
    let info = Info::new(size, value, size_ret);
    match name {
        cl::PROGRAM_BUILD_STATUS => info.value(state.status as i32),
        cl::PROGRAM_BUILD_OPTIONS => info.text(&state.options),
        cl::PROGRAM_BUILD_LOG => info.text(&state.log),
        cl::PROGRAM_BINARY_TYPE => info.value(match state.binary {
            None => 0u32,
            Some(ImageKind::Object) => cl::PROGRAM_BINARY_TYPE_COMPILED_OBJECT,
            Some(ImageKind::Library) => cl::PROGRAM_BINARY_TYPE_LIBRARY,
            Some(ImageKind::Executable) => cl::PROGRAM_BINARY_TYPE_EXECUTABLE,
        }),
        cl::PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE => info.value(program.variables_size(index) as usize),
        _ => info.unknown(name),
    }
    .map(drop)
}
