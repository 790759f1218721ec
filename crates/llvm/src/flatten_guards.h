// See flatten_guards.cpp.

#pragma once

#include "llvm/IR/PassManager.h"

struct FlattenGuards : llvm::PassInfoMixin<FlattenGuards> {
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
};
