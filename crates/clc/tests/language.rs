//! Rules of the language, one test each: a source is compiled, and its diagnostics or its IR are looked at.

use cloom_clc::options::{BuildOptions, OptionSet};
use cloom_clc::pp::NoIncludes;
use cloom_clc::source::Diagnostics;
use cloom_clc::{Input, Mode, Output, Target, compile};

fn build_for(target: &Target, source: &str, options: &str) -> Output {
    let mut diags = Diagnostics::default();
    let options = BuildOptions::parse(options, OptionSet::Build, &mut diags);
    assert!(!diags.has_errors(), "the options of the test are wrong");
    let input =
        Input { name: "main.cl", source: source.as_bytes(), headers: &mut NoIncludes, options: &options, target };
    let output = compile(input, Mode::User);
    if let Some(module) = &output.module {
        assert_eq!(cloom_ir::verify(module), [], "{source}");
    }
    output
}

fn build(source: &str) -> Output {
    build_for(&Target::default(), source, "")
}

/// The codes of the diagnostics, in order.
fn codes(output: &Output) -> Vec<&'static str> {
    output.diagnostics.iter().map(|d| d.code).collect()
}

/// Compiles without a diagnostic; gives the IR as text.
fn accepted(source: &str) -> String {
    let output = build(source);
    assert!(codes(&output).is_empty(), "{}", output.log());
    output.module.unwrap().to_string()
}

#[test]
fn the_scope_of_all_devices_has_two_names_where_the_feature_is() {
    let source = "kernel void k(global atomic_int *a) {
        atomic_store_explicit(a, memory_scope_all_devices == memory_scope_all_svm_devices, memory_order_seq_cst,
                              memory_scope_all_devices);
        atomic_fetch_add_explicit(a, 1, memory_order_relaxed, memory_scope_all_svm_devices);
    }";
    accepted(source);
    let mut target = Target::default();
    target.features.retain(|f| f != "__opencl_c_atomic_scope_all_devices");
    let output = build_for(&target, source, "");
    assert!(codes(&output).iter().all(|&c| c == "E0300") && output.module.is_none(), "{}", output.log());
}

#[test]
fn external_constants_are_declared_defined_and_kept() {
    let ir = accepted(
        "extern constant int n;
         extern constant int list[];
         extern constant int unused;
         constant int n = 3;
         constant int alone = 4;
         static constant int own = 5;
         kernel void k(global int *p) { extern constant int list[]; p[0] = n + list[1] + own; }",
    );
    assert!(ir.contains("global external @n constant size 4") && ir.contains("global external @alone"), "{ir}");
    assert!(ir.contains("global import @list constant size 0 align 4"), "{ir}");
    assert!(!ir.contains("unused") && ir.contains("global @own"), "{ir}");
    // A variable of another program is no constant expression; two types for one name are an error.
    assert_eq!(codes(&build("extern constant int n; constant int m = n;")), ["E0314"]);
    assert_eq!(codes(&build("extern constant int n; constant float n = 1;")), ["E0302"]);
    assert_eq!(codes(&build("constant int n = 1; constant int n = 1;")), ["E0301"]);
    assert_eq!(codes(&build("extern constant int n[2]; kernel void k() { extern constant int n[3]; }")), ["E0302"]);
    assert_eq!(codes(&build("constant int n;")), ["E0315"]);
    accepted("extern constant int n[2]; constant int n[] = {1, 2}; kernel void k(global int *p) { p[0] = sizeof(n); }");
}

#[test]
fn values_beyond_the_end_of_an_object_are_dropped_with_a_warning() {
    for (source, want) in [
        ("int a[2] = {1, 2, 3, nothing, {4}};", &["W0308", "E0300"][..]),
        ("int a[2] = {1, 2, 3, 4};", &["W0308"]),
        ("int a = {1, 2};", &["W0308"]),
        ("struct { int x, y; } s = {1, 2, 3};", &["W0308"]),
        ("struct { int x[2]; } s[2] = {{{1, 2, 3}}, {{4}, 5}};", &["W0308", "W0308"]),
        ("union { int x; float y; } u = {1, 2};", &["W0308"]),
        ("char s[2] = \"abc\";", &["W0308"]),
        ("char s[3] = \"abc\";", &[]),
        ("int2 v = {1, 2, 3};", &["E0315"]),
        ("int2 v = (int2)(1, 2, 3);", &["E0313"]),
    ] {
        let output = build(&format!("kernel void k() {{ {source} }}"));
        assert_eq!(codes(&output), want, "{source}\n{}", output.log());
        assert_eq!(output.module.is_none(), output.diagnostics.has_errors());
    }
    let output = build("constant int a[2] = {1, 2, 3}; kernel void k() {}");
    assert!(output.module.unwrap().to_string().contains("@a constant size 8 align 4 init x\"0100000002\""));
    let error = build_for(&Target::default(), "constant int a[2] = {1, 2, 3};", "-Werror");
    assert!(error.module.is_none());
}

#[test]
fn ranges_in_initial_values_are_checked_and_bounded() {
    let ir = accepted("constant short a[] = {[1 ... 3] = 7, 8, [0] = 9, [2] = 5}; kernel void k() {}");
    assert!(ir.contains("@a constant size 10 align 2 init x\"090007000500070008\""), "{ir}");
    // A list that is named again begins anew; members that a range named one by one keep the rest.
    let ir = accepted(
        "struct p { char x, y; };
         constant struct p b[4] = {[0 ... 3] = {1, 2}, [1] = {3}, [2 ... 3].y = 9};
         constant char c[2][3] = {[0 ... 1][1 ... 2] = 4};
         constant char *constant d[3] = {[0 ... 2] = &c[1][0]};
         kernel void k() {}",
    );
    assert!(ir.contains("@b constant size 8 align 1 init x\"0102030001090109\""), "{ir}");
    assert!(ir.contains("@c constant size 6 align 1 init x\"000404000404\""), "{ir}");
    assert!(ir.contains("reloc 0 @c + 3 reloc 8 @c + 3 reloc 16 @c + 3"), "{ir}");
    // A scalar is the value of all components of a vector whose braces are left out.
    let ir = accepted("struct v { char2 a; char b, c; }; constant struct v e = {1, .c = 3}; kernel void k() {}");
    assert!(ir.contains("@e constant size 4 align 2 init x\"01010003\""), "{ir}");
    for (source, want) in [
        ("int a[4] = {[1 ... 4] = 1};", "E0315"),
        ("int a[4] = {[2 ... 1] = 1};", "E0315"),
        ("int a[4] = {[-1 ... 1] = 1};", "E0315"),
        ("int a[4] = {[0 ... n] = 1};", "E0314"),
        ("int2 a = {[0 ... 1] = 1};", "E0315"),
        ("int a = {.x = 1};", "E0315"),
        ("struct { int x; int y; } a[2][2] = {[0 ... 1][0 ... 1].x = 1};", "E0315"),
        ("int a[] = {[0 ... 1000000000] = 1};", "E0315"),
        ("int a[] = {[0 ... 99999999999999] = 1};", "E0315"),
        ("constant char a[] = {[0 ... 1000000000] = 1};", "E0325"),
        ("char a[] = {[0 ... 100000000] = 1};", "E0325"),
    ] {
        let output = build(&format!("kernel void k(int n) {{ {source} }}"));
        assert_eq!(codes(&output), [want], "{source}\n{}", output.log());
    }
    // As much work as memory allows, and more than that.
    let big = "constant char a[] = {[0 ... 5000000] = 1}; kernel void k() {}";
    assert_eq!(accepted(big).matches("global external @a constant size 5000001").count(), 1);
    let mut again = String::from("constant char a[][50000000] = {");
    (0..2000).for_each(|_| again += "[0] = {[0 ... 49999999] = 1},");
    assert_eq!(codes(&build(&(again + "};"))), ["E0325"]);
}

#[test]
fn vectors_by_attribute_are_the_built_in_ones() {
    accepted(
        "typedef float f4 __attribute__((ext_vector_type(4)));
         typedef __attribute__((__ext_vector_type__(3))) uchar u3;
         typedef short s8 __attribute__((ext_vector_type(2 * 4)));
         typedef int i2 __attribute__((ext_vector_type(2))), *ip;
         typedef long l16 __attribute__((ext_vector_type(16)));
         float4 twice(f4 v) { return 2 * v; }
         _Static_assert(sizeof(u3) == 4 && sizeof(s8) == 16 && sizeof(l16) == 128 && sizeof(*(ip)0) == 4, \"\");
         struct s { float v __attribute__((ext_vector_type(2))); u3 u; };
         _Static_assert(sizeof(struct s) == 16, \"\");
         kernel void k(global f4 *a, global i2 *b) {
             struct s s = {(float2)(1, 2), (u3)(1, 2, 3)};
             float4 v = twice(a[0]);
             a[0] = (f4)(v.xy, s.v.yx) + dot(v, a[1]) + convert_float4(as_int4(v)).wzyx;
             b[0] = convert_int2(s.u.xy) < (i2)(1, 2);
         }",
    );
    for (source, want) in [
        ("typedef float f __attribute__((ext_vector_type(5)));", "E0328"),
        ("typedef float f __attribute__((ext_vector_type(1)));", "E0328"),
        ("typedef float f __attribute__((ext_vector_type(0)));", "E0328"),
        ("typedef float f __attribute__((ext_vector_type(-4)));", "E0328"),
        ("typedef float f __attribute__((ext_vector_type(260)));", "E0328"),
        ("typedef float f __attribute__((ext_vector_type));", "E0328"),
        ("typedef int2 f __attribute__((ext_vector_type(2)));", "E0328"),
        ("typedef bool f __attribute__((ext_vector_type(2)));", "E0328"),
        ("typedef int *f __attribute__((ext_vector_type(2)));", "E0328"),
    ] {
        let output = build(&format!("{source} kernel void k(global f *p) {{ p[0] = p[1]; }}"));
        assert_eq!(codes(&output), [want], "{source}\n{}", output.log());
    }
}

#[test]
fn extensions_that_are_not_there_are_warned_about() {
    let pragma = |text: &str| build(&format!("#pragma OPENCL EXTENSION {text}\nkernel void k() {{}}"));
    for known in ["cl_khr_fp64 : enable", "cl_khr_fp64 : disable", "all : disable", "cl_foo : begin", "cl_foo : end"] {
        assert!(codes(&pragma(known)).is_empty(), "{known}");
    }
    for (text, code, words) in [
        ("cl_khr_fancy : enable", "W0309", "not supported by this device"),
        ("cl_khr_fancy : disable", "W0309", "not supported by this device"),
        ("cl_khr_pf64 : enable", "W0309", "did you mean `cl_khr_fp64`"),
        ("fancy : enable", "W0309", "unknown extension `fancy`"),
        ("all : enable", "W0309", "cannot be enabled"),
        ("cl_khr_fp64 : require", "W0103", "neither `enable` nor `disable`"),
    ] {
        let output = pragma(text);
        assert_eq!(codes(&output), [code], "{text}");
        assert!(output.log().contains(words) && output.module.is_some(), "{}", output.log());
    }
    let inside = "kernel void k() {\n#pragma OPENCL EXTENSION cl_khr_fancy : enable\n}";
    assert_eq!(codes(&build(inside)), ["W0309"]);
    assert!(build_for(&Target::default(), inside, "-Werror").module.is_none());
    assert!(codes(&build_for(&Target::default(), inside, "-w")).is_empty());
}

#[test]
fn values_that_nobody_uses_are_warned_about() {
    let body = |text: &str| {
        build(&format!(
            "int call(int x) {{ return x; }}
             kernel void k(global int *p, global float4 *v, volatile global int *w, global atomic_int *n) {{
                 int a = p[0], b = p[1]; float f = v[0].x; {text}
             }}"
        ))
    };
    for unused in [
        "a == b;",
        "(a == b);",
        "f != 1.0f;",
        "a + 1;",
        "-a;",
        "!a;",
        "a;",
        "p[a++];",
        "*p;",
        "v[0].xy;",
        "&a;",
        "(int)f;",
        "(float4)(1, 2, 3, f);",
        "a ? b : 1;",
        "a && b;",
        "a = 1, b;",
        "b, a = 1;",
        "for (a = 0; a < 3; a + 1) {}",
        "if (a) b + 1;",
        "sin(f);",
        "get_global_id(0);",
        "convert_int_sat(f);",
        "vload4(0, p);",
        "3;",
    ] {
        let output = body(unused);
        assert_eq!(codes(&output), ["W0304"], "{unused}\n{}", output.log());
    }
    for used in [
        "(void)a;",
        "(void)(a == b);",
        "a = b;",
        "a += b, b++;",
        "--a;",
        "call(1);",
        "(float)call(1);",
        "a && call(b);",
        "a ? call(a) : 0;",
        "a ?: call(a);",
        "*w;",
        "w[1];",
        "atomic_inc(p);",
        "(uint)atomic_add(p, 1);",
        "atomic_fetch_add(n, 1);",
        "atomic_flag_test_and_set((global atomic_flag *)n);",
        "fract(f, &f);",
        "barrier(CLK_LOCAL_MEM_FENCE);",
        "work_group_reduce_add(a);",
        "sub_group_ballot(a);",
        "printf(\"x\");",
        "mem_fence(CLK_LOCAL_MEM_FENCE);",
        "({ a = 1; a; });",
        "if (a == b) { call(a), call(b); }",
        "while (call(a), a) a = 0;",
        "for (a = 0, b = 1; a < b; a++, b--) {}",
    ] {
        let output = body(used);
        assert!(codes(&output).is_empty(), "{used}\n{}", output.log());
    }
}

/// The default target, with or without arithmetic on `half`.
fn with_halves(fp16: bool) -> Target {
    let mut target = Target { fp16, ..Target::default() };
    target.features.retain(|f| f != "cl_khr_fp16");
    if fp16 {
        target.features.push("cl_khr_fp16".into());
    }
    target
}

#[test]
fn without_the_extension_halves_are_stored_and_loaded_only() {
    let (without, with) = (with_halves(false), with_halves(true));
    for (statement, code) in [
        ("half h;", "E0326"),
        ("half2 h;", "E0326"),
        ("f[0] = 1.0h;", "E0326"),
        ("f[0] = p[0];", "E0326"),
        ("f[0] = *p + 1;", "E0326"),
        ("p[0] = 1;", "E0326"),
        ("f[0] = (half)f[0];", "E0326"),
        ("f[0] = convert_half(f[0]);", "E0326"),
        ("f[0] = as_half(1);", "E0326"),
        ("f[0] = read_imageh(i, 0).x;", "E0326"),
        ("f[0] = M_PI_H;", "E0300"),
    ] {
        let source = format!("kernel void k(global half *p, global float *f, image1d_t i) {{ {statement} }}");
        let output = build_for(&without, &source, "");
        assert!(codes(&output).contains(&code) && output.module.is_none(), "{statement}: {}", output.log());
        let output = build_for(&with, &source, "");
        let wanted: &[&str] = if statement.contains("as_half") { &["E0330"] } else { &[] };
        assert_eq!(codes(&output), wanted, "{statement}: {}", output.log());
    }
    let memory = "kernel void k(global half *p) { vstore_half(vload_half(0, p), 1, p); }";
    assert!(codes(&build_for(&without, memory, "")).is_empty());
    let macros = "#if defined(cl_khr_fp16) || defined(HALF_MAX) || defined(M_PI_H)\n#error\n#endif";
    assert!(codes(&build_for(&without, macros, "")).is_empty());
    assert!(!codes(&build_for(&with, macros, "")).is_empty());
}

#[test]
fn sums_of_products_of_halves_are_not_contracted() {
    let target = Target { fma: true, ..with_halves(true) };
    let source =
        "kernel void k(global half *h, global float *f) { h[0] = h[1] * h[2] + h[3]; f[0] = f[1] * f[2] + f[3]; }";
    let ir = build_for(&target, source, "").module.unwrap().to_string();
    assert!(ir.contains("fmul") && ir.contains("fadd") && ir.matches(" fma").count() == 1, "{ir}");
}

#[test]
fn what_clang_takes_beyond_the_standard_is_taken() {
    accepted(
        "int f(int a, int) { return a; }
         struct s { int x, y; };
         kernel void k(global int *o) {
             struct s v = {y: 4, x: 1};
             __asm__ volatile(\"\" ::: \"memory\");
             o[0] = f(v.x, v.y) + (int)2.5L + (int)1.5f16;
         }",
    );
    // Taken, but hardly meant.
    for (statement, code) in
        [("if (o == 4) o[0] = 1;", "W0303"), ("o[0] = 3l > o;", "W0303"), ("printf(\"%d %ld %f\", 1);", "W0302")]
    {
        let output = build(&format!("kernel void k(global int *o) {{ {statement} }}"));
        assert_eq!((codes(&output), output.module.is_some()), (vec![code], true), "{}", output.log());
    }
    for (statement, code) in [("asm(\"nop\");", "E0209"), ("printf(\"%d %s\", 1);", "E0331")] {
        let output = build(&format!("kernel void k(global int *o) {{ {statement} }}"));
        assert_eq!(codes(&output), [code], "{}", output.log());
    }
}

#[test]
fn a_repeated_prototype_means_the_builtin_function() {
    let source = |more: &str| {
        format!(
            "int __attribute__((overloadable)) mul24(int, int);
             float4 __attribute__((overloadable)) fmax(float4, float4);
             kernel void k(global int *o, global float4 *p) {{ o[0] = mul24(o[1], 7); p[0] = fmax(p[1], p[2]); }} {more}"
        )
    };
    let ir = accepted(&source(""));
    assert!(ir.contains("func") && !ir.contains("declare internal"), "{ir}");
    for name in ["mul24.user.i32.i32", "fmax.user"] {
        let line = ir.lines().find(|l| l.contains(name) && l.contains('{')).unwrap_or_else(|| panic!("{name}: {ir}"));
        assert!(line.contains("internal"), "{line}");
    }
    // One that the program defines after all is its own.
    accepted(&source("int __attribute__((overloadable)) mul24(int a, int b) { return a - b; }"));
}

#[test]
fn a_choice_without_a_middle_is_constant_if_its_operands_are() {
    let ir = accepted(
        "constant int x = 1 ?: 2, y = 0 ?: 3;
         constant float f = 0.0f ?: 2.5f;
         constant int4 v = (int4)(0, 1, 0, -2) ?: (int4)(5);
         constant int *constant p = &x ?: 0, *constant q = (constant int *)0 ?: &y;
         constant int z = x ?: y, nested = ((0 ?: 0) ?: 0) ?: 7;
         constant ulong size = sizeof(0 ?: 2.5);
         enum { A = 0 ?: 6 };
         _Static_assert((1 ?: 0) && A == 6, \"\");
         kernel void k(global int *o) {
             int a[3 ?: 1];
             const int n = 0 ?: 4;
             int b[n ?: 2];
             _Static_assert(sizeof(a) == 12 && sizeof(b) == 16, \"\");
             switch (o[0]) { case 0 ?: 8: o[1] = 3; }
             o[2] = x + y + z + nested + v.x + *p + *q + size + f;
         }",
    );
    for (name, bytes) in [
        ("x", "01"),
        ("y", "03"),
        ("f", "00002040"),
        ("v", "050000000500000005000000feffffff"),
        ("z", "01"),
        ("nested", "07"),
        ("size", "08"),
    ] {
        let line = ir.lines().find(|l| l.contains(&format!("@{name} constant"))).unwrap_or_else(|| panic!("{ir}"));
        assert!(line.ends_with(&format!("init x\"{bytes}\"")), "{line}");
    }
    assert!(ir.contains("reloc 0 @x") && ir.contains("reloc 0 @y"), "{ir}");
    for (source, want) in [
        ("_Static_assert(0 ?: 0, \"\");", "E0327"),
        ("extern constant int n; constant int m = n ?: 2;", "E0314"),
        ("extern constant int n; constant int a[n ?: 2] = {1};", "E0317"),
        ("struct s { int x; }; constant struct s s = {1}; constant int m = s ?: 2;", "E0304"),
        ("constant float4 m = (float4)(1) ?: (float4)(2);", "E0304"),
    ] {
        let output = build(source);
        assert_eq!(codes(&output), [want], "{source}\n{}", output.log());
    }
    accepted("extern constant int n; constant int m = sizeof(n ?: 2L);");
}

#[test]
fn a_shuffle_takes_vectors_only() {
    for use_ in [
        "shuffle(o, (uint4)(1))",
        "shuffle(s, (uint4)(1))",
        "shuffle(o[0], (uint4)(1))",
        "shuffle((int3)(1), (uint4)(1))",
        "shuffle((int4)(1), o)",
        "shuffle((int4)(1), 1u)",
        "shuffle((int4)(1), (int4)(1))",
        "shuffle2((int4)(1), (int4)(2), o)",
        "shuffle2(o, o, (uint4)(1))",
    ] {
        let output = build(&format!(
            "struct s {{ int x; }}; kernel void k(global int *o) {{ struct s s = {{1}}; (void)({use_}); }}"
        ));
        assert_eq!(codes(&output), ["E0308"], "{use_}\n{}", output.log());
    }
}

#[test]
fn alignments_that_cannot_be_are_refused() {
    for (alignment, want) in [
        ("3", "E0328"),
        ("-1", "E0328"),
        ("8192", "E0328"),
        ("1L << 40", "E0328"),
        ("o[0]", "E0314"),
        ("o", "E0314"),
        ("1.0f", "E0314"),
        ("nothing", "E0300"),
    ] {
        let output = build(&format!("kernel void k(global int *o) {{ _Alignas({alignment}) int x = 1; o[1] = x; }}"));
        assert_eq!(codes(&output), [want], "{alignment}\n{}", output.log());
    }
    let ir = accepted("kernel void k(global int *o) { _Alignas(0) _Alignas(64) _Alignas(16) int x = 1; o[1] = x; }");
    assert!(ir.contains("alloca 4 align 64"), "{ir}");
}

#[test]
fn members_have_the_alignment_that_is_written() {
    accepted(
        "struct s { char c; _Alignas(16) int x; _Alignas(long) int y; };
         _Static_assert(sizeof(struct s) == 32 && _Alignof(struct s) == 16, \"\");
         _Static_assert(offsetof(struct s, x) == 16 && offsetof(struct s, y) == 24, \"\");",
    );
    assert_eq!(codes(&build("struct s { _Alignas(3) int x; };")), ["E0328"]);
}

#[test]
fn an_external_variable_of_a_function_has_no_initial_value() {
    for source in [
        "constant int x = 1; kernel void k(global int *o) { extern constant int x = 2; o[0] = x; }",
        "extern constant int x; kernel void k(global int *o) { extern constant int x = 2; o[0] = x; }",
        "kernel void k(global int *o) { extern constant int x = 2; o[0] = x; }",
    ] {
        let output = build(source);
        assert_eq!(codes(&output), ["E0315"], "{source}\n{}", output.log());
    }
    let output = build_for(&Target::default(), "void f(void) { extern global int x = 2; x++; }", "-cl-std=CL3.0");
    assert_eq!(codes(&output), ["E0315"], "{}", output.log());
    let ir = accepted("extern constant int x = 2; kernel void k(global int *o) { extern constant int x; o[0] = x; }");
    assert!(ir.contains("global external @x constant size 4 align 4 init x\"02\""), "{ir}");
}

#[test]
fn an_external_declaration_means_the_static_variable_before_it() {
    let ir = accepted(
        "static constant int x = 7;
         extern constant int x;
         kernel void k(global int *o) { extern constant int x; o[0] = x; }",
    );
    assert!(ir.contains("global @x constant size 4 align 4 init x\"07\"") && !ir.contains("import"), "{ir}");
    let other = "static constant int x = 7; kernel void k(global int *o) { extern constant float x; o[0] = x; }";
    assert_eq!(codes(&build(other)), ["E0302"]);
    assert_eq!(codes(&build("static constant int x = 7; constant int x = 8;")), ["E0301"]);
}

#[test]
fn samplers_of_program_scope_are_constants_with_a_value() {
    let read = |declarations: &str, statements: &str, options: &str| {
        let source = format!(
            "{declarations}
             kernel void k(read_only image2d_t i, global float4 *o) {{
                 {statements} o[0] = read_imagef(i, s, (int2)(0));
             }}"
        );
        build_for(&Target::default(), &source, options)
    };
    for options in ["", "-cl-std=CL2.0", "-cl-std=CL3.0"] {
        for without in ["sampler_t s;", "const sampler_t s;", "constant sampler_t s;", "static const sampler_t s;"] {
            let output = read(without, "", options);
            assert_eq!(codes(&output), ["E0315"], "{options} {without}\n{}", output.log());
            assert!(output.log().contains("sampler `s` has no initial value"), "{}", output.log());
        }
        for with in [
            "constant sampler_t s = CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;",
            "const sampler_t s = CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;",
            "static const sampler_t s = CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;",
            "sampler_t s = CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;",
            "__constant const sampler_t s = CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;",
            "constant sampler_t a = 4, s = a;",
            "extern constant sampler_t s;",
            "extern const sampler_t s;",
            "extern const sampler_t s; const sampler_t s = 4;",
        ] {
            let output = read(with, "", options);
            assert!(codes(&output).is_empty(), "{options} {with}\n{}", output.log());
        }
        let output = read("", "constant sampler_t t = 4; const sampler_t s = t;", options);
        assert!(codes(&output).is_empty(), "{options}\n{}", output.log());
        assert_eq!(codes(&read("int n(void) { return 4; } const sampler_t s = n();", "", options)), ["E0314"]);
    }
    let output = read("", "static const sampler_t s = 4;", "-cl-std=CL3.0");
    assert!(codes(&output).is_empty(), "{}", output.log());
    assert_eq!(codes(&read("", "static sampler_t s;", "-cl-std=CL3.0")), ["E0315"]);
}
