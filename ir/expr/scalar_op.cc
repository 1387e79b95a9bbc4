#include "ir/expr/scalar_op.h"

#include <array>

#include "support/check.h"

namespace tunec {
namespace {

struct Row {
  std::string_view name;
  int arity;
  ResultType result;
  Domain domain;
  OperandOrder order;
};

constexpr auto kOps = std::to_array<Row>({
#define TUNEC_ROW(id, name, operands, result, domain, order, checker) \
  {name, operands, ResultType::result, Domain::domain, OperandOrder::order},
    TUNEC_SCALAR_OPS(TUNEC_ROW)
#undef TUNEC_ROW
});

const Row& RowOf(ScalarOp op) {
  const auto index = static_cast<size_t>(op);
  TUNEC_CHECK(index < kOps.size(), "scalar operator number {}", index);
  return kOps[index];
}

}  // namespace

std::string_view Name(ScalarOp op) { return RowOf(op).name; }
int Arity(ScalarOp op) { return RowOf(op).arity; }
ResultType ResultOf(ScalarOp op) { return RowOf(op).result; }
Domain DomainOf(ScalarOp op) { return RowOf(op).domain; }

std::optional<ScalarOp> ParseScalarOp(std::string_view name) {
  for (size_t i = 0; i < kOps.size(); ++i) {
    if (kOps[i].name == name) return static_cast<ScalarOp>(i);
  }
  return std::nullopt;
}

bool IsCommutative(ScalarOp op) { return RowOf(op).order == OperandOrder::kCommutes; }

}  // namespace tunec
