//! What is compiled before the first launch: the only kernel of a program, and nothing for a question.

mod common;

use cloom_compiler::testing::StubBackend;
use cloom_compiler::{
    Backend, Capabilities, CompileError, Compiler, Config, Extensions, Generated, KernelInput, SpecializationKey,
    StageLog, Tier, Variant,
};
use cloom_target::Target;
use common::program;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// A backend that takes long to initialise and counts what it does.
struct Counting {
    stub: StubBackend,
    tier_up: bool,
    prepared: AtomicUsize,
    baseline: Mutex<Vec<String>>,
}

impl Backend for Counting {
    fn target(&self) -> &Target {
        self.stub.target()
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { baseline_tier: true, tier_up: self.tier_up, variants: true }
    }

    fn compile(&self, input: KernelInput<'_>, log: &mut StageLog) -> Result<Generated, CompileError> {
        if input.key.tier == Tier::Baseline {
            self.baseline.lock().unwrap().push(input.module.funcs[input.kernel].name.clone());
        }
        self.stub.compile(input, log)
    }

    fn prepare(&self) {
        self.prepared.fetch_add(1, Ordering::Relaxed);
    }

    fn is_prepared(&self) -> bool {
        false
    }
}

impl Counting {
    fn new(tier_up: bool) -> Arc<Counting> {
        let stub = StubBackend::new("stub:ir").unwrap();
        Arc::new(Counting { stub, tier_up, prepared: AtomicUsize::new(0), baseline: Mutex::default() })
    }

    fn compiler(self: &Arc<Self>, cache_dir: Option<PathBuf>) -> Arc<Compiler> {
        let extensions = Extensions { backends: vec![self.clone()], ..Extensions::default() };
        let config = Config { background_threads: 1, baseline_tier: true, cache_dir, ..Config::default() };
        Compiler::with_extensions(config, extensions)
    }
}

/// The kernels whose baseline code is made when a program is built, and how often the backend is initialised alone.
/// Launches go over from baseline code to optimised code, or not.
fn ahead(tier_up: bool, source: &str) -> (Vec<String>, usize) {
    let counting = Counting::new(tier_up);
    let compiler = counting.compiler(None);
    drop(compiler.executable(&program(&compiler, source, ""), counting.target()));
    let baseline = counting.baseline.lock().unwrap().clone();
    (baseline, counting.prepared.load(Ordering::Relaxed))
}

#[test]
fn a_program_with_several_kernels_is_not_compiled_before_one_is_chosen() {
    let one = "kernel void a(global int *p) { p[0] = 1; }";
    let two = format!("{one} kernel void b(global int *p) {{ p[0] = 2; }}");
    assert_eq!(ahead(true, one), (vec!["a".to_owned()], 0));
    assert_eq!(ahead(true, &two), (vec![], 1));
}

/// Many work-items would take long with it.
#[test]
fn baseline_code_that_a_launch_would_end_with_is_not_made_before_the_launch() {
    assert_eq!(ahead(false, "kernel void a(global int *p) { p[0] = 1; }"), (vec![], 0));
}

#[test]
fn baseline_code_is_kept_if_launches_end_with_it() {
    for (tier_up, made) in [(true, 2), (false, 1)] {
        let dir = tempfile::tempdir().unwrap();
        let counting = Counting::new(tier_up);
        for _ in 0..2 {
            let compiler = counting.compiler(Some(dir.path().join("cache")));
            let source = "kernel void a(global int *p) { p[0] = 1; } kernel void b(global int *p) { p[0] = 2; }";
            let executable = compiler.executable(&program(&compiler, source, ""), counting.target());
            assert!(executable.kernel("b", SpecializationKey::baseline()).is_ok());
        }
        assert_eq!(counting.baseline.lock().unwrap().len(), made, "{tier_up}");
    }
}

/// A launch may begin with it although there is optimised code, which the device would have to translate first.
#[test]
fn kept_baseline_code_is_found_beside_optimised_code_and_never_made() {
    let dir = tempfile::tempdir().unwrap();
    for (is_kept, makes) in [(false, true), (true, false)] {
        let counting = Counting::new(false);
        let compiler = counting.compiler(Some(dir.path().join("cache")));
        let source = "kernel void a(global int *p) { p[0] = 1; }";
        let executable = compiler.executable(&program(&compiler, source, ""), counting.target());
        assert_eq!(executable.kept_baseline("a").is_some(), is_kept);
        if makes {
            executable.kernel("a", SpecializationKey::baseline()).unwrap();
        }
        executable.kernel("a", Variant::Vector).unwrap();
        assert!(executable.baseline_kernel("a").is_none());
        assert_eq!(executable.kept_baseline("a").is_some(), is_kept || makes);
        assert_eq!(counting.baseline.lock().unwrap().len(), usize::from(makes));
    }
}

#[test]
fn kept_code_needs_no_backend() {
    let source = "kernel void a(global int *p) { p[0] = 1; } kernel void b(global int *p) { p[0] = 2; }";
    let dir = tempfile::tempdir().unwrap();
    // The second compiler finds what the first one made.
    for prepared in [1, 0] {
        let counting = Counting::new(true);
        let compiler = counting.compiler(Some(dir.path().join("cache")));
        let executable = compiler.executable(&program(&compiler, source, ""), counting.target());
        assert_eq!(counting.prepared.load(Ordering::Relaxed), prepared);
        executable.kernel("b", Variant::Vector).unwrap();
    }
}

#[test]
fn what_is_kept_across_barriers_is_known_without_code() {
    let source = "
        kernel void little(global float *p, local float4 *q) {
            int l = get_local_id(0);
            for (int i = 0; i < 64; i++) {
                q[l] = vload4(i, p);
                barrier(CLK_LOCAL_MEM_FENCE);
                p[i] += sin(q[l ^ 1].x);
                barrier(CLK_LOCAL_MEM_FENCE);
            }
        }
        kernel void much(global int *p) {
            int a[1000000];
            for (int i = 0; i < 1000000; i += p[0]) a[i] = i;
            barrier(CLK_LOCAL_MEM_FENCE);
            p[get_local_id(0)] = a[p[1] + get_local_id(0)];
        }";
    let compiler = common::compiler();
    let program = program(&compiler, source, "");
    let executable = compiler.executable(&program, &StubBackend::new("stub:ir").unwrap().target().clone());
    let kept = |name| executable.kept_across_barriers(name).unwrap();
    // A group of 4096 such work-items takes at most a gigabyte.
    assert!(kept("little") < 256 << 10, "{}", kept("little"));
    assert!(kept("much") >= 4_000_000, "{}", kept("much"));
    assert_eq!(executable.kept_across_barriers("none"), None);
}
