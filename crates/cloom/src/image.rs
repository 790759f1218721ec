//! Images and samplers. In come slices of elements, out come slices of elements.

use crate::{Error, Pod, Queue};
use bytemuck::{cast_slice, cast_slice_mut};
use cloom_runtime as rt;
use std::fmt;
use std::sync::Arc;

pub use cloom_runtime::{ImageFormat, channel, order};

/// `CL_MEM_OBJECT_IMAGE1D`, `CL_MEM_OBJECT_IMAGE2D` and `CL_MEM_OBJECT_IMAGE3D`.
const TYPES: [u32; 3] = [0x10F4, 0x10F1, 0x10F2];

/// An image of one to three dimensions. Reads and writes wait for the launches before them on the context's own queue.
/// Cheap to clone; all clones are one image.
#[derive(Clone)]
pub struct Image {
    pub(crate) runtime: Arc<rt::MemObject>,
    queue: Queue,
    format: ImageFormat,
    size: [usize; 3],
}

impl Image {
    pub(crate) fn new<const N: usize>(
        context: &Arc<rt::Context>,
        queue: &Queue,
        format: ImageFormat,
        size: [usize; N],
    ) -> Result<Image, Error> {
        const { assert!(N >= 1 && N <= 3, "an image has one to three dimensions") };
        let size: [usize; 3] = std::array::from_fn(|d| size.get(d).copied().unwrap_or(1));
        let [width, height, depth] = size.map(|n| n as u64);
        let desc = rt::ImageDesc { image_type: TYPES[N - 1], width, height, depth, ..rt::ImageDesc::default() };
        let runtime = rt::MemObject::new_image(context, 0, format, &desc, None, None)?;
        Ok(Image { runtime, queue: queue.clone(), format, size })
    }

    /// Its format.
    pub fn format(&self) -> ImageFormat {
        self.format
    }

    /// Its width, height and depth; 1 in the dimensions that it does not have.
    pub fn size(&self) -> [usize; 3] {
        self.size
    }

    fn whole(&self) -> rt::ImageBox {
        rt::ImageBox { origin: [0; 3], region: self.size.map(|n| n as u64) }
    }

    /// Overwrites the image with a slice of all its elements, row by row: `&[[u8; 4]]` for RGBA of 8 bits.
    ///
    /// # Errors
    /// When the slice has another number of bytes.
    pub fn write<T: Pod>(&self, from: &[T]) -> Result<(), Error> {
        Ok(self.queue.runtime.write_image_slice(&self.runtime, self.whole(), cast_slice(from))?)
    }

    /// Copies the image into a slice of all its elements, row by row.
    ///
    /// # Errors
    /// When the slice has another number of bytes.
    pub fn read<T: Pod>(&self, to: &mut [T]) -> Result<(), Error> {
        Ok(self.queue.runtime.read_image_slice(&self.runtime, self.whole(), cast_slice_mut(to))?)
    }

    /// A copy of all its elements, row by row: `to_vec::<[u8; 4]>()` for RGBA of 8 bits.
    ///
    /// # Errors
    /// When `T` has another size than an element.
    pub fn to_vec<T: Pod>(&self) -> Result<Vec<T>, Error> {
        let mut data = vec![T::zeroed(); self.size.iter().product()];
        self.read(&mut data)?;
        Ok(data)
    }
}

impl fmt::Debug for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Image").field("format", &self.format).field("size", &self.size).finish_non_exhaustive()
    }
}

/// What a read outside of an image gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Addressing {
    /// Nothing that is defined: the kernel does not read there.
    None,
    /// The nearest element.
    #[default]
    ClampToEdge,
    /// The border colour.
    Clamp,
    /// The image repeats; for normalised coordinates.
    Repeat,
    /// The image repeats in turns mirrored; for normalised coordinates.
    MirroredRepeat,
}

/// How a sampler reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SamplerOptions {
    /// Whether coordinates go from 0 to 1.
    pub normalized: bool,
    /// What a read outside of the image gives.
    pub addressing: Addressing,
    /// Whether elements are interpolated linearly.
    pub linear: bool,
}

/// A sampler. Cheap to clone; all clones are one sampler.
#[derive(Clone)]
pub struct Sampler {
    pub(crate) runtime: Arc<rt::Sampler>,
}

impl Sampler {
    pub(crate) fn new(context: &Arc<rt::Context>, options: SamplerOptions) -> Result<Sampler, Error> {
        // `CL_ADDRESS_NONE` and `CL_FILTER_NEAREST`; the others follow.
        let addressing = 0x1130
            + match options.addressing {
                Addressing::None => 0,
                Addressing::ClampToEdge => 1,
                Addressing::Clamp => 2,
                Addressing::Repeat => 3,
                Addressing::MirroredRepeat => 4,
            };
        let filter = 0x1140 + u32::from(options.linear);
        Ok(Sampler { runtime: rt::Sampler::new(context, options.normalized, addressing, filter, None)? })
    }
}

impl fmt::Debug for Sampler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let normalized = self.runtime.normalized();
        f.debug_struct("Sampler").field("normalized", &normalized).finish_non_exhaustive()
    }
}
