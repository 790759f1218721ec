//! What code is specialised on beside the launch: the formats of images and the states of samplers.

use serde::{Deserialize, Serialize};

/// The state that a launch passes for one parameter.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum ArgState {
    /// An image.
    Image {
        /// Its `cl_channel_order`.
        order: u32,
        /// Its `cl_channel_type`.
        channel_type: u32,
        /// Whether offsets in it need more than 31 bits.
        is_large: bool,
        /// Whether its rows have only one element.
        is_column: bool,
        /// Whether its descriptor has a texture.
        has_texture: bool,
    },
    /// A sampler: its bits.
    Sampler(u32),
}

/// The states that a launch passes for the images and samplers of a kernel: the number of each parameter and its state,
/// in order.
pub type ArgStates = Vec<(u32, ArgState)>;
