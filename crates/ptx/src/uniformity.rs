//! Which registers differ between the threads of a warp.
//!
//! In: the instructions of a function with their registers. Out: the registers whose data depends on the thread.
//!
//! The question is which registers ptxas cannot keep in uniform registers, which a warp has once. A register in the set
//! depends on the thread; one outside of it *may* be uniform. So a load counts as uniform if its address is, and an
//! assignment in a loop after a use of the register is not seen: one pass in the order of the text is enough. Control
//! dependence does not count.

use crate::Special;
use crate::def_use::{DefUse, Operand, Operation, RegisterSet};

/// The registers that depend on the thread.
pub fn varying(of: &DefUse<'_, '_>) -> RegisterSet {
    let mut varying = RegisterSet::new(of);
    // One pass: see the head of the file for what it may miss.
    for operation in &of.code {
        if is_varying(operation, &varying) {
            operation.for_each_write(|register| {
                varying.insert(register);
            });
        }
    }
    varying
}

fn is_varying(operation: &Operation<'_, '_>, varying: &RegisterSet) -> bool {
    match operation.name {
        // These results are uniform, whatever the operands are.
        "redux" | "vote" | "match" | "activemask" | "elect" | "bar" | "barrier" | "call" => return false,
        // Each thread gets another old value.
        "atom" => return true,
        // A local address is another location for each thread.
        "ld" | "ldu" if operation.inst.has("local") => return true,
        _ => {}
    }
    // The predicate of the instruction does not count: that would be control dependence.
    operation.reads().iter().any(|operand| depends(operand, varying))
}

/// Whether an operand, or one in a group, depends on the thread.
fn depends(operand: &Operand<'_>, varying: &RegisterSet) -> bool {
    match operand {
        Operand::Register(register) | Operand::Address(Some(register)) => varying.has(register.slot),
        Operand::Name(name) => Special::parse(name).is_some_and(Special::is_of_thread),
        Operand::Group(list) => list.iter().any(|operand| depends(operand, varying)),
        Operand::Literal(_) | Operand::Address(None) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Item;

    /// Whether `%r1` depends on the thread.
    fn varies(body: &str) -> bool {
        let registers = ".reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<9>; .reg .b64 %d<4>; .reg .f32 %f<9>;";
        let text = format!(".entry k() {{ {registers} mov.u32 %r2, %tid.x; {body} mov.b32 %r8, %r1; }}");
        let module = crate::parse(&text).unwrap();
        let Some(Item::Function(function)) = module.items.first() else { panic!() };
        let of = DefUse::new(function).unwrap();
        let last = of.code.last().and_then(|operation| operation.register(1)).unwrap();
        varying(&of).has(last.slot)
    }

    #[test]
    fn what_depends_on_the_thread_varies() {
        for body in [
            "mov.u32 %r1, %laneid;",
            "add.s32 %r3, %r2, 1; mul.lo.s32 %r1, %r3, 3;",
            "mad.lo.s32 %r1, %r3, %r2, 5;",
            "setp.eq.s32 %p1, %r2, 0; selp.b32 %r1, 1, 2, %p1;",
            "shfl.sync.bfly.b32 %r1, %r2, 1, 31, -1;",
            "ld.shared.u32 %r1, [%r2+4];",
            "cvt.u64.u32 %d1, %r2; ld.v2.u32 {%r3, %r1}, [%d1];",
            "ld.local.u32 %r1, [8];",
            "atom.global.add.u32 %r1, [%d1], 1;",
            "ld.shared.v2.u16 {%h1, %h2}, [%r2]; mov.b32 %r1, {%h2, %h1};",
            "mov.u32 %r1, %clock;",
            "cvt.rn.f32.u32 %f1, %r2; tex.2d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%d1, {%f1, %f2}]; mov.b32 %r1, %f6;",
        ] {
            assert!(varies(body), "{body}");
        }
    }

    #[test]
    fn what_may_be_the_same_for_all_does_not_vary() {
        for body in [
            "mov.u32 %r1, %ctaid.x;",
            "ld.param.u32 %r1, [p];",
            "ld.global.u32 %r1, [%d1];",
            "redux.sync.or.b32 %r1, %r2, -1;",
            "setp.eq.s32 %p1, %r2, 0; vote.sync.ballot.b32 %r1, %p1, -1;",
            "activemask.b32 %r1;",
            "{ .reg .b32 %r1; add.s32 %r1, %r2, 1; }",
            "st.shared.u32 [%r2], %r1;",
            // A declared register of this name is not the special register.
            "{ .reg .b32 %laneid; mov.u32 %r1, %laneid; }",
        ] {
            assert!(!varies(body), "{body}");
        }
    }
}
