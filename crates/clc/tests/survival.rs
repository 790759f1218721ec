//! The whole front end on what no program should be: damaged, deep, exponential. Whatever it is given, it reports or
//! yields a module that is well formed, in a moment, and never panics.

use cloom_clc::options::BuildOptions;
use cloom_clc::pp::NoIncludes;
use cloom_clc::{Input, Mode, Output, Target, compile};
use std::time::{Duration, Instant};

fn build(source: &str) -> Output {
    let (options, target) =
        (BuildOptions::default(), Target { fp16: source.len().is_multiple_of(2), ..Target::default() });
    let input =
        Input { name: "x.cl", source: source.as_bytes(), headers: &mut NoIncludes, options: &options, target: &target };
    let output = compile(input, if source.len().is_multiple_of(3) { Mode::Library } else { Mode::User });
    let log = output.log();
    assert!(log.len() < 1 << 20, "the messages have {} bytes", log.len());
    assert!(!log.contains("internal error"), "{log}\n{source}");
    if let Some(module) = &output.module {
        let errors = cloom_ir::verify::verify(module);
        assert!(errors.is_empty(), "{}\n{source}", errors[0]);
    }
    output
}

/// Builds within a time that is long for the machine and short for a person.
#[track_caller]
fn quick(what: &str, source: &str) -> Output {
    let start = Instant::now();
    let output = build(source);
    assert!(start.elapsed() < Duration::from_secs(20), "{what} took {:?}", start.elapsed());
    output
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n.max(1) as u64) as usize
    }
}

/// Splits into words and signs, so that damage gives programs that are wrong in meaning rather than in letters.
fn words(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut start = 0;
    let word = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    let chars: Vec<(usize, char)> = text.char_indices().collect();
    for pair in chars.windows(2) {
        if !(word(pair[0].1) && word(pair[1].1)) {
            out.push(&text[start..pair[1].0]);
            start = pair[1].0;
        }
    }
    out.push(&text[start..]);
    out
}

const CORPUS: &[&str] = &[
    include_str!("semantics/good.cl"),
    include_str!("semantics/types.cl"),
    include_str!("semantics/kernels.cl"),
    include_str!("semantics/statements.cl"),
    include_str!("semantics/calls.cl"),
    include_str!("../../filetest/run/lang/aggregates.cl"),
    include_str!("../../filetest/run/lang/operators.cl"),
    include_str!("../../filetest/run/lang/constants.cl"),
    include_str!("../../filetest/run/lang/control.cl"),
    include_str!("../../filetest/run/lang/pointers.cl"),
    include_str!("../../filetest/run/lang/vload.cl"),
    include_str!("../../filetest/run/lang/convert.cl"),
    include_str!("../../filetest/run/lang/atomics.cl"),
    include_str!("../../filetest/run/lang/swizzle.cl"),
];

#[test]
fn programs_with_wrong_words_are_survived() {
    let all: Vec<Vec<&str>> = CORPUS.iter().map(|c| words(c)).collect();
    let mut built = 0;
    for seed in 1..=400u64 {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut program = all[random.below(all.len())].clone();
        for _ in 0..1 + random.below(5) {
            let donor = &all[random.below(all.len())];
            let word = donor[random.below(donor.len())];
            let at = random.below(program.len());
            match random.below(4) {
                0 => drop(program.remove(at)),
                1 => program.insert(at, word),
                2 => {
                    let other = random.below(program.len());
                    program.swap(at, other);
                }
                _ => program[at] = word,
            }
        }
        let source = program.concat();
        let result = std::panic::catch_unwind(|| build(&source));
        match result {
            Ok(output) => built += usize::from(output.module.is_some()),
            Err(_) => panic!("seed {seed}:\n{source}"),
        }
    }
    assert!(built > 5, "damage that leaves a program whole must happen too: {built}");
}

#[test]
fn depth_is_survived() {
    for (open, close) in
        [("(", ")"), ("-", ""), ("!", ""), ("~", ""), ("1 + (", ")"), ("n ? n : ", ""), ("(long)(char)", "")]
    {
        let e = format!("{}n{}", open.repeat(300), close.repeat(300));
        quick(open, &format!("kernel void f(global int *o, int n) {{ o[0] = {e}; }}"));
    }
    let blocks = format!("{}n++;{}", "if (n) { ".repeat(100), "}".repeat(100));
    assert!(quick("blocks", &format!("int f(int n) {{ {blocks} return n; }}")).module.is_some());
    let sum = format!("int f(int n) {{ return n{}; }}", " + n".repeat(900));
    assert!(quick("sum", &sum).module.is_some());
    let functions: String = (1..3000).map(|i| format!("int f{i}(int n) {{ return f{}(n); }}\n", i - 1)).collect();
    assert!(quick("calls", &format!("int f0(int n) {{ return n; }}\n{functions}")).module.is_some());
    let chain: String = (1..30_000).map(|i| format!("constant void *constant p{i} = &p{};\n", i - 1)).collect();
    let chain = format!("constant int p0 = 1;\n{chain}kernel void f(global ulong *o) {{ o[0] = (ulong)p29999; }}");
    assert!(quick("constants", &chain).module.is_some());
    let pointer = format!("int f(int {}p) {{ return 0; }}", "*".repeat(50));
    assert!(quick("pointers", &pointer).module.is_some());
}

#[test]
fn growth_is_bounded() {
    let nested: String = (1..60).map(|i| format!("struct s{i} {{ struct s{} a, b; }};\n", i - 1)).collect();
    let bytes = format!("struct s0 {{ char c; }};\n{nested}kernel void f(struct s59 x) {{ }}");
    assert!(quick("structures", &bytes).module.is_none());
    let empty = format!("struct s0 {{ }};\n{nested}kernel void f(struct s59 x) {{ struct s59 y = {{0}}; }}");
    quick("empty structures", &empty);
    let sources = [
        "constant char a[1 << 29] = {1};",
        "constant char a[1 << 25] = {[1 << 24] = 1}; constant char b[1 << 25] = {1}; constant char c[1 << 25] = {1};",
        "kernel void f(void) { char a[1 << 30]; char b[1ul << 40]; char c[1ul << 62]; }",
        "typedef int a[1 << 20]; typedef a b[1 << 20]; typedef b c[1 << 20]; c *p;",
        "int f(void) { int a[][1 << 10] = {{1}, {[1000] = 2}}; return a[1][1]; }",
        "int f(int n) { switch (n) { case 0 ... 2000000000: return 1; case -5 ... -1: return 2; } return 3; }",
        "enum { A = 0x7fffffffffffffff, B, C }; int f(void) { return A + B; }",
        "constant int a = 1 << 77 >> -3; constant int b = -2147483647 - 1; constant int c = (-2147483647 - 1) / -1;",
        "constant long big = 9223372036854775807 + 1; constant uchar d = (uchar)1e30f; constant int e = (int)(0.0f / 0.0f);",
        "struct s { struct s a; }; union u { union u a[3]; int b; };",
        "typedef struct { struct { struct { int a; }; }; } t; int f(t x) { return x.a; }",
        "constant int *constant p = &((constant int *)0)[5]; constant int *constant q = &p[-1];",
        "void f(void) { f2(); } void f2(void); int g(void) { return sizeof(g); }",
        "kernel void f(global int *o) { o[sizeof(o[get_global_id(0)]++)] = sizeof(int[sizeof(int)]); }",
    ];
    for source in sources {
        quick(source, source);
    }
    for by in ["*", "[1]"] {
        let (star, brackets) = if by == "*" { ("*", "") } else { ("", by) };
        let chain: String = (1..50_000).map(|i| format!("typedef t{} {star}t{i}{brackets};\n", i - 1)).collect();
        assert!(quick(by, &format!("typedef int t0;\n{chain}void f(t49999 *p) {{ p = 1; }}")).module.is_none());
    }
    let data: String = (0..200_000).map(|i| format!("{i},")).collect();
    let table = format!("constant int t[] = {{{data}}}; kernel void f(global int *o) {{ o[0] = t[o[1]]; }}");
    assert!(quick("table", &table).module.is_some());
    let names: String = (0..20_000).map(|i| format!("int name_{i}(int a);\n")).collect();
    let unknown: String = (0..300).map(|i| format!("nome_{i}(1);")).collect();
    assert!(quick("names", &format!("{names}void f(void) {{ {unknown} }}")).module.is_none());
    let overloads: String = (0..2000)
        .map(|i| {
            format!("struct s{i} {{ int a; }}; int __attribute__((overloadable)) g(struct s{i} a) {{ return 0; }}\n")
        })
        .collect();
    quick("overloads", &overloads);
}

#[test]
fn generated_programs_may_be_deep() {
    let in_kernel = |body: &str| {
        format!(
            "#define G(a) ((a) + 1)\nint f(int a) {{ return a; }}\n\
             kernel void k(global int *a, global float *b, int x) {{ int y = 0; {body} }}"
        )
    };
    // Chains to the left: sums, products in sums, pointers, truths of scalars and vectors, commas, mixed types.
    for (first, next, many) in [
        ("a[0] = x", " + x", 20_000),
        ("b[0] = x", " + b[1] * b[2]", 10_000),
        ("b[0] = x", " + x - b[1]", 5_000),
        ("a[0] = x", " * 3 / x % 7", 3_000),
        ("a[0] = *(a", " + x", 10_000),
        ("a[0] = x", " && a[1]", 10_000),
        ("if (x", " || a[1]", 10_000),
        ("a[0] = ((int2)(x)", " && (int2)(a[1])", 10_000),
        ("y++", ", y++", 10_000),
        ("a[0] = x", " == a[1]", 10_000),
        ("a[0] = 1", " + 1", 10_000),
        ("int c[1", " + 1 - 1", 5_000),
        ("switch (x) { case 1", " + 1", 10_000),
    ] {
        let last = match first {
            _ if first.starts_with("if") => ") y++;",
            _ if first.starts_with("int c") => "]; a[0] = c[0] = y;",
            _ if first.starts_with("switch") => ": y++; }",
            _ if first.contains("*(a") => ");",
            _ if first.contains("((int2)") => ").x;",
            _ => ";",
        };
        let output = quick(first, &in_kernel(&format!("{first}{}{last}", next.repeat(many))));
        assert!(output.module.is_some(), "{first}{next}: {}", &output.log()[..200]);
    }
    // To the right and inwards.
    for (open, inner, close, many) in [
        ("x == 1 ? 2 : ", "3", "", 3000),
        ("a[x] = ", "3", "", 1100),
        ("(", "x", ")", 1100),
        ("- ", "x", "", 1100),
        ("f(", "x", ")", 1100),
        ("G(", "x", ")", 500),
        ("a[", "x", "]", 1000),
        ("(int)", "x", "", 1100),
    ] {
        let e = format!("{}{inner}{}", open.repeat(many), close.repeat(many));
        let output = quick(open, &in_kernel(&format!("a[0] = {e};")));
        assert!(output.module.is_some(), "{open}: {}", output.log());
    }
    for (open, inner, close, many) in [
        ("if (x) { ", "y++;", "}", 500),
        ("for (int i = 0; i < x; i++) { ", "y++;", "}", 500),
        ("while (x) { ", "y++;", "}", 500),
        ("{", "y++;", "}", 1000),
        ("if (x == 1) y++; else ", "y--;", "", 3000),
    ] {
        let output = quick(open, &in_kernel(&format!("{}{inner}{} a[0] = y;", open.repeat(many), close.repeat(many))));
        assert!(output.module.is_some(), "{open}: {}", output.log());
    }
    // Beyond the bounds there is a message, of a size that fits into the buffers of clients.
    for (open, inner, close) in [("G(", "x", ")"), ("(", "x", ")"), ("", "x", " + x"), ("x ? 2 : ", "x", "")] {
        let e = format!("{}{inner}{}", open.repeat(50_000), close.repeat(50_000));
        let output = quick(open, &in_kernel(&format!("a[0] = {e};")));
        assert!(output.module.is_none() && output.log().len() < 2000, "{open}: {}", output.log());
    }
    // Deep expressions in the statements of deep expressions.
    let many = "({ a".to_owned() + &"[0]".repeat(100);
    quick("statements", &in_kernel(&format!("a[0] = {}x{};", (many + " = ").repeat(40), "; })".repeat(40))));
}
