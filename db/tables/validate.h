// Functions that check and normalise the data of rows, for recording, importing and reading.
#pragma once

#include "db/records.h"
#include "support/error.h"

namespace tunec {

/// Checks the fields. Returns kInvalidArgument with the reason if a field is invalid.
Status Validate(const WorkloadKey& workload);
Status Validate(const TuningKey& key);
Status Validate(const TrialRecord& trial);
Status Validate(const MachineFact& fact);
/// Checks a charge. Errors: kInvalidArgument for an invalid `model`, kParse for negative `trials`.
Status ValidateCharge(const std::string& model, int64_t trials);
Status ValidateText(const char* field, const std::string& text);
/// Checks that a text is storable and not empty; returns kInvalidArgument if not.
Status ValidateName(const char* field, const std::string& text);

/// Returns `trial` in its stored form. The form has no id, no median unless ok, and no NaN as
/// accuracy error. Message and note are storable. A creation time of 0 becomes the current time.
TrialRecord Normalised(TrialRecord trial);

}  // namespace tunec
