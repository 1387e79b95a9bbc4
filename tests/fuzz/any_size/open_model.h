// Random models that have a graph at any set of sizes, as a front end makes them of one file. The
// draws do not depend on the sizes.
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
  std::string formula;  // a formula of the dimensions; equal formulas are equal sizes
  int64_t size = 1;
  int degree = 0;  // number of dimensions in the product; 0: a constant

  bool operator==(const OpenAxisSize& other) const { return formula == other.formula; }
};
using OpenShape = std::vector<OpenAxisSize>;

OpenAxisSize Number(int64_t size);

/// A builder of the model's graph for a set of sizes. Values are named by their numbers, from 0.
class OpenBuilder : public Draws {
 public:
  OpenBuilder(uint64_t seed, const Sizes& sizes);

  Result<Graph> Make() &&;

  OpenAxisSize Dimension(size_t d) const;
  OpenAxisSize AnyDimension() { return Dimension(static_cast<size_t>(Below(std::ssize(sizes_)))); }
  /// Returns a value of at least this many axes: mostly the latest one, else an earlier value or a
  /// new input.
  size_t Operand(int64_t least_rank = 1);
  OpenShape ShapeOf(size_t value) const { return values_[value].shape; }
  int64_t RankOf(size_t value) const { return std::ssize(values_[value].shape); }
  size_t Input(const OpenShape& shape);
  /// Adds a constant whose elements are functions of their index.
  size_t Constant(const OpenShape& shape, const std::function<double(const Ints&)>& element);
  /// Adds a constant with the same elements at all sizes.
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
  /// Marks that the graph does not exist at these sizes. Returns a value of this shape, so that the
  /// recipe can continue.
  size_t Stop(const Error& why, const OpenShape& shape);
  void ChooseOutputs();

  Sizes sizes_;
  GraphBuilder builder_{"open"};
  std::vector<Known> values_;
  Status status_;
};

using OpenRecipe = void (*)(OpenBuilder&);
/// Returns the recipes: operators or short sequences of operators. A frequent recipe is listed
/// several times.
std::span<const OpenRecipe> OpenRecipes();

}  // namespace tunec::fuzz
