// Finds programs of NVIDIA's CUDA toolkit, and reads their versions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "support/error.h"

namespace tunec {

/// One that was found.
struct ToolkitProgram {
  std::string path;
  std::string version;  // "13.0.88"
};

/// One that is looked for, and what to say where it is not.
struct ToolkitSearch {
  std::string name;      // "ptxas"
  std::string variable;  // of the environment, which names its file: "TUNEC_PTXAS"
  std::string purpose;   // "NVIDIA's assembler"
  std::string package;   // of PyPI, which has it: "nvidia-cuda-nvcc==13.0.88"
};

/// The file that the variable names, else the first of these that there is: in OwnFolders, where a
/// packed tunec has it; in PATH; in the toolkit of CUDA_HOME, without which that is
/// /usr/local/cuda. Errors: kNotFound, with what to install, and those of running it.
Result<ToolkitProgram> FindToolkitProgram(const ToolkitSearch& search);

/// The version in what such a program prints for --version. kParse when it is not there.
Result<std::string> ToolkitVersion(std::string_view output);

/// The last line that is not empty: what such a program says when it fails.
std::string LastLine(std::string_view text);

}  // namespace tunec
