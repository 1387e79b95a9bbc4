// Stable hashing: the same bytes give the same hash on every machine and in every version. These
// hashes may be stored; std::hash values may not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tunec {

/// Returns the 128-bit XXH3 hash of `bytes` as 32 lower-case hexadecimal digits.
std::string StableHash(std::string_view bytes);
/// Returns the 64-bit XXH3 hash of `bytes`.
uint64_t StableHash64(std::span<const std::byte> bytes);

}  // namespace tunec
