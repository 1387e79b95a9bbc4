// The search for programs of NVIDIA's CUDA toolkit, and for their versions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "support/error.h"

namespace tunec {

/// A program of the toolkit that FindToolkitProgram has found.
struct ToolkitProgram {
  std::string path;
  std::string version;  // "13.0.88"
};

/// A search for a program, with the texts for an error message.
struct ToolkitSearch {
  std::string name;      // "ptxas"
  std::string variable;  // environment variable that may hold the program's path: "TUNEC_PTXAS"
  std::string purpose;   // "NVIDIA's assembler"
  std::string package;   // PyPI package that contains it: "nvidia-cuda-nvcc==13.0.88"
};

/// Returns the program that the variable names; if the variable is empty, the first program found.
/// The search order is OwnFolders (for a packaged tunec), PATH, and the toolkit in CUDA_HOME
/// (default /usr/local/cuda). Fails with kNotFound if there is no program, with kParse if the
/// program reports no version, and like RunProcess.
Result<ToolkitProgram> FindToolkitProgram(const ToolkitSearch& search);

/// Returns the version in a program's output for --version. Fails with kParse if there is none.
Result<std::string> ToolkitVersion(std::string_view output);

/// Returns the last non-empty line, or "" if there is none. Error messages quote this line of a
/// program's output.
std::string LastLine(std::string_view text);

}  // namespace tunec
