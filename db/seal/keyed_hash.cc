// The keyed hash, by the official C implementation of BLAKE3. LLVM, which is linked for code
// generation, contains this implementation.
#include "db/seal/keyed_hash.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <llvm-c/blake3.h>

namespace tunec {

static_assert(sizeof(HashKey) == LLVM_BLAKE3_KEY_LEN);

std::string HexDigits(std::span<const uint8_t> bytes) {
  return fmt::format("{:02x}", fmt::join(bytes, ""));
}

std::string KeyedHash(const HashKey& key, std::string_view bytes) {
  llvm_blake3_hasher hasher;
  llvm_blake3_hasher_init_keyed(&hasher, key.data());
  llvm_blake3_hasher_update(&hasher, bytes.data(), bytes.size());
  std::array<uint8_t, LLVM_BLAKE3_OUT_LEN> hash{};
  llvm_blake3_hasher_finalize(&hasher, hash.data(), hash.size());
  return HexDigits(hash);
}

}  // namespace tunec
