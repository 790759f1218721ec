// Steps that several passes share.

#pragma once

#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/UnrollLoop.h"

// By default `instcombine` would end the process if one more iteration still changed something.
inline llvm::InstCombinePass instCombine() {
  return llvm::InstCombinePass(llvm::InstCombineOptions().setVerifyFixpoint(false));
}

// Unrolls a loop of any form. Keeps the analyses of the function's loops valid.
inline llvm::LoopUnrollResult unrollLoop(llvm::Loop &loop, const llvm::UnrollLoopOptions &options,
                                         llvm::Function &function, llvm::FunctionAnalysisManager &analyses) {
  using namespace llvm;
  auto &info = analyses.getResult<LoopAnalysis>(function);
  auto &evolution = analyses.getResult<ScalarEvolutionAnalysis>(function);
  auto &tree = analyses.getResult<DominatorTreeAnalysis>(function);
  auto &assumptions = analyses.getResult<AssumptionAnalysis>(function);
  auto &target = analyses.getResult<TargetIRAnalysis>(function);
  auto &remarks = analyses.getResult<OptimizationRemarkEmitterAnalysis>(function);
  simplifyLoop(&loop, &tree, &info, &evolution, &assumptions, nullptr, /*PreserveLCSSA=*/false);
  formLCSSARecursively(loop, tree, &info, &evolution);
  return UnrollLoop(&loop, options, &info, &evolution, &tree, &assumptions, &target, &remarks, /*PreserveLCSSA=*/true);
}
