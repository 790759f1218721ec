//! Alignments of accesses, from those of the kernel's buffers: `vload_half4(i, (global const half *)p)` reads eight
//! bytes at a multiple of eight if `p` is a kernel's argument of type `ushort4 *`.
//!
//! For a machine whose wide accesses must be aligned, as a GPU's. An argument that points to a type is aligned for it:
//! the application vouches for that (OpenCL C 3.0, 6.3.5: "Alignment of Types"). The address is the argument and
//! terms, each of which counts by its factor; the affine analysis knows them. A term that it does not look into, as it
//! may wrap, still has the zeros in its low bits that its operands have: `(int)id * 16`. (LLVM's `infer-alignment`
//! does the same with what it knows, which is not what the host passes.)

use crate::pass::Pass;
use cloom_ir::abi::gpu::COARSE_ALIGN;
use cloom_ir::affine::{Affine, Ext, Facts, Symbol};
use cloom_ir::cfg::Cfg;
use cloom_ir::dom::DomTree;
use cloom_ir::loops::Loops;
use cloom_ir::{BinOp, CastOp, FuncRef, Function, Inst, InstData, Module, Op, ParamKind, Type, Value};
use rustc_hash::FxHashMap;

/// The pass.
pub const PASS: Pass = Pass::new("infer-alignment", "accesses are aligned as the kernel's buffers are", run);

/// More is of no use to an access.
const MAX_ALIGN_BYTES: u64 = 16;

/// How far back operands are looked at.
const DEPTH: u32 = 6;

/// Instructions of a kernel that is copied, at most: a GPU's driver takes long for large ones, whose accesses are not
/// what they spend their time on.
const MAX_COPIED_INSTRUCTIONS: usize = 1000;

/// Adds a copy of a kernel for buffers that are all aligned to [`COARSE_ALIGN`], if some accesses are wider there. It
/// becomes the last function of the module. Returns whether there is one, as a number.
pub fn aligned_copy(module: &mut Module, kernel: FuncRef) -> usize {
    if module.funcs[kernel].size() > MAX_COPIED_INSTRUCTIONS {
        return 0;
    }
    let Some(mut func) = for_aligned_buffers(&module.funcs[kernel], COARSE_ALIGN as u32) else { return 0 };
    func.name += ".aligned";
    module.funcs.push(func);
    1
}

/// The function for buffers that are all aligned to so many bytes, if some accesses are wider there.
fn for_aligned_buffers(func: &Function, align: u32) -> Option<Function> {
    let found = find(func, align);
    // Accesses that are aligned in any case need no copy of the kernel.
    if found.is_empty() || found.len() <= find(func, 1).len() {
        return None;
    }
    let mut aligned = func.clone();
    apply(&mut aligned, &found);
    // For what other passes make clear.
    for param in &mut aligned.kernel.as_mut()?.params {
        param.pointee_align = param.pointee_align.max(align);
    }
    Some(aligned)
}

/// Runs the pass. Returns how often it changed something.
pub fn run(func: &mut Function) -> usize {
    let found = find(func, 1);
    apply(func, &found);
    found.len()
}

/// Gives accesses their alignments.
fn apply(func: &mut Function, found: &[(Inst, u32)]) {
    for &(i, known) in found {
        match &mut func.insts[i].op {
            Op::Load { align } | Op::Store { align } => *align = known,
            _ => {}
        }
    }
}

/// The accesses of numbers that are better aligned than they say, with their alignments. Each buffer is aligned to
/// `least` bytes.
fn find(func: &Function, least: u32) -> Vec<(Inst, u32)> {
    let Some(meta) = &func.kernel else { return Vec::new() };
    let buffers = func.param_values().iter().zip(&meta.params);
    let buffers = buffers.filter(|(_, param)| matches!(param.kind, ParamKind::Global | ParamKind::Constant));
    let aligns: FxHashMap<Value, u64> = buffers.map(|(&v, param)| (v, param.pointee_align.max(least).into())).collect();
    // More of one with three lanes would let the code generator read a fourth one.
    let wide = |ty: Type, align: u32| {
        ty.is_vector() && ty.bytes().is_power_of_two() && u64::from(align) < MAX_ALIGN_BYTES.min(ty.bytes().into())
    };
    let accesses = func.insts_in_layout().filter_map(|(i, data)| match data.op {
        Op::Load { align } => Some((i, data.args[0], func.ty(data.result?), align)),
        Op::Store { align } => Some((i, data.args[0], func.ty(data.args[1]), align)),
        _ => None,
    });
    let accesses: Vec<_> = accesses.filter(|&(.., ty, align)| wide(ty, align)).collect();
    // The analysis below is the expensive part: it is saved where nothing can come of it.
    if accesses.is_empty() || aligns.values().all(|&align| align <= 1) {
        return Vec::new();
    }
    let cfg = Cfg::new(func);
    let loops = Loops::new(func, &cfg, &DomTree::new(func, &cfg));
    let affine = Affine::new(func, &cfg, &loops, Facts::default());
    // A buffer has its declared alignment; any other value the power of two that its low zeros make.
    let of_symbol = |symbol| match symbol {
        Symbol::Value(v, _) => aligns.get(&v).copied().unwrap_or_else(|| 1 << low_zeros(func, v, DEPTH)),
        _ => 1,
    };
    let better = |(i, address, ty, align): (Inst, Value, Type, u32)| {
        // No more than the size of the access, which is all that its width depends on.
        let known = affine.form(address, Ext::Own).power_of_two(MAX_ALIGN_BYTES, of_symbol).min(ty.bytes().into());
        (known > align.into()).then_some((i, known as u32))
    };
    accesses.into_iter().filter_map(better).collect()
}

/// How many of the lowest bits of a number are zeros at least, up to those that matter here.
fn low_zeros(func: &Function, v: Value, depth: u32) -> u32 {
    let most = MAX_ALIGN_BYTES.trailing_zeros();
    let inst = func.def_inst(v).filter(|_| depth > 0 && !func.ty(v).is_vector());
    let Some(data) = inst.map(|i| &func.insts[i]) else { return 0 };
    zeros_of_result(data, |k| low_zeros(func, data.args[k], depth - 1)).min(most)
}

/// How many of the lowest bits of a scalar result are zeros at least, from those of the operands.
pub(crate) fn zeros_of_result(data: &InstData, of: impl Fn(usize) -> u32) -> u32 {
    match data.op {
        Op::Const(bits) => bits.trailing_zeros(),
        Op::Binary(BinOp::Add | BinOp::Sub | BinOp::Or | BinOp::Xor) => of(0).min(of(1)),
        Op::Binary(BinOp::And) => of(0).max(of(1)),
        // The zeros of both factors add up.
        Op::Binary(BinOp::Mul) => of(0) + of(1),
        Op::Cast(CastOp::Trunc | CastOp::Sext | CastOp::Zext) => of(0),
        Op::Select => of(1).min(of(2)),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use cloom_ir::parse;

    /// The text of a kernel of two buffers after the pass.
    fn after(body: &str) -> String {
        let text = format!(
            "func external @k(ptr<global>, ptr<global>, i32) kernel {{
               param \"a\" \"ushort4*\" global size 8 align 8 pointee 8
               param \"b\" \"ushort*\" global size 8 align 8 pointee 2
               param \"n\" \"int\" value size 4 align 4
             }} {{
             bb0(v0: ptr<global>, v1: ptr<global>, v2: i32):
                 v3: i64 = sext v2
                 v4: i64 = const 0x8
                 v5: i64 = const 0x4
                 {body}
                 ret
             }}"
        );
        let mut module = parse(&text).unwrap();
        let kernel = module.find("k").unwrap();
        super::run(&mut module.funcs[kernel]);
        module.function_text(&module.funcs[kernel])
    }

    #[test]
    fn accesses_are_aligned_as_buffers_and_factors_say() {
        let at = |buffer: &str, factor: &str, ty: &str| {
            after(&format!(
                "v6: i64 = mul v3, {factor}\n v7: ptr<global> = ptradd {buffer}, v6\n v8: {ty} = load v7 align 2
                 store v7, v8 align 2"
            ))
        };
        for (buffer, factor, ty, align) in [
            ("v0", "v4", "f16x4", 8),
            ("v0", "v4", "f16x8", 8),
            ("v0", "v5", "f16x4", 4),
            ("v1", "v4", "f16x4", 2),
            ("v0", "v4", "f16x2", 4),
            ("v0", "v4", "f16", 2),
            ("v0", "v4", "f16x3", 2),
            ("v0", "v3", "f16x4", 2),
        ] {
            let text = at(buffer, factor, ty);
            for access in ["load v7", "store v7, v8"] {
                assert!(text.contains(&format!("{access} align {align}\n")), "{buffer} {factor} {ty}\n{text}");
            }
        }
    }

    #[test]
    fn what_may_wrap_has_its_low_zeros() {
        for (index, align) in [
            ("v11: i32 = trunc v10\n v6: i64 = sext v11", 8),
            ("v11: i32 = trunc v3\n v6: i64 = sext v11", 2),
            ("v11: i64 = add v10, v3\n v6: i64 = or v11, v10", 2),
            ("v11: i64 = const 0x18\n v6: i64 = and v3, v11", 8),
        ] {
            let text = after(&format!(
                "v10: i64 = mul v3, v4\n {index}\n v7: ptr<global> = ptradd v0, v6\n v8: f16x4 = load v7 align 2"
            ));
            assert!(text.contains(&format!(" align {align}\n    ret")), "{index}\n{text}");
        }
    }

    #[test]
    fn a_constant_counts() {
        let text = after("v7: ptr<global> = ptradd v0, v5\n v8: f16x4 = load v7 align 2");
        assert!(text.contains("align 4\n    ret"), "{text}");
    }
}
