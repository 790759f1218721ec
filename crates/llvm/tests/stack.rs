//! The stack size of a function is known once its code is made: launchers run a function that needs much on threads
//! with large stacks.

mod common;

use cloom_ir::{Flags, Module, Scalar, Type};
use cloom_passes::PassOptions;

/// 32-bit lanes of a value, and how many values are live at once.
const LANES: u16 = 64;
const VALUES: u64 = 200;

fn module(values: u64) -> (Module, cloom_ir::FuncRef) {
    let mut module = Module::default();
    let func = common::group_function(&mut module, |b, abi| {
        let ty = Type::vector(Scalar::I32, LANES);
        let (from, to) = (common::buffer(b, abi, 0), common::buffer(b, abi, 1));
        // Volatile accesses stay in their order: all are loaded before the first is stored.
        let at = |n: u64| n * u64::from(LANES) * 4;
        let loaded: Vec<_> = (0..values)
            .map(|n| {
                let p = b.ptr_offset(from, at(n));
                b.load(ty, p, 4, Flags::VOLATILE)
            })
            .collect();
        for (n, v) in (0..values).zip(loaded.into_iter().rev()) {
            let p = b.ptr_offset(to, at(n));
            b.store(p, v, 4, Flags::VOLATILE);
        }
        b.ret(None);
    });
    (module, func)
}

#[test]
fn values_that_find_no_register_count_as_private_memory() {
    let size = VALUES * u64::from(LANES) * 4;
    let (many, all) = module(VALUES);
    let (few, one) = module(1);
    for (device, options) in common::variants() {
        let needs =
            |module, func| cloom_llvm::compile(module, func, &options, &PassOptions::default()).unwrap().private_size;
        // No machine has registers for more than 2 KiB of them.
        let large = needs(&many, all);
        assert!((size - 4096..4 * size).contains(&large), "{large} bytes for {size} on {}", options.target);
        let small = needs(&few, one);
        assert!(small < 4096, "{small} bytes for one value on {}", options.target);
        let input: Vec<u8> = (0..size).map(|i| (i / 256 + i) as u8).collect();
        let output = common::execute(&device, &options, &many, all, 1, &input, size as usize);
        let wanted: Vec<u8> = input.chunks(256).rev().flatten().copied().collect();
        assert!(output == wanted, "{}", options.target);
    }
}

#[test]
fn asking_for_texts_does_not_count_twice() {
    let (many, all) = module(VALUES);
    for (_, options) in common::variants() {
        let with = cloom_llvm::Options { texts: true, lines: false, ..options.clone() };
        let needs = |options| cloom_llvm::compile(&many, all, options, &PassOptions::default()).unwrap().private_size;
        assert_eq!(needs(&with), needs(&options), "{}", options.target);
    }
}
