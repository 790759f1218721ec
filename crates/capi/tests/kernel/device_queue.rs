//! Queues on the device (chapter 5.1 of the specification), and what kernels put into them (OpenCL C, 6.15.18).

#![allow(unsafe_code, reason = "it calls the C interface")]

#[path = "../common/mod.rs"]
mod common;
use common::extension::CommandBuffers;
use common::images::*;
use common::*;

const ON_DEVICE: u64 = CL_QUEUE_ON_DEVICE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
const DEFAULT: u64 = ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT;

/// A queue on the device.
fn device_queue(t: &Session, bits: u64, size: Option<u64>) -> Obj {
    let mut list = vec![u64::from(CL_QUEUE_PROPERTIES), bits];
    list.extend(size.iter().flat_map(|&size| [u64::from(CL_QUEUE_SIZE), size]));
    list.push(0);
    let mut code = 1;
    let queue = t.clCreateCommandQueueWithProperties(t.context(), t.device, list.as_ptr(), &mut code);
    ok(code);
    Obj::queue(queue)
}

fn built(t: &Session, source: &str, options: &str) -> Obj {
    let program = t.source(source);
    assert_eq!(t.build(&program, options), 0, "{}", t.log(&program));
    program
}

/// Runs the kernel `k` on a buffer of so many numbers, which begin as zeros. Returns them, and the status.
fn run(t: &Session, source: &str, options: &str, items: usize, count: usize) -> (Vec<i32>, i32) {
    let program = built(t, source, options);
    let (kernel, out) = (t.kernel_of(&program, "k"), t.buffer_of(&vec![0i32; count]));
    t.arg_mem(&kernel, 0, &out);
    let event = t.launch(&kernel, &[items], &[]);
    t.finish();
    (t.read(&out, count), t.status(&event))
}

const CL3: &str = "-cl-std=CL3.0";

#[test]
fn the_device_says_what_it_has() {
    let t = Session::new();
    let capabilities = t.device_info::<u64>(CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES);
    assert_eq!(capabilities, 1 | 2, "supported, with a replaceable default");
    let properties = t.device_info::<u64>(CL_DEVICE_QUEUE_ON_DEVICE_PROPERTIES);
    assert_eq!(properties, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE);
    let size = |name| t.device_info::<u32>(name);
    assert!(size(CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE) >= 16 << 10);
    assert!(size(CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE) >= 256 << 10);
    assert!(size(CL_DEVICE_MAX_ON_DEVICE_QUEUES) >= 1 && size(CL_DEVICE_MAX_ON_DEVICE_EVENTS) >= 1024);
}

#[test]
fn a_queue_on_the_device_describes_itself() {
    let t = Session::new();
    let ask = |queue: Handle, name| move |s, v, r| api().clGetCommandQueueInfo(queue, name, s, v, r);
    let plain = device_queue(&t, ON_DEVICE, None);
    let preferred = t.device_info::<u32>(CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE);
    assert_eq!(info::<u32>(ask(plain.h, CL_QUEUE_SIZE)), preferred);
    assert_eq!(info::<u64>(ask(plain.h, CL_QUEUE_PROPERTIES)), ON_DEVICE);
    assert_eq!(info::<usize>(ask(plain.h, CL_QUEUE_DEVICE_DEFAULT)), 0);
    let default = device_queue(&t, DEFAULT | CL_QUEUE_PROFILING_ENABLE, Some(65536));
    assert_eq!(info::<u32>(ask(default.h, CL_QUEUE_SIZE)), 65536);
    // The default one is made once.
    let again = device_queue(&t, DEFAULT, None);
    assert_eq!((again.h, info::<u32>(ask(default.h, CL_QUEUE_REFERENCE_COUNT))), (default.h, 2));
    for queue in [plain.h, t.queue()] {
        assert_eq!(info::<usize>(ask(queue, CL_QUEUE_DEVICE_DEFAULT)), default.h as usize);
    }
    ok(t.clSetDefaultDeviceCommandQueue(t.context(), t.device, plain.h));
    assert_eq!(info::<usize>(ask(t.queue(), CL_QUEUE_DEVICE_DEFAULT)), plain.h as usize);
    drop(plain);
    assert_eq!(info::<usize>(ask(t.queue(), CL_QUEUE_DEVICE_DEFAULT)), 0, "a default queue that is gone");
}

#[test]
fn calls_have_their_codes() {
    let t = Session::new();
    let mut c = Cases::new();
    let (properties, size) = (u64::from(CL_QUEUE_PROPERTIES), u64::from(CL_QUEUE_SIZE));
    let create = |list: &[u64], e| t.clCreateCommandQueueWithProperties(t.context(), t.device, list.as_ptr(), e);
    let most = u64::from(t.device_info::<u32>(CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE));
    let cases: [(&str, i32, &[u64]); 7] = [
        ("in order", CL_INVALID_VALUE, &[properties, CL_QUEUE_ON_DEVICE, 0]),
        ("default of the host", CL_INVALID_VALUE, &[properties, CL_QUEUE_ON_DEVICE_DEFAULT | 1, 0]),
        ("size of a queue of the host", CL_INVALID_VALUE, &[size, 1024, 0]),
        ("too large", CL_INVALID_QUEUE_PROPERTIES, &[properties, ON_DEVICE, size, most + 1, 0]),
        ("far too large", CL_INVALID_QUEUE_PROPERTIES, &[properties, ON_DEVICE, size, 1 << 40, 0]),
        ("priority", CL_INVALID_QUEUE_PROPERTIES, &[properties, ON_DEVICE, CL_QUEUE_PRIORITY_KHR, 1, 0]),
        ("throttle", CL_INVALID_QUEUE_PROPERTIES, &[CL_QUEUE_THROTTLE_KHR, 1, properties, ON_DEVICE, 0]),
    ];
    for (what, code, list) in cases {
        c.new_object(what, code, |e| create(list, e));
    }
    let queue = device_queue(&t, DEFAULT, None);
    let (other, stranger) = (t.another_context(), device_queue(&t, ON_DEVICE, None));
    let set = |context, device, queue| t.clSetDefaultDeviceCommandQueue(context, device, queue);
    for (what, bad) in t.bad_handles(t.queue()) {
        c.code(&format!("{what} as context"), CL_INVALID_CONTEXT, set(bad, t.device, queue.h));
        c.code(&format!("{what} as device"), CL_INVALID_DEVICE, set(t.context(), bad, queue.h));
    }
    for (what, bad) in t.bad_handles(t.context()) {
        c.code(&format!("{what} as queue"), CL_INVALID_COMMAND_QUEUE, set(t.context(), t.device, bad));
    }
    c.code("a queue of the host", CL_INVALID_COMMAND_QUEUE, set(t.context(), t.device, t.queue()));
    c.code("a queue of another context", CL_INVALID_COMMAND_QUEUE, set(other.h, t.device, stranger.h));
    // The host puts nothing into a queue on the device.
    let (buffer, value) = (t.buffer_of(&[0u32]), 1u32);
    let data = (&raw const value).cast();
    let write = t.clEnqueueWriteBuffer(queue.h, buffer.h, CL_TRUE, 0, 4, data, 0, null(), null_mut());
    c.code("write", CL_INVALID_COMMAND_QUEUE, write);
    c.code("finish", CL_INVALID_COMMAND_QUEUE, t.clFinish(queue.h));
    c.code("flush", CL_INVALID_COMMAND_QUEUE, t.clFlush(queue.h));
    c.code("marker", CL_INVALID_COMMAND_QUEUE, t.clEnqueueMarkerWithWaitList(queue.h, 0, null(), null_mut()));
    // As an argument.
    let program = built(&t, "kernel void k(queue_t q, global int *out) { out[0] = 1; }", CL3);
    let kernel = t.kernel_of(&program, "k");
    let set = |size, value: Handle| t.clSetKernelArg(kernel.h, 0, size, (&raw const value).cast());
    c.code("a queue", CL_SUCCESS, set(8, queue.h));
    c.code("size", CL_INVALID_ARG_SIZE, set(4, queue.h));
    c.code("of the host", CL_INVALID_DEVICE_QUEUE, set(8, t.queue()));
    for (what, bad) in t.bad_handles(t.context()) {
        c.code(&format!("{what} as argument"), CL_INVALID_DEVICE_QUEUE, set(8, bad));
    }
    c.code("no value", CL_INVALID_DEVICE_QUEUE, t.clSetKernelArg(kernel.h, 0, 8, null()));
    c.end();
}

#[test]
fn blocks_are_no_kernels_of_the_host() {
    let t = Session::new();
    let source = "kernel void k(global int *out) {
        enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1), ^{ out[0] = 1; });
    }";
    let program = built(&t, source, CL3);
    assert_eq!(info::<usize>(|s, v, r| t.clGetProgramInfo(program.h, CL_PROGRAM_NUM_KERNELS, s, v, r)), 1);
    assert_eq!(text(|s, v, r| t.clGetProgramInfo(program.h, CL_PROGRAM_KERNEL_NAMES, s, v, r)), "k");
    let mut count = 0;
    ok(t.clCreateKernelsInProgram(program.h, 0, null_mut(), &mut count));
    assert_eq!(count, 1);
}

#[test]
fn children_run_after_their_parent_and_before_its_event() {
    let t = Session::new();
    let _queue = device_queue(&t, DEFAULT, None);
    // Each work-item enqueues, some with local memory, one with a range of three dimensions.
    let source = "
        typedef struct { int a; long b; } pair;
        void add(global int *p, int n) { atomic_add(p, n); }
        int spread(void (^b)(void)) {
            return enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_WAIT_KERNEL, ndrange_1D(5, 10, 5), b);
        }
        kernel void k(global int *out) {
            int me = get_global_id(0);
            pair both = {me, 1};
            char4 bytes = (char4)(me & 7, 1, 2, 3);
            bool odd = me & 1;
            queue_t q = get_default_queue();
            size_t sizes[3] = {2, 3, 4}, groups[3] = {2, 1, 2};
            int code = spread(^{ add(out, both.a + both.b + bytes.w); if (odd) add(out + 1, get_global_id(0)); });
            code |= enqueue_kernel(q, CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(8, 8), ^(local void *p, local void *r) {
                local int *own = p; local char *other = r;
                own[get_local_id(0)] = me; other[get_local_id(0)] = 1;
                barrier(CLK_LOCAL_MEM_FENCE);
                add(out + 2, own[7 - get_local_id(0)] + other[get_local_id(0) ^ 1]);
            }, (uint)(8 * sizeof(int)), 8);
            if (me == 3)
                code |= enqueue_kernel(q, CLK_ENQUEUE_FLAGS_WAIT_WORK_GROUP, ndrange_3D(sizes, groups),
                    ^{ add(out + 3, get_work_dim() * 100 + get_global_linear_id()); });
            if (code != CLK_SUCCESS) out[4] = code;
            out[5] = out[0];
        }";
    for items in [1usize, 7, 64, 100] {
        let (out, status) = run(&t, source, CL3, items, 6);
        let n = items as i32;
        let sum = n * (n - 1) / 2;
        assert_eq!(status, CL_COMPLETE);
        assert_eq!(out[0], 10 * (sum + 4 * n), "{items}");
        assert_eq!(out[1], (n / 2) * (5..15).sum::<i32>(), "{items}");
        assert_eq!(out[2], 8 * (sum + n), "{items}");
        assert_eq!(out[3], if n > 3 { 24 * 300 + 276 } else { 0 }, "{items}");
        assert_eq!(out[4..6], [0, 0], "{items}: a code, and nothing ran before the parent had ended");
    }
}

#[test]
fn nesting_has_no_limit() {
    let t = Session::new();
    let _queue = device_queue(&t, DEFAULT, Some(4096));
    let source = "
        void next(global int *out, int left) {
            out[0]++;
            if (left > 0 && enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_WAIT_KERNEL, ndrange_1D(1),
                                           ^{ next(out, left - 1); }) != CLK_SUCCESS) out[1] = 1;
        }
        kernel void k(global int *out) { next(out, 20000); }";
    assert_eq!(run(&t, source, CL3, 1, 2), (vec![20001, 0], CL_COMPLETE));
}

#[test]
fn events_order_commands_of_several_queues() {
    let t = Session::new();
    let _default = device_queue(&t, DEFAULT, None);
    let other = device_queue(&t, ON_DEVICE, None);
    let source = "
        kernel void k(global int *out, queue_t other) {
            queue_t q = get_default_queue();
            clk_event_t user = create_user_event(), first, second, all;
            ndrange_t one = ndrange_1D(1);
            int code = enqueue_kernel(other, CLK_ENQUEUE_FLAGS_NO_WAIT, one, 1, &user, &first, ^{ out[0] = 1; });
            code |= enqueue_kernel(q, CLK_ENQUEUE_FLAGS_NO_WAIT, one, 1, &first, &second, ^{
                if (out[0] == 1) out[0] = 2;
                enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1), ^{ out[2] = 5; });
            });
            clk_event_t both[2] = {first, second};
            code |= enqueue_marker(other, 2, both, &all);
            code |= enqueue_kernel(q, CLK_ENQUEUE_FLAGS_NO_WAIT, one, 1, &all, 0, ^{
                out[1] = out[0] == 2 && out[2] == 5 ? 3 : -1;
            });
            out[3] = code;
            out[4] = is_valid_event(user) + 2 * is_valid_event(CLK_NULL_EVENT) + 4 * is_valid_event(all);
            release_event(first); release_event(second);
            retain_event(all); release_event(all); release_event(all);
            set_user_event_status(user, CL_COMPLETE);
            release_event(user);
            out[5] = is_valid_event(user) + (q == CLK_NULL_QUEUE) + (q == other);
        }"
    .replace("+ (q == CLK_NULL_QUEUE) + (q == other)", "");
    let program = built(&t, &source, CL3);
    let (kernel, out) = (t.kernel_of(&program, "k"), t.buffer_of(&[0i32; 6]));
    t.arg_mem(&kernel, 0, &out);
    ok(t.clSetKernelArg(kernel.h, 1, 8, (&raw const other.h).cast()));
    let event = t.launch(&kernel, &[1], &[]);
    t.finish();
    assert_eq!((t.read::<i32>(&out, 6), t.status(&event)), (vec![2, 3, 5, 0, 5, 0], CL_COMPLETE));
}

#[test]
fn failures_reach_dependants_and_the_parent() {
    let t = Session::new();
    let _queue = device_queue(&t, DEFAULT, None);
    let source = "
        kernel void k(global int *out) {
            queue_t q = get_default_queue();
            clk_event_t user = create_user_event(), first, second;
            enqueue_kernel(q, CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1), 1, &user, &first, ^{ out[0] = 1; });
            enqueue_kernel(q, CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1), 1, &first, &second, ^{ out[0] = 1; });
            enqueue_kernel(q, CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1), ^{ out[1] = 1; });
            SET
        }";
    // A user event that fails, and one that nobody sets.
    for set in ["set_user_event_status(user, -3);", "", "release_event(user);"] {
        let (out, status) = run(&t, &source.replace("SET", set), CL3, 1, 2);
        assert_eq!((&out[..], status), (&[0, 1][..], CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST), "`{set}`");
    }
    // A child that cannot run: together its local memory is too much.
    let too_much = "
        void use(global int *out) { out[0] = 1; }
        kernel void k(global int *out) {
            uint most = 512 << 10;
            int code = enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1),
                ^(local void *a, local void *b) { use(out); }, most - 8, 8);
            out[1] = code;
        }";
    let (out, status) = run(&t, too_much, CL3, 1, 2);
    assert_eq!((&out[..], status), (&[0, 0][..], CL_OUT_OF_RESOURCES));
}

#[test]
fn refusals_have_codes_with_debug_information() {
    let t = Session::new();
    let _default = device_queue(&t, DEFAULT, Some(65536));
    let small = device_queue(&t, ON_DEVICE, Some(16));
    let source = "
        kernel void k(global int *out, queue_t small) {
            queue_t q = get_default_queue();
            ndrange_t one = ndrange_1D(1), never;
            clk_event_t user = create_user_event(), gone = create_user_event(), event;
            release_event(gone);
            clk_event_t no_events = CLK_NULL_EVENT;
            void (^b)(void) = ^{ out[20] = 1; };
            int n = 0;
            out[n++] = enqueue_kernel(q, CLK_ENQUEUE_FLAGS_NO_WAIT, one, b);
            out[n++] = enqueue_kernel(CLK_NULL_QUEUE, CLK_ENQUEUE_FLAGS_NO_WAIT, one, b);
            out[n++] = enqueue_kernel(q, CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(5, 0), b);
            out[n++] = enqueue_kernel(q, CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1 << 20, 1 << 20), b);
            out[n++] = enqueue_kernel(q, CLK_ENQUEUE_FLAGS_NO_WAIT, one, 1, 0, &event, b);
            out[n++] = enqueue_kernel(q, CLK_ENQUEUE_FLAGS_NO_WAIT, one, 0, &user, &event, b);
            out[n++] = enqueue_kernel(q, CLK_ENQUEUE_FLAGS_NO_WAIT, one, 1, &gone, &event, b);
            out[n++] = enqueue_kernel(q, CLK_ENQUEUE_FLAGS_NO_WAIT, one, 1, &no_events, &event, b);
            out[n++] = enqueue_kernel(small, CLK_ENQUEUE_FLAGS_NO_WAIT, one, b);
            out[n++] = enqueue_kernel(q, CLK_ENQUEUE_FLAGS_NO_WAIT, one, ^(local void *p) { out[21] = 1; }, 0);
            out[n++] = enqueue_marker(CLK_NULL_QUEUE, 1, &user, &event);
            out[n++] = enqueue_marker(q, 0, 0, &event);
            out[n++] = enqueue_marker(small, 1, &user, &event);
            int full = 0;
            while (n < 100000 && (full = enqueue_kernel(q, CLK_ENQUEUE_FLAGS_NO_WAIT, one, b)) == CLK_SUCCESS) n++;
            out[13] = full;
            out[14] = n > 100 && n < 1000;
        }";
    let fine = -101;
    let codes = [0, -102, -160, -160, -57, -57, -57, -57, -161, -51, -102, -57, -161, -161];
    for (options, debug) in [("-cl-std=CL3.0", false), ("-cl-std=CL2.0 -g", true)] {
        let program = built(&t, source, options);
        let (kernel, out) = (t.kernel_of(&program, "k"), t.buffer_of(&[0i32; 22]));
        t.arg_mem(&kernel, 0, &out);
        ok(t.clSetKernelArg(kernel.h, 1, 8, (&raw const small.h).cast()));
        let event = t.launch(&kernel, &[1], &[]);
        t.finish();
        let got = t.read::<i32>(&out, 22);
        let wanted: Vec<i32> = codes.iter().map(|&c| if debug || c == 0 { c } else { fine }).collect();
        assert_eq!(got[..14], wanted, "{options}");
        assert_eq!((got[14], &got[20..], t.status(&event)), (1, &[1, 0][..], CL_COMPLETE));
    }
    // Without a default queue there is none.
    drop(_default);
    let source = "kernel void k(global int *out) {
        out[0] = enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1), ^{ out[1] = 1; });
    }";
    assert_eq!(run(&t, source, CL3, 1, 2), (vec![fine, 0], CL_COMPLETE));
}

#[test]
fn kernels_ask_about_blocks() {
    let t = Session::new();
    let _queue = device_queue(&t, DEFAULT, None);
    let source = "kernel void k(global int *out) {
        void (^b)(void) = ^{ out[8] = get_local_size(0); };
        void (^c)(local void *) = ^(local void *p) { out[9] = 1; };
        out[0] = get_kernel_work_group_size(b);
        out[1] = get_kernel_preferred_work_group_size_multiple(c);
        ndrange_t range = ndrange_1D(256, 64);
        out[2] = get_kernel_max_sub_group_size_for_ndrange(range, b);
        out[3] = get_kernel_sub_group_count_for_ndrange(range, c);
        out[4] = get_kernel_work_group_size(c);
        enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(out[0], out[0]), b);
    }";
    let (out, status) = run(&t, source, CL3, 1, 10);
    assert_eq!(status, CL_COMPLETE);
    assert_eq!((out[0], out[4], out[8]), (4096, 4096, 4096));
    assert!(out[1] >= 1 && out[2] >= 1 && out[2] <= 64 && out[3] >= 1 && out[3] <= 64, "{out:?}");
}

#[test]
fn profiling_tells_when_a_family_ended() {
    let t = Session::with(CL_QUEUE_PROFILING_ENABLE);
    let _queue = device_queue(&t, DEFAULT, None);
    let source = "
        global ulong times[4];
        kernel void k(global int *out) {
            queue_t q = get_default_queue();
            clk_event_t user = create_user_event(), event, after;
            enqueue_kernel(q, CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(64), 1, &user, &event, ^{
                for (int i = 0; i < 1000; i++) atomic_add(out, 1);
                enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(64),
                               ^{ for (int i = 0; i < 10; i++) atomic_add(out, 1); });
            });
            capture_event_profiling_info(event, CLK_PROFILING_COMMAND_EXEC_TIME, times);
            set_user_event_status(user, CL_COMPLETE);
            enqueue_kernel(q, CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1), 1, &event, &after, ^{
                capture_event_profiling_info(event, CLK_PROFILING_COMMAND_EXEC_TIME, times + 2);
                out[1] = times[0] > 0 && times[1] > times[0] && times[2] == times[0] && times[3] == times[1];
            });
        }";
    let program = built(&t, source, CL3);
    let (kernel, out) = (t.kernel_of(&program, "k"), t.buffer_of(&[0i32; 2]));
    t.arg_mem(&kernel, 0, &out);
    let event = t.launch(&kernel, &[1], &[]);
    t.finish();
    assert_eq!(t.read::<i32>(&out, 2), [64 * 1000 + 64 * 64 * 10, 1]);
    let time = |name| info::<u64>(|s, v, r| t.clGetEventProfilingInfo(event.h, name, s, v, r));
    let times = [CL_PROFILING_COMMAND_START, CL_PROFILING_COMMAND_END, CL_PROFILING_COMMAND_COMPLETE].map(time);
    assert!(times[0] < times[1] && times[1] < times[2], "{times:?}");
}

#[test]
fn binaries_and_linked_programs_keep_their_blocks() {
    let t = Session::new();
    let _queue = device_queue(&t, DEFAULT, None);
    let compiled = |source: &str| {
        let program = t.source(source);
        let options = c"-cl-std=CL3.0".as_ptr();
        let code = t.clCompileProgram(program.h, 0, null(), options, 0, null(), null(), None, null_mut());
        assert_eq!(code, 0, "{}", t.log(&program));
        program
    };
    // Two programs whose internal functions, and so their blocks, have the same names.
    let helper = |n: u32| {
        format!(
            "static void spread(global int *out) {{
                enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(4), ^{{ atomic_add(out, {n}); }});
            }}"
        )
    };
    let first = compiled(&format!(
        "{} void other(global int *out); kernel void k(global int *out) {{ spread(out); other(out); }}",
        helper(1)
    ));
    let second = compiled(&format!("{} void other(global int *out) {{ spread(out); }}", helper(100)));
    let (inputs, mut code) = ([first.h, second.h], 1);
    let program = t.clLinkProgram(t.context(), 0, null(), null(), 2, inputs.as_ptr(), None, null_mut(), &mut code);
    ok(code);
    let program = Obj::program(program);
    let sum = |program: &Obj| {
        let (kernel, out) = (t.kernel_of(program, "k"), t.buffer_of(&[0i32]));
        t.arg_mem(&kernel, 0, &out);
        drop(t.launch(&kernel, &[1], &[]));
        t.read::<i32>(&out, 1)[0]
    };
    assert_eq!(sum(&program), 404);
    let sizes: Vec<usize> = list(|s, v, r| t.clGetProgramInfo(program.h, CL_PROGRAM_BINARY_SIZES, s, v, r));
    let mut bytes = vec![0u8; sizes[0]];
    let mut place = bytes.as_mut_ptr();
    ok(t.clGetProgramInfo(program.h, CL_PROGRAM_BINARIES, size_of::<usize>(), (&raw mut place).cast(), null_mut()));
    let (mut status, at) = (1, bytes.as_ptr());
    let again = t.clCreateProgramWithBinary(t.context(), 1, &t.device, &sizes[0], &at, &mut status, &mut code);
    ok(code);
    let again = Obj::program(again);
    assert_eq!(t.build(&again, ""), 0);
    assert_eq!(sum(&again), 404);
}

#[test]
fn command_buffers_record_kernels_that_enqueue() {
    let t = Session::new();
    let _queue = device_queue(&t, DEFAULT, None);
    let x = CommandBuffers::new(&t);
    let mut code = 1;
    let none = x.clCreateCommandBufferKHR(1, &_queue.h, null(), &mut code);
    assert_eq!((none, code), (null_mut(), CL_INVALID_COMMAND_QUEUE), "for a queue on the device");
    let source = "kernel void k(global int *out) {
        enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_WAIT_KERNEL, ndrange_1D(16), ^{ atomic_add(out, 1); });
    }";
    let program = built(&t, source, CL3);
    let (kernel, out) = (t.kernel_of(&program, "k"), t.buffer_of(&[0i32]));
    t.arg_mem(&kernel, 0, &out);
    let b = x.buffer(t.queue(), 0);
    b.launch(&kernel, 10, &[], None);
    b.finalize();
    for run in 1..4 {
        drop(b.enqueue(&[]));
        assert_eq!(t.read::<i32>(&out, 1), [160 * run]);
    }
}

#[test]
fn a_program_without_blocks_has_events_and_markers() {
    let t = Session::new();
    let _queue = device_queue(&t, DEFAULT, None);
    let source = "kernel void k(global int *out) {
        clk_event_t user = create_user_event(), marker;
        out[0] = is_valid_event(user);
        out[1] = enqueue_marker(get_default_queue(), 1, &user, &marker);
        out[2] = is_valid_event(marker);
        set_user_event_status(user, CL_COMPLETE);
        release_event(marker);
        release_event(user);
    }";
    assert_eq!(run(&t, source, CL3, 1, 3), (vec![1, 0, 1], CL_COMPLETE));
}

/// Runs a kernel of (queue, results, …), which begin as zeros, with a queue on the device.
fn run_in(t: &Session, program: &Obj, name: &str, more: &dyn Fn(&Obj)) -> Vec<i32> {
    let queue = device_queue(t, DEFAULT, None);
    let (kernel, out) = (t.kernel_of(program, name), t.buffer_of(&[0i32; 16]));
    ok(t.clSetKernelArg(kernel.h, 0, 8, (&raw const queue.h).cast()));
    t.arg_mem(&kernel, 1, &out);
    more(&kernel);
    let event = t.launch(&kernel, &[1], &[]);
    t.finish();
    assert_eq!(t.status(&event), CL_COMPLETE);
    t.read(&out, 16)
}

#[test]
fn a_module_enqueues_as_its_source_does() {
    let t = Session::new();
    let module = t.built_il(include_bytes!("../../../spirv/tests/modules/enqueue.spv"), "");
    let source = built(&t, include_str!("../../../spirv/tests/modules/enqueue.cl"), CL3);
    let names = text(|s, v, r| t.clGetProgramInfo(module.h, CL_PROGRAM_KERNEL_NAMES, s, v, r));
    assert_eq!(names, "captures;events;questions;images", "the host does not see blocks");
    for name in ["captures", "events", "questions"] {
        let [found, wanted] = [&module, &source].map(|program| run_in(&t, program, name, &|_| {}));
        // Durations, which differ, stand behind the results.
        let count = if name == "events" { 8 } else { 16 };
        assert_eq!(found[..count], wanted[..count], "{name}");
        assert_ne!(found[0], 0, "{name}");
        if name == "events" {
            assert_eq!(found[..6], [4, 15, 40, 41, 1, 0]);
            assert!(found[8..12].chunks(2).all(|time| time != [0, 0]), "{found:?}");
        }
    }
    let image = t.image(Format { order: R, channel_type: SIGNED_INT32 }, &Desc::new(D2, [2, 2, 1]));
    t.write_image(&image, [0; 3], [2, 2, 1], [0, 0], &[1, 2, 3, 40]);
    let mut code = 1;
    let sampler = Obj::sampler(t.clCreateSampler(t.context(), 0, 0x1131, 0x1140, &mut code));
    ok(code);
    let two = 2i32;
    for program in [&module, &source] {
        let found = run_in(&t, program, "images", &|kernel| {
            t.arg_mem(kernel, 2, &image);
            t.arg_mem(kernel, 3, &sampler);
            ok(t.clSetKernelArg(kernel.h, 4, 4, (&raw const two).cast()));
        });
        assert_eq!(found[..2], [42, 0]);
    }
}

#[test]
fn a_module_enqueues_what_no_source_says() {
    let t = Session::new();
    let il = include_bytes!("../../../spirv/tests/modules/enqueued.spv");
    // With `-g` a program gets reasons.
    for (options, codes) in [("", [-101, -101, -101]), ("-g", [-5, -160, -102])] {
        let found = run_in(&t, &t.built_il(il, options), "k", &|_| {});
        let [memory, range, queue] = codes;
        assert_eq!(found[..8], [12 + 192, 0, memory, 0, range, 0, queue, 2], "{options}");
        let &[count, size, local, most] = &found[8..12] else { unreachable!() };
        assert!(count >= 1 && count * size >= 4, "{count} sub-groups of {size} in a group of 4");
        assert_eq!((local, most), (4, count), "the group has the size that the function requires");
    }
}
