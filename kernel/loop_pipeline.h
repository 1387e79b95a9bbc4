// The stages that convert statements and a schedule to the loops from which code is generated. A
// stage contains only a rewrite or a check. The pipeline times the stages, verifies results and
// passes them to a callback. graph/passes/pipeline.h is the counterpart for graphs.
#pragma once

#include <functional>
#include <optional>
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
  std::string_view target;   // the kind of target that the stage is for; empty: every kind
};

/// Returns every stage in order, from the schedule's first step to the code. The stages of each
/// kind of target (CodeGenerator::Stages) come before `emit`, one kind after the other.
std::vector<LoopStage> LoopStages();
/// Returns the stages of kernels for this kind of target (Target::Kind).
std::vector<LoopStage> LoopStages(std::string_view kind);

/// A pointer to a stage's result, or to the object that a stage checked. The pointer is valid only
/// during the call that passes the pointer. Print returns the text of the object.
using StageProduct = std::variant<const Compute*, const ScheduleTree*, const LoopNest*>;
std::string Print(const StageProduct& product);
using MutableStageProduct = std::variant<Compute*, ScheduleTree*, LoopNest*>;

struct StageRecord {
  std::string_view stage;
  std::string_view name;  // name of the kernel, or of the prepack of a weight
  double milliseconds = 0;
};

/// The points of the pipeline at which the verifiers of ir/ and polyhedral/ check results.
enum class VerifyStages : uint8_t {
  kLast,  // only before and after the stages of the target, which code generation follows
  kEach,  // after every stage, for debug builds and tests
};

/// Policy for schedules that are not legal.
enum class Legality : uint8_t {
  kReject,  // the result is the error
  kReport,  // the loops are generated anyway: for showing them, and for tests of the proof
};

struct LoopPipelineOptions {
  RoundingFreedom rounding = ReductionOrder::kAny;  // freedom that the accuracy contract allows
#ifdef TUNEC_VERIFY_EACH_STAGE                      // set in debug builds
  VerifyStages verify = VerifyStages::kEach;
#else
  VerifyStages verify = VerifyStages::kLast;
#endif
  Legality legality = Legality::kReject;
  /// A function that is called after each successful stage, for each result. May be empty.
  std::function<void(const StageRecord&, const StageProduct&)> on_stage = {};
  /// A function for tests that corrupts a stage's result before the result is verified. For stage
  /// `emit`, the function receives the loops after their last verification. The function may be
  /// empty.
  std::function<void(const StageRecord&, const MutableStageProduct&)> plant = {};
};

/// The loops of a kernel. Arguments are matched by name. The kernel's arguments are those of the
/// Compute, but the outputs of prepack nests replace weights that are packed (`w.pack`), split
/// (`w.bf16`), widened or transformed. A prepack nest has two arguments: a weight and the output.
struct KernelLoops {
  LoopNest nest;
  std::vector<LoopNest> prepack;   // run once, when the constants are known
  std::optional<Error> rejection;  // Legality::kReport: the reason why these loops must not run
};

/// Runs the stages before those of the target. Fails with kInvalidArgument if a step does not fit
/// the Compute. Fails with kIllegalSchedule if the accuracy contract forbids a step or, under
/// Legality::kReject, if a dependence is violated. Fails with kResourceLimit if isl's quota is used
/// up, and with kInternal if the result of a stage breaks an invariant.
Result<KernelLoops> RunLoopPipeline(const Compute& compute, const Schedule& schedule,
                                    const LoopPipelineOptions& options);

}  // namespace tunec
