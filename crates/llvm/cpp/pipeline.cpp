// Runs the passes of optimise.rs on a module. In come a verified module, its target machine and how much is to be
// tried; the module is changed in place.
//
// LLVM's C interface runs passes by their names. For that it refers to every pass that there is: vectorisers, passes
// between procedures, sanitizers, coroutines. They were a fourth of the driver. Here the few passes that run are
// called by their types, and the linker drops the others.

#include "own_passes.h"

#include "llvm-c/TargetMachine.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/BasicAliasAnalysis.h"
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
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/DeadStoreElimination.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/InferAddressSpaces.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Scalar/LoopUnrollPass.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

#include <chrono>

using namespace llvm;

namespace {

// The address spaces of a GPU are disjoint but for the generic one. LLVM's own analysis that knows it is of a private
// type.
class SpaceAA : public AAResultBase {
public:
  AliasResult alias(const MemoryLocation &a, const MemoryLocation &b, AAQueryInfo &, const Instruction *) {
    unsigned x = a.Ptr->getType()->getPointerAddressSpace(), y = b.Ptr->getType()->getPointerAddressSpace();
    // A generic pointer (0) may point into any space.
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

// Registers the analyses of functions. Only those that the passes below use are here: using another one ends the
// process, in the first test that runs the pass.
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

// Plants a miscompilation in a function: it stores other integers.
void spoil(Function &function) {
  for (Instruction &instruction : instructions(function)) {
    auto *store = dyn_cast<StoreInst>(&instruction);
    if (!store || !store->getValueOperand()->getType()->isIntOrIntVectorTy())
      continue;
    Value *value = store->getValueOperand();
    store->setOperand(0, IRBuilder<>(store).CreateXor(value, ConstantInt::get(value->getType(), 1)));
  }
}

// An own pass, as its record says.
template <typename Pass> class Own : public PassInfoMixin<Own<Pass>> {
  PassRecord &record;

public:
  explicit Own(PassRecord &record) : record(record) {}

  PreservedAnalyses run(Function &function, FunctionAnalysisManager &analyses) {
    if (!record.isOn)
      return PreservedAnalyses::all();
    auto begin = std::chrono::steady_clock::now();
    unsigned changes = Pass().run(function, analyses);
    if (changes && record.isSpoiled)
      spoil(function);
    auto time = std::chrono::steady_clock::now() - begin;
    record.nanoseconds += std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
    record.runs += 1;
    record.changes += changes;
    // A pass that changed nothing has kept everything: dominators and loops need not be computed again.
    return changes && !Pass::KEEPS_ANALYSES ? PreservedAnalyses::none() : PreservedAnalyses::all();
  }
};

template <typename Pass> void addOwn(FunctionPassManager &passes, PassRecord *records) {
  passes.addPass(Own<Pass>(records[Pass::ID]));
}

// By default `instcombine` would end the process if one more iteration still changed something.
InstCombinePass instCombine() { return InstCombinePass(InstCombineOptions().setVerifyFixpoint(false)); }

// The passes that take nearly linear time.
void addQuick(FunctionPassManager &passes) {
  passes.addPass(SROAPass(SROAOptions::ModifyCFG));
  passes.addPass(EarlyCSEPass(/*UseMemorySSA=*/false));
  passes.addPass(instCombine());
  passes.addPass(SimplifyCFGPass(SimplifyCFGOptions()));
}

// All passes. After `instcombine`, `early-cse` finds equal values as well as `gvn` does: the code of the gallery is the
// same, and `gvn` took 45 ms of 140 on a kernel with a thousand loads, as it searches the store before each of them.
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

// All passes, for a GPU. The kernels have the loops of the source: after unrolling, their loads are in flight together.
// The address spaces of generic pointers are inferred, so that accesses are to a known space.
void addGpu(FunctionPassManager &passes, PassRecord *records) {
  passes.addPass(SROAPass(SROAOptions::ModifyCFG));
  passes.addPass(EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(InferAddressSpacesPass());
  // Before `instcombine`, which moves loads to their users in guarded blocks: branches that may become selects do so.
  passes.addPass(SimplifyCFGPass(SimplifyCFGOptions()));
  passes.addPass(instCombine());
  passes.addPass(SimplifyCFGPass(SimplifyCFGOptions()));
  // Rotated loops have a block before them that runs only if the loop does: loads can move there. Unrolling expects
  // this form, too.
  passes.addPass(createFunctionToLoopPassAdaptor(LoopRotatePass()));
  passes.addPass(createFunctionToLoopPassAdaptor(LICMPass(LICMOptions()), /*UseMemorySSA=*/true));
  // The unroller reads the marks; other passes in between could drop them.
  addOwn<UnrollInnermost>(passes, records);
  passes.addPass(LoopUnrollPass(LoopUnrollOptions(/*OptLevel=*/3)));
  addOwn<LimitUnrolling>(passes, records);
  // In the copies of an unrolled iteration, indices of private arrays are constants: the arrays become registers.
  passes.addPass(SROAPass(SROAOptions::ModifyCFG));
  passes.addPass(EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(instCombine());
  passes.addPass(SimplifyCFGPass(SimplifyCFGOptions().convertSwitchRangeToICmp(true)));
  // If an array stays in memory, the values that an unrolled iteration stores are in registers for the next ones.
  passes.addPass(EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(DSEPass());
  passes.addPass(instCombine());
  // From here on `instcombine` must not run again: it would undo these (see their files).
  addOwn<FlattenGuards>(passes, records);
  addOwn<TrueBackEdges>(passes, records);
  addOwn<PreserveIncrements>(passes, records);
}

// All that passes may ask, and the run of a list of passes on a module.
void runOn(Module &module, TargetMachine &machine, FunctionPassManager passes) {
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
  ModulePassManager pipeline;
  pipeline.addPass(createModuleToFunctionPassAdaptor(std::move(passes)));
  pipeline.run(module, modules);
}

} // namespace

// `effort`: 0 for what a target needs to be right, 1 for the quick passes too, 2 for all. `records`: one for each of
// `OwnPass`.
extern "C" void cloom_llvm_run_passes(LLVMModuleRef moduleRef, LLVMTargetMachineRef machineRef, int effort,
                                      PassRecord *records) {
  // The C interface's pointer is the machine itself.
  TargetMachine &machine = *reinterpret_cast<TargetMachine *>(machineRef);
  bool isGpu = machine.getTargetTriple().isNVPTX();
  FunctionPassManager passes;
  if (effort == 2 && isGpu)
    addGpu(passes, records);
  else if (effort == 2)
    addFull(passes);
  else if (effort == 1) {
    addQuick(passes);
    if (!isGpu)
      addOwn<DemoteWide>(passes, records);
  }
  // The last one, as others would bring the second entry back.
  if (isGpu)
    addOwn<SingleEntryCycles>(passes, records);
  runOn(*unwrap(moduleRef), machine, std::move(passes));
}

// Makes the results of a module wrong, for tests.
extern "C" void cloom_llvm_spoil(LLVMModuleRef moduleRef) {
  for (Function &function : *unwrap(moduleRef))
    spoil(function);
}

// Runs the own passes that are on, in the order of `OwnPass`, and no others: for tests.
extern "C" void cloom_llvm_run_own_passes(LLVMModuleRef moduleRef, LLVMTargetMachineRef machineRef,
                                          PassRecord *records) {
  FunctionPassManager passes;
  addOwn<DemoteWide>(passes, records);
  addOwn<UnrollInnermost>(passes, records);
  addOwn<LimitUnrolling>(passes, records);
  addOwn<FlattenGuards>(passes, records);
  addOwn<TrueBackEdges>(passes, records);
  addOwn<PreserveIncrements>(passes, records);
  addOwn<SingleEntryCycles>(passes, records);
  runOn(*unwrap(moduleRef), *reinterpret_cast<TargetMachine *>(machineRef), std::move(passes));
}
