//! Whole kernels, executed.
//!
//! In: short PTX texts. Out: words that they store, compared with values written by hand, and faults. The families of
//! arithmetic have tables beside their code; here the decoder and the machine are tested.

mod control;
mod errata;
mod memory;
mod warp;

use super::{Fault, GlobalMemory, Grid, Memory, Module, launch};

/// Declarations that most bodies use.
const REGISTERS: &str = "
    .reg .pred %p<8>; .reg .b16 %rs<16>; .reg .b32 %r<32>; .reg .b64 %rd<32>; .reg .f32 %f<16>; .reg .f64 %fd<16>;";

/// A module with one entry `k(out)`. `%rd1` is the address of the thread's first word, of `words` per thread.
fn module(globals: &str, body: &str, words: usize) -> String {
    format!(
        ".version 7.8\n.target sm_90\n.address_size 64\n{globals}\n.visible .entry k(.param .u64 out) {{ {REGISTERS}
        ld.param.u64 %rd1, [out];
        mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;
        mad.lo.s32 %r4, %r2, %r3, %r1;
        mul.wide.u32 %rd2, %r4, {};
        add.s64 %rd1, %rd1, %rd2;
        {body}
        ret; }}",
        4 * words
    )
}

/// Runs such a module on a grid and returns the words of all threads.
fn run_grid(globals: &str, body: &str, words: usize, (groups, threads): (u32, u32)) -> Result<Vec<u32>, Fault> {
    let text = module(globals, body, words);
    let parsed = Module::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let mut memory = Memory::new();
    let loaded = parsed.load(&mut memory);
    let out = memory.allocate(vec![0; words * 4 * (groups * threads) as usize]);
    let grid = Grid { groups: [groups, 1, 1], threads: [threads, 1, 1], dynamic_shared: 4096 };
    launch(&loaded, "k", &[out.to_le_bytes().to_vec()], &grid, &mut memory, 4_000_000)?;
    Ok(memory
        .bytes(out)
        .chunks(4)
        .map(|word| word.iter().rev().fold(0, |all, byte| all << 8 | u32::from(*byte)))
        .collect())
}

/// Runs a body on some threads of one block, each of which stores one word.
fn run(body: &str, threads: u32) -> Vec<u32> {
    run_grid("", body, 1, (1, threads)).unwrap_or_else(|fault| panic!("{fault}"))
}

/// The fault of a body on some threads of one block.
fn fault(globals: &str, body: &str, threads: u32) -> Fault {
    run_grid(globals, body, 1, (1, threads)).expect_err("a fault")
}

/// Checks instructions that leave their result in `%r10`.
fn check(body: &str, expected: u32) {
    let got = run(&format!("{body} st.global.u32 [%rd1], %r10;"), 1)[0];
    assert_eq!(got, expected, "{body}: {got:#x}");
}

/// Checks instructions that leave their result in `%rd10`.
fn check_wide(body: &str, expected: u64) {
    let words = run_grid("", &format!("{body} st.global.v2.u32 [%rd1], {{%r20, %r21}};"), 2, (1, 1));
    let words = words.unwrap_or_else(|fault| panic!("{fault}"));
    let got = u64::from(words[1]) << 32 | u64::from(words[0]);
    assert_eq!(got, expected, "{body}: {got:#x}");
}

#[test]
fn decoded_integer_instructions() {
    for (body, expected) in [
        ("mov.b32 %r10, -1; add.s32 %r10, %r10, 3;", 2),
        ("mov.b32 %r10, 0x10; sub.s32 %r10, 5, %r10;", -11_i32 as u32),
        ("mov.b32 %r5, 7; mul.lo.s32 %r10, %r5, -3;", -21_i32 as u32),
        ("mov.b32 %r5, -1; mul.hi.u32 %r10, %r5, %r5;", 0xFFFF_FFFE),
        ("mov.b32 %r5, 7; mad.lo.s32 %r10, %r5, 5, -1;", 34),
        ("mov.b32 %r5, 100; div.s32 %r10, %r5, -7;", -14_i32 as u32),
        ("mov.b32 %r5, 100; rem.u32 %r10, %r5, 7;", 2),
        ("mov.b32 %r5, 3; shl.b32 %r10, %r5, 33;", 0),
        ("mov.b32 %r5, -8; shr.s32 %r10, %r5, 1;", -4_i32 as u32),
        ("mov.b32 %r5, -8; shr.u32 %r10, %r5, 1;", 0x7FFF_FFFC),
        ("mov.b32 %r5, 0xABCD; bfe.u32 %r10, %r5, 4, 8;", 0xBC),
        ("mov.b32 %r5, 0xABCD; bfi.b32 %r10, 0xF, %r5, 8, 4;", 0xAFCD),
        ("mov.b32 %r5, 0x00112233; prmt.b32 %r10, %r5, 0, 0x0123;", 0x3322_1100),
        ("mov.b32 %r5, 0xF0; clz.b32 %r10, %r5;", 24),
        ("mov.b64 %rd5, -1; popc.b64 %r10, %rd5;", 64),
        ("mov.b32 %r5, 1; brev.b32 %r10, %r5;", 0x8000_0000),
        ("mov.b32 %r5, 0x80000001; shf.l.wrap.b32 %r10, %r5, %r5, 4;", 0x18),
        ("mov.b32 %r5, 0xF0; lop3.b32 %r10, %r5, 0xCC, 0xAA, 0x80;", 0x80),
        ("mov.b32 %r5, 0x01020304; dp4a.u32.u32 %r10, %r5, 0x01010101, 5;", 15),
        ("mov.b32 %r5, 9; sad.u32 %r10, %r5, 12, 100;", 103),
        ("mov.b32 %r5, 0; cnot.b32 %r10, %r5;", 1),
        ("mov.b32 %r5, 0x7fffffff; add.sat.s32 %r10, %r5, 1;", 0x7FFF_FFFF),
        ("mov.b32 %r5, -1; slct.u32.s32 %r10, 1, 2, %r5;", 2),
        ("mov.f32 %f1, 0f80000000; slct.u32.f32 %r10, 1, 2, %f1;", 1),
        ("mov.f32 %f1, 0f80000001; slct.u32.f32 %r10, 1, 2, %f1;", 2),
        ("mov.f32 %f1, 0f80000001; slct.ftz.u32.f32 %r10, 1, 2, %f1;", 1),
        ("mov.b32 %r5, 0x0001FFFF; add.u16x2 %r10, %r5, 0x00010001;", 0x0002_0000),
        ("mov.b32 %r5, -1; add.cc.u32 %r6, %r5, 1; addc.u32 %r10, 0, 5;", 6),
        ("mov.b32 %r5, 0; sub.cc.u32 %r6, %r5, 1; subc.u32 %r10, 9, 0;", 8),
        ("mov.b16 %rs1, -1; cvt.s32.s16 %r10, %rs1;", 0xFFFF_FFFF),
        ("mov.b16 %rs1, -1; cvt.u32.u16 %r10, %rs1;", 0xFFFF),
        ("mov.b32 %r5, 0x180; cvt.s8.s32 %rs1, %r5; cvt.u32.u16 %r10, %rs1;", 0xFF80),
        ("mov.b16 %rs1, 3; mul.wide.u16 %r10, %rs1, 7;", 21),
        ("mov.b64 %rd5, 0x500000007; mov.b64 {%r5, %r6}, %rd5; add.s32 %r10, %r5, %r6;", 12),
        ("mov.b64 %rd5, 0x500000007; mov.b64 {_, %r10}, %rd5;", 5),
        ("mov.b16 %rs1, 1; mov.b16 %rs2, 2; mov.b32 %r10, {%rs1, %rs2};", 0x2_0001),
        ("mov.pred %p1, -1; not.pred %p2, %p1; or.pred %p3, %p1, %p2; selp.b32 %r10, 1, 2, %p3;", 1),
    ] {
        check(body, expected);
    }
    for (body, expected) in [
        ("mov.b32 %r5, -1; mul.wide.s32 %rd10, %r5, 3;", -3_i64 as u64),
        ("mov.b32 %r5, -1; cvt.u64.u32 %rd10, %r5;", 0xFFFF_FFFF),
        ("mov.b32 %r5, -1; cvt.s64.s32 %rd10, %r5;", u64::MAX),
        ("mov.b32 %r5, 1; mov.b32 %r6, 2; mov.b64 %rd10, {%r5, %r6};", 0x2_0000_0001),
        ("mov.u64 %rd5, -1; mul.hi.u64 %rd10, %rd5, 16;", 15),
        ("mov.u64 %rd5, 1; shl.b64 %rd10, %rd5, 63;", 1 << 63),
        ("mov.b16 %rs1, 1; mov.b64 %rd10, {%rs1, 2, 3, 4};", 0x0004_0003_0002_0001),
    ] {
        check_wide(&format!("{body} mov.b64 {{%r20, %r21}}, %rd10;"), expected);
    }
}

#[test]
fn decoded_float_instructions() {
    for (body, expected) in [
        ("mov.f32 %f1, 0f3FC00000; add.rn.f32 %f2, %f1, 0f40000000; mov.b32 %r10, %f2;", 3.5_f32),
        ("mov.f32 %f1, 0f40400000; fma.rn.f32 %f2, %f1, %f1, 0fBF800000; mov.b32 %r10, %f2;", 8.0),
        ("mov.f32 %f1, 0f40000000; div.full.f32 %f2, 0f3F800000, %f1; mov.b32 %r10, %f2;", 0.5),
        ("mov.f32 %f1, 0f40800000; sqrt.approx.f32 %f2, %f1; mov.b32 %r10, %f2;", 2.0),
        ("mov.f32 %f1, 0f40800000; rsqrt.approx.ftz.f32 %f2, %f1; mov.b32 %r10, %f2;", 0.5),
        ("mov.f32 %f1, 0fC0800000; abs.f32 %f2, %f1; neg.f32 %f3, %f2; mov.b32 %r10, %f3;", -4.0),
        ("mov.f32 %f1, 0f40200000; cvt.rni.f32.f32 %f2, %f1; mov.b32 %r10, %f2;", 2.0),
        ("mov.f32 %f1, 0f40200000; cvt.rpi.f32.f32 %f2, %f1; mov.b32 %r10, %f2;", 3.0),
        ("mov.b32 %r5, -3; cvt.rn.f32.s32 %f2, %r5; mov.b32 %r10, %f2;", -3.0),
        ("mov.f64 %fd1, 0d4004000000000000; cvt.rn.f32.f64 %f2, %fd1; mov.b32 %r10, %f2;", 2.5),
        ("mov.b16 %rs1, 0x3C00; add.rn.f16 %rs2, %rs1, 0x4000; cvt.f32.f16 %f2, %rs2; mov.b32 %r10, %f2;", 3.0),
        ("mov.f32 %f1, 0f7FC00000; min.f32 %f2, %f1, 0f3F800000; mov.b32 %r10, %f2;", 1.0),
        ("mov.f32 %f1, 1.5; mov.b32 %r10, %f1;", 1.5),
        ("mov.f32 %f1, 0f40000000; copysign.f32 %f2, 0fBF800000, %f1; mov.b32 %r10, %f2;", -2.0),
    ] {
        check(body, expected.to_bits());
    }
    for (body, expected) in [
        ("mov.f32 %f1, 0fC0200000; cvt.rzi.s32.f32 %r10, %f1;", -2_i32 as u32),
        ("mov.f32 %f1, 0f7F800000; cvt.rzi.u32.f32 %r10, %f1;", u32::MAX),
        ("mov.f32 %f1, 0f7FC00000; setp.nan.f32 %p1, %f1, %f1; selp.b32 %r10, 1, 0, %p1;", 1),
        ("mov.f32 %f1, 0f7FC00000; setp.ltu.f32 %p1, %f1, 0f00000000; selp.b32 %r10, 1, 0, %p1;", 1),
        ("mov.f32 %f1, 0f7FC00000; setp.lt.f32 %p1|%p2, %f1, 0f00000000; selp.b32 %r10, 1, 0, %p2;", 1),
        ("mov.f32 %f1, 0f7F800000; testp.infinite.f32 %p1, %f1; selp.b32 %r10, 1, 0, %p1;", 1),
        ("mov.b32 %r5, 3; set.lt.u32.s32 %r10, %r5, 4;", 0xFFFF_FFFF),
        ("mov.b32 %r5, 3; set.lt.f32.s32 %f1, %r5, 4; mov.b32 %r10, %f1;", 0x3F80_0000),
        ("mov.pred %p1, 0; mov.b32 %r5, 3; setp.eq.and.s32 %p2, %r5, 3, !%p1; selp.b32 %r10, 1, 0, %p2;", 1),
        ("mov.pred %p1, 1; mov.b32 %r5, 3; setp.eq.xor.s32 %p2|%p3, %r5, 3, %p1; selp.b32 %r10, 1, 2, %p2;", 2),
        ("mov.b32 %r5, 0x40003C00; mul.rn.f16x2 %r10, %r5, %r5;", 0x4400_3C00),
        ("mov.b32 %r5, 0x40003C00; setp.eq.f16x2 %p1|%p2, %r5, 0x3C003C00; selp.b32 %r10, 1, 2, %p1;", 1),
        ("mov.b32 %r5, 0x40003C00; setp.eq.f16x2 %p1|%p2, %r5, 0x3C003C00; selp.b32 %r10, 1, 2, %p2;", 2),
        ("mov.f32 %f1, 0f3F800000; cvt.rn.f16x2.f32 %r10, 0f40000000, %f1;", 0x4000_3C00),
    ] {
        check(body, expected);
    }
}

#[test]
fn what_is_unknown_is_an_error_with_a_line() {
    for (inst, what) in [
        ("frob.b32 %r1, %r2;", "frob"),
        ("add.q32 %r1, %r2, %r3;", "type"),
        ("add.rn.s32 %r1, %r2, %r3;", ".rn"),
        ("add.s32 %r1, %r2;", "operands"),
        ("add.s32 %r1, %r2, %q3;", "%q3"),
        ("add.s32 %r1, %r2, %rd3;", "64 bits"),
        ("add.s64 %r1, %rd2, %rd3;", "32 bits"),
        ("add.f32 %f1, %f2, 1;", "integer 1"),
        ("bra nowhere;", "nowhere"),
        ("ld.global.v2.u32 %r1, [%rd1];", "vector"),
        ("ld.global.v4.u32 {%r1, %r2}, [%rd1];", "elements"),
        ("st.const.u32 [%rd1], %r1;", "constant"),
        ("atom.global.add.u16 %rs1, [%rd1], 1;", "unknown"),
        ("call nobody;", "nobody"),
        ("setp.nan.s32 %p1, %r1, %r2;", "unknown"),
        ("mov.u32 %r1, %nothing;", "%nothing"),
        ("@%r1 ret;", "needs 1"),
    ] {
        let text = format!(".entry k(.param .u64 out) {{\n{}\n\n{inst}\nret; }}", REGISTERS.replace('\n', " "));
        let error = Module::parse(&text).expect_err(inst);
        assert!(error.what.contains(what), "{inst}: {error}");
        assert_eq!(error.line, 4, "{inst}: {error}");
    }
}

#[test]
fn launches_are_checked() {
    let text = ".visible .entry k(.param .u32 a, .param .align 8 .b8 b[24]) .reqntid 4, 2 { ret; } .func f() { ret; }";
    let module = Module::parse(text).unwrap();
    assert_eq!(module.entries().collect::<Vec<_>>(), ["k"]);
    let params = module.params("k").unwrap();
    assert_eq!(params.iter().map(|param| (param.size, param.align)).collect::<Vec<_>>(), [(4, 4), (24, 8)]);
    assert!(module.params("f").is_none());
    let mut memory = Memory::new();
    let loaded = module.load(&mut memory);
    let good = vec![vec![0; 4], vec![0; 24]];
    let grid = Grid { groups: [1, 1, 1], threads: [4, 2, 1], dynamic_shared: 0 };
    let mut go = |entry: &str, params: &[Vec<u8>], grid: Grid| launch(&loaded, entry, params, &grid, &mut memory, 100);
    assert_eq!(go("k", &good, grid), Ok(()));
    assert_eq!(go("f", &[], grid), Err(Fault::UnknownEntry("f".to_owned())));
    assert!(matches!(go("k", &good[..1], grid), Err(Fault::WrongLaunch(_))));
    assert!(matches!(go("k", &[vec![0; 8], vec![0; 24]], grid), Err(Fault::WrongLaunch(_))));
    assert!(matches!(go("k", &good, Grid { threads: [8, 1, 1], ..grid }), Err(Fault::WrongLaunch(_))));
    assert!(matches!(go("k", &good, Grid { groups: [1, 0, 1], ..grid }), Err(Fault::WrongLaunch(_))));
    let text = ".entry k() { ret; }";
    let loaded = Module::parse(text).unwrap().load(&mut Memory::new());
    let grid = Grid { groups: [1, 1, 1], threads: [1025, 1, 1], dynamic_shared: 0 };
    assert!(matches!(launch(&loaded, "k", &[], &grid, &mut Memory::new(), 10), Err(Fault::WrongLaunch(_))));
}

#[test]
fn what_nvidias_compiler_makes_wrong_code_of_is_refused() {
    for erratum in cloom_ptx::errata::ERRATA {
        let module = |body: &str| {
            let registers = cloom_ptx::errata::REGISTERS;
            Module::parse(&format!(".version 7.8\n.target sm_90\n.entry k() {{\n{registers}{body}\nret;\n}}\n"))
        };
        let error = module(erratum.reduced).expect_err(erratum.id).to_string();
        assert!(error.contains("NVIDIA's compiler") && error.contains(erratum.id), "{error}");
        module(erratum.mended).unwrap_or_else(|error| panic!("{}: {error}", erratum.id));
    }
}
