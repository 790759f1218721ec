//! Strings that `printf` reads: only constants of the program that end with a zero.
//!
//! The host reads a string at the address that a `%s` gets, up to a zero. In a call whose arguments are not all known
//! to suit, each `%s` becomes a `%p`.

use super::roots::Roots;
use cloom_ir::{FuncRef, Function, Inst, Module, Op};

/// Looks after the calls of `printf` in a function.
pub(super) fn check(module: &mut Module, f: FuncRef, roots: &Roots) {
    let func = &module.funcs[f];
    let prints = |(i, op): (Inst, &Op)| match *op {
        Op::Printf(format) => Some((i, format)),
        _ => None,
    };
    let calls: Vec<_> = func.insts_in_layout().map(|(i, data)| (i, &data.op)).filter_map(prints).collect();
    for (i, format) in calls {
        let Some(text) = module.strings.get(format) else { continue };
        let conversions = conversions(text);
        if suits(&module.funcs[f], i, &conversions, roots) {
            continue;
        }
        let mut text = text.clone();
        for conversion in conversions.iter().filter(|c| c.letter == b's') {
            text[conversion.at] = b'p';
        }
        let format = module.strings.push(text);
        module.funcs[f].insts[i].op = Op::Printf(format);
    }
}

/// A conversion of a format.
struct Conversion {
    /// Where its letter is.
    at: usize,
    letter: u8,
    is_vector: bool,
}

fn conversions(text: &[u8]) -> Vec<Conversion> {
    let mut list = Vec::new();
    let mut at = 0;
    while let Some(percent) = text[at..].iter().position(|&c| c == b'%') {
        let begin = at + percent + 1;
        let rest = &text[begin..];
        // Flags, width, precision, lanes and length come before the letter.
        let is_before = |c: u8| c.is_ascii_digit() || b" #+-.hlv*".contains(&c);
        let Some(length) = rest.iter().position(|&c| !is_before(c)) else { break };
        let letter = rest[length];
        if letter != b'%' {
            list.push(Conversion { at: begin + length, letter, is_vector: rest[..length].contains(&b'v') });
        }
        at = begin + length + 1;
    }
    list
}

/// Whether each `%s` gets a string.
fn suits(func: &Function, i: Inst, conversions: &[Conversion], roots: &Roots) -> bool {
    if !conversions.iter().any(|c| c.letter == b's') {
        return true;
    }
    // The first operand is the work-item's id.
    let args = func.insts[i].args.get(1..).unwrap_or(&[]);
    // Each argument has eight bytes, so that the conversions find them by their number.
    let is_plain = conversions.iter().all(|c| !c.is_vector) && args.iter().all(|&v| !func.ty(v).is_vector());
    let mut strings = conversions.iter().enumerate().filter(|(_, c)| c.letter == b's');
    is_plain && strings.all(|(n, _)| args.get(n).is_some_and(|&v| func.ty(v).is_ptr() && roots.get(v).is_text))
}
