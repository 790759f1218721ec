// Keeps values that many blocks use in memory. In comes a function; where it has many blocks, each phi of many edges
// and each value of many blocks gets a slot on the stack: the blocks load it, the edges store it. Cases of a `switch`
// that are also reached from the case before get a block for the edge from the `switch`.
//
// The code generator takes quadratic time in such a value's uses: the coalescer walks over all of them for each
// copy that it removes, sinking over all of them for each instruction that it moves, and each block's copy makes the
// live range longer. A `switch` of 4000 cases in each of which a variable is changed took 11 s, nearly all of it in
// these. With slots the ranges are those of single blocks, and the time is that of the instructions. Such a case costs
// a load and a store more, beside a jump that the processor can hardly predict.
//
// The edges of a jump table cannot be split later. The values for phis of the cases would be copied before the jump,
// for all cases at once, and all be live there.
//
// This pass is on LLVM IR because SROA would make values of the slots again: it runs after the last SROA.

#include "own_passes.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace {

// The number of blocks that use a value, or of a phi's edges, from which on the value gets a slot.
constexpr size_t MANY_USES = 100;

AllocaInst *slotOf(Function &function, Type *type) {
  return new AllocaInst(type, function.getDataLayout().getAllocaAddrSpace(), "slot", function.getEntryBlock().begin());
}

// The block in which a use reads its value. A phi reads it in the block that the edge comes from.
BasicBlock *blockOf(const Use &use) {
  auto *user = cast<Instruction>(use.getUser());
  if (auto *phi = dyn_cast<PHINode>(user))
    return phi->getIncomingBlock(use);
  return user->getParent();
}

bool isUsedInManyBlocks(const Value &value) {
  if (!value.hasNUsesOrMore(MANY_USES))
    return false;
  SmallPtrSet<BasicBlock *, 32> blocks;
  for (const Use &use : value.uses()) {
    blocks.insert(blockOf(use));
    if (blocks.size() >= MANY_USES)
      return true;
  }
  return false;
}

bool hasManyEdges(const PHINode &phi) {
  // A block may have several edges to the phi's block: those of a `switch`.
  return phi.getNumIncomingValues() >= MANY_USES &&
         SmallPtrSet<BasicBlock *, 32>(phi.block_begin(), phi.block_end()).size() >= MANY_USES;
}

// A phi's value comes from a slot, to which each predecessor of its block stores.
void demotePhi(PHINode &phi) {
  AllocaInst *slot = slotOf(*phi.getFunction(), phi.getType());
  SmallPtrSet<BasicBlock *, 32> filled;
  for (unsigned i = 0; i < phi.getNumIncomingValues(); i++)
    // A `switch` with several edges to the block gives all of them one value, which is stored once.
    if (BasicBlock *from = phi.getIncomingBlock(i); filled.insert(from).second)
      IRBuilder<>(from->getTerminator()).CreateStore(phi.getIncomingValue(i), slot);
  BasicBlock *block = phi.getParent();
  // Stores to the slots of other phis at the end of this block use the value that was loaded at its beginning.
  phi.replaceAllUsesWith(IRBuilder<>(block, block->getFirstInsertionPt()).CreateLoad(phi.getType(), slot));
  phi.eraseFromParent();
}

// Splits the edges of large switches that bring values to blocks with other predecessors.
unsigned splitEdges(Function &function) {
  SmallVector<SwitchInst *> switches;
  for (BasicBlock &block : function)
    if (auto *inst = dyn_cast<SwitchInst>(block.getTerminator()); inst && inst->getNumSuccessors() >= MANY_USES)
      switches.push_back(inst);
  unsigned changes = 0;
  auto options = CriticalEdgeSplittingOptions().setMergeIdenticalEdges();
  for (SwitchInst *inst : switches)
    for (unsigned i = 0; i < inst->getNumSuccessors(); i++)
      if (!inst->getSuccessor(i)->phis().empty())
        changes += SplitCriticalEdge(inst, i, options) != nullptr;
  return changes;
}

// Stores a value after its definition, and loads it once in each block that uses it.
void demoteValue(Value &value, Function &function) {
  AllocaInst *slot = slotOf(function, value.getType());
  auto *inst = dyn_cast<Instruction>(&value);
  BasicBlock *home = inst ? inst->getParent() : &function.getEntryBlock();
  DenseMap<BasicBlock *, LoadInst *> loads;
  // Setting a use takes it off the list that is walked.
  for (Use &use : make_early_inc_range(value.uses())) {
    BasicBlock *block = blockOf(use);
    if (block == home)
      continue;
    LoadInst *&load = loads[block];
    if (!load)
      load = IRBuilder<>(block, block->getFirstInsertionPt()).CreateLoad(value.getType(), slot);
    use.set(load);
  }
  // Behind the definition: of a phi after all phis, of an argument after the slot, which stands at the top of the
  // entry.
  BasicBlock::iterator behind = home->getFirstInsertionPt();
  if (!inst)
    behind = std::next(slot->getIterator());
  else if (!isa<PHINode>(inst))
    behind = std::next(inst->getIterator());
  IRBuilder<>(home, behind).CreateStore(&value, slot);
}

} // namespace

unsigned DemoteWide::run(Function &function, FunctionAnalysisManager &) {
  if (function.size() <= MANY_BLOCKS)
    return 0;
  SmallVector<PHINode *> phis;
  for (BasicBlock &block : function)
    for (PHINode &phi : block.phis())
      if (hasManyEdges(phi))
        phis.push_back(&phi);
  for (PHINode *phi : phis)
    demotePhi(*phi);
  // Only now: the phis that are left are the only reason to split an edge.
  unsigned split = splitEdges(function);
  SmallVector<Value *> values;
  for (Argument &argument : function.args())
    if (isUsedInManyBlocks(argument))
      values.push_back(&argument);
  // The address of a variable is a part of the instruction that uses it, and needs no slot.
  for (Instruction &inst : instructions(function))
    if (!isa<AllocaInst>(inst) && isUsedInManyBlocks(inst))
      values.push_back(&inst);
  for (Value *value : values)
    demoteValue(*value, function);
  return phis.size() + split + values.size();
}
