//! The passes on PTX: a module with a fault of ptxas is refused; the rewritten module is not, and computes the same. So
//! does the module after the peephole pass.
//!
//! In: the reduced program of each row, and other forms of the instructions. Out: the registers of many threads, which
//! begin with edge values, with the original and the rewritten instructions.

use crate::ptx::{GlobalMemory, Grid, Memory, Module, launch};
use cloom_ptx::errata::{self, ERRATA, Erratum, REGISTERS};
use cloom_ptx::tree::{Arg, Item, Statement};

/// The registers of [`REGISTERS`] with the types of accesses to them.
const KINDS: [(&str, &str); 4] = [("%h", "u16"), ("%r", "u32"), ("%f", "f32"), ("%d", "f64")];
/// Bytes that a thread has for each register.
const SLOT: usize = 8;
/// Registers of a thread: three of each kind, and two predicates.
const SLOTS: usize = 14;
const THREADS: usize = 512;

/// Integers and halves.
const WORDS: [u64; 20] = [
    0,
    1,
    2,
    0x7F,
    0x80,
    0xFF,
    0x100,
    0x3C00,
    0x7C00,
    0x7E01,
    0x7FFF,
    0x8000,
    0x8001,
    0xFFFF,
    0x7FFF_FFFF,
    0x8000_0000,
    0x00C4_8000,
    0x8000_7FFF,
    0xFF_FFFF,
    0xFFFF_FFFF,
];
/// Floats that a 16-bit integer can hold, signed or unsigned.
const FIT_16_BITS: [f64; 13] = [0.0, -0.0, 0.5, 1.0, 1.5, 2.5, 126.99, 127.0, 255.0, 32767.0, 32766.5, 1e-40, 5e-324];
/// Other floats.
const LARGE: [f64; 9] = [-1.0, -0.5, 70000.0, 1e10, -1e10, 1e300, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];

/// The registers that a body sets.
fn set_in(body: &str) -> Vec<String> {
    let text = format!(".entry k() {{\n{REGISTERS}{body}\n}}\n");
    let module = cloom_ptx::parse(&text).unwrap();
    let Some(Item::Function(function)) = module.items.first() else { panic!() };
    let insts = function.body.iter().flatten().filter_map(|statement| match statement {
        Statement::Inst(inst) => inst.args.first(),
        _ => None,
    });
    insts
        .flat_map(|to| match to {
            Arg::Name(name) => vec![*name],
            Arg::Pair(first, second) => vec![*first, *second],
            Arg::Vector(list) => {
                list.iter().filter_map(|arg| if let Arg::Name(name) = arg { Some(*name) } else { None }).collect()
            }
            _ => Vec::new(),
        })
        .map(str::to_owned)
        .collect()
}

/// A module whose threads load the registers that the body does not set, run the body and store all registers.
fn module(body: &str) -> String {
    let set = set_in(body);
    let (mut before, mut after) = (String::new(), String::new());
    let mut at = 0;
    for (prefix, ty) in KINDS {
        for register in (1..4).map(|number| format!("{prefix}{number}")) {
            if !set.contains(&register) {
                before += &format!("ld.global.{ty} {register}, [%a1+{at}];\n");
            }
            after += &format!("st.global.{ty} [%a1+{at}], {register};\n");
            at += SLOT;
        }
    }
    for register in ["%p1", "%p2"] {
        if !set.iter().any(|name| name == register) {
            before +=
                &format!("ld.global.u32 %n1, [%a1+{at}];\nand.b32 %n2, %n1, 1;\nsetp.ne.s32 {register}, %n2, 0;\n");
        }
        after += &format!("selp.u32 %n3, 1, 0, {register};\nst.global.u32 [%a1+{at}], %n3;\n");
        at += SLOT;
    }
    format!(
        ".version 7.8\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out) {{\n{REGISTERS}\
         .reg .b64 %a<4>;\n.reg .b32 %n<4>;\nld.param.u64 %a2, [out];\nmov.u32 %n0, %tid.x;\n\
         mul.wide.u32 %a3, %n0, {at};\nadd.s64 %a1, %a2, %a3;\n{before}{body}\n{after}ret;\n}}\n"
    )
}

/// The initial registers of all threads.
fn inputs(id: &str) -> Vec<u8> {
    let mut state = 1_u64;
    let mut below = |bound: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as usize % bound
    };
    // LLVM leaves the conversion of NaN open, and that of a number that 16 bits cannot hold.
    let floats: Vec<f64> = match id {
        "float-to-16-bits" => FIT_16_BITS.to_vec(),
        _ => FIT_16_BITS.into_iter().chain(LARGE).collect(),
    };
    let mut bytes = Vec::new();
    for _ in 0..THREADS {
        for slot in 0..SLOTS {
            let word = match slot {
                6..9 => u64::from((floats[below(floats.len())] as f32).to_bits()),
                9..12 => floats[below(floats.len())].to_bits(),
                _ => WORDS[below(WORDS.len())],
            };
            bytes.extend(word.to_le_bytes());
        }
    }
    bytes
}

/// The registers of all threads after the body.
fn outcome(module: &Module, inputs: &[u8]) -> Vec<u8> {
    let mut memory = Memory::new();
    let loaded = module.load(&mut memory);
    let out = memory.allocate(inputs.to_vec());
    let grid = Grid { groups: [1, 1, 1], threads: [THREADS as u32, 1, 1], dynamic_shared: 0 };
    launch(&loaded, "k", &[out.to_le_bytes().to_vec()], &grid, &mut memory, 1_000_000)
        .unwrap_or_else(|fault| panic!("{fault}"));
    memory.bytes(out).to_vec()
}

/// Checks that a body is refused, and that the rewritten body is not refused and computes the same.
fn check(erratum: &Erratum, body: &str) {
    let text = module(body);
    let error = Module::parse(&text).expect_err(body).to_string();
    assert!(error.contains("NVIDIA's compiler") && error.contains(erratum.id), "{body}: {error}");
    let mut draft = cloom_ptx::Draft::parse(&text).unwrap();
    errata::rewrite(&mut draft).unwrap_or_else(|error| panic!("{error}: {body}"));
    compare(&text, &draft.print(), &inputs(erratum.id));
}

/// Checks that a module changes memory, and that another one does it in the same way.
fn compare(text: &str, rewritten: &str, inputs: &[u8]) {
    let before = Module::parse_with_faults(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let after = Module::parse(rewritten).unwrap_or_else(|error| panic!("{error}: {rewritten}"));
    let (before, after) = (outcome(&before, inputs), outcome(&after, inputs));
    let thread = before.chunks(SLOT * SLOTS).zip(after.chunks(SLOT * SLOTS)).position(|(a, b)| a != b);
    if let Some(thread) = thread {
        let of = |all: &[u8]| {
            let own = &all[thread * SLOT * SLOTS..][..SLOT * SLOTS];
            let slots = own.chunks(SLOT).map(|slot| slot.iter().rev().fold(0, |all, byte| all << 8 | u64::from(*byte)));
            slots.map(|slot| format!("{slot:x}")).collect::<Vec<_>>().join(" ")
        };
        let (with, before, after) = (of(inputs), of(&before), of(&after));
        panic!("thread {thread}\n  with   {with}\n  before {before}\n  after  {after}\n{rewritten}");
    }
    assert_ne!(before, inputs, "nothing is computed: {text}");
}

#[test]
fn what_a_rewrite_makes_of_the_reduced_program_computes_the_same() {
    for erratum in ERRATA.iter().filter(|erratum| erratum.rewrite.is_some()) {
        check(erratum, erratum.reduced);
    }
}

/// Other forms of the patterns, by their rows.
const FORMS: [(&str, &[&str]); 11] = [
    (
        "extremum-of-16-bits",
        &[
            "min.s16 %h1, %h2, %h3;",
            "max.u16 %h1, %h2, 65535;",
            "max.s16 %h1, -1, %h3;",
            "@!%p1 max.s16 %h1, %h2, 127;",
            "min.s16x2 %r1, %r2, %r3;",
            "max.u16x2 %r1, %r2, %r3;",
        ],
    ),
    (
        "negation-of-16-bits",
        &[
            "abs.s16 %h1, %h2;",
            "@%p1 neg.s16 %h1, %h2;",
            "{ .reg .b16 %wide; abs.s16 %wide, %h2; mov.b16 %h1, %wide; }",
        ],
    ),
    (
        "negation-in-two-extrema",
        &[
            "sub.s32 %r1, 0, %r2; max.s32 %r1, %r3, %r1; max.s32 %r1, %r1, %r2;",
            "mul.lo.s32 %r1, %r2, -1; min.s32 %r1, %r1, %r3; min.s32 %r1, %r2, %r1;",
            "@%p1 neg.s32 %r1, %r2; min.s32 %r1, %r3, %r1; min.s32 %r1, %r1, 5;",
        ],
    ),
    (
        "half-tested-for-nan",
        &[
            "setp.num.f16 %p1, %h1, %h2;",
            "setp.nan.and.f16 %p1, %h1, %h2, !%p2;",
            "setp.nan.f16x2 %p1|%p2, %r1, %r2;",
            "setp.num.f16x2 %p1|%p2, %r1, %r2;",
        ],
    ),
    (
        "signed-byte-extracted",
        &[
            "bfe.s32 %r1, %r2, 0, 8;",
            "bfe.s32 %r1, %r2, 16, 8;",
            "bfe.s32 %r1, %r2, 24, 8;",
            "bfe.s32 %r1, %r2, 0, 16;",
            "bfe.s32 %r1, %r2, 8, 16;",
            "bfe.s32 %r1, %r2, 16, 16;",
            "bfe.s32 %r1, %r2, 24, 16;",
            "bfe.s32 %r1, %r2, 32, 8;",
            "bfe.s32 %r1, %r2, 248, 16;",
        ],
    ),
    (
        "select-of-doubles-converted",
        &[
            "selp.f64 %d1, 0dBFF0000000000000, 0d0000000000000000, %p1;\ncvt.rn.f32.f64 %f1, %d1;\ncvt.rzi.u32.f32 %r1, %f1;",
        ],
    ),
    (
        "select-of-least-number-converted",
        &[
            "selp.f32 %f1, 0f00000001, 0f00000000, %p1;\ncvt.rpi.s32.f32 %r1, %f1;",
            "selp.f32 %f1, 0f00000000, 0f00000001, %p1;\ncvt.rpi.ftz.u32.f32 %r1, %f1;",
            "selp.f32 %f1, 0f00000001, 0f00000000, %p1;\ncvt.f64.f32 %d1, %f1;",
            "selp.f32 %f1, 0f00000001, 0f00000000, %p1;\ncvt.rn.f16.f32 %h1, %f1;",
            "selp.f32 %f1, 0f00000001, 0f00000000, %p1;\ncvt.rp.f16.f32 %h1, %f1;",
            "selp.f32 %f1, 0f00000001, 0f00000000, %p1;\ncvt.rpi.f32.f32 %f2, %f1;",
            "selp.b16 %h1, 1, 0, %p1;\ncvt.f32.f16 %f1, %h1;",
            "selp.b32 %r1, 1, 0, %p1;\ncvt.u16.u32 %h1, %r1;\ncvt.f32.f16 %f1, %h1;",
            "setp.gt.s32 %p1, %r1, 5;\nselp.f32 %f1, 0f00000001, 0f00000000, %p1;\nsetp.gt.s32 %p1, %r2, 5;\n\
             cvt.rpi.u32.f32 %r3, %f1;",
        ],
    ),
    (
        "select-of-minus-one-converted",
        &[
            "selp.f32 %f1, 0f80000000, 0fBF800000, %p1;\ncvt.rzi.u64.f32 %d1, %f1;",
            "selp.f32 %f1, 0fBF800000, 0f00000000, %p1;\ncvt.rmi.u32.f32 %r1, %f1;",
        ],
    ),
    (
        "equality-with-bound",
        &[
            "max.s32 %r1, %r2, 0;\ncvt.u16.u32 %h1, %r1;\nsetp.eq.s16 %p1, 255, %h1;",
            "max.s32 %r1, %r2, %r3;\nsetp.eq.s32 %p1, %r1, %r3;",
            "selp.b32 %r1, %r2, 0, %p2;\nsetp.eq.s32 %p1, %r1, 1;",
            "max.s32 %r1, %r2, 0;\n@%p2 setp.eq.s32 %p2, %r1, 255;",
            "max.s32 %r1, %r2, 0;\nsetp.eq.xor.s32 %p1|%p2, %r1, 255, !%p1;",
            "max.s32 %r1, %r2, 0;\nset.eq.u32.s32 %r3, %r1, 255;",
            "max.s32 %r1, %r2, 0;\nset.eq.and.f32.s32 %f1, %r1, 255, %p1;",
        ],
    ),
    ("float-to-16-bits", &["cvt.rni.s16.f32 %h1, %f1;", "cvt.rpi.u16.f64 %h1, %d1;", "cvt.rzi.ftz.u16.f32 %h1, %f1;"]),
    (
        "uniform-halves",
        &[
            "mov.u32 %r1, %ctaid.x;\nmov.b32 %f1, %r1;\nmov.b32 {%h1, %h2}, %f1;",
            "mov.b32 %r1, %r2;\n@%p1 mov.b32 %r1, %r3;\nmov.b32 {%h1, %h2}, %r1;",
            "mov.b32 %r1, %r2;\n@%p1 mov.b32 %r1, %r3;\n@%p2 mov.b32 {_, %h2}, %r1;",
            "mov.b32 %r1, %r2;\n@%p1 mov.b32 %r1, %r3;\n{ .reg .b16 tmp; mov.b32 {tmp, %h2}, %r1; }",
        ],
    ),
];

#[test]
fn what_a_rewrite_makes_of_other_forms_computes_the_same() {
    for (id, bodies) in FORMS {
        let erratum = ERRATA.iter().find(|erratum| erratum.id == id).unwrap();
        for body in bodies {
            check(erratum, body);
        }
    }
    for erratum in ERRATA.iter().filter(|erratum| erratum.rewrite.is_some()) {
        assert!(FORMS.iter().any(|(id, _)| *id == erratum.id), "{}", erratum.id);
    }
}

#[test]
fn what_the_peephole_makes_computes_the_same() {
    let mut bodies: Vec<String> = [
        "bfe.s32 %r1, %r2, 24, 8;",
        "bfe.u32 %r1, %r2, 1, 31;",
        "bfe.s32 %r1, %r2, 0, 32;",
        "{ .reg .b64 %x; mov.b64 %x, %d2; bfe.s64 %x, %x, 60, 4; mov.b64 %d1, %x; }",
        ".local .align 8 .b8 depot[64]; .reg .b64 %SP, %SPL, %x; .reg .b32 %y; mov.u64 %SPL, depot; \
         cvta.local.u64 %SP, %SPL; add.u64 %x, %SP, 16; { .reg .b64 %tmp; cvta.to.local.u64 %tmp, %x; \
         cvt.u32.u64 %y, %tmp; } st.local.u32 [%y], %r2; ld.u32 %r1, [%x];",
    ]
    .map(str::to_owned)
    .into();
    for extremum in ["max.u64", "max.s64", "min.u64", "min.s64"] {
        for relation in ["lt", "le", "gt", "ge"] {
            let ty = &extremum[4..];
            bodies.push(format!(
                "{{ .reg .b64 %x<5>; mov.b64 %x1, %d1; mov.b64 %x2, %d2; mov.b64 %x3, %d3; {extremum} %x4, %x1, %x2; \
                 setp.{relation}.{ty} %p1, %x4, %x3; }}"
            ));
        }
    }
    for body in bodies {
        let text = module(&body);
        let mut draft = cloom_ptx::Draft::parse(&text).unwrap();
        cloom_ptx::peephole::optimise(&mut draft).unwrap();
        let optimised = draft.print();
        assert_ne!(optimised, text, "nothing is optimised");
        compare(&text, &optimised, &inputs(""));
    }
}
