//! The names of the library's functions for elements of images of one format.

use cloom_caps::image::{ImageFormat, channel};

/// The channel types that each kind of colour (`f`, `i`, `ui`) has, and their names in the library.
const TYPES: &[(u32, &str, &str)] = &[
    (channel::SNORM_INT8, "f", "snorm8"),
    (channel::SNORM_INT16, "f", "snorm16"),
    (channel::UNORM_INT8, "f", "unorm8"),
    (channel::UNORM_INT16, "f", "unorm16"),
    (channel::UNORM_SHORT_565, "f", "565"),
    (channel::UNORM_SHORT_555, "f", "555"),
    (channel::UNORM_INT_101010, "f", "101010"),
    (channel::SIGNED_INT8, "i", "int8"),
    (channel::SIGNED_INT16, "i", "int16"),
    (channel::SIGNED_INT32, "i", "int32"),
    (channel::UNSIGNED_INT8, "ui", "int8"),
    (channel::UNSIGNED_INT16, "ui", "int16"),
    (channel::UNSIGNED_INT32, "ui", "int32"),
    (channel::HALF_FLOAT, "f", "half"),
    (channel::FLOAT, "f", "float"),
    (channel::UNORM_INT_101010_2, "f", "101010_2"),
    (channel::UNORM_INT_2_101010, "f", "2_101010"),
    (channel::UNORM_INT10X6, "f", "unorm10x6"),
    (channel::UNORM_INT12X4, "f", "unorm12x4"),
    (channel::UNORM_INT14X2, "f", "unorm14x2"),
    (channel::UNSIGNED_INT10X6, "ui", "int10x6"),
    (channel::UNSIGNED_INT12X4, "ui", "int12x4"),
    (channel::UNSIGNED_INT14X2, "ui", "int14x2"),
];

/// The library's function for the elements of one format: in place of `__image_load_f` `__image_load_f_unorm8x4`, for
/// instance. `None` if the format has no such colours, as floats of an image of integers.
pub fn of_format(general: &str, format: ImageFormat) -> Option<String> {
    let letters = general.rsplit('_').next()?;
    let (.., name) = TYPES.iter().find(|t| (t.0, t.1) == (format.channel_type, letters))?;
    // The order says that the colours are sRGB; their elements have a function of their own.
    let is_srgb = format.is_srgb() && format.channel_type == channel::UNORM_INT8;
    let (name, channels) = if is_srgb { ("srgb8", 4) } else { (*name, format.channels()) };
    Some(format!("{general}_{name}x{channels}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cloom_caps::image::{formats, order};

    #[test]
    fn formats_have_functions() {
        let load = |order, channel_type| of_format("__image_load_f", ImageFormat { order, channel_type });
        assert_eq!(load(order::RGBA, channel::UNORM_INT8).as_deref(), Some("__image_load_f_unorm8x4"));
        assert_eq!(load(order::SRGBA, channel::UNORM_INT8).as_deref(), Some("__image_load_f_srgb8x4"));
        assert_eq!(load(order::RGB, channel::UNORM_SHORT_565).as_deref(), Some("__image_load_f_565x4"));
        assert_eq!(load(order::R, channel::FLOAT).as_deref(), Some("__image_load_f_floatx1"));
        assert_eq!(load(order::R, channel::SIGNED_INT32), None);
        let format = ImageFormat { order: order::RG, channel_type: channel::UNSIGNED_INT16 };
        assert_eq!(of_format("__image_store_ui", format).as_deref(), Some("__image_store_ui_int16x2"));
    }

    #[test]
    fn every_format_is_of_one_kind_of_colour() {
        for format in formats() {
            let kinds = ["__image_load_f", "__image_load_i", "__image_load_ui"];
            assert_eq!(kinds.iter().filter(|kind| of_format(kind, format).is_some()).count(), 1, "{format:?}");
        }
    }
}
