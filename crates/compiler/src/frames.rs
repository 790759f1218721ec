//! An upper estimate of what a work-item keeps across barriers, from a program's IR before any pass.
//!
//! `clGetKernelWorkGroupInfo` asks for the largest work-group of a kernel, often before the first launch. The answer
//! depends on the frames that the vectoriser lays out. But for nearly every kernel the estimate already shows that the
//! largest group of the device fits, so that no code has to be made for the answer. On a GPU the limit is registers,
//! and work-items with few bytes need few of them.
//!
//! The estimate adds up private variables and values, as if all of them were live at one barrier.

use cloom_ir::{FuncRef, Function, Module, Op};
use cloom_passes::inline::with_calls;

/// Factor for padding, masks, and values that passes duplicate.
const SPARE: u64 = 4;
/// Bytes for a call of a library function, whose body is not linked yet.
const LIBRARY_CALL: u64 = 16 << 10;
/// The most bytes that a work-item keeps.
pub fn kept(module: &Module, kernel: FuncRef) -> u64 {
    with_calls(module, kernel, own).saturating_mul(SPARE)
}

/// Private variables and values of the function itself.
fn own(func: &Function) -> u64 {
    if func.is_declaration() {
        return LIBRARY_CALL;
    }
    let variables = func.insts_in_layout().map(|(_, data)| match data.op {
        Op::Alloca { size, .. } => size,
        _ => 0,
    });
    // A vector of three elements may be kept as one of four.
    let values = func.values.values().map(|v| u64::from(v.ty.bytes()).next_power_of_two());
    variables.chain(values).fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(body: &str) -> u64 {
        let text = format!(
            "func internal @inner(i32) -> i32 {{\nbb0(v0: i32):\n    v1: ptr<private> = alloca 1000 align 4\n    ret v0\n}}\n\n\
             func external @outer(i32) {{\nbb0(v0: i32):\n{body}    ret\n}}\n"
        );
        let module = cloom_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        kept(&module, module.find("outer").unwrap())
    }

    #[test]
    fn every_variable_and_every_call_counts() {
        let nothing = of("");
        let one = of("    v1: i32 = call @inner v0\n");
        let two = of("    v1: i32 = call @inner v0\n    v2: i32 = call @inner v1\n");
        let own = of("    v1: ptr<private> = alloca 80000000 align 4\n");
        assert!(nothing < 1000, "{nothing}");
        assert!(one >= 1000 && (2000..100_000).contains(&two), "{one} {two}");
        assert!(own >= 80_000_000, "{own}");
    }
}
