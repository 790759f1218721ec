//! Samplers: how kernels address and filter images.

use crate::status::{bail, ensure};
use crate::{Context, ExternalSlot, Result};
use std::sync::Arc;

/// A sampler.
pub struct Sampler {
    /// What the interface keeps.
    pub external: ExternalSlot,
    context: Arc<Context>,
    normalized: bool,
    addressing: u32,
    filter: u32,
    properties: Option<Vec<u64>>,
}

/// `CL_ADDRESS_NONE`; the modes that follow are CLAMP_TO_EDGE, CLAMP, REPEAT and MIRRORED_REPEAT.
const ADDRESS_NONE: u32 = 0x1130;
/// `CL_FILTER_NEAREST`; `CL_FILTER_LINEAR` follows.
const FILTER_NEAREST: u32 = 0x1140;

/// The bits of a sampler with `CL_FILTER_NEAREST`, `CL_ADDRESS_CLAMP_TO_EDGE` and coordinates that are not normalised.
pub(crate) const USUAL_SAMPLER: u32 = cloom_ir::abi::image::sampler(false, 1, false);

impl Sampler {
    // OpenCL 3.0 API, 5.7.1: Creating Sampler Objects.
    /// A sampler with `cl_addressing_mode` and `cl_filter_mode`.
    pub fn new(
        context: &Arc<Context>,
        normalized: bool,
        addressing: u32,
        filter: u32,
        properties: Option<Vec<u64>>,
    ) -> Result<Arc<Sampler>> {
        ensure!(context.has_images(), InvalidOperation, "no device of the context has images");
        let (mode, kind) = (addressing.wrapping_sub(ADDRESS_NONE), filter.wrapping_sub(FILTER_NEAREST));
        ensure!(mode < 5, InvalidValue, "{addressing:#x} is not an addressing mode");
        ensure!(kind < 2, InvalidValue, "{filter:#x} is not a filter mode");
        if mode >= 3 && !normalized {
            bail!(InvalidValue, "CL_ADDRESS_REPEAT and CL_ADDRESS_MIRRORED_REPEAT need normalized coordinates");
        }
        let external = ExternalSlot::default();
        Ok(Arc::new(Sampler { external, context: context.clone(), normalized, addressing, filter, properties }))
    }

    /// The context.
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// Whether coordinates are normalised.
    pub fn normalized(&self) -> bool {
        self.normalized
    }

    /// `cl_addressing_mode`
    pub fn addressing(&self) -> u32 {
        self.addressing
    }

    /// `cl_filter_mode`
    pub fn filter(&self) -> u32 {
        self.filter
    }

    /// The properties as the application gave them.
    pub fn properties(&self) -> Option<&[u64]> {
        self.properties.as_deref()
    }

    /// The argument of a kernel: the bits of [`cloom_ir::abi::image`].
    pub(crate) fn bits(&self) -> u32 {
        cloom_ir::abi::image::sampler(self.normalized, self.addressing - ADDRESS_NONE, self.filter != FILTER_NEAREST)
    }
}
