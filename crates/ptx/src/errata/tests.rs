//! Each row of the table on its own programs, and the forms that must be found or left alone.

mod rewritten;

use super::{ERRATA, REGISTERS, first, rewrite};
use crate::Draft;
use crate::tree::Item;
use std::collections::HashSet;

/// The id of the first fault in a body.
fn found(body: &str) -> Option<&'static str> {
    let text = format!(".entry k() {{\n{REGISTERS}{body}\nret;\n}}\n");
    let module = crate::parse(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let Some(Item::Function(function)) = module.items.first() else { panic!() };
    first(function).unwrap_or_else(|error| panic!("{error}: {text}")).map(|found| found.erratum.id)
}

#[test]
fn each_row_is_found_in_its_reduced_program_only() {
    for erratum in ERRATA {
        assert_eq!(found(erratum.reduced), Some(erratum.id));
        assert_eq!(found(erratum.mended), None, "{}", erratum.id);
    }
    let ids: HashSet<_> = ERRATA.iter().map(|erratum| erratum.id).collect();
    assert_eq!(ids.len(), ERRATA.len());
}

/// A body without faults that have a rewrite, in one line.
fn rewritten(body: &str) -> Result<String, crate::ParseError> {
    let (before, after) = (format!(".entry k() {{\n{REGISTERS}"), "\nret;\n}\n");
    let text = format!("{before}{body}{after}");
    let mut draft = Draft::parse(&text)?;
    rewrite(&mut draft)?;
    let printed = draft.print();
    let body = printed.strip_prefix(&before).and_then(|rest| rest.strip_suffix(after));
    Ok(body.unwrap_or(&printed).split_whitespace().collect::<Vec<_>>().join(" "))
}

#[test]
fn each_row_is_rewritten_or_says_who_avoids_it() {
    for erratum in ERRATA {
        let after = rewritten(erratum.reduced).unwrap();
        let is_found = found(&after);
        match erratum.rewrite {
            Some(_) => assert_eq!(is_found, None, "{}: {after}", erratum.id),
            None => {
                assert_eq!(is_found, Some(erratum.id));
                assert!(erratum.reason.contains("There is no rewrite: "), "{}", erratum.id);
            }
        }
        let mended = erratum.mended.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(rewritten(erratum.mended).unwrap(), mended, "{}", erratum.id);
    }
}

#[test]
fn the_line_is_that_of_the_instruction() {
    let module = crate::parse(".entry k() {\n.reg .b16 %h<2>;\nadd.s16 %h1, %h1, 1;\nneg.s16 %h1, %h1;\n}").unwrap();
    let Some(Item::Function(function)) = module.items.first() else { panic!() };
    assert_eq!(first(function).unwrap().map(|found| found.line.0), Some(4));
}

/// Checks that a fault is found in these bodies, and not when they are rewritten.
fn finds(id: &str, bodies: &[&str]) {
    let has_rewrite = ERRATA.iter().any(|erratum| erratum.id == id && erratum.rewrite.is_some());
    for body in bodies {
        assert_eq!(found(body), Some(id), "{body}");
        if has_rewrite {
            let after = rewritten(body).unwrap();
            assert_eq!(found(&after), None, "{body} ▸ {after}");
        }
    }
}

/// Checks that nothing is found in these bodies.
fn leaves(bodies: &[&str]) {
    for body in bodies {
        assert_eq!(found(body), None, "{body}");
    }
}

#[test]
fn negations_in_nested_extrema_of_one_kind_are_found() {
    let nest = |negation: &str, inner: &str, outer: &str| {
        format!("{negation} {inner}.s32 %r0, %r3, %r1; {outer}.s32 %r3, %r2, %r0;")
    };
    for negation in [
        "neg.s32 %r1, %r2;",
        "sub.s32 %r1, 0, %r2;",
        "mul.lo.s32 %r1, %r2, -1;",
        "mul.lo.u32 %r1, 4294967295, %r2;",
        "mad.lo.s32 %r1, %r2, -1, 0;",
        "@%p1 neg.s32 %r1, %r2;",
        "sub.s32 %r1, %r3, %r2; neg.s32 %r1, %r1;",
        "neg.s32 %r1, %r2; mov.b32 %r1, %r1;",
    ] {
        for kind in ["min", "max"] {
            finds("negation-in-two-extrema", &[&nest(negation, kind, kind)]);
        }
        leaves(&[&nest(negation, "min", "max")]);
    }
    finds(
        "negation-in-two-extrema",
        &[
            "neg.s32 %r1, %r2; min.s32 %r2, %r1, %r3; mov.b32 %r1, %r2; min.s32 %r3, %r3, %r1;",
            // The outer one is in the next iteration.
            "A: min.s32 %r3, %r2, %r3; neg.s32 %r1, %r2; min.s32 %r3, %r3, %r1; @%p1 bra A;",
        ],
    );
    let others: Vec<String> =
        ["sub.s32 %r1, 1, %r2;", "mul.lo.s32 %r1, %r2, -2;", "mad.lo.s32 %r1, %r2, -1, 1;", "abs.s32 %r1, %r2;"]
            .map(|negation| nest(negation, "min", "min"))
            .into();
    leaves(&others.iter().map(String::as_str).collect::<Vec<_>>());
    leaves(&[
        "neg.s32 %r1, %r2; min.s32 %r0, %r1, %r3;",
        "neg.s32 %r1, %r2; min.u32 %r3, %r1, %r3; min.u32 %r3, %r3, %r2;",
        "neg.f32 %f1, %f2; min.f32 %f3, %f1, %f3; min.f32 %f3, %f3, %f2;",
    ]);
}

#[test]
fn operations_of_16_bits() {
    finds("extremum-of-16-bits", &["max.s16 %h1, %h2, -1;", "min.s16 %h1, %h2, %h3;", "max.s16x2 %r1, %r2, %r3;"]);
    finds("negation-of-16-bits", &["abs.s16 %h1, %h2;"]);
    finds("float-to-16-bits", &["cvt.rmi.s16.f64 %h1, %d1;", "cvt.rzi.u16.f16 %h1, %h2;"]);
    leaves(&[
        "min.u32 %r2, %r2, 127;",
        "min.f16 %h1, %h2, %h3;",
        "neg.s32 %r1, %r2;\nneg.f16 %h1, %h2;",
        "cvt.rzi.u32.f32 %r1, %f1;\ncvt.u16.u32 %h1, %r1;\ncvt.rn.f16.f32 %h2, %f1;",
    ]);
}

#[test]
fn tests_of_halves() {
    finds("half-tested-for-nan", &["setp.num.f16x2 %p1|%p2, %r1, %r1;", "setp.nan.ftz.f16 %p1, %h1, %h2;"]);
    leaves(&["setp.lt.f16 %p1, %h1, %h1;", "setp.nan.f32 %p1, %f1, %f1;\nA: @%p1 bra A;"]);
}

#[test]
fn signed_bytes() {
    finds("signed-byte-extracted", &["bfe.s32 %r1, %r2, 0, 16;"]);
    leaves(&["bfe.s32 %r1, %r2, 4, 8;\nbfe.u32 %r1, %r2, 8, 8;", "bfe.s32 %r1, %r2, 8, %r3;"]);
}

#[test]
fn conversions_of_selects() {
    let doubles = "selp.f64 %d1, 0d3FF8000000000000, 0d402E400000000000, %p1;\n";
    leaves(&[
        &format!("{doubles}add.f64 %d2, %d1, %d1;\ncvt.rn.f32.f64 %f1, %d2;"),
        // A tenth is no float.
        "selp.f64 %d1, 0d3FB999999999999A, 0d402E400000000000, %p1;\ncvt.rn.f32.f64 %f1, %d1;",
    ]);
    let least = "selp.f32 %f1, 0f00000001, 0f00000000, %p1;\n";
    finds(
        "select-of-least-number-converted",
        &[
            "selp.u16 %h1, 0, 1, %p1;\ncvt.f32.f16 %f1, %h1;",
            "selp.u32 %r1, 1, 0, %p1;\nmov.b32 %f1, %r1;\ncvt.f64.f32 %d1, %f1;",
        ],
    );
    leaves(&[
        &format!("{least}@%p2 mov.f32 %f1, %f2;\ncvt.rzi.u32.f32 %r1, %f1;"),
        "selp.u32 %r1, 1, 0, %p1;\ncvt.rn.f32.s32 %f1, %r1;",
    ]);
    let negative = "selp.f32 %f1, 0f80000000, 0fBF800000, %p1;\n";
    finds("select-of-minus-one-converted", &[&format!("{negative}cvt.rzi.u64.f32 %d1, %f1;")]);
    leaves(&[&format!("{negative}cvt.rzi.s32.f32 %r1, %f1;")]);
}

#[test]
fn equalities_with_bounds() {
    let clamped = "max.s32 %r1, %r2, 0;\ncvt.u16.u32 %h1, %r1;\n";
    finds("equality-with-bound", &[&format!("{clamped}setp.eq.s16 %p1, 255, %h1;")]);
    leaves(&[&format!("{clamped}setp.ne.s16 %p1, %h1, 255;\nsetp.eq.s32 %p1, %r2, 255;")]);
}

#[test]
fn divisions_into_halves() {
    let merged = "mov.u32 %r1, 242;\n@%p1 add.s32 %r1, %r2, 1;\nmov.u32 %r2, %r1;\n";
    let halves = "mov.b32 {%h1, %h2}, %r1;";
    let of_thread = "mov.u32 %r2, %tid.x;\n";
    finds(
        "uniform-halves",
        &[
            &format!("{merged}{halves}"),
            &format!("{merged}mov.b32 {{%h1, %h2}}, %r2;"),
            &format!("ld.shared.u32 %r1, [8];\n{halves}"),
            &format!("{of_thread}redux.sync.or.b32 %r1, %r2, -1;\n{halves}"),
            "mov.u32 %r1, %ctaid.x;\n{ .reg .b16 tmp; mov.b32 {tmp, %h1}, %r1; }",
        ],
    );
    leaves(&[
        &format!("{of_thread}add.s32 %r1, %r2, 1;\n{halves}"),
        &format!("{of_thread}setp.eq.s32 %p1, %r2, 0;\nselp.b32 %r1, 1, 2, %p1;\n{halves}"),
        &format!("{of_thread}shfl.sync.bfly.b32 %r1, %r2, 1, 31, -1;\n{halves}"),
        &format!("{of_thread}ld.shared.u32 %r1, [%r2+4];\n{halves}"),
        &format!("{merged}shr.u32 %r3, %r1, 16;\ncvt.u16.u32 %h2, %r3;"),
        "mov.b64 {%r1, %r2}, %d1;",
    ]);
}

#[test]
fn generic_addresses() {
    finds("generic-address-of-32-bits", &["st.u32 [%r2+4], %r1;", "ld.volatile.u32 %r1, [%r2];"]);
    leaves(&[
        "ld.shared.u32 %r1, [%r2];\nst.local.u32 [%r2], %r1;",
        "ld.shared::cta.u32 %r1, [%r2];",
        "ld.u32 %r1, [%d1];",
    ]);
}
