// A function that parses the text of a program and stops the test program on errors.
#pragma once

#include <string_view>
#include <utility>

#include "ir/compute.h"
#include "support/check.h"

namespace tunec::test {

/// Returns the Compute of a text. Stops the test program with the error if the text cannot be
/// parsed or the Compute is not valid.
inline Compute MustParse(std::string_view text) {
  Result<Compute> compute = ParseCompute(text, "test.compute");
  TUNEC_CHECK(compute.has_value(), "{}", compute.error().Format());
  const Status valid = Verify(*compute);
  TUNEC_CHECK(valid.has_value(), "{}", valid.error().Format());
  return std::move(*compute);
}

}  // namespace tunec::test
