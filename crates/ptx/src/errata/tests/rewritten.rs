//! The rewrites, form by form.

use super::rewritten;

/// Checks what a body becomes.
fn becomes(body: &str, wanted: &str) {
    assert_eq!(rewritten(body).as_deref(), Ok(wanted), "{body}");
}

/// Checks that a body stays as it is.
fn stays(body: &str) {
    becomes(body, body);
}

#[test]
fn extrema_have_32_bits() {
    becomes(
        "min.u16 %h2, %h1, -5;",
        "{ .reg .b32 %wide0, %wide1; cvt.u32.u16 %wide0, %h1; mov.u32 %wide1, 65531; \
         min.u32 %wide0, %wide0, %wide1; cvt.u16.u32 %h2, %wide0; }",
    );
    assert!(rewritten("max.s16 %h2, %h1, 65531;").unwrap().contains("mov.s32 %wide1, -5;"));
    assert!(rewritten("max.s16 %h2, %h1, %h3;").unwrap().contains("cvt.s32.s16 %wide1, %h3;"));
    assert!(rewritten("@!%p1 max.s16 %h2, %h1, %h3;").unwrap().contains("@!%p1 cvt.u16.u32 %h2, %wide0;"));
    for other in ["min.u32 %r2, %r1, 5;", "sub.s16 %h2, %h1, 5;"] {
        stays(other);
    }
}

#[test]
fn what_is_negated_is_cut_to_16_bits() {
    becomes("neg.s16 %h2, %h1;", "mul.lo.s16 %h2, %h1, -1;");
    becomes("@%p1 neg.s16 %h2, %h1;", "@%p1 mul.lo.s16 %h2, %h1, -1;");
    becomes(
        "abs.s16 %h2, %h1;",
        "{ .reg .b32 %wide; cvt.s32.s16 %wide, %h1; abs.s32 %wide, %wide; cvt.u16.u32 %h2, %wide; }",
    );
}

#[test]
fn words_are_negated_by_their_complement() {
    let extrema = "min.s32 %r1, %r3, %r1; min.s32 %r1, %r1, %r3;";
    let complement = format!("{{ .reg .b32 %inverse; not.b32 %inverse, %r2; add.s32 %r1, %inverse, 1; }} {extrema}");
    for negation in
        ["neg.s32 %r1, %r2;", "sub.u32 %r1, 0, %r2;", "mul.lo.s32 %r1, -1, %r2;", "mad.lo.s32 %r1, %r2, -1, 0;"]
    {
        becomes(&format!("{negation} {extrema}"), &complement);
    }
    assert!(rewritten(&format!("@%p1 neg.s32 %r1, %r2; {extrema}")).unwrap().contains("@%p1 not.b32 %inverse, %r2;"));
    assert!(rewritten(&format!("sub.cc.s32 %r1, 0, %r2; {extrema}")).is_err());
}

#[test]
fn signed_bytes_are_moved() {
    for (first, count, mask) in [(0, 8, 0x8880), (8, 8, 0x9991), (16, 8, 0xAAA2), (0, 16, 0x9910), (8, 16, 0xAA21)] {
        becomes(&format!("bfe.s32 %r2, %r1, {first}, {count};"), &format!("prmt.b32 %r2, %r1, 0, {mask};"));
    }
    for (first, count, shift) in [(24, 8, 24), (16, 16, 16), (24, 16, 24), (32, 8, 31), (248, 16, 31)] {
        becomes(&format!("bfe.s32 %r2, %r1, {first}, {count};"), &format!("shr.s32 %r2, %r1, {shift};"));
    }
}

#[test]
fn equality_with_a_bound_is_negated() {
    let max = "max.s32 %r2, %r1, 0; ";
    let negated = |ty: &str, a: &str| format!("setp.ne.{ty} %p1, {a}, 255; not.pred %p1, %p1;");
    becomes(&format!("{max}setp.eq.s32 %p1, %r2, 255;"), &format!("{max}{}", negated("s32", "%r2")));
    let cut = format!("{max}cvt.u16.u32 %h1, %r2; ");
    becomes(&format!("{cut}setp.eq.s16 %p1, %h1, 255;"), &format!("{cut}{}", negated("s16", "%h1")));
    // A loop's block may stand in the text before the block that enters it, but a fact must not come from a later one.
    let select = "selp.b32 %r2, %r1, 0, %p2; ";
    becomes(&format!("{select}setp.eq.s32 %p1, %r2, 255;"), &format!("{select}{}", negated("s32", "%r2")));
    becomes(
        &format!("{max}@%p1 setp.eq.s32 %p1, %r2, 255;"),
        &format!(
            "{max}{{ .reg .pred %differ, %equal, %guard; mov.pred %guard, %p1; \
             @%guard setp.ne.s32 %differ, %r2, 255; @%guard not.pred %equal, %differ; \
             @%guard mov.pred %p1, %equal; }}"
        ),
    );
    becomes(
        &format!("{max}setp.eq.and.s32 %p1|%p2, %r2, 255, !%p0;"),
        &format!(
            "{max}{{ .reg .pred %differ, %equal, %other; setp.ne.s32 %differ, %r2, 255; not.pred %equal, %differ; \
             not.pred %other, %p0; and.pred %equal, %equal, %other; and.pred %differ, %differ, %other; \
             mov.pred %p1, %equal; mov.pred %p2, %differ; }}"
        ),
    );
    assert!(rewritten(&format!("{max}set.eq.f32.s32 %f1, %r2, 255;")).unwrap().contains("selp.f32 %f1, 0f3F800000, "));
    assert!(rewritten(&format!("{max}set.eq.u32.s32 %r3, %r2, 255;")).unwrap().contains("selp.b32 %r3, -1, 0, "));
    for other in ["setp.eq.s32 %p1, %r1, 255;", "setp.eq.s64 %p1, %d1, 255;", "setp.eq.u32 %p1, %r2, 255;"] {
        stays(&format!("{max}{other}"));
    }
    stays("max.s32 %r2, %r1, 5; setp.eq.s32 %p1, %r2, 255;");
    stays("selp.u32 %r2, 1, 0, %p2; setp.eq.s32 %p1, %r2, %r1;");
}

#[test]
fn floats_are_converted_to_32_bits() {
    for (cvt, other, from) in [
        ("cvt.rzi.u16.f32", "cvt.rzi.u32.f32", "%f1"),
        ("cvt.rni.ftz.s16.f32", "cvt.rni.ftz.s32.f32", "%f1"),
        ("cvt.rmi.s16.f64", "cvt.rmi.s32.f64", "%d1"),
        ("cvt.rzi.u16.f16", "cvt.rzi.u32.f16", "%h1"),
    ] {
        becomes(
            &format!("{cvt} %h2, {from};"),
            &format!("{{ .reg .b32 %wide; {other} %wide, {from}; cvt.u16.u32 %h2, %wide; }}"),
        );
    }
    for other in ["cvt.rzi.u32.f32 %r1, %f1;", "cvt.u16.u32 %h1, %r1;", "cvt.rn.f16.f32 %h1, %f1;"] {
        stays(other);
    }
}

#[test]
fn what_may_be_the_same_for_a_warp_is_divided_by_a_shift() {
    let (divides, one) = ("mov.b32 {%h1, %h2}, %r1;", "mov.u32 %r1, %ctaid.x; ");
    let (lower, upper) = ("cvt.u16.u32 %h1, %r1;", "shr.u32 %upper, %r1, 16; cvt.u16.u32 %h2, %upper;");
    becomes(&format!("{one}{divides}"), &format!("{one}{{ .reg .b32 %upper; {lower} {upper} }}"));
    // One half, in LLVM's words and in those of PTX.
    becomes(
        &format!("{one}{{ .reg .b16 tmp; mov.b32 {{%h1, tmp}}, %r1; }}"),
        &format!("{one}{{ .reg .b16 tmp; {{ .reg .b32 %upper; {lower} }} }}"),
    );
    becomes(&format!("{one}mov.b32 {{_, %h2}}, %r1;"), &format!("{one}{{ .reg .b32 %upper; {upper} }}"));
    // A shift takes no float.
    let float = "mov.b32 %f1, %r1; mov.b32 {%h1, %h2}, %f1;";
    assert!(rewritten(&format!("{one}{float}")).unwrap().contains("mov.b32 %bits, %f1; cvt.u16.u32 %h1, %bits;"));
    let chosen = "mov.u32 %r1, %tid.x; @%p1 mov.b32 %r1, 1; ";
    becomes(&format!("{chosen}{divides}"), &format!("{chosen}{{ .reg .b32 %upper; {lower} {upper} }}"));
    stays(&format!("mov.u32 %r1, %tid.x; {divides}"));
    stays(&format!("{one}mov.b32 %r1, {{%h1, %h2}};"));
}

#[test]
fn what_is_set_in_several_places_is_divided_by_a_shift() {
    let is_shifted =
        |before: &str, divides: &str| rewritten(&format!("{before} {divides}")).unwrap().contains("shr.u32");
    let (one, divides) = ("mov.u32 %r1, %tid.x;", "mov.b32 {%h1, %h2}, %r1;");
    for other in [
        "add.s32 %r1, %r3, 1;",
        "@%p1 mov.b32 %r1, 1;",
        "{ .reg .b32 tmp; mov.b64 {tmp, %r1}, %d1; }",
        "ld.global.v2.u32 {%r3, %r1}, [%d1];",
    ] {
        assert!(is_shifted(&format!("{one} {other}"), divides), "{other}");
        assert!(is_shifted(&format!("{one} {other} mov.b32 %r2, %r1;"), "mov.b32 {%h1, %h2}, %r2;"), "{other}");
    }
    assert!(!is_shifted(&format!("{one} mov.b32 %r2, %r1;"), "mov.b32 {%h1, %h2}, %r2;"));
}

#[test]
fn halves_are_numbers_if_floats_are() {
    becomes(
        "setp.nan.ftz.f16 %p1, %h1, %h2;",
        "{ .reg .f32 %wide0, %wide1; cvt.f32.f16 %wide0, %h1; cvt.f32.f16 %wide1, %h2; \
         setp.nan.f32 %p1, %wide0, %wide1; }",
    );
    assert!(
        rewritten("setp.num.or.f16 %p1|%p2, %h1, %h1, !%p0;")
            .unwrap()
            .contains("setp.num.or.f32 %p1|%p2, %wide0, %wide1, !%p0;")
    );
    let two = rewritten("setp.num.f16x2 %p1|%p2, %r1, %r2;").unwrap();
    assert!(two.contains("setp.num.f32 %p1, %a0, %b0; setp.num.f32 %p2, %a1, %b1;"), "{two}");
    assert!(two.contains("shr.u32 %upper, %r2, 16; cvt.u16.u32 %high, %upper;"), "{two}");
    let brain = rewritten("setp.nan.bf16 %p1, %h1, %h2;").unwrap();
    assert!(brain.contains("mov.b16 %zero, 0; mov.b32 %wide0, {%zero, %h1};"), "{brain}");
}

/// The rewrite of a conversion of a select, if the select stays.
fn converted(select: &str, conversion: &str) -> Option<String> {
    let text = rewritten(&format!("{select} {conversion}")).unwrap();
    let last = text.strip_prefix(select).unwrap().trim_start();
    (last != conversion).then(|| last.to_owned())
}

#[test]
fn selects_of_doubles_are_converted_as_selects_of_floats() {
    let select = "selp.f64 %d1, 0d3FF8000000000000, 0d402E400000000000, %p1;";
    let convert = "cvt.rn.f32.f64 %f1, %d1;";
    let of_floats = "selp.f32 %f1, 0f3FC00000, 0f41720000, %p1;";
    for other in ["", " setp.ne.f64 %p2, %d1, %d2;", " @%p1 bra L;", " L:"] {
        let (before, label) = (format!("{select}{other} "), if other == " @%p1 bra L;" { " L:" } else { "" });
        becomes(&format!("{before}{convert}{label}"), &format!("{before}{of_floats}{label}"));
    }
    // A loop's block may stand in the text before the block that enters it.
    becomes(&format!("{convert} {select}"), &format!("{of_floats} {select}"));
    for new in ["mov.f64 %d1, %d2;", "ld.global.v2.f64 {%d3, %d1}, [%d2];"] {
        stays(&format!("{select} {new} {convert}"));
    }
    // A tenth is no float.
    stays(&format!("{} {convert}", select.replace("0d3FF8000000000000", "0d3FB999999999999A")));
}

#[test]
fn bits_tell_which_of_two_it_is_where_the_predicate_may_be_another() {
    let select = "selp.f32 %f1, 0f00000001, 0f00000000, %p1; ";
    let convert = "cvt.rzi.u32.f32 %r1, %f1;";
    let by_bits = "{ .reg .b32 %bits; .reg .pred %first; mov.b32 %bits, %f1; setp.eq.b32 %first, %bits, 1; \
                   selp.b32 %r1, 0, 0, %first; }";
    let twice = "setp.eq.s32 %p1, %r3, 0; setp.eq.s32 %p1, %r2, 0; ";
    becomes(&format!("{select}{twice}{convert}"), &format!("{select}{twice}{by_bits}"));
    let hidden = "{ .reg .pred %p1; ";
    becomes(&format!("{select}{hidden}{convert} }}"), &format!("{select}{hidden}{by_bits} }}"));
}

#[test]
fn the_least_number_is_not_one() {
    let float = |conversion: &str| converted("selp.f32 %f1, 0f00000001, 0f00000000, %p1;", conversion);
    let wanted = |text: &str| Some(text.to_owned());
    assert_eq!(float("cvt.rzi.u32.f32 %r1, %f1;"), wanted("selp.b32 %r1, 0, 0, %p1;"));
    assert_eq!(float("cvt.rpi.s64.f32 %d1, %f1;"), wanted("selp.b64 %d1, 1, 0, %p1;"));
    assert_eq!(float("cvt.rpi.ftz.s32.f32 %r1, %f1;"), wanted("selp.b32 %r1, 0, 0, %p1;"));
    assert_eq!(float("cvt.rpi.f32.f32 %f2, %f1;"), wanted("selp.f32 %f2, 0f3F800000, 0f00000000, %p1;"));
    assert_eq!(float("cvt.f64.f32 %d1, %f1;"), wanted("selp.f64 %d1, 0d36A0000000000000, 0d0000000000000000, %p1;"));
    assert_eq!(float("cvt.rn.f16.f32 %h1, %f1;"), wanted("selp.b16 %h1, 0, 0, %p1;"));
    assert_eq!(float("cvt.rp.f16.f32 %h1, %f1;"), wanted("selp.b16 %h1, 1, 0, %p1;"));
    assert_eq!(float("cvt.rn.sat.bf16.f32 %h1, %f1;"), wanted("selp.b16 %h1, 0, 0, %p1;"));
    // A byte is in a register of 16 bits.
    assert_eq!(float("cvt.rpi.u8.f32 %h1, %f1;"), wanted("selp.b16 %h1, 1, 0, %p1;"));
    let half = |conversion: &str| converted("selp.u16 %h1, 0, 1, %p1;", conversion);
    assert_eq!(half("cvt.f32.f16 %f1, %h1;"), wanted("selp.f32 %f1, 0f00000000, 0f33800000, %p1;"));
    // An integer is one.
    assert_eq!(half("cvt.rn.f32.u16 %f1, %h1;"), None);
    let copied = converted("selp.u32 %r1, 1, 0, %p1; mov.b32 %f1, %r1;", "cvt.rzi.s32.f32 %r2, %f1;");
    assert_eq!(copied, wanted("selp.b32 %r2, 0, 0, %p1;"));
    let cut = converted("selp.b32 %r1, 1, 0, %p1; cvt.u16.u32 %h1, %r1;", "cvt.f32.f16 %f1, %h1;");
    assert_eq!(cut, wanted("selp.f32 %f1, 0f33800000, 0f00000000, %p1;"));
}

#[test]
fn less_than_zero_is_zero_without_a_sign() {
    let select = |conversion: &str| converted("selp.f32 %f1, 0fBF800000, 0f80000000, %p1;", conversion);
    assert_eq!(select("cvt.rzi.u32.f32 %r1, %f1;").as_deref(), Some("selp.b32 %r1, 0, 0, %p1;"));
    assert_eq!(select("cvt.rzi.s32.f32 %r1, %f1;"), None);
    assert_eq!(converted("selp.f32 %f1, 0fBF800000, %f2, %p1;", "cvt.rzi.u32.f32 %r1, %f1;"), None);
    // As an integer, which is negative.
    let bits = converted("selp.b32 %r2, -1082130432, 0, %p1; mov.b32 %f1, %r2;", "cvt.rzi.u32.f32 %r1, %f1;");
    assert_eq!(bits.as_deref(), Some("selp.b32 %r1, 0, 0, %p1;"));
}

/// A replacement may have an instruction of another row.
#[test]
fn replacements_are_rewritten_too() {
    becomes(
        "selp.f64 %d1, 0dBFF0000000000000, 0d0000000000000000, %p1; cvt.rn.f32.f64 %f1, %d1; cvt.rzi.u32.f32 %r1, %f1;",
        "selp.f64 %d1, 0dBFF0000000000000, 0d0000000000000000, %p1; selp.f32 %f1, 0fBF800000, 0f00000000, %p1; \
         selp.b32 %r1, 0, 0, %p1;",
    );
}

/// Each step is found when the one before it is rewritten.
#[test]
fn chains_may_be_long() {
    let steps = (1..100).map(|at| format!("cvt.sat.f32.f32 f{}, f{at};", at + 1)).collect::<Vec<_>>().join(" ");
    let selects = (1..101).map(|at| format!("selp.f32 f{at}, 0f00000001, 0f00000000, %p1;")).collect::<Vec<_>>();
    let registers = (1..101).map(|at| format!("f{at}")).collect::<Vec<_>>().join(", ");
    let registers = format!(".reg .f32 {registers}; ");
    becomes(&format!("{registers}{} {steps}", selects[0]), &format!("{registers}{}", selects.join(" ")));
}

#[test]
fn new_registers_have_names_that_are_free() {
    becomes(
        "{ .reg .b16 %wide; abs.s16 %wide, %wide; }",
        "{ .reg .b16 %wide; { .reg .b32 %new0; cvt.s32.s16 %new0, %wide; abs.s32 %new0, %new0; \
         cvt.u16.u32 %wide, %new0; } }",
    );
}

#[test]
fn a_form_without_a_rewrite_is_an_error_with_its_line() {
    let error = rewritten("\nneg.s16x2 %r1, %r2;").unwrap_err();
    assert_eq!(error.line, 8);
    assert!(error.what.contains("negation-of-16-bits") && error.what.contains("neg.s16x2 %r1, %r2;"), "{error}");
}
