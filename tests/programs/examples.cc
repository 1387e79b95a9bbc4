#include "tests/programs/examples.h"

#include "support/check.h"
#include "support/file.h"
#include "tests/programs/must_parse.h"

namespace tunec::test {

std::filesystem::path ExampleFolder() { return TUNEC_LOOP_EXAMPLES; }

std::string ReadExample(const std::string& file) {
  Result<std::string> text = ReadFile(ExampleFolder() / file);
  TUNEC_CHECK(text.has_value(), "{}", text.error().Format());
  return std::move(*text);
}

Compute ExampleCompute(const std::string& name) {
  return MustParse(ReadExample(name + ".compute"));
}

}  // namespace tunec::test
