// A generator of random models with dynamic dimensions. Like a model file, a random model has a
// graph at each suitable set of sizes. The random choices do not depend on the sizes.
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

/// Returns the source of a model of one or two dynamic dimensions, made by 1 to 6 recipes. The
/// source fails with kUnsupported at unsuitable sizes. Its `open` is empty if no suitable example
/// sizes are found.
SizedSource OpenModel(uint64_t seed);

/// The size of an axis in one graph.
struct OpenAxisSize {
  std::string formula;  // size as a formula of the dimensions; equal formulas have equal sizes
  int64_t size = 1;
  int degree = 0;  // number of dimensions that the formula multiplies; 0 for a constant

  bool operator==(const OpenAxisSize& other) const { return formula == other.formula; }
};
using OpenShape = std::vector<OpenAxisSize>;

OpenAxisSize Number(int64_t size);

/// A builder of the graph of a random model at one set of sizes. A value is given by its number.
class OpenBuilder : public Draws {
 public:
  OpenBuilder(uint64_t seed, const Sizes& sizes);

  Result<Graph> Make() &&;

  OpenAxisSize Dimension(size_t d) const;
  OpenAxisSize AnyDimension() { return Dimension(static_cast<size_t>(Below(std::ssize(sizes_)))); }
  /// Returns a value that is not a constant and has at least `least_rank` axes. This is often the
  /// latest such value, else an earlier one or a new input.
  size_t Operand(int64_t least_rank = 1);
  OpenShape ShapeOf(size_t value) const { return values_[value].shape; }
  int64_t RankOf(size_t value) const { return std::ssize(values_[value].shape); }
  size_t Input(const OpenShape& shape);
  /// Adds a constant whose element at each position is `element(position)`.
  size_t Constant(const OpenShape& shape, const std::function<double(const Ints&)>& element);
  /// Adds a constant with random elements, which are the same at all sizes.
  size_t Weight(const Ints& shape);
  size_t Scalar(double value);
  /// Adds a node whose result must have this shape. With a different shape, Make fails.
  size_t Add(Op op, const std::vector<size_t>& inputs, const Attributes& attributes,
             const OpenShape& shape);

 private:
  struct Known {
    ValueId id;
    OpenShape shape;
    bool is_leaf = false;
    bool is_read = false;
  };
  size_t AddKnown(Known known);
  /// Marks that the graph does not exist at these sizes. Returns a stand-in for a value of this
  /// shape, so that the recipe can continue.
  size_t Stop(const Error& why, const OpenShape& shape);
  void ChooseOutputs();

  Sizes sizes_;
  GraphBuilder builder_{"open"};
  std::vector<Known> values_;
  Status status_;
};

using OpenRecipe = void (*)(OpenBuilder&);
/// Returns the recipes. Each call of a recipe adds at most a few operators. A frequent recipe is
/// listed several times.
std::span<const OpenRecipe> OpenRecipes();

}  // namespace tunec::fuzz
