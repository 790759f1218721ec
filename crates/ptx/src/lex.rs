//! Splits PTX text into tokens.
//!
//! In: the text. Out: tokens, each with the number of its line. A word keeps its dots (`ld.param.u64`, `%tid.x`),
//! because PTX gives dots no meaning outside of words; so opcodes and special registers come as one token. Comments
//! vanish here.

use crate::ParseError;

/// A literal number. Floats keep their bits, so NaN payloads survive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Literal {
    /// An integer; a negative one in two's complement.
    Int(u64),
    /// The bits of a float, `0f3F800000`.
    Single(u32),
    /// The bits of a double, `0d3FF0000000000000`.
    Double(u64),
    /// A float in decimal notation; the instruction decides the format.
    Decimal(f64),
}

impl Literal {
    /// The negated number.
    pub fn negate(self) -> Literal {
        match self {
            Literal::Int(value) => Literal::Int(value.wrapping_neg()),
            Literal::Single(bits) => Literal::Single(bits ^ 1 << 31),
            Literal::Double(bits) => Literal::Double(bits ^ 1 << 63),
            Literal::Decimal(value) => Literal::Decimal(-value),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind<'t> {
    Word(&'t str),
    Number(Literal),
    Text(&'t str),
    Mark(char),
    End,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Token<'t> {
    pub(super) line: u32,
    /// The bytes of the text.
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) kind: Kind<'t>,
}

fn is_word_start(letter: u8) -> bool {
    letter.is_ascii_alphabetic() || matches!(letter, b'_' | b'$' | b'%' | b'.')
}

fn is_word_part(letter: u8) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, b'_' | b'$' | b'%' | b'.')
}

/// The length of the word at the start of a text. A `::` between letters belongs to the word (`shared::cta`).
fn word_length(text: &[u8]) -> usize {
    let plain = |text: &[u8]| text.iter().position(|letter| !is_word_part(*letter)).unwrap_or(text.len());
    let mut length = plain(text);
    // A single colon ends a label; two of them belong to names such as `shared::cta`.
    while let Some(rest) = text[length..].strip_prefix(b"::") {
        if !rest.first().is_some_and(u8::is_ascii_alphabetic) {
            break;
        }
        length += 2 + plain(rest);
    }
    length
}

fn parse_number(text: &str) -> Option<Literal> {
    // Most numbers are short and decimal.
    if text.len() < 19
        && text.bytes().all(|digit| digit.is_ascii_digit())
        && (text.len() == 1 || !text.starts_with('0'))
    {
        return text.parse().ok().map(Literal::Int);
    }
    let digits = |from: usize, radix: u32| {
        // `42U` is an unsigned 42.
        let body = text.get(from..)?.trim_end_matches('U');
        u64::from_str_radix(body, radix).ok().map(Literal::Int)
    };
    // The forms with hexadecimal digits come first: they may contain an `e`, which is no exponent there.
    let lower = text.to_ascii_lowercase();
    if let Some(hex) = lower.strip_prefix("0x") {
        u64::from_str_radix(hex.trim_end_matches('u'), 16).ok().map(Literal::Int)
    } else if let Some(hex) = lower.strip_prefix("0f") {
        u32::from_str_radix(hex, 16).ok().filter(|_| hex.len() == 8).map(Literal::Single)
    } else if let Some(hex) = lower.strip_prefix("0d") {
        u64::from_str_radix(hex, 16).ok().filter(|_| hex.len() == 16).map(Literal::Double)
    } else if lower.starts_with("0b") {
        digits(2, 2)
    } else if lower.contains(['.', 'e']) {
        lower.parse().ok().filter(|value: &f64| value.is_finite()).map(Literal::Decimal)
    } else if lower.len() > 1 && lower.starts_with('0') && !lower.starts_with("0u") {
        digits(1, 8)
    } else {
        digits(0, 10)
    }
}

/// The length of the number at the start of a text. The exponent of a decimal number may have a sign.
fn number_length(text: &str) -> usize {
    let part = |letter: char| letter.is_ascii_alphanumeric() || letter == '.';
    let plain = |from: usize| text[from..].find(|letter| !part(letter)).map_or(text.len(), |length| from + length);
    let length = plain(0);
    let number = &text[..length];
    // `0x1e-4` is a number and an offset: only with a dot is `e` an exponent whose sign belongs to the number.
    let is_signed = number.contains('.') && number.ends_with(['e', 'E']) && text[length..].starts_with(['+', '-']);
    if is_signed { plain(length + 1) } else { length }
}

fn newlines(text: &[u8]) -> u32 {
    text.iter().filter(|letter| **letter == b'\n').count() as u32
}

/// Splits a text into tokens. The last token is [`Kind::End`].
pub(super) fn tokens(text: &str) -> Result<Vec<Token<'_>>, ParseError> {
    // A token of LLVM's text takes seven bytes on average.
    let mut out = Vec::with_capacity(text.len() / 6);
    let bytes = text.as_bytes();
    let (mut start, mut line) = (0, 1);
    while let Some(&first) = bytes.get(start) {
        let error = |what: &str| Err(ParseError { line, what: what.to_owned() });
        let rest = &bytes[start..];
        let mut push = |kind, length| out.push(Token { line, start, end: start + length, kind });
        start += match first {
            b'\n' => {
                line += 1;
                1
            }
            b' ' | b'\t' | b'\r' => 1,
            // Not the line break, which the next token counts.
            b'/' if rest.get(1) == Some(&b'/') => rest.iter().position(|letter| *letter == b'\n').unwrap_or(rest.len()),
            b'/' if rest.get(1) == Some(&b'*') => {
                let Some(end) = text[start..].find("*/") else { return error("a comment does not end") };
                // The comment has no token, but the lines in it count.
                line += newlines(&rest[..end]);
                end + 2
            }
            b'"' => {
                let Some(end) = rest[1..].iter().position(|letter| *letter == b'"') else {
                    return error("a string does not end");
                };
                // A token has the line at which it begins.
                push(Kind::Text(&text[start + 1..=start + end]), end + 2);
                line += newlines(&rest[..=end]);
                end + 2
            }
            _ if is_word_start(first) => {
                let length = word_length(rest);
                push(Kind::Word(&text[start..start + length]), length);
                length
            }
            b'0'..=b'9' => {
                let length = number_length(&text[start..]);
                let number = &text[start..start + length];
                let Some(value) = parse_number(number) else {
                    return error(&format!("not a number: {number}"));
                };
                push(Kind::Number(value), length);
                length
            }
            b'[' | b']' | b'{' | b'}' | b'(' | b')' | b'<' | b'>' | b',' | b';' | b':' | b'+' | b'-' | b'|' | b'!'
            | b'@' | b'=' => {
                push(Kind::Mark(char::from(first)), 1);
                1
            }
            // Any other character may have several bytes. Only white space is allowed outside of comments and strings.
            _ => match text[start..].chars().next() {
                Some(letter) if letter.is_whitespace() => letter.len_utf8(),
                letter => return error(&format!("unexpected character {:?}", letter.unwrap_or_default())),
            },
        };
    }
    out.push(Token { line, start: text.len(), end: text.len(), kind: Kind::End });
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<Kind<'_>> {
        tokens(text).unwrap().into_iter().map(|token| token.kind).collect()
    }

    #[test]
    fn numbers() {
        for (text, expected) in [
            ("0", Literal::Int(0)),
            ("42", Literal::Int(42)),
            ("42U", Literal::Int(42)),
            ("0x1F", Literal::Int(31)),
            ("017", Literal::Int(15)),
            ("0b101", Literal::Int(5)),
            ("0f3F800000", Literal::Single(0x3F80_0000)),
            ("0F7fc00001", Literal::Single(0x7FC0_0001)),
            ("0d3FF0000000000000", Literal::Double(0x3FF0_0000_0000_0000)),
            ("18446744073709551615", Literal::Int(u64::MAX)),
            ("1.5", Literal::Decimal(1.5)),
            ("1.5e-3", Literal::Decimal(0.0015)),
            ("2.0E+2", Literal::Decimal(200.0)),
        ] {
            assert_eq!(kinds(text), [Kind::Number(expected), Kind::End], "{text}");
        }
        for text in ["0f3F8", "09", "12q", "99999999999999999999", "1.0e999", "1.0e-"] {
            assert!(tokens(text).is_err(), "{text}");
        }
    }

    #[test]
    fn words_comments_and_lines() {
        let text = "ld.param.u64 %rd1, /* two\nlines */ [a$_b+8]; // rest\n@!%p1 shared::cta $L_1:";
        let all = tokens(text).unwrap();
        let words: Vec<_> = all
            .iter()
            .filter_map(|token| match token.kind {
                Kind::Word(word) => Some((token.line, word)),
                _ => None,
            })
            .collect();
        let expected = [(1, "ld.param.u64"), (1, "%rd1"), (2, "a$_b"), (3, "%p1"), (3, "shared::cta"), (3, "$L_1")];
        assert_eq!(words, expected);
    }

    #[test]
    fn bad_characters_name_the_line() {
        assert_eq!(tokens("a\n\n #").unwrap_err().line, 3);
    }
}
