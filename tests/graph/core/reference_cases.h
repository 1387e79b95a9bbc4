// A function that reads the cases of reference_cases.graph, one or more for most operators.
#pragma once

#include <string>
#include <vector>

namespace tunec {

/// Returns the text of each graph in the file, in file order.
std::vector<std::string> LoadReferenceCases();

}  // namespace tunec
