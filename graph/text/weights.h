// Where the bytes of a graph's weights come from: a .safetensors file, a seeded random stream,
// or nowhere (an error).
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

/// What `init=` of a weight says. docs/reference/graph_format.md has numpy lines that repeat each bit.
struct Distribution {
  enum class Kind : uint8_t {
    kUniform,   // first <= x < second; integers: both whole, second excluded
    kNormal,    // about 0 with standard deviation first: a sum of four uniform numbers
    kConstant,  // first
  };
  Kind kind = Kind::kUniform;
  double first = 0;
  double second = 0;
  bool operator==(const Distribution&) const = default;
};
/// `uniform(-0.03, 0.03)`, `normal(0.05)`, `constant(1.0)`
std::string Print(const Distribution& distribution);
Result<Distribution> ParseDistribution(Lexer& lexer);
Result<Distribution> ParseDistribution(std::string_view text);

struct WeightRequest {
  std::string name;
  DataType type = DataType::kF32;
  std::vector<int64_t> shape;
  std::string init;  // as printed; empty: none stated
};

/// Thread-safe.
class WeightSource {
 public:
  virtual ~WeightSource() = default;
  /// The weight, its elements perhaps not written yet: whether there is one is found out first.
  virtual Result<Array> Reserve(const WeightRequest& request) const = 0;
  /// Writes the elements of what Reserve gave.
  virtual void Fill(const WeightRequest& request, Array& array) const;
  /// Both.
  Result<Array> Load(const WeightRequest& request) const;
};

/// Refuses every weight.
class NoWeights : public WeightSource {
 public:
  Result<Array> Reserve(const WeightRequest& request) const override;
};

/// Element i of a weight is a function of the seed, the weight's name and i alone. Without an
/// `init`: matrices and filters uniform in +-sqrt(3 / fan-in), so that activations keep their
/// scale through deep networks; vectors and scalars uniform in [0.5, 1), so that a variance is
/// positive; integers 0.
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
