#include "support/file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>

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
  // Nothing is left aside.
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
  ASSERT_TRUE(WriteFileAtomically(folder_ / "link", "one"));  // a target that is not there yet
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
  // The mapping outlives the name.
  std::filesystem::remove(folder_ / "x");
  EXPECT_EQ(std::memcmp((*mapped)->bytes().data(), "hello", 5), 0);
  ASSERT_TRUE(WriteFileAtomically(folder_ / "empty", ""));
  EXPECT_TRUE((*MappedFile::Open(folder_ / "empty"))->bytes().empty());
  EXPECT_EQ(MappedFile::Open(folder_ / "x").error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace tunec
