//! The header of a test file: comments that say what to run and what to expect:
//!
//! ```text
//! // run: global=37x2 local=8 offset=3 kernel=sum
//! // arg: buffer int 64 = iota
//! // arg: value float 2.5
//! // arg: local 256
//! // arg: pipe 4 16
//! // arg: again 3
//! // expect: 0 int = 0 1 2 3
//! ```
//!
//! Several `run:` lines are several runs. A buffer is filled with `zero`, `iota` (0, 1, 2, …), `random SEED` or a list
//! of numbers, which is repeated. A pipe has the bytes of a packet and how many packets it holds; `again` passes the
//! buffer or pipe of an earlier argument once more. `expect:` names an argument and the first elements that it must
//! hold; without any, the rungs must only agree. In IR, comments begin with `;`.

use crate::case::{CaseArg, NdRange};
use cloom_ir::abi::pipe;

/// The content of a header.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Header {
    /// The runs: range and kernel, if named.
    pub runs: Vec<(NdRange, Option<String>)>,
    /// The arguments.
    pub args: Vec<CaseArg>,
    /// Argument number and its first bytes after the run.
    pub expect: Vec<(usize, Vec<u8>)>,
}

/// Reads the comments that begin with `comment` (`//` or `;`).
pub fn parse(text: &str, comment: &str) -> Result<Header, String> {
    let mut header = Header::default();
    for line in text.lines() {
        let Some(line) = line.trim().strip_prefix(comment) else { continue };
        let line = line.trim();
        let result = if let Some(rest) = line.strip_prefix("run:") {
            run(rest).map(|r| header.runs.push(r))
        } else if let Some(rest) = line.strip_prefix("arg:") {
            arg(rest).map(|a| header.args.push(a))
        } else if let Some(rest) = line.strip_prefix("expect:") {
            expect(rest).map(|e| header.expect.push(e))
        } else {
            continue;
        };
        result.ok_or_else(|| format!("cannot read `{line}`"))?;
    }
    Ok(header)
}

fn sizes(text: &str, rest: u64) -> Option<(u32, [u64; 3])> {
    let mut sizes = [rest; 3];
    let mut dim = 0;
    for part in text.split('x') {
        // A fourth size is an error, as there is no place for it.
        *sizes.get_mut(dim)? = part.parse().ok()?;
        dim += 1;
    }
    Some((dim as u32, sizes))
}

fn run(text: &str) -> Option<(NdRange, Option<String>)> {
    let mut range = NdRange::linear(1, 1);
    let mut kernel = None;
    for field in text.split_whitespace() {
        match field.split_once('=')? {
            ("global", v) => (range.work_dim, range.global) = sizes(v, 1)?,
            ("local", v) => range.local = sizes(v, 1)?.1,
            ("offset", v) => range.offset = sizes(v, 0)?.1,
            ("kernel", v) => kernel = Some(v.to_owned()),
            _ => return None,
        }
    }
    Some((range, kernel))
}

fn arg(text: &str) -> Option<CaseArg> {
    let words: Vec<&str> = text.split_whitespace().collect();
    match words[..] {
        ["local", size] => Some(CaseArg::Local(size.parse().ok()?)),
        ["again", number] => Some(CaseArg::Again(number.parse().ok()?)),
        ["pipe", packet, count] => {
            let layout = pipe::layout(packet.parse().ok()?, count.parse().ok()?);
            let mut bytes = layout.header().to_vec();
            bytes.resize(usize::try_from(layout.size).ok().filter(|&size| size < 1 << 24)?, 0);
            Some(CaseArg::Buffer(bytes))
        }
        ["value", ty, ref values @ ..] => Some(CaseArg::Bytes(elements(ty, values)?)),
        ["buffer", ty, count, "=", ref fill @ ..] => {
            let count: usize = count.parse().ok()?;
            let size = element(ty, "0")?.len();
            let bytes = match fill {
                ["zero"] => vec![0; size * count],
                ["iota"] => (0..count).map(|i| element(ty, &i.to_string())).collect::<Option<Vec<_>>>()?.concat(),
                ["random", seed] => {
                    let mut x: u64 = seed.parse().ok()?;
                    let mut next = || {
                        x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                        // The low bits of such a generator repeat after few steps; the high ones do not.
                        (x >> 40) as u8
                    };
                    (0..size * count).map(|_| next()).collect()
                }
                values => {
                    let pattern = elements(ty, values)?;
                    pattern.into_iter().cycle().take(size * count).collect()
                }
            };
            (bytes.len() == size * count).then_some(CaseArg::Buffer(bytes))
        }
        _ => None,
    }
}

fn expect(text: &str) -> Option<(usize, Vec<u8>)> {
    let words: Vec<&str> = text.split_whitespace().collect();
    match words[..] {
        [number, ty, "=", ref values @ ..] => Some((number.parse().ok()?, elements(ty, values)?)),
        _ => None,
    }
}

fn elements(ty: &str, values: &[&str]) -> Option<Vec<u8>> {
    if values.is_empty() {
        return None;
    }
    Some(values.iter().map(|v| element(ty, v)).collect::<Option<Vec<_>>>()?.concat())
}

fn element(ty: &str, value: &str) -> Option<Vec<u8>> {
    let int = || match value.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        // Signed first; only a `ulong` beyond the greatest `long` is left for the other parser.
        None => value.parse::<i64>().ok().map(|x| x as u64).or_else(|| value.parse().ok()),
    };
    Some(match ty {
        "char" | "uchar" => int()?.to_le_bytes()[..1].to_vec(),
        "short" | "ushort" => int()?.to_le_bytes()[..2].to_vec(),
        "int" | "uint" => int()?.to_le_bytes()[..4].to_vec(),
        "long" | "ulong" => int()?.to_le_bytes().to_vec(),
        "float" => value.parse::<f32>().ok()?.to_le_bytes().to_vec(),
        "double" => value.parse::<f64>().ok()?.to_le_bytes().to_vec(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_says_what_to_run() {
        let text = "// run: global=6x5 local=2 offset=1x2\n// run: global=4 kernel=k\n// arg: buffer short 3 = 1 -1\n
            // arg: value float 1.5\n// arg: local 16\n// arg: buffer int 2 = iota\n// arg: pipe 2 3\n// arg: again 4\n\
            // expect: 0 uchar = 0xff 2\nint x;";
        let h = parse(text, "//").unwrap();
        let range = NdRange { work_dim: 2, offset: [1, 2, 0], global: [6, 5, 1], local: [2, 1, 1] };
        assert_eq!(h.runs, [(range, None), (NdRange::linear(4, 1), Some("k".into()))]);
        assert_eq!(h.args[0], CaseArg::Buffer(vec![1, 0, 255, 255, 1, 0]));
        assert_eq!(h.args[1], CaseArg::Bytes(1.5f32.to_le_bytes().to_vec()));
        assert_eq!(h.args[3], CaseArg::Buffer(vec![0, 0, 0, 0, 1, 0, 0, 0]));
        let CaseArg::Buffer(pipe) = &h.args[4] else { panic!("a pipe is memory") };
        assert_eq!((pipe.len(), &pipe[..9]), (512 + 2 * 4, &[2, 0, 0, 0, 0, 0, 0, 0, 3][..]));
        assert_eq!(h.args[5], CaseArg::Again(4));
        assert_eq!(h.expect, [(0, vec![255, 2])]);
        assert_eq!(parse("// run: globl=3", "//").unwrap_err(), "cannot read `run: globl=3`");
    }
}
