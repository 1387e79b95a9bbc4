// What a schedule tree asks of dependences, collected once for both provers of its order: isl's
// (legality.cc) and the quick one by intervals (order_proof.cc).
//
// An instance's time is the vector of its places in sequences and its loops' values, from the root
// of the tree down (relations.h). A question is about the difference of the times of two dependent
// instances, entry by entry: of those dependences that it concerns, and of which the first `depth`
// differences are 0, it demands something of the next. A prover visits all alternatives of `asks`,
// so that a new one does not compile until both answer it.
#pragma once

#include <cstddef>
#include <set>
#include <variant>
#include <vector>

#include "ir/compute.h"
#include "polyhedral/legality/legality.h"
#include "polyhedral/schedule_tree.h"

namespace tunec {

/// A staged tensor: every value stays in one run of its stage, all of the first `depth` differences
/// are 0. Each run has its own storage, so reuse between runs is void: the questions after this one
/// are about dependences within a run.
struct StaysInRun {
  TensorId tensor;
};

/// Storage that each thread of a block has for itself: the two instances run on one thread.
struct StaysInThread {
  TensorId tensor;
};

/// The difference is lexicographically positive.
struct RunsForward {};

/// A pipelined loop begins the second instance ahead: the next difference is at least the number of
/// its stages.
struct IsCopiedAhead {
  VarId loop;
};

/// The iterations of a loop run together: the next difference is 0.
struct IsNotCarried {
  VarId loop;
};

struct OrderQuestion {
  std::variant<StaysInRun, StaysInThread, RunsForward, IsCopiedAhead, IsNotCarried> asks;
  size_t depth = 0;              // entries of time before the node that asks
  std::set<StatementId> inside;  // the node
};

/// In the order in which they are to be answered, which decides what a refusal names.
std::vector<OrderQuestion> QuestionsOf(const ScheduleTree& tree);

/// What a proof needs to know of the statements that a tree schedules, before any staging.
struct ProofInput {
  const Tensors& tensors;
  const Statements& statements;
  const ScheduleTree& tree;
  ReductionOrder order;
};

/// The dependences of instances of one statement on those of another, through one storage.
struct DependenceEnds {
  StatementId from;
  StatementId to;
  TensorId storage;
  bool flow = false;  // some may carry a value
};

/// Whether they are a reduction's on its own accumulator, which may be permuted.
bool ArePermutable(const ProofInput& input, const DependenceEnds& ends);

/// Whether the question is asked of these dependences.
bool Concerns(const OrderQuestion& question, const ProofInput& input, const DependenceEnds& ends);

}  // namespace tunec
