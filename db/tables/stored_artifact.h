// Functions that read and store rows of compiled objects. They throw SQLite::Exception, so they are
// called only inside DatabaseConnection::Read and Write.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "db/records.h"
#include "db/seal/object_key.h"
#include "db/sqlite/connection.h"
#include "db/sqlite/query.h"

namespace tunec {

struct StoredArtifact {
  int64_t id = 0;
  std::string key_text;
  Artifact artifact;
  std::string damage;  // reason why the row must not be used; empty: none was found
};

/// Columns of a row that ReadArtifact expects.
#define TUNEC_ARTIFACT_COLUMNS "id, key_hash, key_text, object, metadata, created_at, hash, owner"

/// Returns the current row. `key` is the reader's key; null if the reader has none. Damaged objects
/// and metadata are only detected in rows of the key's owner. Do not use rows of other owners.
StoredArtifact ReadArtifact(const Query& row, const ObjectKey* key);
/// Returns the row that the owner of `key` stored for `key_text`; none if there is no row. A
/// damaged row has `damage` set.
std::optional<StoredArtifact> FindArtifact(DatabaseConnection& connection, const ObjectKey& key,
                                           const std::string& key_text);
/// Stores or replaces the artifact of `key_text` for the owner of `key`.
void StoreArtifact(DatabaseConnection& connection, const ObjectKey& key,
                   const std::string& key_text, const Artifact& artifact);

}  // namespace tunec
