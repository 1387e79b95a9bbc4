// TUNEC_CHECK(condition, format, ...) stops the program with a message if an invariant of tunec's
// own code is broken. The macro must not check data that a user, a file or a device supplies.
#pragma once

#include <fmt/format.h>

#include <string>

namespace tunec {

[[noreturn]] void CheckFailed(const char* file, int line, const char* condition,
                              const std::string& message);

}  // namespace tunec

#define TUNEC_CHECK(condition, ...)                                                     \
  do {                                                                                  \
    if (!(condition)) [[unlikely]]                                                      \
      ::tunec::CheckFailed(__FILE__, __LINE__, #condition, ::fmt::format(__VA_ARGS__)); \
  } while (false)

#define TUNEC_UNREACHABLE(...) \
  ::tunec::CheckFailed(__FILE__, __LINE__, "unreachable", ::fmt::format(__VA_ARGS__))
