// The form of branches that ptxas needs. In comes a function of a GPU's kernel after all passes of LLVM; out goes the
// same function, in which loops lead back on a true condition and each cycle has one entry.
//
// These passes are on LLVM IR because passes of LLVM make the other form: `instcombine` inverts comparisons, and jump
// threading within `simplifycfg` enters loops.

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

namespace {

// Whether a loop begins with a block that only branches, to two blocks of the loop. Code generation duplicates blocks
// of two machine instructions into their predecessors. The cycle would then have two entries. (If one of the branches
// left the loop, it would be a rotation.) An instruction beside the branch may become no machine instruction.
bool beginsWithFork(const Loop &loop) {
  constexpr size_t MAX_INSTRUCTIONS = 3;
  BasicBlock *header = loop.getHeader();
  auto *branch = dyn_cast<BranchInst>(header->getTerminator());
  if (!branch || !branch->isConditional() || !loop.contains(branch->getSuccessor(0)) ||
      !loop.contains(branch->getSuccessor(1)))
    return false;
  auto phis = std::distance(header->phis().begin(), header->phis().end());
  return header->sizeWithoutDebug() - phis <= MAX_INSTRUCTIONS;
}

// Keeps code generation from duplicating a block, by an empty instruction that is convergent.
void keepSingle(BasicBlock &block) {
  auto *type = FunctionType::get(Type::getVoidTy(block.getContext()), false);
  auto *mark = InlineAsm::get(type, "", "", /*hasSideEffects=*/true);
  CallInst::Create(mark, "", block.getFirstInsertionPt())->setConvergent();
}

} // namespace

// Inverts the branch at the end of a loop if it leads back on a false condition, as `instcombine` leaves it: ptxas does
// not unroll such loops.
unsigned TrueBackEdges::run(Function &function, FunctionAnalysisManager &analyses) {
  unsigned changes = 0;
  for (Loop *loop : analyses.getResult<LoopAnalysis>(function).getLoopsInPreorder()) {
    BasicBlock *latch = loop->getLoopLatch();
    auto *branch = latch ? dyn_cast<BranchInst>(latch->getTerminator()) : nullptr;
    if (!branch || branch->isUnconditional() || branch->getSuccessor(1) != loop->getHeader())
      continue;
    auto *compare = dyn_cast<CmpInst>(branch->getCondition());
    // Another user would see the inverted answer.
    if (compare && compare->hasOneUse()) {
      compare->setPredicate(compare->getInversePredicate());
      branch->swapSuccessors();
      ++changes;
    }
  }
  return changes;
}

// Gives every cycle one entry. A `goto` into a loop makes cycles with several entries, and so do passes for some loops.
// ptxas 13.0 does not reconverge the threads of a warp after such a cycle, but assumes that they are converged: it
// keeps the counter of a surrounding loop in a register of the warp, and each part of the warp counts.
unsigned SingleEntryCycles::run(Function &function, FunctionAnalysisManager &analyses) {
  auto &loops = analyses.getResult<LoopAnalysis>(function);
  unsigned changes = 0;
  for (Loop *loop : loops.getLoopsInPreorder())
    if (beginsWithFork(*loop)) {
      keepSingle(*loop->getHeader());
      ++changes;
    }
  ReversePostOrderTraversal<const Function *> order(&function);
  if (!containsIrreducibleCFG<const BasicBlock *>(order, loops))
    return changes;
  // FixIrreducible handles only edges of branches.
  analyses.invalidate(function, LowerSwitchPass().run(function, analyses));
  SmallPtrSet<BasicBlock *, 32> old;
  for (BasicBlock &block : function)
    old.insert(&block);
  FixIrreduciblePass().run(function, analyses);
  // The new blocks only select the entry. Code generation would duplicate them into predecessors that know the entry.
  for (BasicBlock &block : function)
    if (!old.contains(&block)) {
      keepSingle(block);
      ++changes;
    }
  // The graph was changed in any case, which the analyses have to learn.
  return std::max(changes, 1u);
}
