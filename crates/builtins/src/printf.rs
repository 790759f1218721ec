//! The formatter of `printf`: a format and the bytes of the arguments in, text out.
//!
//! The arguments are laid out by `cloom_ir::abi::printf_layout`, after the default promotions: an integer has at least
//! 32 bits, a scalar floating-point number 64; vectors keep their elements. The runtime and the interpreter share it,
//! so that both print the same. Formats and arguments are not trusted: a missing argument reads as zero, an unknown
//! conversion is printed literally, and the output is bounded.

use half::f16;

/// The largest width and precision; larger ones count as this one.
const MAX_FIELD: usize = 4096;

/// Reads the zero-terminated string at an address, for `%s`.
pub type ReadText<'a> = &'a dyn Fn(u64) -> Option<Vec<u8>>;

#[derive(Clone, Copy, Default)]
struct Spec {
    left: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
    lanes: Option<u32>,
    /// Bytes of a component, if the length says; `l`, `z` and `t` are 8.
    length: Option<usize>,
    conversion: u8,
}

/// Formats one call.
pub fn format(format: &[u8], args: &[u8], text: ReadText<'_>) -> Vec<u8> {
    let mut out = Vec::with_capacity(format.len() + 16);
    let mut args = Args { bytes: args, at: 0 };
    let mut rest = format;
    while let Some(at) = rest.iter().position(|&b| b == b'%') {
        out.extend_from_slice(&rest[..at]);
        rest = &rest[at..];
        if let Some(after) = rest.strip_prefix(b"%%") {
            out.push(b'%');
            rest = after;
            continue;
        }
        match parse(rest) {
            Some((spec, after)) => {
                convert(&mut out, &spec, &mut args, text);
                rest = after;
            }
            None => {
                // Not a conversion: printed literally.
                out.push(b'%');
                // Only the `%`: what follows it may hold another conversion.
                rest = &rest[1..];
            }
        }
    }
    out.extend_from_slice(rest);
    out
}

/// Reads a conversion, which begins with `%`.
fn parse(format: &[u8]) -> Option<(Spec, &[u8])> {
    let mut spec = Spec::default();
    let mut s = format.get(1..)?;
    while let Some((&flag, after)) = s.split_first() {
        match flag {
            b'-' => spec.left = true,
            b'+' => spec.plus = true,
            b' ' => spec.space = true,
            b'#' => spec.alternate = true,
            b'0' => spec.zero = true,
            _ => break,
        }
        s = after;
    }
    if let Some((width, after)) = number(s) {
        (spec.width, s) = (width, after);
    }
    if let Some(after) = s.strip_prefix(b".") {
        let (precision, after) = number(after).unwrap_or((0, after));
        (spec.precision, s) = (Some(precision), after);
    }
    if let Some(after) = s.strip_prefix(b"v") {
        let (lanes, after) = number(after)?;
        spec.lanes = Some(u32::try_from(lanes).ok().filter(|n| [2, 3, 4, 8, 16].contains(n))?);
        s = after;
    }
    // `hh` and `hl` come before `h`, which both begin with.
    for (name, bytes) in [(&b"hh"[..], 1), (b"hl", 4), (b"h", 2), (b"l", 8), (b"z", 8), (b"t", 8)] {
        if let Some(after) = s.strip_prefix(name) {
            (spec.length, s) = (Some(bytes), after);
            break;
        }
    }
    let (&conversion, after) = s.split_first()?;
    spec.conversion = conversion;
    b"diouxXfFeEgGaAcsp".contains(&conversion).then_some((spec, after))
}

fn number(s: &[u8]) -> Option<(usize, &[u8])> {
    let digits = s.iter().take_while(|b| b.is_ascii_digit()).count();
    // Bounded at each digit, so that no number of digits overflows.
    let value = s[..digits].iter().fold(0usize, |n, b| (n * 10 + usize::from(b - b'0')).min(MAX_FIELD));
    (digits > 0).then(|| (value, &s[digits..]))
}

struct Args<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Args<'_> {
    /// The next argument, `count` components of `size` bytes, as numbers without sign.
    fn next(&mut self, count: usize, size: usize) -> impl Iterator<Item = u64> {
        let begin = self.at;
        // Each argument begins at a multiple of eight bytes.
        self.at = (begin + count * size).next_multiple_of(8);
        let bytes = self.bytes;
        (0..count).map(move |i| {
            let mut word = [0; 8];
            let at = begin + i * size;
            if let Some(from) = bytes.get(at..at + size) {
                word[..size].copy_from_slice(from);
            }
            u64::from_le_bytes(word)
        })
    }
}

fn convert(out: &mut Vec<u8>, spec: &Spec, args: &mut Args<'_>, text: ReadText<'_>) {
    let float = b"fFeEgGaA".contains(&spec.conversion);
    let (count, size) = match (spec.lanes, spec.conversion) {
        (_, b's' | b'p') => (1, 8),
        (_, b'c') => (1, 4),
        // Vectors are not promoted: their components have the size that the length says.
        (Some(n), _) => (n as usize, spec.length.unwrap_or(4)),
        (None, _) if float => (1, 8),
        (None, _) => (1, if spec.length == Some(8) { 8 } else { 4 }),
    };
    // An `hh` or `h` scalar has been promoted: only its low bits count.
    let meant = spec.length.unwrap_or(4).min(size);
    for (i, bits) in args.next(count, size).enumerate() {
        if i > 0 {
            out.push(b',');
        }
        match spec.conversion {
            b's' => {
                let all = text(bits).unwrap_or_else(|| b"(null)".to_vec());
                let shown = spec.precision.unwrap_or(usize::MAX).min(all.len());
                pad(out, spec, "", &all[..shown], false);
            }
            b'c' => pad(out, spec, "", &[bits as u8], false),
            b'p' => pad(out, spec, "0x", format!("{bits:x}").as_bytes(), false),
            _ if float => print_float(out, spec, float_of(bits, size)),
            _ => print_integer(out, spec, bits, meant),
        }
    }
}

fn float_of(bits: u64, size: usize) -> f64 {
    match size {
        2 => f16::from_bits(bits as u16).to_f64(),
        4 => f64::from(f32::from_bits(bits as u32)),
        8 => f64::from_bits(bits),
        // `%v4hhf` means nothing.
        _ => 0.0,
    }
}

/// Writes a prefix (sign, `0x`) and a body in the field; zeros go between them.
fn pad(out: &mut Vec<u8>, spec: &Spec, prefix: &str, body: &[u8], zeros: bool) {
    let missing = spec.width.saturating_sub(prefix.len() + body.len());
    let fill = |out: &mut Vec<u8>, with: u8| out.resize(out.len() + missing, with);
    if !spec.left && !zeros {
        fill(out, b' ');
    }
    out.extend_from_slice(prefix.as_bytes());
    if !spec.left && zeros {
        fill(out, b'0');
    }
    out.extend_from_slice(body);
    if spec.left {
        fill(out, b' ');
    }
}

fn sign(spec: &Spec, negative: bool) -> &'static str {
    match (negative, spec.plus, spec.space) {
        (true, ..) => "-",
        (false, true, _) => "+",
        (false, false, true) => " ",
        (false, false, false) => "",
    }
}

fn print_integer(out: &mut Vec<u8>, spec: &Spec, bits: u64, size: usize) {
    // Up and down again: what is above the argument's size is lost, and the sign is spread or not.
    let shift = 64 - 8 * size as u32;
    let unsigned = bits << shift >> shift;
    let signed = (bits << shift) as i64 >> shift;
    let (mut prefix, mut digits) = match spec.conversion {
        b'd' | b'i' => (sign(spec, signed < 0), signed.unsigned_abs().to_string()),
        b'o' => ("", format!("{unsigned:o}")),
        b'x' => (if spec.alternate && unsigned != 0 { "0x" } else { "" }, format!("{unsigned:x}")),
        b'X' => (if spec.alternate && unsigned != 0 { "0X" } else { "" }, format!("{unsigned:X}")),
        _ => ("", unsigned.to_string()),
    };
    // C prints no digits for a zero of precision 0.
    if spec.precision == Some(0) && unsigned == 0 {
        digits.clear();
    }
    let least = spec.precision.unwrap_or(0);
    if digits.len() < least {
        digits.insert_str(0, &"0".repeat(least - digits.len()));
    }
    if spec.conversion == b'o' && spec.alternate && !digits.starts_with('0') {
        prefix = "0";
    }
    pad(out, spec, prefix, digits.as_bytes(), spec.zero && spec.precision.is_none());
}

fn print_float(out: &mut Vec<u8>, spec: &Spec, value: f64) {
    let upper = spec.conversion.is_ascii_uppercase();
    let sign = sign(spec, value.is_sign_negative());
    let magnitude = value.abs();
    if !value.is_finite() {
        let body = match (value.is_nan(), upper) {
            (true, false) => "nan",
            (true, true) => "NAN",
            (false, false) => "inf",
            (false, true) => "INF",
        };
        // No zeros, even if the format asks for them: `000inf` is no number.
        return pad(out, spec, sign, body.as_bytes(), false);
    }
    let precision = spec.precision;
    let mut prefix = sign.to_owned();
    let mut body = match spec.conversion.to_ascii_lowercase() {
        b'f' => fixed(magnitude, precision.unwrap_or(6), spec.alternate),
        b'e' => scientific(magnitude, precision.unwrap_or(6), spec.alternate),
        b'g' => general(magnitude, precision.unwrap_or(6), spec.alternate),
        _ => {
            prefix.push_str(if upper { "0X" } else { "0x" });
            hexadecimal(magnitude, precision, spec.alternate)
        }
    };
    if upper {
        body.make_ascii_uppercase();
    }
    pad(out, spec, &prefix, body.as_bytes(), spec.zero);
}

fn fixed(value: f64, precision: usize, point: bool) -> String {
    let mut s = format!("{value:.precision$}");
    if point && precision == 0 {
        s.push('.');
    }
    s
}

/// Mantissa and exponent, decimal.
fn split_scientific(value: f64, precision: usize) -> (String, i32) {
    let s = format!("{value:.precision$e}");
    match s.split_once('e') {
        Some((mantissa, exponent)) => (mantissa.to_owned(), exponent.parse().unwrap_or(0)),
        None => (s, 0),
    }
}

fn with_exponent(mantissa: &str, exponent: i32) -> String {
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.unsigned_abs())
}

fn scientific(value: f64, precision: usize, point: bool) -> String {
    let (mut mantissa, exponent) = split_scientific(value, precision);
    if point && precision == 0 {
        mantissa.push('.');
    }
    with_exponent(&mantissa, exponent)
}

fn general(value: f64, precision: usize, keep_zeros: bool) -> String {
    let precision = precision.max(1);
    // The exponent after rounding decides: `%g` prints 999999.5 as 1e+06.
    let (mantissa, exponent) = split_scientific(value, precision - 1);
    let trim = |s: String| match s.contains('.') && !keep_zeros {
        true => s.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => s,
    };
    if exponent < -4 || exponent >= precision as i32 {
        let mantissa = if keep_zeros && precision == 1 { mantissa + "." } else { trim(mantissa) };
        with_exponent(&mantissa, exponent)
    } else {
        trim(fixed(value, (precision as i32 - 1 - exponent) as usize, keep_zeros))
    }
}

/// As C's `%a`: one digit before the point, rounded to even.
fn hexadecimal(value: f64, precision: Option<usize>, point: bool) -> String {
    const DIGITS: usize = 13;
    let bits = value.to_bits();
    let biased = (bits >> 52 & 0x7ff) as i32;
    let mut fraction = bits & ((1 << 52) - 1);
    let (mut lead, exponent) = match (biased, fraction) {
        (0, 0) => (0, 0),
        (0, _) => (0, -1022),
        (e, _) => (1, e - 1023),
    };
    let kept = precision.unwrap_or(DIGITS).min(DIGITS);
    let dropped = 4 * (DIGITS - kept) as u32;
    if dropped > 0 {
        // With the leading digit, into which the rounding may carry: 1.ff becomes 2.0.
        let whole = lead << 52 | fraction;
        let (mut high, low) = (whole >> dropped, whole & ((1 << dropped) - 1));
        let half = 1 << (dropped - 1);
        if low > half || (low == half && high & 1 == 1) {
            high += 1;
        }
        let rounded = high << dropped;
        lead = rounded >> 52;
        fraction = rounded & ((1 << 52) - 1);
    }
    let mut digits = format!("{fraction:013x}");
    digits.truncate(kept);
    match precision {
        None => digits.truncate(digits.trim_end_matches('0').len()),
        Some(p) => digits.extend(std::iter::repeat_n('0', p.saturating_sub(DIGITS))),
    }
    let dot = if digits.is_empty() && !point { "" } else { "." };
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{lead}{dot}{digits}p{sign}{}", exponent.unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slots(words: &[u64]) -> Vec<u8> {
        words.iter().flat_map(|w| w.to_le_bytes()).collect()
    }

    fn show(f: &str, words: &[u64]) -> String {
        let text = |at: u64| (at == 77).then(|| b"seventy".to_vec());
        String::from_utf8(format(f.as_bytes(), &slots(words), &text)).unwrap()
    }

    fn float(f: &str, value: f64) -> String {
        show(f, &[value.to_bits()])
    }

    #[test]
    fn integers() {
        assert_eq!(
            show("%d %i|%5d|%-5d|%05d", &[(-3i64) as u64, 7, 42, 42, (-42i64) as u64]),
            "-3 7|   42|42   |-0042"
        );
        assert_eq!(show("%+d % d %.3d %8.3d|%.0d|", &[1, 1, 5, 5, 0]), "+1  1 005      005||");
        assert_eq!(
            show("%u %o %x %X %#o %#x %#X %#x", &[u64::MAX, 8, 255, 255, 8, 255, 255, 0]),
            "4294967295 10 ff FF 010 0xff 0XFF 0"
        );
        assert_eq!(
            show("%hhd %hhu %hd %hu %ld %lu", &[0x1ff, 0x1ff, 0x18000, 0x18000, u64::MAX, u64::MAX]),
            "-1 255 -32768 32768 -1 18446744073709551615"
        );
        assert_eq!(
            show("%zu %5zx|%td %d", &[u64::MAX, 1 << 40, (-7i64) as u64, 1]),
            "18446744073709551615 10000000000|-7 1"
        );
        assert_eq!(show("%c%c%%%c", &[65, 66, 67]), "AB%C");
        assert_eq!(show("%-3c|%3c|", &[65, 66]), "A  |  B|");
    }

    #[test]
    fn fixed_and_scientific() {
        assert_eq!(float("%f", 1.5), "1.500000");
        assert_eq!(float("%.0f", 0.5), "0", "half to even");
        assert_eq!(float("%.0f", 1.5), "2");
        assert_eq!(float("%#.0f", 1.0), "1.");
        assert_eq!(float("%08.2f", -3.625), "-0003.62");
        assert_eq!(float("%+.1f", 0.0), "+0.0");
        assert_eq!(float("%f", -0.0), "-0.000000");
        assert_eq!(float("%e", 12345.678), "1.234568e+04");
        assert_eq!(float("%.0e", 12345.678), "1e+04");
        assert_eq!(float("%E", 1e-300), "1.000000E-300");
        assert_eq!(float("%e", 0.0), "0.000000e+00");
        assert_eq!(float("%.1f", 0.25), "0.2");
    }

    #[test]
    fn general_form() {
        for (value, text) in [
            (100000.0, "100000"),
            (1000000.0, "1e+06"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (0.0, "0"),
            (999999.5, "1e+06"),
            (1.5, "1.5"),
        ] {
            assert_eq!(float("%g", value), text);
        }
        assert_eq!(float("%#g", 1.5), "1.50000");
        assert_eq!(float("%.3G", 1.5e-10), "1.5E-10");
        assert_eq!(float("%.0g", 123.0), "1e+02");
    }

    #[test]
    fn hexadecimal_form() {
        assert_eq!(float("%a", 1.0), "0x1p+0");
        assert_eq!(float("%a", 0.0), "0x0p+0");
        assert_eq!(float("%a", -10.5), "-0x1.5p+3");
        assert_eq!(float("%.1a", 1.96875), "0x2.0p+0");
        assert_eq!(float("%.2a", 1.0), "0x1.00p+0");
        assert_eq!(float("%A", 255.0), "0X1.FEP+7");
        assert_eq!(float("%a", f64::from_bits(1)), "0x0.0000000000001p-1022");
        assert_eq!(float("%.15a", 1.0), "0x1.000000000000000p+0");
        assert_eq!(float("%10a|", 1.0), "    0x1p+0|");
    }

    #[test]
    fn infinities_and_nans() {
        assert_eq!(float("%f", f64::INFINITY), "inf");
        assert_eq!(float("%F", f64::NEG_INFINITY), "-INF");
        assert_eq!(float("%06e", f64::INFINITY), "   inf", "no zeros before it");
        assert_eq!(float("%g", f64::NAN), "nan");
        assert_eq!(float("%A", f64::NAN), "NAN");
    }

    #[test]
    fn vectors_are_components_with_commas() {
        let f = |x: f32| u64::from(x.to_bits());
        let pair = |a: f32, b: f32| f(a) | f(b) << 32;
        assert_eq!(show("%2.2v4hlf|%d", &[pair(1.0, 2.0), pair(3.0, 4.5), 9]), "1.00,2.00,3.00,4.50|9");
        assert_eq!(show("%v3hhd %d", &[0x00_ff_02_01, 5]), "1,2,-1 5");
        assert_eq!(show("%v2lx %v3hu", &[16, 255, 0x0003_0002_ffff]), "10,ff 65535,2,3");
        assert_eq!(show("%v2lf", &[1f64.to_bits(), 2f64.to_bits()]), "1.000000,2.000000");
        assert_eq!(show("%v2hf", &[0x4000_3c00]), "1.000000,2.000000");
        assert_eq!(show("%5v2hld|", &[1 | 2 << 32]), "    1,    2|");
    }

    #[test]
    fn strings_and_pointers() {
        assert_eq!(show("%s|%9s|%-9s|%.3s", &[77, 77, 77, 77]), "seventy|  seventy|seventy  |sev");
        assert_eq!(show("%s", &[78]), "(null)");
        assert_eq!(show("%p %p", &[0x1234, 0]), "0x1234 0x0");
    }

    #[test]
    fn hostile_formats_print_something_bounded() {
        assert_eq!(show("%d %s %f %v16hld", &[]), format!("0 (null) 0.000000 {}", ["0"; 16].join(",")));
        assert_eq!(show("%", &[]), "%");
        assert_eq!(show("100%", &[]), "100%");
        assert_eq!(show("%y%n%v5hld%*d%", &[1]), "%y%n%v5hld%*d%");
        assert_eq!(show("%999999999999999999999d", &[1]).len(), MAX_FIELD);
        assert!(show("%.99999999f", &[f64::MAX.to_bits()]).len() < 2 * MAX_FIELD);
        assert!(show("%.99999999a", &[1f64.to_bits()]).len() < 2 * MAX_FIELD);
        assert_eq!(show("%v4hhf", &[u64::MAX]), "0.000000,0.000000,0.000000,0.000000");
    }
}
