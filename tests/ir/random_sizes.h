// Random sizes for property tests: as they are written, with their value by definition, and as
// SizeExpr.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "ir/size/size_expr.h"
#include "support/random.h"

namespace tunec::test {

inline int64_t Between(Random& random, int64_t low, int64_t high) {
  return low + static_cast<int64_t>(random.Below(static_cast<uint64_t>(high - low + 1)));
}

/// A size as it is written. ValueOf returns its value by definition, and MakeSize its normal form.
struct WrittenSize {
  enum class Kind {
    kNumber,
    kName,
    kSum,
    kDifference,
    kProduct,
    kDivision,
    kRemainder,
    kMin,
    kMax
  };
  Kind kind = Kind::kNumber;
  int64_t number = 0;  // or the number of the name
  std::vector<WrittenSize> operands;
};

inline const std::vector<std::string> kSizeNames = {"a", "b", "c"};

inline WrittenSize RandomWrittenSize(Random& random, int depth, bool is_affine) {
  using Kind = WrittenSize::Kind;
  const auto leaf = [&]() -> WrittenSize {
    if (random.Below(3) == 0) return {Kind::kNumber, Between(random, -7, 12), {}};
    return {Kind::kName, static_cast<int64_t>(random.Below(kSizeNames.size())), {}};
  };
  if (depth == 0) return leaf();
  const auto part = [&] { return RandomWrittenSize(random, depth - 1, is_affine); };
  const auto number = [&]() -> WrittenSize {
    return {Kind::kNumber, std::vector<int64_t>{1, 2, 3, 4, 6, 8, 10, -3}[random.Below(8)], {}};
  };
  const bool has_number = is_affine || random.Below(3) > 0;
  switch (random.Below(8)) {
    case 0:
      return leaf();
    case 1:
      return {Kind::kDifference, 0, {part(), part()}};
    case 2:
      return {Kind::kProduct, 0, {part(), has_number ? number() : part()}};
    case 3:
      return {Kind::kDivision, 0, {part(), has_number ? number() : part()}};
    case 4:
      return {Kind::kRemainder, 0, {part(), has_number ? number() : part()}};
    case 5:
      return {Kind::kMin, 0, {part(), part()}};
    case 6:
      return {Kind::kMax, 0, {part(), part()}};
    default:
      return {Kind::kSum, 0, {part(), part()}};
  }
}

inline std::string Text(const WrittenSize& w) {
  using Kind = WrittenSize::Kind;
  if (w.kind == Kind::kNumber && w.number < 0) return fmt::format("({})", w.number);
  if (w.kind == Kind::kNumber) return fmt::format("{}", w.number);
  if (w.kind == Kind::kName) return kSizeNames[static_cast<size_t>(w.number)];
  const std::string a = Text(w.operands[0]);
  const std::string b = Text(w.operands[1]);
  if (w.kind == Kind::kMin || w.kind == Kind::kMax)
    return fmt::format("{}({}, {})", w.kind == Kind::kMin ? "min" : "max", a, b);
  const char* sign = w.kind == Kind::kSum          ? "+"
                     : w.kind == Kind::kDifference ? "-"
                     : w.kind == Kind::kProduct    ? "*"
                     : w.kind == Kind::kDivision   ? "/"
                                                   : "mod";
  return fmt::format("({} {} {})", a, sign, b);
}

// Makes the expression from its parts.
inline SizeExpr MakeSize(const WrittenSize& w) {
  using Kind = WrittenSize::Kind;
  if (w.kind == Kind::kNumber) return w.number;
  if (w.kind == Kind::kName) return SizeExpr::Named(kSizeNames[static_cast<size_t>(w.number)]);
  const SizeExpr a = MakeSize(w.operands[0]);
  const SizeExpr b = MakeSize(w.operands[1]);
  switch (w.kind) {
    case Kind::kSum:
      return a + b;
    case Kind::kDifference:
      return a - b;
    case Kind::kProduct:
      return a * b;
    case Kind::kMin:
      return SizeExpr::Min(a, b);
    case Kind::kMax:
      return SizeExpr::Max(a, b);
    case Kind::kDivision:
      return SizeExpr::FloorDiv(a, b);
    default:
      return SizeExpr::Mod(a, b);
  }
}

inline SizeExpr RandomSize(Random& random, int depth) {
  return MakeSize(RandomWrittenSize(random, depth, false));
}

inline std::optional<int64_t> ValueOf(const WrittenSize& w, const std::vector<int64_t>& sizes) {
  using Kind = WrittenSize::Kind;
  if (w.kind == Kind::kNumber) return w.number;
  if (w.kind == Kind::kName) return sizes[static_cast<size_t>(w.number)];
  const std::optional<int64_t> x = ValueOf(w.operands[0], sizes);
  const std::optional<int64_t> y = ValueOf(w.operands[1], sizes);
  if (!x || !y) return std::nullopt;
  if (std::abs(*x) > (int64_t{1} << 30) || std::abs(*y) > (int64_t{1} << 30)) return std::nullopt;
  const auto floor_divide = [](int64_t a, int64_t b) {
    return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
  };
  switch (w.kind) {
    case Kind::kSum:
      return *x + *y;
    case Kind::kDifference:
      return *x - *y;
    case Kind::kProduct:
      return *x * *y;
    case Kind::kMin:
      return std::min(*x, *y);
    case Kind::kMax:
      return std::max(*x, *y);
    case Kind::kDivision:
      return *y == 0 ? std::nullopt : std::optional(floor_divide(*x, *y));
    default:
      return *y == 0 ? std::nullopt : std::optional(*x - *y * floor_divide(*x, *y));
  }
}

}  // namespace tunec::test
