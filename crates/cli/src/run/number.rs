//! Scalar and vector types of OpenCL C: parses values of them from a command line and prints those of a buffer.

use half::f16;

/// The type of a component.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Base {
    Int { bytes: usize, signed: bool },
    Half,
    Float,
    Double,
}

/// A number or a short vector.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Element {
    pub base: Base,
    pub lanes: usize,
}

impl Base {
    pub fn bytes(self) -> usize {
        match self {
            Base::Int { bytes, .. } => bytes,
            Base::Half => 2,
            Base::Float => 4,
            Base::Double => 8,
        }
    }

    /// A number of that type, as a float: what is large loses its last digits.
    fn number(self, bytes: &[u8]) -> f64 {
        show(self, bytes).parse().unwrap_or(f64::NAN)
    }
}

impl Element {
    /// Whether its numbers are floating-point numbers.
    pub fn is_float(self) -> bool {
        !matches!(self.base, Base::Int { .. })
    }

    /// A byte, for types that have no name here.
    pub const BYTE: Element = Element { base: Base::Int { bytes: 1, signed: false }, lanes: 1 };

    /// From its name, as `clGetKernelArgInfo` gives it.
    pub fn named(name: &str) -> Option<Element> {
        let name = name.trim();
        let (base, lanes) = name.split_at(name.find(|c: char| c.is_ascii_digit()).unwrap_or(name.len()));
        let lanes = match lanes {
            "" => 1,
            n => n.parse().ok().filter(|n| matches!(n, 2 | 3 | 4 | 8 | 16))?,
        };
        let int = |bytes, signed| Base::Int { bytes, signed };
        let base = match base {
            "char" => int(1, true),
            "uchar" | "unsigned char" | "bool" => int(1, false),
            "short" => int(2, true),
            "ushort" | "unsigned short" => int(2, false),
            "int" => int(4, true),
            "uint" | "unsigned int" => int(4, false),
            "long" => int(8, true),
            "ulong" | "unsigned long" | "size_t" => int(8, false),
            "half" => Base::Half,
            "float" => Base::Float,
            "double" => Base::Double,
            _ => return None,
        };
        Some(Element { base, lanes })
    }

    /// Bytes in memory; a vector of three takes the room of four.
    pub fn bytes(self) -> usize {
        self.base.bytes() * if self.lanes == 3 { 4 } else { self.lanes }
    }

    /// Reads a number, or one for each component.
    pub fn parse(self, text: &str) -> Result<Vec<u8>, String> {
        let parts: Vec<&str> = text.split(',').map(str::trim).collect();
        if parts.len() != 1 && parts.len() != self.lanes {
            return Err(format!("give one number or {}, separated by commas", self.lanes));
        }
        let mut out = Vec::with_capacity(self.bytes());
        for lane in 0..self.lanes {
            out.extend(component(self.base, parts[if parts.len() == 1 { 0 } else { lane }])?);
        }
        out.resize(self.bytes(), 0);
        Ok(out)
    }

    /// An element with this number in all components.
    pub fn of(self, value: i64) -> Vec<u8> {
        let one = match self.base {
            Base::Int { bytes, .. } => value.to_le_bytes()[..bytes].to_vec(),
            Base::Half => f16::from_f64(value as f64).to_le_bytes().to_vec(),
            Base::Float => (value as f32).to_le_bytes().to_vec(),
            Base::Double => (value as f64).to_le_bytes().to_vec(),
        };
        let mut out = one.repeat(self.lanes);
        out.resize(self.bytes(), 0);
        out
    }

    /// An element of these 64 random bits: any integer, a fraction of one.
    pub fn random(self, mut next: impl FnMut() -> u64) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.bytes());
        for _ in 0..self.lanes {
            let bits = next();
            // So many bits that no rounding gives one.
            let fraction = |n: u32| (bits >> (64 - n)) as f64 / (1u64 << n) as f64;
            match self.base {
                Base::Int { bytes, .. } => out.extend_from_slice(&bits.to_le_bytes()[8 - bytes..]),
                Base::Half => out.extend_from_slice(&f16::from_f64(fraction(11)).to_le_bytes()),
                Base::Float => out.extend_from_slice(&(fraction(24) as f32).to_le_bytes()),
                Base::Double => out.extend_from_slice(&fraction(53).to_le_bytes()),
            }
        }
        out.resize(self.bytes(), 0);
        out
    }

    /// How far two elements are from each other: in units in the last place of floats; equal integers are 0 apart, and
    /// others, like a number and what is none, as far as can be.
    pub fn ulps(self, a: &[u8], b: &[u8]) -> u64 {
        let size = self.base.bytes();
        let is_int = matches!(self.base, Base::Int { .. });
        let far = |x: &[u8], y: &[u8]| {
            let (v, w) = (self.base.number(x), self.base.number(y));
            // 0 and -0 are equal numbers of other bits. Integers are compared by their bits alone: as `f64`, two large
            // ones that differ in the last digits are the same number.
            match x == y || v == w && !is_int || v.is_nan() && w.is_nan() && !is_int {
                true => 0,
                false if is_int || v.is_nan() || w.is_nan() => u64::MAX,
                // The bits of floats, read as integers of sign and magnitude, are in their order.
                false => ordered(x, size).abs_diff(ordered(y, size)),
            }
        };
        let lanes = a.chunks_exact(size).zip(b.chunks_exact(size)).take(self.lanes);
        lanes.map(|(x, y)| far(x, y)).max().unwrap_or(0)
    }

    /// A component as a number; `bytes` has as many as the element takes.
    pub fn value(self, bytes: &[u8], lane: usize) -> f64 {
        let size = self.base.bytes();
        self.base.number(&bytes[lane * size..(lane + 1) * size])
    }

    /// Writes an element; `bytes` has as many as it takes.
    pub fn show(self, bytes: &[u8]) -> String {
        let parts: Vec<String> =
            bytes.chunks_exact(self.base.bytes()).take(self.lanes).map(|b| show(self.base, b)).collect();
        if self.lanes == 1 { parts.concat() } else { format!("({})", parts.join(", ")) }
    }
}

/// The bits of a float as a number that grows with it.
fn ordered(bytes: &[u8], size: usize) -> i64 {
    let mut wide = [0u8; 8];
    wide[..size].copy_from_slice(&bytes[..size]);
    let bits = u64::from_le_bytes(wide);
    let sign = 1u64 << (8 * size - 1);
    if bits & sign == 0 { bits as i64 } else { -((bits & (sign - 1)) as i64) }
}

fn component(base: Base, text: &str) -> Result<Vec<u8>, String> {
    let bad = || format!("`{text}` is no {}", describe(base));
    let float = || -> Result<f64, String> {
        // A suffix as in `2.5f` is no part of the number. The last letter of `inf` is no suffix.
        let digits = text.strip_suffix(['f', 'F', 'h']).filter(|t| !t.ends_with("in")).unwrap_or(text);
        digits.parse().map_err(|_| bad())
    };
    match base {
        Base::Int { bytes, signed } => {
            let (negative, digits) = text.strip_prefix('-').map_or((false, text), |t| (true, t));
            let digits = digits.trim_end_matches(['u', 'U', 'l', 'L', 'i']);
            let hex = digits.strip_prefix("0x").or(digits.strip_prefix("0X"));
            // 128 bits hold the least `long` and the greatest `ulong`, so that one range check below serves all types.
            let value = hex.map_or_else(|| digits.parse::<i128>(), |h| i128::from_str_radix(h, 16));
            // The parser of Rust would take a second sign, as in `--1`.
            let value = value.ok().filter(|_| !digits.starts_with(['-', '+'])).ok_or_else(bad)?;
            let value = if negative { -value } else { value };
            let bits = 8 * bytes as u32;
            let range = if signed { -(1i128 << (bits - 1))..1i128 << (bits - 1) } else { 0..1i128 << bits };
            if !range.contains(&value) {
                return Err(format!("{text} is beyond {} to {}", range.start, range.end - 1));
            }
            Ok(value.to_le_bytes()[..bytes].to_vec())
        }
        Base::Half => Ok(f16::from_f64(float()?).to_le_bytes().to_vec()),
        Base::Float => Ok((float()? as f32).to_le_bytes().to_vec()),
        Base::Double => Ok(float()?.to_le_bytes().to_vec()),
    }
}

fn describe(base: Base) -> String {
    match base {
        Base::Int { bytes, signed } => {
            format!("{} integer of {} bits", if signed { "signed" } else { "unsigned" }, 8 * bytes)
        }
        Base::Half | Base::Float | Base::Double => "number".into(),
    }
}

fn show(base: Base, b: &[u8]) -> String {
    let mut wide = [0u8; 8];
    let n = b.len().min(8);
    wide[..n].copy_from_slice(&b[..n]);
    let bits = u64::from_le_bytes(wide);
    match base {
        Base::Int { signed: false, .. } => bits.to_string(),
        Base::Int { bytes, signed: true } => {
            let shift = 64 - 8 * bytes as u32;
            ((bits << shift) as i64 >> shift).to_string()
        }
        Base::Half => f16::from_bits(bits as u16).to_string(),
        Base::Float => f32::from_bits(bits as u32).to_string(),
        Base::Double => f64::from_bits(bits).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(ty: &str, text: &str) -> Result<String, String> {
        let e = Element::named(ty).unwrap();
        e.parse(text).map(|b| {
            assert_eq!(b.len(), e.bytes());
            e.show(&b)
        })
    }

    #[test]
    fn numbers_come_back() {
        for (ty, text, want) in [
            ("int", "-42", "-42"),
            ("uint", "0xffffffff", "4294967295"),
            ("uchar4", "1,2,3,255", "(1, 2, 3, 255)"),
            ("long", "-9223372036854775808", "-9223372036854775808"),
            ("float3", "0.5", "(0.5, 0.5, 0.5)"),
            ("double", "1e300", "1e300"),
            ("half", "1.5", "1.5"),
            ("float", "2.5f", "2.5"),
            ("float", "-inf", "-inf"),
        ] {
            let got = round(ty, text).unwrap();
            assert!(got == want || got.parse::<f64>() == want.parse::<f64>(), "{ty} {text}: {got}");
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for (ty, text) in [
            ("uchar", "256"),
            ("char", "-129"),
            ("uint", "-1"),
            ("int4", "1,2"),
            ("int", "x"),
            ("int", "--1"),
            ("float", ""),
            ("int", "1.5"),
        ] {
            assert!(round(ty, text).is_err(), "{ty} {text}");
        }
        assert_eq!(Element::named("float5"), None);
        assert_eq!(Element::named("struct body"), None);
    }

    #[test]
    fn a_random_fraction_is_below_one() {
        for ty in ["half", "float", "double"] {
            let e = Element::named(ty).unwrap();
            let text = e.show(&e.random(|| u64::MAX));
            assert!(text.parse::<f64>().unwrap() < 1.0, "{ty} {text}");
        }
        assert_eq!(Element::named("short").unwrap().of(-2), [0xfe, 0xff]);
    }
}
