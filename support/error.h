// The types of errors and results. Errors that an input, a schedule, a file or a device can cause
// are returned as Result<T> or Status. A failed TUNEC_CHECK (check.h) stops the program instead.
#pragma once

#include <fmt/format.h>

#include <expected>
#include <optional>
#include <string>
#include <utility>

namespace tunec {

/// The kind of an error, by which a caller can decide how to react. The C interface has the same
/// numbers: never renumber them.
enum class ErrorCode {
  kInvalidArgument = 1,  // the caller's or user's mistake: a wrong option, shape, name
  kParse = 2,            // malformed text or binary input
  kUnsupported = 3,      // well-formed, but tunec cannot do it
  kNotFound = 4,         // a file, a record, a symbol
  kIo = 5,               // reading or writing failed, disk full
  kIllegalSchedule = 6,  // a step would violate a dependence; the message names the step
  kResourceLimit = 7,    // a quota: isl operations, memory, time
  kDevice = 8,           // the CPU or GPU lacks a feature or reported an error
  kCancelled = 9,        // the user's Ctrl-C or callback
  kWrongResult = 10,     // a kernel's output failed the check
  kInternal = 11,        // a bug of tunec that was contained
};

/// A position in a text input. Line and column count from 1; 0 means unknown.
struct SourceLocation {
  std::string file;
  int line = 0;
  int column = 0;
  bool operator==(const SourceLocation&) const = default;
};

/// An error. By convention the message begins in lower case, has no final period, and names the
/// object, the value and the expected value.
struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;
  std::optional<SourceLocation> where;

  /// Returns `file:line:column: error: message`. Omits the location, or the line and the column, if
  /// they are unknown.
  std::string Format() const;
};

template <class T>
using Result = std::expected<T, Error>;
using Status = std::expected<void, Error>;

template <class... Args>
Error MakeError(ErrorCode code, fmt::format_string<Args...> format, Args&&... args) {
  return Error{code, fmt::format(format, std::forward<Args>(args)...), std::nullopt};
}

/// Makes a failed result: `return Fail(ErrorCode::kParse, "expected {}", what);`
template <class... Args>
std::unexpected<Error> Fail(ErrorCode code, fmt::format_string<Args...> format, Args&&... args) {
  return std::unexpected(MakeError(code, format, std::forward<Args>(args)...));
}

template <class... Args>
std::unexpected<Error> FailAt(SourceLocation where, ErrorCode code,
                              fmt::format_string<Args...> format, Args&&... args) {
  return std::unexpected(
      Error{code, fmt::format(format, std::forward<Args>(args)...), std::move(where)});
}

}  // namespace tunec

#define TUNEC_CONCAT_(a, b) a##b
#define TUNEC_CONCAT(a, b) TUNEC_CONCAT_(a, b)

/// Evaluates a Status or Result. On failure, the enclosing function returns the error.
#define TUNEC_RETURN_IF_ERROR(expression)                       \
  do {                                                          \
    if (auto tunec_status_ = (expression); !tunec_status_)      \
      return std::unexpected(std::move(tunec_status_).error()); \
  } while (false)

/// Declares or assigns a variable from a Result: `TUNEC_ASSIGN(auto x, F());`. On failure, the
/// enclosing function returns the error.
#define TUNEC_ASSIGN(declaration, expression) \
  TUNEC_ASSIGN_(TUNEC_CONCAT(tunec_result_, __LINE__), declaration, expression)
#define TUNEC_ASSIGN_(result, declaration, expression)            \
  auto result = (expression);                                     \
  if (!result) return std::unexpected(std::move(result).error()); \
  declaration = std::move(*result)
