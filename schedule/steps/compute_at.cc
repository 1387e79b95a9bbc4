// compute_at: moves a statement into a loop of another statement.
//
// The moved statement P and some statement S inside the loop access the same tensor. The indices of
// both express S's iterators by P's. For S: acc[i,j] and P reading acc[p,q], i = p and j = q. Each
// loop around S, down to the target, then has a value for P's instances too: the loop's expression
// with S's iterators replaced. A loop over an iterator that is not in the tensor's index (a reduced
// iterator) gets a fixed value: the loop's first value if P precedes S, else the last one. Below
// the target, P gets copies of S's loops over iterators that equal iterators of P. Loops over the
// remaining iterators of P follow.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "schedule/relations.h"
#include "schedule/steps/apply_loop_steps.h"
#include "support/check.h"

namespace tunec {
namespace {

// Removes from the tree the largest subtree that contains only this statement. Returns false if the
// tree does not contain the statement.
bool RemoveSubtree(TreeNode& node, StatementId statement) {
  for (size_t i = 0; i < node.children.size(); ++i) {
    const std::vector<StatementId> below = StatementsBelow(node.children[i]);
    if (std::ranges::find(below, statement) == below.end()) continue;
    if (below.size() > 1) return RemoveSubtree(node.children[i], statement);
    node.children.erase(node.children.begin() + static_cast<std::ptrdiff_t>(i));
    return true;
  }
  return false;
}

// Replaces each sequence of one child, except the root, by the child.
void Flatten(TreeNode& node, bool is_root) {
  for (TreeNode& child : node.children) Flatten(child, false);
  if (!is_root && node.kind == TreeNode::Kind::kSequence && node.children.size() == 1) {
    TreeNode child = std::move(node.children[0]);
    node = std::move(child);
  }
}

// Inserts a statement's subtree into the loop's body: before the first child whose last statement
// comes later in the original order, or at the end.
void InsertBelow(TreeNode& loop, TreeNode subtree, StatementId statement) {
  TreeNode* body = &loop.children[0];
  while (body->kind == TreeNode::Kind::kAlloc) body = &body->children[0];
  if (body->kind != TreeNode::Kind::kSequence) {
    TreeNode sequence{.kind = TreeNode::Kind::kSequence};
    sequence.children.push_back(std::move(*body));
    *body = std::move(sequence);
  }
  auto at = body->children.begin();
  while (at != body->children.end() && StatementsBelow(*at).back() < statement) ++at;
  body->children.insert(at, std::move(subtree));
}

class Mover {
 public:
  Mover(ScheduleTree& tree, StatementId moved, ClosestRelation relation, VarId target)
      : tree_(tree),
        moved_(moved),
        relation_(std::move(relation)),
        target_(target),
        inverse_(tree.statements[moved].iterators.size()) {}

  Status Run();

 private:
  const Statement& statement() const { return tree_.statements[moved_]; }
  Result<IndexExpr> ValueFor(VarId loop) const;
  IndexExpr Known(const IndexExpr& forward) const;
  Status Invert(const IndexExpr& value, const IndexExpr& partner_value);
  bool IsRelated(VarId loop) const;
  std::string LoopName(VarId partner_loop) const;
  VarId AddLoop(std::string name, int64_t extent, bool isolate);
  Status CopyLoop(VarId loop);
  Status InvertRelated();
  void AddRemainingLoops();
  void MoveSubtree();

  ScheduleTree& tree_;
  StatementId moved_;
  ClosestRelation relation_;
  VarId target_;
  std::map<VarId, IndexExpr> forward_;                 // loops of the moved statement
  IdVector<VarId, std::optional<IndexExpr>> inverse_;  // iterators of the moved statement
  std::map<VarId, VarId> copy_of_;                     // the partner's loop -> the copy
  std::vector<VarId> own_;  // the moved statement's loops below the target
};

// Converts a value over the partner's related iterators to a value over the moved statement's
// iterators. If a quotient leaves a part of an iterator unknown, the part becomes an additional
// variable after these iterators.
IndexExpr Mover::Known(const IndexExpr& forward) const {
  const auto& [exact, quotients] = relation_.iterators;
  const Iterators& own = statement().iterators;
  IndexExpr value = Substitute(forward, [&, &exact = exact, &quotients = quotients](VarId v) {
    const auto found = exact.find(v);
    if (found != exact.end()) return found->second;
    const Quotient& quotient = quotients.at(v);
    return quotient.value * quotient.factor + IndexExpr::Var(IteratorVar(own.size() + v.index()));
  });
  if (quotients.empty()) return value;
  return Simplify(value, [&, &quotients = quotients](VarId v) {
    if (own.contains(v)) return Interval{0, own[v].extent - 1};
    return Interval{0, quotients.at(IteratorVar(v.index() - own.size())).factor - 1};
  });
}

// Returns the value of one of the partner's loops for the moved statement's instances. A loop over
// unrelated iterators has its first value if the moved statement precedes the partner, else its
// last. Fails for a loop over both related and unrelated iterators.
Result<IndexExpr> Mover::ValueFor(VarId loop) const {
  const IndexExpr& forward = tree_.forward[relation_.partner].at(loop);
  std::vector<VarId> used;
  forward.CollectVars(used);
  const auto is_known = [&](VarId v) { return relation_.iterators.contains(v); };
  bool mixed = std::ranges::any_of(used, is_known);
  if (std::ranges::all_of(used, is_known)) {
    IndexExpr value = Known(forward);
    const Iterators& own = statement().iterators;
    std::vector<VarId> needed;
    value.CollectVars(needed);
    const auto is_open = [&](VarId v) { return !own.contains(v); };
    if (std::ranges::none_of(needed, is_open)) return value;
    mixed = !std::ranges::all_of(needed, is_open);
  }
  if (mixed) {
    return Fail(ErrorCode::kInvalidArgument,
                "compute_at {}: loop {} mixes related and unrelated iterators", statement().name,
                tree_.loops[loop].name);
  }
  return IndexExpr(moved_ < relation_.partner ? 0 : tree_.loops[loop].extent - 1);
}

// Checks that the moved statement needs its own copy of a loop of the partner. A copy is needed for
// a loop over iterators that equal iterators of the moved statement. A part of such a loop may have
// one iteration, whose value is a constant. Such a part needs a copy, too.
bool Mover::IsRelated(VarId loop) const {
  const auto is_own = [&](VarId iterator) {
    const auto found = relation_.iterators.exact.find(iterator);
    return found != relation_.iterators.exact.end() && found->second.AsVar().has_value();
  };
  std::vector<VarId> used;
  tree_.forward[relation_.partner].at(loop).CollectVars(used);
  if (!used.empty()) return std::ranges::all_of(used, is_own);
  const std::vector<IndexExpr>& inverse = tree_.inverse[relation_.partner];
  for (size_t i = 0; i < inverse.size(); ++i) {
    if (inverse[i].Uses(loop) && is_own(IteratorVar(i))) return true;
  }
  return false;
}

// Returns a name for the copy of a loop. For the partner acc and the moved statement out, the name
// is "out.j.0" for the loop "acc.j.0", and "out.task" for the loop "task".
std::string Mover::LoopName(VarId partner_loop) const {
  const std::string& prefix = tree_.statements[relation_.partner].name;
  const std::string& name = tree_.loops[partner_loop].name;
  const std::string suffix =
      name.starts_with(prefix + ".") ? name.substr(prefix.size()) : "." + name;
  return statement().name + suffix;
}

// Adds a loop to the moved statement's loops. Appends "_" to a name that is taken, because the
// moved statement and its partner may use the same name for different iterators.
VarId Mover::AddLoop(std::string name, int64_t extent, bool isolate) {
  while (LoopNamed(tree_, name) ||
         std::ranges::any_of(own_, [&](VarId loop) { return tree_.loops[loop].name == name; })) {
    name += "_";
  }
  const VarId loop = tree_.loops.next_id();
  tree_.loops.push_back({.name = std::move(name), .extent = extent, .isolate = isolate});
  own_.push_back(loop);
  return loop;
}

Status Mover::CopyLoop(VarId loop) {
  const int64_t extent = tree_.loops[loop].extent;
  const VarId copy = AddLoop(LoopName(loop), extent, tree_.loops[loop].isolate);
  copy_of_[loop] = copy;
  TUNEC_ASSIGN(forward_[copy], ValueFor(loop));
  return {};
}

// Expresses iterators of the moved statement by the shared and the copied loops, where the relation
// gives such an iterator alone. AddRemainingLoops adds loops over the other iterators.
Status Mover::InvertRelated() {
  const std::vector<IndexExpr>& partner = tree_.inverse[relation_.partner];
  for (const auto& [iterator, value] : relation_.iterators.exact) {
    TUNEC_RETURN_IF_ERROR(Invert(value, partner[iterator.index()]));
  }
  for (const auto& [iterator, quotient] : relation_.iterators.quotients) {
    const IndexExpr value = Simplify(
        IndexExpr::FloorDiv(partner[iterator.index()], quotient.factor), tree_.LoopIntervals());
    TUNEC_RETURN_IF_ERROR(Invert(quotient.value, value));
  }
  return {};
}

// Expresses an iterator of the moved statement by shared and copied loops, if `value` is this
// iterator alone. `partner_value` is the same value over the partner's loops. Fails if only some of
// the partner's loops are shared or copied.
Status Mover::Invert(const IndexExpr& value, const IndexExpr& partner_value) {
  const std::optional<VarId> mine = value.AsVar();
  if (!mine || inverse_[*mine]) return {};
  std::vector<VarId> loops;
  partner_value.CollectVars(loops);
  const auto is_around = [&](VarId loop) {
    return copy_of_.contains(loop) || forward_.contains(loop);
  };
  // If none of the loops is shared or copied, the iterator gets a separate loop later.
  if (!loops.empty() && std::ranges::none_of(loops, is_around)) return {};
  if (!std::ranges::all_of(loops, is_around)) {
    return Fail(ErrorCode::kInvalidArgument,
                "compute_at {}: iterator {} depends on loops that it does not share",
                statement().name, statement().iterators[*mine].name);
  }
  inverse_[*mine] = Substitute(partner_value, [&](VarId loop) -> IndexExpr {
    const auto copy = copy_of_.find(loop);
    return IndexExpr::Var(copy == copy_of_.end() ? loop : copy->second);
  });
  return {};
}

void Mover::AddRemainingLoops() {
  for (const VarId i : inverse_.ids()) {
    if (inverse_[i]) continue;
    const Iterator& iterator = statement().iterators[i];
    const VarId loop =
        AddLoop(statement().name + "." + iterator.name, iterator.extent, /*isolate=*/false);
    forward_[loop] = IndexExpr::Var(i);
    inverse_[i] = IndexExpr::Var(loop);
  }
}

void Mover::MoveSubtree() {
  TreeNode node{.kind = TreeNode::Kind::kLeaf, .statement = moved_};
  for (size_t i = own_.size(); i-- > 0;) {
    TreeNode loop{.kind = TreeNode::Kind::kLoop, .loop = own_[i]};
    loop.children.push_back(std::move(node));
    node = std::move(loop);
  }
  InsertBelow(*FindLoopNode(tree_.root, target_), std::move(node), moved_);
  Flatten(tree_.root, true);
}

Status Mover::Run() {
  const std::vector<VarId> partner_loops = LoopsAround(tree_.root, relation_.partner);
  const auto target = std::ranges::find(partner_loops, target_);
  TUNEC_CHECK(target != partner_loops.end(), "the partner is not inside the loop");
  for (auto loop = partner_loops.begin(); loop <= target; ++loop) {
    TUNEC_ASSIGN(forward_[*loop], ValueFor(*loop));
  }
  // Loops of the old subtree retain their entries in tree_.loops but leave the tree.
  RemoveSubtree(tree_.root, moved_);
  for (auto loop = target + 1; loop != partner_loops.end(); ++loop) {
    if (IsRelated(*loop)) TUNEC_RETURN_IF_ERROR(CopyLoop(*loop));
  }
  TUNEC_RETURN_IF_ERROR(InvertRelated());
  AddRemainingLoops();
  MoveSubtree();
  tree_.forward[moved_] = std::move(forward_);
  for (const VarId i : inverse_.ids()) {
    tree_.inverse[moved_][i.index()] = std::move(*inverse_[i]);
  }
  return {};
}

// Checks that a loop around this loop is pipelined and begins a copy inside this loop ahead of
// time.
bool IsBegunAhead(const ScheduleTree& tree, VarId loop) {
  const std::vector<const TreeNode*> path = PathToLoop(tree.root, loop);
  const std::vector<StatementId> inside = StatementsBelow(*path.back());
  return std::ranges::any_of(path, [&](const TreeNode* node) {
    if (node->kind != TreeNode::Kind::kLoop) return false;
    const std::vector<StatementId>& copies = tree.loops[node->loop].pipeline.copies;
    return std::ranges::any_of(copies, [&](StatementId copy) {
      return std::ranges::find(inside, copy) != inside.end() && node != path.back();
    });
  });
}

// Checks that a statement can be moved into the loop (CanTakeStatement). None of the statement's
// tensors may be staged, because their indices must be the original ones. No pipelined loop around
// the target may begin a copy inside the target ahead of time.
Status CheckMove(const ScheduleTree& tree, StatementId moved, VarId target) {
  const Statement& statement = tree.statements[moved];
  const auto is_staged = [&](const auto& access) {
    return tree.tensors[access.tensor].role == TensorRole::kLocal;
  };
  for (const auto& access : statement.reads) {
    if (!is_staged(access)) continue;
    return Fail(ErrorCode::kInvalidArgument, "compute_at {}: it uses {}, which is staged already",
                statement.name, tree.tensors[access.tensor].name);
  }
  for (const auto& access : statement.writes) {
    if (!is_staged(access)) continue;
    return Fail(ErrorCode::kInvalidArgument, "compute_at {}: it uses {}, which is staged already",
                statement.name, tree.tensors[access.tensor].name);
  }
  if (IsBegunAhead(tree, target)) {
    return Fail(ErrorCode::kInvalidArgument,
                "compute_at {}: loop {} belongs to a copy that is begun ahead", statement.name,
                tree.loops[target].name);
  }
  if (CanTakeStatement(tree, target)) return {};
  return Fail(ErrorCode::kInvalidArgument,
              "compute_at {}: loop {} is vector or not the innermost of its tasks or threads",
              statement.name, tree.loops[target].name);
}

}  // namespace

Status Apply(ScheduleTree& tree, const ReverseComputeAtStep& step) {
  const std::optional<StatementId> moved = tree.FindStatement(step.statement);
  TUNEC_ASSIGN(const VarId target, LoopNamed(tree, step.loop));
  const std::vector<StatementId> inside = StatementsBelow(*FindLoopNode(tree.root, target));
  const auto later =
      std::ranges::find_if(inside, [&](StatementId other) { return moved && other > *moved; });
  if (later != inside.end()) {
    return Fail(ErrorCode::kInvalidArgument, "reverse_compute_at {}: {} inside {} comes after it",
                step.statement, tree.statements[*later].name, step.loop);
  }
  return Apply(tree, ComputeAtStep{step.statement, step.loop});
}

Status Apply(ScheduleTree& tree, const ComputeAtStep& step) {
  const std::optional<StatementId> moved = tree.FindStatement(step.statement);
  if (!moved) {
    return Fail(ErrorCode::kInvalidArgument, "compute_at: there is no statement {}",
                step.statement);
  }
  TUNEC_ASSIGN(const VarId target, LoopNamed(tree, step.loop));
  const std::vector<StatementId> inside = StatementsBelow(*FindLoopNode(tree.root, target));
  if (std::ranges::find(inside, *moved) != inside.end()) {
    return Fail(ErrorCode::kInvalidArgument, "compute_at {}: it is inside {} already",
                step.statement, step.loop);
  }
  TUNEC_RETURN_IF_ERROR(CheckMove(tree, *moved, target));
  std::optional<ClosestRelation> relation = FindClosest(tree.statements, *moved, inside);
  if (!relation) {
    return Fail(ErrorCode::kInvalidArgument,
                "compute_at {}: no tensor relates it to a statement inside {}", step.statement,
                step.loop);
  }
  return Mover(tree, *moved, std::move(*relation), target).Run();
}

}  // namespace tunec
