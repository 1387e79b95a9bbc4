// Tests of the search for NVIDIA's programs, of the messages if a program cannot be used, and of
// the disassembly of a file. The programs are scripts.
#include "jit/cuda/toolkit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "jit/cuda/nvdisasm.h"
#include "support/file.h"

namespace tunec {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

Result<ToolkitProgram> Find() {
  return FindToolkitProgram({.name = "tunec-test-tool",
                             .variable = "TUNEC_TEST_TOOL",
                             .purpose = "a program of this test",
                             .package = "some-package==1.0"});
}

/// A fixture with a folder for programs. TearDown restores the variables that the tests set.
class Toolkit : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string test = testing::UnitTest::GetInstance()->current_test_info()->name();
    folder_ = fs::path(testing::TempDir()) / ("tunec-toolkit-" + test);
    fs::remove_all(folder_);
    for (const char* variable : {"TUNEC_TEST_TOOL", "CUDA_HOME", "PATH"}) {
      const char* const value = std::getenv(variable);
      before_[variable] = value == nullptr ? std::nullopt : std::optional<std::string>(value);
    }
    unsetenv("TUNEC_TEST_TOOL");
    setenv("CUDA_HOME", "/nowhere", 1);
  }
  void TearDown() override {
    for (const auto& [name, value] : before_) {
      value ? setenv(name.c_str(), value->c_str(), 1) : unsetenv(name.c_str());
    }
    fs::remove_all(folder_);
  }

  /// Creates an executable script in the subfolder `below` of folder_. Returns the script's path.
  std::string Program(const std::string& below, const std::string& script) {
    const fs::path path = folder_ / below / "tunec-test-tool";
    fs::create_directories(path.parent_path());
    EXPECT_TRUE(WriteFileAtomically(path, "#!/bin/sh\n" + script + "\n"));
    fs::permissions(path, fs::perms::owner_all);
    return path.string();
  }
  static std::string Of(const std::string& version) { return "echo release 1.2, V" + version; }

  fs::path folder_;
  std::map<std::string, std::optional<std::string>> before_;
};

TEST_F(Toolkit, IsNamedElseInPathElseInCudaHome) {
  const std::string home = Program("cuda/bin", Of("1.0.1"));
  setenv("CUDA_HOME", (folder_ / "cuda").c_str(), 1);
  auto found = Find();
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->path, home);
  EXPECT_EQ(found->version, "1.0.1");

  const std::string path = Program("path", Of("1.0.2"));
  setenv("PATH", ("/nowhere:" + (folder_ / "path").string() + ":/bin:/usr/bin").c_str(), 1);
  EXPECT_EQ(Find()->path, path);

  const std::string named = Program("named", Of("1.0.3"));
  setenv("TUNEC_TEST_TOOL", named.c_str(), 1);
  found = Find();
  EXPECT_EQ(found->path, named);
  EXPECT_EQ(found->version, "1.0.3");
}

TEST_F(Toolkit, ThatIsNotThereIsNamedWithItsPackage) {
  const auto found = Find();
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(found.error().message,
            "no tunec-test-tool, a program of this test, in PATH or a CUDA toolkit: `pip install "
            "some-package==1.0` installs one; or name its file with TUNEC_TEST_TOOL");
}

TEST_F(Toolkit, ThatIsNamedHasToBeThere) {
  Program("path", Of("1.0.2"));
  setenv("PATH", (folder_ / "path").c_str(), 1);
  setenv("TUNEC_TEST_TOOL", "/nowhere/tool", 1);
  const auto found = Find();
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().message,
            "TUNEC_TEST_TOOL names '/nowhere/tool', which is not an executable program");
}

TEST_F(Toolkit, HasToTellItsVersion) {
  setenv("TUNEC_TEST_TOOL", Program("named", "echo hello").c_str(), 1);
  const auto found = Find();
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message,
              HasSubstr("is not tunec-test-tool: its output has no version: hello"));
}

// A program gets the bytes in a file. The first program's output is larger than a pipe's buffer.
TEST_F(Toolkit, DisassemblesAFile) {
  const Nvdisasm good{.path = Program("good", "test \"$1\" = --print-code && cat \"$2\""),
                      .version = "1.0.0"};
  const std::string bytes(3 << 20, 'x');
  const auto text = Disassemble(good, bytes);
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_EQ(*text, bytes);
  const Nvdisasm bad{.path = Program("bad", "echo 'unknown arch sm_200'; exit 1"),
                     .version = "1.0.0"};
  const auto rejected = Disassemble(bad, bytes);
  ASSERT_FALSE(rejected);
  EXPECT_EQ(rejected.error().message, "nvdisasm 1.0.0 cannot read the code: unknown arch sm_200");
}

}  // namespace
}  // namespace tunec
