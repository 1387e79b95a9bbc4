// Functions by which `tunec doctor` examines the driver, the GPUs, and NVIDIA's ptxas and nvdisasm.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tools/terminal/text_table.h"

namespace tunec {

/// A line about CUDA in the doctor's report.
struct Finding {
  std::string what;
  std::string found;
  bool ok = true;
};

struct CudaFindings {
  /// Results of the checks. A missing component is ok, unless an environment variable names the
  /// component, or ptxas is missing for a GPU. A component that cannot be used is not ok.
  std::vector<Finding> findings;
  TextTable gpus;
  // The strings below are empty if the component is missing or cannot be used.
  std::string driver;        // path of the driver's library
  std::string cuda_version;  // CUDA version of the driver, such as "13.0"
  std::string ptxas, ptxas_version;
  std::string nvdisasm, nvdisasm_version;
};

/// Checks CUDA without opening a GPU.
CudaFindings ExamineCuda();

/// Returns the paths and versions as JSON, without findings and GPUs. Missing ones are null.
nlohmann::ordered_json CudaJson(const CudaFindings& cuda);

}  // namespace tunec
