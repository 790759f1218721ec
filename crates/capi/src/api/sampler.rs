//! Samplers.

use super::fail;
use crate::args::{In, Out, OutBytes};
use crate::cl;
use crate::handle::{self, Handle};
use crate::info::Info;
use cloom_runtime::{Context, Result, Sampler, Status};

/// A `cl_bool` of a property or an argument.
fn is_true(value: u64) -> Result<bool> {
    match value {
        0 => Ok(false),
        1 => Ok(true),
        _ => fail(Status::InvalidValue, format!("normalized_coords is {value}, neither CL_TRUE nor CL_FALSE")),
    }
}

// OpenCL 3.0 API, 5.7.1: Creating Sampler Objects.
pub fn create(context: Handle<Context>, normalized: u32, addressing: u32, filter: u32) -> Result<Handle<Sampler>> {
    let context = context.get()?;
    handle::create(Sampler::new(&context, is_true(normalized.into())?, addressing, filter, None)?)
}

/// Longer than the number of known properties: the list has no end.
const MAX_PROPERTIES: usize = 64;

// OpenCL 3.0 API, 5.7.1: Creating Sampler Objects.
pub fn create_with_properties(context: Handle<Context>, list: In<u64>) -> Result<Handle<Sampler>> {
    let context = context.get()?;
    // The defaults: normalised coordinates, `CL_ADDRESS_CLAMP` and `CL_FILTER_NEAREST`.
    let (mut normalized, mut addressing, mut filter) = (1, 0x1132, 0x1140);
    let given = list.until(2, MAX_PROPERTIES, |key| *key == 0);
    let mut seen = Vec::new();
    for pair in given.iter().flat_map(|flat| flat.chunks_exact(2)) {
        if seen.contains(&pair[0]) {
            return fail(Status::InvalidValue, format!("the property {:#x} is given twice", pair[0]));
        }
        seen.push(pair[0]);
        let value = u32::try_from(pair[1]).unwrap_or(u32::MAX);
        match u32::try_from(pair[0]) {
            Ok(cl::SAMPLER_NORMALIZED_COORDS) => normalized = pair[1],
            Ok(cl::SAMPLER_ADDRESSING_MODE) => addressing = value,
            Ok(cl::SAMPLER_FILTER_MODE) => filter = value,
            _ => return fail(Status::InvalidValue, format!("the property {:#x} is unknown", pair[0])),
        }
    }
    let given = given.map(|mut flat| {
        flat.push(0);
        flat
    });
    handle::create(Sampler::new(&context, is_true(normalized)?, addressing, filter, given)?)
}

// OpenCL 3.0 API, 5.7.3: Sampler Object Queries.
pub fn info(sampler: Handle<Sampler>, name: u32, size: usize, value: OutBytes, size_ret: Out<usize>) -> Result<()> {
    let object = sampler.get()?;
    let info = Info::new(size, value, size_ret);
    match name {
        cl::SAMPLER_REFERENCE_COUNT => info.value(sampler.references()?),
        cl::SAMPLER_CONTEXT => info.value(handle::borrow(object.context())?),
        cl::SAMPLER_NORMALIZED_COORDS => info.bool(object.normalized()),
        cl::SAMPLER_ADDRESSING_MODE => info.value(object.addressing()),
        cl::SAMPLER_FILTER_MODE => info.value(object.filter()),
        cl::SAMPLER_PROPERTIES => info.array(object.properties().unwrap_or_default()),
        _ => info.unknown(name),
    }
    .map(drop)
}
