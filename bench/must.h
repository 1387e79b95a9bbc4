// Error handling of benchmarks: an error stops the program.
#pragma once

#include <utility>

#include "support/check.h"
#include "support/error.h"

namespace tunec::bench {

/// Returns the value; an error stops the program with its message.
template <class T>
T Must(Result<T> result) {
  TUNEC_CHECK(result.has_value(), "{}", result.error().Format());
  return *std::move(result);
}

}  // namespace tunec::bench
