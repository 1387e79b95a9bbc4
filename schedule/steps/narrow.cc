// narrow: an operand that a statement of its own computes is rounded to bfloat16 where it is
// written.
//
// `precision` copies an operand to round it. What is computed for one sum alone need not be there
// in float32 at all: its tensor becomes one of bfloat16, in the order that it has, and all that is
// written into it is rounded. Unlike a term of `precision`, a number beyond the largest bfloat16
// becomes an infinity, as it does wherever float32 is cast.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "schedule/steps/apply_compute_steps.h"

namespace tunec {
namespace {

std::unexpected<Error> Refuse(const NarrowStep& step, std::string_view why) {
  return Fail(ErrorCode::kInvalidArgument, "narrow {}: {}", step.tensor, why);
}

// The read that a factor is, cast to float32 or of that type.
std::optional<int> SlotOf(const Expr& factor) {
  const Expr& read = factor.kind() == ExprKind::kCast ? factor.operands()[0] : factor;
  if (read.kind() != ExprKind::kRead || factor.type() != DataType::kF32) return std::nullopt;
  return read.node().slot;
}

// Whether the statement adds up products of two elements, one of the tensor's, which the other is
// not.
bool MultipliesOnce(const Statement& statement, TensorId tensor) {
  if (statement.reducer != Reducer::Sum(DataType::kF32) || statement.values.size() != 1) {
    return false;
  }
  const Expr& value = statement.values[0];
  if (!value.Is(ScalarOp::kMul)) return false;
  int found = 0;
  for (const Expr& factor : value.operands()) {
    const std::optional<int> slot = SlotOf(factor);
    if (!slot) return false;
    if (statement.reads[static_cast<size_t>(*slot)].tensor == tensor) ++found;
  }
  const auto reads = [&](const Read& read) { return read.tensor == tensor; };
  return found == 1 && std::ranges::count_if(statement.reads, reads) == 1;
}

Status CheckTensor(const Compute& compute, const NarrowStep& step, TensorId id,
                   StatementId reader) {
  const Tensor& tensor = compute.tensors[id];
  const bool shares = tensor.alias || std::ranges::any_of(compute.tensors, [&](const Tensor& t) {
                        return t.alias == id;
                      });
  if (tensor.role != TensorRole::kWorkspace || tensor.type != DataType::kF32 || shares) {
    return Refuse(step, "it is not f32 workspace of its own");
  }
  for (const StatementId s : compute.statements.ids()) {
    const Statement& statement = compute.statements[s];
    const auto touches = [&](const auto& access) { return access.tensor == id; };
    if (s != reader && std::ranges::any_of(statement.reads, touches)) {
      return Refuse(step, fmt::format("{} reads it too", statement.name));
    }
    if (statement.reducer && std::ranges::any_of(statement.writes, touches)) {
      return Refuse(step, fmt::format("{} reduces into it", statement.name));
    }
  }
  return {};
}

}  // namespace

Result<Compute> Apply(const Compute& compute, const NarrowStep& step) {
  const std::optional<TensorId> id = compute.FindTensor(step.tensor);
  const std::optional<StatementId> reader = compute.FindStatement(step.statement);
  if (!id || !reader) return Refuse(step, "there is no such tensor or statement");
  if (!MultipliesOnce(compute.statements[*reader], *id)) {
    return Refuse(step,
                  fmt::format("{} is no sum of products with one of its elements", step.statement));
  }
  TUNEC_RETURN_IF_ERROR(CheckTensor(compute, step, *id, *reader));
  Compute result = compute;
  result.tensors[*id].type = DataType::kBF16;
  result.tensors[*id].finite = false;  // large numbers round to infinity
  for (Statement& statement : result.statements) {
    for (size_t w = 0; w < statement.writes.size(); ++w) {
      if (statement.writes[w].tensor != *id) continue;
      statement.values[w] = Expr::Cast(statement.values[w], DataType::kBF16);
    }
  }
  Statement& sum = result.statements[*reader];
  sum.values[0] = Transform(sum.values[0], [&](const Expr& expr) {
    if (expr.kind() != ExprKind::kRead) return expr;
    const int slot = expr.node().slot;
    if (sum.reads[static_cast<size_t>(slot)].tensor != *id) return expr;
    return Expr::Cast(Expr::Read(slot, DataType::kBF16), DataType::kF32);
  });
  return result;
}

}  // namespace tunec
