// Tests WorkerProcess with programs that fail, do not end, do not stop writing, or end while the
// host ignores SIGCHLD.
#include "autotune/worker/worker_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "support/temporary_folder.h"

namespace tunec {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

std::chrono::steady_clock::time_point After(std::chrono::milliseconds time) {
  return std::chrono::steady_clock::now() + time;
}

class WorkerProcessTest : public ::testing::Test {
 protected:
  // Starts a shell script instead of the worker.
  WorkerProcess Start(const std::string& script) {
    const std::filesystem::path path = folder_ / "worker";
    std::ofstream(path) << "#!/bin/sh\n" << script << "\n";
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return WorkerProcess::Start(path.string(), /*memory_bytes=*/0).value();
  }

  TemporaryFolder folder_ = TemporaryFolder::Make().value();
};

TEST_F(WorkerProcessTest, SaysHowOneEnded) {
  WorkerProcess worker = Start("echo first >&2; echo last >&2; exit 3");
  EXPECT_THAT(worker.Receive(After(std::chrono::seconds(20))).error().message,
              HasSubstr("the worker has ended"));
  EXPECT_EQ(worker.Stop().text, "exit status 3: last");
}

TEST_F(WorkerProcessTest, EndsOneThatClosesItsSocketAndStays) {
  WorkerProcess worker = Start("exec 0<&- 1>&-; exec sleep 1000");
  EXPECT_FALSE(worker.Receive(After(std::chrono::seconds(20))));
  const auto before = std::chrono::steady_clock::now();
  EXPECT_THAT(worker.Stop().text, HasSubstr("signal 9"));
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(20));
}

TEST_F(WorkerProcessTest, KeepsTheLastOfManyErrors) {
  WorkerProcess worker =
      Start("head -c 300000 /dev/zero | tr '\\0' x >&2; echo >&2; echo last >&2; exit 3");
  EXPECT_FALSE(worker.Receive(After(std::chrono::seconds(20))));
  EXPECT_EQ(worker.Stop().text, "exit status 3: last");
}

TEST_F(WorkerProcessTest, AFloodOfErrorsHidesNoDeadline) {
  WorkerProcess worker = Start("exec yes flood >&2");
  const auto event = worker.Receive(After(std::chrono::milliseconds(200)));
  ASSERT_TRUE(event);
  EXPECT_FALSE(*event);
  const std::string text = worker.Stop().text;
  EXPECT_THAT(text, HasSubstr("signal 9"));
  EXPECT_LT(text.size(), 5000U);
}

TEST_F(WorkerProcessTest, EndsUnderAHostThatIgnoresTheEndOfPrograms) {
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  {
    WorkerProcess worker = Start("echo last >&2; exit 3");
    EXPECT_FALSE(worker.Receive(After(std::chrono::seconds(20))));
    EXPECT_THAT(worker.Stop().text, EndsWith(": last"));
    WorkerProcess stays = Start("exec sleep 1000");
    EXPECT_THAT(stays.Stop().text, HasSubstr("unknown exit status"));
  }
  std::signal(SIGCHLD, before);
}

}  // namespace
}  // namespace tunec
