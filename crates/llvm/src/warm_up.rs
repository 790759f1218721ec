//! Compiles a small loop whose code is dropped, to initialise LLVM in parallel with the front end on a long source.
//!
//! LLVM makes many of its tables when they are first used. The loop is made for the target of the kernel that follows,
//! so that it finds the tables of instruction selection too.

use crate::{Error, OptLevel, Options, generate, runs_work_items};
use cloom_passes::PassOptions;
use cloom_target::Target;

/// For a CPU: with the parameters of a work-group function.
const OF_GROUP: &str = "func external @warm_up(ptr<context>, ptr<constant>, ptr<context>, ptr<local>, ptr<context>) {
bb0(v0: ptr<context>, v1: ptr<constant>, v2: ptr<context>, v3: ptr<local>, v4: ptr<context>):
    v5: i64 = load v0 align 8
    v6: f32 = load v1 align 4
    v7: i64 = const 0x0
    jump bb1(v7, v6)
bb1(v8: i64, v9: f32):
    v10: i64 = const 0x10
    v11: i64 = mul v8, v10
    v12: ptr<local> = ptradd v3, v11
    v13: f32x4 = load v12 align 4
    v14: f32x4 = fadd v13, v13
    store v12, v14 align 4
    v15: f32 = fma v9, v9, v9
    v16: i64 = const 0x1
    v17: i64 = add v8, v16
    v18: i1 = icmp ult v17, v5
    br v18, bb1(v17, v15), bb2
bb2:
    store v4, v9 align 4
    ret
}
";

/// For a GPU: a kernel.
const OF_ITEM: &str = "func external @warm_up(ptr<global>, i32) kernel {
  param \"data\" \"float*\" global size 8 align 8
  param \"count\" \"int\" value size 4 align 4
} {
bb0(v0: ptr<global>, v1: i32):
    v2: i64 = query global_id 0
    v3: i64 = const 0x4
    v4: i64 = mul nsw v2, v3
    v5: ptr<global> = ptradd v0, v4
    v6: f32 = load v5 align 4
    v7: i32 = const 0x0
    jump bb1(v7, v6)
bb1(v8: i32, v9: f32):
    v10: f32 = fma v9, v9, v9
    v11: i32 = const 0x1
    v12: i32 = add v8, v11
    v13: i1 = icmp slt v12, v1
    br v13, bb1(v12, v10), bb2
bb2:
    store v5, v9 align 4
    ret
}
";

/// Uses LLVM from the parser of targets to the code.
pub fn run(target: &Target) -> Result<(), Error> {
    let wrong = |why: String| Error::Internal(format!("the first code generation: {why}"));
    let text = if runs_work_items(target) { OF_ITEM } else { OF_GROUP };
    let module = cloom_ir::parse(text).map_err(|e| wrong(e.to_string()))?;
    let func = module.find("warm_up").ok_or_else(|| wrong("no function".into()))?;
    let target = target.clone();
    let options =
        Options { target, level: OptLevel::Default, denorms_are_zero: false, texts: false, lines: false, count: false };
    generate(&module, &[func], 0, &options, &PassOptions::default()).map(drop)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_loops_are_valid_and_compile() {
        for (text, target) in
            [(super::OF_GROUP, "x86_64-unknown-linux-gnu:x86-64-v3"), (super::OF_ITEM, "nvptx64-nvidia-cuda:sm_90")]
        {
            assert_eq!(cloom_ir::verify(&cloom_ir::parse(text).unwrap()).first(), None);
            assert_eq!(crate::guard::run(|| super::run(&target.parse().unwrap())), Ok(()), "{target}");
        }
    }
}
