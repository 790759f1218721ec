//! The math functions give the same bits in the interpreter, before and after the passes, and in compiled code,
//! optimised or not, on every instruction set: nothing on the way contracts, reorders or replaces what the library
//! computes.

use cloom_compiler::{Compiler, Config};
use cloom_filetest::accuracy::measure::{kernel, run};
use cloom_filetest::accuracy::{self, Precision, sample};
use cloom_filetest::case::NdRange;
use cloom_filetest::device::{Bench, Data};
use cloom_filetest::rungs::{Cpu, Interpreter, Rung, Stage};
use cloom_filetest::{Case, CaseArg, program};
use cloom_llvm::OptLevel;

const ITEMS: usize = 96;

/// Replaces NaNs by one of them: which one an operation returns is unspecified.
fn without_nans(p: Precision, bytes: &[u8]) -> Vec<u64> {
    let one = |x: f64| if x.is_nan() { u64::MAX } else { x.to_bits() };
    p.values(bytes).into_iter().map(one).collect()
}

#[test]
fn every_math_function_gives_the_same_bits_on_every_rung() {
    let compiler = Compiler::new(Config::default());
    // The oldest instruction set has no fused operations: they are functions there.
    let cpus =
        [Cpu::new(1, OptLevel::Default), Cpu::new(1, OptLevel::None), Cpu::with_isa("avx2"), Cpu::with_isa("sse4.2")];
    let group = Interpreter::on(Stage::Group);
    let mut rungs: Vec<&dyn Rung> = vec![&Interpreter::REFERENCE, &group];
    rungs.extend(cpus.iter().map(|cpu| cpu as &dyn Rung));
    let mut wrong = Vec::new();
    for (name, sig) in accuracy::functions() {
        // Other names of functions that are there too.
        if name.starts_with("half_") || name.starts_with("native_") {
            continue;
        }
        for p in [Precision::Single, Precision::Double, Precision::Half] {
            let special = sample::samples(name, sig, p, 0, 1);
            let random = sample::samples(name, sig, p, special.len() + ITEMS / 2, 3);
            let step = special.len().div_ceil(ITEMS / 2);
            let samples: Vec<_> =
                special.iter().step_by(step).chain(random.iter().rev()).take(ITEMS).copied().collect();
            let mut arrays: [Vec<u8>; 3] = Default::default();
            let mut n = Vec::new();
            for s in &samples {
                for (array, x) in arrays.iter_mut().zip(s.x) {
                    p.put(array, x);
                }
                n.extend(s.n.to_le_bytes());
            }
            let [a, b, c] = arrays.map(CaseArg::Buffer);
            let fresh = |size: usize| CaseArg::Buffer(vec![0; samples.len() * size]);
            let (module, kernel) =
                program::compile(&compiler, &kernel(name, sig, p, 1), "", cpus[0].target(), None).unwrap();
            let case = Case {
                module,
                kernel,
                range: NdRange::linear(samples.len() as u64, 16),
                args: vec![a, b, c, CaseArg::Buffer(n), fresh(p.size()), fresh(p.size()), fresh(4)],
                initialised: true,
            };
            let results: Vec<_> = rungs
                .iter()
                .map(|rung| {
                    let buffers = rung.run(&case).unwrap_or_else(|e| panic!("{name}: {}: {e}", rung.name())).buffers;
                    (without_nans(p, &buffers[4]), without_nans(p, &buffers[5]), buffers[6].clone())
                })
                .collect();
            for (rung, result) in rungs.iter().zip(&results) {
                if *result != results[0] {
                    let at = samples.iter().enumerate().find(|(i, _)| result.0[*i] != results[0].0[*i]);
                    wrong.push(format!("{name} of {} on {}: {at:?}", p.name(), rung.name()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Constant arguments have the same results as arguments from memory: constant folding, by the passes or LLVM, computes
/// like the device.
#[test]
fn folded_calls_give_what_calls_at_run_time_give() {
    let bench = Bench::new(1);
    for (name, sig) in accuracy::functions() {
        if !["T(T)", "T(T,T)", "T(T,N)"].contains(&sig) || name.starts_with("half_") || name.starts_with("native_") {
            continue;
        }
        for p in [Precision::Single, Precision::Double, Precision::Half] {
            let special = sample::samples(name, sig, p, 0, 1);
            let all = sample::samples(name, sig, p, special.len() + 10, 5);
            let step = special.len() / 30;
            let samples: Vec<_> = special.iter().step_by(step).chain(all.iter().rev().take(10)).copied().collect();
            let (t, bits) = (p.name(), p.bits_name());
            let literal = |x: f64| format!("as_{t}(({bits}){:#x}ul)", p.to_bits(x));
            let calls: String = samples
                .iter()
                .enumerate()
                .map(|(i, s)| {
                    let second = match sig {
                        "T(T)" => String::new(),
                        "T(T,T)" => format!(", {}", literal(s.x[1])),
                        _ => format!(", {}", s.n),
                    };
                    format!("r[{i}] = {name}({}{second});\n", literal(s.x[0]))
                })
                .collect();
            let built = bench.build(&format!("kernel void k(global {t} *r) {{ {calls} }}"), "").unwrap();
            let out = built.run("k", 1, 1, &[Data::Fresh(samples.len() * p.size())]).unwrap_or_else(|e| panic!("{e}"));
            let late = run(&bench, (name, sig), p, 1, "", &samples).unwrap_or_else(|e| panic!("{e}"));
            for ((s, got), late) in samples.iter().zip(p.values(&out[0])).zip(late) {
                let same = got.to_bits() == late.value.to_bits() || (got.is_nan() && late.value.is_nan());
                assert!(same, "{name}({s:?}) of {t} is {got:e} when folded, {:e} when not", late.value);
            }
        }
    }
}
