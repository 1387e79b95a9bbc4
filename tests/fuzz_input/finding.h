// Functions that report findings of a fuzz target, in addition to the sanitizers' findings.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "support/error.h"

namespace tunec::fuzz {

/// Prints the finding and aborts, which libFuzzer reports as a crash on this input.
[[noreturn]] inline void Finding(std::string_view what, std::string_view why) {
  std::fprintf(stderr, "finding: %.*s: %.*s\n", static_cast<int>(what.size()), what.data(),
               static_cast<int>(why.size()), why.data());
  std::abort();
}

inline void Require(bool holds, std::string_view what) {
  if (!holds) Finding(what, "does not hold");
}

/// Reports a finding if the rejection is an internal error or the error of a pass. An input may be
/// rejected, but not for a fault of the compiler.
inline void RequireTheirFault(const Error& error, std::string_view what) {
  constexpr std::string_view kPass = "pass ";  // the name and a colon follow
  const size_t name_end = error.message.find_first_of(": ", kPass.size());
  const bool of_pass = error.message.starts_with(kPass) && name_end != std::string::npos &&
                       error.message[name_end] == ':';
  if (of_pass || error.code == ErrorCode::kInternal) Finding(what, error.Format());
}

/// Reports a finding if an operation that must succeed fails.
template <class T>
void RequireOk(const T& result, std::string_view what) {
  if (!result) Finding(what, result.error().Format());
}

}  // namespace tunec::fuzz
