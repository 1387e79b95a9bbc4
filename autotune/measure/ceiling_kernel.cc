// A round is one instruction for each of several accumulators, which stay in registers. There are
// enough accumulators to hide the latency of the instruction, and few enough to leave registers for
// the operands. Vectors have twelve accumulators: two units with a latency of 5 need ten. AMX has
// all four tiles that may be accumulators: a tile product takes 16 cycles, and its latency is 52.
//
// Plain instructions have constant operands: t = t * 0.999 + 1e-4 stays a normal number for any
// number of rounds. Tile intrinsics load their operands from memory. Each operand is
// used by several products of a round, so that loads never limit the rate.
#include "autotune/measure/ceiling_kernel.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "support/check.h"

namespace tunec {
namespace {

constexpr int64_t kVectors = 12;
constexpr int64_t kTiles = 4;

/// The texts of one operand's extents and index variables within a tile. They follow other extents
/// and variables, so each begins with a comma. Axes of extent 1 are omitted.
struct Element {
  std::string shape;  // ", 16, 2"
  std::string index;  // ", i, g"
};

Element ElementOf(const TileIntrinsic& intrinsic, const std::vector<TileAxis>& axes) {
  constexpr const char* kVariables[kTileAxes] = {"i", "k", "g", "j"};
  Element element;
  for (const TileAxis axis : axes) {
    const auto number = static_cast<size_t>(axis);
    if (intrinsic.extents[number] == 1) continue;
    element.shape += fmt::format(", {}", intrinsic.extents[number]);
    element.index += fmt::format(", {}", kVariables[number]);
  }
  return element;
}

/// Returns the text of a tile: its loops around one statement.
std::string TileText(const TileIntrinsic& intrinsic, const std::string& statement) {
  const auto extent = [&](TileAxis axis) { return intrinsic.extents[static_cast<size_t>(axis)]; };
  std::string text = fmt::format("tile {} {{\n", intrinsic.name);
  std::string close = "}\n";
  const auto open = [&](const char* kind, const char* variable, int64_t count) {
    if (count == 1) return;
    text += fmt::format("{} for {} in 0 .. {} {{\n", kind, variable, count);
    close += "}\n";
  };
  open("unrolled", "i", extent(TileAxis::kRow));
  open("unrolled", "k", extent(TileAxis::kReduced));
  open("unrolled", "g", extent(TileAxis::kGroup));
  open("vector", "j", extent(TileAxis::kColumn));
  return text + statement + close;
}

/// Returns the text of a nest. `before` initializes one accumulator, `round` is one multiply-add
/// into it, and `after` stores it.
std::string NestText(const std::string& inputs, const std::string& accumulator, const char* scope,
                     const std::string& before, const std::string& round, const std::string& after,
                     int64_t accumulators, int64_t rounds) {
  return fmt::format(R"(nest ceiling {{
  {0}
  output C: {1}
  local t: {1}
  phase run {{
    alloc t: {2} {{
      unrolled for n in 0 .. {6} {{
        {3}
      }}
      for r in 0 .. {7} unroll 4 {{
        unrolled for n in 0 .. {6} {{
          {4}
        }}
      }}
      unrolled for n in 0 .. {6} {{
        {5}
      }}
    }}
  }}
}}
)",
                     inputs, accumulator, scope, before, round, after, accumulators, rounds);
}

LoopNest Parsed(const std::string& text) {
  Result<LoopNest> nest = ParseLoopNest(text, "ceiling");
  TUNEC_CHECK(nest.has_value(), "{}\n{}", nest.error().Format(), text);
  return std::move(*nest);
}

CeilingKernel Plain(DataType type, const Target& target, int64_t rounds) {
  const int64_t lanes = target.host.Lanes(static_cast<int>(SizeOf(type)));
  const auto vector = [&](const std::string& statement) {
    return fmt::format("vector for j in 0 .. {} {{\n{}}}", lanes, statement);
  };
  const std::string number = type == DataType::kF32 ? "" : std::string(Name(type));
  const std::string text =
      NestText("", fmt::format("{}[{}, {}]", Name(type), kVectors, lanes), "register",
               vector(fmt::format("begin: t[n, j] = index_{}(n)\n", Name(type))),
               vector(fmt::format("step: t[n, j] = fma(t[n, j], 0.999{0}, 0.0001{0})\n", number)),
               vector("end: C[n, j] = t[n, j]\n"), kVectors, rounds);
  return {Parsed(text), static_cast<double>(kVectors * lanes * rounds)};
}

// Makes the kernel of a tile intrinsic. Vectors have three rows by four columns of accumulators,
// matrices two by two.
CeilingKernel MakeTileKernel(const TileIntrinsic& intrinsic, int64_t rounds) {
  using enum TileAxis;
  const bool matrix = intrinsic.extents[static_cast<size_t>(kRow)] > 1;
  const int64_t accumulators = matrix ? kTiles : kVectors;
  const int64_t columns = matrix ? 2 : 4;
  const Element left = ElementOf(intrinsic, {kRow, kReduced, kGroup});
  const Element right = ElementOf(intrinsic, {kReduced, kColumn, kGroup});
  const Element sum = ElementOf(intrinsic, {kRow, kColumn});
  const std::string_view type = Name(intrinsic.accumulator.type);
  const std::string inputs = fmt::format(
      "input A: {}[{}{}]\n  input B: {}[{}{}]", Name(intrinsic.left.type), accumulators / columns,
      left.shape, Name(intrinsic.right.type), columns, right.shape);
  const auto each = [&](const std::string& statement) {
    const std::string vector =
        fmt::format("vector for j in 0 .. {} {{\n{}}}",
                    intrinsic.extents[static_cast<size_t>(kColumn)], statement);
    return matrix ? fmt::format("for i in 0 .. {} {{\n{}\n}}",
                                intrinsic.extents[static_cast<size_t>(kRow)], vector)
                  : vector;
  };
  const std::string zero = IsFloat(intrinsic.accumulator.type) ? "0.0" : fmt::format("0{}", type);
  const std::string product =
      fmt::format("step: t[n{0}] sum= {1}(A[floor(n/{2}){3}]) * {1}(B[n mod {2}{4}])\n", sum.index,
                  type, columns, left.index, right.index);
  const std::string text = NestText(
      inputs, fmt::format("{}[{}{}]", type, accumulators, sum.shape),
      matrix ? "packed" : "register", each(fmt::format("begin: t[n{}] = {}\n", sum.index, zero)),
      TileText(intrinsic, product), each(fmt::format("end: C[n{0}] = t[n{0}]\n", sum.index)),
      accumulators, rounds);
  double multiply_adds = static_cast<double>(accumulators * rounds);
  for (const int64_t extent : intrinsic.extents) multiply_adds *= static_cast<double>(extent);
  return {Parsed(text), multiply_adds};
}

}  // namespace

CeilingKernel MakeCeilingKernel(const MacInstruction& by, const Target& target, int64_t rounds) {
  return by.intrinsic == nullptr ? Plain(by.operand, target, rounds)
                                 : MakeTileKernel(*by.intrinsic, rounds);
}

int64_t UsualRounds(const MacInstruction& by) {
  const bool matrix =
      by.intrinsic != nullptr && by.intrinsic->extents[static_cast<size_t>(TileAxis::kRow)] > 1;
  // A run has 4.8 million vector instructions, or 0.3 million tile instructions of 16 cycles each.
  return matrix ? 75'000 : 400'000;
}

}  // namespace tunec
