// Prepares private arrays for registers, which have no addresses. In comes a function of a GPU's kernel after loop
// rotation; out goes the same where the elements that are accessed are known, so that SROA makes values of them.
//
// In registers an array costs nothing, in memory hundreds of cycles an access. (A chain of 128 dependent elements in
// each work-item: 40 times as long in memory.) Two things put an array into memory:
// * Loops over its elements. These loops are fully unrolled, and so are the loops that determine their trip counts: in
//   a triangular nest the outer one first, after which the inner ones have known trip counts.
// * Elements whose index is selected from a few by data, such as the row of a pivot. After unrolling, the index is a
//   select of constants. A load from it becomes loads from all possible elements, and selects; a store becomes stores
//   to all of them, of the new value or the old one.
//
// Unrolling without that gain makes code slow: then the function stays as it was.
//
// This pass is on LLVM IR because it asks ScalarEvolution for the lengths of loops after each level of unrolling.

#include "own_passes.h"
#include "steps.h"

#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/Utils/Local.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace {

// The most instructions of the unrolled loops of a function, and of the selects.
constexpr uint64_t MAX_INSTRUCTIONS = 6000;

// The most elements among which the index of an access selects.
constexpr size_t MAX_PLACES = 8;

// The longest chain of operations that make an address.
constexpr unsigned MAX_DEPTH = 200;

// An array, and its accesses.
struct Array {
  AllocaInst *slot;
  // Loads and stores of elements.
  SmallVector<Instruction *, 16> accesses;
};

// The array's accesses; nothing if its address is used for anything else.
std::optional<Array> usesOf(AllocaInst &slot) {
  Array array{&slot, {}};
  // Addresses in the slot other than its first byte's.
  SmallSetVector<Instruction *, 16> pointers;
  SmallVector<Instruction *, 16> open{&slot};
  while (!open.empty()) {
    Instruction *pointer = open.pop_back_val();
    for (Use &use : pointer->uses()) {
      auto *user = cast<Instruction>(use.getUser());
      auto *load = dyn_cast<LoadInst>(user);
      auto *store = dyn_cast<StoreInst>(user);
      if ((load && load->isSimple()) || (store && store->isSimple() && store->getPointerOperand() == pointer &&
                                         store->getValueOperand() != pointer)) {
        array.accesses.push_back(user);
      } else if (isa<GetElementPtrInst, AddrSpaceCastInst, PHINode, SelectInst>(user)) {
        if (pointers.insert(user))
          open.push_back(user);
      } else if (!user->isLifetimeStartOrEnd()) {
        return std::nullopt;
      }
    }
  }
  // A pointer that may point to this array or to something else.
  for (Instruction *pointer : pointers)
    if (isa<PHINode, SelectInst>(pointer))
      for (Value *operand : pointer->operands())
        if (operand->getType()->isPointerTy() && operand != &slot && !isa<UndefValue>(operand) &&
            !(isa<Instruction>(operand) && pointers.contains(cast<Instruction>(operand))))
          return std::nullopt;
  return array;
}

// Which loops have to be unrolled, so that the indices of accesses become known.
class Elements {
  ScalarEvolution &evolution;
  LoopInfo &info;

public:
  // Loops with a different element in each iteration, and the loops that determine their trip counts.
  SmallSetVector<Loop *, 8> loops;

  Elements(ScalarEvolution &evolution, LoopInfo &info) : evolution(evolution), info(info) {}

  // Adds the loops around an array's accesses. Returns false, and changes nothing, if after unrolling the indices would
  // not be constants or selects of constants, or if the code would be too long.
  bool add(const Array &array) {
    Elements more(*this);
    SmallPtrSet<const SCEV *, 16> seen;
    for (Instruction *access : array.accesses)
      if (!more.addLoops(evolution.getSCEV(getLoadStorePointerOperand(access)), seen))
        return false;
    for (size_t at = 0; at < more.loops.size(); ++at) {
      Loop *loop = more.loops[at];
      const SCEV *last = evolution.getBackedgeTakenCount(loop);
      if (!evolution.getSmallConstantMaxTripCount(loop) || isa<SCEVCouldNotCompute>(last) || !more.addLoops(last, seen))
        return false;
    }
    if (more.size() > MAX_INSTRUCTIONS)
      return false;
    loops = more.loops;
    return true;
  }

private:
  // Adds the loops that a value depends on. Returns false if it depends on anything else.
  bool addLoops(const SCEV *value, SmallPtrSet<const SCEV *, 16> &seen) {
    SmallVector<const SCEV *, 8> open{value};
    while (!open.empty()) {
      const SCEV *part = open.pop_back_val();
      if (!seen.insert(part).second)
        continue;
      if (auto *recurrence = dyn_cast<SCEVAddRecExpr>(part))
        loops.insert(const_cast<Loop *>(recurrence->getLoop()));
      append_range(open, part->operands());
      auto *unknown = dyn_cast<SCEVUnknown>(part);
      if (!unknown || isa<AllocaInst>(unknown->getValue()))
        continue;
      // The condition of a select between two elements may be any value.
      if (part->getType()->isIntegerTy(1))
        continue;
      auto *instruction = dyn_cast<Instruction>(unknown->getValue());
      if (!instruction || !isa<PHINode, SelectInst, BinaryOperator, CastInst, FreezeInst>(instruction))
        return false;
      if (isa<PHINode>(instruction) && info.isLoopHeader(instruction->getParent()))
        loops.insert(info.getLoopFor(instruction->getParent()));
      // The condition of a select does not matter.
      size_t first = isa<SelectInst>(instruction);
      for (Value *operand : drop_begin(instruction->operands(), first)) {
        if (!evolution.isSCEVable(operand->getType()))
          return false;
        open.push_back(evolution.getSCEV(operand));
      }
    }
    return true;
  }

  // The most instructions of the unrolled loops.
  uint64_t size() const {
    uint64_t sum = 0;
    for (Loop *top : info)
      for (BasicBlock *block : top->blocks()) {
        uint64_t copies = 1;
        for (Loop *loop = info.getLoopFor(block); loop; loop = loop->getParentLoop())
          if (loops.contains(loop))
            copies = SaturatingMultiply<uint64_t>(copies, evolution.getSmallConstantMaxTripCount(loop));
        if (copies > 1)
          sum = SaturatingMultiplyAdd<uint64_t>(copies, block->size(), sum);
      }
    return sum;
  }
};

// Replaces accesses at indices that are no constants by selects among elements.
class Chooser {
  const DataLayout &layout;
  const Array &array;
  DenseMap<Value *, Value *> offsets;
  using Places = std::optional<SmallSetVector<Constant *, 8>>;
  const Places NOWHERE;
  DenseMap<Value *, Places> places;

public:
  explicit Chooser(const Array &array) : layout(array.slot->getModule()->getDataLayout()), array(array) {}

  // Returns false if an access may be to too many elements; then the array is unchanged. `budget` is the number of
  // instructions that may be added.
  bool run(uint64_t &budget) {
    auto bytes = array.slot->getAllocationSize(layout);
    if (!bytes)
      return false;
    SmallVector<std::pair<Value *, SmallVector<Constant *, 8>>, 16> chosen;
    for (Instruction *access : array.accesses) {
      Value *offset = offsetOf(getLoadStorePointerOperand(access), MAX_DEPTH);
      const Places &all = offset ? placesOf(offset, MAX_DEPTH) : NOWHERE;
      if (!all)
        return false;
      // An access to any other element would be undefined behaviour.
      uint64_t size = layout.getTypeStoreSize(getLoadStoreType(access));
      SmallVector<Constant *, 8> inside;
      copy_if(*all, std::back_inserter(inside), [&](Constant *place) {
        auto *number = dyn_cast<ConstantInt>(place);
        return number && number->getZExtValue() + size <= bytes->getFixedValue();
      });
      if (inside.empty() || inside.size() > MAX_PLACES || budget < 4 * inside.size())
        return false;
      budget -= 4 * inside.size();
      chosen.push_back({offset, inside});
    }
    for (auto [access, choice] : zip(array.accesses, chosen))
      expand(access, choice.first, choice.second);
    return true;
  }

private:
  // The offset of an address in the array. Null if it is computed in more than `depth` steps.
  Value *offsetOf(Value *pointer, unsigned depth) {
    auto *type = Type::getInt32Ty(pointer->getContext());
    if (pointer == array.slot)
      return ConstantInt::get(type, 0);
    if (isa<UndefValue>(pointer))
      return PoisonValue::get(type);
    if (Value *known = offsets.lookup(pointer))
      return known;
    if (depth == 0)
      return nullptr;
    auto *instruction = cast<Instruction>(pointer);
    IRBuilder<> builder(instruction);
    if (auto *phi = dyn_cast<PHINode>(instruction)) {
      PHINode *copy = builder.CreatePHI(type, phi->getNumIncomingValues());
      offsets[pointer] = copy;
      bool isWhole = true;
      for (auto [block, value] : zip(phi->blocks(), phi->incoming_values())) {
        Value *offset = offsetOf(value, depth - 1);
        isWhole &= offset != nullptr;
        copy->addIncoming(offset ? offset : PoisonValue::get(type), block);
      }
      return isWhole ? copy : nullptr;
    }
    Value *offset = nullptr;
    if (auto *select = dyn_cast<SelectInst>(instruction)) {
      Value *yes = offsetOf(select->getTrueValue(), depth - 1), *no = offsetOf(select->getFalseValue(), depth - 1);
      if (yes && no)
        offset = builder.CreateSelect(select->getCondition(), yes, no);
    } else if (auto *step = dyn_cast<GetElementPtrInst>(instruction)) {
      if (Value *before = offsetOf(step->getPointerOperand(), depth - 1)) {
        Value *more = builder.CreateSExtOrTrunc(emitGEPOffset(&builder, layout, step), type);
        offset = builder.CreateAdd(before, more);
      }
    } else {
      offset = offsetOf(cast<AddrSpaceCastInst>(instruction)->getPointerOperand(), depth - 1);
    }
    return offsets[pointer] = offset;
  }

  // The constants that a value can be. Nothing if it may be anything else, if there are too many, or if it is computed
  // in more than `depth` steps.
  const Places &placesOf(Value *value, unsigned depth) {
    if (depth == 0)
      return NOWHERE;
    auto [at, isNew] = places.try_emplace(value);
    if (!isNew)
      // A cycle of phis: it adds no constant by itself.
      return at->second;
    Places found = find(value, depth - 1);
    return places[value] = std::move(found);
  }

  Places find(Value *value, unsigned depth) {
    SmallSetVector<Constant *, 8> found;
    if (auto *constant = dyn_cast<Constant>(value)) {
      found.insert(constant);
      return found;
    }
    if (value->getType()->isIntegerTy(1)) {
      found.insert(ConstantInt::getFalse(value->getContext()));
      found.insert(ConstantInt::getTrue(value->getContext()));
      return found;
    }
    auto *instruction = dyn_cast<Instruction>(value);
    if (!instruction)
      return std::nullopt;
    if (isa<PHINode, SelectInst, FreezeInst>(instruction)) {
      for (Value *operand : drop_begin(instruction->operands(), isa<SelectInst>(instruction))) {
        const Places &some = placesOf(operand, depth);
        if (!some)
          return std::nullopt;
        found.insert(some->begin(), some->end());
      }
    } else if (auto *conversion = dyn_cast<CastInst>(instruction)) {
      const Places &some = placesOf(conversion->getOperand(0), depth);
      if (!some)
        return std::nullopt;
      for (Constant *constant : *some)
        found.insert(ConstantFoldCastOperand(conversion->getOpcode(), constant, conversion->getType(), layout));
    } else if (isa<BinaryOperator>(instruction)) {
      // A copy, since the second call may move the result of the first in memory.
      const Places left = placesOf(instruction->getOperand(0), depth);
      const Places &right = placesOf(instruction->getOperand(1), depth);
      if (!left || !right)
        return std::nullopt;
      for (Constant *l : *left)
        for (Constant *r : *right)
          found.insert(ConstantFoldBinaryOpOperands(instruction->getOpcode(), l, r, layout));
    } else {
      return std::nullopt;
    }
    if (found.contains(nullptr) || found.size() > 2 * MAX_PLACES)
      return std::nullopt;
    return found;
  }

  void expand(Instruction *access, Value *offset, ArrayRef<Constant *> places) {
    IRBuilder<> builder(access);
    auto *type = getLoadStoreType(access);
    auto *store = dyn_cast<StoreInst>(access);
    Value *base = builder.CreateAddrSpaceCast(array.slot, getLoadStorePointerOperand(access)->getType());
    Value *result = nullptr;
    for (Constant *place : places) {
      Value *address = builder.CreateGEP(builder.getInt8Ty(), base, place);
      Align align = commonAlignment(array.slot->getAlign(), cast<ConstantInt>(place)->getZExtValue());
      bool isOnly = places.size() == 1;
      Value *here = isOnly ? nullptr : builder.CreateICmpEQ(offset, place);
      if (!store) {
        Value *element = builder.CreateAlignedLoad(type, address, align);
        result = result ? builder.CreateSelect(here, element, result) : element;
      } else {
        Value *value = store->getValueOperand();
        if (!isOnly)
          value = builder.CreateSelect(here, value, builder.CreateAlignedLoad(type, address, align));
        builder.CreateAlignedStore(value, address, align);
      }
    }
    if (result)
      access->replaceAllUsesWith(result);
    access->eraseFromParent();
  }
};

// The arrays of a function with accesses whose indices are no constants.
SmallVector<Array, 2> arraysOf(Function &function) {
  SmallVector<Array, 2> arrays;
  const DataLayout &layout = function.getParent()->getDataLayout();
  for (Instruction &instruction : function.getEntryBlock())
    if (auto *slot = dyn_cast<AllocaInst>(&instruction))
      if (auto array = usesOf(*slot))
        if (any_of(array->accesses, [&](Instruction *access) {
              int64_t offset = 0;
              Value *address = getLoadStorePointerOperand(access);
              return GetPointerBaseWithConstantOffset(address, offset, layout)->stripPointerCasts() != slot;
            }))
          arrays.push_back(std::move(*array));
  return arrays;
}

// Unrolls one level of the loops that keep arrays in memory, and adds these arrays' slots. Returns false if there are
// no such loops.
bool unroll(Function &function, FunctionAnalysisManager &analyses, SmallPtrSetImpl<AllocaInst *> &slots) {
  auto &info = analyses.getResult<LoopAnalysis>(function);
  auto &evolution = analyses.getResult<ScalarEvolutionAnalysis>(function);
  Elements elements(evolution, info);
  for (const Array &array : arraysOf(function))
    if (elements.add(array))
      slots.insert(array.slot);
  SmallVector<Loop *, 4> outermost;
  copy_if(elements.loops, std::back_inserter(outermost), [&](Loop *loop) {
    return none_of(elements.loops, [&](Loop *other) { return other != loop && other->contains(loop); });
  });
  if (outermost.empty())
    return false;
  bool changed = false;
  for (Loop *loop : outermost) {
    UnrollLoopOptions options{};
    options.Count = evolution.getSmallConstantMaxTripCount(loop);
    options.Force = true;
    changed |= unrollLoop(*loop, options, function, analyses) != LoopUnrollResult::Unmodified;
  }
  analyses.invalidate(function, PreservedAnalyses::none());
  // Unrolling the outer loop makes the inner loops and their trip counts known.
  analyses.invalidate(function, instCombine().run(function, analyses));
  analyses.invalidate(function, SimplifyCFGPass().run(function, analyses));
  return changed;
}

// Moves the body of a copy back into the function.
void restore(Function &function, Function &copy) {
  auto linkage = function.getLinkage();
  function.deleteBody();
  function.setLinkage(linkage);
  function.splice(function.begin(), &copy);
  function.copyMetadata(&copy, 0);
  for (auto [to, from] : zip(function.args(), copy.args()))
    from.replaceAllUsesWith(&to);
}

} // namespace

unsigned PromoteArrays::run(Function &function, FunctionAnalysisManager &analyses) {
  if (arraysOf(function).empty())
    return 0;
  ValueToValueMapTy map;
  Function *copy = CloneFunction(&function, map);
  SmallPtrSet<AllocaInst *, 4> slots;
  while (unroll(function, analyses, slots)) {
  }
  uint64_t budget = MAX_INSTRUCTIONS;
  bool isInVain = false;
  for (const Array &array : arraysOf(function))
    isInVain |= slots.contains(array.slot) && !Chooser(array).run(budget);
  if (isInVain)
    restore(function, *copy);
  copy->eraseFromParent();
  // Also if the function is restored: its instructions are other objects.
  analyses.invalidate(function, PreservedAnalyses::none());
  return isInVain ? 0 : slots.size();
}
