// The column `operands` of op_list.h: for each operator the number and types of inputs, the
// attributes with any defaults, and the inference of its output types.
//
// Attributes that depend on the operands are completed when a node is added. So readers of a Graph
// need no defaults for these attributes. Axes are non-negative, and `axes` is sorted. `axes`,
// `strides`, `pads`, `dilations` and `perm` are never absent. `scales` of a resize to named sizes
// may be absent until the names have numbers.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/ops/attributes.h"
#include "graph/ops/op.h"
#include "graph/ops/value_type.h"
#include "ir/size/size_condition.h"
#include "support/error.h"

namespace tunec {

class Graph;

enum class AttributeKind : uint8_t { kInt, kFloat, kString, kInts, kFloats, kSize, kSizes };
std::string_view Name(AttributeKind kind);
AttributeKind KindOf(const Attribute& attribute);

/// The meaning of an absent attribute.
enum class Absence : uint8_t {
  kError,      // error: the attribute is required
  kDefault,    // default_value
  kDerived,    // inference computes it from the operands and adds it
  kMeaningful  // stays absent
};

struct AttributeSpec {
  std::string_view name;
  AttributeKind kind = AttributeKind::kInt;
  Absence absence = Absence::kError;
  Attribute default_value;   // only for kDefault
  bool takes_sizes = false;  // the numbers may contain named sizes
};

/// A node whose output types are inferred. Inference may complete `attributes`.
struct InferenceInput {
  Op op;
  std::vector<const ValueType*> operands;  // null where omitted
  Attributes* attributes;
  std::span<const std::shared_ptr<const Graph>> bodies;
  std::vector<SizeCondition>* conditions = nullptr;  // collects what inference assumes

  /// Returns false if the condition is false for all sizes. A condition that may hold is assumed.
  bool Allows(SizeCondition::Kind kind, const SizeExpr& left, const SizeExpr& right) const;

  const ValueType& operand(size_t i) const { return *operands[i]; }
  bool HasOperand(size_t i) const { return i < operands.size() && operands[i] != nullptr; }
  int64_t Int(std::string_view name) const;
  double Float(std::string_view name) const;
  const std::string& String(std::string_view name) const;
  const std::vector<int64_t>& Ints(std::string_view name) const;
  /// Return an attribute that may contain named sizes.
  SizeExpr Size(std::string_view name) const;
  std::vector<SizeExpr> Sizes(std::string_view name) const;
  bool Has(std::string_view name) const { return attributes->contains(name); }
};

using InferTypes = Result<std::vector<ValueType>> (*)(const InferenceInput& input);

struct OpSpec {
  Op op = Op::kIdentity;
  int min_inputs = 0;
  int max_inputs = 0;            // kAnyNumber: no limit
  Domain domain = Domain::kAny;  // types of the operands
  std::vector<AttributeSpec> attributes;
  InferTypes infer = nullptr;
};
inline constexpr int kAnyNumber = 1 << 20;

const OpSpec& SpecOf(Op op);
/// Returns the attribute's row, or null if the operator has no such attribute.
const AttributeSpec* FindAttribute(Op op, std::string_view name);
/// Returns whether an absent attribute would have this value. -0.0 differs from 0.0, and an integer
/// equals a float of the same value.
bool IsDefault(Op op, std::string_view name, const Attribute& value);

/// Checks a new node against the table, completes its attributes and returns its output types.
/// Errors name the operator, but no location. `conditions` receives what must hold for named sizes.
Result<std::vector<ValueType>> Infer(Op op, const std::vector<const ValueType*>& operands,
                                     Attributes& attributes,
                                     std::span<const std::shared_ptr<const Graph>> bodies = {},
                                     std::vector<SizeCondition>* conditions = nullptr);

}  // namespace tunec
