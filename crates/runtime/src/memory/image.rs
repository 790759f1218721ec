//! Images: their descriptions, checked; where their elements are; what kernels receive for them.
//!
//! An image is a memory object whose bytes are rows of elements, rows in slices (of a 3D image) or layers (of an
//! array). Devices read and write them in place, whatever the pitches: kernels get the address of a descriptor
//! ([`cloom_ir::abi::image`]), of which each memory space has its own, beside its copy of the bytes.

use crate::memory::object::MemKind;
use crate::memory::region::box_at_start;
use crate::status::{bail, ensure};
use crate::{Context, MemFlags, MemObject, Result};
use cloom_caps::image::{ImageFormat, ImageLimits, channel, formats, order};
use cloom_hal::{Memory, Rect, Texture, TextureChannel, TextureRows};
use cloom_ir::abi::image as abi;
use smallvec::SmallVec;
use std::sync::{Arc, OnceLock};

/// The types of images, with the specification's numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
#[allow(missing_docs, reason = "the names are those of the specification")]
pub enum ImageType {
    D2 = 0x10F1,
    D3 = 0x10F2,
    D2Array = 0x10F3,
    D1 = 0x10F4,
    D1Array = 0x10F5,
    D1Buffer = 0x10F6,
}

impl ImageType {
    /// From a `cl_mem_object_type`.
    pub fn from_number(number: u32) -> Option<ImageType> {
        use ImageType::*;
        [D2, D3, D2Array, D1, D1Array, D1Buffer].into_iter().find(|t| *t as u32 == number)
    }

    fn is_array(self) -> bool {
        matches!(self, ImageType::D1Array | ImageType::D2Array)
    }

    fn is_1d(self) -> bool {
        matches!(self, ImageType::D1 | ImageType::D1Buffer | ImageType::D1Array)
    }

    /// The type of the kernel's parameter for images of this type, apart from depth images.
    fn name(self) -> &'static str {
        match self {
            ImageType::D1 => "image1d_t",
            ImageType::D1Buffer => "image1d_buffer_t",
            ImageType::D1Array => "image1d_array_t",
            ImageType::D2 => "image2d_t",
            ImageType::D2Array => "image2d_array_t",
            ImageType::D3 => "image3d_t",
        }
    }
}

/// `cl_image_desc`: sizes in elements, pitches in bytes, 0 where they are left open.
#[derive(Clone, Default)]
#[allow(missing_docs, reason = "the names are those of the specification")]
pub struct ImageDesc {
    pub image_type: u32,
    pub width: u64,
    pub height: u64,
    pub depth: u64,
    pub array_size: u64,
    pub row_pitch: u64,
    pub slice_pitch: u64,
    pub num_mip_levels: u32,
    pub num_samples: u32,
    /// The buffer or image that has the elements.
    pub parent: Option<Arc<MemObject>>,
}

/// What a memory object that is an image has beside its bytes. Sizes that its type does not have are 1.
pub struct Image {
    /// The format.
    pub format: ImageFormat,
    /// The type.
    pub image_type: ImageType,
    /// Elements of a row.
    pub width: u64,
    /// Rows.
    pub height: u64,
    /// Slices.
    pub depth: u64,
    /// Layers.
    pub array_size: u64,
    /// Bytes from row to row.
    pub row_pitch: u64,
    /// Bytes from slice to slice, or from layer to layer.
    pub slice_pitch: u64,
    /// What kernels get, by memory space.
    pub(super) descriptors: SmallVec<[OnceLock<Descriptor>; 1]>,
}

/// What kernels in one memory space know of an image.
pub(super) struct Descriptor {
    pub bytes: [u8; abi::SIZE],
    /// The bytes, for kernels that get their address.
    pub memory: OnceLock<Arc<dyn Memory>>,
    pub texture: Option<Box<dyn Texture>>,
}

/// The limits of an image's width, height, depth and layers; 1 for what its type does not have.
pub(crate) fn most_sizes(kind: ImageType, limits: &ImageLimits) -> [u64; 4] {
    match kind {
        ImageType::D1Buffer => [limits.max_buffer, 1, 1, 1],
        ImageType::D1 => [limits.max_2d, 1, 1, 1],
        ImageType::D1Array => [limits.max_2d, 1, 1, limits.max_array],
        ImageType::D2 => [limits.max_2d, limits.max_2d, 1, 1],
        ImageType::D2Array => [limits.max_2d, limits.max_2d, 1, limits.max_array],
        ImageType::D3 => [limits.max_3d, limits.max_3d, limits.max_3d, 1],
    }
}

// OpenCL 3.0 API, 5.3.1: Creating Image Objects.
/// The type and sizes of a new image, checked against the limits of the devices.
fn check_sizes(desc: &ImageDesc, limits: &ImageLimits) -> Result<ImageType> {
    let Some(kind) = ImageType::from_number(desc.image_type) else {
        bail!(InvalidImageDescriptor, "{:#x} is not a type of image", desc.image_type);
    };
    let most = most_sizes(kind, limits);
    let sizes = [desc.width, desc.height, desc.depth, desc.array_size];
    for ((size, most), what) in sizes.into_iter().zip(most).zip(["wide", "high", "deep", "layers"]) {
        // Sizes that the type does not have are ignored.
        if most > 1 || what == "wide" {
            ensure!(size > 0, InvalidImageDescriptor, "an image that is 0 {what}");
            ensure!(size <= most, InvalidImageSize, "an image that is {size} {what}; {most} is the limit");
        }
    }
    ensure!(
        desc.num_mip_levels == 0 && desc.num_samples == 0,
        InvalidImageDescriptor,
        "num_mip_levels and num_samples must be 0"
    );
    Ok(kind)
}

/// The format, if the devices have it for such images.
fn check_format(format: ImageFormat, kind: ImageType, flags: MemFlags) -> Result<()> {
    ensure!(
        format.is_valid(),
        InvalidImageFormatDescriptor,
        "channel order {:#x} and channel type {:#x} are no image format",
        format.order,
        format.channel_type
    );
    ensure!(
        supported_formats(kind, flags).any(|f| f == format),
        ImageFormatNotSupported,
        "the image format {:#x}, {:#x} is not supported with these flags",
        format.order,
        format.channel_type
    );
    Ok(())
}

/// The formats of images of a type with these flags.
pub fn supported_formats(kind: ImageType, flags: MemFlags) -> impl Iterator<Item = ImageFormat> {
    let in_one_kernel = flags.contains(MemFlags::KERNEL_READ_AND_WRITE);
    formats().filter(move |f| match f.order {
        // OpenCL C has depth images of these two types only: `image2d_depth_t` and `image2d_array_depth_t`.
        order::DEPTH => matches!(kind, ImageType::D2 | ImageType::D2Array),
        _ => !f.is_srgb() || !in_one_kernel && kind != ImageType::D1Buffer,
    })
}

/// The pitches of an image, settled and checked: from row to row, and from slice to slice.
fn settle_pitches(desc: &ImageDesc, kind: ImageType, row: u64, may_choose: bool) -> Result<(u64, u64)> {
    let (given_row, given_slice) = (desc.row_pitch, desc.slice_pitch);
    ensure!(
        may_choose || given_row == 0 && given_slice == 0,
        InvalidImageDescriptor,
        "pitches without a host_ptr or a buffer that has them"
    );
    let element = row / desc.width.max(1);
    // Of the pitches in a buffer, the alignment has an error code of its own.
    ensure!(
        desc.parent.is_none() || given_row.is_multiple_of(element) && given_slice.is_multiple_of(element),
        InvalidImageFormatDescriptor,
        "the row pitch, {given_row}, or the slice pitch, {given_slice}, is not a multiple of an element's {element} bytes"
    );
    ensure!(
        given_row == 0 || given_row >= row && given_row.is_multiple_of(element),
        InvalidImageDescriptor,
        "the row pitch, {given_row}, is less than a row of {row} bytes, or not a multiple of an element's {element}"
    );
    let row_pitch = if given_row == 0 { row } else { given_row };
    let rows = if kind.is_1d() { 1 } else { desc.height };
    // A product that saturates is refused by the caller, as larger than CL_DEVICE_MAX_MEM_ALLOC_SIZE.
    let slice = row_pitch.saturating_mul(rows);
    let has_slices = kind.is_array() || kind == ImageType::D3;
    ensure!(
        !has_slices || given_slice == 0 || given_slice >= slice && given_slice.is_multiple_of(row_pitch),
        InvalidImageDescriptor,
        "the slice pitch, {given_slice}, is less than a slice of {slice} bytes, or not a multiple of the row pitch"
    );
    // A type without slices has one: its size is that of its rows, whatever pitch was given.
    Ok((row_pitch, if has_slices && given_slice != 0 { given_slice } else { slice }))
}

impl Image {
    /// Bytes of an element.
    pub fn element_size(&self) -> u64 {
        self.format.element_size().into()
    }

    /// Slices or layers.
    pub(super) fn slices(&self) -> u64 {
        self.depth.max(self.array_size)
    }

    /// Bytes from the first to behind the last element, with whole rows and slices.
    pub(super) fn size(&self) -> Option<u64> {
        self.slice_pitch.checked_mul(self.slices())
    }

    /// The slice pitch as queries and maps tell it: 0 where there are no slices.
    pub fn told_slice_pitch(&self) -> u64 {
        if self.image_type.is_array() || self.image_type == ImageType::D3 { self.slice_pitch } else { 0 }
    }

    /// The sizes as queries tell them: 0 where the type has none. Width, height, depth, layers.
    pub fn told_sizes(&self) -> [u64; 4] {
        let kind = self.image_type;
        let when = |has: bool, size: u64| if has { size } else { 0 };
        [
            self.width,
            when(!kind.is_1d(), self.height),
            when(kind == ImageType::D3, self.depth),
            when(kind.is_array(), self.array_size),
        ]
    }

    /// The bytes of a box of elements, where layers of 1D images are rows. Origin and region as the specification has
    /// them for this type of images: 0 and 1 in dimensions that it does not have.
    pub(crate) fn rect(&self, origin: [u64; 3], region: [u64; 3]) -> Result<Rect> {
        let sizes = match self.image_type {
            ImageType::D1 | ImageType::D1Buffer => [self.width, 1, 1],
            ImageType::D1Array => [self.width, self.array_size, 1],
            ImageType::D2 => [self.width, self.height, 1],
            ImageType::D2Array => [self.width, self.height, self.array_size],
            ImageType::D3 => [self.width, self.height, self.depth],
        };
        let inside =
            (0..3).all(|i| region[i] > 0 && origin[i].checked_add(region[i]).is_some_and(|end| end <= sizes[i]));
        ensure!(inside, InvalidValue, "origin {origin:?} and region {region:?} do not lie in an image of {sizes:?}");
        let element = self.element_size();
        // The second coordinate of a 1D array is the layer (OpenCL 3.0, section 5.3.3), so its rows are a slice
        // apart.
        let row_pitch = if self.image_type == ImageType::D1Array { self.slice_pitch } else { self.row_pitch };
        let slice_pitch = self.slice_pitch;
        // No overflow: the coordinates lie in the image, whose size in bytes was checked.
        let start = origin[0] * element + origin[1] * row_pitch + origin[2] * slice_pitch;
        let region = [region[0] * element, region[1], region[2]];
        Ok(Rect { start, row_pitch, slice_pitch, region })
    }

    /// The same box in the host's memory, with pitches as the application gives them.
    pub(crate) fn host_rect(&self, region: [u64; 3], row_pitch: u64, slice_pitch: u64) -> Result<Rect> {
        let row = region[0] * self.element_size();
        let packed = if row_pitch == 0 { row } else { row_pitch };
        ensure!(packed >= row, InvalidValue, "the row pitch, {row_pitch}, is less than a row of {row} bytes");
        let bytes = [row, region[1], region[2]];
        // The layers are the rows of the rectangle, as in `rect`.
        if self.image_type == ImageType::D1Array {
            let layer = if slice_pitch == 0 { packed } else { slice_pitch };
            ensure!(layer >= row, InvalidValue, "the slice pitch, {slice_pitch}, is less than a row of {row} bytes");
            // Each layer is one row, so both pitches are from layer to layer.
            return box_at_start(bytes, layer, layer);
        }
        let slice = packed.saturating_mul(region[1]);
        let slice_pitch = if slice_pitch == 0 { slice } else { slice_pitch };
        ensure!(slice_pitch >= slice, InvalidValue, "the slice pitch is less than a slice of {slice} bytes");
        box_at_start(bytes, packed, slice_pitch)
    }

    /// The parameter type that takes it.
    pub(crate) fn fits(&self, type_name: &str) -> bool {
        let name = self.image_type.name();
        match (self.format.order, name) {
            // OpenCL C has types of their own for depth images.
            (order::DEPTH, "image2d_t") => type_name == "image2d_depth_t",
            (order::DEPTH, "image2d_array_t") => type_name == "image2d_array_depth_t",
            _ => type_name == name,
        }
    }

    /// Whether offsets in it take more than 31 bits.
    pub(crate) fn is_large(&self) -> bool {
        self.size().is_none_or(|size| size > i32::MAX as u64)
    }

    /// Whether its rows have one element only.
    pub(crate) fn is_column(&self) -> bool {
        self.width == 1
    }

    /// Its rows as those of a texture, in memory where they begin at `start`. `None` if texture units do not know the
    /// elements, or a filter would be of no use.
    pub(super) fn texture_rows(&self, start: u64) -> Option<TextureRows> {
        let channel = match self.format.channel_type {
            channel::SNORM_INT8 => TextureChannel::SnormInt8,
            channel::SNORM_INT16 => TextureChannel::SnormInt16,
            channel::UNORM_INT8 if !self.format.is_srgb() => TextureChannel::UnormInt8,
            channel::UNORM_INT16 => TextureChannel::UnormInt16,
            channel::HALF_FLOAT => TextureChannel::HalfFloat,
            channel::FLOAT => TextureChannel::Float,
            _ => return None,
        };
        let rows = self.slice_rows().checked_mul(self.slices())?;
        let channels = self.format.channels();
        Some(TextureRows { start, width: self.width, rows, row_pitch: self.row_pitch, channels, channel })
    }

    /// Rows from slice to slice: `settle_pitches` takes whole numbers of them.
    fn slice_rows(&self) -> u64 {
        self.slice_pitch / self.row_pitch
    }

    /// The descriptor of an image whose elements begin at `data`, with the handle of a texture or 0.
    pub(crate) fn descriptor(&self, data: u64, texture: u64) -> [u8; abi::SIZE] {
        let descriptor = abi::Descriptor {
            data,
            row_pitch: self.row_pitch,
            slice_pitch: self.slice_pitch,
            // The limits of images keep sizes below 2^32.
            width: self.width as u32,
            height: self.height as u32,
            depth: self.depth as u32,
            array_size: self.array_size as u32,
            channel_order: self.format.order,
            channel_type: self.format.channel_type,
            element_size: self.format.element_size(),
            slice_rows: self.slice_rows() as u32,
            texture,
        };
        descriptor.bytes()
    }
}

// OpenCL 3.0 API, 5.3.1: Creating Image Objects.
/// A new image with its sizes and pitches, all checked, and its bytes. `has_pitches`: the application may give them.
pub(crate) fn layout(
    context: &Context,
    limits: &ImageLimits,
    flags: MemFlags,
    format: ImageFormat,
    desc: &ImageDesc,
    has_pitches: bool,
) -> Result<(Image, u64)> {
    ensure!(
        format.is_valid(),
        InvalidImageFormatDescriptor,
        "channel order {:#x} and channel type {:#x} are no image format",
        format.order,
        format.channel_type
    );
    let kind = check_sizes(desc, limits)?;
    check_format(format, kind, flags)?;
    // No overflow: `check_sizes` has limited the width.
    let row = desc.width * u64::from(format.element_size());
    let (row_pitch, slice_pitch) = match &desc.parent {
        None => settle_pitches(desc, kind, row, has_pitches)?,
        Some(parent) => match &parent.kind {
            // An image of an image shows the same rows, so it has their pitches.
            MemKind::Image { image, .. } => (image.row_pitch, image.slice_pitch),
            _ => settle_pitches(desc, kind, row, true)?,
        },
    };
    let size = |has: bool, size: u64| if has { size } else { 1 };
    let image = Image {
        format,
        image_type: kind,
        width: desc.width,
        height: size(!kind.is_1d(), desc.height),
        depth: size(kind == ImageType::D3, desc.depth),
        array_size: size(kind.is_array(), desc.array_size),
        row_pitch,
        slice_pitch,
        descriptors: (0..context.spaces()).map(|_| OnceLock::new()).collect(),
    };
    // As for a buffer: too large only if it is too large for every device.
    let largest = context.devices().iter().map(|d| d.max_allocation()).max().unwrap_or(0);
    let Some(bytes) = image.size().filter(|&size| size <= largest) else {
        bail!(InvalidImageSize, "the image has more bytes than CL_DEVICE_MAX_MEM_ALLOC_SIZE, {largest}");
    };
    Ok((image, bytes))
}
