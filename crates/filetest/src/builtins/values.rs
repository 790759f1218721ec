//! Arguments for built-in functions: the ends of the ranges and what is near them, and random ones of every size.

use super::Call;
use crate::accuracy::Precision;
use crate::accuracy::sample::{Random, special};
use cloom_builtins::Elem;

/// Bits of a type's numbers.
pub fn mask(elem: Elem) -> u64 {
    u64::MAX >> (64 - elem.bits())
}

fn integer(elem: Elem, random: &mut Random) -> u64 {
    let bits = elem.bits();
    let top = 1u64 << (bits - 1);
    let bits = match random.below(4) {
        0 => {
            let edges = [0, 1, u64::MAX, u64::MAX - 1, top, top - 1, top + 1, top - 2, 2, 3, top >> 1];
            edges[random.below(edges.len())]
        }
        1 => 1u64 << random.below(bits as usize),
        2 => random.bits() >> random.below(64),
        _ => ((random.bits() as i64) >> random.below(64)) as u64,
    };
    bits & mask(elem)
}

/// A floating-point type.
fn precision(elem: Elem) -> Precision {
    match elem {
        Elem::F16 => Precision::Half,
        Elem::F32 => Precision::Single,
        _ => Precision::Double,
    }
}

/// The bits of a value of a floating-point type.
pub fn float(elem: Elem, x: f64) -> u64 {
    precision(elem).to_bits(x)
}

/// A number of a type.
pub fn any(elem: Elem, specials: &[f64], random: &mut Random) -> u64 {
    if !elem.is_float() {
        return integer(elem, random);
    }
    match random.below(4) {
        0 => float(elem, specials[random.below(specials.len())]),
        1 => random.bits() & mask(elem),
        2 => float(elem, f64::from(random.below(21) as i32 - 10) / 2.0),
        _ => float(elem, random.within(-8.0, 8.0)),
    }
}

/// The special values of a type, if it is a floating-point type.
pub fn specials(elem: Elem) -> Vec<f64> {
    if elem.is_float() { special(precision(elem)) } else { Vec::new() }
}

/// Arguments for `count` calls, within the domain where the specification defines the result.
pub fn arguments(call: &Call, count: usize, seed: u64) -> Vec<Vec<u64>> {
    let mut random = Random::new(seed);
    let mut list: Vec<Vec<u64>> = Vec::new();
    for (elem, lanes) in call.inputs() {
        let specials = specials(elem);
        let one = |_| match call.name {
            // 24 bits with a sign, or without.
            "mul24" => small(elem, any(elem, &specials, &mut random)),
            "mad24" if list.len() < 2 => small(elem, any(elem, &specials, &mut random)),
            "mix" | "smoothstep" => float(elem, random.within(0.0, 1.0)),
            "pown" | "rootn" | "ldexp" if elem == Elem::I32 => random.below(80) as u64,
            // The common functions are not defined for them; the functions of integers do not meet any.
            "min" | "max" | "clamp" if elem.is_float() => loop {
                let bits = any(elem, &specials, &mut random);
                if !to_f64(elem, bits).is_nan() {
                    break bits;
                }
            },
            _ => any(elem, &specials, &mut random),
        };
        list.push((0..count * usize::from(lanes)).map(one).collect());
    }
    if ["clamp", "smoothstep"].contains(&call.name) {
        let (low, high) = if call.name == "clamp" { (1, 2) } else { (0, 1) };
        order(call, &mut list, low, high);
    }
    if call.name.starts_with("bitfield_") {
        fields(call, &mut list, &mut random);
    }
    list
}

/// Makes the last two arguments offset and size of fields that fit: none, all and any part.
fn fields(call: &Call, list: &mut [Vec<u64>], random: &mut Random) {
    let Some((elem, _)) = call.inputs().next() else { return };
    let [.., offsets, counts] = list else { return };
    let width = elem.bits() as usize;
    for (offset, count) in offsets.iter_mut().zip(counts) {
        let begin = if random.below(4) == 0 { 0 } else { random.below(width + 1) };
        let most = width - begin;
        *offset = begin as u64;
        *count = if random.below(4) == 0 { most } else { random.below(most + 1) } as u64;
    }
}

/// Exchanges bounds that are the wrong way round, and parts equal ones of `smoothstep`.
fn order(call: &Call, list: &mut [Vec<u64>], low: usize, high: usize) {
    let Some((elem, _)) = call.inputs().next() else { return };
    for i in 0..list[low].len() {
        let (a, b) = (list[low][i], list[high][i]);
        let above = match elem.is_float() {
            true => to_f64(elem, a) > to_f64(elem, b),
            false => to_int(elem, a) > to_int(elem, b),
        };
        if above {
            (list[low][i], list[high][i]) = (b, a);
        }
        if call.name == "smoothstep" {
            list[high][i] = float(elem, to_f64(elem, list[high][i]) + 0.25);
        }
    }
}

fn small(elem: Elem, bits: u64) -> u64 {
    match elem {
        Elem::I32 => ((bits as i32) << 8 >> 8) as u32 as u64,
        _ => bits & 0xff_ffff,
    }
}

/// The value of a floating-point number.
pub fn to_f64(elem: Elem, bits: u64) -> f64 {
    precision(elem).from_bits(bits)
}

/// Whether an integer type has a sign.
pub fn signed(elem: Elem) -> bool {
    matches!(elem, Elem::I8 | Elem::I16 | Elem::I32 | Elem::I64)
}

/// The value of an integer.
pub fn to_int(elem: Elem, bits: u64) -> i128 {
    let shift = 64 - elem.bits();
    if signed(elem) { i128::from((bits << shift) as i64 >> shift) } else { i128::from(bits) }
}
