#include "compiler/front_end.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "compiler/weights/finite_weights.h"
#include "graph/fuse/plan_fusion.h"
#include "graph/fuse/store_as_bf16.h"
#include "graph/lower/lower.h"
#include "graph/open_dimensions.h"
#include "graph/passes/canonicalize.h"
#include "graph/passes/pipeline.h"
#include "schedule/sketches/dot_plan.h"
#include "support/trace.h"

namespace tunec {

std::string KindOfGroup(const Graph& graph, const FusionGroup& group) {
  std::string kind = "movement";
  int rank = 0;  // rank of the operator found so far: the heaviest operator names the group
  for (const NodeId id : group.nodes) {
    const Op op = graph.node(id).op;
    const OpPattern pattern = PatternOf(op);
    if (pattern == OpPattern::kContraction && rank < 3) {
      kind = Name(op);
      rank = 3;
    } else if ((pattern == OpPattern::kReduction || pattern == OpPattern::kComposite) && rank < 2) {
      kind = Name(op);
      rank = 2;
    } else if (pattern == OpPattern::kElementwise && rank < 1) {
      kind = "elementwise";
      rank = 1;
    }
  }
  return kind;
}

Result<size_t> FindGroup(const FrontReport& front, const std::string& name_or_number) {
  size_t number = 0;
  const char* const end = name_or_number.data() + name_or_number.size();
  const auto parsed = std::from_chars(name_or_number.data(), end, number);
  const bool is_number = parsed.ec == std::errc() && parsed.ptr == end;
  if (is_number && number < front.groups.size()) return number;
  for (size_t g = 0; g < front.groups.size(); ++g) {
    for (const NodeId node : front.groups[g].group.nodes) {
      if (front.graph.node(node).name == name_or_number) return g;
    }
  }
  return Fail(ErrorCode::kInvalidArgument,
              "no group '{}', expected a number below {} or a node's name", name_or_number,
              front.groups.size());
}

std::string NameOfGroup(const Graph& graph, const FusionGroup& group) {
  std::string name;
  for (const NodeId id : group.nodes) {
    if (!name.empty()) name += " ";
    name += graph.node(id).name;
  }
  return name;
}

std::string DescribeGroup(const Graph& graph, const FusionGroup& group) {
  std::string operators;
  for (const NodeId id : group.nodes) {
    if (!operators.empty()) operators += "+";
    operators += Name(graph.node(id).op);
  }
  std::string shapes;
  for (const ValueId input : group.inputs) {
    const std::vector<int64_t> shape = graph.value(input).type.Shape();
    if (!shapes.empty()) shapes += " ";
    shapes += fmt::format("{}", fmt::join(shape, "x"));
  }
  const std::vector<int64_t> shape = graph.value(group.outputs[0]).type.Shape();
  return fmt::format("{} {} -> {}", operators, shapes, fmt::join(shape, "x"));
}

std::vector<std::string> ArgumentNames(const Compute& compute) {
  std::vector<std::string> names;
  for (const Tensor& tensor : compute.tensors) {
    if (tensor.role == TensorRole::kInput || tensor.role == TensorRole::kWeight) {
      names.push_back(tensor.name);
    }
  }
  for (const Tensor& tensor : compute.tensors) {
    if (tensor.role == TensorRole::kOutput) names.push_back(tensor.name);
  }
  return names;
}

namespace {

// Lowers all groups. One kUnsupported error has the messages of all groups without a lowering.
Result<std::vector<GroupReport>> LowerAll(const Graph& graph, const FusionPlan& plan,
                                          Transforms transforms) {
  const TraceScope scope("lower");
  std::vector<GroupReport> reports;
  std::vector<std::string> problems;
  for (const FusionGroup& group : plan.groups) {
    Result<std::vector<Lowering>> lowerings = Lower(graph, group, plan.machine, transforms);
    if (!lowerings) {
      if (lowerings.error().code != ErrorCode::kUnsupported) {
        return std::unexpected(std::move(lowerings).error());
      }
      problems.push_back(lowerings.error().message);
      continue;
    }
    GroupReport report{.group = group};
    for (Lowering& lowering : *lowerings) {
      report.lowerings.push_back({std::move(lowering.name), std::move(lowering.compute)});
    }
    reports.push_back(std::move(report));
  }
  if (!problems.empty()) return Fail(ErrorCode::kUnsupported, "{}", fmt::join(problems, "; "));
  return reports;
}

// Returns the limit for the errors of lowerings. It is kAll if the accuracy mode allows greater
// errors than reordered additions have.
Transforms TransformsFor(const Accuracy& accuracy) {
  return RoundingFreedomFor(accuracy).allowed_error > 0 ? Transforms::kAll : Transforms::kAccurate;
}

// If the passes leave at most one operator, logs why a rule that matches does not rewrite it.
Status TellWhatStays(const Graph& graph, const CompileOptions& options) {
  const auto computes = [](const Node& node) { return !IsLeaf(node.op); };
  if (!options.on_log || std::ranges::count_if(graph.nodes(), computes) > 1) return {};
  PassOptions pass = PassesOf(options).pass;
  pass.on_unchanged = [&](const Node& node, const std::string& reason) {
    options.on_log(fmt::format("{} stays as it is: {}", node.name, reason));
  };
  const Result<Graph> same = Canonicalize(graph, pass);
  if (!same) return std::unexpected(same.error());
  return {};
}

}  // namespace

PipelineOptions PassesOf(const CompileOptions& options) {
  PipelineOptions pipeline;
  pipeline.pass.machine = FusionMachineOf(options.target);
  pipeline.pass.rules = options.float_rules;
  pipeline.pass.user_rules = options.user_rules;
  pipeline.disabled.insert(options.disabled_passes.begin(), options.disabled_passes.end());
  return pipeline;
}

Result<FrontReport> RunFrontEnd(const Graph& graph, const CompileOptions& options) {
  // Costs and loops need fixed sizes.
  TUNEC_RETURN_IF_ERROR(RequireFixedSizes(graph));
  TUNEC_ASSIGN(CheckedGraph checked, AddIndexChecks(graph));
  TUNEC_ASSIGN(PipelineResult simplified, RunPipeline(checked.graph, PassesOf(options)));
  TUNEC_RETURN_IF_ERROR(TellWhatStays(simplified.graph, options));
  TUNEC_ASSIGN(FrontReport report, FuseAndLower(simplified.graph, options));
  TUNEC_RETURN_IF_ERROR(CheckConstantIndices(report.graph));
  report.outputs = checked.outputs;
  report.unproven = std::move(checked.unproven);
  report.passes = std::move(simplified.records);
  return report;
}

Result<FrontReport> FuseAndLower(const Graph& graph, const CompileOptions& options) {
  TUNEC_RETURN_IF_ERROR(RequireFixedSizes(graph));
  FrontReport report;
  report.graph = graph;
  report.outputs = graph.outputs().size();
  TUNEC_ASSIGN(report.fusion,
               PlanFusion(report.graph, options.fusion, FusionMachineOf(options.target)));
  if (CanRoundToBf16(RoundingFreedomFor(options.accuracy), options.target))
    StoreAsBf16(report.graph, report.fusion);
  TUNEC_ASSIGN(report.groups,
               LowerAll(report.graph, report.fusion, TransformsFor(options.accuracy)));
  MarkFiniteWeights(report.graph, options, report.groups);
  return report;
}

}  // namespace tunec
