// What `tunec doctor` finds of CUDA: the driver, the GPUs, NVIDIA's assembler and disassembler.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tools/terminal/text_table.h"

namespace tunec {

/// A line of doctor's.
struct Finding {
  std::string what;
  std::string found;
  bool ok = true;
};

struct CudaFindings {
  /// What is not there is no problem; what is there and cannot be used is one, and so is a GPU
  /// without an assembler.
  std::vector<Finding> findings;
  TextTable gpus;
  // Empty where there is none, or none that can be used.
  std::string driver;        // its library's file
  std::string cuda_version;  // that it supports, "13.0"
  std::string ptxas, ptxas_version;
  std::string nvdisasm, nvdisasm_version;
};

/// Looks; opens no GPU.
CudaFindings ExamineCuda();

/// What the findings are made of, for programs, without the GPUs.
nlohmann::ordered_json CudaJson(const CudaFindings& cuda);

}  // namespace tunec
