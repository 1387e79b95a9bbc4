#include "support/suggest.h"

#include <gtest/gtest.h>

#include <array>

namespace tunec {
namespace {

TEST(Suggest, EditDistance) {
  EXPECT_EQ(EditDistance("", ""), 0U);
  EXPECT_EQ(EditDistance("", "abc"), 3U);
  EXPECT_EQ(EditDistance("abc", ""), 3U);
  EXPECT_EQ(EditDistance("split", "splt"), 1U);
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3U);
  EXPECT_EQ(EditDistance("bnech", "bench"), 1U);    // one swap
  EXPECT_EQ(EditDistance("abcdef", "badcfe"), 3U);  // three swaps
  EXPECT_EQ(EditDistance("ca", "abc"), 3U);         // each letter is edited at most once
  EXPECT_EQ(EditDistance("--thread", "--threads"), 1U);
}

TEST(Suggest, NearestWord) {
  constexpr std::array<std::string_view, 5> kKnown = {"run", "bench", "verify", "split",
                                                      "parallelize"};
  EXPECT_EQ(NearestWord("bnech", kKnown), "bench");
  EXPECT_EQ(NearestWord("rn", kKnown), "run");
  EXPECT_EQ(NearestWord("splti", kKnown), "split");
  EXPECT_EQ(NearestWord("paralelise", kKnown), "parallelize");
  EXPECT_EQ(NearestWord("para", kKnown), "parallelize");  // an abbreviation
  EXPECT_EQ(NearestWord("unet.onnx", kKnown), "");
  EXPECT_EQ(NearestWord("p", kKnown), "");
  EXPECT_EQ(NearestWord("", kKnown), "");
  EXPECT_EQ(NearestWord("run", kKnown), "");  // not a misspelling
  EXPECT_EQ(DidYouMean("verfy", kKnown), "; did you mean verify?");
  EXPECT_EQ(DidYouMean("something", kKnown), "");
}

TEST(Suggest, TheFirstOfEquallyNearWords) {
  constexpr std::array<std::string_view, 2> kKnown = {"cat", "car"};
  EXPECT_EQ(NearestWord("caz", kKnown), "cat");
}

}  // namespace
}  // namespace tunec
