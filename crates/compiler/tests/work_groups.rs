//! Kernels in IR through `spmd`, code generation and the CPU device: barriers on every local size, against results
//! that are computed here.

use cloom_artifact::{KernelArtifact, KernelCode, LaunchForm};
use cloom_hal::{Device, Launch, NdRange, PrintSink};
use cloom_hal_cpu::CpuDevice;
use cloom_ir::{Module, parse, verify};
use cloom_llvm::OptLevel;
use cloom_spmd::{VectorOptions, work_group_function};
use std::sync::Arc;

struct Silent;

impl PrintSink for Silent {
    fn print(&self, _: u32, _: u64, _: &[u8], _: &dyn Fn(u64) -> Option<Vec<u8>>) {}
}

fn checked(module: &Module) {
    let errors = verify(module);
    assert!(errors.is_empty(), "{}\n{module}", errors[0]);
}

/// Runs the only kernel of a text on a buffer of `i32`s with `passes` or without.
fn run(text: &str, global: u64, local: u64, passes: bool) -> Vec<i32> {
    let mut module = parse(text).unwrap_or_else(|e| panic!("{e}"));
    checked(&module);
    let kernel = module.kernels().next().unwrap();
    if passes {
        cloom_passes::run(&mut module, kernel, |_, _| {});
    } else {
        cloom_passes::inline::run(&mut module, kernel);
    }
    checked(&module);
    let device = CpuDevice::new(2, None);
    let target = device.info().target.clone();
    let group = work_group_function(&mut module, kernel, VectorOptions::with_lanes(1), &target, &Default::default());
    let group = group.unwrap();
    checked(&module);
    let options = cloom_llvm::Options {
        target,
        level: if passes { OptLevel::Default } else { OptLevel::None },
        denorms_are_zero: false,
        texts: false,
        lines: false,
        count: false,
    };
    let code = cloom_llvm::compile(&module, group.func, &options, &cloom_passes::PassOptions::default()).unwrap();
    let code = KernelCode {
        target: options.target,
        code: code.object,
        entry: code.symbols[0].clone(),
        local_size: group.local_size,
        private_size: code.private_size,
        subgroup_size: None,
        denorms_are_zero: false,
        launch: LaunchForm::WorkGroup(group.launch),
    };
    let artifact = KernelArtifact::new(&module, kernel, code).unwrap();
    let kernel = device.load(Arc::new(artifact), None).unwrap();
    let out = device.allocate(global * 4).unwrap();
    let args = out.device_address().to_le_bytes();
    let range = NdRange { work_dim: 1, offset: [0; 3], global: [global, 1, 1], local: [local, 1, 1] };
    let launch = Launch { local_size: group.local_size, ..Launch::new(&*kernel, range, &args, &Silent) };
    device.launch(&launch).unwrap();
    let mut bytes = vec![0; global as usize * 4];
    out.read(0, &mut bytes).unwrap();
    bytes.chunks(4).map(|b| i32::from_le_bytes(b.try_into().unwrap())).collect()
}

fn check(text: &str, want: impl Fn(u64, u64, u64) -> i32) {
    for passes in [false, true] {
        for (global, local) in [(1, 1), (4, 4), (7, 7), (8, 4), (10, 4), (33, 16), (64, 64), (5, 8)] {
            let got = run(text, global, local, passes);
            let local = local.min(global);
            for i in 0..global {
                let size = local.min(global - i / local * local);
                assert_eq!(
                    got[i as usize],
                    want(i, i % local, size),
                    "item {i} of {global} in groups of {local}, passes {passes}"
                );
            }
        }
    }
}

/// In each iteration, each work-item sums what all work-items of the group wrote: a barrier in a loop whose counter is
/// live across it.
const LOOP: &str = r#"
global @tile local size 256 align 4
func external @k(ptr<global>) kernel {
  param "out" "int*" global size 8 align 8
} {
bb0(v0: ptr<global>):
    v1: i64 = query local_id 0
    v2: i64 = query local_size 0
    v3: i64 = query global_id 0
    v4: i64 = const 0x4
    v5: i64 = mul v1, v4
    v6: ptr<local> = globaladdr @tile
    v7: ptr<local> = ptradd v6, v5
    v8: i32 = trunc v1
    store v7, v8 align 4
    v9: i64 = const 0x0
    v10: i32 = const 0x0
    jump bb1(v9, v10)
bb1(v11: i64, v12: i32):
    v13: i1 = icmp ult v11, v2
    br v13, bb2, bb3
bb2:
    barrier
    v14: i64 = add v1, v11
    v15: i64 = urem v14, v2
    v16: i64 = mul v15, v4
    v17: ptr<local> = ptradd v6, v16
    v18: i32 = load v17 align 4
    v19: i32 = add v12, v18
    barrier
    v20: i64 = const 0x1
    v21: i64 = add v11, v20
    jump bb1(v21, v19)
bb3:
    v22: i64 = mul v3, v4
    v23: ptr<global> = ptradd v0, v22
    store v23, v19x align 4
    ret
}
"#;

#[test]
fn a_barrier_in_a_loop_keeps_counters_and_sums() {
    check(&LOOP.replace("v19x", "v12"), |_, _, size| (0..size as i32).sum());
}

/// Work-items with odd ids return before the barrier; the others see what all wrote before it.
#[test]
fn items_that_returned_count_as_arrived() {
    let text = r#"
global @tile local size 256 align 4
func external @k(ptr<global>) kernel {
  param "out" "int*" global size 8 align 8
} {
bb0(v0: ptr<global>):
    v1: i64 = query local_id 0
    v2: i64 = query local_size 0
    v3: i64 = query global_id 0
    v4: i64 = const 0x4
    v5: i64 = mul v3, v4
    v6: ptr<global> = ptradd v0, v5
    v7: i64 = mul v1, v4
    v8: ptr<local> = globaladdr @tile
    v9: ptr<local> = ptradd v8, v7
    v10: i32 = trunc v1
    store v9, v10 align 4
    v11: i64 = const 0x1
    v12: i64 = and v1, v11
    v13: i1 = icmp eq v12, v11
    br v13, bb1, bb2
bb1:
    v14: i32 = const 0xffffffff
    store v6, v14 align 4
    ret
bb2:
    barrier
    v15: i64 = sub v2, v11
    v16: i64 = mul v15, v4
    v17: ptr<local> = ptradd v8, v16
    v18: i32 = load v17 align 4
    store v6, v18 align 4
    ret
}
"#;
    check(text, |_, local, size| if local % 2 == 1 { -1 } else { size as i32 - 1 });
}

/// A private array that is filled before a barrier and read after it, through an index that is not constant.
#[test]
fn private_arrays_live_across_barriers() {
    let text = r#"
func external @k(ptr<global>) kernel {
  param "out" "int*" global size 8 align 8
} {
bb0(v0: ptr<global>):
    v1: ptr<private> = alloca 16 align 4
    v2: i64 = query global_id 0
    v3: i64 = const 0x3
    v4: i64 = and v2, v3
    v5: i64 = const 0x4
    v6: i64 = mul v4, v5
    v7: ptr<private> = ptradd v1, v6
    v8: i32 = trunc v2
    memset 16 0 v1 align 4
    store v7, v8 align 4
    v9: i1 = icmp ugt v4, v3
    barrier
    v10: i32 = load v7 align 4
    v11: i32 = const 0x64
    v12: i32 = select v9, v11, v10
    v13: i64 = mul v2, v5
    v14: ptr<global> = ptradd v0, v13
    store v14, v12 align 4
    ret
}
"#;
    check(text, |i, _, _| i as i32);
}
