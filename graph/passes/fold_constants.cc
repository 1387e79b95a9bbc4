#include "graph/passes/fold_constants.h"

#include <algorithm>
#include <map>
#include <optional>

#include "graph/derived_constant.h"
#include "graph/reference.h"

namespace tunec {
namespace {

int64_t BytesOf(const ValueType& type) {
  const int64_t count = ElementCount(type.Shape());
  return count < 0 ? INT64_MAX : count * static_cast<int64_t>(SizeOf(type.type));
}

// The maximum size in bytes of a node's temporary results, which only other folded nodes read.
constexpr int64_t kMostTemporaryBytes = int64_t{1} << 26;

// The maximum size of all constants of FoldResult::kWeight together, in bytes.
constexpr int64_t kMostWeightBytes = int64_t{4} << 30;

// Returns the size of the node's results in bytes. Returns nothing if the node is never folded, for
// example if its results have dynamic shapes, are graph outputs, or exceed 1 TiB.
std::optional<int64_t> BytesMade(const Graph& graph, const Node& node) {
  const OpKind kind = KindOf(node.op);
  if (kind == OpKind::kControl || kind == OpKind::kMemory || node.op == Op::kInput ||
      node.op == Op::kConstant || node.outputs.empty())
    return {};
  int64_t made = 0;
  for (const ValueId output : node.outputs) {
    const ValueType& type = graph.value(output).type;
    if (graph.IsOutput(output) || !type.IsFixed()) return {};
    made += BytesOf(type);
    if (made > (int64_t{1} << 40)) return {};
  }
  return made;
}

// The planned result of folding a node.
enum class FoldResult : uint8_t {
  kNone,       // the node stays
  kTemporary,  // too large for the graph; computed only as an operand of other folded nodes, then
               // dropped
  kConstant,
  kWeight,  // a constant limited by kMostWeightBytes alone, because products read all of it
};

// The number of bytes by which the graph's constants, except FoldResult::kWeight, may still grow.
class GrowthBudget {
 public:
  GrowthBudget(const Graph& graph, const PassOptions& options)
      : graph_(graph), users_(graph.Users()) {
    int64_t constants = 0;
    for (const Node& node : graph.nodes()) constants += static_cast<int64_t>(node.constant.bytes());
    left_ = options.fold_growth_bytes +
            static_cast<int64_t>(options.fold_growth_factor * static_cast<double>(constants));
  }

  bool Take(const Node& node, const std::vector<FoldResult>& foldings) {
    int64_t growth = 0;
    for (const ValueId output : node.outputs) growth += BytesOf(graph_.value(output).type);
    for (const ValueId input : node.inputs) {
      if (!input.valid() || users_[input].size() != 1) continue;
      if (foldings[graph_.value(input).producer.index] == FoldResult::kTemporary) continue;
      growth -= BytesOf(graph_.value(input).type);
    }
    if (growth > left_) return false;
    left_ -= growth;
    return true;
  }

 private:
  const Graph& graph_;
  ValueUsers users_;
  int64_t left_ = 0;
};

// The FoldResult of every node, chosen in topological order before any node is computed.
class FoldingPlan {
 public:
  FoldingPlan(const Graph& graph, const PassOptions& options)
      : graph_(graph), options_(options), users_(graph.Users()) {
    for (const Node& node : graph.nodes()) of_constants_.push_back(IsOfConstants(node));
    for (const Node& node : graph.nodes()) foldings_.push_back(FoldingOf(node));
  }

  const std::vector<FoldResult>& foldings() const { return foldings_; }

 private:
  bool IsConstant(ValueId value) const {
    return !value.valid() || graph_.ConstantOf(value) != nullptr;
  }

  // Returns whether the node depends only on constants and may become a constant. Ignores the
  // limits on the growth of the graph.
  bool IsOfConstants(const Node& node) const {
    return BytesMade(graph_, node) && std::ranges::all_of(node.inputs, [&](ValueId input) {
             return IsConstant(input) || of_constants_[graph_.value(input).producer.index];
           });
  }

  FoldResult FoldingOf(const Node& node) {
    const std::optional<int64_t> made = BytesMade(graph_, node);
    const auto of = [&](ValueId input) { return foldings_[graph_.value(input).producer.index]; };
    const bool known = std::ranges::all_of(node.inputs, [&](ValueId input) {
      return IsConstant(input) || of(input) != FoldResult::kNone;
    });
    if (!made || !known) return FoldResult::kNone;
    int64_t growth = *made;
    for (const ValueId input : node.inputs) {
      if (input.valid() && (IsConstant(input) || of(input) >= FoldResult::kConstant))
        growth -= BytesOf(graph_.value(input).type);
    }
    if (AreWeights(node) && *made <= weight_bytes_left_) {
      weight_bytes_left_ -= *made;
      return FoldResult::kWeight;
    }
    if (growth <= options_.fold_growth_bytes) return FoldResult::kConstant;
    return *made <= kMostTemporaryBytes && LeadsToConstants(node) ? FoldResult::kTemporary
                                                                  : FoldResult::kNone;
  }

  // Returns whether the results have readers, and only matrix products and convolutions read them,
  // not as the first operand. Such results are weights or biases.
  bool AreWeights(const Node& node) const {
    return std::ranges::all_of(node.outputs, [&](ValueId output) {
      const std::span<const NodeId> users = users_[output];
      return !users.empty() && std::ranges::all_of(users, [&](NodeId id) {
        const Node& user = graph_.node(id);
        return (user.op == Op::kMatmul || user.op == Op::kConv || user.op == Op::kConvTranspose) &&
               user.inputs[0] != output;
      });
    });
  }

  bool LeadsToConstants(const Node& node) const {
    return std::ranges::all_of(node.outputs, [&](ValueId output) {
      return std::ranges::all_of(users_[output],
                                 [&](NodeId user) { return of_constants_[user.index]; });
    });
  }

  const Graph& graph_;
  const PassOptions& options_;
  ValueUsers users_;
  std::vector<bool> of_constants_;
  std::vector<FoldResult> foldings_;
  int64_t weight_bytes_left_ = kMostWeightBytes;
};

// An evaluator of nodes whose operands are constants or temporary results. The evaluator stores the
// temporary results, indexed by the values of the old graph. To save memory, a temporary result is
// deleted after its last reader.
class Folder {
 public:
  explicit Folder(const Graph& graph) : graph_(graph), reads_left_(graph.values().size()) {
    for (const Node& node : graph.nodes())
      for (const ValueId input : node.inputs)
        if (input.valid()) ++reads_left_[input.index];
  }

  // Returns the node's results. Returns nothing if an operand is not a constant after all, or if
  // RunNode fails.
  std::optional<std::vector<Array>> Compute(const Node& node, const std::vector<ValueId>& inputs,
                                            const Graph& built) const {
    std::vector<Array> operands;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!node.inputs[i].valid()) {
        operands.emplace_back(DataType::kU8, std::vector<int64_t>{0});
      } else if (const auto found = temporaries_.find(node.inputs[i]);
                 found != temporaries_.end()) {
        operands.push_back(found->second);
      } else if (const Array* constant = built.ConstantOf(inputs[i])) {
        operands.push_back(*constant);
      } else {
        return {};
      }
    }
    std::vector<ValueType> types;
    for (const ValueId output : node.outputs) types.push_back(graph_.value(output).type);
    auto results = RunNode(node, operands, types);
    if (!results) return {};
    return *std::move(results);
  }

  void StoreTemporaries(const Node& node, std::vector<Array> results) {
    for (size_t i = 0; i < results.size(); ++i)
      temporaries_[node.outputs[i]] = std::move(results[i]);
  }

  /// Records that the node has read its operands, and deletes temporaries without further readers.
  void Leave(const Node& node) {
    for (const ValueId input : node.inputs)
      if (input.valid() && --reads_left_[input.index] == 0) temporaries_.erase(input);
  }

 private:
  const Graph& graph_;
  std::vector<int> reads_left_;  // indexed by value
  std::map<ValueId, Array> temporaries_;
};

}  // namespace

Result<Graph> FoldConstants(const Graph& graph, const PassOptions& options) {
  const FoldingPlan plan(graph, options);
  const std::vector<FoldResult>& foldings = plan.foldings();
  const auto is_retained = [](FoldResult folding) { return folding >= FoldResult::kConstant; };
  if (std::ranges::none_of(foldings, is_retained)) return graph;
  GrowthBudget budget(graph, options);
  Folder folder(graph);
  return Rebuild(graph,
                 [&](const Node& node, const std::vector<ValueId>& inputs,
                     GraphBuilder& builder) -> Result<std::vector<ValueId>> {
                   std::vector<ValueId> constants;
                   const FoldResult folding = foldings[&node - graph.nodes().data()];
                   std::optional<std::vector<Array>> results;
                   if (folding != FoldResult::kNone)
                     results = folder.Compute(node, inputs, builder.graph());
                   folder.Leave(node);
                   if (!results) return constants;
                   if (folding == FoldResult::kTemporary) {
                     folder.StoreTemporaries(node, *std::move(results));
                     return constants;
                   }
                   if (folding != FoldResult::kWeight && !budget.Take(node, foldings))
                     return constants;
                   for (size_t i = 0; i < results->size(); ++i)
                     constants.push_back(AddDerivedConstant(
                         builder, graph.value(node.outputs[i]).name, std::move((*results)[i])));
                   return constants;
                 });
}

}  // namespace tunec
