// Runs the passes of optimise.rs on a module. In come a verified module, its target machine and how much is to be
// tried; the module is changed in place.
//
// LLVM's C interface runs passes by their names. For that it refers to every pass that there is: vectorisers, passes
// between procedures, sanitizers, coroutines. They were a fourth of the driver. Here the few passes that run are
// called by their types, and the linker drops the others.

#include "demote_wide.h"
#include "flatten_guards.h"
#include "keep_steps.h"
#include "promote_arrays.h"
#include "shared_steps.h"

#include "llvm-c/TargetMachine.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/BasicAliasAnalysis.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/LazyValueInfo.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/MemorySSA.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/Analysis/ProfileSummaryInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScopedNoAliasAA.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/TypeBasedAliasAnalysis.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Scalar/DeadStoreElimination.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/InferAddressSpaces.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Scalar/LoopUnrollPass.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/FixIrreducible.h"
#include "llvm/Transforms/Utils/LowerSwitch.h"

using namespace llvm;

namespace {

// The address spaces of a GPU are disjoint but for the generic one. LLVM's own analysis that knows it is of a private
// type.
class SpaceAA : public AAResultBase {
public:
  AliasResult alias(const MemoryLocation &a, const MemoryLocation &b, AAQueryInfo &, const Instruction *) {
    unsigned x = a.Ptr->getType()->getPointerAddressSpace(), y = b.Ptr->getType()->getPointerAddressSpace();
    return x && y && x != y ? AliasResult::NoAlias : AliasResult::MayAlias;
  }
  bool invalidate(Function &, const PreservedAnalyses &, FunctionAnalysisManager::Invalidator &) { return false; }
};

struct SpaceAAAnalysis : AnalysisInfoMixin<SpaceAAAnalysis> {
  using Result = SpaceAA;
  static AnalysisKey Key;
  SpaceAA run(Function &, FunctionAnalysisManager &) { return SpaceAA(); }
};

AnalysisKey SpaceAAAnalysis::Key;

// Instructions of an unrolled loop whose number of iterations only running it shows, the most instructions of such a
// loop, and how often it is unrolled at most. (Mandelbrot on an H200: a tenth less time with 4 than without. NVIDIA's
// own compiler unrolls it 16 times, which is another twentieth.)
constexpr unsigned SEARCH_UNROLLED = 256, SEARCH_SIZE = 40, SEARCH_COUNT = 16;

// How often a loop with loads is unrolled, and its cost: more than what LLVM unrolls at all.
constexpr unsigned STREAM_COUNT = 4;
constexpr uint64_t STREAM_LEAST = 38, STREAM_MOST = 64;

// The cost of a loop with loads that NVIDIA's compiler unrolls, too: it does not if LLVM did so 8 times, which makes
// more than 32 instructions of such a loop, but 4 times if LLVM did so 4 times.
constexpr uint64_t AGAIN_LEAST = 7, AGAIN_MOST = 9;

// The mark of such a loop, and of what is left over of it.
constexpr const char *AGAIN = "cloom.unroll.again";

// What an iteration costs; 0 if it cannot be copied.
uint64_t costOf(const Loop &loop, const TargetTransformInfo &target) {
  SmallPtrSet<const Value *, 1> none;
  UnrollCostEstimator estimator(&loop, target, none, /*BEInsns=*/2);
  return estimator.canUnroll() ? estimator.getRolledLoopSize() : 0;
}

// Asks for the unrolling of innermost loops that LLVM would leave alone, or not unroll as they should be:
// * short ones with several exits: what one iteration hands to the next then stays where it is, and a branch is saved;
// * those with loads, whose loads are then in flight together. LLVM's limit counts the instructions only.
struct UnrollInnermost : PassInfoMixin<UnrollInnermost> {
  PreservedAnalyses run(Function &function, FunctionAnalysisManager &analyses) {
    auto &evolution = analyses.getResult<ScalarEvolutionAnalysis>(function);
    auto &target = analyses.getResult<TargetIRAnalysis>(function);
    for (Loop *loop : analyses.getResult<LoopAnalysis>(function).getLoopsInPreorder())
      if (loop->isInnermost())
        ask(*loop, evolution, target);
    return PreservedAnalyses::all();
  }

  static void ask(Loop &loop, ScalarEvolution &evolution, const TargetTransformInfo &target) {
    unsigned size = 0;
    bool loads = false;
    for (BasicBlock *block : loop.blocks())
      for (Instruction &instruction : *block) {
        ++size;
        loads |= isa<LoadInst>(instruction);
        auto *call = dyn_cast<CallBase>(&instruction);
        if (call && call->isConvergent())
          return;
      }
    auto unroll = [&](unsigned times) { addStringMetadataToLoop(&loop, "llvm.loop.unroll.count", times); };
    if (!loop.getExitingBlock()) {
      if (size <= SEARCH_SIZE)
        unroll(std::min(SEARCH_COUNT, SEARCH_UNROLLED / size));
      return;
    }
    if (!loads || evolution.getSmallConstantTripCount(&loop) ||
        isa<SCEVCouldNotCompute>(evolution.getBackedgeTakenCount(&loop)))
      return;
    uint64_t cost = costOf(loop, target);
    bool again = cost >= AGAIN_LEAST && cost <= AGAIN_MOST;
    if (again)
      addStringMetadataToLoop(&loop, AGAIN);
    if (again || (cost >= STREAM_LEAST && cost <= STREAM_MOST))
      unroll(STREAM_COUNT);
  }
};

// Allows NVIDIA's compiler to unroll the marked loops, but not what is left over of them.
struct AllowUnrolling : PassInfoMixin<AllowUnrolling> {
  PreservedAnalyses run(Function &function, FunctionAnalysisManager &analyses) {
    auto &target = analyses.getResult<TargetIRAnalysis>(function);
    for (Loop *loop : analyses.getResult<LoopAnalysis>(function).getLoopsInPreorder())
      if (BasicBlock *latch = loop->getLoopLatch())
        if (findStringMetadataForLoop(loop, AGAIN) && costOf(*loop, target) > 2 * AGAIN_MOST)
          latch->getTerminator()->setMetadata(LLVMContext::MD_loop, nullptr);
    return PreservedAnalyses::all();
  }
};

// How often loops with barriers are unrolled, and the most instructions of such a loop. (A table of a longest common
// subsequence, row by row: a fifth less time.)
constexpr unsigned MEETING_COUNT = 4, MEETING_SIZE = 120;

// Unrolls loops with barriers whose number of iterations only running them shows. LLVM leaves them alone, because what
// work-items meet in must not depend on more than it did, and the iterations that are left over do. But all work-items
// of a group come to a barrier equally often, so that they agree on that number.
struct UnrollMeetings : PassInfoMixin<UnrollMeetings> {
  static bool isMeeting(const Instruction &instruction) {
    auto *call = dyn_cast<IntrinsicInst>(&instruction);
    return call && call->getIntrinsicID() == Intrinsic::nvvm_barrier0;
  }

  static bool isWanted(const Loop &loop, ScalarEvolution &evolution) {
    unsigned size = 0, meetings = 0;
    for (BasicBlock *block : loop.blocks())
      for (Instruction &instruction : *block) {
        ++size;
        auto *call = dyn_cast<CallBase>(&instruction);
        if (isMeeting(instruction))
          ++meetings;
        else if (call && call->isConvergent())
          return false;
      }
    return meetings && size <= MEETING_SIZE && loop.isInnermost() && loop.getExitingBlock() &&
           !evolution.getSmallConstantTripCount(&loop) &&
           !isa<SCEVCouldNotCompute>(evolution.getBackedgeTakenCount(&loop));
  }

  PreservedAnalyses run(Function &function, FunctionAnalysisManager &analyses) {
    auto &info = analyses.getResult<LoopAnalysis>(function);
    auto &evolution = analyses.getResult<ScalarEvolutionAnalysis>(function);
    SmallVector<Loop *, 4> wanted;
    for (Loop *loop : info.getLoopsInPreorder())
      if (isWanted(*loop, evolution))
        wanted.push_back(loop);
    if (wanted.empty())
      return PreservedAnalyses::all();
    for (Loop *loop : wanted) {
      UnrollLoopOptions options{};
      options.Count = MEETING_COUNT;
      options.Runtime = true;
      options.AllowExpensiveTripCount = true;
      unrollLoop(*loop, options, function, analyses);
    }
    return PreservedAnalyses::none();
  }
};

// Lets the branch at the end of a loop lead back if its condition is true, not if it is false, as `instcombine` leaves
// it: NVIDIA's compiler does not unroll such loops.
struct LoopBackIfTrue : PassInfoMixin<LoopBackIfTrue> {
  PreservedAnalyses run(Function &function, FunctionAnalysisManager &analyses) {
    for (Loop *loop : analyses.getResult<LoopAnalysis>(function).getLoopsInPreorder()) {
      BasicBlock *latch = loop->getLoopLatch();
      auto *branch = latch ? dyn_cast<BranchInst>(latch->getTerminator()) : nullptr;
      if (!branch || branch->isUnconditional() || branch->getSuccessor(1) != loop->getHeader())
        continue;
      auto *compare = dyn_cast<CmpInst>(branch->getCondition());
      if (compare && compare->hasOneUse()) {
        compare->setPredicate(compare->getInversePredicate());
        branch->swapSuccessors();
      }
    }
    return PreservedAnalyses::all();
  }
};

// Gives every cycle one entry, as `goto` into a loop does not, nor what passes make of some loops. NVIDIA's compiler
// (13.0) does not let the threads of a warp wait for each other behind a cycle with several entries, but takes them to
// be together there: it keeps a counter of a loop around it once a warp, and each part of the warp counts.
struct MakeReducible : PassInfoMixin<MakeReducible> {
  PreservedAnalyses run(Function &function, FunctionAnalysisManager &analyses) {
    ReversePostOrderTraversal<const Function *> order(&function);
    if (!containsIrreducibleCFG<const BasicBlock *>(order, analyses.getResult<LoopAnalysis>(function)))
      return PreservedAnalyses::all();
    // It knows edges of branches only.
    analyses.invalidate(function, LowerSwitchPass().run(function, analyses));
    SmallPtrSet<BasicBlock *, 32> old;
    for (BasicBlock &block : function)
      old.insert(&block);
    FixIrreduciblePass().run(function, analyses);
    // The new blocks only choose the entry. Code generation would put copies of them where the choice is known.
    auto *type = FunctionType::get(Type::getVoidTy(function.getContext()), false);
    for (BasicBlock &block : function)
      if (!old.contains(&block)) {
        auto *mark = InlineAsm::get(type, "", "", /*hasSideEffects=*/true);
        CallInst::Create(mark, "", block.getFirstInsertionPt())->setConvergent();
      }
    return PreservedAnalyses::none();
  }
};

// What a pass may ask about a function. Only what the passes below ask for is here: a question without an answer ends
// the process, in the first test that runs the pass.
void registerAnalyses(FunctionAnalysisManager &functions, TargetMachine &machine) {
  functions.registerPass([&] {
    AAManager aliases;
    aliases.registerFunctionAnalysis<BasicAA>();
    aliases.registerFunctionAnalysis<ScopedNoAliasAA>();
    aliases.registerFunctionAnalysis<TypeBasedAA>();
    if (machine.getTargetTriple().isNVPTX())
      aliases.registerFunctionAnalysis<SpaceAAAnalysis>();
    else
      machine.registerDefaultAliasAnalyses(aliases);
    return aliases;
  });
  functions.registerPass([] { return BasicAA(); });
  functions.registerPass([] { return ScopedNoAliasAA(); });
  functions.registerPass([] { return TypeBasedAA(); });
  functions.registerPass([] { return AssumptionAnalysis(); });
  functions.registerPass([] { return SpaceAAAnalysis(); });
  functions.registerPass([] { return DominatorTreeAnalysis(); });
  functions.registerPass([] { return LazyValueAnalysis(); });
  functions.registerPass([] { return LoopAnalysis(); });
  functions.registerPass([] { return MemorySSAAnalysis(); });
  functions.registerPass([] { return OptimizationRemarkEmitterAnalysis(); });
  functions.registerPass([] { return PostDominatorTreeAnalysis(); });
  functions.registerPass([] { return PassInstrumentationAnalysis(); });
  functions.registerPass([] { return ScalarEvolutionAnalysis(); });
  functions.registerPass([&] { return machine.getTargetIRAnalysis(); });
  functions.registerPass([] { return TargetLibraryAnalysis(); });
}

// What is nearly linear in time.
void addQuick(FunctionPassManager &passes) {
  passes.addPass(SROAPass(SROAOptions::ModifyCFG));
  passes.addPass(EarlyCSEPass(/*UseMemorySSA=*/false));
  passes.addPass(instCombine());
  passes.addPass(SimplifyCFGPass(SimplifyCFGOptions()));
}

// Everything. What is equal after `instcombine`, `early-cse` finds as well as `gvn`: the code of the gallery is the
// same, and `gvn` took 45 ms of 140 on a kernel with a thousand loads, as it looks for the store before each of them.
void addFull(FunctionPassManager &passes) {
  passes.addPass(SROAPass(SROAOptions::ModifyCFG));
  passes.addPass(EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(instCombine());
  passes.addPass(SimplifyCFGPass(SimplifyCFGOptions()));
  passes.addPass(createFunctionToLoopPassAdaptor(LICMPass(LICMOptions()), /*UseMemorySSA=*/true));
  passes.addPass(EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(instCombine());
  passes.addPass(SimplifyCFGPass(SimplifyCFGOptions()));
}

// Everything, for a GPU. Its kernels are loops as they were written: unrolled, their loads are in flight together. The
// address spaces of pointers become known, so that accesses are of one space.
void addGpu(FunctionPassManager &passes) {
  passes.addPass(SROAPass(SROAOptions::ModifyCFG));
  passes.addPass(EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(InferAddressSpacesPass());
  // Before `instcombine`, which moves loads behind branches to their users: those that may become selects do so.
  passes.addPass(SimplifyCFGPass(SimplifyCFGOptions()));
  passes.addPass(instCombine());
  passes.addPass(SimplifyCFGPass(SimplifyCFGOptions()));
  passes.addPass(createFunctionToLoopPassAdaptor(LoopRotatePass()));
  passes.addPass(createFunctionToLoopPassAdaptor(LICMPass(LICMOptions()), /*UseMemorySSA=*/true));
  passes.addPass(PromoteArrays());
  passes.addPass(UnrollMeetings());
  passes.addPass(UnrollInnermost());
  passes.addPass(LoopUnrollPass(LoopUnrollOptions(/*OptLevel=*/3)));
  passes.addPass(AllowUnrolling());
  passes.addPass(SROAPass(SROAOptions::ModifyCFG));
  passes.addPass(EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(instCombine());
  passes.addPass(SimplifyCFGPass(SimplifyCFGOptions().convertSwitchRangeToICmp(true)));
  // Of an array that stays in memory: what an unrolled iteration left there, the next ones have in registers.
  passes.addPass(EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(DSEPass());
  passes.addPass(instCombine());
  // Behind the last `instcombine`, which moves what is made of a choice into its arms.
  passes.addPass(FlattenGuards());
  passes.addPass(LoopBackIfTrue());
  passes.addPass(KeepSteps());
}

} // namespace

// `effort`: 0 for what a target needs to be right, 1 for the quick passes too, 2 for all.
extern "C" void cloom_llvm_run_passes(LLVMModuleRef moduleRef, LLVMTargetMachineRef machineRef, int effort) {
  Module &module = *unwrap(moduleRef);
  // The C interface's pointer is the machine itself.
  TargetMachine &machine = *reinterpret_cast<TargetMachine *>(machineRef);
  // Destroyed in the reverse order, as the outer managers' results refer to the inner managers.
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  ModuleAnalysisManager modules;
  registerAnalyses(functions, machine);
  loops.registerPass([] { return PassInstrumentationAnalysis(); });
  modules.registerPass([] { return PassInstrumentationAnalysis(); });
  modules.registerPass([] { return ProfileSummaryAnalysis(); });
  modules.registerPass([&] { return FunctionAnalysisManagerModuleProxy(functions); });
  functions.registerPass([&] { return ModuleAnalysisManagerFunctionProxy(modules); });
  functions.registerPass([&] { return LoopAnalysisManagerFunctionProxy(loops); });
  loops.registerPass([&] { return FunctionAnalysisManagerLoopProxy(functions); });
  bool isGpu = machine.getTargetTriple().isNVPTX();
  FunctionPassManager passes;
  if (effort == 2 && isGpu)
    addGpu(passes);
  else if (effort == 2)
    addFull(passes);
  else if (effort == 1) {
    addQuick(passes);
    if (!isGpu)
      passes.addPass(DemoteWide());
  }
  // The last one, as others would bring the second entry back.
  if (isGpu)
    passes.addPass(MakeReducible());
  ModulePassManager pipeline;
  pipeline.addPass(createModuleToFunctionPassAdaptor(std::move(passes)));
  pipeline.run(module, modules);
}
