// Makes the code of a module: like `LLVMTargetMachineEmitToMemoryBuffer`, with an option that the C interface lacks.
//
// Where a vector and a scalar are spilled at different times, LLVM gives them one slot on the stack. Scalars that lie
// 64 bytes apart are then in the same bank of the cache, and are read one a cycle instead of four: work-items that load
// one by one, by indices that were spilled, took up to 1.8 times as long on Zen 5, and as long as before on Sapphire
// Rapids. So a small module's spills have slots of their own. A large one's frame would grow tenfold, beyond the cache.
//
// A function with many blocks is compiled without three passes that take quadratic time in them:
// * Block placement looks, for each block that it places, at all blocks that could follow.
// * Loop-invariant code motion takes the constants of all blocks out of the loop over the work-items. Each is then live
//   in all blocks, and the register allocator splits and spills each in all of them.
// * Branch folding compares the ends of all blocks with the same successor (20,000 cases: 19 s of 24).

#include "own_passes.h"

#include "llvm-c/Core.h"
#include "llvm-c/DebugInfo.h"
#include "llvm-c/TargetMachine.h"
#include "llvm/CodeGen/MachineModuleInfo.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/IR/DIBuilder.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

using namespace llvm;

// The slots of a module with at most this many instructions are not shared. Most kernels of the gallery have fewer.
// Without sharing, sources of 500 statements have frames of 4 KB, and 2,000 statements 28 KB instead of 11.
static constexpr unsigned FEW_INSTRUCTIONS = 5000;

// An object or assembly, owned by the caller; null if the target makes no such code.
extern "C" LLVMMemoryBufferRef cloom_llvm_emit(LLVMModuleRef moduleRef, LLVMTargetMachineRef machineRef,
                                               int isAssembly) {
  Module &module = *unwrap(moduleRef);
  // The C interface's pointer is the machine itself, and all machines that make code are of this class.
  auto &machine = *static_cast<LLVMTargetMachine *>(reinterpret_cast<TargetMachine *>(machineRef));
  SmallVector<char, 0> bytes;
  raw_svector_ostream stream(bytes);
  legacy::PassManager passes;
  auto *info = new MachineModuleInfoWrapperPass(&machine);
  TargetPassConfig *config = machine.createPassConfig(passes);
  config->setDisableVerify(true);
  // The pass colours slots so that spills with disjoint live ranges share one.
  if (module.getInstructionCount() <= FEW_INSTRUCTIONS)
    config->disablePass(&StackSlotColoringID);
  if (any_of(module, [](const Function &function) { return function.size() > MANY_BLOCKS; }))
    for (AnalysisID pass : {&MachineBlockPlacementID, &EarlyMachineLICMID, &MachineLICMID, &BranchFolderPassID})
      config->disablePass(pass);
  passes.add(config);
  passes.add(info);
  if (config->addISelPasses())
    return nullptr;
  config->addMachinePasses();
  config->setInitialized();
  auto kind = isAssembly ? CodeGenFileType::AssemblyFile : CodeGenFileType::ObjectFile;
  if (machine.addAsmPrinter(passes, stream, nullptr, kind, info->getMMI().getContext()))
    return nullptr;
  // Frees the machine code of each function when it is printed, so that memory is that of the largest function only.
  passes.add(createFreeMachineFunctionPass());
  passes.run(module);
  return LLVMCreateMemoryBufferWithMemoryRangeCopy(bytes.data(), bytes.size(), "code");
}

// The compile unit of a module whose debug information is directives in the text, and no sections.
extern "C" LLVMMetadataRef cloom_llvm_line_unit(LLVMDIBuilderRef builderRef, LLVMMetadataRef fileRef) {
  auto &builder = *reinterpret_cast<DIBuilder *>(builderRef);
  auto *file = cast<DIFile>(unwrap(fileRef));
  return wrap(builder.createCompileUnit(dwarf::DW_LANG_OpenCL, file, "cloom", true, "", 0, "",
                                        DICompileUnit::DebugEmissionKind::DebugDirectivesOnly));
}
