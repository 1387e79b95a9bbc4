// Patterns over the operators of a graph, matched upwards from a value.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace tunec {

/// What a matched name stands for.
using Bindings = std::map<std::string, ValueId, std::less<>>;

/// A tree: names for any value (the same name twice must be the same value), constants whose
/// elements all have a value, and operators. Operands of add, mul, min and max match in either
/// order. Immutable; copies share.
class Pattern {
 public:
  /// Any value, bound to `name`.
  static Pattern Any(std::string name);
  /// A constant, all of whose elements are within 1e-4 of `value`, relatively.
  static Pattern Number(double value);
  /// A constant of one element, bound to `name`.
  static Pattern AnyNumber(std::string name);
  static Pattern Node(Op op, std::vector<Pattern> operands);
  /// A node that has a name of its own in the bindings: its output.
  Pattern Named(std::string name) const;

  /// The bindings when the value is made as the pattern says.
  std::optional<Bindings> Match(const Graph& graph, ValueId value) const;

 private:
  enum class Kind { kAny, kNumber, kAnyNumber, kNode };
  struct Data {
    Kind kind = Kind::kAny;
    Op op = Op::kIdentity;
    double number = 0;
    std::string name;
    std::vector<Pattern> operands;
  };
  explicit Pattern(Data data) : data_(std::make_shared<const Data>(std::move(data))) {}
  std::optional<Bindings> Extend(const Graph& graph, ValueId value, const Bindings& known) const;
  std::optional<Bindings> ExtendNode(const Graph& graph, ValueId value,
                                     const Bindings& known) const;
  std::shared_ptr<const Data> data_;
};

inline Pattern operator+(Pattern a, Pattern b) { return Pattern::Node(Op::kAdd, {a, b}); }
inline Pattern operator-(Pattern a, Pattern b) { return Pattern::Node(Op::kSub, {a, b}); }
inline Pattern operator*(Pattern a, Pattern b) { return Pattern::Node(Op::kMul, {a, b}); }
inline Pattern operator/(Pattern a, Pattern b) { return Pattern::Node(Op::kDiv, {a, b}); }

/// The value of a constant of equal elements.
std::optional<double> UniformValue(const Graph& graph, ValueId value);

}  // namespace tunec
