//! An index gets the same accesses in whatever type and spelling it is written: `int`, `uint`, `ulong` and `size_t`,
//! with temporaries and macros, `restrict` and `const`.

use cloom_compiler::{Compiler, Config};
use cloom_filetest::program;
use cloom_filetest::rungs::{Stage, prepare, target_of};
use cloom_passes::{Disabled, PassOptions};
use cloom_spmd::{AccessForm, Decision, Form, Operation, Reason, VectorOptions, WorkGroup, passes};

const TYPES: [&str; 4] = ["int", "uint", "ulong", "size_t"];

/// The work-group function of eight lanes for a kernel whose body is this, where `T` is a type.
fn work_group(params: &str, body: &str, ty: &str, options: &PassOptions) -> WorkGroup {
    let source = format!(
        "#define AT(r, c, n) ((r) * (n) + (c))
kernel void k({params}, global float *o, N n, N m) {{ float s = 0; {body} }}"
    );
    // A `size_t` is no kernel argument.
    let options_text = format!("-DT={ty} -DN={}", if ty == "size_t" { "ulong" } else { ty });
    let target = target_of(256).unwrap();
    let compiler = Compiler::new(Config::default());
    let (mut module, name) =
        program::compile(&compiler, &source, &options_text, &target, None).unwrap_or_else(|e| panic!("{e}\n{source}"));
    let kernel = module.find(&name).unwrap();
    let lanes = VectorOptions::with_lanes(8);
    prepare(&mut module, kernel, Stage::Group, lanes, &target, options).unwrap().unwrap()
}

fn changes(params: &str, body: &str, ty: &str, pass: &str) -> usize {
    work_group(params, body, ty, &PassOptions::default()).statistics.changes(pass)
}

/// The remarks on accesses that are checked, or have no stride.
fn doubts(body: &str, ty: &str, options: &PassOptions) -> Vec<String> {
    let made = work_group("global const float *a", body, ty, options);
    let is_doubtful = |d: &&Decision| {
        matches!(d.operation, Operation::Load | Operation::Store)
            && (d.reason == Reason::UnitStrideUnlessWrapped || d.form == Form::Access(AccessForm::LaneByLane))
    };
    made.decisions.iter().filter(is_doubtful).map(|d| format!("{}: {}", d.what(), d.why())).collect()
}

const ROWS: &[&str] = &[
    "T r = get_global_id(0); for (T c = 0; c < n; c++) s += a[r * n + c] * x[c]; o[r] = s;",
    "T r = get_global_id(0); for (T c = 0; c < n; ++c) s += a[AT(r, c, n)]; o[r] = s;",
    "T r = get_global_id(0), b = r; b *= n; for (T c = 0; c < n; c++) { T k = b + c; s += a[k]; } o[r] = s;",
    "T r = get_global_id(0); for (T c = 0; c != n; ++c) s += a[n * r + c]; o[r] = s;",
    "T r = get_global_id(0); for (T c = 0; c <= n; c++) s += a[c + r * (n + 1)]; o[r] = s;",
    "T r = get_global_id(0); for (T k = r * n; k < r * n + n; k++) s += a[k]; o[r] = s;",
    "T r = get_global_id(0); if (r < m) { for (T c = 0; c < n; c++) s += a[r * n + c]; o[r] = s; }",
    "T y = get_global_id(1), x0 = get_global_id(0); for (T k = 0; k < n; k++) s += a[x0 * n + k] * x[y * n + k]; \
     o[y * m + x0] = s;",
    "T r = get_group_id(0) * get_local_size(0) + get_local_id(0); \
     for (T c = 0; c < n; c++) s += a[r * n + c]; o[r] = s;",
    "T r = get_global_id(0); for (T t = 0; t < n; t += 16) for (T k = 0; k < 16; k++) s += a[r * n + t + k]; o[r] = s;",
];

#[test]
fn rows_are_transposed_in_each_spelling() {
    for body in ROWS {
        for params in ["global const float *a, global const float *x", "global float *restrict a, global float *x"] {
            for ty in TYPES {
                let found = changes(params, body, ty, passes::ROW_TRANSPOSE.name);
                assert_eq!(found, 1, "{ty}: {body}");
            }
        }
    }
}

const STRIDES: &[&str] = &[
    "T c = get_global_id(0); for (T r = 0; r < n; r++) s += a[r * m + c]; o[c] = s;",
    "T x = get_global_id(0), y = get_global_id(1); for (T k = 0; k < n; k++) s += a[k * n + x]; o[y] = s;",
    "T x = get_global_id(0), y = get_global_id(1); for (T dy = 0; dy < 5; dy++) for (T dx = 0; dx < 5; dx++) \
     s += a[(y + dy) * n + (x + dx)]; o[y] = s;",
    "for (T i = get_global_id(0); i < n; i += get_global_size(0)) s += a[i]; o[0] = s;",
    "for (T i = get_global_id(0); i < n; i += get_global_size(0)) \
     { atomic_inc((global int *)o); s += a[i]; } o[0] = s;",
    "for (T i = get_local_id(0); i < n; i += get_local_size(0)) s += a[get_group_id(0) * n + i]; o[0] = s;",
    "for (T i = get_global_id(0); i < n; i += m) s += a[i]; o[0] = s;",
    "T i = get_global_id(0); for (T k = 1; k < n; k *= 2) s += a[i + k]; o[0] = s;",
];

#[test]
fn neighbours_keep_their_strides_in_each_spelling() {
    for body in STRIDES {
        for ty in TYPES {
            assert_eq!(doubts(body, ty, &PassOptions::default()), [""; 0], "{ty}: {body}");
        }
    }
    // Without the pass they do not.
    let off = PassOptions::without(Disabled::only(passes::NO_WRAP));
    assert!(STRIDES.iter().all(|body| !doubts(body, "uint", &off).is_empty()));
}

#[test]
fn what_is_known_without_a_launch_gets_no_copy() {
    let copies = |body: &str| {
        let made = work_group("global const float *a", body, "uint", &PassOptions::default());
        made.decisions.iter().filter(|d| d.form == Form::CheckedPerGroup).count()
    };
    let sum = |index: &str| {
        copies(&format!(
            "T l = get_local_id(0), i = get_global_id(0); for (T k = 0; k < 64; k++) s += a[{index}]; o[i] = s;"
        ))
    };
    assert_eq!(sum("l * 64 + k"), 0);
    assert_eq!(sum("i + k"), 0);
    assert_eq!(sum("(i & 0xffff) * 64 + k"), 0);
    assert!(sum("i * 64 + k") > 0);
    assert!(sum("i + n + k") > 0);
    // Outside of loops, vectors are checked one by one.
    assert_eq!(copies("T i = get_global_id(0); o[i + n] = a[i * n];"), 0);
    // Nothing is known of what is loaded.
    assert_eq!(sum("(uint)a[i] + k"), 0);
}

#[test]
fn a_neighbourhood_with_its_edges_is_unrolled_in_each_type() {
    let body = "T x = get_global_id(0), y = get_global_id(1); if (x >= n || y >= m) return; uint count = 0;
        for (int dy = -1; dy <= 1; dy++) for (int dx = -1; dx <= 1; dx++) {
            if (dx == 0 && dy == 0) continue;
            T nx = x + dx, ny = y + dy;
            if (nx >= 0 && nx < n && ny >= 0 && ny < m) count += a[ny * n + nx];
        }
        o[y * n + x] = count;";
    for ty in TYPES {
        let made = work_group("global const uchar *a", body, ty, &PassOptions::default());
        let loops: Vec<&Decision> = made.decisions.iter().filter(|d| d.operation == Operation::Loop).collect();
        assert!(loops.is_empty(), "{ty}: {loops:?}");
    }
}
