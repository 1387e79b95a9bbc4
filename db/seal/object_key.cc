#include "db/seal/object_key.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <cerrno>
#include <charconv>
#include <cstring>

namespace tunec {
namespace {

// Header that identifies a key file, so that no other file of the user is read as a key.
constexpr std::string_view kHeader = "tunec object key 1 ";
constexpr size_t kOwnerDigits = 32;

std::optional<HashKey> ParseDigits(std::string_view digits) {
  HashKey secret{};
  if (digits.size() != 2 * secret.size()) return std::nullopt;
  for (size_t i = 0; i < secret.size(); ++i) {
    const char* const first = digits.data() + 2 * i;
    const auto [end, error] = std::from_chars(first, first + 2, secret[i], 16);
    if (error != std::errc() || end != first + 2) return std::nullopt;
  }
  return secret;
}

}  // namespace

ObjectKey::ObjectKey(const HashKey& secret)
    : secret_(secret), owner_(KeyedHash(secret, "owner").substr(0, kOwnerDigits)) {}

Result<ObjectKey> ObjectKey::Random() {
  HashKey secret{};
  ssize_t filled = -1;
  do {
    filled = getrandom(secret.data(), secret.size(), 0);
  } while (filled < 0 && errno == EINTR);
  // getrandom fills a buffer of this size completely or not at all.
  if (filled == static_cast<ssize_t>(secret.size())) return ObjectKey(secret);
  return Fail(ErrorCode::kIo, "cannot get random bytes from the system: {}", std::strerror(errno));
}

std::optional<ObjectKey> ObjectKey::Parse(std::string_view text) {
  if (!text.starts_with(kHeader) || !text.ends_with('\n')) return std::nullopt;
  text.remove_prefix(kHeader.size());
  text.remove_suffix(1);
  const std::optional<HashKey> secret = ParseDigits(text);
  return secret ? std::optional(ObjectKey(*secret)) : std::nullopt;
}

std::string ObjectKey::Text() const { return fmt::format("{}{}\n", kHeader, HexDigits(secret_)); }

std::string ObjectKey::Seal(const std::string& key_text, const Artifact& artifact) const {
  // The three hashes have fixed lengths, so the concatenation shows where each hash ends.
  return KeyedHash(secret_, KeyedHash(secret_, key_text) + KeyedHash(secret_, artifact.object) +
                                KeyedHash(secret_, artifact.metadata));
}

}  // namespace tunec
