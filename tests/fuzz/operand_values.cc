#include "tests/fuzz/operand_values.h"

#include <array>
#include <cmath>
#include <limits>

namespace tunec::fuzz {
namespace {

enum class Side : uint8_t { kLeft, kRight };

double Signed(Random& random) { return 2 * static_cast<double>(random.Unit()) - 1; }

int Between(Random& random, int low, int high) {
  return low + static_cast<int>(random.Below(static_cast<uint64_t>(high - low) + 1));
}

// Returns a number whose exponent is uniform in the range.
double WithExponent(Random& random, int low, int high) {
  const double sign = random.Below(2) == 0 ? 1 : -1;
  return sign * std::ldexp(1 + static_cast<double>(random.Unit()), Between(random, low, high));
}

bool OneIn(Random& random, uint64_t count) { return random.Below(count) == 0; }

double SpecialValue(Random& random) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::array<double, 4> values = {kInfinity, -kInfinity, kInfinity, std::nan("")};
  return values[random.Below(values.size())];
}

// Returns an element that does not depend on other elements.
double Element(Operands kind, Side side, Random& random) {
  const bool left = side == Side::kLeft;
  switch (kind) {
    case Operands::kPositive:
      return 0.25 + static_cast<double>(random.Unit());
    case Operands::kFewBits:
      return Between(random, -16, 16) / 4.0;
    case Operands::kWide:
      return WithExponent(random, -50, 50);
    case Operands::kSparse:
      if (!OneIn(random, 5)) return random.Below(2) == 0 ? 0.0 : -0.0;
      return Signed(random);
    case Operands::kSubnormal:
      if (OneIn(random, left ? 4 : 10)) return WithExponent(random, -149, -127);
      return Signed(random);
    case Operands::kTiny:
      return left ? WithExponent(random, -105, -95) : WithExponent(random, 30, 40);
    case Operands::kLarge:
      return left ? WithExponent(random, 110, 119) : WithExponent(random, -110, -100);
    case Operands::kSpecial:
      if (left && OneIn(random, 60)) return SpecialValue(random);
      return Signed(random);
    case Operands::kUniform:
    case Operands::kOpposed:
    case Operands::kCancelling:
      break;
  }
  return Signed(random);
}

// An operand whose elements have a reduced index: the index along the reduced axis, modulo
// `period`.
class Reduced {
 public:
  Reduced(Array& array, const ReducedAxis& reduced) : array_(array), period_(reduced.period) {
    const std::vector<int64_t>& shape = array.shape();
    extent_ = shape[static_cast<size_t>(reduced.axis)];
    for (size_t d = static_cast<size_t>(reduced.axis) + 1; d < shape.size(); ++d)
      stride_ *= shape[d];
  }

  void Fill(Operands kind, Side side, Random& random) {
    for (int64_t i = 0; i < array_.size(); ++i) Set(i, Element(kind, side, random));
  }
  // Multiplies each element by 2 to the power of `sign` times the exponent of its reduced index.
  void Scale(const std::vector<int>& exponents, int sign) {
    for (int64_t i = 0; i < array_.size(); ++i)
      Set(i, std::ldexp(Get(i), sign * exponents[static_cast<size_t>(ReducedIndex(i))]));
  }
  // Sets each element with an odd reduced index to its predecessor times `factor`, with a random
  // relative difference of at most `difference`.
  void Repeat(double factor, double difference, Random& random) {
    for (int64_t i = 0; i < array_.size(); ++i)
      if (ReducedIndex(i) % 2 == 1)
        Set(i, Get(i - stride_) * factor * (1 + difference * Signed(random)));
  }

 private:
  int64_t ReducedIndex(int64_t i) const { return i / stride_ % extent_ % period_; }
  double Get(int64_t i) const { return array_.GetDouble(i); }
  void Set(int64_t i, double value) { array_.SetDouble(i, static_cast<float>(value)); }

  Array& array_;
  int64_t period_, extent_ = 1, stride_ = 1;
};

}  // namespace

std::string_view Name(Operands kind) {
  constexpr std::array<std::string_view, kOperandKinds> kNames = {
      "uniform", "positive",  "few bits", "wide",  "opposed", "cancelling",
      "sparse",  "subnormal", "tiny",     "large", "special"};
  return kNames[static_cast<size_t>(kind)];
}

void FillOperands(Array& left, const ReducedAxis& of_left, Array& right,
                  const ReducedAxis& of_right, Operands kind, Random& random) {
  Reduced a(left, of_left);
  Reduced b(right, of_right);
  a.Fill(kind, Side::kLeft, random);
  b.Fill(kind, Side::kRight, random);
  if (kind == Operands::kOpposed) {
    std::vector<int> exponents;
    for (int64_t k = 0; k < of_left.period; ++k) exponents.push_back(Between(random, -45, 45));
    a.Scale(exponents, 1);
    b.Scale(exponents, -1);
  }
  if (kind == Operands::kCancelling) {
    a.Repeat(-1, std::ldexp(1.0, -Between(random, 8, 22)), random);
    b.Repeat(1, 0, random);
  }
}

void FillElements(Array& array, Operands kind, Random& random) {
  for (int64_t i = 0; i < array.size(); ++i)
    array.SetDouble(i, Element(kind, Side::kRight, random));
}

Array UniformElements(std::vector<int64_t> shape, Random& random) {
  Array array(DataType::kF32, std::move(shape));
  for (float& value : array.MutableAs<float>()) value = static_cast<float>(Signed(random));
  return array;
}

}  // namespace tunec::fuzz
