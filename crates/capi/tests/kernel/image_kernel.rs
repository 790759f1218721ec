//! Images and samplers in kernels (OpenCL C 6.15.15, 8): against references in double precision.

#[path = "../common/mod.rs"]
mod common;
use common::gpu::{on_the_gpu, traced_on_the_gpu};
use common::images::*;
use common::*;

/// Numbers that look random.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as u32
    }

    /// From 0 to 1.
    fn unit(&mut self) -> f64 {
        f64::from(self.next()) / f64::from(u32::MAX >> 1)
    }
}

/// The value of a finite `half`.
fn half(bits: u16) -> f64 {
    let (exponent, fraction) = (bits >> 10 & 31, f64::from(bits & 1023));
    let magnitude = match exponent {
        0 => fraction * 2f64.powi(-24),
        e => (1024.0 + fraction) * 2f64.powi(i32::from(e) - 25),
    };
    if bits >> 15 == 1 { -magnitude } else { magnitude }
}

/// The values of the channels of an element, as memory has them.
fn channels(format: Format, bytes: &[u8]) -> Vec<f64> {
    let word = bytes.iter().rev().fold(0u64, |all, &b| all << 8 | u64::from(b));
    let bits = |shift: u32, count: u32| ((word >> shift) & ((1 << count) - 1)) as f64 / ((1 << count) - 1) as f64;
    match format.channel_type {
        0x10D4 => return vec![bits(11, 5), bits(5, 6), bits(0, 5)],
        0x10D5 => return vec![bits(10, 5), bits(5, 5), bits(0, 5)],
        0x10D6 => return vec![bits(20, 10), bits(10, 10), bits(0, 10)],
        0x10E0 => return vec![bits(22, 10), bits(12, 10), bits(2, 10), bits(0, 2)],
        0x10E5 => return vec![bits(30, 2), bits(20, 10), bits(10, 10), bits(0, 10)],
        _ => {}
    }
    if format.channel_type == UNORM_INT8 && matches!(format.order, 0x10C1 | 0x10C2) {
        let part = |i: usize| f64::from(bytes[i]) / 255.0;
        return vec![linear(part(0)), linear(part(1)), linear(part(2)), part(3)];
    }
    let size = match format.channel_type {
        0x10D0 | 0x10D2 | 0x10D7 | 0x10DA => 1,
        0x10D1 | 0x10D3 | 0x10D8 | 0x10DB | 0x10DD | 0x10E1 | 0x10E6..=0x10EA => 2,
        _ => 4,
    };
    let one = |b: &[u8]| {
        let unsigned = b.iter().rev().fold(0u32, |all, &b| all << 8 | u32::from(b));
        let shift = 32 - 8 * size as u32;
        let signed = f64::from((unsigned << shift) as i32 >> shift);
        match format.channel_type {
            0x10D0 => (signed / 127.0).max(-1.0),
            0x10D1 => (signed / 32767.0).max(-1.0),
            0x10D2 => f64::from(unsigned) / 255.0,
            0x10D3 => f64::from(unsigned) / 65535.0,
            0x10DD => half(unsigned as u16),
            0x10DE => f64::from(f32::from_bits(unsigned)),
            0x10D7..=0x10D9 => signed,
            0x10E1 => f64::from(unsigned >> 6) / 1023.0,
            0x10E9 => f64::from(unsigned >> 4) / 4095.0,
            0x10EA => f64::from(unsigned >> 2) / 16383.0,
            0x10E6 => f64::from(unsigned >> 6),
            0x10E7 => f64::from(unsigned >> 4),
            0x10E8 => f64::from(unsigned >> 2),
            _ => f64::from(unsigned),
        }
    };
    bytes.chunks(size).map(one).collect()
}

/// Red, green, blue, alpha.
fn color(order: u32, c: &[f64]) -> [f64; 4] {
    match order {
        0x10B0 => [c[0], 0.0, 0.0, 1.0],
        0x10B1 => [0.0, 0.0, 0.0, c[0]],
        0x10B2 => [c[0], c[1], 0.0, 1.0],
        0x10B3 => [c[0], 0.0, 0.0, c[1]],
        0x10B4 => [c[0], c[1], c[2], 1.0],
        0x10B6 | 0x10C2 => [c[2], c[1], c[0], c[3]],
        0x10B7 => [c[1], c[2], c[3], c[0]],
        0x10B8 => [c[0]; 4],
        0x10B9 => [c[0], c[0], c[0], 1.0],
        0x10C3 => [c[3], c[2], c[1], c[0]],
        _ => [c[0], c[1], c[2], c[3]],
    }
}

/// A channel of the sRGB colour space as a linear one.
fn linear(c: f64) -> f64 {
    if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
}

/// What sRGB images may differ by, in units of the code (OpenCL C 8.3.1.1): by rounding, and a tenth.
const SRGB_ERROR: f64 = 0.6;

#[test]
fn srgb_images_are_written_in_their_colour_space() {
    for properties in [0, CL_QUEUE_PROFILING_ENABLE] {
        let t = Session::with(properties);
        let program = "kernel void k(write_only image2d_t to, global const float4 *colors) {
            int2 at = (int2)(get_global_id(0), get_global_id(1));
            write_imagef(to, at, colors[at.y * get_image_width(to) + at.x]);
        }";
        let kernel = t.kernel(program);
        let (w, h) = (61, 5);
        let mut random = Random(9);
        let mut colors: Vec<[f32; 4]> =
            (0..w * h).map(|_| std::array::from_fn(|_| (random.unit() * 1.2 - 0.1) as f32)).collect();
        // The least codes, and where the curve begins.
        for (i, c) in colors.iter_mut().take(60).enumerate() {
            c[i % 3] = i as f32 * 0.0001;
        }
        colors[60] = [0.0, 1.0, f32::INFINITY, 0.5];
        let buffer = t.buffer_of(colors.as_flattened());
        for order in [0x10C1, 0x10C2] {
            let to = t.image(Format { order, channel_type: UNORM_INT8 }, &Desc::new(D2, [w, h, 1]));
            t.arg_mem(&kernel, 0, &to);
            t.arg_mem(&kernel, 1, &buffer);
            t.launch(&kernel, &[w, h], &[]);
            let bytes = t.read_image::<u8>(&to, [0; 3], [w, h, 1], w * h * 4);
            for (color, got) in colors.iter().zip(bytes.chunks(4)) {
                let mut wanted = color.map(|c| {
                    let c = f64::from(c).clamp(0.0, 1.0);
                    255.0 * if c < 0.003_130_8 { c * 12.92 } else { 1.055 * c.powf(1.0 / 2.4) - 0.055 }
                });
                wanted[3] = 255.0 * f64::from(color[3]).clamp(0.0, 1.0);
                if order == 0x10C2 {
                    wanted.swap(0, 2);
                }
                let near = got.iter().zip(wanted).all(|(&g, w)| (f64::from(g) - w).abs() <= SRGB_ERROR);
                assert!(near, "{order:#x} {color:?}: {got:?}, {wanted:?}");
            }
        }
    }
}

/// Elements that all mean something: what is read is what was written.
fn elements(random: &mut Random, format: Format, len: usize) -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..len).map(|_| random.next() as u8).collect();
    match format.channel_type {
        // Neither NaN nor infinite.
        0x10DD => bytes.chunks_mut(2).for_each(|b| b[1] &= 0xbf),
        0x10DE => bytes.chunks_mut(4).for_each(|b| b[3] &= 0xbf),
        // The least number has two codes.
        0x10D0 => bytes.iter_mut().filter(|b| **b == 0x80).for_each(|b| *b = 0x81),
        0x10D1 => bytes.chunks_mut(2).for_each(|b| b[0] |= 1),
        // Bits that no channel has.
        0x10E1 | 0x10E6 => bytes.chunks_mut(2).for_each(|b| b[0] &= 0xc0),
        0x10E7 | 0x10E9 => bytes.chunks_mut(2).for_each(|b| b[0] &= 0xf0),
        0x10E8 | 0x10EA => bytes.chunks_mut(2).for_each(|b| b[0] &= 0xfc),
        0x10D5 => bytes.chunks_mut(2).for_each(|b| b[1] &= 0x7f),
        0x10D6 => bytes.chunks_mut(4).for_each(|b| b[3] &= 0x3f),
        _ => {}
    }
    bytes
}

const COPY: &str = "
kernel void k(read_only image2d_t from, write_only image2d_t to, global T *values) {
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    T v = READ(from, at);
    values[at.y * get_image_width(from) + at.x] = v;
    WRITE(to, at, v);
}";

#[test]
fn elements_of_every_format_are_read_and_written() {
    // A profiling queue waits for optimised code; without, the first launch runs baseline code.
    for properties in [0, CL_QUEUE_PROFILING_ENABLE] {
        let t = Session::with(properties);
        let mut random = Random(1);
        let (w, h) = (37, 3);
        for (letters, ty, types) in [
            ("f", "float4", vec![0x10D0..=0x10D6, 0x10DD..=0x10DE, 0x10E0..=0x10E1, 0x10E5..=0x10E5, 0x10E9..=0x10EA]),
            ("i", "int4", vec![0x10D7..=0x10D9]),
            ("ui", "uint4", vec![0x10DA..=0x10DC, 0x10E6..=0x10E8]),
            // Of those whose channels halves can tell apart.
            ("h", "half4", vec![0x10D0..=0x10D0, 0x10D2..=0x10D2, 0x10D4..=0x10D6, 0x10DD..=0x10DD, 0x10E0..=0x10E0]),
        ] {
            let names =
                format!("#define T {ty}\n#define READ read_image{letters}\n#define WRITE write_image{letters}\n");
            let kernel = t.kernel(&format!("{names}{COPY}"));
            let fits = |f: &Format| f.order != DEPTH && types.iter().any(|range| range.contains(&f.channel_type));
            for format in t.formats(CL_MEM_READ_WRITE, D2).into_iter().filter(fits) {
                let desc = Desc::new(D2, [w, h, 1]);
                let (from, to) = (t.image(format, &desc), t.image(format, &desc));
                let size = info::<usize>(|s, v, r| t.clGetImageInfo(from.h, 0x1111, s, v, r));
                let bytes = elements(&mut random, format, w * h * size);
                let tolerance = if matches!(format.order, 0x10C1 | 0x10C2) { 2e-5 } else { 2e-7 };
                t.write_image(&from, [0; 3], [w, h, 1], [0, 0], &bytes);
                let values = t.buffer(0, w * h * 16);
                t.arg_mem(&kernel, 0, &from);
                t.arg_mem(&kernel, 1, &to);
                t.arg_mem(&kernel, 2, &values);
                t.launch(&kernel, &[w, h], &[]);
                assert_eq!(t.read_image::<u8>(&to, [0; 3], [w, h, 1], bytes.len()), bytes, "{format:x?}");
                let words: Vec<u32> = match letters {
                    "h" => t.read::<u16>(&values, w * h * 4).into_iter().map(u32::from).collect(),
                    _ => t.read::<u32>(&values, w * h * 4),
                };
                for (element, got) in bytes.chunks(size).zip(words.chunks(4)) {
                    let wanted = color(format.order, &channels(format, element));
                    let number = |bits: u32| match letters {
                        "f" => f64::from(f32::from_bits(bits)),
                        "h" => half(bits as u16),
                        "i" => f64::from(bits as i32),
                        _ => f64::from(bits),
                    };
                    let (relative, least) =
                        if letters == "h" { (2f64.powi(-11) + 2e-7, 2f64.powi(-25)) } else { (tolerance, 0.0) };
                    let near = |(&g, w): (&u32, f64)| (number(g) - w).abs() <= w.abs() * relative + least;
                    let right = got.iter().zip(wanted).all(near);
                    assert!(right, "{format:x?} {element:?} {got:?} {wanted:?}");
                }
            }
        }
    }
}

/// Halfway between two elements of a row, by a sampler and by hand.
const HALFWAY: &str = "
kernel void k(read_only image2d_t in, sampler_t s, global float4 *out) {
    int x = get_global_id(0), y = get_global_id(1), last = get_image_width(in) - 1, i = y * (last + 2) + x;
    float4 left = read_imagef(in, (int2)(max(x - 1, 0), y)), right = read_imagef(in, (int2)(min(x, last), y));
    out[2 * i] = read_imagef(in, s, (float2)(x, y + 0.5f));
    out[2 * i + 1] = 0.5f * left + 0.5f * right;
}";

#[test]
fn neighbours_of_every_format_are_interpolated_also_in_narrow_images() {
    for properties in [0, CL_QUEUE_PROFILING_ENABLE] {
        let t = Session::with(properties);
        let mut random = Random(3);
        let kernel = t.kernel(HALFWAY);
        let sampler = Mode { normalized: false, addressing: 1, linear: true }.object(&t);
        let is_float = |f: &Format| f.order != DEPTH && !matches!(f.channel_type, 0x10D7..=0x10DC | 0x10E6..=0x10E8);
        for format in t.formats(CL_MEM_READ_WRITE, D2).into_iter().filter(is_float) {
            for (w, h) in [(1, 5), (2, 3), (35, 2)] {
                let image = t.image(format, &Desc::new(D2, [w, h, 1]));
                let size = info::<usize>(|s, v, r| t.clGetImageInfo(image.h, 0x1111, s, v, r));
                let bytes = elements(&mut random, format, w * h * size);
                t.write_image(&image, [0; 3], [w, h, 1], [0, 0], &bytes);
                let count = (w + 1) * h;
                let out = t.buffer(0, count * 32);
                t.arg_mem(&kernel, 0, &image);
                t.arg_mem(&kernel, 1, &sampler);
                t.arg_mem(&kernel, 2, &out);
                t.launch(&kernel, &[w + 1, h], &[]);
                for both in t.read::<f32>(&out, count * 8).chunks(8) {
                    let near = |c: usize| (both[c] - both[c + 4]).abs() <= 1e-6 * both[c].abs().max(1.0);
                    assert!((0..4).all(near), "{format:x?} {w}x{h}: {both:?}");
                }
            }
        }
    }
}

/// A sampler: normalised, `cl_addressing_mode` less NONE's number, linear.
#[derive(Clone, Copy, Debug)]
struct Mode {
    normalized: bool,
    addressing: u32,
    linear: bool,
}

impl Mode {
    fn all() -> impl Iterator<Item = Mode> {
        let modes = (1..5).flat_map(|addressing| [false, true].map(|normalized| (addressing, normalized)));
        modes
            .filter(|&(addressing, normalized)| addressing < 3 || normalized)
            .flat_map(|(addressing, normalized)| [false, true].map(|linear| Mode { normalized, addressing, linear }))
    }

    fn object(self, t: &Session) -> Obj {
        let mut code = 1;
        let (n, a, f) = (u32::from(self.normalized), 0x1130 + self.addressing, 0x1140 + u32::from(self.linear));
        let sampler = t.clCreateSampler(t.context(), n, a, f, &mut code);
        ok(code);
        Obj::sampler(sampler)
    }

    fn constants(self) -> String {
        let address = ["NONE", "CLAMP_TO_EDGE", "CLAMP", "REPEAT", "MIRRORED_REPEAT"][self.addressing as usize];
        let normalized = if self.normalized { "TRUE" } else { "FALSE" };
        let filter = if self.linear { "LINEAR" } else { "NEAREST" };
        format!("CLK_NORMALIZED_COORDS_{normalized} | CLK_ADDRESS_{address} | CLK_FILTER_{filter}")
    }

    /// The weights of elements in one dimension, for a coordinate; `None` is outside. Nothing if it lies on an edge,
    /// where single precision may decide otherwise.
    fn weights(self, x: f64, size: usize) -> Option<Vec<(Option<usize>, f64)>> {
        let n = size as f64;
        let u = match (self.addressing, self.normalized) {
            (3, _) => (x - x.floor()) * n,
            (4, _) => (x - 2.0 * (0.5 * x).round_ties_even()).abs() * n,
            (_, true) => x * n,
            _ => x,
        };
        let place = |i: i64| match self.addressing {
            2 => (0..size as i64).contains(&i).then_some(i as usize),
            3 => Some(i.rem_euclid(size as i64) as usize),
            _ => Some(i.clamp(0, size as i64 - 1) as usize),
        };
        if self.linear {
            let low = (u - 0.5).floor();
            let a = u - 0.5 - low;
            return Some(vec![(place(low as i64), 1.0 - a), (place(low as i64 + 1), a)]);
        }
        let near_an_edge = (u - u.round()).abs() < 1e-3;
        (!near_an_edge).then(|| vec![(place(u.floor() as i64), 1.0)])
    }
}

/// Filters may be a texture unit's.
const ROUGH: &str = "-cl-unsafe-math-optimizations";

const SAMPLE: &str = "
kernel void k(read_only image3d_t solid, read_only image2d_t flat, sampler_t s, global float4 *at, global float4 *out) {
    size_t i = get_global_id(0);
    out[4 * i] = read_imagef(solid, s, at[i]);
    out[4 * i + 1] = read_imagef(flat, s, at[i].xy);
    out[4 * i + 2] = read_imagef(solid, S, at[i]);
    out[4 * i + 3] = read_imagef(flat, S, at[i].xy);
}";

#[test]
fn samplers_address_and_filter() {
    for properties in [0, CL_QUEUE_PROFILING_ENABLE] {
        let t = Session::with(properties);
        for size in [[9, 5, 3], [1, 4, 2], [2, 1, 3]] {
            check_samplers(&t, FLOATS, size, "");
        }
    }
}

/// A GPU has textures of these images.
#[test]
fn samplers_filter_numbers() {
    let t = Session::new();
    for options in ["", ROUGH] {
        check_samplers(&t, Format { order: R, ..FLOATS }, [8, 5, 3], options);
    }
}

/// Samples images of three and two dimensions in all modes.
fn check_samplers(t: &Session, format: Format, size: [usize; 3], options: &str) {
    const COUNT: usize = 203;
    let mut random = Random(2);
    let channels = if format.order == R { 1 } else { 4 };
    let is_exact = options.is_empty() || t.device_info::<u64>(CL_DEVICE_TYPE) != CL_DEVICE_TYPE_GPU;
    // What the conformance tests allow a linear filter.
    let tolerance = if is_exact { 2e-5 } else { 2f64.powi(-7) };
    let values: Vec<f32> = (0..size.iter().product::<usize>() * channels).map(|_| random.unit() as f32).collect();
    let (solid, flat) = (t.image(format, &Desc::new(D3, size)), t.image(format, &Desc::new(D2, [size[0], size[1], 1])));
    t.write_image(&solid, [0; 3], size, [0, 0], &values);
    t.write_image(&flat, [0; 3], [size[0], size[1], 1], [0, 0], &values);
    for mode in Mode::all() {
        let kernel = t.kernel_with(&format!("constant sampler_t S = {};\n{SAMPLE}", mode.constants()), options);
        let coordinate = |random: &mut Random, d: usize| {
            let x = (random.unit() * 4.0 - 1.5) as f32;
            if mode.normalized || d == 3 { x } else { x * size[d] as f32 }
        };
        let at: Vec<f32> = (0..COUNT * 4).map(|i| coordinate(&mut random, i % 4)).collect();
        let (places, out) = (t.buffer_of(&at), t.buffer(0, COUNT * 64));
        let sampler = mode.object(t);
        t.arg_mem(&kernel, 0, &solid);
        t.arg_mem(&kernel, 1, &flat);
        t.arg_mem(&kernel, 2, &sampler);
        t.arg_mem(&kernel, 3, &places);
        t.arg_mem(&kernel, 4, &out);
        t.launch(&kernel, &[COUNT], &[]);
        let got = t.read::<f32>(&out, COUNT * 16);
        let mut compared = 0;
        for (i, at) in at.chunks(4).enumerate() {
            let weights = |d: usize| mode.weights(f64::from(at[d]), size[d]);
            let (Some(x), Some(y), Some(z)) = (weights(0), weights(1), weights(2)) else { continue };
            compared += 1;
            let layer = vec![(Some(0), 1.0)];
            for (which, z) in [&z, &layer, &z, &layer].into_iter().enumerate() {
                for channel in 0..channels {
                    let mut wanted = 0.0;
                    for (k, c) in z {
                        for (j, b) in &y {
                            for (i, a) in &x {
                                let value = i
                                    .zip(*j)
                                    .zip(*k)
                                    .map(|((i, j), k)| values[((k * size[1] + j) * size[0] + i) * channels + channel]);
                                wanted += f64::from(value.unwrap_or(0.0)) * a * b * c;
                            }
                        }
                    }
                    let value = f64::from(got[(i * 4 + which) * 4 + channel]);
                    assert!((value - wanted).abs() < tolerance, "{mode:?} {at:?} {which}: {value} is not {wanted}");
                }
            }
        }
        assert!(compared > COUNT / 2);
    }
}

/// Layers lie one below the other in a texture, and what is read of one is nothing of the next. Elements of 1, 2, 4
/// and 8 bytes of each kind of channel.
#[test]
fn layers_do_not_mix() {
    const SIZE: [usize; 3] = [32, 3, 3];
    let t = Session::new();
    let kernel = t.kernel_with(
        "constant sampler_t S = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR;
         kernel void k(read_only image2d_array_t flat, read_only image1d_array_t line, global float2 *out) {
             int x = get_global_id(0), y = get_global_id(1), a = get_global_id(2);
             float4 f = read_imagef(flat, S, (float4)(x + 1.0f, y, a, 0));
             float4 l = read_imagef(line, S, (float2)(x + 1.0f, a));
             out[(a * 4 + y) * 32 + x] = (float2)(f.x, l.x);
         }",
        ROUGH,
    );
    let mut random = Random(7);
    for order in [R, RG, RGBA] {
        for channel_type in [0x10D0, 0x10D1, 0x10D2, 0x10D3, 0x10DD, 0x10DE] {
            let format = Format { order, channel_type };
            let flat = t.image(format, &Desc::new(D2_ARRAY, SIZE));
            let line = t.image(format, &Desc::new(D1_ARRAY, [32, 3, 1]));
            let size = info::<usize>(|s, v, r| t.clGetImageInfo(flat.h, 0x1111, s, v, r));
            let bytes = elements(&mut random, format, 32 * 9 * size);
            t.write_image(&flat, [0; 3], SIZE, [0, 0], &bytes);
            t.write_image(&line, [0; 3], [32, 3, 1], [0, 0], &bytes[..32 * 3 * size]);
            let out = t.buffer(0, 32 * 4 * 3 * 8);
            t.arg_mem(&kernel, 0, &flat);
            t.arg_mem(&kernel, 1, &line);
            t.arg_mem(&kernel, 2, &out);
            t.launch(&kernel, &[32, 4, 3], &[]);
            let got = t.read::<f32>(&out, 32 * 4 * 3 * 2);
            let value = |row: usize, x: usize| {
                let at = (row * 32 + x.min(31)) * size;
                channels(format, &bytes[at..at + size])[0]
            };
            for (i, got) in got.chunks(2).enumerate() {
                let (x, y, a) = (i % 32, i / 32 % 4, i / 128);
                let mean = |row: usize| 0.5 * (value(row, x) + value(row, x + 1));
                // Halfway between rows, and at the edges within the first and the last one.
                let rows = [3 * a + y.saturating_sub(1), 3 * a + y.min(2)];
                let wanted = [0.5 * (mean(rows[0]) + mean(rows[1])), mean(a)];
                let each = [rows[0], rows[1], a].map(|row| [value(row, x), value(row, x + 1)]);
                let most = each.as_flattened().iter().fold(1.0, |most: f64, v| most.max(v.abs()));
                let near = |c: usize| (f64::from(got[c]) - wanted[c]).abs() < 2f64.powi(-7) * most;
                assert!(near(0) && near(1), "{format:x?} {x} {y} {a}: {got:?} {wanted:?}");
            }
        }
    }
}

#[test]
fn coordinates_of_any_value_stay_inside() {
    let t = Session::new();
    let image = t.image(BYTES, &Desc::new(D2, [4, 4, 1]));
    t.write_image(&image, [0; 3], [4, 4, 1], [0, 0], &[255u8; 64]);
    let wild = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e30, -1e30, 3e9, -3e9, 0.0];
    let at = t.buffer_of(&wild);
    for mode in Mode::all() {
        let kernel = t.kernel(
            "kernel void k(read_only image2d_t i, sampler_t s, global float *at, global float4 *out) {
                size_t n = get_global_id(0);
                out[n] = read_imagef(i, s, (float2)(at[n], at[7 - n]));
            }",
        );
        let (out, sampler) = (t.buffer(0, 8 * 16), mode.object(&t));
        t.arg_mem(&kernel, 0, &image);
        t.arg_mem(&kernel, 1, &sampler);
        t.arg_mem(&kernel, 2, &at);
        t.arg_mem(&kernel, 3, &out);
        t.launch(&kernel, &[8], &[]);
        t.finish();
    }
}

#[test]
fn images_pass_through_functions_and_tell_their_sizes() {
    let t = Session::new();
    let kernel = t.kernel(
        "int area(read_only image2d_t a) { return get_image_width(a) * get_image_height(a); }
        float4 at(read_only image2d_t a, int x) { return read_imagef(a, (int2)(x, 0)); }
        float4 sum(read_only image2d_t a, read_only image2d_t b, int x) { return at(a, x) + at(b, x); }
        kernel void k(read_only image2d_t a, read_only image2d_t b, write_only image2d_array_t c, global float *out) {
            int x = get_global_id(0);
            out[x] = sum(a, b, x).x;
            if (x == 0) {
                int4 more = (int4)(get_image_dim(c), get_image_array_size(c), get_image_channel_order(a));
                out[3] = area(a) + area(b);
                vstore4(convert_float4(more), 1, out);
                out[8] = get_image_channel_data_type(b) == CLK_FLOAT;
            }
        }",
    );
    let (a, b) = (t.image(BYTES, &Desc::new(D2, [3, 2, 1])), t.image(FLOATS, &Desc::new(D2, [3, 5, 1])));
    let layers = t.image(BYTES, &Desc::new(D2_ARRAY, [3, 4, 6]));
    t.write_image(&a, [0; 3], [3, 2, 1], [0, 0], &[51u8; 24]);
    t.write_image(&b, [0; 3], [3, 5, 1], [0, 0], &[0.5f32; 60]);
    let out = t.buffer_of(&[0.0f32; 9]);
    for (i, object) in [&a, &b, &layers, &out].into_iter().enumerate() {
        t.arg_mem(&kernel, i as u32, object);
    }
    t.launch(&kernel, &[3], &[]);
    let got = t.read::<f32>(&out, 9);
    assert!(got[..3].iter().all(|x| (x - 0.7).abs() < 1e-6), "{got:?}");
    assert_eq!(got[3..], [21.0, 3.0, 4.0, 6.0, 4277.0, 1.0]);
    // The same kernel object with other formats.
    t.arg_mem(&kernel, 0, &b);
    t.arg_mem(&kernel, 1, &a);
    t.launch(&kernel, &[3], &[]);
    let got = t.read::<f32>(&out, 9);
    assert!(got[..3].iter().all(|x| (x - 0.7).abs() < 1e-6) && got[8] == 0.0, "{got:?}");
}

#[test]
fn images_of_a_buffer_share_its_bytes() {
    let t = Session::new();
    let buffer = t.buffer_of(&(0..64u8).collect::<Vec<_>>());
    let flat = Desc { row_pitch: 20, parent: buffer.h, ..Desc::new(D2, [3, 3, 1]) };
    let line = Desc { parent: buffer.h, ..Desc::new(D1_BUFFER, [16, 1, 1]) };
    let (flat, line) = (t.image(BYTES, &flat), t.image(BYTES, &line));
    assert_eq!(info::<usize>(|s, v, r| t.clGetImageInfo(flat.h, 0x1118, s, v, r)), buffer.h as usize);
    let kernel = t.kernel(
        "kernel void k(read_only image2d_t flat, read_write image1d_buffer_t line, global uint *out) {
            int i = get_global_id(0);
            out[i] = as_uint(convert_uchar4(read_imagef(flat, (int2)(i, i)) * 255.0f));
            write_imagef(line, 15 - i, (float4)(1.0f));
        }",
    );
    let out = t.buffer(0, 12);
    for (i, object) in [&flat, &line, &out].into_iter().enumerate() {
        t.arg_mem(&kernel, i as u32, object);
    }
    t.launch(&kernel, &[3], &[]);
    let place = |i: u32| u32::from_le_bytes([0, 1, 2, 3].map(|b| (i * 24) as u8 + b));
    assert_eq!(t.read::<u32>(&out, 3), [0, 1, 2].map(place));
    let bytes = t.read::<u8>(&buffer, 64);
    assert!(bytes[52..].iter().all(|&b| b == 255) && bytes[51] == 51, "{bytes:?}");
}

/// The types of images that lie in buffers: the type, its name in OpenCL C, coordinates of a kernel, pitches in
/// elements.
const IN_BUFFERS: [(u32, &str, &str, [usize; 2]); 5] = [
    (D1, "image1d_t", "x", [0, 0]),
    (D1_ARRAY, "image1d_array_t", "(int2)(x, y)", [0, 20]),
    (D2, "image2d_t", "(int2)(x, y)", [10, 0]),
    (D2_ARRAY, "image2d_array_t", "(int4)(x, y, z, 0)", [10, 50]),
    (D3, "image3d_t", "(int4)(x, y, z, 0)", [10, 50]),
];

/// An image of 5 elements a row, 3 rows and 4 slices or layers, as far as its type has them, in a buffer of 32-bit
/// elements; and its size.
fn image_in_buffer(t: &Session, buffer: &Obj, kind: u32, pitches: [usize; 2]) -> (Obj, [usize; 3]) {
    let size = match kind {
        D1 => [5, 1, 1],
        D1_ARRAY | D2 => [5, 3, 1],
        _ => [5, 3, 4],
    };
    let [row_pitch, slice_pitch] = pitches.map(|n| 4 * n);
    // A 1D array has rows that are layers: its slices are multiples of its rows.
    let row_pitch = if kind == D1_ARRAY { 40 } else { row_pitch };
    let format = Format { order: R, channel_type: 0x10DC };
    (t.image(format, &Desc { parent: buffer.h, row_pitch, slice_pitch, ..Desc::new(kind, size) }), size)
}

/// The places in the buffer of all elements of such an image.
fn places(kind: u32, pitches: [usize; 2], size: [usize; 3]) -> Vec<u32> {
    let from_row = if kind == D1_ARRAY { pitches[1] } else { pitches[0] };
    let place = |x: usize, y: usize, z: usize| (x + from_row * y + pitches[1] * z) as u32;
    let row = |y: usize, z: usize| (0..size[0]).map(move |x| place(x, y, z));
    (0..size[2]).flat_map(|z| (0..size[1]).flat_map(move |y| row(y, z))).collect()
}

#[test]
fn images_of_every_type_lie_in_buffers_with_pitches() {
    let t = Session::new();
    let values: Vec<u32> = (0..1024).collect();
    let buffer = t.buffer_of(&values);
    for (kind, image, coordinates, pitches) in IN_BUFFERS {
        let (image_object, size) = image_in_buffer(&t, &buffer, kind, pitches);
        let kernel = t.kernel(&format!(
            "kernel void k(read_only {image} from, global uint *out) {{
                int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
                out[(z * {} + y) * {} + x] = read_imageui(from, {coordinates}).x;
            }}",
            size[1], size[0]
        ));
        let out = t.buffer(0, 4 * size.iter().product::<usize>());
        t.arg_mem(&kernel, 0, &image_object);
        t.arg_mem(&kernel, 1, &out);
        t.launch(&kernel, &size, &[]);
        let wanted = places(kind, pitches, size);
        assert_eq!(t.read::<u32>(&out, wanted.len()), wanted, "{image}");
    }
}

#[test]
fn writes_outside_of_an_image_write_nothing() {
    // A profiling queue waits for optimised code; without, the first launch runs baseline code.
    for properties in [0, CL_QUEUE_PROFILING_ENABLE] {
        let t = Session::with(properties);
        for (kind, image, coordinates, pitches) in IN_BUFFERS {
            let buffer = t.buffer_of(&[7u32; 1024]);
            let (image_object, size) = image_in_buffer(&t, &buffer, kind, pitches);
            let kernel = t.kernel(&format!(
                "kernel void k(write_only {image} to) {{
                    int x = (int)get_global_id(0) - 2, y = (int)get_global_id(1) - 1, z = (int)get_global_id(2) - 1;
                    write_imageui(to, {coordinates}, (uint4)(100 + (z * {} + y) * {} + x));
                }}",
                size[1], size[0]
            ));
            t.arg_mem(&kernel, 0, &image_object);
            // The dimensions that the image has, and in the others one work-item at the coordinate 0.
            let range: [usize; 3] = std::array::from_fn(|d| if size[d] == 1 { 1 } else { [40, 7, 7][d] });
            let offset: [usize; 3] = std::array::from_fn(|d| usize::from(size[d] == 1));
            ok(t.clEnqueueNDRangeKernel(
                t.queue(),
                kernel.h,
                3,
                offset.as_ptr(),
                range.as_ptr(),
                null(),
                0,
                null(),
                null_mut(),
            ));
            let mut wanted = vec![7u32; 1024];
            for (i, place) in places(kind, pitches, size).into_iter().enumerate() {
                wanted[place as usize] = 100 + i as u32;
            }
            assert_eq!(t.read::<u32>(&buffer, 1024), wanted, "{image}");
        }
    }
}

#[test]
fn reads_outside_of_an_image_without_addressing_stay_inside() {
    let t = Session::new();
    let image = t.image(FLOATS, &Desc::new(D2, [5, 3, 1]));
    let values: Vec<f32> = (0..60).map(|i| (i / 4) as f32).collect();
    t.write_image(&image, [0; 3], [5, 3, 1], [0, 0], &values);
    let kernel = t.kernel(
        "constant sampler_t S = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_NONE | CLK_FILTER_NEAREST;
        kernel void k(read_only image2d_t from, global float2 *out, int by) {
            int x = get_global_id(0), y = get_global_id(1);
            int2 at = ((int2)(x, y) - 8) * by;
            out[y * 32 + x] = (float2)(read_imagef(from, at).x, read_imagef(from, S, at).x);
        }",
    );
    let out = t.buffer(0, 32 * 16 * 8);
    // The second takes coordinates to the ends of `int`.
    for by in [1, 1 << 27] {
        t.arg_mem(&kernel, 0, &image);
        t.arg_mem(&kernel, 1, &out);
        t.arg(&kernel, 2, by);
        t.launch(&kernel, &[32, 16], &[]);
        let near = |i: usize, size: i32| (i as i32 - 8).wrapping_mul(by).clamp(0, size - 1);
        let wanted: Vec<f32> =
            (0..16).flat_map(|y| (0..32).flat_map(move |x| [(near(y, 3) * 5 + near(x, 5)) as f32; 2])).collect();
        assert_eq!(t.read::<f32>(&out, 32 * 16 * 2), wanted, "{by}");
    }
}

#[test]
fn normalised_channels_are_correctly_rounded_but_unsigned_bytes() {
    let t = Session::new();
    let (w, h) = (256, 256);
    let kernel = t.kernel(
        "kernel void k(read_only image2d_t from, global float *out) {
            int x = get_global_id(0), y = get_global_id(1);
            out[y * 256 + x] = read_imagef(from, (int2)(x, y)).x;
        }",
    );
    let out = t.buffer(0, w * h * 4);
    for (channel_type, max) in [(0x10D0, 127.0f32), (0x10D1, 32767.0), (0x10D3, 65535.0)] {
        let image = t.image(Format { order: R, channel_type }, &Desc::new(D2, [w, h, 1]));
        let codes: Vec<u16> = (0..=u16::MAX).collect();
        let bytes: Vec<u8> = codes.iter().map(|&c| c as u8).collect();
        let wide = max > 255.0;
        match wide {
            true => t.write_image(&image, [0; 3], [w, h, 1], [0, 0], &codes),
            false => t.write_image(&image, [0; 3], [w, h, 1], [0, 0], &bytes),
        }
        t.arg_mem(&kernel, 0, &image);
        t.arg_mem(&kernel, 1, &out);
        t.launch(&kernel, &[w, h], &[]);
        let number = |code: u16| match channel_type {
            0x10D0 => f32::from(code as u8 as i8),
            0x10D1 => f32::from(code as i16),
            _ => f32::from(code),
        };
        for (&code, got) in codes.iter().zip(t.read::<f32>(&out, w * h)) {
            let wanted = (number(code) / max).max(-1.0);
            assert_eq!(got, wanted, "{channel_type:#x} {code}");
        }
    }
}

#[test]
fn wrong_arguments_are_refused() {
    let t = Session::new();
    let kernel = t.kernel(
        "kernel void k(read_only image2d_t from, write_only image2d_t to, sampler_t s, global int *out) {
            write_imagef(to, (int2)(0), read_imagef(from, s, (int2)(0)));
        }",
    );
    let set = |i: u32, size: usize, h: Handle| t.clSetKernelArg(kernel.h, i, size, (&raw const h).cast());
    let flat = t.image(BYTES, &Desc::new(D2, [4, 4, 1]));
    let solid = t.image(BYTES, &Desc::new(D3, [4, 4, 4]));
    let depth = t.image(Format { order: DEPTH, channel_type: FLOAT }, &Desc::new(D2, [4, 4, 1]));
    let read_only = t.try_image(CL_MEM_READ_ONLY, BYTES, &Desc::new(D2, [4, 4, 1]), null_mut()).expect("an image");
    let (buffer, mode) = (t.buffer(0, 64), Mode { normalized: false, addressing: 1, linear: false });
    let sampler = mode.object(&t);
    ok(set(0, 8, flat.h));
    ok(set(2, 8, sampler.h));
    assert_eq!(set(0, 8, solid.h), CL_INVALID_MEM_OBJECT);
    assert_eq!(set(0, 8, depth.h), CL_INVALID_MEM_OBJECT);
    assert_eq!(set(1, 8, read_only.h), CL_INVALID_ARG_VALUE);
    assert_eq!(set(0, 8, buffer.h), CL_INVALID_MEM_OBJECT);
    assert_eq!(set(0, 8, null_mut()), CL_INVALID_MEM_OBJECT);
    assert_eq!(set(0, 4, flat.h), CL_INVALID_ARG_SIZE);
    assert_eq!(set(2, 8, flat.h), CL_INVALID_SAMPLER);
    assert_eq!(set(2, 4, sampler.h), CL_INVALID_ARG_SIZE);
    assert_eq!(set(3, 8, flat.h), CL_INVALID_MEM_OBJECT);
    let other = t.another_context();
    let mut code = 1;
    let foreign = Obj::sampler(t.clCreateSampler(other.h, 0, 0x1131, 0x1140, &mut code));
    ok(code);
    assert_eq!(set(2, 8, foreign.h), CL_INVALID_CONTEXT);
    let (format, desc) = (BYTES, Desc::new(D2, [4, 4, 1]));
    let (format, desc) = ((&raw const format).cast(), (&raw const desc).cast());
    let foreign = t.clCreateImage(other.h, 0, format, desc, null_mut(), &mut code);
    ok(code);
    assert_eq!(set(0, 8, Obj::mem(foreign).h), CL_INVALID_CONTEXT);
    let (q, mut bytes) = (t.queue(), [0u8; 16]);
    let data = bytes.as_mut_ptr().cast();
    assert_eq!(t.clEnqueueReadBuffer(q, flat.h, 1, 0, 16, data, 0, null(), null_mut()), CL_INVALID_MEM_OBJECT);
}

#[test]
fn a_gpu_has_textures_of_images() {
    let Some(trace) = traced_on_the_gpu(false, &["samplers_filter_numbers", "layers_do_not_mix"]) else { return };
    // Slices and layers are one below the other.
    for size in ["8 by 15", "8 by 5", "32 by 9", "32 by 3"] {
        assert!(trace.contains(&format!("a texture of {size}\n")), "{size}");
    }
}

/// The elements of an image in shared memory need not be where the device wants elements.
#[test]
fn an_image_uses_shared_memory_at_any_address() {
    let t = Session::new();
    if t.device_info::<u64>(CL_DEVICE_SVM_CAPABILITIES) == 0 {
        return;
    }
    let kernel = t.kernel(
        "kernel void k(read_only image2d_t from, write_only image2d_t to, global uint4 *seen) {
           const int2 at = (int2)(get_global_id(0), get_global_id(1));
           seen[at.y * 5 + at.x] = read_imageui(from, at);
           write_imageui(to, at, read_imageui(from, at) + 1);
         }",
    );
    let format = Format { order: CL_RGBA, channel_type: CL_UNSIGNED_INT32 };
    let desc = Desc::new(D2, [5, 3, 1]);
    let values: Vec<u32> = (0..60).map(|i| i * 0x0101_0101).collect();
    for offset in [0, 16, 4, 1] {
        let memory = t.clSVMAlloc(t.context(), CL_MEM_READ_WRITE, 2 * 256, 0);
        let at = |k: usize| memory.cast::<u8>().wrapping_add(256 * k + offset).cast();
        let [from, to] = [0, 1].map(|k| t.try_image(CL_MEM_USE_HOST_PTR, format, &desc, at(k)).expect("an image"));
        t.write_image(&from, [0; 3], [5, 3, 1], [0; 2], &values);
        let seen = t.buffer_of(&[0u32; 60]);
        [&from, &to, &seen].iter().enumerate().for_each(|(i, object)| t.arg_mem(&kernel, i as u32, object));
        drop(t.launch(&kernel, &[5, 3], &[]));
        assert_eq!(t.read::<u32>(&seen, 60), values, "at {offset}");
        let more: Vec<u32> = values.iter().map(|v| v + 1).collect();
        assert_eq!(t.read_image::<u32>(&to, [0; 3], [5, 3, 1], 60), more, "at {offset}");
        drop((from, to));
        t.clSVMFree(t.context(), memory);
    }
}

#[test]
fn a_gpu_has_it_too() {
    on_the_gpu(&["an_image_uses_shared_memory_at_any_address"]);
}
