#include "polyhedral/legality/order_questions.h"

#include <algorithm>
#include <utility>

#include "polyhedral/access.h"
#include "polyhedral/relations.h"
#include "polyhedral/thread_sums.h"
#include "support/overloaded.h"

// The switch has no default: it must list every kind of node, even a kind without a question.
#pragma GCC diagnostic error "-Wswitch"

namespace tunec {
namespace {

// A walk over a tree that collects the questions of stages, of pipelines and of concurrent loops.
// Each list is in the order of the tree, outer nodes first.
class Collector {
 public:
  explicit Collector(const ScheduleTree& tree) : tree_(tree) { Collect(tree.root, 0); }

  std::vector<OrderQuestion> Take() {
    const std::vector<StatementId> all = StatementsBelow(tree_.root);
    OrderQuestion forward{.asks = RunsForward(), .inside = {all.begin(), all.end()}};
    std::vector<OrderQuestion> questions = std::move(of_stages_);
    questions.push_back(std::move(forward));
    std::ranges::move(of_pipelines_, std::back_inserter(questions));
    std::ranges::move(of_loops_, std::back_inserter(questions));
    return questions;
  }

 private:
  void Collect(const TreeNode& node, size_t depth) {
    const auto ask = [&](auto question, std::vector<OrderQuestion>& into) {
      const std::vector<StatementId> below = StatementsBelow(node);
      into.push_back({question, depth, {below.begin(), below.end()}});
    };
    switch (node.kind) {
      case TreeNode::Kind::kAlloc:
        ask(StaysInRun{node.tensor}, of_stages_);
        if (IsPrivate(node.scope)) ask(StaysInThread{node.tensor}, of_stages_);
        break;
      case TreeNode::Kind::kLoop: {
        const TreeLoop& loop = tree_.loops[node.loop];
        if (loop.IsPipelined()) ask(IsCopiedAhead{node.loop}, of_pipelines_);
        if (RunsConcurrently(loop.kind)) ask(IsNotCarried{node.loop}, of_loops_);
        break;
      }
      case TreeNode::Kind::kSequence:
      case TreeNode::Kind::kLeaf:
        break;
    }
    const size_t entries = HasTime(node) ? 1 : 0;
    for (const TreeNode& child : node.children) Collect(child, depth + entries);
  }

  const ScheduleTree& tree_;
  std::vector<OrderQuestion> of_stages_;
  std::vector<OrderQuestion> of_pipelines_;
  std::vector<OrderQuestion> of_loops_;
};

// Returns true only if the loop is a vector loop whose lanes all reduce into one element, in any
// order. The lanes' values are then combined before the element is changed.
bool IsSumOfLanes(VarId loop, const ProofInput& input, const DependenceEnds& ends) {
  return input.tree.loops[loop].kind == LoopKind::kVector && ArePermutable(input, ends) &&
         WritesOneElement(input.tree, ends.from, input.statements[ends.from], loop);
}

// Returns true only if the loop is over threads that all reduce into one element, in any order.
// Each thread then computes a separate part, and the parts are combined.
bool IsSumOfThreads(VarId loop, const ProofInput& input, const DependenceEnds& ends) {
  if (!IsBlock(input.tree.loops[loop].kind) || !ArePermutable(input, ends)) return false;
  const auto sum = ThreadSumOf(input.tree, ends.from, input.statements[ends.from]);
  return sum && std::ranges::find(sum->threads, loop) != sum->threads.end();
}

}  // namespace

std::vector<OrderQuestion> QuestionsOf(const ScheduleTree& tree) { return Collector(tree).Take(); }

bool ArePermutable(const ProofInput& input, const DependenceEnds& ends) {
  return ends.from == ends.to && input.order == ReductionOrder::kAny &&
         IsReorderable(input.tensors, input.statements[ends.from]);
}

bool Concerns(const OrderQuestion& question, const ProofInput& input, const DependenceEnds& ends) {
  return std::visit(Overloaded{
                        [&](const StaysInRun& run) { return run.tensor == ends.storage; },
                        [&](const StaysInThread& thread) { return thread.tensor == ends.storage; },
                        [&](const RunsForward&) { return !ArePermutable(input, ends); },
                        [&](const IsCopiedAhead& ahead) {
                          const auto& copies = input.tree.loops[ahead.loop].pipeline.copies;
                          return ends.flow && question.inside.contains(ends.from) &&
                                 std::ranges::find(copies, ends.to) != copies.end();
                        },
                        [&](const IsNotCarried& loop) {
                          return question.inside.contains(ends.from) &&
                                 question.inside.contains(ends.to) &&
                                 !IsSumOfLanes(loop.loop, input, ends) &&
                                 !IsSumOfThreads(loop.loop, input, ends);
                        },
                    },
                    question.asks);
}

}  // namespace tunec
