// The invariants of a Compute.
//   Tensors: names are given and different; shapes and layout shapes have an element count; a
//   layout maps every logical dimension's variable, and no other, to as many indices as its
//   shape has, none certainly outside; alignment is 0 or a power of two; a range is not empty;
//   floats alone are said to be finite, those of weights or of workspace that copies one;
//   an alias names a tensor with storage of its own, of the same type and size.
//   Statements: names are given and different; iterators have different names and extents from 0
//   to 2^48, so that sums of indices stay far from overflow;
//   the domain uses only iterators. Each output is written by a statement (or is an alias).
//   Reads and writes: the tensor exists; one index per dimension; indices and guards use only
//   iterators, and as loaded values only earlier reads of integer tensors; an index that
//   intervals show to be outside is an error (what they can't show, the interpreter does).
//   Writes: at least one; never of an input or weight; no element twice by one instance.
//   Values: one per write, of its tensor's type; read slots exist and have their tensor's
//   type; every operator is defined for its type; accumulators and incoming values only in
//   reducers.
//   Reducers: one identity (a constant), one combination (of accumulators and incoming
//   values) and none or one finalisation (of accumulators) per write, of its tensor's type.
#include <set>

#include "ir/compute.h"
#include "ir/verify/verify_statement.h"

namespace tunec {
namespace {

constexpr int64_t kLongestIterator = int64_t{1} << 48;

Status VerifyIterators(const Statement& statement) {
  std::set<std::string> names;
  for (const Iterator& it : statement.iterators) {
    if (it.name.empty() || !names.insert(it.name).second) {
      return Fail(ErrorCode::kInvalidArgument, "iterator name '{}' is empty or used twice",
                  it.name);
    }
    if (it.extent < 0 || it.extent > kLongestIterator) {
      return Fail(ErrorCode::kInvalidArgument, "iterator {} has extent {}, expected 0 to {}",
                  it.name, it.extent, kLongestIterator);
    }
  }
  return {};
}

Status VerifyStatement(const Statement& statement, const Tensors& tensors) {
  TUNEC_RETURN_IF_ERROR(VerifyIterators(statement));
  VerifyContext context{.tensors = tensors, .in_scope = {}, .intervals = {}, .exact = {}};
  context.in_scope = [&](VarId v) { return statement.iterators.contains(v); };
  context.intervals = statement.Intervals();
  context.exact = [](VarId) { return true; };
  context.whole_box = statement.domain.empty();
  for (const Iterator& it : statement.iterators) context.whole_box &= it.extent > 0;
  for (const IndexExpr& condition : statement.domain) {
    TUNEC_RETURN_IF_ERROR(VerifyIndex(condition, context, 0));
  }
  return VerifyAssignment({statement.reads, statement.writes, statement.values, statement.reducer},
                          context);
}

Status VerifyOutputs(const Compute& compute) {
  std::set<TensorId> written;
  for (const Statement& statement : compute.statements) {
    for (const Write& write : statement.writes) written.insert(write.tensor);
  }
  for (const TensorId t : compute.tensors.ids()) {
    const Tensor& tensor = compute.tensors[t];
    const bool filled = written.contains(t) || tensor.alias.has_value();
    if (tensor.role != TensorRole::kOutput || filled) continue;
    return Fail(ErrorCode::kInvalidArgument, "compute {}: no statement writes the output {}",
                compute.name, tensor.name);
  }
  return {};
}

}  // namespace

Status Verify(const Compute& compute) {
  TUNEC_RETURN_IF_ERROR(VerifyTensors(compute.tensors));
  std::set<std::string> names;
  for (const Statement& statement : compute.statements) {
    if (statement.name.empty() || !names.insert(statement.name).second) {
      return Fail(ErrorCode::kInvalidArgument, "statement name '{}' is empty or used twice",
                  statement.name);
    }
    if (auto status = VerifyStatement(statement, compute.tensors); !status) {
      status.error().message =
          fmt::format("statement {}: {}", statement.name, status.error().message);
      return status;
    }
  }
  return VerifyOutputs(compute);
}

}  // namespace tunec
