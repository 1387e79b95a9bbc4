// The cases of reference_cases.graph: every operator on small operands.
#pragma once

#include <string>
#include <vector>

namespace tunec {

/// Returns the text of each graph in the file, in file order.
std::vector<std::string> LoadReferenceCases();

}  // namespace tunec
