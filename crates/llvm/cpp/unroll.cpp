// Marks loops of a GPU's kernel for LLVM's unroller, which runs next, and for ptxas. In comes a function after loop
// rotation; UnrollInnermost marks loops, and LimitUnrolling makes ptxas unroll the marked ones, not their remainders.
//
// These passes are on LLVM IR because they direct LLVM's unroller, and compare the cost that it computes with its
// limits and those of ptxas. Unrolling that Cloom does itself is in crates/passes.

#include "own_passes.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/UnrollLoop.h"

using namespace llvm;

namespace {

// For a loop whose trip count is unknown at compile time: the most instructions of the unrolled loop, the most
// instructions of the loop itself, and the largest unroll factor. (Mandelbrot on an H200: a tenth less time with 4 than
// without. ptxas unrolls it 16 times, which is another twentieth.)
constexpr unsigned MAX_UNROLLED_SEARCH_INSTRUCTIONS = 256, MAX_SEARCH_INSTRUCTIONS = 40, MAX_SEARCH_COUNT = 16;

// The unroll factor of a loop with loads, and the range of its cost: in this range LLVM does not unroll it.
constexpr unsigned LOADS_COUNT = 4;
constexpr uint64_t MIN_LOADS_COST = 38, MAX_LOADS_COST = 64;

// The range of costs of a loop with loads that ptxas unrolls again. If LLVM has unrolled such a loop 8 times, it has
// more than 32 instructions and ptxas does not; if LLVM has unrolled it 4 times, ptxas unrolls it 4 times again.
constexpr uint64_t MIN_TWICE_COST = 7, MAX_TWICE_COST = 9;

// The mark of such a loop and of its remainder loop.
constexpr const char *TWICE = "cloom.unroll.twice";

// The cost of an iteration; 0 if it cannot be copied.
uint64_t costOf(const Loop &loop, const TargetTransformInfo &target) {
  SmallPtrSet<const Value *, 1> none;
  UnrollCostEstimator estimator(&loop, target, none, /*BEInsns=*/2);
  return estimator.canUnroll() ? estimator.getRolledLoopSize() : 0;
}

// Marks an innermost loop. Returns whether it did.
bool mark(Loop &loop, ScalarEvolution &evolution, const TargetTransformInfo &target) {
  unsigned size = 0;
  bool loads = false;
  for (BasicBlock *block : loop.blocks())
    for (Instruction &instruction : *block) {
      ++size;
      loads |= isa<LoadInst>(instruction);
      auto *call = dyn_cast<CallBase>(&instruction);
      // Loops with barriers are unrolled before, on Cloom's IR.
      if (call && call->isConvergent())
        return false;
    }
  auto unroll = [&](unsigned times) { addStringMetadataToLoop(&loop, "llvm.loop.unroll.count", times); };
  // A search, such as `while (i < n && a[i] != x)`.
  if (!loop.getExitingBlock()) {
    if (size <= MAX_SEARCH_INSTRUCTIONS)
      unroll(std::min(MAX_SEARCH_COUNT, MAX_UNROLLED_SEARCH_INSTRUCTIONS / size));
    return size <= MAX_SEARCH_INSTRUCTIONS;
  }
  // LLVM decides by itself about a constant trip count. Without any count, also at run time, there can be no remainder
  // loop.
  if (!loads || evolution.getSmallConstantTripCount(&loop) ||
      isa<SCEVCouldNotCompute>(evolution.getBackedgeTakenCount(&loop)))
    return false;
  uint64_t cost = costOf(loop, target);
  bool isTwice = cost >= MIN_TWICE_COST && cost <= MAX_TWICE_COST;
  bool isMarked = isTwice || (cost >= MIN_LOADS_COST && cost <= MAX_LOADS_COST);
  if (isTwice)
    addStringMetadataToLoop(&loop, TWICE);
  if (isMarked)
    unroll(LOADS_COUNT);
  return isMarked;
}

} // namespace

// Marks innermost loops that LLVM would not unroll, or would unroll by another factor:
// * Short loops with several exits: the values that one iteration passes to the next stay in their registers, and a
//   branch is saved.
// * Loops with loads, which are then in flight together. LLVM's limit counts instructions only.
unsigned UnrollInnermost::run(Function &function, FunctionAnalysisManager &analyses) {
  auto &evolution = analyses.getResult<ScalarEvolutionAnalysis>(function);
  auto &target = analyses.getResult<TargetIRAnalysis>(function);
  unsigned changes = 0;
  for (Loop *loop : analyses.getResult<LoopAnalysis>(function).getLoopsInPreorder())
    changes += loop->isInnermost() && mark(*loop, evolution, target);
  return changes;
}

// Allows ptxas to unroll the marked loops, but not their remainder loops.
unsigned LimitUnrolling::run(Function &function, FunctionAnalysisManager &analyses) {
  auto &target = analyses.getResult<TargetIRAnalysis>(function);
  unsigned changes = 0;
  for (Loop *loop : analyses.getResult<LoopAnalysis>(function).getLoopsInPreorder())
    if (BasicBlock *latch = loop->getLoopLatch())
      // LLVM keeps what it has unrolled from being unrolled again, by a mark that NVPTX passes on to ptxas. The
      // unrolled loop loses it; the remainder loop, which is as short as the original one, keeps it.
      if (findStringMetadataForLoop(loop, TWICE) && costOf(*loop, target) > 2 * MAX_TWICE_COST) {
        latch->getTerminator()->setMetadata(LLVMContext::MD_loop, nullptr);
        ++changes;
      }
  return changes;
}
