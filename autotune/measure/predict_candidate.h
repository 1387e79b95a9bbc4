// Compilation of a candidate for an emulated GPU. The candidate is compiled for the real GPU to
// predict the time, and for the emulation on the host to check the outputs.
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

/// The known properties of a candidate that did not run on the GPU.
struct Prediction {
  double seconds = 0;  // predicted seconds of one run
  /// Fields of a trial's note: `code.registers=40 code.spilled=0 code.local=0`, the maximum over
  /// the phases.
  std::string note;
  std::string warnings;  // warnings of the assembler, or empty
  /// Extents of the loops over blocks, outermost first, for a kernel of one wave and one phase that
  /// is a single loop nest. Each block of such a kernel may run alone. Empty for other kernels.
  std::vector<int64_t> blocks;
};

struct PredictedCandidate {
  /// Kernel for the emulation. Its launches store the registers, spills and local memory of the
  /// GPU's code, so that a prediction from the stored kernel gives the same time.
  CompiledKernel kernel;
  Prediction prediction;
};

/// Compiles a candidate for both targets from the same loops. Candidates that do not fit the GPU
/// are rejected before any code is generated. Candidates whose time cannot be predicted are
/// rejected before code for the emulation is generated. `emulated` emulates `gpu` (EmulatedTarget).
/// Errors: of RunLoopPipeline, of both targets' CodeGenerator, and kResourceLimit for a kernel that
/// does not fit even with one block.
Result<PredictedCandidate> PredictCandidate(const Compute& compute, const Schedule& schedule,
                                            const Target& emulated, const Target& gpu,
                                            const LoopPipelineOptions& options);

}  // namespace tunec
