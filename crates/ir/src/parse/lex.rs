//! Tokens of the text form. In comes any string; out come words, names, strings, numbers and punctuation with their
//! offsets.

use super::ParseError;

/// One token.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Token {
    /// A word, as a range of the text: opcode, type, `v3`, `bb1`.
    Word(usize, usize),
    /// `@name` or `@"name"`.
    Name(String),
    /// A string with its escapes taken out.
    Str(Vec<u8>),
    /// A number; negative if the flag is set.
    Int(bool, u64),
    /// `->`.
    Arrow,
    /// One character that stands for itself.
    Punct(u8),
    /// The end of the text.
    End,
}

/// A token and where it begins.
pub type Placed = (Token, usize);

fn is_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'$')
}

/// Splits the text from an offset on. The last token is [`Token::End`].
pub fn tokens(text: &str, from: usize) -> Result<Vec<Placed>, ParseError> {
    let bytes = text.as_bytes();
    let mut list = Vec::new();
    let mut at = from;
    while let Some(&b) = bytes.get(at) {
        let start = at;
        let token = match b {
            b' ' | b'\t' | b'\r' | b'\n' => {
                at += 1;
                continue;
            }
            b';' => {
                at += bytes[at..].iter().position(|&b| b == b'\n').unwrap_or(bytes.len() - at);
                continue;
            }
            b'"' => Token::Str(string(text, &mut at)?),
            b'@' if bytes.get(at + 1) == Some(&b'"') => {
                at += 1;
                let name = String::from_utf8(string(text, &mut at)?);
                Token::Name(name.map_err(|_| ParseError::new(text, start, "a name that is not UTF-8"))?)
            }
            b'@' => {
                at += 1 + bytes[at + 1..].iter().take_while(|&&b| is_word(b)).count();
                if at == start + 1 {
                    return Err(ParseError::new(text, start, "a name must follow @"));
                }
                Token::Name(text[start + 1..at].to_owned())
            }
            b'-' if bytes.get(at + 1) == Some(&b'>') => {
                at += 2;
                Token::Arrow
            }
            b'-' if bytes.get(at + 1).is_some_and(u8::is_ascii_digit) => {
                at += 1;
                Token::Int(true, number(text, &mut at)?)
            }
            b'0'..=b'9' => Token::Int(false, number(text, &mut at)?),
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                at += bytes[at..].iter().take_while(|&&b| is_word(b)).count();
                Token::Word(start, at)
            }
            b'(' | b')' | b'{' | b'}' | b'[' | b']' | b'<' | b'>' | b':' | b',' | b'=' | b'!' | b'+' => {
                at += 1;
                Token::Punct(b)
            }
            _ => return Err(ParseError::new(text, at, "a character that has no meaning here")),
        };
        list.push((token, start));
    }
    list.push((Token::End, bytes.len()));
    Ok(list)
}

fn number(text: &str, at: &mut usize) -> Result<u64, ParseError> {
    let start = *at;
    let bytes = text.as_bytes();
    // Letters too, so that `12ab` is an error, and not a number before a word.
    *at += bytes[start..].iter().take_while(|b| b.is_ascii_alphanumeric()).count();
    let digits = &text[start..*at];
    let value = match digits.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16),
        None => digits.parse(),
    };
    value.map_err(|_| ParseError::new(text, start, "not a number of 64 bits"))
}

/// A string that begins at `at`; moves `at` past it.
fn string(text: &str, at: &mut usize) -> Result<Vec<u8>, ParseError> {
    let (start, bytes) = (*at, text.as_bytes());
    let mut out = Vec::new();
    *at += 1;
    loop {
        match bytes.get(*at) {
            Some(b'"') => {
                *at += 1;
                return Ok(out);
            }
            Some(b'\\') => {
                let digit = |i: usize| bytes.get(i).and_then(|&b| (b as char).to_digit(16));
                let (Some(high), Some(low)) = (digit(*at + 1), digit(*at + 2)) else {
                    return Err(ParseError::new(text, *at, "an escape is a backslash and two hexadecimal digits"));
                };
                out.push((high * 16 + low) as u8);
                *at += 3;
            }
            Some(b'\n') | None => return Err(ParseError::new(text, start, "a string without its end")),
            Some(&b) => {
                out.push(b);
                *at += 1;
            }
        }
    }
}
