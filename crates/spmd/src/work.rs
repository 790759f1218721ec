//! How many instructions a work-item executes, as far as constants tell.
//!
//! Each block counts as often as the loops around it go on at most: a loop whose header compares a counter with a
//! constant may be left earlier, and no later.

use cloom_ir::affine::{Affine, Facts};
use cloom_ir::cfg::Cfg;
use cloom_ir::dom::DomTree;
use cloom_ir::loops::Loops;
use cloom_ir::{Block, Entity, FuncRef, Function, Inst, Module, Op};
use cloom_passes::inline;

/// Bytes that one instruction sets or copies, where many are.
const WORD: u64 = 4;

/// The instructions that a work-item of a kernel executes at most, with the functions that it calls; `u64::MAX` if a
/// loop may go on for ever, as far as is known. Each function is looked at once.
pub fn most_executed(module: &Module, kernel: FuncRef) -> u64 {
    let mut most = vec![0; module.funcs.len()];
    for f in inline::bottom_up(module, kernel) {
        most[f.index()] = most_of(&module.funcs[f], |callee| most[callee.index()]);
    }
    most[kernel.index()]
}

/// That of one function, where those that it calls are known.
fn most_of(func: &Function, most: impl Fn(FuncRef) -> u64) -> u64 {
    let cfg = Cfg::new(func);
    let loops = Loops::new(func, &cfg, &DomTree::new(func, &cfg));
    // A cycle that is no natural loop has no header whose test could bound it.
    if func.is_declaration() || !loops.is_reducible() {
        return u64::MAX;
    }
    let affine = Affine::new(func, &cfg, &loops, Facts::default());
    // The header is executed once more.
    let trips = |l: usize| known_trips(&affine, l)?.checked_add(1);
    let inst = |i: &Inst| match func.insts[*i].op {
        Op::MemCopy { size, .. } | Op::MemSet { size, .. } => size.div_ceil(WORD),
        ref op => op.callee().map_or(0, &most).saturating_add(1),
    };
    let insts = |b: Block| func.blocks[b].insts.iter().map(inst).fold(0, u64::saturating_add);
    executed(func, &loops, trips, insts)
}

/// How often a loop iterates, if that is known and its header is where it ends.
pub fn known_trips(affine: &Affine<'_>, l: usize) -> Option<u64> {
    let test = affine.header_test(l)?;
    affine.trip_count_while(l, test.cc, test.counter, test.bound)?.known()
}

/// The instructions of all blocks, each as often as its loops iterate; a loop of which that is not known does so for
/// ever.
pub fn executed(
    func: &Function,
    loops: &Loops,
    trips: impl Fn(usize) -> Option<u64>,
    insts: impl Fn(Block) -> u64,
) -> u64 {
    let times = |b: Block| {
        let each = std::iter::successors(loops.innermost(b), |&l| loops.loops[l].parent);
        each.map(|l| trips(l).unwrap_or(u64::MAX)).fold(1, u64::saturating_mul)
    };
    func.blocks.keys().map(|b| times(b).saturating_mul(insts(b))).fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A kernel whose loop begins at 0, goes on while its counter, modified by `next`, is less than `bound`, and may be
    /// left before.
    fn most(bound: &str, next: &str) -> u64 {
        let text = format!(
            "func external @k(ptr<global>, i32) kernel {{
               param \"a\" \"int*\" global size 8 align 8
               param \"n\" \"int\" value size 4 align 4
             }} {{
             bb0(v0: ptr<global>, v1: i32):
                 v2: i32 = const 0x0
                 v3: i32 = const 0x40
                 v4: i32 = const 0x1
                 jump bb1(v2)
             bb1(v5: i32):
                 v6: i1 = icmp slt v5, {bound}
                 br v6, bb2, bb4
             bb2:
                 v7: i32 = load v0 align 4
                 v8: i32 = {next}
                 v9: i1 = icmp eq v7, v2
                 br v9, bb3, bb4
             bb3:
                 jump bb1(v8)
             bb4:
                 ret
             }}"
        );
        let module = cloom_ir::parse(&text).unwrap();
        let kernel = module.kernels().next().unwrap();
        most_executed(&module, kernel)
    }

    #[test]
    fn a_loop_counts_as_often_as_its_header_lets_it_go_on() {
        // Three constants; one instruction of the header and three of the body, 64 times and once more.
        assert_eq!(most("v3", "add nsw v5, v4"), 3 + 65 * 4);
    }

    /// Three assignments of 400 bytes, and seven functions, each of which calls the one before twenty times.
    #[test]
    fn functions_and_copies_count_each_time() {
        let body = |calls: &str| format!("{{\nbb0(v0: ptr<private>):\n{calls}    ret\n}}\n");
        let call = |f: usize| body(&format!("    call @f{f} v0\n").repeat(20));
        let copies = body(&"    memset 400 0 v0 align 4\n".repeat(3));
        let mut text = format!("func internal @f0(ptr<private>) {copies}");
        (0..7).for_each(|f| text += &format!("func internal @f{}(ptr<private>) {}", f + 1, call(f)));
        let module = cloom_ir::parse(&text).unwrap();
        let most = |name: &str| most_executed(&module, module.find(name).unwrap());
        assert_eq!(most("f0"), 300);
        assert_eq!(most("f1"), 20 * 301);
        // Soon, though there are 1.28 billion ways down.
        assert!(most("f7") > 300 * 20u64.pow(7));
    }

    #[test]
    fn a_loop_that_may_go_on_for_ever_has_no_bound() {
        assert_eq!(most("v1", "add nsw v5, v4"), u64::MAX);
        assert_eq!(most("v3", "mul v5, v4"), u64::MAX);
        assert_eq!(most("v3", "sub nsw v5, v4"), u64::MAX);
    }
}
