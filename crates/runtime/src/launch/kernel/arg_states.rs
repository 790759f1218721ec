//! The images and samplers among the arguments of a kernel, for which its code is specialised.

use super::args::Arg;
use super::{Access, Kernel};
use crate::objects::sampler::USUAL_SAMPLER;
use crate::objects::space::Space;
use cloom_caps::image::{ImageFormat, channel, order};
use cloom_compiler::{ArgState, ArgStates};
use cloom_ir::{KernelMeta, KernelParam, ParamKind};

impl Kernel {
    /// The images and samplers that are set now, for which code is specialised that runs in a space.
    pub(crate) fn arg_states(&self, space: Space) -> ArgStates {
        let mut states = ArgStates::new();
        // Most kernels have neither: their launches take no lock here.
        if !self.is_special {
            return states;
        }
        let mut args = self.args.read();
        for (i, param) in self.meta.params.iter().enumerate() {
            let state = match (param.kind, args.get(i)) {
                (ParamKind::Image, Some(Arg::Buffer(Some(object)))) => object.upgrade().and_then(|object| {
                    let image = object.as_image()?;
                    let ImageFormat { order, channel_type } = image.format;
                    let (is_large, is_column) = (image.is_large(), image.is_column());
                    // A texture unit may not see what the kernel writes.
                    let has_texture = Access::of(param) == Access::ReadOnly && object.has_texture(space);
                    Some(ArgState::Image { order, channel_type, is_large, is_column, has_texture })
                }),
                (ParamKind::Sampler, Some(Arg::Bytes(bytes))) => {
                    bytes.first_chunk().map(|bits| ArgState::Sampler(u32::from_le_bytes(*bits)))
                }
                _ => None,
            };
            states.extend(state.map(|state| (i as u32, state)));
        }
        states
    }
}

/// The states of all images and samplers: those that are known, and for the others the most usual ones.
pub(super) fn expected_states(meta: &KernelMeta, known: &ArgStates) -> ArgStates {
    let state = |(i, param): (u32, &KernelParam)| {
        let known = known.iter().find(|(k, _)| *k == i).map(|(_, state)| *state);
        Some((i, known.or_else(|| usual_state(param))?))
    };
    (0..).zip(&meta.params).filter_map(state).collect()
}

/// What launches pass most often for an image or a sampler: bytes of four channels that count from 0 to 1, and elements
/// by their numbers, the nearest ones, at the edge those of the edge.
fn usual_state(param: &KernelParam) -> Option<ArgState> {
    match param.kind {
        ParamKind::Image => {
            let (order, channel_type) = match param.type_name.contains("depth") {
                true => (order::DEPTH, channel::FLOAT),
                false => (order::RGBA, channel::UNORM_INT8),
            };
            Some(ArgState::Image { order, channel_type, is_large: false, is_column: false, has_texture: false })
        }
        ParamKind::Sampler => Some(ArgState::Sampler(USUAL_SAMPLER)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn param(kind: ParamKind, type_name: &str) -> KernelParam {
        KernelParam {
            name: "p".into(),
            type_name: type_name.into(),
            kind,
            size: 8,
            align: 8,
            is_const: false,
            is_restrict: false,
            is_volatile: false,
            access: 1,
            pointee_align: 1,
        }
    }

    #[test]
    fn what_is_not_set_yet_is_expected_to_be_usual() {
        let params = vec![
            param(ParamKind::Global, "float*"),
            param(ParamKind::Image, "image2d_t"),
            param(ParamKind::Sampler, "sampler_t"),
            param(ParamKind::Image, "image2d_depth_t"),
            param(ParamKind::Image, "image3d_t"),
        ];
        let meta = KernelMeta { params, ..KernelMeta::default() };
        let image = |order, channel_type| ArgState::Image {
            order,
            channel_type,
            is_large: false,
            is_column: false,
            has_texture: false,
        };
        let known = vec![(4, image(order::R, channel::FLOAT))];
        let usual = [
            (1, image(order::RGBA, channel::UNORM_INT8)),
            (2, ArgState::Sampler(0x12)),
            (3, image(order::DEPTH, channel::FLOAT)),
            (4, image(order::R, channel::FLOAT)),
        ];
        assert_eq!(expected_states(&meta, &known), usual);
        assert!(expected_states(&KernelMeta::default(), &ArgStates::new()).is_empty());
    }
}
