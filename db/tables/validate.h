// Checks rows before they enter the tables, both for recording and importing.
#pragma once

#include "db/records.h"
#include "support/error.h"

namespace tunec {

/// Returns kInvalidArgument with the name of the first field that cannot be stored.
Status Validate(const WorkloadKey& workload);
Status Validate(const TuningKey& key);
Status Validate(const TrialRecord& trial);
Status Validate(const MachineFact& fact);
Status ValidateText(const char* field, const std::string& text);
/// Checks a text that identifies an object: not empty and storable.
Status ValidateName(const char* field, const std::string& text);

/// Returns `trial` in its stored form: storable message and note, no median unless ok, no NaN
/// accuracy error, and the current time if it has none.
TrialRecord Normalised(TrialRecord trial);

int64_t UnixNow();

}  // namespace tunec
