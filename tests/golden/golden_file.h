// Functions for golden files, which contain expected texts. `tools/dev bless` rewrites the files by
// running the tests with "Golden" or "golden" in their names. Tests of such files need such names.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>

#include "support/file.h"

namespace tunec::test {

/// Returns true if the environment variable TUNEC_BLESS is 1. Then tests must rewrite their
/// expected texts.
inline bool RewritesGoldens() {
  const char* const bless = std::getenv("TUNEC_BLESS");
  return bless != nullptr && std::string_view(bless) == "1";
}

/// Expects that the file has exactly this text. If RewritesGoldens(), writes the text to the file.
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

/// Returns the non-empty sections of a file by name. A section begins with a line `== name`; the
/// text before the first such line has the name "".
inline std::map<std::string, std::string> ReadSections(const std::filesystem::path& path) {
  std::map<std::string, std::string> sections;
  std::ifstream file(path);
  std::string name;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("== ")) {
      name = line.substr(3);
    } else {
      sections[name] += line + "\n";
    }
  }
  return sections;
}

}  // namespace tunec::test
