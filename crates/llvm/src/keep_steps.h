// See keep_steps.cpp.

#pragma once

#include "llvm/IR/PassManager.h"

struct KeepSteps : llvm::PassInfoMixin<KeepSteps> {
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
};
