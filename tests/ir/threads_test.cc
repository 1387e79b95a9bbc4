// Tests of the interpreter's checks of races, barriers and asynchronous copies.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ir/interpret/interpret.h"

namespace tunec {
namespace {

// Runs a body in a nest with the arguments A: f32[16] (values 0 to 15) and C: f32[16], and the
// locals t: f32[16] and s: f32[2, 4]. Returns C or an error.
Result<std::vector<Array>> RunBody(std::string_view body) {
  const std::string text = fmt::format(
      "nest n {{\n input A: f32[16]\n output C: f32[16]\n local t: f32[16]\n local s: f32[2, 4]\n"
      " phase p {{\n{}\n }}\n}}\n",
      body);
  auto nest = ParseLoopNest(text, "n");
  if (!nest) return std::unexpected(nest.error());
  EXPECT_EQ(*ParseLoopNest(Print(*nest), "again"), *nest);
  Array a(DataType::kF32, {16});
  for (int64_t i = 0; i < 16; ++i) a.SetDouble(i, static_cast<double>(i));
  return Interpret(*nest, std::vector<Array>{a}, Precision::kNative);
}

std::string ErrorOf(std::string_view body) {
  const auto result = RunBody(body);
  return result ? "" : result.error().message;
}

// Returns a body in which thread y reads the element of thread 15 - y, after `between`.
std::string Mirror(std::string_view between) {
  return fmt::format(
      "alloc t: shared {{\n block.x for x in 0 .. 16 {{\n fill: t[x] = A[x]\n}}\n {}\n"
      " block.x for y in 0 .. 16 {{\n use: C[y] = t[15 - y]\n}}\n}}",
      between);
}

TEST(Threads, ABarrierOrdersThem) {
  const auto result = RunBody(Mirror("barrier"));
  ASSERT_TRUE(result) << result.error().message;
  for (int64_t i = 0; i < 16; ++i) EXPECT_EQ((*result)[0].GetDouble(i), 15 - i);
}

TEST(Threads, AMissingBarrierIsARace) {
  EXPECT_EQ(ErrorOf(Mirror("")),
            "use: t[15]: race: read by thread (0, 0, 0) in use, which thread (15, 0, 0) writes in "
            "fill");
}

TEST(Threads, RefillingNeedsABarrierToo) {
  const auto refill = [](std::string_view barrier) {
    return fmt::format(
        "alloc t: shared {{\n for k in 0 .. 2 {{\n {}\n block.x for x in 0 .. 16 {{\n"
        " fill: t[x] = A[x]\n}}\n barrier\n block.x for y in 0 .. 16 {{\n use: C[y] = t[15 - y]\n"
        "}}\n}}\n}}",
        barrier);
  };
  EXPECT_EQ(ErrorOf(refill("barrier")), "");
  EXPECT_EQ(ErrorOf(refill("")),
            "fill: t[0]: race: write by thread (0, 0, 0) in fill, which thread (15, 0, 0) reads in "
            "use");
}

// Each iteration allocates in the same memory, so a barrier must separate the iterations.
TEST(Threads, SharedStorageIsTakenUpAgainAfterABarrier) {
  const auto again = [](std::string_view barrier) {
    return fmt::format("for k in 0 .. 2 {{\n {}\n {}\n}}", barrier, Mirror("barrier"));
  };
  EXPECT_EQ(ErrorOf(again("barrier")), "");
  EXPECT_EQ(ErrorOf(again("")),
            "fill: t[0]: race: write by thread (0, 0, 0) in fill, which thread (15, 0, 0) reads in "
            "use");
  // A block that allocates once needs no barrier before the allocation.
  EXPECT_EQ(ErrorOf(fmt::format("grid.x for b in 0 .. 1 {{\n {}\n}}", Mirror("barrier"))), "");
}

TEST(Threads, SeveralReadersAreRemembered) {
  // Thread 15 is the last reader and the writer of the element. The other readers race with the
  // write.
  EXPECT_EQ(ErrorOf("alloc t: shared {\n z: t[0] = 1.0\n barrier\n block.x for x in 0 .. 16 {\n"
                    " use: C[x] = t[0]\n}\n block.x for y in 15 .. 16 {\n w: t[0] = 2.0\n}\n}"),
            "w: t[0]: race: write by thread (15, 0, 0) in w, which another thread reads in use");
}

TEST(Threads, PrivateStorageIsOfOneThread) {
  const auto use = [](std::string_view index) {
    return fmt::format(
        "alloc t: register {{\n block.x for x in 0 .. 16 {{\n fill: t[x] = A[x]\n}}\n barrier\n"
        " block.x for y in 0 .. 16 {{\n use: C[y] = t[{}]\n}}\n}}",
        index);
  };
  EXPECT_EQ(ErrorOf(use("y")), "");
  EXPECT_EQ(ErrorOf(use("15 - y")),
            "use: t[15]: race: read by thread (0, 0, 0) in use, which thread (15, 0, 0) writes in "
            "fill");
}

TEST(Threads, PerThreadStorageIsOneTensorForEachThread) {
  const auto use = [](int filled) {
    return fmt::format(
        "alloc t: register per_thread {{\n block.x for x in 0 .. {} {{\n fill: t[0] = A[x]\n}}\n"
        " block.x for y in 0 .. 16 {{\n use: C[15 - y] = t[0]\n}}\n}}",
        filled);
  };
  const auto result = RunBody(use(16));
  ASSERT_TRUE(result) << result.error().message;
  for (int64_t i = 0; i < 16; ++i) EXPECT_EQ((*result)[0].GetDouble(i), 15 - i);
  EXPECT_EQ(ErrorOf(use(8)), "use: read of t[0], which nothing wrote");
}

TEST(Threads, PerThreadStorageFollowsAllAxes) {
  const auto result = RunBody(
      "alloc t: packed per_thread {\n block.z for x in 0 .. 4 {\n block.y for y in 0 .. 4 {\n"
      " fill: t[15] = A[4*x + y]\n}\n}\n block.y for v in 0 .. 4 {\n block.z for u in 0 .. 4 {\n"
      " use: C[4*v + u] = t[15]\n}\n}\n}");
  ASSERT_TRUE(result) << result.error().message;
  for (int64_t i = 0; i < 16; ++i) EXPECT_EQ((*result)[0].GetDouble(i), 4 * (i % 4) + i / 4);
}

TEST(Threads, OfAWarpRunInTurn) {
  const auto result = RunBody("warp for w in 0 .. 16 {\n s: C[w] = A[15 - w]\n}");
  ASSERT_TRUE(result) << result.error().message;
  for (int64_t i = 0; i < 16; ++i) EXPECT_EQ((*result)[0].GetDouble(i), 15 - i);
}

TEST(Threads, BlocksAndTasksMustNotMeet) {
  EXPECT_EQ(ErrorOf("grid.x for b in 0 .. 16 {\n w: C[b] = A[b]\n}"), "");
  EXPECT_NE(ErrorOf("grid.x for b in 0 .. 16 {\n w: C[0] = A[b]\n}").find("race: write by task"),
            std::string::npos);
  EXPECT_NE(ErrorOf("w: C[0] = A[0]\n parallel for b in 0 .. 16 {\n v: C[b] = A[b]\n}")
                .find("race: write by task"),
            std::string::npos);
  // Waves run one after the other, so tasks of different waves do not race.
  EXPECT_EQ(ErrorOf("wave for t in 0 .. 2 {\n parallel for b in 0 .. 16 {\n w: C[b] = A[b]\n}\n}"),
            "");
}

// Returns a body that copies 16 elements, four at a time, through two stages. `meanwhile` follows
// the start of each copy, and `before_use` precedes the use.
std::string Copied(std::string_view before_use, std::string_view meanwhile = "") {
  return fmt::format(
      "alloc s: shared stages 2 {{\n for k in 0 .. 4 {{\n"
      " async_copy 0 A[4*k] -> s[k mod 2, 0] extent [4]\n arrive 0 stage k mod 2\n {}\n {}\n"
      " for i in 0 .. 4 {{\n use: C[4*k + i] = s[k mod 2, i]\n}}\n}}\n}}",
      meanwhile, before_use);
}

TEST(AsyncCopies, CompleteAtTheirWait) {
  const auto result = RunBody(Copied("wait 0 stage k mod 2 parity floor(k/2) mod 2"));
  ASSERT_TRUE(result) << result.error().message;
  for (int64_t i = 0; i < 16; ++i) EXPECT_EQ((*result)[0].GetDouble(i), i);
}

TEST(AsyncCopies, AMissingWaitIsFound) {
  EXPECT_EQ(ErrorOf(Copied("")), "use: read of s[0, 0], which nothing wrote");
}

TEST(AsyncCopies, AWrongStageOrParityIsFound) {
  EXPECT_EQ(ErrorOf(Copied("wait 0 stage 1 - k mod 2 parity 0")),
            "wait 0: stage 1 with parity 0 after 0 arrivals there would not end");
  EXPECT_EQ(ErrorOf(Copied("wait 0 stage k mod 2 parity 0")),
            "wait 0: stage 0 with parity 0 after 2 arrivals there would not end");
}

TEST(AsyncCopies, NeitherEndIsTouchedMeanwhile) {
  const std::string wait = "wait 0 stage k mod 2 parity floor(k/2) mod 2";
  EXPECT_EQ(ErrorOf(Copied(wait, "w: s[k mod 2, 1] = 0.0")),
            "async_copy: s, at 1, is written between the copy's issue and its wait");
  EXPECT_EQ(
      ErrorOf(
          "for o in 0 .. 1 {\n for i in 0 .. 16 {\n z: C[i] = 0.0\n}\n alloc s: shared stages 2 {\n"
          " async_copy 0 C[0] -> s[0, 0] extent [4]\n arrive 0 stage 0\n w: C[2] = 1.0\n"
          " wait 0 stage 0 parity 0\n}\n}"),
      "async_copy: C, at 2, is written between the copy's issue and its wait");
}

// After a barrier other threads may write the source of a thread's copy only if the thread waited
// for the copy before the barrier.
TEST(AsyncCopies, TheirSourceIsReadUntilTheWait) {
  const auto overwritten = [](std::string_view first, std::string_view second) {
    return fmt::format(
        "for o in 0 .. 1 {{\n block.x for z in 0 .. 16 {{\n clear: C[z] = 0.0\n}}\n barrier\n"
        " alloc s: shared stages 2 {{\n block.x for x in 0 .. 4 {{\n"
        " async_copy 0 C[x] -> s[0, x] extent []\n}}\n arrive 0 stage 0\n {}\n {}\n"
        " block.x for y in 0 .. 4 {{\n w: C[3 - y] = 0.0\n}}\n}}\n}}",
        first, second);
  };
  const std::string_view wait = "wait 0 stage 0 parity 0";
  EXPECT_EQ(ErrorOf(overwritten(wait, "barrier")), "");
  EXPECT_EQ(ErrorOf(overwritten("", wait)),
            "w: C[3]: race: write by thread (0, 0, 0) in w, which thread (3, 0, 0) reads in "
            "async_copy");
}

TEST(AsyncCopies, NoneIsLeftBehind) {
  EXPECT_EQ(ErrorOf("alloc s: shared stages 2 {\n async_copy 0 A[0] -> s[0, 0] extent [4]\n"
                    " arrive 0 stage 0\n}"),
            "async_copy: nothing waits for copies into s");
}

TEST(AsyncCopies, OthersSeeThemAfterABarrier) {
  const auto shared = [](std::string_view barrier) {
    return fmt::format(
        "alloc s: shared stages 2 {{\n block.x for x in 0 .. 4 {{\n"
        " async_copy 0 A[x] -> s[0, x] extent []\n}}\n arrive 0 stage 0\n wait 0 stage 0 parity 0\n"
        " {}\n block.x for y in 0 .. 16 {{\n use: C[y] = s[0, 3 - y mod 4]\n}}\n}}",
        barrier);
  };
  EXPECT_EQ(ErrorOf(shared("barrier")), "");
  EXPECT_EQ(ErrorOf(shared("")),
            "use: s[0, 3]: race: read by thread (0, 0, 0) in use, which thread (3, 0, 0) writes in "
            "async_copy");
}

}  // namespace
}  // namespace tunec
