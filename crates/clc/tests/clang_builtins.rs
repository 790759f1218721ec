//! The functions that Clang has for every target: which are known, and what is said of others.

use cloom_clc::options::{BuildOptions, OptionSet};
use cloom_clc::pp::NoIncludes;
use cloom_clc::source::Diagnostics;
use cloom_clc::{Input, Mode, Output, Target, compile};

fn build(source: &str) -> Output {
    let options = BuildOptions::parse("-cl-std=CL3.0", OptionSet::Build, &mut Diagnostics::default());
    let target = Target::default();
    let input = Input {
        name: "main.cl",
        source: source.as_bytes(),
        headers: &mut NoIncludes,
        options: &options,
        target: &target,
    };
    let output = compile(input, Mode::User);
    if let Some(module) = &output.module {
        assert_eq!(cloom_ir::verify(module), [], "{source}");
    }
    output
}

fn codes(source: &str) -> Vec<&'static str> {
    build(source).diagnostics.iter().map(|d| d.code).collect()
}

#[test]
fn wrong_uses_are_refused() {
    for (use_, code) in [
        ("__builtin_popcount(1, 2)", "E0308"),
        ("__builtin_popcount((int2)(1))", "E0303"),
        ("__builtin_astype(x, int2)", "E0330"),
        ("__builtin_astype(x)", "E0308"),
        ("__builtin_convertvector((int4)(x), float2)", "E0330"),
        ("__builtin_convertvector(x, float)", "E0330"),
        ("__builtin_shufflevector((int2)(x), (int2)(1), 0, 4)", "E0312"),
        ("__builtin_shufflevector((int2)(x), (int2)(1), 0, x)", "E0314"),
        ("__builtin_shufflevector((int2)(x), (int2)(1), 0, 1, 2, 3, 0)", "E0312"),
        ("__builtin_choose_expr(x, 1, 2)", "E0314"),
        ("__builtin_memcpy(x, o, 4)", "E0308"),
        ("__builtin_expect(o, 0)", "E0303"),
        ("__builtin_expect((int2)(x), 0)", "E0303"),
        ("atomic_work_item_fence(o, memory_order_acquire, memory_scope_device)", "E0308"),
        ("atomic_work_item_fence((int2)(1), memory_order_acquire, memory_scope_device)", "E0308"),
        ("__builtin_alloca(x)", "E0300"),
        ("__builtin_ia32_pause()", "E0300"),
        ("__builtin_none(x)", "E0300"),
        ("__builtin_elementwise_bitreverse(1.0f)", "E0308"),
        ("__builtin_elementwise_bitreverse()", "E0308"),
        ("__builtin_elementwise_max()", "E0308"),
        ("__builtin_elementwise_max(x)", "E0308"),
        ("__builtin_reduce_add(x)", "E0308"),
        ("__builtin_reduce_max(x)", "E0308"),
        ("__builtin_reduce_max(o)", "E0308"),
        ("__builtin_reduce_min(printf)", "E0211"),
    ] {
        assert_eq!(
            codes(&format!("kernel void k(global int *o) {{ int x = o[0]; (void)({use_}); }}")),
            [code],
            "{use_}"
        );
    }
    let log = build("void f(void) { __builtin_alloca(4); }").log();
    assert!(log.contains("declare an array"), "{log}");
}

#[test]
fn constants_are_known_when_the_program_is_compiled() {
    let source = "constant float a = __builtin_inff(), b = __builtin_nanf(\"\"), c = __builtin_huge_valf();
        constant uint d = __builtin_bswap32(0x01020304);
        _Static_assert(__builtin_constant_p(3 + 4) && !__builtin_constant_p(get_global_id(0)), \"\");
        _Static_assert(__builtin_types_compatible_p(int, const int) && !__builtin_types_compatible_p(int, long), \"\");
        _Static_assert(__builtin_popcount(7) == 3 && __builtin_clz(1) == 31 && __builtin_bswap16(1) == 256, \"\");
        _Static_assert(__builtin_choose_expr(1, 2, (void)0) == 2 && __builtin_parity(7) == 1, \"\");";
    assert_eq!(codes(source), [""; 0], "{}", build(source).log());
}
