//! Masks that live across blocks, are combined, and are tested: loops that run while a lane is on.

mod common;

use cloom_ir::{BinOp, Builder, CastOp, Edge, Flags, FloatCc, IntCc, Module, Scalar, Term, Type, UnOp, Value};

/// For each lane, iterations until the number is one, at most `limit`; the odd ones among them; and bits that record
/// the masks.
fn expected(x: u64, limit: u64, width: u32) -> [u64; 3] {
    let mask = if width == 64 { !0 } else { (1 << width) - 1 };
    let (mut x, mut steps, mut odd, mut bits) = (x, 0u64, 0u64, 0u64);
    let small = x < 16;
    while x > 1 && steps < limit {
        let is_odd = x & 1 == 1;
        x = if is_odd { x.wrapping_mul(3).wrapping_add(1) & mask } else { x >> 1 };
        steps += 1;
        odd += u64::from(is_odd);
        // A mask that is chosen by a mask, and one by a truth value of all lanes.
        let chosen = if is_odd { small } else { x & 2 == 2 };
        bits ^= u64::from(chosen);
    }
    // After the loop: lanes that ended before the limit, xor lanes whose number was small.
    let ended = x <= 1;
    [steps & mask, odd & mask, bits & 1 | u64::from(ended != small) << 1 | u64::from(!ended && !small) << 2]
}

fn lane(b: &mut Builder<'_>, ty: Type, x: u64) -> Value {
    b.iconst(ty, x & ty.scalar.mask())
}

fn build(b: &mut Builder<'_>, abi: &common::Abi, s: Scalar, lanes: u16, limit: u64) {
    let ty = Type::vector(s, lanes);
    let (from, to) = (common::buffer(b, abi, 0), common::buffer(b, abi, 1));
    let x0 = b.load(ty, from, 1, Flags::empty());
    let [zero, one, two, three, sixteen] = [0, 1, 2, 3, 16].map(|n| lane(b, ty, n));
    let small = b.icmp(IntCc::Ult, x0, sixteen);
    let all = lane(b, ty.with_scalar(Scalar::I1), 1);
    let none = lane(b, ty.with_scalar(Scalar::I1), 0);
    let n0 = b.iconst(Type::I64, 0);
    let [head, body, even, join, end] = [(); 5].map(|()| b.func.add_block());
    b.jump(head, &[x0, zero, zero, none, all, n0]);

    let mask_ty = ty.with_scalar(Scalar::I1);
    let params = [ty, ty, ty, mask_ty, mask_ty, Type::I64];
    let [x, steps, odd, bits, on, n] = params.map(|t| b.func.add_block_param(head, t));
    b.switch_to(head);
    let more = b.icmp(IntCc::Ugt, x, one);
    let on = b.binary(BinOp::And, on, more);
    let any = b.any(on);
    let limit = b.iconst(Type::I64, limit);
    let in_time = b.icmp(IntCc::Ult, n, limit);
    let go = b.binary(BinOp::And, any, in_time);
    b.branch(go, body, end);

    b.switch_to(body);
    let low = b.binary(BinOp::And, x, one);
    let is_odd = b.icmp(IntCc::Eq, low, one);
    let tripled = b.binary(BinOp::Mul, x, three);
    let tripled = b.binary(BinOp::Add, tripled, one);
    let half = b.binary(BinOp::Lshr, x, one);
    let next = b.select(is_odd, tripled, half);
    let x1 = b.select(on, next, x);
    let step = b.cast_mask(on, ty);
    let steps1 = b.binary(BinOp::Add, steps, step);
    let both = b.binary(BinOp::And, on, is_odd);
    let step = b.cast_mask(both, ty);
    let odd1 = b.binary(BinOp::Add, odd, step);
    let is_even = b.unary(UnOp::Not, is_odd);
    let some_even = b.binary(BinOp::And, is_even, on);
    let some_even = b.any(some_even);
    // A uniform branch around the second choice: the mask goes through a block parameter.
    b.term(Term::Branch { cond: some_even, then: Edge::new(even, []), els: Edge::new(join, [small]) });

    b.switch_to(even);
    let second = b.binary(BinOp::And, x1, two);
    let second = b.icmp(IntCc::Ne, second, zero);
    let chosen = b.select(is_odd, small, second);
    b.jump(join, &[chosen]);

    let chosen = b.func.add_block_param(join, mask_ty);
    b.switch_to(join);
    let chosen = b.binary(BinOp::And, chosen, on);
    let bits1 = b.binary(BinOp::Xor, bits, chosen);
    let n1 = b.iconst(Type::I64, 1);
    let n1 = b.binary(BinOp::Add, n, n1);
    b.jump(head, &[x1, steps1, odd1, bits1, on, n1]);

    b.switch_to(end);
    let ended = b.unary(UnOp::Not, more);
    let differ = b.binary(BinOp::Xor, ended, small);
    let neither = b.binary(BinOp::Or, ended, small);
    let neither = b.unary(UnOp::Not, neither);
    let mut word = b.cast_mask(bits, ty);
    for (mask, bit) in [(differ, 2), (neither, 4)] {
        let bit = lane(b, ty, bit);
        let set = b.select(mask, bit, zero);
        word = b.binary(BinOp::Or, word, set);
    }
    let bytes = u64::from(ty.bytes());
    for (k, v) in [steps, odd, word].into_iter().enumerate() {
        let p = b.ptr_offset(to, bytes * k as u64);
        b.store(p, v, 1, Flags::empty());
    }
    let ballot = if lanes <= 64 { b.ballot(differ) } else { n0 };
    let all_differ = b.all(differ);
    let all_differ = b.cast(CastOp::Zext, all_differ, Type::I64);
    for (k, v) in [ballot, all_differ].into_iter().enumerate() {
        let p = b.ptr_offset(to, 3 * bytes + 8 * k as u64);
        b.store(p, v, 1, Flags::empty());
    }
    b.ret(None);
}

trait Widen {
    fn cast_mask(&mut self, mask: Value, ty: Type) -> Value;
}

impl Widen for Builder<'_> {
    fn cast_mask(&mut self, mask: Value, ty: Type) -> Value {
        self.cast(CastOp::Zext, mask, ty)
    }
}

fn check(s: Scalar, lanes: u16) {
    let size = s.bytes() as usize;
    let n = usize::from(lanes);
    for limit in [0, 1, 7, 200] {
        let mut module = Module::new();
        let func = common::group_function(&mut module, |b, abi| build(b, abi, s, lanes, limit));
        for (device, options) in common::variants() {
            let prepared = common::Prepared::new(&device, &options, &module, func);
            for seed in 0..6u64 {
                let value = |i: usize| match seed {
                    0 => 1,
                    1 => 3,
                    2 => i as u64 & 0x7f,
                    _ => (i as u64 * 77 + seed * 13) % 127 + 1,
                };
                let input: Vec<u8> = (0..n).flat_map(|i| value(i).to_le_bytes()[..size].to_vec()).collect();
                let out = prepared.run(1, &input, 3 * n * size + 16).0;
                let mut ballot = 0u64;
                let mut all = true;
                for i in 0..n {
                    let want = expected(value(i), limit, s.bits());
                    let got = [0, 1, 2].map(|k| {
                        let mut word = [0; 8];
                        word[..size].copy_from_slice(&out[(k * n + i) * size..][..size]);
                        u64::from_le_bytes(word)
                    });
                    assert_eq!(got, want, "lane {i} of {s}x{lanes}, at most {limit}, seed {seed}, {options:?}");
                    ballot |= (want[2] >> 1 & 1) << (i % 64);
                    all &= want[2] & 2 != 0;
                }
                let ballot = if n <= 64 { ballot } else { 0 };
                let tail = [ballot.to_le_bytes(), u64::from(all).to_le_bytes()].concat();
                assert_eq!(out[3 * n * size..], tail, "{s}x{lanes}, {limit}, {seed}, {options:?}");
            }
        }
    }
}

#[test]
fn loops_run_while_a_lane_is_on() {
    for (s, lanes) in [
        (Scalar::I8, [2, 16, 64]),
        (Scalar::I16, [3, 8, 32]),
        (Scalar::I32, [2, 8, 16]),
        (Scalar::I32, [4, 33, 64]),
        (Scalar::I64, [2, 5, 16]),
    ] {
        for lanes in lanes {
            check(s, lanes);
        }
    }
}

/// Masks of comparisons of several widths, in one combination, used for yet other widths in another block.
#[test]
fn widths_mix() {
    for lanes in [2u16, 4, 7, 8, 16, 32] {
        let n = usize::from(lanes);
        let mut module = Module::new();
        let func = common::group_function(&mut module, |b, abi| {
            let (from, to) = (common::buffer(b, abi, 0), common::buffer(b, abi, 1));
            let load = |b: &mut Builder<'_>, s: Scalar, at: usize| {
                let p = b.ptr_offset(from, (at * n) as u64);
                b.load(Type::vector(s, lanes), p, 1, Flags::empty())
            };
            let bytes = load(b, Scalar::I8, 0);
            let floats = load(b, Scalar::F32, 1);
            let doubles = load(b, Scalar::F64, 5);
            let seven = b.iconst(Type::vector(Scalar::I8, lanes), 7);
            let half = b.iconst(Type::vector(Scalar::F32, lanes), u64::from(0.5f32.to_bits()));
            let third = b.iconst(Type::vector(Scalar::F64, lanes), 0.3f64.to_bits());
            let a = b.icmp(IntCc::Ugt, bytes, seven);
            let c = b.fcmp(FloatCc::Olt, floats, half);
            let d = b.fcmp(FloatCc::Ogt, doubles, third);
            let [left, right, end] = [(); 3].map(|()| b.func.add_block());
            let any = b.any(a);
            let cd = b.binary(BinOp::And, c, d);
            b.branch(any, left, right);
            b.switch_to(left);
            let ac = b.binary(BinOp::Xor, a, cd);
            b.jump(end, &[ac]);
            b.switch_to(right);
            let x = b.unary(UnOp::Not, d);
            b.jump(end, &[x]);
            let m = b.func.add_block_param(end, Type::vector(Scalar::I1, lanes));
            b.switch_to(end);
            let f = b.select(m, floats, half);
            let g = b.select(m, third, doubles);
            let e = b.cast(CastOp::Zext, m, Type::vector(Scalar::I8, lanes));
            let nothing = b.iconst(Type::vector(Scalar::F32, lanes), 0);
            let h = b.select(m, nothing, floats);
            let wide = b.cast(CastOp::Sext, m, Type::vector(Scalar::I64, lanes));
            for (v, at) in [(e, 0), (f, 1), (g, 5), (h, 13), (wide, 17)] {
                let p = b.ptr_offset(to, (at * n) as u64);
                b.store(p, v, 1, Flags::empty());
            }
            b.ret(None);
        });
        for (device, options) in common::variants() {
            let prepared = common::Prepared::new(&device, &options, &module, func);
            for seed in 0..8usize {
                let byte = |i: usize| if seed < 2 { 3 } else { (i * seed * 5 % 16) as u8 };
                let float = |i: usize| (i * 7 + seed) as f32 % 5.0 / 5.0;
                let double = |i: usize| (i * 3 + seed * 2) as f64 % 7.0 / 7.0;
                let mut input: Vec<u8> = (0..n).map(byte).collect();
                input.extend((0..n).flat_map(|i| float(i).to_le_bytes()));
                input.extend((0..n).flat_map(|i| double(i).to_le_bytes()));
                let out = prepared.run(1, &input, 25 * n).0;
                let any = (0..n).any(|i| byte(i) > 7);
                let m = |i: usize| {
                    let (c, d) = (float(i) < 0.5, double(i) > 0.3);
                    if any { (byte(i) > 7) ^ (c && d) } else { !d }
                };
                let mut want: Vec<u8> = (0..n).map(|i| m(i).into()).collect();
                want.extend((0..n).flat_map(|i| if m(i) { float(i) } else { 0.5 }.to_le_bytes()));
                want.extend((0..n).flat_map(|i| if m(i) { 0.3 } else { double(i) }.to_le_bytes()));
                want.extend((0..n).flat_map(|i| if m(i) { 0.0 } else { float(i) }.to_le_bytes()));
                want.extend((0..n).flat_map(|i| (-i64::from(m(i))).to_le_bytes()));
                assert_eq!(out, want, "{lanes} lanes, seed {seed}, {options:?}");
            }
        }
    }
}
