//! Shuffles over many registers: deinterleaving and interleaving of short vectors, and shuffles that look similar.

mod common;

use cloom_ir::{Flags, Module, Scalar, Type};

fn check(s: Scalar, items: u16, n: u16) {
    let lanes = items * n;
    let mut masks: Vec<Vec<u16>> = (0..n).map(|c| (0..items).map(|l| l * n + c).collect()).collect();
    let join: Vec<u16> = (0..items).flat_map(|l| (0..n).map(move |c| c * items + l)).collect();
    // Similar shuffles: with a lane of the second operand, two lanes exchanged, one lane off by one.
    let mut other = join.clone();
    other[usize::from(lanes) - 1] = 2 * lanes - 1;
    let mut swapped = masks[0].clone();
    swapped.swap(0, 1);
    let shifted = masks[0].iter().map(|m| m + n).collect();
    masks.extend([join, other, swapped, shifted, (0..lanes).rev().collect()]);
    let bytes = s.bytes() as usize;
    let whole = usize::from(lanes) * bytes;
    let mut module = Module::new();
    let func = common::group_function(&mut module, |b, abi| {
        let (from, to) = (common::buffer(b, abi, 0), common::buffer(b, abi, 1));
        let x = b.load(Type::vector(s, lanes), from, 1, Flags::empty());
        let p = b.ptr_offset(from, whole as u64);
        let y = b.load(Type::vector(s, lanes), p, 1, Flags::empty());
        for (k, mask) in masks.iter().enumerate() {
            let v = b.shuffle(x, y, mask);
            let p = b.ptr_offset(to, (k * whole) as u64);
            b.store(p, v, 1, Flags::empty());
        }
        b.ret(None);
    });
    let input: Vec<u8> = (0..2 * whole).map(|i| (i * 37 + i / 256) as u8).collect();
    for (device, options) in common::variants() {
        let prepared = common::Prepared::new(&device, &options, &module, func);
        let out = prepared.run(1, &input, masks.len() * whole).0;
        for (k, mask) in masks.iter().enumerate() {
            let want: Vec<u8> = mask.iter().flat_map(|&m| &input[usize::from(m) * bytes..][..bytes]).copied().collect();
            assert_eq!(&out[k * whole..][..want.len()], want, "{s}, {items} items of {n}, {mask:?}, {options:?}");
        }
    }
}

#[test]
fn components_are_taken_and_joined() {
    for s in [Scalar::I8, Scalar::I16, Scalar::F32, Scalar::F64] {
        for (items, n) in [(2, 2), (4, 4), (8, 2), (8, 3), (16, 3), (8, 4), (16, 4), (8, 8), (4, 16), (32, 4), (64, 2)]
        {
            check(s, items, n);
        }
    }
}
