//! Images for tests: descriptions as C has them, and short forms of the calls.

use super::*;

/// `cl_image_format`
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Format {
    pub order: u32,
    pub channel_type: u32,
}

pub const R: u32 = 0x10B0;
pub const RG: u32 = 0x10B2;
pub const RGBA: u32 = 0x10B5;
pub const BGRA: u32 = 0x10B6;
pub const DEPTH: u32 = 0x10BD;
pub const UNORM_INT8: u32 = 0x10D2;
pub const SIGNED_INT32: u32 = 0x10D9;
pub const FLOAT: u32 = 0x10DE;

/// Four bytes.
pub const BYTES: Format = Format { order: RGBA, channel_type: UNORM_INT8 };
/// Four floats.
pub const FLOATS: Format = Format { order: RGBA, channel_type: FLOAT };

pub const D2: u32 = 0x10F1;
pub const D3: u32 = 0x10F2;
pub const D2_ARRAY: u32 = 0x10F3;
pub const D1: u32 = 0x10F4;
pub const D1_ARRAY: u32 = 0x10F5;
pub const D1_BUFFER: u32 = 0x10F6;

/// `cl_image_desc`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Desc {
    pub image_type: u32,
    pub width: usize,
    pub height: usize,
    pub depth: usize,
    pub array_size: usize,
    pub row_pitch: usize,
    pub slice_pitch: usize,
    pub mip_levels: u32,
    pub samples: u32,
    pub parent: Handle,
}

impl Desc {
    /// Width, height (of 1D arrays: layers), and depth or layers.
    pub fn new(image_type: u32, [width, height, depth]: [usize; 3]) -> Desc {
        let (height, array_size) = match image_type {
            D1_ARRAY => (0, height),
            D2_ARRAY => (height, depth),
            _ => (height, 0),
        };
        let depth = if image_type == D3 { depth } else { 0 };
        let (row_pitch, slice_pitch, mip_levels, samples, parent) = (0, 0, 0, 0, null_mut());
        Desc { image_type, width, height, depth, array_size, row_pitch, slice_pitch, mip_levels, samples, parent }
    }
}

impl Session {
    pub fn try_image(&self, flags: u64, format: Format, desc: &Desc, data: Handle) -> Result<Obj, i32> {
        let mut code = 1;
        let (format, desc) = ((&raw const format).cast(), std::ptr::from_ref(desc).cast());
        let image = self.clCreateImage(self.context(), flags, format, desc, data, &mut code);
        if code == 0 { Ok(Obj::mem(image)) } else { Err(code) }
    }

    #[track_caller]
    pub fn image(&self, format: Format, desc: &Desc) -> Obj {
        self.try_image(0, format, desc, null_mut()).map_err(code_name).expect("an image")
    }

    #[track_caller]
    pub fn write_image<T>(&self, image: &Obj, origin: [usize; 3], region: [usize; 3], pitches: [usize; 2], from: &[T]) {
        let (q, data) = (self.queue(), from.as_ptr().cast());
        let (o, r) = (origin.as_ptr(), region.as_ptr());
        ok(self.clEnqueueWriteImage(q, image.h, 1, o, r, pitches[0], pitches[1], data, 0, null(), null_mut()));
    }

    #[track_caller]
    pub fn read_image<T: Plain>(&self, image: &Obj, origin: [usize; 3], region: [usize; 3], count: usize) -> Vec<T> {
        let mut values = vec![T::default(); count];
        let (q, data) = (self.queue(), values.as_mut_ptr().cast());
        let (o, r) = (origin.as_ptr(), region.as_ptr());
        ok(self.clEnqueueReadImage(q, image.h, 1, o, r, 0, 0, data, 0, null(), null_mut()));
        values
    }

    /// The formats of a type of images.
    pub fn formats(&self, flags: u64, image_type: u32) -> Vec<Format> {
        let mut count = 0;
        ok(self.clGetSupportedImageFormats(self.context(), flags, image_type, 0, null(), &mut count));
        let mut all = vec![Format::default(); count as usize];
        let list = all.as_mut_ptr().cast_const().cast();
        ok(self.clGetSupportedImageFormats(self.context(), flags, image_type, count, list, null_mut()));
        all
    }
}
