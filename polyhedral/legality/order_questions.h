// The requirements of a schedule tree on dependences. Each requirement is a question. The questions
// are collected once for both provers: isl's (legality.cc) and the quick one by intervals
// (order_proof.cc).
//
// An instance's time is the vector of its positions in sequences and its loops' values, from the
// root of the tree down (relations.h). Most questions are about the difference of the times of two
// dependent instances, entry by entry. A question about a loop concerns only dependences whose
// first `depth` differences are 0, and requires a property of the next difference. A new
// alternative of `asks` does not compile until both provers handle it.
#pragma once

#include <cstddef>
#include <set>
#include <variant>
#include <vector>

#include "ir/compute.h"
#include "polyhedral/legality/legality.h"
#include "polyhedral/schedule_tree.h"

namespace tunec {

/// The requirement for a staged tensor: every value stays in one run of its stage, so all of the
/// first `depth` differences are 0. Each run has separate storage, so reuse between runs is not a
/// dependence. Later questions about this tensor are only about dependences within a run.
struct StaysInRun {
  TensorId tensor;
};

/// The requirement for storage that is separate for each thread of a block: both instances run on
/// the same thread.
struct StaysInThread {
  TensorId tensor;
};

/// The requirement for dependences that may not be permuted (ArePermutable): the difference is
/// lexicographically positive.
struct RunsForward {};

/// The requirement for a pipelined loop, which starts the second instance, a copy, ahead of its
/// iteration. The next difference is at least the loop's number of stages.
struct IsCopiedAhead {
  VarId loop;
};

/// The requirement for a loop whose iterations may run at the same time: the next difference is 0.
/// Exempt are sums of lanes or threads (Concerns) and lanes that keep their order (LanesKeepOrder).
struct IsNotCarried {
  VarId loop;
};

struct OrderQuestion {
  std::variant<StaysInRun, StaysInThread, RunsForward, IsCopiedAhead, IsNotCarried> asks;
  size_t depth = 0;              // number of entries of time before that of the question's node
  std::set<StatementId> inside;  // statements inside the node
};

/// Returns the questions in the order in which they must be answered. If a dependence violates
/// several of them, an error reports the first.
std::vector<OrderQuestion> QuestionsOf(const ScheduleTree& tree);

/// The input of a proof. `tensors` and `statements` are those that the tree schedules, before any
/// staging.
struct ProofInput {
  const Tensors& tensors;
  const Statements& statements;
  const ScheduleTree& tree;
  ReductionOrder order;
};

/// Properties of the dependences through one storage from instances of one statement to instances
/// of another or the same statement.
struct DependenceEnds {
  StatementId from;
  StatementId to;
  TensorId storage;
  bool flow = false;  // some of the dependences may transfer a value
};

/// Returns whether the dependences may be permuted: `input.order` is kAny, and the dependences are
/// those of a reorderable reduction on its own accumulator.
bool ArePermutable(const ProofInput& input, const DependenceEnds& ends);

/// Returns whether the question concerns dependences with these ends.
bool Concerns(const OrderQuestion& question, const ProofInput& input, const DependenceEnds& ends);

}  // namespace tunec
