//! Generic pointers cost nothing where it is known what they point to: a program whose helper functions name no address
//! space is the same IR, after the scalar passes, as one that names them all. Else a pass would be missing something
//! that kernels get slow of: private arrays that stay in memory, accesses that may alias.

use cloom_compiler::{Compiler, Config};
use cloom_filetest::program;
use cloom_target::Target;

const SOURCE: &str = "
#ifdef NAMED
#define P(space) space
#else
#define P(space)
#endif
typedef struct { int *at; int count; } span;

float polynomial(const P(private) float *c, int n, float x) {
  float s = 0;
  for (int i = 0; i < n; i++) s = s * x + c[i];
  return s;
}
void add(P(global) float *p, int i, float v) { p[i] += v; }
void order(float a, float b, P(private) float *low, P(private) float *high) { *low = min(a, b); *high = max(a, b); }
void set(P(private) float4 *v, float x) { v->x = x; v->zw = (float2)(x, 1); }
float last(P(local) float *p, P(local) float *end) {
  float s = 0;
  for (; p != end; p++) s = *p;
  return s;
}
void count(P(local) atomic_int *n) { atomic_fetch_add(n, 1); }
float split(float x, P(private) float *whole) { return fract(x, whole); }

kernel void test(global float *out, global const float *in, int n, local float *shared, local int *counts) {
  float c[4] = {1, 2, in[0], in[1]};
  size_t i = get_global_id(0);
  float low, high, whole;
  order(in[i], out[i], &low, &high);
  float4 v = {1, 2, 3, 4};
  set(&v, low);
  float part = split(in[i], &whole);
  shared[get_local_id(0)] = part;
  barrier(CLK_LOCAL_MEM_FENCE);
  count((local atomic_int *)counts);
  add(out, i, polynomial(c, n, low) * high + v.x * v.y + v.z * v.w + part * whole);
  add(out, i, last(shared, shared + get_local_size(0)));
}
";

/// The kernel after the scalar passes, without places in the source.
fn optimised(options: &str) -> String {
    let target: Target = "x86_64-unknown-linux-gnu:x86-64-v3".parse().unwrap();
    let (compiler, options) = (Compiler::new(Config::default()), format!("-cl-std=CL3.0 {options}"));
    let (mut module, name) = program::compile(&compiler, SOURCE, &options, &target, None).unwrap();
    let kernel = module.find(&name).unwrap();
    cloom_passes::run(&mut module, kernel, |_, _| {});
    let text = module.function_text(&module.funcs[kernel]);
    text.lines().map(|l| format!("{}\n", l.split(" !").next().unwrap_or(l))).collect()
}

#[test]
fn helper_functions_without_address_spaces_are_as_good() {
    let (generic, named) = (optimised(""), optimised("-DNAMED"));
    assert!(!generic.contains("generic") && !generic.contains("spacecast"), "{generic}");
    assert_eq!(generic, named);
}
