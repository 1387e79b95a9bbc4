// Functions at the boundary of the C interface. They convert errors and exceptions to statuses,
// store the latest error message of each thread, and copy structs that callers give.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <span>
#include <string_view>

#include "api/include/tunec/tunec.h"
#include "support/error.h"

namespace tunec {

/// Stores the error's text, or a constant text if memory runs out, for this thread's next call of
/// tunec_error_message.
void StoreMessage(const Error& error) noexcept;
/// Stores the exception's text if the text has details, such as the size of the allocation
/// (ir/allocate_array.h). Otherwise stores "not enough memory".
void StoreMessage(const std::bad_alloc& failure) noexcept;
/// Stores a text without a copy, so no memory is needed. `text` must be valid as long as the
/// program runs.
void StoreMessage(const char* text) noexcept;
const char* LatestMessage() noexcept;

/// Runs `body`, which returns a Status. Returns TUNEC_OK or the code of the returned error. Returns
/// TUNEC_RESOURCE_LIMIT for std::bad_alloc, and TUNEC_INTERNAL_ERROR for other exceptions. Stores
/// the message of a failure.
template <class Body>
int Guarded(Body body) noexcept {
  try {
    Status status = body();
    if (status) return TUNEC_OK;
    StoreMessage(status.error());
    return static_cast<int>(status.error().code);
  } catch (const std::bad_alloc& failure) {
    StoreMessage(failure);
    return TUNEC_RESOURCE_LIMIT;
  } catch (const std::exception& exception) {
    StoreMessage(Error{ErrorCode::kInternal, exception.what(), std::nullopt});
    return TUNEC_INTERNAL_ERROR;
  } catch (...) {
    StoreMessage("an exception of unknown type");
    return TUNEC_INTERNAL_ERROR;
  }
}

/// Returns a copy of the caller's struct. Members that the caller's version does not have are zero.
/// Fails with kInvalidArgument if the size is not 1 to 64 times that of a pointer. Also fails if a
/// member that this library does not have is not zero, because the library would ignore this member
/// silently. Error messages use tunec_`kind` as the type, `name` as the argument's name, and
/// `members` as the word for members.
template <class Struct>
Result<Struct> CopyKnownMembers(const Struct& given, std::string_view kind, std::string_view name,
                                std::string_view members) {
  constexpr size_t kEntry = sizeof(void*);
  constexpr size_t kMost = 64 * kEntry;  // above any struct: a larger size was not initialised
  static_assert(sizeof(Struct) % kEntry == 0 && sizeof(Struct) <= kMost);
  if (given.size < kEntry || given.size > kMost || given.size % kEntry != 0)
    return Fail(ErrorCode::kInvalidArgument, "{}.size is {}, expected sizeof(tunec_{}), here {}",
                name, given.size, kind, sizeof given);
  const std::span bytes(reinterpret_cast<const std::byte*>(&given), given.size);
  const std::span ours = bytes.first(std::min(bytes.size(), sizeof given));
  const auto is_set = [](std::byte byte) { return byte != std::byte{0}; };
  if (std::ranges::any_of(bytes.subspan(ours.size()), is_set))
    return Fail(ErrorCode::kInvalidArgument,
                "{} have {} beyond the {} bytes that this library knows", name, members,
                sizeof given);
  Struct known = {};
  std::memcpy(&known, ours.data(), ours.size());
  return known;
}

}  // namespace tunec
