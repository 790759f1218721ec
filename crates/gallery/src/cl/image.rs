//! Images of two dimensions for the programs.
//!
//! In come a format, a size and the bytes of the pixels, row by row; out comes an image to pass to kernels, and what it
//! holds afterwards. Not every platform has images, or every format of them: that is an error that says so.

use super::{Arg, Session};
use crate::error::{Error, Result};
use opencl3::memory::{self, CL_MEM_OBJECT_IMAGE2D, CL_MEM_READ_WRITE, ClMem};
use opencl3::types::{CL_BLOCKING, cl_image_desc, cl_image_format};
use std::ptr;

/// How a pixel is stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Format {
    /// Its name in OpenCL, without `CL_`.
    pub name: &'static str,
    order: u32,
    channel: u32,
    /// Bytes of a pixel.
    pub bytes: usize,
}

const fn format(name: &'static str, order: u32, channel: u32, bytes: usize) -> Format {
    Format { name, order, channel, bytes }
}

impl Format {
    /// One channel of bytes from 0 to 1.
    pub const R_UNORM8: Format = format("R, UNORM_INT8", memory::CL_R, memory::CL_UNORM_INT8, 1);
    /// Four channels of bytes from 0 to 1.
    pub const RGBA_UNORM8: Format = format("RGBA, UNORM_INT8", memory::CL_RGBA, memory::CL_UNORM_INT8, 4);
    /// The same with blue first.
    pub const BGRA_UNORM8: Format = format("BGRA, UNORM_INT8", memory::CL_BGRA, memory::CL_UNORM_INT8, 4);
    /// Four channels of 16 bits from 0 to 1.
    pub const RGBA_UNORM16: Format = format("RGBA, UNORM_INT16", memory::CL_RGBA, memory::CL_UNORM_INT16, 8);
    /// Four channels of half.
    pub const RGBA_HALF: Format = format("RGBA, HALF_FLOAT", memory::CL_RGBA, memory::CL_HALF_FLOAT, 8);
    /// One float.
    pub const R_FLOAT: Format = format("R, FLOAT", memory::CL_R, memory::CL_FLOAT, 4);
    /// Two floats.
    pub const RG_FLOAT: Format = format("RG, FLOAT", memory::CL_RG, memory::CL_FLOAT, 8);
    /// Four floats.
    pub const RGBA_FLOAT: Format = format("RGBA, FLOAT", memory::CL_RGBA, memory::CL_FLOAT, 16);

    /// That of so many floats.
    pub fn floats(channels: usize) -> Format {
        match channels {
            1 => Format::R_FLOAT,
            2 => Format::RG_FLOAT,
            _ => Format::RGBA_FLOAT,
        }
    }
}

/// An image of two dimensions on the device.
pub struct Image {
    memory: memory::Image,
    format: Format,
    width: usize,
    height: usize,
    number: u32,
}

impl From<&Image> for Arg {
    fn from(image: &Image) -> Arg {
        Arg::Memory(image.memory.get(), image.number)
    }
}

impl Session {
    /// An image with these pixels, row after row without gaps.
    pub fn upload_image(&self, format: Format, width: usize, height: usize, pixels: &[u8]) -> Result<Image> {
        if width == 0 || Some(pixels.len()) != width.checked_mul(height).and_then(|n| n.checked_mul(format.bytes)) {
            return Err(Error::Params(format!("{} bytes are not {width}x{height} of {}", pixels.len(), format.name)));
        }
        let known = self.context.get_supported_image_formats(CL_MEM_READ_WRITE, CL_MEM_OBJECT_IMAGE2D);
        let known = known.unwrap_or_default();
        let is_wanted =
            |f: &cl_image_format| f.image_channel_order == format.order && f.image_channel_data_type == format.channel;
        let Some(wanted) = known.iter().find(|f| is_wanted(f)) else {
            let device = &self.found.device;
            return Err(Error::Unsupported(format!("{device} has no images of the format {}", format.name)));
        };
        let shape = cl_image_desc {
            image_type: CL_MEM_OBJECT_IMAGE2D,
            image_width: width,
            image_height: height,
            image_depth: 0,
            image_array_size: 0,
            image_row_pitch: 0,
            image_slice_pitch: 0,
            num_mip_levels: 0,
            num_samples: 0,
            buffer: ptr::null_mut(),
        };
        // SAFETY: no host pointer is given.
        let made = unsafe { memory::Image::create(&self.context, CL_MEM_READ_WRITE, wanted, &shape, ptr::null_mut()) };
        let mut memory = made.map_err(Error::call(format!("clCreateImage of {width}x{height}")))?;
        let number = self.next_number();
        let (origin, region) = ([0; 3], [width, height, 1]);
        // SAFETY: the region is the whole image, which has as many bytes, and the call returns after the copy.
        unsafe {
            self.queue.enqueue_write_image(
                &mut memory,
                CL_BLOCKING,
                origin.as_ptr(),
                region.as_ptr(),
                0,
                0,
                pixels.as_ptr().cast_mut().cast(),
                &[],
            )
        }
        .map_err(Error::call("clEnqueueWriteImage"))?;
        Ok(Image { memory, format, width, height, number })
    }

    /// An image of floats, so many a pixel.
    pub fn upload_floats(&self, channels: usize, width: usize, height: usize, pixels: &[f32]) -> Result<Image> {
        let bytes: Vec<u8> = pixels.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.upload_image(Format::floats(channels), width, height, &bytes)
    }

    /// The pixels of an image, row after row, after all commands before.
    pub fn read_image(&self, image: &Image) -> Result<Vec<u8>> {
        let mut pixels = vec![0; image.width * image.height * image.format.bytes];
        let (origin, region) = ([0; 3], [image.width, image.height, 1]);
        // SAFETY: the region is the whole image, for which there is room, and the call blocks.
        unsafe {
            self.queue.enqueue_read_image(
                &image.memory,
                CL_BLOCKING,
                origin.as_ptr(),
                region.as_ptr(),
                0,
                0,
                pixels.as_mut_ptr().cast(),
                &[],
            )
        }
        .map_err(Error::call("clEnqueueReadImage"))?;
        Ok(pixels)
    }

    /// The floats of an image of floats.
    pub fn read_floats(&self, image: &Image) -> Result<Vec<f32>> {
        let bytes = self.read_image(image)?;
        let (floats, _) = bytes.as_chunks();
        Ok(floats.iter().map(|&b| f32::from_le_bytes(b)).collect())
    }
}
