#include "graph/passes/pipeline.h"

#include <algorithm>
#include <chrono>

#include "graph/count_graph.h"
#include "graph/open_dimensions.h"
#include "graph/passes/apply_user_rules.h"
#include "graph/passes/canonicalize.h"
#include "graph/passes/choose_layouts.h"
#include "graph/passes/eliminate_dead_nodes.h"
#include "graph/passes/fold_batch_norm.h"
#include "graph/passes/fold_constants.h"
#include "graph/passes/fold_linear.h"
#include "graph/passes/merge_common_nodes.h"
#include "graph/passes/merge_sibling_products.h"
#include "graph/passes/recognize_attention.h"
#include "graph/passes/recognize_patterns.h"
#include "graph/passes/same_structure.h"
#include "support/trace.h"

namespace tunec {
namespace {

constexpr NamedPass kPasses[] = {
    {"eliminate_dead_nodes", "drops nodes that no output depends on", EliminateDeadNodes},
    {"fold_constants", "computes nodes whose inputs are all constants", FoldConstants},
    {"merge_common_nodes", "merges equal computations", MergeCommonNodes},
    {"apply_rules", "applies the rules of --rules", ApplyUserRules},
    {"canonicalize", "brings equal computations to one form", Canonicalize},
    {"recognize_patterns", "finds operators written as primitives", RecognizePatterns},
    {"recognize_attention", "replaces products around a softmax by attention", RecognizeAttention},
    {"fold_batch_norm", "folds batch normalisations into convolutions", FoldBatchNorm},
    {"fold_linear", "folds constants around matrix products into their weights", FoldLinear},
    {"merge_sibling_products", "merges matrix products of one operand", MergeSiblingProducts},
    {"choose_layouts", "stores images in the order that costs convolutions least", ChooseLayouts},
};

const NamedPass* FindPass(std::string_view name) {
  const auto* at = std::ranges::find(kPasses, name, &NamedPass::name);
  return at == std::end(kPasses) ? nullptr : at;
}

Error InPass(Error error, std::string_view pass) {
  error.message = fmt::format("pass {}: {}", pass, error.message);
  return error;
}

}  // namespace

std::span<const NamedPass> AllPasses() { return kPasses; }

std::vector<std::string> DefaultPipeline() {
  return {
      "eliminate_dead_nodes",
      "fold_constants",
      "merge_common_nodes",
      // User rules run twice: here before operators are recognised, and again below.
      "apply_rules",
      "canonicalize",
      "recognize_patterns",
      "recognize_attention",
      "fold_batch_norm",
      "fold_linear",
      // The passes above leave nodes that can be folded, for example reshapes of parameters.
      "fold_constants",
      "apply_rules",
      "canonicalize",
      "merge_common_nodes",
      "eliminate_dead_nodes",
      "merge_sibling_products",
      "eliminate_dead_nodes",
      // The operators are final here. choose_layouts changes only the layouts of values.
      "choose_layouts",
  };
}

Result<PipelineResult> RunPipeline(const Graph& graph, const PipelineOptions& options) {
  for (const auto& name : options.disabled)
    if (FindPass(name) == nullptr)
      return Fail(ErrorCode::kInvalidArgument, "unknown pass '{}'", name);
  TUNEC_RETURN_IF_ERROR(RequireFixedAttributes(graph));
  PipelineResult result{.graph = graph, .records = {}};
  for (const std::string& name : options.names) {
    const NamedPass* pass = FindPass(name);
    if (pass == nullptr) return Fail(ErrorCode::kInvalidArgument, "unknown pass '{}'", name);
    if (options.disabled.contains(name)) continue;
    const TraceScope scope("graph passes", name);
    const auto start = std::chrono::steady_clock::now();
    Result<Graph> next = pass->run(result.graph, options.pass);
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    if (!next) return std::unexpected(InPass(std::move(next).error(), name));
    if (Status status = next->IsSameObject(result.graph) ? Status() : Verify(*next); !status) {
      Error error = InPass(std::move(status).error(), name);
      error.code = ErrorCode::kInternal;
      return std::unexpected(std::move(error));
    }
    PassRecord record{.name = name,
                      .nodes_before = CountNodes(result.graph),
                      .nodes_after = CountNodes(*next),
                      .milliseconds = time.count(),
                      .changed = !HaveSameStructure(result.graph, *next)};
    if (record.changed && options.on_change) options.on_change(record, result.graph, *next);
    result.records.push_back(std::move(record));
    result.graph = *std::move(next);
  }
  return result;
}

}  // namespace tunec
