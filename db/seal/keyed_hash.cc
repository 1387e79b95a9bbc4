// LLVM, whose code generator is linked in anyway, carries the BLAKE3 of its authors.
#include "db/seal/keyed_hash.h"

#include <fmt/format.h>
#include <llvm-c/blake3.h>

namespace tunec {

static_assert(sizeof(HashKey) == LLVM_BLAKE3_KEY_LEN);

std::string KeyedHash(const HashKey& key, std::string_view bytes) {
  llvm_blake3_hasher hasher;
  llvm_blake3_hasher_init_keyed(&hasher, key.data());
  llvm_blake3_hasher_update(&hasher, bytes.data(), bytes.size());
  std::array<uint8_t, LLVM_BLAKE3_OUT_LEN> hash{};
  llvm_blake3_hasher_finalize(&hasher, hash.data(), hash.size());
  std::string digits;
  digits.reserve(2 * hash.size());
  for (const uint8_t byte : hash) digits += fmt::format("{:02x}", byte);
  return digits;
}

}  // namespace tunec
