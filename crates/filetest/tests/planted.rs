//! A miscompilation in any pass is found by switching passes off: one is planted in each pass for GPUs and in each pass
//! on LLVM's IR, on a kernel that the pass changes, and the kernel is run on the simulated GPU or on the CPU.

use cloom_compiler::{Compiler, Config};
use cloom_filetest::case::{CaseArg, NdRange, Outcome};
use cloom_filetest::program;
use cloom_filetest::rungs::{Cpu, Interpreter, Rung};
use cloom_filetest::simulated_gpu::SimulatedGpu;
use cloom_ir::{BinOp, Function, Module, Op, Scalar};
use cloom_llvm::own_passes::{
    DEMOTE_WIDE, FLATTEN_GUARDS, LEGALISE_GPU, LEGALISE_MASKS, LIMIT_UNROLLING, PRESERVE_INCREMENTS,
    SINGLE_ENTRY_CYCLES, TRUE_BACK_EDGES, UNROLL_INNERMOST,
};
use cloom_passes::{PROMOTE_ARRAYS, Pass, PassId, PassOptions, RunPass, UNROLL_BARRIER_LOOPS};
use cloom_spmd::passes::COARSEN;

/// A pass for a GPU, and a kernel that it changes: it has a buffer of 64 numbers to write, one to read, and `n`, 40.
const ON_GPU: &[(PassId, &str)] = &[
    (
        PROMOTE_ARRAYS.id,
        "kernel void k(global int *p, global int *q, int n) {
             int g = get_global_id(0), a[18], s = 0;
             for (int i = 0; i < 18; i++) a[i] = q[(g + i) % 64];
             for (int r = 0; r < 18; r++)
                 for (int i = 17; i > r; i--)
                     if (a[i] < a[i - 1]) { int t = a[i]; a[i] = a[i - 1]; a[i - 1] = t; }
             for (int i = 0; i < 18; i++) s = s * 3 + a[i];
             p[g] = s;
         }",
    ),
    (
        UNROLL_BARRIER_LOOPS.id,
        "kernel void k(global int *p, global int *q, int n) {
             local int row[8];
             int l = get_local_id(0), v = q[get_global_id(0)];
             for (int i = 0; i < n; i++) {
                 row[l] = v + i;
                 barrier(CLK_LOCAL_MEM_FENCE);
                 v = row[(l + 1) % 8];
                 barrier(CLK_LOCAL_MEM_FENCE);
             }
             p[get_global_id(0)] = v;
         }",
    ),
    (
        UNROLL_INNERMOST,
        "kernel void k(global int *p, global int *q, int n) {
             int i = get_global_id(0), s = 0;
             for (int j = 0; j < n; j++) {
                 int v = q[(i + j) & 63];
                 if ((v & 15) == 3) break;
                 s += v;
             }
             p[i] = s;
         }",
    ),
    (
        LIMIT_UNROLLING,
        "kernel void k(global int *p, global int *q, int n) {
             int s = get_global_id(0);
             for (int i = 0; i < n; i++) s += q[i] * 5 ^ i;
             p[get_global_id(0)] = s;
         }",
    ),
    (
        FLATTEN_GUARDS,
        "kernel void k(global uint *p, global uint *q, int n) {
             int i = get_global_id(0);
             uint s = 0;
             if (i < n) s = q[i] >> 7;
             if (i > n) s += q[i - 1] * q[i - 1];
             p[i] = s;
         }",
    ),
    (
        TRUE_BACK_EDGES,
        "kernel void k(global int *p, global int *q, int n) {
             int s = get_global_id(0);
             for (int i = 0; i < n; i++) s = s * 5 ^ q[i];
             p[get_global_id(0)] = s;
         }",
    ),
    (
        PRESERVE_INCREMENTS,
        "kernel void k(global int *p, global int *q, int n) {
             local int shared[8];
             int l = get_local_id(0), s = 0;
             global const uchar *b = (global const uchar *)q;
             for (int i = 0; i < n; i++, b++) {
                 shared[l] = s;
                 barrier(CLK_LOCAL_MEM_FENCE);
                 if (i > l) s = shared[(l + 1) % 8] * q[l] + *b;
                 barrier(CLK_LOCAL_MEM_FENCE);
             }
             p[get_global_id(0)] = s;
         }",
    ),
    (COARSEN, "kernel void k(global int *p, global int *q, int n) { p[get_global_id(0)] = q[get_global_id(0)] + n; }"),
];

/// Required passes: no switch heals what they spoil.
const REQUIRED_ON_GPU: &[(PassId, &str)] = &[
    (
        SINGLE_ENTRY_CYCLES,
        "kernel void k(global int *p, global int *q, int n) {
             int i = get_global_id(0), s = 0;
             if (q[i] & 1) goto middle;
         begin:
             s += q[i];
         middle:
             s ^= i;
             if (++i < n) goto begin;
             p[get_global_id(0)] = s;
         }",
    ),
    (
        LEGALISE_GPU,
        "kernel void k(global int *p, global int *q, int n) {
             int i = get_global_id(0);
             short2 less = as_short2(q[i]) < as_short2(q[(i + 1) % 64]);
             p[i] = less.x + 3 * less.y;
         }",
    ),
];

/// A large switch, and loops that run while a lane is active.
fn on_cpu() -> Vec<(PassId, String)> {
    let case = |i: u32| format!("case {i}: v = v * {} + w; w ^= v;\n", 2 * i + 1);
    let cases: String = (0..1200).map(case).collect();
    vec![
        (
            DEMOTE_WIDE,
            format!(
                "kernel void k(global int *p, global int *q, int n) {{
                     int i = get_global_id(0), v = q[i], w = n;
                     switch (q[i] & 2047) {{ {cases} default: v++; }}
                     p[i] = v ^ w;
                 }}"
            ),
        ),
        (
            LEGALISE_MASKS,
            "kernel void k(global int *p, global int *q, int n) {
                 int i = get_global_id(0), x = q[i] & 1023, s = 0;
                 while (x > 1 && s < n) { x = x & 1 ? 3 * x + 1 : x >> 1; s++; }
                 p[i] = s + x;
             }"
            .into(),
        ),
    ]
}

const RANGE: NdRange = NdRange { work_dim: 1, offset: [0; 3], global: [64, 1, 1], local: [8, 1, 1] };

fn arguments() -> Vec<CaseArg> {
    let number = |i: u32| (i.wrapping_mul(0x9e37_79b9) >> 3).to_le_bytes();
    let numbers = (0..64).flat_map(number).collect();
    vec![CaseArg::Buffer(vec![0; 256]), CaseArg::Buffer(numbers), CaseArg::Bytes(40u32.to_le_bytes().into())]
}

fn run(rung: &dyn Rung, module: &Module, passes: &PassOptions) -> Result<Outcome, String> {
    rung.prepare_with(module, "k", passes)?.run(&RANGE, &arguments(), true)
}

/// The passes of `suspects` without which a kernel is right although one of them miscompiles.
fn guilty(rung: &dyn Rung, source: &str, planted: &PassOptions, suspects: &[PassId]) -> Vec<&'static str> {
    let compiler = Compiler::new(Config { cache_dir: None, ..Config::default() });
    let (module, _) = program::compile(&compiler, source, "-cl-std=CL3.0", &Default::default(), Some("k"))
        .unwrap_or_else(|log| panic!("{log}\n{source}"));
    let wanted = run(&Interpreter::REFERENCE, &module, &PassOptions::default());
    assert!(wanted.is_ok(), "{wanted:?}\n{source}");
    assert_eq!(run(rung, &module, &PassOptions::default()), wanted, "{source}");
    assert_ne!(run(rung, &module, planted), wanted, "nothing is spoiled in\n{source}");
    let heals = |id: &PassId| {
        let mut options = planted.clone();
        options.disabled.add(*id);
        run(rung, &module, &options) == wanted
    };
    suspects.iter().filter(|id| !id.required && heals(id)).map(|id| id.name).collect()
}

/// Makes the first constant that is added another one.
fn spoil(func: &mut Function) -> usize {
    let insts: Vec<_> = func.insts_in_layout().map(|(inst, _)| inst).collect();
    let is_sum = |&i: &cloom_ir::Inst| {
        let data = &func.insts[i];
        data.op == Op::Binary(BinOp::Add) && data.result.is_some_and(|r| func.ty(r).scalar == Scalar::I32)
    };
    let Some(sum) = insts.into_iter().find(is_sum) else { return 0 };
    func.insts[sum].op = Op::Binary(BinOp::Sub);
    1
}

fn planted(id: PassId) -> PassOptions {
    match [COARSEN, PROMOTE_ARRAYS.id, UNROLL_BARRIER_LOOPS.id].contains(&id) {
        true => {
            let spoils = Pass { id: PassId::optional("spoil", "a planted bug"), run: RunPass::Alone(spoil) };
            PassOptions { planted: Some((id, spoils)), ..PassOptions::default() }
        }
        false => PassOptions { spoiled: Some(id), ..PassOptions::default() },
    }
}

#[test]
fn a_fault_in_each_pass_for_gpus_is_found() {
    let all = cloom_compiler::passes::all();
    for &(id, source) in ON_GPU {
        let found = guilty(&SimulatedGpu { is_coarsened: id == COARSEN }, source, &planted(id), &all);
        assert!(found.contains(&id.name), "{}: {found:?}", id.name);
        // Others take the kernel to the pass; none that has nothing to do with it may be suspected.
        assert!(found.len() <= 4, "{}: {found:?}", id.name);
    }
}

#[test]
fn a_fault_in_a_required_pass_stays_whatever_is_switched_off() {
    let all = cloom_compiler::passes::all();
    for &(id, source) in REQUIRED_ON_GPU {
        let found = guilty(&SimulatedGpu { is_coarsened: false }, source, &planted(id), &all);
        assert!(found.len() <= 2, "{}: {found:?}", id.name);
    }
}

#[test]
fn a_fault_in_each_pass_on_llvm_ir_for_cpus_is_found() {
    for (id, source) in on_cpu() {
        // The large switch takes seconds to compile: it is not vectorised, and only a few other passes are tried.
        let rung = if id == DEMOTE_WIDE { Cpu::with_lanes(1, 1) } else { Cpu::with_isa("avx2") };
        let others = [cloom_passes::LICM.id, cloom_passes::SELECT.id, COARSEN];
        let found = guilty(&rung, &source, &planted(id), &[&others[..], &[id]].concat());
        assert_eq!(found, [id.name]);
    }
}
