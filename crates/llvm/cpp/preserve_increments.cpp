// Preserves the increments of pointers that loop strength reduction would remove. In comes a function of a GPU's kernel
// after all other passes; out goes the same function, in which the increment of such a pointer goes through assembly
// without instructions, so that it looks like any other value.
//
// A pointer to bytes often advances with a counter: `b[j]`, `j++`. Loop strength reduction then replaces the pointer by
// the sum of the array's address and the counter, computed at the begin of each iteration. That saves a register. But
// where the access is control-dependent on a branch, ptxas predicates it: the sum is ready first, so ptxas issues that
// load and waits for it before it issues the loads that precede it in the source. (A wavefront of dynamic programming:
// each iteration took a tenth longer.) With a pointer of its own, all loads are in flight together.
//
// Switching loop strength reduction off altogether gained as much for that kernel, but others became slower: n-body in
// local memory, and kernels with indices of 64 bits.
//
// This pass is on LLVM IR because loop strength reduction runs in LLVM's code generation; there is nothing to preserve
// before.

#include "own_passes.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"

using namespace llvm;

namespace {

// The constant that each iteration adds to a value of a loop; 0 if it adds no constant.
int64_t stepOf(PHINode &phi, const Loop &loop, ScalarEvolution &evolution) {
  auto *values = evolution.isSCEVable(phi.getType()) ? dyn_cast<SCEVAddRecExpr>(evolution.getSCEV(&phi)) : nullptr;
  if (!values || values->getLoop() != &loop || !values->isAffine())
    return 0;
  auto *step = dyn_cast<SCEVConstant>(values->getStepRecurrence(evolution));
  return step ? step->getAPInt().trySExtValue().value_or(0) : 0;
}

// Whether memory at a constant distance from a pointer is accessed in a block other than the loop's header.
bool isAccessedConditionally(const Value &pointer, const BasicBlock &header) {
  return any_of(pointer.users(), [&](const User *user) {
    auto *access = cast<Instruction>(user);
    // `p[1]` beside `p[0]`: the same pointer with a constant in the addressing mode.
    if (auto *place = dyn_cast<GetElementPtrInst>(access))
      return place->hasAllConstantIndices() && isAccessedConditionally(*place, header);
    return getLoadStorePointerOperand(access) == &pointer && access->getParent() != &header;
  });
}

unsigned preserveIncrements(Loop &loop, ScalarEvolution &evolution) {
  BasicBlock *latch = loop.getLoopLatch();
  if (!latch)
    return 0;
  SmallVector<std::pair<PHINode *, int64_t>, 8> pointers;
  SmallVector<int64_t, 8> counts;
  for (PHINode &phi : loop.getHeader()->phis()) {
    int64_t step = stepOf(phi, loop, evolution);
    if (step && phi.getType()->isPointerTy())
      pointers.push_back({&phi, step});
    else if (step)
      counts.push_back(step);
  }
  unsigned changes = 0;
  for (auto [phi, step] : pointers) {
    auto *next = dyn_cast<Instruction>(phi->getIncomingValueForBlock(latch));
    // Only a counter with the pointer's own step makes the pointer redundant: an array of bytes and `j++`.
    if (!next || !is_contained(counts, step) || !isAccessedConditionally(*phi, *loop.getHeader()))
      continue;
    // Assembly without instructions. LLVM assumes nothing about its result. Pointers to local memory have 32 bits.
    auto *type = FunctionType::get(next->getType(), {next->getType()}, false);
    bool isShort = latch->getDataLayout().getPointerTypeSizeInBits(next->getType()) == 32;
    auto *opaque = InlineAsm::get(type, "", isShort ? "=r,0" : "=l,0", /*hasSideEffects=*/false);
    IRBuilder<> builder(latch->getTerminator());
    CallInst *kept = builder.CreateCall(opaque, {next});
    kept->setDoesNotAccessMemory();
    kept->setDoesNotThrow();
    phi->setIncomingValueForBlock(latch, kept);
    ++changes;
  }
  return changes;
}

} // namespace

unsigned PreserveIncrements::run(Function &function, FunctionAnalysisManager &analyses) {
  auto &evolution = analyses.getResult<ScalarEvolutionAnalysis>(function);
  unsigned changes = 0;
  for (Loop *loop : analyses.getResult<LoopAnalysis>(function).getLoopsInPreorder())
    changes += preserveIncrements(*loop, evolution);
  return changes;
}
