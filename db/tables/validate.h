// Checks of rows before they enter the tables, both for recording and importing.
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
/// Checks a charge of a model. Fails with kParse if `trials` is negative.
Status ValidateCharge(const std::string& model, int64_t trials);
Status ValidateText(const char* field, const std::string& text);
/// Checks that a text is storable and not empty, as a text that identifies an object must be.
Status ValidateName(const char* field, const std::string& text);

/// Returns `trial` in its stored form. The form has no id, no median unless ok, and no NaN as
/// accuracy error. Message and note are storable. A missing time becomes the current time.
TrialRecord Normalised(TrialRecord trial);

int64_t UnixNow();

}  // namespace tunec
