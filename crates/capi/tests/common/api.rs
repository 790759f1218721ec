//! The C interface as tests see it: the entry points of a driver, looked up by name in the library under test.
//!
//! The signatures come from the specification, not from the driver, so that a driver with other signatures is found
//! out.

use super::load;
use libloading::Library;
use std::ffi::{c_char, c_void as Void};

/// A handle of any object, or any other pointer.
pub type Handle = *mut Void;
/// The callback of a context.
pub type ErrorFn = unsafe extern "C" fn(*const c_char, *const Void, usize, *mut Void);
/// The callback of an event.
pub type EventFn = unsafe extern "C" fn(Handle, i32, *mut Void);
/// The callback of a program, of a buffer's or a context's end.
pub type ObjectFn = unsafe extern "C" fn(Handle, *mut Void);
/// A native kernel.
pub type NativeFn = unsafe extern "C" fn(*mut Void);
/// What `clEnqueueSVMFree` calls to free.
pub type SvmFreeFn = unsafe extern "C" fn(Handle, u32, *mut *mut Void, *mut Void);

macro_rules! entry_points {
    ($(fn $name:ident($($arg:ident: $ty:ty),*) $(-> $ret:ty)?;)*) => {
        /// The entry points.
        #[allow(non_snake_case, reason = "the specification's names")]
        pub struct Api {
            $($name: Option<unsafe extern "C" fn($($ty),*) $(-> $ret)?>,)*
            live: Option<unsafe extern "C" fn() -> usize>,
            _library: Library,
        }

        #[allow(non_snake_case, clippy::too_many_arguments, clippy::missing_safety_doc, reason = "the specification's")]
        impl Api {
            /// Loads a library and looks all of them up.
            pub fn open() -> Api {
                let library = load::library();
                Api {
                    $($name: load::symbol(&library, concat!(stringify!($name), "\0")),)*
                    live: load::symbol(&library, "cloomLiveObjects\0"),
                    _library: library,
                }
            }

            $(
                pub fn $name(&self, $($arg: $ty),*) $(-> $ret)? {
                    let Some(entry) = self.$name else { panic!(concat!(stringify!($name), " is not exported")) };
                    // SAFETY: the signature is the specification's; tests pass pointers to what they say, or
                    // deliberately bad ones that the specification makes the driver find out.
                    unsafe { entry($($arg),*) }
                }
            )*

            /// The number of live objects, if the driver exports it.
            pub fn live(&self) -> Option<usize> {
                // SAFETY: takes nothing.
                self.live.map(|f| unsafe { f() })
            }

            /// Names that the library does not have.
            pub fn missing(&self) -> Vec<&'static str> {
                let mut missing = Vec::new();
                $(if self.$name.is_none() { missing.push(stringify!($name)); })*
                missing
            }
        }
    };
}

entry_points! {
    fn clGetPlatformIDs(num_entries: u32, platforms: *mut Handle, num_platforms: *mut u32) -> i32;
    fn clGetPlatformInfo(platform: Handle, name: u32, size: usize, value: *mut Void, size_ret: *mut usize) -> i32;
    fn clGetDeviceIDs(
        platform: Handle, device_type: u64, num_entries: u32, devices: *mut Handle, num_devices: *mut u32
    ) -> i32;
    fn clGetDeviceInfo(device: Handle, name: u32, size: usize, value: *mut Void, size_ret: *mut usize) -> i32;
    fn clCreateSubDevices(
        in_device: Handle, properties: *const isize, num_devices: u32, out_devices: *mut Handle,
        num_devices_ret: *mut u32
    ) -> i32;
    fn clRetainDevice(device: Handle) -> i32;
    fn clReleaseDevice(device: Handle) -> i32;
    fn clGetDeviceAndHostTimer(device: Handle, device_timestamp: *mut u64, host_timestamp: *mut u64) -> i32;
    fn clGetHostTimer(device: Handle, host_timestamp: *mut u64) -> i32;
    fn clCreateContext(
        properties: *const isize, num_devices: u32, devices: *const Handle, notify: Option<ErrorFn>,
        user_data: *mut Void, code: *mut i32
    ) -> Handle;
    fn clCreateContextFromType(
        properties: *const isize, device_type: u64, notify: Option<ErrorFn>, user_data: *mut Void, code: *mut i32
    ) -> Handle;
    fn clRetainContext(context: Handle) -> i32;
    fn clReleaseContext(context: Handle) -> i32;
    fn clGetContextInfo(context: Handle, name: u32, size: usize, value: *mut Void, size_ret: *mut usize) -> i32;
    fn clSetContextDestructorCallback(context: Handle, notify: Option<ObjectFn>, user_data: *mut Void) -> i32;
    fn clCreateCommandQueueWithProperties(
        context: Handle, device: Handle, properties: *const u64, code: *mut i32
    ) -> Handle;
    fn clSetDefaultDeviceCommandQueue(context: Handle, device: Handle, queue: Handle) -> i32;
    fn clRetainCommandQueue(queue: Handle) -> i32;
    fn clReleaseCommandQueue(queue: Handle) -> i32;
    fn clGetCommandQueueInfo(queue: Handle, name: u32, size: usize, value: *mut Void, size_ret: *mut usize) -> i32;
    fn clCreateBuffer(context: Handle, flags: u64, size: usize, host_ptr: *mut Void, code: *mut i32) -> Handle;
    fn clCreateSubBuffer(
        buffer: Handle, flags: u64, buffer_create_type: u32, buffer_create_info: *const Void, code: *mut i32
    ) -> Handle;
    fn clCreateImage(
        context: Handle, flags: u64, image_format: *const Void, image_desc: *const Void, host_ptr: *mut Void,
        code: *mut i32
    ) -> Handle;
    fn clCreateBufferWithProperties(
        context: Handle, properties: *const u64, flags: u64, size: usize, host_ptr: *mut Void, code: *mut i32
    ) -> Handle;
    fn clRetainMemObject(memobj: Handle) -> i32;
    fn clReleaseMemObject(memobj: Handle) -> i32;
    fn clGetImageInfo(image: Handle, name: u32, size: usize, value: *mut Void, size_ret: *mut usize) -> i32;
    fn clReleaseSampler(sampler: Handle) -> i32;
    fn clGetSamplerInfo(sampler: Handle, name: u32, size: usize, value: *mut Void, size_ret: *mut usize) -> i32;
    fn clCreateSampler(context: Handle, normalized: u32, addressing: u32, filter: u32, code: *mut i32) -> Handle;
    fn clEnqueueReadImage(
        queue: Handle, image: Handle, blocking: u32, origin: *const usize, region: *const usize, row_pitch: usize,
        slice_pitch: usize, ptr: *mut Void, num_events: u32, wait_list: *const Handle, event: *mut Handle
    ) -> i32;
    fn clEnqueueWriteImage(
        queue: Handle, image: Handle, blocking: u32, origin: *const usize, region: *const usize, row_pitch: usize,
        slice_pitch: usize, ptr: *const Void, num_events: u32, wait_list: *const Handle, event: *mut Handle
    ) -> i32;
    fn clEnqueueCopyImage(
        queue: Handle, source: Handle, target: Handle, from: *const usize, to: *const usize, region: *const usize,
        num_events: u32, wait_list: *const Handle, event: *mut Handle
    ) -> i32;
    fn clEnqueueCopyImageToBuffer(
        queue: Handle, source: Handle, target: Handle, origin: *const usize, region: *const usize, offset: usize,
        num_events: u32, wait_list: *const Handle, event: *mut Handle
    ) -> i32;
    fn clEnqueueCopyBufferToImage(
        queue: Handle, source: Handle, target: Handle, offset: usize, origin: *const usize, region: *const usize,
        num_events: u32, wait_list: *const Handle, event: *mut Handle
    ) -> i32;
    fn clEnqueueFillImage(
        queue: Handle, image: Handle, color: *const Void, origin: *const usize, region: *const usize, num_events: u32,
        wait_list: *const Handle, event: *mut Handle
    ) -> i32;
    fn clEnqueueMapImage(
        queue: Handle, image: Handle, blocking: u32, flags: u64, origin: *const usize, region: *const usize,
        row_pitch: *mut usize, slice_pitch: *mut usize, num_events: u32, wait_list: *const Handle,
        event: *mut Handle, code: *mut i32
    ) -> Handle;
    fn clGetSupportedImageFormats(
        context: Handle, flags: u64, image_type: u32, num_entries: u32, image_formats: *const Void,
        num_image_formats: *mut u32
    ) -> i32;
    fn clGetMemObjectInfo(memobj: Handle, name: u32, size: usize, value: *mut Void, size_ret: *mut usize) -> i32;
    fn clSetMemObjectDestructorCallback(memobj: Handle, notify: Option<ObjectFn>, user_data: *mut Void) -> i32;
    fn clSVMAlloc(context: Handle, flags: u64, size: usize, alignment: u32) -> *mut Void;
    fn clSVMFree(context: Handle, svm_pointer: *mut Void);
    fn clCreateSamplerWithProperties(context: Handle, normalized_coords: *const u64, code: *mut i32) -> Handle;
    fn clCreateProgramWithSource(
        context: Handle, count: u32, strings: *const *const c_char, lengths: *const usize, code: *mut i32
    ) -> Handle;
    fn clCreateProgramWithBinary(
        context: Handle, num_devices: u32, device_list: *const Handle, lengths: *const usize,
        binaries: *const *const u8, binary_status: *mut i32, code: *mut i32
    ) -> Handle;
    fn clCreateProgramWithBuiltInKernels(
        context: Handle, num_devices: u32, device_list: *const Handle, kernel_names: *const c_char, code: *mut i32
    ) -> Handle;
    fn clCreateProgramWithIL(context: Handle, il: *const Void, length: usize, code: *mut i32) -> Handle;
    fn clSetProgramSpecializationConstant(program: Handle, id: u32, size: usize, value: *const Void) -> i32;
    fn clRetainProgram(program: Handle) -> i32;
    fn clReleaseProgram(program: Handle) -> i32;
    fn clBuildProgram(
        program: Handle, num_devices: u32, device_list: *const Handle, options: *const c_char,
        notify: Option<ObjectFn>, user_data: *mut Void
    ) -> i32;
    fn clCompileProgram(
        program: Handle, num_devices: u32, device_list: *const Handle, options: *const c_char,
        num_input_headers: u32, input_headers: *const Handle, header_include_names: *const *const c_char,
        notify: Option<ObjectFn>, user_data: *mut Void
    ) -> i32;
    fn clLinkProgram(
        context: Handle, num_devices: u32, device_list: *const Handle, options: *const c_char,
        num_input_programs: u32, input_programs: *const Handle, notify: Option<ObjectFn>, user_data: *mut Void,
        code: *mut i32
    ) -> Handle;
    fn clSetProgramReleaseCallback(program: Handle, notify: Option<ObjectFn>, user_data: *mut Void) -> i32;
    fn clUnloadPlatformCompiler(platform: Handle) -> i32;
    fn clGetProgramInfo(program: Handle, name: u32, size: usize, value: *mut Void, size_ret: *mut usize) -> i32;
    fn clGetProgramBuildInfo(
        program: Handle, device: Handle, name: u32, size: usize, value: *mut Void, size_ret: *mut usize
    ) -> i32;
    fn clCreateKernel(program: Handle, kernel_name: *const c_char, code: *mut i32) -> Handle;
    fn clCreateKernelsInProgram(
        program: Handle, num_kernels: u32, kernels: *mut Handle, num_kernels_ret: *mut u32
    ) -> i32;
    fn clCloneKernel(source_kernel: Handle, code: *mut i32) -> Handle;
    fn clRetainKernel(kernel: Handle) -> i32;
    fn clReleaseKernel(kernel: Handle) -> i32;
    fn clSetKernelArg(kernel: Handle, arg_index: u32, arg_size: usize, arg_value: *const Void) -> i32;
    fn clSetKernelArgSVMPointer(kernel: Handle, arg_index: u32, arg_value: *const Void) -> i32;
    fn clSetKernelExecInfo(kernel: Handle, name: u32, size: usize, value: *const Void) -> i32;
    fn clGetKernelInfo(kernel: Handle, name: u32, size: usize, value: *mut Void, size_ret: *mut usize) -> i32;
    fn clGetKernelArgInfo(
        kernel: Handle, arg_index: u32, name: u32, size: usize, value: *mut Void, size_ret: *mut usize
    ) -> i32;
    fn clGetKernelWorkGroupInfo(
        kernel: Handle, device: Handle, name: u32, size: usize, value: *mut Void, size_ret: *mut usize
    ) -> i32;
    fn clGetKernelSubGroupInfo(
        kernel: Handle, device: Handle, name: u32, input_value_size: usize, input_value: *const Void, size: usize,
        value: *mut Void, size_ret: *mut usize
    ) -> i32;
    fn clWaitForEvents(num_events: u32, event_list: *const Handle) -> i32;
    fn clGetEventInfo(event: Handle, name: u32, size: usize, value: *mut Void, size_ret: *mut usize) -> i32;
    fn clCreateUserEvent(context: Handle, code: *mut i32) -> Handle;
    fn clRetainEvent(event: Handle) -> i32;
    fn clReleaseEvent(event: Handle) -> i32;
    fn clSetUserEventStatus(event: Handle, execution_status: i32) -> i32;
    fn clSetEventCallback(
        event: Handle, command_exec_callback_type: i32, notify: Option<EventFn>, user_data: *mut Void
    ) -> i32;
    fn clGetEventProfilingInfo(event: Handle, name: u32, size: usize, value: *mut Void, size_ret: *mut usize) -> i32;
    fn clFlush(queue: Handle) -> i32;
    fn clFinish(queue: Handle) -> i32;
    fn clEnqueueReadBuffer(
        queue: Handle, buffer: Handle, blocking: u32, offset: usize, cb: usize, ptr: *mut Void, num_events: u32,
        wait_list: *const Handle, event: *mut Handle
    ) -> i32;
    fn clEnqueueReadBufferRect(
        queue: Handle, buffer: Handle, blocking: u32, buffer_origin: *const usize, host_origin: *const usize,
        region: *const usize, buffer_row_pitch: usize, buffer_slc_pitch: usize, host_row_pitch: usize,
        host_slc_pitch: usize, ptr: *mut Void, num_events: u32, wait_list: *const Handle, event: *mut Handle
    ) -> i32;
    fn clEnqueueWriteBuffer(
        queue: Handle, buffer: Handle, blocking: u32, offset: usize, cb: usize, ptr: *const Void, num_events: u32,
        wait_list: *const Handle, event: *mut Handle
    ) -> i32;
    fn clEnqueueWriteBufferRect(
        queue: Handle, buffer: Handle, blocking: u32, buffer_origin: *const usize, host_origin: *const usize,
        region: *const usize, buffer_row_pitch: usize, buffer_slc_pitch: usize, host_row_pitch: usize,
        host_slc_pitch: usize, ptr: *const Void, num_events: u32, wait_list: *const Handle, event: *mut Handle
    ) -> i32;
    fn clEnqueueSVMFree(
        queue: Handle, num: u32, pointers: *const *mut Void, notify: Option<SvmFreeFn>, user_data: *mut Void,
        num_events: u32, wait_list: *const Handle, event: *mut Handle
    ) -> i32;
    fn clEnqueueSVMMemcpy(
        queue: Handle, blocking: u32, dst: *mut Void, src: *const Void, size: usize, num_events: u32,
        wait_list: *const Handle, event: *mut Handle
    ) -> i32;
    fn clEnqueueSVMMemFill(
        queue: Handle, svm_ptr: *mut Void, pattern: *const Void, pattern_size: usize, size: usize, num_events: u32,
        wait_list: *const Handle, event: *mut Handle
    ) -> i32;
    fn clEnqueueSVMMap(
        queue: Handle, blocking: u32, flags: u64, svm_ptr: *mut Void, size: usize, num_events: u32,
        wait_list: *const Handle, event: *mut Handle
    ) -> i32;
    fn clEnqueueSVMUnmap(
        queue: Handle, svm_ptr: *mut Void, num_events: u32, wait_list: *const Handle, event: *mut Handle
    ) -> i32;
    fn clEnqueueSVMMigrateMem(
        queue: Handle, num: u32, pointers: *const *const Void, sizes: *const usize, flags: u64, num_events: u32,
        wait_list: *const Handle, event: *mut Handle
    ) -> i32;
    fn clEnqueueFillBuffer(
        queue: Handle, buffer: Handle, pattern: *const Void, pattern_size: usize, offset: usize, size: usize,
        num_events: u32, wait_list: *const Handle, event: *mut Handle
    ) -> i32;
    fn clEnqueueCopyBuffer(
        queue: Handle, src_buffer: Handle, dst_buffer: Handle, src_offset: usize, dst_offset: usize, cb: usize,
        num_events: u32, wait_list: *const Handle, event: *mut Handle
    ) -> i32;
    fn clEnqueueCopyBufferRect(
        queue: Handle, src_buffer: Handle, dst_buffer: Handle, src_origin: *const usize, dst_origin: *const usize,
        region: *const usize, src_row_pitch: usize, src_slice_pitch: usize, dst_row_pitch: usize,
        dst_slice_pitch: usize, num_events: u32, wait_list: *const Handle, event: *mut Handle
    ) -> i32;
    fn clEnqueueMapBuffer(
        queue: Handle, buffer: Handle, blocking: u32, map_flags: u64, offset: usize, size: usize, num_events: u32,
        wait_list: *const Handle, event: *mut Handle, code: *mut i32
    ) -> *mut Void;
    fn clEnqueueUnmapMemObject(
        queue: Handle, memobj: Handle, mapped_ptr: *mut Void, num_events: u32, wait_list: *const Handle,
        event: *mut Handle
    ) -> i32;
    fn clEnqueueMigrateMemObjects(
        queue: Handle, num_mem_objects: u32, mem_objects: *const Handle, flags: u64, num_events: u32,
        wait_list: *const Handle, event: *mut Handle
    ) -> i32;
    fn clEnqueueNDRangeKernel(
        queue: Handle, kernel: Handle, work_dim: u32, global_work_offset: *const usize,
        global_work_dims: *const usize, local_work_dims: *const usize, num_events: u32, wait_list: *const Handle,
        event: *mut Handle
    ) -> i32;
    fn clEnqueueNativeKernel(
        queue: Handle, user_func: Option<NativeFn>, args: *mut Void, cb_args: usize, num_mem_objects: u32,
        mem_list: *const Handle, args_mem_loc: *const *const Void, num_events: u32, wait_list: *const Handle,
        event: *mut Handle
    ) -> i32;
    fn clEnqueueMarkerWithWaitList(
        queue: Handle, num_events: u32, wait_list: *const Handle, event: *mut Handle
    ) -> i32;
    fn clEnqueueBarrierWithWaitList(
        queue: Handle, num_events: u32, wait_list: *const Handle, event: *mut Handle
    ) -> i32;
    fn clGetExtensionFunctionAddressForPlatform(platform: Handle, func_name: *const c_char) -> *mut Void;
    fn clEnqueueMarker(queue: Handle, event: *mut Handle) -> i32;
    fn clEnqueueWaitForEvents(queue: Handle, num_events: u32, event_list: *mut Handle) -> i32;
    fn clEnqueueBarrier(queue: Handle) -> i32;
    fn clUnloadCompiler() -> i32;
    fn clCreateCommandQueue(context: Handle, device: Handle, properties: u64, code: *mut i32) -> Handle;
    fn clEnqueueTask(
        queue: Handle, kernel: Handle, num_events: u32, wait_list: *const Handle, event: *mut Handle
    ) -> i32;
    fn clCreatePipe(
        context: Handle, flags: u64, packet_size: u32, max_packets: u32, properties: *const isize, code: *mut i32
    ) -> Handle;
    fn clGetPipeInfo(pipe: Handle, name: u32, size: usize, value: *mut Void, size_ret: *mut usize) -> i32;
}
