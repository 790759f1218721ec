//! Chapter 5.3 of the specification: images, their formats, queries, errors and transfers.

#[path = "../common/mod.rs"]
mod common;
use common::extension::Requirements;
use common::images::*;
use common::*;

/// A type of images with sizes; layers of 1D arrays are the second one.
const TYPES: [(u32, [usize; 3]); 5] =
    [(D1, [13, 1, 1]), (D1_ARRAY, [13, 5, 1]), (D2, [13, 7, 1]), (D2_ARRAY, [13, 7, 3]), (D3, [13, 7, 3])];

/// A box of every kind inside of an image with these sizes.
fn inner([w, h, d]: [usize; 3]) -> ([usize; 3], [usize; 3]) {
    let at = |n: usize| usize::from(n > 1);
    ([2, at(h), at(d)], [w - 4, (h - at(h)).max(1), (d - at(d)).max(1)])
}

/// A plain array of elements of four bytes.
#[derive(Clone)]
struct Plain3 {
    size: [usize; 3],
    bytes: Vec<u8>,
}

impl Plain3 {
    fn counted(size: [usize; 3]) -> Plain3 {
        let bytes = (0..size.iter().product::<usize>() * 4).map(|i| (i * 37 % 251) as u8).collect();
        Plain3 { size, bytes }
    }

    fn each(origin: [usize; 3], region: [usize; 3]) -> impl Iterator<Item = [usize; 3]> {
        let [w, h, d] = region;
        (0..d).flat_map(move |z| (0..h).flat_map(move |y| (0..w).map(move |x| [x, y, z]))).map(move |[x, y, z]| {
            let [i, j, k] = origin;
            [x + i, y + j, z + k]
        })
    }

    fn at(&mut self, [x, y, z]: [usize; 3]) -> &mut [u8] {
        let i = ((z * self.size[1] + y) * self.size[0] + x) * 4;
        &mut self.bytes[i..i + 4]
    }

    fn part(&mut self, origin: [usize; 3], region: [usize; 3]) -> Vec<u8> {
        Self::each(origin, region).flat_map(|p| self.at(p).to_vec()).collect()
    }

    fn put(&mut self, origin: [usize; 3], region: [usize; 3], bytes: &[u8]) {
        for (p, element) in Self::each(origin, region).zip(bytes.chunks(4)) {
            self.at(p).copy_from_slice(element);
        }
    }
}

#[test]
fn the_minimum_list_of_formats_is_supported() {
    let t = Session::new();
    // OpenCL 3.0 API, 5.3.2.1, for reading and writing.
    let plain = [0x10D2, 0x10D3, 0x10D0, 0x10D1, 0x10D7, 0x10D8, 0x10D9, 0x10DA, 0x10DB, 0x10DC, 0x10DD, 0x10DE];
    for kind in [D1, D1_ARRAY, D2, D2_ARRAY, D3, D1_BUFFER] {
        for flags in [CL_MEM_READ_ONLY, CL_MEM_WRITE_ONLY, CL_MEM_READ_WRITE, CL_MEM_KERNEL_READ_AND_WRITE] {
            let formats = t.formats(flags, kind);
            let has = |order, channel_type| formats.contains(&Format { order, channel_type });
            assert!(plain.iter().all(|&ty| [R, RG, RGBA].iter().all(|&order| has(order, ty))), "{kind:#x} {flags}");
            assert!(has(BGRA, UNORM_INT8));
            let is_2d = matches!(kind, D2 | D2_ARRAY);
            assert_eq!([0x10D3, FLOAT].iter().all(|&ty| has(DEPTH, ty)), is_2d);
            // `cl_khr_srgb_image_writes`; in one kernel they are read or written.
            let either = flags != CL_MEM_KERNEL_READ_AND_WRITE && kind != D1_BUFFER;
            assert_eq!(has(0x10C1, UNORM_INT8), either, "{kind:#x} {flags}");
            assert!(has(0x10C3, 0x10E5), "of `cl_ext_image_unorm_int_2_101010`");
            let high = [0x10E1, 0x10E6, 0x10E7, 0x10E8, 0x10E9, 0x10EA];
            assert!(high.iter().all(|&ty| [R, RG, RGBA].iter().all(|&order| has(order, ty))), "{kind:#x} {flags}");
        }
    }
    let mut count = 7;
    assert_eq!(t.clGetSupportedImageFormats(t.context(), 0, 0x10F0, 0, null(), &mut count), CL_INVALID_VALUE);
}

#[test]
fn an_image_describes_itself() {
    let t = Session::new();
    for (kind, size) in TYPES {
        let image = t.image(FLOATS, &Desc::new(kind, size));
        let ask = |name| move |s, v, r| api().clGetImageInfo(image.h, name, s, v, r);
        let [w, h, d] = size;
        let layers = if kind == D1_ARRAY { h } else { d };
        assert_eq!(list::<u32>(ask(0x1110)), [RGBA, FLOAT]);
        assert_eq!(info::<usize>(ask(0x1111)), 16);
        assert_eq!(info::<usize>(ask(0x1112)), w * 16);
        let has_rows = !matches!(kind, D1 | D1_ARRAY);
        let slice = if has_rows { w * h * 16 } else { w * 16 };
        let told = if matches!(kind, D1_ARRAY | D2_ARRAY | D3) { slice } else { 0 };
        assert_eq!(info::<usize>(ask(0x1113)), told, "{kind:#x}");
        assert_eq!(info::<usize>(ask(0x1114)), w);
        assert_eq!(info::<usize>(ask(0x1115)), if has_rows { h } else { 0 });
        assert_eq!(info::<usize>(ask(0x1116)), if kind == D3 { d } else { 0 });
        assert_eq!(info::<usize>(ask(0x1117)), if matches!(kind, D1_ARRAY | D2_ARRAY) { layers } else { 0 });
        assert_eq!(info::<usize>(ask(0x1118)), 0);
        let object = move |s, v, r| api().clGetMemObjectInfo(image.h, CL_MEM_TYPE, s, v, r);
        assert_eq!(info::<u32>(object), kind);
    }
}

#[test]
fn wrong_images_are_refused() {
    let t = Session::new();
    let fails = |flags, format, desc: &Desc, data| t.try_image(flags, format, desc, data).err().unwrap_or(0);
    let good = Desc::new(D2, [4, 4, 1]);
    let mut bytes = [0u8; 256];
    let data: Handle = bytes.as_mut_ptr().cast();
    let wrong_format = Format { order: 7, channel_type: FLOAT };
    let absent = Format { order: 0x10C1, channel_type: UNORM_INT8 };
    assert_eq!(fails(0, wrong_format, &good, null_mut()), CL_INVALID_IMAGE_FORMAT_DESCRIPTOR);
    assert_eq!(fails(CL_MEM_KERNEL_READ_AND_WRITE, absent, &good, null_mut()), CL_IMAGE_FORMAT_NOT_SUPPORTED);
    assert_eq!(fails(0, BYTES, &Desc { image_type: 0x10F0, ..good }, null_mut()), CL_INVALID_IMAGE_DESCRIPTOR);
    assert_eq!(fails(0, BYTES, &Desc { width: 0, ..good }, null_mut()), CL_INVALID_IMAGE_DESCRIPTOR);
    assert_eq!(fails(0, BYTES, &Desc { width: 1 << 20, ..good }, null_mut()), CL_INVALID_IMAGE_SIZE);
    assert_eq!(fails(0, BYTES, &Desc { row_pitch: 16, ..good }, null_mut()), CL_INVALID_IMAGE_DESCRIPTOR);
    assert_eq!(fails(CL_MEM_COPY_HOST_PTR, BYTES, &Desc { row_pitch: 15, ..good }, data), CL_INVALID_IMAGE_DESCRIPTOR);
    assert_eq!(fails(CL_MEM_COPY_HOST_PTR, BYTES, &good, null_mut()), CL_INVALID_HOST_PTR);
    assert_eq!(fails(0, BYTES, &good, data), CL_INVALID_HOST_PTR);
    assert_eq!(fails(1 << 40, BYTES, &good, null_mut()), CL_INVALID_VALUE);
    assert_eq!(fails(0, BYTES, &Desc { samples: 4, ..good }, null_mut()), CL_INVALID_IMAGE_DESCRIPTOR);
    let small = t.buffer(0, 60);
    assert_eq!(fails(0, BYTES, &Desc { parent: small.h, ..good }, null_mut()), CL_INVALID_IMAGE_SIZE);
    assert_eq!(fails(0, BYTES, &Desc { parent: t.context(), ..good }, null_mut()), CL_INVALID_MEM_OBJECT);
    let mut code = 1;
    t.clCreateImage(t.context(), 0, null(), (&raw const good).cast(), null_mut(), &mut code);
    assert_eq!(code, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR);
    let format = BYTES;
    t.clCreateImage(t.context(), 0, (&raw const format).cast(), null(), null_mut(), &mut code);
    assert_eq!(code, CL_INVALID_IMAGE_DESCRIPTOR);
}

/// `CL_IMAGE_REQUIREMENTS_…_EXT`
const ALIGNMENTS: [u32; 3] = [0x1290, 0x1291, 0x1292];
const BYTES_NEEDED: u32 = 0x12B2;
const LIMITS: [u32; 4] = [0x12B3, 0x12B4, 0x12B5, 0x12B6];

/// A query about an image with these arguments.
fn ask<'a>(
    (t, f): &'a (Session, Requirements),
    flags: u64,
    format: Option<&'a Format>,
    desc: Option<&'a Desc>,
    name: u32,
) -> impl Fn(usize, Handle, *mut usize) -> i32 + 'a {
    let format = format.map_or(null(), std::ptr::from_ref);
    let desc = desc.map_or(null(), std::ptr::from_ref);
    move |s, v, r| f.clGetImageRequirementsInfoEXT(t.context(), null(), flags, format, desc, name, s, v, r)
}

#[test]
fn what_images_need_is_told_before() {
    let t = Session::new();
    let f = Requirements::new(&t);
    let q = (t, f);
    let (t, f) = &q;
    for (kind, size) in TYPES {
        let desc = Desc::new(kind, size);
        for format in t.formats(CL_MEM_READ_ONLY, kind) {
            let image = t.try_image(CL_MEM_READ_ONLY, format, &desc, null_mut()).expect("an image");
            let element: usize = info(|s, v, r| t.clGetImageInfo(image.h, 0x1111, s, v, r));
            let bytes: usize = info(|s, v, r| t.clGetMemObjectInfo(image.h, CL_MEM_SIZE, s, v, r));
            assert_eq!(info::<usize>(ask(&q, CL_MEM_READ_ONLY, Some(&format), Some(&desc), BYTES_NEEDED)), bytes);
            for name in ALIGNMENTS {
                assert_eq!(info::<usize>(ask(&q, 0, Some(&format), Some(&desc), name)), element);
                assert_eq!(info::<usize>(ask(&q, 0, None, None, name)), 16);
            }
            // A buffer of so many bytes is enough, one byte less is not.
            for (bytes, wanted) in [(bytes, 0), (bytes - 1, CL_INVALID_IMAGE_SIZE)] {
                let buffer = t.buffer(CL_MEM_READ_ONLY, bytes);
                let made = t.try_image(CL_MEM_READ_ONLY, format, &Desc { parent: buffer.h, ..desc }, null_mut());
                assert_eq!(made.as_ref().err().copied().unwrap_or(0), wanted, "{kind:#x} {format:x?}");
                if let Ok(image) = made {
                    let parent = |s, v, r| t.clGetMemObjectInfo(image.h, CL_MEM_ASSOCIATED_MEMOBJECT, s, v, r);
                    assert_eq!(info::<usize>(parent), buffer.h as usize);
                }
            }
        }
        let limit = |name| t.device_info::<usize>(name) as u32;
        let is_3d = kind == D3;
        let most = [
            (true, limit(if is_3d { CL_DEVICE_IMAGE3D_MAX_WIDTH } else { CL_DEVICE_IMAGE2D_MAX_WIDTH })),
            (
                !matches!(kind, D1 | D1_ARRAY),
                limit(if is_3d { CL_DEVICE_IMAGE3D_MAX_HEIGHT } else { CL_DEVICE_IMAGE2D_MAX_HEIGHT }),
            ),
            (is_3d, limit(CL_DEVICE_IMAGE3D_MAX_DEPTH)),
            (matches!(kind, D1_ARRAY | D2_ARRAY), limit(CL_DEVICE_IMAGE_MAX_ARRAY_SIZE)),
        ];
        let open = Desc::new(kind, [0; 3]);
        for (name, (has, limit)) in LIMITS.into_iter().zip(most) {
            if has {
                assert_eq!(info::<u32>(ask(&q, 0, Some(&BYTES), Some(&desc), name)), limit, "the others are small");
                let any = info::<u32>(ask(&q, 0, Some(&BYTES), Some(&open), name));
                assert!(any > 0 && any <= limit && info::<u32>(ask(&q, 0, None, None, name)) <= any);
            } else {
                let code = ask(&q, 0, Some(&BYTES), Some(&desc), name)(0, null_mut(), null_mut());
                assert_eq!(code, CL_INVALID_IMAGE_DESCRIPTOR, "{kind:#x} {name:#x}");
            }
        }
    }
    let mut c = Cases::new();
    let good = Desc::new(D2, [4, 4, 1]);
    let code = |flags, format, desc, name| ask(&q, flags, format, desc, name)(0, null_mut(), null_mut());
    c.query("requirements", BYTES_NEEDED, |n, s, v, r| ask(&q, 0, Some(&BYTES), Some(&good), n)(s, v, r));
    c.code("no format", CL_INVALID_VALUE, code(0, None, Some(&good), BYTES_NEEDED));
    c.code("no sizes", CL_INVALID_VALUE, code(0, Some(&BYTES), None, BYTES_NEEDED));
    c.code("flags", CL_INVALID_VALUE, code(1 << 40, Some(&BYTES), Some(&good), BYTES_NEEDED));
    let wrong = Format { order: 7, channel_type: FLOAT };
    c.code("format", CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, code(0, Some(&wrong), Some(&good), LIMITS[0]));
    for wrong in &[Desc { image_type: 0x10F0, ..good }, Desc { samples: 2, ..good }, Desc::new(D1, [0; 3])] {
        let code = ask(&q, 0, Some(&BYTES), Some(wrong), ALIGNMENTS[0])(0, null_mut(), null_mut());
        c.code("description", CL_INVALID_IMAGE_DESCRIPTOR, code);
    }
    let (format, list) = (BYTES, [0x7777u64, 1, 0]);
    let mut call = |what: &str, wanted, context, list| {
        let code =
            f.clGetImageRequirementsInfoEXT(context, list, 0, &format, &good, LIMITS[0], 0, null_mut(), null_mut());
        c.code(what, wanted, code);
    };
    call("context", CL_INVALID_CONTEXT, null_mut(), null());
    call("property", CL_INVALID_PROPERTY, t.context(), list.as_ptr());
    c.end();
}

#[test]
fn boxes_are_read_and_written_with_pitches() {
    let t = Session::new();
    for (kind, size) in TYPES {
        let mut model = Plain3::counted(size);
        let image = t.image(BYTES, &Desc::new(kind, size));
        t.write_image(&image, [0; 3], size, [0, 0], &model.bytes);
        assert_eq!(t.read_image::<u8>(&image, [0; 3], size, model.bytes.len()), model.bytes, "{kind:#x}");
        let (origin, region) = inner(size);
        // The host's rows are 3 bytes longer than the box, its slices two rows longer.
        let row = region[0] * 4 + 3;
        let slice = if kind == D1_ARRAY { row } else { row * (region[1] + 2) };
        let host: Vec<u8> = (0..slice * region[1].max(region[2]) + row * 20).map(|i| (i % 199) as u8).collect();
        t.write_image(&image, origin, region, [row, slice], &host);
        let mut packed = Vec::new();
        for z in 0..region[2] {
            for y in 0..region[1] {
                let at = if kind == D1_ARRAY { y * slice } else { z * slice + y * row };
                packed.extend_from_slice(&host[at..at + region[0] * 4]);
            }
        }
        model.put(origin, region, &packed);
        assert_eq!(t.read_image::<u8>(&image, [0; 3], size, model.bytes.len()), model.bytes, "{kind:#x}");
        assert_eq!(t.read_image::<u8>(&image, origin, region, packed.len()), packed, "{kind:#x}");
        let (o, r) = ([1usize, 0, 0], size);
        let q = t.queue();
        let beyond = t.clEnqueueReadImage(
            q,
            image.h,
            1,
            o.as_ptr(),
            r.as_ptr(),
            0,
            0,
            packed.as_mut_ptr().cast(),
            0,
            null(),
            null_mut(),
        );
        assert_eq!(beyond, CL_INVALID_VALUE, "a box beyond the image");
    }
}

#[test]
fn boxes_are_copied_filled_and_mapped() {
    let t = Session::new();
    let q = t.queue();
    for (kind, size) in TYPES {
        let (origin, region) = inner(size);
        let count = region.iter().product::<usize>() * 4;
        let mut a = Plain3::counted(size);
        let mut b = Plain3 { bytes: vec![7; a.bytes.len()], size };
        let (from, to) = (t.image(BYTES, &Desc::new(kind, size)), t.image(BYTES, &Desc::new(kind, size)));
        t.write_image(&from, [0; 3], size, [0, 0], &a.bytes);
        t.write_image(&to, [0; 3], size, [0, 0], &b.bytes);
        let (o, r, zero) = (origin.as_ptr(), region.as_ptr(), [0usize; 3]);
        ok(t.clEnqueueCopyImage(q, from.h, to.h, o, zero.as_ptr(), r, 0, null(), null_mut()));
        b.put(zero, region, &a.part(origin, region));
        assert_eq!(t.read_image::<u8>(&to, zero, size, b.bytes.len()), b.bytes, "copy {kind:#x}");
        let same = t.clEnqueueCopyImage(q, from.h, from.h, zero.as_ptr(), o, r, 0, null(), null_mut());
        let touches = (0..3).all(|i| origin[i] < region[i]);
        assert_eq!(same, if touches { CL_MEM_COPY_OVERLAP } else { 0 });
        t.write_image(&from, [0; 3], size, [0, 0], &a.bytes);
        let buffer = t.buffer(0, count + 5);
        ok(t.clEnqueueCopyImageToBuffer(q, from.h, buffer.h, o, r, 5, 0, null(), null_mut()));
        assert_eq!(t.read::<u8>(&buffer, count + 5)[5..], a.part(origin, region), "to buffer {kind:#x}");
        ok(t.clEnqueueCopyBufferToImage(q, buffer.h, to.h, 5, o, r, 0, null(), null_mut()));
        b.put(origin, region, &a.part(origin, region));
        assert_eq!(t.read_image::<u8>(&to, zero, size, b.bytes.len()), b.bytes, "from buffer {kind:#x}");
        let color = [1.0f32, 0.0, 0.5, 2.0];
        ok(t.clEnqueueFillImage(q, to.h, color.as_ptr().cast(), o, r, 0, null(), null_mut()));
        b.put(origin, region, &[255, 0, 128, 255].repeat(count / 4));
        assert_eq!(t.read_image::<u8>(&to, zero, size, b.bytes.len()), b.bytes, "fill {kind:#x}");
        let (mut row, mut slice, mut code) = (0, 0, 1);
        let flags = CL_MAP_READ | CL_MAP_WRITE;
        let address =
            t.clEnqueueMapImage(q, to.h, 1, flags, o, r, &mut row, &mut slice, 0, null(), null_mut(), &mut code);
        ok(code);
        let layer = if kind == D1_ARRAY { slice } else { row };
        let last = layer * (region[1] - 1) + slice * (region[2] - 1) + region[0] * 4;
        let bytes = mapped(address, last);
        assert_eq!(bytes[..4], *b.at(origin));
        bytes[last - 1] = 99;
        b.at([origin[0] + region[0] - 1, origin[1] + region[1] - 1, origin[2] + region[2] - 1])[3] = 99;
        ok(t.clEnqueueUnmapMemObject(q, to.h, address, 0, null(), null_mut()));
        assert_eq!(t.read_image::<u8>(&to, zero, size, b.bytes.len()), b.bytes, "map {kind:#x}");
    }
}

#[test]
fn host_memory_with_a_pitch_is_used_in_place_or_copied() {
    let t = Session::new();
    let desc = Desc { row_pitch: 40, ..Desc::new(D2, [5, 3, 1]) };
    // Nothing after the last row is the image's.
    let mut host: Vec<u8> = (0..40 * 2 + 20).collect();
    let rows: Vec<u8> = (0..3).flat_map(|y| host[y * 40..y * 40 + 20].to_vec()).collect();
    for flags in [CL_MEM_COPY_HOST_PTR, CL_MEM_USE_HOST_PTR] {
        let image = t.try_image(flags, BYTES, &desc, host.as_mut_ptr().cast()).expect("an image");
        assert_eq!(t.read_image::<u8>(&image, [0; 3], [5, 3, 1], 60), rows);
        assert_eq!(info::<usize>(|s, v, r| t.clGetImageInfo(image.h, 0x1112, s, v, r)), 40);
    }
}
