// Tests that barriers are inserted where accesses to storage conflict, and nowhere else.
#include "ir/nest/insert_barriers.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/ir/nests.h"

namespace tunec::test {
namespace {

// Returns a nest with this body, the input A, the output C, and the locals t and u, each f32[16].
LoopNest Nest(std::string_view body) {
  return *ParseLoopNest(
      fmt::format("nest n {{\n input A: f32[16]\n output C: f32[16]\n local t: f32[16]\n"
                  " local u: f32[16]\n phase p {{\n{}\n }}\n}}\n",
                  body),
      "n");
}

std::string WithBarriers(std::string_view body) { return Print(InsertBarriers(Nest(body))); }

constexpr std::string_view kFill = "block.x for x in 0 .. 16 {\n fill: t[x] = A[x]\n}";
constexpr std::string_view kUse = "block.x for y in 0 .. 16 {\n use: C[y] = t[15 - y]\n}";

std::string In(std::string_view scope, std::string_view inside) {
  return fmt::format("alloc t: {} {{\n {}\n}}", scope, inside);
}

TEST(InsertBarriers, BetweenWriteAndRead) {
  EXPECT_EQ(WithBarriers(In("shared", fmt::format("{}\n{}", kFill, kUse))),
            Print(Nest(In("shared", fmt::format("{}\nbarrier\n{}", kFill, kUse)))));
}

TEST(InsertBarriers, NotWhereOneStands) {
  const std::string body = In("shared", fmt::format("{}\nbarrier\n{}", kFill, kUse));
  EXPECT_EQ(WithBarriers(body), Print(Nest(body)));
}

TEST(InsertBarriers, BeforeTheNextIterationToo) {
  const auto loop = [](std::string_view first, std::string_view second) {
    return In("shared",
              fmt::format("for k in 0 .. 2 {{\n{}\n{}\n{}\n{}\n}}", first, kFill, second, kUse));
  };
  EXPECT_EQ(WithBarriers(loop("", "")), Print(Nest(loop("barrier", "barrier"))));
}

TEST(InsertBarriers, NotForPrivateStorage) {
  const std::string own = In("register", fmt::format("{}\n{}", kFill, kUse));
  EXPECT_EQ(WithBarriers(own), Print(Nest(own)));
}

TEST(InsertBarriers, NotBetweenReads) {
  const std::string body = fmt::format(
      "alloc u: register {{\n block.x for x in 0 .. 16 {{\n a: u[x] = A[x]\n}}\n"
      " block.x for y in 0 .. 16 {{\n b: u[y] = A[15 - y]\n}}\n}}");
  EXPECT_EQ(WithBarriers(body), Print(Nest(body)));
}

TEST(InsertBarriers, NotWithoutThreads) {
  EXPECT_EQ(Print(InsertBarriers(*ParseLoopNest(kTiledMatmul, "n"))), kTiledMatmul);
}

TEST(InsertBarriers, WhatRolesDidIsMetAsAWhole) {
  const auto roles = [](std::string_view between) {
    return In("shared", fmt::format("roles {{\n role load threads 32 registers 40 {{\n{}\n}}\n}}\n"
                                    "{}\n{}",
                                    kFill, between, kUse));
  };
  EXPECT_EQ(WithBarriers(roles("")), Print(Nest(roles("barrier"))));
}

}  // namespace
}  // namespace tunec::test
