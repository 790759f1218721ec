//! Images and samplers for the programs.
//!
//! In come a format, a size and the bytes of the pixels, row by row; out comes an image to pass to kernels, and what it
//! holds afterwards. Not every platform has images, or every format of them: that is an error that says so.

use super::{Arg, Session};
use crate::error::{Error, Result};
use opencl3::memory::{
    self, CL_MEM_OBJECT_IMAGE1D, CL_MEM_OBJECT_IMAGE1D_ARRAY, CL_MEM_OBJECT_IMAGE2D, CL_MEM_OBJECT_IMAGE2D_ARRAY,
    CL_MEM_OBJECT_IMAGE3D, CL_MEM_READ_WRITE, ClMem,
};
use opencl3::types::{CL_BLOCKING, cl_image_desc, cl_image_format};
use std::ptr;

pub use super::format::Format;

/// The type of an image.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// `image1d_t`
    Line,
    /// `image1d_array_t`
    LineArray,
    /// `image2d_t`
    Plane,
    /// `image2d_array_t`
    PlaneArray,
    /// `image3d_t`
    Volume,
}

impl Kind {
    /// The numbers of its size: of an array, the last one counts the images.
    pub fn dimensions(self) -> usize {
        match self {
            Kind::Line => 1,
            Kind::LineArray | Kind::Plane => 2,
            Kind::PlaneArray | Kind::Volume => 3,
        }
    }

    fn object(self) -> u32 {
        match self {
            Kind::Line => CL_MEM_OBJECT_IMAGE1D,
            Kind::LineArray => CL_MEM_OBJECT_IMAGE1D_ARRAY,
            Kind::Plane => CL_MEM_OBJECT_IMAGE2D,
            Kind::PlaneArray => CL_MEM_OBJECT_IMAGE2D_ARRAY,
            Kind::Volume => CL_MEM_OBJECT_IMAGE3D,
        }
    }
}

/// How a sampler reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SamplerState {
    /// Coordinates from 0 to 1, and not those of pixels.
    pub normalised: bool,
    /// Four pixels interpolated, and not the nearest one.
    pub linear: bool,
    /// What is read outside of the image.
    pub address: Address,
}

/// What a sampler reads outside of an image.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Address {
    /// Nothing that is defined.
    None,
    /// The pixel at the edge.
    Edge,
    /// The border colour.
    Border,
    /// The image again.
    Repeat,
    /// The image again, mirrored.
    Mirror,
}

/// A sampler on the device.
pub struct Sampler(memory::Sampler);

impl From<&Sampler> for Arg {
    fn from(sampler: &Sampler) -> Arg {
        Arg::Sampler(sampler.0.get())
    }
}

/// An image on the device.
pub struct Image {
    memory: memory::Image,
    /// How its pixels are stored.
    pub format: Format,
    region: [usize; 3],
    number: u32,
}

impl From<&Image> for Arg {
    fn from(image: &Image) -> Arg {
        Arg::Memory(image.memory.get(), image.number)
    }
}

impl Session {
    /// An image of two dimensions with these pixels, row after row without gaps.
    pub fn upload_image(&self, format: Format, width: usize, height: usize, pixels: &[u8]) -> Result<Image> {
        self.upload_image_of(Kind::Plane, format, &[width, height], pixels)
    }

    /// An image of any type with these pixels, row after row without gaps.
    pub fn upload_image_of(&self, kind: Kind, format: Format, size: &[usize], pixels: &[u8]) -> Result<Image> {
        let bytes = size.iter().try_fold(format.bytes, |n, &side| n.checked_mul(side));
        if size.len() != kind.dimensions() || size.contains(&0) || Some(pixels.len()) != bytes {
            return Err(Error::Params(format!("{} bytes are not {size:?} pixels of {}", pixels.len(), format.name())));
        }
        let known = self.context.get_supported_image_formats(CL_MEM_READ_WRITE, kind.object());
        // A platform without images answers with an error: it knows no format then.
        let known = known.unwrap_or_default();
        let is_wanted =
            |f: &cl_image_format| f.image_channel_order == format.order && f.image_channel_data_type == format.channel;
        let Some(wanted) = known.iter().find(|f| is_wanted(f)) else {
            let device = &self.found.device;
            return Err(Error::Unsupported(format!("{device} has no images of the format {}", format.name())));
        };
        let region: [usize; 3] = std::array::from_fn(|i| size.get(i).copied().unwrap_or(1));
        // Fields that the type does not have must be zero.
        let is = |kinds: &[Kind], side: usize| if kinds.contains(&kind) { region[side] } else { 0 };
        let shape = cl_image_desc {
            image_type: kind.object(),
            image_width: region[0],
            image_height: is(&[Kind::Plane, Kind::PlaneArray, Kind::Volume], 1),
            image_depth: is(&[Kind::Volume], 2),
            image_array_size: is(&[Kind::LineArray], 1).max(is(&[Kind::PlaneArray], 2)),
            image_row_pitch: 0,
            image_slice_pitch: 0,
            num_mip_levels: 0,
            num_samples: 0,
            buffer: ptr::null_mut(),
        };
        // SAFETY: no host pointer is given.
        let made = unsafe { memory::Image::create(&self.context, CL_MEM_READ_WRITE, wanted, &shape, ptr::null_mut()) };
        let mut memory = made.map_err(Error::call(format!("clCreateImage of {size:?}")))?;
        let number = self.next_number();
        let origin = [0; 3];
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
        Ok(Image { memory, format, region, number })
    }

    /// A sampler.
    pub fn sampler(&self, state: SamplerState) -> Result<Sampler> {
        let filter = if state.linear { memory::CL_FILTER_LINEAR } else { memory::CL_FILTER_NEAREST };
        let address = match state.address {
            Address::None => memory::CL_ADDRESS_NONE,
            Address::Edge => memory::CL_ADDRESS_CLAMP_TO_EDGE,
            Address::Border => memory::CL_ADDRESS_CLAMP,
            Address::Repeat => memory::CL_ADDRESS_REPEAT,
            Address::Mirror => memory::CL_ADDRESS_MIRRORED_REPEAT,
        };
        #[allow(deprecated, reason = "a platform of OpenCL 1.2 has no other call")]
        let made = memory::Sampler::create(&self.context, u32::from(state.normalised), address, filter);
        Ok(Sampler(made.map_err(Error::call("clCreateSampler"))?))
    }

    /// An image of floats, so many a pixel.
    pub fn upload_floats(&self, channels: usize, width: usize, height: usize, pixels: &[f32]) -> Result<Image> {
        let bytes: Vec<u8> = pixels.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.upload_image(Format::floats(channels), width, height, &bytes)
    }

    /// The pixels of an image, row after row, after all commands before.
    pub fn read_image(&self, image: &Image) -> Result<Vec<u8>> {
        let region = image.region;
        let mut pixels = vec![0; region.iter().product::<usize>() * image.format.bytes];
        let origin = [0; 3];
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
