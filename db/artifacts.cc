// Compiled objects and machine facts.
#include "db/database.h"
#include "db/tables/codec.h"
#include "db/tables/rows.h"
#include "db/tables/stored_artifact.h"
#include "db/tables/validate.h"
#include "support/hash.h"

namespace tunec {
namespace {

/// Covers all that a kernel is found, loaded and called by.
std::string HashOf(const std::string& key_text, const Artifact& artifact) {
  return StableHash(StableHash(key_text) + StableHash(artifact.object) +
                    StableHash(artifact.metadata));
}

Status ValidateArtifact(const std::string& key_text, const Artifact& artifact) {
  TUNEC_RETURN_IF_ERROR(ValidateName("artifact key", key_text));
  TUNEC_RETURN_IF_ERROR(ValidateName("artifact metadata", artifact.metadata));
  if (IsJson(artifact.metadata)) return {};
  return Fail(ErrorCode::kInvalidArgument, "artifact metadata is not JSON");
}

}  // namespace

StoredArtifact ReadArtifact(const Query& row) {
  StoredArtifact stored;
  stored.id = row.Integer(0);
  stored.key_text = row.Text(2);
  stored.artifact = {row.Text(3), row.Text(4), row.Integer(5)};
  if (StableHash(stored.key_text) != row.Text(1)) {
    stored.damage = "its key does not match its hash";
  } else if (HashOf(stored.key_text, stored.artifact) != row.Text(6)) {
    stored.damage = "its object and metadata do not match their hash";
  }
  return stored;
}

std::optional<StoredArtifact> FindArtifact(DatabaseConnection& connection,
                                           const std::string& key_text) {
  Query query(connection, "SELECT " TUNEC_ARTIFACT_COLUMNS " FROM artifacts WHERE key_hash = ?",
              StableHash(key_text));
  if (!query.Step()) return std::nullopt;
  StoredArtifact stored = ReadArtifact(query);
  if (stored.key_text != key_text && stored.damage.empty()) return std::nullopt;
  return stored;
}

void StoreArtifact(DatabaseConnection& connection, const std::string& key_text,
                   const Artifact& artifact) {
  const std::string key_hash = StableHash(key_text);
  // Whatever its text says: a damaged key must not keep its place.
  Query(connection, "DELETE FROM artifacts WHERE key_hash = ?", key_hash).Run();
  Query(connection,
        "INSERT INTO artifacts(key_hash, key_text, object, metadata, created_at, hash) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        key_hash, key_text, Blob{artifact.object}, artifact.metadata, artifact.created_at,
        HashOf(key_text, artifact))
      .Run();
}

Status Database::PutArtifact(const std::string& key_text, const Artifact& artifact) {
  TUNEC_RETURN_IF_ERROR(ValidateArtifact(key_text, artifact));
  Artifact dated = artifact;
  if (dated.created_at == 0) dated.created_at = UnixNow();
  return connection_->Write([&]() -> Status {
    StoreArtifact(*connection_, key_text, dated);
    return {};
  });
}

Status Database::DropArtifact(const std::string& key_text) {
  return connection_->Write([&]() -> Status {
    Query(*connection_, "DELETE FROM artifacts WHERE key_hash = ?", StableHash(key_text)).Run();
    return {};
  });
}

Result<std::optional<Artifact>> Database::GetArtifact(const std::string& key_text) const {
  return connection_->Read([&]() -> Result<std::optional<Artifact>> {
    std::optional<StoredArtifact> stored = FindArtifact(*connection_, key_text);
    if (!stored) return std::nullopt;
    if (stored->damage.empty()) return std::move(stored->artifact);
    connection_->Miss(fmt::format("{}: artifact {} passed over: {}", connection_->path(),
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
