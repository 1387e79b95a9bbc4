// The code for pipelined loops. Each iteration waits for its own copies, starts the copies of a
// later iteration if there is one, and then computes. The storage that the copies fill is allocated
// around the loop, in several stages. The first copies start before the loop.
#include <algorithm>
#include <functional>
#include <ranges>

#include "polyhedral/generate/generator.h"

namespace tunec {
namespace {

bool IsCopyOf(const TreeNode& node, const LoopPipeline& pipeline) {
  return std::ranges::all_of(StatementsBelow(node), [&](StatementId s) {
    return std::ranges::find(pipeline.copies, s) != pipeline.copies.end();
  });
}

// The nodes below a pipelined loop: storage that its copies fill, other storage, and the sequence
// inside.
struct PipelineParts {
  std::vector<const TreeNode*> filled;
  std::vector<const TreeNode*> others;
  const TreeNode* sequence = nullptr;
};

PipelineParts PipelinePartsOf(const TreeNode& node, const LoopPipeline& pipeline) {
  PipelineParts parts{.filled = {}, .others = {}, .sequence = &node.children[0]};
  while (parts.sequence->kind == TreeNode::Kind::kAlloc) {
    const bool filled =
        std::ranges::find(pipeline.filled, parts.sequence->tensor) != pipeline.filled.end();
    (filled ? parts.filled : parts.others).push_back(parts.sequence);
    parts.sequence = &parts.sequence->children[0];
  }
  return parts;
}

// Wraps a body in Allocs of the storage, the first one outermost. Each Alloc has `stages` stages.
Body InStorage(const std::vector<const TreeNode*>& storage, int stages, Body body) {
  for (const TreeNode* node : std::views::reverse(storage)) {
    Alloc alloc{
        .tensor = node->tensor, .scope = node->scope, .stages = stages, .swizzle = node->swizzle};
    alloc.body = std::move(body);
    body = BodyOf(std::move(alloc));
  }
  return body;
}

bool HoldsThreads(const ScheduleTree& tree, const TreeNode& node) {
  if (node.kind == TreeNode::Kind::kLoop && IsBlock(tree.loops[node.loop].kind)) return true;
  return std::ranges::any_of(node.children,
                             [&](const TreeNode& child) { return HoldsThreads(tree, child); });
}

// Generates a loop over a constant range around the body that `generate` returns. Generates no loop
// for a range of one value.
Body Iterate(Generator& generator, VarId loop, Context context, Interval range,
             const std::function<Body(Context)>& generate) {
  context.conditions.SetRange(loop, range);
  if (range.lo == range.hi) {
    context.conditions.SetValue(loop, IndexExpr(range.lo));
    return generate(std::move(context));
  }
  const TreeLoop& tree_loop = generator.tree.loops[loop];
  const VarId variable = generator.NewVariable(tree_loop.name);
  context.conditions.SetValue(loop, IndexExpr::Var(variable));
  Loop node{.var = variable,
            .lower = {IndexExpr(range.lo)},
            .upper = {IndexExpr(range.hi + 1)},
            .unroll = tree_loop.unroll};
  node.body = generate(std::move(context));
  return BodyOf(std::move(node));
}

// Generates the code that starts the copies of one iteration. The context has the iteration's
// value.
Body BeginCopies(Generator& generator, const TreeNode& node, Context context) {
  const LoopPipeline& pipeline = generator.tree.loops[node.loop].pipeline;
  context.token = pipeline.token;
  Body body;
  for (const TreeNode& child : PipelinePartsOf(node, pipeline).sequence->children) {
    if (IsCopyOf(child, pipeline)) Append(body, generator.Generate(child, context));
  }
  return body;
}

// Returns the node that assigns the issued copies of an iteration to their stage.
NestNode ArriveFor(const LoopPipeline& pipeline, const IndexExpr& iteration) {
  return NestNode{Arrive{pipeline.token, IndexExpr::Mod(iteration, pipeline.stages)}};
}

// Generates one iteration. The barrier after the wait also ensures that all threads have finished
// reading the storage that the new copies overwrite. If some iteration starts copies, every
// iteration arrives. The number of later arrivals, by which a GPU identifies copies, is then equal
// at every wait.
Body PipelineIteration(Generator& generator, const TreeNode& node, const Context& context,
                       Interval range) {
  const LoopPipeline& pipeline = generator.tree.loops[node.loop].pipeline;
  const PipelineParts parts = PipelinePartsOf(node, pipeline);
  const int64_t ahead = pipeline.stages - 1;
  const IndexExpr now = *context.conditions.value(node.loop);
  Body body = BodyOf(Wait{pipeline.token, IndexExpr::Mod(now, pipeline.stages),
                          IndexExpr::Mod(IndexExpr::FloorDiv(now - range.lo, pipeline.stages), 2)});
  const bool shared = std::ranges::any_of(
      parts.filled, [](const TreeNode* stage) { return stage->scope == Scope::kShared; });
  if (shared && HoldsThreads(generator.tree, node)) body.emplace_back(Barrier{});
  if (range.lo + ahead <= range.hi) {
    Context later = context;
    later.conditions.SetRange(node.loop, {range.lo + ahead, range.hi});
    later.conditions.SetValue(node.loop, now + ahead);
    If begin{.nonnegative = {IndexExpr(range.hi - ahead) - now}};
    begin.body = BeginCopies(generator, node, std::move(later));
    if (!begin.body.empty()) body.emplace_back(std::move(begin));
    body.push_back(ArriveFor(pipeline, now + ahead));
  }
  Body work;
  for (const TreeNode& child : parts.sequence->children) {
    if (!IsCopyOf(child, pipeline)) Append(work, generator.Generate(child, context));
  }
  Append(body, InStorage(parts.others, 1, std::move(work)));
  return body;
}

}  // namespace

Body GeneratePipeline(Generator& generator, const TreeNode& node, const Context& context,
                      Interval range) {
  const LoopPipeline& pipeline = generator.tree.loops[node.loop].pipeline;
  const Interval first = {range.lo, std::min(range.hi, range.lo + pipeline.stages - 2)};
  Body result = Iterate(generator, node.loop, context, first, [&](const Context& inner) {
    Body body = BeginCopies(generator, node, inner);
    body.push_back(ArriveFor(pipeline, *inner.conditions.value(node.loop)));
    return body;
  });
  Append(result, Iterate(generator, node.loop, context, range, [&](const Context& inner) {
           return PipelineIteration(generator, node, inner, range);
         }));
  return InStorage(PipelinePartsOf(node, pipeline).filled, pipeline.stages, std::move(result));
}

}  // namespace tunec
