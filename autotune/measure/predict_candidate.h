// A candidate for a GPU that is not here: compiled for that GPU, so that its time can be predicted,
// and for the host in its place, so that its answers can be checked.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/compute.h"
#include "ir/target.h"
#include "kernel/compiled_kernel.h"
#include "kernel/loop_pipeline.h"
#include "support/error.h"

namespace tunec {

/// What is known of a candidate that the GPU never ran.
struct Prediction {
  double seconds = 0;  // of one run
  /// Fields of a trial's note: `code.registers=40 code.spilled=0 code.local=0`, the most of any
  /// phase.
  std::string note;
  std::string warnings;  // of the assembler; empty: none
  /// Of a kernel of one phase and one wave, the extents of its loops over blocks, outermost first:
  /// its blocks are independent, and any of them may run alone. Empty for any other.
  std::vector<int64_t> blocks;
};

struct PredictedCandidate {
  /// For the emulation. Its launches have the registers, spills and local memory of the GPU's code,
  /// so that whoever finds it stored predicts the same.
  CompiledKernel kernel;
  Prediction prediction;
};

/// The loops are made once. Candidates that do not fit the GPU are refused before any code is
/// generated, and those whose time cannot be predicted before any is generated for the host.
/// `emulated` stands in for `gpu` (EmulatedTarget). Errors: of RunLoopPipeline, of both targets'
/// CodeGenerator, and kResourceLimit for a kernel of which not one block fits.
Result<PredictedCandidate> PredictCandidate(const Compute& compute, const Schedule& schedule,
                                            const Target& emulated, const Target& gpu,
                                            const LoopPipelineOptions& options);

}  // namespace tunec
