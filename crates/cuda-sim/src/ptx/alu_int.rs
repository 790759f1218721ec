//! Integer and bit operations.
//!
//! In: an operation, its type and the raw register values. Out: the raw result; the machine cuts it to the width of
//! the destination. Operands are first extended to 64 bits as the type says, so one implementation serves all widths.
//!
//! Division by zero is unspecified in PTX. As the hardware does, the quotient is all ones and the remainder is the
//! dividend.

use super::op::{Carry, IntOp, Type};

/// Computes an operation; packed types work lane by lane.
pub(super) fn apply(op: IntOp, ty: Type, args: [u64; 4]) -> u64 {
    if ty.lanes == 1 {
        return scalar(op, ty, args);
    }
    // The type of a lane cuts off what lies above it.
    let lane = |shift: u32| scalar(op, ty.lane(), args.map(|value| value >> shift)) & 0xFFFF;
    lane(0) | lane(16) << 16
}

fn scalar(op: IntOp, ty: Type, args: [u64; 4]) -> u64 {
    let [raw_a, raw_b, raw_c, raw_d] = args;
    let (a, b) = (ty.extend(raw_a), ty.extend(raw_b));
    let signed = ty.is_signed();
    let less = |x: u64, y: u64| if signed { (x as i64) < y as i64 } else { x < y };
    match op {
        IntOp::Add => a.wrapping_add(b),
        IntOp::Sub => a.wrapping_sub(b),
        IntOp::MulLo | IntOp::MulWide => a.wrapping_mul(b),
        IntOp::MulHi => multiply_high(a, b, ty),
        // The third operand as it is: in the wide form it has twice the width, otherwise the destination cuts the sum.
        IntOp::MadLo | IntOp::MadWide => a.wrapping_mul(b).wrapping_add(raw_c),
        IntOp::MadHi => multiply_high(a, b, ty).wrapping_add(raw_c),
        IntOp::Mul24Lo => product24(a, b, signed) as u64,
        IntOp::Mul24Hi => (product24(a, b, signed) >> 16) as u64,
        IntOp::Mad24Lo => (product24(a, b, signed) as u64).wrapping_add(raw_c),
        IntOp::Mad24Hi => ((product24(a, b, signed) >> 16) as u64).wrapping_add(raw_c),
        // `.sat` exists for signed numbers only.
        IntOp::AddSat => clamp(i128::from(a as i64) + i128::from(b as i64), ty),
        IntOp::SubSat => clamp(i128::from(a as i64) - i128::from(b as i64), ty),
        IntOp::MadHiSat => {
            // The sum of two numbers of 32 bits is exact in 128, and is clamped once.
            let high = ty.extend(multiply_high(a, b, ty)) as i64;
            clamp(i128::from(high) + i128::from(ty.extend(raw_c) as i64), ty)
        }
        IntOp::Div => match (b, signed) {
            (0, _) => u64::MAX,
            // The least number by -1 is the least number again.
            (_, true) => (a as i64).wrapping_div(b as i64) as u64,
            (_, false) => a / b,
        },
        IntOp::Rem => match (b, signed) {
            (0, _) => a,
            (_, true) => (a as i64).wrapping_rem(b as i64) as u64,
            (_, false) => a % b,
        },
        IntOp::Min => {
            if less(b, a) {
                b
            } else {
                a
            }
        }
        IntOp::Max => {
            if less(a, b) {
                b
            } else {
                a
            }
        }
        IntOp::Abs => (a as i64).unsigned_abs(),
        IntOp::Neg => a.wrapping_neg(),
        IntOp::Sad => raw_c.wrapping_add(if less(a, b) { b.wrapping_sub(a) } else { a.wrapping_sub(b) }),
        IntOp::And => a & b,
        IntOp::Or => a | b,
        IntOp::Xor => a ^ b,
        IntOp::Not => !a,
        IntOp::CNot => u64::from(a == 0),
        IntOp::Shl => {
            if amount(raw_b) < ty.bits {
                a << amount(raw_b)
            } else {
                0
            }
        }
        // `a` is extended to 64 bits, so that a shift by the width of the type leaves nothing but zeros or signs.
        IntOp::Shr => match (amount(raw_b).min(ty.bits), signed) {
            (shift, true) => ((a as i64) >> shift.min(63)) as u64,
            (64, false) => 0,
            (shift, false) => a >> shift,
        },
        // The second operand is the upper word. To the left, the upper word of the shifted pair is the result.
        IntOp::ShfLeft => join(b, a) << (raw_c & 31) >> 32,
        IntOp::ShfRight => join(b, a) >> (raw_c & 31),
        IntOp::ShfLeftClamp => join(b, a) << amount(raw_c).min(32) >> 32,
        IntOp::ShfRightClamp => join(b, a) >> amount(raw_c).min(32),
        IntOp::Bfe => extract(raw_a, (raw_b & 0xFF) as u32, (raw_c & 0xFF) as u32, ty),
        IntOp::Bfi => {
            let (position, length) = ((raw_c & 0xFF) as u32, (raw_d & 0xFF) as u32);
            let mask = if position < ty.bits { ones(length) << position } else { 0 };
            let moved = if position < ty.bits { a << position } else { 0 };
            b & !mask | moved & mask
        }
        IntOp::Brev => a.reverse_bits() >> (64 - ty.bits),
        // The operand was extended by zeros to 64 bits.
        IntOp::Clz => u64::from(a.leading_zeros() - (64 - ty.bits)),
        IntOp::Popc => u64::from(a.count_ones()),
        // Without such a bit, the answer is -1.
        IntOp::Bfind => find(a, signed).map_or(u64::from(u32::MAX), u64::from),
        IntOp::BfindShift => find(a, signed).map_or(u64::from(u32::MAX), |bit| u64::from(ty.bits - 1 - bit)),
        IntOp::Bmsk => ones((b & 31) as u32) << (a & 31),
        IntOp::BmskClamp => ones(amount(b).min(32)).checked_shl(amount(a).min(32)).unwrap_or(0),
        IntOp::Prmt => permute(a, b, |index| (raw_c >> (4 * index)) as u32),
        IntOp::PrmtF4e => permute(a, b, |index| (index + select(raw_c)) & 7),
        IntOp::PrmtB4e => permute(a, b, |index| select(raw_c).wrapping_sub(index) & 7),
        IntOp::PrmtRc8 => permute(a, b, |_| select(raw_c)),
        IntOp::PrmtEcl => permute(a, b, |index| index.max(select(raw_c))),
        IntOp::PrmtEcr => permute(a, b, |index| index.min(select(raw_c))),
        IntOp::PrmtRc16 => permute(a, b, |index| (select(raw_c) & 1) * 2 + (index & 1)),
        IntOp::Lop3 => lookup(a, b, raw_c, raw_d),
        IntOp::Dp4a(second) => {
            let term = |byte: u32| part(a, byte, 8, signed).wrapping_mul(part(b, byte, 8, second));
            (0..4).map(term).fold(raw_c, |sum, term| sum.wrapping_add(term as u64))
        }
        IntOp::Dp2aLo(second) => dot2(a, b, raw_c, 0, signed, second),
        IntOp::Dp2aHi(second) => dot2(a, b, raw_c, 2, signed, second),
        IntOp::Select => {
            if raw_c & 1 == 1 {
                raw_a
            } else {
                raw_b
            }
        }
    }
}

/// A shift amount is an unsigned 32-bit value, whatever the type of the instruction.
fn amount(value: u64) -> u32 {
    value as u32
}

fn ones(length: u32) -> u64 {
    if length >= 64 { u64::MAX } else { (1 << length) - 1 }
}

fn join(high: u64, low: u64) -> u64 {
    high << 32 | low & 0xFFFF_FFFF
}

fn select(value: u64) -> u32 {
    (value & 3) as u32
}

fn multiply_high(a: u64, b: u64, ty: Type) -> u64 {
    if ty.is_signed() {
        ((i128::from(a as i64) * i128::from(b as i64)) >> ty.bits) as u64
    } else {
        ((u128::from(a) * u128::from(b)) >> ty.bits) as u64
    }
}

fn product24(a: u64, b: u64, signed: bool) -> i64 {
    let cut = |value: u64| if signed { (value << 40) as i64 >> 40 } else { (value & 0xFF_FFFF) as i64 };
    cut(a).wrapping_mul(cut(b))
}

fn clamp(value: i128, ty: Type) -> u64 {
    let most = (1_i128 << (ty.bits - 1)) - 1;
    value.clamp(-most - 1, most) as u64
}

/// `bfe`: the field, extended by its highest bit if signed; beyond the value it consists of that bit too.
fn extract(value: u64, position: u32, length: u32, ty: Type) -> u64 {
    let value = value & ones(ty.bits);
    // A field that reaches beyond the value has the value's highest bit as its sign.
    let last = position.saturating_add(length).saturating_sub(1).min(ty.bits - 1);
    let sign = ty.is_signed() && length != 0 && value >> last & 1 == 1;
    let have = length.min(ty.bits.saturating_sub(position));
    let field = if position < ty.bits { value >> position & ones(have) } else { 0 };
    if sign { field | !ones(have) } else { field }
}

/// The position of the highest bit that differs from the sign, or that is set.
fn find(value: u64, signed: bool) -> Option<u32> {
    let value = if signed && (value as i64) < 0 { !value } else { value };
    value.checked_ilog2()
}

/// `prmt`: the result's bytes by selectors; bit 3 of a selector spreads the sign of the byte.
fn permute(a: u64, b: u64, selector: impl Fn(u32) -> u32) -> u64 {
    let all = join(b, a);
    (0..4).fold(0, |result, index| {
        let selector = selector(index);
        let byte = all >> (8 * (selector & 7)) & 0xFF;
        let byte = match (selector & 8, byte & 0x80) {
            (0, _) => byte,
            (_, 0) => 0,
            _ => 0xFF,
        };
        result | byte << (8 * index)
    })
}

fn lookup(a: u64, b: u64, c: u64, table: u64) -> u64 {
    // Bit `4 a + 2 b + c` of the table is the result for these three bits.
    (0..8).filter(|row| table >> row & 1 == 1).fold(0, |result, row| {
        let pick = |value: u64, bit: u64| if row & bit != 0 { value } else { !value };
        result | pick(a, 4) & pick(b, 2) & pick(c, 1)
    })
}

/// The element of a vector of integers in a register.
fn part(value: u64, index: u32, bits: u32, signed: bool) -> i64 {
    let raised = value << (64 - bits * (index + 1));
    if signed { raised as i64 >> (64 - bits) } else { (raised >> (64 - bits)) as i64 }
}

fn dot2(a: u64, b: u64, c: u64, first: u32, signed: bool, second: bool) -> u64 {
    let term = |index: u32| part(a, index, 16, signed).wrapping_mul(part(b, first + index, 8, second));
    c.wrapping_add(term(0) as u64).wrapping_add(term(1) as u64)
}

/// Computes an operation with the carry flag: the result and the new flag. For subtractions the flag is the borrow.
pub(super) fn carry(op: &Carry, args: [u64; 3], flag: bool) -> (u64, bool) {
    let mask = ones(op.ty.bits);
    let product = |high: bool| {
        let (a, b) = (op.ty.extend(args[0]), op.ty.extend(args[1]));
        if high { multiply_high(a, b, op.ty) } else { a.wrapping_mul(b) }
    };
    let (a, b) = match op.multiply {
        Some(high) => (product(high) & mask, args[2] & mask),
        None => (args[0] & mask, args[1] & mask),
    };
    let flag_in = u128::from(op.carry_in && flag);
    // With 128 bits, the carry of 64-bit operands is a bit of the sum, and that of the flag is not lost: b + 1 may have
    // 65 bits.
    let (wide_a, wide_b) = (u128::from(a), u128::from(b) + flag_in);
    let (result, out) = if op.subtract {
        (wide_a.wrapping_sub(wide_b), wide_a < wide_b)
    } else {
        (wide_a + wide_b, wide_a + wide_b > u128::from(mask))
    };
    (result as u64 & mask, if op.carry_out { out } else { flag })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptx::op::{Class, Dst, Src};

    fn run(op: IntOp, ty: &str, args: &[u64]) -> u64 {
        let ty = Type::parse(ty).unwrap();
        let mut all = [0; 4];
        all[..args.len()].copy_from_slice(args);
        apply(op, ty, all)
    }

    fn check(op: IntOp, ty: &str, args: &[u64], expected: u64) {
        let width = match op {
            IntOp::MulWide | IntOp::MadWide => 2 * Type::parse(ty).unwrap().bits,
            _ => Type::parse(ty).unwrap().size() * 8,
        };
        let got = run(op, ty, args) & ones(width);
        assert_eq!(got, expected, "{op:?}.{ty} {args:x?}: {got:#x}");
    }

    #[test]
    fn arithmetic() {
        for (op, ty, args, expected) in [
            (IntOp::Add, "s32", &[0x7FFF_FFFF, 1][..], 0x8000_0000),
            (IntOp::Sub, "u16", &[0, 1], 0xFFFF),
            (IntOp::MulLo, "s32", &[0xFFFF_FFFF, 3], 0xFFFF_FFFD),
            (IntOp::MulHi, "s32", &[0xFFFF_FFFF, 3], 0xFFFF_FFFF),
            (IntOp::MulHi, "u32", &[0xFFFF_FFFF, 3], 2),
            (IntOp::MulHi, "u64", &[u64::MAX, u64::MAX], u64::MAX - 1),
            (IntOp::MulHi, "s64", &[u64::MAX, u64::MAX], 0),
            (IntOp::MulHi, "u16", &[0xFFFF, 0xFFFF], 0xFFFE),
            (IntOp::MulWide, "s32", &[0xFFFF_FFFF, 2], 0xFFFF_FFFF_FFFF_FFFE),
            (IntOp::MulWide, "u32", &[0xFFFF_FFFF, 2], 0x1_FFFF_FFFE),
            (IntOp::MulWide, "s16", &[0xFFFF, 2], 0xFFFF_FFFE),
            (IntOp::MulWide, "u16", &[0xFFFF, 0xFFFF], 0xFFFE_0001),
            (IntOp::MadLo, "s32", &[5, 7, 0xFFFF_FFFF], 34),
            (IntOp::MadHi, "u32", &[0x8000_0000, 4, 5], 7),
            (IntOp::MadWide, "u32", &[0x8000_0000, 4, 0x1_0000_0005], 0x3_0000_0005),
            (IntOp::Div, "s32", &[0xFFFF_FFF9, 2], 0xFFFF_FFFD),
            (IntOp::Rem, "s32", &[0xFFFF_FFF9, 2], 0xFFFF_FFFF),
            (IntOp::Div, "u32", &[0xFFFF_FFF9, 2], 0x7FFF_FFFC),
            (IntOp::Div, "s32", &[0x8000_0000, 0xFFFF_FFFF], 0x8000_0000),
            (IntOp::Rem, "s32", &[0x8000_0000, 0xFFFF_FFFF], 0),
            (IntOp::Div, "s64", &[1 << 63, u64::MAX], 1 << 63),
            (IntOp::Div, "u32", &[7, 0], 0xFFFF_FFFF),
            (IntOp::Rem, "u32", &[7, 0], 7),
            (IntOp::Min, "s16", &[0xFFFF, 1], 0xFFFF),
            (IntOp::Min, "u16", &[0xFFFF, 1], 1),
            (IntOp::Max, "s64", &[u64::MAX, 1], 1),
            (IntOp::Abs, "s32", &[0xFFFF_FFFB], 5),
            (IntOp::Abs, "s32", &[0x8000_0000], 0x8000_0000),
            (IntOp::Neg, "s16", &[1], 0xFFFF),
            (IntOp::Sad, "s32", &[0xFFFF_FFFF, 2, 10], 13),
            (IntOp::Sad, "u32", &[0xFFFF_FFFF, 2, 0], 0xFFFF_FFFD),
            (IntOp::AddSat, "s32", &[0x7FFF_FFFF, 5], 0x7FFF_FFFF),
            (IntOp::SubSat, "s32", &[0x8000_0000, 5], 0x8000_0000),
            (IntOp::Mul24Lo, "s32", &[0xFF_FFFF, 3], 0xFFFF_FFFD),
            (IntOp::Mul24Hi, "u32", &[0xFF_FFFF, 0xFF_FFFF], 0xFFFF_FE00),
            (IntOp::Max, "s16x2", &[0xFFFF_0001, 0x0000_FFFF], 0x0000_0001),
            (IntOp::Max, "u16x2", &[0xFFFF_0001, 0x0000_FFFF], 0xFFFF_FFFF),
            (IntOp::Add, "u16x2", &[0xFFFF_FFFF, 0x0001_0001], 0),
        ] {
            check(op, ty, args, expected);
        }
    }

    #[test]
    fn shifts_clamp_at_the_width() {
        for (op, ty, args, expected) in [
            (IntOp::Shl, "b32", &[1, 31][..], 0x8000_0000),
            (IntOp::Shl, "b32", &[1, 32], 0),
            (IntOp::Shl, "b32", &[1, 0xFFFF_FFFF], 0),
            (IntOp::Shl, "b64", &[1, 63], 1 << 63),
            (IntOp::Shl, "b64", &[1, 64], 0),
            (IntOp::Shl, "b16", &[0xFFFF, 15], 0x8000),
            (IntOp::Shl, "b16", &[1, 16], 0),
            (IntOp::Shr, "u32", &[0x8000_0000, 31], 1),
            (IntOp::Shr, "u32", &[0x8000_0000, 32], 0),
            (IntOp::Shr, "s32", &[0x8000_0000, 4], 0xF800_0000),
            (IntOp::Shr, "s32", &[0x8000_0000, 99], 0xFFFF_FFFF),
            (IntOp::Shr, "s32", &[0x4000_0000, 99], 0),
            (IntOp::Shr, "s64", &[1 << 63, 64], u64::MAX),
            (IntOp::Shr, "u64", &[1 << 63, 64], 0),
            (IntOp::Shr, "s16", &[0x8000, 20], 0xFFFF),
            (IntOp::Shr, "b64", &[1 << 63, 63], 1),
            (IntOp::ShfLeft, "b32", &[0x8000_0000, 1, 1], 3),
            (IntOp::ShfLeft, "b32", &[0x8000_0000, 1, 33], 3),
            (IntOp::ShfLeftClamp, "b32", &[0x8000_0001, 1, 40], 0x8000_0001),
            (IntOp::ShfRight, "b32", &[0x8000_0000, 1, 1], 0xC000_0000),
            (IntOp::ShfRightClamp, "b32", &[0x8000_0000, 7, 32], 7),
        ] {
            check(op, ty, args, expected);
        }
    }

    #[test]
    fn bits() {
        for (op, ty, args, expected) in [
            (IntOp::Bfe, "u32", &[0xABCD_EF12, 8, 8][..], 0xEF),
            (IntOp::Bfe, "s32", &[0xABCD_EF12, 8, 8], 0xFFFF_FFEF),
            (IntOp::Bfe, "s32", &[0xABCD_EF12, 24, 16], 0xFFFF_FFAB),
            (IntOp::Bfe, "s32", &[0x8000_0000, 40, 4], 0xFFFF_FFFF),
            (IntOp::Bfe, "u32", &[0x8000_0000, 40, 4], 0),
            (IntOp::Bfe, "s32", &[0xFFFF_FFFF, 3, 0], 0),
            (IntOp::Bfe, "u64", &[0xAB << 56, 56, 255], 0xAB),
            (IntOp::Bfe, "s64", &[0xAB << 56, 56, 8], 0xFFFF_FFFF_FFFF_FFAB),
            (IntOp::Bfi, "b32", &[0xAB, 0x1111_1111, 8, 8], 0x1111_AB11),
            (IntOp::Bfi, "b32", &[0xAB, 0x1111_1111, 28, 8], 0xB111_1111),
            (IntOp::Bfi, "b32", &[0xAB, 0x1111_1111, 32, 8], 0x1111_1111),
            (IntOp::Bfi, "b32", &[0xAB, 0x1111_1111, 0, 255], 0xAB),
            (IntOp::Bfi, "b64", &[0xAB, 0, 60, 2], 3 << 60),
            (IntOp::Brev, "b32", &[1], 0x8000_0000),
            (IntOp::Brev, "b64", &[1], 1 << 63),
            (IntOp::Clz, "b32", &[1], 31),
            (IntOp::Clz, "b32", &[0], 32),
            (IntOp::Clz, "b64", &[0], 64),
            (IntOp::Popc, "b32", &[0xFFFF_FFFF_FFFF], 32),
            (IntOp::Popc, "b64", &[u64::MAX], 64),
            (IntOp::Bfind, "u32", &[0x10], 4),
            (IntOp::Bfind, "u32", &[0], 0xFFFF_FFFF),
            (IntOp::Bfind, "s32", &[0xFFFF_FFF0], 3),
            (IntOp::BfindShift, "u32", &[0x10], 27),
            (IntOp::Not, "b16", &[0xFF], 0xFF00),
            (IntOp::CNot, "b32", &[0], 1),
            (IntOp::Not, "b32", &[0], 0xFFFF_FFFF),
            (IntOp::Lop3, "b32", &[0b1100, 0b1010, 0b0110, 0x96], 0),
            (IntOp::Lop3, "b32", &[0xF0, 0xCC, 0xAA, 0xE8], 0xE8),
            (IntOp::Prmt, "b32", &[0x3322_1100, 0x7766_5544, 0x7531], 0x7755_3311),
            (IntOp::Prmt, "b32", &[0x8001, 0, 0x8998], 0x00FF_FF00),
            (IntOp::PrmtF4e, "b32", &[0x3322_1100, 0x7766_5544, 1], 0x4433_2211),
            (IntOp::PrmtB4e, "b32", &[0x3322_1100, 0x7766_5544, 0], 0x5566_7700),
            (IntOp::PrmtRc8, "b32", &[0x3322_1100, 0, 2], 0x2222_2222),
            (IntOp::PrmtEcl, "b32", &[0x3322_1100, 0, 1], 0x3322_1111),
            (IntOp::PrmtEcr, "b32", &[0x3322_1100, 0, 1], 0x1111_1100),
            (IntOp::PrmtRc16, "b32", &[0x3322_1100, 0, 1], 0x3322_3322),
            (IntOp::Dp4a(true), "s32", &[0xFF02_0304, 0x0101_01FF, 10], 10),
            (IntOp::Dp4a(false), "u32", &[0xFF00_0001, 0x0200_0003, 1], 514),
            (IntOp::Dp2aLo(true), "s32", &[0xFFFF_0002, 0x0909_0503, 0], 1),
            (IntOp::Dp2aHi(true), "s32", &[0xFFFF_0002, 0x0503_0909, 0], 1),
            (IntOp::Select, "b64", &[5, 6, 1], 5),
            (IntOp::Select, "b64", &[5, 6, 0], 6),
            (IntOp::Bmsk, "b32", &[4, 8], 0xFF0),
            (IntOp::BmskClamp, "b32", &[40, 8], 0),
        ] {
            check(op, ty, args, expected);
        }
    }

    #[test]
    fn the_carry_flag() {
        let ty = Type { class: Class::Unsigned, bits: 32, lanes: 1 };
        let dst = Dst { slot: 0, mask: u64::MAX };
        let op = |subtract, carry_in, multiply| Carry {
            subtract,
            carry_in,
            carry_out: true,
            multiply,
            ty,
            dst,
            args: [Src::Imm(0); 3],
        };
        for (op, args, flag, expected) in [
            (op(false, false, None), [0xFFFF_FFFF, 1, 0], true, (0, true)),
            (op(false, true, None), [0xFFFF_FFFF, 0, 0], true, (0, true)),
            (op(false, true, None), [1, 2, 0], true, (4, false)),
            (op(true, false, None), [1, 2, 0], true, (0xFFFF_FFFF, true)),
            (op(true, true, None), [2, 1, 0], true, (0, false)),
            (op(true, true, None), [1, 1, 0], true, (0xFFFF_FFFF, true)),
            (op(false, false, Some(true)), [0x8000_0000, 6, 0xFFFF_FFFF], false, (2, true)),
            (op(false, true, Some(false)), [3, 4, 5], true, (18, false)),
        ] {
            assert_eq!(carry(&op, args, flag), expected, "{op:?} {args:x?}");
        }
    }
}
