//! Code for machines that the tests may not have, AArch64 and AVX-512: it is made for every lane-wise operation and
//! every type of lane, uses the vector unit, and calls no function that does not exist there.

mod common;

use cloom_ir::{BinOp, Builder, CastOp, Flags, FloatCc, FuncRef, IntCc, Module, Scalar, Space, Type, UnOp};
use cloom_llvm::OptLevel;
use cloom_passes::PassOptions;

const AARCH64: &str = "aarch64-unknown-linux-gnu:generic";
const AVX512: &str = "x86_64-unknown-linux-gnu:x86-64-v4";

/// The object, and the instructions as text.
fn compile(target: &str, module: &Module, func: FuncRef, level: OptLevel) -> (Vec<u8>, String) {
    let options = cloom_llvm::Options {
        target: target.parse().unwrap(),
        level,
        denorms_are_zero: false,
        texts: true,
        lines: false,
        count: false,
    };
    let compiled = cloom_llvm::compile(module, func, &options, &PassOptions::default())
        .unwrap_or_else(|e| panic!("{e}\n{module}"));
    let asm = compiled.stages.iter().find(|s| s.0 == "asm").unwrap().1.clone();
    (compiled.object, asm)
}

fn calls(asm: &str) -> Vec<&str> {
    let is_call = |l: &&str| matches!(l.split_whitespace().next(), Some("bl" | "call" | "callq" | "jmpq"));
    asm.lines().filter(is_call).filter_map(|l| l.split_whitespace().nth(1)).collect()
}

fn kernel(s: Scalar, lanes: u16) -> (Module, FuncRef) {
    let mut module = Module::new();
    let func = common::group_function(&mut module, |b, abi| {
        let ty = Type::vector(s, lanes);
        let (from, to) = (common::buffer(b, abi, 0), common::buffer(b, abi, 1));
        let limits = b.iota(Scalar::I32, lanes);
        let n = b.load(Type::I32, from, 4, Flags::empty());
        let n = b.splat(n, lanes);
        let mask = b.icmp(IntCc::Ult, limits, n);
        let size = s.bytes();
        let x = b.masked_load(ty, from, mask, size, Flags::empty());
        let by = b.cast(CastOp::Zext, limits, Type::vector(Scalar::I64, lanes));
        let base = b.splat(from, lanes);
        let ptrs = b.ptr_add(base, by);
        let y = b.gather(ty, ptrs, mask, 1, Flags::empty());
        let z = if s.is_ptr() {
            let differ = b.icmp(IntCc::Ult, x, y);
            b.select(differ, y, x)
        } else if s.is_float() {
            let sum = b.fma(x, y, x);
            let sum = b.binary(BinOp::Fmin, sum, y);
            let sum = b.unary(UnOp::Floor, sum);
            let less = b.fcmp(FloatCc::Olt, sum, y);
            b.select(less, sum, x)
        } else {
            let q = b.binary(BinOp::Sdiv, x, y);
            let r = b.binary(BinOp::Urem, q, x);
            let h = b.binary(BinOp::UmulHi, r, y);
            b.binary(BinOp::Shl, h, y)
        };
        b.masked_store(to, z, mask, size, Flags::empty());
        b.scatter(ptrs, z, mask, 1, Flags::empty());
        let (any, all) = (b.any(mask), b.all(mask));
        let both = b.binary(BinOp::Xor, any, all);
        let word = b.cast(CastOp::Zext, both, Type::I64);
        let bits = b.ballot(mask);
        let word = b.binary(BinOp::Add, word, bits);
        b.store(to, word, 8, Flags::empty());
        b.ret(None);
    });
    (module, func)
}

#[test]
fn every_type_of_lane_compiles() {
    let pointer = Scalar::Ptr(Space::Global);
    for s in [Scalar::I8, Scalar::I16, Scalar::I32, Scalar::I64, Scalar::F16, Scalar::F32, Scalar::F64, pointer] {
        for lanes in [2, 3, 4, 8, 16, 64] {
            let (module, func) = kernel(s, lanes);
            // Unoptimised, vectors of many lanes take long.
            let plain = lanes <= 16;
            for (target, machine, level) in [
                (AARCH64, 183, OptLevel::Default),
                (AARCH64, 183, OptLevel::None),
                (AVX512, 62, OptLevel::Default),
                (AVX512, 62, OptLevel::None),
            ] {
                if level == OptLevel::None && !plain {
                    continue;
                }
                let (object, asm) = compile(target, &module, func, level);
                // An ELF object for the machine with this number.
                assert_eq!((&object[..4], object[18], object[19]), (&b"\x7fELF"[..], machine, 0));
                assert_eq!(calls(&asm), [""; 0], "{s}x{lanes}\n{asm}");
            }
        }
    }
}

/// A loop that runs while a lane is on: in vector registers, its mask among them.
#[test]
fn loops_stay_in_vector_registers() {
    let mut module = Module::new();
    let func = common::group_function(&mut module, |b: &mut Builder<'_>, abi| {
        let ty = Type::vector(Scalar::F32, 4);
        let (from, to) = (common::buffer(b, abi, 0), common::buffer(b, abi, 1));
        let c = b.load(ty, from, 4, Flags::empty());
        let all = b.iconst(Type::vector(Scalar::I1, 4), 1);
        let (body, end) = (b.func.add_block(), b.func.add_block());
        b.jump(body, &[c, all]);
        let x = b.func.add_block_param(body, ty);
        let on = b.func.add_block_param(body, Type::vector(Scalar::I1, 4));
        b.switch_to(body);
        let limit = b.iconst(ty, u64::from(4f32.to_bits()));
        let next = b.fma(x, x, c);
        let inside = b.fcmp(FloatCc::Ole, next, limit);
        let on1 = b.binary(BinOp::And, on, inside);
        let x1 = b.select(on1, next, x);
        let any = b.any(on1);
        b.term(cloom_ir::Term::Branch {
            cond: any,
            then: cloom_ir::Edge::new(body, [x1, on1]),
            els: cloom_ir::Edge::new(end, []),
        });
        b.switch_to(end);
        b.store(to, x1, 4, Flags::empty());
        b.ret(None);
    });
    let (_, asm) = compile(AARCH64, &module, func, OptLevel::Default);
    assert!(asm.contains("fmla\tv") && asm.contains("fcmge\tv"), "{asm}");
    // No instruction packs or unpacks a mask.
    assert!(!asm.contains("sshll") && !asm.contains("ushll"), "{asm}");
}

/// With a uniform base, a gather of AVX-512 takes a 32-bit index for each lane and scales it; a masked consecutive
/// access is one instruction.
#[test]
fn gathers_take_short_indices_and_rows_take_masks() {
    let mut module = Module::new();
    let func = common::group_function(&mut module, |b: &mut Builder<'_>, abi| {
        let ty = Type::vector(Scalar::F32, 16);
        let (from, to) = (common::buffer(b, abi, 0), common::buffer(b, abi, 1));
        let index = b.load(ty.with_scalar(Scalar::I32), from, 4, Flags::empty());
        let none = b.iconst(ty.with_scalar(Scalar::I32), 0);
        let mask = b.icmp(IntCc::Ne, index, none);
        let wide = b.cast(CastOp::Sext, index, ty.with_scalar(Scalar::I64));
        let four = b.iconst(ty.with_scalar(Scalar::I64), 4);
        let by = b.binary(BinOp::Mul, wide, four);
        let base = b.splat(from, 16);
        let p = b.ptr_add(base, by);
        // The next element: the constant is added to the base.
        let p = b.ptr_add(p, four);
        let x = b.gather(ty, p, mask, 4, Flags::empty());
        b.masked_store(to, x, mask, 64, Flags::empty());
        b.scatter(p, x, mask, 4, Flags::empty());
        b.ret(None);
    });
    let (_, asm) = compile(AVX512, &module, func, OptLevel::Default);
    assert!(asm.contains("vgatherdps\t4(%r") && asm.contains("vscatterdps\t%zmm"), "{asm}");
    let masked_store = |l: &str| l.contains("%zmm") && l.contains("vmovups") && l.contains("{%k");
    assert!(asm.lines().any(masked_store), "{asm}");
}
