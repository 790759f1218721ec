//! The remarks on a kernel in the build log.

use cloom_compiler::decisions::{AccessForm, Decision, Form, Operation, Reason, Shape, Varies};
use cloom_compiler::{Compiler, Config, Source, Variant};
use cloom_target::Target;

/// The remarks on a program, for a number of lanes or the chosen one.
fn remarks(text: &str, lanes: Option<u16>) -> String {
    let compiler = Compiler::new(Config { remarks: true, lanes, ..Config::default() });
    let built = compiler.build(&Source { name: "k.cl", text: text.as_bytes() }, "", &Target::generic());
    let program = built.result.map_err(|_| built.log).unwrap();
    compiler.executable(&program, &"x86_64-unknown-linux-gnu:x86-64-v2".parse().unwrap()).remarks()
}

#[test]
fn a_divergent_branch_has_one_remark_with_its_cause() {
    let text = remarks(
        "kernel void k(global int *p, int n) {
  int i = get_global_id(0);
  if (i * 2 < n)
    p[i] = i;
}
kernel void across(global int *p, local int *l) {
  int i = get_local_id(0);
  l[i] = p[i];
  for (int k = 0; k < 4; k++) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i > k)
      p[i] += l[i - 1];
  }
}",
        Some(8),
    );
    let branches: Vec<&str> = text.lines().filter(|l| l.contains("branch")).collect();
    let of = |place: &str| branches.iter().filter(|l| l.starts_with(place)).copied().collect::<Vec<_>>();
    let [one] = of("k.cl:3:")[..] else { panic!("{text}") };
    assert!(one.ends_with("branch: divergent, linearised under masks: it depends on get_global_id(0)"), "{text}");
    let [one] = of("k.cl:11:")[..] else { panic!("{text}") };
    assert!(one.ends_with("branch: divergent, linearised under masks: it depends on get_local_id(0)"), "{text}");
}

#[test]
fn the_width_loops_and_what_is_done_lane_by_lane_have_their_reasons() {
    let text = remarks(
        "kernel void k(global int *p, global int *sum, local int *bins, int n) {
  int i = get_global_id(0), s = 0;
  for (int j = 0; j < n; j++)
    s += p[i] ^ j;
  while (s > 3)
    s -= s / 4;
  atomic_add(sum, s);
  atomic_inc(&bins[s & 7]);
  atomic_max(&p[s], i);
  p[i] = s;
}",
        None,
    );
    for (line, what) in [
        ("k.cl:3:", "loop: uniform"),
        ("k.cl:5:", "loop: divergent, runs until the last lane has left"),
        ("k.cl:7:", "atomic operation: lanes combined first"),
        ("k.cl:8:", "atomic operation: lane by lane, not locked"),
        ("k.cl:9:", "atomic operation: lane by lane: "),
        ("remark: ", " work-items per vector: "),
    ] {
        assert!(text.lines().any(|l| l.starts_with(line) && l.contains(what)), "{what}:\n{text}");
    }
}

#[test]
fn scalar_code_has_no_remarks_about_lanes() {
    // Short vectors that need all registers as they are, and whose components meet.
    let text = remarks(
        "kernel void k(global float16 *p, int n) {
  size_t i = get_global_id(0);
  float16 a = p[3 * i], b = p[3 * i + 1], c = p[3 * i + 2];
  for (int j = 0; j < n; j++) {
    a = a.s123456789abcdef0 * b + c;
    b = b * c + a;
    c = c * a + b;
  }
  if (i & 1)
    p[3 * i] = a + b + c;
}",
        None,
    );
    assert!(
        text.contains("one work-item at a time")
            && text.contains("one at a time: its loops have more live short vectors"),
        "{text}"
    );
    assert!(!text.contains("lane by lane") && !text.contains("under masks"), "{text}");
}

/// An access may be written in a form that its shape alone does not tell.
#[test]
fn accesses_have_the_form_in_which_they_are_written() {
    let text = "kernel void k(global float *a, global float *b, global float *c, global int *idx, int w) {
  size_t i = get_global_id(0);
  b[i] = a[i];
  c[-i] = a[2 * i];
  c[5 * i] = a[i / 16] + a[w];
  b[idx[i]] = a[idx[i] + 7];
  if (idx[i] & 1)
    b[i] = a[i * 3] + a[i / w * 9 + i % w];
  c[3 * i] = 1; c[3 * i + 1] = w; c[3 * i + 2] = 3;
}
kernel void gaps(global float *a, global const float *b) {
  size_t i = get_global_id(0);
  a[3 * i] = b[i];
}";
    let of = |level: &str, lanes: Option<u16>| {
        let compiler = Compiler::new(Config { remarks: true, lanes, ..Config::default() });
        let built = compiler.build(&Source { name: "k.cl", text: text.as_bytes() }, "", &Target::generic());
        let program = built.result.map_err(|_| built.log).unwrap();
        compiler.executable(&program, &format!("x86_64-unknown-linux-gnu:{level}").parse().unwrap()).remarks()
    };
    // A requested number of lanes is emitted for no particular processor.
    let (v2, v4) = (of("x86-64-v2", Some(8)), of("x86-64-v4", None));
    for (remarks, line, what) in [
        (&v2, 3, "load: one vector: unit stride"),
        (&v2, 3, "store: one vector: unit stride"),
        (&v2, 4, "load: vectors that cover the range, and a shuffle: a stride of 8 bytes"),
        (&v2, 4, "store: one vector, reversed: a stride of -4 bytes"),
        (&v2, 5, "load: one scalar access, after a run-time check: the same address unless a quotient differs"),
        (&v2, 5, "load: one scalar access: the address is the same in all lanes"),
        (&v2, 5, "store: lane by lane: a stride of 20 bytes"),
        (&v2, 6, "load: lane by lane: it depends on a loaded value"),
        (&v2, 6, "store: lane by lane: it depends on a loaded value"),
        (
            &v2,
            8,
            "load: vectors that cover the range, and a shuffle; where lanes are off: gather: a stride of 12 bytes",
        ),
        (&v2, 8, "load: one vector, after a run-time check: unit stride unless"),
        (&v2, 9, "store: one with the other fields of the record: a stride of 12 bytes"),
        (&v2, 13, "store: lane by lane: a stride of 12 bytes"),
        (&v4, 13, "store: masked vectors that leave gaps: a stride of 12 bytes"),
    ] {
        let place = format!("k.cl:{line}:");
        assert!(remarks.lines().any(|l| l.starts_with(&place) && l.contains(what)), "{line} {what}:\n{remarks}");
    }
}

/// Vector code that is large, and does most of its work lane by lane, takes long to compile for nothing.
#[test]
fn large_kernels_have_vectors_only_if_these_save_work() {
    let kernel = |statement: &str| {
        let mut text = String::from(
            "kernel void k(global int *p, global const int *q, int n) {
  int i = get_global_id(0), s = q[i];
  if (s > n) {\n",
        );
        for n in 0..200 {
            text += &statement.replace('N', &n.to_string());
        }
        text + "  }\n  p[i] = s;\n}"
    };
    let lookups = kernel("    s = (s ^ q[s & 1023]) + N; p[(s >> 3) & 1023] = s / (q[s & 255] | 1);\n");
    let sums = kernel("    s = (s << 5) ^ (s * N + n); s = s > N ? s - n : s & 0xffffff; s += (s >> N % 31) * n;\n");
    let (lookups, sums) = (remarks(&lookups, None), remarks(&sums, None));
    assert!(lookups.contains("work-items run one at a time: its vector code would be large"), "{lookups}");
    assert!(sums.contains(" work-items per vector: "), "{sums}");
    // What is small is not asked.
    let few = remarks("kernel void k(global int *p, global const int *q) { p[get_global_id(0)] = p[q[1]]; }", None);
    assert!(few.contains(" work-items per vector: "), "{few}");
}

/// What was decided for a kernel `k` with vectors of eight.
fn decisions(text: &str) -> Vec<Decision> {
    let compiler = Compiler::new(Config { lanes: Some(8), ..Config::default() });
    let built = compiler.build(&Source { name: "k.cl", text: text.as_bytes() }, "", &Target::generic());
    let program = built.result.map_err(|_| built.log).unwrap();
    let executable = compiler.executable(&program, &"x86_64-unknown-linux-gnu:x86-64-v2".parse().unwrap());
    executable.kernel("k", Variant::Vector).unwrap().decisions.clone()
}

#[test]
fn decisions_have_array_shape_costs_and_reason() {
    let made = decisions(
        "kernel void k(global float *out, global const float *in, global const int *idx) {
  local int bins[8];
  int i = get_global_id(0), j = idx[i];
  out[i] = in[j];
  atomic_add(&bins[j & 7], i);
  if (j & 1)
    out[i + 64] = in[i / 2];
}",
    );
    let of = |line: u32, operation: Operation| {
        let found: Vec<&Decision> = made.iter().filter(|d| d.span.line == line && d.operation == operation).collect();
        let [one] = found[..] else { panic!("{line} {operation:?}: {made:#?}") };
        one.clone()
    };
    let (vector, gather) = (Form::Access(AccessForm::Vector), Form::Access(AccessForm::Indexed));

    let load = of(3, Operation::Load);
    assert_eq!((load.array.as_deref(), load.form, load.reason), (Some("idx"), vector, Reason::UnitStride));
    assert_eq!(load.shape, Some(Shape::Strided { by: 4, checked: false }));
    assert_eq!((load.cost, load.alternative), (Some(3), Some((gather, 12))));

    let load = of(4, Operation::Load);
    assert_eq!((load.array.as_deref(), load.shape), (Some("in"), Some(Shape::Varying)));
    assert_eq!((load.cost, load.alternative), (Some(12), Some((vector, 3))));
    assert_eq!(load.reason, Reason::Varies(Varies::Loaded));
    assert_eq!(of(4, Operation::Store).array.as_deref(), Some("out"));

    let atomic = of(5, Operation::Atomic);
    assert!(atomic.array.as_deref().is_some_and(|name| name.contains("bins")), "{atomic:?}");
    assert_eq!((atomic.form, atomic.reason), (Form::LaneByLaneUnlocked, Reason::OneThread));

    let branch = of(6, Operation::Branch);
    assert_eq!((branch.form, branch.reason), (Form::Linearised, Reason::Varies(Varies::Loaded)));
    let (other, cost) = branch.alternative.unwrap();
    assert!(other == Form::Uniform && branch.cost >= Some(cost) && cost > 0, "{branch:?}");
}

/// The code of a helper has the helper's position, and the calls through which it came into the kernel.
#[test]
fn a_remark_on_a_helper_says_where_it_was_called() {
    let source = "float tap(global const float *p, int i) {
  return p[i];
}
float both(global const float *p, int i) { return tap(p, i) +
  tap(p, 2 * i); }
kernel void k(global float *out, global const float *p) {
  int i = get_global_id(0);
  out[i] = both(p, i);
  out[i + 9] = tap(p, 3 * i);
}";
    let text = remarks(source, Some(8));
    let loads: Vec<&str> = text.lines().filter(|l| l.starts_with("k.cl:2:")).collect();
    let calls: Vec<&str> = loads.iter().filter_map(|l| Some(l.split_once(", inlined into ")?.1)).collect();
    assert_eq!(
        calls,
        ["`both` at 4:51, inlined into `k` at 8:12", "`both` at 5:3, inlined into `k` at 8:12", "`k` at 9:16"]
    );
    assert!(loads[0].contains("unit stride, ") && loads[2].contains("a stride of 12 bytes, "), "{text}");
    assert!(text.lines().any(|l| l.starts_with("k.cl:8:") && l.ends_with("unit stride")), "{text}");
}
