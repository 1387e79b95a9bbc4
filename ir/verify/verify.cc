// A check of the invariants of a Compute.
//   Tensors: names are not empty and are different. Shapes and layout shapes have an element count.
//   A layout has one index for each dimension of its shape. The indices use only the variables of
//   logical dimensions, and no index is certainly outside its extent. Alignment is 0 or a power of
//   two. A range is not empty. Only weights and workspaces of floats may be marked finite. An alias
//   names a tensor of the same type and size that is not an alias.
//   Statements: names are not empty and are different. The same holds for the iterators of one
//   statement. Extents are from 0 to 2^48. The domain uses only iterators. Each output is an alias
//   or is written by a statement.
//   Reads and writes: the tensor exists; one index per dimension. Indices and guards use only
//   iterators and loaded values of earlier reads. Loaded values in an index are of integer tensors.
//   An index without a guard that is certainly outside the tensor is an error (the interpreter
//   reports other cases).
//   Writes: at least one; never to an input or weight; no two writes of a statement are equal.
//   Values: one per write, of its tensor's type. Read slots exist and have their tensor's type.
//   Every operator is defined for its type. Accumulators and incoming values occur only in
//   reducers.
//   Reducers: per write one identity (a constant), one combination (of accumulators and incoming
//   values) and at most one finalisation (of accumulators), of the written tensor's type.
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
  context.visits_every_point = statement.domain.empty();
  for (const Iterator& it : statement.iterators) context.visits_every_point &= it.extent > 0;
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
