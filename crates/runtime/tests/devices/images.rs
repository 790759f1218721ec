//! Images on a device with memory of its own: their boxes of elements move as the rows of a plain array would, and
//! kernels find the elements through the descriptor in the memory of their device.

use crate::stub::{Bench, PROGRAM};
use crate::{Random, at_host, program, queue};
use cloom_caps::image::{ImageFormat, channel, order};
use cloom_runtime::host_mem::HostPtr;
use cloom_runtime::{
    CommandType, Context, ImageBox, ImageDesc, ImageType, MapFlags, MemFlags, MemObject, Pitches, Queue, RangeInput,
    RectPair, RectSide,
};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Elements of the images, which are words.
const SIZE: [usize; 3] = [11, 7, 5];
const WORDS: usize = SIZE[0] * SIZE[1] * SIZE[2];

/// A box of an image: where it begins, and its size.
type Place = ([usize; 3], [usize; 3]);

fn random_box(random: &mut Random) -> Place {
    let region = SIZE.map(|size| 1 + random.below(size));
    (std::array::from_fn(|i| random.below(SIZE[i] - region[i] + 1)), region)
}

fn wide(n: [usize; 3]) -> [u64; 3] {
    n.map(|n| n as u64)
}

fn image_box((origin, region): Place) -> ImageBox {
    ImageBox { origin: wide(origin), region: wide(region) }
}

/// The numbers of a box's elements in an array of so many a row and a slice, in order.
fn elements((origin, region): Place, [width, height]: [usize; 2]) -> Vec<usize> {
    let row = |z: usize, y: usize| ((origin[2] + z) * height + origin[1] + y) * width + origin[0];
    (0..region[2])
        .flat_map(|z| (0..region[1]).map(move |y| (z, y)))
        .flat_map(|(z, y)| (0..region[0]).map(move |x| row(z, y) + x))
        .collect()
}

const WHOLE: [usize; 2] = [SIZE[0], SIZE[1]];

/// The host's memory for a box, with or without gaps: the size of its rows and slices, and its bytes.
fn host_block(random: &mut Random, region: [usize; 3]) -> ([usize; 2], Vec<u8>) {
    let gap = |random: &mut Random| if random.below(2) == 0 { 0 } else { random.below(3) };
    let pitches = [region[0] + gap(random), region[1] + gap(random)];
    let bytes = (0..4 * pitches[0] * pitches[1] * region[2]).map(|_| random.below(256) as u8).collect();
    (pitches, bytes)
}

fn word(bytes: &[u8], i: usize) -> u32 {
    u32::from_le_bytes(bytes[4 * i..][..4].try_into().unwrap())
}

/// Memory of the host with these bytes.
fn on_host(bytes: &[u8]) -> Option<HostPtr> {
    Some(HostPtr::of_static(bytes.to_vec().leak()))
}

/// Its bytes now.
fn bytes_of(bench: &Bench, memory: Option<HostPtr>, size: usize) -> Vec<u8> {
    let mut bytes = vec![0; size];
    at_host(bench, memory.unwrap().address(), size as u64).read(0, &mut bytes).unwrap();
    bytes
}

fn pitches([width, height]: [usize; 2]) -> Pitches {
    Pitches { row: 4 * width as u64, slice: 4 * (width * height) as u64 }
}

/// The box that a map shows, from its address.
fn read_map(bench: &Bench, queue: &Arc<Queue>, image: &Arc<MemObject>, at: Place) -> Vec<u32> {
    let (address, _) = queue.map_image(image, true, MapFlags::READ.bits(), image_box(at), &[]).unwrap();
    let shown = elements(([0; 3], at.1), WHOLE);
    let memory = at_host(bench, address, 4 * WORDS as u64);
    let words = shown.iter().map(|&i| {
        let mut bytes = [0; 4];
        memory.read(4 * i as u64, &mut bytes).unwrap();
        u32::from_le_bytes(bytes)
    });
    let words = words.collect();
    queue.unmap(image, address, &[]).unwrap().wait();
    words
}

#[test]
fn random_commands_on_images_do_what_they_do_to_arrays() {
    let bench = Bench::new();
    let context = bench.context();
    let queues = [queue(&context, &bench.cpu), queue(&context, &bench.stub)];
    let triple = program(&context, PROGRAM).kernel("triple").unwrap();
    let format = ImageFormat { order: order::R, channel_type: channel::UNSIGNED_INT32 };
    let [width, height, depth] = wide(SIZE);
    let desc = ImageDesc { image_type: ImageType::D3 as u32, width, height, depth, ..ImageDesc::default() };
    for seed in 0..40 {
        let mut random = Random(seed);
        let images: [_; 2] =
            std::array::from_fn(|_| MemObject::new_image(&context, 0, format, &desc, None, None).unwrap());
        let buffer = MemObject::buffer(&context, 0, 4 * WORDS as u64, None, None).unwrap();
        let mut model = [vec![0u32; WORDS], vec![0u32; WORDS]];
        for (image, words) in images.iter().zip(&mut model) {
            words.iter_mut().for_each(|w| *w = random.below(1 << 31) as u32);
            let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
            let all = image_box(([0; 3], SIZE));
            queues[random.below(2)].write_image(image, true, all, pitches(WHOLE), on_host(&bytes), &[]).unwrap();
        }
        for _ in 0..30 {
            let queue = &queues[random.below(2)];
            let (a, b) = match random.below(2) {
                0 => (0, 1),
                _ => (1, 0),
            };
            let at = random_box(&mut random);
            let here = elements(at, WHOLE);
            match random.below(9) {
                0 => {
                    let (size, bytes) = host_block(&mut random, at.1);
                    let from = on_host(&bytes);
                    queue.write_image(&images[a], true, image_box(at), pitches(size), from, &[]).unwrap();
                    here.iter().zip(elements(([0; 3], at.1), size)).for_each(|(&i, j)| model[a][i] = word(&bytes, j));
                }
                1 => {
                    let (size, bytes) = host_block(&mut random, at.1);
                    let mut expected = bytes.clone();
                    for (&i, j) in here.iter().zip(elements(([0; 3], at.1), size)) {
                        expected[4 * j..][..4].copy_from_slice(&model[a][i].to_le_bytes());
                    }
                    let to = on_host(&bytes);
                    queue.read_image(&images[a], true, image_box(at), pitches(size), to, &[]).unwrap();
                    assert_eq!(
                        bytes_of(&bench, to, bytes.len()),
                        expected,
                        "seed {seed}: the box, and nothing between its rows"
                    );
                }
                2 => {
                    let value = random.below(1 << 31) as u32;
                    queue.fill_image(&images[a], [value, 0, 0, 0], image_box(at), &[]).unwrap().wait();
                    here.iter().for_each(|&i| model[a][i] = value);
                }
                3 => {
                    let to = std::array::from_fn(|i| random.below(SIZE[i] - at.1[i] + 1));
                    let (from, region) = (wide(at.0), wide(at.1));
                    queue.copy_image(&images[a], &images[b], from, wide(to), region, &[]).unwrap().wait();
                    let there = elements((to, at.1), WHOLE);
                    here.iter().zip(there).for_each(|(&i, j)| model[b][j] = model[a][i]);
                }
                4 => {
                    queue.copy_image_to_buffer(&images[a], &buffer, image_box(at), 0, &[]).unwrap().wait();
                    let other = &queues[random.below(2)];
                    let to = random_box(&mut random);
                    let packed = to.1.iter().product::<usize>() <= here.len();
                    let to = if packed { to } else { at };
                    other.copy_buffer_to_image(&buffer, &images[b], 0, image_box(to), &[]).unwrap().wait();
                    let words: Vec<u32> = here.iter().map(|&i| model[a][i]).collect();
                    elements(to, WHOLE).iter().zip(words).for_each(|(&j, word)| model[b][j] = word);
                }
                5 => {
                    let triple = triple.duplicate();
                    triple.set_image_arg(0, &images[a]).unwrap();
                    triple.set_image_arg(1, &images[b]).unwrap();
                    let (offset, global, local) = (None, Some(wide(at.1)), Some([1; 3]));
                    let range = RangeInput { work_dim: 3, offset, global, local };
                    let kind = CommandType::NdRangeKernel;
                    queue.launch(kind, &triple, &range, &[], true).unwrap().unwrap().wait();
                    elements(([0; 3], at.1), WHOLE).iter().for_each(|&i| model[b][i] = model[a][i].wrapping_mul(3));
                }
                6 => {
                    let words: Vec<u32> = here.iter().map(|&i| model[a][i]).collect();
                    assert_eq!(read_map(&bench, queue, &images[a], at), words, "seed {seed}");
                }
                7 => {
                    // Also where the same place is mapped for reading before.
                    let map = |flags: MapFlags| {
                        queue.map_image(&images[a], true, flags.bits(), image_box(at), &[]).unwrap().0
                    };
                    let is_read = random.below(2) == 0;
                    let read = is_read.then(|| map(MapFlags::READ));
                    let address = map([MapFlags::WRITE, MapFlags::WRITE_INVALIDATE_REGION][random.below(2)]);
                    let memory = at_host(&bench, address, 4 * WORDS as u64);
                    for (&i, j) in here.iter().zip(elements(([0; 3], at.1), WHOLE)) {
                        model[a][i] = random.below(1 << 31) as u32;
                        memory.write(4 * j as u64, &model[a][i].to_le_bytes()).unwrap();
                    }
                    queue.unmap(&images[a], address, &[]).unwrap().wait();
                    if let Some(read) = read {
                        let words: Vec<u32> = here.iter().map(|&i| model[a][i]).collect();
                        queue.copy_image_to_buffer(&images[a], &buffer, image_box(at), 0, &[]).unwrap().wait();
                        let mut copied = vec![0; 4 * words.len()];
                        queue.read_slice(&buffer, 0, &mut copied, &[]).unwrap();
                        assert!(
                            (0..words.len()).all(|i| word(&copied, i) == words[i]),
                            "seed {seed}: written by a map"
                        );
                        queue.unmap(&images[a], read, &[]).unwrap().wait();
                    }
                }
                _ => {
                    // The same bytes as a box of a buffer.
                    queue.copy_image_to_buffer(&images[a], &buffer, image_box(([0; 3], SIZE)), 0, &[]).unwrap().wait();
                    let (size, bytes) = host_block(&mut random, at.1);
                    let mut expected = bytes.clone();
                    for (&i, j) in here.iter().zip(elements(([0; 3], at.1), size)) {
                        expected[4 * j..][..4].copy_from_slice(&model[a][i].to_le_bytes());
                    }
                    let side = |origin: [usize; 3], size: [usize; 2]| {
                        let Pitches { row, slice } = pitches(size);
                        let [x, y, z] = wide(origin);
                        RectSide { origin: [4 * x, y, z], row_pitch: row, slice_pitch: slice }
                    };
                    let to = on_host(&bytes);
                    let [w, h, d] = wide(at.1);
                    let (from, host) = (side(at.0, WHOLE), side([0; 3], size));
                    let region = [4 * w, h, d];
                    let rects = RectPair { source: from, target: host, region };
                    queue.read_rect(&buffer, true, &rects, to, &[]).unwrap();
                    assert_eq!(bytes_of(&bench, to, bytes.len()), expected, "seed {seed}: a box of a buffer");
                    let rects = RectPair { source: host, target: from, region };
                    queue.write_rect(&buffer, true, &rects, to, &[]).unwrap();
                    let mut all = vec![0; 4 * WORDS];
                    queue.read_slice(&buffer, 0, &mut all, &[]).unwrap();
                    assert!((0..WORDS).all(|i| word(&all, i) == model[a][i]), "seed {seed}: written back");
                }
            }
        }
        for (image, words) in images.iter().zip(&model) {
            let (all, to) = (image_box(([0; 3], SIZE)), on_host(&[0; 4 * WORDS]));
            queues[random.below(2)].read_image(image, true, all, pitches(WHOLE), to, &[]).unwrap();
            let bytes = bytes_of(&bench, to, 4 * WORDS);
            assert!((0..WORDS).all(|i| word(&bytes, i) == words[i]), "seed {seed}");
        }
    }
}

/// A device takes as long for a row as for much of an image.
#[test]
fn the_content_of_a_new_image_comes_at_once() {
    let bench = Bench::new();
    let context = Context::new(std::slice::from_ref(&bench.stub), None, None).unwrap();
    let queue = queue(&context, &bench.stub);
    let format = ImageFormat { order: order::R, channel_type: channel::UNSIGNED_INT32 };
    let ([width, height, depth], [w, h, d]) = (wide(SIZE), SIZE);
    // Rows and slices that are longer than the image's, the last of which ends with its last element.
    let (row, slice) = (w + 3, (w + 3) * (h + 2));
    let desc = ImageDesc {
        image_type: ImageType::D3 as u32,
        width,
        height,
        depth,
        row_pitch: 4 * row as u64,
        slice_pitch: 4 * slice as u64,
        ..ImageDesc::default()
    };
    let bytes: Vec<u8> = (0..((d - 1) * slice + (h - 1) * row + w) as u32).flat_map(u32::to_le_bytes).collect();
    let copy = MemFlags::COPY_HOST_PTR.bits();
    let image = MemObject::new_image(&context, copy, format, &desc, on_host(&bytes), None).unwrap();
    assert_eq!(bench.stub_hal.writes.load(Ordering::Relaxed), 1);
    let wanted = elements(([0; 3], SIZE), [row, h + 2]).into_iter().map(|i| i as u32).collect::<Vec<_>>();
    let out = on_host(&vec![0; 4 * WORDS]);
    queue.read_image(&image, true, image_box(([0; 3], SIZE)), pitches(WHOLE), out, &[]).unwrap();
    let got = bytes_of(&bench, out, 4 * WORDS);
    assert_eq!((0..WORDS).map(|i| word(&got, i)).collect::<Vec<_>>(), wanted);
}
