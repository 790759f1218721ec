//! The element of an image that has a colour, as `clEnqueueFillImage` writes it.
//!
//! In come red, green, blue and alpha as the application gives them, floats or integers by the format; out go the
//! bytes of an element, converted as kernels convert them (OpenCL C 8.3).

use cloom_caps::image::{ImageFormat, channel, order};
use cloom_ir::Scalar;
use cloom_ir::eval::from_f64;

/// The bits of four floats or integers.
pub(crate) type Color = [u32; 4];

/// The bytes of an element.
pub(crate) fn element(format: ImageFormat, color: Color) -> Vec<u8> {
    let [r, g, b, a] = color;
    let channels: &[u32] = &match format.order {
        order::A => vec![a],
        order::RG => vec![r, g],
        order::RA => vec![r, a],
        order::RGB => vec![r, g, b],
        order::RGBA | order::SRGBA => vec![r, g, b, a],
        order::BGRA | order::SBGRA => vec![b, g, r, a],
        order::ARGB => vec![a, r, g, b],
        order::ABGR => vec![a, b, g, r],
        _ => vec![r],
    };
    let float = |bits: u32| f64::from(f32::from_bits(bits));
    let unorm = |bits: u32, most: f64| scaled(float(bits), 0.0, most) as u32;
    let packed = |fields: &[(f64, u32)]| {
        let each = channels.iter().zip(fields);
        each.fold(0u32, |all, (&bits, &(most, shift))| all | unorm(bits, most) << shift)
    };
    match format.channel_type {
        channel::UNORM_SHORT_565 => (packed(&[(31.0, 11), (63.0, 5), (31.0, 0)]) as u16).to_le_bytes().to_vec(),
        channel::UNORM_SHORT_555 => (packed(&[(31.0, 10), (31.0, 5), (31.0, 0)]) as u16).to_le_bytes().to_vec(),
        channel::UNORM_INT_101010 => packed(&[(1023.0, 20), (1023.0, 10), (1023.0, 0)]).to_le_bytes().to_vec(),
        channel::UNORM_INT_101010_2 => {
            packed(&[(1023.0, 22), (1023.0, 12), (1023.0, 2), (3.0, 0)]).to_le_bytes().to_vec()
        }
        channel::UNORM_INT_2_101010 => {
            packed(&[(3.0, 30), (1023.0, 20), (1023.0, 10), (1023.0, 0)]).to_le_bytes().to_vec()
        }
        _ => {
            // Alpha is linear also in an sRGB format, and the last channel of those with four.
            let is_alpha = |i: usize| i + 1 == channels.len() && channels.len() == 4;
            let each = channels.iter().enumerate();
            each.flat_map(|(i, &bits)| {
                let bits = if format.is_srgb() && !is_alpha(i) { to_srgb(float(bits)).to_bits() } else { bits };
                one(format.channel_type, bits)
            })
            .collect()
        }
    }
}

/// A channel of a type that is one number.
fn one(channel_type: u32, bits: u32) -> Vec<u8> {
    let x = f64::from(f32::from_bits(bits));
    let signed = bits as i32;
    match channel_type {
        channel::SNORM_INT8 => vec![scaled(x, -128.0 / 127.0, 127.0) as i8 as u8],
        channel::UNORM_INT8 => vec![scaled(x, 0.0, 255.0) as u8],
        channel::SNORM_INT16 => (scaled(x, -32768.0 / 32767.0, 32767.0) as i16).to_le_bytes().to_vec(),
        channel::UNORM_INT16 => (scaled(x, 0.0, 65535.0) as u16).to_le_bytes().to_vec(),
        channel::SIGNED_INT8 => vec![signed.clamp(-128, 127) as i8 as u8],
        channel::UNSIGNED_INT8 => vec![bits.min(255) as u8],
        channel::SIGNED_INT16 => (signed.clamp(-32768, 32767) as i16).to_le_bytes().to_vec(),
        channel::UNSIGNED_INT16 => (bits.min(65535) as u16).to_le_bytes().to_vec(),
        channel::UNORM_INT10X6 => high(scaled(x, 0.0, 1023.0), 6),
        channel::UNORM_INT12X4 => high(scaled(x, 0.0, 4095.0), 4),
        channel::UNORM_INT14X2 => high(scaled(x, 0.0, 16383.0), 2),
        channel::UNSIGNED_INT10X6 => high(bits.min(1023).into(), 6),
        channel::UNSIGNED_INT12X4 => high(bits.min(4095).into(), 4),
        channel::UNSIGNED_INT14X2 => high(bits.min(16383).into(), 2),
        channel::HALF_FLOAT => (from_f64(Scalar::F16, x) as u16).to_le_bytes().to_vec(),
        _ => bits.to_le_bytes().to_vec(),
    }
}

/// A number in the high bits of 16.
fn high(number: i64, by: u32) -> Vec<u8> {
    ((number << by) as u16).to_le_bytes().to_vec()
}

/// A normalised number as an integer, to nearest even; no number is 0.
fn scaled(x: f64, least: f64, most: f64) -> i64 {
    // In single precision, as kernels compute it.
    f64::from(x.clamp(least, 1.0) as f32 * most as f32).round_ties_even() as i64
}

/// A linear colour in the sRGB colour space.
fn to_srgb(linear: f64) -> f32 {
    let c = linear.clamp(0.0, 1.0);
    (if c < 0.003_130_8 { c * 12.92 } else { 1.055 * c.powf(1.0 / 2.4) - 0.055 }) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(order: u32, channel_type: u32, color: [f32; 4]) -> Vec<u8> {
        element(ImageFormat { order, channel_type }, color.map(f32::to_bits))
    }

    #[test]
    fn channels_go_where_the_order_says() {
        let color = [0.0, 1.0, 0.5, 0.25];
        assert_eq!(filled(order::RGBA, channel::UNORM_INT8, color), [0, 255, 128, 64]);
        assert_eq!(filled(order::BGRA, channel::UNORM_INT8, color), [128, 255, 0, 64]);
        assert_eq!(filled(order::ARGB, channel::UNORM_INT8, color), [64, 0, 255, 128]);
        assert_eq!(filled(order::A, channel::UNORM_INT8, color), [64]);
        assert_eq!(filled(order::RA, channel::FLOAT, color), [0, 0, 0, 0, 0, 0, 0x80, 0x3e]);
        assert_eq!(
            filled(order::ABGR, channel::UNORM_INT_2_101010, color),
            (1u32 << 30 | 512 << 20 | 1023 << 10).to_le_bytes()
        );
        assert_eq!(filled(order::RG, channel::UNORM_INT10X6, color), [0, 0, 0xc0, 0xff]);
        assert_eq!(filled(order::RGB, channel::UNORM_SHORT_565, [1.0, 0.0, 1.0, 0.0]), [0x1f, 0xf8]);
    }

    #[test]
    fn numbers_saturate() {
        assert_eq!(filled(order::R, channel::SNORM_INT8, [-7.0; 4]), [0x80]);
        assert_eq!(filled(order::R, channel::SNORM_INT16, [f32::NEG_INFINITY; 4]), [0, 0x80]);
        // As kernels write it: what lies just below -1 is not -128 yet.
        assert_eq!(filled(order::R, channel::SNORM_INT8, [-1.003; 4]), [0x81]);
        assert_eq!(filled(order::R, channel::UNORM_INT8, [f32::NAN; 4]), [0]);
        let ints = |channel_type, bits: u32| element(ImageFormat { order: order::R, channel_type }, [bits; 4]);
        assert_eq!(ints(channel::SIGNED_INT8, -300i32 as u32), [0x80]);
        assert_eq!(ints(channel::UNSIGNED_INT16, 70_000), [0xff, 0xff]);
    }
}
