// The class Generator: a walk over a schedule tree that generates loops. generate.cc has the
// recursion over the nodes. The files named below generate loops of different kinds, and leaves.
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

/// The state of the walk at one node of the tree.
struct Context {
  Conditions conditions;
  std::vector<const TreeNode*> undivided =
      {};  // isolated parallel loops around the node that are not split yet
  std::vector<VarId> undecided = {};  // isolated loops; inner loops separate their full iterations
  bool among_threads = false;         // the node is directly inside a block loop
  bool in_threads = false;            // the node is inside a block loop, at any depth
  std::optional<int> token = {};  // set: the stores below are asynchronous copies with this token
  // Reductions of which each thread computes a part below this node; null: none.
  const std::vector<ThreadPart>* parts = nullptr;
  const ThreadPart* end =
      nullptr;  // set: the leaf below combines the threads' parts of this reduction
};

class Generator {
 public:
  explicit Generator(const ScheduleTree& schedule_tree)
      : tree(schedule_tree), tensors(schedule_tree.tensors) {}

  LoopNest Run();

  /// Returns the code of a node inside the loops that the context has values for. Returns an empty
  /// body if the ranges prove that no statement below has an instance there.
  Body Generate(const TreeNode& node, Context context);

  /// Makes a variable for a loop, with a unique name.
  VarId NewVariable(const std::string& loop_name);
  /// Returns a local tensor. A second call with the same name returns the same tensor.
  TensorId NewTensor(const std::string& name, DataType type, const std::vector<int64_t>& shape);

  /// Returns the number of threads of a block of the current phase, along x, y and z.
  const std::array<int64_t, 3>& block() const { return block_; }
  /// Returns the variable for the thread's number along an axis, for loops outside of the tree.
  VarId ThreadVariable(size_t axis);
  IndexExpr Thread(size_t axis) { return IndexExpr::Var(ThreadVariable(axis)); }

  const ScheduleTree& tree;
  Tensors tensors;  // the tree's tensors and additional ones of the loops

 private:
  Body GenerateKind(const TreeNode& node, Context context);
  void CountThreads(const TreeNode& node);
  bool IsInChain(const TreeNode& node, bool among_threads) const;
  Body OnePart(Body parts);

  IdVector<VarId, std::string> variables_;
  std::set<std::string> variable_names_;
  std::map<std::string, int> copies_;  // number of copies per name
  std::map<std::string, TensorId> own_tensors_;
  std::array<int64_t, 3> block_ = {1, 1, 1};
  std::array<std::optional<VarId>, 3> threads_;
};

// loop.cc

Body GenerateLoop(Generator& generator, const TreeNode& node, Context context);

/// Generates a node inside a chain of loops over tasks, waves or threads, some of which are
/// isolated or cut. The chain must not be interrupted. Therefore the parts of these loops are
/// separated here, inside the chain.
Body DivideTasks(Generator& generator, const TreeNode& node, Context context);

// thread_parts.cc

/// Generates a chain of loops over threads, from its outermost loop on. After the chain, the
/// threads combine their parts of shared reductions.
Body GenerateThreads(Generator& generator, const TreeNode& node, Context context);
/// If the statement is in the context's `parts`, redirects the writes of its leaf to the thread's
/// own part. Requires that `parts` is not null.
void RedirectWrites(const Generator& generator, StatementId statement, const Context& context,
                    Body& leaf);
/// Returns the code that replaces the leaf of the context's reduction `end`. The code combines the
/// parts of the threads.
Body CombineParts(Generator& generator, const Context& context);

// pipeline.cc

/// Generates a pipelined loop over a constant range, with the storage for copied data and the
/// copies that start before the loop.
Body GeneratePipeline(Generator& generator, const TreeNode& node, const Context& context,
                      Interval range);

// tile.cc

/// Returns whether a tile begins at this loop and all iterations of the tile's loops run.
bool IsWholeTile(const ScheduleTree& tree, const TreeNode& node, const Conditions& conditions);
Body GenerateTile(Generator& generator, const TreeNode& node, Context context);

// leaf.cc

/// Generates the prefetches and stores of a statement. If the context has a token, generates an
/// asynchronous copy instead.
Body GenerateLeaf(const ScheduleTree& tree, StatementId statement, const Context& context);
Store InstanceOf(const ScheduleTree& tree, StatementId statement, const Conditions& conditions);
/// Generates the prefetches that the schedule requests for the accesses of the statement.
Body PrefetchesOf(const ScheduleTree& tree, StatementId statement, const Conditions& conditions);

}  // namespace tunec
