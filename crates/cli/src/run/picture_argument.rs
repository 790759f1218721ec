//! Images and samplers as arguments of a kernel of a file: `--arg in=@picture.png`, `--arg out=640x480:rgba,float`,
//! `--arg s=linear,repeat,normalized`.

use super::shape;
use cloom_gallery::Picture;
use cloom_gallery::image::{Address, Format, Kind, SamplerState};
use cloom_ir::abi::image as abi;
use std::path::Path;

/// Bytes of one image, at most.
const MAX_BYTES: usize = 1 << 30;

/// An image before the launch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ImageValue {
    pub kind: Kind,
    pub format: Format,
    pub size: Vec<usize>,
    pub pixels: Vec<u8>,
}

impl ImageValue {
    /// What a kernel gets of the image, whose elements are at that address, row after row without gaps.
    pub fn descriptor(&self, elements: u64) -> abi::Descriptor {
        let [width, second, third] = std::array::from_fn(|i| self.size.get(i).map_or(1, |&n| n as u32));
        let (height, depth, array_size) = match self.kind {
            Kind::Line | Kind::Plane => (second, 1, 1),
            Kind::LineArray => (1, 1, second),
            Kind::PlaneArray => (second, 1, third),
            Kind::Volume => (second, third, 1),
        };
        let (channel_order, channel_type) = self.format.numbers();
        let row_pitch = u64::from(width) * self.format.bytes as u64;
        abi::Descriptor {
            data: elements,
            row_pitch,
            slice_pitch: row_pitch * u64::from(height),
            width,
            height,
            depth,
            array_size,
            channel_order,
            channel_type,
            element_size: self.format.bytes as u32,
            slice_rows: height,
            texture: 0,
        }
    }
}

/// What a kernel gets of a sampler.
pub fn sampler_word(state: SamplerState) -> u32 {
    let addressing = match state.address {
        Address::None => 0,
        Address::Edge => 1,
        Address::Border => 2,
        Address::Repeat => 3,
        Address::Mirror => 4,
    };
    abi::sampler(state.normalised, addressing, state.linear)
}

/// The kind of image that a type names.
fn kind(type_name: &str) -> Result<Kind, String> {
    Ok(match type_name.trim() {
        "image1d_t" => Kind::Line,
        "image1d_array_t" => Kind::LineArray,
        "image2d_t" | "image2d_depth_t" => Kind::Plane,
        "image2d_array_t" | "image2d_array_depth_t" => Kind::PlaneArray,
        "image3d_t" => Kind::Volume,
        other => return Err(format!("arguments of the type {other} are not supported yet")),
    })
}

/// `@FILE.png[:FORMAT]` or `SIZE[:FORMAT[:FILL]]`.
pub fn image(type_name: &str, text: &str, mut random: impl FnMut() -> f64) -> Result<ImageValue, String> {
    let kind = kind(type_name)?;
    let depth = type_name.contains("depth");
    let format_of = |text: Option<&str>| match text.map(str::trim).filter(|t| !t.is_empty()) {
        Some(text) => Format::named(text),
        None if depth => Ok(Format::DEPTH_FLOAT),
        None => Ok(Format::RGBA_UNORM8),
    };
    if let Some(rest) = text.strip_prefix('@') {
        // The last colon, as a path may have others.
        let (path, format) = match rest.rsplit_once(':') {
            Some((path, format)) => (path, Some(format)),
            None => (rest, None),
        };
        if kind != Kind::Plane {
            return Err(format!("a picture fits an image2d_t; give the size of the {type_name}"));
        }
        let format = format_of(format)?;
        let picture = Picture::load(Path::new(path)).map_err(|e| e.to_string())?;
        // The pixels of the file are bytes. Integer formats hold them as they are; all other formats get numbers
        // from 0 to 1.
        let scale = if format.is_integer() { 1.0 } else { 255.0 };
        let encode = |p: &u32| format.encode(p.to_le_bytes().map(|c| f64::from(c) / scale));
        let pixels = picture.pixels.iter().flat_map(encode).collect();
        return Ok(ImageValue { kind, format, size: vec![picture.width, picture.height], pixels });
    }
    let mut parts = text.splitn(3, ':');
    let size = shape::sizes(parts.next().unwrap_or_default())?.0;
    if size.len() != kind.dimensions() {
        let example = ["64", "640x480", "64x64x8"][kind.dimensions() - 1];
        return Err(format!("a {type_name} has a size of {} numbers, such as {example}", kind.dimensions()));
    }
    let format = format_of(parts.next())?;
    let fill = parts.next().unwrap_or("0").trim();
    let count = size.iter().product::<usize>();
    if count.checked_mul(format.bytes).is_none_or(|bytes| bytes > MAX_BYTES) {
        return Err("more than 1 GiB".into());
    }
    let top = if format.is_integer() { 255.0 } else { 1.0 };
    let pixels = match fill {
        "random" => (0..count).flat_map(|_| format.encode(std::array::from_fn(|_| random() * top))).collect(),
        number => {
            let value: f64 = number.parse().map_err(|_| format!("`{number}`: FILL is a number or `random`"))?;
            format.encode([value; 4]).repeat(count)
        }
    };
    Ok(ImageValue { kind, format, size, pixels })
}

/// Words, separated by commas.
pub fn sampler(text: &str) -> Result<SamplerState, String> {
    let mut state = SamplerState { normalised: false, linear: false, address: Address::Edge };
    for word in text.split(',').map(str::trim).filter(|w| !w.is_empty()) {
        match word.to_ascii_lowercase().as_str() {
            "nearest" => state.linear = false,
            "linear" => state.linear = true,
            "normalized" => state.normalised = true,
            "pixels" => state.normalised = false,
            "none" => state.address = Address::None,
            "edge" => state.address = Address::Edge,
            "border" => state.address = Address::Border,
            "repeat" => state.address = Address::Repeat,
            "mirror" => state.address = Address::Mirror,
            _ => {
                return Err(format!(
                    "`{word}` says nothing about a sampler: give nearest or linear, pixels or normalized, and none, \
                     edge, border, repeat or mirror"
                ));
            }
        }
    }
    if !state.normalised && matches!(state.address, Address::Repeat | Address::Mirror) {
        return Err("repeat and mirror need normalized coordinates: add `normalized`".into());
    }
    Ok(state)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_have_a_size_a_format_and_a_fill() {
        let of = |ty: &str, text: &str| image(ty, text, || 0.5);
        let plain = of("image2d_t", "4x3").unwrap();
        assert_eq!((plain.format, plain.pixels.len()), (Format::RGBA_UNORM8, 48));
        assert_eq!(of("image2d_t", "2x1:r,float:0.25").unwrap().pixels, 0.25f32.to_le_bytes().repeat(2));
        assert_eq!(of("image3d_t", "2x2x2:r:random").unwrap().pixels, [128; 8]);
        assert_eq!(of("image2d_depth_t", "1x1").unwrap().format, Format::DEPTH_FLOAT);
        for (ty, text, why) in [
            ("image2d_t", "4", "640x480"),
            ("image1d_t", "4x4", "such as 64"),
            ("image2d_t", "4x4:cmyk", "BGRA"),
            ("image2d_t", "4x4:r:red", "FILL"),
            ("image2d_t", "@/nowhere.png", "/nowhere.png"),
            ("image3d_t", "@a.png", "image2d_t"),
            ("image1d_buffer_t", "4", "image1d_buffer_t"),
            ("image2d_t", "99999x99999", "1 GiB"),
        ] {
            assert!(of(ty, text).unwrap_err().contains(why), "{ty} {text}");
        }
    }

    #[test]
    fn samplers_are_described_by_words() {
        let all = sampler("linear,repeat,normalized").unwrap();
        assert_eq!(all, SamplerState { normalised: true, linear: true, address: Address::Repeat });
        assert_eq!(sampler("").unwrap().address, Address::Edge);
        assert!(sampler("repeat").unwrap_err().contains("normalized"));
        assert!(sampler("cubic").unwrap_err().contains("nearest or linear"));
    }
}
