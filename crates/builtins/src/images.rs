//! The names of the library's functions for elements of images of one format.

/// The channel types that each kind of colour (`f`, `i`, `ui`) has, and their names in the library.
const TYPES: &[(u32, &str, &str)] = &[
    (0x10D0, "f", "snorm8"),
    (0x10D1, "f", "snorm16"),
    (0x10D2, "f", "unorm8"),
    (0x10D3, "f", "unorm16"),
    (0x10D4, "f", "565"),
    (0x10D5, "f", "555"),
    (0x10D6, "f", "101010"),
    (0x10D7, "i", "int8"),
    (0x10D8, "i", "int16"),
    (0x10D9, "i", "int32"),
    (0x10DA, "ui", "int8"),
    (0x10DB, "ui", "int16"),
    (0x10DC, "ui", "int32"),
    (0x10DD, "f", "half"),
    (0x10DE, "f", "float"),
    (0x10E0, "f", "101010_2"),
];

/// The channels of a packed element count as four.
fn is_packed(channel_type: u32) -> bool {
    matches!(channel_type, 0x10D4..=0x10D6 | 0x10E0)
}

/// How many channels an element has in memory, by its `cl_channel_order`. Packed types have their own layout.
pub fn channels(order: u32) -> u32 {
    match order {
        // R, A, INTENSITY, LUMINANCE, DEPTH
        0x10B0 | 0x10B1 | 0x10B8 | 0x10B9 | 0x10BD => 1,
        // RG, RA, Rx
        0x10B2 | 0x10B3 | 0x10BA => 2,
        _ => 4,
    }
}

/// The bytes of an element of a format, by its `cl_channel_order` and `cl_channel_type`.
pub fn element_size(order: u32, channel_type: u32) -> u32 {
    match channel_type {
        0x10D4 | 0x10D5 => 2,
        0x10D6 | 0x10E0 => 4,
        0x10D0 | 0x10D2 | 0x10D7 | 0x10DA => channels(order),
        0x10D1 | 0x10D3 | 0x10D8 | 0x10DB | 0x10DD => channels(order) * 2,
        _ => channels(order) * 4,
    }
}

/// The library's function for the elements of one format: in place of `__image_load_f` `__image_load_f_unorm8x4`, for
/// instance. `None` if the format has no such colours, as floats of an image of integers.
pub fn of_format(general: &str, order: u32, channel_type: u32) -> Option<String> {
    let letters = general.rsplit('_').next()?;
    let (.., name) = TYPES.iter().find(|t| (t.0, t.1) == (channel_type, letters))?;
    let is_srgb = (0x10BF..=0x10C2).contains(&order) && channel_type == 0x10D2;
    let name = if is_srgb { "srgb8" } else { name };
    let channels = if is_packed(channel_type) || is_srgb { 4 } else { channels(order) };
    Some(format!("{general}_{name}x{channels}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_have_functions() {
        let load = |order, ty| of_format("__image_load_f", order, ty);
        assert_eq!(load(0x10B5, 0x10D2).as_deref(), Some("__image_load_f_unorm8x4"));
        assert_eq!(load(0x10C1, 0x10D2).as_deref(), Some("__image_load_f_srgb8x4"));
        assert_eq!(load(0x10B4, 0x10D4).as_deref(), Some("__image_load_f_565x4"));
        assert_eq!(load(0x10B0, 0x10DE).as_deref(), Some("__image_load_f_floatx1"));
        assert_eq!(load(0x10B0, 0x10D9), None);
        assert_eq!(of_format("__image_store_ui", 0x10B2, 0x10DB).as_deref(), Some("__image_store_ui_int16x2"));
    }

    #[test]
    fn elements_have_sizes() {
        let formats = [(0x10B5, 0x10D2), (0x10B5, 0x10DE), (0x10B4, 0x10D4), (0x10B2, 0x10DD), (0x10B0, 0x10D7)];
        assert_eq!(formats.map(|(order, ty)| element_size(order, ty)), [4, 16, 2, 4, 1]);
    }
}
