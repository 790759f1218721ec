//! One by a square root has the same bits on every target, however it comes about.

mod common;

use cloom_ir::{BinOp, Flags, Module, Scalar, Type, UnOp};

/// How many numbers are tried at a time.
const BATCH: u32 = 1 << 16;

#[test]
fn one_by_a_root_is_the_quotient_of_one_and_the_root() {
    const LANES: u32 = 32;
    let mut module = Module::new();
    let func = common::group_function(&mut module, |b, abi| {
        let (from, to) = (common::buffer(b, abi, 0), common::buffer(b, abi, 1));
        let group = common::group_id(b, abi);
        let bytes = b.iconst(Type::I64, u64::from(4 * LANES));
        let by = b.binary(BinOp::Mul, group, bytes);
        let (from, to) = (b.ptr_add(from, by), b.ptr_add(to, by));
        let ty = Type::vector(Scalar::F32, LANES as u16);
        let x = b.load(ty, from, 4, Flags::empty());
        let root = b.unary(UnOp::Sqrt, x);
        let one = b.iconst(ty, 1f32.to_bits().into());
        let y = b.binary(BinOp::Fdiv, one, root);
        b.store(to, y, 4, Flags::empty());
        b.ret(None);
    });
    for (device, options) in common::variants() {
        if !options.optimise {
            continue;
        }
        let kernel = common::Prepared::new(&device, &options, &module, func);
        let check = |numbers: &[u32]| {
            let input: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
            let (output, _) = kernel.run((numbers.len() as u32 / LANES).into(), &input, input.len());
            for (&n, got) in numbers.iter().zip(output.as_chunks::<4>().0) {
                let (x, got) = (f32::from_bits(n), f32::from_bits(u32::from_le_bytes(*got)));
                let want = 1.0 / x.sqrt();
                let same = got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan();
                assert!(same, "{x:e} ({n:#x}): {got:e}, not {want:e} on {}", options.target);
            }
        };
        // All mantissas, in two neighbouring powers of two: what others give differs from these by a power of two.
        let first = 2f32.to_bits();
        for batch in 0..(1 << 24) / BATCH {
            let from = first + batch * BATCH;
            check(&(from..from + BATCH).collect::<Vec<u32>>());
        }
        // All powers of two and of either sign, zeros, infinities and NaN among them, some by themselves among good ones.
        for sign in [0, 1 << 31] {
            for exponent in 0..256u32 {
                let mantissas = [0, 1, 2, 0x40_0000, 0x35_04f3, 0x35_04f4, 0x7f_fffd, 0x7f_fffe, 0x7f_ffff, 0x12_3456];
                let number = |i: u32| sign | exponent << 23 | mantissas[i as usize % mantissas.len()];
                check(&(0..LANES).map(number).collect::<Vec<u32>>());
                check(
                    &(0..LANES)
                        .map(|i| if i == exponent % LANES { number(i) } else { first + i })
                        .collect::<Vec<u32>>(),
                );
            }
        }
    }
}
