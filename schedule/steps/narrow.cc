// narrow: rounds an operand to bfloat16 where another statement writes the operand.
//
// `precision` copies an operand to round it. A tensor that only one sum reads needs no float32
// version. The tensor's type becomes bfloat16, in the same storage order, and all written values
// are rounded. A large number may become an infinity, as in every cast to bfloat16; `precision`
// uses the largest bfloat16 instead.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "schedule/steps/apply_compute_steps.h"

namespace tunec {
namespace {

std::unexpected<Error> Reject(const NarrowStep& step, std::string_view why) {
  return Fail(ErrorCode::kInvalidArgument, "narrow {}: {}", step.tensor, why);
}

// Returns the slot of a factor that is a float32 read, or a read cast to float32; nothing for
// others.
std::optional<int> SlotOf(const Expr& factor) {
  const Expr& read = factor.kind() == ExprKind::kCast ? factor.operands()[0] : factor;
  if (read.kind() != ExprKind::kRead || factor.type() != DataType::kF32) return std::nullopt;
  return read.node().slot;
}

// Checks that the statement sums products of two elements, of which exactly one is of the tensor.
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
    return Reject(step, "it is not a separate f32 workspace");
  }
  for (const StatementId s : compute.statements.ids()) {
    const Statement& statement = compute.statements[s];
    const auto touches = [&](const auto& access) { return access.tensor == id; };
    if (s != reader && std::ranges::any_of(statement.reads, touches)) {
      return Reject(step, fmt::format("{} reads it too", statement.name));
    }
    if (statement.reducer && std::ranges::any_of(statement.writes, touches)) {
      return Reject(step, fmt::format("{} reduces into it", statement.name));
    }
  }
  return {};
}

}  // namespace

Result<Compute> Apply(const Compute& compute, const NarrowStep& step) {
  const std::optional<TensorId> id = compute.FindTensor(step.tensor);
  const std::optional<StatementId> reader = compute.FindStatement(step.statement);
  if (!id || !reader) return Reject(step, "there is no such tensor or statement");
  if (!MultipliesOnce(compute.statements[*reader], *id)) {
    return Reject(
        step, fmt::format("{} is not a sum of products with one of its elements", step.statement));
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
