// Tests that equal PTX is assembled once for each arch, unless assembly fails.
#include "jit/cuda/assembly_memo.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace tunec {
namespace {

const Ptxas kPtxas{.path = "/nowhere/ptxas", .version = "13.0.88"};

class AssemblyMemoTest : public ::testing::Test {
 protected:
  // Counts the call and waits, so that other threads make calls meanwhile. Fails for "broken".
  Result<Cubin> Assembled(std::string_view ptx, std::string_view arch) {
    ++asked_;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (ptx == "broken") return Fail(ErrorCode::kInternal, "refused");
    return Cubin{.bytes = std::string(arch) + " of " + std::string(ptx)};
  }

  std::atomic<int> asked_ = 0;
  AssemblyMemo memo_{[this](const Ptxas&, std::string_view ptx, std::string_view arch) {
    return Assembled(ptx, arch);
  }};
};

TEST_F(AssemblyMemoTest, EqualPtxOfOneArchIsAssembledOnce) {
  for (int i = 0; i < 3; ++i) EXPECT_EQ(memo_.Assemble(kPtxas, "a", "sm_80")->bytes, "sm_80 of a");
  EXPECT_EQ(asked_, 1);
  EXPECT_EQ(memo_.Assemble(kPtxas, "b", "sm_80")->bytes, "sm_80 of b");
  EXPECT_EQ(memo_.Assemble(kPtxas, "a", "sm_90a")->bytes, "sm_90a of a");
  EXPECT_EQ(asked_, 3);
}

TEST_F(AssemblyMemoTest, ThreadsWaitForEachOther) {
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back(
          [&] { EXPECT_EQ(memo_.Assemble(kPtxas, "a", "sm_80")->bytes, "sm_80 of a"); });
  }
  EXPECT_EQ(asked_, 1);
}

TEST_F(AssemblyMemoTest, ErrorsAreNotRemembered) {
  EXPECT_FALSE(memo_.Assemble(kPtxas, "broken", "sm_80"));
  EXPECT_FALSE(memo_.Assemble(kPtxas, "broken", "sm_80"));
  EXPECT_EQ(asked_, 2);
}

}  // namespace
}  // namespace tunec
