//! Buffers and images of more than 4 GiB: every offset, size and pitch beyond 32 bits.

use super::Size;
use super::measure::resident;
use crate::common::images::{BYTES, D2_ARRAY, D3, Desc};
use crate::common::*;

const BEYOND: usize = 1 << 32;
const N: usize = BEYOND + (1 << 20);

fn bytes_at(t: &Session, buffer: &Obj, offset: usize, count: usize) -> Vec<u8> {
    let mut bytes = vec![0u8; count];
    let at = bytes.as_mut_ptr().cast();
    ok(t.clEnqueueReadBuffer(t.queue(), buffer.h, CL_TRUE, offset, count, at, 0, null(), null_mut()));
    bytes
}

/// The places at which something may go wrong.
fn places() -> [usize; 6] {
    [0, (1 << 31) - 8, BEYOND - 8, BEYOND, BEYOND + 4096, N - 16]
}

fn pattern(i: usize) -> u8 {
    (i ^ (i >> 8) ^ (i >> 24) ^ (i >> 32)) as u8
}

/// Runs something, and says how many MiB are left when it has released everything.
fn left(run: fn(&Session)) -> u64 {
    let before = resident();
    let t = Session::new();
    run(&t);
    t.finish();
    drop(t);
    let left = resident().saturating_sub(before);
    assert!(left < 512 << 20, "{left} bytes are left after the release");
    left >> 20
}

pub fn buffers(_: Size) -> String {
    let left = left(all_of_buffers);
    format!("two buffers of {N} bytes; {left} MiB left after the release")
}

fn all_of_buffers(t: &Session) {
    let limit: u64 = t.device_info(CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    assert!(limit >= N as u64, "the device gives {limit} bytes at most");
    let program = t.program(
        "uchar f(ulong i) { return i ^ (i >> 8) ^ (i >> 24) ^ (i >> 32); }
         kernel void all(global uchar *p) { size_t i = get_global_id(0); p[i] = f(i); }
         kernel void far(global uchar *p, ulong by) { size_t i = get_global_id(0); p[i + by] = 255 - f(i + by); }
         kernel void strided(global uchar *p, global uchar *q) { size_t i = get_global_id(0); q[i] = p[i * 67108864]; }
         kernel void count(global const uchar *p, global uint *wrong) {
             size_t i = get_global_id(0) * 65536;
             uint n = 0;
             for (size_t k = i; k < i + 65536; k++) n += p[k] != f(k);
             if (n) atomic_add(wrong, n);
         }",
    );
    let buffer = t.buffer(0, N);
    // More work-items than 32 bits count.
    let all = t.kernel_of(&program, "all");
    t.arg_mem(&all, 0, &buffer);
    drop(t.launch(&all, &[N], &[]));
    t.finish();
    for at in places() {
        assert_eq!(bytes_at(t, &buffer, at, 16), (at..at + 16).map(pattern).collect::<Vec<_>>(), "at {at}");
    }
    // Every byte, through a copy.
    let copy = t.buffer(0, N);
    ok(t.clEnqueueCopyBuffer(t.queue(), buffer.h, copy.h, 0, 0, N, 0, null(), null_mut()));
    let (check, wrong) = (t.kernel_of(&program, "count"), t.buffer_of(&[0u32]));
    t.arg_mem(&check, 0, &copy);
    t.arg_mem(&check, 1, &wrong);
    drop(t.launch(&check, &[N / 65536], &[]));
    assert_eq!(t.read::<u32>(&wrong, 1), [0]);
    // An offset of the range, and one of the index.
    let far = t.kernel_of(&program, "far");
    t.arg_mem(&far, 0, &buffer);
    t.arg(&far, 1, (BEYOND - 256) as u64);
    drop(t.launch(&far, &[512], &[]));
    let wanted: Vec<u8> = (BEYOND - 256..BEYOND + 256).map(|i| 255 - pattern(i)).collect();
    assert_eq!(bytes_at(t, &buffer, BEYOND - 256, 512), wanted);
    t.arg(&far, 1, 0u64);
    let (offset, global) = (BEYOND + 1000, 100);
    ok(t.clEnqueueNDRangeKernel(t.queue(), far.h, 1, &offset, &global, null(), 0, null(), null_mut()));
    assert_eq!(bytes_at(t, &buffer, offset, 100), (offset..offset + 100).map(|i| 255 - pattern(i)).collect::<Vec<_>>());
    // A stride that leaves 32 bits.
    let (strided, few) = (t.kernel_of(&program, "strided"), t.buffer(0, 65));
    t.arg_mem(&strided, 0, &copy);
    t.arg_mem(&strided, 1, &few);
    drop(t.launch(&strided, &[65], &[]));
    assert_eq!(t.read::<u8>(&few, 65), (0..65).map(|i| pattern(i << 26)).collect::<Vec<_>>());
    transfers(t, &buffer, &copy);
}

/// Fills, sub-buffers, maps and boxes beyond 4 GiB.
fn transfers(t: &Session, buffer: &Obj, copy: &Obj) {
    let fill = [1u8, 2, 3, 4];
    ok(t.clEnqueueFillBuffer(t.queue(), buffer.h, fill.as_ptr().cast(), 4, 0, N, 0, null(), null_mut()));
    for at in places() {
        assert_eq!(bytes_at(t, buffer, at, 16), fill.repeat(4), "at {at}");
    }
    let (region, mut code) = ([BEYOND + 4096, 8192], 1);
    let kind = 0x1220;
    let part = Obj::mem(t.clCreateSubBuffer(buffer.h, 0, kind, region.as_ptr().cast(), &mut code));
    ok(code);
    t.write(&part, 4096, &[9u8; 16]);
    assert_eq!(bytes_at(t, buffer, BEYOND + 8192, 16), [9; 16]);
    let flags = CL_MAP_READ | CL_MAP_WRITE;
    let at = t.clEnqueueMapBuffer(t.queue(), buffer.h, CL_TRUE, flags, N - 64, 64, 0, null(), null_mut(), &mut code);
    ok(code);
    mapped(at, 64).copy_from_slice(&[5; 64]);
    ok(t.clEnqueueUnmapMemObject(t.queue(), buffer.h, at, 0, null(), null_mut()));
    assert_eq!(bytes_at(t, buffer, N - 64, 64), [5; 64]);
    // Boxes of three rows, 2 GiB from each other; and of two slices, 4 GiB from each other.
    let (row, slice) = (1 << 31, 1 << 32);
    for (region, pitches) in [([64, 3, 1], [row, 0]), ([64, 1, 2], [64, slice])] {
        let (from, to) = (three(&[128]), three(&[4096]));
        let [r, s] = pitches;
        let (c, b, q) = (copy.h, buffer.h, t.queue());
        ok(t.clEnqueueCopyBufferRect(
            q,
            c,
            b,
            from.as_ptr(),
            to.as_ptr(),
            region.as_ptr(),
            r,
            s,
            r,
            s,
            0,
            null(),
            null_mut(),
        ));
        let distance = if region[1] == 3 { row } else { slice };
        for k in 0..region[1].max(region[2]) {
            let wanted: Vec<u8> = (0..64).map(|i| pattern(k * distance + 128 + i)).collect();
            assert_eq!(bytes_at(t, buffer, k * distance + 4096, 64), wanted, "part {k}");
        }
        let mut small = vec![0u8; 64 * 3];
        let (zero, at) = ([0usize; 3], small.as_mut_ptr());
        ok(t.clEnqueueReadBufferRect(
            q,
            c,
            CL_TRUE,
            from.as_ptr(),
            zero.as_ptr(),
            region.as_ptr(),
            r,
            s,
            64,
            0,
            at.cast(),
            0,
            null(),
            null_mut(),
        ));
        for k in 0..region[1].max(region[2]) {
            let wanted: Vec<u8> = (0..64).map(|i| pattern(k * distance + 128 + i)).collect();
            assert_eq!(small[k * 64..][..64], wanted);
        }
        let at = small.as_ptr().cast();
        let zeros = [0usize; 3];
        ok(t.clEnqueueWriteBufferRect(
            q,
            b,
            CL_TRUE,
            zeros.as_ptr(),
            zeros.as_ptr(),
            region.as_ptr(),
            r,
            s,
            64,
            0,
            at,
            0,
            null(),
            null_mut(),
        ));
        let k = region[1].max(region[2]) - 1;
        assert_eq!(bytes_at(t, buffer, k * distance, 64), small[k * 64..][..64]);
    }
}

pub fn images(_: Size) -> String {
    let left = left(all_of_images);
    format!("an array of {LAYERS} layers of {SIDE} x {SIDE}, a box of 2048 x 2048 x 264; {left} MiB left")
}

const LAYERS: usize = 66;
const SIDE: usize = 4096;

fn all_of_images(t: &Session) {
    let program = t.program(
        "kernel void array(read_only image2d_array_t a, write_only image2d_array_t b, int from, int to) {
             int2 p = (int2)(get_global_id(0), get_global_id(1));
             write_imagef(b, (int4)(p, to, 0), read_imagef(a, (int4)(p, from, 0)).yxwz);
         }
         kernel void box(read_only image3d_t a, global uint *sum, int z) {
             float4 v = read_imagef(a, (int4)(get_global_id(0), get_global_id(1), z, 0)) * 255.0f;
             atomic_add(sum, (uint)(v.x + v.y + v.z + v.w + 0.5f));
         }",
    );
    let (layers, side) = (LAYERS, SIDE);
    let desc = Desc::new(D2_ARRAY, [side, side, layers]);
    let image = t.image(BYTES, &desc);
    let (last, q) = (layers - 1, t.queue());
    let layer: Vec<u8> = (0..side * side).flat_map(|i| [i as u8, (i >> 8) as u8, (i >> 16) as u8, 77]).collect();
    t.write_image(&image, [0, 0, last], [side, side, 1], [0; 2], &layer);
    assert_eq!(t.read_image::<u8>(&image, [0, 0, last], [side, side, 1], layer.len()), layer);
    // Within the image, from the last layer to the first.
    let (from, to, region) = ([0, 0, last], [0usize; 3], [side, side, 1]);
    ok(t.clEnqueueCopyImage(q, image.h, image.h, from.as_ptr(), to.as_ptr(), region.as_ptr(), 0, null(), null_mut()));
    assert_eq!(t.read_image::<u8>(&image, [0; 3], [side, side, 1], layer.len()), layer);
    let other = t.image(BYTES, &Desc::new(D2_ARRAY, [side, side, 2]));
    let kernel = t.kernel_of(&program, "array");
    t.arg_mem(&kernel, 0, &image);
    t.arg_mem(&kernel, 1, &other);
    t.arg(&kernel, 2, last as i32);
    t.arg(&kernel, 3, 1i32);
    drop(t.launch(&kernel, &[side, side], &[]));
    let swapped: Vec<u8> = layer.as_chunks::<4>().0.iter().flat_map(|&[x, y, z, w]| [y, x, w, z]).collect();
    assert_eq!(t.read_image::<u8>(&other, [0, 0, 1], [side, side, 1], layer.len()), swapped);
    // Into the last layer, from the other image.
    t.arg_mem(&kernel, 0, &other);
    t.arg_mem(&kernel, 1, &image);
    t.arg(&kernel, 2, 1i32);
    t.arg(&kernel, 3, last as i32 - 1);
    drop(t.launch(&kernel, &[side, side], &[]));
    assert_eq!(t.read_image::<u8>(&image, [0, 0, last - 1], [side, side, 1], layer.len()), layer);
    drop((image, other));
    let image = t.image(BYTES, &Desc::new(D3, [2048, 2048, 264]));
    let colour = [1.0f32 / 255.0, 2.0 / 255.0, 3.0 / 255.0, 4.0 / 255.0];
    let (origin, region) = ([0, 0, 0usize], [2048, 2048, 264usize]);
    ok(t.clEnqueueFillImage(
        q,
        image.h,
        colour.as_ptr().cast(),
        origin.as_ptr(),
        region.as_ptr(),
        0,
        null(),
        null_mut(),
    ));
    let (kernel, sum) = (t.kernel_of(&program, "box"), t.buffer_of(&[0u32]));
    t.arg_mem(&kernel, 0, &image);
    t.arg_mem(&kernel, 1, &sum);
    t.arg(&kernel, 2, 263i32);
    drop(t.launch(&kernel, &[256, 256], &[]));
    assert_eq!(t.read::<u32>(&sum, 1), [256 * 256 * 10]);
    let (mut row, mut slice, mut code) = (0, 0, 1);
    let (origin, region) = ([2000, 2047, 262usize], [48, 1, 2usize]);
    let (flags, o, r) = (CL_MAP_READ, origin.as_ptr(), region.as_ptr());
    let at =
        t.clEnqueueMapImage(q, image.h, CL_TRUE, flags, o, r, &mut row, &mut slice, 0, null(), null_mut(), &mut code);
    ok(code);
    assert_eq!(mapped(at, slice + 48 * 4)[slice..], [1u8, 2, 3, 4].repeat(48));
    ok(t.clEnqueueUnmapMemObject(q, image.h, at, 0, null(), null_mut()));
    t.finish();
}
