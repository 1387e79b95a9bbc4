// BLAKE3's keyed hash. Without the key, the hash of a text cannot be computed, even if hashes of
// other texts are known. StableHash, in contrast, has no key: everyone can compute the hash.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tunec {

using HashKey = std::array<uint8_t, 32>;

/// Returns the bytes as lower-case hexadecimal digits.
std::string HexDigits(std::span<const uint8_t> bytes);
/// Returns the hash of `bytes` with `key`: 64 lower-case hexadecimal digits.
std::string KeyedHash(const HashKey& key, std::string_view bytes);

}  // namespace tunec
