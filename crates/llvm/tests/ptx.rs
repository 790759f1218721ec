//! PTX: what kernels become on a GPU, as text. Where NVIDIA's assembler `ptxas` is found, it must accept each of them.

use cloom_ir::FuncRef;
use cloom_llvm::{Error, OptLevel, Options};
use cloom_passes::{PROMOTE_ARRAYS, PassManager, PassOptions};
use std::path::PathBuf;
use std::process::Command;

/// The PTX of the first kernel of a module.
fn ptx(text: &str) -> String {
    let mut module = cloom_ir::parse(text).unwrap();
    assert_eq!(cloom_ir::verify(&module).first(), None);
    let kernels: Vec<FuncRef> = module.kernels().collect();
    let passes = PassOptions::default();
    let manager = PassManager::new(&passes);
    kernels.iter().for_each(|&kernel| manager.in_module(&mut module, kernel, PROMOTE_ARRAYS));
    let target = "nvptx64-nvidia-cuda:sm_90".parse().unwrap();
    let options =
        Options { target, level: OptLevel::Default, denorms_are_zero: false, texts: false, lines: false, count: false };
    let compiled = cloom_llvm::compile_kernels(&module, &kernels, &options, &passes).unwrap();
    assert_eq!(compiled.symbols.len(), kernels.len());
    let text = String::from_utf8(compiled.object).unwrap();
    has_no_fault(&text);
    assemble(&text);
    text
}

/// NVIDIA's compiler can be given the text: it has none of the faults in the table.
fn has_no_fault(text: &str) {
    let module = cloom_ptx::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    for item in &module.items {
        if let cloom_ptx::tree::Item::Function(function) = item {
            let found = cloom_ptx::errata::first(function).unwrap();
            assert!(found.is_none(), "{found:?}\n{text}");
        }
    }
}

/// NVIDIA's assembler, if this machine has it.
fn ptxas() -> Option<PathBuf> {
    let named = std::env::var_os("PTXAS").map(PathBuf::from);
    let path = std::env::var_os("PATH")?;
    named.or_else(|| std::env::split_paths(&path).map(|dir| dir.join("ptxas")).find(|file| file.is_file()))
}

fn assemble(text: &str) {
    let Some(ptxas) = ptxas() else { return };
    let dir = tempfile::tempdir().unwrap();
    let (input, output) = (dir.path().join("k.ptx"), dir.path().join("k.cubin"));
    std::fs::write(&input, text).unwrap();
    let run = Command::new(ptxas).arg("-arch=sm_90").arg(&input).arg("-o").arg(output).output().unwrap();
    assert!(run.status.success(), "{}\n{text}", String::from_utf8_lossy(&run.stderr));
}

/// A kernel with a buffer of numbers: its instructions may use `v0`, the address of a work-item's own number.
fn kernel(globals: &str, body: &str) -> String {
    format!(
        "{globals}
func external @k(ptr<global>) kernel {{
  param \"p\" \"int*\" global size 8 align 8
}} {{
bb0(v90: ptr<global>):
    v91: i64 = query global_id 0
    v92: i64 = const 0x4
    v93: i64 = mul v91, v92
    v0: ptr<global> = ptradd v90, v93
{body}
    ret
}}"
    )
}

/// Each of the texts is in the PTX, in this order.
fn has(ptx: &str, texts: &[&str]) {
    let mut rest = ptx;
    for text in texts {
        let at = rest.find(text).unwrap_or_else(|| panic!("`{text}` is missing in\n{ptx}"));
        rest = &rest[at + text.len()..];
    }
}

#[test]
fn a_kernel_takes_the_descriptor_and_its_parameters() {
    let text = ptx("func external @k(ptr<constant>, i32, f32x4, ptr<local>, ptr<global>) kernel {
  param \"s\" \"struct S\" struct size 24 align 8
  param \"n\" \"int\" value size 4 align 4
  param \"v\" \"float4\" value size 16 align 16
  param \"l\" \"float*\" local size 8 align 8
  param \"p\" \"float4*\" global size 8 align 8
} {
bb0(v0: ptr<constant>, v1: i32, v2: f32x4, v3: ptr<local>, v4: ptr<global>):
    v5: i64 = const 0x10
    v6: ptr<constant> = ptradd v0, v5
    v7: f32 = load v6 align 8
    v8: f32x4 = splat v7
    v9: f32x4 = fadd v8, v2
    store v3, v7 align 4
    store v4, v9 align 16
    ret
}");
    has(&text, &[".version 7.8", ".target sm_90", ".extern .shared .align 128 .b8 local_memory[]"]);
    has(
        &text,
        &[
            ".visible .entry k(",
            ".param .align 8 .b8 k_param_0[152]",
            ".param .align 8 .b8 k_param_1[24]",
            ".param .u32 k_param_2",
            ".param .align 16 .b8 k_param_3[16]",
            ".param .u64 k_param_4",
            ".param .u64 k_param_5",
            "ld.param.f32",
            "[k_param_1+16]",
        ],
    );
    has(&text, &["st.shared.f32"]);
    has(&text, &["st.global.v4.f32"]);
    assert!(!text.contains("local_depot"), "parameters are read where they are\n{text}");
}

#[test]
fn ids_are_registers_and_the_descriptor() {
    let text = ptx(&kernel(
        "",
        "    v1: i64 = query group_id 2\n    v2: i64 = query enqueued_local_size 1\n    v3: i64 = add v1, v2\n    store v0, v3 align 4",
    ));
    has(&text, &["%ctaid.x", "%ntid.x", "%tid.x", "[k_param_0]"]);
    has(&text, &["%ctaid.z"]);
    has(&text, &["[k_param_0+40]"]);
    has(&text, &["[k_param_0+124]"]);
}

#[test]
fn computed_elements_of_local_vectors_are_read_from_local_memory() {
    let text = ptx(&kernel(
        "global @a local size 512 align 32",
        "    v1: i32 = load v0 align 4
    v2: ptr<local> = globaladdr @a
    v3: i64 = zext v1
    v4: i64 = const 0xe0
    v5: i64 = and v3, v4
    v6: ptr<local> = ptradd v2, v5
    v7: f32x8 = load v6 align 32
    v8: i64 = const 0x7
    v9: i64 = and v3, v8
    v10: f32 = extract v7, v9
    store v0, v10 align 4",
    ));
    has(&text, &["ld.shared.v4.f32"]);
    // Addresses of 32 bits are of a space, and those of the frame have 64 here.
    let is_lost = |line: &str| line.trim().starts_with("ld.f32") && !line.contains("[%rd") && !line.contains("[%SP");
    assert!(!text.lines().any(is_lost), "{text}");
}

#[test]
fn halves_that_are_no_numbers_are_found_among_floats() {
    let text = ptx(&kernel(
        "",
        "    v1: f16 = load v0 align 2
    v2: i1 = fcmp uno v1, v1
    v3: i32 = const 0x1
    v4: i32 = const 0x2
    v5: i32 = select v2, v3, v4
    store v0, v5 align 4",
    ));
    has(&text, &["cvt.f32.f16", "setp.nan.f32"]);
}

#[test]
fn what_is_compared_twice_is_negated_by_its_complement() {
    let text = ptx(&kernel(
        "",
        "    v1: i32 = load v0 align 4
    v2: i32 = const 0x0
    v3: i32 = sub v2, v1
    v4: i32 = query work_dim 0
    v5: i32 = smin v4, v3
    v6: i32 = trunc v91
    v7: i32 = smin v5, v6
    store v0, v7 align 4",
    ));
    has(&text, &["not.b32", "min.s32", "min.s32"]);
}

#[test]
fn static_local_memory_lies_in_the_block() {
    let globals = "global @a local size 12 align 4\nglobal @b local size 64 align 16";
    let text = ptx(&kernel(
        globals,
        "    v1: i32 = load v0 align 4
    v2: ptr<local> = globaladdr @a
    v3: ptr<local> = globaladdr @b
    store v2, v1 align 4
    barrier
    store v3, v1 align 4",
    ));
    has(&text, &["st.shared.u32 \t[local_memory]", "bar.sync \t0", "st.shared.u32 \t[local_memory+16]"]);
}

#[test]
fn memory_orders_are_fences() {
    let atomic = |order: &str, scope: &str| {
        ptx(&kernel("", &format!("    v1: i32 = const 0x1\n    v2: i32 = atomic_add {order} {scope} v0, v1")))
    };
    let relaxed = atomic("relaxed", "device");
    assert!(relaxed.contains("atom.global.add.u32") && !relaxed.contains("fence"), "{relaxed}");
    has(&atomic("acqrel", "device"), &["fence.acq_rel.gpu", "atom.global.add.u32", "fence.acq_rel.gpu"]);
    has(&atomic("seqcst", "all"), &["fence.sc.sys", "atom.global.add.u32", "fence.acq_rel.sys"]);
    let acquire = atomic("acquire", "group");
    has(&acquire, &["atom.global.add.u32", "fence.acq_rel.cta"]);
    assert_eq!(acquire.matches("fence").count(), 1);
}

#[test]
fn sub_groups_are_warps() {
    let text = ptx(&kernel(
        "",
        "    v1: f32 = load v0 align 4
    v2: f32 = subgroup_reduce fadd 32 v1
    v3: f32 = subgroup_scan fadd inclusive v2
    store v0, v3 align 4",
    ));
    has(&text, &["activemask.b32"]);
    has(&text, &["shfl.sync.bfly.b32", "shfl.sync.idx.b32", "shfl.sync.up.b32"]);
}

#[test]
fn prints_are_records_in_a_buffer() {
    let text = ptx(&kernel(
        "string \"%d %f\"",
        "    v1: i32 = load v0 align 4\n    v2: f64 = const 0x3ff0000000000000\n    printf s0 v91, v1, v2",
    ));
    has(&text, &["[k_param_0+144]", "ld.volatile.global.u32", "atom.global.add.u32", "32"]);
}

#[test]
fn approximations_are_for_flags_only() {
    let quotient = |flags: &str| {
        ptx(&kernel(
            "",
            &format!("    v1: f32 = load v0 align 4\n    v2: f32 = fdiv {flags} v1, v1\n    store v0, v2 align 4"),
        ))
    };
    has(&quotient(""), &["div.rn.f32"]);
    has(&quotient("fpmath"), &["div.full.f32"]);
    has(&quotient("arcp afn"), &["div.approx.f32"]);
}

#[test]
fn a_float_beyond_the_integers_is_the_largest() {
    // Of a constant, so that it could be folded; what follows must stay.
    let text = ptx(&kernel(
        "",
        "    v1: f32 = const 0x4f800000\n    v2: i32 = ftos v1\n    v3: i32 = ftou v1\n    store v0, v2 align 4\n    store v0, v3 align 4",
    ));
    has(&text, &["st.global.u32"]);
    assert!(!text.contains("exit;"), "the kernel ends in undefined behaviour\n{text}");
}

#[test]
fn bytes_are_loaded_as_they_are_aligned() {
    let load = |align: u32| {
        let body = format!("    v1: i8x16 = load v0 align {align}\n    store v90, v1 align 1");
        ptx(&kernel("", &body))
    };
    for align in [1, 2, 4, 8, 16] {
        let text = load(align);
        let opcodes = text.split_whitespace().filter_map(|word| word.strip_prefix("ld.global."));
        let widest = opcodes.map(|opcode| {
            let (count, ty) = opcode.strip_prefix('v').and_then(|rest| rest.split_once('.')).unwrap_or(("1", opcode));
            count.parse::<u32>().unwrap() * ty[1..].parse::<u32>().unwrap() / 8
        });
        assert!(widest.max().is_some_and(|bytes| bytes <= align), "align {align}\n{text}");
    }
}

/// A kernel that sorts so many numbers in private memory: a triangular nest of loops, in which data chooses elements.
fn sort(count: u64) -> String {
    let bytes = count * 4;
    let text = format!(
        "func external @k(ptr<global>) kernel {{
  param \"p\" \"int*\" global size 8 align 8
}} {{
bb0(v0: ptr<global>):
    v1: i32 = const 0x0
    v2: i32 = const {count:#x}
    v3: i64 = const 0x4
    v4: i32 = const 0x1
    v5: ptr<private> = alloca {bytes} align 4
    jump bb1(v1)
bb1(v6: i32):
    v7: i1 = icmp slt v6, v2
    br v7, bb2, bb3(v1)
bb2:
    v8: i64 = sext v6
    v9: i64 = mul nsw v8, v3
    v10: ptr<global> = ptradd v0, v9
    v11: i32 = load v10 align 4
    v12: ptr<private> = ptradd v5, v9
    store v12, v11 align 4
    v13: i32 = add nsw v6, v4
    jump bb1(v13)
bb3(v14: i32):
    v15: i1 = icmp slt v14, v2
    br v15, bb4, bb9(v1)
bb4:
    v16: i32 = add nsw v14, v4
    jump bb5(v14, v16)
bb5(v17: i32, v18: i32):
    v19: i1 = icmp slt v18, v2
    br v19, bb6, bb8
bb6:
    v20: i64 = sext v18
    v21: i64 = mul nsw v20, v3
    v22: ptr<private> = ptradd v5, v21
    v23: i32 = load v22 align 4
    v24: i64 = sext v17
    v25: i64 = mul nsw v24, v3
    v26: ptr<private> = ptradd v5, v25
    v27: i32 = load v26 align 4
    v28: i1 = icmp slt v23, v27
    br v28, bb7(v18), bb7(v17)
bb7(v29: i32):
    v30: i32 = add nsw v18, v4
    jump bb5(v29, v30)
bb8:
    v31: i64 = sext v14
    v32: i64 = mul nsw v31, v3
    v33: ptr<private> = ptradd v5, v32
    v34: i32 = load v33 align 4
    v35: i64 = sext v17
    v36: i64 = mul nsw v35, v3
    v37: ptr<private> = ptradd v5, v36
    v38: i32 = load v37 align 4
    store v33, v38 align 4
    store v37, v34 align 4
    jump bb3(v16)
bb9(v39: i32):
    v40: i1 = icmp slt v39, v2
    br v40, bb10, bb11
bb10:
    v41: i64 = sext v39
    v42: i64 = mul nsw v41, v3
    v43: ptr<private> = ptradd v5, v42
    v44: i32 = load v43 align 4
    v45: ptr<global> = ptradd v0, v42
    store v45, v44 align 4
    v46: i32 = add nsw v39, v4
    jump bb9(v46)
bb11:
    ret
}}"
    );
    ptx(&text)
}

#[test]
fn an_array_that_data_indexes_is_in_registers() {
    let text = sort(6);
    assert!(!text.contains("local"), "{text}");
    assert_eq!(text.matches("ld.global").count() + text.matches("st.global").count(), 12, "{text}");
}

#[test]
fn an_array_that_is_too_long_for_that_stays_in_loops() {
    let text = sort(24);
    assert!(text.contains("ld.local") && text.lines().count() < 300, "{text}");
}

#[test]
fn only_loads_are_behind_bounds() {
    let text = ptx("func external @k(ptr<global>, ptr<global>, i32) kernel {
          param \"in\" \"uint*\" global size 8 align 8
          param \"out\" \"uint*\" global size 8 align 8
          param \"n\" \"int\" value size 4 align 4
        } {
        bb0(v0: ptr<global>, v1: ptr<global>, v2: i32):
            v3: i64 = query global_id 0
            v4: i32 = trunc v3
            v5: i64 = sext v4
            v6: i64 = const 0x4
            v7: i64 = mul v5, v6
            v8: ptr<global> = ptradd v0, v7
            v9: i32 = const 0x0
            v10: i32 = const 0x7
            v11: i1 = icmp slt v4, v2
            br v11, bb1, bb2(v9)
        bb1:
            v12: i32 = load v8 align 4
            v13: i32 = lshr v12, v10
            jump bb2(v13)
        bb2(v14: i32):
            v15: ptr<global> = ptradd v8, v6
            v16: i1 = icmp sgt v4, v2
            br v16, bb3, bb4(v14)
        bb3:
            v17: i32 = load v15 align 4
            v18: i32 = mul v17, v17
            v19: i32 = add v14, v18
            jump bb4(v19)
        bb4(v20: i32):
            store v1, v20 align 4
            ret
        }");
    let blocks: Vec<&str> = text.split("$L__").filter(|block| block.contains("ld.global")).collect();
    assert_eq!(blocks.len(), 2, "{text}");
    assert!(blocks.iter().all(|block| !block.contains("shr") && !block.contains("mul.lo")), "{text}");
    assert!(!text.contains("selp"), "what is zero needs no choice\n{text}");
}

#[test]
fn loops_go_back_if_their_condition_is_true() {
    let text = ptx("func external @k(ptr<global>, i32) kernel {
          param \"p\" \"uint*\" global size 8 align 8
          param \"n\" \"int\" value size 4 align 4
        } {
        bb0(v0: ptr<global>, v1: i32):
            v2: i32 = const 0x0
            v3: i32 = const 0x1
            v4: i64 = const 0x4
            jump bb1(v2, v2, v0)
        bb1(v5: i32, v6: i32, v7: ptr<global>):
            v8: i1 = icmp slt v6, v1
            br v8, bb2, bb3
        bb2:
            v9: i32 = load v7 align 4
            v10: i32 = add v5, v9
            v11: i32 = add nsw v6, v3
            v12: ptr<global> = ptradd v7, v4
            jump bb1(v10, v11, v12)
        bb3:
            store v0, v5 align 4
            ret
        }");
    assert!(text.contains("ld.global") && !text.contains("bra.uni"), "{text}");
}

#[test]
fn a_pointer_to_bytes_behind_a_branch_goes_in_steps() {
    for (space, load) in [("global", "ld.global.u8"), ("local", "ld.shared.u8")] {
        let text = stepping(space);
        let bytes = text.lines().filter_map(|line| line.split_once(load)?.1.split_once('['));
        let registers: Vec<&str> = bytes.map(|(_, place)| place.split(['+', ']']).next().unwrap()).collect();
        assert!(!registers.is_empty(), "{text}");
        for register in registers {
            let steps = |line: &str| {
                let by = line.split_once(&format!(" {register}, ")).map_or("", |(_, by)| by);
                line.contains("add.s") && by.trim_end_matches(';').parse::<u32>().is_ok()
            };
            assert!(text.lines().any(steps), "{register} is made of a sum\n{text}");
        }
    }
}

/// The PTX of a loop with a barrier, which loads a byte of a buffer in this space behind a branch, and goes on to the
/// next one.
fn stepping(space: &str) -> String {
    let text = "func external @k(ptr<SPACE>, ptr<global>, i32, i32) kernel {
          param \"b\" \"uchar*\" SPACE size 8 align 8
          param \"p\" \"int*\" global size 8 align 8
          param \"n\" \"int\" value size 4 align 4
          param \"m\" \"int\" value size 4 align 4
        } {
        bb0(v0: ptr<SPACE>, v1: ptr<global>, v2: i32, v3: i32):
            v4: i32 = const 0x0
            v5: i32 = const 0x1
            v6: i64 = const 0x1
            jump bb1(v4, v4, v0)
        bb1(v7: i32, v8: i32, v9: ptr<SPACE>):
            v10: i1 = icmp slt v8, v2
            br v10, bb2, bb5
        bb2:
            barrier
            v11: i1 = icmp slt v8, v3
            br v11, bb3, bb4(v7)
        bb3:
            v12: i32 = load v1 align 4
            v13: i8 = load v9 align 1
            v14: i32 = zext v13
            v15: i32 = mul v7, v12
            v16: i32 = add v15, v14
            store v1, v16 align 4
            jump bb4(v16)
        bb4(v17: i32):
            v18: i32 = add nsw v8, v5
            v19: ptr<SPACE> = ptradd v9, v6
            jump bb1(v17, v18, v19)
        bb5:
            store v1, v7 align 4
            ret
        }";
    ptx(&text.replace("SPACE", space))
}

#[test]
fn packed_parameters_are_read_as_they_are_aligned() {
    let text = ptx("func external @k(ptr<global>, ptr<constant>) kernel {
          param \"p\" \"uint4*\" global size 8 align 8
          param \"s\" \"S\" struct size 68 align 1
        } {
        bb0(v0: ptr<global>, v1: ptr<constant>):
            v2: i64 = const 0x30
            v3: ptr<constant> = ptradd v1, v2
            v4: i32x4 = load v3 align 1
            store v0, v4 align 16
            ret
        }");
    assert!(!text.contains("ld.param.v") && text.contains("ld.param.u8"), "{text}");
}

#[test]
fn aligned_bytes_are_one_access() {
    for (lanes, load, store) in
        [(8, "ld.global.v2.u32", "st.global.v2.u32"), (16, "ld.global.v4.u32", "st.global.v4.u32")]
    {
        let text = ptx(&format!(
            "func external @k(ptr<global>, ptr<global>) kernel {{
               param \"a\" \"uchar16*\" global size 8 align 8
               param \"b\" \"uchar16*\" global size 8 align 8
             }} {{
             bb0(v0: ptr<global>, v1: ptr<global>):
                 v2: i8x{lanes} = load v0 align {lanes}
                 v3: i8x{lanes} = add v2, v2
                 store v1, v3 align {lanes}
                 ret
             }}"
        ));
        assert!(text.matches("ld.global").count() == 1 && text.contains(load), "{text}");
        assert!(text.matches("st.global").count() == 1 && text.contains(store), "{text}");
    }
}

#[test]
fn floats_are_converted_when_they_are_loaded() {
    for (from, to) in [("f16", "f32"), ("f16", "f64"), ("f32", "f64")] {
        for (lanes, align) in [2, 4, 8, 16].into_iter().flat_map(|lanes| [(lanes, 2), (lanes, 8), (lanes, 128)]) {
            let load = format!("    v1: {from}x{lanes} = load v0 align {align}");
            let text = ptx(&kernel("", &format!("{load}\n    v2: {to}x{lanes} = fext v1\n    store v90, v2 align 4")));
            let count = text.matches(&format!("cvt.{to}.{from}")).count();
            assert_eq!(count, lanes, "{from}x{lanes} to {to}, align {align}\n{text}");
        }
    }
    // As other numbers, too.
    let load = "    v1: i32x8 = load v0 align 32\n    v2: f16x16 = bitcast v1\n    v3: f32x16 = fext v2";
    let text = ptx(&kernel("", &format!("{load}\n    store v90, v3 align 4")));
    assert_eq!(text.matches("cvt.f32.f16").count(), 16, "{text}");
}

#[test]
fn a_truth_value_is_minus_one_as_a_float() {
    for lanes in ["", "x4"] {
        let text = ptx(&kernel(
            "",
            &format!(
                "    v1: i32{lanes} = load v0 align 4
    v2: i32{lanes} = load v90 align 4
    v3: i1{lanes} = icmp ult v1, v2
    v4: i32{lanes} = sext v3
    v5: f32{lanes} = stof v4
    store v0, v5 align 4"
            ),
        ));
        has(&text, &["0fBF800000"]);
        assert!(!text.contains("1, 0,"), "{text}");
    }
}

#[test]
fn truth_values_of_two_short_integers_have_instructions() {
    for (ty, compare) in [("i16x2", "icmp ult"), ("f16x2", "fcmp olt")] {
        let text = ptx(&kernel(
            "",
            &format!(
                "    v1: {ty} = load v0 align 4
    v2: {ty} = load v90 align 4
    v3: i1x2 = {compare} v1, v2
    v4: i16x2 = sext v3
    store v0, v4 align 4"
            ),
        ));
        has(&text, &["setp", "st.global"]);
    }
}

#[test]
fn a_barrier_of_a_sub_group_is_one_of_the_warp() {
    let text = ptx(&kernel("", "    fence acqrel subgroup\n    fence acqrel group"));
    has(&text, &["bar.warp.sync", "fence.acq_rel.cta"]);
    assert_eq!(text.matches("fence").count(), 1, "{text}");
}

#[test]
fn source_lines_are_directives_if_they_are_wanted() {
    let text = kernel(
        "file \"a.cl\"\nfile \"b.h\"",
        "    v1: i32 = load v0 align 4 !1:7:3\n    v2: i32 = mul v1, v1 !1:8:3\n    store v0, v2 align 4 !2:9:1",
    );
    let module = cloom_ir::parse(&text).unwrap();
    let kernel = module.kernels().next().unwrap();
    let code = |lines| {
        let target = "nvptx64-nvidia-cuda:sm_90".parse().unwrap();
        let options =
            Options { target, level: OptLevel::Default, denorms_are_zero: false, texts: false, lines, count: false };
        String::from_utf8(cloom_llvm::compile(&module, kernel, &options, &PassOptions::default()).unwrap().object)
            .unwrap()
    };
    let with = code(true);
    has(
        &with,
        &[
            ".target sm_90\n",
            ".loc\t1 7 3",
            "ld.global",
            ".loc\t2 9 1",
            "st.global",
            ".file\t1 \"a.cl\"",
            ".file\t2 \"b.h\"",
        ],
    );
    assemble(&with);
    assert!(!code(false).contains(".loc"));
}

#[test]
fn what_a_gpu_has_not_is_refused() {
    let text = kernel("", "    v1: i64 = device_call default_queue\n    store v0, v1 align 4");
    let module = cloom_ir::parse(&text).unwrap();
    let kernel = module.kernels().next().unwrap();
    let target = "nvptx64-nvidia-cuda:sm_90".parse().unwrap();
    let options =
        Options { target, level: OptLevel::Default, denorms_are_zero: false, texts: false, lines: false, count: false };
    let refused = cloom_llvm::compile(&module, kernel, &options, &PassOptions::default());
    assert!(matches!(&refused, Err(Error::Limit(why)) if why.contains("enqueue")), "{refused:?}");
}

/// Of an index that a mask makes of a number far from zero, LLVM takes the offset to be outside of the array.
#[test]
fn elements_at_indices_from_far_numbers_are_stored() {
    let text = ptx(&kernel(
        "",
        "v1: i32 = load v0 align 4
         v2: ptr<private> = alloca 64 align 4
         store v2, v1 align 4
         v3: i64 = const 0x4
         v4: ptr<private> = ptradd v2, v3
         v5: i32 = const 0x5
         v6: i32 = mul v1, v5
         store v4, v6 align 4
         v7: i32 = const 0x80000001
         v8: i32 = smin v1, v7
         v9: i32 = const 0x7
         v10: i32 = and v8, v9
         v11: i64 = zext v10
         v12: i64 = mul v11, v3
         v13: ptr<private> = ptradd v2, v12
         v14: i32 = load v13 align 4
         store v0, v14 align 4",
    ));
    has(&text, &["st.local", "st.local", "ld.local"]);
}
