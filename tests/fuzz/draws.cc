#include "tests/fuzz/draws.h"

#include <algorithm>
#include <numeric>
#include <string>

namespace tunec::fuzz {

Draws::Draws(uint64_t seed) : random_(Random::Mix(seed)) {
  constexpr DataType kOthers[] = {DataType::kF64, DataType::kF16, DataType::kBF16, DataType::kI8,
                                  DataType::kI16, DataType::kI32, DataType::kI64,  DataType::kU8,
                                  DataType::kU16, DataType::kU32, DataType::kU64,  DataType::kBool,
                                  DataType::kF64, DataType::kF16, DataType::kBF16, DataType::kI64};
  if (Chance(40)) main_type_ = kOthers[Below(std::size(kOthers))];
  if (Chance(15)) special_values_ = Values::kSpecial;
}

DataType Draws::TypeIn(Domain domain) {
  if (Chance(75) && Contains(domain, main_type_)) return main_type_;
  while (true) {
    const auto type = static_cast<DataType>(Below(static_cast<int>(DataType::kBool) + 1));
    if (Contains(domain, type)) return type;
  }
}

Attributes UnaryAttributes(Draws& g, Op op) {
  Attributes attributes;
  if (g.Chance(40) && op != Op::kCast) return attributes;  // the defaults
  switch (op) {
    case Op::kIsInf:
      attributes["detect_negative"] = g.Below(2);
      attributes["detect_positive"] = g.Below(2);
      break;
    case Op::kGelu:
      attributes["approximate"] = std::string("tanh");
      break;
    case Op::kElu:
    case Op::kSelu:
    case Op::kCelu:
    case Op::kLeakyRelu:
    case Op::kThresholdedRelu:
      attributes["alpha"] = g.OneOf({0.5, 0.25, 1.0, 1.5, 0.1});
      break;
    case Op::kHardSigmoid:
      attributes["alpha"] = g.OneOf({0.5, 0.25, 1.0});
      attributes["beta"] = g.OneOf({0.5, 0.0, 0.25});
      break;
    case Op::kClip:
      attributes["min"] = static_cast<double>(g.Between(-3, 1));
      if (g.Chance(70)) attributes["max"] = static_cast<double>(g.Between(1, 6));
      break;
    case Op::kCast:
      attributes["to"] = std::string(Name(g.TypeIn(g.Chance(50) ? Domain::kFloat : Domain::kAny)));
      break;
    default:
      break;
  }
  return attributes;
}

DrawnWindow DrawWindow(Draws& g, const Ints& input, bool transposed) {
  DrawnWindow window;
  const size_t axes = input.size() - 2;
  Ints strides, pads(2 * axes), dilations, extra;
  for (size_t a = 0; a < axes; ++a) {
    const int64_t size = input[a + 2];
    window.kernel.push_back(g.Between(1, std::max<int64_t>(1, std::min<int64_t>(size, 3))));
    dilations.push_back(g.Chance(80) ? 1 : 2);
    strides.push_back(g.Chance(70) ? 1 : g.Between(1, 3));
    extra.push_back(strides[a] > 1 && g.Chance(30) ? 1 : 0);
    const int64_t most = std::min<int64_t>(window.kernel[a] - 1, 2);
    if (g.Chance(50)) pads[a] = g.Between(0, most);
    if (g.Chance(50)) pads[a + axes] = g.Between(0, most);
  }
  window.attributes = {{"strides", strides}, {"pads", pads}, {"dilations", dilations}};
  if (transposed) window.attributes["output_padding"] = extra;
  return window;
}

Ints AnyPermutation(Draws& g, size_t rank) {
  Ints perm(rank);
  std::iota(perm.begin(), perm.end(), 0);
  for (size_t i = rank; i > 1; --i) std::swap(perm[i - 1], perm[g.Below(static_cast<int64_t>(i))]);
  return perm;
}

Attributes ResizeAttributes(Draws& g) {
  const char* mode = g.OneOf({"nearest", "nearest", "linear", "cubic"});
  return {
      {"mode", std::string(mode)},
      {"coordinate", std::string(g.OneOf({"half_pixel", "half_pixel_symmetric",
                                          "pytorch_half_pixel", "align_corners", "asymmetric"}))},
      {"nearest_mode",
       std::string(g.OneOf({"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}))},
      {"exclude_outside", g.Below(2)}};
}

}  // namespace tunec::fuzz
