// The generation of loops of the nest from a loop of the tree. The range of the loop may be split
// into several parts. A part of one iteration may have no loop.
#include <algorithm>
#include <set>

#include "polyhedral/generate/generator.h"

namespace tunec {
namespace {

// Returns the parts of a loop's range. The schedule's cuts separate parts. The range of an isolated
// loop is also split before and after the interval that FindUnconditionalRange returns.
std::vector<Interval> Parts(const TreeLoop& loop, const TreeNode& node,
                            const Conditions& conditions) {
  const Interval whole = conditions.range(node.loop);
  std::set<int64_t> begins(loop.cuts.begin(), loop.cuts.end());
  const std::optional<Interval> clean =
      loop.isolate ? conditions.FindUnconditionalRange(node) : std::nullopt;
  if (clean && clean->lo <= clean->hi) begins.insert({clean->lo, clean->hi + 1});
  std::vector<Interval> parts = {whole};
  for (const int64_t begin : begins) {
    if (begin <= whole.lo || begin > whole.hi) continue;
    parts.back().hi = begin - 1;
    parts.push_back({begin, whole.hi});
  }
  return parts;
}

// Generates a node twice: for the case that all conditions are true, and for the other case. For a
// power of two beyond all values, floor(c / power) is 0 if c >= 0 and -1 otherwise. The sum over
// all conditions is therefore negative exactly if a condition fails.
Body GenerateFullApart(Generator& generator, const TreeNode& node, const Context& context,
                       const std::vector<IndexExpr>& conditions) {
  int64_t power = 1;
  for (const IndexExpr& condition : conditions) {
    const Interval bounds = BoundsOf(condition, context.conditions.Ranges());
    while (power < std::max(-bounds.lo, bounds.hi + 1)) power *= 2;
  }
  If full;
  If other;
  IndexExpr failing(-1);
  Context inside = context;
  for (const IndexExpr& condition : conditions) {
    full.nonnegative.push_back(context.conditions.ToNest(condition));
    failing -= IndexExpr::FloorDiv(full.nonnegative.back(), power);
    inside.conditions.RemoveImplied(node, condition);
  }
  full.body = generator.Generate(node, std::move(inside));
  other.nonnegative.push_back(std::move(failing));
  other.body = generator.Generate(node, context);
  Body body;
  for (If* part : {&full, &other}) {
    if (!part->body.empty()) body.emplace_back(std::move(*part));
  }
  return body;
}

// Generates the inside of a loop whose value is known. If slanted conditions of isolated loops are
// undecided and do not exclude each other, generates the inside twice, with and without the
// conditions. If not all conditions can hold in the worst case of the inner loops, the inner loops
// separate their full iterations.
Body GenerateInside(Generator& generator, const TreeNode& node, Context context) {
  const TreeLoop& loop = generator.tree.loops[node.loop];
  const TreeNode& child = node.children[0];
  std::vector<VarId> asking = std::exchange(context.undecided, {});
  if (loop.isolate) asking.push_back(node.loop);
  const bool serial = loop.kind == LoopKind::kSerial || loop.kind == LoopKind::kWave;
  if (asking.empty() || !(serial || loop.isolate) || HasConstantBounds(loop.kind)) {
    return generator.Generate(child, std::move(context));
  }
  if (!loop.isolate) asking.push_back(node.loop);
  const SlantedConditions slanted = context.conditions.FindSlantedConditions(node, asking);
  const bool contradict = context.conditions.Contradict(slanted.open);
  if (slanted.fails || contradict) context.undecided = asking;
  if (slanted.open.empty() || contradict) return generator.Generate(child, std::move(context));
  return GenerateFullApart(generator, child, context, slanted.open);
}

// Generates the only iteration of a part of a loop, inside an If with the loop's bounds.
Body GenerateOnly(Generator& generator, const TreeNode& node, Context context, int64_t value,
                  const Bounds& bounds) {
  context.conditions.SetValue(node.loop, IndexExpr(value));
  If within;
  for (const IndexExpr& lower : bounds.lower)
    within.nonnegative.push_back(IndexExpr(value) - lower);
  for (const IndexExpr& upper : bounds.upper) within.nonnegative.push_back(upper - (value + 1));
  within.body = generator.Generate(node.children[0], std::move(context));
  return within.body.empty() ? Body() : BodyOf(std::move(within));
}

Body GenerateRange(Generator& generator, const TreeNode& node, Context context, Interval range,
                   const Bounds& bounds) {
  const TreeLoop& tree_loop = generator.tree.loops[node.loop];
  context.conditions.SetRange(node.loop, range);
  context.among_threads = IsBlock(tree_loop.kind);
  // A loop over threads with one iteration is replaced by the iteration only if the iteration is 0,
  // which thread 0 runs.
  const bool once =
      range.lo == range.hi && bounds.empty() && (!IsBlock(tree_loop.kind) || range.lo == 0);
  if (once) {
    context.conditions.SetValue(node.loop, IndexExpr(range.lo));
    return generator.Generate(node.children[0], std::move(context));
  }
  if (range.lo == range.hi && tree_loop.isolate && !HasConstantBounds(tree_loop.kind))
    return GenerateOnly(generator, node, std::move(context), range.lo, bounds);
  const VarId variable = generator.NewVariable(tree_loop.name);
  context.conditions.SetValue(node.loop, IndexExpr::Var(variable));
  Loop loop{.var = variable,
            .kind = tree_loop.kind,
            .lower = bounds.lower,
            .upper = bounds.upper,
            .unroll = tree_loop.unroll};
  loop.lower.insert(loop.lower.begin(), IndexExpr(range.lo));
  loop.upper.insert(loop.upper.begin(), IndexExpr(range.hi + 1));
  loop.body = GenerateInside(generator, node, std::move(context));
  return loop.body.empty() ? Body() : BodyOf(std::move(loop));
}

Body GenerateParts(Generator& generator, const TreeNode& node, Context context,
                   const Bounds& bounds) {
  const TreeLoop& loop = generator.tree.loops[node.loop];
  if (HasConstantBounds(loop.kind)) {
    const Interval whole = context.conditions.range(node.loop);
    context.undivided.push_back(&node);
    return GenerateRange(generator, node, std::move(context), whole, bounds);
  }
  Body body;
  for (const Interval& part : Parts(loop, node, context.conditions)) {
    Append(body, GenerateRange(generator, node, context, part, bounds));
  }
  return body;
}

}  // namespace

Body GenerateLoop(Generator& generator, const TreeNode& node, Context context) {
  const TreeLoop& loop = generator.tree.loops[node.loop];
  const Bounds bounds = context.conditions.TakeBounds(node);
  const Interval range = context.conditions.range(node.loop);
  if (range.lo > range.hi) return {};
  if (loop.IsPipelined()) return GeneratePipeline(generator, node, context, range);
  const bool isolated = loop.isolate && (bounds.empty() || !HasConstantBounds(loop.kind));
  if (isolated || !loop.cuts.empty()) {
    return GenerateParts(generator, node, std::move(context), bounds);
  }
  return GenerateRange(generator, node, std::move(context), range, bounds);
}

Body DivideTasks(Generator& generator, const TreeNode& node, Context context) {
  const TreeNode& divided = *context.undivided.back();
  context.undivided.pop_back();
  const VarId loop = divided.loop;
  const Interval whole = context.conditions.range(loop);
  const IndexExpr variable = *context.conditions.value(loop);
  const std::vector<Interval> parts =
      Parts(generator.tree.loops[loop], divided, context.conditions);
  if (parts.size() == 1) return generator.Generate(node, std::move(context));
  Body body;
  for (const Interval& part : parts) {
    Context inner = context;
    inner.conditions.SetRange(loop, part);
    if (part.lo == part.hi) inner.conditions.SetValue(loop, IndexExpr(part.lo));
    If choice;
    if (part.lo > whole.lo) choice.nonnegative.push_back(variable - part.lo);
    if (part.hi < whole.hi) choice.nonnegative.push_back(IndexExpr(part.hi) - variable);
    choice.body = generator.Generate(node, std::move(inner));
    if (!choice.body.empty()) body.emplace_back(std::move(choice));
  }
  return body;
}

}  // namespace tunec
