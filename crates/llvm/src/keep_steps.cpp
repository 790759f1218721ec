// Keeps the steps of some pointers from the loop strength reduction of code generation. In comes a function of a GPU's
// kernel after all other passes; out goes the same, with a step that looks like any other value.
//
// A pointer to bytes often goes in the steps of a counter: `b[j]`, `j++`. Loop strength reduction then leaves the
// counter alone, and adds it to the array's address at the loop's begin. That saves a register. But if the access is
// behind a branch, NVIDIA's compiler, which predicates it, now loads what is ready first and waits, before it begins
// the loads that stand before it. (A wavefront of dynamic programming: each step took a tenth more.) Where the pointer
// itself goes in steps, they are on their way together.
//
// Without the pass at all that kernel gained as much, but others lost: bodies in local memory, indices of 64 bits.

#include "keep_steps.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"

using namespace llvm;

namespace {

// What each iteration adds to a loop's value; 0 if that is no constant.
int64_t stepOf(PHINode &phi, const Loop &loop, ScalarEvolution &evolution) {
  auto *values = evolution.isSCEVable(phi.getType()) ? dyn_cast<SCEVAddRecExpr>(evolution.getSCEV(&phi)) : nullptr;
  if (!values || values->getLoop() != &loop || !values->isAffine())
    return 0;
  auto *step = dyn_cast<SCEVConstant>(values->getStepRecurrence(evolution));
  return step ? step->getAPInt().trySExtValue().value_or(0) : 0;
}

// Whether memory is accessed at a constant distance from a pointer in a block that not every iteration comes to.
bool isAccessedBehindBranch(const Value &pointer, const BasicBlock &header) {
  return any_of(pointer.users(), [&](const User *user) {
    auto *access = cast<Instruction>(user);
    if (auto *place = dyn_cast<GetElementPtrInst>(access))
      return place->hasAllConstantIndices() && isAccessedBehindBranch(*place, header);
    return getLoadStorePointerOperand(access) == &pointer && access->getParent() != &header;
  });
}

bool keepSteps(Loop &loop, ScalarEvolution &evolution) {
  BasicBlock *latch = loop.getLoopLatch();
  if (!latch)
    return false;
  SmallVector<std::pair<PHINode *, int64_t>, 8> pointers;
  SmallVector<int64_t, 8> counts;
  for (PHINode &phi : loop.getHeader()->phis()) {
    int64_t step = stepOf(phi, loop, evolution);
    if (step && phi.getType()->isPointerTy())
      pointers.push_back({&phi, step});
    else if (step)
      counts.push_back(step);
  }
  bool changed = false;
  for (auto [phi, step] : pointers) {
    auto *next = dyn_cast<Instruction>(phi->getIncomingValueForBlock(latch));
    if (!next || !is_contained(counts, step) || !isAccessedBehindBranch(*phi, *loop.getHeader()))
      continue;
    // Assembly of no instruction, of which nothing is known. Pointers to local memory have 32 bits.
    auto *type = FunctionType::get(next->getType(), {next->getType()}, false);
    bool isShort = latch->getDataLayout().getPointerTypeSizeInBits(next->getType()) == 32;
    auto *opaque = InlineAsm::get(type, "", isShort ? "=r,0" : "=l,0", /*hasSideEffects=*/false);
    IRBuilder<> builder(latch->getTerminator());
    CallInst *kept = builder.CreateCall(opaque, {next});
    kept->setDoesNotAccessMemory();
    kept->setDoesNotThrow();
    phi->setIncomingValueForBlock(latch, kept);
    changed = true;
  }
  return changed;
}

} // namespace

PreservedAnalyses KeepSteps::run(Function &function, FunctionAnalysisManager &analyses) {
  auto &evolution = analyses.getResult<ScalarEvolutionAnalysis>(function);
  bool changed = false;
  for (Loop *loop : analyses.getResult<LoopAnalysis>(function).getLoopsInPreorder())
    changed |= keepSteps(*loop, evolution);
  return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}
