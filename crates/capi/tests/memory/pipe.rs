//! Chapter 5.4 of the specification and OpenCL C 6.15.16: pipes, what they are not for, and packets that many
//! work-items write and read at the same time.

#[path = "../common/mod.rs"]
mod common;
use common::*;

const STD: &str = "-cl-std=CL3.0 -cl-kernel-arg-info";

/// A session, if the device has pipes.
fn session() -> Option<Session> {
    let t = Session::new();
    (t.device_info::<u32>(CL_DEVICE_PIPE_SUPPORT) == CL_TRUE).then_some(t)
}

fn pipe(t: &Session, packet_size: u32, max_packets: u32) -> Obj {
    let mut code = 1;
    let pipe = t.clCreatePipe(t.context(), 0, packet_size, max_packets, null(), &mut code);
    ok(code);
    Obj::mem(pipe)
}

fn program(t: &Session, source: &str) -> Obj {
    let program = t.source(source);
    assert_eq!(t.build(&program, STD), 0, "{}", t.log(&program));
    program
}

#[test]
fn a_device_describes_its_pipes() {
    let t = Session::new();
    let has = t.device_info::<u32>(CL_DEVICE_PIPE_SUPPORT) == CL_TRUE;
    let limits = [
        (CL_DEVICE_MAX_PIPE_ARGS, 16),
        (CL_DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS, 1),
        (CL_DEVICE_PIPE_MAX_PACKET_SIZE, 1024),
    ];
    for (name, least) in limits {
        let limit: u32 = t.device_info(name);
        assert!(if has { limit >= least } else { limit == 0 }, "{name:#x}: {limit}");
    }
    if has {
        assert_eq!(t.device_info::<u32>(CL_DEVICE_GENERIC_ADDRESS_SPACE_SUPPORT), CL_TRUE);
        program(&t, "#ifndef __opencl_c_pipes\n#error no pipes\n#endif\nkernel void k(read_only pipe int p) {}");
        // Older versions of the language do not know the word.
        let old =
            t.source("#ifdef __opencl_c_pipes\n#error pipes\n#endif\nkernel void k(global int *pipe) { *pipe = 1; }");
        assert_eq!(t.build(&old, "-cl-std=CL1.2"), 0, "{}", t.log(&old));
        assert_eq!(
            t.build(&t.source("kernel void k(write_only pipe int p) { write_pipe(p, 0); }"), "-cl-std=CL1.2"),
            CL_BUILD_PROGRAM_FAILURE
        );
    }
}

#[test]
fn a_pipe_describes_itself() {
    let Some(t) = session() else { return };
    let p = pipe(&t, 12, 100);
    let ask = |name| move |s, v, r| api().clGetPipeInfo(p.h, name, s, v, r);
    assert_eq!(info::<u32>(ask(CL_PIPE_PACKET_SIZE)), 12);
    assert_eq!(info::<u32>(ask(CL_PIPE_MAX_PACKETS)), 100);
    assert!(list::<isize>(ask(CL_PIPE_PROPERTIES)).is_empty());
    let ask = |name| move |s, v, r| api().clGetMemObjectInfo(p.h, name, s, v, r);
    assert_eq!(info::<u32>(ask(CL_MEM_TYPE)), CL_MEM_OBJECT_PIPE);
    assert_eq!(info::<u64>(ask(CL_MEM_FLAGS)), CL_MEM_READ_WRITE | CL_MEM_HOST_NO_ACCESS);
    assert!(info::<usize>(ask(CL_MEM_SIZE)) >= 1200);
    assert_eq!(info::<usize>(ask(CL_MEM_HOST_PTR)), 0);
    assert_eq!(info::<u32>(ask(CL_MEM_MAP_COUNT)), 0);
    assert_eq!(info::<u32>(ask(CL_MEM_REFERENCE_COUNT)), 1);
    assert_eq!(info::<usize>(ask(CL_MEM_CONTEXT)), t.context() as usize);
    assert_eq!(info::<usize>(ask(CL_MEM_ASSOCIATED_MEMOBJECT)), 0);
    assert_eq!(info::<usize>(ask(CL_MEM_OFFSET)), 0);
    assert_eq!(info::<u32>(ask(CL_MEM_USES_SVM_POINTER)), CL_FALSE);
    assert!(list::<u64>(ask(CL_MEM_PROPERTIES)).is_empty());
    ok(t.clRetainMemObject(p.h));
    assert_eq!(info::<u32>(ask(CL_MEM_REFERENCE_COUNT)), 2);
    ok(t.clReleaseMemObject(p.h));

    let mut code = 1;
    let given = Obj::mem(t.clCreatePipe(t.context(), CL_MEM_HOST_NO_ACCESS, 1, 1, null(), &mut code));
    ok(code);
    let flags: u64 = info(|s, v, r| t.clGetMemObjectInfo(given.h, CL_MEM_FLAGS, s, v, r));
    assert_ne!(flags & CL_MEM_HOST_NO_ACCESS, 0);

    let mut c = Cases::new();
    c.query("pipe", CL_PIPE_PACKET_SIZE, |name, s, v, r| t.clGetPipeInfo(p.h, name, s, v, r));
    let mut room = 0u64;
    let place: Handle = (&raw mut room).cast();
    let buffer = t.buffer(0, 16);
    let ask = |h| t.clGetPipeInfo(h, CL_PIPE_PACKET_SIZE, 8, place, null_mut());
    c.code("a buffer", CL_INVALID_MEM_OBJECT, ask(buffer.h));
    for (what, h) in t.bad_handles(t.context()) {
        c.code(what, CL_INVALID_MEM_OBJECT, ask(h));
    }
    let image = t.clGetImageInfo(p.h, CL_IMAGE_WIDTH, 8, place, null_mut());
    c.code("what it is as an image", CL_INVALID_MEM_OBJECT, image);
    c.end();
}

#[test]
fn every_error_of_creation() {
    let Some(t) = session() else { return };
    let mut c = Cases::new();
    let make = |flags, size, count, e| t.clCreatePipe(t.context(), flags, size, count, null(), e);
    for (what, h) in t.bad_handles(t.queue()) {
        c.new_object(what, CL_INVALID_CONTEXT, |e| t.clCreatePipe(h, 0, 4, 4, null(), e));
    }
    for flags in [
        CL_MEM_READ_ONLY,
        CL_MEM_WRITE_ONLY,
        CL_MEM_USE_HOST_PTR,
        CL_MEM_COPY_HOST_PTR,
        CL_MEM_ALLOC_HOST_PTR,
        CL_MEM_HOST_READ_ONLY,
        CL_MEM_READ_WRITE | CL_MEM_HOST_WRITE_ONLY,
        1 << 6,
        1 << 40,
    ] {
        c.new_object(&format!("flags {flags:#x}"), CL_INVALID_VALUE, |e| make(flags, 4, 4, e));
    }
    let properties = [0isize];
    let given = |e| t.clCreatePipe(t.context(), 0, 4, 4, properties.as_ptr(), e);
    c.new_object("a list of properties", CL_INVALID_VALUE, given);
    let most: u32 = t.device_info(CL_DEVICE_PIPE_MAX_PACKET_SIZE);
    c.new_object("packets of no bytes", CL_INVALID_PIPE_SIZE, |e| make(0, 0, 4, e));
    c.new_object("packets that are too large", CL_INVALID_PIPE_SIZE, |e| make(0, most + 1, 4, e));
    c.new_object("no packets", CL_INVALID_PIPE_SIZE, |e| make(0, 4, 0, e));
    c.new_object("too much memory", CL_MEM_OBJECT_ALLOCATION_FAILURE, |e| make(0, most, u32::MAX, e));
    c.end();
    drop(pipe(&t, most, 3));
    drop(pipe(&t, 1, 1));
}

#[test]
fn pipes_are_no_buffers_and_buffers_no_pipes() {
    let Some(t) = session() else { return };
    let source = "kernel void k(read_only pipe int p, global int *b, local int *l) { read_pipe(p, b); *l = 1; }";
    let program = program(&t, source);
    let kernel = t.kernel_of(&program, "k");
    let (p, buffer) = (pipe(&t, 4, 4), t.buffer(0, 64));
    let elsewhere = t.another_context();
    let mut code = 1;
    let foreign = Obj::mem(t.clCreatePipe(elsewhere.h, 0, 4, 4, null(), &mut code));
    ok(code);
    let mut c = Cases::new();
    let set = |index, size, h: &Handle| t.clSetKernelArg(kernel.h, index, size, std::ptr::from_ref(h).cast());
    c.code("a pipe", 0, set(0, 8, &p.h));
    c.code("its size", CL_INVALID_ARG_SIZE, set(0, 4, &p.h));
    c.code("a buffer for a pipe", CL_INVALID_MEM_OBJECT, set(0, 8, &buffer.h));
    c.code("a pipe of another context", CL_INVALID_MEM_OBJECT, set(0, 8, &foreign.h));
    c.code("a pointer to NULL", CL_INVALID_MEM_OBJECT, set(0, 8, &null_mut()));
    c.code("NULL", CL_INVALID_MEM_OBJECT, t.clSetKernelArg(kernel.h, 0, 8, null()));
    c.code("a queue", CL_INVALID_MEM_OBJECT, set(0, 8, &t.queue()));
    let svm = t.clSetKernelArgSVMPointer(kernel.h, 0, null());
    c.code("shared memory for a pipe", CL_INVALID_ARG_VALUE, svm);
    c.code("a pipe for a buffer", CL_INVALID_MEM_OBJECT, set(1, 8, &p.h));
    // What failed has changed nothing.
    c.code("a buffer", 0, set(1, 8, &buffer.h));
    c.code("local memory", 0, t.clSetKernelArg(kernel.h, 2, 4, null()));
    t.launch(&kernel, &[1], &[]);

    let (mut host, queue) = ([0u8; 16], t.queue());
    let place: Handle = host.as_mut_ptr().cast();
    let (none, no_event) = (null(), null_mut());
    let read = t.clEnqueueReadBuffer(queue, p.h, CL_TRUE, 0, 4, place, 0, none, no_event);
    c.code("reading", CL_INVALID_MEM_OBJECT, read);
    let write = t.clEnqueueWriteBuffer(queue, p.h, CL_TRUE, 0, 4, place, 0, none, no_event);
    c.code("writing", CL_INVALID_MEM_OBJECT, write);
    let from = t.clEnqueueCopyBuffer(queue, p.h, buffer.h, 0, 0, 4, 0, none, no_event);
    c.code("copying from it", CL_INVALID_MEM_OBJECT, from);
    let to = t.clEnqueueCopyBuffer(queue, buffer.h, p.h, 0, 0, 4, 0, none, no_event);
    c.code("copying to it", CL_INVALID_MEM_OBJECT, to);
    let fill = t.clEnqueueFillBuffer(queue, p.h, place, 4, 0, 4, 0, none, no_event);
    c.code("filling", CL_INVALID_MEM_OBJECT, fill);
    let map = t.clEnqueueMapBuffer(queue, p.h, CL_TRUE, CL_MAP_READ, 0, 4, 0, none, no_event, &mut code);
    assert!(map.is_null());
    c.code("mapping", CL_INVALID_MEM_OBJECT, code);
    let region = [0usize, 4];
    let part = t.clCreateSubBuffer(p.h, 0, CL_BUFFER_CREATE_TYPE_REGION, region.as_ptr().cast(), &mut code);
    assert!(part.is_null());
    c.code("a part of it", CL_INVALID_MEM_OBJECT, code);
    c.end();
}

#[test]
fn arguments_that_are_pipes_describe_themselves() {
    let Some(t) = session() else { return };
    let source = "typedef struct { int a; float4 b; } record;
        kernel void k(read_only pipe int a, write_only pipe record b, pipe const unsigned short c) {}";
    let program = program(&t, source);
    let kernel = t.kernel_of(&program, "k");
    let wanted = [
        ("int", CL_KERNEL_ARG_ACCESS_READ_ONLY),
        ("record", CL_KERNEL_ARG_ACCESS_WRITE_ONLY),
        ("ushort", CL_KERNEL_ARG_ACCESS_READ_ONLY),
    ];
    for (i, (name, access)) in (0..).zip(wanted) {
        let number = |name| info::<u32>(|s, v, r| t.clGetKernelArgInfo(kernel.h, i, name, s, v, r));
        assert_eq!(text(|s, v, r| t.clGetKernelArgInfo(kernel.h, i, CL_KERNEL_ARG_TYPE_NAME, s, v, r)), name);
        assert_eq!(number(CL_KERNEL_ARG_ACCESS_QUALIFIER), access, "{name}");
        assert_eq!(number(CL_KERNEL_ARG_ADDRESS_QUALIFIER), CL_KERNEL_ARG_ADDRESS_GLOBAL, "{name}");
        let qualifier: u64 = info(|s, v, r| t.clGetKernelArgInfo(kernel.h, i, CL_KERNEL_ARG_TYPE_QUALIFIER, s, v, r));
        assert_eq!(qualifier, u64::from(CL_KERNEL_ARG_TYPE_PIPE), "{name}");
    }
}

const WAYS: &str = "
    kernel void plain_write(global const TYPE *from, write_only pipe TYPE p, global int *failures) {
        if (write_pipe(p, from + get_global_id(0))) atomic_inc(failures);
    }
    kernel void plain_read(global TYPE *to, read_only pipe TYPE p, global int *failures) {
        if (read_pipe(p, to + get_global_id(0))) atomic_inc(failures);
    }
    kernel void item_write(global const TYPE *from, write_only pipe TYPE p, global int *failures) {
        size_t i = get_global_id(0);
        if (i % 4 != 0) return;
        uint n = min((size_t)4, get_global_size(0) - i);
        reserve_id_t id = reserve_write_pipe(p, n);
        if (!is_valid_reserve_id(id)) { atomic_add(failures, (int)n); return; }
        for (uint k = n; k-- > 0;) if (write_pipe(p, id, k, from + i + k)) atomic_inc(failures);
        commit_write_pipe(p, id);
    }
    kernel void item_read(global TYPE *to, read_only pipe TYPE p, global int *failures) {
        size_t i = get_global_id(0);
        if (i % 4 != 0) return;
        uint n = min((size_t)4, get_global_size(0) - i);
        reserve_id_t id = reserve_read_pipe(p, n);
        if (!is_valid_reserve_id(id)) { atomic_add(failures, (int)n); return; }
        for (uint k = 0; k < n; k++) if (read_pipe(p, id, k, to + i + k)) atomic_inc(failures);
        commit_read_pipe(p, id);
    }
    kernel void group_write(global const TYPE *from, write_only pipe TYPE p, global int *failures) {
        reserve_id_t id = work_group_reserve_write_pipe(p, get_local_size(0));
        if (!is_valid_reserve_id(id)) { atomic_inc(failures); return; }
        if (write_pipe(p, id, get_local_id(0), from + get_global_id(0))) atomic_inc(failures);
        work_group_commit_write_pipe(p, id);
    }
    kernel void group_read(global TYPE *to, read_only pipe TYPE p, global int *failures) {
        reserve_id_t id = work_group_reserve_read_pipe(p, get_local_size(0));
        if (!is_valid_reserve_id(id)) { atomic_inc(failures); return; }
        if (read_pipe(p, id, get_local_id(0), to + get_global_id(0))) atomic_inc(failures);
        work_group_commit_read_pipe(p, id);
    }
    kernel void sub_group_write(global const TYPE *from, write_only pipe TYPE p, global int *failures) {
        reserve_id_t id = sub_group_reserve_write_pipe(p, get_sub_group_size());
        if (!is_valid_reserve_id(id)) { atomic_inc(failures); return; }
        if (write_pipe(p, id, get_sub_group_local_id(), from + get_global_id(0))) atomic_inc(failures);
        sub_group_commit_write_pipe(p, id);
    }
    kernel void sub_group_read(global TYPE *to, read_only pipe TYPE p, global int *failures) {
        reserve_id_t id = sub_group_reserve_read_pipe(p, get_sub_group_size());
        if (!is_valid_reserve_id(id)) { atomic_inc(failures); return; }
        if (read_pipe(p, id, get_sub_group_local_id(), to + get_global_id(0))) atomic_inc(failures);
        sub_group_commit_read_pipe(p, id);
    }
";

/// Packets of `size` bytes, each with a number at both ends.
fn packets(count: usize, size: usize) -> Vec<u8> {
    let mut all = vec![0u8; count * size];
    for (i, packet) in all.chunks_exact_mut(size).enumerate() {
        packet[size - size.min(4)..].copy_from_slice(&(i as u32).to_le_bytes()[..size.min(4)]);
        packet[..size.min(4)].copy_from_slice(&(i as u32).to_le_bytes()[..size.min(4)]);
    }
    all
}

#[test]
fn what_many_groups_write_in_any_way_many_groups_read_in_any_other() {
    let Some(t) = session() else { return };
    // Each kernel takes a while to compile: few ways for most types.
    let types: [(&str, usize, &[&str]); 4] = [
        ("uint", 4, &["plain", "item", "group", "sub_group"]),
        ("struct packet { int a; short b[7]; }", 20, &["plain", "item", "sub_group"]),
        ("ulong16", 128, &["group", "sub_group"]),
        ("ushort", 2, &["plain", "sub_group"]),
    ];
    // Group sizes divide the range.
    let (count, local) = (6000usize, 100usize);
    for (declaration, size, ways) in types {
        let name = declaration.split(" {").next().unwrap_or(declaration);
        let head = if name == declaration { String::new() } else { format!("{declaration};") };
        let program = program(&t, &format!("{head}\n#define TYPE {name}\n{WAYS}"));
        let data = packets(count, size);
        let (from, failures) = (t.buffer_of(&data), t.buffer_of(&[0i32]));
        // Reused, so that the packets go around the end of its slots.
        let p = pipe(&t, size as u32, count as u32);
        for (i, write) in ways.iter().enumerate() {
            for read in [ways[i], ways[(i + 1) % ways.len()]] {
                let to = t.buffer_of(&vec![0xffu8; count * size]);
                for (kernel, buffer) in [(format!("{write}_write"), &from), (format!("{read}_read"), &to)] {
                    let kernel = t.kernel_of(&program, &kernel);
                    t.arg_mem(&kernel, 0, buffer);
                    t.arg_mem(&kernel, 1, &p);
                    t.arg_mem(&kernel, 2, &failures);
                    t.launch(&kernel, &[count], &[local]);
                }
                assert_eq!(t.read::<i32>(&failures, 1), [0], "{name}: {write}, {read}");
                let got: Vec<u8> = t.read(&to, count * size);
                let mut wanted: Vec<&[u8]> = data.chunks_exact(size).collect();
                let mut got: Vec<&[u8]> = got.chunks_exact(size).collect();
                wanted.sort_unstable();
                got.sort_unstable();
                assert!(got == wanted, "{name}: {write}, {read}: other packets came out than went in");
            }
        }
    }
}

/// A producer and a consumer run at the same time on a pipe that is too small for all. Whatever fails is tried again by
/// the next launch; in the end each packet has come out once, those of one work-item in their order.
#[test]
fn producers_and_consumers_at_the_same_time() {
    let Some(t) = session() else { return };
    const ITEMS: usize = 512;
    const EACH: u32 = 40;
    let program = program(
        &t,
        "kernel void produce(write_only pipe uint p, global uint *done, uint each) {
            size_t i = get_global_id(0);
            for (int tries = 0; tries < 8 && done[i] < each; tries++) {
                if (i % 2) {
                    uint x = i * each + done[i];
                    if (write_pipe(p, &x) == 0) done[i]++;
                } else {
                    uint n = min(1u + tries % 3, each - done[i]);
                    reserve_id_t id = reserve_write_pipe(p, n);
                    if (!is_valid_reserve_id(id)) continue;
                    for (uint k = 0; k < n; k++) {
                        uint x = i * each + done[i] + k;
                        write_pipe(p, id, k, &x);
                    }
                    commit_write_pipe(p, id);
                    done[i] += n;
                }
            }
        }
        kernel void consume(read_only pipe uint p, global uint *list, global uint *count, uint room, global int *bad) {
            for (int tries = 0; tries < 8; tries++) {
                uint x;
                if (read_pipe(p, &x) == 0) {
                    uint at = atomic_inc(count);
                    if (at < room) list[at] = x; else atomic_inc(bad);
                }
                if (get_pipe_num_packets(p) > get_pipe_max_packets(p)) atomic_inc(bad);
            }
        }",
    );
    let total = ITEMS * EACH as usize;
    let (done, list, count, bad) =
        (t.buffer_of(&[0u32; ITEMS]), t.buffer_of(&vec![u32::MAX; total]), t.buffer_of(&[0u32]), t.buffer_of(&[0i32]));
    let p = pipe(&t, 4, 301);
    let (produce, consume) = (t.kernel_of(&program, "produce"), t.kernel_of(&program, "consume"));
    t.arg_mem(&produce, 0, &p);
    t.arg_mem(&produce, 1, &done);
    t.arg(&produce, 2, EACH);
    t.arg_mem(&consume, 0, &p);
    t.arg_mem(&consume, 1, &list);
    t.arg_mem(&consume, 2, &count);
    t.arg(&consume, 3, total as u32);
    t.arg_mem(&consume, 4, &bad);
    let other = t.another_queue(0);
    let mut launches = 0;
    while t.read::<u32>(&count, 1)[0] < total as u32 {
        let (a, b) = (
            t.launch_on(t.queue(), &produce, &[ITEMS], &[16], &[]),
            t.launch_on(other.h, &consume, &[ITEMS], &[8], &[]),
        );
        ok(t.clFlush(t.queue()));
        ok(t.clFlush(other.h));
        t.wait(&[&a, &b]);
        launches += 1;
        assert!(launches < 100_000, "packets do not arrive");
    }
    assert_eq!(t.read::<i32>(&bad, 1), [0]);
    assert_eq!(t.read::<u32>(&done, ITEMS), [EACH; ITEMS]);
    let mut got: Vec<u32> = t.read(&list, total);
    got.sort_unstable();
    assert!(got.iter().copied().eq(0..total as u32), "a packet is missing or came twice");
}

#[test]
fn packets_stay_in_the_pipe_and_in_order() {
    let Some(t) = session() else { return };
    let program = program(
        &t,
        "kernel void fill(write_only pipe int p, int first, int n) {
            for (int i = 0; i < n; i++) { int x = first + i; write_pipe(p, &x); }
        }
        kernel void empty(read_only pipe int p, global int *to, int n) {
            for (int i = 0; i < n; i++) if (read_pipe(p, to + i)) to[i] = -1;
        }
        kernel void ask(read_only pipe int p, global uint *to) {
            to[0] = get_pipe_num_packets(p);
            to[1] = get_pipe_max_packets(p);
        }
        kernel void other(read_only pipe long p, global long *to) {
            to[0] = read_pipe(p, to + 1);
            to[2] = is_valid_reserve_id(reserve_read_pipe(p, 1));
        }",
    );
    let (p, to) = (pipe(&t, 4, 10), t.buffer_of(&[7i32; 8]));
    let fill = |first: i32, n: i32| {
        let kernel = t.kernel_of(&program, "fill");
        t.arg_mem(&kernel, 0, &p);
        t.arg(&kernel, 1, first);
        t.arg(&kernel, 2, n);
        t.launch(&kernel, &[1], &[]);
    };
    let numbers = || {
        let kernel = t.kernel_of(&program, "ask");
        t.arg_mem(&kernel, 0, &p);
        t.arg_mem(&kernel, 1, &to);
        t.launch(&kernel, &[1], &[]);
        t.read::<u32>(&to, 2)
    };
    let empty = |n: i32| {
        let kernel = t.kernel_of(&program, "empty");
        t.arg_mem(&kernel, 0, &p);
        t.arg_mem(&kernel, 1, &to);
        t.arg(&kernel, 2, n);
        t.launch(&kernel, &[1], &[]);
        t.read::<i32>(&to, n as usize)
    };
    assert_eq!(numbers(), [0, 10]);
    fill(100, 6);
    assert_eq!(numbers(), [6, 10]);
    // Migration moves a pipe with its packets, even if its content may be given up.
    for flags in [0, CL_MIGRATE_MEM_OBJECT_HOST, CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED] {
        ok(t.clEnqueueMigrateMemObjects(t.queue(), 1, &p.h, flags, 0, null(), null_mut()));
    }
    assert_eq!(empty(4), [100, 101, 102, 103]);
    fill(200, 20);
    assert_eq!(numbers(), [10, 10]);
    assert_eq!(empty(4), [104, 105, 200, 201]);
    // Packets of another size are not there.
    let kernel = t.kernel_of(&program, "other");
    t.arg_mem(&kernel, 0, &p);
    let long = t.buffer_of(&[5i64; 3]);
    t.arg_mem(&kernel, 1, &long);
    t.launch(&kernel, &[1], &[]);
    assert_eq!(t.read::<i64>(&long, 3), [-1, 5, 0]);
    assert_eq!(numbers(), [6, 10]);
    assert_eq!(empty(7), [202, 203, 204, 205, 206, 207, -1]);
}
