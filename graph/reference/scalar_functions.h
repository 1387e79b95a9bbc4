// Scalar functions of the elementwise operators, on doubles and on integers.
#pragma once

#include <cstdint>
#include <functional>

#include "graph/graph.h"

namespace tunec::reference {

std::function<double(double)> FloatFunction(const Node& node);
/// Returns the function of an operator with one operand of the integer type or bool `type`.
std::function<int64_t(int64_t)> IntFunction(const Node& node, DataType type);
std::function<double(double, double)> FloatFunction2(const Node& node);
std::function<int64_t(int64_t, int64_t)> IntFunction2(const Node& node, DataType type);
std::function<bool(double, double)> FloatComparison(Op op);
std::function<bool(int64_t, int64_t)> IntComparison(Op op, DataType type);

}  // namespace tunec::reference
