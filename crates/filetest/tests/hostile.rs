//! Hostile kernels under bounds checks: whatever they compute, they access their own memory only.
//!
//! The interpreter sees each access that leaves its object, of the kernel after the scalar passes and of its vectorised
//! forms. On the CPU, what lies around the buffers must keep its bytes, and the process lives.
//!
//! `CLOOM_TEST_FIRST` and `CLOOM_TEST_KERNELS` choose the seeds, `CLOOM_TEST_LAUNCHES` how often each kernel is
//! launched on the CPU. A launch there that goes on for long is asked to end, as in safe mode.

#![allow(clippy::print_stdout, reason = "it says how much it has run")]

use cloom_filetest::case::CaseArg;
use cloom_filetest::generate::types::Rng;
use cloom_filetest::generate::{Profile, generate};
use cloom_filetest::hostile::{damage, damage_args, hidden_args};
use cloom_filetest::ladder::Ladder;
use cloom_filetest::rungs::{Cpu, Interpreter, Rung, Stage};
use cloom_ir::Module;
use cloom_llvm::OptLevel;
use cloom_passes::{BoundsChecks, PassOptions};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicI32, AtomicU64};
use std::time::{Duration, Instant};

/// Kernels of the ordinary test.
const KERNELS: u64 = 80;

/// Every so many of them run on the CPU too: code for it takes longest.
const CPU_EACH: u64 = 4;

/// Launches of each kernel on the CPU, with other arguments each time.
const LAUNCHES: u64 = 8;

/// A launch that goes on for long is ended; that is no failure.
const FUEL: u64 = 3_000_000;

/// What a fault may be: the kernel does not end, or its work-items part at a barrier.
const HARMLESS: [&str; 6] = [
    "the limit of instructions is reached",
    "times and has not ended",
    "wait at different barriers",
    "ended while others wait",
    "not vectorised",
    "the limit of memory is reached",
];

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

/// The word that kernels poll: they are not asked to end.
static STOP: AtomicI32 = AtomicI32::new(0);

/// A hostile module, the range and the arguments of a launch, of which so many are those of the source; `None` if the
/// damage left nothing valid.
fn hostile(ladder: &Ladder, seed: u64) -> Option<(Module, cloom_interp::NdRange, Vec<CaseArg>, usize)> {
    let generated = generate(seed, Profile::Total);
    let mut module = ladder.module(&generated.source(), generated.options).ok()?;
    let mut random = Rng::new(seed);
    let range = generated.ranges[random.below(generated.ranges.len() as u64) as usize];
    let mut args = generated.arguments(&module, &range);
    damage(&mut module, 1 + seed % 12, &mut random);
    if !seed.is_multiple_of(5) {
        damage_args(&mut args, &mut random);
    }
    if !cloom_ir::verify(&module).is_empty() {
        return None;
    }
    let shown = args.len();
    complete(&module, &mut args);
    Some((module, range, args, shown))
}

/// Adds the hidden arguments to those of the source.
fn complete(module: &Module, args: &mut Vec<CaseArg>) {
    let hidden = hidden_args(module, "k", args);
    args.extend(hidden);
    args.push(CaseArg::Bytes((STOP.as_ptr().expose_provenance() as u64).to_le_bytes().to_vec()));
}

/// Asks kernels to end that go on for long: what the launcher does in safe mode.
struct Watchdog {
    /// When the running launch should have ended, in milliseconds after `start`; 0 while none runs.
    deadline: AtomicU64,
    start: Instant,
}

impl Watchdog {
    const LIMIT: Duration = Duration::from_millis(300);

    fn new() -> &'static Watchdog {
        let watchdog: &'static Watchdog =
            Box::leak(Box::new(Watchdog { deadline: AtomicU64::new(0), start: Instant::now() }));
        std::thread::spawn(move || {
            loop {
                std::thread::sleep(Watchdog::LIMIT / 4);
                let deadline = watchdog.deadline.load(Relaxed);
                if deadline != 0 && watchdog.now() > deadline {
                    STOP.store(1, Relaxed);
                }
            }
        });
        watchdog
    }

    fn now(&self) -> u64 {
        self.start.elapsed().as_millis() as u64
    }

    /// Runs a launch, which ends soon.
    fn run<T>(&self, launch: impl FnOnce() -> T) -> T {
        STOP.store(0, Relaxed);
        self.deadline.store(self.now() + Watchdog::LIMIT.as_millis() as u64, Relaxed);
        let result = launch();
        self.deadline.store(0, Relaxed);
        result
    }
}

#[test]
fn hostile_kernels_stay_inside_of_their_memory() {
    let ladder = Ladder::new();
    let passes = PassOptions::default().checked(BoundsChecks::Silent);
    let fuel = FUEL;
    let rungs = [
        Interpreter { fuel, ..Interpreter::on(Stage::Passes) },
        Interpreter { fuel, ..Interpreter::with_lanes(Stage::Group, 1) },
        Interpreter { fuel, ..Interpreter::with_lanes(Stage::Group, 4) },
        Interpreter { fuel, ..Interpreter::with_lanes(Stage::Group, 16) },
    ];
    let (first, count) = (number("CLOOM_TEST_FIRST", 0), number("CLOOM_TEST_KERNELS", KERNELS));
    let (launches, watchdog) = (number("CLOOM_TEST_LAUNCHES", LAUNCHES), Watchdog::new());
    let cpu = Cpu::new(1, OptLevel::Default);
    let (mut run, mut ended, mut kept, mut on_cpu) = (0, 0, 0, 0);
    for seed in first..first + count {
        let Some((module, range, args, shown)) = hostile(&ladder, seed) else { continue };
        // Without the checks, many of them leave their memory.
        let plain =
            rungs[0].prepare_with(&module, "k", &PassOptions::default()).map(|p| p.run(&range, &args[..shown], false));
        kept += u64::from(matches!(plain, Ok(Err(why)) if !HARMLESS.iter().any(|harmless| why.contains(harmless))));
        if seed.is_multiple_of(CPU_EACH) {
            let ready = cpu.prepare_with(&module, "k", &passes).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
            let (mut random, mut stopped) = (Rng::new(seed), 0);
            for launch in 0..launches {
                // Some kernels do not end with any arguments.
                if stopped == 2 {
                    break;
                }
                let mut args = args.clone();
                if launch > 0 {
                    args.truncate(shown);
                    damage_args(&mut args, &mut random);
                    complete(&module, &mut args);
                }
                let result = watchdog.run(|| ready.run(&range, &args, false));
                stopped += STOP.load(Relaxed);
                on_cpu += 1;
                result.unwrap_or_else(|why| panic!("seed {seed}, launch {launch}, {}: {why}", cpu.name()));
            }
        }
        // All forms of some kernels, one of the others.
        let chosen = if seed.is_multiple_of(8) { &rungs[..] } else { &rungs[(seed % 4) as usize..][..1] };
        for rung in chosen {
            let ready = match rung.prepare_with(&module, "k", &passes) {
                Ok(ready) => ready,
                Err(why) if why.contains("not vectorised") || why.contains("barriers") => continue,
                Err(why) => panic!("seed {seed}, {}: {why}", rung.name()),
            };
            run += 1;
            match ready.run(&range, &args, false) {
                Ok(_) => ended += 1,
                Err(why) if HARMLESS.iter().any(|harmless| why.contains(harmless)) => {}
                Err(why) => panic!("seed {seed}, {}: {why}", rung.name()),
            }
        }
    }
    println!("{run} launches in the interpreter, {on_cpu} on the CPU");
    assert!(run * 2 > count, "{run} launches of {count} kernels");
    assert!(kept * 4 > count, "{kept} of {count} kernels needed the checks");
    assert!(ended * 4 > run, "{ended} of {run} launches came to their end");
}
