//! Images: their formats, written once, and their limits.
//!
//! A format is a channel order and a channel type, with the specification's numbers. From the table come the answers of
//! `clGetSupportedImageFormats`, the checks of new images, the sizes of elements, and the macros of OpenCL C.

use std::str::FromStr;

/// Numbers with their names in Rust and in OpenCL C.
macro_rules! numbers {
    ($(#[$doc:meta])* $module:ident { $($name:ident = $number:literal $c:literal,)* }) => {
        $(#[$doc])*
        #[allow(missing_docs, reason = "the names are those of the specification")]
        pub mod $module {
            $(pub const $name: u32 = $number;)*
            /// The macros of OpenCL C: name and text.
            pub const MACROS: &[(&str, &str)] = &[$((concat!("CLK_", $c), stringify!($number)),)*];
        }
    };
}

numbers! {
    /// `cl_channel_order`
    order {
        R = 0x10B0 "R",
        A = 0x10B1 "A",
        RG = 0x10B2 "RG",
        RA = 0x10B3 "RA",
        RGB = 0x10B4 "RGB",
        RGBA = 0x10B5 "RGBA",
        BGRA = 0x10B6 "BGRA",
        ARGB = 0x10B7 "ARGB",
        INTENSITY = 0x10B8 "INTENSITY",
        LUMINANCE = 0x10B9 "LUMINANCE",
        RX = 0x10BA "Rx",
        RGX = 0x10BB "RGx",
        RGBX = 0x10BC "RGBx",
        DEPTH = 0x10BD "DEPTH",
        SRGB = 0x10BF "sRGB",
        SRGBX = 0x10C0 "sRGBx",
        SRGBA = 0x10C1 "sRGBA",
        SBGRA = 0x10C2 "sBGRA",
        ABGR = 0x10C3 "ABGR",
    }
}

numbers! {
    /// `cl_channel_type`
    channel {
        SNORM_INT8 = 0x10D0 "SNORM_INT8",
        SNORM_INT16 = 0x10D1 "SNORM_INT16",
        UNORM_INT8 = 0x10D2 "UNORM_INT8",
        UNORM_INT16 = 0x10D3 "UNORM_INT16",
        UNORM_SHORT_565 = 0x10D4 "UNORM_SHORT_565",
        UNORM_SHORT_555 = 0x10D5 "UNORM_SHORT_555",
        UNORM_INT_101010 = 0x10D6 "UNORM_INT_101010",
        SIGNED_INT8 = 0x10D7 "SIGNED_INT8",
        SIGNED_INT16 = 0x10D8 "SIGNED_INT16",
        SIGNED_INT32 = 0x10D9 "SIGNED_INT32",
        UNSIGNED_INT8 = 0x10DA "UNSIGNED_INT8",
        UNSIGNED_INT16 = 0x10DB "UNSIGNED_INT16",
        UNSIGNED_INT32 = 0x10DC "UNSIGNED_INT32",
        HALF_FLOAT = 0x10DD "HALF_FLOAT",
        FLOAT = 0x10DE "FLOAT",
        UNORM_INT_101010_2 = 0x10E0 "UNORM_INT_101010_2",
        UNORM_INT10X6 = 0x10E1 "UNORM_INT10X6_EXT",
        UNORM_INT_2_101010 = 0x10E5 "UNORM_INT_2_101010_EXT",
        UNSIGNED_INT10X6 = 0x10E6 "UNSIGNED_INT10X6_EXT",
        UNSIGNED_INT12X4 = 0x10E7 "UNSIGNED_INT12X4_EXT",
        UNSIGNED_INT14X2 = 0x10E8 "UNSIGNED_INT14X2_EXT",
        UNORM_INT12X4 = 0x10E9 "UNORM_INT12X4_EXT",
        UNORM_INT14X2 = 0x10EA "UNORM_INT14X2_EXT",
    }
}

use channel::*;

/// `cl_image_format`
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ImageFormat {
    /// `cl_channel_order`
    pub order: u32,
    /// `cl_channel_type`
    pub channel_type: u32,
}

/// Every channel type that is one number a channel.
const PLAIN: &[u32] = &[
    SNORM_INT8,
    SNORM_INT16,
    UNORM_INT8,
    UNORM_INT16,
    SIGNED_INT8,
    SIGNED_INT16,
    SIGNED_INT32,
    UNSIGNED_INT8,
    UNSIGNED_INT16,
    UNSIGNED_INT32,
    HALF_FLOAT,
    FLOAT,
];
const BYTES: &[u32] = &[SNORM_INT8, UNORM_INT8, SIGNED_INT8, UNSIGNED_INT8];
const NORMALISED: &[u32] = &[SNORM_INT8, SNORM_INT16, UNORM_INT8, UNORM_INT16, HALF_FLOAT, FLOAT];

/// Numbers of 10, 12 or 14 bits, each in the high bits of 16.
const HIGH_BITS: &[u32] =
    &[UNORM_INT10X6, UNORM_INT12X4, UNORM_INT14X2, UNSIGNED_INT10X6, UNSIGNED_INT12X4, UNSIGNED_INT14X2];

/// The channel types of each channel order.
const FORMATS: &[(u32, &[u32])] = &[
    (order::RGBA, PLAIN),
    (order::RGBA, &[UNORM_INT_101010_2]),
    (order::BGRA, BYTES),
    (order::ARGB, BYTES),
    (order::ABGR, BYTES),
    (order::ABGR, &[UNORM_INT_2_101010]),
    (order::RGBA, HIGH_BITS),
    (order::RG, PLAIN),
    (order::RG, HIGH_BITS),
    (order::RA, PLAIN),
    (order::R, PLAIN),
    (order::R, HIGH_BITS),
    (order::A, PLAIN),
    (order::RGB, &[UNORM_SHORT_565, UNORM_SHORT_555, UNORM_INT_101010]),
    (order::INTENSITY, NORMALISED),
    (order::LUMINANCE, NORMALISED),
    (order::DEPTH, &[UNORM_INT16, FLOAT]),
    (order::SRGBA, &[UNORM_INT8]),
    (order::SBGRA, &[UNORM_INT8]),
];

/// Every format that the CPU has.
pub fn formats() -> impl Iterator<Item = ImageFormat> {
    let of_order = |&(order, types): &(u32, &'static [u32])| {
        types.iter().map(move |&channel_type| ImageFormat { order, channel_type })
    };
    FORMATS.iter().flat_map(of_order)
}

/// Reads the names of order and type, `RGBA,UNORM_INT8`, with or without `CL_`.
impl FromStr for ImageFormat {
    type Err = String;

    fn from_str(text: &str) -> Result<ImageFormat, String> {
        let number = |name: &str, names: &[(&'static str, &str)]| {
            let name = name.trim().trim_start_matches("CL_");
            // The names of OpenCL C (`CLK_RGBA`) and of the host (`CL_RGBA`) differ in the prefix alone.
            let known = names.iter().find(|(known, _)| known.trim_start_matches("CLK_") == name)?;
            u32::from_str_radix(known.1.trim_start_matches("0x"), 16).ok()
        };
        let (order, channel_type) = text.split_once(',').unwrap_or((text, ""));
        let order = number(order, order::MACROS);
        let channel_type = number(channel_type, channel::MACROS);
        let format = order.zip(channel_type).map(|(order, channel_type)| ImageFormat { order, channel_type });
        format.filter(|f| formats().any(|known| known == *f)).ok_or_else(|| {
            format!("{text} is no format of an image; an order and a type make one: RGBA,UNORM_INT8 or R,FLOAT")
        })
    }
}

impl ImageFormat {
    /// Whether order and type are numbers of the specification, and may stand together.
    pub fn is_valid(self) -> bool {
        // The ranges also have numbers that the tables leave out, such as 0x10BE, depth with stencil: a format of those
        // is one that no device supports, which is another error than one that does not exist.
        let known = (0x10B0..=0x10C3).contains(&self.order) && (0x10D0..=0x10EA).contains(&self.channel_type);
        let packed = match self.channel_type {
            UNORM_SHORT_565 | UNORM_SHORT_555 | UNORM_INT_101010 => matches!(self.order, order::RGB | order::RGBX),
            UNORM_INT_101010_2 => self.order == order::RGBA,
            UNORM_INT_2_101010 => self.order == order::ABGR,
            high if HIGH_BITS.contains(&high) => matches!(self.order, order::R | order::RG | order::RGBA),
            _ => true,
        };
        let only_normalised = matches!(self.order, order::INTENSITY | order::LUMINANCE);
        let only_bytes = matches!(self.order, order::BGRA | order::ARGB | order::ABGR);
        known
            && packed
            && (!only_normalised || NORMALISED.contains(&self.channel_type))
            && (!only_bytes || BYTES.contains(&self.channel_type) || self.channel_type == UNORM_INT_2_101010)
    }

    /// Whether colours are converted from and to the sRGB colour space.
    pub fn is_srgb(self) -> bool {
        matches!(self.order, order::SRGB | order::SRGBX | order::SRGBA | order::SBGRA)
    }

    /// Whether the channels of an element share one number.
    pub fn is_packed(self) -> bool {
        let types = [UNORM_SHORT_565, UNORM_SHORT_555, UNORM_INT_101010, UNORM_INT_101010_2, UNORM_INT_2_101010];
        types.contains(&self.channel_type)
    }

    /// Channels that an element has in memory. Those of packed types count as four.
    pub fn channels(self) -> u32 {
        match self.order {
            _ if self.is_packed() => 4,
            order::R | order::A | order::INTENSITY | order::LUMINANCE | order::DEPTH => 1,
            order::RG | order::RA | order::RX => 2,
            _ => 4,
        }
    }

    /// Bytes of an element.
    pub fn element_size(self) -> u32 {
        match self.channel_type {
            UNORM_SHORT_565 | UNORM_SHORT_555 => 2,
            UNORM_INT_101010 | UNORM_INT_101010_2 | UNORM_INT_2_101010 => 4,
            SNORM_INT8 | UNORM_INT8 | SIGNED_INT8 | UNSIGNED_INT8 => self.channels(),
            SNORM_INT16 | UNORM_INT16 | SIGNED_INT16 | UNSIGNED_INT16 | HALF_FLOAT => self.channels() * 2,
            high if HIGH_BITS.contains(&high) => self.channels() * 2,
            _ => self.channels() * 4,
        }
    }
}

/// Sizes and counts of images.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ImageLimits {
    /// Width and height of 1D and 2D images.
    pub max_2d: u64,
    /// Width, height and depth of 3D images.
    pub max_3d: u64,
    /// Layers.
    pub max_array: u64,
    /// Elements of a 1D image of a buffer.
    pub max_buffer: u64,
    /// Images that a kernel reads.
    pub read_args: u32,
    /// Images that a kernel writes.
    pub write_args: u32,
    /// Images that a kernel reads and writes.
    pub read_write_args: u32,
    /// Samplers of a kernel.
    pub samplers: u32,
    /// Elements that the row pitch of a 2D image of a buffer is a multiple of.
    pub pitch_alignment: u32,
    /// Elements that the address of an image of a buffer is a multiple of.
    pub base_alignment: u32,
}

/// The limits of devices that reach images as memory.
pub const IMAGE_LIMITS: ImageLimits = ImageLimits {
    max_2d: 16384,
    max_3d: 2048,
    max_array: 2048,
    max_buffer: 1 << 27,
    read_args: 128,
    write_args: 128,
    read_write_args: 128,
    samplers: 16,
    pitch_alignment: 1,
    base_alignment: 1,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_valid_and_listed_once() {
        let all: Vec<ImageFormat> = formats().collect();
        assert!(all.iter().all(|f| f.is_valid()) && all.len() > 70, "{}", all.len());
        assert!(all.iter().enumerate().all(|(i, f)| !all[..i].contains(f)));
        let wrong = [
            (order::R, UNORM_SHORT_565),
            (order::INTENSITY, SIGNED_INT8),
            (order::ARGB, FLOAT),
            (7, FLOAT),
            (order::RGBA, UNORM_INT_2_101010),
            (order::ARGB, UNORM_INT_2_101010),
            (order::BGRA, UNORM_INT10X6),
        ];
        assert!(wrong.iter().all(|&(order, channel_type)| !ImageFormat { order, channel_type }.is_valid()));
    }

    #[test]
    fn formats_have_names() {
        let format = ImageFormat { order: order::RGBA, channel_type: UNORM_INT8 };
        assert_eq!("RGBA,UNORM_INT8".parse(), Ok(format));
        assert_eq!("CL_RGBA, CL_UNORM_INT8".parse(), Ok(format));
        for wrong in ["", "RGBA", "RGBA,", "FLOAT,RGBA", "RGB,FLOAT", "rgba,float"] {
            assert!(wrong.parse::<ImageFormat>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn elements_have_sizes() {
        let formats = [
            (order::RGBA, UNORM_INT8, 4),
            (order::RGBA, FLOAT, 16),
            (order::RGB, UNORM_SHORT_565, 2),
            (order::RG, HALF_FLOAT, 4),
            (order::R, SIGNED_INT8, 1),
            (order::DEPTH, FLOAT, 4),
            (order::RG, UNSIGNED_INT12X4, 4),
            (order::ABGR, UNORM_INT_2_101010, 4),
        ];
        for (order, channel_type, size) in formats {
            assert_eq!(ImageFormat { order, channel_type }.element_size(), size);
        }
    }
}
