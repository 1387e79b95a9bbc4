// Compiled objects and machine facts.
#include "db/codec.h"
#include "db/database.h"
#include "db/rows.h"
#include "db/stored_artifact.h"
#include "db/validate.h"
#include "support/hash.h"

namespace tunec {
namespace {

/// Why a stored artifact must not be used; empty when it may.
std::string Damage(const Artifact& artifact, const std::string& object_hash) {
  if (StableHash(artifact.object) != object_hash) return "its bytes do not match their hash";
  if (!IsJson(artifact.metadata)) return "its metadata is not JSON";
  return "";
}

Status ValidateArtifact(const std::string& key_text, const Artifact& artifact) {
  TUNEC_RETURN_IF_ERROR(ValidateName("artifact key", key_text));
  TUNEC_RETURN_IF_ERROR(ValidateName("artifact metadata", artifact.metadata));
  if (IsJson(artifact.metadata)) return {};
  return Fail(ErrorCode::kInvalidArgument, "artifact metadata is not JSON");
}

MachineFact ReadFact(const Query& row) {
  return {row.Text(0), row.Real(1), row.Text(2), row.Integer(3)};
}

}  // namespace

std::optional<StoredArtifact> FindArtifact(DatabaseConnection& connection,
                                           const std::string& key_text) {
  Query query(connection,
              "SELECT id, object, metadata, created_at, object_hash FROM artifacts "
              "WHERE key_hash = ? AND key_text = ?",
              StableHash(key_text), key_text);
  if (!query.Step()) return std::nullopt;
  StoredArtifact stored;
  stored.id = query.Integer(0);
  stored.artifact = {query.Text(1), query.Text(2), query.Integer(3)};
  stored.damage = Damage(stored.artifact, query.Text(4));
  return stored;
}

void StoreArtifact(DatabaseConnection& connection, const std::string& key_text,
                   const Artifact& artifact) {
  const std::string key_hash = StableHash(key_text);
  Query(connection, "DELETE FROM artifacts WHERE key_hash = ? AND key_text = ?", key_hash, key_text)
      .Run();
  Query(connection,
        "INSERT INTO artifacts(key_hash, key_text, object, object_hash, metadata, created_at) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        key_hash, key_text, Blob{artifact.object}, StableHash(artifact.object), artifact.metadata,
        artifact.created_at)
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
                "SELECT name, value, text, created_at FROM machine WHERE target = ? ORDER BY name",
                *id);
    while (query.Step()) facts.push_back(ReadFact(query));
    return facts;
  });
}

}  // namespace tunec
