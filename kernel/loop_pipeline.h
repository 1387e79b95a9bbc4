// From statements and a schedule to the loops that code is generated from: the stages in order.
// Only the pipeline verifies, times and shows what a stage made; the stages themselves do nothing
// but their rewrite. The twin of graph/passes/pipeline.h.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ir/compute.h"
#include "ir/loop_nest.h"
#include "polyhedral/schedule_tree.h"
#include "schedule/apply.h"
#include "schedule/steps/step.h"
#include "support/error.h"

namespace tunec {

struct LoopStage {
  std::string_view name;
  std::string_view summary;  // one line, for --help
};

/// Every stage, in order, from the schedule's first step to the code.
std::span<const LoopStage> LoopStages();

/// What a stage made. Valid during the call that hands it over.
using StageProduct = std::variant<const Compute*, const ScheduleTree*, const LoopNest*>;
std::string Print(const StageProduct& product);
using MutableStageProduct = std::variant<Compute*, ScheduleTree*, LoopNest*>;

struct StageRecord {
  std::string_view stage;
  std::string_view name;  // of the kernel, or of what packs one of its weights
  double milliseconds = 0;
};

/// After which stages the verifiers of ir/ and polyhedral/ run.
enum class VerifyStages : uint8_t {
  kLast,  // before code is generated
  kEach,  // of debug builds and tests
};

/// What becomes of a schedule that is not legal.
enum class Legality : uint8_t {
  kRefuse,  // its error is the result
  kReport,  // its loops are made all the same: for showing them, and for tests of the proof
};

struct LoopPipelineOptions {
  RoundingFreedom rounding = ReductionOrder::kAny;  // that the accuracy contract leaves
#ifdef TUNEC_VERIFY_EACH_STAGE                      // of debug builds
  VerifyStages verify = VerifyStages::kEach;
#else
  VerifyStages verify = VerifyStages::kLast;
#endif
  Legality legality = Legality::kRefuse;
  /// Called after each stage. May be empty.
  std::function<void(const StageRecord&, const StageProduct&)> on_stage = {};
  /// Tests only: breaks what a stage made, before it is verified. What stage `emit` is given, no
  /// verifier sees any more: only a check of the results can catch it. May be empty.
  std::function<void(const StageRecord&, const MutableStageProduct&)> plant = {};
};

/// The loops of a kernel. Its arguments are found by name: those of the Compute, and for each
/// weight that is packed (`w.pack`) or split (`w.bf16`) the output of the prepack nest of that
/// name, whose only other argument is the weight.
struct KernelLoops {
  LoopNest nest;
  std::vector<LoopNest> prepack;  // run once, when the constants are known
  std::optional<Error> refusal;   // of Legality::kReport: why these loops must not run
};

/// Runs the stages. Errors: kInvalidArgument when a step does not fit the Compute,
/// kIllegalSchedule naming the violated dependence or what the accuracy contract forbids,
/// kResourceLimit when isl gives up; kInternal when a stage breaks what it was given.
Result<KernelLoops> RunLoopPipeline(const Compute& compute, const Schedule& schedule,
                                    const LoopPipelineOptions& options);

}  // namespace tunec
