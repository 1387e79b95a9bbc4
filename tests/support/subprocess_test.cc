#include "support/subprocess.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <thread>

#include "support/file.h"
#include "support/temporary_folder.h"

namespace tunec {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

constexpr milliseconds kLong{20000};

// An object that sets the handler of SIGCHLD during its lifetime.
class ChildSignal {
 public:
  explicit ChildSignal(void (*handler)(int)) : before_(std::signal(SIGCHLD, handler)) {}
  ~ChildSignal() { std::signal(SIGCHLD, before_); }
  ChildSignal(const ChildSignal&) = delete;
  ChildSignal& operator=(const ChildSignal&) = delete;

 private:
  void (*before_)(int);
};

// Waits until the file ends with a line end, and returns the process id at the file's beginning.
// Returns -1 after 10 seconds.
pid_t ProcessIn(const std::filesystem::path& file) {
  for (int i = 0; i < 5000; ++i) {
    const auto text = ReadFile(file);
    if (text && text->ends_with('\n')) return std::stoi(*text);
    std::this_thread::sleep_for(milliseconds(2));
  }
  return -1;
}

// Waits until the process has ended or is a zombie. Returns false after 10 seconds.
bool HasEnded(pid_t process) {
  for (int i = 0; i < 5000; ++i) {
    const auto status = ReadFile("/proc/" + std::to_string(process) + "/stat");
    if (!status || status->contains(") Z ")) return true;
    std::this_thread::sleep_for(milliseconds(2));
  }
  return false;
}

int64_t OpenDescriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
}

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

TEST(RunProcess, EndsWhatTheProgramStarted) {
  const auto folder = TemporaryFolder::Make();
  ASSERT_TRUE(folder);
  const std::filesystem::path file = *folder / "number";
  const auto result = RunProcess(
      "/bin/sh", {"-c", "sleep 1000 & echo $! >" + file.string() + "; exit 0"}, milliseconds(500));
  ASSERT_FALSE(result);  // `sleep` still has the output open
  EXPECT_TRUE(HasEnded(ProcessIn(file)));
}

TEST(RunProcess, DoesNotNeedTheSignalOfItsEnd) {
  const ChildSignal ignored(SIG_IGN);
  const auto start = std::chrono::steady_clock::now();
  const auto result = RunProcess("/bin/sh", {"-c", "(exit 3); echo $?"}, kLong);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->output, "3\n");  // the program itself has the default handler
  EXPECT_EQ(result->exit_status, std::nullopt);
  EXPECT_EQ(RunProcess("/nowhere/program", {}, kLong).error().code, ErrorCode::kNotFound);
  const auto slow = RunProcess("/bin/sh", {"-c", "exec sleep 60"}, milliseconds(50));
  ASSERT_FALSE(slow);
  EXPECT_EQ(slow.error().code, ErrorCode::kResourceLimit);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

TEST(RunProcess, EndsUnderAHostThatTakesAllStatuses) {
  const auto start = std::chrono::steady_clock::now();
  std::atomic<bool> done = false;
  std::thread host([&] {
    while (!done)
      if (waitpid(-1, nullptr, WNOHANG) <= 0) std::this_thread::yield();
  });
  for (int i = 0; i < 50; ++i) {
    const auto result = RunProcess("/bin/sh", {"-c", "echo out; exit 3"}, kLong);
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_EQ(result->output, "out\n");
    EXPECT_EQ(result->exit_status.value_or(3), 3);
  }
  done = true;
  host.join();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

TEST(RunProcess, EndsWithItsParent) {
  const auto folder = TemporaryFolder::Make();
  ASSERT_TRUE(folder);
  const std::filesystem::path file = *folder / "number";
  const pid_t parent = fork();
  if (parent == 0) {
    (void)RunProcess("/bin/sh", {"-c", "echo $$ >" + file.string() + "; exec sleep 1000"}, kLong);
    _exit(0);
  }
  const pid_t process = ProcessIn(file);
  ASSERT_GT(process, 0);
  kill(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
  EXPECT_TRUE(HasEnded(process));
}

TEST(RunProcess, WorksWithoutStandardStreams) {
  const pid_t process = fork();
  if (process == 0) {
    for (int stream = 0; stream < 3; ++stream) close(stream);
    const auto result = RunProcess("/bin/sh", {"-c", "cat; echo out; echo err >&2"}, kLong);
    _exit(result && result->output == "out\nerr\n" ? 0 : 1);
  }
  int status = 0;
  waitpid(process, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST(RunProcess, LeavesNothingOpen) {
  const int64_t before = OpenDescriptors();
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(RunProcess("/bin/sh", {"-c", "exit 0"}, kLong));
    ASSERT_FALSE(RunProcess("/nowhere/program", {}, kLong));
  }
  EXPECT_EQ(OpenDescriptors(), before);
}

}  // namespace
}  // namespace tunec
