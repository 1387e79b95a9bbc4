// A model with named sizes and three sets of numbers for them, and its builder.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "ir/size/size_expr.h"
#include "tests/fuzz/random_values.h"

namespace tunec::fuzz {

/// A set of sizes. A graph is padded to the sizes of kBucket, and runs at those of kExact and
/// kOther, which are not larger.
enum SizeSet : uint8_t { kExact, kBucket, kOther };
inline constexpr std::array<SizeSet, 3> kSizeSets = {kExact, kBucket, kOther};
using SizesBySet = std::array<SizeValues, kSizeSets.size()>;

using SizedShape = std::vector<Dim>;
/// Returns the shape at these sizes. Requires: each size has a value.
std::vector<int64_t> ShapeAt(const SizedShape& shape, const SizeValues& sizes);

/// Return an attribute. It has named sizes only if a number depends on them.
Attribute SizeAttribute(const Dim& size);
Attribute SizesAttribute(SizedShape sizes);

struct SizedModel {
  Graph named;
  SizesBySet sizes;
  Values values = Values::kOrdinary;

  /// Returns the graph with fixed sizes. Requires: it exists.
  Graph At(SizeSet set) const;
};

class SizedBuilder {
 public:
  ValueId AddInput(const std::string& name, DataType type, const SizedShape& shape);
  ValueId AddConstant(const std::string& name, const Array& array) {
    return builder_.AddConstant(name, array);
  }
  /// Adds a node and returns the results. Returns no value if type inference fails with names or at
  /// one of the sets of sizes, or assumes a condition that one of them breaks. Returns no value if
  /// a result is empty, has more than `most_elements`, or does not fit into the result for kBucket.
  std::optional<std::vector<ValueId>> Add(Op op, const std::vector<ValueId>& inputs,
                                          const Attributes& attributes, int64_t most_elements);
  void AddOutput(ValueId value) { builder_.AddOutput(value); }

  /// Sets the numbers of a new name.
  void SetSize(const std::string& name, const std::array<int64_t, kSizeSets.size()>& numbers);
  const SizesBySet& sizes() const { return sizes_; }
  const ValueType& TypeOf(ValueId value) const { return builder_.TypeOf(value); }
  const Graph& graph() const { return builder_.graph(); }
  Graph Build() && { return std::move(builder_).Build(); }

 private:
  GraphBuilder builder_{"named"};
  SizesBySet sizes_;
};

}  // namespace tunec::fuzz
