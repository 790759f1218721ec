//! Instructions for which LLVM 19 makes wrong code, or none, on NVPTX. The input is a module after all other passes,
//! since these would bring the instructions back. The output has equivalent instructions:
//!
//! * Vectors of two truth values are extended to 16 bits ("Cannot select: v2i16 = setcc"): each lane is extended by
//!   itself.
//! * Vectors of 8 floats or more are converted to wider ones (LLVM combines this with the load of the vector, which
//!   then converts nothing): each lane is converted by itself.
//! * Truth values are converted to signed floats, where true is -1 and comes out as 1: a select of two constants.
//! * An element with a computed index is taken from a vector in local or private memory (LLVM makes one access of the
//!   element, which has lost its address space): the vector is frozen, so that it is loaded as a whole.
//! * 16 bytes are loaded at once without being aligned to 16 (LLVM makes one access, which faults for a parameter): two
//!   loads of 8 bytes.
//! * 8 or 16 bytes are accessed at once and aligned to all of them (LLVM makes an access for each four bytes): an
//!   access of words. The words are frozen or moved, because LLVM would turn them into bytes again.

use super::{FRAME, NO_NAME, SHARED};
use crate::handles::LlvmModule;
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::{LLVMInlineAsmDialect, LLVMOpcode, LLVMTypeKind};

/// The number of lanes from which on LLVM wrongly takes loads that extend floats for legal: its list of illegal ones
/// has those of up to 4 lanes, and some of 8.
const LONG: u32 = 8;

/// Rewrites these instructions. Returns how many there were.
pub fn run(module: &LlvmModule<'_>) -> usize {
    let mut changes = 0;
    // SAFETY: the module is valid and nobody else uses it. `next` is read before `inst` may be erased, and the builder
    // is disposed of once.
    unsafe {
        let builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module.raw));
        let mut func = LLVMGetFirstFunction(module.raw);
        while !func.is_null() {
            let mut block = LLVMGetFirstBasicBlock(func);
            while !block.is_null() {
                let mut inst = LLVMGetFirstInstruction(block);
                while !inst.is_null() {
                    let next = LLVMGetNextInstruction(inst);
                    changes += 1;
                    if is_pair_of_signs(inst) || is_long_float_extension(inst) {
                        extend_by_lane(builder, inst);
                    } else if is_sign_as_float(inst) {
                        choose_sign(builder, inst);
                    } else if is_element_in_space(inst) {
                        freeze_vector(builder, inst);
                    } else if let Some(words) = words_of_bytes(inst) {
                        access_words(builder, inst, words);
                    } else if is_unaligned_load_of_bytes(inst) {
                        load_halves(builder, inst);
                    } else {
                        changes -= 1;
                    }
                    inst = next;
                }
                block = LLVMGetNextBasicBlock(block);
            }
            func = LLVMGetNextFunction(func);
        }
        LLVMDisposeBuilder(builder);
    }
    changes
}

/// Whether an instruction extends a vector of two truth values to 16 bits.
fn is_pair_of_signs(inst: LLVMValueRef) -> bool {
    // SAFETY: `inst` is an instruction of the live module, and an extension has one operand.
    unsafe {
        LLVMGetInstructionOpcode(inst) == LLVMOpcode::LLVMSExt
            && lanes_of(LLVMTypeOf(inst)) == Some((2, 16))
            && lanes_of(LLVMTypeOf(LLVMGetOperand(inst, 0))) == Some((2, 1))
    }
}

/// Whether an instruction converts a long vector of floats to wider ones.
fn is_long_float_extension(inst: LLVMValueRef) -> bool {
    // SAFETY: `inst` is an instruction of the live module, and only a vector type is asked for its size.
    unsafe {
        let ty = LLVMTypeOf(inst);
        LLVMGetInstructionOpcode(inst) == LLVMOpcode::LLVMFPExt
            && LLVMGetTypeKind(ty) == LLVMTypeKind::LLVMVectorTypeKind
            && LLVMGetVectorSize(ty) >= LONG
    }
}

/// Whether an instruction converts truth values to signed floats.
fn is_sign_as_float(inst: LLVMValueRef) -> bool {
    // SAFETY: `inst` is an instruction of the live module, and a conversion has one operand.
    unsafe {
        let is_truth =
            |ty: LLVMTypeRef| LLVMGetTypeKind(ty) == LLVMTypeKind::LLVMIntegerTypeKind && LLVMGetIntTypeWidth(ty) == 1;
        LLVMGetInstructionOpcode(inst) == LLVMOpcode::LLVMSIToFP && {
            let from = LLVMTypeOf(LLVMGetOperand(inst, 0));
            is_truth(from) || lanes_of(from).is_some_and(|(_, bits)| bits == 1)
        }
    }
}

/// Whether an instruction reads or replaces an element, with a computed index, of a vector that was just loaded from
/// local or private memory.
fn is_element_in_space(inst: LLVMValueRef) -> bool {
    // SAFETY: `inst` is an instruction of the live module, each index is one of an operand, and a load's operand is a
    // pointer.
    unsafe {
        let place = match LLVMGetInstructionOpcode(inst) {
            LLVMOpcode::LLVMExtractElement => LLVMGetOperand(inst, 1),
            LLVMOpcode::LLVMInsertElement => LLVMGetOperand(inst, 2),
            _ => return false,
        };
        let load = LLVMIsALoadInst(LLVMGetOperand(inst, 0));
        let space = || LLVMGetPointerAddressSpace(LLVMTypeOf(LLVMGetOperand(load, 0)));
        LLVMIsConstant(place) == 0 && !load.is_null() && matches!(space(), SHARED | FRAME)
    }
}

/// The number of words that an instruction loads or stores, if it accesses 8 or 16 bytes at once and is aligned to all
/// of them.
fn words_of_bytes(inst: LLVMValueRef) -> Option<u32> {
    // SAFETY: `inst` is an instruction of the live module, and only loads and stores are asked for their alignment.
    unsafe {
        let ty = match LLVMGetInstructionOpcode(inst) {
            LLVMOpcode::LLVMLoad => LLVMTypeOf(inst),
            LLVMOpcode::LLVMStore => LLVMTypeOf(LLVMGetOperand(inst, 0)),
            _ => return None,
        };
        match lanes_of(ty)? {
            (bytes @ (8 | 16), 8) if LLVMGetAlignment(inst) >= bytes => Some(bytes / 4),
            _ => None,
        }
    }
}

/// Whether an instruction loads 16 bytes at once that need not be aligned to 16.
fn is_unaligned_load_of_bytes(inst: LLVMValueRef) -> bool {
    // SAFETY: `inst` is an instruction of the live module, and only a load is asked for its alignment.
    unsafe {
        LLVMGetInstructionOpcode(inst) == LLVMOpcode::LLVMLoad
            && lanes_of(LLVMTypeOf(inst)) == Some((16, 8))
            && LLVMGetAlignment(inst) < 16
    }
}

fn load_halves(builder: LLVMBuilderRef, inst: LLVMValueRef) {
    // SAFETY: `inst` is a load of 16 bytes in the live module, and the new instructions stand before it, where its
    // operand dominates.
    unsafe {
        LLVMPositionBuilderBefore(builder, inst);
        let context = LLVMGetTypeContext(LLVMTypeOf(inst));
        let int = |bits| LLVMIntTypeInContext(context, bits);
        let ty = LLVMVectorType(int(8), 8);
        let halves = [0u64, 8].map(|at| {
            let mut offset = LLVMConstInt(int(64), at, 0);
            let address = LLVMBuildGEP2(builder, int(8), LLVMGetOperand(inst, 0), &mut offset, 1, NO_NAME);
            let half = LLVMBuildLoad2(builder, ty, address, NO_NAME);
            // The second half lies 8 bytes further, so that it has no more than this alignment.
            LLVMSetAlignment(half, LLVMGetAlignment(inst).min(8));
            LLVMSetVolatile(half, LLVMGetVolatile(inst));
            half
        });
        let mut order: [LLVMValueRef; 16] = std::array::from_fn(|i| LLVMConstInt(int(32), i as u64, 0));
        let mask = LLVMConstVector(order.as_mut_ptr(), 16);
        let value = LLVMBuildShuffleVector(builder, halves[0], halves[1], mask, NO_NAME);
        LLVMReplaceAllUsesWith(inst, value);
        LLVMInstructionEraseFromParent(inst);
        // The walk has passed the new loads already.
        halves.into_iter().filter_map(|half| Some((half, words_of_bytes(half)?))).for_each(|(half, words)| {
            access_words(builder, half, words);
        });
    }
}

fn access_words(builder: LLVMBuilderRef, inst: LLVMValueRef, words: u32) {
    // SAFETY: `inst` is a load or store in the live module, and `words` times 4 bytes is the size of its value.
    unsafe {
        LLVMPositionBuilderBefore(builder, inst);
        let is_load = LLVMGetInstructionOpcode(inst) == LLVMOpcode::LLVMLoad;
        let word = LLVMInt32TypeInContext(LLVMGetTypeContext(LLVMTypeOf(inst)));
        let ty = LLVMVectorType(word, words);
        let access = if is_load {
            LLVMBuildLoad2(builder, ty, LLVMGetOperand(inst, 0), NO_NAME)
        } else {
            let value = LLVMBuildBitCast(builder, LLVMGetOperand(inst, 0), ty, NO_NAME);
            LLVMBuildStore(builder, moved_words(builder, value, words), LLVMGetOperand(inst, 1))
        };
        LLVMSetAlignment(access, LLVMGetAlignment(inst));
        LLVMSetVolatile(access, LLVMGetVolatile(inst));
        if is_load {
            // Without the freeze, LLVM would combine load and bit cast to a load of bytes again.
            let value = LLVMBuildFreeze(builder, access, NO_NAME);
            LLVMReplaceAllUsesWith(inst, LLVMBuildBitCast(builder, value, LLVMTypeOf(inst), NO_NAME));
        }
        LLVMInstructionEraseFromParent(inst);
    }
}

/// A vector of words, each moved by an instruction that LLVM does not look into.
fn moved_words(builder: LLVMBuilderRef, vector: LLVMValueRef, words: u32) -> LLVMValueRef {
    let (text, constraints) = (c"mov.b32 $0, $1;", c"=r,r");
    // SAFETY: `vector` is a vector of words in the live module, and the texts are given with their lengths.
    unsafe {
        let ty = LLVMTypeOf(vector);
        let mut word = LLVMGetElementType(ty);
        let function = LLVMFunctionType(word, &mut word, 1, 0);
        let asm = LLVMGetInlineAsm(
            function,
            text.as_ptr(),
            text.count_bytes(),
            constraints.as_ptr(),
            constraints.count_bytes(),
            0,
            0,
            LLVMInlineAsmDialect::LLVMInlineAsmDialectATT,
            0,
        );
        (0..u64::from(words)).fold(LLVMGetPoison(ty), |all, i| {
            let index = LLVMConstInt(LLVMInt32TypeInContext(LLVMGetTypeContext(ty)), i, 0);
            let mut one = LLVMBuildExtractElement(builder, vector, index, NO_NAME);
            let moved = LLVMBuildCall2(builder, function, asm, &mut one, 1, NO_NAME);
            LLVMBuildInsertElement(builder, all, moved, index, NO_NAME)
        })
    }
}

fn freeze_vector(builder: LLVMBuilderRef, inst: LLVMValueRef) {
    // SAFETY: `inst` is an instruction of the live module, and the new one stands before it, where its operand
    // dominates.
    unsafe {
        LLVMPositionBuilderBefore(builder, inst);
        LLVMSetOperand(inst, 0, LLVMBuildFreeze(builder, LLVMGetOperand(inst, 0), NO_NAME));
    }
}

fn choose_sign(builder: LLVMBuilderRef, inst: LLVMValueRef) {
    // SAFETY: `inst` is a conversion in the live module, whose result has the type of its replacement. It is not used
    // afterwards.
    unsafe {
        LLVMPositionBuilderBefore(builder, inst);
        let (truth, ty) = (LLVMGetOperand(inst, 0), LLVMTypeOf(inst));
        let chosen = LLVMBuildSelect(builder, truth, LLVMConstReal(ty, -1.0), LLVMConstReal(ty, 0.0), NO_NAME);
        LLVMReplaceAllUsesWith(inst, chosen);
        LLVMInstructionEraseFromParent(inst);
    }
}

/// The number of lanes of a vector of integers, and their width.
fn lanes_of(ty: LLVMTypeRef) -> Option<(u32, u32)> {
    // SAFETY: `ty` is a type of the live context, and each question is asked only of a type of its kind.
    unsafe {
        let is_vector = LLVMGetTypeKind(ty) == LLVMTypeKind::LLVMVectorTypeKind;
        let element = is_vector.then(|| LLVMGetElementType(ty))?;
        let is_int = LLVMGetTypeKind(element) == LLVMTypeKind::LLVMIntegerTypeKind;
        is_int.then(|| (LLVMGetVectorSize(ty), LLVMGetIntTypeWidth(element)))
    }
}

fn extend_by_lane(builder: LLVMBuilderRef, inst: LLVMValueRef) {
    // SAFETY: `inst` is a cast of vectors in the live module, whose result has the type of its replacement. It is not
    // used afterwards.
    unsafe {
        LLVMPositionBuilderBefore(builder, inst);
        let (from, ty) = (LLVMGetOperand(inst, 0), LLVMTypeOf(inst));
        let index = |i: u64| LLVMConstInt(LLVMInt32TypeInContext(LLVMGetTypeContext(ty)), i, 0);
        let mut all = LLVMGetPoison(ty);
        for i in 0..LLVMGetVectorSize(ty).into() {
            let lane = LLVMBuildExtractElement(builder, from, index(i), NO_NAME);
            let wide = LLVMBuildCast(builder, LLVMGetInstructionOpcode(inst), lane, LLVMGetElementType(ty), NO_NAME);
            all = LLVMBuildInsertElement(builder, all, wide, index(i), NO_NAME);
        }
        LLVMReplaceAllUsesWith(inst, all);
        LLVMInstructionEraseFromParent(inst);
    }
}
