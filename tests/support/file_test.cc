#include "support/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <fstream>

#include "support/watched_file.h"

namespace tunec {
namespace {

class FileTest : public testing::Test {
 protected:
  FileTest() {
    std::string pattern = testing::TempDir() + "tunec_file_XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path folder_;
};

TEST_F(FileTest, WritesAndReadsBack) {
  const std::string bytes("a\0b\n", 4);
  ASSERT_TRUE(WriteFileAtomically(folder_ / "x", bytes));
  EXPECT_EQ(*ReadFile(folder_ / "x"), bytes);
  ASSERT_TRUE(WriteFileAtomically(folder_ / "x", ""));
  EXPECT_EQ(*ReadFile(folder_ / "x"), "");
  // No temporary file remains.
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

TEST_F(FileTest, ReportsWhatFailed) {
  const auto missing = ReadFile(folder_ / "nope");
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(ReadFile(folder_).error().code, ErrorCode::kIo);
  EXPECT_FALSE(WriteFileAtomically(folder_ / "no" / "x", "y"));
  std::filesystem::create_directory(folder_ / "d");
  EXPECT_FALSE(WriteFileAtomically(folder_ / "d", "y"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

TEST_F(FileTest, KeepsLinksAndReplacesWhatTheyLeadTo) {
  std::filesystem::create_directory(folder_ / "d");
  std::filesystem::create_symlink("d/x", folder_ / "link");
  ASSERT_TRUE(WriteFileAtomically(folder_ / "link", "one"));  // the target does not exist yet
  ASSERT_TRUE(WriteFileAtomically(folder_ / "link", "two"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder_ / "link"));
  EXPECT_EQ(*ReadFile(folder_ / "d" / "x"), "two");
}

TEST_F(FileTest, DevicesAndOpenFilesAreNotReplaced) {
  std::filesystem::create_symlink("/dev/null", folder_ / "null");
  std::filesystem::create_symlink("/proc/self/fd/0", folder_ / "input");
  for (const char* name : {"null", "input"}) {
    const Status status = WriteFileAtomically(folder_ / name, "x");
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().message,
              (folder_ / name).string() + " is not a regular file, so it can't be replaced");
    EXPECT_TRUE(std::filesystem::is_symlink(folder_ / name));
  }
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST_F(FileTest, WritesPartsWithZerosBetween) {
  const auto part = [](int64_t at, std::string_view text) {
    return FilePart{.offset = at, .bytes = std::as_bytes(std::span(text))};
  };
  const FilePart parts[] = {part(0, "ab"), part(4, "cd")};
  ASSERT_TRUE(WriteFileAtomically(folder_ / "x", parts));
  EXPECT_EQ(*ReadFile(folder_ / "x"), std::string("ab\0\0cd", 6));
}

TEST_F(FileTest, MapsAFile) {
  ASSERT_TRUE(WriteFileAtomically(folder_ / "x", "hello"));
  const auto mapped = MappedFile::Open(folder_ / "x");
  ASSERT_TRUE(mapped);
  // The mapping remains valid after the file is removed.
  std::filesystem::remove(folder_ / "x");
  EXPECT_EQ(std::memcmp((*mapped)->bytes().data(), "hello", 5), 0);
  ASSERT_TRUE(WriteFileAtomically(folder_ / "empty", ""));
  EXPECT_TRUE((*MappedFile::Open(folder_ / "empty"))->bytes().empty());
  EXPECT_EQ(MappedFile::Open(folder_ / "x").error().code, ErrorCode::kNotFound);
}

TEST_F(FileTest, NewFilesHaveThePermissionsThatTheUmaskLeaves) {
  const auto mode = [&](const char* name) {
    struct stat status {};
    EXPECT_EQ(stat((folder_ / name).c_str(), &status), 0);
    return status.st_mode & 0777;
  };
  const mode_t before = umask(077);
  ASSERT_TRUE(WriteFileAtomically(folder_ / "secret", "x"));
  umask(002);
  ASSERT_TRUE(WriteFileAtomically(folder_ / "shared", "x"));
  ASSERT_TRUE(WriteFileAtomically(folder_ / "secret", "y"));
  umask(before);
  EXPECT_EQ(mode("secret"), 0600U);  // the mode is unchanged
  EXPECT_EQ(mode("shared"), 0664U);
}

TEST_F(FileTest, PipesAreRejectedAtOnce) {
  ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(ReadFile(folder_ / "pipe").error().message,
            (folder_ / "pipe").string() + " is not a regular file");
  EXPECT_EQ(MappedFile::Open(folder_ / "pipe").error().code, ErrorCode::kIo);
}

std::shared_ptr<const WatchedFile> Watched(const std::filesystem::path& path) {
  return WatchedFile::Open(path).value();
}

TEST_F(FileTest, AWatchedFileSaysThatItWasWritten) {
  ASSERT_TRUE(WriteFileAtomically(folder_ / "x", "hello"));
  std::filesystem::last_write_time(
      folder_ / "x", std::filesystem::file_time_type::clock::now() - std::chrono::seconds(1));
  const auto written = Watched(folder_ / "x");
  EXPECT_TRUE(written->CheckUnchanged());
  std::ofstream(folder_ / "x") << "HELLO";
  EXPECT_EQ(written->CheckUnchanged().error().message,
            (folder_ / "x").string() + " was changed while it was in use; load it again");
  const auto cut = Watched(folder_ / "x");
  std::filesystem::resize_file(folder_ / "x", 2);
  EXPECT_EQ(cut->CheckUnchanged().error().code, ErrorCode::kIo);
}

TEST_F(FileTest, AWatchedFileMayBeReplacedAndRemoved) {
  ASSERT_TRUE(WriteFileAtomically(folder_ / "x", "hello"));
  const auto replaced = Watched(folder_ / "x");
  ASSERT_TRUE(WriteFileAtomically(folder_ / "x", "other"));
  EXPECT_TRUE(replaced->CheckUnchanged());
  const auto removed = Watched(folder_ / "x");
  std::filesystem::remove(folder_ / "x");
  EXPECT_TRUE(removed->CheckUnchanged());
}

// A daemon may close the descriptor of a watched file. Another file may then get the same number.
TEST_F(FileTest, AWatchedFileWhoseDescriptorIsGoneClosesNoOther) {
  ASSERT_TRUE(WriteFileAtomically(folder_ / "x", "hello"));
  ASSERT_TRUE(WriteFileAtomically(folder_ / "y", "other"));
  const int lowest = dup(0);  // the number of the next descriptor
  close(lowest);
  auto watched = Watched(folder_ / "x");
  close(lowest);
  EXPECT_TRUE(watched->CheckUnchanged());
  const int other = open((folder_ / "y").c_str(), O_RDONLY);
  ASSERT_EQ(other, lowest);
  EXPECT_TRUE(watched->CheckUnchanged());
  watched.reset();
  EXPECT_EQ(close(other), 0);  // `watched` did not close it
}

}  // namespace
}  // namespace tunec
