#include "tests/programs/winograd.h"

#include <fmt/format.h>

#include <cstdlib>
#include <functional>

namespace tunec::test {
namespace {

using Matrix = std::vector<std::vector<double>>;

struct Tile {
  Matrix filter;
  Matrix input;
  Matrix output;
};

const Tile kTwo = {{{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}},
                   {{1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, 1, 0, -1}},
                   {{1, 1, 1, 0}, {0, 1, -1, -1}}};
// The matrices of 4x4 tiles for the interpolation points 0, 1, -1, 2, -2 and infinity. The lowering
// uses other points.
const Tile kFour = {
    {{0.25, 0, 0},
     {1. / 6, 1. / 6, 1. / 6},
     {1. / 6, -1. / 6, 1. / 6},
     {1. / 24, 1. / 12, 1. / 6},
     {1. / 24, -1. / 12, 1. / 6},
     {0, 0, 1}},
    {{4, 0, -5, 0, 1, 0},
     {0, 4, 4, -1, -1, 0},
     {0, -4, 4, 1, -1, 0},
     {0, -2, -1, 2, 1, 0},
     {0, 2, -1, -2, 1, 0},
     {0, 4, 0, -5, 0, 1}},
    {{1, 1, 1, 1, 1, 0}, {0, 1, -1, 2, -2, 0}, {0, 1, 1, 4, 4, 0}, {0, 1, -1, 8, -8, 1}}};

const Tile& TileOf(const WinogradConv& c) { return c.tile == 4 ? kFour : kTwo; }
int Planes(const WinogradConv& c) { return (c.tile + 2) * (c.tile + 2); }

// Returns the factor's magnitude, in a form that parses as a float.
std::string Literal(double factor) {
  const std::string text = fmt::format("{}", std::abs(factor));
  return text.find('.') == std::string::npos ? text + ".0" : text;
}

std::string Combine(const std::vector<double>& row, const std::function<std::string(int)>& term) {
  std::string text;
  for (const bool negative : {false, true}) {
    for (size_t k = 0; k < row.size(); ++k) {
      if (row[k] == 0 || (row[k] < 0) != negative) continue;
      const std::string value = term(static_cast<int>(k));
      text += text.empty() ? "" : negative ? " - " : " + ";
      text += std::abs(row[k]) == 1 ? value : fmt::format("{} * {}", value, Literal(row[k]));
    }
  }
  return "(" + text + ")";
}

// Returns the elements of matrix * x * transposed matrix, separated by commas.
std::string Transform(const Matrix& matrix, const std::function<std::string(int, int)>& x) {
  std::string text;
  for (const auto& i : matrix) {
    for (const auto& j : matrix) {
      const auto column = [&](int c) { return Combine(i, [&](int r) { return x(r, c); }); };
      text += (text.empty() ? "" : ", ") + Combine(j, column);
    }
  }
  return text;
}

std::string Planes(const WinogradConv& c, const std::string& tensor, const std::string& index) {
  std::string text;
  for (int t = 0; t < Planes(c); ++t) {
    text += fmt::format("{}{}[{}, {}]", t == 0 ? "" : ", ", tensor, t, index);
  }
  return text;
}

std::string Offset(int value) {
  return value < 0 ? fmt::format(" - {}", -value) : fmt::format(" + {}", value);
}

std::string Head(const WinogradConv& c) {
  const auto image = [](const char* role, const char* name, int n, int channels, int h, int w) {
    return fmt::format(
        "  {} {}: f32[{}, {}, {}, {}] layout [{}, {}, {}, {}] (i, j, k, l) -> "
        "[i, k, l, j]\n",
        role, name, n, channels, h, w, n, h, w, channels);
  };
  std::string text =
      "compute conv {\n" + image("input", "X", c.batch, c.channels, c.height, c.width);
  text += fmt::format("  weight W: f32[{}, {}, 3, 3] constant\n", c.outputs, c.channels);
  text += fmt::format("  weight B: f32[{}] constant\n", c.outputs);
  if (c.residual) text += image("input", "R", c.batch, c.outputs, c.height, c.width);
  return text + image("output", "Y", c.batch, c.outputs, c.height, c.width);
}

std::string Behind(const WinogradConv& c, const std::string& sum, const std::string& index) {
  return fmt::format("max({} + B[m]{}, 0.0)", sum, c.residual ? " + R[" + index + "]" : "");
}

}  // namespace

std::string WinogradText(const WinogradConv& c) {
  const Tile& matrices = TileOf(c);
  const int m = c.tile;
  const int across = (c.width + m - 1) / m;
  const int down = (c.height + m - 1) / m;
  const int tiles = across * down;
  const std::string row = fmt::format("{}*floor(p/{})", m, across);
  const std::string column = fmt::format("{}*(p mod {})", m, across);
  std::string text = Head(c);
  text += fmt::format("  workspace filter: f32[{}, {}, {}] constant\n", Planes(c), c.channels,
                      c.outputs);
  text += fmt::format("  workspace patch: f32[{}, {}, {}, {}]\n", Planes(c), c.batch, tiles,
                      c.channels);
  text +=
      fmt::format("  workspace acc: f32[{}, {}, {}, {}]\n", Planes(c), c.batch, tiles, c.outputs);
  text +=
      fmt::format("  workspace back: f32[{}, {}, {}, {}, {}]\n", c.batch, tiles, c.outputs, m, m);
  text += fmt::format("  filter[m: {}, ic: {}]:\n    ({}) = ({})\n", c.outputs, c.channels,
                      Planes(c, "filter", "ic, m"), Transform(matrices.filter, [](int i, int j) {
                        return fmt::format("W[m, ic, {}, {}]", i, j);
                      }));
  const auto input = [&](int i, int j) {
    const std::string h = row + Offset(i - 1);
    const std::string w = column + Offset(j - 1);
    return fmt::format(
        "(X[n, ic, {}, {}] where ({} >= 0, {} - {} >= 0, {} >= 0, {} - {} >= 0) "
        "else 0.0)",
        h, w, h, c.height - 1 - (i - 1), row, w, c.width - 1 - (j - 1), column);
  };
  text += fmt::format("  patch[n: {}, p: {}, ic: {}]:\n    ({}) = ({})\n", c.batch, tiles,
                      c.channels, Planes(c, "patch", "n, p, ic"), Transform(matrices.input, input));
  text += fmt::format(
      "  acc[t: {}, n: {}, p: {}, m: {}, ic: {} reduction]:\n"
      "    acc[t, n, p, m] sum= patch[t, n, p, ic] * filter[t, ic, m]\n",
      Planes(c), c.batch, tiles, c.outputs, c.channels);
  std::string outputs;
  for (int i = 0; i < m * m; ++i) {
    outputs += fmt::format("{}back[n, p, m, {}, {}]", i == 0 ? "" : ", ", i / m, i % m);
  }
  text += fmt::format("  back[n: {}, p: {}, m: {}]:\n    ({}) = ({})\n", c.batch, tiles, c.outputs,
                      outputs, Transform(matrices.output, [&](int i, int j) {
                        return fmt::format("acc[{}, n, p, m]", (m + 2) * i + j);
                      }));
  const std::string at = fmt::format("n, m, {} + dy, {} + dx", row, column);
  text += fmt::format("  Y[n: {}, p: {}, m: {}, dy: {}, dx: {}]", c.batch, tiles, c.outputs, m, m);
  std::string inside;
  if (c.height % m != 0) inside += fmt::format(" {} - {} - dy >= 0", c.height - 1, row);
  if (c.width % m != 0) {
    inside += fmt::format("{} {} - {} - dx >= 0", inside.empty() ? "" : ",", c.width - 1, column);
  }
  if (!inside.empty()) text += " where" + inside;
  return text + fmt::format(":\n    Y[{}] = {}\n}}\n", at, Behind(c, "back[n, p, m, dy, dx]", at));
}

std::string DirectText(const WinogradConv& c) {
  std::string text = Head(c);
  text += fmt::format(
      "  workspace acc: f32[{0}, {1}, {2}, {3}] layout [{0}, {2}, {3}, {1}] "
      "(i, j, k, l) -> [i, k, l, j]\n",
      c.batch, c.outputs, c.height, c.width);
  text += fmt::format(
      "  acc[n: {}, m: {}, oh: {}, ow: {}, ic: {} reduction, kh: 3 reduction, "
      "kw: 3 reduction] where oh + kh - 1 >= 0, {} - oh - kh >= 0, "
      "ow + kw - 1 >= 0, {} - ow - kw >= 0:\n"
      "    acc[n, m, oh, ow] sum= X[n, ic, oh + kh - 1, ow + kw - 1] * "
      "W[m, ic, kh, kw]\n",
      c.batch, c.outputs, c.height, c.width, c.channels, c.height, c.width);
  text += fmt::format("  Y[n: {}, m: {}, oh: {}, ow: {}]:\n    Y[n, m, oh, ow] = {}\n}}\n", c.batch,
                      c.outputs, c.height, c.width, Behind(c, "acc[n, m, oh, ow]", "n, m, oh, ow"));
  return text;
}

std::vector<WinogradConv> WinogradConvs() {
  return {
      {.channels = 16, .height = 6, .width = 6, .outputs = 16},
      {.channels = 32, .height = 12, .width = 16, .outputs = 32, .residual = true},
      {.channels = 24, .height = 11, .width = 9, .outputs = 56, .batch = 2},
      {.channels = 27, .height = 9, .width = 12, .outputs = 60, .residual = true},
      {.channels = 8, .height = 2, .width = 3, .outputs = 9},
      {.channels = 16, .height = 8, .width = 4, .outputs = 16, .tile = 4},
      {.channels = 24, .height = 11, .width = 9, .outputs = 56, .batch = 2, .tile = 4},
      {.channels = 32, .height = 12, .width = 16, .outputs = 32, .residual = true, .tile = 4},
      {.channels = 32, .height = 3, .width = 2, .outputs = 32, .tile = 4},
  };
}

std::string NameOf(const WinogradConv& conv) {
  return fmt::format("c{}x{}x{}x{}n{}{}", conv.channels, conv.height, conv.width, conv.outputs,
                     conv.batch, conv.tile == 4 ? "t4" : "");
}

}  // namespace tunec::test
