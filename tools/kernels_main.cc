// tunec-kernels runs kernels from files on a GPU. It needs only the GPU's driver: no compiler,
// ptxas or model. `tunec show` and `tunec schedule` write the files with --dump, without a GPU.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/cuda/cuda_device.h"
#include "runtime/cuda/gpu_facts.h"
#include "runtime/cuda/load_driver.h"
#include "runtime/file_kernel.h"
#include "support/file.h"
#include "tools/terminal/standard_streams.h"

namespace tunec {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kUsage =
    "usage: tunec-kernels [--device N] time KERNEL...\n"
    "           times each; a line of JSON for each\n"
    "       tunec-kernels [--device N] check KERNEL VECTORS\n"
    "           runs it on the inputs in VECTORS, and compares its outputs with those there\n"
    "       tunec-kernels [--device N] record KERNEL VECTORS\n"
    "           writes its outputs into VECTORS; without that file, random inputs, too\n"
    "KERNEL is a file NAME.kernel of `tunec show MODEL --target cuda --arch NAME --dump FOLDER`.\n"
    "N is a GPU's number or UUID; otherwise the first one is taken.\n";

constexpr int kDifferent = 1;
constexpr int kWrongUsage = 2;

/// An opened GPU and its description.
struct OpenedGpu {
  std::unique_ptr<Device> device;
  GpuFacts facts;
  std::string name;  // "NVIDIA H200, driver of CUDA 13.0"
};

Result<OpenedGpu> OpenGpu(const std::string& choice) {
  TUNEC_ASSIGN(const CudaDriver driver, LoadCudaDriver());
  TUNEC_ASSIGN(const std::vector<GpuFacts> gpus, ReadChosenGpus(driver, choice));
  OpenedGpu opened{.device = nullptr, .facts = gpus.front(), .name = {}};
  opened.name =
      fmt::format("{}, driver of CUDA {}", opened.facts.name, CudaVersionText(driver.cuda_version));
  TUNEC_ASSIGN(opened.device, OpenCudaDevice(driver, opened.facts.number));
  return opened;
}

Result<KernelFile> ReadKernel(const std::string& path) {
  TUNEC_ASSIGN(const std::string text, ReadFile(path));
  Result<KernelFile> file = ParseKernelFile(text);
  if (!file) file.error().message = fmt::format("{}: {}", path, file.error().message);
  return file;
}

Result<KernelVectors> ReadVectors(const std::string& path) {
  TUNEC_ASSIGN(const std::string text, ReadFile(path));
  return ParseKernelVectors(text, path);
}

Json PhasesOf(const KernelImage& image) {
  Json phases = Json::array();
  for (const PhaseLaunch& launch : image.phases) {
    phases.push_back({{"function", launch.symbol},
                      {"blocks", launch.Blocks()},
                      {"threads", launch.block[0] * launch.block[1] * launch.block[2]},
                      {"registers", launch.registers},
                      {"shared_bytes", launch.shared_bytes}});
  }
  return phases;
}

Result<Json> TimeOne(OpenedGpu& gpu, const std::string& path) {
  constexpr int kSamples = 15;
  TUNEC_ASSIGN(const KernelFile file, ReadKernel(path));
  TUNEC_ASSIGN(FileKernel kernel, FileKernel::Load(*gpu.device, file));
  TUNEC_RETURN_IF_ERROR(kernel.Run(RandomInputs(file.arguments, /*seed=*/0)));
  TUNEC_ASSIGN(std::vector<double> seconds, kernel.Time(gpu.facts.l2_bytes, kSamples));
  std::ranges::sort(seconds);
  return Json{{"kernel", path},
              {"gpu", gpu.name},
              {"median_us", 1e6 * seconds[seconds.size() / 2]},
              {"min_us", 1e6 * seconds.front()},
              {"max_us", 1e6 * seconds.back()},
              {"copies", kernel.lap().copies},
              {"runs_of_a_sample", kernel.lap().runs},
              {"functions", PhasesOf(file.image)}};
}

/// Times each kernel, and prints a line of JSON for each. An error of a kernel does not stop the
/// others unless the error is kDevice. Returns the exit code.
Result<int> Time(OpenedGpu& gpu, const std::vector<std::string>& paths) {
  int exit_code = EXIT_SUCCESS;
  for (const std::string& path : paths) {
    const Result<Json> row = TimeOne(gpu, path);
    if (!row && row.error().code == ErrorCode::kDevice) return std::unexpected(row.error());
    if (!row) exit_code = kDifferent;
    const Json problem = {{"kernel", path}, {"error", row ? "" : row.error().message}};
    fmt::print("{}\n", (row ? *row : problem).dump());
    std::fflush(stdout);
  }
  return exit_code;
}

// Returns the text for an output that agrees with the vectors.
std::string Agreement(const KernelVectors& vectors, const KernelVector& output) {
  const double within = vectors.Find(output.name)->within;
  return within > 0 ? fmt::format("is within {} of that of {}", within, vectors.from)
                    : fmt::format("is that of {}", vectors.from);
}

Result<int> Check(OpenedGpu& gpu, const std::string& path, const std::string& vectors_path) {
  TUNEC_ASSIGN(const KernelFile file, ReadKernel(path));
  TUNEC_ASSIGN(const KernelVectors vectors, ReadVectors(vectors_path));
  TUNEC_ASSIGN(FileKernel kernel, FileKernel::Load(*gpu.device, file));
  TUNEC_ASSIGN(const std::vector<KernelVector> outputs, kernel.Run(vectors));
  int exit_code = EXIT_SUCCESS;
  for (const KernelVector& output : outputs) {
    TUNEC_ASSIGN(const std::string difference, CompareWith(vectors, output));
    if (!difference.empty()) exit_code = kDifferent;
    fmt::print("{}: {} {}\n", path, output.name,
               difference.empty() ? Agreement(vectors, output) : difference);
  }
  return exit_code;
}

Result<int> Record(OpenedGpu& gpu, const std::string& path, const std::string& vectors_path) {
  TUNEC_ASSIGN(const KernelFile file, ReadKernel(path));
  KernelVectors vectors = RandomInputs(file.arguments, /*seed=*/0);
  if (std::filesystem::exists(vectors_path)) {
    TUNEC_ASSIGN(vectors, ReadVectors(vectors_path));
  }
  TUNEC_ASSIGN(FileKernel kernel, FileKernel::Load(*gpu.device, file));
  TUNEC_ASSIGN(const std::vector<KernelVector> outputs, kernel.Run(vectors));
  vectors.SetOutputs(gpu.name, outputs);
  TUNEC_RETURN_IF_ERROR(WriteFileAtomically(vectors_path, Print(vectors)));
  fmt::print("{}: {} of {}\n", vectors_path, outputs.size() == 1 ? "an output" : "outputs",
             gpu.name);
  return EXIT_SUCCESS;
}

Result<int> Run(std::vector<std::string> words) {
  std::string device;
  if (words.size() >= 2 && words[0] == "--device") {
    device = words[1];
    words.erase(words.begin(), words.begin() + 2);
  }
  const bool times = words.size() >= 2 && words[0] == "time";
  const bool checks = words.size() == 3 && words[0] == "check";
  const bool records = words.size() == 3 && words[0] == "record";
  if (!times && !checks && !records) {
    fmt::print(stderr, "{}", kUsage);
    return kWrongUsage;
  }
  TUNEC_ASSIGN(OpenedGpu gpu, OpenGpu(device));
  if (checks) return Check(gpu, words[1], words[2]);
  if (records) return Record(gpu, words[1], words[2]);
  return Time(gpu, {words.begin() + 1, words.end()});
}

int Main(std::vector<std::string> words) {
  const Result<int> exit_code = Run(std::move(words));
  if (!exit_code) {
    fmt::print(stderr, "tunec-kernels: {}\n", exit_code.error().Format());
    return kDifferent;
  }
  if (!HasLostStandardOutput()) return *exit_code;
  std::fputs("tunec-kernels: error: cannot write to standard output\n", stderr);
  return kWrongUsage;
}

}  // namespace
}  // namespace tunec

int main(int argc, char** argv) {
  tunec::ReserveStandardStreams();
  tunec::IgnoreFileSizeSignal();
  try {
    return tunec::Main({argv + 1, argv + argc});
  } catch (const std::bad_alloc&) {
    std::fputs("tunec-kernels: error: not enough memory\n", stderr);
    return EXIT_FAILURE;
  } catch (const std::exception& exception) {
    std::fprintf(stderr, "tunec-kernels: error: internal: %s\n", exception.what());
    return EXIT_FAILURE;
  }
}
