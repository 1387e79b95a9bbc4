// Rows of compiled objects. Throws SQLite::Exception: only inside DatabaseConnection::Read
// and Write.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "db/connection.h"
#include "db/records.h"

namespace tunec {

struct StoredArtifact {
  int64_t id = 0;
  Artifact artifact;
  std::string damage;  // why it must not be used; empty when it may
};

std::optional<StoredArtifact> FindArtifact(DatabaseConnection& connection,
                                           const std::string& key_text);
/// Stores or replaces the artifact of `key_text`.
void StoreArtifact(DatabaseConnection& connection, const std::string& key_text,
                   const Artifact& artifact);

}  // namespace tunec
