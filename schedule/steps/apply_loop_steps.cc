#include "schedule/steps/apply_loop_steps.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <numeric>
#include <utility>

#include "ir/sizes.h"

namespace tunec {
namespace {

// Largest product of the factors of a `split`. It keeps extents and strides far from overflow.
constexpr int64_t kLargestSplit = int64_t{1} << 31;

void CollectLoops(const TreeNode& node, std::vector<VarId>& loops) {
  if (node.kind == TreeNode::Kind::kLoop) loops.push_back(node.loop);
  for (const TreeNode& child : node.children) CollectLoops(child, loops);
}

}  // namespace

void ReplaceInInverse(ScheduleTree& tree, const std::vector<StatementId>& statements, VarId loop,
                      const IndexExpr& value) {
  for (const StatementId s : statements) {
    for (IndexExpr& iterator : tree.inverse[s]) {
      iterator = Substitute(
          iterator, [&](VarId v) -> IndexExpr { return v == loop ? value : IndexExpr::Var(v); });
    }
  }
}

Result<VarId> LoopNamed(const ScheduleTree& tree, const std::string& name) {
  std::vector<VarId> present;
  CollectLoops(tree.root, present);
  for (const VarId loop : present) {
    if (tree.loops[loop].name == name) return loop;
  }
  std::vector<std::string> names;
  for (const VarId loop : present) names.push_back(tree.loops[loop].name);
  return Fail(ErrorCode::kInvalidArgument, "there is no loop {}; there are {}", name,
              fmt::join(names, " "));
}

Result<VarId> SerialLoop(const ScheduleTree& tree, std::string_view step, const std::string& name) {
  TUNEC_ASSIGN(const VarId loop, LoopNamed(tree, name));
  const TreeLoop& of = tree.loops[loop];
  if (of.in_tile) {
    return Fail(ErrorCode::kInvalidArgument, "{}: loop {} is part of a tile already", step, name);
  }
  if (!of.cuts.empty() || !of.prefetches.empty()) {
    return Fail(ErrorCode::kInvalidArgument, "{}: loop {} is peeled or prefetches already", step,
                name);
  }
  if (of.IsPipelined()) {
    return Fail(ErrorCode::kInvalidArgument, "{}: loop {} is pipelined already", step, name);
  }
  if (of.kind == LoopKind::kSerial && of.unroll == 1) return loop;
  return Fail(ErrorCode::kInvalidArgument,
              "{}: loop {} is vector, parallel, bound or unrolled already", step, name);
}

namespace {

// Checks that the name consists of letters, digits, '_' and '.', and begins with a letter or '_'.
bool IsLoopName(const std::string& name) {
  const auto is_letter = [](char c) {
    return std::isalpha(static_cast<unsigned char>(c)) || c == '_';
  };
  return !name.empty() && is_letter(name[0]) && std::ranges::all_of(name, [&](char c) {
    return is_letter(c) || c == '.' || std::isdigit(static_cast<unsigned char>(c));
  });
}

}  // namespace

Result<VarId> NewLoop(ScheduleTree& tree, std::string_view step, const std::string& name,
                      int64_t extent) {
  if (LoopNamed(tree, name)) {
    return Fail(ErrorCode::kInvalidArgument, "{}: there is a loop {} already", step, name);
  }
  if (!IsLoopName(name)) {
    return Fail(ErrorCode::kInvalidArgument, "{}: '{}' is not a valid loop name", step, name);
  }
  return tree.loops.push_back({.name = name, .extent = extent});
}

namespace {

Status CheckFactors(const SplitStep& step, int64_t extent) {
  if (step.factors.empty()) {
    return Fail(ErrorCode::kInvalidArgument, "split {}: no factors", step.loop);
  }
  int64_t inner_size = 1;
  for (const int64_t factor : step.factors) {
    inner_size *= std::clamp<int64_t>(factor, 0, kLargestSplit + 1);
    if (inner_size < 1 || inner_size > kLargestSplit) {
      return Fail(ErrorCode::kInvalidArgument, "split {}: factor {} of a loop of extent {}",
                  step.loop, factor, extent);
    }
  }
  return {};
}

// Returns the node of the loop around all other loops of the list, or null.
TreeNode* OutermostOf(ScheduleTree& tree, const std::vector<VarId>& loops) {
  for (const VarId loop : loops) {
    TreeNode* candidate = FindLoopNode(tree.root, loop);
    std::vector<VarId> below;
    CollectLoops(*candidate, below);
    const bool outermost = std::ranges::all_of(
        loops, [&](VarId other) { return std::ranges::find(below, other) != below.end(); });
    if (outermost) return candidate;
  }
  return nullptr;
}

// Replaces the node's loop by a chain of loops around its body.
void ReplaceByChain(TreeNode& node, const std::vector<VarId>& loops) {
  std::vector<TreeNode> body = std::move(node.children);
  for (size_t level = loops.size(); level-- > 1;) {
    TreeNode inner{.kind = TreeNode::Kind::kLoop, .loop = loops[level]};
    inner.children = std::move(body);
    body.clear();
    body.push_back(std::move(inner));
  }
  node.loop = loops[0];
  node.children = std::move(body);
}

}  // namespace

// Checks that the extent of a split loop may be rounded up to a multiple. A loop that `compute_at`
// made may have fewer iterations than a statement's iterator has values. After rounding up, the
// loop would reach further values of this iterator.
Status CheckRoundsUp(const ScheduleTree& tree, const SplitStep& step, VarId loop,
                     const std::vector<StatementId>& statements, int64_t inner_size) {
  const int64_t extent = tree.loops[loop].extent;
  if (extent % inner_size == 0) return {};
  for (const StatementId s : statements) {
    const std::optional<VarId> iterator = tree.forward[s].at(loop).AsVar();
    if (!iterator || tree.statements[s].iterators[*iterator].extent <= extent) continue;
    return Fail(ErrorCode::kInvalidArgument,
                "split {}: its extent {} is less than that of {}, so {} must divide it", step.loop,
                extent, tree.statements[s].name, inner_size);
  }
  return {};
}

Status Apply(ScheduleTree& tree, const SplitStep& step) {
  TUNEC_ASSIGN(const VarId loop, SerialLoop(tree, "split", step.loop));
  TUNEC_RETURN_IF_ERROR(CheckFactors(step, tree.loops[loop].extent));
  const int64_t inner_size =
      std::accumulate(step.factors.begin(), step.factors.end(), int64_t{1}, std::multiplies<>());
  TreeNode* node = FindLoopNode(tree.root, loop);
  const std::vector<StatementId> statements = StatementsBelow(*node);
  TUNEC_RETURN_IF_ERROR(CheckRoundsUp(tree, step, loop, statements, inner_size));
  // Extents of the parts, outermost first. `value` becomes the sum of part * stride.
  std::vector<int64_t> extents = {CeilDivide(tree.loops[loop].extent, inner_size)};
  extents.insert(extents.end(), step.factors.begin(), step.factors.end());
  IndexExpr value(0);
  int64_t stride = inner_size;
  std::vector<VarId> parts;
  for (size_t level = 0; level < extents.size(); ++level) {
    if (level > 0) stride /= extents[level];
    const VarId part = tree.loops.next_id();
    std::string name = fmt::format("{}.{}", step.loop, level);
    if (LoopNamed(tree, name)) {
      return Fail(ErrorCode::kInvalidArgument, "split {}: there is a loop {} already", step.loop,
                  name);
    }
    tree.loops.push_back({.name = std::move(name), .extent = extents[level]});
    parts.push_back(part);
    value += IndexExpr::Var(part) * stride;
    for (const StatementId s : statements) {
      const IndexExpr& whole = tree.forward[s].at(loop);
      IndexExpr quotient = IndexExpr::FloorDiv(whole, stride);
      if (level > 0) {
        quotient -= IndexExpr::FloorDiv(whole, stride * extents[level]) * extents[level];
      }
      tree.forward[s][part] = std::move(quotient);
    }
  }
  ReplaceInInverse(tree, statements, loop, value);
  for (const StatementId s : statements) tree.forward[s].erase(loop);
  ReplaceByChain(*node, parts);
  return {};
}

Status Apply(ScheduleTree& tree, const ReorderStep& step) {
  std::vector<VarId> reordered;
  for (const std::string& name : step.loops) {
    TUNEC_ASSIGN(const VarId loop, SerialLoop(tree, "reorder", name));
    if (std::ranges::find(reordered, loop) != reordered.end()) {
      return Fail(ErrorCode::kInvalidArgument, "reorder: loop {} is named twice", name);
    }
    reordered.push_back(loop);
  }
  std::vector<TreeNode*> nodes;
  for (TreeNode* at = OutermostOf(tree, reordered);
       at != nullptr && nodes.size() < reordered.size();) {
    if (at->kind == TreeNode::Kind::kLoop &&
        std::ranges::find(reordered, at->loop) != reordered.end()) {
      nodes.push_back(at);
    }
    const bool goes_on = at->kind == TreeNode::Kind::kLoop && at->children.size() == 1;
    at = goes_on ? &at->children[0] : nullptr;
  }
  if (nodes.size() != reordered.size()) {
    return Fail(ErrorCode::kInvalidArgument, "reorder {}: the loops are not one chain",
                fmt::join(step.loops, " "));
  }
  for (size_t i = 0; i < reordered.size(); ++i) nodes[i]->loop = reordered[i];
  return {};
}

Status Apply(ScheduleTree& tree, const FuseStep& step) {
  TUNEC_ASSIGN(const VarId outer, SerialLoop(tree, "fuse", step.outer));
  TUNEC_ASSIGN(const VarId inner, SerialLoop(tree, "fuse", step.inner));
  TreeNode* node = FindLoopNode(tree.root, outer);
  TreeNode* child = &node->children[0];
  if (child->kind != TreeNode::Kind::kLoop || child->loop != inner) {
    return Fail(ErrorCode::kInvalidArgument, "fuse: {} is not directly inside {}", step.inner,
                step.outer);
  }
  if (MultiplySizes(tree.loops[outer].extent, tree.loops[inner].extent) > int64_t{1} << 50) {
    return Fail(ErrorCode::kInvalidArgument, "fuse: {} and {} have too many iterations together",
                step.outer, step.inner);
  }
  const int64_t inner_extent = tree.loops[inner].extent;
  TUNEC_ASSIGN(const VarId fused,
               NewLoop(tree, "fuse", step.name, tree.loops[outer].extent * inner_extent));
  const std::vector<StatementId> statements = StatementsBelow(*node);
  for (const StatementId s : statements) {
    tree.forward[s][fused] = tree.forward[s].at(outer) * inner_extent + tree.forward[s].at(inner);
    tree.forward[s].erase(outer);
    tree.forward[s].erase(inner);
  }
  const IndexExpr value = IndexExpr::Var(fused);
  ReplaceInInverse(tree, statements, outer, IndexExpr::FloorDiv(value, inner_extent));
  ReplaceInInverse(tree, statements, inner, IndexExpr::Mod(value, inner_extent));
  std::vector<TreeNode> body = std::move(child->children);
  node->loop = fused;
  node->children = std::move(body);
  return {};
}

bool CanTakeStatement(const ScheduleTree& tree, VarId loop) {
  if (tree.loops[loop].in_tile) return false;
  const LoopKind kind = tree.loops[loop].kind;
  if (NumbersTasks(kind) || IsBlock(kind)) {
    const TreeNode& child = PathToLoop(tree.root, loop).back()->children[0];
    const auto in_chain = IsBlock(kind) ? IsBlock : NumbersTasks;
    return child.kind != TreeNode::Kind::kLoop || !in_chain(tree.loops[child.loop].kind);
  }
  return kind == LoopKind::kSerial || kind == LoopKind::kUnrolled;
}

Status Apply(ScheduleTree& tree, const IsolateStep& step) {
  TUNEC_ASSIGN(const VarId loop, LoopNamed(tree, step.loop));
  if (tree.loops[loop].IsPipelined()) {
    return Fail(ErrorCode::kInvalidArgument, "isolate: loop {} is pipelined already", step.loop);
  }
  tree.loops[loop].isolate = true;
  return {};
}

Status SetKind(ScheduleTree& tree, const std::string& name, LoopKind kind) {
  TUNEC_ASSIGN(const VarId loop, LoopNamed(tree, name));
  if (tree.loops[loop].kind != LoopKind::kSerial || tree.loops[loop].unroll != 1 ||
      tree.loops[loop].IsPipelined()) {
    return Fail(ErrorCode::kInvalidArgument, "loop {} is not serial any more", name);
  }
  tree.loops[loop].kind = kind;
  return {};
}

Status Apply(ScheduleTree& tree, const UnrollStep& step) {
  TUNEC_ASSIGN(const VarId loop, LoopNamed(tree, step.loop));
  const int64_t copies = step.factor == 0 ? tree.loops[loop].extent : step.factor;
  if (step.factor < 0 || copies > kMostUnrolled) {
    return Fail(ErrorCode::kInvalidArgument, "unroll {}: {} copies, expected at most {}", step.loop,
                copies, kMostUnrolled);
  }
  if (step.factor == 0) return SetKind(tree, step.loop, LoopKind::kUnrolled);
  if (tree.loops[loop].kind != LoopKind::kSerial) {
    return Fail(ErrorCode::kInvalidArgument, "unroll {}: it is not serial any more", step.loop);
  }
  tree.loops[loop].unroll = step.factor;
  return {};
}

Status Apply(ScheduleTree& tree, const VectorizeStep& step) {
  TUNEC_ASSIGN(const VarId loop, LoopNamed(tree, step.loop));
  if (FindLoopNode(tree.root, loop)->children[0].kind != TreeNode::Kind::kLeaf) {
    return Fail(ErrorCode::kInvalidArgument,
                "vectorize {}: it must be the innermost loop of one statement", step.loop);
  }
  return SetKind(tree, step.loop, LoopKind::kVector);
}

bool IsInLoopChain(const ScheduleTree& tree, VarId loop, bool (*may_be_around)(LoopKind)) {
  const std::vector<const TreeNode*> path = PathToLoop(tree.root, loop);
  for (size_t i = 1; i + 1 < path.size(); ++i) {
    if (path[i]->kind != TreeNode::Kind::kLoop || !may_be_around(tree.loops[path[i]->loop].kind)) {
      return false;
    }
  }
  return true;
}

bool ContainsKind(const ScheduleTree& tree, const TreeNode& node, bool (*accepts)(LoopKind)) {
  std::vector<VarId> loops;
  CollectLoops(node, loops);
  return std::ranges::any_of(loops, [&](VarId loop) { return accepts(tree.loops[loop].kind); });
}

Status Apply(ScheduleTree& tree, const ParallelizeStep& step) {
  TUNEC_ASSIGN(const VarId loop, LoopNamed(tree, step.loop));
  const auto may_be_around = [](LoopKind kind) { return NumbersTasks(kind) && !IsGrid(kind); };
  if (tree.loops[loop].in_tile || !IsInLoopChain(tree, loop, may_be_around)) {
    return Fail(ErrorCode::kInvalidArgument,
                "parallelize {}: only the outermost loops of a phase can be tasks", step.loop);
  }
  const auto is_bound = [](LoopKind kind) { return IsGrid(kind) || IsBlock(kind); };
  if (ContainsKind(tree, *FindLoopNode(tree.root, loop), is_bound)) {
    return Fail(ErrorCode::kInvalidArgument, "parallelize {}: a loop inside it is bound",
                step.loop);
  }
  return SetKind(tree, step.loop, LoopKind::kParallel);
}

Status Apply(ScheduleTree& tree, const WavefrontStep& step) {
  TUNEC_ASSIGN(const VarId loop, LoopNamed(tree, step.loop));
  const auto is_wave = [](LoopKind kind) { return kind == LoopKind::kWave; };
  if (tree.loops[loop].in_tile || !IsInLoopChain(tree, loop, is_wave)) {
    return Fail(ErrorCode::kInvalidArgument,
                "wavefront {}: only the outermost loops of a phase can be waves", step.loop);
  }
  return SetKind(tree, step.loop, LoopKind::kWave);
}

Status Apply(ScheduleTree& tree, const NonTemporalStep& step) {
  const std::optional<StatementId> statement = tree.FindStatement(step.statement);
  if (!statement) {
    return Fail(ErrorCode::kInvalidArgument, "non_temporal: there is no statement {}",
                step.statement);
  }
  const auto is_copied_ahead = [&](const TreeLoop& loop) {
    return std::ranges::find(loop.pipeline.copies, *statement) != loop.pipeline.copies.end();
  };
  if (std::ranges::any_of(tree.loops, is_copied_ahead)) {
    return Fail(ErrorCode::kInvalidArgument,
                "non_temporal: a pipeline begins {} ahead and uses its result soon",
                step.statement);
  }
  tree.non_temporal[*statement] = true;
  return {};
}

}  // namespace tunec
