// A base class for generators of random graphs, and functions that draw attributes or permutations.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "graph/ops/attributes.h"
#include "graph/ops/op.h"
#include "ir/data_type.h"
#include "support/random.h"
#include "tests/fuzz/random_values.h"

namespace tunec::fuzz {

using Ints = std::vector<int64_t>;

class Draws {
 public:
  explicit Draws(uint64_t seed);

  int64_t Below(int64_t bound) { return static_cast<int64_t>(random_.Below(bound)); }
  int64_t Between(int64_t low, int64_t high) { return low + Below(high - low + 1); }
  bool Chance(int percent) { return Below(100) < percent; }
  template <class T>
  T OneOf(std::initializer_list<T> choices) {
    return choices.begin()[Below(static_cast<int64_t>(choices.size()))];
  }
  Random& random() { return random_; }
  /// Returns a random type of the domain, mostly the main type if the domain contains it.
  DataType TypeIn(Domain domain);
  Values values() const { return special_values_; }
  DataType main_type() const { return main_type_; }

 private:
  Random random_;
  DataType main_type_ = DataType::kF32;
  Values special_values_ = Values::kOrdinary;
};

/// Draws the attributes of an operator with one operand.
Attributes UnaryAttributes(Draws& draws, Op op);

/// The kernel size and the attributes of a window of conv, conv_transpose or pooling.
struct DrawnWindow {
  Ints kernel;
  Attributes attributes;
};
DrawnWindow DrawWindow(Draws& draws, const Ints& input, bool transposed);

Ints AnyPermutation(Draws& draws, size_t rank);

/// Draws the attributes mode, coordinate, nearest_mode and exclude_outside of resize.
Attributes ResizeAttributes(Draws& draws);

}  // namespace tunec::fuzz
