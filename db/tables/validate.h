// What may enter the tables. Recording and importing ask the same questions.
#pragma once

#include "db/records.h"
#include "support/error.h"

namespace tunec {

/// kInvalidArgument naming the first field that cannot be stored.
Status Validate(const WorkloadKey& workload);
Status Validate(const TuningKey& key);
Status Validate(const TrialRecord& trial);
Status Validate(const MachineFact& fact);
Status ValidateText(const char* field, const std::string& text);
/// A text that identifies something: not empty and storable.
Status ValidateName(const char* field, const std::string& text);

/// `trial` as it is stored: message and note made storable, no median unless ok, no NaN
/// accuracy error, the time now where it has none.
TrialRecord Normalised(TrialRecord trial);

int64_t UnixNow();

}  // namespace tunec
