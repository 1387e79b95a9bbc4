// Files of expected texts, which `tools/dev bless` rewrites. The name of a test that has such a
// file contains "Golden" or "golden", so that `tools/dev bless` runs the test.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "support/file.h"

namespace tunec::test {

/// Returns whether tests must rewrite their expectations, by the environment variable
/// TUNEC_BLESS=1.
inline bool RewritesGoldens() {
  const char* const bless = std::getenv("TUNEC_BLESS");
  return bless != nullptr && std::string_view(bless) == "1";
}

/// Expects that the file has the text. If tests must rewrite their expectations, writes the file.
inline void ExpectGolden(const std::filesystem::path& file, std::string_view text) {
  if (RewritesGoldens()) {
    std::ofstream out(file);
    out << text;
    EXPECT_TRUE(out.flush()) << "cannot write " << file;
    return;
  }
  const auto expected = ReadFile(file);
  ASSERT_TRUE(expected) << expected.error().Format();
  EXPECT_EQ(text, *expected) << "the text differs from " << file;
}

}  // namespace tunec::test
