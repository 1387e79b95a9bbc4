// The secret that marks a user's compiled objects. Compiled objects are programs: an object written
// by another user must never run.
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
  /// Returns a new key from the system's source of random bytes. Error: kIo.
  static Result<ObjectKey> Random();
  /// Parses the string that Text returns, with digits of any case; none for any other text.
  static std::optional<ObjectKey> Parse(std::string_view text);

  /// Returns one line that contains the secret.
  std::string Text() const;
  /// Returns an identifier of the key that does not reveal the secret: 32 hexadecimal digits.
  const std::string& owner() const { return owner_; }
  /// Returns a hash that only owners of this key can make. It covers all data that is used to find,
  /// load and call a kernel: the key text, the object and the metadata.
  std::string Seal(const std::string& key_text, const Artifact& artifact) const;

 private:
  HashKey secret_;
  std::string owner_;
};

}  // namespace tunec
