//! Formats of images: their names, and how the components of a pixel are stored.

use half::f16;
use opencl3::memory;

/// How a pixel is stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Format {
    pub(super) order: u32,
    pub(super) channel: u32,
    /// Bytes of a pixel.
    pub bytes: usize,
}

/// A channel order: its name in OpenCL, its number, and which of red, green, blue and opacity a pixel stores.
type Order = (&'static str, u32, &'static [usize]);

const ORDERS: &[Order] = &[
    ("R", memory::CL_R, &[0]),
    ("A", memory::CL_A, &[3]),
    ("RG", memory::CL_RG, &[0, 1]),
    ("RA", memory::CL_RA, &[0, 3]),
    ("RGBA", memory::CL_RGBA, &[0, 1, 2, 3]),
    ("BGRA", memory::CL_BGRA, &[2, 1, 0, 3]),
    ("ARGB", memory::CL_ARGB, &[3, 0, 1, 2]),
    ("ABGR", memory::CL_ABGR, &[3, 2, 1, 0]),
    ("sRGBA", memory::CL_sRGBA, &[0, 1, 2, 3]),
    ("LUMINANCE", memory::CL_LUMINANCE, &[0]),
    ("INTENSITY", memory::CL_INTENSITY, &[0]),
    ("DEPTH", memory::CL_DEPTH, &[0]),
];

/// The type of a component.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Channel {
    /// An integer that stands for a number from 0 or -1 to 1.
    Norm {
        bytes: usize,
        signed: bool,
    },
    /// An integer.
    Int {
        bytes: usize,
        signed: bool,
    },
    Half,
    Float,
}

const CHANNELS: &[(&str, u32, Channel)] = &[
    ("UNORM_INT8", memory::CL_UNORM_INT8, Channel::Norm { bytes: 1, signed: false }),
    ("UNORM_INT16", memory::CL_UNORM_INT16, Channel::Norm { bytes: 2, signed: false }),
    ("SNORM_INT8", memory::CL_SNORM_INT8, Channel::Norm { bytes: 1, signed: true }),
    ("SNORM_INT16", memory::CL_SNORM_INT16, Channel::Norm { bytes: 2, signed: true }),
    ("SIGNED_INT8", memory::CL_SIGNED_INT8, Channel::Int { bytes: 1, signed: true }),
    ("SIGNED_INT16", memory::CL_SIGNED_INT16, Channel::Int { bytes: 2, signed: true }),
    ("SIGNED_INT32", memory::CL_SIGNED_INT32, Channel::Int { bytes: 4, signed: true }),
    ("UNSIGNED_INT8", memory::CL_UNSIGNED_INT8, Channel::Int { bytes: 1, signed: false }),
    ("UNSIGNED_INT16", memory::CL_UNSIGNED_INT16, Channel::Int { bytes: 2, signed: false }),
    ("UNSIGNED_INT32", memory::CL_UNSIGNED_INT32, Channel::Int { bytes: 4, signed: false }),
    ("HALF_FLOAT", memory::CL_HALF_FLOAT, Channel::Half),
    ("FLOAT", memory::CL_FLOAT, Channel::Float),
];

impl Channel {
    const fn bytes(self) -> usize {
        match self {
            Channel::Norm { bytes, .. } | Channel::Int { bytes, .. } => bytes,
            Channel::Half => 2,
            Channel::Float => 4,
        }
    }
}

/// The largest number of an integer of so many bytes, and the smallest one.
fn range(bytes: usize, signed: bool) -> (f64, f64) {
    let bits = 8 * bytes as i32;
    if signed { (2f64.powi(bits - 1) - 1.0, -2f64.powi(bits - 1)) } else { (2f64.powi(bits) - 1.0, 0.0) }
}

const fn format(order: u32, channel: u32, bytes: usize) -> Format {
    Format { order, channel, bytes }
}

impl Format {
    /// One channel of bytes from 0 to 1.
    pub const R_UNORM8: Format = format(memory::CL_R, memory::CL_UNORM_INT8, 1);
    /// Four channels of bytes from 0 to 1.
    pub const RGBA_UNORM8: Format = format(memory::CL_RGBA, memory::CL_UNORM_INT8, 4);
    /// The same with blue first.
    pub const BGRA_UNORM8: Format = format(memory::CL_BGRA, memory::CL_UNORM_INT8, 4);
    /// Four channels of 16 bits from 0 to 1.
    pub const RGBA_UNORM16: Format = format(memory::CL_RGBA, memory::CL_UNORM_INT16, 8);
    /// Four channels of half.
    pub const RGBA_HALF: Format = format(memory::CL_RGBA, memory::CL_HALF_FLOAT, 8);
    /// One float.
    pub const R_FLOAT: Format = format(memory::CL_R, memory::CL_FLOAT, 4);
    /// Two floats.
    pub const RG_FLOAT: Format = format(memory::CL_RG, memory::CL_FLOAT, 8);
    /// Four floats.
    pub const RGBA_FLOAT: Format = format(memory::CL_RGBA, memory::CL_FLOAT, 16);
    /// A depth in a float.
    pub const DEPTH_FLOAT: Format = format(memory::CL_DEPTH, memory::CL_FLOAT, 4);

    /// `cl_channel_order` and `cl_channel_type`.
    pub fn numbers(self) -> (u32, u32) {
        (self.order, self.channel)
    }

    /// That of so many floats.
    pub fn floats(channels: usize) -> Format {
        match channels {
            1 => Format::R_FLOAT,
            2 => Format::RG_FLOAT,
            _ => Format::RGBA_FLOAT,
        }
    }

    /// The format of a text such as `RGBA,UNORM_INT8` or `r,float`: the names in OpenCL, without regard to case. An
    /// error lists the names.
    pub fn named(text: &str) -> Result<Format, String> {
        let (order, channel) = text.split_once([',', '-']).unwrap_or((text, "UNORM_INT8"));
        let order = ORDERS.iter().find(|o| o.0.eq_ignore_ascii_case(order.trim()));
        let channel = CHANNELS.iter().find(|c| c.0.eq_ignore_ascii_case(channel.trim()));
        match (order, channel) {
            (Some((_, order, components)), Some((_, number, channel))) => {
                Ok(format(*order, *number, components.len() * channel.bytes()))
            }
            _ => {
                let orders: Vec<&str> = ORDERS.iter().map(|o| o.0).collect();
                let channels: Vec<&str> = CHANNELS.iter().map(|c| c.0).collect();
                Err(format!(
                    "`{text}` is no format: give ORDER,TYPE with an order of {} and a type of {}",
                    orders.join(", "),
                    channels.join(", ")
                ))
            }
        }
    }

    fn order(&self) -> Order {
        *ORDERS.iter().find(|o| o.1 == self.order).unwrap_or(&ORDERS[0])
    }

    fn channel(&self) -> (&'static str, Channel) {
        let found = CHANNELS.iter().find(|c| c.1 == self.channel).unwrap_or(&CHANNELS[0]);
        (found.0, found.2)
    }

    /// Its name in OpenCL, without `CL_`.
    pub fn name(&self) -> String {
        format!("{}, {}", self.order().0, self.channel().0)
    }

    /// How many components a pixel stores.
    pub fn components(&self) -> usize {
        self.order().2.len()
    }

    /// Whether the components are integers that stand for themselves.
    pub fn is_integer(&self) -> bool {
        matches!(self.channel().1, Channel::Int { .. })
    }

    /// A pixel of these components: red, green, blue, opacity. Numbers beyond the format's range become its ends.
    pub fn encode(&self, pixel: [f64; 4]) -> Vec<u8> {
        let channel = self.channel().1;
        let one = |v: f64| -> Vec<u8> {
            match channel {
                Channel::Norm { bytes, signed } => {
                    let (high, low) = range(bytes, signed);
                    ((v * high).round().clamp(low, high) as i64).to_le_bytes()[..bytes].to_vec()
                }
                Channel::Int { bytes, signed } => {
                    let (high, low) = range(bytes, signed);
                    (v.clamp(low, high) as i64).to_le_bytes()[..bytes].to_vec()
                }
                Channel::Half => f16::from_f64(v).to_le_bytes().to_vec(),
                Channel::Float => (v as f32).to_le_bytes().to_vec(),
            }
        };
        self.order().2.iter().flat_map(|&i| one(pixel[i])).collect()
    }

    /// The components of a pixel, in the order in which they are stored.
    pub fn stored(&self, pixel: &[u8]) -> Vec<f64> {
        let channel = self.channel().1;
        let integer = |b: &[u8], signed: bool| -> f64 {
            let mut wide = [0u8; 8];
            wide[..b.len().min(8)].copy_from_slice(&b[..b.len().min(8)]);
            // Up to the top of the word and down again: an arithmetic shift extends the sign.
            let shift = 64 - 8 * b.len().clamp(1, 8) as u32;
            let bits = u64::from_le_bytes(wide);
            if signed { ((bits << shift) as i64 >> shift) as f64 } else { bits as f64 }
        };
        let one = |b: &[u8]| match channel {
            // The smallest integer, such as -128 over 127, would be below -1.
            Channel::Norm { bytes, signed } => (integer(b, signed) / range(bytes, signed).0).max(-1.0),
            Channel::Int { signed, .. } => integer(b, signed),
            Channel::Half => b.first_chunk().map_or(0.0, |b| f16::from_le_bytes(*b).to_f64()),
            Channel::Float => b.first_chunk().map_or(0.0, |b| f64::from(f32::from_le_bytes(*b))),
        };
        pixel.chunks_exact(channel.bytes()).map(one).collect()
    }

    /// The components of a pixel: red, green, blue, opacity. What is not stored is 0, and the opacity 1; a pixel of
    /// one component is grey.
    pub fn decode(&self, pixel: &[u8]) -> [f64; 4] {
        let stored = self.stored(pixel);
        if let ([v], [0]) = (&stored[..], self.order().2) {
            return [*v, *v, *v, 1.0];
        }
        let mut out = [0.0, 0.0, 0.0, 1.0];
        self.order().2.iter().zip(stored).for_each(|(&i, v)| out[i] = v);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_known_by_their_names_and_pixels_come_back() {
        assert_eq!(Format::named("rgba").unwrap(), Format::RGBA_UNORM8);
        assert_eq!(Format::named("R,float").unwrap(), Format::R_FLOAT);
        assert_eq!(Format::named("rgba-half_float").unwrap(), Format::RGBA_HALF);
        assert_eq!(Format::RGBA_UNORM16.name(), "RGBA, UNORM_INT16");
        assert!(Format::named("cmyk").unwrap_err().contains("sRGBA") && Format::named("r,int9").is_err());
        for name in ["rgba", "bgra", "rgba,float", "argb", "abgr,half_float"] {
            let f = Format::named(name).unwrap();
            let bytes = f.encode([1.0, 0.0, 0.2, 1.0]);
            assert_eq!(bytes.len(), f.bytes, "{name}");
            let back = f.decode(&bytes);
            assert!([1.0, 0.0, 0.2, 1.0].iter().zip(back).all(|(a, b)| (a - b).abs() < 1e-3), "{name}: {back:?}");
        }
        let ints = Format::named("rg,signed_int8").unwrap();
        assert_eq!(ints.encode([-200.0, 7.0, 0.0, 0.0]), [0x80, 7]);
        assert_eq!(ints.decode(&[0x80, 7]), [-128.0, 7.0, 0.0, 1.0]);
        assert_eq!(Format::R_FLOAT.decode(&0.5f32.to_le_bytes()), [0.5, 0.5, 0.5, 1.0]);
    }
}
