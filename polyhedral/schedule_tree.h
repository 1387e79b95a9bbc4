// A schedule tree: the order in which the instances of a Compute's statements run, as a tree
// of loops, sequences and leaves. A loop gives each statement below it a quasi-affine value
// of that statement's iterators (`forward`); instances run in the lexicographic order of
// these values and of their places in sequences. The inverse, each iterator as an expression
// of the loops around its statement, is kept beside it, so that loops can be generated
// without solving anything. Whether the order is allowed is legality.h's to say.
//
// Reductions are explicit here: a statement S with a reducer is `S.init`, which stores the
// identity, and S, whose instances combine into what is there (and `S.final` if it finalises).
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
    kAlloc,     // storage of a tensor for each run of the child
  };
  Kind kind = Kind::kLeaf;
  VarId loop;             // kLoop
  StatementId statement;  // kLeaf
  TensorId tensor;        // kAlloc
  Scope scope = Scope::kRegister;
  Swizzle swizzle;
  std::vector<TreeNode> children;
};

/// Beside each access to the tensor in a loop, ask for the element that the same statement will
/// touch so many iterations later.
struct LoopPrefetch {
  TensorId tensor;
  int64_t distance = 0;
  int level = 1;  // of the caches
};

/// A loop and those inside it as one instruction, wherever all their iterations run.
struct LoopTile {
  std::string intrinsic;     // of ir/tile_intrinsic.h
  std::vector<VarId> loops;  // in the order of its axes
};

/// Copies inside a loop that are begun ahead: each iteration uses one of `stages` copies of the
/// storage they fill (by its first dimension), and begins the one that is used `stages - 1`
/// iterations later.
struct LoopPipeline {
  int stages = 1;
  int token = 0;
  std::vector<StatementId> copies = {};
  std::vector<TensorId> filled = {};
};

/// A loop of the tree; its values lie in [0, extent).
struct TreeLoop {
  std::string name;  // unique: "acc.i", after a split "acc.i.0" and "acc.i.1"
  int64_t extent = 0;
  LoopKind kind = LoopKind::kSerial;
  int unroll = 1;
  /// Generate the iterations in which no condition can fail apart from the others, so that
  /// full tiles carry no conditions.
  bool isolate = false;
  /// Values at which a new part of the loop begins, generated apart; ascending.
  std::vector<int64_t> cuts = {};
  std::vector<LoopPrefetch> prefetches = {};
  std::optional<LoopTile> tile = {};  // of the outermost loop of a tile
  bool in_tile = false;               // of all of its loops
  LoopPipeline pipeline = {};
  bool IsPipelined() const { return pipeline.stages > 1; }
};

/// Whether iterations of such a loop may run at the same time.
bool RunsTogether(LoopKind kind);

struct ScheduleTree {
  std::string name;
  Tensors tensors;
  Statements statements;  // reductions expanded
  IdVector<VarId, TreeLoop> loops;
  TreeNode root;  // a sequence: the phases
  /// The value of each loop around a statement, over its iterators.
  IdVector<StatementId, std::map<VarId, IndexExpr>> forward;
  /// Each iterator of a statement over the loops around it.
  IdVector<StatementId, std::vector<IndexExpr>> inverse;
  /// Whether a statement's stores bypass the caches.
  IdVector<StatementId, bool> non_temporal;

  std::optional<VarId> FindLoop(std::string_view loop_name) const;
  std::optional<StatementId> FindStatement(std::string_view statement_name) const;
  std::optional<TensorId> FindTensor(std::string_view tensor_name) const;
  IntervalOf LoopIntervals() const;
};

/// The Compute's original order: each statement in its own loops.
ScheduleTree OriginalTree(const Compute& compute);

/// The statements of a compute with reductions made explicit, in original order.
Statements ExpandReductions(const Compute& compute);

/// The node of a loop, and the chain of nodes from the root to it; null when there is none.
TreeNode* FindLoopNode(TreeNode& root, VarId loop);
std::vector<const TreeNode*> PathToLoop(const TreeNode& root, VarId loop);
/// The statements below a node, in order.
std::vector<StatementId> StatementsBelow(const TreeNode& node);
/// The loops around a statement's leaf, outermost first.
std::vector<VarId> LoopsAround(const TreeNode& root, StatementId statement);

/// `for acc.i.0 < 4 parallel`
std::string PrintLoop(const ScheduleTree& tree, VarId loop);
/// The tree's nodes, indented, one a line, for people and golden tests.
std::string Print(const ScheduleTree& tree);

/// Checks every invariant listed in verify_schedule_tree.cc. kInternal: a tree comes from our own
/// steps alone.
Status Verify(const ScheduleTree& tree);

}  // namespace tunec
