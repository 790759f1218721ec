//! Changes inputs at random: on the level of bytes, on the level of tokens, since most random bytes die in the lexer,
//! and by tokens of the same kind, since most random tokens die in the parser.

use cloom_filetest::generate::types::Rng;

/// Bytes of an input, at most, unless one of the mutations that make long inputs was drawn.
const MAX: usize = 64 << 10;

/// Changes an input a few times. `others` are inputs to splice from, `words` are meaningful tokens.
pub fn mutate(input: &mut Vec<u8>, others: &[Vec<u8>], words: &[&str], rng: &mut Rng) {
    if rng.chance(50) {
        (0..1 + rng.below(3)).for_each(|_| alike(input, rng));
        return;
    }
    let rounds = 1 + rng.below(4) + if rng.chance(20) { rng.below(30) } else { 0 };
    for _ in 0..rounds {
        if rng.chance(65) {
            tokens(input, others, words, rng);
        } else {
            bytes(input, others, rng);
        }
        if input.len() > MAX {
            input.truncate(MAX);
        }
    }
    // Deep nesting and long inputs, beyond the limits of the compiler.
    if rng.chance(2) {
        let at = rng.below(input.len() as u64 + 1) as usize;
        let unit: &[u8] = rng.pick(&[
            &b"("[..],
            b"[",
            b"{",
            b"-",
            b"!",
            b"*",
            b"a.",
            b"a,",
            b"if(1)",
            b"\\\n",
            b"/*",
            b"#if 1\n",
            b"int*",
            b"(int)",
            b"9",
            b"x",
            b"\"\" ",
            b"sizeof ",
            b"1?",
            b"else ",
            b"a=",
            b"for(;;)",
            b"f(",
            b"{{",
            b"0x",
            b"struct{",
        ]);
        let times = 1usize << (4 + rng.below(13));
        let long = unit.repeat(times);
        input.splice(at..at, long);
    }
}

fn range(len: usize, rng: &mut Rng) -> std::ops::Range<usize> {
    let from = rng.below(len as u64 + 1) as usize;
    let bits = rng.below(8);
    let most = (len - from).min(1 << bits);
    from..from + rng.below(most as u64 + 1) as usize
}

fn bytes(input: &mut Vec<u8>, others: &[Vec<u8>], rng: &mut Rng) {
    let len = input.len();
    let at = rng.below(len.max(1) as u64) as usize;
    match rng.below(8) {
        0 | 1 if len > 0 => input[at] ^= 1 << rng.below(8),
        2 if len > 0 => input[at] = rng.pick(&[0, 0xff, b'\n', b'"', b'\'', b'\\', 0x80, 0xc3, b'0', b'#', 0x7f]),
        3 => {
            let r = range(len, rng);
            input.drain(r);
        }
        4 => {
            let r = range(len, rng);
            let part = input[r].to_vec();
            let at = at.min(len);
            input.splice(at..at, part);
        }
        5 if !others.is_empty() => {
            let other = rng.pick(others);
            let r = range(other.len(), rng);
            let part = other[r].to_vec();
            let to = range(len, rng);
            input.splice(to, part);
        }
        6 => input.truncate(at),
        _ => {
            let at = at.min(len);
            let new: Vec<u8> = (0..1 + rng.below(8)).map(|_| rng.next() as u8).collect();
            input.splice(at..at, new);
        }
    }
}

/// The ranges of tokens: words, numbers, runs of blanks, single signs.
fn split(input: &[u8]) -> Vec<std::ops::Range<usize>> {
    let class = |b: u8| match b {
        b if b.is_ascii_alphanumeric() || matches!(b, b'_' | b'%' | b'@' | b'.') => 1,
        b if b.is_ascii_whitespace() => 2,
        _ => 3,
    };
    let mut list: Vec<std::ops::Range<usize>> = Vec::new();
    for (i, &b) in input.iter().enumerate() {
        match list.last_mut() {
            Some(last) if class(b) != 3 && class(input[last.start]) == class(b) => last.end = i + 1,
            _ => list.push(i..i + 1),
        }
    }
    list
}

const NUMBERS: &[&str] = &[
    "0",
    "1",
    "-1",
    "2",
    "7",
    "8",
    "16",
    "31",
    "32",
    "63",
    "64",
    "255",
    "256",
    "65536",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "18446744073709551615",
    "18446744073709551616",
    "1e999",
    "1e-999",
    "0x1p-1074",
    "0.0f",
    "nan",
    "0xffffffffffffffff",
    "1000000",
    "3",
    "1.5",
    "'a'",
    "0b1",
    "08",
    "1u",
    "1ull",
    ".5",
    "1e",
];

/// Words of the IR's text and of OpenCL C that may replace another of the same row.
const ALIKE: &[&[&str]] = &[
    &["add", "sub", "mul", "udiv", "sdiv", "urem", "srem", "shl", "lshr", "ashr", "and", "or", "xor", "smin", "umax"],
    &["fadd", "fsub", "fmul", "fdiv", "fmin", "fmax"],
    &["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"],
    &["global_id", "local_id", "group_id", "global_size", "local_size", "num_groups", "global_offset"],
    &["private", "global", "local", "constant"],
    &["char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "float", "double"],
    &["if", "while"],
    &["break", "continue"],
    &["min", "max", "add_sat", "sub_sat", "hadd", "rhadd", "mul_hi", "rotate"],
    &["floor", "ceil", "trunc", "rint", "fabs", "sqrt", "sin", "exp", "log", "tan", "rsqrt"],
    &["get_global_id", "get_local_id", "get_group_id", "get_local_size", "get_global_size"],
];

/// Whether one token may stand for another as far as a parser sees: numbers, names that differ by a number (`v3`,
/// `v17`; `i32`, `i64`), and words of one row of [`ALIKE`].
fn are_alike(a: &[u8], b: &[u8]) -> bool {
    let prefix = |t: &[u8]| t.iter().rposition(|c| !c.is_ascii_digit()).map_or(0, |i| i + 1);
    let (p, q) = (prefix(a), prefix(b));
    let is_word = |t: &[u8]| t.first().is_some_and(|c| c.is_ascii_alphanumeric() || *c == b'@');
    let in_row = |row: &&[&str]| row.iter().any(|w| w.as_bytes() == a) && row.iter().any(|w| w.as_bytes() == b);
    a != b && is_word(a) && (p < a.len() && q < b.len() && a[..p] == b[..q] || ALIKE.iter().any(in_row))
}

/// Replaces a token by another of its kind, so that the parser mostly still accepts the input.
fn alike(input: &mut Vec<u8>, rng: &mut Rng) {
    let list = split(input);
    for _ in 0..20.min(list.len()) {
        let at = rng.pick(&list);
        let token = &input[at.clone()];
        let words = ALIKE.iter().flat_map(|row| row.iter()).chain(&NUMBERS[..19]).map(|w| w.as_bytes());
        let all: Vec<&[u8]> = list.iter().map(|r| &input[r.clone()]).chain(words).collect();
        let others: Vec<&[u8]> = all.into_iter().filter(|t| are_alike(token, t)).collect();
        if !others.is_empty() {
            let new = rng.pick(&others).to_vec();
            input.splice(at, new);
            return;
        }
    }
}

fn tokens(input: &mut Vec<u8>, others: &[Vec<u8>], words: &[&str], rng: &mut Rng) {
    let list = split(input);
    if list.is_empty() {
        return bytes(input, others, rng);
    }
    let one = |rng: &mut Rng| list[rng.below(list.len() as u64) as usize].clone();
    let run = |rng: &mut Rng| {
        let from = rng.below(list.len() as u64) as usize;
        let bits = rng.below(7);
        let most = 1 + rng.below(1 << bits) as usize;
        let last = (from + most).min(list.len()) - 1;
        list[from].start..list[last].end
    };
    match rng.below(10) {
        0 => {
            input.drain(one(rng));
        }
        1 => {
            input.drain(run(rng));
        }
        2 => {
            let part = input[run(rng)].to_vec();
            let at = one(rng).start;
            input.splice(at..at, part);
        }
        3 => {
            // Replaces a token by another of the same file.
            let part = input[one(rng)].to_vec();
            input.splice(one(rng), part);
        }
        4 | 5 if !words.is_empty() => {
            let word = rng.pick(words);
            let at = one(rng);
            let at = if rng.chance(50) { at } else { at.start..at.start };
            input.splice(at, format!(" {word} ").into_bytes());
        }
        6 => {
            let numbers: Vec<_> = list.iter().filter(|r| input[r.start].is_ascii_digit()).cloned().collect();
            let at = if numbers.is_empty() { one(rng) } else { rng.pick(&numbers) };
            input.splice(at, rng.pick(NUMBERS).bytes());
        }
        7 | 8 if !others.is_empty() => {
            let other = rng.pick(others);
            let theirs = split(&other);
            if let Some(from) = theirs.get(rng.below(theirs.len().max(1) as u64) as usize) {
                let last = (from.start + 1 + rng.below(200) as usize).min(other.len());
                let part = other[from.start..last].to_vec();
                let at = one(rng).start;
                input.splice(at..at, part);
            }
        }
        _ => {
            // Swaps two tokens.
            let (a, b) = (one(rng), one(rng));
            let (a, b) = if a.start <= b.start { (a, b) } else { (b, a) };
            if a.end <= b.start {
                let (x, y) = (input[a.clone()].to_vec(), input[b.clone()].to_vec());
                input.splice(b, x);
                input.splice(a, y);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_input_can_be_changed_and_a_seed_gives_the_same() {
        for seed in 0..500 {
            let make = || {
                let mut rng = Rng::new(seed);
                let mut input = [&b""[..], b"int x = 3;", b"\xff"][seed as usize % 3].to_vec();
                mutate(&mut input, &[b"other (file) 12".to_vec(), Vec::new()], &["word"], &mut rng);
                input
            };
            assert_eq!(make(), make());
        }
        assert!(are_alike(b"v3", b"v17") && are_alike(b"12", b"7") && are_alike(b"slt", b"uge"));
        assert!(
            !are_alike(b"v3", b"bb3")
                && !are_alike(b"add", b"eq")
                && !are_alike(b"v3", b"v3")
                && !are_alike(b"+", b"-")
        );
        let mut input = b"v1 = add v2 (v3)".to_vec();
        alike(&mut input, &mut Rng::new(4));
        assert_eq!(split(&input).len(), split(b"v1 = add v2 (v3)").len());
        assert_ne!(input, b"v1 = add v2 (v3)");
        assert_eq!(split(b"ab1 +(c"), [0..3, 3..4, 4..5, 5..6, 6..7]);
    }
}
