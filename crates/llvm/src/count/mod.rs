//! Counters in machine code: how often each basic block runs, and which operations it has.
//!
//! In comes the assembly that LLVM made of a kernel; out goes the same assembly with a counter at the beginning of each
//! basic block, a table of the operations of each block, and from it an object.
//!
//! ```text
//! .LBB0_2:                               .LBB0_2:
//!     vmovups (%rsi,%rax), %ymm0   ─▶        lock incq cloom.counts+16(%rip)     (flags and red zone saved)
//!     …                                      vmovups (%rsi,%rax), %ymm0
//!                                        .section .cloom.ops     load32=1 issue8=1 …   a line for each block
//! ```
//!
//! Why here: counts of the IR would not show what LLVM makes of it (wide vectors split into registers, spills, folded
//! loads). Counters in the IR change the code that they count, and the blocks of an instrumented build need not be
//! those of the real one. Text from the last stage has neither problem: each instruction is the one of the real code,
//! and the counters stand between blocks. The addresses shift, and code runs several times slower, so that such an
//! object measures nothing but counts.
//!
//! The object describes itself: a loader finds the counters by the symbol [`SYMBOL`] and the table in the section
//! [`SECTION`]. The increments are atomic, as all threads share the counters. Only for x86.

mod classify;

use crate::Error;
use crate::handles::{Context, LlvmModule};
use crate::target::{Machine, Output};
use cloom_target::ops::{Counts, SECTION, SYMBOL};
use llvm_sys::core::LLVMSetModuleInlineAsm2;
use std::fmt::Write as _;

/// Bytes of stack that a counter needs: the red zone and the flags.
pub const STACK: u64 = 256;

/// Adds counters to assembly in AT&T syntax.
pub fn instrument(assembly: &str) -> String {
    let mut out = String::with_capacity(assembly.len() * 2);
    let mut blocks: Vec<Counts> = Vec::new();
    let (mut in_code, mut begins, mut fused) = (false, true, false);
    for line in assembly.lines() {
        // LLVM's comments follow a `#`: `# %bb1`, `# 16-byte Spill`.
        let text = line.split('#').next().unwrap_or_default().trim();
        let is_label = text.ends_with(':');
        if let Some(directive) = text.strip_prefix('.').filter(|_| !is_label) {
            match directive.split_whitespace().next() {
                Some("text") => in_code = true,
                Some("section") => in_code = directive.contains(".text"),
                _ => {}
            }
        } else if is_label {
            begins = true;
        } else if !text.is_empty() && in_code {
            // `lea` does not change the flags, so that the red zone (128 bytes below the stack pointer, which the code
            // may use) is stepped over before they are pushed. `inc` changes them.
            if begins {
                let _ = writeln!(
                    out,
                    "\tleaq\t-128(%rsp), %rsp\n\tpushfq\n\tlock\tincq\t{SYMBOL}+{}(%rip)\n\tpopfq\n\tleaq\t128(%rsp), %rsp",
                    8 * blocks.len()
                );
                blocks.push(Counts::default());
                fused = false;
            }
            if let Some(block) = blocks.last_mut() {
                classify::count(text, fused, block);
            }
            fused = classify::fuses(text);
            begins = classify::ends_block(text);
        }
        out.push_str(line);
        out.push('\n');
    }
    let _ = writeln!(
        out,
        "\t.section\t.bss.{SYMBOL},\"aw\",@nobits\n\t.p2align\t6\n\t.type\t{SYMBOL},@object\n\t.size\t{SYMBOL}, {size}\n{SYMBOL}:\n\t.zero\t{size}",
        size = 8 * blocks.len().max(1)
    );
    let _ = writeln!(out, "\t.section\t{SECTION},\"\",@progbits");
    for block in blocks {
        let _ = writeln!(out, "\t.ascii\t\"{block}\\n\"");
    }
    out
}

/// The object of assembly.
pub fn assemble(assembly: &str, machine: &Machine, context: &Context) -> Result<Vec<u8>, Error> {
    let module = LlvmModule::new(context, "counted");
    machine.prepare(&module);
    // SAFETY: the module is valid, and the text, which is copied, lives through the call.
    unsafe { LLVMSetModuleInlineAsm2(module.raw, assembly.as_ptr().cast(), assembly.len()) };
    let object = machine.emit(&module, Output::Object)?;
    context.check()?;
    Ok(object)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOOP: &str = "\t.text\n\t.globl\tf\nf:\n\txorl\t%eax, %eax\n.LBB0_1:  # %bb1\n\tvmovups\t(%rsi,%rax), %ymm0\n\
                        \taddq\t$32, %rax\n\tcmpq\t%rdx, %rax\n\tjne\t.LBB0_1\n\tvzeroupper\n\tretq\n\
                        \t.section\t.rodata,\"a\",@progbits\n.LCPI0_0:\n\t.long\t1\n";

    #[test]
    fn each_block_has_one_counter_and_a_line() {
        let text = instrument(LOOP);
        assert_eq!(text.matches("incq").count(), 3, "{text}");
        let lines: Vec<&str> = text.lines().filter_map(|l| l.trim().strip_prefix(".ascii")).collect();
        assert_eq!(lines[1].trim(), r#""load32=1 scalar8=2 issue8=3\n""#);
        assert_eq!(lines.len(), 3);
        // All lines of the original are there, in order.
        let mut rest = text.lines();
        assert!(LOOP.lines().all(|l| rest.any(|r| r == l)));
    }
}
