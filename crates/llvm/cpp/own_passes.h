// Cloom's own passes on LLVM IR. In comes a function; `run` changes it and says how often it did.
//
// Rust names, switches and counts them: `PASSES` of own_passes.rs has them in the order of `OwnPass`. What can be done
// on Cloom's IR is done there, where the verifier and the interpreter see it. The head of each file says why its pass
// is on LLVM IR.

#pragma once

#include "llvm/IR/PassManager.h"
#include <cstdint>

// In the order of `PASSES` in own_passes.rs.
enum OwnPass : unsigned {
  DEMOTE_WIDE,
  UNROLL_INNERMOST,
  LIMIT_UNROLLING,
  FLATTEN_GUARDS,
  TRUE_BACK_EDGES,
  PRESERVE_INCREMENTS,
  SINGLE_ENTRY_CYCLES,
  OWN_PASSES,
};

// Whether a pass is on in a compilation, and its counters. The layout is that of `PassRecord` in own_passes.rs.
struct PassRecord {
  bool isOn;
  // A test plants a miscompilation: what the pass changed is wrong afterwards.
  bool isSpoiled;
  uint32_t runs, changes;
  uint64_t nanoseconds;
};

// The number of blocks of a function from which on passes that take quadratic time in them are avoided. (Code
// generation for a `switch` of 1500 cases with work of their own, 2100 blocks: 18.4 s with block placement and
// loop-invariant code motion, 1.4 with block placement only, 1.1 without both.)
constexpr size_t MANY_BLOCKS = 1000;

// Each pass has these members: `run` changes a function and returns how often it did; `KEEPS_ANALYSES` says whether all
// analyses of the function stay valid; and the pass's number.
#define OWN_PASS(Name, NUMBER, KEEPS)                                                                                  \
  struct Name {                                                                                                        \
    static constexpr OwnPass ID = NUMBER;                                                                              \
    static constexpr bool KEEPS_ANALYSES = KEEPS;                                                                      \
    unsigned run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);                                   \
  }

OWN_PASS(DemoteWide, DEMOTE_WIDE, false);
OWN_PASS(UnrollInnermost, UNROLL_INNERMOST, true);
OWN_PASS(LimitUnrolling, LIMIT_UNROLLING, true);
OWN_PASS(FlattenGuards, FLATTEN_GUARDS, false);
OWN_PASS(TrueBackEdges, TRUE_BACK_EDGES, true);
OWN_PASS(PreserveIncrements, PRESERVE_INCREMENTS, false);
OWN_PASS(SingleEntryCycles, SINGLE_ENTRY_CYCLES, false);

#undef OWN_PASS
