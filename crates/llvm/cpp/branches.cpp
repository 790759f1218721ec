// The form of branches that ptxas needs. In comes a function of a GPU's kernel after all passes of LLVM; out goes the
// same function, in which loops lead back on a true condition and each cycle has one entry.
//
// It is on LLVM IR because passes of LLVM make the other form: `instcombine` inverts comparisons, and jump threading
// within `simplifycfg` enters loops.

#include "own_passes.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/FixIrreducible.h"
#include "llvm/Transforms/Utils/LowerSwitch.h"

using namespace llvm;

// Lets the branch at the end of a loop lead back if its condition is true, not if it is false, as `instcombine` leaves
// it: ptxas does not unroll such loops.
unsigned TrueBackEdges::run(Function &function, FunctionAnalysisManager &analyses) {
  unsigned changes = 0;
  for (Loop *loop : analyses.getResult<LoopAnalysis>(function).getLoopsInPreorder()) {
    BasicBlock *latch = loop->getLoopLatch();
    auto *branch = latch ? dyn_cast<BranchInst>(latch->getTerminator()) : nullptr;
    if (!branch || branch->isUnconditional() || branch->getSuccessor(1) != loop->getHeader())
      continue;
    auto *compare = dyn_cast<CmpInst>(branch->getCondition());
    if (compare && compare->hasOneUse()) {
      compare->setPredicate(compare->getInversePredicate());
      branch->swapSuccessors();
      ++changes;
    }
  }
  return changes;
}

// Gives every cycle one entry, which `goto` into a loop does not have, nor what passes make of some loops. ptxas 13.0
// does not reconverge the threads of a warp after a cycle with several entries, but takes them to be converged there:
// it keeps the counter of a loop around it in a register of the warp, and each part of the warp counts.
unsigned SingleEntryCycles::run(Function &function, FunctionAnalysisManager &analyses) {
  ReversePostOrderTraversal<const Function *> order(&function);
  if (!containsIrreducibleCFG<const BasicBlock *>(order, analyses.getResult<LoopAnalysis>(function)))
    return 0;
  // FixIrreducible knows edges of branches only.
  analyses.invalidate(function, LowerSwitchPass().run(function, analyses));
  SmallPtrSet<BasicBlock *, 32> old;
  for (BasicBlock &block : function)
    old.insert(&block);
  FixIrreduciblePass().run(function, analyses);
  // The new blocks only choose the entry. Code generation would put copies of them where the choice is known.
  auto *type = FunctionType::get(Type::getVoidTy(function.getContext()), false);
  unsigned changes = 0;
  for (BasicBlock &block : function)
    if (!old.contains(&block)) {
      auto *mark = InlineAsm::get(type, "", "", /*hasSideEffects=*/true);
      CallInst::Create(mark, "", block.getFirstInsertionPt())->setConvergent();
      ++changes;
    }
  return std::max(changes, 1u);
}
