// stage: gives each run of a loop's body separate storage for a tensor.
//
// An access inside the loop has two parts per dimension. One part depends on the loops from the
// root down to the loop, the other part on the loops below. The first part must be equal for all
// accesses. The second part, counted from its lower bound, is the index into the local storage.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>

#include "schedule/steps/apply_loop_steps.h"

namespace tunec {
namespace {

// The index of the accesses inside the loop, in one dimension of the staged tensor.
struct Dimension {
  std::optional<IndexExpr> outer;  // part over the loops outside
  Interval inner{kUnbounded, -kUnbounded};
  int depth = -1;  // depth of the innermost loop that the inner part of the index uses
};

class Stager {
 public:
  Stager(ScheduleTree& tree, TensorId tensor, VarId loop, std::vector<int64_t> given_order)
      : tree_(tree), tensor_(tensor), given_order_(std::move(given_order)) {
    for (const TreeNode* node : PathToLoop(tree.root, loop)) {
      if (node->kind == TreeNode::Kind::kLoop) outside_.insert(node->loop);
    }
    statements_ = StatementsBelow(*FindLoopNode(tree.root, loop));
    dimensions_.resize(tree.tensors[tensor].shape.size());
  }

  Status Run();

 private:
  Status CheckOrder() const;
  void Arrange();
  Status Measure(StatementId statement, const std::vector<IndexExpr>& index);
  void Rewrite(StatementId statement, std::vector<IndexExpr>& index) const;

  ScheduleTree& tree_;
  TensorId tensor_;
  std::vector<int64_t> given_order_;  // order of the dimensions, if the step gives one
  std::set<VarId> outside_;
  std::vector<StatementId> statements_;
  std::vector<Dimension> dimensions_;
  std::vector<size_t> order_;  // local dimensions, as positions of the original dimensions
};

// Returns the terms of `index` that use only loops outside the stage. Returns nothing if a term
// mixes outside and inside loops or is a loaded value.
std::optional<IndexExpr> OuterPart(const IndexExpr& index, const std::set<VarId>& outside) {
  IndexExpr outer(0);
  for (const IndexTerm& term : index.terms()) {
    IndexExpr alone = term.atom.kind == IndexAtom::Kind::kVariable
                          ? IndexExpr::Var(term.atom.variable())
                          : IndexExpr(0);
    if (term.atom.kind == IndexAtom::Kind::kLoaded) return std::nullopt;
    if (term.atom.kind == IndexAtom::Kind::kFloorDiv) {
      alone = IndexExpr::FloorDiv(*term.atom.numerator, term.atom.divisor);
    }
    std::vector<VarId> used;
    alone.CollectVars(used);
    const auto is_outside = [&](VarId loop) { return outside.contains(loop); };
    if (std::ranges::all_of(used, is_outside)) {
      outer += alone * term.coefficient;
    } else if (std::ranges::any_of(used, is_outside)) {
      return std::nullopt;
    }
  }
  return outer;
}

Status Stager::Measure(StatementId statement, const std::vector<IndexExpr>& index) {
  const std::string& name = tree_.tensors[tensor_].name;
  const std::vector<VarId> around = LoopsAround(tree_.root, statement);
  for (size_t d = 0; d < index.size(); ++d) {
    const IndexExpr over_loops =
        Simplify(Substitute(index[d], tree_.inverse[statement]), tree_.LoopIntervals());
    const std::optional<IndexExpr> outer = OuterPart(over_loops, outside_);
    Dimension& dimension = dimensions_[d];
    if (!outer || (dimension.outer && *dimension.outer != *outer)) {
      return Fail(ErrorCode::kInvalidArgument,
                  "stage {}: dimension {} has no common start within the loop", name, d);
    }
    dimension.outer = outer;
    const IndexExpr inner = over_loops - *outer;
    const Interval bounds = BoundsOf(inner, tree_.LoopIntervals());
    dimension.inner = {std::min(dimension.inner.lo, bounds.lo),
                       std::max(dimension.inner.hi, bounds.hi)};
    for (size_t depth = 0; depth < around.size(); ++depth) {
      if (inner.Uses(around[depth]))
        dimension.depth = std::max(dimension.depth, static_cast<int>(depth));
    }
  }
  return {};
}

void Stager::Rewrite(StatementId statement, std::vector<IndexExpr>& index) const {
  std::vector<IndexExpr> local;
  for (const size_t d : order_) {
    const IndexExpr start = Substitute(
        *dimensions_[d].outer, [&](VarId loop) { return tree_.forward[statement].at(loop); });
    local.push_back(index[d] - start - dimensions_[d].inner.lo);
  }
  index = std::move(local);
}

// Checks that the order, if the step has one, names each dimension once.
Status Stager::CheckOrder() const {
  std::vector<int64_t> sorted = given_order_;
  std::ranges::sort(sorted);
  std::vector<int64_t> all(dimensions_.size());
  std::iota(all.begin(), all.end(), 0);
  if (given_order_.empty() || sorted == all) return {};
  return Fail(ErrorCode::kInvalidArgument,
              "stage {}: the order must name each of {} dimensions once",
              tree_.tensors[tensor_].name, dimensions_.size());
}

// Sets `order_`, the order of the local dimensions. Omits dimensions of one element. Unless the
// step gives an order, the dimension that uses the innermost loop comes last.
void Stager::Arrange() {
  const auto is_long = [&](size_t d) { return dimensions_[d].inner.lo < dimensions_[d].inner.hi; };
  for (size_t i = 0; i < dimensions_.size(); ++i) {
    const size_t d = given_order_.empty() ? i : static_cast<size_t>(given_order_[i]);
    if (is_long(d)) order_.push_back(d);
  }
  if (!given_order_.empty()) return;
  std::ranges::stable_sort(
      order_, [&](size_t a, size_t b) { return dimensions_[a].depth < dimensions_[b].depth; });
}

Status Stager::Run() {
  TUNEC_RETURN_IF_ERROR(CheckOrder());
  const auto for_each_access = [&](const auto& visit) -> Status {
    for (const StatementId s : statements_) {
      for (Read& read : tree_.statements[s].reads) {
        if (read.tensor == tensor_) TUNEC_RETURN_IF_ERROR(visit(s, read.index));
      }
      for (Write& write : tree_.statements[s].writes) {
        if (write.tensor == tensor_) TUNEC_RETURN_IF_ERROR(visit(s, write.index));
      }
    }
    return {};
  };
  TUNEC_RETURN_IF_ERROR(for_each_access(
      [&](StatementId s, const std::vector<IndexExpr>& index) { return Measure(s, index); }));
  for (const Dimension& dimension : dimensions_) {
    if (dimension.outer) continue;
    return Fail(ErrorCode::kInvalidArgument, "stage {}: nothing in the loop uses it",
                tree_.tensors[tensor_].name);
  }
  Arrange();
  TUNEC_RETURN_IF_ERROR(
      for_each_access([&](StatementId s, std::vector<IndexExpr>& index) -> Status {
        Rewrite(s, index);
        return {};
      }));
  Tensor& tensor = tree_.tensors[tensor_];
  tensor.role = TensorRole::kLocal;
  tensor.layout = {};
  tensor.alignment = 64;
  tensor.shape.clear();
  for (const size_t d : order_) {
    tensor.shape.push_back(dimensions_[d].inner.hi - dimensions_[d].inner.lo + 1);
  }
  return {};
}

}  // namespace

Status Apply(ScheduleTree& tree, const StageStep& step) {
  const std::optional<TensorId> tensor = tree.FindTensor(step.tensor);
  if (!tensor || tree.tensors[*tensor].role != TensorRole::kWorkspace) {
    return Fail(ErrorCode::kInvalidArgument, "stage: {} is not a workspace tensor", step.tensor);
  }
  const bool shares = std::ranges::any_of(
      tree.tensors, [&](const Tensor& other) { return other.alias == *tensor; });
  if (shares || tree.tensors[*tensor].alias) {
    return Fail(ErrorCode::kInvalidArgument, "stage: {} shares its storage with another tensor",
                step.tensor);
  }
  TUNEC_ASSIGN(const VarId loop, LoopNamed(tree, step.loop));
  if (!CanTakeStatement(tree, loop)) {
    return Fail(ErrorCode::kInvalidArgument,
                "stage {}: loop {} is vector or not the innermost of its tasks or threads",
                step.tensor, step.loop);
  }
  if (step.scope == Scope::kShared) {
    for (const TreeNode* node : PathToLoop(tree.root, loop)) {
      if (node->kind != TreeNode::Kind::kLoop || !IsBlock(tree.loops[node->loop].kind)) continue;
      return Fail(ErrorCode::kInvalidArgument, "stage {}: loop {} is over threads, which share it",
                  step.tensor, tree.loops[node->loop].name);
    }
  }
  TUNEC_RETURN_IF_ERROR(Stager(tree, *tensor, loop, step.order).Run());
  TreeNode* node = FindLoopNode(tree.root, loop);
  TreeNode alloc{.kind = TreeNode::Kind::kAlloc, .tensor = *tensor, .scope = step.scope};
  alloc.children = std::move(node->children);
  node->children.clear();
  node->children.push_back(std::move(alloc));
  return {};
}

}  // namespace tunec
