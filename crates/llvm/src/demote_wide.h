// See demote_wide.cpp.

#pragma once

#include "llvm/IR/PassManager.h"

struct DemoteWide : llvm::PassInfoMixin<DemoteWide> {
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
};
