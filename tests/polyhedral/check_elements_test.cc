// Tests of the check of Computes from outside of tunec. The check rejects accesses out of range,
// reads of unwritten elements, and unwritten outputs.
#include "polyhedral/check_elements.h"

#include <gtest/gtest.h>

namespace tunec {
namespace {

std::string Outcome(const std::string& body) {
  const Result<Compute> compute = ParseCompute("compute c {\n" + body + "}\n", "c");
  if (!compute) return compute.error().Format();
  if (const Status valid = Verify(*compute); !valid) return valid.error().message;
  const Status checked = CheckElements(*compute);
  return checked ? "" : checked.error().message;
}

const std::string kProduct = R"(
  input A: f32[6, 8]
  input B: f32[8, 5]
  output C: f32[6, 5]
  workspace acc: f32[6, 5]
)";
const std::string kCopy = "  result[i: 6, j: 5]:\n    C[i, j] = acc[i, j]\n";

TEST(CheckElements, AProductIsSound) {
  EXPECT_EQ(Outcome(kProduct +
                    "  product[i: 6, j: 5, k: 8 reduction]:\n    acc[i, j] sum= A[i, k] * "
                    "B[k, j]\n" +
                    kCopy),
            "");
}

TEST(CheckElements, WorkspaceThatIsWrittenInPart) {
  EXPECT_EQ(Outcome(kProduct +
                    "  product[i: 6, j: 3, k: 8 reduction]:\n    acc[i, j] sum= A[i, k] * "
                    "B[k, j]\n" +
                    kCopy),
            "statement result reads acc[0, 3], which nothing wrote before");
}

TEST(CheckElements, WorkspaceThatIsWrittenLater) {
  EXPECT_EQ(Outcome(kProduct + kCopy +
                    "  product[i: 6, j: 5, k: 8 reduction]:\n    acc[i, j] sum= A[i, k] * "
                    "B[k, j]\n"),
            "statement result reads acc[0, 0], which nothing wrote before");
  EXPECT_EQ(Outcome(kProduct + kCopy), "statement result reads acc, which nothing writes");
}

TEST(CheckElements, AStatementWithoutInstancesWritesNothing) {
  const std::string write = "  input x: f32[4]\n  output y: f32[4]\n  s[i: 4, k: ";
  EXPECT_EQ(Outcome(write + "1]:\n    y[i] = x[i]\n"), "");
  EXPECT_EQ(Outcome(write + "0]:\n    y[i] = x[i]\n"), "the output element y[0] is never written");
  EXPECT_EQ(Outcome(write + "0 reduction]:\n    y[i] sum= x[i]\n"), "");
}

TEST(CheckElements, TwoStatementsMayShareTheWriting) {
  const std::string halves =
      "  low[i: 3, j: 5]:\n    acc[i, j] = A[i, j]\n"
      "  high[i: 3, j: 5]:\n    acc[i + {}, j] = A[i, j]\n";
  const auto with = [&](int start) {
    return Outcome(kProduct + fmt::format(fmt::runtime(halves), start) + kCopy);
  };
  EXPECT_EQ(with(3), "");
  EXPECT_EQ(with(2), "statement result reads acc[5, 0], which nothing wrote before");
}

// An element without contributing iterations has the identity of its reduction.
TEST(CheckElements, AReductionWritesAllThatItsIteratorsReach) {
  EXPECT_EQ(
      Outcome(kProduct +
              "  product[i: 6, j: 5, k: 8 reduction] where i - k - 1 >= 0:\n    acc[i, j] sum= "
              "A[i, k] * B[k, j]\n" +
              kCopy),
      "");
  EXPECT_EQ(Outcome(kProduct +
                    "  product[i: 6, j: 5, k: 0 reduction]:\n    acc[i, j] sum= A[i, k] * "
                    "B[k, j]\n" +
                    kCopy),
            "");
}

TEST(CheckElements, ARecurrenceReadsItsOwnEarlierInstances) {
  const std::string tensors = "  input x: f32[9]\n  output y: f32[9]\n  workspace s: f32[9]\n";
  const std::string first = "  first[i: 1]:\n    s[i] = x[i]\n";
  const std::string copy = "  copy[i: 9]:\n    y[i] = s[i]\n";
  const auto scan = [&](const std::string& read) {
    return "  scan[i: 8 sequential]:\n    s[i + 1] = s[" + read + "] + x[i + 1]\n";
  };
  EXPECT_EQ(Outcome(tensors + first + scan("i") + copy), "");
  EXPECT_EQ(Outcome(tensors + scan("i") + first + copy),
            "statement scan reads s[0], which nothing wrote before");
  EXPECT_EQ(Outcome(tensors + first + scan("i + 1") + copy),
            "statement scan reads s[1], which nothing wrote before");
}

TEST(CheckElements, OutputsAreWrittenWhole) {
  const std::string tensors = "  input x: f32[4, 4]\n  output y: f32[4, 4]\n";
  EXPECT_EQ(Outcome(tensors + "  lower[i: 4, j: 4] where i - j >= 0:\n    y[i, j] = x[i, j]\n"),
            "the output element y[0, 1] is never written");
  EXPECT_EQ(Outcome(tensors + "  lower[i: 4, j: 4] where i - j >= 0:\n    y[i, j] = x[i, j]\n" +
                    "  upper[i: 4, j: 4] where j - i - 1 >= 0:\n    y[i, j] = 0.0\n"),
            "");
}

TEST(CheckElements, AccessesStayInside) {
  const std::string tensors = "  input x: f32[8]\n  output y: f32[6]\n";
  EXPECT_EQ(Outcome(tensors + "  s[i: 6]:\n    y[i] = x[i + floor(i/3)]\n"), "");
  EXPECT_EQ(Outcome(tensors + "  s[i: 6]:\n    y[i] = x[i + floor(i/2) + 1]\n"),
            "statement s: x[8] lies outside of 8");
  EXPECT_EQ(Outcome(tensors + "  s[i: 6, j: 9 reduction] where 1 - i + j >= 0, 5 - j >= 0:\n"
                              "    y[i] sum= x[i + j - 3]\n"),
            "statement s: x[-3] lies outside of 8");
}

TEST(CheckElements, ALoadedIndexNeedsARange) {
  const auto gather = [](const std::string& range) {
    return Outcome("  input at: i64[3]" + range +
                   "\n  input x: f32[8]\n  output y: f32[3]\n"
                   "  s[i: 3]:\n    @0 = at[i]\n    @1 = x[@0]\n    y[i] = @1\n");
  };
  EXPECT_EQ(gather(" range [0, 7]"), "");
  EXPECT_NE(gather(" range [0, 8]").find("may be 0 to 8, its extent is 8"), std::string::npos);
  EXPECT_NE(gather("").find("is loaded and may be"), std::string::npos);
}

}  // namespace
}  // namespace tunec
