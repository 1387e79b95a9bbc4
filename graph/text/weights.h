// Sources of a graph's weights: a .safetensors file, a seeded random stream, or none (an error).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "graph/text/safetensors.h"
#include "ir/array.h"
#include "support/error.h"
#include "support/lexer.h"

namespace tunec {

/// The distribution of a random weight, which `init=` can state. docs/reference/graph_format.md has
/// numpy code that reproduces the weights.
struct Distribution {
  enum class Kind : uint8_t {
    kUniform,   // first <= x < second; an integer is x rounded down
    kNormal,    // mean 0, standard deviation `first`; a scaled sum of four uniform numbers
    kConstant,  // all elements are `first`
  };
  Kind kind = Kind::kUniform;
  double first = 0;
  double second = 0;
  bool operator==(const Distribution&) const = default;
};
/// Returns a text such as `uniform(-0.03, 0.03)`, `normal(0.05)` or `constant(1.0)`.
std::string Print(const Distribution& distribution);
Result<Distribution> ParseDistribution(Lexer& lexer);
Result<Distribution> ParseDistribution(std::string_view text);

struct WeightRequest {
  std::string name;
  DataType type = DataType::kF32;
  std::vector<int64_t> shape;
  std::string init;  // the printed Distribution; empty if the text does not state one
};

/// A source of weights. Thread-safe.
class WeightSource {
 public:
  virtual ~WeightSource() = default;
  /// Returns the weight's array, whose elements can be unset until Fill. Fails if the source cannot
  /// supply the weight. So a parser finds a missing weight before any large array is written.
  virtual Result<Array> Reserve(const WeightRequest& request) const = 0;
  /// Writes the elements of an array from Reserve. The default does nothing, for sources whose
  /// Reserve returns an array with its elements.
  virtual void Fill(const WeightRequest& request, Array& array) const;
  /// Reserves and fills a weight.
  Result<Array> Load(const WeightRequest& request) const;
};

/// A source that rejects every weight.
class NoWeights : public WeightSource {
 public:
  Result<Array> Reserve(const WeightRequest& request) const override;
};

/// Random weights. The random bits of element i depend only on the seed, the weight's name and i.
/// Without an `init`, float matrices and filters are uniform in +-sqrt(3 / fan-in), so that
/// activations keep their scale through deep networks. Float vectors and scalars are uniform from
/// 0.5 to 1, so that a variance is positive. Integers and bools are 0.
class RandomWeights : public WeightSource {
 public:
  explicit RandomWeights(uint64_t seed) : seed_(seed) {}
  Result<Array> Reserve(const WeightRequest& request) const override;
  void Fill(const WeightRequest& request, Array& array) const override;

 private:
  uint64_t seed_;
};

class SafetensorsWeights : public WeightSource {
 public:
  explicit SafetensorsWeights(SafetensorsFile file) : file_(std::move(file)) {}
  Result<Array> Reserve(const WeightRequest& request) const override;

 private:
  SafetensorsFile file_;
};

}  // namespace tunec
