//! Extensions: their functions, found by name as applications find them, their queries and properties.

#![allow(unsafe_code, reason = "it calls the C interface")]

#[path = "../common/mod.rs"]
mod common;
use common::images::{BYTES, D2, Desc};
use common::*;
use std::ffi::CStr;

/// The address of a function of an extension that the device has.
fn function(t: &Session, extension: &str, name: &CStr) -> Handle {
    let extensions = text(|s, v, r| t.clGetDeviceInfo(t.device, CL_DEVICE_EXTENSIONS, s, v, r));
    assert!(extensions.split(' ').any(|e| e == extension), "{extension} is not advertised");
    let address = t.clGetExtensionFunctionAddressForPlatform(t.platform, name.as_ptr());
    assert!(!address.is_null(), "{name:?}");
    address
}

type SuggestFn = unsafe extern "C" fn(Handle, Handle, u32, *const usize, *const usize, *mut usize) -> i32;
type CreateQueueFn = unsafe extern "C" fn(Handle, Handle, *const u64, *mut i32) -> Handle;

#[test]
fn integer_dot_products_are_described() {
    let t = Session::new();
    let both = CL_DEVICE_INTEGER_DOT_PRODUCT_INPUT_4x8BIT_PACKED | CL_DEVICE_INTEGER_DOT_PRODUCT_INPUT_4x8BIT;
    assert_eq!(t.device_info::<u64>(CL_DEVICE_INTEGER_DOT_PRODUCT_CAPABILITIES), both);
    for name in [
        CL_DEVICE_INTEGER_DOT_PRODUCT_ACCELERATION_PROPERTIES_8BIT,
        CL_DEVICE_INTEGER_DOT_PRODUCT_ACCELERATION_PROPERTIES_4x8BIT_PACKED,
    ] {
        let six = list::<u32>(|s, v, r| t.clGetDeviceInfo(t.device, name, s, v, r));
        assert!(six.len() == 6 && six.iter().all(|&b| b <= CL_TRUE), "{six:?}");
    }
    let bytes = query(|s, v, r| t.clGetDeviceInfo(t.device, CL_DEVICE_OPENCL_C_FEATURES, s, v, r));
    let features = String::from_utf8_lossy(&bytes).into_owned();
    assert!(features.contains("__opencl_c_integer_dot_product_input_4x8bit\0"));
    assert!(features.contains("__opencl_c_integer_dot_product_input_4x8bit_packed\0"));
}

#[test]
fn atomics_on_floats_are_described_and_work_between_groups() {
    let t = Session::new();
    let extensions = text(|s, v, r| t.clGetDeviceInfo(t.device, CL_DEVICE_EXTENSIONS, s, v, r));
    assert!(extensions.split(' ').any(|e| e == "cl_ext_float_atomics"));
    // Loads and stores, sums, minima and maxima; the same in local memory.
    let all = 7 | 7 << 16;
    for (name, wanted) in [(0x4231, all), (0x4232, all), (0x4233, 0)] {
        assert_eq!(t.device_info::<u64>(name), wanted, "{name:#x}");
    }
    let program = t.source(
        "kernel void k(global atomic_float *f, global atomic_double *d)
         {
             uint i = (uint)get_global_id(0);
             atomic_fetch_add(&f[0], 1.0f);
             atomic_fetch_sub_explicit(&f[1], 0.5f, memory_order_relaxed, memory_scope_device);
             atomic_fetch_min(&f[2], -(float)i);
             atomic_fetch_max_explicit(&f[3], (float)(i ^ 0x155), memory_order_relaxed, memory_scope_device);
             atomic_fetch_add(&d[i & 1], (double)i);
             atomic_fetch_max(&d[2], (double)i * 1e300);
         }",
    );
    ok(t.build(&program, "-cl-std=CL3.0"));
    let kernel = t.kernel_of(&program, "k");
    let (floats, doubles) = (t.buffer_of(&[0.0f32; 4]), t.buffer_of(&[0.0f64; 3]));
    t.arg_mem(&kernel, 0, &floats);
    t.arg_mem(&kernel, 1, &doubles);
    let n = 1 << 16;
    drop(t.launch(&kernel, &[n], &[64]));
    let n = n as f64;
    assert_eq!(t.read::<f32>(&floats, 4), [n, -n / 2.0, 1.0 - n, n - 1.0].map(|x| x as f32));
    let even = n / 2.0 * (n / 2.0 - 1.0);
    assert_eq!(t.read::<f64>(&doubles, 3), [even, even + n / 2.0, (n - 1.0) * 1e300]);
}

/// A kernel that sums what it finds in memory that it has not written, then writes there.
const UNWRITTEN: &str = "
    int sum(const int *p, int n) { int all = 0; for (int i = 0; i < n; i++) all |= p[i]; return all; }
    kernel void k(global int *out, local int *argument, int n, int at)
    {
        local int variable[64];
        size_t l = get_local_id(0), i = get_global_id(0);
        int found = argument[l] | variable[l];
        barrier(CLK_LOCAL_MEM_FENCE);
        argument[l] = variable[l] = -1;
        int array[16], scalar;
        struct { char c; int i; } record;
        for (int k = at; k < n; k++) array[k & 15] = k;
        if (n == 99) scalar = record.i = 7;
        out[2 * i] = found;
        out[2 * i + 1] = scalar | record.i | sum(array, 16) | (n < at ? array[n] : 0);
    }";

#[test]
fn local_and_private_memory_begin_as_zeros_if_asked() {
    let t = Session::new();
    let key = 0x2030isize;
    for (bits, properties) in [(1, 0), (2, 0), (3, 0), (3, CL_QUEUE_PROFILING_ENABLE)] {
        let list_given = [key, bits, 0];
        let mut code = 1;
        let context = Obj::context(t.clCreateContext(list_given.as_ptr(), 1, &t.device, None, null_mut(), &mut code));
        ok(code);
        let got = list::<isize>(|s, v, r| t.clGetContextInfo(context.h, CL_CONTEXT_PROPERTIES, s, v, r));
        assert_eq!(got, list_given);
        let queue = Obj::queue(t.clCreateCommandQueue(context.h, t.device, properties, &mut code));
        ok(code);
        let (source, length) = (UNWRITTEN.as_ptr().cast(), UNWRITTEN.len());
        let program = Obj::program(t.clCreateProgramWithSource(context.h, 1, &source, &length, &mut code));
        ok(code);
        ok(t.build(&program, ""));
        let kernel = t.kernel_of(&program, "k");
        let n = 64 * 40;
        let memory = Obj::mem(t.clCreateBuffer(context.h, 0, 8 * n, null_mut(), &mut code));
        ok(code);
        t.arg_mem(&kernel, 0, &memory);
        ok(t.clSetKernelArg(kernel.h, 1, 64 * 4, null()));
        t.arg(&kernel, 2, 3);
        t.arg(&kernel, 3, 5);
        for _ in 0..3 {
            drop(t.launch_on(queue.h, &kernel, &[n], &[64], &[]));
            let mut out = vec![[9i32; 2]; n];
            let to = out.as_mut_ptr().cast();
            ok(t.clEnqueueReadBuffer(queue.h, memory.h, CL_TRUE, 0, 8 * n, to, 0, null(), null_mut()));
            assert!(bits & 1 == 0 || out.iter().all(|found| found[0] == 0), "local memory");
            assert!(bits & 2 == 0 || out.iter().all(|found| found[1] == 0), "private memory");
        }
    }
    let mut c = Cases::new();
    for wrong in [4, -1] {
        let given = [key, wrong, 0];
        c.new_object("unknown memory", CL_INVALID_PROPERTY, |e| {
            t.clCreateContext(given.as_ptr(), 1, &t.device, None, null_mut(), e)
        });
    }
    c.end();
}

#[test]
fn clocks_run_with_the_hosts() {
    let t = Session::new();
    assert_eq!(t.device_info::<u64>(0x1076), 1 | 2 | 4, "of device, work-group and sub-group");
    let kernel = t.kernel("kernel void k(global ulong *out) { out[get_global_id(0)] = clock_read_device(); }");
    let buffer = t.buffer(0, 64 * 8);
    t.arg_mem(&kernel, 0, &buffer);
    let mut before = 0;
    for round in 0..5 {
        drop(t.launch(&kernel, &[64], &[8]));
        let times = t.read::<u64>(&buffer, 64);
        let (first, last) = (times.iter().min().unwrap(), times.iter().max().unwrap());
        assert!(round == 0 || *first >= before, "{first} after {before}");
        assert!(*last > 0 && last - first < 1 << 40);
        before = *last;
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

#[test]
fn a_device_has_an_identity() {
    let t = Session::new();
    let uuid = |name| list::<u8>(|s, v, r| t.clGetDeviceInfo(t.device, name, s, v, r));
    let (device, driver) = (uuid(CL_DEVICE_UUID_KHR), uuid(CL_DRIVER_UUID_KHR));
    assert!(device.len() == CL_UUID_SIZE_KHR && driver.len() == CL_UUID_SIZE_KHR);
    assert!(device != driver && device.iter().any(|&b| b != 0) && driver.iter().any(|&b| b != 0));
    assert_eq!(uuid(CL_DEVICE_UUID_KHR), device);
    let luid_valid: u32 = t.device_info(0x106C);
    assert_eq!((luid_valid, uuid(0x106D).len()), (CL_FALSE, 8));
    let _: u32 = t.device_info(CL_DEVICE_NODE_MASK_KHR);
}

#[test]
fn queues_are_created_with_hints() {
    let t = Session::new();
    let address = function(&t, "cl_khr_create_command_queue", c"clCreateCommandQueueWithPropertiesKHR");
    // SAFETY: that is its signature in the specification.
    let create: CreateQueueFn = unsafe { std::mem::transmute(address) };
    // SAFETY: the list ends with a zero.
    let with = |list: &[u64], code: *mut i32| unsafe { create(t.context(), t.device, list.as_ptr(), code) };
    let (priority, throttle) = (CL_QUEUE_PRIORITY_KHR, CL_QUEUE_THROTTLE_KHR);
    let flags = u64::from(CL_QUEUE_PROPERTIES);
    let mut c = Cases::new();
    for (high_to_low, key) in [(1, priority), (2, priority), (4, priority), (1, throttle), (2, throttle), (4, throttle)]
    {
        let list_given = [key, high_to_low, flags, CL_QUEUE_PROFILING_ENABLE, 0];
        let mut code = 1;
        let queue = with(&list_given, &mut code);
        ok(code);
        let queue = Obj::queue(queue);
        let got = list::<u64>(|s, v, r| t.clGetCommandQueueInfo(queue.h, CL_QUEUE_PROPERTIES_ARRAY, s, v, r));
        assert_eq!(got, list_given);
        let got: u64 = info(|s, v, r| t.clGetCommandQueueInfo(queue.h, CL_QUEUE_PROPERTIES, s, v, r));
        assert_eq!(got, CL_QUEUE_PROFILING_ENABLE);
        t.wait(&[&t.marker_on(queue.h, &[])]);
        for wrong in [0, 3, 5, 8, 1 << 40] {
            c.new_object(&format!("{key:#x} = {wrong}"), CL_INVALID_VALUE, |e| with(&[key, wrong, 0], e));
        }
        c.new_object("twice", CL_INVALID_VALUE, |e| with(&[key, 1, key, 1, 0], e));
    }
    c.new_object("unknown property", CL_INVALID_VALUE, |e| with(&[0x7777, 1, 0], e));
    c.end();
}

/// Writes the local size that the launch has.
const SIZES: &str = "kernel void k(global uint *out)
    { for (int d = 0; d < 3; d++) out[d] = (uint)get_local_size(d); }
    kernel __attribute__((reqd_work_group_size(6, 2, 1))) void required(global uint *out) { k(out); }
    kernel void columns(global float *out, global uint *sizes)
    {
        out[get_global_id(0) * 64 + get_global_id(1)] = 1;
        for (int d = 0; d < 3; d++) sizes[d] = (uint)get_local_size(d);
    }";

#[test]
fn the_suggested_local_size_is_that_of_a_launch() {
    let t = Session::new();
    let address = function(&t, "cl_khr_suggested_local_work_size", c"clGetKernelSuggestedLocalWorkSizeKHR");
    // SAFETY: that is its signature in the specification.
    let suggest: SuggestFn = unsafe { std::mem::transmute(address) };
    let program = t.program(SIZES);
    let sizes = t.buffer(0, 12);
    let many = t.buffer(0, 64 * 64 * 64 * 4);
    let ranges: [&[usize]; 9] =
        [&[1], &[7], &[997], &[4096], &[64, 64], &[12, 6], &[60, 34], &[6, 2, 5], &[36, 30, 21]];
    for name in ["k", "required", "columns"] {
        let kernel = t.kernel_of(&program, name);
        if name == "columns" {
            t.arg_mem(&kernel, 0, &many);
        }
        t.arg_mem(&kernel, u32::from(name == "columns"), &sizes);
        for global in ranges {
            let divides = |d: usize, by: usize| global.get(d).is_some_and(|n| n.is_multiple_of(by));
            let fits = name != "required" || divides(0, 6) && divides(1, 2);
            let mut local = [77usize; 4];
            for offset in [null(), [5usize, 6, 7].as_ptr()] {
                local = [77; 4];
                let dim = global.len() as u32;
                // SAFETY: each list has a size for each of the `dim` dimensions.
                let code = unsafe { suggest(t.queue(), kernel.h, dim, offset, global.as_ptr(), local.as_mut_ptr()) };
                assert_eq!(code, if fits { 0 } else { CL_INVALID_WORK_GROUP_SIZE }, "{name} {global:?}");
            }
            assert!(local[if fits { global.len() } else { 0 }..].iter().all(|&l| l == 77), "no more than asked for");
            if fits {
                t.wait(&[&t.launch(&kernel, global, &[])]);
                let got = t.read::<u32>(&sizes, 3);
                let want: Vec<u32> = local.iter().take(global.len()).map(|&l| l as u32).collect();
                assert_eq!(got[..global.len()], want, "{name} {global:?}");
            }
        }
    }
}

#[test]
fn asking_for_a_local_size_has_the_codes_of_a_launch() {
    let t = Session::new();
    let address = function(&t, "cl_khr_suggested_local_work_size", c"clGetKernelSuggestedLocalWorkSizeKHR");
    // SAFETY: that is its signature in the specification.
    let suggest: SuggestFn = unsafe { std::mem::transmute(address) };
    let program = t.program(SIZES);
    let (kernel, unset) = (t.kernel_of(&program, "k"), t.kernel_of(&program, "k"));
    let sizes = t.buffer(0, 12);
    t.arg_mem(&kernel, 0, &sizes);
    let other = t.another_context();
    let mut code = 1;
    let other_queue = Obj::queue(t.clCreateCommandQueue(other.h, t.device, 0, &mut code));
    ok(code);
    let ask = |queue, kernel, dim, offset: &[usize; 3], global: *const usize, local| {
        // SAFETY: three sizes, or what the driver must not read.
        unsafe { suggest(queue, kernel, dim, offset.as_ptr(), global, local) }
    };
    let (none, global, mut local) = ([0; 3], [64usize; 3], [0usize; 3]);
    let (sizes_in, out) = (global.as_ptr(), local.as_mut_ptr());
    let mut c = Cases::new();
    c.code("good", 0, ask(t.queue(), kernel.h, 3, &none, sizes_in, out));
    c.code("null queue", CL_INVALID_COMMAND_QUEUE, ask(null_mut(), kernel.h, 3, &none, sizes_in, out));
    c.code("null kernel", CL_INVALID_KERNEL, ask(t.queue(), null_mut(), 3, &none, sizes_in, out));
    c.code("another context", CL_INVALID_CONTEXT, ask(other_queue.h, kernel.h, 3, &none, sizes_in, out));
    c.code("argument not set", CL_INVALID_KERNEL_ARGS, ask(t.queue(), unset.h, 3, &none, sizes_in, out));
    c.code("no dimension", CL_INVALID_WORK_DIMENSION, ask(t.queue(), kernel.h, 0, &none, sizes_in, out));
    c.code("four dimensions", CL_INVALID_WORK_DIMENSION, ask(t.queue(), kernel.h, 4, &none, sizes_in, out));
    c.code("no size", CL_INVALID_GLOBAL_WORK_SIZE, ask(t.queue(), kernel.h, 3, &none, null(), out));
    let empty = [8usize, 0, 8];
    c.code("empty", CL_INVALID_GLOBAL_WORK_SIZE, ask(t.queue(), kernel.h, 3, &none, empty.as_ptr(), out));
    let far = [0, usize::MAX, 0];
    c.code("far", CL_INVALID_GLOBAL_OFFSET, ask(t.queue(), kernel.h, 3, &far, sizes_in, out));
    c.code("no place", CL_INVALID_VALUE, ask(t.queue(), kernel.h, 3, &none, sizes_in, null_mut()));
    c.end();
}

#[test]
fn immutable_buffers_are_read_and_never_written() {
    let t = Session::new();
    let content: Vec<u32> = (0..64).map(|i| i * i).collect();
    let make = |flags: u64, code: *mut i32| {
        let host: Handle = if flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR) != 0 {
            content.as_ptr().cast_mut().cast()
        } else {
            null_mut()
        };
        t.clCreateBuffer(t.context(), flags, 256, host, code)
    };
    let kernel = t.kernel(
        "kernel void k(global const uint *in, global uint *out)
        { out[get_global_id(0)] = in[get_global_id(0)] + 1; }",
    );
    let draws =
        t.kernel("kernel void k(read_only image2d_t in, write_only image2d_t out, read_write image2d_t both) {}");
    let plain = t.buffer(0, 256);
    let mut c = Cases::new();
    for source in [CL_MEM_USE_HOST_PTR, CL_MEM_COPY_HOST_PTR] {
        let mut code = 1;
        let buffer = make(CL_MEM_IMMUTABLE_EXT | source, &mut code);
        ok(code);
        let buffer = Obj::mem(buffer);
        let flags: u64 = info(|s, v, r| t.clGetMemObjectInfo(buffer.h, CL_MEM_FLAGS, s, v, r));
        assert_eq!(flags & (CL_MEM_IMMUTABLE_EXT | CL_MEM_READ_WRITE), CL_MEM_IMMUTABLE_EXT);
        let region = [128usize, 64];
        let part = |flags, code| {
            t.clCreateSubBuffer(buffer.h, flags, CL_BUFFER_CREATE_TYPE_REGION, region.as_ptr().cast(), code)
        };
        let part_of_it = Obj::mem(part(0, &mut code));
        ok(code);
        let read_only = Obj::mem(part(CL_MEM_READ_ONLY, &mut code));
        ok(code);
        for flags in [CL_MEM_READ_WRITE, CL_MEM_WRITE_ONLY, CL_MEM_HOST_WRITE_ONLY] {
            c.new_object(&format!("part with {flags:#x}"), CL_INVALID_VALUE, |e| part(flags, e));
            let all = flags | source | CL_MEM_IMMUTABLE_EXT;
            c.new_object(&format!("immutable with {flags:#x}"), CL_INVALID_VALUE, |e| make(all, e));
        }
        // A pointer that is not to const, images that are written.
        for (what, b) in [("buffer", &buffer), ("part", &part_of_it)] {
            let code = t.clSetKernelArg(kernel.h, 1, size_of::<Handle>(), std::ptr::from_ref(&b.h).cast());
            c.code(&format!("{what}: argument to write"), CL_INVALID_ARG_VALUE, code);
        }
        let (eight, host) = (Desc::new(D2, [8, 8, 1]), content.as_ptr().cast_mut().cast());
        let image = t.try_image(CL_MEM_IMMUTABLE_EXT | source, BYTES, &eight, host).map_err(code_name).unwrap();
        for (index, wanted) in [(0, CL_SUCCESS), (1, CL_INVALID_ARG_VALUE), (2, CL_INVALID_ARG_VALUE)] {
            let code = t.clSetKernelArg(draws.h, index, size_of::<Handle>(), std::ptr::from_ref(&image.h).cast());
            c.code(&format!("image as argument {index}"), wanted, code);
        }
        let (origin, area) = ([0usize; 3].as_ptr(), [4usize, 4, 1].as_ptr());
        let code = t.clEnqueueCopyImageToBuffer(t.queue(), image.h, buffer.h, origin, area, 0, 0, null(), null_mut());
        c.code("copy an image to it", CL_INVALID_OPERATION, code);
        let map = |code| {
            let (pitch, slice) = (null_mut(), null_mut());
            let q = t.queue();
            t.clEnqueueMapImage(
                q,
                image.h,
                CL_TRUE,
                CL_MAP_WRITE,
                origin,
                area,
                pitch,
                slice,
                0,
                null(),
                null_mut(),
                code,
            )
        };
        c.new_object("image: map to write, with no place for the pitch", CL_INVALID_OPERATION, map);
        // Reading it.
        t.arg_mem(&kernel, 0, &buffer);
        t.arg_mem(&kernel, 1, &plain);
        drop(t.launch(&kernel, &[64], &[]));
        assert_eq!(t.read::<u32>(&plain, 64), content.iter().map(|x| x + 1).collect::<Vec<_>>());
        let undefined = CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED;
        ok(t.clEnqueueMigrateMemObjects(t.queue(), 1, &buffer.h, undefined, 0, null(), null_mut()));
        ok(t.clEnqueueCopyBuffer(t.queue(), buffer.h, plain.h, 0, 0, 256, 0, null(), null_mut()));
        assert_eq!(t.read::<u32>(&plain, 64), content);
        let mut room = [7u8; 256];
        let data: Handle = room.as_mut_ptr().cast();
        let (none, q) = (null_mut(), t.queue());
        for (what, b, size) in [("buffer", &buffer, 256), ("part", &part_of_it, 64), ("read-only part", &read_only, 64)]
        {
            let wanted = CL_INVALID_OPERATION;
            let map = |flags, code| t.clEnqueueMapBuffer(q, b.h, CL_TRUE, flags, 0, size, 0, null(), none, code);
            let mut code = 1;
            let address = map(CL_MAP_READ, &mut code);
            c.code(&format!("{what}: map to read"), 0, code);
            ok(t.clEnqueueUnmapMemObject(q, b.h, address, 0, null(), none));
            for flags in [CL_MAP_WRITE, CL_MAP_READ | CL_MAP_WRITE, CL_MAP_WRITE_INVALIDATE_REGION] {
                c.new_object(&format!("{what}: map with {flags}"), wanted, |e| map(flags, e));
            }
            let code = t.clEnqueueWriteBuffer(q, b.h, CL_TRUE, 0, size, data, 0, null(), none);
            c.code(&format!("{what}: write"), wanted, code);
            let code = t.clEnqueueFillBuffer(q, b.h, data, 4, 0, size, 0, null(), none);
            c.code(&format!("{what}: fill"), wanted, code);
            let code = t.clEnqueueCopyBuffer(q, plain.h, b.h, 0, 0, size, 0, null(), none);
            c.code(&format!("{what}: copy to it"), wanted, code);
            let (zero, box_of) = ([0usize; 3].as_ptr(), [4usize, 4, 1].as_ptr());
            let code = t.clEnqueueCopyBufferRect(q, plain.h, b.h, zero, zero, box_of, 0, 0, 0, 0, 0, null(), none);
            c.code(&format!("{what}: copy a box to it"), wanted, code);
            let code =
                t.clEnqueueWriteBufferRect(q, b.h, CL_TRUE, zero, zero, box_of, 0, 0, 0, 0, data, 0, null(), none);
            c.code(&format!("{what}: write a box"), wanted, code);
            let desc = images::Desc::new(images::D2, [4, 4, 1]);
            let image = t.image(images::BYTES, &desc);
            let code = t.clEnqueueCopyImageToBuffer(q, image.h, b.h, zero, [4usize, 4, 1].as_ptr(), 0, 0, null(), none);
            c.code(&format!("{what}: copy an image to it"), wanted, code);
        }
        assert_eq!(t.read::<u32>(&buffer, 64), content);
    }
    c.new_object("without content", CL_INVALID_VALUE, |e| make(CL_MEM_IMMUTABLE_EXT, e));
    let allocated = CL_MEM_IMMUTABLE_EXT | CL_MEM_ALLOC_HOST_PTR;
    c.new_object("allocated without content", CL_INVALID_VALUE, |e| make(allocated, e));
    assert!(t.clSVMAlloc(t.context(), CL_MEM_IMMUTABLE_EXT, 64, 0).is_null());
    c.end();
}
