//! Changes inputs at random: on the level of bytes, and on the level of tokens, since most random bytes die in the lexer.

use cloom_filetest::generate::types::Rng;

/// Bytes of an input, at most, unless one of the mutations that make long inputs was drawn.
const MAX: usize = 64 << 10;

/// Changes an input a few times. `others` gives material to mix in, `words` are tokens that mean something.
pub fn mutate(input: &mut Vec<u8>, others: &[Vec<u8>], words: &[&str], rng: &mut Rng) {
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
    // Depth and length, beyond any limit that a program meets.
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

/// Where the tokens stand: words, numbers, runs of blanks, single signs.
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
            // A token takes the place of another of the same file.
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
            // Two tokens change places.
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
        assert_eq!(split(b"ab1 +(c"), [0..3, 3..4, 4..5, 5..6, 6..7]);
    }
}
