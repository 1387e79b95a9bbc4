#include "graph/ops/unknown_op.h"

#include <fmt/format.h>

#include <array>

#include "graph/ops/op.h"
#include "support/suggest.h"

namespace tunec {
namespace {

// Returns the operator's name, or an empty text for inputs and constants, which graphs declare.
constexpr std::string_view Applied(Op op, std::string_view name) { return IsLeaf(op) ? "" : name; }

constexpr std::array kNames = {
#define TUNEC_NAME(id, name, ...) Applied(Op::id, name),
    TUNEC_OPS(TUNEC_NAME)
#undef TUNEC_NAME
};

}  // namespace

std::string NoOperator(std::string_view name, std::string_view where) {
  return fmt::format("{} is no operator{}{}", name, where, DidYouMean(name, kNames));
}

}  // namespace tunec
