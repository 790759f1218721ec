//! The work that a private array makes for the compiler grows with its elements, not with elements times lanes, and
//! with nothing at all where the elements are constants.
//!
//! Counted are the instructions of the module as the front end writes it, and of the work-group function: LLVM's time
//! follows from them, and does not depend on the machine's load as a clock does. How the instructions are spread over
//! blocks matters as well, as LLVM's scheduler takes quadratic time for a block, so that the largest block is counted
//! too.

use cloom_filetest::ladder::{Code, Ladder};
use cloom_filetest::rungs::{Stage, prepare};
use cloom_ir::Function;
use cloom_spmd::VectorOptions;

/// What may be written for an object of `n` elements: in all, so many instructions for each element and some more.
struct Bound {
    per_element: usize,
    others: usize,
}

/// For few and for many elements, which need other code.
const SIZES: [usize; 8] = [4, 8, 16, 32, 64, 128, 256, 512];
/// The lanes of a vector of 16-bit numbers in the largest registers.
const LANES: u16 = 16;

/// A list of `n` values: constants, or with `x` in each.
fn list(n: usize, x: &str) -> String {
    (0..n).map(|i| format!("{x}{}", i * 7 + 1)).collect::<Vec<_>>().join(", ")
}

/// A sum of elements of an array, in a loop that is not unrolled.
fn sum(array: &str) -> String {
    format!("int s = 0; for (int j = 0; j < in[0]; j++) s += (int){array} * (j + x); out[i] = s;")
}

fn kernel(types: &str, body: &str) -> String {
    format!(
        "{types} kernel void k(global int *out, global const int *in) {{ int i = get_global_id(0), x = in[i]; {body} }}"
    )
}

type Source = fn(usize) -> String;

/// Kernels with an object of `n` elements, and the instructions that its initial value may take.
const KERNELS: [(&str, Bound, Source); 13] = [
    ("constants that are only read", Bound { per_element: 0, others: 250 }, |n| {
        kernel("", &format!("const int b[{n}] = {{ {} }}; {}", list(n, ""), sum(&format!("b[j & x & {}]", n - 1))))
    }),
    ("constants", Bound { per_element: 0, others: 300 }, |n| {
        kernel(
            "",
            &format!(
                "int b[{n}] = {{ {} }}; b[x & {}] += i; {}",
                list(n, ""),
                n - 1,
                sum(&format!("b[j & {}]", n - 1))
            ),
        )
    }),
    ("values", Bound { per_element: 8, others: 150 }, |n| {
        kernel(
            "",
            &format!(
                "int b[{n}] = {{ {} }}; b[x & {}] += i; {}",
                list(n, "x + "),
                n - 1,
                sum(&format!("b[j & {}]", n - 1))
            ),
        )
    }),
    ("element by element", Bound { per_element: 6, others: 180 }, |n| {
        let stores: String = (0..n).map(|j| format!("b[{j}] = {};", j * 7)).collect();
        kernel("", &format!("int b[{n}]; {stores} b[x & {}] += i; {}", n - 1, sum(&format!("b[j & {}]", n - 1))))
    }),
    ("zeros", Bound { per_element: 0, others: 300 }, |n| {
        kernel("", &format!("int b[{n}] = {{ 0 }}; b[x & {}] += i; {}", n - 1, sum(&format!("b[j & {}]", n - 1))))
    }),
    ("holes", Bound { per_element: 0, others: 300 }, |n| {
        kernel(
            "",
            &format!(
                "int b[{n}] = {{ [1] = 3, [{}] = x }}; b[x & {}] += i; {}",
                n - 1,
                n - 1,
                sum(&format!("b[j & {}]", n - 1))
            ),
        )
    }),
    ("a branch", Bound { per_element: 1, others: 500 }, |n| {
        let list = list(n, "");
        kernel(
            "",
            &format!(
                "if (x & 1) {{ int b[{n}] = {{ {list} }}; b[x & {}] += i; {} }}",
                n - 1,
                sum(&format!("b[j & {}]", n - 1))
            ),
        )
    }),
    ("a structure", Bound { per_element: 0, others: 600 }, |n| {
        kernel(
            &format!("struct S {{ double d; int n; char c[8]; int b[{n}]; float f; }};"),
            &format!(
                "struct S v = {{ 2.5, 3, {{ 1, 2 }}, {{ {} }}, 1.5f }}; v.b[x & {}] += i; v.c[x & 7] = i; {}
                 out[i] += v.c[i & 7] + (int)(v.d * v.f);",
                list(n, ""),
                n - 1,
                sum(&format!("v.b[j & {}]", n - 1))
            ),
        )
    }),
    ("structures of vectors", Bound { per_element: 16, others: 500 }, |n| {
        let n = n / 4;
        let points: Vec<String> = (0..n).map(|j| format!("{{ (float4)({j}, 2, x, 4), {j} }}")).collect();
        kernel(
            "typedef struct { float4 at; int id; } point;",
            &format!(
                "point b[{n}] = {{ {} }}; b[x & {}].id += i; {}",
                points.join(", "),
                n.max(1) - 1,
                sum(&format!("(b[j & {0}].at.z + b[j & {0}].id)", n.max(1) - 1))
            ),
        )
    }),
    // What follows is laid out by lane.
    ("constants, one of two", Bound { per_element: 0, others: 500 }, |n| {
        kernel(
            "",
            &format!(
                "int b[{n}] = {{ {} }}, c[{n}] = {{ 0 }}; int *p = x & 1 ? b : c; {}",
                list(n, ""),
                sum(&format!("p[j & {}]", n - 1))
            ),
        )
    }),
    ("values, one of two", Bound { per_element: 16, others: 650 }, |n| {
        kernel(
            "",
            &format!(
                "int b[{n}] = {{ {} }}, c[{n}] = {{ 0 }}; int *p = x & 1 ? b : c; {}",
                list(n, "x + "),
                sum(&format!("p[j & {}]", n - 1))
            ),
        )
    }),
    ("values, over a barrier", Bound { per_element: 20, others: 700 }, |n| {
        kernel(
            "",
            &format!(
                "int b[{n}] = {{ {} }}; b[x & {}] += i; barrier(CLK_LOCAL_MEM_FENCE); {}",
                list(n, "x + "),
                n - 1,
                sum(&format!("b[j & {}]", n - 1))
            ),
        )
    }),
    ("without alignment", Bound { per_element: 16, others: 750 }, |n| {
        kernel(
            &format!("struct __attribute__((packed)) P {{ char c; int n[{n}]; }};"),
            &format!(
                "struct P b = {{ i, {{ {} }} }}; b.n[x & {}] += b.c; {}",
                list(n, "x + "),
                n - 1,
                sum(&format!("b.n[j & {}]", n - 1))
            ),
        )
    }),
];

/// The most instructions of a block, for each element that it may have something to do with.
const BLOCK_PER_ELEMENT: usize = 8;
const BLOCK: usize = 400;

fn largest_block(func: &Function) -> usize {
    func.layout.iter().map(|&b| func.blocks[b].insts.len()).max().unwrap_or(0)
}

#[test]
fn effort_for_private_arrays_is_linear() {
    let ladder = Ladder::with(Code::None);
    let target = "x86_64-unknown-linux-gnu:x86-64-v4".parse().unwrap();
    let (options, passes) = (VectorOptions::with_lanes(LANES), Default::default());
    let mut wrong = String::new();
    for (name, bound, source) in &KERNELS {
        for n in SIZES {
            let mut module = ladder.module(&source(n), "").unwrap_or_else(|e| panic!("{name}, {n}: {e}"));
            let kernel = module.find("k").unwrap();
            let group = prepare(&mut module, kernel, Stage::Group, options, &target, &passes).unwrap().unwrap();
            assert_eq!(group.launch.lanes, LANES, "{name}, {n} elements");
            let func = &module.funcs[group.func];
            let most = bound.per_element * n + bound.others;
            let most_in_block = BLOCK_PER_ELEMENT * bound.per_element.min(1) * n + BLOCK;
            let (size, block) = (func.size(), largest_block(func));
            if size > most || block > most_in_block {
                wrong += &format!(
                    "{name}, {n} elements: {size} instructions, at most {most}; in a block {block}, at most {most_in_block}\n"
                );
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Sums of decomposed matrices of 36 variables, every step written out, without a loop.
fn unrolled() -> String {
    let n = 6;
    let all = || (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
    let loads: String = all().map(|(i, j)| format!("float a{i}{j} = m[{}];", i * n + j)).collect();
    let sum: String = all().map(|(i, j)| format!(" + a{i}{j}")).collect();
    let mut steps = String::new();
    for k in 0..n {
        for i in k + 1..n {
            steps += &format!("f = a{i}{k} / a{k}{k}; a{i}{k} = f;");
            steps.extend((k + 1..n).map(|j| format!("a{i}{j} -= f * a{k}{j};")));
        }
    }
    format!(
        "kernel void k(global const float *matrices, global float *out) {{
             global const float *m = matrices + get_global_id(0) * 36; float f;
             {loads} {steps} out[get_global_id(0)] = 0{sum}; }}"
    )
}

/// Vectors of twice as many lanes as a register has would need twice as much code, and spill nearly every value.
#[test]
fn straight_code_with_many_values_takes_one_register_for_each() {
    let ladder = Ladder::with(Code::None);
    for (target, lanes) in [("x86_64-unknown-linux-gnu:x86-64-v4", 16), ("x86_64-unknown-linux-gnu:x86-64-v3", 8)] {
        let mut module = ladder.module(&unrolled(), "").unwrap();
        let kernel = module.find("k").unwrap();
        let (options, passes) = (VectorOptions::default(), Default::default());
        let group = prepare(&mut module, kernel, Stage::Group, options, &target.parse().unwrap(), &passes);
        let group = group.unwrap().unwrap();
        assert_eq!(group.launch.lanes, lanes, "{target}");
        let size = module.funcs[group.func].size();
        assert!(size <= 4_000, "{target}: {size} instructions");
    }
}
