//! Reads `--arg`, the arguments of a kernel of a file. In come the kernel's parameters, as the compiler reports them,
//! and one text for each; out come the values that the host passes. As the types are known, a count or a number is
//! enough: `--arg x=1024:random` is a buffer of 1024 elements of whatever type `x` points to.

use super::layout::Layout;
use super::picture_argument::{self, ImageValue};
use crate::outcome::Failure;
use cloom_gallery::image::SamplerState;
use cloom_ir::{KernelMeta, KernelParam, ParamKind};
use std::path::Path;

/// Bytes of one buffer, at most.
const MAX_BYTES: usize = 4 << 30;

/// The value of an argument.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    /// A buffer that starts with these bytes.
    Buffer { layout: Layout, bytes: Vec<u8> },
    /// An image.
    Image(ImageValue),
    /// A sampler.
    Sampler(SamplerState),
    /// Local memory of this many bytes.
    Local(usize),
    /// The bytes of a value.
    Bytes(Vec<u8>),
}

impl Value {
    /// Elements of a buffer.
    pub fn elements(&self) -> Option<usize> {
        match self {
            Value::Buffer { layout, bytes } => Some(bytes.len() / layout.bytes()),
            _ => None,
        }
    }

    /// Bytes of an element of a buffer, or of a pixel.
    pub fn element_bytes(&self) -> usize {
        match self {
            Value::Buffer { layout, .. } => layout.bytes(),
            Value::Image(image) => image.format.bytes,
            _ => 1,
        }
    }

    /// What a kernel can write to: the bytes before the launch.
    pub fn memory(&self) -> Option<&[u8]> {
        match self {
            Value::Buffer { bytes, .. } => Some(bytes),
            Value::Image(image) => Some(&image.pixels),
            _ => None,
        }
    }
}

/// The parameters of a kernel.
#[derive(Clone, Copy)]
pub struct Params<'a> {
    /// The kernel's name.
    pub kernel: &'a str,
    /// What the compiler says of it.
    pub meta: &'a KernelMeta,
    /// How the parameters lie in memory, or what they point to.
    pub layouts: &'a [Layout],
}

/// Whether a text could be the name of a parameter.
fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_alphabetic() || c == '_') && chars.all(|c| c.is_alphanumeric() || c == '_')
}

/// Reads the arguments of a kernel, in order or by name.
pub fn read(params: Params<'_>, texts: &[String]) -> Result<Vec<Value>, Failure> {
    let Params { kernel, meta, layouts } = params;
    let mut given: Vec<Option<&str>> = vec![None; meta.params.len()];
    for text in texts {
        let split = text.split_once('=').map(|(name, value)| (name.trim(), value));
        // In `x=1`, a parameter `x` of the kernel goes before a member `x` of a structure.
        let named = split.and_then(|(name, value)| Some((meta.params.iter().position(|p| p.name == name)?, value)));
        // A text without a name belongs to the first parameter that has no value yet, also after named ones.
        let next = given.iter().position(Option::is_none);
        let (i, value) = match (named, split) {
            (Some(found), _) => found,
            // `x=1,y=2` may be the members of a structure.
            (None, Some((name, _))) if is_name(name) && !next.is_some_and(|i| layouts[i].has_member(text)) => {
                return Err(Failure::wrong(format!(
                    "--arg {text}: {kernel} has no parameter `{name}`\n{}",
                    usage(params)
                )));
            }
            (None, _) => match next {
                Some(next) => (next, text.as_str()),
                None => {
                    let why = format!("--arg {text}: {kernel} has no parameter left\n{}", usage(params));
                    return Err(Failure::wrong(why));
                }
            },
        };
        if given[i].replace(value).is_some() {
            return Err(Failure::wrong(format!("--arg {text}: {} has a value already", meta.params[i].name)));
        }
    }
    if given.contains(&None) {
        let count = given.iter().flatten().count();
        let were = if count == 1 { "1 was given".into() } else { format!("{count} were given") };
        let takes = if given.len() == 1 { "1 argument".into() } else { format!("{} arguments", given.len()) };
        return Err(Failure::wrong(format!("{kernel} takes {takes}, {were}\n{}", usage(params))));
    }
    let values = meta.params.iter().zip(layouts).zip(given.into_iter().flatten()).map(|((param, layout), text)| {
        one(param, layout, text).map_err(|why| {
            Failure::wrong(format!(
                "--arg {}={text}: {why} (the parameter is `{} {}`)",
                param.name, param.type_name, param.name
            ))
        })
    });
    values.collect()
}

/// An `--arg` for each parameter, as an example.
fn usage(params: Params<'_>) -> String {
    let mut text = format!("give one --arg for each parameter of {}:", params.kernel);
    for (p, layout) in params.meta.params.iter().zip(params.layouts) {
        let members = layout.names();
        let structure = || members.iter().map(|n| format!("{n}=1")).collect::<Vec<_>>().join(",");
        let example = match p.kind {
            ParamKind::Global | ParamKind::Constant => "1024:random".to_owned(),
            ParamKind::Local => "64".into(),
            ParamKind::Struct if members.is_empty() => "@file".into(),
            ParamKind::Struct => structure(),
            ParamKind::Value => "1".into(),
            ParamKind::Image => "640x480".into(),
            ParamKind::Sampler => "linear,edge".into(),
            ParamKind::Pipe | ParamKind::Queue => "(not supported)".into(),
        };
        text += &format!("\n  --arg {:<24} for {} {}", format!("{}={example}", p.name), p.type_name, p.name);
    }
    text
}

fn one(param: &KernelParam, layout: &Layout, text: &str) -> Result<Value, String> {
    // The same numbers in every run, so that results can be compared.
    let mut state = 0u64;
    match param.kind {
        ParamKind::Global | ParamKind::Constant => buffer(layout, text),
        ParamKind::Local => {
            let count: usize = text.parse().ok().filter(|&n| n > 0).ok_or("give the number of elements")?;
            let bytes = count.checked_mul(layout.bytes()).filter(|&b| b <= MAX_BYTES);
            bytes.map(Value::Local).ok_or_else(|| "too large".into())
        }
        ParamKind::Value | ParamKind::Struct => {
            let bytes = match text.strip_prefix('@') {
                Some(path) => read_file(path)?,
                None if matches!(layout, Layout::Opaque(_)) => {
                    return Err(format!("its {} bytes are of no known type: give them as @FILE", param.size));
                }
                None => layout.element(&layout.fillings(text)?, 0, &mut || split_mix(&mut state))?,
            };
            if bytes.len() != param.size as usize {
                return Err(format!("it takes {} bytes, not {}", param.size, bytes.len()));
            }
            Ok(Value::Bytes(bytes))
        }
        ParamKind::Image => {
            // The upper 53 bits, of which every number below one is exact.
            let random = || (split_mix(&mut state) >> 11) as f64 / (1u64 << 53) as f64;
            picture_argument::image(&param.type_name, text, random).map(Value::Image)
        }
        ParamKind::Sampler => picture_argument::sampler(text).map(Value::Sampler),
        ParamKind::Pipe => Err("a pipe cannot be an argument here: only a host program makes pipes".into()),
        ParamKind::Queue => Err("a queue cannot be an argument here: only a host program makes queues".into()),
    }
}

fn read_file(path: &str) -> Result<Vec<u8>, String> {
    let meta = std::fs::metadata(path).map_err(|e| format!("{path}: {e}"))?;
    if !meta.is_file() || meta.len() > MAX_BYTES as u64 {
        return Err(format!("{path} is no regular file of a reasonable size"));
    }
    std::fs::read(Path::new(path)).map_err(|e| format!("{path}: {e}"))
}

/// `COUNT[:FILL]` or `@FILE`.
fn buffer(layout: &Layout, text: &str) -> Result<Value, String> {
    let size = layout.bytes();
    if let Some(path) = text.strip_prefix('@') {
        let bytes = read_file(path)?;
        if bytes.is_empty() || !bytes.len().is_multiple_of(size) {
            return Err(format!("{path} has {} bytes, and an element has {size}", bytes.len()));
        }
        return Ok(Value::Buffer { layout: layout.clone(), bytes });
    }
    let (count, fill) = text.split_once(':').unwrap_or((text, "0"));
    let count: usize = count
        .trim()
        .parse()
        .ok()
        .filter(|&n| n > 0)
        .ok_or("give COUNT, COUNT:FILL or @FILE; COUNT is a number from 1 on")?;
    let total = count.checked_mul(size).filter(|&b| b <= MAX_BYTES).ok_or("more than 4 GiB")?;
    let fillings = layout.fillings(fill)?;
    let mut state = 0u64;
    let mut random = || split_mix(&mut state);
    // The text of a number is parsed once and not for each of many million elements.
    let bytes = if Layout::is_constant(&fillings) {
        layout.element(&fillings, 0, &mut random)?.repeat(count)
    } else {
        let mut bytes = Vec::with_capacity(total);
        for i in 0..count {
            bytes.extend(layout.element(&fillings, i, &mut random)?);
        }
        bytes
    };
    Ok(Value::Buffer { layout: layout.clone(), bytes })
}

/// SplitMix64 (Steele, Lea, Flood 2014): small, and each bit is random.
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cloom_compiler::{Compiler, Config, Source};

    fn values(texts: &[&str]) -> Result<Vec<Value>, Failure> {
        let text = b"typedef struct { int a; char b; } pair;
            kernel void k(global float *x, local int4 *t, int n, global pair *p, float2 v) {}";
        let built = Compiler::new(Config::default()).build(&Source { name: "t.cl", text }, "", &Default::default());
        let program = built.result.unwrap_or_else(|_| panic!("{}", built.log));
        let meta = program.kernels().next().unwrap().1.clone();
        let compiler = Compiler::new(Config::default());
        let all = compiler.kernel_layouts(&Source { name: "t.cl", text }, "", &Default::default());
        let layouts: Vec<Layout> = all[0].params.iter().map(Layout::from).collect();
        let params = Params { kernel: "k", meta: &meta, layouts: &layouts };
        read(params, &texts.iter().map(|t| (*t).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn types_say_how_a_text_is_read() {
        let v = values(&["3:1.5", "8", "-7", "16", "1,2"]).unwrap();
        assert_eq!(v[0].elements(), Some(3));
        assert!(matches!(&v[0], Value::Buffer { bytes, .. } if bytes[4..8] == 1.5f32.to_le_bytes()));
        assert_eq!(v[1], Value::Local(128));
        assert_eq!(v[2], Value::Bytes((-7i32).to_le_bytes().to_vec()));
        assert_eq!(v[3].elements(), Some(16));
        assert!(matches!(&v[3], Value::Buffer { bytes, .. } if bytes.len() == 128), "a structure has 8 bytes");
        assert_eq!(v[4], Value::Bytes([1.0f32.to_le_bytes(), 2.0f32.to_le_bytes()].concat()));
    }

    #[test]
    fn names_may_stand_in_any_order() {
        let v = values(&["n=5", "2:index", "v=3", "t=1", "p=1"]).unwrap();
        assert_eq!(v[2], Value::Bytes(5i32.to_le_bytes().to_vec()));
        assert_eq!(v[0].elements(), Some(2));
    }

    #[test]
    fn mistakes_say_what_the_parameter_is() {
        let message = |texts: &[&str]| values(texts).unwrap_err().message;
        assert!(message(&["3"]).contains("--arg x=1024:random"));
        assert!(message(&["3", "8", "x", "16", "1"]).contains("the parameter is `int n`"));
        assert!(message(&["0", "8", "1", "16", "1"]).contains("COUNT"));
        assert!(message(&["3:what", "8", "1", "16", "1"]).contains("`random`"));
        assert!(message(&["1", "1", "1", "1", "1", "1"]).contains("no parameter left"));
        assert!(message(&["x=1", "x=2"]).contains("already"));
        assert!(message(&["y=1"]).contains("has no parameter `y`"));
        assert!(message(&["3"]).contains("5 arguments, 1 was given"));
        assert!(message(&["1", "1", "1", "1:c=1", "1"]).contains("there are: a, b"));
        assert!(message(&["999999999999", "8", "1", "16", "1"]).contains("4 GiB"));
        assert!(message(&["@/nowhere", "8", "1", "16", "1"]).contains("/nowhere"));
    }
}
