#include "tools/commands/doctor_cuda.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <utility>

#include "device/open_gpu.h"
#include "jit/cuda/nvdisasm.h"
#include "jit/cuda/ptxas.h"
#include "runtime/cuda/gpu_facts.h"
#include "runtime/cuda/load_driver.h"

namespace tunec {
namespace {

TextTable GpuTable() {
  return TextTable({{"number"},
                    {"name"},
                    {"uuid"},
                    {"capability"},
                    {"arch"},
                    {"multiprocessors"},
                    {"memory_bytes"},
                    {"l2_bytes"},
                    {"shared_bytes"}});
}

bool IsSet(const char* variable) {
  const char* const value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

Cell ByteCell(int64_t bytes) { return {BytesText(static_cast<double>(bytes)), bytes}; }

/// A collector of findings about CUDA. Later checks use results of earlier ones.
class CudaExamination {
 public:
  CudaFindings Examine() &&;

 private:
  void ExamineDriver();
  void ExamineGpus(const CudaDriver& driver);
  void ExamineGpu(const CudaDriver& driver, const GpuFacts& gpu);
  void ExaminePtxas();
  void ExamineNvdisasm();

  void Say(const char* what, std::string found) {
    cuda_.findings.push_back({what, std::move(found), true});
  }
  void Problem(const char* what, std::string found) {
    cuda_.findings.push_back({what, std::move(found), false});
  }
  /// Adds a finding about a component that is missing or cannot be used. The finding is a problem
  /// only if `is_required`.
  void Absent(const char* what, const Error& error, bool is_required) {
    cuda_.findings.push_back({what, error.message, !is_required});
  }

  CudaFindings cuda_{.findings = {}, .gpus = GpuTable()};
  int cuda_version_ = 0;
  int gpus_ = 0;
};

void CudaExamination::ExamineDriver() {
  const Result<std::string> library = FindCudaLibrary();
  if (!library) return Absent("driver", library.error(), IsSet("TUNEC_LIBCUDA"));
  const Result<CudaDriver> driver = LoadCudaDriver();
  if (!driver) return Problem("driver", driver.error().message);
  cuda_version_ = driver->cuda_version;
  cuda_.driver = *library;
  cuda_.cuda_version = CudaVersionText(cuda_version_);
  Say("driver", fmt::format("CUDA {}, {}", cuda_.cuda_version, *library));
  ExamineGpus(*driver);
}

void CudaExamination::ExamineGpus(const CudaDriver& driver) {
  const Result<std::vector<GpuFacts>> gpus = ReadAllGpuFacts(driver);
  if (!gpus) return Problem("gpu", gpus.error().message);
  for (const GpuFacts& gpu : *gpus) ExamineGpu(driver, gpu);
}

void CudaExamination::ExamineGpu(const CudaDriver& driver, const GpuFacts& gpu) {
  ++gpus_;
  const Result<Accelerator> device = DetectCuda(driver, gpu.number);
  const std::string capability = fmt::format("{}.{}", gpu.capability_major, gpu.capability_minor);
  cuda_.gpus.AddRow({CountCell(gpu.number), gpu.name, gpu.uuid, capability,
                     device ? Cell(device->name) : Missing(), CountCell(gpu.processors),
                     ByteCell(gpu.memory_bytes), ByteCell(gpu.l2_bytes),
                     ByteCell(gpu.block_shared_bytes)});
  if (!device) return Problem("gpu", device.error().message);
  Say("gpu", fmt::format("{}: {}, {}, {}, {} L2, {} shared by a block, {}", Name(gpu), device->name,
                         CountText(gpu.processors, "multiprocessor"),
                         BytesText(static_cast<double>(gpu.memory_bytes)),
                         BytesText(static_cast<double>(gpu.l2_bytes)),
                         BytesText(static_cast<double>(gpu.block_shared_bytes)), gpu.uuid));
}

// Returns true if a program's toolkit has a later major version of CUDA than the driver. Within one
// major version, drivers run the output of later toolkits. Returns false without a driver.
bool IsAheadOfDriver(const std::string& version, int cuda_version) {
  int major = 0;
  std::from_chars(version.data(), version.data() + version.size(), major);
  return cuda_version > 0 && major > cuda_version / 1000;
}

void CudaExamination::ExaminePtxas() {
  const Result<Ptxas> ptxas = FindPtxas();
  if (!ptxas) {
    const bool is_required = ptxas.error().code != ErrorCode::kNotFound || IsSet("TUNEC_PTXAS");
    return Absent("ptxas", ptxas.error(), is_required || gpus_ > 0);
  }
  cuda_.ptxas = ptxas->path;
  cuda_.ptxas_version = ptxas->version;
  const std::string found = fmt::format("{}, {}", ptxas->version, ptxas->path);
  if (!IsAheadOfDriver(ptxas->version, cuda_version_)) return Say("ptxas", found);
  Problem("ptxas", fmt::format("{}, is ahead of the driver, of CUDA {}, which may reject its code: "
                               "install a newer driver, or name an older ptxas with TUNEC_PTXAS",
                               found, cuda_.cuda_version));
}

void CudaExamination::ExamineNvdisasm() {
  const Result<Nvdisasm> nvdisasm = FindNvdisasm();
  if (!nvdisasm) {
    const bool is_required =
        nvdisasm.error().code != ErrorCode::kNotFound || IsSet("TUNEC_NVDISASM");
    return Absent("nvdisasm", nvdisasm.error(), is_required);
  }
  cuda_.nvdisasm = nvdisasm->path;
  cuda_.nvdisasm_version = nvdisasm->version;
  Say("nvdisasm", fmt::format("{}, {}", nvdisasm->version, nvdisasm->path));
}

CudaFindings CudaExamination::Examine() && {
  ExamineDriver();
  ExaminePtxas();
  ExamineNvdisasm();
  return std::move(cuda_);
}

}  // namespace

CudaFindings ExamineCuda() { return CudaExamination().Examine(); }

nlohmann::ordered_json CudaJson(const CudaFindings& cuda) {
  const auto known = [](const std::string& text) {
    return text.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(text);
  };
  return {{"driver", known(cuda.driver)},     {"cuda_version", known(cuda.cuda_version)},
          {"ptxas", known(cuda.ptxas)},       {"ptxas_version", known(cuda.ptxas_version)},
          {"nvdisasm", known(cuda.nvdisasm)}, {"nvdisasm_version", known(cuda.nvdisasm_version)}};
}

}  // namespace tunec
