#include "autotune/measure/predict_candidate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "ir/nest/loop_range.h"
#include "kernel/compile_kernel.h"
#include "kernel/predict/predict_time.h"
#include "support/check.h"

namespace tunec {
namespace {

// Returns the extents of a phase's block loops. Returns an empty list unless the loops are a chain
// that contains the whole phase.
std::vector<int64_t> ExtentsOf(const Phase& phase) {
  std::vector<int64_t> extents;
  if (phase.body.size() != 1) return extents;
  const NestNode* node = &phase.body.front();
  while (const auto* loop = std::get_if<Loop>(&node->value)) {
    if (!NumbersTasks(loop->kind)) break;
    const Interval range = RangeOf(*loop);
    extents.push_back(std::max<int64_t>(range.hi - range.lo + 1, 0));
    if (loop->body.size() != 1) break;
    node = &loop->body.front();
  }
  return extents;
}

std::vector<int64_t> IndependentBlocks(const LoopNest& nest) {
  if (nest.phases.size() != 1 || CountWaves(nest.phases.front()) != 1) return {};
  return ExtentsOf(nest.phases.front());
}

// Copies the number of registers and the bytes of spills and local memory from the GPU's phases to
// the emulated ones. Requires: both images have the same phases, in order.
void TakeUses(const KernelImage& gpu, KernelImage& emulated) {
  TUNEC_CHECK(gpu.phases.size() == emulated.phases.size(), "{} phases, emulated {}",
              gpu.phases.size(), emulated.phases.size());
  for (size_t p = 0; p < gpu.phases.size(); ++p) {
    emulated.phases[p].registers = gpu.phases[p].registers;
    emulated.phases[p].spilled_bytes = gpu.phases[p].spilled_bytes;
    emulated.phases[p].local_bytes = gpu.phases[p].local_bytes;
  }
}

std::string NoteOf(const KernelImage& image) {
  PhaseLaunch most;
  for (const PhaseLaunch& launch : image.phases) {
    most.registers = std::max(most.registers, launch.registers);
    most.spilled_bytes = std::max(most.spilled_bytes, launch.spilled_bytes);
    most.local_bytes = std::max(most.local_bytes, launch.local_bytes);
  }
  return fmt::format("code.registers={} code.spilled={} code.local={}", most.registers,
                     most.spilled_bytes, most.local_bytes);
}

}  // namespace

Result<PredictedCandidate> PredictCandidate(const Compute& compute, const Schedule& schedule,
                                            const Target& emulated, const Target& gpu,
                                            const LoopPipelineOptions& options) {
  TUNEC_ASSIGN(const KernelLoops loops, RunLoopPipeline(compute, schedule, options));
  TUNEC_RETURN_IF_ERROR(CheckFits(loops, gpu));
  TUNEC_ASSIGN(const CompiledKernel code, CompileLoops(loops, {.target = gpu, .loops = options}));
  TUNEC_ASSIGN(const std::vector<PredictedPhase> phases,
               PredictPhases(code.work, code.image, *gpu.device));
  PredictedCandidate candidate{
      .prediction = {.note = NoteOf(code.image),
                     .warnings = fmt::format("{}", fmt::join(code.image.warnings, "; ")),
                     .blocks = IndependentBlocks(loops.nest)}};
  TUNEC_ASSIGN(candidate.prediction.seconds, PredictSeconds(phases));
  TUNEC_ASSIGN(candidate.kernel, CompileLoops(loops, {.target = emulated, .loops = options}));
  TakeUses(code.image, candidate.kernel.image);
  return candidate;
}

}  // namespace tunec
