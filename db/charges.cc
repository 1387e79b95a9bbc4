// The members of Database for charges. A charge is the number of a task's trials that count for the
// budget of a model.
#include "db/database.h"
#include "db/sqlite/connection.h"
#include "db/sqlite/query.h"
#include "db/tables/rows.h"
#include "db/tables/validate.h"
#include "support/check.h"

namespace tunec {

Result<std::optional<int64_t>> Database::Charged(const std::string& model) const {
  return connection_->Read([&]() -> Result<std::optional<int64_t>> {
    Query query(*connection_,
                "SELECT sum(max(0, min(charges.trials, "
                "(SELECT count(*) FROM trials WHERE trials.task = charges.task)))) "
                "FROM charges WHERE model = ?",
                model);
    if (!query.Step() || query.IsNull(0)) return std::nullopt;
    return query.Integer(0);
  });
}

Status Database::ChargeNewModel(const std::string& model, const std::vector<TuningKey>& keys,
                                const std::vector<int64_t>& trials) {
  TUNEC_CHECK(keys.size() == trials.size(), "{} keys, {} charges", keys.size(), trials.size());
  TUNEC_RETURN_IF_ERROR(ValidateName("model", model));
  return connection_->Write([&]() -> Status {
    // Another thread or process may have charged the model before this transaction began.
    if (Query(*connection_, "SELECT 1 FROM charges WHERE model = ? LIMIT 1", model).Step()) {
      return {};
    }
    for (size_t i = 0; i < keys.size(); ++i) {
      const std::optional<int64_t> task = FindTask(*connection_, keys[i]);
      if (task) AddCharge(*connection_, model, *task, trials[i]);
    }
    return {};
  });
}

}  // namespace tunec
