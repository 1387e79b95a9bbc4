// Storage of compiled objects and machine facts in the database.
#include "db/database.h"
#include "db/tables/codec.h"
#include "db/tables/rows.h"
#include "db/tables/stored_artifact.h"
#include "db/tables/validate.h"
#include "support/hash.h"

namespace tunec {
namespace {

/// Returns whether two texts are equal. The time does not depend on the position of the first
/// difference, so that an attacker cannot infer a hash from delays.
bool AreEqual(const std::string& a, const std::string& b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (size_t i = 0; i < a.size(); ++i) difference |= static_cast<unsigned char>(a[i] ^ b[i]);
  return difference == 0;
}

Status ValidateArtifact(const std::string& key_text, const Artifact& artifact) {
  TUNEC_RETURN_IF_ERROR(ValidateName("artifact key", key_text));
  TUNEC_RETURN_IF_ERROR(ValidateName("artifact metadata", artifact.metadata));
  if (IsJson(artifact.metadata)) return {};
  return Fail(ErrorCode::kInvalidArgument, "artifact metadata is not JSON");
}

/// Returns the size in bytes of all pages that are in use.
int64_t UsedBytes(DatabaseConnection& connection) {
  Query query(connection,
              "SELECT (page_count - freelist_count) * page_size "
              "FROM pragma_page_count, pragma_freelist_count, pragma_page_size");
  return query.Step() ? query.Integer(0) : 0;
}

void DeleteArtifact(DatabaseConnection& connection, const ObjectKey& key,
                    const std::string& key_text) {
  Query(connection, "DELETE FROM artifacts WHERE key_hash = ? AND owner = ?", StableHash(key_text),
        key.owner())
      .Run();
}

}  // namespace

StoredArtifact ReadArtifact(const Query& row, const ObjectKey* key) {
  StoredArtifact stored;
  stored.id = row.Integer(0);
  stored.key_text = row.Text(2);
  stored.artifact = {row.Text(3), row.Text(4), row.Integer(5)};
  if (StableHash(stored.key_text) != row.Text(1)) {
    stored.damage = "its key does not match its hash";
  } else if (key != nullptr && key->owner() == row.Text(7) &&
             !AreEqual(key->Seal(stored.key_text, stored.artifact), row.Text(6))) {
    stored.damage = "its object and metadata do not match their hash";
  }
  return stored;
}

std::optional<StoredArtifact> FindArtifact(DatabaseConnection& connection, const ObjectKey& key,
                                           const std::string& key_text) {
  Query query(connection,
              "SELECT " TUNEC_ARTIFACT_COLUMNS " FROM artifacts WHERE key_hash = ? AND owner = ?",
              StableHash(key_text), key.owner());
  if (!query.Step()) return std::nullopt;
  StoredArtifact stored = ReadArtifact(query, &key);
  if (stored.key_text != key_text && stored.damage.empty()) return std::nullopt;
  return stored;
}

void StoreArtifact(DatabaseConnection& connection, const ObjectKey& key,
                   const std::string& key_text, const Artifact& artifact) {
  // DeleteArtifact finds the old row by the hash of `key_text`, so a row whose stored text is
  // damaged is deleted too.
  DeleteArtifact(connection, key, key_text);
  Query(connection,
        "INSERT INTO artifacts(key_hash, key_text, object, metadata, created_at, hash, owner) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        StableHash(key_text), key_text, Blob{artifact.object}, artifact.metadata,
        artifact.created_at, key.Seal(key_text, artifact), key.owner())
      .Run();
}

Status Database::PutArtifact(const std::string& key_text, const Artifact& artifact) {
  TUNEC_RETURN_IF_ERROR(ValidateArtifact(key_text, artifact));
  Artifact dated = artifact;
  if (dated.created_at == 0) dated.created_at = UnixNow();
  return connection_->Write([&]() -> Status {
    const ObjectKey* const key = connection_->FindOrMakeKey();
    if (key != nullptr) StoreArtifact(*connection_, *key, key_text, dated);
    return {};
  });
}

Status Database::DropArtifact(const std::string& key_text) {
  return connection_->Write([&]() -> Status {
    const ObjectKey* const key = connection_->FindKey();
    if (key != nullptr) DeleteArtifact(*connection_, *key, key_text);
    return {};
  });
}

Result<int64_t> Database::EvictArtifacts(int64_t most_bytes) {
  // A compile calls this function each time. It reads the rows only of a file with more data, and
  // writes only if there are too many objects.
  TUNEC_ASSIGN(const int64_t stored, connection_->Read([&]() -> Result<int64_t> {
    const ObjectKey* const key = connection_->FindKey();
    if (key == nullptr || UsedBytes(*connection_) <= most_bytes) return 0;
    Query query(*connection_,
                "SELECT ifnull(sum(length(object)), 0) FROM artifacts WHERE owner = ?",
                key->owner());
    return query.Step() ? query.Integer(0) : 0;
  }));
  if (stored <= most_bytes) return 0;
  return connection_->Write([&]() -> Result<int64_t> {
    const ObjectKey* const key = connection_->FindKey();
    if (key == nullptr) return 0;
    return Query(
               *connection_,
               "DELETE FROM artifacts WHERE id IN (SELECT id FROM (SELECT id, sum(length(object)) "
               "OVER (ORDER BY created_at DESC, id DESC) AS total FROM artifacts WHERE owner = ?) "
               "WHERE total > ?)",
               key->owner(), most_bytes)
        .Run();
  });
}

Result<std::optional<Artifact>> Database::GetArtifact(const std::string& key_text) const {
  return connection_->Read([&]() -> Result<std::optional<Artifact>> {
    const ObjectKey* const key = connection_->FindKey();
    if (key == nullptr) return std::nullopt;
    std::optional<StoredArtifact> stored = FindArtifact(*connection_, *key, key_text);
    if (!stored) return std::nullopt;
    if (stored->damage.empty()) return std::move(stored->artifact);
    connection_->NoteMiss(fmt::format("{}: artifact {} passed over: {}", connection_->path(),
                                      stored->id, stored->damage));
    return std::nullopt;
  });
}

Status Database::SetMachineFact(const std::string& target, const MachineFact& fact) {
  TUNEC_RETURN_IF_ERROR(ValidateName("target text", target));
  TUNEC_RETURN_IF_ERROR(Validate(fact));
  MachineFact dated = fact;
  if (dated.created_at == 0) dated.created_at = UnixNow();
  return connection_->Write([&]() -> Status {
    const int64_t id = EnsureTarget(*connection_, target);
    Query(*connection_, "DELETE FROM machine WHERE target = ? AND name = ?", id, dated.name).Run();
    UpsertFact(*connection_, id, dated);
    return {};
  });
}

Result<std::optional<MachineFact>> Database::GetMachineFact(const std::string& target,
                                                            const std::string& name) const {
  TUNEC_ASSIGN(std::vector<MachineFact> facts, MachineFacts(target));
  for (MachineFact& fact : facts) {
    if (fact.name == name) return std::move(fact);
  }
  return std::nullopt;
}

Result<std::vector<MachineFact>> Database::MachineFacts(const std::string& target) const {
  return connection_->Read([&]() -> Result<std::vector<MachineFact>> {
    std::vector<MachineFact> facts;
    const std::optional<int64_t> id = FindTarget(*connection_, target);
    if (!id) return facts;
    Query query(*connection_,
                "SELECT " TUNEC_FACT_COLUMNS " FROM machine WHERE target = ? ORDER BY name", *id);
    while (query.Step()) {
      if (auto fact = ReadFact(*connection_, query, 0)) facts.push_back(std::move(*fact));
    }
    return facts;
  });
}

}  // namespace tunec
