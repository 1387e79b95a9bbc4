// A schedule tree: the execution order of a Compute's statement instances, as a tree of loops,
// sequences, allocs and leaves. A loop has a quasi-affine value for each statement below, over the
// statement's iterators (`forward`). Instances run in the lexicographic order of these values and
// of their positions in sequences. The inverse, which expresses each iterator by the loops around
// its statement, is stored too: loops can then be generated without solving equations. legality.h
// checks whether the order is allowed.
//
// Reductions are explicit here. A new statement `S.init` before a statement S with a reducer stores
// the identity. The instances of S combine values into the written elements. If the reducer
// finalises, `S.final` follows.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/compute.h"
#include "ir/loop_nest.h"

namespace tunec {

struct TreeNode {
  enum class Kind : uint8_t {
    kLoop,      // one child
    kSequence,  // children in order; at the root they are phases
    kLeaf,      // all instances of one statement
    kAlloc,     // storage of a tensor; each run of the child has separate storage
  };
  Kind kind = Kind::kLeaf;
  VarId loop;             // kLoop
  StatementId statement;  // kLeaf
  TensorId tensor;        // kAlloc
  Scope scope = Scope::kRegister;
  Swizzle swizzle;
  std::vector<TreeNode> children;
};

/// A prefetch for the accesses to a tensor in a loop. It requests the element that the same
/// statement will access `distance` iterations later.
struct LoopPrefetch {
  TensorId tensor;
  int64_t distance = 0;
  int level = 1;  // level of the cache
};

/// A loop and its inner loops as one instruction, which is used only where all iterations of these
/// loops run.
struct LoopTile {
  std::string intrinsic;     // a name in ir/tile_intrinsic.h
  std::vector<VarId> loops;  // in the order of the instruction's axes
};

/// Copies inside a loop that start before their iteration; none if `stages` is 1. The first
/// dimension of the `filled` storage numbers its stages. Each iteration uses one stage, and starts
/// the copies for the iteration `stages - 1` later, if there is one.
struct LoopPipeline {
  int stages = 1;
  int token = 0;
  std::vector<StatementId> copies = {};
  std::vector<TensorId> filled = {};
};

/// A loop of the tree; its values are in [0, extent).
struct TreeLoop {
  std::string name;  // unique: "acc.i"; a split makes "acc.i.0" and "acc.i.1"
  int64_t extent = 0;
  LoopKind kind = LoopKind::kSerial;
  int unroll = 1;
  /// True if the iterations in which no condition on the loop can fail are generated separately, if
  /// possible, so that full tiles have no such conditions.
  bool isolate = false;
  /// Values at which the second and later separately generated parts of the loop begin; ascending.
  std::vector<int64_t> cuts = {};
  std::vector<LoopPrefetch> prefetches = {};
  std::optional<LoopTile> tile = {};  // set for the outermost loop of a tile
  bool in_tile = false;               // set for all loops of a tile
  LoopPipeline pipeline = {};
  bool IsPipelined() const { return pipeline.stages > 1; }
};

/// Returns whether iterations of a loop of this kind may run at the same time, or in any order.
bool RunsConcurrently(LoopKind kind);

struct ScheduleTree {
  std::string name;
  Tensors tensors;
  Statements statements;  // with reductions expanded
  IdVector<VarId, TreeLoop> loops;
  TreeNode root;  // a sequence: the phases
  /// The value of each loop around a statement, over the statement's iterators.
  IdVector<StatementId, std::map<VarId, IndexExpr>> forward;
  /// The value of each iterator of a statement, over the loops around the statement.
  IdVector<StatementId, std::vector<IndexExpr>> inverse;
  /// True if a statement's stores bypass the caches where possible.
  IdVector<StatementId, bool> non_temporal;

  std::optional<VarId> FindLoop(std::string_view loop_name) const;
  std::optional<StatementId> FindStatement(std::string_view statement_name) const;
  std::optional<TensorId> FindTensor(std::string_view tensor_name) const;
  IntervalOf LoopIntervals() const;
};

/// Returns the tree of the Compute's original order, where each statement has separate loops.
ScheduleTree OriginalTree(const Compute& compute);

/// Returns the statements of a Compute in original order, with the reductions made explicit.
Statements ExpandReductions(const Compute& compute);

/// FindLoopNode returns the node of a loop, or null if there is none. PathToLoop returns the nodes
/// from the root to the loop's node, both included, or an empty list if there is no such node.
TreeNode* FindLoopNode(TreeNode& root, VarId loop);
std::vector<const TreeNode*> PathToLoop(const TreeNode& root, VarId loop);
/// Returns the statements below a node, in order.
std::vector<StatementId> StatementsBelow(const TreeNode& node);
/// Returns the loops around a statement's leaf, outermost first.
std::vector<VarId> LoopsAround(const TreeNode& root, StatementId statement);

/// Returns a loop and its properties as text, such as `for acc.i.0 < 4 parallel`.
std::string PrintLoop(const ScheduleTree& tree, VarId loop);
/// Returns the nodes of the tree as text, indented, one per line, for users and golden tests.
std::string Print(const ScheduleTree& tree);

/// Checks every invariant listed in verify_schedule_tree.cc. Fails with kInternal, because only
/// tunec's own steps make trees.
Status Verify(const ScheduleTree& tree);

}  // namespace tunec
