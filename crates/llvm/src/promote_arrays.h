// See promote_arrays.cpp.

#pragma once

#include "llvm/IR/PassManager.h"

struct PromoteArrays : llvm::PassInfoMixin<PromoteArrays> {
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
};
