// inline: computes a statement's value where it is read.
#include <algorithm>
#include <optional>
#include <vector>

#include "schedule/steps/apply_compute_steps.h"

namespace tunec {
namespace {

// Replaces a read in the consumer's values by the producer's value, and adds the producer's reads.
void InlineRead(Statement& consumer, size_t slot, const Statement& producer) {
  std::vector<IndexExpr> iterator_of(producer.iterators.size());
  for (size_t d = 0; d < producer.writes[0].index.size(); ++d) {
    const std::optional<VarId> iterator = producer.writes[0].index[d].AsVar();
    if (iterator) iterator_of[iterator->index()] = consumer.reads[slot].index[d];
  }
  const auto first = static_cast<int>(consumer.reads.size());
  const auto rewrite = [&](const IndexExpr& index) {
    // Slots of the producer's reads are renumbered. Slots in the consumer's index are unchanged.
    return Substitute(RenumberLoaded(index, [&](int s) { return s + first; }), iterator_of);
  };
  for (Read read : producer.reads) {
    for (IndexExpr& index : read.index) index = rewrite(index);
    if (read.guard) {
      for (IndexExpr& condition : read.guard->nonnegative) condition = rewrite(condition);
    }
    consumer.reads.push_back(std::move(read));
  }
  const Expr value =
      ReplaceReads(TransformIndices(producer.values[0], rewrite),
                   [&](int s, DataType type) { return Expr::Read(s + first, type); });
  for (Expr& body : consumer.values) {
    body = ReplaceReads(body, [&](int s, DataType type) {
      return static_cast<size_t>(s) == slot ? value : Expr::Read(s, type);
    });
  }
}

// Checks that the statement has one write without a reducer or conditions, writes no element twice,
// and does not read the written tensor.
bool IsPlainDefinition(const Statement& statement) {
  if (statement.reducer || statement.writes.size() != 1 || !statement.domain.empty()) return false;
  const Write& write = statement.writes[0];
  if (!NamesDimensions(write.index)) return false;
  for (const VarId i : statement.iterators.ids()) {
    const bool named =
        std::ranges::any_of(write.index, [&](const IndexExpr& index) { return index.Uses(i); });
    if (!named && statement.iterators[i].extent != 1) return false;
  }
  return std::ranges::none_of(statement.reads,
                              [&](const Read& read) { return read.tensor == write.tensor; });
}

bool Writes(const Compute& compute, const Statement& statement, TensorId tensor) {
  const auto home = [&](TensorId t) { return compute.tensors[t].alias.value_or(t); };
  return std::ranges::any_of(
      statement.writes, [&](const Write& write) { return home(write.tensor) == home(tensor); });
}

// Checks that the value can be computed where it is read. No other statement may write the tensor,
// and no later statement may write the operands.
Status CheckInline(const Compute& compute, StatementId id) {
  const Statement& producer = compute.statements[id];
  for (const StatementId s : compute.statements.ids()) {
    const Statement& other = compute.statements[s];
    if (s == id) continue;
    if (Writes(compute, other, producer.writes[0].tensor)) {
      return Fail(ErrorCode::kInvalidArgument, "inline {}: statement {} writes its tensor too",
                  producer.name, other.name);
    }
    for (const Read& read : producer.reads) {
      if (s < id || !Writes(compute, other, read.tensor)) continue;
      return Fail(ErrorCode::kInvalidArgument,
                  "inline {}: statement {} overwrites {}, which it reads", producer.name,
                  other.name, compute.tensors[read.tensor].name);
    }
  }
  return {};
}

// Checks that the index or the guard of some read uses the value of read `slot`.
bool IsLoadedIndex(const Statement& statement, int slot) {
  bool used = false;
  const auto look = [&](const IndexExpr& index) {
    RenumberLoaded(index, [&](int s) {
      used |= s == slot;
      return s;
    });
  };
  for (const Read& read : statement.reads) {
    std::ranges::for_each(read.index, look);
    if (read.guard) std::ranges::for_each(read.guard->nonnegative, look);
  }
  return used;
}

// Removes reads that no value and no index or guard of a read uses.
void RemoveUnusedReads(Statement& statement) {
  std::vector<bool> used(statement.reads.size(), false);
  for (const Expr& value : statement.values) {
    Visit(value, [&](const Expr& node) {
      if (node.kind() == ExprKind::kRead) used[node.node().slot] = true;
    });
  }
  std::vector<int> slot(statement.reads.size(), 0);
  std::vector<Read> remaining;
  for (size_t i = 0; i < statement.reads.size(); ++i) {
    slot[i] = static_cast<int>(remaining.size());
    if (used[i] || IsLoadedIndex(statement, static_cast<int>(i)))
      remaining.push_back(statement.reads[i]);
  }
  const auto renumber = [&](IndexExpr& index) {
    index = RenumberLoaded(index, [&](int s) { return slot[s]; });
  };
  for (Read& read : remaining) {
    std::ranges::for_each(read.index, renumber);
    if (read.guard) std::ranges::for_each(read.guard->nonnegative, renumber);
  }
  statement.reads = std::move(remaining);
  for (Expr& value : statement.values) {
    value = ReplaceReads(value, [&](int s, DataType type) { return Expr::Read(slot[s], type); });
  }
}

}  // namespace

Result<Compute> Apply(const Compute& compute, const InlineStep& step) {
  const std::optional<StatementId> id = compute.FindStatement(step.statement);
  if (!id || !IsPlainDefinition(compute.statements[*id]) ||
      compute.tensors[compute.statements[*id].writes[0].tensor].role != TensorRole::kWorkspace) {
    return Fail(ErrorCode::kInvalidArgument,
                "inline {}: it is not a statement that defines a workspace tensor pointwise",
                step.statement);
  }
  TUNEC_RETURN_IF_ERROR(CheckInline(compute, *id));
  const Statement producer = compute.statements[*id];
  const TensorId tensor = producer.writes[0].tensor;
  Compute result = compute;
  for (Statement& consumer : result.statements) {
    for (size_t slot = 0; slot < consumer.reads.size(); ++slot) {
      if (consumer.reads[slot].tensor != tensor) continue;
      if (consumer.reads[slot].guard) {
        return Fail(ErrorCode::kInvalidArgument, "inline {}: statement {} reads it under a guard",
                    step.statement, consumer.name);
      }
      if (IsLoadedIndex(consumer, static_cast<int>(slot))) {
        return Fail(ErrorCode::kInvalidArgument, "inline {}: statement {} takes an index from it",
                    step.statement, consumer.name);
      }
      InlineRead(consumer, slot, producer);
    }
    RemoveUnusedReads(consumer);
  }
  result.statements.erase(*id);
  return RemoveUnusedTensors(result);
}

}  // namespace tunec
