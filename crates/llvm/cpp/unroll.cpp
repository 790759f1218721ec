// How loops of a GPU's kernel are unrolled, beyond what LLVM does by itself. In comes a function after loop rotation;
// UnrollBarrierLoops unrolls, UnrollInnermost marks loops for LLVM's unroller, which runs next, and LimitUnrolling
// unmarks what it left over.
//
// It is on LLVM IR because all three direct LLVM's unroller and ask ScalarEvolution for the lengths of loops.

#include "own_passes.h"
#include "steps.h"

#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace {

// A loop whose number of iterations only running it shows: the most instructions of the unrolled loop, the most of such
// a loop, and how often it is unrolled at most. (Mandelbrot on an H200: a tenth less time with 4 than without. ptxas
// unrolls it 16 times, which is another twentieth.)
constexpr unsigned MAX_UNROLLED_SEARCH_INSTRUCTIONS = 256, MAX_SEARCH_INSTRUCTIONS = 40, MAX_SEARCH_COUNT = 16;

// How often a loop with loads is unrolled, and between which costs: above these LLVM does not unroll it.
constexpr unsigned LOADS_COUNT = 4;
constexpr uint64_t MIN_LOADS_COST = 38, MAX_LOADS_COST = 64;

// The costs of a loop with loads that ptxas unrolls once more: it does not if LLVM did so 8 times, which makes more
// than 32 instructions of such a loop, but 4 times if LLVM did so 4 times.
constexpr uint64_t MIN_TWICE_COST = 7, MAX_TWICE_COST = 9;

// The mark of such a loop, and of what is left over of it.
constexpr const char *TWICE = "cloom.unroll.twice";

// How often loops with barriers are unrolled, and the most instructions of such a loop. (A table of a longest common
// subsequence, row by row: a fifth less time.)
constexpr unsigned BARRIER_COUNT = 4, MAX_BARRIER_INSTRUCTIONS = 120;

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
      if (call && call->isConvergent())
        return false;
    }
  auto unroll = [&](unsigned times) { addStringMetadataToLoop(&loop, "llvm.loop.unroll.count", times); };
  if (!loop.getExitingBlock()) {
    if (size <= MAX_SEARCH_INSTRUCTIONS)
      unroll(std::min(MAX_SEARCH_COUNT, MAX_UNROLLED_SEARCH_INSTRUCTIONS / size));
    return size <= MAX_SEARCH_INSTRUCTIONS;
  }
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

bool isBarrier(const Instruction &instruction) {
  auto *call = dyn_cast<IntrinsicInst>(&instruction);
  return call && call->getIntrinsicID() == Intrinsic::nvvm_barrier0;
}

bool isWantedBarrierLoop(const Loop &loop, ScalarEvolution &evolution) {
  unsigned size = 0, barriers = 0;
  for (BasicBlock *block : loop.blocks())
    for (Instruction &instruction : *block) {
      ++size;
      auto *call = dyn_cast<CallBase>(&instruction);
      if (isBarrier(instruction))
        ++barriers;
      else if (call && call->isConvergent())
        return false;
    }
  return barriers && size <= MAX_BARRIER_INSTRUCTIONS && loop.isInnermost() && loop.getExitingBlock() &&
         !evolution.getSmallConstantTripCount(&loop) &&
         !isa<SCEVCouldNotCompute>(evolution.getBackedgeTakenCount(&loop));
}

} // namespace

// Marks innermost loops that LLVM would leave alone, or not unroll as they should be:
// * short ones with several exits: the values that one iteration passes to the next stay in their registers, and a
//   branch is saved;
// * those with loads, whose loads are then in flight together. LLVM's limit counts the instructions only.
unsigned UnrollInnermost::run(Function &function, FunctionAnalysisManager &analyses) {
  auto &evolution = analyses.getResult<ScalarEvolutionAnalysis>(function);
  auto &target = analyses.getResult<TargetIRAnalysis>(function);
  unsigned changes = 0;
  for (Loop *loop : analyses.getResult<LoopAnalysis>(function).getLoopsInPreorder())
    changes += loop->isInnermost() && mark(*loop, evolution, target);
  return changes;
}

// Allows ptxas to unroll the marked loops, but not what is left over of them.
unsigned LimitUnrolling::run(Function &function, FunctionAnalysisManager &analyses) {
  auto &target = analyses.getResult<TargetIRAnalysis>(function);
  unsigned changes = 0;
  for (Loop *loop : analyses.getResult<LoopAnalysis>(function).getLoopsInPreorder())
    if (BasicBlock *latch = loop->getLoopLatch())
      if (findStringMetadataForLoop(loop, TWICE) && costOf(*loop, target) > 2 * MAX_TWICE_COST) {
        latch->getTerminator()->setMetadata(LLVMContext::MD_loop, nullptr);
        ++changes;
      }
  return changes;
}

// Unrolls loops with barriers whose number of iterations only running them shows. LLVM leaves them alone, because a
// convergent call must not become control-dependent on anything else, and in the iterations that are left over it does.
// But all work-items of a group come to a barrier equally often, so that they agree on that number.
unsigned UnrollBarrierLoops::run(Function &function, FunctionAnalysisManager &analyses) {
  auto &info = analyses.getResult<LoopAnalysis>(function);
  auto &evolution = analyses.getResult<ScalarEvolutionAnalysis>(function);
  SmallVector<Loop *, 4> wanted;
  for (Loop *loop : info.getLoopsInPreorder())
    if (isWantedBarrierLoop(*loop, evolution))
      wanted.push_back(loop);
  for (Loop *loop : wanted) {
    UnrollLoopOptions options{};
    options.Count = BARRIER_COUNT;
    options.Runtime = true;
    options.AllowExpensiveTripCount = true;
    unrollLoop(*loop, options, function, analyses);
  }
  return wanted.size();
}
