// Checks rows before they enter the tables, both for recording and importing.
#pragma once

#include "db/records.h"
#include "support/error.h"

namespace tunec {

/// Checks that all fields can be stored. Returns kInvalidArgument with the name of the first field
/// that cannot.
Status Validate(const WorkloadKey& workload);
Status Validate(const TuningKey& key);
Status Validate(const TrialRecord& trial);
Status Validate(const MachineFact& fact);
Status ValidateText(const char* field, const std::string& text);
/// Checks a text that identifies an object: not empty and storable.
Status ValidateName(const char* field, const std::string& text);

/// Returns `trial` in its stored form: without id, with a storable message and note, without a
/// median unless ok, without an accuracy error that is NaN, and with the current time if it has no
/// time.
TrialRecord Normalised(TrialRecord trial);

int64_t UnixNow();

}  // namespace tunec
