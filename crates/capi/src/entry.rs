//! The list of entry points, in the order of the ICD dispatch table. The C functions, the table, the exported symbols
//! and the results of `clGetExtensionFunctionAddress` are all generated from it.
//!
//! The table holds the functions of a private module and not the exported ones: an exported symbol of the same name in
//! another library, the loader's above all, would take its place when the dynamic linker binds names, and calls would
//! recurse endlessly.

mod lookup;

use crate::api::{
    buffer, command_buffer, context, device, event, image, image_transfer, kernel, launch, mutable, partition, pipe,
    platform, program, queue, sampler, semaphore, svm, transfer, unsupported, usm,
};
use crate::args::{HostMemory, In, Out, OutArray, OutBytes, Text, UserData};
use crate::callback::{ContextNotify, EventNotify, NativeFn, ObjectNotify, SvmNotify};
use crate::dispatch::Slot;
use crate::guard::{self, EntryPoint};
use crate::handle::{Handle, Hint};
use cloom_runtime::{
    CommandBuffer, Context, Device, Event, Kernel, MemObject, MutableCommand, Platform, Program, Queue, Sampler,
    Semaphore,
};
use std::ffi::c_void;

/// What the guard is told about an entry point.
macro_rules! entry_point {
    ($name:ident) => {
        EntryPoint { name: stringify!($name), table: &DISPATCH }
    };
}

/// Defines one entry point, or, with `export`, the exported symbol that stands for it.
macro_rules! define {
    (int $name:ident($($arg:ident: $ty:ty),*) = $f:path) => {
        pub unsafe extern "C" fn $name($($arg: $ty),*) -> i32 {
            guard::int(entry_point!($name), || $f($($arg),*), || None$(.or_else(|| $arg.hint()))*)
        }
    };
    (new $name:ident($($arg:ident: $ty:ty),*) -> $out:ty = $f:path) => {
        pub unsafe extern "C" fn $name($($arg: $ty,)* errcode_ret: Out<i32>) -> $out {
            guard::new(entry_point!($name), errcode_ret, || $f($($arg),*), || None$(.or_else(|| $arg.hint()))*)
        }
    };
    (object_and_code $name:ident($($arg:ident: $ty:ty),*) -> $out:ty = $f:path) => {
        pub unsafe extern "C" fn $name($($arg: $ty,)* errcode_ret: Out<i32>) -> $out {
            guard::object_and_code(entry_point!($name), errcode_ret, || $f($($arg),*), || None$(.or_else(|| $arg.hint()))*)
        }
    };
    (pointer_result $name:ident($($arg:ident: $ty:ty),*) -> $out:ty = $f:path) => {
        pub unsafe extern "C" fn $name($($arg: $ty),*) -> $out {
            guard::pointer_result(entry_point!($name), || $f($($arg),*), || None$(.or_else(|| $arg.hint()))*)
        }
    };
    (reserved $name:ident) => {};
    (export int $name:ident($($arg:ident: $ty:ty),*) = $f:path) => {
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($arg: $ty),*) -> i32 {
            // SAFETY: the entry in the table has the same parameters, and this function's caller promises what it asks
            // for.
            unsafe { table::$name($($arg),*) }
        }
    };
    (export new $name:ident($($arg:ident: $ty:ty),*) -> $out:ty = $f:path) => {
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($arg: $ty,)* errcode_ret: Out<i32>) -> $out {
            // SAFETY: the entry in the table has the same parameters, and this function's caller promises what it asks
            // for.
            unsafe { table::$name($($arg,)* errcode_ret) }
        }
    };
    (export object_and_code $($rest:tt)*) => { define!(export new $($rest)*); };
    (export pointer_result $name:ident($($arg:ident: $ty:ty),*) -> $out:ty = $f:path) => {
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($arg: $ty),*) -> $out {
            // SAFETY: the entry in the table has the same parameters, and this function's caller promises what it asks
            // for.
            unsafe { table::$name($($arg),*) }
        }
    };
    (export reserved $name:ident) => {};
    (slot reserved $name:ident) => { Slot(std::ptr::null()) };
    (slot $kind:ident $name:ident) => { Slot(table::$name as *const c_void) };
}

macro_rules! entry_points {
    (
        table { $($kind:ident $name:ident $(($($arg:ident: $ty:ty),* $(,)?) $(-> $out:ty)? = $f:path)?;)* }
        beside { $($bkind:ident $bname:ident ($($barg:ident: $bty:ty),* $(,)?) $(-> $bout:ty)? = $bf:path;)* }
    ) => {
        #[allow(non_snake_case, clippy::too_many_arguments, clippy::missing_safety_doc, reason = "the specification's")]
        mod table {
            use super::*;
            $(define!($kind $name $(($($arg: $ty),*) $(-> $out)? = $f)?);)*
            $(define!($bkind $bname($($barg: $bty),*) $(-> $bout)? = $bf);)*
        }

        #[allow(non_snake_case, clippy::too_many_arguments, reason = "the specification's")]
        mod exported {
            use super::*;
            $(define!(export $kind $name $(($($arg: $ty),*) $(-> $out)? = $f)?);)*
            $(define!(export $bkind $bname($($barg: $bty),*) $(-> $bout)? = $bf);)*
        }

        const COUNT: usize = [$(stringify!($name)),*].len();

        const NAMES: [&str; COUNT] = [$(stringify!($name)),*];

        static FUNCTIONS: [Slot; COUNT] = [$(define!(slot $kind $name)),*];

        /// The dispatch table: the first word of each handle points to it.
        static DISPATCH: [Slot; COUNT] = tagged([$(define!(slot $kind $name)),*]);

        static BESIDE: &[(&str, Slot)] = &[$((stringify!($bname), define!(slot $bkind $bname))),*];
    };
}

/// `CL_ICD2_TAG_KHR`: a loader that finds it in two slots, whose functions need no platform, knows that handles have a
/// second word for it, and then makes a dispatch table of its own. Older loaders call neither.
const ICD2_TAG: usize = 0x4F50_454E_434C_3331;
const ICD2_SLOTS: [usize; 2] = [0, 31];

const fn tagged(mut table: [Slot; COUNT]) -> [Slot; COUNT] {
    table[ICD2_SLOTS[0]] = Slot(std::ptr::without_provenance(ICD2_TAG));
    table[ICD2_SLOTS[1]] = Slot(std::ptr::without_provenance(ICD2_TAG));
    table
}

/// The address of the function of a name, null if there is none.
fn address(name: &str) -> *const c_void {
    // From `FUNCTIONS`, because two slots of `DISPATCH` hold the tag.
    let listed = NAMES.iter().position(|n| *n == name).map(|i| &FUNCTIONS[i]);
    listed.or_else(|| BESIDE.iter().find(|(n, _)| *n == name).map(|(_, s)| s)).map_or(std::ptr::null(), |s| s.0)
}

entry_points! {
table {
    int clGetPlatformIDs(num_entries: u32, platforms: OutArray<Handle<Platform>>, num_platforms: Out<u32>)
        = platform::ids;
    int clGetPlatformInfo(platform: Handle<Platform>, name: u32, size: usize, value: OutBytes, size_ret: Out<usize>)
        = platform::info;
    int clGetDeviceIDs(platform: Handle<Platform>, kind: u64, num_entries: u32, devices: OutArray<Handle<Device>>,
        num_devices: Out<u32>) = device::ids;
    int clGetDeviceInfo(device: Handle<Device>, name: u32, size: usize, value: OutBytes, size_ret: Out<usize>)
        = device::info;
    new clCreateContext(properties: In<isize>, num_devices: u32, devices: In<Handle<Device>>,
        notify: Option<ContextNotify>, user_data: UserData) -> Handle<Context> = context::create;
    new clCreateContextFromType(properties: In<isize>, kind: u64, notify: Option<ContextNotify>, user_data: UserData)
        -> Handle<Context> = context::create_from_type;
    int clRetainContext(context: Handle<Context>) = Handle::<Context>::retain;
    int clReleaseContext(context: Handle<Context>) = Handle::<Context>::release;
    int clGetContextInfo(context: Handle<Context>, name: u32, size: usize, value: OutBytes, size_ret: Out<usize>)
        = context::info;
    new clCreateCommandQueue(context: Handle<Context>, device: Handle<Device>, properties: u64) -> Handle<Queue>
        = queue::create;
    int clRetainCommandQueue(queue: Handle<Queue>) = Handle::<Queue>::retain;
    int clReleaseCommandQueue(queue: Handle<Queue>) = Handle::<Queue>::release;
    int clGetCommandQueueInfo(queue: Handle<Queue>, name: u32, size: usize, value: OutBytes, size_ret: Out<usize>)
        = queue::info;
    int clSetCommandQueueProperty(queue: Handle<Queue>, properties: u64, enable: u32, old: Out<u64>)
        = queue::set_property;
    new clCreateBuffer(context: Handle<Context>, flags: u64, size: usize, host: HostMemory) -> Handle<MemObject>
        = buffer::create;
    new clCreateImage2D(context: Handle<Context>, flags: u64, format: In<image::Format>, width: usize, height: usize,
        pitch: usize, host: HostMemory) -> Handle<MemObject> = image::create_2d;
    new clCreateImage3D(context: Handle<Context>, flags: u64, format: In<image::Format>, width: usize, height: usize,
        depth: usize, row_pitch: usize, slice_pitch: usize, host: HostMemory) -> Handle<MemObject>
        = image::create_3d;
    int clRetainMemObject(memory: Handle<MemObject>) = Handle::<MemObject>::retain;
    int clReleaseMemObject(memory: Handle<MemObject>) = Handle::<MemObject>::release;
    int clGetSupportedImageFormats(context: Handle<Context>, flags: u64, kind: u32, num_entries: u32, formats: OutBytes,
        num_formats: Out<u32>) = image::supported;
    int clGetMemObjectInfo(memory: Handle<MemObject>, name: u32, size: usize, value: OutBytes, size_ret: Out<usize>)
        = buffer::info;
    int clGetImageInfo(image: Handle<MemObject>, name: u32, size: usize, value: OutBytes, size_ret: Out<usize>)
        = image::info;
    new clCreateSampler(context: Handle<Context>, normalized: u32, addressing: u32, filter: u32) -> Handle<Sampler>
        = sampler::create;
    int clRetainSampler(sampler: Handle<Sampler>) = Handle::<Sampler>::retain;
    int clReleaseSampler(sampler: Handle<Sampler>) = Handle::<Sampler>::release;
    int clGetSamplerInfo(sampler: Handle<Sampler>, name: u32, size: usize, value: OutBytes, size_ret: Out<usize>)
        = sampler::info;
    new clCreateProgramWithSource(context: Handle<Context>, count: u32, strings: In<Text>, lengths: In<usize>)
        -> Handle<Program> = program::with_source;
    new clCreateProgramWithBinary(context: Handle<Context>, num_devices: u32, devices: In<Handle<Device>>,
        lengths: In<usize>, binaries: In<Text>, binary_status: OutArray<i32>) -> Handle<Program> = program::with_binary;
    int clRetainProgram(program: Handle<Program>) = Handle::<Program>::retain;
    int clReleaseProgram(program: Handle<Program>) = Handle::<Program>::release;
    int clBuildProgram(program: Handle<Program>, num_devices: u32, devices: In<Handle<Device>>, options: Text,
        notify: Option<ObjectNotify>, user_data: UserData) = program::build;
    int clUnloadCompiler() = program::unload_compiler;
    int clGetProgramInfo(program: Handle<Program>, name: u32, size: usize, value: OutBytes, size_ret: Out<usize>)
        = program::info;
    int clGetProgramBuildInfo(program: Handle<Program>, device: Handle<Device>, name: u32, size: usize, value: OutBytes,
        size_ret: Out<usize>) = program::build_info;
    new clCreateKernel(program: Handle<Program>, name: Text) -> Handle<Kernel> = kernel::create;
    int clCreateKernelsInProgram(program: Handle<Program>, num_kernels: u32, kernels: OutArray<Handle<Kernel>>,
        num_kernels_ret: Out<u32>) = kernel::create_all;
    int clRetainKernel(kernel: Handle<Kernel>) = Handle::<Kernel>::retain;
    int clReleaseKernel(kernel: Handle<Kernel>) = Handle::<Kernel>::release;
    int clSetKernelArg(kernel: Handle<Kernel>, index: u32, size: usize, value: HostMemory) = kernel::set_arg;
    int clGetKernelInfo(kernel: Handle<Kernel>, name: u32, size: usize, value: OutBytes, size_ret: Out<usize>)
        = kernel::info;
    int clGetKernelWorkGroupInfo(kernel: Handle<Kernel>, device: Handle<Device>, name: u32, size: usize,
        value: OutBytes, size_ret: Out<usize>) = kernel::work_group_info;
    int clWaitForEvents(num_events: u32, events: In<Handle<Event>>) = event::wait;
    int clGetEventInfo(event: Handle<Event>, name: u32, size: usize, value: OutBytes, size_ret: Out<usize>)
        = event::info;
    int clRetainEvent(event: Handle<Event>) = Handle::<Event>::retain;
    int clReleaseEvent(event: Handle<Event>) = Handle::<Event>::release;
    int clGetEventProfilingInfo(event: Handle<Event>, name: u32, size: usize, value: OutBytes, size_ret: Out<usize>)
        = event::profiling;
    int clFlush(queue: Handle<Queue>) = queue::flush;
    int clFinish(queue: Handle<Queue>) = queue::finish;
    int clEnqueueReadBuffer(queue: Handle<Queue>, buffer: Handle<MemObject>, blocking: u32, offset: usize, size: usize,
        to: HostMemory, num_events: u32, events: In<Handle<Event>>, event: Out<Handle<Event>>) = transfer::read;
    int clEnqueueWriteBuffer(queue: Handle<Queue>, buffer: Handle<MemObject>, blocking: u32, offset: usize, size: usize,
        from: HostMemory, num_events: u32, events: In<Handle<Event>>, event: Out<Handle<Event>>) = transfer::write;
    int clEnqueueCopyBuffer(queue: Handle<Queue>, source: Handle<MemObject>, target: Handle<MemObject>, from: usize,
        to: usize, size: usize, num_events: u32, events: In<Handle<Event>>, event: Out<Handle<Event>>) = transfer::copy;
    int clEnqueueReadImage(queue: Handle<Queue>, image: Handle<MemObject>, blocking: u32, origin: In<usize>,
        region: In<usize>, row_pitch: usize, slice_pitch: usize, to: HostMemory, num_events: u32,
        events: In<Handle<Event>>, event: Out<Handle<Event>>) = image_transfer::read;
    int clEnqueueWriteImage(queue: Handle<Queue>, image: Handle<MemObject>, blocking: u32, origin: In<usize>,
        region: In<usize>, row_pitch: usize, slice_pitch: usize, from: HostMemory, num_events: u32,
        events: In<Handle<Event>>, event: Out<Handle<Event>>) = image_transfer::write;
    int clEnqueueCopyImage(queue: Handle<Queue>, source: Handle<MemObject>, target: Handle<MemObject>, from: In<usize>,
        to: In<usize>, region: In<usize>, num_events: u32, events: In<Handle<Event>>, event: Out<Handle<Event>>)
        = image_transfer::copy;
    int clEnqueueCopyImageToBuffer(queue: Handle<Queue>, source: Handle<MemObject>, target: Handle<MemObject>,
        from: In<usize>, region: In<usize>, to: usize, num_events: u32, events: In<Handle<Event>>,
        event: Out<Handle<Event>>) = image_transfer::to_buffer;
    int clEnqueueCopyBufferToImage(queue: Handle<Queue>, source: Handle<MemObject>, target: Handle<MemObject>,
        from: usize, to: In<usize>, region: In<usize>, num_events: u32, events: In<Handle<Event>>,
        event: Out<Handle<Event>>) = image_transfer::from_buffer;
    new clEnqueueMapBuffer(queue: Handle<Queue>, buffer: Handle<MemObject>, blocking: u32, flags: u64, offset: usize,
        size: usize, num_events: u32, events: In<Handle<Event>>, event: Out<Handle<Event>>) -> *mut c_void
        = transfer::map;
    new clEnqueueMapImage(queue: Handle<Queue>, image: Handle<MemObject>, blocking: u32, flags: u64, origin: In<usize>,
        region: In<usize>, row_pitch: Out<usize>, slice_pitch: Out<usize>, num_events: u32, events: In<Handle<Event>>,
        event: Out<Handle<Event>>) -> *mut c_void = image_transfer::map;
    int clEnqueueUnmapMemObject(queue: Handle<Queue>, memory: Handle<MemObject>, mapped: HostMemory, num_events: u32,
        events: In<Handle<Event>>, event: Out<Handle<Event>>) = transfer::unmap;
    int clEnqueueNDRangeKernel(queue: Handle<Queue>, kernel: Handle<Kernel>, dim: u32, offset: In<usize>,
        global: In<usize>, local: In<usize>, num_events: u32, events: In<Handle<Event>>, event: Out<Handle<Event>>)
        = launch::nd_range;
    int clEnqueueTask(queue: Handle<Queue>, kernel: Handle<Kernel>, num_events: u32, events: In<Handle<Event>>,
        event: Out<Handle<Event>>) = launch::task;
    int clEnqueueNativeKernel(queue: Handle<Queue>, function: Option<NativeFn>, args: HostMemory, args_size: usize,
        num_buffers: u32, buffers: In<Handle<MemObject>>, places: In<usize>, num_events: u32, events: In<Handle<Event>>,
        event: Out<Handle<Event>>) = launch::native;
    int clEnqueueMarker(queue: Handle<Queue>, event: Out<Handle<Event>>) = event::marker;
    int clEnqueueWaitForEvents(queue: Handle<Queue>, num_events: u32, events: In<Handle<Event>>) = event::queue_waits;
    int clEnqueueBarrier(queue: Handle<Queue>) = event::barrier;
    pointer_result clGetExtensionFunctionAddress(name: Text) -> *mut c_void = lookup::function;
    new clCreateFromGLBuffer(context: Handle<Context>, flags: u64, object: u32) -> Handle<MemObject>
        = unsupported::gl_buffer;
    new clCreateFromGLTexture2D(context: Handle<Context>, flags: u64, target: u32, level: i32, texture: u32)
        -> Handle<MemObject> = unsupported::gl_texture;
    new clCreateFromGLTexture3D(context: Handle<Context>, flags: u64, target: u32, level: i32, texture: u32)
        -> Handle<MemObject> = unsupported::gl_texture;
    new clCreateFromGLRenderbuffer(context: Handle<Context>, flags: u64, object: u32) -> Handle<MemObject>
        = unsupported::gl_buffer;
    int clGetGLObjectInfo(memory: Handle<MemObject>, kind: Out<u32>, name: Out<u32>) = unsupported::gl_object_info;
    int clGetGLTextureInfo(memory: Handle<MemObject>, name: u32, size: usize, value: OutBytes, size_ret: Out<usize>)
        = unsupported::gl_texture_info;
    int clEnqueueAcquireGLObjects(queue: Handle<Queue>, num: u32, objects: In<Handle<MemObject>>, num_events: u32,
        events: In<Handle<Event>>, event: Out<Handle<Event>>) = unsupported::gl_objects;
    int clEnqueueReleaseGLObjects(queue: Handle<Queue>, num: u32, objects: In<Handle<MemObject>>, num_events: u32,
        events: In<Handle<Event>>, event: Out<Handle<Event>>) = unsupported::gl_objects;
    int clGetGLContextInfoKHR(properties: In<isize>, name: u32, size: usize, value: OutBytes, size_ret: Out<usize>)
        = unsupported::gl_context_info;
    reserved clGetDeviceIDsFromD3D10KHR;
    reserved clCreateFromD3D10BufferKHR;
    reserved clCreateFromD3D10Texture2DKHR;
    reserved clCreateFromD3D10Texture3DKHR;
    reserved clEnqueueAcquireD3D10ObjectsKHR;
    reserved clEnqueueReleaseD3D10ObjectsKHR;
    int clSetEventCallback(event: Handle<Event>, status: i32, notify: Option<EventNotify>, user_data: UserData)
        = event::set_callback;
    new clCreateSubBuffer(buffer: Handle<MemObject>, flags: u64, kind: u32, region: In<[usize; 2]>) -> Handle<MemObject>
        = buffer::create_sub;
    int clSetMemObjectDestructorCallback(memory: Handle<MemObject>, notify: Option<ObjectNotify>, user_data: UserData)
        = buffer::set_destructor;
    new clCreateUserEvent(context: Handle<Context>) -> Handle<Event> = event::create_user;
    int clSetUserEventStatus(event: Handle<Event>, status: i32) = event::set_user_status;
    int clEnqueueReadBufferRect(queue: Handle<Queue>, buffer: Handle<MemObject>, blocking: u32,
        buffer_origin: In<usize>, host_origin: In<usize>, region: In<usize>, buffer_row: usize, buffer_slice: usize,
        host_row: usize, host_slice: usize, to: HostMemory, num_events: u32, events: In<Handle<Event>>,
        event: Out<Handle<Event>>) = transfer::read_rect;
    int clEnqueueWriteBufferRect(queue: Handle<Queue>, buffer: Handle<MemObject>, blocking: u32,
        buffer_origin: In<usize>, host_origin: In<usize>, region: In<usize>, buffer_row: usize, buffer_slice: usize,
        host_row: usize, host_slice: usize, from: HostMemory, num_events: u32, events: In<Handle<Event>>,
        event: Out<Handle<Event>>) = transfer::write_rect;
    int clEnqueueCopyBufferRect(queue: Handle<Queue>, source: Handle<MemObject>, target: Handle<MemObject>,
        from: In<usize>, to: In<usize>, region: In<usize>, source_row: usize, source_slice: usize, target_row: usize,
        target_slice: usize, num_events: u32, events: In<Handle<Event>>, event: Out<Handle<Event>>)
        = transfer::copy_rect;
    int clCreateSubDevicesEXT(device: Handle<Device>, properties: In<u64>, num_entries: u32,
        devices: OutArray<Handle<Device>>, num_devices: Out<u32>) = unsupported::sub_devices_ext;
    int clRetainDeviceEXT(device: Handle<Device>) = partition::retain;
    int clReleaseDeviceEXT(device: Handle<Device>) = partition::release;
    new clCreateEventFromGLsyncKHR(context: Handle<Context>, sync: UserData) -> Handle<Event> = unsupported::gl_sync;
    int clCreateSubDevices(device: Handle<Device>, properties: In<isize>, num_entries: u32,
        devices: OutArray<Handle<Device>>, num_devices: Out<u32>) = partition::create;
    int clRetainDevice(device: Handle<Device>) = partition::retain;
    int clReleaseDevice(device: Handle<Device>) = partition::release;
    new clCreateImage(context: Handle<Context>, flags: u64, format: In<image::Format>, description: In<image::Desc>,
        host: HostMemory) -> Handle<MemObject> = image::create;
    new clCreateProgramWithBuiltInKernels(context: Handle<Context>, num_devices: u32, devices: In<Handle<Device>>,
        names: Text) -> Handle<Program> = program::with_built_in_kernels;
    int clCompileProgram(program: Handle<Program>, num_devices: u32, devices: In<Handle<Device>>, options: Text,
        num_headers: u32, headers: In<Handle<Program>>, names: In<Text>, notify: Option<ObjectNotify>,
        user_data: UserData) = program::compile;
    object_and_code clLinkProgram(context: Handle<Context>, num_devices: u32, devices: In<Handle<Device>>,
        options: Text, num_programs: u32, programs: In<Handle<Program>>, notify: Option<ObjectNotify>,
        user_data: UserData) -> Handle<Program> = program::link;
    int clUnloadPlatformCompiler(platform: Handle<Platform>) = program::unload_platform_compiler;
    int clGetKernelArgInfo(kernel: Handle<Kernel>, index: u32, name: u32, size: usize, value: OutBytes,
        size_ret: Out<usize>) = kernel::arg_info;
    int clEnqueueFillBuffer(queue: Handle<Queue>, buffer: Handle<MemObject>, pattern: HostMemory, pattern_size: usize,
        offset: usize, size: usize, num_events: u32, events: In<Handle<Event>>, event: Out<Handle<Event>>)
        = transfer::fill;
    int clEnqueueFillImage(queue: Handle<Queue>, image: Handle<MemObject>, color: HostMemory, origin: In<usize>,
        region: In<usize>, num_events: u32, events: In<Handle<Event>>, event: Out<Handle<Event>>)
        = image_transfer::fill;
    int clEnqueueMigrateMemObjects(queue: Handle<Queue>, num: u32, memory: In<Handle<MemObject>>, flags: u64,
        num_events: u32, events: In<Handle<Event>>, event: Out<Handle<Event>>) = transfer::migrate;
    int clEnqueueMarkerWithWaitList(queue: Handle<Queue>, num_events: u32, events: In<Handle<Event>>,
        event: Out<Handle<Event>>) = event::marker_with_list;
    int clEnqueueBarrierWithWaitList(queue: Handle<Queue>, num_events: u32, events: In<Handle<Event>>,
        event: Out<Handle<Event>>) = event::barrier_with_list;
    pointer_result clGetExtensionFunctionAddressForPlatform(platform: Handle<Platform>, name: Text) -> *mut c_void
        = lookup::function_of;
    new clCreateFromGLTexture(context: Handle<Context>, flags: u64, target: u32, level: i32, texture: u32)
        -> Handle<MemObject> = unsupported::gl_texture;
    reserved clGetDeviceIDsFromD3D11KHR;
    reserved clCreateFromD3D11BufferKHR;
    reserved clCreateFromD3D11Texture2DKHR;
    reserved clCreateFromD3D11Texture3DKHR;
    reserved clCreateFromDX9MediaSurfaceKHR;
    reserved clEnqueueAcquireD3D11ObjectsKHR;
    reserved clEnqueueReleaseD3D11ObjectsKHR;
    reserved clGetDeviceIDsFromDX9MediaAdapterKHR;
    reserved clEnqueueAcquireDX9MediaSurfacesKHR;
    reserved clEnqueueReleaseDX9MediaSurfacesKHR;
    new clCreateFromEGLImageKHR(context: Handle<Context>, display: UserData, image: UserData, flags: u64,
        properties: In<isize>) -> Handle<MemObject> = unsupported::egl_image;
    int clEnqueueAcquireEGLObjectsKHR(queue: Handle<Queue>, num: u32, objects: In<Handle<MemObject>>, num_events: u32,
        events: In<Handle<Event>>, event: Out<Handle<Event>>) = unsupported::egl_objects;
    int clEnqueueReleaseEGLObjectsKHR(queue: Handle<Queue>, num: u32, objects: In<Handle<MemObject>>, num_events: u32,
        events: In<Handle<Event>>, event: Out<Handle<Event>>) = unsupported::egl_objects;
    new clCreateEventFromEGLSyncKHR(context: Handle<Context>, sync: UserData, display: UserData) -> Handle<Event>
        = unsupported::egl_sync;
    new clCreateCommandQueueWithProperties(context: Handle<Context>, device: Handle<Device>, properties: In<u64>)
        -> Handle<Queue> = queue::create_with_properties;
    new clCreatePipe(context: Handle<Context>, flags: u64, packet_size: u32, max_packets: u32, properties: In<isize>)
        -> Handle<MemObject> = pipe::create;
    int clGetPipeInfo(pipe: Handle<MemObject>, name: u32, size: usize, value: OutBytes, size_ret: Out<usize>)
        = pipe::info;
    pointer_result clSVMAlloc(context: Handle<Context>, flags: u64, size: usize, alignment: u32) -> *mut c_void
        = svm::alloc;
    pointer_result clSVMFree(context: Handle<Context>, memory: HostMemory) -> () = svm::free;
    int clEnqueueSVMFree(queue: Handle<Queue>, num: u32, memory: In<usize>, notify: Option<SvmNotify>,
        user_data: UserData, num_events: u32, events: In<Handle<Event>>, event: Out<Handle<Event>>) = svm::enqueue_free;
    int clEnqueueSVMMemcpy(queue: Handle<Queue>, blocking: u32, to: HostMemory, from: HostMemory, size: usize,
        num_events: u32, events: In<Handle<Event>>, event: Out<Handle<Event>>) = svm::memcpy;
    int clEnqueueSVMMemFill(queue: Handle<Queue>, memory: HostMemory, pattern: HostMemory, pattern_size: usize,
        size: usize, num_events: u32, events: In<Handle<Event>>, event: Out<Handle<Event>>) = svm::fill;
    int clEnqueueSVMMap(queue: Handle<Queue>, blocking: u32, flags: u64, memory: HostMemory, size: usize,
        num_events: u32, events: In<Handle<Event>>, event: Out<Handle<Event>>) = svm::map;
    int clEnqueueSVMUnmap(queue: Handle<Queue>, memory: HostMemory, num_events: u32, events: In<Handle<Event>>,
        event: Out<Handle<Event>>) = svm::unmap;
    new clCreateSamplerWithProperties(context: Handle<Context>, properties: In<u64>) -> Handle<Sampler>
        = sampler::create_with_properties;
    int clSetKernelArgSVMPointer(kernel: Handle<Kernel>, index: u32, value: HostMemory) = svm::set_arg;
    int clSetKernelExecInfo(kernel: Handle<Kernel>, name: u32, size: usize, value: HostMemory) = svm::exec_info;
    int clGetKernelSubGroupInfoKHR(kernel: Handle<Kernel>, device: Handle<Device>, name: u32, input_size: usize,
        input: HostMemory, size: usize, value: OutBytes, size_ret: Out<usize>) = kernel::sub_group_info;
    new clCloneKernel(kernel: Handle<Kernel>) -> Handle<Kernel> = kernel::duplicate;
    new clCreateProgramWithIL(context: Handle<Context>, il: HostMemory, length: usize) -> Handle<Program>
        = program::with_il;
    int clEnqueueSVMMigrateMem(queue: Handle<Queue>, num: u32, memory: In<usize>, sizes: In<usize>, flags: u64,
        num_events: u32, events: In<Handle<Event>>, event: Out<Handle<Event>>) = svm::migrate;
    int clGetDeviceAndHostTimer(device: Handle<Device>, device_time: Out<u64>, host_time: Out<u64>) = device::timers;
    int clGetHostTimer(device: Handle<Device>, host_time: Out<u64>) = device::host_timer;
    int clGetKernelSubGroupInfo(kernel: Handle<Kernel>, device: Handle<Device>, name: u32, input_size: usize,
        input: HostMemory, size: usize, value: OutBytes, size_ret: Out<usize>) = kernel::sub_group_info;
    int clSetDefaultDeviceCommandQueue(context: Handle<Context>, device: Handle<Device>, queue: Handle<Queue>)
        = queue::set_default;
    int clSetProgramReleaseCallback(program: Handle<Program>, notify: Option<ObjectNotify>, user_data: UserData)
        = program::set_release_callback;
    int clSetProgramSpecializationConstant(program: Handle<Program>, id: u32, size: usize, value: HostMemory)
        = program::set_specialization_constant;
    new clCreateBufferWithProperties(context: Handle<Context>, properties: In<u64>, flags: u64, size: usize,
        host: HostMemory) -> Handle<MemObject> = buffer::create_with_properties;
    new clCreateImageWithProperties(context: Handle<Context>, properties: In<u64>, flags: u64, format: In<image::Format>,
        description: In<image::Desc>, host: HostMemory) -> Handle<MemObject> = image::create_with_properties;
    int clSetContextDestructorCallback(context: Handle<Context>, notify: Option<ObjectNotify>, user_data: UserData)
        = context::set_destructor;
    int clGetKernelSuggestedLocalWorkSize(queue: Handle<Queue>, kernel: Handle<Kernel>, dim: u32, offset: In<usize>,
        global: In<usize>, local: OutArray<usize>) = launch::suggested_local_size;
}

beside {
    int clIcdGetPlatformIDsKHR(num_entries: u32, platforms: OutArray<Handle<Platform>>, num_platforms: Out<u32>)
        = platform::ids;
    pointer_result clIcdGetFunctionAddressForPlatformKHR(platform: Handle<Platform>, name: Text) -> *mut c_void
        = lookup::icd_function;
    int clIcdSetPlatformDispatchDataKHR(platform: Handle<Platform>, data: UserData) = platform::set_dispatch_data;
    new clCreateCommandQueueWithPropertiesKHR(context: Handle<Context>, device: Handle<Device>, properties: In<u64>)
        -> Handle<Queue> = queue::create_with_properties;
    int clGetKernelSuggestedLocalWorkSizeKHR(queue: Handle<Queue>, kernel: Handle<Kernel>, dim: u32, offset: In<usize>,
        global: In<usize>, local: OutArray<usize>) = launch::suggested_local_size;
    new clCreateProgramWithILKHR(context: Handle<Context>, il: HostMemory, length: usize) -> Handle<Program>
        = program::with_il;
    new clCreateCommandBufferKHR(num_queues: u32, queues: In<Handle<Queue>>, properties: In<u64>)
        -> Handle<CommandBuffer> = command_buffer::create;
    int clFinalizeCommandBufferKHR(buffer: Handle<CommandBuffer>) = command_buffer::finalize;
    int clRetainCommandBufferKHR(buffer: Handle<CommandBuffer>) = Handle::<CommandBuffer>::retain;
    int clReleaseCommandBufferKHR(buffer: Handle<CommandBuffer>) = Handle::<CommandBuffer>::release;
    int clEnqueueCommandBufferKHR(num_queues: u32, queues: In<Handle<Queue>>, buffer: Handle<CommandBuffer>,
        num_events: u32, events: In<Handle<Event>>, event: Out<Handle<Event>>) = command_buffer::enqueue;
    int clCommandBarrierWithWaitListKHR(buffer: Handle<CommandBuffer>, queue: Handle<Queue>, properties: In<u64>,
        num_points: u32, points: In<u32>, point: Out<u32>,
        mutable_handle: Out<Handle<MutableCommand>>) = command_buffer::barrier;
    int clCommandCopyBufferKHR(buffer: Handle<CommandBuffer>, queue: Handle<Queue>, properties: In<u64>, source:
        Handle<MemObject>, target: Handle<MemObject>, from: usize, to: usize, size: usize, num_points: u32,
        points: In<u32>, point: Out<u32>,
        mutable_handle: Out<Handle<MutableCommand>>) = command_buffer::copy;
    int clCommandCopyBufferRectKHR(buffer: Handle<CommandBuffer>, queue: Handle<Queue>, properties: In<u64>,
        source: Handle<MemObject>, target: Handle<MemObject>, from: In<usize>, to: In<usize>, region: In<usize>,
        source_row: usize, source_slice: usize, target_row: usize, target_slice: usize, num_points: u32, points:
        In<u32>, point: Out<u32>,
        mutable_handle: Out<Handle<MutableCommand>>) = command_buffer::copy_rect;
    int clCommandCopyBufferToImageKHR(buffer: Handle<CommandBuffer>, queue: Handle<Queue>, properties: In<u64>,
        source: Handle<MemObject>, target: Handle<MemObject>, offset: usize, origin: In<usize>, region: In<usize>,
        num_points: u32, points: In<u32>, point: Out<u32>,
        mutable_handle: Out<Handle<MutableCommand>>) = command_buffer::copy_buffer_to_image;
    int clCommandCopyImageKHR(buffer: Handle<CommandBuffer>, queue: Handle<Queue>, properties: In<u64>, source:
        Handle<MemObject>, target: Handle<MemObject>, from: In<usize>, to: In<usize>, region: In<usize>,
        num_points: u32, points: In<u32>, point: Out<u32>,
        mutable_handle: Out<Handle<MutableCommand>>) = command_buffer::copy_image;
    int clCommandCopyImageToBufferKHR(buffer: Handle<CommandBuffer>, queue: Handle<Queue>, properties: In<u64>,
        source: Handle<MemObject>, target: Handle<MemObject>, origin: In<usize>, region: In<usize>, offset: usize,
        num_points: u32, points: In<u32>, point: Out<u32>,
        mutable_handle: Out<Handle<MutableCommand>>) = command_buffer::copy_image_to_buffer;
    int clCommandFillBufferKHR(buffer: Handle<CommandBuffer>, queue: Handle<Queue>, properties: In<u64>, memory:
        Handle<MemObject>, pattern: HostMemory, pattern_size: usize, offset: usize, size: usize, num_points: u32,
        points: In<u32>, point: Out<u32>,
        mutable_handle: Out<Handle<MutableCommand>>) = command_buffer::fill;
    int clCommandFillImageKHR(buffer: Handle<CommandBuffer>, queue: Handle<Queue>, properties: In<u64>, image:
        Handle<MemObject>, color: HostMemory, origin: In<usize>, region: In<usize>, num_points: u32, points:
        In<u32>, point: Out<u32>,
        mutable_handle: Out<Handle<MutableCommand>>) = command_buffer::fill_image;
    int clCommandSVMMemcpyKHR(buffer: Handle<CommandBuffer>, queue: Handle<Queue>, properties: In<u64>, to:
        HostMemory, from: HostMemory, size: usize, num_points: u32, points: In<u32>, point: Out<u32>,
        mutable_handle: Out<Handle<MutableCommand>>) = command_buffer::svm_copy;
    int clCommandSVMMemFillKHR(buffer: Handle<CommandBuffer>, queue: Handle<Queue>, properties: In<u64>, memory:
        HostMemory, pattern: HostMemory, pattern_size: usize, size: usize, num_points: u32, points: In<u32>,
        point: Out<u32>,
        mutable_handle: Out<Handle<MutableCommand>>) = command_buffer::svm_fill;
    int clCommandNDRangeKernelKHR(buffer: Handle<CommandBuffer>, queue: Handle<Queue>, properties: In<u64>,
        kernel: Handle<Kernel>, dim: u32, offset: In<usize>, global: In<usize>, local: In<usize>, num_points: u32,
        points: In<u32>, point: Out<u32>,
        mutable_handle: Out<Handle<MutableCommand>>) = mutable::nd_range;
    int clGetCommandBufferInfoKHR(buffer: Handle<CommandBuffer>, name: u32, size: usize, value: OutBytes,
        size_ret: Out<usize>) = command_buffer::info;
    int clUpdateMutableCommandsKHR(buffer: Handle<CommandBuffer>, num_configs: u32, kinds: In<u32>,
        configs: In<In<mutable::DispatchConfig>>) = mutable::update;
    int clGetMutableCommandInfoKHR(command: Handle<MutableCommand>, name: u32, size: usize, value: OutBytes,
        size_ret: Out<usize>) = mutable::info;
    new clCreateSemaphoreWithPropertiesKHR(context: Handle<Context>, properties: In<u64>) -> Handle<Semaphore>
        = semaphore::create;
    int clRetainSemaphoreKHR(semaphore: Handle<Semaphore>) = Handle::<Semaphore>::retain;
    int clReleaseSemaphoreKHR(semaphore: Handle<Semaphore>) = Handle::<Semaphore>::release;
    int clEnqueueWaitSemaphoresKHR(queue: Handle<Queue>, num: u32, semaphores: In<Handle<Semaphore>>,
        payloads: In<u64>, num_events: u32, events: In<Handle<Event>>, event: Out<Handle<Event>>) = semaphore::wait;
    int clEnqueueSignalSemaphoresKHR(queue: Handle<Queue>, num: u32, semaphores: In<Handle<Semaphore>>,
        payloads: In<u64>, num_events: u32, events: In<Handle<Event>>, event: Out<Handle<Event>>)
        = semaphore::signal;
    int clGetSemaphoreInfoKHR(semaphore: Handle<Semaphore>, name: u32, size: usize, value: OutBytes,
        size_ret: Out<usize>) = semaphore::info;
    int clGetSemaphoreHandleForTypeKHR(semaphore: Handle<Semaphore>, device: Handle<Device>, kind: u32, size: usize,
        value: OutBytes, size_ret: Out<usize>) = semaphore::external_handle;
    int clGetImageRequirementsInfoEXT(context: Handle<Context>, properties: In<u64>, flags: u64,
        format: In<image::Format>, description: In<image::Desc>, name: u32, size: usize, value: OutBytes,
        size_ret: Out<usize>) = image::requirements;
    int clSetKernelArgDevicePointerEXT(kernel: Handle<Kernel>, index: u32, address: u64) = svm::set_device_address;
    new clHostMemAllocINTEL(context: Handle<Context>, properties: In<u64>, size: usize, alignment: u32) -> *mut c_void
        = usm::host_alloc;
    new clDeviceMemAllocINTEL(context: Handle<Context>, device: Handle<Device>, properties: In<u64>, size: usize,
        alignment: u32) -> *mut c_void = usm::device_alloc;
    new clSharedMemAllocINTEL(context: Handle<Context>, device: Handle<Device>, properties: In<u64>, size: usize,
        alignment: u32) -> *mut c_void = usm::shared_alloc;
    int clMemFreeINTEL(context: Handle<Context>, memory: HostMemory) = usm::free;
    int clMemBlockingFreeINTEL(context: Handle<Context>, memory: HostMemory) = usm::blocking_free;
    int clGetMemAllocInfoINTEL(context: Handle<Context>, memory: HostMemory, name: u32, size: usize, value: OutBytes,
        size_ret: Out<usize>) = usm::info;
    int clSetKernelArgMemPointerINTEL(kernel: Handle<Kernel>, index: u32, value: HostMemory) = usm::set_arg;
    int clEnqueueMemFillINTEL(queue: Handle<Queue>, memory: HostMemory, pattern: HostMemory, pattern_size: usize,
        size: usize, num_events: u32, events: In<Handle<Event>>, event: Out<Handle<Event>>) = usm::fill;
    int clEnqueueMemsetINTEL(queue: Handle<Queue>, memory: HostMemory, value: i32, size: usize, num_events: u32,
        events: In<Handle<Event>>, event: Out<Handle<Event>>) = usm::set;
    int clEnqueueMemcpyINTEL(queue: Handle<Queue>, blocking: u32, to: HostMemory, from: HostMemory, size: usize,
        num_events: u32, events: In<Handle<Event>>, event: Out<Handle<Event>>) = usm::memcpy;
    int clEnqueueMigrateMemINTEL(queue: Handle<Queue>, memory: HostMemory, size: usize, flags: u64, num_events: u32,
        events: In<Handle<Event>>, event: Out<Handle<Event>>) = usm::migrate;
    int clEnqueueMemAdviseINTEL(queue: Handle<Queue>, memory: HostMemory, size: usize, advice: u32, num_events: u32,
        events: In<Handle<Event>>, event: Out<Handle<Event>>) = usm::advise;
    pointer_result cloomLiveObjects() -> usize = platform::live_objects;
}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_the_loaders() {
        // Indices that the loader's header fixes; one entry too many or too few shifts the following ones.
        for (index, name) in [
            (0, "clGetPlatformIDs"),
            (46, "clFlush"),
            (65, "clGetExtensionFunctionAddress"),
            (81, "clSetEventCallback"),
            (93, "clCreateSubDevices"),
            (107, "clGetExtensionFunctionAddressForPlatform"),
            (123, "clCreateCommandQueueWithProperties"),
            (137, "clCloneKernel"),
            (148, "clSetContextDestructorCallback"),
            (149, "clGetKernelSuggestedLocalWorkSize"),
        ] {
            assert_eq!(NAMES.get(index), Some(&name));
        }
        assert_eq!(COUNT, 150);
    }

    #[test]
    fn two_slots_have_the_tag() {
        for (slot, name) in ICD2_SLOTS.into_iter().zip(["clGetPlatformIDs", "clUnloadCompiler"]) {
            assert!(NAMES[slot] == name && DISPATCH[slot].0.addr() == ICD2_TAG, "{name}");
            assert_eq!(address(name), FUNCTIONS[slot].0);
        }
    }
}
