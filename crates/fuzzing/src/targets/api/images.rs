//! Images and samplers, for the sequences of calls.
//!
//! Images are small: whatever part of one a command reads or writes at the pitches given here fits the host's memory.

use super::calls::*;
use super::{Handle, Kind, Player, host, ignore};
use std::ffi::c_void as Void;
use std::ptr::{null, null_mut};

/// Orders of channels: those of the specification, and a number that is none.
const ORDERS: [u32; 12] =
    [0x10b0, 0x10b2, 0x10b5, 0x10b6, 0x10b8, 0x10b4, 0x10bd, 0x10c1, 0x10bb, 0x10b3, 0x10bc, 0x1000];
/// Their types, and a number that is none.
const TYPES: [u32; 13] =
    [0x10d2, 0x10d0, 0x10d1, 0x10d3, 0x10d4, 0x10d5, 0x10d7, 0x10d8, 0x10d9, 0x10da, 0x10db, 0x10dd, 0x10ff];
/// Kinds of images, and of another object.
const SHAPES: [u32; 7] = [0x10f1, 0x10f2, 0x10f3, 0x10f4, 0x10f5, 0x10f6, 0x10f0];
/// Pitches in bytes.
const PITCHES: [usize; 7] = [0, 0, 0, 256, 512, 100, 1];

impl Player<'_> {
    /// A width, height or number of images: small, seldom none or absurd.
    fn extent(&mut self, most: u64) -> usize {
        match self.rng.below(40) {
            0 => 0,
            1 => self.number() as usize,
            _ => 1 + self.rng.below(most) as usize,
        }
    }

    fn format(&mut self) -> ImageFormat {
        // Mostly formats that there are.
        if self.rng.chance(70) {
            return ImageFormat { order: 0x10b5, kind: self.rng.pick(&[0x10d2, 0x10da, 0x10de, 0x10d8]) };
        }
        ImageFormat { order: self.rng.pick(&ORDERS), kind: self.rng.pick(&TYPES) }
    }

    pub(super) fn create_image(&mut self, code: *mut i32) {
        let context = self.any(Kind::Context);
        if self.rng.chance(15) {
            let modes =
                [self.rng.below(3) as u32, 0x1130 + self.rng.below(6) as u32, 0x1140 + self.rng.below(3) as u32];
            let h = clCreateSampler(context, modes[0], modes[1], modes[2], code);
            self.keep(Kind::Sampler, h);
            return;
        }
        let format = self.format();
        let shape = self.rng.pick(&SHAPES);
        let parent = match self.rng.below(10) {
            0 => self.any(Kind::Buffer),
            1 => self.any(Kind::Image),
            _ if shape == 0x10f6 => self.any(Kind::Buffer),
            _ => null_mut(),
        };
        let desc = ImageDesc {
            kind: shape,
            width: self.extent(16),
            height: self.extent(16),
            depth: self.extent(8),
            array: self.extent(8),
            row: 0,
            slice: 0,
            levels: u32::from(self.rng.chance(3)),
            samples: u32::from(self.rng.chance(3)),
            parent,
        };
        let small = [desc.width, desc.height, desc.depth, desc.array].iter().all(|&n| n <= 16);
        let flags = self.rng.pick(&[0, 1, 2, 4, 1 | 8, 8, 32, 16, 1 | 128, 256, 4096, 7, 1 << 33]);
        // What is used in place or copied must be there; pitches are for that, and for parents.
        let memory = if small && (flags & 40 != 0 || self.rng.chance(3)) { host() } else { null_mut() };
        let pitched = small && self.rng.chance(30);
        let (row, slice) = if pitched { (self.rng.pick(&PITCHES), self.rng.pick(&PITCHES) * 16) } else { (0, 0) };
        if small || flags & 40 == 0 {
            let desc = ImageDesc { row, slice, ..desc };
            let (format, desc) = (&raw const format, &raw const desc);
            let h =
                clCreateImage(context, flags, format, if self.rng.chance(98) { desc } else { null() }, memory, code);
            self.keep(Kind::Image, h);
        }
    }

    pub(super) fn query_image(&mut self, size: usize, value: *mut Void, out: *mut usize) {
        let low = self.rng.below(16) as u32;
        match self.rng.below(3) {
            0 => ignore(clGetImageInfo(self.any(Kind::Image), 0x1110 + low, size, value, out)),
            1 => ignore(clGetSamplerInfo(self.any(Kind::Sampler), 0x1150 + low % 9, size, value, out)),
            _ => {
                let mut formats = [ImageFormat { order: 0, kind: 0 }; 64];
                let context = self.any(Kind::Context);
                let (flags, shape, most) =
                    (self.rng.pick(&[1, 2, 4, 4096, 3]), self.rng.pick(&SHAPES), self.rng.below(65) as u32);
                clGetSupportedImageFormats(context, flags, shape, most, formats.as_mut_ptr(), null_mut());
            }
        }
    }

    /// A place in an image: mostly inside.
    fn origin(&mut self) -> [usize; 3] {
        [16, 16, 8].map(|most| if self.rng.chance(60) { 0 } else { self.extent(most) })
    }

    /// A part of an image: small, or larger than any image is.
    fn region(&mut self) -> [usize; 3] {
        let part = [16, 16, 8].map(|most| if self.rng.chance(50) { 1 } else { self.extent(most) });
        part.map(|n| if n > 16 { n | 1 << 40 } else { n })
    }

    pub(super) fn enqueue_image(
        &mut self,
        queue: Handle,
        blocking: u32,
        n: u32,
        list: *const Handle,
        place: *mut Handle,
    ) {
        let (image, other, buffer) = (self.any(Kind::Image), self.any(Kind::Image), self.any(Kind::Buffer));
        let (origin, to, region) = (self.origin(), self.origin(), self.region());
        let (o, t, r) = (origin.as_ptr(), to.as_ptr(), region.as_ptr());
        let (row, slice) = (self.rng.pick(&PITCHES), self.rng.pick(&PITCHES) * 16);
        let at = if self.rng.chance(80) { self.rng.below(4096) as usize } else { self.number() as usize };
        match self.rng.below(9) {
            0 => ignore(clEnqueueReadImage(queue, image, blocking, o, r, row, slice, host(), n, list, place)),
            1 => ignore(clEnqueueWriteImage(queue, image, blocking, o, r, row, slice, host(), n, list, place)),
            2 => ignore(clEnqueueCopyImage(queue, image, other, o, t, r, n, list, place)),
            3 => ignore(clEnqueueCopyImageToBuffer(queue, image, buffer, o, r, at, n, list, place)),
            4 => ignore(clEnqueueCopyBufferToImage(queue, buffer, image, at, o, r, n, list, place)),
            5 | 6 => {
                let colour = [self.rng.next(), self.rng.next()];
                clEnqueueFillImage(queue, image, colour.as_ptr().cast(), o, r, n, list, place);
            }
            _ => {
                let (mut pitches, mut code) = ([0usize; 2], 1);
                let [row, slice] = pitches.each_mut().map(|p| &raw mut *p);
                let flags = self.rng.pick(&[1, 2, 3, 4, 5, 0, 99]);
                let row = if self.rng.chance(95) { row } else { null_mut() };
                let slice = if self.rng.chance(90) { slice } else { null_mut() };
                let at = clEnqueueMapImage(queue, image, blocking, flags, o, r, row, slice, n, list, place, &mut code);
                let at = if self.rng.chance(90) { at } else { host() };
                clEnqueueUnmapMemObject(queue, image, at, 0, null(), null_mut());
            }
        }
    }
}
