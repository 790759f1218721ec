//! Functions of extensions, found by name as applications find them, and short forms of their calls.

use super::*;

macro_rules! extension_functions {
    ($(#[$doc:meta])* $type:ident { $(fn $name:ident($($arg:ident: $ty:ty),*) -> $out:ty;)* }) => {
        $(#[$doc])*
        #[allow(non_snake_case, reason = "the specification's names")]
        pub struct $type {
            $($name: unsafe extern "C" fn($($ty),*) -> $out,)*
        }

        #[allow(non_snake_case, clippy::too_many_arguments, reason = "the specification's")]
        impl $type {
            /// Finds all of them.
            pub fn new(t: &Session) -> $type {
                let find = |name: &str| {
                    let name = CString::new(name).expect("a name without a zero");
                    let address = t.clGetExtensionFunctionAddressForPlatform(t.platform, name.as_ptr());
                    assert!(!address.is_null(), "{name:?}");
                    address
                };
                $type {
                    // SAFETY: the signatures are those of the specification.
                    $($name: unsafe {
                        std::mem::transmute::<Handle, unsafe extern "C" fn($($ty),*) -> $out>(find(stringify!($name)))
                    },)*
                }
            }

            $(
                pub fn $name(&self, $($arg: $ty),*) -> $out {
                    // SAFETY: tests pass pointers to what they say, or bad ones that the driver must find out.
                    unsafe { (self.$name)($($arg),*) }
                }
            )*
        }
    };
}

extension_functions! {
    /// `cl_khr_command_buffer` and `cl_khr_command_buffer_mutable_dispatch`
    CommandBuffers {
        fn clCreateCommandBufferKHR(num: u32, queues: *const Handle, properties: *const u64, code: *mut i32) -> Handle;
        fn clFinalizeCommandBufferKHR(buffer: Handle) -> i32;
        fn clRetainCommandBufferKHR(buffer: Handle) -> i32;
        fn clReleaseCommandBufferKHR(buffer: Handle) -> i32;
        fn clEnqueueCommandBufferKHR(num_queues: u32, queues: *const Handle, buffer: Handle, num: u32,
            wait: *const Handle, event: *mut Handle) -> i32;
        fn clCommandBarrierWithWaitListKHR(buffer: Handle, queue: Handle, properties: *const u64, num: u32,
            wait: *const u32, point: *mut u32, handle: *mut Handle) -> i32;
        fn clCommandCopyBufferKHR(buffer: Handle, queue: Handle, properties: *const u64, source: Handle,
            target: Handle, from: usize, to: usize, size: usize, num: u32, wait: *const u32, point: *mut u32,
            handle: *mut Handle) -> i32;
        fn clCommandCopyBufferRectKHR(buffer: Handle, queue: Handle, properties: *const u64, source: Handle,
            target: Handle, from: *const usize, to: *const usize, region: *const usize, source_row: usize,
            source_slice: usize, target_row: usize, target_slice: usize, num: u32, wait: *const u32, point: *mut u32,
            handle: *mut Handle) -> i32;
        fn clCommandCopyBufferToImageKHR(buffer: Handle, queue: Handle, properties: *const u64, source: Handle,
            image: Handle, offset: usize, origin: *const usize, region: *const usize, num: u32, wait: *const u32,
            point: *mut u32, handle: *mut Handle) -> i32;
        fn clCommandCopyImageKHR(buffer: Handle, queue: Handle, properties: *const u64, source: Handle,
            target: Handle, from: *const usize, to: *const usize, region: *const usize, num: u32, wait: *const u32,
            point: *mut u32, handle: *mut Handle) -> i32;
        fn clCommandCopyImageToBufferKHR(buffer: Handle, queue: Handle, properties: *const u64, image: Handle,
            target: Handle, origin: *const usize, region: *const usize, offset: usize, num: u32, wait: *const u32,
            point: *mut u32, handle: *mut Handle) -> i32;
        fn clCommandFillBufferKHR(buffer: Handle, queue: Handle, properties: *const u64, memory: Handle,
            pattern: Handle, pattern_size: usize, offset: usize, size: usize, num: u32, wait: *const u32,
            point: *mut u32, handle: *mut Handle) -> i32;
        fn clCommandFillImageKHR(buffer: Handle, queue: Handle, properties: *const u64, image: Handle, color: Handle,
            origin: *const usize, region: *const usize, num: u32, wait: *const u32, point: *mut u32,
            handle: *mut Handle) -> i32;
        fn clCommandSVMMemcpyKHR(buffer: Handle, queue: Handle, properties: *const u64, to: Handle, from: Handle,
            size: usize, num: u32, wait: *const u32, point: *mut u32, handle: *mut Handle) -> i32;
        fn clCommandSVMMemFillKHR(buffer: Handle, queue: Handle, properties: *const u64, memory: Handle,
            pattern: Handle, pattern_size: usize, size: usize, num: u32, wait: *const u32, point: *mut u32,
            handle: *mut Handle) -> i32;
        fn clCommandNDRangeKernelKHR(buffer: Handle, queue: Handle, properties: *const u64, kernel: Handle, dim: u32,
            offset: *const usize, global: *const usize, local: *const usize, num: u32, wait: *const u32,
            point: *mut u32, handle: *mut Handle) -> i32;
        fn clGetCommandBufferInfoKHR(buffer: Handle, name: u32, size: usize, value: Handle, size_ret: *mut usize)
            -> i32;
        fn clUpdateMutableCommandsKHR(buffer: Handle, num: u32, kinds: *const u32, configs: *const *const Config)
            -> i32;
        fn clGetMutableCommandInfoKHR(command: Handle, name: u32, size: usize, value: Handle, size_ret: *mut usize)
            -> i32;
    }
}

extension_functions! {
    /// `cl_khr_semaphore`
    Semaphores {
        fn clCreateSemaphoreWithPropertiesKHR(context: Handle, properties: *const u64, code: *mut i32) -> Handle;
        fn clRetainSemaphoreKHR(semaphore: Handle) -> i32;
        fn clReleaseSemaphoreKHR(semaphore: Handle) -> i32;
        fn clEnqueueWaitSemaphoresKHR(queue: Handle, num: u32, semaphores: *const Handle, payloads: *const u64,
            num_events: u32, wait: *const Handle, event: *mut Handle) -> i32;
        fn clEnqueueSignalSemaphoresKHR(queue: Handle, num: u32, semaphores: *const Handle, payloads: *const u64,
            num_events: u32, wait: *const Handle, event: *mut Handle) -> i32;
        fn clGetSemaphoreInfoKHR(semaphore: Handle, name: u32, size: usize, value: Handle, size_ret: *mut usize)
            -> i32;
    }
}

extension_functions! {
    /// `cl_ext_image_requirements_info`
    Requirements {
        fn clGetImageRequirementsInfoEXT(context: Handle, properties: *const u64, flags: u64,
            format: *const images::Format, desc: *const images::Desc, name: u32, size: usize, value: Handle,
            size_ret: *mut usize) -> i32;
    }
}

extension_functions! {
    /// `cl_intel_unified_shared_memory` and `cl_ext_buffer_device_address`
    UnifiedMemory {
        fn clHostMemAllocINTEL(context: Handle, properties: *const u64, size: usize, alignment: u32, code: *mut i32)
            -> Handle;
        fn clDeviceMemAllocINTEL(context: Handle, device: Handle, properties: *const u64, size: usize, alignment: u32,
            code: *mut i32) -> Handle;
        fn clSharedMemAllocINTEL(context: Handle, device: Handle, properties: *const u64, size: usize, alignment: u32,
            code: *mut i32) -> Handle;
        fn clMemFreeINTEL(context: Handle, memory: Handle) -> i32;
        fn clMemBlockingFreeINTEL(context: Handle, memory: Handle) -> i32;
        fn clGetMemAllocInfoINTEL(context: Handle, memory: Handle, name: u32, size: usize, value: Handle,
            size_ret: *mut usize) -> i32;
        fn clSetKernelArgMemPointerINTEL(kernel: Handle, index: u32, value: Handle) -> i32;
        fn clEnqueueMemFillINTEL(queue: Handle, memory: Handle, pattern: Handle, pattern_size: usize, size: usize,
            num: u32, wait: *const Handle, event: *mut Handle) -> i32;
        fn clEnqueueMemcpyINTEL(queue: Handle, blocking: u32, to: Handle, from: Handle, size: usize, num: u32,
            wait: *const Handle, event: *mut Handle) -> i32;
        fn clEnqueueMigrateMemINTEL(queue: Handle, memory: Handle, size: usize, flags: u64, num: u32,
            wait: *const Handle, event: *mut Handle) -> i32;
        fn clEnqueueMemAdviseINTEL(queue: Handle, memory: Handle, size: usize, advice: u32, num: u32,
            wait: *const Handle, event: *mut Handle) -> i32;
        fn clSetKernelArgDevicePointerEXT(kernel: Handle, index: u32, address: u64) -> i32;
    }
}

/// `cl_mutable_dispatch_arg_khr`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ArgConfig {
    pub index: u32,
    pub size: usize,
    pub value: *const std::ffi::c_void,
}

/// `cl_mutable_dispatch_exec_info_khr`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ExecInfoConfig {
    pub name: u32,
    pub size: usize,
    pub value: *const std::ffi::c_void,
}

/// `cl_mutable_dispatch_config_khr`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Config {
    pub command: Handle,
    pub num_args: u32,
    pub num_svm_args: u32,
    pub num_exec_infos: u32,
    pub work_dim: u32,
    pub args: *const ArgConfig,
    pub svm_args: *const ArgConfig,
    pub exec_infos: *const ExecInfoConfig,
    pub offset: *const usize,
    pub global: *const usize,
    pub local: *const usize,
}

impl Config {
    /// Changes nothing.
    pub fn of(command: Handle) -> Config {
        Config {
            command,
            num_args: 0,
            num_svm_args: 0,
            num_exec_infos: 0,
            work_dim: 0,
            args: null(),
            svm_args: null(),
            exec_infos: null(),
            offset: null(),
            global: null(),
            local: null(),
        }
    }

    /// Sets arguments.
    pub fn args(self, args: &[ArgConfig]) -> Config {
        Config { num_args: args.len() as u32, args: args.as_ptr(), ..self }
    }
}

/// An argument to set.
pub fn arg<T>(index: u32, value: &T) -> ArgConfig {
    ArgConfig { index, size: size_of::<T>(), value: std::ptr::from_ref(value).cast() }
}

pub const FLAGS: u64 = 0x1293;
pub const MUTABLE: u64 = 2;
pub const SIMULTANEOUS_USE: u64 = 1;
pub const UPDATABLE: u64 = 0x12B1;
pub const INVALID_COMMAND_BUFFER: i32 = -1138;
pub const INVALID_SYNC_POINTS: i32 = -1139;
pub const INVALID_MUTABLE_COMMAND: i32 = -1141;

/// A command buffer that is released in the end.
pub struct Buffer<'a> {
    pub h: Handle,
    x: &'a CommandBuffers,
}

impl Drop for Buffer<'_> {
    fn drop(&mut self) {
        let code = self.x.clReleaseCommandBufferKHR(self.h);
        if !std::thread::panicking() {
            ok(code);
        }
    }
}

impl CommandBuffers {
    /// A command buffer for a queue.
    #[track_caller]
    pub fn buffer(&self, queue: Handle, flags: u64) -> Buffer<'_> {
        let mut code = 1;
        let list = [FLAGS, flags, 0];
        let list = if flags == 0 { null() } else { list.as_ptr() };
        let h = self.clCreateCommandBufferKHR(1, &queue, list, &mut code);
        ok(code);
        Buffer { h, x: self }
    }
}

impl Buffer<'_> {
    /// Records a launch over one dimension, after some sync-points. Returns its own, and its handle if it is updatable.
    #[track_caller]
    pub fn launch(&self, kernel: &Obj, global: usize, wait: &[u32], fields: Option<u64>) -> (u32, Handle) {
        let (mut point, mut handle) = (0, null_mut());
        let list = [UPDATABLE, fields.unwrap_or(0), 0];
        let (list, place) = if fields.is_some() { (list.as_ptr(), &raw mut handle) } else { (null(), null_mut()) };
        let (n, points) = (wait.len() as u32, if wait.is_empty() { null() } else { wait.as_ptr() });
        ok(self.x.clCommandNDRangeKernelKHR(
            self.h,
            null_mut(),
            list,
            kernel.h,
            1,
            null(),
            &global,
            null(),
            n,
            points,
            &mut point,
            place,
        ));
        (point, handle)
    }

    #[track_caller]
    pub fn finalize(&self) {
        ok(self.x.clFinalizeCommandBufferKHR(self.h));
    }

    /// Enqueues it to its queue.
    #[track_caller]
    pub fn enqueue(&self, wait: &[Handle]) -> Obj {
        let mut event = null_mut();
        let (n, list) = (wait.len() as u32, if wait.is_empty() { null() } else { wait.as_ptr() });
        ok(self.x.clEnqueueCommandBufferKHR(0, null(), self.h, n, list, &mut event));
        Obj::event(event)
    }

    /// Changes launches. Returns the code.
    pub fn update(&self, configs: &[Config]) -> i32 {
        let kinds = vec![0u32; configs.len()];
        let configs: Vec<*const Config> = configs.iter().map(std::ptr::from_ref).collect();
        self.x.clUpdateMutableCommandsKHR(self.h, configs.len() as u32, kinds.as_ptr(), configs.as_ptr())
    }

    #[track_caller]
    pub fn info<T: Plain>(&self, name: u32) -> T {
        info(|s, v, r| self.x.clGetCommandBufferInfoKHR(self.h, name, s, v, r))
    }
}
