//! Objects made by the system's C compiler, against the interface of `cloom_ir::abi`: whatever compiles kernels, loader
//! and launcher must run this.

use cloom_artifact::{CpuLaunch, KernelArg, KernelArgKind, KernelArtifact, LaunchForm};
use cloom_hal::{Device, HalError, Kernel, Launch, NdRange, PrintSink, TierUp};
use cloom_hal_cpu::CpuDevice;
use cloom_target::{Architecture, LEVELS};
use std::collections::HashSet;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::ThreadId;
use std::time::Duration;

const SOURCE: &str = r#"
#include <string.h>
typedef unsigned long u64;
struct launch { unsigned dim, pad; u64 off[3], global[3], local[3], groups[3];
  void (*print)(const void *, unsigned, u64, const void *, unsigned); const void *state; };
struct group { u64 id[3], local[3]; };
static const int table[4] = {10, 20, 30, 40};
static const char *const words[2] = {"zero", "one"};
static u64 zeros[3];
static u64 item(const struct launch *l, const struct group *g, u64 x, u64 y, u64 z) {
  return x + g->id[0] * l->local[0] + l->global[0] * (y + g->id[1] * l->local[1] + l->global[1] * (z + g->id[2] * l->local[2]));
}
/* Every item counts itself: all exactly once, through local memory and scratch. */
void count(const struct launch *l, const char *args, const struct group *g, int *local, int *scratch) {
  int *out = *(int **)args;
  for (u64 z = 0; z < g->local[2]; z++) for (u64 y = 0; y < g->local[1]; y++) for (u64 x = 0; x < g->local[0]; x++) {
    u64 i = item(l, g, x, y, z), k = x + g->local[0] * (y + g->local[1] * z);
    scratch[k] = 1; local[k] = scratch[k];
    __atomic_fetch_add(&out[i], local[k] + zeros[k % 3], __ATOMIC_RELAXED);
  }
}
void count_by_ten(const struct launch *l, const char *args, const struct group *g, int *local, int *scratch) {
  int *out = *(int **)args;
  for (u64 x = 0; x < 10240; x++) scratch[x] = 1;
  for (u64 x = 0; x < g->local[0]; x++) __atomic_fetch_add(&out[item(l, g, x, 0, 0)], 10, __ATOMIC_RELAXED);
}
void lookup(const struct launch *l, const char *args, const struct group *g, int *local, int *scratch) {
  int *out = *(int **)args; u64 i = g->id[0];
  char copy[300]; memset(copy, (int)i, sizeof copy); memmove(copy + 1, copy, 200); 
  out[i] = table[i & 3] + words[i & 1][0] + copy[100];
}
void print(const struct launch *l, const char *args, const struct group *g, int *local, int *scratch) {
  u64 block[2] = { (u64)words[g->id[0] & 1], g->id[0] };
  l->print(l->state, 7, g->id[0], block, sizeof block);
}
/* Two groups wait for each other, for so many rounds at most, and say whether they met. */
void meet(const struct launch *l, const char *args, const struct group *g, int *local, int *scratch) {
  int *out = *(int **)args; u64 rounds = ((const u64 *)args)[1];
  __atomic_fetch_add(&out[2], 1, __ATOMIC_SEQ_CST);
  for (u64 i = 0; i < rounds && !(out[g->id[0]] = __atomic_load_n(&out[2], __ATOMIC_SEQ_CST) == 2); i++);
}
double denormal;
void denorm(const struct launch *l, const char *args, const struct group *g, int *local, int *scratch) {
  volatile double tiny = 0x1p-1060; (*(double **)args)[g->id[0]] = tiny * 0.5;
}
extern void nobody(void);
void unknown(void) { nobody(); }
"#;

struct Lines(Mutex<Vec<(u32, u64, Vec<u8>)>>);

impl PrintSink for Lines {
    fn print(&self, format: u32, item: u64, args: &[u8], text: &dyn Fn(u64) -> Option<Vec<u8>>) {
        let word = text(u64::from_le_bytes(args[..8].try_into().unwrap())).unwrap();
        assert_eq!(text(8), None);
        assert_eq!(u64::from_le_bytes(args[8..].try_into().unwrap()), item);
        self.0.lock().unwrap().push((format, item, word));
    }
}

fn object(define: &str) -> Vec<u8> {
    let dir = tempfile::tempdir().unwrap();
    let (c, o) = (dir.path().join("k.c"), dir.path().join("k.o"));
    let source = match define {
        "all" => SOURCE.split("extern void nobody").next().unwrap(),
        _ => SOURCE,
    };
    std::fs::write(&c, source).unwrap();
    // Where an emulator runs this, the compiler of the machine that it is said to be.
    let cc = std::env::var("TARGET_CC").unwrap_or_else(|_| "cc".into());
    // As the code generator does, without the atomic operations of a library.
    let own: &[&str] = if cfg!(target_arch = "aarch64") { &["-mno-outline-atomics"] } else { &[] };
    let done = Command::new(cc).args(["-O2", "-fPIC", "-c", "-o"]).arg(&o).arg(&c).args(own).status().unwrap();
    assert!(done.success());
    std::fs::read(o).unwrap()
}

fn artifact(device: &CpuDevice, code: Vec<u8>, entry: &str, per_item: u64) -> Arc<KernelArtifact> {
    Arc::new(KernelArtifact {
        name: entry.into(),
        target: device.info().target.clone(),
        code,
        entry: entry.into(),
        args: vec![KernelArg { kind: KernelArgKind::Buffer, offset: 0, size: 8 }],
        hidden: Vec::new(),
        checked: Vec::new(),
        arg_block: 8,
        local_size: 0,
        launch: LaunchForm::WorkGroup(CpuLaunch { scratch_fixed: 64, scratch_per_item: per_item, ..CpuLaunch::SCALAR }),
        private_size: 512,
        reqd_group_size: None,
        subgroup_size: None,
        denorms_are_zero: false,
        printf_formats: vec![],
        enqueues: false,
    })
}

fn range(global: [u64; 3], local: [u64; 3]) -> NdRange {
    NdRange { work_dim: 3, offset: [0; 3], global, local }
}

/// What a kernel leaves in a buffer of so many bytes, its one argument.
fn run(device: &CpuDevice, artifact: Arc<KernelArtifact>, range: NdRange, size: usize) -> Vec<u8> {
    let kernel = device.load(artifact, None).unwrap();
    let out = device.allocate(size as u64).unwrap();
    let args = out.device_address().to_le_bytes();
    let sink = Lines(Mutex::default());
    device.launch(&Launch::new(&*kernel, range, &args, &sink)).unwrap();
    let mut bytes = vec![0; size];
    out.read(0, &mut bytes).unwrap();
    bytes
}

#[test]
fn every_item_of_whole_and_partial_groups_runs_once() {
    let code = object("all");
    for threads in [1, 2, 5] {
        let device = CpuDevice::new(threads, None);
        let kernel = device.load(artifact(&device, code.clone(), "count", 4), None).unwrap();
        for (global, local) in [
            ([1, 1, 1], [1, 1, 1]),
            ([1000, 1, 1], [7, 1, 1]),
            ([33, 17, 5], [8, 4, 2]),
            ([64, 64, 1], [64, 1, 1]),
            ([3, 5, 7], [100, 100, 100]),
        ] {
            let n = global.iter().product::<u64>();
            let out = device.allocate(n * 4).unwrap();
            let args = out.device_address().to_le_bytes();
            let sink = Lines(Mutex::default());
            let launch = Launch {
                local_size: local.iter().product::<u64>() * 4,
                ..Launch::new(&*kernel, range(global, local), &args, &sink)
            };
            device.launch(&launch).unwrap();
            let mut bytes = vec![0; n as usize * 4];
            out.read(0, &mut bytes).unwrap();
            assert!(bytes.chunks(4).all(|b| b == [1, 0, 0, 0]), "{global:?} in groups of {local:?}");
        }
    }
}

#[test]
fn groups_that_would_keep_most_of_the_memory_are_refused() {
    let device = CpuDevice::new(4, None);
    let kernel =
        device.load(artifact(&device, object("all"), "count", device.info().memory_size / 1024), None).unwrap();
    let sink = Lines(Mutex::default());
    let range = range([4096, 1, 1], [1024, 1, 1]);
    let launch = Launch { local_size: 4096, ..Launch::new(&*kernel, range, &[0; 8], &sink) };
    assert!(matches!(device.launch(&launch), Err(HalError::OutOfMemory(_))));
}

/// Code that exists when it has been asked for so many times.
struct After<'a> {
    asked: AtomicU64,
    after: u64,
    code: &'a Arc<dyn Kernel>,
}

impl TierUp for After<'_> {
    fn code(&self) -> Option<Arc<dyn Kernel>> {
        (self.asked.fetch_add(1, Ordering::Relaxed) >= self.after).then(|| self.code.clone())
    }

    fn remaining(&self) -> Duration {
        Duration::MAX
    }

    fn is_crowded(&self) -> bool {
        false
    }

    fn take_over(&self) {
        panic!("the rest of the launch takes less");
    }

    fn wait(&self, _: Duration) {
        panic!("the rest of the launch takes less");
    }
}

/// Code that will exist at once if somebody waits for it, or which nobody can make.
struct Awaited<'a> {
    waits: AtomicU64,
    is_crowded: bool,
    /// The threads that asked for it.
    askers: Mutex<HashSet<ThreadId>>,
    code: Option<&'a Arc<dyn Kernel>>,
}

impl TierUp for Awaited<'_> {
    fn code(&self) -> Option<Arc<dyn Kernel>> {
        self.askers.lock().unwrap().insert(std::thread::current().id());
        self.code.filter(|_| self.waits.load(Ordering::Relaxed) > 0).cloned()
    }

    fn remaining(&self) -> Duration {
        Duration::ZERO
    }

    fn is_crowded(&self) -> bool {
        self.is_crowded
    }

    fn take_over(&self) {}

    fn wait(&self, limit: Duration) {
        assert!(limit < Duration::from_secs(60), "no longer than the launch without it");
        self.waits.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn a_launch_waits_for_better_code_if_that_is_sooner_there_than_its_end() {
    let code = object("all");
    let device = CpuDevice::new(2, None);
    let plain = device.load(artifact(&device, code.clone(), "count", 4), None).unwrap();
    let better = device.load(artifact(&device, code, "count_by_ten", 4096), None).unwrap();
    let run = |items: u64, code: Option<&Arc<dyn Kernel>>, is_crowded: bool| {
        let out = device.allocate(items * 4).unwrap();
        let sink = Lines(Mutex::default());
        let tier_up = Awaited { waits: AtomicU64::new(0), is_crowded, askers: Mutex::default(), code };
        device
            .launch(&Launch {
                local_size: 40,
                tier_up: Some(&tier_up),
                ..Launch::new(&*plain, range([items, 1, 1], [10, 1, 1]), &out.device_address().to_le_bytes(), &sink)
            })
            .unwrap();
        let mut bytes = vec![0; items as usize * 4];
        out.read(0, &mut bytes).unwrap();
        let counts: Vec<i32> = bytes.chunks(4).map(|b| i32::from_le_bytes(b.try_into().unwrap())).collect();
        let by_ten = counts.iter().filter(|&&c| c == 10).count();
        assert_eq!(counts.iter().filter(|&&c| c == 1).count() + by_ten, items as usize, "each item once");
        (by_ten, tier_up.waits.into_inner(), tier_up.askers.into_inner().unwrap())
    };
    // One group says how long the rest will take.
    let (by_ten, waits, _) = run(4000, Some(&better), false);
    assert_eq!((by_ten, waits), (3990, 1));
    // If it is never there, the launch ends without it.
    let (by_ten, waits, _) = run(4000, None, false);
    assert!(by_ten == 0 && waits > 0);
    // If the compiler has no core, no other thread takes one for slow code.
    let (_, _, askers) = run(400_000, None, true);
    assert_eq!(askers, HashSet::from([std::thread::current().id()]));
}

#[test]
fn groups_that_begin_after_better_code_is_there_run_it() {
    let code = object("all");
    let device = CpuDevice::new(3, None);
    let plain = device.load(artifact(&device, code.clone(), "count", 4), None).unwrap();
    let better = device.load(artifact(&device, code.clone(), "count_by_ten", 4096), None).unwrap();
    // It wants other local memory than the launch has.
    let mut unlike = Arc::unwrap_or_clone(artifact(&device, code, "count_by_ten", 4));
    unlike.arg_block = 4;
    let unlike = device.load(Arc::new(unlike), None).unwrap();
    let run = |after: u64, better: &Arc<dyn Kernel>| {
        let n = 5 * 333;
        let out = device.allocate(n * 4).unwrap();
        let args = out.device_address().to_le_bytes();
        let sink = Lines(Mutex::default());
        let tier_up = After { asked: AtomicU64::new(0), after, code: better };
        device
            .launch(&Launch {
                local_size: 40,
                tier_up: Some(&tier_up),
                ..Launch::new(&*plain, range([333, 5, 1], [10, 1, 1]), &args, &sink)
            })
            .unwrap();
        let mut bytes = vec![0; n as usize * 4];
        out.read(0, &mut bytes).unwrap();
        bytes.chunks(4).map(|b| i32::from_le_bytes(b.try_into().unwrap())).collect::<Vec<_>>()
    };
    let count = |counts: &[i32], n: i32| counts.iter().filter(|&&c| c == n).count();
    let switched = run(20, &better);
    assert_eq!(count(&switched, 1) + count(&switched, 10), 5 * 333, "each item once");
    // Twenty groups asked in vain, of which five, the last ones of rows, have seven work-items less; each of three
    // threads may have been about to run one with what it had.
    assert!((165..=230).contains(&count(&switched, 1)), "{}", count(&switched, 1));
    assert_eq!(count(&run(u64::MAX, &better), 1), 5 * 333);
    assert_eq!(count(&run(0, &better), 10), 5 * 333);
    assert_eq!(count(&run(0, &unlike), 1), 5 * 333);
}

#[test]
fn groups_that_take_long_run_side_by_side_from_the_second_launch_on() {
    let device = CpuDevice::new(2, None);
    let kernel = device.load(artifact(&device, object("all"), "meet", 0), None).unwrap();
    let met = |rounds: u64| {
        let out = device.allocate(16).unwrap();
        out.write(0, &[0; 16]).unwrap();
        let args = [out.device_address().to_le_bytes(), rounds.to_le_bytes()].concat();
        let sink = Lines(Mutex::default());
        let range = range([2, 1, 1], [1, 1, 1]);
        device.launch(&Launch::new(&*kernel, range, &args, &sink)).unwrap();
        let mut bytes = [0; 8];
        out.read(0, &mut bytes).unwrap();
        bytes == [1, 0, 0, 0, 1, 0, 0, 0]
    };
    // Milliseconds, in which nothing is known of the kernel; then seconds, which a thread that waits on its own would
    // need.
    met(1 << 20);
    assert!(met(1 << 32), "the second group began when the first one was done");
}

#[test]
fn constants_strings_and_memory_functions_are_linked() {
    let device = CpuDevice::new(2, None);
    let artifact = artifact(&device, object("all"), "lookup", 0);
    let bytes = run(&device, artifact, range([4, 1, 1], [1, 1, 1]), 16);
    let got: Vec<i32> = bytes.chunks(4).map(|b| i32::from_le_bytes(b.try_into().unwrap())).collect();
    assert_eq!(got, [10 + 122, 20 + 111 + 1, 30 + 122 + 2, 40 + 111 + 3]);
}

#[test]
fn prints_reach_the_sink_with_their_text() {
    let device = CpuDevice::new(3, None);
    let kernel = device.load(artifact(&device, object("all"), "print", 0), None).unwrap();
    let sink = Lines(Mutex::default());
    let launch = Launch::new(&*kernel, range([50, 1, 1], [1, 1, 1]), &[0; 8], &sink);
    device.launch(&launch).unwrap();
    let mut lines = sink.0.into_inner().unwrap();
    lines.sort();
    assert_eq!(lines.len(), 50);
    assert!(lines.iter().enumerate().all(|(i, l)| *l == (7, i as u64, [&b"zero"[..], b"one"][i & 1].to_vec())));
}

#[test]
fn denormals_live_unless_given_up() {
    let device = CpuDevice::new(1, None);
    for flush in [false, true] {
        let mut artifact = Arc::unwrap_or_clone(artifact(&device, object("all"), "denorm", 0));
        artifact.denorms_are_zero = flush;
        let bytes = run(&device, Arc::new(artifact), range([1; 3], [1; 3]), 8);
        assert_eq!(f64::from_le_bytes(bytes.try_into().unwrap()) == 0.0, flush);
    }
}

#[test]
fn what_cannot_be_linked_is_an_error() {
    let device = CpuDevice::new(1, None);
    let load = |code: Vec<u8>, entry| {
        device.load(artifact(&device, code, entry, 0), None).map(|_| ()).unwrap_err().to_string()
    };
    assert!(load(object("unknown"), "count").contains("unknown symbol nobody"));
    assert!(load(object("all"), "missing").contains("no function missing"));
    assert!(load(object("all"), "table").contains("is not code"));
    assert!(load(b"not an object".to_vec(), "count").contains("does not load"));
    let mut foreign = Arc::unwrap_or_clone(artifact(&device, object("all"), "count", 0));
    foreign.target = LEVELS.iter().find(|l| l.architecture != Architecture::HOST).unwrap().target();
    assert!(matches!(device.load(Arc::new(foreign), None), Err(HalError::BadCode(_))));
}

#[test]
fn damaged_objects_are_refused_or_load_but_never_kill() {
    let device = CpuDevice::new(1, None);
    let good = object("all");
    let mut state = 1u64;
    for _ in 0..3000 {
        let mut bad = good.clone();
        for _ in 0..4 {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let at = (state >> 33) as usize % bad.len();
            bad[at] = (state >> 20) as u8;
        }
        // Loading runs nothing; a flip in the code itself cannot be seen here (the cache's checksum sees it).
        let _ = device.load(artifact(&device, bad, "count", 0), None);
    }
    for cut in (0..good.len()).step_by(97) {
        let _ = device.load(artifact(&device, good[..cut].to_vec(), "count", 0), None);
    }
}
