#include "schedule/apply.h"

#include <fmt/format.h>

#include <optional>
#include <set>
#include <string>
#include <utility>

#include "ir/nest/visit_loop_nest.h"
#include "ir/tile_intrinsic.h"
#include "ir/verify/verify_fragments.h"
#include "polyhedral/generate/generate.h"
#include "polyhedral/schedule_tree.h"
#include "schedule/steps/apply_compute_steps.h"
#include "schedule/steps/apply_loop_steps.h"

namespace tunec {
namespace {

// Checks that the contract allows a regrouping of the reduction's terms. A regrouping changes the
// rounding of float sums and products. It never changes a reduction of integers, a maximum or a
// minimum.
Status CheckRegrouping(const Compute& compute, const ReduceSplitStep& step, ReductionOrder order) {
  const std::optional<StatementId> id = compute.FindStatement(step.statement);
  if (order == ReductionOrder::kAny || !id || !compute.statements[*id].reducer) return {};
  const Statement& statement = compute.statements[*id];
  const DataType type = compute.tensors[statement.writes[0].tensor].type;
  const bool exact = !IsFloat(type) || statement.reducer == Reducer::Max(type) ||
                     statement.reducer == Reducer::Min(type);
  if (exact) return {};
  return Fail(ErrorCode::kIllegalSchedule,
              "reduce_split {}: a {} of {} must be accumulated as written", step.statement,
              statement.reducer->name, Name(type));
}

// Checks that the accuracy contract allows a step that rounds operands of a sum to this number of
// bfloat16 parts.
Status CheckContract(std::string_view step, int bf16_parts, const RoundingFreedom& rounding) {
  if (rounding.order == ReductionOrder::kAsWritten) {
    return Fail(ErrorCode::kIllegalSchedule, "{}: its products must be computed as written", step);
  }
  if (bf16_parts >= rounding.min_bf16_parts) return {};
  return Fail(ErrorCode::kIllegalSchedule,
              "{}: {} bf16 terms of each operand, expected at least {} by the accuracy contract",
              step, bf16_parts, rounding.min_bf16_parts);
}

// Applies a step that the contract does not restrict; most steps are of this kind.
Result<Compute> ApplyUnder(const RoundingFreedom&, const Compute& compute, const auto& step) {
  return Apply(compute, step);
}
Result<Compute> ApplyUnder(const RoundingFreedom& rounding, const Compute& compute,
                           const IndexSplitStep& step) {
  return Apply(compute, step, rounding.order);
}
Result<Compute> ApplyUnder(const RoundingFreedom& rounding, const Compute& compute,
                           const PadStep& step) {
  return Apply(compute, step, rounding.order);
}
Result<Compute> ApplyUnder(const RoundingFreedom& rounding, const Compute& compute,
                           const ReduceSplitStep& step) {
  TUNEC_RETURN_IF_ERROR(CheckRegrouping(compute, step, rounding.order));
  return Apply(compute, step);
}
Result<Compute> ApplyUnder(const RoundingFreedom& rounding, const Compute& compute,
                           const PrecisionStep& step) {
  TUNEC_RETURN_IF_ERROR(
      CheckContract(fmt::format("precision {}", step.statement), step.bf16_parts, rounding));
  return Apply(compute, step);
}
Result<Compute> ApplyUnder(const RoundingFreedom& rounding, const Compute& compute,
                           const NarrowStep& step) {
  TUNEC_RETURN_IF_ERROR(CheckContract(fmt::format("narrow {}", step.tensor), 1, rounding));
  return Apply(compute, step);
}

ScheduledTree Unscheduled(const Compute& compute) {
  ScheduleTree tree = OriginalTree(compute);
  Dependences dependences = Dependences::Of(tree.tensors, tree.statements);
  return {std::move(tree), std::move(dependences)};
}

// Returns a separate Compute with the statement that packs, splits, widens or transforms a weight.
Compute PrepackCompute(const Compute& compute, const Statement& copy) {
  Compute prepack{.name = copy.name};
  prepack.tensors = {compute.tensors[copy.reads[0].tensor], compute.tensors[copy.writes[0].tensor]};
  prepack.tensors[TensorId(0)].role = TensorRole::kInput;
  prepack.tensors[TensorId(0)].constant = false;
  prepack.tensors[TensorId(0)].finite = false;
  prepack.tensors[TensorId(1)].role = TensorRole::kOutput;
  prepack.tensors[TensorId(1)].constant = false;
  prepack.tensors[TensorId(1)].finite = false;
  prepack.statements = {copy};
  for (Read& read : prepack.statements.front().reads) read.tensor = TensorId(0);
  for (Write& write : prepack.statements.front().writes) write.tensor = TensorId(1);
  return prepack;
}

// Removes from the Compute the statements that pack, split, widen or transform weights, and returns
// a tree for each statement. The results become weights of the Compute. A statement that processes
// the result of a removed one stays, because each separate nest starts from one weight.
std::vector<ScheduledTree> TakePrepacks(Compute& compute) {
  std::vector<ScheduledTree> prepacks;
  Statements remaining;
  std::set<TensorId> made;
  for (Statement& statement : compute.statements) {
    const bool at_second_hand =
        IsMadeOfConstant(compute, statement) && made.contains(statement.reads[0].tensor);
    if (at_second_hand) compute.tensors[statement.writes[0].tensor].constant = false;
    if (!IsMadeOfConstant(compute, statement)) {
      remaining.push_back(std::move(statement));
      continue;
    }
    prepacks.push_back(Unscheduled(PrepackCompute(compute, statement)));
    made.insert(statement.writes[0].tensor);
    compute.tensors[statement.writes[0].tensor].role = TensorRole::kWeight;
  }
  compute.statements = std::move(remaining);
  compute = RemoveUnusedTensors(compute);
  return prepacks;
}

// A visitor that checks whether a step names a loop or a statement of the tree. Tensor names are
// ignored, because several trees can have the tensor. Names of new loops are ignored, because no
// tree has these loops yet.
class TreeNameFinder {
 public:
  explicit TreeNameFinder(const ScheduleTree& tree) : tree_(tree) {}

  template <class Value>
  void operator()(const StepArgument& argument, const Value& value) {
    if (argument.name == argument::kTensor.name || argument.name == argument::kNewLoop.name) return;
    Look(value);
  }
  bool found() const { return found_; }

 private:
  void Look(const std::string& name) {
    found_ |= tree_.FindLoop(name).has_value() || tree_.FindStatement(name).has_value();
  }
  void Look(const std::vector<std::string>& names) {
    for (const std::string& name : names) Look(name);
  }
  void Look(const auto&) {}  // a number or a word of the language

  const ScheduleTree& tree_;
  bool found_ = false;
};

// Returns the tree whose loops the step changes: the kernel's, unless the step names a prepack
// statement or one of its loops.
ScheduleTree& TreeOf(ScheduledTrees& trees, const auto& step) {
  for (ScheduledTree& prepack : trees.prepacks) {
    TreeNameFinder names(prepack.tree);
    step.Fields(step, names);
    if (names.found()) return prepack.tree;
  }
  return trees.kernel.tree;
}

}  // namespace

Result<Compute> ApplyComputeSteps(const Compute& compute, const Schedule& schedule,
                                  const RoundingFreedom& rounding) {
  Compute result = compute;
  for (const ComputeStep& step : schedule.compute_steps) {
    TUNEC_ASSIGN(
        result,
        std::visit([&](const auto& of_kind) { return ApplyUnder(rounding, result, of_kind); },
                   step));
  }
  return result;
}

Result<ScheduledTrees> ApplyLoopSteps(Compute compute, const Schedule& schedule) {
  std::vector<ScheduledTree> prepacks = TakePrepacks(compute);
  ScheduledTrees trees{Unscheduled(compute), std::move(prepacks)};
  for (const LoopStep& step : schedule.loop_steps) {
    TUNEC_RETURN_IF_ERROR(std::visit(
        [&](const auto& of_kind) { return Apply(TreeOf(trees, of_kind), of_kind); }, step));
  }
  return trees;
}

Result<ScheduledTrees> DraftSchedule(const Compute& compute, const Schedule& schedule,
                                     const RoundingFreedom& rounding) {
  TUNEC_ASSIGN(Compute rewritten, ApplyComputeSteps(compute, schedule, rounding));
  return ApplyLoopSteps(std::move(rewritten), schedule);
}

Status CheckLegality(const ScheduledTree& scheduled, const RoundingFreedom& rounding) {
  return CheckLegality(scheduled.dependences, scheduled.tree, rounding.order);
}

Status CheckTiles(const ScheduleTree& tree, const LoopNest& nest, const RoundingFreedom& rounding) {
  for (const TreeLoop& loop : tree.loops) {
    if (!loop.tile) continue;
    const std::string& name = loop.tile->intrinsic;
    if (rounding.order == ReductionOrder::kAsWritten &&
        IsFloat(FindTileIntrinsic(name)->accumulator.type)) {
      return Fail(ErrorCode::kIllegalSchedule,
                  "tensorize {} {}: sums must be accumulated as written", loop.name, name);
    }
    if (FindTileIntrinsic(name)->rounds_operands && !rounding.tf32_operands) {
      return Fail(
          ErrorCode::kIllegalSchedule,
          "tensorize {} {}: the accuracy contract requires more bits of operands than TF32 has",
          loop.name, name);
    }
    bool found = false;
    for (const Phase& phase : nest.phases) {
      VisitNodes(phase.body, [&](const NestNode& node) {
        const auto* tile = std::get_if<Tile>(&node.value);
        found |= tile != nullptr && tile->intrinsic == name;
      });
    }
    if (!found) {
      return Fail(ErrorCode::kInvalidArgument,
                  "tensorize {} {}: no tile is known to be whole; isolate the loops around it",
                  loop.name, name);
    }
  }
  return {};
}

namespace {

// Generates loops and runs VerifyFragments, which fails if the schedule is impossible for the tiles
// of a warp.
Result<LoopNest> GenerateWithFragments(const ScheduleTree& tree, const RoundingFreedom& rounding) {
  TUNEC_ASSIGN(LoopNest nest, GenerateLoops(tree, rounding.contraction()));
  TUNEC_RETURN_IF_ERROR(VerifyFragments(nest));
  return nest;
}

constexpr TreeStage kTreeStages[] = {
    {.name = "check_legality",
     .summary = "the proof that every dependence holds",
     .check = [](const ScheduledTree& scheduled, const std::optional<LoopNest>&,
                 const RoundingFreedom& rounding) { return CheckLegality(scheduled, rounding); }},
    {.name = "generate_loops",
     .summary = "bounds, conditions, storage and stores",
     .generate = GenerateWithFragments},
    {.name = "check_tiles",
     .summary = "the proof that each tile of an instruction is used and allowed",
     .check =
         [](const ScheduledTree& scheduled, const std::optional<LoopNest>& nest,
            const RoundingFreedom& rounding) {
           return CheckTiles(scheduled.tree, *nest, rounding);
         }},
};

Status CheckAll(const ScheduledTree& scheduled, const RoundingFreedom& rounding) {
  std::optional<LoopNest> nest;
  for (const TreeStage& stage : kTreeStages) {
    if (stage.check != nullptr) {
      TUNEC_RETURN_IF_ERROR(stage.check(scheduled, nest, rounding));
    } else {
      TUNEC_ASSIGN(nest, stage.generate(scheduled.tree, rounding));
    }
  }
  return {};
}

}  // namespace

std::span<const TreeStage> TreeStages() { return kTreeStages; }

Status CheckApplies(const Compute& compute, const Schedule& schedule,
                    const RoundingFreedom& rounding) {
  TUNEC_ASSIGN(const ScheduledTrees trees, DraftSchedule(compute, schedule, rounding));
  for (const ScheduledTree& prepack : trees.prepacks) {
    TUNEC_RETURN_IF_ERROR(CheckAll(prepack, rounding));
  }
  return CheckAll(trees.kernel, rounding);
}

Result<LoopNest> OriginalLoops(const Compute& compute, const RoundingFreedom& rounding) {
  return GenerateLoops(OriginalTree(compute), rounding.contraction());
}

}  // namespace tunec
