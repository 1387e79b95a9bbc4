#include "tests/programs/convolutions.h"

#include <utility>

#include "tests/programs/replaced.h"

namespace tunec::test {
namespace {

std::string LayoutOf(Order order, const std::string& channels, const std::string& size) {
  if (order == Order::kChannelsFirst) return "";
  return " layout [$N, " + size + ", " + size + ", " + channels + "] (i, j, k, l) -> [i, k, l, j]";
}

std::string IndexOf(const Window& window, const std::string& line, const std::string& tap) {
  std::string index = window.stride == 1 ? line : std::to_string(window.stride) + "*" + line;
  if (window.taps > 1) index += " + " + tap;
  if (window.border > 0) index += " - " + std::to_string(window.border);
  return index;
}

// Returns the expression of an output element of `type`: the sum and the operations of `behind`.
std::string ValueOf(const std::string& type, Behind behind) {
  std::string value = "acc[n, m, oh, ow]";
  if (behind != Behind::kNothing) value += " + b[m]";
  if (behind == Behind::kResidual) {
    const std::string other = "R[n, m, oh, ow]";
    value += type == "f32" ? " + " + other : " + f32(" + other + ")";
  }
  if (behind != Behind::kNothing) value = "max(" + value + ", 0.0)";
  return type == "f32" ? value : type + "(" + value + ")";
}

}  // namespace

std::string Convolution(const std::string& type, const Window& window, Behind behind, Order order) {
  const auto factor = [&](const std::string& read) {
    return type == "f32" ? read : "f32(" + read + ")";
  };
  const bool taps = window.taps > 1;
  const std::string line = IndexOf(window, "oh", "kh");
  const std::string column = IndexOf(window, "ow", "kw");
  std::string domain;
  if (window.border > 0)
    domain = " where " + line + " >= 0, $E - (" + line + ") >= 0, " + column + " >= 0, $E - (" +
             column + ") >= 0";
  std::string text = "compute convolution {\n  input X: TYPE[$N, $C, $S, $S]" +
                     LayoutOf(order, "$C", "$S") + "\n  weight W: TYPE[$O, $C, $K, $K] constant\n";
  if (behind != Behind::kNothing) text += "  weight b: f32[$O] constant\n";
  if (behind == Behind::kResidual)
    text += "  input R: TYPE[$N, $O, $P, $P]" + LayoutOf(order, "$O", "$P") + "\n";
  text += "  output Y: TYPE[$N, $O, $P, $P]" + LayoutOf(order, "$O", "$P") +
          "\n  workspace acc: f32[$N, $O, $P, $P]" + LayoutOf(order, "$O", "$P") +
          "\n  acc[n: $N, m: $O, oh: $P, ow: $P, ic: $C reduction" +
          (taps ? ", kh: $K reduction, kw: $K reduction]" : "]") + domain +
          ":\n    acc[n, m, oh, ow] sum= " + factor("X[n, ic, " + line + ", " + column + "]") +
          " * " + factor(taps ? "W[m, ic, kh, kw]" : "W[m, ic, 0, 0]") +
          "\n  Y[n: $N, m: $O, oh: $P, ow: $P]:\n    Y[n, m, oh, ow] = " + ValueOf(type, behind) +
          "\n}";
  text = Replaced(std::move(text), "TYPE", type);
  return Numbered(std::move(text), {{"$N", window.batch},
                                    {"$C", window.channels},
                                    {"$S", window.size},
                                    {"$E", window.size - 1},
                                    {"$O", window.outputs},
                                    {"$K", window.taps},
                                    {"$P", window.Outputs()}});
}

std::string OneImageConvolution(int channels, int size, int outputs) {
  return Numbered(R"(compute convolution {
  input X: f32[1, $C, $S, $S]
  weight W: f32[$O, $C, 3, 3] constant
  output Y: f32[1, $O, $S, $S]
  workspace acc: f32[1, $O, $S, $S]
  acc[m: $O, oh: $S, ow: $S, ic: $C reduction, kh: 3 reduction, kw: 3 reduction] where oh + kh - 1 >= 0, -oh - kh + $S >= 0, ow + kw - 1 >= 0, -ow - kw + $S >= 0:
    acc[0, m, oh, ow] sum= X[0, ic, oh + kh - 1, ow + kw - 1] * W[m, ic, kh, kw]
  Y[m: $O, oh: $S, ow: $S]:
    Y[0, m, oh, ow] = max(acc[0, m, oh, ow], 0.0)
})",
                  {{"$C", channels}, {"$S", size}, {"$O", outputs}});
}

}  // namespace tunec::test
