// Leaves only loads behind conditions, so that loads behind several conditions are in flight together. In comes a
// function of a GPU's kernel that is optimised otherwise; out goes the same, where a block of loads that a condition
// guards, such as
//
//     guard:                         guard:
//       br %inside, load, join         %at = getelementptr …
//     load:                            br %inside, load, join
//       %at = getelementptr …        load:
//       %is = load %at                 %is = load %at
//       %half = lshr %is, 1          join:
//     join:                            %then = phi [0, guard], [%is, load]
//       phi [0, guard], [%half, load]  %half = lshr %then, 1
//
// has its addresses before the condition and the uses of the loaded values after the join. A thread waits where a value
// is used. ptxas makes predicated loads of the short block, but it does not move the uses out of it.
//
// This pass is on LLVM IR because `instcombine` undoes it: it moves the uses of a phi back into the blocks that the
// phi's values come from. So it runs after the last `instcombine`.

#include "own_passes.h"

#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace {

// The most instructions of a guarded block: all of them will be executed, whether or not the condition is true.
constexpr size_t MAX_INSTRUCTIONS = 32;

// A block of loads that leads to a join.
struct Guarded {
  BasicBlock *block, *join;
  // The branch of the condition, if its other successor is the join.
  BranchInst *condition;
  // The instructions that do not need the loads, the loads, and the instructions that need them.
  SmallSetVector<Instruction *, 8> before, loads, behind;
};

// The branch around a block, or null.
BranchInst *branchAround(BasicBlock &block, BasicBlock *join) {
  BasicBlock *guard = block.getSinglePredecessor();
  auto *branch = guard ? dyn_cast<BranchInst>(guard->getTerminator()) : nullptr;
  return branch && branch->isConditional() && is_contained(branch->successors(), join) ? branch : nullptr;
}

// An extension of a loaded value, which is a part of the load instruction.
bool isPartOfLoad(const Instruction &instruction, const Guarded &guarded) {
  return isa<ZExtInst, SExtInst, FreezeInst>(instruction) &&
         guarded.loads.contains(dyn_cast<Instruction>(instruction.getOperand(0)));
}

// `joined`: phis of loaded values after the joins of other guarded blocks. They are available as late as loads.
std::optional<Guarded> guardedLoads(BasicBlock &block, const SmallPtrSetImpl<Instruction *> &joined) {
  BasicBlock *join = block.getSingleSuccessor();
  // A join with one predecessor is the rest of the same block: nothing is guarded.
  if (!join || join == &block || join->getSinglePredecessor() || block.size() > MAX_INSTRUCTIONS)
    return std::nullopt;
  Guarded found{&block, join, branchAround(block, join), {}, {}, {}};
  for (Instruction &instruction : block) {
    if (instruction.isTerminator())
      break;
    bool isJoined = joined.contains(&instruction);
    // An instruction without uses is there for its effects, such as a store.
    if ((isa<PHINode>(instruction) && !isJoined) || instruction.use_empty())
      return std::nullopt;
    auto *load = dyn_cast<LoadInst>(&instruction);
    // Loads stay behind the condition. All others will run on both ways, so that they must be harmless there.
    if (load ? !load->isSimple() : !isJoined && !isSafeToSpeculativelyExecute(&instruction))
      return std::nullopt;
    bool waits = any_of(instruction.operands(), [&](Value *operand) {
      auto *value = dyn_cast<Instruction>(operand);
      return value && (found.loads.contains(value) || found.behind.contains(value));
    });
    // If a load's address depends on another load, the instructions in between stay.
    if (load && waits)
      return std::nullopt;
    bool isLoaded = load || isJoined || isPartOfLoad(instruction, found);
    (isLoaded ? found.loads : waits ? found.behind : found.before).insert(&instruction);
  }
  // If the value of such an instruction is used elsewhere, as in a loop after the block, the block stays as it is.
  bool leaves = any_of(found.behind, [&](Instruction *instruction) {
    return any_of(instruction->users(), [&](User *user) {
      BasicBlock *where = cast<Instruction>(user)->getParent();
      return where != &block && (where != join || !isa<PHINode>(user));
    });
  });
  if (found.loads.empty() || found.behind.empty() || leaves)
    return std::nullopt;
  return found;
}

// The values of the block if all loads are zero, as far as they are constants.
class ZeroLoads {
  DenseMap<const Value *, Constant *> zeros;

public:
  explicit ZeroLoads(const Guarded &guarded) {
    const DataLayout &layout = guarded.block->getModule()->getDataLayout();
    for (Instruction *load : guarded.loads)
      zeros[load] = Constant::getNullValue(load->getType());
    for (Instruction *instruction : guarded.behind) {
      SmallVector<Constant *, 4> operands;
      for (Value *operand : instruction->operands())
        operands.push_back((*this)[operand]);
      // An operand that is no constant when the loads are zero: neither is the result.
      if (is_contained(operands, nullptr))
        continue;
      zeros[instruction] =
          isa<FreezeInst>(instruction) ? operands[0] : ConstantFoldInstOperands(instruction, operands, layout);
    }
  }

  // The constant, or null.
  Constant *operator[](Value *value) const {
    auto *constant = dyn_cast<Constant>(value);
    return constant ? constant : zeros.lookup(value);
  }
};

// Whether the block's value is equal to the value from the join's other predecessors, if all loads are zero.
bool isZeroElsewhere(PHINode &phi, const BasicBlock *block, const ZeroLoads &zeros) {
  Value *inside = phi.getIncomingValueForBlock(block);
  Constant *zero = zeros[inside];
  return all_of(zip(phi.blocks(), phi.incoming_values()), [&](const auto &way) {
    auto [from, outside] = way;
    if (from == block || outside == zero)
      return true;
    // An accumulated sum, to which zero is added.
    auto *sum = dyn_cast<BinaryOperator>(inside);
    if (!sum || sum->getOpcode() != Instruction::Add || !is_contained(sum->operands(), outside))
      return false;
    Constant *more = zeros[sum->getOperand(sum->getOperand(0) == outside)];
    return more && more->isNullValue();
  });
}

// Flattens a guarded block, and adds to `joined`. Returns false, and changes nothing, if the values from the join's
// other predecessors do not allow it.
bool flatten(Guarded &guarded, SmallPtrSetImpl<Instruction *> &joined) {
  auto &[block, join, branch, before, loads, behind] = guarded;
  const ZeroLoads zeros(guarded);
  // The select below knows two ways: through the block, and past it.
  if (branch && !join->hasNPredecessors(2))
    join = SplitBlockPredecessors(join, {branch->getParent(), block}, ".guarded");
  SmallPtrSet<PHINode *, 8> zero, other;
  for (PHINode &phi : join->phis()) {
    auto *inside = dyn_cast<Instruction>(phi.getIncomingValueForBlock(block));
    if (inside && behind.contains(inside))
      (isZeroElsewhere(phi, block, zeros) ? zero : other).insert(&phi);
  }
  // Without the branch around the block there is no condition to select by.
  if (!branch && !other.empty())
    return false;
  if (branch)
    for (Instruction *instruction : before)
      instruction->moveBefore(branch);
  // Taken before the new phis are made, which stand above it.
  auto place = join->getFirstInsertionPt();
  for (Instruction *instruction : behind)
    instruction->moveBefore(*join, place);
  IRBuilder<> phis(join, join->begin());
  for (Instruction *load : loads) {
    if (none_of(load->users(), [&](User *user) { return behind.contains(dyn_cast<Instruction>(user)); }))
      continue;
    PHINode *phi = phis.CreatePHI(load->getType(), 2);
    joined.insert(phi);
    load->replaceUsesWithIf(phi, [&](Use &use) { return behind.contains(dyn_cast<Instruction>(use.getUser())); });
    for (BasicBlock *from : predecessors(join))
      // With zero in place of the loads, the moved instructions compute what `ZeroLoads` has foreseen.
      phi->addIncoming(from == block ? static_cast<Value *>(load) : Constant::getNullValue(load->getType()), from);
  }
  IRBuilder<> selects(join, place);
  for (PHINode &phi : make_early_inc_range(join->phis())) {
    if (!zero.contains(&phi) && !other.contains(&phi))
      continue;
    Value *result = phi.getIncomingValueForBlock(block);
    if (other.contains(&phi)) {
      Value *inside = result, *outside = phi.getIncomingValueForBlock(branch->getParent());
      bool isFirst = branch->getSuccessor(0) == block;
      result = selects.CreateSelect(branch->getCondition(), isFirst ? inside : outside, isFirst ? outside : inside);
    }
    phi.replaceAllUsesWith(result);
    phi.eraseFromParent();
  }
  return true;
}

} // namespace

unsigned FlattenGuards::run(Function &function, FunctionAnalysisManager &) {
  SmallPtrSet<Instruction *, 16> joined;
  SmallVector<BasicBlock *, 32> open;
  for (BasicBlock &block : function)
    open.push_back(&block);
  unsigned changes = 0;
  for (size_t at = 0; at < open.size(); ++at)
    if (auto guarded = guardedLoads(*open[at], joined); guarded && flatten(*guarded, joined)) {
      ++changes;
      // The join may be guarded by an outer condition: its phis then count as loads.
      open.push_back(guarded->join);
    }
  return changes;
}
