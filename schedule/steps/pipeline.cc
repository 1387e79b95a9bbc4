// pipeline: begins the copies into an iteration's storage one or more iterations ahead.
//
// The loop contains staged tensors (storage for each iteration) and a sequence. A staged tensor
// takes part if its storage is packed or shared, one plain copy alone fills it, and the copy is a
// part of the sequence. The copy must not read another of these tensors, and only statements inside
// the loop may touch the tensor. The tensor then exists several times: a new first dimension is
// indexed by the iteration modulo the number of stages. The tree keeps the original order. The
// generator and the legality check handle the copies that begin ahead
// (polyhedral/generate/pipeline.cc, polyhedral/legality/legality.h).
#include <fmt/format.h>

#include <algorithm>

#include "schedule/steps/apply_loop_steps.h"

namespace tunec {
namespace {

constexpr int kMostStages = 64;

std::unexpected<Error> Reject(const PipelineStep& step, std::string_view why) {
  return Fail(ErrorCode::kInvalidArgument, "pipeline {}: {}", step.loop, why);
}

// Returns the only statement that writes the tensor, if it is a plain copy.
std::optional<StatementId> CopyInto(const ScheduleTree& tree, TensorId tensor) {
  std::optional<StatementId> copy;
  for (const StatementId s : tree.statements.ids()) {
    const Statement& statement = tree.statements[s];
    const auto fills = [&](const Write& write) { return write.tensor == tensor; };
    if (std::ranges::none_of(statement.writes, fills)) continue;
    const bool plain = !copy && !statement.reducer && statement.writes.size() == 1 &&
                       statement.reads.size() == 1 && statement.values[0].kind() == ExprKind::kRead;
    if (!plain) return std::nullopt;
    copy = s;
  }
  return copy;
}

bool IsPart(const TreeNode& body, StatementId statement) {
  if (body.kind != TreeNode::Kind::kSequence) return false;
  return std::ranges::any_of(body.children, [&](const TreeNode& part) {
    return StatementsBelow(part) == std::vector<StatementId>{statement};
  });
}

void AddStages(ScheduleTree& tree, VarId loop, TensorId tensor, int stages) {
  tree.tensors[tensor].shape.insert(tree.tensors[tensor].shape.begin(), stages);
  for (const StatementId s : tree.statements.ids()) {
    const auto add = [&](auto& access) {
      if (access.tensor != tensor) return;
      access.index.insert(access.index.begin(), IndexExpr::Mod(tree.forward[s].at(loop), stages));
    };
    std::ranges::for_each(tree.statements[s].reads, add);
    std::ranges::for_each(tree.statements[s].writes, add);
  }
}

// Checks that only statements inside the loop touch the tensor, because no other statement has a
// value of the loop to select a stage.
bool OnlyInside(const ScheduleTree& tree, const TreeNode& loop, TensorId tensor) {
  const std::vector<StatementId> inside = StatementsBelow(loop);
  const auto touches = [&](const auto& access) { return access.tensor == tensor; };
  for (const StatementId s : tree.statements.ids()) {
    const Statement& statement = tree.statements[s];
    const bool uses = std::ranges::any_of(statement.reads, touches) ||
                      std::ranges::any_of(statement.writes, touches);
    if (uses && std::ranges::find(inside, s) == inside.end()) {
      return false;
    }
  }
  return true;
}

}  // namespace

Status Apply(ScheduleTree& tree, const PipelineStep& step) {
  TUNEC_ASSIGN(const VarId loop, SerialLoop(tree, "pipeline", step.loop));
  if (step.stages < 2 || step.stages > kMostStages) {
    return Reject(step, fmt::format("{} stages, expected 2 to {}", step.stages, kMostStages));
  }
  if (tree.loops[loop].isolate) return Reject(step, "it is isolated");
  for (const TreeNode* node : PathToLoop(tree.root, loop)) {
    if (node->kind == TreeNode::Kind::kLoop && IsBlock(tree.loops[node->loop].kind)) {
      return Reject(step, "it is inside a loop over threads");
    }
  }
  const TreeNode& node = *FindLoopNode(tree.root, loop);
  LoopPipeline pipeline{.stages = step.stages};
  std::vector<const TreeNode*> stages;
  const TreeNode* sequence = &node.children[0];
  for (; sequence->kind == TreeNode::Kind::kAlloc; sequence = &sequence->children[0]) {
    stages.push_back(sequence);
  }
  for (const TreeNode* stage : stages) {
    const std::optional<StatementId> copy = CopyInto(tree, stage->tensor);
    const bool in_memory = stage->scope == Scope::kPacked || stage->scope == Scope::kShared;
    if (!copy || !in_memory || !IsPart(*sequence, *copy)) continue;
    if (!OnlyInside(tree, node, stage->tensor)) continue;
    const TensorId source = tree.statements[*copy].reads[0].tensor;
    const bool from_inside =
        std::ranges::any_of(stages, [&](const TreeNode* other) { return other->tensor == source; });
    if (from_inside) continue;
    pipeline.copies.push_back(*copy);
    pipeline.filled.push_back(stage->tensor);
  }
  for (const StatementId copy : pipeline.copies) {
    if (!tree.non_temporal[copy]) continue;
    return Reject(step, fmt::format("{} is non_temporal, but its result is used soon",
                                    tree.statements[copy].name));
  }
  if (pipeline.copies.empty()) {
    return Reject(step, "it contains no plain copy into separate packed or shared storage");
  }
  for (const TreeLoop& other : tree.loops) {
    if (other.IsPipelined()) pipeline.token = std::max(pipeline.token, other.pipeline.token + 1);
  }
  for (const TensorId tensor : pipeline.filled) AddStages(tree, loop, tensor, step.stages);
  tree.loops[loop].pipeline = std::move(pipeline);
  return {};
}

}  // namespace tunec
