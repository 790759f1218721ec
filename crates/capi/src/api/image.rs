//! Images: creating them, and queries.

use super::fail;
use crate::args::{HostMemory, In, Out, OutBytes};
use crate::cl;
use crate::handle::{self, Handle};
use crate::info::Info;
use cloom_caps::image::ImageFormat;
use cloom_runtime::{
    Context, ImageDesc, ImageRequirement, ImageType, MemFlags, MemObject, Result, Status, image_requirement,
    supported_formats,
};

/// `cl_image_format`
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Format {
    order: u32,
    channel_type: u32,
}

/// `cl_image_desc`
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Desc {
    image_type: u32,
    width: usize,
    height: usize,
    depth: usize,
    array_size: usize,
    row_pitch: usize,
    slice_pitch: usize,
    num_mip_levels: u32,
    num_samples: u32,
    mem_object: Handle<MemObject>,
}

fn format_of(format: In<Format>) -> Result<ImageFormat> {
    match format.get() {
        Some(Format { order, channel_type }) => Ok(ImageFormat { order, channel_type }),
        None => fail(Status::InvalidImageFormatDescriptor, "the image format is NULL"),
    }
}

fn desc_of(desc: In<Desc>) -> Result<ImageDesc> {
    let Some(desc) = desc.get() else {
        return fail(Status::InvalidImageDescriptor, "the image description is NULL");
    };
    let parent = if desc.mem_object.is_null() { None } else { Some(desc.mem_object.get()?) };
    Ok(ImageDesc {
        image_type: desc.image_type,
        width: desc.width as u64,
        height: desc.height as u64,
        depth: desc.depth as u64,
        array_size: desc.array_size as u64,
        row_pitch: desc.row_pitch as u64,
        slice_pitch: desc.slice_pitch as u64,
        num_mip_levels: desc.num_mip_levels,
        num_samples: desc.num_samples,
        parent,
    })
}

// OpenCL 3.0 API, 5.3.1: Creating Image Objects.
pub fn create(
    context: Handle<Context>,
    flags: u64,
    format: In<Format>,
    desc: In<Desc>,
    host: HostMemory,
) -> Result<Handle<MemObject>> {
    let context = context.get()?;
    handle::create(MemObject::new_image(&context, flags, format_of(format)?, &desc_of(desc)?, host.get(), None)?)
}

// OpenCL 3.0 API, 5.3.1: Creating Image Objects.
pub fn create_with_properties(
    context: Handle<Context>,
    list: In<u64>,
    flags: u64,
    format: In<Format>,
    desc: In<Desc>,
    host: HostMemory,
) -> Result<Handle<MemObject>> {
    let context = context.get()?;
    let properties = super::buffer::no_properties(list)?;
    handle::create(MemObject::new_image(&context, flags, format_of(format)?, &desc_of(desc)?, host.get(), properties)?)
}

/// The functions of OpenCL 1.1: what they call a size or a pitch is no description, so that errors differ.
fn create_old(
    context: Handle<Context>,
    flags: u64,
    format: In<Format>,
    desc: &ImageDesc,
    host: HostMemory,
) -> Result<Handle<MemObject>> {
    let context = context.get()?;
    let image = MemObject::new_image(&context, flags, format_of(format)?, desc, host.get(), None);
    match image {
        Err(e) if e.status == Status::InvalidImageDescriptor => fail(Status::InvalidImageSize, e.why),
        image => handle::create(image?),
    }
}

// OpenCL 1.1, 5.3.1: Creating Image Objects.
pub fn create_2d(
    context: Handle<Context>,
    flags: u64,
    format: In<Format>,
    width: usize,
    height: usize,
    pitch: usize,
    host: HostMemory,
) -> Result<Handle<MemObject>> {
    let (width, height, row_pitch) = (width as u64, height as u64, pitch as u64);
    let desc = ImageDesc { image_type: ImageType::D2 as u32, width, height, row_pitch, ..ImageDesc::default() };
    create_old(context, flags, format, &desc, host)
}

// OpenCL 1.1, 5.3.1: Creating Image Objects.
#[allow(clippy::too_many_arguments, reason = "the specification's")]
pub fn create_3d(
    context: Handle<Context>,
    flags: u64,
    format: In<Format>,
    width: usize,
    height: usize,
    depth: usize,
    row_pitch: usize,
    slice_pitch: usize,
    host: HostMemory,
) -> Result<Handle<MemObject>> {
    let desc = ImageDesc {
        image_type: ImageType::D3 as u32,
        width: width as u64,
        height: height as u64,
        depth: depth as u64,
        row_pitch: row_pitch as u64,
        slice_pitch: slice_pitch as u64,
        ..ImageDesc::default()
    };
    create_old(context, flags, format, &desc, host)
}

// OpenCL 3.0 API, 5.3.2: Querying List of Supported Image Formats.
pub fn supported(
    context: Handle<Context>,
    flags: u64,
    kind: u32,
    room: u32,
    formats: OutBytes,
    count: Out<u32>,
) -> Result<()> {
    let context = context.get()?;
    let Some(kind) = ImageType::from_number(kind) else {
        return fail(Status::InvalidValue, format!("{kind:#x} is not a type of image"));
    };
    let access = MemFlags::READ_WRITE | MemFlags::WRITE_ONLY | MemFlags::READ_ONLY;
    let valid = |f: &MemFlags| f.intersection(access).bits().count_ones() <= 1;
    let Some(flags) = MemFlags::from_bits(flags).filter(valid) else {
        let why = format!("memory flags {flags:#x} have unknown bits or give access in ways that exclude each other");
        return fail(Status::InvalidValue, why);
    };
    if room == 0 && !formats.is_null() {
        return fail(Status::InvalidValue, "an array of 0 entries");
    }
    let all: Vec<ImageFormat> =
        if context.has_images() { supported_formats(kind, flags).collect() } else { Vec::new() };
    let words = all.iter().take(room as usize).flat_map(|f| [f.order, f.channel_type]);
    let bytes: Vec<u8> = words.flat_map(u32::to_ne_bytes).collect();
    formats.write(&bytes);
    count.set(all.len() as u32);
    Ok(())
}

/// `clGetImageRequirementsInfoEXT`
#[allow(clippy::too_many_arguments, reason = "the specification's")]
pub fn requirements(
    context: Handle<Context>,
    list: In<u64>,
    flags: u64,
    format: In<Format>,
    desc: In<Desc>,
    name: u32,
    size: usize,
    value: OutBytes,
    size_ret: Out<usize>,
) -> Result<()> {
    let context = context.get()?;
    super::buffer::no_properties(list)?;
    let format = if format.is_null() { None } else { Some(format_of(format)?) };
    let desc = if desc.is_null() { None } else { Some(desc_of(desc)?) };
    let info = Info::new(size, value, size_ret);
    let ask = |what| image_requirement(&context, flags, format, desc.as_ref(), what);
    match name {
        cl::IMAGE_REQUIREMENTS_BASE_ADDRESS_ALIGNMENT_EXT
        | cl::IMAGE_REQUIREMENTS_ROW_PITCH_ALIGNMENT_EXT
        | cl::IMAGE_REQUIREMENTS_SLICE_PITCH_ALIGNMENT_EXT => info.value(ask(ImageRequirement::Alignment)? as usize),
        cl::IMAGE_REQUIREMENTS_SIZE_EXT => info.value(ask(ImageRequirement::Size)? as usize),
        cl::IMAGE_REQUIREMENTS_MAX_WIDTH_EXT => info.value(ask(ImageRequirement::Most(0))? as u32),
        cl::IMAGE_REQUIREMENTS_MAX_HEIGHT_EXT => info.value(ask(ImageRequirement::Most(1))? as u32),
        cl::IMAGE_REQUIREMENTS_MAX_DEPTH_EXT => info.value(ask(ImageRequirement::Most(2))? as u32),
        cl::IMAGE_REQUIREMENTS_MAX_ARRAY_SIZE_EXT => info.value(ask(ImageRequirement::Most(3))? as u32),
        _ => info.unknown(name),
    }
    .map(drop)
}

// OpenCL 3.0 API, 5.3.7: Image Object Queries.
pub fn info(image: Handle<MemObject>, name: u32, size: usize, value: OutBytes, size_ret: Out<usize>) -> Result<()> {
    let object = image.get()?;
    let image = object.image()?;
    let info = Info::new(size, value, size_ret);
    let [width, height, depth, array_size] = image.told_sizes().map(|n| n as usize);
    match name {
        cl::IMAGE_FORMAT => info.array(&[image.format.order, image.format.channel_type]),
        cl::IMAGE_ELEMENT_SIZE => info.value(image.element_size() as usize),
        cl::IMAGE_ROW_PITCH => info.value(image.row_pitch as usize),
        cl::IMAGE_SLICE_PITCH => info.value(image.told_slice_pitch() as usize),
        cl::IMAGE_WIDTH => info.value(width),
        cl::IMAGE_HEIGHT => info.value(height),
        cl::IMAGE_DEPTH => info.value(depth),
        cl::IMAGE_ARRAY_SIZE => info.value(array_size),
        cl::IMAGE_BUFFER => {
            let buffer = object.parent().filter(|parent| parent.as_image().is_none());
            info.value(buffer.map(handle::borrow).transpose()?.unwrap_or(Handle::NULL))
        }
        cl::IMAGE_NUM_MIP_LEVELS | cl::IMAGE_NUM_SAMPLES => info.value(0u32),
        _ => info.unknown(name),
    }
    .map(drop)
}
