//! Textures: rows of elements in global memory, and the values of their channels.

use super::bytes::from_bytes;
use super::soft::{self, Round};

/// The type of a channel of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    /// An unsigned fraction; the number is its size in bytes.
    Unorm(u32),
    /// A signed fraction.
    Snorm(u32),
    /// A float of 2 or 4 bytes.
    Float(u32),
}

impl Channel {
    pub(super) fn size(self) -> u64 {
        match self {
            Channel::Unorm(size) | Channel::Snorm(size) | Channel::Float(size) => size.into(),
        }
    }

    fn value(self, bits: u64) -> f32 {
        match self {
            Channel::Unorm(size) => bits as f32 / ((1u64 << (8 * size)) - 1) as f32,
            Channel::Snorm(size) => {
                let shift = 64 - 8 * size;
                let most = (1u64 << (8 * size - 1)) - 1;
                // The least number is beyond -1: -128 / 127.
                (((bits << shift) as i64 >> shift) as f32 / most as f32).max(-1.0)
            }
            Channel::Float(4) => f32::from_bits(bits as u32),
            Channel::Float(_) => f32::from_bits(widened(bits)),
        }
    }
}

/// Rows of elements in global memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Texture {
    /// Where the first row begins.
    pub address: u64,
    /// Bytes from row to row.
    pub pitch: u64,
    /// Elements of a row.
    pub width: u64,
    /// Rows.
    pub height: u64,
    /// Channels of an element, 1, 2 or 4.
    pub channels: u32,
    /// The type of each channel.
    pub channel: Channel,
}

/// The bits of a half as those of a float.
fn widened(half: u64) -> u32 {
    soft::pack_number(soft::unpack(half, soft::F16), soft::F32, Round::Nearest) as u32
}

impl Texture {
    /// The address of an element.
    pub(super) fn at(&self, x: u64, y: u64) -> u64 {
        self.address + y * self.pitch + x * u64::from(self.channels) * self.channel.size()
    }

    /// A channel of an element. Missing channels are 0, and a missing alpha is 1.
    pub(super) fn channel(&self, bytes: &[u8], channel: u32) -> f32 {
        if channel >= self.channels {
            return if channel == 3 { 1.0 } else { 0.0 };
        }
        let size = self.channel.size() as usize;
        self.channel.value(from_bytes(&bytes[channel as usize * size..][..size]))
    }
}
