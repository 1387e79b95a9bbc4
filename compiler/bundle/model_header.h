// The C header of a library that holds one model.
#pragma once

#include <string>
#include <string_view>

#include "runtime/bundle/stored_plan.h"

namespace tunec {

/// `model` is what its functions begin with, `library` the file's name, `plan` says what goes in
/// and comes out. The text is C99 and C++, and includes nothing of tunec's.
std::string ModelHeader(std::string_view model, std::string_view library,
                        const bundle::StoredPlan& plan);

}  // namespace tunec
