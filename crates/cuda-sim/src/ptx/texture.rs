//! Texture units: a linear filter of rows of elements.
//!
//! In: a texture, coordinates, and the memory of its rows. Out: four channels, or a fault where a row is not in memory.
//! The arithmetic is that of the CUDA C++ Programming Guide, section on texture fetching: the weights are fixed-point
//! numbers with 8 bits of fraction, and coordinates are clamped to the edge.

use super::access::from_bytes;
use super::fault::Fault;
use super::op::Sample;
use super::soft::{self, Round};
use super::thread::{Common, Context, Thread};

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
    fn size(self) -> u64 {
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

/// The two neighbours of a coordinate, and the weight of the second.
fn neighbours(x: f32, size: u64) -> ([u64; 2], f32) {
    // NaN is 0.
    let fixed = ((f64::from(x.clamp(-1e9, 1e9)) - 0.5) * 256.0).round() as i64;
    let (first, weight) = (fixed >> 8, (fixed & 0xFF) as f32 / 256.0);
    ([first, first + 1].map(|i| i.clamp(0, size as i64 - 1) as u64), weight)
}

impl Texture {
    /// The address of an element.
    fn at(&self, x: u64, y: u64) -> u64 {
        self.address + y * self.pitch + x * u64::from(self.channels) * self.channel.size()
    }

    /// A channel of an element. Missing channels are 0, and a missing alpha is 1.
    fn channel(&self, bytes: &[u8], channel: u32) -> f32 {
        if channel >= self.channels {
            return if channel == 3 { 1.0 } else { 0.0 };
        }
        let size = self.channel.size() as usize;
        self.channel.value(from_bytes(&bytes[channel as usize * size..][..size]))
    }
}

impl Thread {
    /// Samples a texture.
    pub(super) fn sample(
        &mut self,
        cx: &Context<'_>,
        common: &Common,
        line: u32,
        sample: &Sample,
    ) -> Result<(), Fault> {
        let handle = self.read(cx, common, sample.texture);
        let [x, y] = sample.at.map(|at| f32::from_bits(self.read(cx, common, at) as u32));
        let fails = |address, size| {
            let place = self.place(line, common);
            Err(Fault::Access { place, space: "texture", address, size, write: false })
        };
        let Some(texture) = cx.memory.texture(handle) else { return fails(handle, 0) };
        let ((columns, a), (rows, b)) = (neighbours(x, texture.width), neighbours(y, texture.height));
        let size = texture.channels * texture.channel.size() as u32;
        let mut colour = [0f32; 4];
        for (row, weight) in rows.into_iter().zip([1.0 - b, b]) {
            for (column, part) in columns.into_iter().zip([1.0 - a, a]) {
                let address = texture.at(column, row);
                let Some(element) = cx.memory.bytes(address).get(..size as usize) else { return fails(address, size) };
                // An element without weight does not count: its value may not be finite.
                if weight * part > 0.0 {
                    for (sum, i) in colour.iter_mut().zip(0..) {
                        *sum += weight * part * texture.channel(element, i);
                    }
                }
            }
        }
        for (&dst, value) in sample.dst.iter().zip(colour) {
            self.write(dst, value.to_bits().into());
        }
        Ok(())
    }
}
