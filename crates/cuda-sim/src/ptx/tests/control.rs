//! Kernels with branches, guards, calls and ends of all kinds.

use super::{check, fault, module, run, run_grid};
use crate::ptx::{Fault, Grid, Memory, Module, launch};

#[test]
fn guards_branches_and_loops() {
    let body = "
        setp.lt.u32 %p1, %r1, 2;
        mov.b32 %r5, 0;
        @%p1 mov.b32 %r5, 10;
        @!%p1 mov.b32 %r5, 20;
        mov.b32 %r6, 0;
    loop:
        setp.ge.u32 %p2, %r6, %r1;
        @%p2 bra done;
        add.s32 %r5, %r5, 1;
        add.s32 %r6, %r6, 1;
        bra.uni loop;
    done:
        st.global.u32 [%rd1], %r5;
        @%p1 ret;
        st.global.u32 [%rd1], -1;
        @!%p1 exit;
        st.global.u32 [%rd1], 99;";
    assert_eq!(run(body, 4), [10, 11, u32::MAX, u32::MAX]);
}

#[test]
fn a_table_of_branch_targets() {
    let body = "
        table: .branchtargets a, b, a;
        mov.b32 %r5, 0;
        brx.idx %r1, table;
    a:  add.s32 %r5, %r5, 1;
    b:  add.s32 %r5, %r5, 10;
        st.global.u32 [%rd1], %r5;";
    assert_eq!(run(body, 3), [11, 10, 11]);
    assert!(matches!(fault("", body, 4), Fault::Undefined { .. }));
}

#[test]
fn inner_scopes_hide_registers_and_labels() {
    check(
        ".reg .b32 t; mov.b32 t, 1;
        { .reg .b32 t; mov.b32 t, 2; bra l; mov.b32 t, 3; l: mov.b32 %r5, t; }
        { .reg .b64 t; mov.b64 t, 7; bra l; l: cvt.u32.u64 %r6, t; }
        mad.lo.s32 %r10, %r5, 10, t; mad.lo.s32 %r10, %r6, 100, %r10;",
        721,
    );
}

const FUNCTIONS: &str = "
    .func (.param .b32 result) fact(.param .b32 n);
    .func (.param .align 8 .b8 result[8]) two(.param .align 8 .b8 pair[8], .param .b32 more) {
        .reg .b32 %r<5>;
        .local .align 4 .b8 depot[8];
        ld.param.v2.u32 {%r1, %r2}, [pair];
        ld.param.u32 %r3, [more];
        st.local.u32 [depot+4], %r3;
        add.s32 %r1, %r1, %r3;
        st.param.v2.b32 [result], {%r2, %r1};
        ret;
    }
    .func (.param .b32 result) fact(.param .b32 n) {
        .reg .b32 %r<5>; .reg .pred %p<2>;
        .local .align 4 .b8 depot[4];
        ld.param.u32 %r1, [n];
        st.local.u32 [depot], %r1;
        mov.b32 %r2, 1;
        setp.lt.u32 %p1, %r1, 2;
        @%p1 bra end;
        sub.s32 %r3, %r1, 1;
        { .param .b32 a; st.param.b32 [a+0], %r3; .param .b32 r;
          call.uni (r), fact, (a);
          ld.param.b32 %r2, [r+0]; }
        ld.local.u32 %r4, [depot];
        mul.lo.s32 %r2, %r2, %r4;
    end:
        st.param.b32 [result+0], %r2;
        ret;
    }
    .func nothing { ret; }
    .extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);";

#[test]
fn calls_pass_parameters_and_keep_frames_apart() {
    let body = "
        { .param .b32 a; add.s32 %r5, %r1, 3; st.param.b32 [a], %r5; .param .b32 r;
          call.uni (r), fact, (a); ld.param.b32 %r6, [r]; }
        { .param .align 8 .b8 p[8]; st.param.v2.b32 [p], {%r1, 7}; .param .b32 m; st.param.b32 [m], 40;
          .param .align 8 .b8 r[8];
          call.uni (r), two, (p, m); ld.param.v2.b32 {%r7, %r8}, [r+0]; }
        call.uni nothing;
        mad.lo.s32 %r9, %r7, 1000, %r8;
        st.global.v2.u32 [%rd1], {%r6, %r9};";
    assert_eq!(run_grid(FUNCTIONS, body, 2, (1, 2)).unwrap(), [6, 7040, 24, 7041]);
}

#[test]
fn indirect_calls() {
    let body = "
        proto: .callprototype (.param .b32 _) _ (.param .b32 _);
        mov.u64 %rd5, fact;
        { .param .b32 a; st.param.b32 [a], 5; .param .b32 r;
          call (r), %rd5, (a), proto; ld.param.b32 %r6, [r]; }
        st.global.u32 [%rd1], %r6;";
    assert_eq!(run_grid(FUNCTIONS, body, 1, (1, 1)).unwrap(), [120]);
    let wrong = body.replace("mov.u64 %rd5, fact", "mov.u64 %rd5, 12345");
    assert!(matches!(fault(FUNCTIONS, &wrong, 1), Fault::Undefined { .. }));
    let wrong = body.replace("mov.u64 %rd5, fact", "mov.u64 %rd5, two");
    assert!(matches!(fault(FUNCTIONS, &wrong, 1), Fault::Undefined { .. }));
}

#[test]
fn bad_ends() {
    let Fault::Trap(place) = fault("", "setp.eq.s32 %p1, %r1, 2;\n@%p1 trap;", 4) else { panic!() };
    assert_eq!((place.thread, place.line), ([2, 0, 0], 13));
    assert_eq!(fault("", "l: bra l;", 1), Fault::TooLong { budget: 4_000_000 });
    let body = "{ .param .b64 a; .param .b64 b; .param .b32 r; call (r), vprintf, (a, b); }";
    let found = fault(FUNCTIONS, body, 1);
    assert!(matches!(&found, Fault::Unsupported { what, .. } if what.contains("vprintf")), "{found}");
    let forever = ".func f { call f; ret; }";
    assert!(matches!(fault(forever, "call f;", 1), Fault::Unsupported { .. }));
}

#[test]
fn the_budget_is_exact() {
    let text = module("", "", 1);
    let mut memory = Memory::new();
    let loaded = Module::parse(&text).unwrap().load(&mut memory);
    let grid = Grid { groups: [2, 1, 1], threads: [3, 1, 1], dynamic_shared: 0 };
    // Seven instructions of the frame and the return, by six threads.
    for (budget, enough) in [(47, false), (48, true)] {
        let result = launch(&loaded, "k", &[vec![0; 8]], &grid, &mut memory, budget);
        assert_eq!(result, if enough { Ok(()) } else { Err(Fault::TooLong { budget }) });
    }
}
