//! How many lanes vectors have, and why: for each reason of the cost model a kernel where it decides.

use cloom_compiler::{Compiler, Config, Source};
use cloom_spmd::WidthReason::{self, *};
use cloom_target::Target;

/// A kernel where a reason decides on a processor, and the lanes that its vectors have.
struct Case {
    reason: WidthReason,
    cpu: &'static str,
    lanes: u16,
    source: &'static str,
}

const fn case(reason: WidthReason, cpu: &'static str, lanes: u16, source: &'static str) -> Case {
    Case { reason, cpu, lanes, source }
}

const CASES: &[Case] = &[
    case(
        ShortVectorsExceedRegisters,
        "x86-64-v2",
        1,
        "kernel void k(global float16 *p, int n) {
           size_t i = get_global_id(0);
           float16 a = p[3 * i], b = p[3 * i + 1], c = p[3 * i + 2];
           for (int j = 0; j < n; j++) {
             a = a.s123456789abcdef0 * b + c;
             b = b * c + a;
             c = c * a + b;
           }
           p[3 * i] = a + b + c;
         }",
    ),
    case(
        ShortVectorsFillRegisters,
        "x86-64-v3",
        1,
        "kernel void k(global float8 *p) { size_t i = get_global_id(0); p[i] = p[i] * p[i] + 1; }",
    ),
    case(
        ReadsWholeRegisters,
        "x86-64-v4",
        1,
        "#define TEN(a) a a a a a a a a a a
         kernel void k(global const float *m, global float *out, int n) {
           size_t i = get_global_id(0);
           float t = 0;
           for (int r = 0; r < n; r++) {
             float16 sum = 0;
             for (int c = 0; c < n; c++) {
               float16 x = vload16(c, m + i * n);
               sum += x * x * x * x + x;
             }
             t += sum.s0;
             TEN(t = t * t + 0.5f;) TEN(t = t * t + 0.5f;) TEN(t = t * t + 0.5f;) TEN(t = t * t + 0.5f;)
             TEN(t = t * t + 0.5f;) TEN(t = t * t + 0.5f;) TEN(t = t * t + 0.5f;) TEN(t = t * t + 0.5f;)
           }
           out[i] = t;
         }",
    ),
    case(
        ScattersNear,
        "x86-64-v4",
        8,
        "kernel void k(global float *a) {
           size_t i = get_global_id(0);
           a[(i & ~15) | (i * 5 + 3 & 15)] += 1;
         }",
    ),
    case(
        Scatters,
        "x86-64-v3",
        1,
        "kernel void k(global int *a) { size_t i = get_global_id(0); a[i * 0x3779b1 & 0xfffff] += 1; }",
    ),
    case(
        UpdatesScattered,
        "x86-64-v4",
        1,
        "kernel void k(global const int *length, local float *m) {
           int i = get_local_id(0), n = length[i];
           for (int j = 0; j < n; j++)
             m[n * j & 1023] += 1;
         }",
    ),
    case(
        Gathers,
        "x86-64-v3",
        1,
        "kernel void k(global const int *column, global const float *x, global const int *length, global float *out) {
           size_t i = get_global_id(0);
           float sum = 0;
           for (int j = 0; j < length[i]; j++)
             sum += x[column[i * 16 + j]];
           out[i] = sum;
         }",
    ),
    case(
        Backtracks,
        "x86-64-v4",
        1,
        "kernel void k(global const uchar *next, global uint *out, int n) {
           uint value[32], sum[32], path[32], i = get_global_id(0), result = 0;
           int depth = 0;
           value[0] = i, sum[0] = 0, path[0] = 0;
           while (depth >= 0) {
             uint v = value[depth], s = sum[depth], p = path[depth];
             if (v & 1 && depth < n) {
               value[depth + 1] = next[v], sum[depth + 1] = s + v, path[depth + 1] = p ^ v;
               depth++;
             } else {
               result = max(result, s + p);
               depth -= 2;
             }
           }
           out[i] = result;
         }",
    ),
    case(
        CountsInOrder,
        "x86-64-v3",
        8,
        "kernel void k(global const uint *p, int n) {
           local uint bins[256];
           size_t i = get_local_id(0);
           for (int j = 0; j < n; j++)
             atomic_inc(&bins[p[i + j * 256] & 255]);
         }",
    ),
    case(
        Counts,
        "x86-64-v3",
        1,
        "kernel void k(global const uint *p, int n) {
           local uint bins[256];
           size_t i = get_local_id(0);
           for (int j = 0; j < n; j++)
             atomic_inc(&bins[p[i * 1024 + j * 256] & 255]);
         }",
    ),
    case(
        WritesColumns,
        "x86-64-v4",
        4,
        "kernel void k(global const float *a, global float *b, int n) {
           size_t x = get_global_id(0), y = get_global_id(1);
           b[x * n + y] = a[y * n + x];
         }",
    ),
    case(
        ReadsColumns,
        "x86-64-v4",
        8,
        "kernel void k(global const float *a, global float *b, int n) {
           size_t x = get_global_id(0), y = get_global_id(1);
           b[y * n + x] = a[x * n + y];
         }",
    ),
    case(
        WritesRows,
        "x86-64-v4",
        8,
        "kernel void k(global float *m, float a, float b, int n) {
           global float *row = m + get_global_id(0) * n;
           for (int j = 1; j < n; j++)
             row[j] = a * row[j] + b * row[j - 1];
         }",
    ),
    case(
        WritesRecords,
        "x86-64-v4",
        8,
        "kernel void k(global const float8 *in, global float8 *out, float step) {
           size_t i = get_global_id(0);
           global const float *from = (global const float *)(in + i);
           global float *to = (global float *)(out + i);
           to[0] = from[0] + step * from[4];
           to[2] = from[2] + step * from[6];
           to[5] = from[5];
         }",
    ),
    case(
        TreeSteps,
        "x86-64-v4",
        8,
        "kernel void k(global float *p, local float *sums, int n) {
           int i = get_local_id(0);
           sums[i] = p[i];
           for (int step = 1; step < n; step *= 2) {
             barrier(CLK_LOCAL_MEM_FENCE);
             int at = (i + 1) * step * 2 - 1;
             if (at < n)
               sums[at] += sums[at - step];
           }
           barrier(CLK_LOCAL_MEM_FENCE);
           p[i] = sums[i];
         }",
    ),
    case(
        StoresScattered,
        "x86-64-v4",
        16,
        "kernel void k(global const int *p, global int *q) { size_t i = get_global_id(0); q[p[i]] = p[i]; }",
    ),
    case(
        ReadsRows,
        "x86-64-v3",
        8,
        "kernel void k(global const float *m, global float *out, int n) {
           size_t i = get_global_id(0);
           float sum = 0;
           for (int j = 0; j < n; j++)
             sum += m[i * n + j];
           out[i] = sum;
         }",
    ),
    case(
        LiveValuesExceedRegisters,
        "x86-64-v3",
        8,
        "kernel void k(global float *p, float a, float b, int n) {
           size_t i = get_global_id(0);
           float c = p[i], d = c, e = c + 1, f = c + 2, g = c + 3, h = c + 4, x = c + 5, y = c + 6;
           for (int j = 0; j < n; j++) {
             c = c * a + b, d = d * b + a, e = e * a + b, f = f * b + a;
             g = g * a + b, h = h * b + a, x = x * a + b, y = y * b + a;
           }
           p[i] = c + d + e + f + g + h + x + y;
         }",
    ),
    case(
        ReadsGridStride,
        "x86-64-v4+intel",
        64,
        "kernel void k(global const float *a, global float *b, int n) {
           for (size_t i = get_global_id(0); i < n; i += get_global_size(0))
             b[i] = a[i] + 1;
         }",
    ),
    case(
        FitsInterleaved,
        "x86-64-v3",
        16,
        "kernel void k(global float *p) { size_t i = get_global_id(0); p[i] = p[i] * 2; }",
    ),
    case(
        LatencyBound,
        "x86-64-v3",
        64,
        "kernel void k(global float *p, float a, float b, int n) {
           size_t i = get_global_id(0);
           float x = p[i];
           for (int j = 0; j < n; j++)
             x = x * a + b;
           p[i] = x;
         }",
    ),
    case(
        ShortRows,
        "x86-64-v3",
        4,
        "kernel __attribute__((reqd_work_group_size(4, 4, 1))) void k(global float *p, local float *l) {
           size_t x = get_local_id(0), y = get_local_id(1);
           l[y * 4 + x] = p[y * 4 + x];
           barrier(CLK_LOCAL_MEM_FENCE);
           p[y * 4 + x] = l[x * 4 + y];
         }",
    ),
];

/// The remark on the width.
fn remark(source: &str, cpu: &str, lanes: Option<u16>) -> String {
    let compiler = Compiler::new(Config { remarks: true, lanes, ..Config::default() });
    let built = compiler.build(&Source { name: "k.cl", text: source.as_bytes() }, "", &Target::generic());
    let program = built.result.map_err(|_| built.log).unwrap();
    let target = format!("x86_64-unknown-linux-gnu:{cpu}").parse().unwrap();
    let remarks = compiler.executable(&program, &target).remarks();
    let is_width = |l: &&str| l.contains("work-items per vector: ") || l.contains("work-items run one at a time: ");
    remarks.lines().find(is_width).unwrap_or(&remarks).to_owned()
}

/// The remark for a number of lanes and a reason.
fn expected(lanes: u16, reason: WidthReason) -> String {
    match lanes {
        1 => format!("remark: work-items run one at a time: {}", reason.text()),
        lanes => format!("remark: {lanes} work-items per vector: {}", reason.text()),
    }
}

#[test]
fn each_reason_decides_the_width_of_its_kernel() {
    let wrong: Vec<String> = CASES
        .iter()
        .map(|c| (c, remark(c.source, c.cpu, None)))
        .filter(|(c, remark)| *remark != expected(c.lanes, c.reason))
        .map(|(c, remark)| format!("{}: {remark}", c.reason.code()))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_number_of_lanes_may_be_requested() {
    let source = "kernel void k(global float *p) { p[get_global_id(0)] = 1; }";
    assert_eq!(remark(source, "x86-64-v3", Some(6)), expected(6, Requested));
}

/// Many look-ups lane by lane, of which `remarks.rs` also has the contrary.
#[test]
fn large_code_that_saves_little_is_scalar() {
    let mut source = String::from(
        "kernel void k(global int *p, global const int *q, int n) { int i = get_global_id(0), s = q[i]; if (s > n) {\n",
    );
    for n in 0..200 {
        source += &format!("s = (s ^ q[s & 1023]) + {n}; p[(s >> 3) & 1023] = s / (q[s & 255] | 1);\n");
    }
    assert_eq!(remark(&(source + "} p[i] = s; }"), "x86-64-v2", None), expected(1, LargeCode));
}

#[test]
fn every_reason_has_a_kernel() {
    let elsewhere = [Requested, LargeCode];
    let missing = WidthReason::ALL.iter().filter(|r| !elsewhere.contains(r) && CASES.iter().all(|c| c.reason != **r));
    assert_eq!(missing.map(|r| r.code()).collect::<Vec<_>>(), [""; 0]);
}
