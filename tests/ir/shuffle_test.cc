// Tests of the text, the effect and the rejections of shuffles, which read other threads'
// registers.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "ir/interpret/interpret.h"
#include "ir/nest/plain_shuffles.h"
#include "ir/nest/rewrite_loop_nest.h"
#include "tests/ir/small_arguments.h"

namespace tunec::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Returns a nest with a block of 2 x 8 threads. `inner` computes the local `other` from `own`.
std::string Nest(const std::string& inner, const std::string& scope = "register",
                 const std::string& type = "f32") {
  return fmt::format(R"(nest n {{
  input A: f32[2, 8]
  output C: f32[2, 8]
  local own: f32[2, 8]
  local other: {}[2, 8]
  phase p {{
    alloc own: {} {{
      alloc other: {} {{
        block.y for y in 0 .. 2 {{
          block.x for x in 0 .. 8 {{
            take: own[y, x] = A[y, x]
          }}
        }}
        {}
        block.y for y in 0 .. 2 {{
          block.x for x in 0 .. 8 {{
            give: C[y, x] = f32(other[y, x])
          }}
        }}
      }}
    }}
  }}
}}
)",
                     type, scope, scope, inner);
}

std::string Over(const std::string& loops, const std::string& shuffle) {
  return fmt::format("block.y for y in 0 .. 2 {{\n block.x for x in {} {{\n {}\n}}\n}}", loops,
                     shuffle);
}

constexpr const char* kByTwo = "shuffle other[y, x] = own[y, x] of x xor 2";

LoopNest Parsed(const std::string& text) {
  auto nest = ParseLoopNest(text, "n");
  EXPECT_TRUE(nest) << nest.error().Format();
  return *nest;
}

std::string WhyWrong(const std::string& text) {
  const Status status = Verify(Parsed(text));
  return status ? "" : status.error().message;
}

TEST(Shuffle, TextRoundTrips) {
  const LoopNest nest = Parsed(Nest(Over("0 .. 8", kByTwo)));
  EXPECT_THAT(Print(nest), HasSubstr(kByTwo));
  EXPECT_TRUE(Parsed(Print(nest)) == nest);
}

void ExpectPartners(const LoopNest& nest) {
  const std::vector<Array> arguments = SmallArguments(nest);
  const auto results = Interpret(nest, arguments, Precision::kNative);
  ASSERT_TRUE(results) << results.error().message;
  for (int64_t y = 0; y < 2; ++y) {
    for (int64_t x = 0; x < 8; ++x) {
      EXPECT_EQ((*results)[0].GetDouble(8 * y + x), arguments[0].GetDouble(8 * y + (x ^ 2)));
    }
  }
}

TEST(Shuffle, TakesThePartnersElement) { ExpectPartners(Parsed(Nest(Over("0 .. 8", kByTwo)))); }

TEST(Shuffle, TakesTheElementOfThePartnersTensor) {
  const std::regex element(R"((own|other)\[y, x\])");
  const std::string text = Nest(Over("0 .. 8", kByTwo), "register per_thread");
  ExpectPartners(Parsed(std::regex_replace(text, element, "$1[1, 7]")));
}

TEST(PlainShuffles, TakeItFromMemory) {
  const LoopNest one_thread =
      Rewrite(PlainShuffles(Parsed(Nest(Over("0 .. 8", kByTwo)))), [](Loop loop) {
        loop.kind = LoopKind::kSerial;
        return loop;
      });
  EXPECT_THAT(Print(one_thread), Not(HasSubstr("shuffle other")));
  ExpectPartners(one_thread);
}

TEST(Shuffle, IsForAllThreadsOfTheBlock) {
  EXPECT_EQ(WhyWrong(Nest(Over("0 .. 8", kByTwo))), "");
  EXPECT_THAT(WhyWrong(Nest(Over("0 .. 7", kByTwo))), HasSubstr("alone in loops over all threads"));
  EXPECT_THAT(WhyWrong(Nest(Over("0 .. 8", fmt::format("if (x - 1 >= 0) {{\n{}\n}}", kByTwo)))),
              HasSubstr("alone in loops over all threads"));
  EXPECT_THAT(WhyWrong(Nest(Over("0 .. 8", fmt::format("{}\n again: other[y, x] = 0.0", kByTwo)))),
              HasSubstr("alone in loops over all threads"));
}

TEST(Shuffle, IsOfAPartnerInTheWarp) {
  const auto by = [](int distance) {
    return Nest(
        Over("0 .. 8", fmt::format("shuffle other[y, x] = own[y, x] of x xor {}", distance)));
  };
  EXPECT_EQ(WhyWrong(by(4)), "");
  EXPECT_THAT(WhyWrong(by(8)), HasSubstr("a shuffle over 8 threads at distance 8"));
  EXPECT_THAT(WhyWrong(by(3)), HasSubstr("at distance 3"));
  EXPECT_THAT(WhyWrong(Nest(Over("0 .. 8", "shuffle other[y, x] = own[y, x] of y xor 1"))),
              HasSubstr("not the thread's number along x"));
}

TEST(Shuffle, IsOfPrivateStorageOfOneType) {
  EXPECT_THAT(WhyWrong(Nest(Over("0 .. 8", kByTwo), "shared")),
              HasSubstr("not in private storage"));
  EXPECT_THAT(WhyWrong(Nest(Over("0 .. 8", kByTwo), "register", "f64")), HasSubstr("another type"));
  EXPECT_THAT(WhyWrong(Nest(Over("0 .. 8", "shuffle own[y, x] = own[y, x] of x xor 2"))),
              HasSubstr("the same tensor"));
}

}  // namespace
}  // namespace tunec::test
