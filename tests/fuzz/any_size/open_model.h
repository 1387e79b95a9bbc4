// A random model that has a graph at any sizes, as a front end makes it of one file: what is drawn
// does not depend on the sizes.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "compiler/sized/sized_source.h"
#include "graph/graph.h"
#include "tests/fuzz/draws.h"

namespace tunec::fuzz {

/// One or two dimensions, and 1 to 6 operators over them. At sizes that do not suit it, it is
/// kUnsupported.
SizedSource OpenModel(uint64_t seed);

/// An axis, at some sizes.
struct OpenAxisSize {
  std::string formula;  // of the sizes; equal ones are one axis
  int64_t size = 1;
  int degree = 0;  // how many dimensions it is a product of; 0: it is a number

  bool operator==(const OpenAxisSize& other) const { return formula == other.formula; }
};
using OpenShape = std::vector<OpenAxisSize>;

OpenAxisSize Number(int64_t size);

/// Draws the model's nodes into a graph at some sizes. Values have numbers.
class OpenBuilder : public Draws {
 public:
  OpenBuilder(uint64_t seed, const Sizes& sizes);

  Result<Graph> Make() &&;

  OpenAxisSize Dimension(size_t d) const;
  OpenAxisSize AnyDimension() { return Dimension(static_cast<size_t>(Below(std::ssize(sizes_)))); }
  /// A value that there is, of at least so many axes; mostly a late one.
  size_t Operand(int64_t least_rank = 1);
  OpenShape ShapeOf(size_t value) const { return values_[value].shape; }
  int64_t RankOf(size_t value) const { return std::ssize(values_[value].shape); }
  size_t Input(const OpenShape& shape);
  /// An element by its place.
  size_t Constant(const OpenShape& shape, const std::function<double(const Ints&)>& element);
  /// The same elements at all sizes.
  size_t Weight(const Ints& shape);
  size_t Scalar(double value);
  /// A node, whose result has this shape by the author's reckoning; else there is no graph.
  size_t Add(Op op, const std::vector<size_t>& inputs, const Attributes& attributes,
             const OpenShape& shape);

 private:
  struct Known {
    ValueId id;
    OpenShape shape;
    bool is_leaf = false;
    bool is_read = false;
  };
  size_t Keep(Known known);
  /// There is no graph at these sizes; a value of this shape, so that the recipe comes to its end.
  size_t Stop(const Error& why, const OpenShape& shape);
  void ChooseOutputs();

  Sizes sizes_;
  GraphBuilder builder_{"open"};
  std::vector<Known> values_;
  Status status_;
};

using OpenRecipe = void (*)(OpenBuilder&);
/// An operator or a few; those that are drawn more often several times.
std::span<const OpenRecipe> OpenRecipes();

}  // namespace tunec::fuzz
