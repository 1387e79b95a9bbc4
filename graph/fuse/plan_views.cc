// The placement of a value names the owner of the value's storage. It has the offset of each
// element in that storage, as an expression of the element's index. Concatenations are visited
// from the last to the first. So the operands of an inner concatenation can be written into the
// storage of the outermost concatenation.
#include "graph/fuse/plan_views.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "graph/cost/fuse_cost.h"
#include "graph/ops/index_maps.h"

namespace tunec {
namespace {

constexpr int64_t kCacheLine = 64;  // bytes; values with shorter contiguous runs are copied

struct Placement {
  ValueId owner;
  IndexExpr linear;
};

IntervalOf RangesOf(const std::vector<int64_t>& shape) {
  return [&shape](VarId d) { return Interval{0, shape[d.index()] - 1}; };
}

std::vector<IndexExpr> Variables(size_t rank) {
  std::vector<IndexExpr> index;
  for (size_t d = 0; d < rank; ++d) index.push_back(IndexExpr::Var(DimensionVar(d)));
  return index;
}

// Returns the linear expression without the dimensions that have only one element.
IndexExpr OverLongDimensions(const IndexExpr& linear, const std::vector<int64_t>& shape) {
  std::vector<IndexExpr> index = Variables(shape.size());
  for (size_t d = 0; d < shape.size(); ++d)
    if (shape[d] == 1) index[d] = 0;
  return Simplify(Substitute(linear, std::span<const IndexExpr>(index)), RangesOf(shape));
}

// Returns the offset that the value's elements have in separate storage.
IndexExpr OwnOffset(const Value& value) {
  const Tensor tensor{.type = value.type.type, .shape = value.type.Shape(), .layout = value.layout};
  return OverLongDimensions(StorageOffset(tensor, Variables(tensor.shape.size())), tensor.shape);
}

bool IsRenaming(const Node& node) {
  return node.op == Op::kReshape || node.op == Op::kTranspose || node.op == Op::kSlice;
}

// Returns the index of the operand's element for the node's element at `index`.
std::vector<IndexExpr> SourceIndex(const Graph& graph, const Node& node,
                                   const std::vector<IndexExpr>& index) {
  if (node.op == Op::kTranspose) return Unpermute(index, node.Ints("perm"));
  if (node.op == Op::kReshape)
    return ReshapeIndex(index, graph.value(node.outputs[0]).type.Shape(),
                        graph.value(node.inputs[0]).type.Shape());
  std::vector<IndexExpr> source;
  for (size_t d = 0; d < index.size(); ++d)
    source.push_back(index[d] * node.Ints("steps")[d] + node.Ints("starts")[d]);
  return source;
}

class ViewPlanner {
 public:
  ViewPlanner(const Graph& graph, const FusionPlan& plan)
      : graph_(graph), plan_(plan), users_(graph.Users()), group_of_(graph.nodes().size(), -1) {
    for (size_t g = 0; g < plan.groups.size(); ++g)
      for (const NodeId node : plan.groups[g].nodes)
        group_of_[node.index] = static_cast<int32_t>(g);
    known_.insert(plan.view_nodes.begin(), plan.view_nodes.end());
  }

  ViewPlan Run() {
    for (size_t n = graph_.nodes().size(); n-- > 0;) {
      const NodeId id{static_cast<int32_t>(n)};
      if (graph_.node(id).op == Op::kConcat && IsLive(id)) MakeConcatView(id);
    }
    for (const NodeId id : known_)
      if (IsRenaming(graph_.node(id))) Rename(id);
    for (const FusionGroup& group : plan_.groups) MakeMovementView(group);
    MakePieceViews();
    ViewPlan result{.views = {}, .nodes = {nodes_.begin(), nodes_.end()}};
    for (const auto& [value, placement] : placements_)
      result.views.push_back(ViewOf(value, placement));
    return result;
  }

 private:
  int32_t GroupOf(NodeId id) const { return group_of_[id.index]; }
  bool IsLive(NodeId id) const { return GroupOf(id) >= 0 || known_.contains(id); }

  Placement PlacementOf(ValueId value) const {
    const auto known = placements_.find(value);
    if (known != placements_.end()) return known->second;
    return {.owner = value, .linear = OwnOffset(graph_.value(value))};
  }

  // Returns the reshapes that lead to a concatenation's operand, starting at the operand. Their
  // results have one reader each and are no graph outputs. All layouts are row-major.
  std::vector<NodeId> ReshapesBefore(ValueId piece) const {
    std::vector<NodeId> reshapes;
    for (;;) {
      const NodeId id = graph_.value(piece).producer;
      const Node& producer = graph_.node(id);
      const bool alone = users_[piece].size() == 1 && !graph_.IsOutput(piece);
      if (producer.op != Op::kReshape || !alone) return reshapes;
      const Value& source = graph_.value(producer.inputs[0]);
      if (!source.layout.IsRowMajor() || !graph_.value(piece).layout.IsRowMajor()) return reshapes;
      reshapes.push_back(id);
      piece = producer.inputs[0];
    }
  }

  // Returns the value before the operand's reshapes, with its placement, if a separate kernel can
  // write the value there. Returns nullopt otherwise, and if the operand is not reshaped.
  std::optional<std::pair<ValueId, Placement>> SourceOf(NodeId concat, ValueId piece,
                                                        const Placement& placement) const {
    const std::vector<NodeId> reshapes = ReshapesBefore(piece);
    if (reshapes.empty()) return std::nullopt;
    const ValueId made = graph_.node(reshapes.back()).inputs[0];
    const NodeId producer = graph_.value(made).producer;
    const int64_t begin = placement.linear.constant();
    if (placement.linear - begin != OwnOffset(graph_.value(piece))) return std::nullopt;
    if (IsLive(producer) && GroupOf(producer) == GroupOf(concat)) return std::nullopt;
    const IndexExpr linear = OwnOffset(graph_.value(made)) + begin;
    if (!CanBeStoredAt(graph_.node(concat), made, placement.owner, linear)) return std::nullopt;
    return std::pair(made, Placement{placement.owner, linear});
  }

  // Returns the placements of the non-empty operands, and of the values before their reshapes, if
  // the concatenation has the placement `whole`. Returns nullopt if such an operand cannot be
  // placed or all operands are empty.
  std::optional<std::map<ValueId, Placement>> PiecesOf(NodeId id, const Placement& whole) {
    const Node& node = graph_.node(id);
    std::map<ValueId, Placement> pieces;
    const size_t rank = graph_.value(node.outputs[0]).type.dims.size();
    const int64_t axis = node.Int("axis");
    int64_t begin = 0;
    for (const ValueId piece : node.inputs) {
      const std::vector<int64_t> shape = graph_.value(piece).type.Shape();
      std::vector<IndexExpr> index = Variables(rank);
      index[axis] += begin;
      begin += shape[axis];
      if (ElementsOf(graph_, piece) == 0) continue;
      const IndexExpr linear =
          OverLongDimensions(Substitute(whole.linear, std::span<const IndexExpr>(index)), shape);
      const Placement placement{whole.owner, linear};
      const auto source = SourceOf(id, piece, placement);
      if (!source && !CanBeStoredAt(node, piece, whole.owner, linear)) return std::nullopt;
      if (source && !pieces.insert(*source).second) return std::nullopt;
      if (!pieces.emplace(piece, placement).second) return std::nullopt;
    }
    if (pieces.empty()) return std::nullopt;
    return pieces;
  }

  bool CanBeStoredAt(const Node& concat, ValueId piece, ValueId owner,
                     const IndexExpr& linear) const {
    const NodeId id = graph_.value(piece).producer;
    const Node& producer = graph_.node(id);
    const bool made = IsLive(id) && (!known_.contains(id) || producer.op == Op::kConcat);
    if (!made || PatternOf(producer.op) == OpPattern::kOpaque || graph_.IsOutput(piece))
      return false;
    if (graph_.value(piece).layout.map != graph_.value(concat.outputs[0]).layout.map) return false;
    const auto found = placements_.find(piece);
    if (found != placements_.end())
      return found->second.owner == owner && found->second.linear == linear;
    return RunBytes(piece, linear) >= kCacheLine;
  }

  // Returns how many bytes of the value are contiguous at this placement. Returns kCacheLine if the
  // placement has the value's own layout, and 0 for any other placement that is not affine.
  int64_t RunBytes(ValueId value, const IndexExpr& linear) const {
    const std::vector<int64_t> shape = graph_.value(value).type.Shape();
    const auto size = static_cast<int64_t>(SizeOf(graph_.value(value).type.type));
    if (linear - linear.constant() == OwnOffset(graph_.value(value))) return kCacheLine;
    for (const IndexTerm& term : linear.terms())
      if (term.atom.kind != IndexAtom::Kind::kVariable) return 0;
    int64_t run = 1;
    for (bool grown = true; grown;) {
      grown = false;
      for (size_t d = 0; d < shape.size() && !grown; ++d) {
        grown = shape[d] > 1 && linear.Coefficient(DimensionVar(d)) == run;
        if (grown) run *= shape[d];
      }
    }
    return run * size;
  }

  bool AreAllIn(const std::vector<ValueId>& pieces, ValueId owner) const {
    return std::ranges::all_of(pieces, [&](ValueId piece) {
      const auto found = placements_.find(piece);
      return ElementsOf(graph_, piece) == 0 ||
             (found != placements_.end() && found->second.owner == owner);
    });
  }

  // Returns the concatenation's placement. A placement in an outer concatenation stays. The result
  // has a placement in another concatenation of equal rank and layout only if all non-empty
  // operands have placements there. In all other cases the result has separate storage.
  Placement PlacementOfConcat(const Node& node) const {
    const ValueId output = node.outputs[0];
    const auto first = placements_.find(node.inputs[0]);
    if (placements_.contains(output) || graph_.IsOutput(output) || first == placements_.end())
      return PlacementOf(output);
    const Placement& inner = first->second;
    if (!AreAllIn(node.inputs, inner.owner)) return PlacementOf(output);
    if (graph_.value(inner.owner).layout.map != graph_.value(output).layout.map)
      return PlacementOf(output);
    // The strides are the owner's, so the ranks must be equal. PiecesOf checks the offsets.
    const std::vector<int64_t> shape = graph_.value(output).type.Shape();
    if (shape.size() != graph_.value(inner.owner).type.dims.size()) return PlacementOf(output);
    return {.owner = inner.owner,
            .linear = OverLongDimensions(OwnOffset(graph_.value(inner.owner)), shape) +
                      inner.linear.constant()};
  }

  void MakeConcatView(NodeId id) {
    const Node& node = graph_.node(id);
    const Placement whole = PlacementOfConcat(node);
    const auto pieces = PiecesOf(id, whole);
    if (!pieces || (!known_.contains(id) && !IsWorth(node, GroupOf(id), *pieces))) return;
    if (whole.owner != node.outputs[0]) placements_.insert_or_assign(node.outputs[0], whole);
    placements_.insert(pieces->begin(), pieces->end());
    nodes_.insert(id);
    for (const ValueId piece : node.inputs) MakeReshapeViews(piece, *pieces);
  }

  // Makes views of the operand's reshapes if `pieces` has a placement for the value before them.
  void MakeReshapeViews(ValueId piece, const std::map<ValueId, Placement>& pieces) {
    const std::vector<NodeId> reshapes = ReshapesBefore(piece);
    if (reshapes.empty() || !pieces.contains(graph_.node(reshapes.back()).inputs[0])) return;
    for (const NodeId id : reshapes) {
      nodes_.insert(id);
      const ValueId output = graph_.node(id).outputs[0];
      const IndexExpr own = OwnOffset(graph_.value(output));
      const Placement& placement = pieces.at(piece);
      placements_.emplace(output, Placement{placement.owner, own + placement.linear.constant()});
    }
  }

  // Returns whether the view costs no time. Operands that the concatenation's own kernel computes
  // then need separate kernels; the other operands are no longer copied.
  bool IsWorth(const Node& node, int32_t group, const std::map<ValueId, Placement>& pieces) const {
    const auto inside = [&](NodeId id) { return group_of_[id.index] == group; };
    const bool has_kernel = std::ranges::none_of(users_[node.outputs[0]], inside);
    FusionCost cost{.launches_saved = has_kernel ? 1 : 0};
    if (has_kernel) cost.bytes_saved = 2 * BytesOf(graph_, node.outputs[0]);
    for (const ValueId piece : node.inputs) {
      const std::vector<NodeId> reshapes = ReshapesBefore(piece);
      const ValueId made = reshapes.empty() ? piece : graph_.node(reshapes.back()).inputs[0];
      const bool written = pieces.contains(made);
      if (!inside(graph_.value(written ? made : piece).producer)) continue;
      cost.bytes_saved -= 2 * BytesOf(graph_, piece);
      --cost.launches_saved;
    }
    return SecondsSaved(cost, plan_.machine) >= 0;
  }

  void Rename(NodeId id) {
    const Node& node = graph_.node(id);
    nodes_.insert(id);
    const Value& value = graph_.value(node.outputs[0]);
    const Placement source = PlacementOf(node.inputs[0]);
    const std::vector<int64_t> shape = value.type.Shape();
    const std::vector<IndexExpr> index =
        SourceIndex(graph_, node, Variables(value.type.dims.size()));
    placements_.insert_or_assign(
        node.outputs[0],
        Placement{source.owner,
                  OverLongDimensions(Substitute(source.linear, std::span<const IndexExpr>(index)),
                                     shape)});
  }

  // Makes views of the nodes of a group only if all of them rename indices and the group has one
  // result, which is readable (IsReadable).
  void MakeMovementView(const FusionGroup& group) {
    const auto renames = [&](NodeId id) { return IsRenaming(graph_.node(id)); };
    if (!std::ranges::all_of(group.nodes, renames) || group.outputs.size() != 1) return;
    const ValueId output = group.outputs[0];
    if (graph_.IsOutput(output) || placements_.contains(output)) return;
    if (group.inputs.size() != 1 || graph_.ConstantOf(group.inputs[0]) != nullptr) return;
    for (const NodeId id : group.nodes) Rename(id);
    if (IsReadable(output)) return;
    for (const NodeId id : group.nodes) {
      nodes_.erase(id);
      placements_.erase(graph_.node(id).outputs[0]);
    }
  }

  // Returns whether the value is not empty, its placement is affine, the contiguous dimension stays
  // contiguous, no dimension is reversed, and RunBytes returns at least kCacheLine.
  bool IsReadable(ValueId value) const {
    const IndexExpr& linear = placements_.at(value).linear;
    if (ElementsOf(graph_, value) == 0) return false;
    const IndexExpr own = OwnOffset(graph_.value(value));
    for (const IndexTerm& term : own.terms())
      if (term.coefficient == 1 && linear.Coefficient(term.atom.variable()) != 1) return false;
    for (const IndexTerm& term : linear.terms())
      if (term.atom.kind != IndexAtom::Kind::kVariable || term.coefficient < 0) return false;
    return RunBytes(value, linear) >= kCacheLine;
  }

  // Makes views of contiguous slices of a stored value if several groups slice this value to the
  // same shape: for example, into the steps of a sequence. The offsets of views are not part of a
  // group's text, so the groups may become equal.
  void MakePieceViews() {
    std::map<std::pair<ValueId, std::vector<int64_t>>, std::vector<NodeId>> pieces;
    for (const FusionGroup& group : plan_.groups)
      for (const NodeId id : group.nodes)
        if (IsPieceOfInput(group, id)) pieces[PieceKind(id)].push_back(id);
    for (const auto& [kind, nodes] : pieces) {
      const bool shared = std::ranges::any_of(
          nodes, [&](NodeId id) { return GroupOf(id) != GroupOf(nodes.front()); });
      if (shared) std::ranges::for_each(nodes, [&](NodeId id) { MakePieceView(id); });
    }
  }

  // Returns the sliced value and the shape of the slice.
  std::pair<ValueId, std::vector<int64_t>> PieceKind(NodeId id) const {
    const Node& node = graph_.node(id);
    return {node.inputs[0], graph_.value(node.outputs[0]).type.Shape()};
  }

  bool IsPieceOfInput(const FusionGroup& group, NodeId id) const {
    const Node& node = graph_.node(id);
    if (node.op != Op::kSlice || nodes_.contains(id)) return false;
    return std::ranges::find(group.inputs, node.inputs[0]) != group.inputs.end() &&
           graph_.ConstantOf(node.inputs[0]) == nullptr && !graph_.IsOutput(node.outputs[0]) &&
           !placements_.contains(node.outputs[0]) && ElementsOf(graph_, node.outputs[0]) > 0;
  }

  void MakePieceView(NodeId id) {
    const ValueId output = graph_.node(id).outputs[0];
    Rename(id);
    const IndexExpr& linear = placements_.at(output).linear;
    if (linear - linear.constant() == OwnOffset(graph_.value(output))) return;
    nodes_.erase(id);
    placements_.erase(output);
  }

  StorageView ViewOf(ValueId value, const Placement& placement) const {
    const std::vector<int64_t> shape = graph_.value(value).type.Shape();
    StorageView view{
        .value = value, .owner = placement.owner, .layout = graph_.value(value).layout};
    view.offset = placement.linear.constant();
    const IndexExpr linear = placement.linear - view.offset;
    if (linear != OwnOffset(graph_.value(value)))
      view.layout = {.shape = {BoundsOf(linear, RangesOf(shape)).hi + 1}, .map = {linear}};
    return view;
  }

  const Graph& graph_;
  const FusionPlan& plan_;
  const ValueUsers users_;
  std::vector<int32_t> group_of_;
  std::set<NodeId> known_;  // view nodes of the plan
  std::set<NodeId> nodes_;  // view nodes of the result
  std::map<ValueId, Placement> placements_;
};

}  // namespace

ViewPlan PlanViews(const Graph& graph, const FusionPlan& plan) {
  return ViewPlanner(graph, plan).Run();
}

}  // namespace tunec
