//! Partial groups (non-uniform work-groups): ids, sizes, barriers and collective functions of the groups at the edges
//! of one to three dimensions, on several numbers of lanes; and which programs may be launched so.

#![allow(unsafe_code, reason = "it calls the C interface")]

#[path = "../common/mod.rs"]
mod common;
use common::*;
use std::process::Command;

const KERNELS: &str = "
    #define LINEAR (get_local_id(0) + get_local_size(0) * (get_local_id(1) + get_local_size(1) * get_local_id(2)))
    #define COUNT (get_local_size(0) * get_local_size(1) * get_local_size(2))

    kernel void ids(global ulong *out) {
        size_t i = get_global_linear_id();
        ulong h = get_global_id(0) | get_global_id(1) << 10 | get_global_id(2) << 20;
        for (uint d = 0; d < 3; d++) {
            h = h * 31 + get_local_id(d);
            h = h * 31 + get_group_id(d);
            h = h * 31 + get_local_size(d);
            h = h * 31 + get_enqueued_local_size(d);
            h = h * 31 + get_num_groups(d);
            h = h * 31 + get_global_size(d);
            h = h * 31 + get_global_offset(d);
        }
        out[i] = h * 31 + (get_local_linear_id() == LINEAR);
    }

    // Each work-item gets the number of the group's work-item that is as far from the end as it is from the begin, and
    // then, round by round, that of its neighbour; how many rounds depends on the group.
    kernel void barriers(global ulong *out, local uint *l) {
        uint me = (uint)LINEAR, n = (uint)COUNT;
        l[me] = (uint)get_global_linear_id();
        barrier(CLK_LOCAL_MEM_FENCE);
        uint x = l[n - 1 - me];
        for (uint round = 0; round < get_group_id(0) % 3; round++) {
            barrier(CLK_LOCAL_MEM_FENCE);
            l[me] = x;
            barrier(CLK_LOCAL_MEM_FENCE);
            x = l[(me + 1) % n];
        }
        out[get_global_linear_id()] = x;
    }

    kernel void collectives(global ulong *out) {
        uint me = (uint)LINEAR, n = (uint)COUNT;
        uint x = (uint)get_global_linear_id() % 97u;
        uint wrong = work_group_scan_exclusive_add(1u) + 1 != work_group_scan_inclusive_add(1u);
        wrong += work_group_reduce_add(1u) != n;
        wrong += work_group_reduce_max(me) != n - 1;
        wrong += work_group_any(me == n - 1) == 0;
        wrong += work_group_all(me != n - 1) != 0;
        wrong += get_sub_group_id() >= get_num_sub_groups();
        wrong += get_num_sub_groups() > get_enqueued_num_sub_groups();
        wrong += get_sub_group_local_id() >= get_sub_group_size();
        wrong += get_sub_group_size() > get_max_sub_group_size();
        wrong += sub_group_reduce_add(1u) != get_sub_group_size();
        wrong += sub_group_scan_inclusive_add(1u) != get_sub_group_local_id() + 1;
        wrong += work_group_reduce_add((uint)(get_sub_group_local_id() == 0)) != get_num_sub_groups();
        wrong += sub_group_broadcast(me, get_sub_group_size() - 1) - me != get_sub_group_size() - 1 - get_sub_group_local_id();
        uint sum = work_group_reduce_add(x);
        uint last = get_work_dim() == 1 ? work_group_broadcast(x, get_local_size(0) - 1)
            : get_work_dim() == 2 ? work_group_broadcast(x, get_local_size(0) - 1, get_local_size(1) - 1)
            : work_group_broadcast(x, get_local_size(0) - 1, get_local_size(1) - 1, get_local_size(2) - 1);
        out[get_global_linear_id()] = (ulong)wrong << 48 | (ulong)last << 32 | sum;
    }

    kernel __attribute__((reqd_work_group_size(4, 2, 1))) void required(global ulong *out) {
        out[get_global_linear_id()] = get_local_size(0) << 8 | get_local_size(1) << 4 | get_enqueued_local_size(0);
    }";

type Three = [usize; 3];

/// A range, and of each of its work-items, in linear order, the group, its size and the place in it.
struct Range {
    dim: usize,
    offset: Three,
    global: Three,
    local: Three,
}

/// A work-item as the specification sees it.
struct Item {
    id: Three,
    group: Three,
    own: Three,
    size: Three,
}

impl Range {
    fn items(&self) -> Vec<Item> {
        let [gx, gy, gz] = self.global;
        let each = |n: usize| {
            let id = [n % gx, n / gx % gy, n / gx / gy];
            let at = |f: &dyn Fn(usize) -> usize| std::array::from_fn(f);
            let group = at(&|d| id[d] / self.local[d]);
            let size = at(&|d| self.local[d].min(self.global[d] - group[d] * self.local[d]));
            Item { id, group, own: at(&|d| id[d] % self.local[d]), size }
        };
        (0..gx * gy * gz).map(each).collect()
    }

    /// The linear number of a work-item of a group.
    fn number(&self, item: &Item, k: usize) -> usize {
        let own = [k % item.size[0], k / item.size[0] % item.size[1], k / item.size[0] / item.size[1]];
        let at: Three = std::array::from_fn(|d| item.group[d] * self.local[d] + own[d]);
        at[0] + self.global[0] * (at[1] + self.global[1] * at[2])
    }

    fn ids(&self) -> Vec<u64> {
        let hash = |item: Item| {
            let id: Three = std::array::from_fn(|d| item.id[d] + self.offset[d]);
            let mut h = (id[0] | id[1] << 10 | id[2] << 20) as u64;
            for d in 0..3 {
                let groups = self.global[d].div_ceil(self.local[d]);
                let parts = [item.own[d], item.group[d], item.size[d], self.local[d], groups, self.global[d]];
                for part in parts.into_iter().chain([self.offset[d]]) {
                    h = h.wrapping_mul(31).wrapping_add(part as u64);
                }
            }
            h.wrapping_mul(31).wrapping_add(1)
        };
        self.items().into_iter().map(hash).collect()
    }

    fn barriers(&self) -> Vec<u64> {
        let exchange = |item: Item| {
            let n = item.size.iter().product::<usize>();
            let own = item.own[0] + item.size[0] * (item.own[1] + item.size[1] * item.own[2]);
            self.number(&item, n - 1 - (own + item.group[0] % 3) % n) as u64
        };
        self.items().into_iter().map(exchange).collect()
    }

    fn collectives(&self) -> Vec<u64> {
        let sum = |item: Item| {
            let n = item.size.iter().product::<usize>();
            let value = |k| (self.number(&item, k) % 97) as u64;
            value(n - 1) << 32 | (0..n).map(value).sum::<u64>()
        };
        self.items().into_iter().map(sum).collect()
    }
}

fn ranges() -> Vec<Range> {
    let one = |global: usize, local: usize| ([global, 1, 1], [local, 1, 1]);
    let sizes = [
        one(10, 4),
        one(5, 8),
        one(1, 3),
        one(100, 64),
        one(257, 16),
        one(1000, 7),
        one(64, 16),
        ([10, 7, 1], [4, 3, 1]),
        ([33, 9, 1], [16, 4, 1]),
        ([9, 30, 1], [9, 16, 1]),
        ([3, 5, 1], [8, 8, 1]),
        ([10, 7, 5], [4, 3, 2]),
        ([17, 6, 3], [5, 6, 2]),
        ([8, 3, 9], [4, 1, 8]),
    ];
    let with = |(global, local): (Three, Three)| {
        let dim = (0..3).rev().find(|&d| global[d] > 1).map_or(1, |d| d + 1);
        [[0; 3], std::array::from_fn(|d| if d < dim { 5 + d } else { 0 })].map(|offset| Range {
            dim,
            offset,
            global,
            local,
        })
    };
    sizes.into_iter().flat_map(with).collect()
}

/// Runs every kernel on every range.
fn check_all() {
    let t = Session::new();
    let program = t.source(KERNELS);
    assert_eq!(t.build(&program, "-cl-std=CL3.0"), 0, "{}", t.log(&program));
    type Oracle = fn(&Range) -> Vec<u64>;
    let oracles: [(&str, Oracle); 3] =
        [("ids", Range::ids), ("barriers", Range::barriers), ("collectives", Range::collectives)];
    for (name, oracle) in oracles {
        let kernel = t.kernel_of(&program, name);
        for range in ranges() {
            let Range { dim, offset, global, local } = range;
            let n: usize = global.iter().product();
            let out = t.buffer_of(&vec![u64::MAX; n]);
            t.arg_mem(&kernel, 0, &out);
            if name == "barriers" {
                ok(t.clSetKernelArg(kernel.h, 1, local.iter().product::<usize>() * 4, null()));
            }
            let (o, g, l) = (offset.as_ptr(), global.as_ptr(), local.as_ptr());
            ok(t.clEnqueueNDRangeKernel(t.queue(), kernel.h, dim as u32, o, g, l, 0, null(), null_mut()));
            assert_eq!(t.read::<u64>(&out, n), oracle(&range), "{name}: {global:?} in {local:?} from {offset:?}");
        }
    }
}

#[test]
fn groups_at_the_edges_are_smaller() {
    check_all();
}

/// The switches of the driver are read once a process.
#[test]
fn whatever_the_number_of_lanes() {
    const PART: &str = "CLOOM_TEST_PART";
    if std::env::var_os(PART).is_some() {
        return check_all();
    }
    for lanes in ["1", "3", "4", "8", "16", "64"] {
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", "whatever_the_number_of_lanes", "--nocapture"]).env(PART, "1");
        child.env("CLOOM_LANES", lanes).env("CLOOM_QUICK_START", "0");
        let output = child.output().unwrap();
        assert!(output.status.success(), "{lanes} lanes:\n{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn a_required_size_is_that_of_whole_groups() {
    let t = Session::new();
    let program = t.source(KERNELS);
    assert_eq!(t.build(&program, "-cl-std=CL2.0"), 0, "{}", t.log(&program));
    let kernel = t.kernel_of(&program, "required");
    let out = t.buffer(0, 7 * 3 * 8);
    t.arg_mem(&kernel, 0, &out);
    for local in [&[][..], &[4, 2]] {
        t.write(&out, 0, &[0u64; 21]);
        drop(t.launch(&kernel, &[7, 3], local));
        let size = |n: u64| (if n % 7 < 4 { 4 } else { 3 }) << 8 | (if n / 7 < 2 { 2 } else { 1 }) << 4 | 4;
        let want: Vec<u64> = (0..21).map(size).collect();
        assert_eq!(t.read::<u64>(&out, 21), want);
    }
    let other = [2usize, 2];
    let g = [7usize, 3];
    let code =
        t.clEnqueueNDRangeKernel(t.queue(), kernel.h, 2, null(), g.as_ptr(), other.as_ptr(), 0, null(), null_mut());
    assert_eq!(code, CL_INVALID_WORK_GROUP_SIZE);
}

#[test]
fn the_program_says_whether_groups_may_be_partial() {
    let t = Session::new();
    assert_eq!(t.device_info::<u32>(CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT), CL_TRUE);
    let source = "kernel void k(global uint *out) { out[get_global_id(0)] = 1; }";
    let uniform = CL_INVALID_WORK_GROUP_SIZE;
    let mut c = Cases::new();
    let mut run = |what: &str, wanted: i32, program: &Obj| {
        let kernel = t.kernel_of(program, "k");
        let out = t.buffer_of(&[0u32; 12]);
        t.arg_mem(&kernel, 0, &out);
        for (global, partial) in [(12usize, false), (10, true), (3, true)] {
            let wanted = if partial { wanted } else { 0 };
            let (g, l) = (&raw const global, &4usize);
            let code = t.clEnqueueNDRangeKernel(t.queue(), kernel.h, 1, null(), g, l, 0, null(), null_mut());
            c.code(&format!("{what}, {global} in groups of 4"), wanted, code);
        }
        t.finish();
        // The driver's own choice always divides.
        drop(t.launch(&kernel, &[11], &[]));
    };
    for (options, wanted) in [
        ("", uniform),
        ("-cl-std=CL1.1", uniform),
        ("-cl-std=CL1.2", uniform),
        ("-cl-std=CL2.0", 0),
        ("-cl-std=CL3.0", 0),
        ("-cl-std=CL2.0 -cl-uniform-work-group-size", uniform),
        ("-cl-std=CL3.0 -cl-uniform-work-group-size", uniform),
    ] {
        let program = t.source(source);
        assert_eq!(t.build(&program, options), 0, "{}", t.log(&program));
        run(options, wanted, &program);
        // A binary keeps the answer.
        let sizes = list::<usize>(|s, v, r| t.clGetProgramInfo(program.h, CL_PROGRAM_BINARY_SIZES, s, v, r));
        let mut bytes = vec![0u8; sizes[0]];
        let mut place: *mut u8 = bytes.as_mut_ptr();
        let room = (&raw mut place).cast();
        ok(t.clGetProgramInfo(program.h, CL_PROGRAM_BINARIES, size_of::<usize>(), room, null_mut()));
        let (mut code, mut status) = (1, 1);
        let binary: *const u8 = bytes.as_ptr();
        let (size, list_of) = (&sizes[0], &raw const binary);
        let loaded =
            t.clCreateProgramWithBinary(t.context(), 1, &t.device, size, list_of.cast(), &mut status, &mut code);
        ok(code);
        let loaded = Obj::program(loaded);
        assert_eq!(t.build(&loaded, ""), 0);
        run(&format!("binary of {options}"), wanted, &loaded);
    }
    let object = |source: &str, options: &str| {
        let program = t.source(source);
        let options = std::ffi::CString::new(options).unwrap();
        let (none, no_names) = (null(), null());
        ok(t.clCompileProgram(program.h, 0, null(), options.as_ptr(), 0, none, no_names, None, null_mut()));
        program
    };
    let helper = "uint helper(uint x) { return x; }";
    for (kernel_options, helper_options, wanted) in [
        ("-cl-std=CL3.0", "-cl-std=CL2.0", 0),
        ("-cl-std=CL3.0", "", uniform),
        ("", "-cl-std=CL3.0", uniform),
        ("-cl-std=CL3.0", "-cl-std=CL3.0 -cl-uniform-work-group-size", uniform),
    ] {
        let (a, b) = (object(source, kernel_options), object(helper, helper_options));
        let inputs = [a.h, b.h];
        let mut code = 1;
        let none = null();
        let linked = t.clLinkProgram(t.context(), 0, none, null(), 2, inputs.as_ptr(), None, null_mut(), &mut code);
        ok(code);
        run(&format!("{kernel_options} linked with {helper_options}"), wanted, &Obj::program(linked));
    }
    c.end();
}
