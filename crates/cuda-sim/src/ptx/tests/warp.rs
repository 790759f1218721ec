//! Kernels whose threads wait for each other.

use super::{fault, run, run_grid};
use crate::ptx::Fault;

#[test]
fn shuffles_votes_and_matches() {
    for (body, expected) in [
        ("shfl.sync.down.b32 %r5, %r1, 1, 31, -1;", [1, 2, 3, 0xDEAD_BEEF]),
        ("shfl.sync.up.b32 %r5, %r1, 1, 0, -1;", [0, 0, 1, 2]),
        ("shfl.sync.bfly.b32 %r5, %r1, 3, 31, -1;", [3, 2, 1, 0]),
        ("shfl.sync.idx.b32 %r5, %r1, 2, 31, 15;", [2, 2, 2, 2]),
        ("shfl.sync.up.b32 %r6|%p1, %r1, 1, 0, -1; selp.b32 %r5, 1, 0, %p1;", [0, 1, 1, 1]),
        ("setp.lt.u32 %p1, %r1, 3; vote.sync.ballot.b32 %r5, %p1, -1;", [7, 7, 7, 7]),
        ("setp.lt.u32 %p1, %r1, 3; vote.sync.ballot.b32 %r5, !%p1, -1;", [8, 8, 8, 8]),
        ("setp.lt.u32 %p1, %r1, 3; vote.sync.all.pred %p2, %p1, -1; selp.b32 %r5, 1, 0, %p2;", [0, 0, 0, 0]),
        ("setp.lt.u32 %p1, %r1, 9; vote.sync.all.pred %p2, %p1, -1; selp.b32 %r5, 1, 0, %p2;", [1, 1, 1, 1]),
        ("setp.lt.u32 %p1, %r1, 3; vote.sync.any.pred %p2, %p1, -1; selp.b32 %r5, 1, 0, %p2;", [1, 1, 1, 1]),
        ("setp.lt.u32 %p1, %r1, 3; vote.sync.uni.pred %p2, %p1, -1; selp.b32 %r5, 1, 0, %p2;", [0, 0, 0, 0]),
        ("and.b32 %r6, %r1, 1; match.any.sync.b32 %r5, %r6, -1;", [5, 10, 5, 10]),
        ("shr.u32 %r6, %r1, 2; match.all.sync.b32 %r5|%p1, %r6, -1;", [15, 15, 15, 15]),
        ("match.all.sync.b32 %r6|%p1, %r1, -1; selp.b32 %r5, 1, %r6, %p1;", [0, 0, 0, 0]),
        ("redux.sync.add.s32 %r5, %r1, -1;", [6, 6, 6, 6]),
        ("sub.s32 %r6, %r1, 2; redux.sync.min.s32 %r5, %r6, -1;", [0xFFFF_FFFE; 4]),
        ("sub.s32 %r6, %r1, 2; redux.sync.min.u32 %r5, %r6, -1;", [0, 0, 0, 0]),
        ("elect.sync %r6|%p1, -1; selp.b32 %r5, 1, 0, %p1;", [1, 0, 0, 0]),
        ("mov.u32 %r6, %laneid; shfl.sync.idx.b32 %r5, %laneid, 1, 31, -1;", [1, 1, 1, 1]),
    ] {
        assert_eq!(run(&format!("{body} st.global.u32 [%rd1], %r5;"), 4), expected, "{body}");
    }
}

#[test]
fn masks_choose_who_takes_part() {
    // Even and odd threads reduce on different sides of a branch.
    let body = "
        and.b32 %r5, %r1, 1;
        setp.eq.s32 %p1, %r5, 1;
        @%p1 bra odd;
        redux.sync.add.u32 %r6, %r1, 0x55555555;
        bra.uni end;
    odd:
        redux.sync.add.u32 %r6, %r1, 0xAAAAAAAA;
    end:
        bar.warp.sync 0xffffffff;
        st.global.u32 [%rd1], %r6;";
    assert_eq!(run(body, 6), [6, 9, 6, 9, 6, 9]);
    // Threads that have ended count as arrived.
    let body = "
        setp.ge.u32 %p1, %r1, 2; @%p1 ret;
        vote.sync.ballot.b32 %r6, 1, -1; st.global.u32 [%rd1], %r6;";
    assert_eq!(run(body, 4), [3, 3, 0, 0]);
    // Each warp reduces by itself.
    let words = run("redux.sync.add.u32 %r6, 1, -1; st.global.u32 [%rd1], %r6;", 40);
    assert!(words[..32].iter().all(|word| *word == 32) && words[32..].iter().all(|word| *word == 8));
    let found = fault("", "bar.warp.sync 1;", 2);
    assert!(matches!(&found, Fault::Undefined { what, .. } if what.contains("lane 1")), "{found}");
}

#[test]
fn barriers() {
    let body = "
        shl.b32 %r5, %r1, 2; mov.u32 %r6, d; add.s32 %r6, %r6, %r5;
        st.shared.u32 [%r6], %r1;
        bar.sync 0;
        mov.u32 %r7, d; sub.s32 %r8, %r3, 1; sub.s32 %r8, %r8, %r1; shl.b32 %r8, %r8, 2; add.s32 %r7, %r7, %r8;
        ld.shared.u32 %r9, [%r7];
        barrier.sync.aligned 1;
        st.global.u32 [%rd1], %r9;";
    let words = run_grid(".extern .shared .align 4 .b8 d[];", body, 1, (1, 70)).unwrap();
    assert_eq!(words, (0..70).rev().collect::<Vec<u32>>());
    // The second warp only announces itself; the third does not take part.
    let body = "
        shr.u32 %r5, %r1, 5;
        setp.eq.s32 %p1, %r5, 0; setp.eq.s32 %p2, %r5, 1;
        @%p1 bra wait;
        @%p2 st.shared.u32 [d], 5;
        @%p2 bar.arrive 3, 64;
        bra.uni end;
    wait:
        bar.sync 3, 64;
        ld.shared.u32 %r6, [d]; st.global.u32 [%rd1], %r6;
    end:";
    let words = run_grid(".extern .shared .align 4 .b8 d[];", body, 1, (1, 96)).unwrap();
    assert!(words[..32].iter().all(|word| *word == 5) && words[32..].iter().all(|word| *word == 0));
    let body = "
        setp.lt.u32 %p1, %r1, 3;
        bar.red.popc.u32 %r5, 0, %p1;
        bar.red.and.pred %p2, 0, %p1;
        bar.red.or.pred %p3, 0, !%p1;
        selp.b32 %r6, 10, 0, %p2; selp.b32 %r7, 100, 0, %p3;
        add.s32 %r5, %r5, %r6; add.s32 %r5, %r5, %r7;
        st.global.u32 [%rd1], %r5;";
    assert_eq!(run(body, 4), [103; 4]);
    assert_eq!(run(body, 3), [13; 3]);
}

#[test]
fn deadlocks_are_reported() {
    let body = "setp.eq.s32 %p1, %r1, 1; @%p1 bra other;\n bar.sync 0;\n bra end;\n other: bar.sync 1;\n end:";
    let Fault::Deadlock { waiting, .. } = fault("", body, 3) else { panic!() };
    assert_eq!(
        waiting.iter().map(|thread| (thread.thread, thread.line)).collect::<Vec<_>>(),
        [(0, 13), (1, 15), (2, 13)]
    );
    let body = "setp.eq.s32 %p1, %r1, 1; @%p1 bra other;\n bar.warp.sync 7;\n bra end;\n other: bar.sync 1;\n end:";
    assert!(matches!(fault("", body, 3), Fault::Deadlock { .. }));
    // A thread that ends does not hold up a barrier.
    assert_eq!(run("setp.eq.s32 %p1, %r1, 1; @%p1 ret; bar.sync 0; st.global.u32 [%rd1], 1;", 3), [1, 0, 1]);
}

#[test]
fn the_active_threads_are_those_that_run_together() {
    for (body, expected) in [
        ("activemask.b32 %r5;", [15, 15, 15, 15]),
        // In a conditional block, and reconverged after it.
        ("setp.lt.u32 %p1, %r1, 2; mov.b32 %r5, 0; @%p1 bra skip; activemask.b32 %r5; skip: activemask.b32 %r6;
          mad.lo.s32 %r5, %r5, 100, %r6;", [15, 15, 1215, 1215]),
        // Both sides; the first in the text is the later one in the flow.
        ("setp.lt.u32 %p1, %r1, 1; @%p1 bra side; join: activemask.b32 %r6; mad.lo.s32 %r5, %r5, 100, %r6; bra.uni end;
          side: activemask.b32 %r5; bra.uni join; end:", [115, 15, 15, 15]),
        // A loop that threads leave one after another: the last iteration of each sees who is left.
        ("mov.b32 %r6, 0; l: activemask.b32 %r5; add.s32 %r6, %r6, 1; setp.le.u32 %p1, %r6, %r1; @%p1 bra l;
          activemask.b32 %r7; mad.lo.s32 %r5, %r7, 100, %r5;", [1515, 1514, 1512, 1508]),
        // Thread 1 skips the first iteration's question, but must not be asked in step with it later.
        ("mov.b32 %r6, 0; mov.b32 %r5, 0;
          l: setp.eq.s32 %p1, %r6, 0; setp.eq.and.u32 %p2, %r1, 1, %p1; @%p2 bra next;
          activemask.b32 %r7; mad.lo.s32 %r5, %r5, 100, %r7;
          next: add.s32 %r6, %r6, 1; setp.lt.u32 %p3, %r6, 2; @%p3 bra l;", [1315, 15, 1315, 1315]),
        ("setp.eq.u32 %p1, %r1, 3; @%p1 ret; activemask.b32 %r5;", [7, 7, 7, 0]),
    ] {
        assert_eq!(run(&format!("mov.b32 %r5, 0; {body} st.global.u32 [%rd1], %r5;"), 4), expected, "{body}");
    }
}

#[test]
fn active_threads_in_calls() {
    let functions = ".func (.param .b32 r) f(.param .b32 n) { .reg .b32 %r<4>; .reg .pred %p;
        ld.param.u32 %r1, [n]; mov.b32 %r2, 0;
        setp.eq.s32 %p, %r1, 0; @%p bra out;
        activemask.b32 %r2;
        out: st.param.b32 [r], %r2; ret; }";
    let body = "
        { .param .b32 a; st.param.b32 [a], %r1; .param .b32 b; call (b), f, (a); ld.param.b32 %r5, [b]; }
        activemask.b32 %r6; mad.lo.s32 %r5, %r5, 100, %r6; st.global.u32 [%rd1], %r5;";
    assert_eq!(run_grid(functions, body, 1, (1, 3)).unwrap(), [7, 607, 607]);
}

#[test]
fn threads_and_blocks_may_wait_for_memory() {
    // The first thread polls what the last one stores.
    let body = "
        setp.eq.s32 %p1, %r1, 0; @%p1 bra wait;
        st.shared.u32 [s], 1;
        bra.uni end;
    wait:
        ld.volatile.shared.u32 %r5, [s];
        setp.eq.s32 %p2, %r5, 0; @%p2 bra wait;
        st.global.u32 [%rd1], 5;
    end:";
    assert_eq!(run_grid(".shared .align 4 .u32 s;", body, 1, (1, 2)).unwrap(), [5, 0]);
    // The polling loop with reconvergence points; the thread that stores has left the loop.
    let later = body
        .replace("st.shared.u32 [s], 1;\n        bra.uni end;", "bra.uni end;")
        .replace("end:", "end: activemask.b32 %r6; @!%p1 st.shared.u32 [s], 1;");
    assert_eq!(run_grid(".shared .align 4 .u32 s;", &later, 1, (1, 2)).unwrap(), [5, 0]);
}
