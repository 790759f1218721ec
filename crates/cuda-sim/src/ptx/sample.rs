//! Texture units: a linear filter of rows of elements.
//!
//! In: a texture, coordinates, and the memory of its rows. Out: four channels, or a fault where a row is not in memory.
//! The arithmetic is that of the CUDA C++ Programming Guide, section on texture fetching: the weights are fixed-point
//! numbers with 8 bits of fraction, and coordinates are clamped to the edge.

use super::fault::Fault;
use super::op::Sample;
use super::thread::{Common, Context, Thread};

/// The two neighbours of a coordinate, and the weight of the second.
fn neighbours(x: f32, size: u64) -> ([u64; 2], f32) {
    // Elements have their values at their centres, so that 0.5 is the first one itself. The clamp keeps the product
    // small, and the cast takes NaN to 0.
    let fixed = ((f64::from(x.clamp(-1e9, 1e9)) - 0.5) * 256.0).round() as i64;
    let (first, weight) = (fixed >> 8, (fixed & 0xFF) as f32 / 256.0);
    ([first, first + 1].map(|i| i.clamp(0, size as i64 - 1) as u64), weight)
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
