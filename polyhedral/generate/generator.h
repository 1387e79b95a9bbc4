// The walk over a schedule tree that makes loops of it, for the files that share it: generate.cc
// is the recursion over the nodes, the others say what becomes of one kind.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ir/nest/rewrite_loop_nest.h"
#include "polyhedral/generate/conditions.h"

namespace tunec {

struct ThreadPart;

/// What is known at one place of the tree.
struct Context {
  Conditions conditions;
  std::vector<const TreeNode*> undivided = {};  // isolated parallel loops around this place
  std::vector<VarId> undecided = {};            // isolated loops that loops further in decide
  bool among_threads = false;                   // directly inside a block loop
  bool in_threads = false;                      // anywhere inside one
  std::optional<int> token = {};                // stores are copies that complete later
  // Reductions of which each thread keeps its part here.
  const std::vector<ThreadPart>* parts = nullptr;
  const ThreadPart* end = nullptr;  // the leaf is where these parts are combined
};

class Generator {
 public:
  explicit Generator(const ScheduleTree& schedule_tree)
      : tree(schedule_tree), tensors(schedule_tree.tensors) {}

  LoopNest Run();

  /// What a node becomes inside the loops that the context knows; nothing when no statement below
  /// has an instance there.
  Body Generate(const TreeNode& node, Context context);

  /// Of a loop; each call has a name of its own.
  VarId NewVariable(const std::string& loop_name);
  /// A local tensor; of one name always the same.
  TensorId NewTensor(const std::string& name, DataType type, const std::vector<int64_t>& shape);

  /// The threads of a block of the present phase, along x, y, z.
  const std::array<int64_t, 3>& block() const { return block_; }
  /// The number of a thread along an axis, in loops over all threads; its variable.
  VarId ThreadVariable(size_t axis);
  IndexExpr Thread(size_t axis) { return IndexExpr::Var(ThreadVariable(axis)); }

  const ScheduleTree& tree;
  Tensors tensors;  // the tree's, and those that the loops need besides

 private:
  Body GenerateKind(const TreeNode& node, Context context);
  void CountThreads(const TreeNode& node);
  bool IsInChain(const TreeNode& node, bool among_threads) const;
  Body OnePart(Body parts);

  IdVector<VarId, std::string> variables_;
  std::set<std::string> variable_names_;
  std::map<std::string, int> copies_;  // made of a name
  std::map<std::string, TensorId> own_tensors_;
  std::array<int64_t, 3> block_ = {1, 1, 1};
  std::array<std::optional<VarId>, 3> threads_;
};

// loop.cc

Body GenerateLoop(Generator& generator, const TreeNode& node, Context context);

/// A node inside a chain of parallel loops, some of them isolated. The tasks of a phase are one
/// unbroken chain: the parts of such a loop are told apart here, inside it.
Body DivideTasks(Generator& generator, const TreeNode& node, Context context);

// thread_parts.cc

/// A chain of loops over threads, of which this is the outermost; behind it the threads combine
/// their parts of the reductions that they share out.
Body GenerateThreads(Generator& generator, const TreeNode& node, Context context);
/// Puts what a statement's leaf would write into its thread's part, if the context has one.
void KeepParts(const Generator& generator, StatementId statement, const Context& context,
               Body& leaf);
/// What the leaf at the context's `end` becomes.
Body CombineParts(Generator& generator, const Context& context);

// pipeline.cc

/// A loop that begins the copies of later iterations, over a constant range.
Body GeneratePipeline(Generator& generator, const TreeNode& node, const Context& context,
                      Interval range);

// tile.cc

/// Whether a tile begins at this loop and all of its iterations run.
bool IsWholeTile(const ScheduleTree& tree, const TreeNode& node, const Conditions& conditions);
Body GenerateTile(Generator& generator, const TreeNode& node, Context context);

// leaf.cc

/// The stores of a statement, or copies where the context has a token, behind its prefetches.
Body GenerateLeaf(const ScheduleTree& tree, StatementId statement, const Context& context);
Store InstanceOf(const ScheduleTree& tree, StatementId statement, const Conditions& conditions);
/// What the schedule asks for ahead beside each access of the statement.
Body PrefetchesOf(const ScheduleTree& tree, StatementId statement, const Conditions& conditions);

}  // namespace tunec
