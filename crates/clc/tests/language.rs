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
    // What another program defines is no constant expression; two types for one name are an error.
    assert_eq!(codes(&build("extern constant int n; constant int m = n;")), ["E0314"]);
    assert_eq!(codes(&build("extern constant int n; constant float n = 1;")), ["E0302"]);
    assert_eq!(codes(&build("constant int n = 1; constant int n = 1;")), ["E0301"]);
    assert_eq!(codes(&build("extern constant int n[2]; kernel void k() { extern constant int n[3]; }")), ["E0302"]);
    assert_eq!(codes(&build("constant int n;")), ["E0315"]);
    accepted("extern constant int n[2]; constant int n[] = {1, 2}; kernel void k(global int *p) { p[0] = sizeof(n); }");
}
