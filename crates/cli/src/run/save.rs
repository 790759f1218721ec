//! `--output` of a kernel of a file: the first buffer or image that changed, as a picture, as text or as bytes.

use super::argument::Value;
use super::layout::Layout;
use super::number::{Base, Element};
use super::shape::Sizes;
use crate::outcome::Failure;
use cloom_gallery::image::{Format, Kind};
use cloom_gallery::{Picture, film};
use std::path::Path;

/// The suffixes.
const KNOWN: &[&str] = &["png", "txt", "bin", "raw"];

/// Refuses a suffix that says nothing, before anything runs.
pub fn check(path: &Path) -> Result<(), Failure> {
    let suffix = film::suffix(path);
    if KNOWN.contains(&suffix.as_str()) {
        return Ok(());
    }
    Err(Failure::wrong(format!(
        "--output {}: give .png for a picture, .txt for numbers, or .bin or .raw for the bytes as they are",
        path.display()
    )))
}

/// Reads `MIN..MAX`.
pub fn range(text: &str) -> Result<(f64, f64), String> {
    let ends = text.split_once("..").and_then(|(a, b)| Some((a.trim().parse().ok()?, b.trim().parse().ok()?)));
    ends.filter(|(a, b): &(f64, f64)| a < b && a.is_finite() && b.is_finite())
        .ok_or_else(|| "give MIN..MAX, such as 0..1".into())
}

/// Memory of a kernel after its launch.
pub struct Memory<'a> {
    pub name: &'a str,
    pub value: &'a Value,
    pub bytes: &'a [u8],
}

/// Writes it. Returns a note about the colours.
pub fn save(
    path: &Path,
    memory: &Memory<'_>,
    global: &Sizes,
    range: Option<(f64, f64)>,
) -> Result<Option<String>, Failure> {
    let written = |done: std::io::Result<()>| {
        let wrong =
            |e| Failure::wrong(format!("cannot write {}: {e}; choose another file with --output", path.display()));
        done.map_err(wrong)
    };
    match film::suffix(path).as_str() {
        "png" => {
            let (picture, note) = match memory.value {
                Value::Image(image) if image.kind == Kind::Plane => {
                    of_image(image.format, (image.size[0], image.size[1]), memory.bytes, range)
                }
                Value::Image(_) => {
                    return Err(Failure::wrong(format!(
                        "{} is no image2d_t: give an --output that is no .png",
                        memory.name
                    )));
                }
                Value::Buffer { layout, .. } => of_buffer(memory, layout, global, range)?,
                _ => return Ok(None),
            };
            picture.save(path)?;
            Ok(note)
        }
        "txt" => {
            let line = |b: &[u8]| match memory.value {
                Value::Buffer { layout, .. } => layout.show(b),
                Value::Image(image) => image.format.stored(b).iter().map(f64::to_string).collect::<Vec<_>>().join(" "),
                _ => String::new(),
            };
            let size = match memory.value {
                Value::Buffer { layout, .. } => layout.bytes(),
                Value::Image(image) => image.format.bytes,
                _ => 1,
            };
            let text: String = memory.bytes.chunks_exact(size).map(|b| line(b) + "\n").collect();
            written(std::fs::write(path, text)).map(|()| None)
        }
        _ => written(std::fs::write(path, memory.bytes)).map(|()| None),
    }
}

/// The smallest and the largest finite number; 0 and 1 if there is no difference.
fn ends(values: &[f64]) -> (f64, f64) {
    let finite = values.iter().copied().filter(|v| v.is_finite());
    let (low, high) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
    if low < high { (low, high) } else { (0.0, 1.0) }
}

/// A number as a level of a channel; what is no number is black.
fn level(v: f64, (low, high): (f64, f64)) -> u8 {
    let scaled = (v - low) / (high - low);
    if scaled.is_nan() { 0 } else { (scaled.clamp(0.0, 1.0) * 255.0 + 0.5) as u8 }
}

fn note((low, high): (f64, f64), given: bool) -> Option<String> {
    (!given).then(|| format!("black is {low}, white is {high}; --range MIN..MAX chooses others"))
}

fn of_image(
    format: Format,
    (width, height): (usize, usize),
    bytes: &[u8],
    range: Option<(f64, f64)>,
) -> (Picture, Option<String>) {
    let colours: Vec<[f64; 4]> = bytes.chunks_exact(format.bytes).map(|p| format.decode(p)).collect();
    let used = range.unwrap_or(if format.is_integer() { (0.0, 255.0) } else { (0.0, 1.0) });
    let top = if format.is_integer() { 255.0 } else { 1.0 };
    let pixel = |c: &[f64; 4]| {
        let [r, g, b] = [c[0], c[1], c[2]].map(|v| level(v, used));
        u32::from_le_bytes([r, g, b, if format.components() == 4 { level(c[3], (0.0, top)) } else { 255 }])
    };
    (Picture { width, height, pixels: colours.iter().map(pixel).collect() }, None)
}

fn of_buffer(
    memory: &Memory<'_>,
    layout: &Layout,
    global: &Sizes,
    range: Option<(f64, f64)>,
) -> Result<(Picture, Option<String>), Failure> {
    let &[width, height] = global.0.as_slice() else {
        return Err(Failure::wrong(
            "a picture needs two dimensions: give --global WxH, or an --output that is no .png",
        ));
    };
    let refuse = |why: &str| Failure::wrong(format!("{} {why}; give an --output that is no .png", memory.name));
    let Some(element) = layout.number() else { return Err(refuse("is a buffer of structures, which are no pixels")) };
    let size = element.bytes();
    let wanted = width.checked_mul(height).ok_or_else(|| refuse("is too large"))?;
    if memory.bytes.len() / size < wanted {
        return Err(refuse(&format!("has {} elements, fewer than the {global} pixels", memory.bytes.len() / size)));
    }
    let all = || memory.bytes.chunks_exact(size).take(wanted);
    let Element { base, lanes } = element;
    let is_float = matches!(base, Base::Half | Base::Float | Base::Double);
    let bytes = base.bytes();
    match (is_float, bytes, lanes) {
        // Packed pixels: one integer of 32 bits, red in its lowest byte, or four bytes.
        (false, 4, 1) | (false, 1, 4) if range.is_none() => {
            let pixels = all().map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
            Ok((Picture { width, height, pixels }, None))
        }
        (_, _, 1) => {
            let values: Vec<f64> = all().map(|b| element.value(b, 0)).collect();
            // Bytes have a scale of their own, so the colours of two pictures of `uchar` can be compared; other numbers
            // are stretched between the least and the greatest.
            let whole = !is_float && bytes == 1;
            let used = range.unwrap_or_else(|| if whole { (0.0, 255.0) } else { ends(&values) });
            let pixels = values.iter().map(|&v| {
                let v = level(v, used);
                u32::from_le_bytes([v, v, v, 255])
            });
            Ok((Picture { width, height, pixels: pixels.collect() }, note(used, range.is_some() || whole)))
        }
        (true, _, 3 | 4) => {
            let used = range.unwrap_or((0.0, 1.0));
            let pixel = |b: &[u8]| {
                let [r, g, b_, a] = std::array::from_fn(|i| if i < lanes { element.value(b, i) } else { 1.0 });
                let [r, g, b_] = [r, g, b_].map(|v| level(v, used));
                u32::from_le_bytes([r, g, b_, level(a, (0.0, 1.0))])
            };
            let pixels = all().map(pixel).collect();
            Ok((Picture { width, height, pixels }, note(used, range.is_some())))
        }
        _ => Err(refuse("has elements that are no pixels: numbers, uchar4, float3 and float4 are")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pixels(ty: &str, bytes: Vec<u8>, range: Option<(f64, f64)>) -> Result<(Vec<u32>, Option<String>), String> {
        let layout = Layout::named(ty);
        let value = Value::Buffer { layout: layout.clone(), bytes: bytes.clone() };
        let memory = Memory { name: "p", value: &value, bytes: &bytes };
        let made = of_buffer(&memory, &layout, &Sizes(vec![2, 1]), range);
        made.map(|(p, note)| (p.pixels, note)).map_err(|e| e.message)
    }

    fn floats(v: &[f32]) -> Vec<u8> {
        v.iter().flat_map(|v| v.to_le_bytes()).collect()
    }

    #[test]
    fn floats_are_grey_between_their_ends_or_those_given() {
        let (p, note) = pixels("float", floats(&[-3.0, 5.0]), None).unwrap();
        assert_eq!(p, [0xff00_0000, 0xffff_ffff]);
        assert!(note.unwrap().contains("black is -3, white is 5"));
        assert_eq!(pixels("float", floats(&[0.0, f32::NAN]), Some((0.0, 1.0))).unwrap().0, [0xff00_0000; 2]);
        assert_eq!(pixels("uchar", vec![1, 255], None).unwrap(), (vec![0xff01_0101, 0xffff_ffff], None));
        assert_eq!(pixels("uint", vec![1, 2, 3, 4, 5, 6, 7, 8], None).unwrap().0, [0x0403_0201, 0x0807_0605]);
        let colours = floats(&[1.0, 0.0, 2.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
        assert_eq!(pixels("float4", colours, None).unwrap().0, [0xffff_00ff, 0]);
        assert!(pixels("short2", vec![0; 8], None).unwrap_err().contains("no pixels"));
        assert!(pixels("float", floats(&[1.0]), None).unwrap_err().contains("1 elements, fewer"));
        assert!(
            check(Path::new("a.jpg")).is_err() && check(Path::new("a")).is_err() && check(Path::new("a.PNG")).is_ok()
        );
        assert!(range("1..0").is_err() && range("x").is_err());
        assert_eq!(range("-1..2.5"), Ok((-1.0, 2.5)));
    }
}
