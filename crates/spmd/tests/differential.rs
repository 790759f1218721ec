//! Random kernels, four ways: work-item by work-item or as a work-group function, as lowered or after scalar passes.
//! All must agree, on groups of one work-item, odd ones, and partial ones.

#[path = "common/generate.rs"]
mod generate;

use cloom_interp::{Arg, Machine, NdRange, Options, Program, WorkGroupLayout};
use cloom_ir::{Module, verify};
use cloom_spmd::{VectorOptions, WorkGroup, work_group_function};
use cloom_target::Target;

/// How many functions were put into lanes.
static IN_LANES: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);

/// What a run leaves behind.
type Memory = Result<(Vec<u8>, Vec<u8>), String>;

fn checked(module: &Module, stage: &str) {
    let errors = verify(module);
    assert!(errors.is_empty(), "{stage}: {}\n{module}", errors[0]);
}

fn run(module: Module, range: &NdRange, layout: Option<WorkGroupLayout>) -> Memory {
    let kernel = module.kernels().next().unwrap();
    let program = Program::new(module).unwrap_or_else(|e| panic!("{}", e[0]));
    let options = Options { fuel: 50_000_000, ..Options::default() };
    let mut machine = Machine::new(&program, options).unwrap();
    let items: u64 = range.global.iter().product();
    let out = machine.buffer(&vec![0xee; (items * generate::OUT * 4) as usize]).unwrap();
    let words: Vec<u8> =
        (0..=generate::WORDS as u32).flat_map(|i| (i.wrapping_mul(0x9e37_79b1) >> 3).to_le_bytes()).collect();
    let input = machine.buffer(&words).unwrap();
    let args = [
        Arg::Buffer(out),
        Arg::Buffer(input),
        Arg::Bytes(3u32.to_le_bytes().to_vec()),
        Arg::Local(4 * generate::WORDS),
    ];
    let result = match layout {
        Some(layout) => machine.run_work_groups(&layout, range, &args, &mut ()),
        None => machine.run_kernel(kernel, range, &args, &mut ()),
    };
    result.map_err(|f| format!("{f:?}"))?;
    let read = |p, n| machine.memory.read(p, n).unwrap().0.to_vec();
    Ok((read(out, items * generate::OUT * 4), read(input, words.len() as u64)))
}

fn group(mut module: Module, lanes: u16) -> (Module, WorkGroupLayout) {
    let kernel = module.kernels().next().unwrap();
    let (options, target) = (VectorOptions::with_lanes(lanes), Target::generic());
    let made = work_group_function(&mut module, kernel, options, &target, &Default::default()).unwrap();
    checked(&module, "spmd");
    let WorkGroup { func, launch, local_size, .. } = made;
    let layout = WorkGroupLayout { kernel, func, local_size, launch };
    (module, layout)
}

fn range(global: [u64; 3], local: [u64; 3], offset: [u64; 3]) -> NdRange {
    NdRange { work_dim: 3, offset, global, local }
}

fn agree(seed: u64) {
    let lowered = generate::module(seed);
    checked(&lowered, "generated");
    let kernel = lowered.kernels().next().unwrap();
    let mut inlined = lowered.clone();
    cloom_passes::inline::run(&mut inlined, kernel);
    checked(&inlined, "inline");
    let mut optimised = lowered.clone();
    cloom_passes::run(&mut optimised, kernel, |pass, module| checked(module, pass));
    let (grouped, layout) = group(inlined.clone(), 1);
    let (both, both_layout) = group(optimised.clone(), 1);
    // What comes out of `spmd` goes through the passes again before code is made of it.
    let mut polished = both.clone();
    cloom_passes::run(&mut polished, both_layout.func, |pass, module| checked(module, pass));
    let vectors: Vec<(u16, Module, WorkGroupLayout)> = [2, 4, 8]
        .iter()
        .flat_map(|&lanes| [inlined.clone(), optimised.clone()].map(|m| (lanes, m)))
        .map(|(lanes, m)| {
            let (m, layout) = group(m, lanes);
            IN_LANES.fetch_add(usize::from(layout.launch.lanes > 1), std::sync::atomic::Ordering::Relaxed);
            (lanes, m, layout)
        })
        .collect();
    let ranges = [
        range([1, 1, 1], [1, 1, 1], [0; 3]),
        range([5, 1, 1], [5, 1, 1], [3, 0, 0]),
        range([7, 1, 1], [4, 1, 1], [0; 3]),
        range([5, 3, 2], [2, 3, 1], [1, 0, 2]),
        range([3, 5, 3], [2, 2, 2], [0; 3]),
    ];
    for range in &ranges {
        let want = run(lowered.clone(), range, None);
        let Ok(_) = want else { panic!("seed {seed}: {want:?}\n{lowered}") };
        let ways = [
            ("inlined", run(inlined.clone(), range, None)),
            ("optimised", run(optimised.clone(), range, None)),
            ("grouped", run(grouped.clone(), range, Some(layout))),
            ("optimised and grouped", run(both.clone(), range, Some(both_layout))),
            ("optimised, grouped, optimised", run(polished.clone(), range, Some(both_layout))),
        ];
        for &(lanes, ref module, layout) in &vectors {
            let got = run(module.clone(), range, Some(layout));
            assert!(got == want, "seed {seed}, {range:?}: {lanes} lanes differ: {:?}\n{lowered}", got.err());
        }
        for (way, got) in ways {
            assert!(got == want, "seed {seed}, {range:?}: {way} differs: {:?}\n{lowered}", got.err());
        }
    }
}

#[test]
fn random_kernels_agree() {
    let seeds: u64 = std::env::var("CLOOM_TEST_SEEDS").ok().and_then(|s| s.parse().ok()).unwrap_or(300);
    for seed in 0..seeds {
        agree(seed);
    }
    let lanes = IN_LANES.load(std::sync::atomic::Ordering::Relaxed) as u64;
    assert!(lanes >= 6 * seeds * 9 / 10, "only {lanes} of {} functions were put into lanes", 6 * seeds);
}
