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
  constexpr std::string_view kPass = "pass ";  // then its name and a colon
  const size_t name_end = error.message.find_first_of(": ", kPass.size());
  const bool of_pass = error.message.starts_with(kPass) && name_end != std::string::npos &&
                       error.message[name_end] == ':';
  if (of_pass || error.code == ErrorCode::kInternal) Finding(what, error.Format());
}

/// What went right in our own hands must go right.
template <class T>
void RequireOk(const T& result, std::string_view what) {
  if (!result) Finding(what, result.error().Format());
}

}  // namespace tunec::fuzz
