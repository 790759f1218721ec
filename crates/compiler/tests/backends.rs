//! Several kinds of device in one compiler: a second backend is found by its target, and hooks change the IR for all of
//! them.

mod common;

use cloom_compiler::testing::StubBackend;
use cloom_compiler::{
    Backend, CacheFolder, Capabilities, CompileError, Compiler, Config, Extensions, Generated, IrHook, KernelInput,
    Position, Program, SpecializationKey, StageLog, Variant,
};
use cloom_hal::Device;
use cloom_hal_cpu::CpuDevice;
use cloom_interp::{Machine, NdRange, Options};
use cloom_ir::{FuncRef, Module, Op};
use cloom_spmd::InternalError;
use cloom_target::Target;
use common::{buffer, ints, program, run};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const SOURCE: &str = "
    kernel void turn(global int *p, local int *row, int by) {
        local int first;
        int l = get_local_id(0), n = get_local_size(0);
        if (l == 0) first = p[get_global_id(0)];
        row[l] = p[get_global_id(0)] * by;
        barrier(CLK_LOCAL_MEM_FENCE);
        p[get_global_id(0)] = row[(l + 1) % n] + first + max(l, 3);
    }";

fn with_stub(config: Config) -> (Arc<Compiler>, Arc<StubBackend>) {
    let stub = Arc::new(StubBackend::new("stub:ir").unwrap());
    let extensions = Extensions { backends: vec![stub.clone()], ..Extensions::default() };
    (Compiler::with_extensions(config, extensions), stub)
}

/// Runs the code of the stub: IR, in the interpreter.
fn interpret(code: &[u8], entry: &str, range: &NdRange, input: &[i32], by: i32) -> Vec<i32> {
    let module = cloom_ir::parse(std::str::from_utf8(code).unwrap()).unwrap();
    let kernel = module.find(entry).unwrap();
    let program = cloom_interp::Program::new(module).unwrap();
    let mut machine = Machine::new(&program, Options::default()).unwrap();
    let bytes: Vec<u8> = input.iter().flat_map(|x| x.to_le_bytes()).collect();
    let p = machine.buffer(&bytes).unwrap();
    let args = [
        cloom_interp::Arg::Buffer(p),
        cloom_interp::Arg::Local(4 * range.local[0]),
        cloom_interp::Arg::Bytes(by.to_le_bytes().to_vec()),
    ];
    machine.run_kernel(kernel, range, &args, &mut ()).unwrap();
    let bytes = machine.memory.read(p, bytes.len() as u64).unwrap().0;
    bytes.as_chunks::<4>().0.iter().map(|b| i32::from_le_bytes(*b)).collect()
}

#[test]
fn one_program_runs_on_two_kinds_of_device() {
    let (compiler, stub) = with_stub(Config::default());
    let program = program(&compiler, SOURCE, "");
    let device = CpuDevice::new(1, None);
    let input: Vec<i32> = (0..24).map(|x| x * x - 7).collect();
    let (global, local) = (24, 8);

    let artifact = compiler.executable(&program, stub.target()).kernel("turn", Variant::Vector).unwrap();
    assert_eq!(artifact.artifact.target.name(), "stub:ir");
    let range = NdRange::linear(global, local);
    let by_ir = interpret(&artifact.artifact.code, &artifact.artifact.entry, &range, &input, 5);

    let executable = compiler.executable(&program, &device.info().target);
    let code = executable.kernel("turn", Variant::Vector).unwrap().artifact.clone();
    let bytes: Vec<u8> = input.iter().flat_map(|x| x.to_le_bytes()).collect();
    let p = buffer(&device, &bytes);
    let five = 5i32.to_le_bytes();
    let args = [common::Arg::Buffer(&*p), common::Arg::Local(4 * local), common::Arg::Bytes(&five)];
    run(&device, code.clone(), [global, 1, 1], [local, 1, 1], &args);
    assert_eq!(ints(&*p), by_ir);
    assert_ne!(by_ir, input);

    // Neither device loads the other's code.
    assert!(device.load(artifact.artifact.clone(), None).is_err());
    let other = cloom_artifact::KernelArtifact { target: code.target.clone(), ..(*artifact.artifact).clone() };
    assert!(device.load(Arc::new(other), None).is_err(), "it runs work-items");
}

#[test]
fn a_backend_without_variants_and_tiers_makes_one_piece_of_code() {
    let config = Config { background_threads: 1, baseline_tier: true, ..Config::default() };
    let (compiler, stub) = with_stub(config);
    let executable = compiler.executable(&program(&compiler, SOURCE, ""), stub.target());
    assert!(executable.try_kernel("turn", Variant::Vector).is_none());
    assert!(executable.baseline_kernel("turn").is_none());
    let first = executable.kernel("turn", Variant::ShortRow(2)).unwrap();
    assert!(Arc::ptr_eq(&first, &executable.kernel("turn", Variant::Scalar).unwrap()));
    assert!(executable.try_kernel("turn", Variant::Vector).is_some());
}

/// A backend whose vectoriser has a bug that costs only speed.
struct Buggy(StubBackend);

impl Backend for Buggy {
    fn target(&self) -> &Target {
        self.0.target()
    }

    fn capabilities(&self) -> Capabilities {
        self.0.capabilities()
    }

    fn compile(&self, input: KernelInput<'_>, log: &mut StageLog) -> Result<Generated, CompileError> {
        let internal_error = Some(InternalError { what: "planted", file: file!(), line: line!() });
        Ok(Generated { internal_error, ..self.0.compile(input, log)? })
    }
}

#[test]
fn each_kernel_that_a_bug_made_slow_is_counted() {
    let backend = Arc::new(Buggy(StubBackend::new("stub:ir").unwrap()));
    let extensions = Extensions { backends: vec![backend.clone()], ..Extensions::default() };
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("cache");
    let config = Config { cache_dir: Some(folder.clone()), ..Config::default() };
    let compiler = Compiler::with_extensions(config, extensions);
    let source = "kernel void a(global int *p) { p[0] = 1; } kernel void b(global int *p) { p[0] = 2; }";
    let executable = compiler.executable(&program(&compiler, source, ""), backend.target());
    let count = |name: &str| {
        executable.kernel(name, Variant::Vector).unwrap();
        compiler.internal_errors()
    };
    assert_eq!((compiler.internal_errors(), count("a"), count("a"), count("b")), (0, 1, 1, 2));
    let lines = CacheFolder::open(&folder).unwrap().bugs();
    let is_told =
        |(line, name): (&String, &str)| line.contains(&format!("kernel `{name}`")) && line.contains("planted");
    assert!(lines.len() == 2 && lines.iter().zip(["a", "b"]).all(is_told), "{lines:?}");
    // Elsewhere the code comes from the cache, and nothing is written down again.
    let config = Config { cache_dir: Some(folder.clone()), ..Config::default() };
    let extensions = Extensions { backends: vec![backend.clone()], ..Extensions::default() };
    let compiler = Compiler::with_extensions(config, extensions);
    let executable = compiler.executable(&program(&compiler, source, ""), backend.target());
    assert!(executable.kernel("a", Variant::Vector).unwrap().cached);
    assert_eq!(CacheFolder::open(&folder).unwrap().bugs(), lines);
}

#[test]
fn code_of_two_backends_has_its_own_place_in_the_disk_cache() {
    let dir = tempfile::tempdir().unwrap();
    let config = Config { cache_dir: Some(dir.path().join("cache")), ..Config::default() };
    let get = |target: Option<&CpuDevice>| {
        let (compiler, stub) = with_stub(config.clone());
        let target = target.map_or(stub.target(), |device| &device.info().target).clone();
        let executable = compiler.executable(&program(&compiler, SOURCE, ""), &target);
        let built = executable.kernel("turn", Variant::Vector).unwrap();
        (built.cached, built.artifact.target.name().to_owned())
    };
    let device = CpuDevice::new(1, None);
    let cpu = device.info().target.name().to_owned();
    assert_eq!([get(None), get(Some(&device))], [(false, "stub:ir".to_owned()), (false, cpu.clone())]);
    assert_eq!([get(None), get(Some(&device))], [(true, "stub:ir".to_owned()), (true, cpu)]);
}

#[test]
fn a_target_may_describe_its_machine() {
    let stub = Arc::new(StubBackend::new("stub:ir+work-item,simd64").unwrap());
    let extensions = Extensions { backends: vec![stub.clone()], ..Extensions::default() };
    let compiler = Compiler::with_extensions(Config::default(), extensions);
    let executable = compiler.executable(&program(&compiler, SOURCE, ""), stub.target());
    let artifact = executable.kernel("turn", Variant::Vector).unwrap().artifact.clone();
    assert_eq!((artifact.subgroup_size, artifact.cpu()), (Some(64), None));
    // Another description is another target.
    let other = "stub:ir+work-item,simd32".parse().unwrap();
    let why = compiler.executable(&program(&compiler, SOURCE, ""), &other).kernel("turn", Variant::Vector).err();
    assert_eq!(why, Some(CompileError::NoBackend("stub:ir+work-item,simd32".into())));
    assert!(StubBackend::new("stub:ir+warps").is_err());
}

#[test]
fn a_target_without_a_backend_is_refused_by_name() {
    let (compiler, _) = with_stub(Config::default());
    let program: Arc<Program> = program(&compiler, SOURCE, "");
    let target = "stub:another".parse().unwrap();
    let why = compiler.executable(&program, &target).kernel("turn", Variant::Vector).err();
    assert_eq!(why, Some(CompileError::NoBackend("stub:another".into())));
    assert!(why.unwrap().to_string().contains("stub:another"));
    assert!(matches!(compiler.stages(&program, "turn", &target, Variant::Vector), Err(CompileError::NoBackend(_))));
}

/// Counts stores and its own calls.
struct Counter {
    name: &'static str,
    position: Position,
    stores: AtomicUsize,
    calls: AtomicUsize,
}

impl IrHook for Counter {
    fn name(&self) -> &str {
        self.name
    }

    fn position(&self) -> Position {
        self.position
    }

    fn run(&self, module: &mut Module, kernel: FuncRef) {
        let ops = module.funcs[kernel].insts_in_layout().map(|(_, data)| &data.op);
        self.stores.store(ops.filter(|op| matches!(op, Op::Store { .. })).count(), Ordering::Relaxed);
        self.calls.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn hooks_see_each_kernel_at_their_position_and_are_part_of_the_key() {
    let dir = tempfile::tempdir().unwrap();
    let config = Config { cache_dir: Some(dir.path().join("cache")), ..Config::default() };
    let device = CpuDevice::new(1, None);
    let hook =
        |name, position| Arc::new(Counter { name, position, stores: AtomicUsize::new(0), calls: AtomicUsize::new(0) });
    let (before, after) = (hook("before", Position::BeforePasses), hook("after", Position::AfterPasses));
    let compile = |hooks: Vec<Arc<dyn IrHook>>| {
        let compiler = Compiler::with_extensions(config.clone(), Extensions { hooks, ..Extensions::default() });
        let executable = compiler.executable(&program(&compiler, SOURCE, ""), &device.info().target);
        executable.kernel("turn", SpecializationKey::from(Variant::Vector)).unwrap().cached
    };
    assert!(!compile(vec![before.clone(), after.clone()]));
    let stores = [&before, &after].map(|h| h.stores.load(Ordering::Relaxed));
    // Before the passes, variables are memory; afterwards only the source's stores are left.
    assert!(stores[0] > stores[1] && stores[1] == 3, "{stores:?}");
    assert!(compile(vec![before.clone(), after.clone()]), "it is in the cache");
    assert!(!compile(vec![before.clone()]), "another key");
    assert_eq!([&before, &after].map(|h| h.calls.load(Ordering::Relaxed)), [2, 1]);
}
