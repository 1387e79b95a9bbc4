// BLAKE3's keyed hash. Nobody makes the hash of a text without the key, however many hashes of
// other texts are known. (StableHash finds damage, but anybody can make it.)
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
/// The hash of `bytes` under `key`: 64 lower-case hexadecimal digits.
std::string KeyedHash(const HashKey& key, std::string_view bytes);

}  // namespace tunec
