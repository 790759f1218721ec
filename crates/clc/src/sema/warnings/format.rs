//! The format string of `printf`, checked against the arguments.
//!
//! In come the bytes of the format and the typed arguments; out come warnings (W0302) and errors (E0331), and the
//! arguments after the default promotions.

use crate::sema::Sema;
use crate::sema::tree::{Expr, ExprKind, Special};
use crate::sema::types::{Ty, TyKind, elem_name};
use crate::source::{Diagnostic, Span};
use cloom_builtins::Elem;

/// The argument that a conversion of a format requires.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Wanted {
    /// The letter.
    conv: u8,
    /// Components.
    lanes: u8,
    /// Bits of each, if the format says,
    bits: Option<u32>,
    /// and how it says that.
    length: &'static str,
    /// The offset of the letter in the format.
    at: usize,
}

/// The conversions of a format, or what is wrong.
fn conversions(format: &[u8]) -> Result<Vec<Wanted>, String> {
    let mut out = Vec::new();
    let mut i = 0;
    let at = |i: usize| format.get(i).copied().unwrap_or(0);
    while i < format.len() {
        if format[i] != b'%' {
            i += 1;
            continue;
        }
        i += 1;
        if at(i) == b'%' {
            i += 1;
            continue;
        }
        while matches!(at(i), b'-' | b'+' | b' ' | b'#' | b'0') {
            i += 1;
        }
        while at(i).is_ascii_digit() {
            i += 1;
        }
        if at(i) == b'.' {
            i += 1;
            while at(i).is_ascii_digit() {
                i += 1;
            }
        }
        // After the precision too: `%.*d` has no digits there.
        if at(i) == b'*' {
            return Err("`*` as a width or precision is not allowed in OpenCL C".into());
        }
        let mut lanes = 1;
        if at(i) == b'v' {
            let digits = format[i + 1..].iter().take_while(|c| c.is_ascii_digit()).count();
            lanes = match &format[i + 1..i + 1 + digits] {
                b"2" => 2,
                b"3" => 3,
                b"4" => 4,
                b"8" => 8,
                b"16" => 16,
                other => return Err(format!("`v{}` is no vector", String::from_utf8_lossy(other))),
            };
            i += 1 + digits;
        }
        // `z` and `t` are of OpenCL C 3.1, and harmless before.
        let (bits, length) = match (at(i), at(i + 1)) {
            // Two letters before one: `hh` and `hl` begin like `h`.
            (b'h', b'h') => (Some(8), "hh"),
            (b'h', b'l') => (Some(32), "hl"),
            (b'h', _) => (Some(16), "h"),
            (b'l', _) => (Some(64), "l"),
            (b'z', _) => (Some(64), "z"),
            (b't', _) => (Some(64), "t"),
            _ => (None, ""),
        };
        i += length.len();
        let conv = at(i);
        if !b"diouxXfFeEgGaAcsp".contains(&conv) {
            return Err(match conv {
                0 => "the format ends in the middle of a conversion".into(),
                b'n' => "`%n` is not allowed in OpenCL C".into(),
                c => format!("`%{}` is no conversion", char::from(c)),
            });
        }
        if lanes > 1 && b"csp".contains(&conv) {
            return Err(format!("`%{}` prints no vectors", char::from(conv)));
        }
        if matches!(length, "z" | "t") && (lanes > 1 || !b"diouxX".contains(&conv)) {
            return Err(format!("the length `{length}` is of `size_t` and `ptrdiff_t` only, scalar integers"));
        }
        out.push(Wanted { conv, lanes, bits, length, at: i });
        i += 1;
    }
    Ok(out)
}

/// Writes `l` for each length `ll`, which C has and kernels contain; whether there was one.
fn shorten_long_long(format: &mut Vec<u8>) -> bool {
    let mut out = Vec::with_capacity(format.len());
    let mut rest = &format[..];
    while let Some((&byte, after)) = rest.split_first() {
        out.push(byte);
        rest = after;
        if byte == b'%' {
            let flags = rest.iter().take_while(|c| b"-+ #.v".contains(c) || c.is_ascii_digit()).count();
            // What comes before the length: flags, width, precision and the number of components.
            let letters = &rest[flags..];
            let skipped = usize::from(letters.starts_with(b"ll"));
            // With the letter, or the second `%` of `%%`.
            let taken = letters.len().min(skipped + 1);
            out.extend_from_slice(&rest[..flags]);
            out.extend_from_slice(&letters[skipped..taken]);
            rest = &letters[taken..];
        }
    }
    let shorter = out.len() < format.len();
    *format = out;
    shorter
}

impl Sema<'_> {
    /// A call of `printf`.
    pub(in crate::sema) fn printf(&mut self, args: Vec<Expr>, at: Span, span: Span) -> Option<Expr> {
        let mut args = args.into_iter();
        let Some(format) = args.next() else {
            self.error("E0308", at, "`printf` needs a format");
            return None;
        };
        let Some(text) = self.constant_string(&format) else {
            self.push(
                Diagnostic::error("E0331", format.span, "the format of `printf` must be a string literal")
                    .note("it is needed when the program is compiled"),
            );
            return None;
        };
        let mut text = text;
        // The corrected format is kept: the formatter knows no `ll`.
        if shorten_long_long(&mut text) {
            let d = Diagnostic::warning("W0302", format.span, "the length `ll` is not part of OpenCL C");
            self.push(d.help("write `l`, which is 64 bits"));
        }
        let mut wanted = match conversions(&text) {
            Ok(w) => w,
            Err(why) => {
                self.error("E0331", format.span, format!("wrong format: {why}"));
                return None;
            }
        };
        let mut values = Vec::new();
        let mut lengths = Vec::new();
        for (i, a) in args.enumerate() {
            let Some(a) = self.printf_argument(a) else { continue };
            if let Some(w) = wanted.get_mut(i) {
                if w.lanes > 1 && w.bits.is_none() {
                    lengths.extend(self.vector_length(w, &a));
                }
                self.check_conversion(*w, &a);
            }
            values.push(a);
        }
        // From the end of the format on, so that the offsets before it stay right.
        for (at, length) in lengths.into_iter().rev() {
            text.splice(at..at, length.bytes());
        }
        if values.len() < wanted.len() {
            let message = format!("the format wants {} arguments, but there are {}", wanted.len(), values.len());
            // Numbers that are missing are zero; there is nothing to print for a string.
            if wanted[values.len()..].iter().any(|w| w.lanes > 1 || b"sp".contains(&w.conv)) {
                self.error("E0331", format.span, message);
                return None;
            }
            self.push(Diagnostic::warning("W0302", format.span, message).note("what is missing is printed as 0"));
            for w in &wanted[values.len()..] {
                // The zero has the type that the format asks for, as the formatter reads the arguments by the format.
                let ty = match (b"diouxXc".contains(&w.conv), w.bits) {
                    (true, Some(64)) => Ty::LONG,
                    (true, _) => Ty::INT,
                    (false, _) if self.opts.fp64 => Ty::DOUBLE,
                    (false, _) => Ty::FLOAT,
                };
                let zero = self.constant(0, ty, span);
                values.push(zero);
            }
        }
        if values.len() > wanted.len() {
            let message = format!("the format uses only {} of {} arguments", wanted.len(), values.len());
            self.push(Diagnostic::warning("W0302", format.span, message));
        }
        // Equal formats share one string of the module.
        let id = match self.unit.formats.iter().position(|f| *f == text) {
            Some(i) => i,
            None => {
                self.unit.formats.push(text);
                self.unit.formats.len() - 1
            }
        };
        Some(Expr::value(ExprKind::Special(Special::Printf(id as u32), values), Ty::INT, span))
    }

    /// A vector whose format lacks the size of its components. Other compilers let that pass, so it is only a warning
    /// here, and the size is the argument's. Returns what the format lacks, and where.
    fn vector_length(&mut self, w: &mut Wanted, e: &Expr) -> Option<(usize, &'static str)> {
        let (elem, _) = self.types.numeric(e.ty.ty)?;
        let length = vector_length(elem);
        (w.bits, w.length) = (Some(elem.bits()), length);
        let letter = char::from(w.conv);
        self.push(
            Diagnostic::warning("W0302", e.span, format!("`%v{}{letter}` lacks the size of the components", w.lanes))
                .help(format!("write `%v{}{length}{letter}`", w.lanes)),
        );
        Some((w.at, length))
    }

    /// The bytes of a constant string, up to its zero.
    fn constant_string(&mut self, e: &Expr) -> Option<Vec<u8>> {
        // Not only literals: a constant array of characters is known as well.
        let crate::sema::constant::CVal::Addr(global, at) = self.eval(e).ok()? else { return None };
        let data = self.unit.globals[global.0 as usize].data.as_ref()?;
        let bytes = data.bytes.get(usize::try_from(at).ok()?..)?;
        let end = bytes.iter().position(|&b| b == 0)?;
        Some(bytes[..end].to_vec())
    }

    /// The default promotions.
    fn printf_argument(&mut self, e: Expr) -> Option<Expr> {
        match *self.types.kind(e.ty.ty) {
            TyKind::Bool => Some(self.convert(e, Ty::INT)),
            TyKind::Scalar(Elem::F16 | Elem::F32) => Some(self.convert(e, Ty::DOUBLE)),
            TyKind::Scalar(_) => Some(self.promote(e)),
            TyKind::Vector(..) | TyKind::Pointer(_) => Some(e),
            _ => {
                if !e.is_error() {
                    let message = format!("a `{}` cannot be printed", self.type_name(e.ty.ty));
                    self.error("E0331", e.span, message);
                }
                None
            }
        }
    }

    fn check_conversion(&mut self, w: Wanted, e: &Expr) {
        let letter = char::from(w.conv);
        let float = b"fFeEgGaA".contains(&w.conv);
        let good = match *self.types.kind(e.ty.ty) {
            TyKind::Pointer(to) => {
                w.conv == b'p'
                    || (w.conv == b's'
                        && matches!(to.ty, Ty::CHAR | Ty::UCHAR)
                        && to.space == cloom_ir::Space::Constant)
            }
            TyKind::Scalar(elem) | TyKind::Vector(elem, _) => {
                let lanes = self.types.numeric(e.ty.ty).map_or(1, |(_, n)| n);
                let bits = match w.bits {
                    // Small integers have been promoted.
                    Some(8 | 16) if lanes == 1 => 32,
                    Some(b) if lanes == 1 && float && b == 64 => 64,
                    Some(b) => b,
                    None if float => 64,
                    None => 32,
                };
                // A scalar float was promoted to `double`, whatever length the format gives.
                let fits = elem.bits() == bits || (float && lanes == 1 && elem == Elem::F64);
                !b"sp".contains(&w.conv) && lanes == w.lanes && elem.is_float() == float && fits
            }
            _ => false,
        };
        if good {
            return;
        }
        let name = self.type_name(e.ty.ty);
        let vector = if w.lanes > 1 { format!("v{}", w.lanes) } else { String::new() };
        let length = w.length;
        let mut d = Diagnostic::warning("W0302", e.span, format!("`%{vector}{length}{letter}` prints a `{name}`"));
        if let Some((elem, lanes)) = self.types.numeric(e.ty.ty) {
            let conv = match elem.is_float() {
                true => 'f',
                false if crate::sema::types::elem_signed(elem) => 'd',
                false => 'u',
            };
            let length = match (lanes, elem.bits()) {
                (1, 64) if !elem.is_float() => "l",
                (1, _) => "",
                _ => vector_length(elem),
            };
            let vector = if lanes > 1 { format!("v{lanes}") } else { String::new() };
            d = d.help(format!(
                "write `%{vector}{length}{conv}` for `{}{}`",
                elem_name(elem),
                &vector.replace('v', "")
            ));
        } else if w.conv == b's' {
            d = d.note("`%s` prints strings in the constant address space, such as literals");
        }
        self.push(d);
    }
}

/// The length modifier for components of a vector.
fn vector_length(elem: Elem) -> &'static str {
    match elem.bits() {
        8 => "hh",
        16 => "h",
        32 => "hl",
        _ => "l",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_long_is_long() {
        let shortened = |format: &[u8]| {
            let mut format = format.to_vec();
            shorten_long_long(&mut format).then_some(format)
        };
        assert_eq!(shortened(b"all %lld %-8.3llx ll%%ll %5lli").unwrap(), b"all %ld %-8.3lx ll%%ll %5li");
        assert_eq!(shortened(b"%v2lld%llll").unwrap(), b"%v2ld%lll");
        assert_eq!(shortened(b"%%lld %ld ll %"), None);
    }

    #[test]
    fn formats_are_read() {
        let w = |conv, lanes, length, at| {
            let bits = [("hh", 8), ("h", 16), ("hl", 32), ("l", 64), ("z", 64), ("t", 64)];
            let bits = bits.iter().find(|(name, _)| *name == length).map(|(_, bits)| *bits);
            Wanted { conv, lanes, bits, length, at }
        };
        assert_eq!(conversions(b"%d %5.2f%%"), Ok(vec![w(b'd', 1, "", 1), w(b'f', 1, "", 7)]));
        assert_eq!(conversions(b"%2.2v4hlf %-08lx"), Ok(vec![w(b'f', 4, "hl", 8), w(b'x', 1, "l", 15)]));
        assert_eq!(conversions(b"%v3hhd %v2f"), Ok(vec![w(b'd', 3, "hh", 5), w(b'f', 2, "", 10)]));
        assert_eq!(conversions(b"%zu %-3td"), Ok(vec![w(b'u', 1, "z", 2), w(b'd', 1, "t", 8)]));
        for wrong in [&b"%"[..], b"%*d", b"%n", b"%v5hld", b"%v4s", b"%y", b"%zf", b"%v2zu", b"%tc"] {
            assert!(conversions(wrong).is_err());
        }
    }
}
