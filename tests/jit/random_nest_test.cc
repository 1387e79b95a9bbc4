// Tests that random loop nests, compiled for each target, give the interpreter's results. Every
// read of an input is in range, because inputs are large enough for any index of the generator.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/random.h"
#include "tests/jit/nest_runner.h"

namespace tunec::jit_test {
namespace {

class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed) {}

  std::string Nest() {
    rows_ = 1 + Below(40);
    columns_ = 1 + Below(70);
    depth_ = 1 + Below(9);
    row_tile_ = 1 + Below(6);
    column_tile_ = 8 << Below(3);
    type_ = Pick({"f32", "f32", "f32", "f64", "i32"});
    one_ = type_ == "i32" ? "1i32" : type_ == "f64" ? "1.0f64" : "1.0";
    std::string text = fmt::format(
        "nest random {{\n  input A: {0}[400, 400]\n  input B: {0}[400, 400]\n"
        "  input X: i64[400] range [0, 399]\n  output O: {0}[{1}, {2}]\n"
        "  output S: {0}[{1}]\n  local acc: {0}[{3}, {4}]\n  phase main {{\n",
        type_, rows_, columns_, row_tile_, column_tile_);
    text += Below(3) == 0 ? Elementwise() : Tiled();
    return text + Rows() + "  }\n}\n";
  }

 private:
  int Below(int bound) { return static_cast<int>(random_.Below(static_cast<uint64_t>(bound))); }
  std::string Pick(const std::vector<std::string>& from) {
    return from[Below(static_cast<int>(from.size()))];
  }

  /// Returns an index in [0, 400) from variables below 70.
  std::string Index(const std::vector<std::string>& variables) {
    std::string v = Pick(variables);
    const std::string w = Pick(variables);
    switch (Below(9)) {
      case 0:
        return fmt::format("{} + {}", v, Below(20));
      case 1:
        return fmt::format("2*{} + {}", v, Below(9));
      case 2:
        return fmt::format("{} + {}", v, w);
      case 3:
        return fmt::format("{} - {} + 80", v, w);
      case 4:
        return fmt::format("floor({} / {})", v, 1 << (1 + Below(4)));
      case 5:
        return fmt::format("({} + {}) mod {}", v, Below(5), 2 + Below(30));
      case 6:
        return fmt::format("floor(({} + {}) / 3) + 2*({} mod 8)", v, w, v);
      case 7:
        return fmt::format("@(X[{} + {}])", v, Below(9));
      default:
        return v;
    }
  }

  std::string Read(const std::vector<std::string>& variables) {
    std::string read =
        fmt::format("{}[{}, {}]", Pick({"A", "B"}), Index(variables), Index(variables));
    if (Below(4) != 0) return read;
    return fmt::format("({} where ({} - {} >= 0, {} - {} >= 0) else 3.0)", read, Pick(variables),
                       Below(5), 10 + Below(60), Pick(variables));
  }

  std::string Value(const std::vector<std::string>& variables) {
    std::string a = Read(variables);
    const std::string b = Read(variables);
    const std::string index = fmt::format("index_{}({})", type_, Pick(variables));
    switch (Below(7)) {
      case 0:
        return fmt::format("{} * {}", a, b);
      case 1:
        return fmt::format("{} + {}", a, b);
      case 2:
        return fmt::format("max({}, {})", a, b);
      case 3:
        return fmt::format("select(holds({} - {} >= 0), {}, {})", Pick(variables), Below(30), a, b);
      case 4:
        return fmt::format("{} - {} * {}", a, b, one_);
      case 5:
        return fmt::format("{} * {}", index, one_);
      default:
        return a;
    }
  }

  std::string Elementwise() {
    const std::string kind = Pick({"parallel ", "", "unrolled "});
    const std::string lanes = Pick({"vector ", "vector ", ""});
    const std::string condition =
        Below(3) == 0 ? fmt::format("if (j + i - {} >= 0) {{\n", Below(20)) : "";
    std::string text =
        fmt::format("{}for i in 0 .. {} {{\n{}for j in 0 .. {} {{\n", kind, rows_, lanes, columns_);
    text += fmt::format("z: O[i, j] = {}\n", one_);
    text += fmt::format("{}e: O[i, j] = {}\n{}", condition, Value({"i", "j"}),
                        condition.empty() ? "" : "}\n");
    return text + "}\n}\n";
  }

  /// Returns the text of loops over register tiles, of which the last may be partial.
  std::string Tiled() {
    const int row_tiles = (rows_ + row_tile_ - 1) / row_tile_;
    const int column_tiles = (columns_ + column_tile_ - 1) / column_tile_;
    const std::string rows =
        fmt::format("unrolled for i in 0 .. min({0}, {1} - {0}*it) {{\n", row_tile_, rows_);
    const std::string columns =
        fmt::format("vector for j in 0 .. min({0}, {1} - {0}*jt) {{\n", column_tile_, columns_);
    const std::string index = fmt::format("{}*it + i, {}*jt + j", row_tile_, column_tile_);
    const std::string reducer = Pick({"sum", "max", "min"});
    std::string text =
        fmt::format("{}for it in 0 .. {} {{\n{}for jt in 0 .. {} {{\nalloc acc: register {{\n",
                    Pick({"parallel ", ""}), row_tiles, "", column_tiles);
    text += rows + columns + fmt::format("i: acc[i, j] = {}\n}}\n}}\n", one_);
    text += fmt::format("for k in 0 .. {} unroll {} {{\n", depth_, 1 + Below(4));
    text += rows + columns +
            fmt::format("m: acc[i, j] {}= {}\n}}\n}}\n}}\n", reducer, Value({"k", "j", "it"}));
    text += rows + columns + fmt::format("o: O[{}] = acc[i, j] + {}\n}}\n}}\n", index, one_);
    return text + "}\n}\n}\n";
  }

  /// Returns the text of horizontal reductions into S.
  std::string Rows() {
    const std::string upper = Below(2) == 0
                                  ? std::to_string(columns_)
                                  : fmt::format("min({}, i + {})", columns_, 1 + Below(20));
    const std::string read = Value({"i", "j"});
    return fmt::format(
        "for i in 0 .. {} {{\ns: S[i] = {}\nvector for j in 0 .. {} {{\nr: S[i] {}= {}\n}}\n}}\n",
        rows_, one_, upper, Pick({"sum", "max", "min"}), read);
  }

  Random random_;
  int rows_ = 0, columns_ = 0, depth_ = 0, row_tile_ = 0, column_tile_ = 0;
  std::string type_, one_;
};

TEST(RandomNests, AsInterpreted) {
  const char* count = std::getenv("TUNEC_RANDOM_NESTS");
  const int64_t nests = count == nullptr ? 60 : std::strtol(count, nullptr, 10);
  for (int64_t seed = 1; seed <= nests; ++seed) {
    const std::string text = Generator(static_cast<uint64_t>(seed)).Nest();
    ExpectAsInterpreted(text, 1e-4, static_cast<uint64_t>(seed));
    if (HasFailure()) {
      ADD_FAILURE() << "seed " << seed << "\n" << text;
      return;
    }
  }
}

}  // namespace
}  // namespace tunec::jit_test
