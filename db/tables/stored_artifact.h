// Rows of compiled objects. Throws SQLite::Exception: only inside DatabaseConnection::Read
// and Write.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "db/records.h"
#include "db/sqlite/connection.h"
#include "db/sqlite/query.h"

namespace tunec {

struct StoredArtifact {
  int64_t id = 0;
  std::string key_text;
  Artifact artifact;
  std::string damage;  // why it must not be used; empty when it may
};

/// The columns of a row that ReadArtifact expects.
#define TUNEC_ARTIFACT_COLUMNS "id, key_hash, key_text, object, metadata, created_at, hash"

StoredArtifact ReadArtifact(const Query& row);
/// The artifact of `key_text`, or the damaged one in its place.
std::optional<StoredArtifact> FindArtifact(DatabaseConnection& connection,
                                           const std::string& key_text);
/// Stores or replaces the artifact of `key_text`.
void StoreArtifact(DatabaseConnection& connection, const std::string& key_text,
                   const Artifact& artifact);

}  // namespace tunec
