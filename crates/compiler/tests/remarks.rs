//! The remarks on a kernel in the build log.

use cloom_compiler::{Compiler, Config, Source};
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
