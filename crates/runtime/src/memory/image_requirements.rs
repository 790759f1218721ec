//! What an image would need, before it is made (`cl_ext_image_requirements_info`).
//!
//! In come the arguments of `clCreateImage`, some of them absent; out goes one number, which is right for all values
//! that an absent argument, or a size of 0, can have.

use crate::memory::image::{layout, most_sizes};
use crate::memory::object::parse_image_flags;
use crate::status::{bail, ensure};
use crate::{Context, ImageDesc, ImageType, Result};
use cloom_caps::image::{ImageFormat, formats};
use std::sync::Arc;

/// What is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ImageRequirement {
    /// The alignment of a base address, a row pitch or a slice pitch, in bytes.
    Alignment,
    /// Bytes of a buffer for it.
    Size,
    /// The largest size in a dimension: width, height, depth, or number of layers.
    Most(usize),
}

const TYPES: [ImageType; 6] =
    [ImageType::D1, ImageType::D1Buffer, ImageType::D1Array, ImageType::D2, ImageType::D2Array, ImageType::D3];

/// `clGetImageRequirementsInfoEXT`
pub fn image_requirement(
    context: &Arc<Context>,
    bits: u64,
    format: Option<ImageFormat>,
    desc: Option<&ImageDesc>,
    what: ImageRequirement,
) -> Result<u64> {
    let limits = context.devices().iter().find_map(|d| d.caps().images);
    let Some(limits) = limits else { bail!(InvalidOperation, "no device of the context has images") };
    let flags = parse_image_flags(bits)?;
    if let Some(f) = format {
        ensure!(f.is_valid(), InvalidImageFormatDescriptor, "{:#x}, {:#x} is no format", f.order, f.channel_type);
    }
    let kinds: Vec<ImageType> = match desc.map_or(0, |d| d.image_type) {
        0 => TYPES.to_vec(),
        number => match ImageType::from_number(number) {
            Some(kind) => vec![kind],
            None => bail!(InvalidImageDescriptor, "{number:#x} is not a type of image"),
        },
    };
    let samples = desc.is_some_and(|d| d.num_mip_levels != 0 || d.num_samples != 0);
    ensure!(!samples, InvalidImageDescriptor, "num_mip_levels and num_samples must be 0");
    let has_sizes = desc.is_none_or(|d| d.image_type == 0 || d.width > 0);
    let is_most = matches!(what, ImageRequirement::Most(_));
    ensure!(has_sizes || is_most, InvalidImageDescriptor, "an image that is 0 wide");
    let element = u64::from(match format {
        Some(format) => format.element_size(),
        None => formats().map(ImageFormat::element_size).max().unwrap_or(1),
    });
    match (what, format, desc) {
        // Elements are as large as a power of two, and aligned to it.
        (ImageRequirement::Alignment, ..) => Ok(element),
        (ImageRequirement::Size, Some(format), Some(desc)) => {
            layout(context, &limits, flags, format, desc, true).map(|(_, bytes)| bytes)
        }
        (ImageRequirement::Size, ..) => bail!(InvalidValue, "the size of an image whose format or sizes are not known"),
        (ImageRequirement::Most(d), _, desc) => {
            let has = |kind: &&ImageType| most_sizes(**kind, &limits)[d] > 1;
            let kinds: Vec<&ImageType> = kinds.iter().filter(has).collect();
            ensure!(!kinds.is_empty(), InvalidImageDescriptor, "images of this type have no such size");
            let largest = context.devices().iter().map(|d| d.max_allocation()).max().unwrap_or(0);
            let given = desc.map_or([0; 4], |desc| [desc.width, desc.height, desc.depth, desc.array_size]);
            let of_kind = |kind: &ImageType| {
                let most = most_sizes(*kind, &limits);
                // The other sizes as given; those that are left open may be as large as they can.
                let other = |i: &usize| *i != d && most[*i] > 1;
                let size = |i: usize| if given[i] == 0 { most[i] } else { given[i] };
                let others = (0..4).filter(other).fold(element, |all, i| all.saturating_mul(size(i)));
                most[d].min(largest / others).max(1)
            };
            Ok(kinds.into_iter().map(of_kind).min().unwrap_or(0))
        }
    }
}
