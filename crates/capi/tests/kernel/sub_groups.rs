//! Sub-groups as programs for other devices use them: sizes that a kernel requires (`cl_intel_required_subgroup_size`),
//! blocks of images (`cl_intel_subgroups`).

#[path = "../common/mod.rs"]
mod common;
use common::images::*;
use common::*;

const SUB_GROUP_SIZES: u32 = 0x4108;
const SPILL_MEM_SIZE: u32 = 0x4109;
const COMPILE_SUB_GROUP_SIZE: u32 = 0x410A;

fn sizes(t: &Session) -> Vec<usize> {
    list(|s, v, r| t.clGetDeviceInfo(t.device, SUB_GROUP_SIZES, s, v, r))
}

fn number(t: &Session, kernel: &Obj, name: u32, input: &[usize]) -> usize {
    info(|s, v, r| {
        t.clGetKernelSubGroupInfo(kernel.h, t.device, name, size_of_val(input), input.as_ptr().cast(), s, v, r)
    })
}

/// Each work-item writes the size of its sub-group, the most that it may be, its number in it, and what the first of
/// the next work-items has.
fn source(size: usize) -> String {
    format!(
        "kernel __attribute__((intel_reqd_sub_group_size({size}))) void k(global uint *out) {{
            uint id = get_local_linear_id();
            global uint *p = out + 4 * get_global_linear_id();
            p[0] = get_sub_group_size();
            p[1] = get_max_sub_group_size();
            p[2] = get_sub_group_local_id();
            p[3] = sub_group_broadcast(id, 0);
        }}"
    )
}

#[test]
fn a_kernel_has_the_size_that_it_requires() {
    let t = Session::new();
    let sizes = sizes(&t);
    assert!(!sizes.is_empty() && sizes.is_sorted(), "{sizes:?}");
    for size in sizes {
        for options in ["-cl-std=CL3.0", "-cl-std=CL3.0 -cl-opt-disable"] {
            let program = t.source(&source(size));
            assert_eq!(t.build(&program, options), 0, "{}", t.log(&program));
            let kernel = t.kernel_of(&program, "k");
            assert_eq!(number(&t, &kernel, COMPILE_SUB_GROUP_SIZE, &[]), size);
            let attributes = text(|s, v, r| t.clGetKernelInfo(kernel.h, CL_KERNEL_ATTRIBUTES, s, v, r));
            assert_eq!(attributes, format!("intel_reqd_sub_group_size({size})"));
            for local in [1, 2, size / 2, size, size + 1, 4 * size, 100] {
                let items = 2 * local;
                let out = t.buffer_of(&vec![0u32; 4 * items]);
                t.arg_mem(&kernel, 0, &out);
                drop(t.launch(&kernel, &[items], &[local]));
                let most = number(&t, &kernel, CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE, &[local]);
                // A CPU's vectors are as long as the row, a GPU's warps are not.
                assert!(most == size.min(local) || most == size, "{most} of {size}, group of {local}");
                let count = number(&t, &kernel, CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE, &[local]);
                assert_eq!(count, local.div_ceil(size));
                for (item, got) in t.read::<u32>(&out, 4 * items).chunks(4).enumerate() {
                    let id = item % local;
                    let first = id - id % size;
                    let wanted = [size.min(local - first), most, id - first, first];
                    assert_eq!(got, wanted.map(|n| n as u32), "size {size}, group of {local}, {item} {options}");
                }
            }
        }
    }
}

/// What OpenCL says of the sub-groups of a kernel is what the kernel finds.
#[test]
fn sub_groups_are_as_many_as_the_device_says() {
    let t = Session::new();
    let program =
        t.source("kernel void k(global uint *n) { n[0] = get_num_sub_groups(); n[1] = get_max_sub_group_size(); }");
    assert_eq!(t.build(&program, "-cl-std=CL3.0"), 0, "{}", t.log(&program));
    let (kernel, out) = (t.kernel_of(&program, "k"), t.buffer_of(&[0u32; 2]));
    t.arg_mem(&kernel, 0, &out);
    let largest: usize = info(|s, v, r| t.clGetDeviceInfo(t.device, CL_DEVICE_MAX_WORK_GROUP_SIZE, s, v, r));
    let most: u32 = info(|s, v, r| t.clGetDeviceInfo(t.device, CL_DEVICE_MAX_NUM_SUB_GROUPS, s, v, r));
    assert_eq!(number(&t, &kernel, CL_KERNEL_MAX_NUM_SUB_GROUPS, &[]), most as usize);
    for local in [vec![1], vec![31, 1], vec![3, 5, 7], vec![16, 2, 2], vec![1, largest / 4, 2], vec![largest]] {
        drop(t.launch(&kernel, &local, &local));
        let count = number(&t, &kernel, CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE, &local);
        let size = number(&t, &kernel, CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE, &local);
        assert_eq!(t.read::<u32>(&out, 2), [count as u32, size as u32], "{local:?}");
        assert!(count <= most as usize, "{local:?}");
    }
    for count in [1, 2, 3] {
        let input: [usize; 1] = [count];
        let name = CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT;
        let local = number(&t, &kernel, name, &input);
        assert!(local > 0, "{count} sub-groups");
        assert_eq!(number(&t, &kernel, CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE, &[local]), count);
    }
}

#[test]
fn a_gpu_has_sub_groups_of_one_size() {
    gpu::on_the_gpu(&["a_kernel_has_the_size_that_it_requires", "sub_groups_are_as_many_as_the_device_says"]);
}

/// Three kernels of a program that enables `cl_intel_subgroups`: one requires no size, one a smaller one, and one has
/// no sub-groups.
const FOR_INTEL: &str = "
    #pragma OPENCL EXTENSION cl_intel_subgroups : enable
    kernel void sum(global uint *out) {
        global uint *p = out + 4 * get_global_linear_id();
        p[0] = get_sub_group_size();
        p[1] = get_max_sub_group_size();
        p[2] = get_sub_group_id();
        p[3] = sub_group_reduce_add((uint)get_local_linear_id());
    }
    kernel __attribute__((intel_reqd_sub_group_size(8))) void small(global uint *out) {
        out[get_global_linear_id()] = sub_group_reduce_add(1u);
    }
    kernel void none(global uint *out) { out[get_global_linear_id()] = get_local_id(0); }";

/// Such a program takes a row of up to 32 work-items for one sub-group, and combines what the sub-groups of a group
/// found in one of them.
#[test]
fn programs_for_intel_have_sub_groups_of_32() {
    let t = Session::new();
    let device: usize = info(|s, v, r| t.clGetDeviceInfo(t.device, CL_DEVICE_MAX_WORK_GROUP_SIZE, s, v, r));
    let group = |kernel: &Obj| -> usize {
        info(|s, v, r| t.clGetKernelWorkGroupInfo(kernel.h, t.device, CL_KERNEL_WORK_GROUP_SIZE, s, v, r))
    };
    for options in ["-cl-std=CL3.0", "-cl-std=CL3.0 -cl-opt-disable"] {
        let program = t.source(FOR_INTEL);
        assert_eq!(t.build(&program, options), 0, "{}", t.log(&program));
        let [sum, small, none] = ["sum", "small", "none"].map(|name| t.kernel_of(&program, name));
        assert_eq!([&sum, &small, &none].map(|k| number(&t, k, COMPILE_SUB_GROUP_SIZE, &[])), [0, 8, 0]);
        assert_eq!([&sum, &small, &none].map(group), [1024.min(device), 1024.min(device), device]);
        for local in [[1, 1], [4, 1], [31, 2], [32, 1], [32, 3], [33, 1], [64, 2], [1024, 1]] {
            let [width, height] = local;
            let items = 2 * width * height;
            let out = t.buffer_of(&vec![0u32; 4 * items]);
            t.arg_mem(&sum, 0, &out);
            drop(t.launch(&sum, &[2 * width, height], &local));
            let most = number(&t, &sum, CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE, &local);
            assert_eq!(most, width.min(32), "{local:?} {options}");
            let count = number(&t, &sum, CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE, &local);
            assert_eq!(count, width.div_ceil(32) * height);
            let got = t.read::<u32>(&out, 4 * items);
            for (item, got) in got.chunks(4).enumerate() {
                let (x, y) = (item % (2 * width) % width, item / (2 * width));
                let (first, row) = (x - x % 32, y * width);
                let size = 32.min(width - first);
                let sum: usize = (row + first..row + first + size).sum();
                let id = y * width.div_ceil(32) + first / 32;
                assert_eq!(got, [size, most, id, sum].map(|n| n as u32), "group of {local:?}, {item} {options}");
            }
        }
        let out = t.buffer_of(&[0u32; 64]);
        t.arg_mem(&small, 0, &out);
        drop(t.launch(&small, &[64], &[64]));
        assert_eq!(t.read::<u32>(&out, 64), [8; 64]);
    }
}

#[test]
fn other_kernels_require_no_size() {
    let t = Session::new();
    let kernel = t.kernel("kernel void k(global int *p) { *p = 1; }");
    assert_eq!(number(&t, &kernel, COMPILE_SUB_GROUP_SIZE, &[]), 0);
    let spilled: u64 = info(|s, v, r| t.clGetKernelWorkGroupInfo(kernel.h, t.device, SPILL_MEM_SIZE, s, v, r));
    assert_eq!(spilled, 0);
    // No sub-group has this size.
    let program = t.source(&source(12));
    assert_eq!(t.build(&program, ""), CL_BUILD_PROGRAM_FAILURE);
    assert!(t.log(&program).contains("no sub-groups of 12"), "{}", t.log(&program));
}

/// The code differs between formats, the sub-groups do not: a program asks before it sets an image.
#[test]
fn sub_groups_do_not_depend_on_the_formats_of_images() {
    let t = Session::new();
    let program = t.source(
        "kernel void k(read_only image2d_t from, sampler_t s, global uint *out) {
            uint item = get_global_linear_id();
            float4 v = read_imagef(from, s, (float2)(item % 5, item / 5) / 7.0f);
            global uint *p = out + 4 * item;
            p[0] = get_max_sub_group_size();
            p[1] = get_num_sub_groups();
            p[2] = sub_group_reduce_add(1u);
            p[3] = sub_group_reduce_max(v.x) >= v.x;
        }",
    );
    assert_eq!(t.build(&program, "-cl-std=CL3.0"), 0, "{}", t.log(&program));
    for local in [vec![1usize], vec![7], vec![64], vec![8, 8], vec![3, 5]] {
        let kernel = t.kernel_of(&program, "k");
        let most = number(&t, &kernel, CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE, &local);
        let count = number(&t, &kernel, CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE, &local);
        assert!(most >= 1 && count >= 1);
        let mut code = 0;
        let sampler = Obj::sampler(t.clCreateSampler(t.context(), 1, 0x1131, 0x1141, &mut code));
        ok(code);
        let items = local.iter().product::<usize>();
        t.arg_mem(&kernel, 1, &sampler);
        for (order, channel_type) in [(0x10B5, UNORM_INT8), (0x10B0, 0x10DE), (0x10B5, 0x10DD), (0x10B1, 0x10D1)] {
            let from = t.image(Format { order, channel_type }, &Desc::new(0x10F1, [5, 16, 1]));
            let out = t.buffer_of(&vec![0u32; 4 * items]);
            t.arg_mem(&kernel, 0, &from);
            t.arg_mem(&kernel, 2, &out);
            drop(t.launch(&kernel, &local, &local));
            for got in t.read::<u32>(&out, 4 * items).chunks(4) {
                let what = format!("{order:x} {channel_type:x} {local:?}: {got:?}");
                assert_eq!((got[0] as usize, got[1] as usize, got[3]), (most, count, 1), "{what}");
                assert!(got[2] >= 1 && got[2] <= got[0], "{what}");
            }
        }
    }
}

const BLOCKS: &str = "
    kernel __attribute__((intel_reqd_sub_group_size(8)))
    void copy(read_only image2d_t from, write_only image2d_t to, int x, int y) {
        int2 at = (int2)(x, y) + (int2)(32 * get_sub_group_id(), 0);
        uint2 two = intel_sub_group_block_read2(from, at);
        intel_sub_group_block_write2(to, at, two + 1);
    }
    kernel __attribute__((intel_reqd_sub_group_size(8)))
    void bytes(read_only image2d_t from, global uchar *out, int x, int y) {
        out[get_local_id(0)] = intel_sub_group_block_read_uc(from, (int2)(x, y));
        ushort4 s = intel_sub_group_block_read_us4(from, (int2)(2 * x, y));
        vstore4(convert_uchar4(s), get_local_id(0), out + 64);
        ulong l = intel_sub_group_block_read_ul(from, (int2)(8, y));
        out[16 + get_local_id(0)] = l >> 32;
    }";

/// An image of 24 by 6 integers, each its number.
#[test]
fn blocks_of_images_are_rows() {
    const W: usize = 24;
    const H: usize = 6;
    let t = Session::new();
    let program = t.source(BLOCKS);
    assert_eq!(t.build(&program, "-cl-std=CL3.0"), 0, "{}", t.log(&program));
    let format = Format { order: 0x10B0, channel_type: 0x10DC };
    let desc = Desc::new(0x10F1, [W, H, 1]);
    let (from, to) = (t.image(format, &desc), t.image(format, &desc));
    let data: Vec<u32> = (0..(W * H) as u32).collect();
    t.write_image(&from, [0; 3], [W, H, 1], [0; 2], &data);
    t.write_image(&to, [0; 3], [W, H, 1], [0; 2], &vec![7u32; W * H]);
    let copy = t.kernel_of(&program, "copy");
    t.arg_mem(&copy, 0, &from);
    t.arg_mem(&copy, 1, &to);
    t.arg(&copy, 2, 32i32);
    t.arg(&copy, 3, 4i32);
    // Two sub-groups: the last 16 columns of the last two rows.
    drop(t.launch(&copy, &[16], &[16]));
    let wanted = |x: usize, y: usize| if x >= 8 && y >= 4 { (y * W + x) as u32 + 1 } else { 7 };
    let all: Vec<u32> = (0..W * H).map(|i| wanted(i % W, i / W)).collect();
    assert_eq!(t.read_image::<u32>(&to, [0; 3], [W, H, 1], W * H), all);
    // What lies outside is neither written, nor read from elsewhere than the edge.
    t.write_image(&to, [0; 3], [W, H, 1], [0; 2], &vec![7u32; W * H]);
    t.arg(&copy, 2, 80i32);
    t.arg(&copy, 3, -1i32);
    drop(t.launch(&copy, &[8], &[8]));
    let wanted = |x: usize, y: usize| if x >= 20 && y == 0 { x as u32 + 1 } else { 7 };
    let all: Vec<u32> = (0..W * H).map(|i| wanted(i % W, i / W)).collect();
    assert_eq!(t.read_image::<u32>(&to, [0; 3], [W, H, 1], W * H), all);

    let (bytes, out) = (t.kernel_of(&program, "bytes"), t.buffer_of(&[0u8; 96]));
    t.arg_mem(&bytes, 0, &from);
    t.arg_mem(&bytes, 1, &out);
    t.arg(&bytes, 2, 4i32);
    t.arg(&bytes, 3, 1i32);
    drop(t.launch(&bytes, &[8], &[8]));
    let got = t.read::<u8>(&out, 96);
    let row = |y: usize| -> Vec<u8> { data[y * W..(y + 1) * W].iter().flat_map(|n| n.to_le_bytes()).collect() };
    for item in 0..8 {
        assert_eq!(got[item], row(1)[4 + item], "byte {item}");
        assert_eq!(got[16 + item], (W + 3 + 2 * item) as u8, "the upper half of number {item}");
        let shorts: Vec<u8> = (0..4).map(|k| row(1 + k)[8 + 2 * item]).collect();
        assert_eq!(got[64 + 4 * item..68 + 4 * item], shorts, "shorts {item}");
    }
}
