#include "tests/graph/core/reference_cases.h"

#include <gtest/gtest.h>

#include "support/file.h"

namespace tunec {

std::vector<std::string> LoadReferenceCases() {
  const auto text = ReadFile(TUNEC_TEST_DATA "/graph/core/reference_cases.graph");
  EXPECT_TRUE(text.has_value()) << text.error().Format();
  std::vector<std::string> cases;
  for (size_t at = text->find("\ngraph "); at != std::string::npos;) {
    const size_t next = text->find("\ngraph ", at + 1);
    cases.push_back(text->substr(at + 1, next == std::string::npos ? next : next - at));
    at = next;
  }
  return cases;
}

}  // namespace tunec
