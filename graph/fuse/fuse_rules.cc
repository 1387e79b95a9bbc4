#include "graph/fuse/fuse_rules.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "graph/cost/fuse_cost.h"
#include "graph/cost/operation_cost.h"
#include "graph/fuse/anchor_index.h"
#include "graph/ops/index_maps.h"
#include "support/check.h"

namespace tunec {
namespace {

using Anchor = GroupTraits::Anchor;

std::vector<int64_t> ShapeOf(const Graph& graph, ValueId value) {
  return graph.value(value).type.Shape();
}

// Returns whether a reshape addresses `to` by affine expressions of an index into `from`.
bool ReshapesAffinely(const std::vector<int64_t>& from, const std::vector<int64_t>& to) {
  std::vector<IndexExpr> index;
  for (size_t d = 0; d < from.size(); ++d) index.push_back(IndexExpr::Var(DimensionVar(d)));
  return IsAffine(ReshapeIndex(index, from, to));
}

// Returns whether the node is a transpose, slice, expand or reshape whose reads are affine in the
// output's index.
bool ReadsAffinely(const Graph& graph, const Node& node) {
  switch (node.op) {
    case Op::kTranspose:
    case Op::kSlice:
    case Op::kExpand:
      return true;
    case Op::kReshape:
      return ReshapesAffinely(ShapeOf(graph, node.outputs[0]), ShapeOf(graph, node.inputs[0]));
    default:
      return false;
  }
}

// Returns whether the kernel that makes the node's input can write the node's output instead, at an
// affine index.
bool RenamesOutput(const Graph& graph, const Node& node) {
  if (node.op == Op::kTranspose) return true;
  if (node.op != Op::kReshape) return false;
  if (ReshapesAffinely(ShapeOf(graph, node.inputs[0]), ShapeOf(graph, node.outputs[0])))
    return true;
  const std::optional<AnchorIndex> known = FindAnchorIndex(graph, node.inputs[0]);
  return known && IsAffine(known->index) && IsAffine(Renamed(graph, node, *known).index);
}

bool SameShape(const Graph& graph, ValueId a, ValueId b) {
  return graph.value(a).type.dims == graph.value(b).type.dims;
}

bool IsElementwise(const Node& node) { return PatternOf(node.op) == OpPattern::kElementwise; }

// Returns whether every user can be in the kernel that makes the value. A single user can if the
// value is not an output. Several users, at most 64, can if each is an elementwise operator with
// the value's shape or processes the producer's rows.
bool UsersCanStay(const Graph& graph, const FusionQuestion& q) {
  if (q.users.size() == 1) return !graph.IsOutput(q.value);
  constexpr size_t kMostUsers = 64;  // a kernel has fewer; bounds the time of the check
  return q.users.size() <= kMostUsers && std::ranges::all_of(q.users, [&](NodeId id) {
           const Node& user = graph.node(id);
           if (IsElementwise(user)) return SameShape(graph, user.outputs[0], q.value);
           return q.producer.rows.has_value() && RowsOf(graph, user) == q.producer.rows;
         });
}

// Returns whether the value has the shape of the producer's rows with extent 1 in the reduced axes,
// and the consumer has the full shape, as in x - mean.
bool SpreadsOverRows(const Graph& graph, const FusionQuestion& q) {
  if (!q.producer.rows || ShapeOf(graph, q.consumer.outputs[0]) != q.producer.rows->shape)
    return false;
  std::vector<int64_t> row = q.producer.rows->shape;
  for (size_t d = 0; d < row.size(); ++d)
    if (q.producer.rows->axes[d]) row[d] = 1;
  return ShapeOf(graph, q.value) == row;
}

FusionReason DecideElementwise(const Graph& graph, const FusionQuestion& q) {
  const bool same_shape = SameShape(graph, q.value, q.consumer.outputs[0]);
  const bool anchored = q.producer.anchor != Anchor::kNone;
  if (anchored && q.into.anchor != Anchor::kNone) {
    const bool same_rows = q.producer.rows && q.producer.rows == q.into.rows;
    if (!same_rows)
      return q.producer.anchor == Anchor::kContraction && q.into.anchor == Anchor::kContraction
                 ? FusionReason::kTwoContractions
                 : FusionReason::kOtherRows;
  }
  if (anchored) {
    if (!same_shape && !SpreadsOverRows(graph, q)) return FusionReason::kOtherShape;
    const bool spreads = !same_shape;
    if (!spreads && !UsersCanStay(graph, q)) return FusionReason::kOtherUsers;
    if (spreads && (q.users.size() > 1 || graph.IsOutput(q.value)))
      return FusionReason::kOtherUsers;
    return q.producer.anchor == Anchor::kContraction ? FusionReason::kEpilogue
                                                     : FusionReason::kRowEpilogue;
  }
  const bool single = q.users.size() == 1 && !graph.IsOutput(q.value);
  if (q.into.anchor == Anchor::kContraction && (!same_shape || !single))
    return same_shape ? FusionReason::kOtherUsers : FusionReason::kOtherShape;
  if (!single && !(same_shape && IsElementwise(graph.producer(q.value))))
    return FusionReason::kOtherUsers;
  return q.producer.only_renames ? FusionReason::kIndexMap : FusionReason::kElementwiseChain;
}

FusionReason DecideInjective(const Graph& graph, const FusionQuestion& q) {
  if (q.users.size() > 1 || graph.IsOutput(q.value)) return FusionReason::kOtherUsers;
  if (q.producer.anchor == Anchor::kNone) return FusionReason::kIndexMap;
  if (q.into.anchor != Anchor::kNone) return FusionReason::kOtherRows;
  if (!RenamesOutput(graph, q.consumer)) return FusionReason::kOtherShape;
  return FusionReason::kRenamedOutput;
}

// Returns whether the summed axis of the first operand has stride 1, at least within the blocks of
// its layout. Then computing the operand within the contraction is as fast as in a separate kernel.
bool SumsContiguously(const Graph& graph, const Node& node) {
  const Value& operand = graph.value(node.inputs[0]);
  const Tensor tensor{
      .type = operand.type.type, .shape = operand.type.Shape(), .layout = operand.layout};
  std::vector<IndexExpr> index;
  for (size_t d = 0; d < tensor.shape.size(); ++d) index.push_back(IndexExpr::Var(DimensionVar(d)));
  const IndexExpr offset = Simplify(StorageOffset(tensor, index), [&](VarId d) {
    return Interval{0, tensor.shape[d.index()] - 1};
  });
  const size_t rank = tensor.shape.size();
  const size_t summed = node.op == Op::kConv                  ? 1
                        : node.Int("transpose_a") && rank > 1 ? rank - 2
                                                              : rank - 1;
  return offset.Coefficient(DimensionVar(summed)) == 1;
}

// Returns whether the node is a convolution that applies one filter of at most 64 elements to each
// of several channels. The kernel of a reader can compute such results at low cost.
bool IsDepthwise(const Graph& graph, const Node& node) {
  constexpr int64_t kMostTaps = 64;
  if (node.op != Op::kConv || node.Int("group") < 2) return false;
  const std::vector<int64_t> weight = ShapeOf(graph, node.inputs[1]);
  const int64_t taps =
      std::accumulate(weight.begin() + 2, weight.end(), int64_t{1}, std::multiplies());
  return weight[0] == node.Int("group") && weight[1] == 1 && taps <= kMostTaps;
}

// Returns whether the node is a convolution with one group, windows of one element, strides of 1
// and no pads.
bool IsPointwise(const Graph& graph, const Node& node) {
  const auto is_one = [](int64_t stride) { return stride == 1; };
  return node.op == Op::kConv && node.Int("group") == 1 && HasNoWindows(graph, node) &&
         std::ranges::all_of(node.Ints("strides"), is_one);
}

// Returns whether a path of at most 8 elementwise operators of equal shape leads from `origin` to
// the value.
bool IsElementwiseOf(const Graph& graph, ValueId value, NodeId origin, int depth = 0) {
  constexpr int kMostOperators = 8;
  const NodeId made_by = graph.value(value).producer;
  if (made_by == origin) return true;
  const Node& node = graph.node(made_by);
  if (depth == kMostOperators || !IsElementwise(node)) return false;
  return std::ranges::any_of(node.inputs, [&](ValueId input) {
    return input.valid() && SameShape(graph, input, value) &&
           IsElementwiseOf(graph, input, origin, depth + 1);
  });
}

// Decides whether one kernel computes two contractions. The kernel would finish a block of rows of
// the first result, then multiply this block.
FusionReason DecideChain(const Graph& graph, const FusionQuestion& q) {
  const bool fits = IsDepthwise(graph, graph.node(q.producer.contraction)) &&
                    IsPointwise(graph, q.consumer) && q.value == q.consumer.inputs[0] &&
                    std::ranges::count(q.consumer.inputs, q.value) == 1 &&
                    IsElementwiseOf(graph, q.value, q.producer.contraction);
  if (!fits) return FusionReason::kTwoContractions;
  if (q.users.size() > 1 || graph.IsOutput(q.value)) return FusionReason::kOtherUsers;
  return SumsContiguously(graph, q.consumer) ? FusionReason::kChain : FusionReason::kOperandOrder;
}

FusionReason DecideContraction(const Graph& graph, const FusionQuestion& q) {
  if (q.producer.anchor == Anchor::kContraction) return DecideChain(graph, q);
  if (q.producer.anchor != Anchor::kNone) return FusionReason::kContractionOperand;
  if (q.users.size() > 1 || graph.IsOutput(q.value)) return FusionReason::kOtherUsers;
  if (q.producer.only_renames) return FusionReason::kIndexMap;
  // Operations on an operand are computed in the contraction only for a first operand, and only if
  // the contraction has no windows, which would read elements repeatedly.
  const bool computes = q.producer.operations > 0;
  if (computes && q.value == q.consumer.inputs[0] &&
      std::ranges::count(q.consumer.inputs, q.value) == 1 && HasNoWindows(graph, q.consumer))
    return SumsContiguously(graph, q.consumer) ? FusionReason::kOperandPrologue
                                               : FusionReason::kOperandOrder;
  return PatternOf(graph.producer(q.value).op) == OpPattern::kInjective
             ? FusionReason::kNotAffine
             : FusionReason::kContractionOperand;
}

FusionReason DecideReduction(const Graph& graph, const FusionQuestion& q) {
  if (q.producer.anchor == Anchor::kNone) {
    if (q.users.size() > 1 || graph.IsOutput(q.value)) return FusionReason::kOtherUsers;
    return q.producer.only_renames ? FusionReason::kIndexMap : FusionReason::kPrologue;
  }
  if (!q.producer.rows || q.producer.rows != q.into.rows) return FusionReason::kOtherRows;
  return UsersCanStay(graph, q) ? FusionReason::kSameRows : FusionReason::kOtherUsers;
}

// Decides whether a scatter's kernel computes an operand. Operand 0 must be stored, so that the
// result can reuse the storage. Indices and updates from groups without an anchor can be computed.
FusionReason DecideScatter(const Graph& graph, const FusionQuestion& q) {
  if (q.value == q.consumer.inputs[0] || q.producer.anchor != Anchor::kNone)
    return FusionReason::kWrittenOver;
  if (q.users.size() > 1 || graph.IsOutput(q.value)) return FusionReason::kOtherUsers;
  return q.producer.only_renames ? FusionReason::kIndexMap : FusionReason::kUpdates;
}

std::vector<bool> Marked(const std::vector<int64_t>& axes, size_t rank) {
  std::vector<bool> marked(rank);
  for (const int64_t axis : axes) marked[axis] = true;
  return marked;
}

std::vector<bool> MarkedFrom(int64_t axis, size_t rank) {
  std::vector<bool> marked(rank);
  std::fill(marked.begin() + axis, marked.end(), true);
  return marked;
}

double OperationsOf(const Graph& graph, const Node& node) {
  return static_cast<double>(ElementsOf(graph, node.outputs[0])) * OperationsPerElement(node);
}

// Returns the number of tasks, one per row. Returns 0 (enough for all cores) for a single row that
// is only reduced, because the reduction can be split. Other operators need the whole row's result.
double TasksOf(const Node& node, const RowSpace& rows) {
  double tasks = 1;
  for (size_t d = 0; d < rows.shape.size(); ++d)
    if (!rows.axes[d]) tasks *= static_cast<double>(rows.shape[d]);
  return tasks == 1 && PatternOf(node.op) == OpPattern::kReduction ? 0 : tasks;
}

}  // namespace

std::optional<RowSpace> RowsOf(const Graph& graph, const Node& node) {
  const RowAxes rows = RowAxesOf(node.op);
  if (rows == RowAxes::kNone) return {};
  const std::vector<int64_t> shape = ShapeOf(graph, node.inputs[0]);
  switch (rows) {
    case RowAxes::kNone:
      break;
    case RowAxes::kAxes:
      return RowSpace{shape, Marked(node.Ints("axes"), shape.size())};
    case RowAxes::kAxis:
      return RowSpace{shape, Marked({node.Int("axis")}, shape.size())};
    case RowAxes::kFromAxis:
      return RowSpace{shape, MarkedFrom(node.Int("axis"), shape.size())};
    case RowAxes::kFromSpatial:
      return RowSpace{shape, MarkedFrom(2, shape.size())};
  }
  TUNEC_UNREACHABLE("row axes {}", static_cast<int>(rows));
}

GroupTraits TraitsOf(const Graph& graph, const Node& node) {
  GroupTraits traits{.anchor = Anchor::kNone, .rows = RowsOf(graph, node)};
  traits.nodes = 1;
  traits.only_renames = ReadsAffinely(graph, node);
  traits.operations = OperationsOf(graph, node);
  traits.parts = traits.rows ? TasksOf(node, *traits.rows) : 0;
  switch (PatternOf(node.op)) {
    case OpPattern::kContraction:
      traits.anchor = Anchor::kContraction;
      traits.contraction = graph.value(node.outputs[0]).producer;
      break;
    case OpPattern::kReduction:
    case OpPattern::kComposite:
      traits.anchor = traits.rows ? Anchor::kRows : Anchor::kWindows;
      break;
    case OpPattern::kScatter:
      traits.anchor = Anchor::kScatter;
      break;
    case OpPattern::kOpaque:
      traits.anchor = Anchor::kOpaque;
      break;
    default:
      break;
  }
  return traits;
}

GroupTraits Merge(const GroupTraits& producer, const GroupTraits& into, double times) {
  const bool ends_with_into =
      producer.anchor == Anchor::kNone || into.anchor == Anchor::kContraction;
  GroupTraits merged = ends_with_into ? into : producer;
  merged.only_renames = producer.only_renames && into.only_renames;
  merged.nodes = producer.nodes + into.nodes;
  merged.operations = times * producer.operations + into.operations;
  return merged;
}

FusionReason DecideFusion(const Graph& graph, const FusionQuestion& question) {
  if (question.producer.anchor == Anchor::kOpaque || question.into.anchor == Anchor::kOpaque)
    return FusionReason::kOpaque;
  if (question.producer.anchor == Anchor::kScatter) return FusionReason::kWrittenOver;
  switch (PatternOf(question.consumer.op)) {
    case OpPattern::kElementwise:
      return DecideElementwise(graph, question);
    case OpPattern::kInjective:
      return DecideInjective(graph, question);
    case OpPattern::kContraction:
      return DecideContraction(graph, question);
    case OpPattern::kReduction:
    case OpPattern::kComposite:
      return DecideReduction(graph, question);
    case OpPattern::kScatter:
      return DecideScatter(graph, question);
    default:
      return FusionReason::kOpaque;
  }
}

bool AreSiblings(const GroupTraits& a, const GroupTraits& b) {
  if (a.anchor != b.anchor || a.only_renames || b.only_renames) return false;
  return a.anchor == Anchor::kNone || (a.anchor == Anchor::kRows && a.rows == b.rows);
}

}  // namespace tunec
