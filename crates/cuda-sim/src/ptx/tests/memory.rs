//! Kernels that load, store and convert addresses.

use super::{REGISTERS, check, fault, run, run_grid};
use crate::ptx::{Fault, GlobalMemory, Grid, Memory, Module, launch};

#[test]
fn parameters_and_vectors() {
    let text = format!(
        ".entry k(.param .u64 out, .param .u8 small, .param .align 16 .b8 big[32], .param .f32 last) {{ {REGISTERS}
        ld.param.u64 %rd1, [out];
        ld.param.s8 %r1, [small];
        ld.param.v2.u32 {{%r2, %r3}}, [big+8];
        mov.b64 %rd3, big;
        ld.param.u16 %rs1, [%rd3+30];
        cvt.u32.u16 %r4, %rs1;
        st.global.v4.u32 [%rd1], {{%r1, %r2, %r3, %r4}};
        cvta.param.u64 %rd4, %rd3;
        ld.u32 %r5, [%rd4+12];
        ld.param.f32 %f1, [last];
        st.global.v2.b32 [%rd1+16], {{%r5, %f1}};
        ret; }}"
    );
    let mut memory = Memory::new();
    let loaded = Module::parse(&text).unwrap().load(&mut memory);
    let out = memory.allocate(vec![0; 24]);
    let mut big: Vec<u8> = (0..32).collect();
    big[30] = 0x80;
    let params = [out.to_le_bytes().to_vec(), vec![0xFE], big, 2.0_f32.to_le_bytes().to_vec()];
    let grid = Grid { groups: [1, 1, 1], threads: [1, 1, 1], dynamic_shared: 0 };
    launch(&loaded, "k", &params, &grid, &mut memory, 100).unwrap();
    let words: Vec<u32> =
        memory.bytes(out).chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
    assert_eq!(words, [0xFFFF_FFFE, 0x0B0A_0908, 0x0F0E_0D0C, 0x1F80, 0x0F0E_0D0C, 0x4000_0000]);
}

#[test]
fn narrow_values_in_wider_registers() {
    for (body, expected) in [
        ("st.global.u32 [%rd1], 0x8081; ld.global.s8 %r10, [%rd1];", 0xFFFF_FF81),
        ("st.global.u32 [%rd1], 0x8081; ld.global.u8 %r10, [%rd1+1];", 0x80),
        ("st.global.u32 [%rd1], 0x8081; ld.global.s16 %r10, [%rd1];", 0xFFFF_8081),
        ("st.global.u32 [%rd1], 0x8081; ld.global.s8 %rs1, [%rd1]; cvt.u32.u16 %r10, %rs1;", 0xFF81),
        (
            "st.global.u32 [%rd1], -1; mov.b32 %r5, 0x1234; st.global.u8 [%rd1+2], %r5; ld.global.u32 %r10, [%rd1];",
            0xFF34_FFFF,
        ),
        ("st.global.u32 [%rd1], 5; ld.global.nc.u32 %r10, [%rd1];", 5),
        ("st.volatile.global.u32 [%rd1], 5; ld.acquire.gpu.global.u32 %r10, [%rd1];", 5),
        ("st.release.sys.global.u32 [%rd1], 5; ld.relaxed.cta.u32 %r10, [%rd1];", 5),
    ] {
        check(body, expected);
    }
}

#[test]
fn local_and_shared_memory_of_each_thread_and_block() {
    let globals = ".shared .align 4 .u32 s; .extern .shared .align 16 .b8 dynamic[];";
    let body = "
        .local .align 8 .b8 depot[16];
        mov.u64 %rd5, depot;
        cvta.local.u64 %rd6, %rd5;
        add.s32 %r5, %r4, 100;
        st.u32 [%rd6+4], %r5;
        ld.shared.u32 %r7, [s];
        st.shared.u32 [s], 7;
        mov.u32 %r8, dynamic;
        shl.b32 %r9, %r1, 2;
        add.s32 %r8, %r8, %r9;
        st.shared.u32 [%r8], %r4;
        bar.sync 0;
        xor.b32 %r9, %r9, 4;
        mov.u32 %r8, dynamic;
        add.s32 %r8, %r8, %r9;
        ld.shared.u32 %r11, [%r8+0];
        cvta.to.local.u64 %rd7, %rd6;
        cvt.u32.u64 %r12, %rd7;
        ld.local.u32 %r6, [%r12+4];
        st.global.v2.u32 [%rd1], {%r6, %r11};";
    let words = run_grid(globals, body, 2, (2, 2)).unwrap();
    assert_eq!(words, [100, 1, 101, 0, 102, 3, 103, 2]);
}

#[test]
fn generic_addresses_know_their_space() {
    let globals = ".shared .align 4 .u32 s; .const .align 4 .u32 c = 9; .global .align 4 .u32 g = 4;";
    for (space, name, expected) in [("shared", "s", 0b100), ("const", "c", 0b010), ("global", "g", 0b001)] {
        let body = format!(
            "mov.u64 %rd5, {name}; cvta.{space}.u64 %rd6, %rd5;
            isspacep.shared %p1, %rd6; isspacep.const %p2, %rd6; isspacep.global %p3, %rd6; isspacep.local %p4, %rd6;
            selp.b32 %r5, 4, 0, %p1; selp.b32 %r6, 2, 0, %p2; selp.b32 %r7, 1, 0, %p3; selp.b32 %r8, 8, 0, %p4;
            or.b32 %r5, %r5, %r6; or.b32 %r5, %r5, %r7; or.b32 %r5, %r5, %r8;
            cvta.to.{space}.u64 %rd7, %rd6; sub.s64 %rd7, %rd7, %rd5; cvt.u32.u64 %r6, %rd7; add.s32 %r5, %r5, %r6;
            st.global.u32 [%rd1], %r5;"
        );
        assert_eq!(run_grid(globals, &body, 1, (1, 1)).unwrap(), [expected], "{space}");
    }
    let body = "mov.u64 %rd5, c; cvta.const.u64 %rd5, %rd5; ld.u32 %r5, [%rd5]; ld.const.u32 %r6, [c];
        add.s32 %r5, %r5, %r6; st.global.u32 [%rd1], %r5;";
    assert_eq!(run_grid(globals, body, 1, (1, 1)).unwrap(), [18]);
}

#[test]
fn variables_keep_their_values_and_may_hold_addresses() {
    let text = format!(
        ".global .align 8 .u64 table[3] = {{generic(word)+4, 0xFF(7), 5}};
        .global .align 4 .u32 word[2] = {{10, 20}};
        .global .align 4 .f32 f = 0f40000000;
        .global .align 1 .b8 bytes[2] = {{0xFF00(word), -1}};
        .entry k(.param .u64 out) {{ {REGISTERS}
        ld.param.u64 %rd1, [out];
        ld.global.u64 %rd2, [table];
        ld.u32 %r1, [%rd2];
        add.s32 %r2, %r1, 1;
        st.global.u32 [word+4], %r2;
        ld.global.u64 %rd3, [table+16];
        cvt.u32.u64 %r3, %rd3;
        ld.global.f32 %f1, [f];
        mov.u64 %rd4, word;
        shr.u64 %rd4, %rd4, 8;
        cvt.u32.u64 %r5, %rd4;
        and.b32 %r5, %r5, 255;
        ld.global.u8 %r6, [bytes];
        sub.s32 %r5, %r5, %r6;
        st.global.v4.b32 [%rd1], {{%r1, %r3, %f1, %r5}};
        ret; }}"
    );
    let wrong = Module::parse(&text).expect_err("a mask needs a name");
    assert!(wrong.what.contains("name"), "{wrong}");
    let module = Module::parse(&text.replace("0xFF(7)", "7")).unwrap();
    let mut memory = Memory::new();
    let loaded = module.load(&mut memory);
    let out = memory.allocate(vec![0; 16]);
    let grid = Grid { groups: [1, 1, 1], threads: [1, 1, 1], dynamic_shared: 0 };
    for round in 0..2 {
        launch(&loaded, "k", &[out.to_le_bytes().to_vec()], &grid, &mut memory, 100).unwrap();
        let words: Vec<u32> =
            memory.bytes(out).chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
        assert_eq!(words, [20 + round, 5, 0x4000_0000, 0]);
    }
}

#[test]
fn atomics() {
    for (inst, start, expected, old) in [
        ("atom.global.add.u32 %r10, [%rd1], 5;", 7, 12, 7),
        ("atom.add.s32 %r10, [%rd1], -8;", 7, 0xFFFF_FFFF, 7),
        ("atom.global.exch.b32 %r10, [%rd1], 5;", 7, 5, 7),
        ("atom.global.cas.b32 %r10, [%rd1], 7, 9;", 7, 9, 7),
        ("atom.acq_rel.gpu.global.cas.b32 %r10, [%rd1], 8, 9;", 7, 7, 7),
        ("atom.global.inc.u32 %r10, [%rd1], 7;", 7, 0, 7),
        ("atom.global.dec.u32 %r10, [%rd1], 9;", 0, 9, 0),
        ("atom.global.min.s32 %r10, [%rd1], -1;", 7, 0xFFFF_FFFF, 7),
        ("atom.global.max.u32 %r10, [%rd1], -1;", 7, 0xFFFF_FFFF, 7),
        ("atom.global.and.b32 %r10, [%rd1], 6;", 3, 2, 3),
        ("red.global.or.b32 [%rd1], 6; mov.b32 %r10, 1;", 3, 7, 1),
        ("atom.global.add.f32 %f1, [%rd1], 0f3F800000; mov.b32 %r10, %f1;", 0x4000_0000, 0x4040_0000, 0x4000_0000),
        // Sums of floats in global memory take denormal numbers for zero.
        ("atom.add.f32 %f1, [%rd1], 0f00000000; mov.b32 %r10, %f1;", -0x7FFF_FFFF, 0, 0x8000_0001),
        ("atom.global.add.f32 %f1, [%rd1], 0f00000001; mov.b32 %r10, %f1;", 1, 0, 1),
        ("atom.global.add.f32 %f1, [%rd1], 0f80800000; mov.b32 %r10, %f1;", 0x0080_0001, 0, 0x0080_0001),
        ("atom.global.add.noftz.f16 %rs1, [%rd1], 0x3C00; cvt.u32.u16 %r10, %rs1;", 0x7_3C00, 0x7_4000, 0x3C00),
        ("atom.global.cas.b16 %rs1, [%rd1], 5, 6; cvt.u32.u16 %r10, %rs1;", 0x7_0005, 0x7_0006, 5),
    ] {
        let body = format!(
            "st.global.u32 [%rd1], {start}; {inst} ld.global.u32 %r11, [%rd1]; st.global.v2.u32 [%rd1], {{%r10, %r11}};"
        );
        assert_eq!(run_grid("", &body, 2, (1, 1)).unwrap(), [old, expected], "{inst}");
    }
    let body =
        "st.shared.u32 [s], 0; bar.sync 0; atom.shared.add.u32 %r10, [s], 1; bar.sync 0; ld.shared.u32 %r11, [s];
        add.s32 %r10, %r10, %r11; st.global.u32 [%rd1], %r10;";
    assert_eq!(run_grid(".shared .align 4 .u32 s;", body, 1, (1, 3)).unwrap(), [3, 4, 5]);
    // In shared memory denormal numbers count.
    let body = "st.shared.u32 [s], 1; atom.shared.add.f32 %f1, [s], 0f00000002; ld.shared.u32 %r10, [s];
        st.global.u32 [%rd1], %r10;";
    assert_eq!(run_grid(".shared .align 4 .u32 s;", body, 1, (1, 1)).unwrap(), [3]);
}

#[test]
fn bad_accesses_name_thread_and_line() {
    let found = fault("", "setp.eq.u32 %p1, %r1, 1;\n@%p1 ld.global.u32 %r5, [%rd1+4];", 2);
    let Fault::Access { place, space, size, write, .. } = found else { panic!("{found}") };
    assert_eq!((place.thread, space, size, write), ([1, 0, 0], "global", 4, false));
    assert_eq!(place.line, 13);
    let found = fault("", "st.global.v2.u32 [%rd1], {%r1, %r1};", 1);
    assert!(matches!(found, Fault::Access { size: 8, write: true, .. }), "{found}");
    for (body, bad) in [
        ("ld.global.u32 %r5, [%rd1+2];", "misaligned"),
        ("ld.global.v2.u16 {%rs1, %rs2}, [%rd1+2];", "misaligned"),
        ("st.u32 [0], %r1;", "access"),
        ("ld.shared.u32 %r5, [0];", "access"),
        ("ld.shared.u32 %r5, [s+4096];", "fine"),
        ("ld.shared.u32 %r5, [s+4112];", "access"),
        ("mov.u64 %rd5, c; cvta.const.u64 %rd5, %rd5; st.u32 [%rd5], 1;", "access"),
        (".local .b32 l[4]; ld.local.u32 %r5, [l+16];", "access"),
        ("ld.local.u32 %r5, [256];", "access"),
        ("mov.b32 %r5, -4; ld.shared.u32 %r5, [%r5+1028];", "fine"),
    ] {
        let globals = ".shared .align 4 .u32 s; .const .align 4 .u32 c = 9; .extern .shared .align 16 .b8 d[];";
        let kind = match run_grid(globals, body, 1, (1, 1)) {
            Err(Fault::Misaligned { .. }) => "misaligned",
            Err(Fault::Access { .. }) => "access",
            Ok(_) => "fine",
            Err(_) => "else",
        };
        assert_eq!(kind, bad, "{body}");
    }
}

#[test]
fn special_registers() {
    let text = format!(
        ".entry k(.param .u64 out) {{ {REGISTERS}
        ld.param.u64 %rd1, [out];
        mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %tid.z;
        mov.u32 %r4, %ntid.x; mov.u32 %r5, %ntid.y;
        mad.lo.s32 %r6, %r3, %r5, %r2; mad.lo.s32 %r6, %r6, %r4, %r1;
        mov.u32 %r7, %ctaid.y; mov.u32 %r8, %nctaid.z; mul.lo.s32 %r9, %r7, %r8;
        mad.lo.s32 %r9, %r9, 40, %r6; mul.wide.u32 %rd2, %r9, 4; add.s64 %rd1, %rd1, %rd2;
        mov.u32 %r10, %laneid; mov.u32 %r11, %warpid; mov.u32 %r12, %lanemask_lt;
        mad.lo.s32 %r10, %r11, 100, %r10; popc.b32 %r12, %r12; mad.lo.s32 %r10, %r12, 1000, %r10;
        st.global.u32 [%rd1], %r10;
        ret; }}"
    );
    let mut memory = Memory::new();
    let loaded = Module::parse(&text).unwrap().load(&mut memory);
    let out = memory.allocate(vec![0; 4 * 80]);
    let grid = Grid { groups: [1, 2, 1], threads: [5, 4, 2], dynamic_shared: 0 };
    launch(&loaded, "k", &[out.to_le_bytes().to_vec()], &grid, &mut memory, 10_000).unwrap();
    for (index, word) in memory.bytes(out).chunks(4).enumerate() {
        let thread = index as u32 % 40;
        let expected = thread / 32 * 100 + thread % 32 * 1001;
        assert_eq!(u32::from_le_bytes(word.try_into().unwrap()), expected, "{index}");
    }
    let later = run(
        "mov.u64 %rd5, %clock64; mov.u64 %rd6, %globaltimer; setp.gt.u64 %p1, %rd6, %rd5;
        selp.b32 %r5, 1, 0, %p1; st.global.u32 [%rd1], %r5;",
        1,
    );
    assert_eq!(later, [1]);
}

#[test]
fn what_needs_too_much_memory_is_refused() {
    let error = |globals: &str, body: &str| {
        let text = format!("{globals}\n.entry k() {{ {body} ret; }}");
        Module::parse(&text).expect_err(globals).to_string()
    };
    let one = error(".global .b64 x[4294967296];", "");
    assert!(one.contains("line 1: x: 34359738368 bytes of global variables, 1073741824 are the limit"), "{one}");
    // All variables together, those of bodies too.
    let both = error(".global .b8 x[1000000000];", ".global .b8 y[100000000];");
    assert!(both.contains("y: 1100000000 bytes of global variables"), "{both}");
    let registers = error("", ".reg .b32 %r<2000000>;");
    assert!(registers.contains("line 2: more than 1048576 registers"), "{registers}");
    assert!(error("", ".reg .b32 %r<16777216>, %s<16777216>;").contains("too many registers"));
}
