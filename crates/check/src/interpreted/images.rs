//! Accesses to images: calls of the library, whose names and arguments say what is accessed.
//!
//! The library keeps every coordinate inside of the image, so that no kernel reads other memory; whether a coordinate
//! was inside is seen at the call.

/// An image that a kernel gets.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Image {
    /// The name of the parameter.
    pub name: String,
    /// Width, height and depth; 1 where the image has no such dimension.
    pub size: [u64; 3],
    /// Layers of an array, else 1.
    pub layers: u64,
    /// The channel type, as a number of OpenCL (`CL_UNORM_INT8` …).
    pub channel_type: u32,
}

impl Image {
    /// Its size in words.
    pub fn size(&self) -> String {
        let sides: Vec<String> = self.size.iter().map(u64::to_string).collect();
        let used = 3 - self.size.iter().rev().take_while(|&&n| n == 1).count();
        let layers = if self.layers > 1 { format!(" in {} layers", self.layers) } else { String::new() };
        format!("{}{layers}", sides[..used.max(1)].join(" x "))
    }

    /// The class of its channel type in words, and the letters of the functions for it.
    pub fn channel(&self) -> (&'static str, &'static str) {
        match self.channel_type {
            0x10d7..=0x10d9 => ("signed integers", "i"),
            0x10da..=0x10dc => ("unsigned integers", "ui"),
            0x10dd | 0x10de => ("floating-point numbers", "f"),
            _ => ("normalised numbers", "f"),
        }
    }
}

/// A function of the library that accesses an image, by its name:
/// `__read_imagef_2d.p2u64.u32.f32.f32` takes the descriptor, a sampler and two coordinates.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ImageFunction {
    writes: bool,
    /// The letters of the class: `f`, `i` or `ui`.
    class: &'static str,
    is_array: bool,
    is_sampled: bool,
    /// Whether each coordinate is a floating-point number.
    coordinates: Vec<bool>,
}

impl ImageFunction {
    /// The function of this name, if it accesses an image.
    pub fn of_name(name: &str) -> Option<ImageFunction> {
        let (writes, rest) = match name.strip_prefix("__read_image") {
            Some(rest) => (false, rest),
            None => (true, name.strip_prefix("__write_image")?),
        };
        let (shape, params) = rest.split_once('.')?;
        let (class, shape) = shape.split_once('_')?;
        let class = ["f", "i", "ui"].into_iter().find(|&c| c == class)?;
        let mut params = params.split('.').skip(1).peekable();
        let is_sampled = !writes && params.next_if(|ty| *ty == "u32").is_some();
        let count = match shape {
            "1d" => 1,
            "2d" | "1d_array" => 2,
            _ => 3,
        };
        let coordinates: Vec<bool> = params.take(count).map(|ty| ty == "f32").collect();
        let is_array = shape.ends_with("array");
        (coordinates.len() == count).then_some(ImageFunction { writes, class, is_array, is_sampled, coordinates })
    }

    /// What a call with these arguments accesses.
    pub fn access(&self, args: &[u64]) -> ImageAccess {
        let (sampler, rest) = match (self.is_sampled, args.get(1..).unwrap_or_default()) {
            (true, [sampler, rest @ ..]) => (*sampler, rest),
            (_, rest) => (0, rest),
        };
        let number = |(&is_float, &bits): (&bool, &u64)| match is_float {
            true => f64::from(f32::from_bits(bits as u32)),
            false => f64::from(bits as u32 as i32),
        };
        ImageAccess {
            writes: self.writes,
            is_sampled: self.is_sampled,
            class: self.class,
            is_array: self.is_array,
            coordinates: self.coordinates.iter().zip(rest).map(number).collect(),
            is_normalised: sampler & 1 != 0,
            is_clamped: sampler & 0xe != 0,
        }
    }
}

/// A call that accesses an image.
#[derive(Clone, PartialEq, Debug)]
pub struct ImageAccess {
    /// Whether it writes.
    pub writes: bool,
    /// Whether a sampler is given.
    pub is_sampled: bool,
    /// The letters of the class: `f`, `i` or `ui`.
    class: &'static str,
    is_array: bool,
    /// The coordinates in pixels; normalised ones are multiplied later.
    coordinates: Vec<f64>,
    is_normalised: bool,
    /// Whether the sampler says what lies outside.
    is_clamped: bool,
}

impl ImageAccess {
    /// The name of the function.
    pub fn function(&self) -> String {
        format!("{}{}", if self.writes { "write_image" } else { "read_image" }, self.class)
    }

    /// Whether the function is for the image's channel type.
    pub fn fits(&self, image: &Image) -> bool {
        image.channel().1 == self.class
    }

    /// The coordinates in words, if they are outside.
    pub fn outside(&self, image: &Image) -> Option<String> {
        if self.is_clamped {
            return None;
        }
        let sides = self.coordinates.len() - usize::from(self.is_array);
        let is_inside = |(d, &x): (usize, &f64)| {
            let side = if d < sides { image.size[d] } else { image.layers } as f64;
            // A sampler clamps the layer, whatever its addressing is.
            if d >= sides && self.is_sampled {
                return true;
            }
            let x = if self.is_normalised && d < sides { x * side } else { x };
            x >= 0.0 && x < side
        };
        if self.coordinates.iter().enumerate().all(is_inside) {
            return None;
        }
        let words: Vec<String> = self.coordinates.iter().map(f64::to_string).collect();
        Some(if let [one] = words.as_slice() { one.clone() } else { format!("({})", words.join(", ")) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_say_what_they_access() {
        let image = Image { name: "in".into(), size: [8, 4, 1], layers: 1, channel_type: 0x10d2 };
        let of = |name: &str, args: &[u64]| ImageFunction::of_name(name).unwrap().access(args);
        let read = of("__read_imagef_2d.p2u64.i32.i32", &[1, 7, 3]);
        assert!(read.fits(&image) && read.outside(&image).is_none());
        assert_eq!(of("__read_imagef_2d.p2u64.i32.i32", &[1, 7, 4]).outside(&image), Some("(7, 4)".into()));
        let below = u64::from(-1i32 as u32);
        assert_eq!(of("__write_imageui_1d.p2u64.i32.u32x4", &[1, below]).outside(&image), Some("-1".into()));
        let one = u64::from(1f32.to_bits());
        // Normalised, without and with clamping.
        assert!(of("__read_imagef_2d.p2u64.u32.f32.f32", &[1, 0x11, one, 0]).outside(&image).is_some());
        assert!(of("__read_imagef_2d.p2u64.u32.f32.f32", &[1, 0x15, one, 0]).outside(&image).is_none());
        assert!(!of("__read_imagei_2d.p2u64.i32.i32", &[1, 0, 0]).fits(&image));
        assert_eq!(ImageFunction::of_name("__image_size.p2u64"), None);
        assert_eq!(image.size(), "8 x 4");
    }
}
