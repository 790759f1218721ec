// See demote_wide.cpp.

#pragma once

#include "llvm/IR/PassManager.h"

// Blocks of a function that are many: from here on, what takes time in the square of them is avoided. (Code generation
// for a `switch` of 1500 cases with work of their own, 2100 blocks: 18.4 s with placement of blocks and loop-invariant
// code motion, 1.4 with the placement only, 1.1 without both.)
constexpr size_t MANY_BLOCKS = 1000;

struct DemoteWide : llvm::PassInfoMixin<DemoteWide> {
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
};
