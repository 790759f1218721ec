//! Descriptors of images as parameters of a GPU's kernel, by value.
//!
//! The input is a kernel after the scalar passes, whose parameters for images are the addresses of their descriptors.
//! The output is the kernel with structures in their place, where it only reads fields of them. A GPU keeps parameters
//! in a constant bank, which instructions access directly. From memory, the nine fields of two images take nine loads,
//! which a kernel of one element waits for before it can load that element.
//!
//! The constant bank has 4,352 bytes: a kernel with many images gets the addresses.

use cloom_ir::abi::image;
use cloom_ir::{FuncRef, Function, Module, Op, ParamKind, Value};

/// Bytes of the argument block up to which descriptors are passed by value.
const MAX_ARG_BLOCK_BYTES: usize = 2048;

/// Passes the descriptors of a kernel by value, where that is possible. Returns how many.
pub fn pass_by_value(module: &mut Module, kernel: FuncRef) -> usize {
    let func = &mut module.funcs[kernel];
    let Some(mut meta) = func.kernel.take() else { return 0 };
    let mut changes = 0;
    let images = meta.params.iter().filter(|param| param.kind == ParamKind::Image).count();
    let (_, block) = meta.layout();
    // As if all images were passed by value: which of them can be is found out below.
    if block as usize + images * image::SIZE <= MAX_ARG_BLOCK_BYTES {
        for (param, value) in meta.params.iter_mut().zip(func.param_values().to_vec()) {
            if param.kind == ParamKind::Image && reads_fields_only(func, value) {
                (param.kind, param.size, param.align) = (ParamKind::Struct, image::SIZE as u32, image::ALIGN);
                changes += 1;
            }
        }
    }
    func.kernel = Some(meta);
    changes
}

/// Whether an address is used for loads at constant offsets only.
fn reads_fields_only(func: &Function, address: Value) -> bool {
    // A field's address may be loaded from only; the descriptor's own may also be moved to a field.
    let is_address = |v: Value, op: &Op, k: usize| match op {
        Op::Load { .. } => true,
        Op::PtrAdd => k == 0 && v == address,
        _ => false,
    };
    // The address, and the addresses at constant offsets from it.
    let mut addresses = vec![address];
    for (_, data) in func.insts_in_layout() {
        if data.op == Op::PtrAdd && data.args[0] == address {
            let is_field = func.const_bits(data.args[1]).is_some_and(|offset| offset < image::SIZE as u64);
            match data.result {
                Some(result) if is_field => addresses.push(result),
                _ => return false,
            }
        }
    }
    let insts = func.insts_in_layout().all(|(_, data)| {
        data.args.iter().enumerate().all(|(k, v)| !addresses.contains(v) || is_address(*v, &data.op, k))
    });
    // An address that goes to another block as an argument has a name there that this search does not know.
    let terms = func.layout.iter().all(|&b| {
        let mut leaves = false;
        func.blocks[b].term.for_each_use(|v| leaves |= addresses.contains(&v));
        !leaves
    });
    insts && terms
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kind and the size of the parameter of a kernel that does this with the address `v0`.
    fn passed(body: &str) -> (ParamKind, u32) {
        let text = format!(
            "func internal @f(ptr<constant>) -> i32 noinline {{
             bb0(v0: ptr<constant>):
                 v1: i32 = load v0 align 4
                 ret v1
             }}

             func external @k(ptr<constant>, ptr<global>) kernel {{
               param \"i\" \"image2d_t\" image size 8 align 8
               param \"p\" \"int*\" global size 8 align 8
             }} {{
             bb0(v0: ptr<constant>, v1: ptr<global>):
                 v2: i64 = const 0x18
                 v3: ptr<constant> = ptradd v0, v2
                 {body}
                 store v1, v4 align 4
                 ret
             }}"
        );
        let mut module = cloom_ir::parse(&text).unwrap();
        let kernel = module.kernels().next().unwrap();
        pass_by_value(&mut module, kernel);
        assert_eq!(cloom_ir::verify(&module).first(), None, "{text}");
        let param = &module.funcs[kernel].kernel.as_ref().unwrap().params[0];
        (param.kind, param.size)
    }

    #[test]
    fn descriptors_are_passed_by_value_if_fields_are_read() {
        assert_eq!(passed("v4: i32 = load v3 align 4"), (ParamKind::Struct, 80));
        assert_eq!(passed("v4: i32 = load v0 align 4"), (ParamKind::Struct, 80));
        assert_eq!(passed("v4: i32 = call @f v3"), (ParamKind::Image, 8), "the address leaves");
        let far = "v5: i64 = const 0x50\n v6: ptr<constant> = ptradd v0, v5\n v4: i32 = load v6 align 4";
        assert_eq!(passed(far), (ParamKind::Image, 8), "behind the descriptor");
    }
}
