//! Chapter 5.2.2 to 5.2.4 and 5.5 of the specification: reading, writing, copying, filling, mapping and migrating
//! buffers.

#[path = "../common/mod.rs"]
mod common;
use common::*;

/// One side of a rectangular transfer.
#[derive(Clone, Copy)]
struct Side {
    origin: [usize; 3],
    row: usize,
    slice: usize,
}

impl Side {
    fn new(origin: [usize; 3], row: usize, slice: usize) -> Side {
        Side { origin, row, slice }
    }

    /// The offset of a byte of the region, computed as the specification has it.
    fn at(&self, region: [usize; 3], x: usize, y: usize, z: usize) -> usize {
        let row = if self.row == 0 { region[0] } else { self.row };
        let slice = if self.slice == 0 { region[1] * row } else { self.slice };
        (self.origin[2] + z) * slice + (self.origin[1] + y) * row + self.origin[0] + x
    }
}

/// `to` after a box of `from` was copied there, one byte at a time.
fn copied(from: &[u8], a: Side, to: &[u8], b: Side, region: [usize; 3]) -> Vec<u8> {
    let mut result = to.to_vec();
    for z in 0..region[2] {
        for y in 0..region[1] {
            for x in 0..region[0] {
                result[b.at(region, x, y, z)] = from[a.at(region, x, y, z)];
            }
        }
    }
    result
}

fn bytes(n: usize, seed: usize) -> Vec<u8> {
    (0..n).map(|i| ((i * 7 + seed * 31) % 251) as u8).collect()
}

const BOXES: [(Side2, Side2, [usize; 3]); 6] = [
    (([0, 0, 0], 0, 0), ([0, 0, 0], 0, 0), [5, 4, 3]),
    (([1, 2, 1], 16, 0), ([3, 0, 2], 0, 64), [8, 4, 2]),
    (([0, 0, 0], 0, 0), ([7, 1, 0], 20, 100), [20, 1, 1]),
    (([2, 3, 1], 32, 256), ([0, 1, 0], 11, 0), [11, 5, 2]),
    (([12, 0, 0], 16, 0), ([0, 0, 0], 16, 0), [8, 3, 1]),
    (([0, 0, 0], 1, 1), ([0, 0, 0], 3, 12), [1, 1, 9]),
];
type Side2 = ([usize; 3], usize, usize);

#[test]
fn reads_and_writes_touch_their_bytes_only() {
    let t = Session::new();
    let buffer = t.buffer_of(&[1u8; 64]);
    let data = bytes(10, 1);
    let mut event = null_mut();
    let from = data.as_ptr().cast();
    ok(t.clEnqueueWriteBuffer(t.queue(), buffer.h, CL_FALSE, 3, 10, from, 0, null(), &mut event));
    let event = Obj::event(event);
    t.wait(&[&event]);
    let mut wanted = vec![1u8; 64];
    wanted[3..13].copy_from_slice(&data);
    assert_eq!(t.read::<u8>(&buffer, 64), wanted);
    let mut part = [9u8; 8];
    let to: Handle = part[1..].as_mut_ptr().cast();
    ok(t.clEnqueueReadBuffer(t.queue(), buffer.h, CL_TRUE, 5, 6, to, 0, null(), null_mut()));
    assert_eq!(part[1..7], wanted[5..11]);
    assert_eq!((part[0], part[7]), (9, 9));
}

#[test]
fn reading_and_writing_boxes() {
    let t = Session::new();
    for (at, host, region) in BOXES {
        let (at, host) = (Side::new(at.0, at.1, at.2), Side::new(host.0, host.1, host.2));
        let (device, memory) = (bytes(2048, 1), bytes(2048, 2));
        let buffer = t.buffer_of(&device);
        let mut got = memory.clone();
        for blocking in [CL_TRUE, CL_FALSE] {
            ok(t.clEnqueueReadBufferRect(
                t.queue(),
                buffer.h,
                blocking,
                at.origin.as_ptr(),
                host.origin.as_ptr(),
                region.as_ptr(),
                at.row,
                at.slice,
                host.row,
                host.slice,
                got.as_mut_ptr().cast(),
                0,
                null(),
                null_mut(),
            ));
            t.finish();
            assert_eq!(got, copied(&device, at, &memory, host, region), "{region:?}");
        }
        ok(t.clEnqueueWriteBufferRect(
            t.queue(),
            buffer.h,
            CL_TRUE,
            at.origin.as_ptr(),
            host.origin.as_ptr(),
            region.as_ptr(),
            at.row,
            at.slice,
            host.row,
            host.slice,
            memory.as_ptr().cast(),
            0,
            null(),
            null_mut(),
        ));
        assert_eq!(t.read::<u8>(&buffer, 2048), copied(&memory, host, &device, at, region), "{region:?}");
    }
}

#[test]
fn copying_bytes_and_boxes() {
    let t = Session::new();
    let (a, b) = (bytes(2048, 3), bytes(2048, 4));
    let (from, to) = (t.buffer_of(&a), t.buffer_of(&b));
    ok(t.clEnqueueCopyBuffer(t.queue(), from.h, to.h, 5, 9, 100, 0, null(), null_mut()));
    let mut wanted = b.clone();
    wanted[9..109].copy_from_slice(&a[5..105]);
    assert_eq!(t.read::<u8>(&to, 2048), wanted);
    for (x, y, region) in BOXES {
        let (x, y) = (Side::new(x.0, x.1, x.2), Side::new(y.0, y.1, y.2));
        t.write(&to, 0, &b);
        ok(t.clEnqueueCopyBufferRect(
            t.queue(),
            from.h,
            to.h,
            x.origin.as_ptr(),
            y.origin.as_ptr(),
            region.as_ptr(),
            x.row,
            x.slice,
            y.row,
            y.slice,
            0,
            null(),
            null_mut(),
        ));
        assert_eq!(t.read::<u8>(&to, 2048), copied(&a, x, &b, y, region), "{region:?}");
    }
}

#[test]
fn copies_within_one_buffer_work_when_they_do_not_overlap() {
    let t = Session::new();
    let data = bytes(256, 5);
    let buffer = t.buffer_of(&data);
    ok(t.clEnqueueCopyBuffer(t.queue(), buffer.h, buffer.h, 0, 100, 100, 0, null(), null_mut()));
    let mut wanted = data.clone();
    wanted[100..200].copy_from_slice(&data[..100]);
    assert_eq!(t.read::<u8>(&buffer, 256), wanted);
    let copy = |a: [usize; 3], b: [usize; 3]| {
        let region = [4usize, 4, 1];
        let (a, b, r) = (a.as_ptr(), b.as_ptr(), region.as_ptr());
        t.clEnqueueCopyBufferRect(t.queue(), buffer.h, buffer.h, a, b, r, 16, 0, 16, 0, 0, null(), null_mut())
    };
    let mut c = Cases::new();
    c.code("side by side", 0, copy([0, 0, 0], [4, 0, 0]));
    c.code("below", 0, copy([0, 0, 0], [0, 4, 0]));
    c.code("the same", CL_MEM_COPY_OVERLAP, copy([0, 0, 0], [0, 0, 0]));
    c.code("a corner", CL_MEM_COPY_OVERLAP, copy([0, 0, 0], [3, 3, 0]));
    let plain = |a, b, n| t.clEnqueueCopyBuffer(t.queue(), buffer.h, buffer.h, a, b, n, 0, null(), null_mut());
    c.code("bytes: the last one", CL_MEM_COPY_OVERLAP, plain(0, 9, 10));
    c.code("bytes: backwards", CL_MEM_COPY_OVERLAP, plain(9, 0, 10));
    c.code("bytes: adjacent", 0, plain(0, 10, 10));
    c.end();
    t.finish();
}

#[test]
fn copies_between_sub_buffers_of_one_buffer_may_not_overlap() {
    let t = Session::new();
    let step = t.device_info::<u32>(CL_DEVICE_MEM_BASE_ADDR_ALIGN) as usize / 8;
    let parent = t.buffer(0, step * 4);
    let part = |origin, size| {
        let region = cl_buffer_region { origin, size };
        let at = (&raw const region).cast();
        let mut code = 1;
        let part = t.clCreateSubBuffer(parent.h, 0, CL_BUFFER_CREATE_TYPE_REGION, at, &mut code);
        ok(code);
        Obj::mem(part)
    };
    let (low, high) = (part(0, step * 2), part(step, step * 2));
    let copy = |a: &Obj, b: &Obj, x, y, n| t.clEnqueueCopyBuffer(t.queue(), a.h, b.h, x, y, n, 0, null(), null_mut());
    assert_eq!(copy(&low, &high, step, 0, 1), CL_MEM_COPY_OVERLAP);
    assert_eq!(copy(&parent, &high, step, 0, step), CL_MEM_COPY_OVERLAP);
    ok(copy(&low, &high, 0, 0, step));
    t.finish();
}

#[test]
fn fills_repeat_patterns_of_every_size() {
    let t = Session::new();
    for unit in [1usize, 2, 4, 8, 16, 32, 64, 128] {
        let data = bytes(1024, 6);
        let buffer = t.buffer_of(&data);
        let pattern = bytes(unit, unit);
        let (offset, size) = (unit, unit * 3);
        let from = pattern.as_ptr().cast();
        ok(t.clEnqueueFillBuffer(t.queue(), buffer.h, from, unit, offset, size, 0, null(), null_mut()));
        // The pattern may be freed when the call returns.
        drop(pattern);
        let mut wanted = data;
        wanted[offset..offset + size].copy_from_slice(&bytes(unit, unit).repeat(3));
        assert_eq!(t.read::<u8>(&buffer, 1024), wanted, "unit {unit}");
    }
}

#[test]
fn maps_of_every_kind() {
    let t = Session::new();
    let buffer = t.buffer_of(&bytes(64, 7));
    let map = |flags, offset, size, wait: &[Handle]| {
        let (mut code, mut event) = (1, null_mut());
        let (n, list) = (wait.len() as u32, if wait.is_empty() { null() } else { wait.as_ptr() });
        let queue = t.queue();
        let at = t.clEnqueueMapBuffer(queue, buffer.h, CL_FALSE, flags, offset, size, n, list, &mut event, &mut code);
        ok(code);
        (at, Obj::event(event))
    };
    let count = || info::<u32>(|s, v, r| t.clGetMemObjectInfo(buffer.h, CL_MEM_MAP_COUNT, s, v, r));
    let unmap = |at| ok(t.clEnqueueUnmapMemObject(t.queue(), buffer.h, at, 0, null(), null_mut()));
    let (at, event) = map(CL_MAP_READ, 8, 16, &[]);
    t.wait(&[&event]);
    assert_eq!(mapped(at, 16), &bytes(64, 7)[8..24]);
    assert_eq!(count(), 1);
    // Regions that overlap may be mapped for reading at the same time.
    let (again, event) = map(CL_MAP_READ, 0, 64, &[]);
    t.wait(&[&event]);
    assert_eq!(mapped(again, 64), bytes(64, 7));
    assert_eq!(count(), 2);
    unmap(at);
    unmap(again);
    t.finish();
    assert_eq!(count(), 0);
    for flags in [CL_MAP_WRITE, CL_MAP_READ | CL_MAP_WRITE, CL_MAP_WRITE_INVALIDATE_REGION] {
        let (at, event) = map(flags, 4, 4, &[]);
        t.wait(&[&event]);
        mapped(at, 4).fill(flags as u8);
        unmap(at);
        let got = t.read::<u8>(&buffer, 64);
        assert_eq!(got[4..8], [flags as u8; 4]);
        assert_eq!((got[3], got[8]), (bytes(64, 7)[3], bytes(64, 7)[8]));
    }
    // A map that waits is not complete.
    let gate = t.user_event();
    let (at, event) = map(CL_MAP_READ, 0, 1, &[gate.h]);
    assert!(t.status(&event) > CL_COMPLETE);
    t.complete(&gate, CL_COMPLETE);
    t.wait(&[&event]);
    unmap(at);
    t.finish();
}

#[test]
fn a_kernel_after_an_unmap_sees_what_was_written() {
    let t = Session::new();
    let kernel = t.kernel("kernel void k(global uint *p) { p[0] += 1; }");
    let buffer = t.buffer(CL_MEM_ALLOC_HOST_PTR, 4);
    t.arg_mem(&kernel, 0, &buffer);
    for i in 0..10u32 {
        let mut code = 1;
        let flags = CL_MAP_WRITE;
        let at = t.clEnqueueMapBuffer(t.queue(), buffer.h, CL_TRUE, flags, 0, 4, 0, null(), null_mut(), &mut code);
        ok(code);
        mapped(at, 4).copy_from_slice(&i.to_ne_bytes());
        ok(t.clEnqueueUnmapMemObject(t.queue(), buffer.h, at, 0, null(), null_mut()));
        drop(t.launch(&kernel, &[1], &[]));
        assert_eq!(t.read::<u32>(&buffer, 1), [i + 1]);
    }
}

#[test]
fn buffers_migrate() {
    let t = Session::new();
    let (a, b) = (t.buffer_of(&[5u32]), t.buffer_of(&[6u32]));
    let both = [a.h, b.h];
    for flags in [0, CL_MIGRATE_MEM_OBJECT_HOST, CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED] {
        let mut event = null_mut();
        ok(t.clEnqueueMigrateMemObjects(t.queue(), 2, both.as_ptr(), flags, 0, null(), &mut event));
        let event = Obj::event(event);
        t.wait(&[&event]);
        let kind: u32 = info(|s, v, r| t.clGetEventInfo(event.h, CL_EVENT_COMMAND_TYPE, s, v, r));
        assert_eq!(kind, CL_COMMAND_MIGRATE_MEM_OBJECTS);
    }
    assert_eq!((t.read::<u32>(&a, 1), t.read::<u32>(&b, 1)), (vec![5], vec![6]));
}

#[test]
fn a_failed_event_fails_what_waits_for_it() {
    let t = Session::new();
    let buffer = t.buffer_of(&[1u32]);
    let gate = t.user_event();
    t.complete(&gate, -7);
    let mut word = 5u32;
    let at: Handle = (&raw mut word).cast();
    let mut c = Cases::new();
    let wanted = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    let read = t.clEnqueueReadBuffer(t.queue(), buffer.h, CL_TRUE, 0, 4, at, 1, &gate.h, null_mut());
    c.code("a blocking read", wanted, read);
    let write = t.clEnqueueWriteBuffer(t.queue(), buffer.h, CL_TRUE, 0, 4, at, 1, &gate.h, null_mut());
    c.code("a blocking write", wanted, write);
    c.end();
    let mut code = 1;
    let queue = t.queue();
    t.clEnqueueMapBuffer(queue, buffer.h, CL_TRUE, CL_MAP_READ, 0, 4, 1, &gate.h, null_mut(), &mut code);
    assert_eq!(code, wanted, "a blocking map");
    let count: u32 = info(|s, v, r| t.clGetMemObjectInfo(buffer.h, CL_MEM_MAP_COUNT, s, v, r));
    assert_eq!(count, 0, "a map that failed is no map");
    assert_eq!((word, t.read::<u32>(&buffer, 1)), (5, vec![1]), "nothing was copied");
}

#[test]
fn a_map_whose_wait_list_fails_leaves_nothing_mapped() {
    let t = Session::new();
    let buffer = t.buffer_of(&[1u32; 4]);
    let gate = t.user_event();
    let map = |flags, wait: u32| {
        let (mut code, mut event) = (1, null_mut());
        let list = if wait == 0 { null() } else { &raw const gate.h };
        let queue = t.queue();
        let at = t.clEnqueueMapBuffer(queue, buffer.h, CL_FALSE, flags, 0, 16, wait, list, &mut event, &mut code);
        (code, at, event)
    };
    let count = || info::<u32>(|s, v, r| t.clGetMemObjectInfo(buffer.h, CL_MEM_MAP_COUNT, s, v, r));
    // Another mapping of the same address must outlive the one that fails.
    let (code, at, event) = map(CL_MAP_READ, 0);
    ok(code);
    drop(Obj::event(event));
    let (code, _, event) = map(CL_MAP_WRITE, 1);
    ok(code);
    let event = Obj::event(event);
    assert_eq!(count(), 2);
    t.complete(&gate, -7);
    t.finish();
    assert_eq!(t.status(&event), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    assert_eq!(count(), 1);
    // The failed mapping does not count any more.
    let (code, again, event) = map(CL_MAP_WRITE, 0);
    ok(code);
    drop(Obj::event(event));
    let unmap = |at| t.clEnqueueUnmapMemObject(t.queue(), buffer.h, at, 0, null(), null_mut());
    ok(unmap(at));
    ok(unmap(again));
    assert_eq!(count(), 0);
    // The application may enqueue the unmap before it knows that the map failed.
    ok(unmap(at));
    assert_eq!(unmap(at), CL_INVALID_VALUE);
    t.finish();
}

#[test]
fn migration_keeps_contents_unless_they_are_given_up() {
    let t = Session::new();
    let other = t.another_context();
    let buffer = t.buffer_of(&(0..1024u32).collect::<Vec<_>>());
    let (region, mut code) = ([1024usize, 1024], 1);
    let part = Obj::mem(t.clCreateSubBuffer(buffer.h, 0, 0x1220, region.as_ptr().cast(), &mut code));
    ok(code);
    let image = t.image(images::BYTES, &images::Desc::new(images::D2, [4, 4, 0]));
    t.write_image(&image, [0; 3], [4, 4, 1], [0; 2], &[6u8; 64]);
    let foreign = Obj::mem(t.clCreateBuffer(other.h, 0, 16, null_mut(), &mut code));
    ok(code);
    let (host, undefined) = (CL_MIGRATE_MEM_OBJECT_HOST, CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED);
    for flags in [0, host] {
        let objects = [buffer.h, part.h, image.h];
        let mut event = null_mut();
        ok(t.clEnqueueMigrateMemObjects(t.queue(), 3, objects.as_ptr(), flags, 0, null(), &mut event));
        let event = Obj::event(event);
        t.wait(&[&event]);
        let kind: u32 = info(|s, v, r| t.clGetEventInfo(event.h, CL_EVENT_COMMAND_TYPE, s, v, r));
        assert_eq!(kind, CL_COMMAND_MIGRATE_MEM_OBJECTS);
        assert_eq!(t.read::<u32>(&buffer, 1024), (0..1024).collect::<Vec<_>>());
        assert_eq!(t.read_image::<u8>(&image, [0; 3], [4, 4, 1], 64), [6; 64]);
    }
    // The content may be anything after this, and the object is as good as before.
    for flags in [undefined, host | undefined] {
        ok(t.clEnqueueMigrateMemObjects(t.queue(), 1, &buffer.h, flags, 0, null(), null_mut()));
        t.write(&buffer, 0, &[7u32; 1024]);
        assert_eq!(t.read::<u32>(&buffer, 1024), [7; 1024]);
    }
    let migrate =
        |queue, count, list, flags| t.clEnqueueMigrateMemObjects(queue, count, list, flags, 0, null(), null_mut());
    let (q, b): (Handle, *const Handle) = (t.queue(), &buffer.h);
    assert_eq!(migrate(q, 0, null(), 0), CL_INVALID_VALUE);
    assert_eq!(migrate(q, 1, null(), 0), CL_INVALID_VALUE);
    assert_eq!(migrate(q, 0, b, 0), CL_INVALID_VALUE);
    assert_eq!(migrate(q, 1, b, 4), CL_INVALID_VALUE);
    assert_eq!(migrate(q, 1, b, 1 << 63), CL_INVALID_VALUE);
    assert_eq!(migrate(null_mut(), 1, b, 0), CL_INVALID_COMMAND_QUEUE);
    assert_eq!(migrate(q, 1, &null_mut(), 0), CL_INVALID_MEM_OBJECT);
    assert_eq!(migrate(q, 1, &t.queue(), 0), CL_INVALID_MEM_OBJECT);
    assert_eq!(migrate(q, 1, &foreign.h, 0), CL_INVALID_CONTEXT);
}
