// Scalar functions of the elementwise operators, on doubles and on integers.
#pragma once

#include <cstdint>
#include <functional>

#include "graph/graph.h"

namespace tunec::reference {

std::function<double(double)> FloatFunction(const Node& node);
/// Returns the function of an integer operator. `type` is the operand's type; it decides signedness
/// and where clip saturates.
std::function<int64_t(int64_t)> IntFunction(const Node& node, DataType type);
std::function<double(double, double)> FloatFunction2(const Node& node);
std::function<int64_t(int64_t, int64_t)> IntFunction2(const Node& node, DataType type);
std::function<bool(double, double)> FloatComparison(Op op);
std::function<bool(int64_t, int64_t)> IntComparison(Op op, DataType type);

}  // namespace tunec::reference
