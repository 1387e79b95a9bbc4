#include "support/subprocess.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tunec {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

constexpr milliseconds kLong{20000};

TEST(RunProcess, GivesOutputAndStatus) {
  const auto result = RunProcess("/bin/sh", {"-c", "echo out; echo err >&2; exit 3"}, kLong);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->exit_status, 3);
  EXPECT_EQ(result->output, "out\nerr\n");
}

TEST(RunProcess, ReadsNothing) {
  const auto result = RunProcess("/bin/sh", {"-c", "cat; echo done"}, kLong);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->output, "done\n");
}

TEST(RunProcess, KeepsTheFirstOfMuchOutput) {
  const auto result = RunProcess("/bin/sh", {"-c", "head -c 3000000 /dev/zero; exit 1"}, kLong);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->exit_status, 1);
  EXPECT_EQ(result->output.size(), size_t{1} << 20);
  const auto less = RunProcess("/bin/sh", {"-c", "echo abcd"}, kLong, 3);
  ASSERT_TRUE(less) << less.error().message;
  EXPECT_EQ(less->output, "abc");
}

TEST(RunProcess, SaysWhatCannotBeRun) {
  const auto result = RunProcess("/nowhere/program", {}, kLong);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(result.error().message, HasSubstr("cannot run '/nowhere/program': No such file"));
}

TEST(RunProcess, EndsWhatTakesTooLong) {
  for (const char* command : {"sleep 60", "exec >/dev/null 2>&1; sleep 60"}) {
    const auto result = RunProcess("/bin/sh", {"-c", command}, milliseconds(50));
    ASSERT_FALSE(result) << command;
    EXPECT_EQ(result.error().code, ErrorCode::kResourceLimit);
    EXPECT_THAT(result.error().message, HasSubstr("took longer than 50 ms"));
  }
}

TEST(RunProcess, SaysWhatASignalEnded) {
  const auto result = RunProcess("/bin/sh", {"-c", "kill -SEGV $$"}, kLong);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kInternal);
  EXPECT_THAT(result.error().message, HasSubstr("ended by signal 11"));
}

}  // namespace
}  // namespace tunec
