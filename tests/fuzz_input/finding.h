// What a fuzz target calls a finding besides what the sanitizers see.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "support/error.h"

namespace tunec::fuzz {

/// Stops the program, which libFuzzer takes for a crash of this input.
[[noreturn]] inline void Finding(std::string_view what, std::string_view why) {
  std::fprintf(stderr, "finding: %.*s: %.*s\n", static_cast<int>(what.size()), what.data(),
               static_cast<int>(why.size()), why.data());
  std::abort();
}

inline void Require(bool holds, std::string_view what) {
  if (!holds) Finding(what, "does not hold");
}

/// An input may be refused. It is a finding when the refusal says that we are to blame: whoever
/// reads input has to find what is wrong with it.
inline void RequireTheirFault(const Error& error, std::string_view what) {
  const bool ours = error.code == ErrorCode::kInternal || error.message.starts_with("pass ");
  if (ours) Finding(what, error.Format());
}

/// What went right in our own hands must go right.
template <class T>
void RequireOk(const T& result, std::string_view what) {
  if (!result) Finding(what, result.error().Format());
}

}  // namespace tunec::fuzz
