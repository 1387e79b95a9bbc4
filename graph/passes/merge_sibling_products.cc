#include "graph/passes/merge_sibling_products.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <tuple>

#include "graph/derived_constant.h"

namespace tunec {
namespace {

// A product with a constant matrix, and the constants by which the product's columns are then
// shifted and scaled. Each constant may be null. `result` is the value after shift and scale.
struct Branch {
  NodeId product;
  ValueId result;
  int64_t columns = 0;
  const Array* shift = nullptr;
  const Array* scale = nullptr;
};

// The key of a branch. It has the first operand, the transpositions of both operands, the type and
// the inner extent. Branches with equal keys can become one product.
using SiblingKey = std::tuple<ValueId, int64_t, int64_t, DataType, int64_t>;

bool IsElementwise(const Node& node) { return PatternOf(node.op) == OpPattern::kElementwise; }
bool OnlyRenames(const Node& node) { return node.op == Op::kReshape || node.op == Op::kTranspose; }

class SiblingFinder {
 public:
  explicit SiblingFinder(const Graph& graph) : graph_(graph), users_(graph.Users()) {}

  std::vector<std::vector<Branch>> Find() const {
    std::map<SiblingKey, std::vector<Branch>> found;
    for (const Node& node : graph_.nodes()) {
      if (node.op != Op::kMatmul) continue;
      const Array* weight = graph_.ConstantOf(node.inputs[1]);
      const ValueType& operand = graph_.value(node.inputs[0]).type;
      if (weight == nullptr || weight->shape().size() != 2 || operand.dims.size() < 2 ||
          !IsFloat(weight->type()) || graph_.ConstantOf(node.inputs[0]) != nullptr) {
        continue;
      }
      const Branch branch = BranchOf(node, *weight);
      if (!MayBeSlice(branch.result)) continue;
      const int64_t inner = weight->shape()[node.Int("transpose_b") != 0 ? 1 : 0];
      found[{node.inputs[0], node.Int("transpose_a"), node.Int("transpose_b"), weight->type(),
             inner}]
          .push_back(branch);
    }
    std::vector<std::vector<Branch>> siblings;
    for (auto& [key, branches] : found)
      if (branches.size() > 1) siblings.push_back(std::move(branches));
    return siblings;
  }

 private:
  // Returns the constant operand of the value's only user, and sets `result` to the user's result.
  // The user must apply `op` with one number, or with one number per column. Returns null if there
  // is no such user, or if the value is a graph output.
  const Array* ColumnOperand(ValueId value, Op op, ValueId& result) const {
    if (graph_.IsOutput(value) || users_[value].size() != 1) return nullptr;
    const Node& user = graph_.node(users_[value][0]);
    if (user.op != op || graph_.value(user.outputs[0]).type != graph_.value(value).type)
      return nullptr;
    const Array* constant = graph_.ConstantOf(user.inputs[user.inputs[0] == value ? 1 : 0]);
    if (constant == nullptr) return nullptr;
    const std::vector<int64_t> shape = graph_.value(value).type.Shape();
    for (size_t d = 0; d + 1 < constant->shape().size(); ++d)
      if (constant->shape()[d] != 1) return nullptr;
    if (constant->size() != 1 && constant->size() != shape.back()) return nullptr;
    result = user.outputs[0];
    return constant;
  }

  Branch BranchOf(const Node& node, const Array& weight) const {
    Branch branch{.product = graph_.value(node.outputs[0]).producer,
                  .result = node.outputs[0],
                  .columns = weight.shape()[node.Int("transpose_b") != 0 ? 0 : 1]};
    branch.shift = ColumnOperand(branch.result, Op::kAdd, branch.result);
    branch.scale = ColumnOperand(branch.result, Op::kMul, branch.result);
    return branch;
  }

  // Returns whether the result may become a slice. The result, its reshapes and its transposes must
  // have fixed shapes and not be graph outputs. Other readers must not be elementwise, because an
  // elementwise reader can be computed together with the product.
  bool MayBeSlice(ValueId result) const {
    if (graph_.IsOutput(result) || !graph_.value(result).type.IsFixed()) return false;
    return std::ranges::all_of(users_[result], [&](NodeId id) {
      const Node& user = graph_.node(id);
      if (OnlyRenames(user)) return MayBeSlice(user.outputs[0]);
      return !IsElementwise(user) && user.inputs[0].valid();
    });
  }

  const Graph& graph_;
  const ValueUsers users_;
};

// Returns the weights of the branches, joined along the axis of the products' columns.
Array JoinedWeights(const Graph& graph, const std::vector<Branch>& branches) {
  const Node& first = graph.node(branches[0].product);
  const bool transposed = first.Int("transpose_b") != 0;
  const Array& sample = *graph.ConstantOf(first.inputs[1]);
  const int64_t inner = sample.shape()[transposed ? 1 : 0];
  int64_t columns = 0;
  for (const Branch& branch : branches) columns += branch.columns;
  Array joined(sample.type(),
               transposed ? std::vector{columns, inner} : std::vector{inner, columns});
  const auto size = static_cast<int64_t>(SizeOf(sample.type()));
  const int64_t rows = transposed ? 1 : inner;
  const int64_t pitch = transposed ? columns * inner : columns;
  int64_t begin = 0;
  for (const Branch& branch : branches) {
    const Array& weight = *graph.ConstantOf(graph.node(branch.product).inputs[1]);
    const int64_t run = transposed ? branch.columns * inner : branch.columns;
    for (int64_t row = 0; row < rows && run > 0; ++row)
      std::memcpy(joined.mutable_data() + (row * pitch + begin) * size,
                  weight.data() + row * run * size, static_cast<size_t>(run * size));
    begin += run;
  }
  return joined;
}

// Concatenates the shifts or the scales of the branches, as `vector` selects. A single number is
// repeated for all columns of its branch. A branch without this constant contributes `neutral`.
// Returns nothing if no branch has the constant.
std::optional<Array> JoinedVectors(const std::vector<Branch>& branches,
                                   const Array* Branch::*vector, double neutral, DataType type) {
  int64_t columns = 0;
  bool any = false;
  for (const Branch& branch : branches) {
    columns += branch.columns;
    any |= branch.*vector != nullptr;
  }
  if (!any) return std::nullopt;
  Array joined(type, {columns});
  int64_t at = 0;
  for (const Branch& branch : branches) {
    const Array* own = branch.*vector;
    for (int64_t c = 0; c < branch.columns; ++c)
      joined.SetDouble(at++, own == nullptr ? neutral : own->GetDouble(own->size() == 1 ? 0 : c));
  }
  return joined;
}

// Adds the joined product with its shifts and scales, and returns the result. `operand` is a value
// of the new graph.
Result<ValueId> AddProduct(const Graph& graph, const std::vector<Branch>& branches, ValueId operand,
                           GraphBuilder& builder) {
  const Node& first = graph.node(branches[0].product);
  const DataType type = graph.value(first.outputs[0]).type.type;
  const ValueId weight =
      AddDerivedConstant(builder, first.name + "_weights", JoinedWeights(graph, branches));
  TUNEC_ASSIGN(ValueId value, builder.Add(Op::kMatmul, {operand, weight}, first.attributes,
                                          first.name + "_siblings", first.where));
  // x + -0.0 is x for every x, but -0.0 + 0.0 is 0.0.
  const auto shift = JoinedVectors(branches, &Branch::shift, -0.0, type);
  const auto scale = JoinedVectors(branches, &Branch::scale, 1, type);
  if (shift) {
    const ValueId constant = AddDerivedConstant(builder, first.name + "_shifts", *shift);
    TUNEC_ASSIGN(value, builder.Add(Op::kAdd, {value, constant}, {}, "", first.where));
  }
  if (scale) {
    const ValueId constant = AddDerivedConstant(builder, first.name + "_scales", *scale);
    TUNEC_ASSIGN(value, builder.Add(Op::kMul, {value, constant}, {}, "", first.where));
  }
  return value;
}

Result<ValueId> AddSlice(ValueId whole, int64_t begin, int64_t columns, const Node& node,
                         GraphBuilder& builder) {
  std::vector<int64_t> ends = builder.TypeOf(whole).Shape();
  std::vector<int64_t> starts(ends.size(), 0);
  const std::vector<int64_t> steps(ends.size(), 1);
  starts.back() = begin;
  ends.back() = begin + columns;
  return builder.Add(Op::kSlice, {whole}, {{"starts", starts}, {"ends", ends}, {"steps", steps}},
                     node.name, node.where);
}

}  // namespace

Result<Graph> MergeSiblingProducts(const Graph& graph, const PassOptions&) {
  const std::vector<std::vector<Branch>> siblings = SiblingFinder(graph).Find();
  if (siblings.empty()) return graph;
  struct BranchPosition {
    size_t set = 0;
    size_t branch = 0;
  };
  std::map<ValueId, BranchPosition> positions;
  for (size_t s = 0; s < siblings.size(); ++s)
    for (size_t b = 0; b < siblings[s].size(); ++b) positions[siblings[s][b].result] = {s, b};
  // For each product of the old graph: its first operand in the new graph.
  std::map<NodeId, ValueId> operands;
  std::vector<std::optional<ValueId>> products(siblings.size());
  return Rebuild(
      graph,
      [&](const Node& node, const std::vector<ValueId>& inputs,
          GraphBuilder& builder) -> Result<std::vector<ValueId>> {
        if (node.op == Op::kMatmul) operands[graph.value(node.outputs[0]).producer] = inputs[0];
        const auto position =
            node.outputs.size() == 1 ? positions.find(node.outputs[0]) : positions.end();
        if (position == positions.end()) return std::vector<ValueId>{};
        const std::vector<Branch>& branches = siblings[position->second.set];
        std::optional<ValueId>& whole = products[position->second.set];
        const Branch& branch = branches[position->second.branch];
        if (!whole) {
          TUNEC_ASSIGN(whole, AddProduct(graph, branches, operands.at(branch.product), builder));
        }
        int64_t begin = 0;
        for (size_t b = 0; b < position->second.branch; ++b) begin += branches[b].columns;
        TUNEC_ASSIGN(const ValueId slice, AddSlice(*whole, begin, branch.columns, node, builder));
        return std::vector<ValueId>{slice};
      });
}

}  // namespace tunec
