//! The values of numbers, characters and strings.
//!
//! In comes the spelling of a token; out goes the value, or what is wrong with it. The preprocessor's `#if` uses the
//! same functions as the parser, so that a number means the same in both.

use super::ast::{FloatLit, FloatSuffix, IntLit};

/// A number.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Number {
    Int(IntLit),
    Float(FloatLit),
}

/// An error in a number: the code of the diagnostic and the message.
pub(crate) struct Malformed {
    pub code: &'static str,
    pub message: String,
    pub help: Option<&'static str>,
}

fn bad(message: impl Into<String>) -> Malformed {
    Malformed { code: "E0116", message: message.into(), help: None }
}

/// The value of a preprocessing number.
pub(crate) fn number(text: &str) -> Result<Number, Malformed> {
    let lower = text.to_ascii_lowercase();
    let hex = lower.starts_with("0x");
    let is_float = if hex { lower.contains(['.', 'p']) } else { lower.contains(['.', 'e']) || ends_as_float(&lower) };
    if is_float && !lower.starts_with("0b") {
        return float(&lower, hex).map(Number::Float);
    }
    integer(&lower, text).map(Number::Int)
}

/// `1f` is not a number of C, but what it means is plain; the message is better when it is seen as a float.
fn ends_as_float(lower: &str) -> bool {
    lower.bytes().take_while(u8::is_ascii_digit).count() + 1 == lower.len() && lower.ends_with(['f', 'h'])
}

fn integer(lower: &str, original: &str) -> Result<IntLit, Malformed> {
    let (digits, radix) = match lower.as_bytes() {
        [b'0', b'x', ..] => (&lower[2..], 16),
        [b'0', b'b', ..] => (&lower[2..], 2),
        // `0` alone is decimal here; the value is the same.
        [b'0', _, ..] => (&lower[1..], 8),
        _ => (lower, 10),
    };
    let len =
        digits.bytes().take_while(|b| if radix == 16 { b.is_ascii_hexdigit() } else { b.is_ascii_digit() }).count();
    let (digits, suffix) = digits.split_at(len);
    let (unsigned, long) = match suffix {
        "" => (false, false),
        "u" => (true, false),
        "l" | "ll" => (false, true),
        "ul" | "lu" | "ull" | "llu" => (true, true),
        _ => {
            let suffix = &original[original.len() - suffix.len()..];
            return Err(bad(format!("invalid suffix `{suffix}` on an integer")));
        }
    };
    // The zero of an octal number was its prefix: `0u` has no other digit.
    if digits.is_empty() && radix != 8 {
        return Err(bad(format!("`{original}` has no digits")));
    }
    let mut value: u64 = 0;
    for b in digits.bytes() {
        // In base 16, so that a digit that is too large for the base is seen as one.
        let digit = (b as char).to_digit(16).unwrap_or(0);
        if digit >= radix {
            let base = if radix == 8 { "an octal" } else { "a binary" };
            return Err(Malformed {
                help: (radix == 8).then_some("a number that starts with 0 is octal; leave out the leading zeros"),
                ..bad(format!("invalid digit `{}` in {base} number", b as char))
            });
        }
        value = match value.checked_mul(radix.into()).and_then(|v| v.checked_add(digit.into())) {
            Some(v) => v,
            None => {
                let message = format!("`{original}` does not fit in any integer type");
                return Err(Malformed { code: "E0118", message, help: Some("the widest type, `ulong`, has 64 bits") });
            }
        };
    }
    Ok(IntLit { value, unsigned, long, decimal: radix == 10 })
}

fn float(lower: &str, hex: bool) -> Result<FloatLit, Malformed> {
    let (body, suffix) = match lower.as_bytes().last() {
        // The suffixes of Clang for `half`, and of C for `long double`, which is `double` here.
        _ if lower.ends_with("f16") && (!hex || lower.contains('p')) => (&lower[..lower.len() - 3], FloatSuffix::Half),
        Some(b'l') => (&lower[..lower.len() - 1], FloatSuffix::None),
        Some(b'f') if !hex || lower.contains('p') => (&lower[..lower.len() - 1], FloatSuffix::Float),
        Some(b'h') => (&lower[..lower.len() - 1], FloatSuffix::Half),
        _ => (lower, FloatSuffix::None),
    };
    if hex {
        let (double, single, half) =
            hex_float(&body[2..]).ok_or_else(|| bad(format!("invalid hexadecimal number `{lower}`")))?;
        return Ok(FloatLit { double, single, half, suffix });
    }
    // The grammar first: the library's parser also takes what C does not have.
    let (mantissa, exponent) = match body.split_once('e') {
        Some((m, e)) => (m, Some(e.strip_prefix(['+', '-']).unwrap_or(e))),
        None => (body, None),
    };
    if exponent.is_some_and(|e| e.is_empty() || !e.bytes().all(|b| b.is_ascii_digit())) {
        return Err(bad("the exponent has no digits"));
    }
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || !digits(fraction) || (whole.is_empty() && fraction.is_empty()) {
        return Err(match mantissa.matches('.').count() {
            0 | 1 => bad(format!("invalid number or suffix `{lower}`")),
            _ => bad("too many decimal points in number"),
        });
    }
    // Each type is parsed from the digits: a `double` rounded to `float` would be rounded twice.
    match (body.parse::<f64>(), body.parse::<f32>()) {
        (Ok(double), Ok(single)) => Ok(FloatLit { double, single, half: decimal_half(body, double), suffix }),
        _ => Err(bad(format!("invalid number or suffix `{lower}`"))),
    }
}

/// The bits of the half nearest to a decimal number, given the nearest double.
///
/// Halves and the middles between them are multiples of 2⁻²⁵. If the double is one, the digits tell on which side of it
/// the number is; else no middle lies between the two.
fn decimal_half(body: &str, double: f64) -> u16 {
    // Digits without zeros around them, and where the point is before them.
    let parts = |text: &str| {
        let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = format!("{whole}{fraction}");
        let significant = digits.trim_start_matches('0');
        let point = whole.len() as i64 - (digits.len() - significant.len()) as i64;
        (point + exponent.parse::<i64>().unwrap_or(0), significant.trim_end_matches('0').to_owned())
    };
    let mut near = double;
    if double > 0.0 && double < 65536.0 && (double * 2f64.powi(25)).fract() == 0.0 {
        near = match parts(body).cmp(&parts(&format!("{double:.25}"))) {
            std::cmp::Ordering::Less => double.next_down(),
            std::cmp::Ordering::Equal => double,
            std::cmp::Ordering::Greater => double.next_up(),
        };
    }
    cloom_ir::eval::from_f64(cloom_ir::Scalar::F16, near) as u16
}

/// `h.hhhp±d` to double, float and the bits of a half, each rounded once, to nearest even.
fn hex_float(body: &str) -> Option<(f64, f32, u16)> {
    // The exponent of a hexadecimal number is required: without it, the last digits could be a suffix.
    let (mantissa, exponent) = body.split_once('p')?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) || (whole.is_empty() && fraction.is_empty()) {
        return None;
    }
    // An exponent beyond this saturates whatever the mantissa is: sources are shorter than 2^28 bytes.
    let magnitude = digits.parse::<i64>().unwrap_or(i64::MAX).min(1 << 40);
    let mut exp = if exponent.starts_with('-') { -magnitude } else { magnitude };
    // 64 bits of mantissa with everything below them in one sticky bit keep rounding exact.
    let (mut m, mut sticky) = (0u64, false);
    for (i, b) in whole.bytes().chain(fraction.bytes()).enumerate() {
        let digit = (b as char).to_digit(16)?;
        if m >> 60 == 0 {
            m = m << 4 | u64::from(digit);
            // Each digit shifts the mantissa by four bits; behind the point the exponent takes that back.
            exp -= if i >= whole.len() { 4 } else { 0 };
        } else {
            sticky |= digit != 0;
            // A digit of the whole part that no longer fits counts by its place only.
            exp += if i < whole.len() { 4 } else { 0 };
        }
    }
    Some((
        f64::from_bits(round_binary(m, sticky, exp, 52, 1023)),
        f32::from_bits(round_binary(m, sticky, exp, 23, 127) as u32),
        round_binary(m, sticky, exp, 10, 15) as u16,
    ))
}

/// `m·2^exp` (and a little more if `sticky`) as the bits of a binary format, rounded to nearest even.
fn round_binary(m: u64, sticky: bool, exp: i64, fraction_bits: i64, bias: i64) -> u64 {
    if m == 0 {
        return 0;
    }
    let shift = i64::from(m.leading_zeros());
    let (m, top) = (m << shift, exp - shift + 63);
    let infinity = ((bias as u64) * 2 + 1) << fraction_bits;
    if top > bias {
        return infinity;
    }
    // How many of the 64 bits are kept: fewer when the result is subnormal.
    let kept = if top < 1 - bias { fraction_bits + 1 - (1 - bias - top) } else { fraction_bits + 1 };
    if kept < 0 {
        return 0;
    }
    let drop = 64 - kept as u32;
    // A shift by 64 is not allowed: then nothing is kept, and all of the number decides the rounding.
    let (mut value, rest, half) = match drop {
        64 => (0, m, 1u64 << 63),
        _ => (m >> drop, m & ((1u64 << drop) - 1), 1u64 << (drop - 1)),
    };
    if rest > half || (rest == half && (sticky || value & 1 == 1)) {
        value += 1;
    }
    // A carry out of the fraction rightly raises the exponent, also from subnormal to normal and on to infinity.
    if top < 1 - bias { value } else { (((top + bias - 1) as u64) << fraction_bits) + value }
}

/// An error in an escape sequence, and its offset in bytes of the spelling.
pub(crate) struct EscapeProblem {
    pub offset: usize,
    pub error: bool,
    pub message: String,
}

/// The bytes of a string or character constant from its spelling with the quotation marks.
pub(crate) fn unescape(spelling: &str, problems: &mut Vec<EscapeProblem>) -> Vec<u8> {
    let quote = spelling.as_bytes().first().copied().unwrap_or(b'"');
    let bytes = spelling.as_bytes();
    // The end may be missing in a token that was reported as unterminated.
    let end = if bytes.len() > 1 && bytes[bytes.len() - 1] == quote { bytes.len() - 1 } else { bytes.len() };
    let mut out = Vec::with_capacity(end);
    let mut i = 1;
    while i < end {
        let b = bytes[i];
        if b != b'\\' || i + 1 >= end {
            out.push(b);
            i += 1;
            continue;
        }
        let start = i;
        let mut problem = |error, message: String| problems.push(EscapeProblem { offset: start, error, message });
        let e = bytes[i + 1];
        i += 2;
        let simple = match e {
            b'n' => b'\n',
            b't' => b'\t',
            b'r' => b'\r',
            b'a' => 7,
            b'b' => 8,
            b'f' => 12,
            b'v' => 11,
            b'e' => 27,
            b'\\' | b'\'' | b'"' | b'?' => e,
            b'0'..=b'7' => {
                // An octal escape has at most three digits; a hexadecimal one takes all that follow.
                let len = bytes[i - 1..end].iter().take(3).take_while(|b| (b'0'..=b'7').contains(b)).count();
                let value = bytes[i - 1..i - 1 + len].iter().fold(0u32, |v, b| v * 8 + u32::from(b - b'0'));
                i += len - 1;
                if value > 255 {
                    problem(true, "octal escape sequence does not fit in a character".into());
                }
                value as u8
            }
            b'x' => {
                let len = bytes[i..end].iter().take_while(|b| b.is_ascii_hexdigit()).count();
                let hex = spelling[i..i + len].trim_start_matches('0');
                i += len;
                if len == 0 {
                    problem(true, "`\\x` without hexadecimal digits".into());
                } else if hex.len() > 2 {
                    problem(true, "hexadecimal escape sequence does not fit in a character".into());
                }
                u8::from_str_radix(&hex[..hex.len().min(2)], 16).unwrap_or(0)
            }
            b'u' | b'U' => {
                let want = if e == b'u' { 4 } else { 8 };
                let len = bytes[i..end].iter().take(want).take_while(|b| b.is_ascii_hexdigit()).count();
                let value = u32::from_str_radix(&spelling[i..i + len], 16).ok().and_then(char::from_u32);
                i += len;
                match value.filter(|_| len == want) {
                    Some(c) => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
                    None => problem(true, "invalid universal character name".into()),
                }
                continue;
            }
            _ => {
                let c = spelling[i - 1..].chars().next().unwrap_or('\\');
                problem(false, format!("unknown escape sequence `\\{c}`"));
                e
            }
        };
        out.push(simple);
    }
    out
}

/// The value of a character constant: one character as a `char`, several packed as is usual.
pub(crate) fn char_value(bytes: &[u8]) -> i32 {
    match bytes {
        // `char` is signed in OpenCL C.
        [b] => i32::from(*b as i8),
        _ => bytes.iter().fold(0i32, |v, &b| v.wrapping_shl(8) | i32::from(b)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn f(text: &str) -> FloatLit {
        match number(text) {
            Ok(Number::Float(f)) => f,
            Ok(n) => panic!("{text}: {n:?}"),
            Err(e) => panic!("{text}: {}", e.message),
        }
    }

    #[test]
    fn floats_are_rounded_once() {
        // Just above the middle of two floats, but its double is the middle itself.
        let x = f("1.00000005960464477540f");
        assert_eq!(x.single, 1.0 + f32::EPSILON);
        assert_eq!(x.double as f32, 1.0);
        assert_eq!(f("0x1.8p1").double, 3.0);
        assert_eq!(f("0x1.000001p0f").single, 1.0);
        assert_eq!(f("0x1.000001000000000000001p0f").single, 1.0 + f32::EPSILON);
        assert_eq!(f("0x1.fffffep127f").single, f32::MAX);
        assert_eq!(f("0x1.ffffffp127f").single, f32::INFINITY);
        assert_eq!(f("0x1p-149f").single, f32::from_bits(1));
        assert_eq!(f("0x1p-150f").single, 0.0);
        assert_eq!(f("0x1.8p-150f").single, f32::from_bits(1));
        assert_eq!(f("0x1.fffffffp-127f").single, f32::MIN_POSITIVE);
        assert_eq!(f("0x1p-1074").double, f64::from_bits(1));
        assert_eq!(f("0x.0000000000000000000000001p100").double, 1.0);
        assert_eq!(f("1e400").double, f64::INFINITY);
        assert_eq!(f("1.h").suffix, FloatSuffix::Half);
        assert_eq!((f("1.5f16").suffix, f("1.5F16").half, f("0x1.8p0f16").half), (FloatSuffix::Half, 0x3e00, 0x3e00));
        assert_eq!((f("2.5L").suffix, f("25e-1l").double), (FloatSuffix::None, 2.5));
        // Next to the middles between two halves, by less than a double can tell: below one and a bit, below the
        // smallest number, and where the range ends.
        for (text, bits) in [
            ("1.00048828125h", 0x3c00),
            ("1.0004882812500000000000000000001h", 0x3c01),
            ("1.0004882812499999999999999999999h", 0x3c00),
            ("1.00146484375h", 0x3c02),
            ("00.00100146484374999999999999999999e3h", 0x3c01),
            ("2.98023223876953125e-8h", 0),
            ("2.980232238769531250000000000000001e-8h", 1),
            ("65519.99999999999999999999999999h", 0x7bff),
            ("65520.h", 0x7c00),
            ("0e99999999999999999999h", 0),
            ("1e99999999999999999999h", 0x7c00),
            ("1e-99999999999999999999h", 0),
            ("0x1.002p0h", 0x3c00),
            ("0x1.00200000000000000000001p0h", 0x3c01),
            ("0x1.006p0h", 0x3c02),
            ("0x1p-25h", 0),
            ("0x1.000000000000000000001p-25h", 1),
            ("0x1.ffdffffffffffffffffffffp15h", 0x7bff),
            ("0x1.ffep15h", 0x7c00),
        ] {
            assert_eq!(f(text).half, bits, "{text}");
        }
    }

    #[test]
    fn integers() {
        let int = |t| match number(t) {
            Ok(Number::Int(i)) => Some((i.value, i.unsigned, i.long, i.decimal)),
            _ => None,
        };
        assert_eq!(int("0"), Some((0, false, false, true)));
        assert_eq!(int("017"), Some((15, false, false, false)));
        assert_eq!(int("0xFFul"), Some((255, true, true, false)));
        assert_eq!(int("18446744073709551615"), Some((u64::MAX, false, false, true)));
        for wrong in ["18446744073709551616", "08", "0x", "1lul", "0b2", "1e", "1.2.3", "0x1.0", "1.0q", "1e+", "0b1.0"]
        {
            assert!(number(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn escapes() {
        let mut problems = Vec::new();
        assert_eq!(unescape(r#""a\n\x41\101\0\\\"\u00e9""#, &mut problems), b"a\nAA\0\\\"\xc3\xa9");
        assert!(problems.is_empty());
        assert_eq!(unescape(r"'\q'", &mut problems), b"q");
        assert_eq!((problems.len(), problems[0].error, problems[0].offset), (1, false, 1));
        assert_eq!(char_value(b"\xff"), -1);
        assert_eq!(char_value(b"ab"), 0x6162);
    }
}
