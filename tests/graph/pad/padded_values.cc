#include "tests/graph/pad/padded_values.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "ir/rounding.h"

namespace tunec {
namespace {

// Returns the row-major indices of the elements at these positions of each axis, in an array of
// this shape.
std::vector<int64_t> ElementsAt(const std::vector<std::vector<int64_t>>& positions,
                                const std::vector<int64_t>& shape) {
  std::vector<int64_t> elements = {0};
  for (size_t a = 0; a < shape.size(); ++a) {
    std::vector<int64_t> further;
    for (const int64_t element : elements)
      for (const int64_t position : positions[a]) further.push_back(element * shape[a] + position);
    elements = std::move(further);
  }
  return elements;
}

double AnyFloat(DataType type, Random& random) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double largest = type == DataType::kF16 ? 65504 : 0x1.fep127;
  const double values[] = {std::nan(""), kInfinity, -kInfinity, largest, -largest, 7};
  return values[random.Below(std::size(values))];
}

int64_t AnyInteger(DataType type, Random& random) {
  const int64_t values[] = {SmallestInt(type), LargestInt(type), 0,
                            WrapTo(static_cast<int64_t>(random.Next()), type), WrapTo(-1, type)};
  return values[random.Below(std::size(values))];
}

void Copy(const Array& from, int64_t i, Array& to, int64_t j) {
  const size_t bytes = SizeOf(from.type());
  std::memcpy(to.mutable_data() + static_cast<size_t>(j) * bytes,
              from.data() + static_cast<size_t>(i) * bytes, bytes);
}

/// Returns the number of exact positions, or -1 if it has no value.
int64_t ExactOf(const PaddedExtent& part, const SizeValues& sizes) {
  return Evaluate(part.exact, sizes).value_or(-1);
}

}  // namespace

std::vector<int64_t> ExactPositions(const PaddedAxis& axis, const SizeValues& sizes) {
  std::vector<int64_t> positions = {0};
  for (const PaddedExtent& part : axis) {
    const int64_t exact = ExactOf(part, sizes);
    std::vector<int64_t> further;
    for (const int64_t position : positions)
      for (int64_t i = 0; i < exact; ++i) further.push_back(position * part.padded + i);
    positions = std::move(further);
  }
  return positions;
}

Array Crop(const Array& padded, const std::vector<PaddedAxis>& axes, const SizeValues& sizes) {
  std::vector<std::vector<int64_t>> positions;
  std::vector<int64_t> shape;
  for (const PaddedAxis& axis : axes) {
    positions.push_back(ExactPositions(axis, sizes));
    shape.push_back(static_cast<int64_t>(positions.back().size()));
  }
  Array exact(padded.type(), shape);
  int64_t i = 0;
  for (const int64_t element : ElementsAt(positions, padded.shape()))
    Copy(padded, element, exact, i++);
  return exact;
}

Array Garbage(DataType type, std::vector<int64_t> shape, Random& random) {
  Array array(type, std::move(shape));
  const bool only_nan = IsFloat(type) && random.Below(3) == 0;
  for (int64_t i = 0; i < array.size(); ++i) {
    if (only_nan) {
      array.SetDouble(i, std::nan(""));
    } else if (IsFloat(type)) {
      array.SetDouble(i, AnyFloat(type, random));
    } else if (type == DataType::kBool) {
      array.SetInt(i, static_cast<int64_t>(random.Below(2)));
    } else {
      array.SetInt(i, AnyInteger(type, random));
    }
  }
  return array;
}

void CopyIntoPadded(const Array& exact, Array& padded) {
  std::vector<std::vector<int64_t>> positions;
  for (const int64_t size : exact.shape()) positions.push_back(ExactPositions({{size, size}}, {}));
  int64_t i = 0;
  for (const int64_t element : ElementsAt(positions, padded.shape()))
    Copy(exact, i++, padded, element);
}

std::string SizesProblem(const std::vector<PaddedAxis>& axes, const SizeValues& sizes,
                         const std::vector<int64_t>& exact, const std::vector<int64_t>& padded) {
  if (axes.size() != exact.size() || axes.size() != padded.size())
    return fmt::format("has {} axes, expected {} and {}", axes.size(), exact.size(), padded.size());
  for (size_t a = 0; a < axes.size(); ++a) {
    int64_t exact_size = 1, padded_size = 1;
    for (const PaddedExtent& part : axes[a]) {
      const int64_t exact_part = ExactOf(part, sizes);
      exact_size *= exact_part;
      padded_size *= part.padded;
      if (exact_part > part.padded) return fmt::format("axis {} shrinks", a);
    }
    if (exact_size != exact[a] || padded_size != padded[a])
      return fmt::format("axis {} is {} of {}, expected {} of {}", a, exact_size, padded_size,
                         exact[a], padded[a]);
  }
  return "";
}

}  // namespace tunec
