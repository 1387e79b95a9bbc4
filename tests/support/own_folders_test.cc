#include "support/own_folders.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tunec {
namespace {

namespace fs = std::filesystem;

TEST(OwnFolders, BeginWithThatOfTheProgram) {
  const fs::path own = fs::canonical("/proc/self/exe").parent_path();
  const fs::path above = own.parent_path();
  const auto folders = OwnFolders();
  ASSERT_FALSE(folders.empty());
  EXPECT_EQ(folders.front(), own);
  for (const fs::path& other :
       {above / "bin", above / "libexec/tunec", above.parent_path() / "bin"})
    EXPECT_EQ(std::ranges::count(folders, other), 1) << other;
}

}  // namespace
}  // namespace tunec
