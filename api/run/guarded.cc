#include "api/run/guarded.h"

#include <string>

namespace tunec {

static_assert(TUNEC_INVALID_ARGUMENT == static_cast<int>(ErrorCode::kInvalidArgument));
static_assert(TUNEC_PARSE_ERROR == static_cast<int>(ErrorCode::kParse));
static_assert(TUNEC_UNSUPPORTED == static_cast<int>(ErrorCode::kUnsupported));
static_assert(TUNEC_NOT_FOUND == static_cast<int>(ErrorCode::kNotFound));
static_assert(TUNEC_IO_ERROR == static_cast<int>(ErrorCode::kIo));
static_assert(TUNEC_ILLEGAL_SCHEDULE == static_cast<int>(ErrorCode::kIllegalSchedule));
static_assert(TUNEC_RESOURCE_LIMIT == static_cast<int>(ErrorCode::kResourceLimit));
static_assert(TUNEC_DEVICE_ERROR == static_cast<int>(ErrorCode::kDevice));
static_assert(TUNEC_CANCELLED == static_cast<int>(ErrorCode::kCancelled));
static_assert(TUNEC_WRONG_RESULT == static_cast<int>(ErrorCode::kWrongResult));
static_assert(TUNEC_INTERNAL_ERROR == static_cast<int>(ErrorCode::kInternal));

namespace {

/// `latest_error_text` is the message of this thread's latest failure, or "" before a failure. It
/// points to `latest_error` or to a constant text. A constant text needs no memory.
thread_local std::string latest_error;
thread_local const char* latest_error_text = "";

}  // namespace

void StoreMessage(const Error& error) noexcept {
  try {
    latest_error = error.Format();
    // The prefix is for terminals, not for messages that a program receives.
    constexpr std::string_view kPrefix = "error: ";
    if (latest_error.starts_with(kPrefix)) latest_error.erase(0, kPrefix.size());
    latest_error_text = latest_error.c_str();
  } catch (...) {
    latest_error_text = "not enough memory for the error's message";
  }
}

void StoreMessage(const std::bad_alloc& failure) noexcept {
  try {
    const std::string_view text = failure.what();
    const bool says_nothing = text == std::bad_alloc().what();
    StoreMessage(
        MakeError(ErrorCode::kResourceLimit, "{}", says_nothing ? "not enough memory" : text));
  } catch (...) {
    StoreMessage("not enough memory");
  }
}

void StoreMessage(const char* text) noexcept { latest_error_text = text; }

const char* LatestMessage() noexcept { return latest_error_text; }

}  // namespace tunec
