//! Where a product and a sum are one operation: where the target has one, and no pragma forbids it.

use cloom_clc::options::BuildOptions;
use cloom_clc::pp::NoIncludes;
use cloom_clc::{Input, Mode, Target, compile};
use cloom_ir::{BinOp, Op};

/// How many fused operations, products and sums of floats a source becomes.
fn operations(source: &str, fma: bool) -> [usize; 3] {
    let target = Target { fma, ..Target::default() };
    let options = BuildOptions::default();
    let input =
        Input { name: "t.cl", source: source.as_bytes(), headers: &mut NoIncludes, options: &options, target: &target };
    let output = compile(input, Mode::User);
    let module = output.module.as_ref().unwrap_or_else(|| panic!("{}", output.log()));
    let insts = || module.funcs.values().flat_map(|f| f.insts_in_layout().map(|(_, data)| &data.op));
    [Op::Fma, Op::Binary(BinOp::Fmul), Op::Binary(BinOp::Fadd)].map(|op| insts().filter(|o| **o == op).count())
}

const ONE: [usize; 3] = [1, 0, 0];
const TWO: [usize; 3] = [0, 1, 1];

fn function(body: &str) -> String {
    format!("float f(float a, float b, float c) {{ {body} }}")
}

#[test]
fn sums_of_products_are_fused_where_the_target_can() {
    let sources =
        ["return a * b + c;", "return c + a * b;", "c += a * b; return c;", "return mad(a, b, c);"].map(function);
    let double = "double3 f(double3 a, double3 b, double3 c) { return a * b + c; }".to_owned();
    for source in sources.iter().chain([&double]) {
        assert_eq!(operations(source, true), ONE, "{source}");
        assert_eq!(operations(source, false), TWO, "{source}");
    }
    let mix = function("return mix(a, b, c);");
    assert_eq!((operations(&mix, true), operations(&mix, false)), (ONE, TWO));
}

#[test]
fn a_pragma_forbids_it_and_never_demands_it() {
    let with = |state: &str| function(&format!("\n#pragma OPENCL FP_CONTRACT {state}\nreturn a * b + c;"));
    for (state, on_fast) in [("OFF", TWO), ("ON", ONE), ("DEFAULT", ONE)] {
        assert_eq!(operations(&with(state), true), on_fast, "{state}");
        assert_eq!(operations(&with(state), false), TWO, "{state}");
    }
}

#[test]
fn fma_is_one_rounding_everywhere() {
    for fma in [true, false] {
        assert_eq!(operations(&function("return fma(a, b, c);"), fma), ONE);
    }
}

#[test]
fn macros_tell_whether_it_is_fast() {
    let source = "#if defined FP_FAST_FMAF && defined FP_FAST_FMA\nfloat f(float a) { return fma(a, a, a); }\n
                  #elif !defined FP_FAST_FMAF && !defined FP_FAST_FMA\nfloat f(float a) { return a * a; }\n#endif";
    assert_eq!(operations(source, true), ONE);
    assert_eq!(operations(source, false), [0, 1, 0]);
}

/// Constant folding in semantic analysis rounds like compiled code: rounded once the remainder is 2^-46, rounded twice
/// it is 0.
#[test]
fn constants_are_rounded_alike() {
    for sum in ["0x1.000002p0f * 0x1.000002p0f - 0x1.000004p0f", "mad(0x1.000002p0f, 0x1.000002p0f, -0x1.000004p0f)"] {
        for (fma, rest) in [(true, "0x1p-46f"), (false, "0.0f")] {
            let source = format!("float f(float x) {{ int n[{sum} == {rest} ? 1 : -1]; return x; }}");
            assert_eq!(operations(&source, fma), [0; 3]);
        }
    }
}
