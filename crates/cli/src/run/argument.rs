//! Reads `--arg`, the arguments of a kernel of a file. In come the kernel's parameters, as the compiler reports them,
//! and one text for each; out come the values that the host passes. As the types are known, a count or a number is
//! enough: `--arg x=1024:random` is a buffer of 1024 elements of whatever type `x` points to.

use super::number::Element;
use crate::outcome::Failure;
use cloom_ir::{KernelMeta, KernelParam, ParamKind};
use std::path::Path;

/// Bytes of one buffer, at most.
const MAX_BYTES: usize = 4 << 30;

/// The value of an argument.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    /// A buffer that starts with these bytes.
    Buffer { element: Element, bytes: Vec<u8> },
    /// Local memory of this many bytes.
    Local(usize),
    /// The bytes of a value.
    Bytes(Vec<u8>),
}

impl Value {
    /// Elements of a buffer.
    pub fn elements(&self) -> Option<usize> {
        match self {
            Value::Buffer { element, bytes } => Some(bytes.len() / element.bytes()),
            _ => None,
        }
    }
}

/// Reads the arguments of a kernel, in order or by name.
pub fn read(kernel: &str, meta: &KernelMeta, texts: &[String]) -> Result<Vec<Value>, Failure> {
    let mut given: Vec<Option<&str>> = vec![None; meta.params.len()];
    for text in texts {
        let named = text.split_once('=').and_then(|(name, value)| {
            let i = meta.params.iter().position(|p| p.name == name.trim())?;
            Some((i, value))
        });
        let (i, value) = match named {
            Some(found) => found,
            None => {
                let next = given.iter().position(Option::is_none);
                let why =
                    || format!("--arg {text}: {kernel} has no parameter left or of this name\n{}", usage(kernel, meta));
                (next.ok_or_else(|| Failure::wrong(why()))?, text.as_str())
            }
        };
        if given[i].replace(value).is_some() {
            return Err(Failure::wrong(format!("--arg {text}: {} has a value already", meta.params[i].name)));
        }
    }
    if given.contains(&None) {
        let count = given.iter().flatten().count();
        let why = format!("{kernel} takes {} arguments and {count} are given\n{}", given.len(), usage(kernel, meta));
        return Err(Failure::wrong(why));
    }
    let values = meta.params.iter().zip(given.into_iter().flatten()).map(|(param, text)| {
        one(param, text).map_err(|why| {
            Failure::wrong(format!(
                "--arg {}={text}: {why} (the parameter is `{} {}`)",
                param.name, param.type_name, param.name
            ))
        })
    });
    values.collect()
}

/// An `--arg` for each parameter, as an example.
fn usage(kernel: &str, meta: &KernelMeta) -> String {
    let mut text = format!("give one --arg for each parameter of {kernel}:");
    for p in &meta.params {
        let example = match p.kind {
            ParamKind::Global | ParamKind::Constant => "1024:random",
            ParamKind::Local => "64",
            ParamKind::Struct => "@file",
            ParamKind::Value => "1",
            ParamKind::Image | ParamKind::Sampler => "(images cannot be described yet)",
            ParamKind::Pipe => "(pipes cannot be described yet)",
            ParamKind::Queue => "(queues cannot be described yet)",
        };
        text += &format!("\n  --arg {:<24} for {} {}", format!("{}={example}", p.name), p.type_name, p.name);
    }
    text
}

fn one(param: &KernelParam, text: &str) -> Result<Value, String> {
    let name = param.type_name.trim_end_matches('*').trim();
    let element = Element::named(name);
    match param.kind {
        ParamKind::Global | ParamKind::Constant => buffer(element.unwrap_or(Element::BYTE), text),
        ParamKind::Local => {
            let count: usize = text.parse().ok().filter(|&n| n > 0).ok_or("give the number of elements")?;
            let bytes = count.checked_mul(element.unwrap_or(Element::BYTE).bytes()).filter(|&b| b <= MAX_BYTES);
            bytes.map(Value::Local).ok_or_else(|| "too large".into())
        }
        ParamKind::Value | ParamKind::Struct => {
            let bytes = match (text.strip_prefix('@'), element) {
                (Some(path), _) => read_file(path)?,
                (None, Some(element)) => element.parse(text)?,
                (None, None) => return Err(format!("a structure: give its {} bytes as @FILE", param.size)),
            };
            if bytes.len() != param.size as usize {
                return Err(format!("it takes {} bytes, not {}", param.size, bytes.len()));
            }
            Ok(Value::Bytes(bytes))
        }
        ParamKind::Image | ParamKind::Sampler => Err("images and samplers cannot be described yet".into()),
        ParamKind::Pipe => Err("pipes cannot be described yet".into()),
        ParamKind::Queue => Err("queues cannot be described yet".into()),
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
fn buffer(element: Element, text: &str) -> Result<Value, String> {
    if let Some(path) = text.strip_prefix('@') {
        let bytes = read_file(path)?;
        return if bytes.is_empty() { Err(format!("{path} is empty")) } else { Ok(Value::Buffer { element, bytes }) };
    }
    let (count, fill) = text.split_once(':').unwrap_or((text, "0"));
    let count: usize = count
        .trim()
        .parse()
        .ok()
        .filter(|&n| n > 0)
        .ok_or("give COUNT, COUNT:FILL or @FILE; COUNT is a number from 1 on")?;
    let size = count.checked_mul(element.bytes()).filter(|&b| b <= MAX_BYTES).ok_or("more than 4 GiB")?;
    let mut bytes = Vec::with_capacity(size);
    match fill.trim() {
        "index" => (0..count as i64).for_each(|i| bytes.extend(element.of(i))),
        "random" => {
            // The same numbers in every run, so that results can be compared.
            let mut state = 0u64;
            (0..count).for_each(|_| bytes.extend(element.random(|| split_mix(&mut state))));
        }
        number => {
            let one = element.parse(number).map_err(|e| format!("{e}; FILL is a number, `index` or `random`"))?;
            bytes = one.repeat(count);
        }
    }
    Ok(Value::Buffer { element, bytes })
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
        read("k", &meta, &texts.iter().map(|t| (*t).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn types_say_how_a_text_is_read() {
        let v = values(&["3:1.5", "8", "-7", "16", "1,2"]).unwrap();
        assert_eq!(v[0].elements(), Some(3));
        assert!(matches!(&v[0], Value::Buffer { bytes, .. } if bytes[4..8] == 1.5f32.to_le_bytes()));
        assert_eq!(v[1], Value::Local(128));
        assert_eq!(v[2], Value::Bytes((-7i32).to_le_bytes().to_vec()));
        assert_eq!(v[3].elements(), Some(16));
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
        assert!(message(&["999999999999", "8", "1", "16", "1"]).contains("4 GiB"));
        assert!(message(&["@/nowhere", "8", "1", "16", "1"]).contains("/nowhere"));
    }
}
