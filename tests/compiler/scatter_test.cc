// Tests of scatters as machine code, compared with the reference. If the result is stored in the
// memory of the data, only the pages of written rows are accessed. All other pages may be
// inaccessible.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "graph/reference.h"
#include "tests/compiler/models.h"

namespace tunec {
namespace {

using testing::ErrorAgainstReference;
using testing::GraphOf;
using testing::kTolerance;
using testing::Options;

constexpr std::string_view kScatters[] = {
    // These graphs scatter rows or elements. Several of the updates may have the same position.
    R"(graph rows {
  input x: f32[37, 200]
  input i: i64[29, 1]
  input u: f32[29, 200]
  y = scatter(x, i, u) {reduction="add"}
  output y
})",
    R"(graph narrow {
  input x: f32[5, 3]
  input i: i64[9, 1]
  input u: f32[9, 3]
  y = scatter(x, i, u)
  output y
})",
    R"(graph one {
  input x: f32[5, 300]
  input i: i64[1, 1]
  input u: f32[1, 300]
  y = scatter(x, i, u)
  output y
})",
    R"(graph element {
  input x: f32[5]
  input i: i64[1]
  input u: f32[1]
  y = scatter(x, i, u)
  output y
})",
    R"(graph cache {
  input x: f32[2, 3, 17, 20]
  input i: i64[1, 1, 4, 1]
  input u: f32[2, 3, 4, 20]
  y = scatter(x, i, u) {axis=2}
  output y
})",
    R"(graph wide {
  input x: f32[3, 40000]
  input i: i64[5, 1]
  input u: f32[5, 40000]
  y = scatter(x, i, u) {reduction="max"}
  output y
})",
    R"(graph elements {
  input x: f32[6, 37]
  input i: i64[5, 37]
  input u: f32[5, 37]
  y = scatter(x, i, u) {reduction="mul"}
  output y
})",
    R"(graph last {
  input x: f32[6, 37]
  input i: i64[6, 50]
  input u: f32[6, 50]
  y = scatter(x, i, u) {axis=1, reduction="min"}
  output y
})",
    R"(graph last_axes {
  input x: f32[2, 3, 37]
  input i: i64[50]
  input u: f32[50]
  y = scatter(x, i, u) {depth=3, reduction="add"}
  output y
})",
    R"(graph half {
  input x: f16[11, 50]
  input i: i64[7, 1]
  input u: f16[7, 50]
  y = scatter(x, i, u)
  output y
})",
    // Data, indices and updates are computed, and the result is read by other nodes.
    R"(graph between {
  input x: f32[11, 50]
  input i: i64[7, 1]
  input u: f32[50, 7]
  constant c: i64[] = 3
  e = exp(x)
  p = mul(i, c)
  t = transpose(u) {perm=[1, 0]}
  n = neg(t)
  s = scatter(e, p, n) {reduction="add"}
  y = relu(s)
  z = reduce_sum(s) {axes=[1]}
  output y
  output z
})",
    // Two scatters run one after the other in the memory of an intermediate value.
    R"(graph twice {
  input x: f32[11, 50]
  input i: i64[7, 1]
  input u: f32[7, 50]
  e = exp(x)
  s = scatter(e, i, u)
  t = scatter(s, i, u) {reduction="add"}
  y = sqrt(t)
  output y
})",
    // The data is read again after the scatter, so it may not be overwritten.
    R"(graph kept {
  input x: f32[11, 50]
  input i: i64[7, 1]
  input u: f32[7, 50]
  e = exp(x)
  s = scatter(e, i, u)
  y = sub(s, e)
  output y
})",
};

class Scatter : public ::testing::TestWithParam<std::string_view> {};

TEST_P(Scatter, AgreesWithTheReference) {
  const Graph graph = GraphOf(GetParam());
  for (const int threads : {1, 2}) {
    const auto model = Compile(graph, nullptr, Options(threads));
    ASSERT_TRUE(model) << model.error().Format();
    const auto error = ErrorAgainstReference(graph, *model->executable);
    ASSERT_TRUE(error) << error.error().Format();
    EXPECT_LT(*error, kTolerance);
  }
}

INSTANTIATE_TEST_SUITE_P(Graphs, Scatter, ::testing::ValuesIn(kScatters), [](const auto& test) {
  const std::string_view text = test.param.substr(6);
  return std::string(text.substr(0, text.find(' ')));
});

// Memory of whole pages that can be made inaccessible.
class Pages {
 public:
  explicit Pages(size_t count)
      : bytes_(count * PageBytes()),
        memory_(static_cast<std::byte*>(
            mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {}
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages() { munmap(memory_, bytes_); }

  static size_t PageBytes() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }
  float* floats() { return reinterpret_cast<float*>(memory_); }
  size_t elements() const { return bytes_ / sizeof(float); }
  void Close() { mprotect(memory_, bytes_, PROT_NONE); }
  void Open() { mprotect(memory_, bytes_, PROT_READ | PROT_WRITE); }
  void Open(size_t page) {
    mprotect(memory_ + page * PageBytes(), PageBytes(), PROT_READ | PROT_WRITE);
  }

 private:
  size_t bytes_;
  std::byte* memory_;
};

// A decoding step writes one row of each head. Each row fills one page.
TEST(ScatterInPlace, TouchesTheRowsThatAreWritten) {
  constexpr size_t kHeads = 3, kLength = 8, kAt = 5;
  const size_t width = Pages::PageBytes() / sizeof(float);
  const std::string text = fmt::format(
      "graph g {{\n input cache: f32[1, {0}, {1}, {2}]\n input at: i64[1, 1, 1, 1]\n"
      " input new: f32[1, {0}, 1, {2}]\n y = scatter(cache, at, new) {{axis=2}}\n output y\n}}",
      kHeads, kLength, width);
  const Graph graph = GraphOf(text);
  const auto model = Compile(graph, nullptr, Options());
  ASSERT_TRUE(model) << model.error().Format();
  Pages cache(kHeads * kLength);
  std::fill_n(cache.floats(), cache.elements(), 1.0F);
  const std::vector<float> row(kHeads * width, 2.0F);
  const int64_t at = kAt;
  const void* const inputs[] = {cache.floats(), &at, row.data()};
  void* const outputs[] = {cache.floats()};
  cache.Close();
  for (size_t head = 0; head < kHeads; ++head) cache.Open(head * kLength + kAt);
  const Status ran = model->executable->Run(inputs, outputs);
  cache.Open();
  ASSERT_TRUE(ran) << ran.error().Format();
  for (size_t page = 0; page < kHeads * kLength; ++page) {
    const float* const begin = cache.floats() + page * width;
    const float expected = page % kLength == kAt ? 2.0F : 1.0F;
    EXPECT_TRUE(std::all_of(begin, begin + width, [&](float x) { return x == expected; })) << page;
  }
}

// If the output has separate memory, the data is copied and stays unchanged.
TEST(ScatterInPlace, CopiesWhereTheDataIsKept) {
  const Graph graph = GraphOf(R"(graph g {
  input x: f32[300, 70]
  input i: i64[2, 1]
  input u: f32[2, 70]
  y = scatter(x, i, u)
  output y
})");
  const auto model = Compile(graph, nullptr, Options());
  ASSERT_TRUE(model) << model.error().Format();
  const size_t elements = 300 * 70;
  std::vector<float> x(elements, 1.0F), y(elements, 0.0F), u(140, 2.0F);
  const int64_t positions[] = {7, 299};
  const void* const inputs[] = {x.data(), positions, u.data()};
  void* const outputs[] = {y.data()};
  ASSERT_TRUE(model->executable->Run(inputs, outputs));
  EXPECT_EQ(std::ranges::count(x, 1.0F), std::ssize(x));
  EXPECT_EQ(std::ranges::count(y, 1.0F), std::ssize(y) - 140);
  EXPECT_EQ(y[7 * 70], 2.0F);
  EXPECT_EQ(y[299 * 70 + 69], 2.0F);
}

}  // namespace
}  // namespace tunec
