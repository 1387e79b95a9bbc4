// The secret that makes a user's compiled objects recognizable. Compiled objects are
// programs: one that somebody else wrote must never run.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "db/records.h"
#include "db/seal/keyed_hash.h"
#include "support/error.h"

namespace tunec {

class ObjectKey {
 public:
  explicit ObjectKey(const HashKey& secret);
  /// One that nobody had before, from the system's source of random bytes. Error: kIo.
  static Result<ObjectKey> Random();
  /// Reads what Text made; none for any other text.
  static std::optional<ObjectKey> Parse(std::string_view text);

  /// One line, with the secret in it.
  std::string Text() const;
  /// Tells keys apart and nothing of the secret: 32 hexadecimal digits.
  const std::string& owner() const { return owner_; }
  /// The hash that only owners of this key can make. It covers all that a kernel is found, loaded
  /// and called by.
  std::string Seal(const std::string& key_text, const Artifact& artifact) const;

 private:
  HashKey secret_;
  std::string owner_;
};

}  // namespace tunec
