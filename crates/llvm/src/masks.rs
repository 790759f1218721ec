//! A pass over LLVM IR: masks as vectors of integers, where the target has no mask registers.
//!
//! Before AVX-512 the result of a vector comparison is a vector of numbers as wide as those compared, all ones or zero.
//! LLVM's instruction selection knows that within a basic block. A mask that is live across blocks, as that of every
//! divergent loop is, is kept as `<N x i1>` made legal, which is a vector of other, narrower numbers: masks are packed
//! at the end of each block and unpacked where they are used, and their combinations follow that form.
//!
//! ```text
//! %m = phi <8 x i1> [%m0, ..], [%m1, ..]      %m = phi <8 x i32> [%s0, ..], [%s1, ..]      ; %s0 = sext %m0
//! %n = and <8 x i1> %m, %c               ─▶   %n = and <8 x i32> %m, %sc                   ; %sc = sext %c
//! select <8 x i1> %n, %x, %y                  %t = icmp slt <8 x i32> %n, 0
//!                                             select <8 x i1> %t, %x, %y
//! ```
//!
//! * *Before*: a module that LLVM's verifier accepts, after all other passes.
//! * *After*: the module verifies (the caller checks) and computes the same. No `and`, `or`, `xor`, `phi`, `select`,
//!   shuffle, insertion or freeze has the type `<N x i1>`. Masks that are combined with each other have one width: the
//!   one that most of the comparisons, selections and masked accesses around them have, found with union-find and a
//!   vote. A use sees the sign of each lane, which costs nothing in selections, masked loads and tests. A module for a
//!   target with mask registers is left alone.
//! * *Order*: it runs last. InstCombine would turn the sign tests back into masks.
//!
//! Tests: `tests/mask_blocks.rs` runs loops that iterate while a lane is on (`loops_run_while_a_lane_is_on`) and
//! combinations of masks of several widths (`widths_mix`) on every target of the machine; `tests/other_machines.rs`
//! looks at the instructions (`loops_stay_in_vector_registers`); and below, the pass alone says what it did.

use crate::handles::LlvmModule;
use cloom_target::Features;
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::{LLVMIntPredicate, LLVMOpcode, LLVMTypeKind};
use std::collections::{HashMap, HashSet};

const NO_NAME: *const std::ffi::c_char = c"".as_ptr();

/// The widths that [`Masks::votes`] counts, in this order.
const WIDTHS: [u32; 4] = [8, 16, 32, 64];

/// Rewrites the masks of a module. Returns how many functions have any.
pub fn widen(module: &LlvmModule<'_>, features: &Features) -> usize {
    if features.mask_registers > 0 {
        return 0;
    }
    let mut changed = 0;
    // SAFETY: the module is valid and nobody else uses it. Functions and blocks are walked in its own lists, and the
    // builder is disposed of once.
    unsafe {
        let mut func = LLVMGetFirstFunction(module.raw);
        while !func.is_null() {
            // Intrinsics are declarations, which have no block.
            if LLVMCountBasicBlocks(func) > 0 {
                let context = LLVMGetModuleContext(module.raw);
                let builder = LLVMCreateBuilderInContext(context);
                let masks = Masks::new(context, builder, func);
                if !masks.logic.is_empty() || !masks.sources.is_empty() {
                    changed += 1;
                    masks.run(features.vector_bits);
                }
                LLVMDisposeBuilder(builder);
            }
            func = LLVMGetNextFunction(func);
        }
    }
    changed
}

struct Masks {
    context: LLVMContextRef,
    builder: LLVMBuilderRef,
    func: LLVMValueRef,
    /// Instructions that define masks, except those in `logic`.
    sources: Vec<LLVMValueRef>,
    /// Instructions that combine masks, in the order in which `parent` and `votes` number them.
    logic: Vec<LLVMValueRef>,
    number: HashMap<LLVMValueRef, usize>,
    /// Union-find: masks that are combined with each other are in one set, which has one width.
    parent: Vec<usize>,
    votes: Vec<[u32; 4]>,
    /// Wide forms: masks as integers, by mask and width.
    wide: HashMap<(LLVMValueRef, u32), LLVMValueRef>,
    /// Narrow forms: wide ones turned back into `i1`, by mask and block.
    narrow: HashMap<(LLVMValueRef, LLVMBasicBlockRef), LLVMValueRef>,
}

unsafe fn mask_lanes(v: LLVMValueRef) -> Option<u32> {
    // SAFETY: `v` is a value of the live module, and only the size of a vector type is asked for.
    unsafe {
        let ty = LLVMTypeOf(v);
        if LLVMGetTypeKind(ty) != LLVMTypeKind::LLVMVectorTypeKind {
            return None;
        }
        (element_bits(ty) == 1).then(|| LLVMGetVectorSize(ty))
    }
}

/// The bits of a lane, or of a scalar.
unsafe fn element_bits(ty: LLVMTypeRef) -> u32 {
    // SAFETY: `ty` is a type of the live context, and each question is asked only of a type of its kind.
    unsafe {
        match LLVMGetTypeKind(ty) {
            LLVMTypeKind::LLVMVectorTypeKind => element_bits(LLVMGetElementType(ty)),
            LLVMTypeKind::LLVMIntegerTypeKind => LLVMGetIntTypeWidth(ty),
            LLVMTypeKind::LLVMHalfTypeKind => 16,
            LLVMTypeKind::LLVMFloatTypeKind => 32,
            LLVMTypeKind::LLVMDoubleTypeKind | LLVMTypeKind::LLVMPointerTypeKind => 64,
            _ => 0,
        }
    }
}

unsafe fn opcode(v: LLVMValueRef) -> Option<LLVMOpcode> {
    // SAFETY: `v` is a value of the live module, and only instructions are asked for their opcode.
    unsafe { (!LLVMIsAInstruction(v).is_null()).then(|| LLVMGetInstructionOpcode(v)) }
}

unsafe fn operands(inst: LLVMValueRef) -> Vec<LLVMValueRef> {
    // SAFETY: `inst` is an instruction of the live module, and each index is one of an operand.
    unsafe { (0..LLVMGetNumOperands(inst) as u32).map(|i| LLVMGetOperand(inst, i)).collect() }
}

unsafe fn users(v: LLVMValueRef) -> Vec<LLVMValueRef> {
    let mut list = Vec::new();
    // SAFETY: `v` is a value of the live module, whose list of uses does not change during the walk.
    unsafe {
        let mut at = LLVMGetFirstUse(v);
        while !at.is_null() {
            list.push(LLVMGetUser(at));
            at = LLVMGetNextUse(at);
        }
    }
    list
}

unsafe fn first_after_phis(block: LLVMBasicBlockRef) -> LLVMValueRef {
    // SAFETY: `block` belongs to the live module and ends with a terminator, which is no phi.
    unsafe {
        let mut at = LLVMGetFirstInstruction(block);
        while LLVMGetInstructionOpcode(at) == LLVMOpcode::LLVMPHI {
            at = LLVMGetNextInstruction(at);
        }
        at
    }
}

impl Masks {
    unsafe fn new(context: LLVMContextRef, builder: LLVMBuilderRef, func: LLVMValueRef) -> Self {
        let mut masks = Masks {
            context,
            builder,
            func,
            sources: Vec::new(),
            logic: Vec::new(),
            number: HashMap::new(),
            parent: Vec::new(),
            votes: Vec::new(),
            wide: HashMap::new(),
            narrow: HashMap::new(),
        };
        // SAFETY: `func` is a function of the live module, whose blocks and instructions do not change during the walk.
        unsafe {
            let mut block = LLVMGetFirstBasicBlock(func);
            while !block.is_null() {
                let mut inst = LLVMGetFirstInstruction(block);
                while !inst.is_null() {
                    if mask_lanes(inst).is_some() {
                        use LLVMOpcode::*;
                        // Everything else that defines a mask is a source: comparisons and truncations, but also loads,
                        // calls and casts. A source keeps its narrow form; only combinations are made anew.
                        let of_masks = matches!(
                            opcode(inst),
                            Some(LLVMAnd | LLVMOr | LLVMXor | LLVMPHI | LLVMSelect)
                                | Some(LLVMShuffleVector | LLVMInsertElement | LLVMFreeze)
                        );
                        if of_masks {
                            masks.number.insert(inst, masks.logic.len());
                            masks.logic.push(inst);
                        } else {
                            masks.sources.push(inst);
                        }
                    }
                    inst = LLVMGetNextInstruction(inst);
                }
                block = LLVMGetNextBasicBlock(block);
            }
        }
        masks.parent = (0..masks.logic.len()).collect();
        masks.votes = vec![[0; 4]; masks.logic.len()];
        masks
    }

    unsafe fn run(mut self, register: u32) {
        // SAFETY: the steps run in the order in which each finds the wide forms that it needs; all values belong to the
        // live module.
        unsafe {
            // The empty wide phis come before all combinations: each cycle of masks goes through a phi, so that
            // `combine` then finds all operands. Their incoming values come after the combinations, which they may
            // name.
            self.choose_widths();
            self.make_phis();
            for v in self.logic.clone() {
                self.combine(v);
            }
            self.fill_phis();
            self.replace_uses();
            // Only now is it known which narrow forms exist: `replace_uses` makes them.
            self.tests(register);
            for &v in &self.logic {
                // Old masks use each other, in cycles through phis: no order of erasing would find each without uses.
                LLVMReplaceAllUsesWith(v, LLVMGetPoison(LLVMTypeOf(v)));
            }
            for &v in &self.logic {
                LLVMInstructionEraseFromParent(v);
            }
        }
    }

    fn root(&mut self, mut i: usize) -> usize {
        while self.parent[i] != i {
            self.parent[i] = self.parent[self.parent[i]];
            i = self.parent[i];
        }
        i
    }

    /// The width that a comparison votes for.
    unsafe fn width_of_source(v: LLVMValueRef) -> u32 {
        use LLVMOpcode::*;
        // SAFETY: `v` is a value of the live module, and a comparison or truncation has an operand.
        unsafe {
            match opcode(v) {
                Some(LLVMICmp | LLVMFCmp | LLVMTrunc) => element_bits(LLVMTypeOf(LLVMGetOperand(v, 0))),
                _ => 0,
            }
        }
    }

    unsafe fn width_of_user(v: LLVMValueRef) -> u32 {
        use LLVMOpcode::*;
        // SAFETY: `v` is an instruction of the live module that uses a mask, so that a call has an operand.
        unsafe {
            let ty = LLVMTypeOf(v);
            match opcode(v) {
                Some(LLVMSelect | LLVMSExt | LLVMZExt) => element_bits(ty),
                Some(LLVMCall) => match element_bits(ty) {
                    0 => element_bits(LLVMTypeOf(LLVMGetOperand(v, 0))),
                    bits => bits,
                },
                _ => 0,
            }
        }
    }

    unsafe fn choose_widths(&mut self) {
        // SAFETY: all values in the lists are instructions of the live module.
        unsafe {
            for i in 0..self.logic.len() {
                let v = self.logic[i];
                let near = operands(v).into_iter().map(|o| (o, Self::width_of_source(o)));
                let near: Vec<_> = near.chain(users(v).into_iter().map(|u| (u, Self::width_of_user(u)))).collect();
                for (other, bits) in near {
                    if let Some(&j) = self.number.get(&other) {
                        let (a, b) = (self.root(i), self.root(j));
                        // Votes are counted at the root of a set. Those of `a` stay behind, and are not read again.
                        if a != b {
                            self.parent[a] = b;
                            for k in 0..4 {
                                self.votes[b][k] += self.votes[a][k];
                            }
                        }
                    } else if let Some(k) = WIDTHS.iter().position(|&w| w == bits) {
                        let root = self.root(i);
                        self.votes[root][k] += 1;
                    }
                }
            }
            for i in 0..self.logic.len() {
                // From now on `parent` is the root itself, so that `width` needs no exclusive access.
                self.parent[i] = self.root(i);
            }
        }
    }

    /// The width of a mask as integers.
    unsafe fn width(&self, v: LLVMValueRef) -> u32 {
        if let Some(&i) = self.number.get(&v) {
            let votes = self.votes[self.parent[i]];
            let most = votes.iter().max().copied().unwrap_or(0);
            // If two widths have as many votes, the wider one wins. Masks whose neighbours have none of the widths get
            // 32 bits.
            return match votes.iter().rposition(|&n| n == most) {
                Some(k) if most > 0 => WIDTHS[k],
                _ => 32,
            };
        }
        // SAFETY: `v` is a value of the live module.
        match unsafe { Self::width_of_source(v) } {
            bits if WIDTHS.contains(&bits) => bits,
            _ => 32,
        }
    }

    unsafe fn wide_type(&self, v: LLVMValueRef, bits: u32) -> LLVMTypeRef {
        // SAFETY: `v` is a mask, whose type is a vector type of the live context.
        unsafe { LLVMVectorType(LLVMIntTypeInContext(self.context, bits), LLVMGetVectorSize(LLVMTypeOf(v))) }
    }

    /// The wide form of a mask. For a mask in `logic` it exists already.
    unsafe fn wide(&mut self, v: LLVMValueRef, bits: u32) -> LLVMValueRef {
        if let Some(&w) = self.wide.get(&(v, bits)) {
            return w;
        }
        // SAFETY: `v` is a mask of this function, and its wide form is built where `v` dominates: after it, or at the
        // entry.
        unsafe {
            let after = if LLVMIsAInstruction(v).is_null() {
                // A constant or a parameter.
                LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(self.func))
            } else if opcode(v) == Some(LLVMOpcode::LLVMPHI) {
                first_after_phis(LLVMGetInstructionParent(v))
            } else {
                LLVMGetNextInstruction(v)
            };
            LLVMPositionBuilderBefore(self.builder, after);
            // Extended from `i1` also if a wide form of another width exists.
            let w = LLVMBuildSExt(self.builder, v, self.wide_type(v, bits), NO_NAME);
            self.wide.insert((v, bits), w);
            w
        }
    }

    /// The narrow form of a mask in a block. The mask is in `logic`, or has a wide form.
    unsafe fn narrow(&mut self, v: LLVMValueRef, block: LLVMBasicBlockRef) -> LLVMValueRef {
        if let Some(&n) = self.narrow.get(&(v, block)) {
            return n;
        }
        // SAFETY: the wide form of `v` dominates `block`, in which the builder is placed after the phis.
        unsafe {
            let bits = self.width(v);
            let w = self.wide(v, bits);
            // One comparison serves all uses in the block: instruction selection sees one block at a time, and folds
            // the test of the sign into each of them. It stands as early as possible, so that it dominates all uses.
            let here = !LLVMIsAInstruction(w).is_null()
                && LLVMGetInstructionParent(w) == block
                && opcode(w) != Some(LLVMOpcode::LLVMPHI);
            LLVMPositionBuilderBefore(
                self.builder,
                if here { LLVMGetNextInstruction(w) } else { first_after_phis(block) },
            );
            let zero = LLVMConstNull(LLVMTypeOf(w));
            let n = LLVMBuildICmp(self.builder, LLVMIntPredicate::LLVMIntSLT, w, zero, NO_NAME);
            self.narrow.insert((v, block), n);
            n
        }
    }

    unsafe fn make_phis(&mut self) {
        // SAFETY: `v` is a phi of the live module, and the new one is built beside it.
        unsafe {
            for &v in &self.logic {
                if opcode(v) == Some(LLVMOpcode::LLVMPHI) {
                    let bits = self.width(v);
                    LLVMPositionBuilderBefore(self.builder, v);
                    let phi = LLVMBuildPhi(self.builder, self.wide_type(v, bits), NO_NAME);
                    self.wide.insert((v, bits), phi);
                }
            }
        }
    }

    unsafe fn fill_phis(&mut self) {
        // SAFETY: `v` is a phi, `phi` its wide form, and each index is one of an incoming edge.
        unsafe {
            for v in self.logic.clone() {
                if opcode(v) != Some(LLVMOpcode::LLVMPHI) {
                    continue;
                }
                let bits = self.width(v);
                let phi = self.wide[&(v, bits)];
                for i in 0..LLVMCountIncoming(v) {
                    let mut value = self.wide(LLVMGetIncomingValue(v, i), bits);
                    let mut block = LLVMGetIncomingBlock(v, i);
                    LLVMAddIncoming(phi, &mut value, &mut block, 1);
                }
            }
        }
    }

    /// Makes the wide form of a combination, after those of its operands. Every cycle goes through a phi, whose wide
    /// form exists already.
    unsafe fn combine(&mut self, v: LLVMValueRef) {
        let mut stack = vec![v];
        // SAFETY: all values on the stack are instructions of the live module.
        unsafe {
            while let Some(&v) = stack.last() {
                let bits = self.width(v);
                if self.wide.contains_key(&(v, bits)) {
                    stack.pop();
                    continue;
                }
                let args = operands(v);
                let mut ready = true;
                for &a in &args {
                    if self.number.contains_key(&a) && !self.wide.contains_key(&(a, self.width(a))) {
                        stack.push(a);
                        ready = false;
                    }
                }
                if !ready {
                    continue;
                }
                stack.pop();
                let w = self.wide_combination(v, bits, &args);
                self.wide.insert((v, bits), w);
            }
        }
    }

    /// The wide form of a combination of these operands.
    unsafe fn wide_combination(&mut self, v: LLVMValueRef, bits: u32, args: &[LLVMValueRef]) -> LLVMValueRef {
        use LLVMOpcode::*;
        let b = self.builder;
        // SAFETY: `v` is an instruction of the live module, and the builder stands where the wide operands dominate.
        unsafe {
            let block = LLVMGetInstructionParent(v);
            let op = opcode(v);
            // Making the operands' wide forms may move the builder.
            let wide: Vec<_> = args
                .iter()
                .map(|&a| mask_lanes(a).is_some().then(|| self.wide(a, bits)))
                .map(|w| w.unwrap_or(std::ptr::null_mut()))
                .collect();
            // A select takes truth values as its condition: one, or the signs of a mask that is a combination itself.
            let cond = match op {
                Some(LLVMSelect) if self.number.contains_key(&args[0]) => self.narrow(args[0], block),
                _ => args[0],
            };
            LLVMPositionBuilderBefore(b, v);
            match op {
                Some(LLVMSelect) => LLVMBuildSelect(b, cond, wide[1], wide[2], NO_NAME),
                Some(LLVMAnd) => LLVMBuildAnd(b, wide[0], wide[1], NO_NAME),
                Some(LLVMOr) => LLVMBuildOr(b, wide[0], wide[1], NO_NAME),
                Some(LLVMFreeze) => LLVMBuildFreeze(b, wide[0], NO_NAME),
                Some(LLVMInsertElement) => {
                    let lane = LLVMBuildSExt(b, args[1], LLVMIntTypeInContext(self.context, bits), NO_NAME);
                    LLVMBuildInsertElement(b, wide[0], lane, args[2], NO_NAME)
                }
                Some(LLVMShuffleVector) => {
                    let i32 = LLVMInt32TypeInContext(self.context);
                    let lane = |i| match LLVMGetMaskValue(v, i) {
                        // Poison lanes.
                        n if n < 0 => LLVMGetPoison(i32),
                        n => LLVMConstInt(i32, n as u64, 0),
                    };
                    let mut lanes: Vec<_> = (0..LLVMGetNumMaskElements(v)).map(lane).collect();
                    let lanes = LLVMConstVector(lanes.as_mut_ptr(), lanes.len() as u32);
                    LLVMBuildShuffleVector(b, wide[0], wide[1], lanes, NO_NAME)
                }
                // `logic` has no other operation left: the wide forms of phis exist before.
                _ => LLVMBuildXor(b, wide[0], wide[1], NO_NAME),
            }
        }
    }

    /// A use that needs no narrow form: an extension is the wide form at another width, and a select with zero is a
    /// bitwise and.
    unsafe fn use_wide(&mut self, v: LLVMValueRef, user: LLVMValueRef) -> bool {
        use LLVMOpcode::*;
        let b = self.builder;
        // SAFETY: `user` is an instruction of the live module that uses `v`, and its new form is built before it.
        unsafe {
            let bits = self.width(v);
            let ty = LLVMTypeOf(user);
            let to = element_bits(ty);
            let op = opcode(user);
            let new = match op {
                Some(LLVMSExt | LLVMZExt) => {
                    let w = self.wide(v, bits);
                    LLVMPositionBuilderBefore(b, user);
                    // All lanes are 0 or -1, so that a sign extension or a truncation keeps them so. The zero extension
                    // of a mask has 0 and 1: that is the negation.
                    let same = match to {
                        _ if to == bits => w,
                        _ if to > bits => LLVMBuildSExt(b, w, ty, NO_NAME),
                        _ => LLVMBuildTrunc(b, w, ty, NO_NAME),
                    };
                    if op == Some(LLVMZExt) { LLVMBuildNeg(b, same, NO_NAME) } else { same }
                }
                Some(LLVMSelect) if LLVMGetOperand(user, 0) == v && to == bits => {
                    let (x, y) = (LLVMGetOperand(user, 1), LLVMGetOperand(user, 2));
                    let (x_off, y_off) = (LLVMIsNull(x) != 0, LLVMIsNull(y) != 0);
                    // A bit cast from pointers to integers does not exist, and without a zero there is no bitwise and.
                    if x_off == y_off
                        || mask_lanes(v).is_none()
                        || LLVMGetTypeKind(LLVMGetElementType(ty)) == LLVMTypeKind::LLVMPointerTypeKind
                    {
                        return false;
                    }
                    let w = self.wide(v, bits);
                    LLVMPositionBuilderBefore(b, user);
                    let int = LLVMTypeOf(w);
                    let (keep, w) = if y_off { (x, w) } else { (y, LLVMBuildNot(b, w, NO_NAME)) };
                    // An inactive lane of the other operand may be poison.
                    let keep = LLVMBuildFreeze(b, keep, NO_NAME);
                    let kept = LLVMBuildAnd(b, LLVMBuildBitCast(b, keep, int, NO_NAME), w, NO_NAME);
                    LLVMBuildBitCast(b, kept, ty, NO_NAME)
                }
                _ => return false,
            };
            LLVMReplaceAllUsesWith(user, new);
            true
        }
    }

    /// Uses of masks in `logic`, and uses of others in other blocks, get the signs of the wide form.
    unsafe fn replace_uses(&mut self) {
        // SAFETY: all values in the lists are instructions of the live module, and their users are collected before any
        // is replaced.
        unsafe {
            // Wide forms are extensions of the masks themselves: they keep their operand.
            let made: HashSet<LLVMValueRef> = self.wide.values().copied().collect();
            let all: Vec<_> = self.logic.iter().chain(&self.sources).copied().collect();
            for v in all {
                let combined = self.number.contains_key(&v);
                let home = LLVMGetInstructionParent(v);
                for user in users(v) {
                    let block = LLVMGetInstructionParent(user);
                    // Combinations are erased later. In the block of a comparison, instruction selection has its result
                    // as a wide vector already.
                    if self.number.contains_key(&user) || made.contains(&user) || !combined && block == home {
                        continue;
                    }
                    if self.use_wide(v, user) {
                        continue;
                    }
                    let n = self.narrow(v, block);
                    for (i, o) in operands(user).into_iter().enumerate() {
                        if o == v && user != n {
                            LLVMSetOperand(user, i as u32, n);
                        }
                    }
                }
            }
        }
    }

    /// Tests whether any or all lanes are on. If a mask has several registers, they are combined before the test.
    unsafe fn tests(&mut self, register: u32) {
        let back: HashMap<LLVMValueRef, LLVMValueRef> = self.narrow.iter().map(|(&(v, _), &n)| (n, v)).collect();
        // SAFETY: `mask` is a vector of truth values in the live module, and lists of users are collected before a
        // change.
        unsafe {
            let masks: Vec<_> = back.keys().copied().chain(self.sources.clone()).collect();
            for mask in masks {
                let v = back.get(&mask).copied().unwrap_or(mask);
                let (lanes, bits) = (LLVMGetVectorSize(LLVMTypeOf(mask)), self.width(v));
                let part = register / bits;
                // One register is tested by one instruction anyway.
                if lanes <= part || lanes % part != 0 {
                    continue;
                }
                // `any` and `all` of the IR are a bit cast to an integer and a comparison of this with 0 or -1
                // (`lanes.rs`).
                for cast in users(mask) {
                    if opcode(cast) != Some(LLVMOpcode::LLVMBitCast) {
                        continue;
                    }
                    for test in users(cast) {
                        self.test(v, bits, part, test);
                    }
                }
            }
        }
    }

    unsafe fn test(&mut self, v: LLVMValueRef, bits: u32, part: u32, test: LLVMValueRef) {
        use LLVMIntPredicate::{LLVMIntEQ, LLVMIntNE};
        // SAFETY: `test` is a value of the live module, and only an integer comparison is asked for its predicate.
        unsafe {
            if opcode(test) != Some(LLVMOpcode::LLVMICmp) {
                return;
            }
            let (predicate, against) = (LLVMGetICmpPredicate(test), LLVMGetOperand(test, 1));
            let ty = LLVMTypeOf(against);
            let zero = against == LLVMConstNull(ty);
            if !matches!(predicate, LLVMIntEQ | LLVMIntNE) || !zero && against != LLVMConstAllOnes(ty) {
                return;
            }
            let w = self.wide(v, bits);
            let b = self.builder;
            LLVMPositionBuilderBefore(b, test);
            let i32 = LLVMInt32TypeInContext(self.context);
            let lanes = LLVMGetVectorSize(LLVMTypeOf(w));
            let mut whole: LLVMValueRef = std::ptr::null_mut();
            for first in (0..lanes).step_by(part as usize) {
                let mut numbers: Vec<_> = (first..first + part).map(|i| LLVMConstInt(i32, u64::from(i), 0)).collect();
                let numbers = LLVMConstVector(numbers.as_mut_ptr(), part);
                let piece = LLVMBuildShuffleVector(b, w, LLVMGetPoison(LLVMTypeOf(w)), numbers, NO_NAME);
                // A lane is on in some register if the or of all registers has its sign; it is on in all if their and
                // has it.
                whole = match (whole.is_null(), zero) {
                    (true, _) => piece,
                    (false, true) => LLVMBuildOr(b, whole, piece, NO_NAME),
                    (false, false) => LLVMBuildAnd(b, whole, piece, NO_NAME),
                };
            }
            let none = LLVMConstNull(LLVMTypeOf(whole));
            let truth = LLVMBuildICmp(b, LLVMIntPredicate::LLVMIntSLT, whole, none, NO_NAME);
            let int = LLVMIntTypeInContext(self.context, part);
            let word = LLVMBuildBitCast(b, truth, int, NO_NAME);
            let against = if zero { LLVMConstNull(int) } else { LLVMConstAllOnes(int) };
            LLVMReplaceAllUsesWith(test, LLVMBuildICmp(b, predicate, word, against, NO_NAME));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::handles::Context;
    use crate::optimise::{self, Effort};
    use crate::own_passes::OwnPasses;
    use crate::target::Machine;
    use crate::{Error, emit};
    use cloom_passes::PassOptions;
    use cloom_target::Target;

    use super::*;

    /// A loop that runs while a lane is on.
    const LOOP: &str = "func external @k(ptr<context>, ptr<constant>, ptr<context>, ptr<local>, ptr<context>) {
bb0(v0: ptr<context>, v1: ptr<constant>, v2: ptr<context>, v3: ptr<local>, v4: ptr<context>):
    v5: f32x8 = load v1 align 4
    v6: i1x8 = const 0x1
    jump bb1(v5, v6)
bb1(v7: f32x8, v8: i1x8):
    v9: f32x8 = fmul v7, v7
    v10: f32x8 = fadd v9, v5
    v11: i1x8 = fcmp olt v10, v5
    v12: i1x8 = and v8, v11
    v13: f32x8 = select v12, v10, v7
    v14: i1 = any v12
    br v14, bb1(v13, v12), bb2
bb2:
    store v3, v13 align 4
    ret
}
";

    /// In how many functions the pass changed the optimised loop for a target, and the loop afterwards.
    fn widened(target: &str) -> (usize, String) {
        let target: Target = target.parse().unwrap();
        let options = crate::Options {
            target: target.clone(),
            level: crate::OptLevel::Default,
            denorms_are_zero: false,
            texts: false,
            lines: false,
            count: false,
        };
        let module = cloom_ir::parse(LOOP).unwrap();
        let func = module.find("k").unwrap();
        let work = || -> Result<(usize, String), Error> {
            let machine = Machine::take(&target, Effort::Full)?;
            let context = Context::new();
            let llvm = LlvmModule::new(&context, "k");
            machine.prepare(&llvm);
            emit::module(&module, &[func], &[func], &context, &llvm, &options)?;
            OwnPasses::new(&PassOptions::default())
                .in_cpp(|records| optimise::run(&llvm, &machine, Effort::Full, records));
            let changed = widen(&llvm, target.features());
            llvm.verify()?;
            Ok((changed, llvm.text()))
        };
        crate::guard::run(work).unwrap()
    }

    #[test]
    fn masks_of_loops_become_integers_as_wide_as_what_is_compared() {
        let (changed, text) = widened("x86_64-unknown-linux-gnu:x86-64-v3");
        assert!(changed == 1 && text.contains("phi <8 x i32>"), "{text}");
        assert!(!text.contains("phi <8 x i1>") && !text.contains("and <8 x i1>"), "{text}");
    }

    #[test]
    fn mask_registers_keep_their_masks() {
        let (changed, text) = widened("x86_64-unknown-linux-gnu:x86-64-v4");
        assert!(changed == 0 && text.contains("phi <8 x i1>"), "{text}");
    }
}
