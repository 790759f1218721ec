//! What OpenCL 3.1 adds to 3.0: the queries and functions that were extensions, under their names in the core; OpenCL
//! C 3.1, whose functions need no extension; local memory of no bytes; atomics whose scopes differ.

#![allow(unsafe_code, reason = "it calls the C interface")]

#[path = "../common/mod.rs"]
mod common;
use common::*;
use std::ffi::CStr;

/// `CL_DEVICE_MAX_WORK_GROUP_SIZES`, which was `CL_DEVICE_MAX_WORK_ITEM_SIZES`.
const MAX_WORK_GROUP_SIZES: u32 = 0x1005;

/// The queries that 3.1 took from extensions: their numbers are those that they had there.
const QUERIES: [(u32, &str, usize); 11] = [
    (0x106A, "CL_DEVICE_UUID", 16),
    (0x106B, "CL_DRIVER_UUID", 16),
    (0x106C, "CL_DEVICE_LUID_VALID", 4),
    (0x106D, "CL_DEVICE_LUID", 8),
    (0x106E, "CL_DEVICE_NODE_MASK", 4),
    (0x1073, "CL_DEVICE_INTEGER_DOT_PRODUCT_CAPABILITIES", 8),
    (0x1074, "CL_DEVICE_INTEGER_DOT_PRODUCT_ACCELERATION_PROPERTIES_8BIT", 24),
    (0x1075, "CL_DEVICE_INTEGER_DOT_PRODUCT_ACCELERATION_PROPERTIES_4x8BIT_PACKED", 24),
    (0x12B9, "CL_DEVICE_SPIRV_EXTENDED_INSTRUCTION_SETS", 8),
    (0x12BA, "CL_DEVICE_SPIRV_EXTENSIONS", 8),
    (0x12BB, "CL_DEVICE_SPIRV_CAPABILITIES", 4),
];

#[test]
fn what_the_version_requires_is_there() {
    let t = Session::new();
    let get = |name| text(|s, v, r| t.clGetDeviceInfo(t.device, name, s, v, r));
    // The language of a build without -cl-std is still that of 1.2.
    assert!(get(CL_DEVICE_OPENCL_C_VERSION).starts_with("OpenCL C 1.2 "));
    let extensions = get(CL_DEVICE_EXTENSIONS);
    for name in [
        "cl_khr_device_uuid",
        "cl_khr_extended_bit_ops",
        "cl_khr_integer_dot_product",
        "cl_khr_spirv_queries",
        "cl_khr_subgroup_extended_types",
        "cl_khr_subgroup_rotate",
        "cl_khr_subgroup_shuffle",
        "cl_khr_subgroup_shuffle_relative",
        "cl_khr_suggested_local_work_size",
    ] {
        assert!(extensions.split(' ').any(|e| e == name), "{name}");
    }
    let languages = get(CL_DEVICE_IL_VERSION);
    for minor in 0..=4 {
        assert!(languages.split(' ').any(|l| l == format!("SPIR-V_1.{minor}")), "{languages}");
    }
    assert!(t.device_info::<u32>(CL_DEVICE_MAX_NUM_SUB_GROUPS) > 0);
    for (name, what, least) in QUERIES {
        let answer = query(|s, v, r| t.clGetDeviceInfo(t.device, name, s, v, r));
        let list = name >= 0x12B9;
        assert!(answer.len() == least || list && answer.len() > least, "{what}: {} bytes", answer.len());
    }
    assert_ne!(t.device_info::<u64>(0x1073) & 1, 0, "packed dot products are required");
    let sizes = list::<usize>(|s, v, r| t.clGetDeviceInfo(t.device, MAX_WORK_GROUP_SIZES, s, v, r));
    assert_eq!(sizes, [t.device_info::<usize>(CL_DEVICE_MAX_WORK_GROUP_SIZE); 3]);
}

type Suggest = unsafe extern "C" fn(Handle, Handle, u32, *const usize, *const usize, *mut usize) -> i32;

#[test]
fn the_suggested_local_size_is_a_function_of_the_core() {
    let t = Session::new();
    if !t.ours() {
        return; // Loaders of before 3.1 do not export it.
    }
    let library = load::library();
    let suggest: Suggest = load::symbol(&library, "clGetKernelSuggestedLocalWorkSize\0").unwrap();
    let kernel = t.kernel("kernel void k(global int *out) { out[get_global_id(0)] = (int)get_local_size(0); }");
    let buffer = t.buffer(0, 4 * 1000);
    t.arg_mem(&kernel, 0, &buffer);
    let (global, mut local) = ([1000usize], [0usize]);
    // SAFETY: the signature is the specification's, and there is one dimension.
    ok(unsafe { suggest(t.queue(), kernel.h, 1, null(), global.as_ptr(), local.as_mut_ptr()) });
    drop(t.launch(&kernel, &global, &[]));
    assert_eq!(t.read::<i32>(&buffer, 1000), [local[0] as i32; 1000]);
    // SAFETY: the signature is the specification's, and there is one dimension. Null for the result is an error of the
    // call.
    let code = unsafe { suggest(t.queue(), kernel.h, 1, null(), global.as_ptr(), null_mut()) };
    assert_eq!(code, CL_INVALID_VALUE);
}

#[test]
fn local_memory_of_no_bytes_is_an_argument() {
    let t = Session::new();
    let kernel = t.kernel(
        "kernel void k(global int *out, local int *none, uint n, local int *some) {
            size_t l = get_local_id(0);
            some[l] = (int)l;
            if (n) none[l] = 7;
            barrier(CLK_LOCAL_MEM_FENCE);
            out[get_global_id(0)] = some[get_local_size(0) - 1 - l];
        }",
    );
    let buffer = t.buffer(0, 4 * 64);
    t.arg_mem(&kernel, 0, &buffer);
    ok(t.clSetKernelArg(kernel.h, 1, 0, null()));
    t.arg(&kernel, 2, 0u32);
    ok(t.clSetKernelArg(kernel.h, 3, 16 * 4, null()));
    drop(t.launch(&kernel, &[64], &[16]));
    let wanted: Vec<i32> = (0..64).map(|i| 15 - i % 16).collect();
    assert_eq!(t.read::<i32>(&buffer, 64), wanted);
    // The size counts, and may change.
    let size = |k: &Obj| {
        let ask = |s, v, r| t.clGetKernelWorkGroupInfo(k.h, t.device, CL_KERNEL_LOCAL_MEM_SIZE, s, v, r);
        info::<u64>(ask)
    };
    let before = size(&kernel);
    ok(t.clSetKernelArg(kernel.h, 1, 256, null()));
    assert_eq!(size(&kernel), before + 256);
    ok(t.clSetKernelArg(kernel.h, 1, 0, null()));
    assert_eq!(size(&kernel), before);
}

const LANGUAGE: &str = r#"
    #if CL_VERSION_3_1 != 310 || __OPENCL_VERSION__ != CL_VERSION_3_1
    #error the version of the device
    #endif
    kernel void k(global int *out, uint seed)
    {
        size_t i = get_global_id(0);
        uint x = seed + (uint)i;
        // Extended bit operations.
        uint f = bitfield_insert(x, 0xABu, 8, 8);
        int bits = bitfield_extract_unsigned(f, 8, 8) == 0xABu && bitfield_extract_signed(f, 8, 8) == -85
            && bit_reverse(1u) == 0x80000000u;
        // Dot products.
        int dots = dot((char4)(1, -2, 3, -4), (char4)(5, 6, 7, 8)) == -18
            && dot_4x8packed_uu_uint(0x01020304u, 0x01010101u) == 10u
            && dot_acc_sat_4x8packed_ss_int(0x7F7F7F7Fu, 0x7F7F7F7Fu, INT_MAX) == INT_MAX;
        // Sub-groups, on types that the extension added.
        uint n = get_sub_group_size(), l = get_sub_group_local_id();
        // All work-items call each function: no call is behind `&&`.
        uint first = sub_group_shuffle(l, 0), same = sub_group_shuffle_xor(l, 0);
        uint up = sub_group_shuffle_up(l, 1), down = sub_group_shuffle_down(l, 1);
        uint next = sub_group_rotate(l, 1), own = sub_group_clustered_rotate(l, 0, 1);
        char seven = sub_group_broadcast((char)7, 0);
        ushort count = sub_group_reduce_add((ushort)1);
        int groups = seven == 7 && count == n && first == 0 && same == l && next == (l + 1) % n && own == l
            && (l == 0 || up == l - 1) && (l + 1 == n || down == l + 1);
        out[i] = __OPENCL_C_VERSION__ + (bits ? 1000 : 0) + (dots ? 2000 : 0) + (groups ? 4000 : 0);
    }"#;

#[test]
fn the_language_has_what_was_in_extensions() {
    let t = Session::new();
    let buffer = t.buffer(0, 4 * 100);
    for (options, version) in [("-cl-std=CL3.1", 310), ("-cl-std=CL3.0", 300), ("", 120), ("-cl-std=CL1.2", 120)] {
        let program = t.source(LANGUAGE);
        assert_eq!(t.build(&program, options), 0, "{options}: {}", t.log(&program));
        let kernel = t.kernel_of(&program, "k");
        t.arg_mem(&kernel, 0, &buffer);
        t.arg(&kernel, 1, 0x1234_5678u32);
        drop(t.launch(&kernel, &[100], &[20]));
        assert_eq!(t.read::<i32>(&buffer, 100), [7000 + version; 100], "{options}");
    }
    let program = t.source("kernel void k(void) {}");
    for wrong in ["-cl-std=CL3.2", "-cl-std=CL4.0", "-cl-std=CL3"] {
        assert_eq!(t.build(&program, wrong), CL_INVALID_BUILD_OPTIONS, "{wrong}");
    }
}

#[test]
fn programs_of_3_0_and_3_1_link() {
    let t = Session::new();
    let parts = [
        ("int twice(int x) { return 2 * x; }", c"-cl-std=CL3.1"),
        ("int twice(int); kernel void k(global int *p) { *p = twice(*p); }", c"-cl-std=CL3.0"),
    ];
    let programs = parts.map(|(source, options): (&str, &CStr)| {
        let program = t.source(source);
        ok(t.clCompileProgram(program.h, 0, null(), options.as_ptr(), 0, null(), null(), None, null_mut()));
        program
    });
    let list = programs.each_ref().map(|p| p.h);
    let mut code = 1;
    let linked = t.clLinkProgram(t.context(), 0, null(), null(), 2, list.as_ptr(), None, null_mut(), &mut code);
    ok(code);
    let linked = Obj::program(linked);
    let kernel = t.kernel_of(&linked, "k");
    let buffer = t.buffer_of(&[21i32]);
    t.arg_mem(&kernel, 0, &buffer);
    drop(t.launch(&kernel, &[1], &[]));
    assert_eq!(t.read::<i32>(&buffer, 1), [42]);
}

/// Message passing between the work-items of a group, where the writer's scope is wider or narrower than the reader's:
/// both include the other work-item.
#[test]
fn atomics_of_different_scopes_order_each_other() {
    let t = Session::new();
    let scopes = ["memory_scope_work_group", "memory_scope_device", "memory_scope_all_svm_devices"];
    for store in scopes {
        for load in scopes {
            let program = t.source(&format!(
                "kernel void k(global atomic_int *flag, global int *data, global int *out) {{
                    size_t g = get_group_id(0), l = get_local_id(0);
                    if (l == 0) {{
                        data[g] = 41 + (int)g;
                        atomic_store_explicit(&flag[g], 1, memory_order_release, {store});
                    }} else if (atomic_load_explicit(&flag[g], memory_order_acquire, {load}))
                        out[get_global_id(0)] = data[g] == 41 + (int)g ? 1 : 2;
                    work_group_barrier(CLK_GLOBAL_MEM_FENCE, {store});
                    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acquire, {load});
                    if (data[g] != 41 + (int)g) out[get_global_id(0)] = 3;
                }}"
            ));
            assert_eq!(t.build(&program, "-cl-std=CL3.1"), 0, "{}", t.log(&program));
            let kernel = t.kernel_of(&program, "k");
            let (flags, data, out) = (t.buffer_of(&[0i32; 64]), t.buffer_of(&[0i32; 64]), t.buffer_of(&[0i32; 1024]));
            for (i, buffer) in [&flags, &data, &out].into_iter().enumerate() {
                t.arg_mem(&kernel, i as u32, buffer);
            }
            drop(t.launch(&kernel, &[1024], &[16]));
            let got = t.read::<i32>(&out, 1024);
            assert!(got.iter().all(|&x| x < 2), "{store}, {load}: {got:?}");
        }
    }
}
