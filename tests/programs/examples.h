// Functions that read the files of examples/loops.
#pragma once

#include <filesystem>
#include <string>

#include "ir/compute.h"

namespace tunec::test {

/// Returns the folder of the examples.
std::filesystem::path ExampleFolder();
/// Returns the text of a file, such as "matmul_async.sched". Stops the test program if the file
/// cannot be read.
std::string ReadExample(const std::string& file);
/// Returns the Compute of the file NAME.compute. Stops the test program if there is an error.
Compute ExampleCompute(const std::string& name);

}  // namespace tunec::test
