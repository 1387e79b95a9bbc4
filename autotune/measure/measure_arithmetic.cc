// Measurement of the ceiling of one multiply-add instruction: the rate of its kernel
// (ceiling_kernel.h) on all threads. The share of the machine that other processes had meanwhile is
// measured, too.
#include <algorithm>
#include <chrono>
#include <memory>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

#include "autotune/measure/ceiling_kernel.h"
#include "autotune/measure/machine_load.h"
#include "autotune/measure/roofline.h"
#include "autotune/measure/side_by_side.h"
#include "device/open_device.h"
#include "ir/array_storage.h"
#include "jit/cpu/load.h"
#include "kernel/compile_kernel.h"
#include "runtime/buffer.h"
#include "runtime/kernel_run.h"
#include "runtime/thread_pool.h"

namespace tunec {
namespace {

// Other work on the machine can only lower the result, so the best of several repetitions is taken.
// The pauses spread the repetitions over several time slices of other processes.
constexpr int kRepetitions = 16;
constexpr std::chrono::milliseconds kPause{25};

// Returns operands with many different bits. A multiplication by zero takes less power, and may
// therefore be faster.
Array Operands(const Tensor& tensor) {
  Array values(tensor.type, tensor.shape);
  for (int64_t i = 0; i < values.size(); ++i) {
    const int64_t number = i * 37 % 101;
    if (IsFloat(tensor.type)) {
      values.SetDouble(i, static_cast<double>(number - 50) / 64);
    } else {
      values.SetInt(i, IsSigned(tensor.type) ? number - 50 : number);
    }
  }
  return values;
}

/// The kernel of a ceiling with the buffers of one thread. Move-only.
class CeilingRun {
 public:
  static Result<CeilingRun> Make(const LoopNest& nest, Kernel kernel) {
    std::vector<Buffer> buffers;
    std::vector<void*> addresses;
    for (const TensorId id : Arguments(nest)) {
      const Tensor& tensor = nest.tensors[id];
      TUNEC_ASSIGN(Buffer buffer, Buffer::Allocate(static_cast<size_t>(StorageBytes(tensor))));
      if (tensor.role != TensorRole::kOutput) {
        ToStorage(tensor, Operands(tensor), buffer.data());
      }
      addresses.push_back(buffer.data());
      buffers.push_back(std::move(buffer));
    }
    TUNEC_ASSIGN(KernelRun run, KernelRun::Make(std::move(kernel), std::move(addresses), 1));
    return CeilingRun(std::move(buffers), std::move(run));
  }
  void Run() { run_.Run(*alone_); }

 private:
  CeilingRun(std::vector<Buffer> buffers, KernelRun run)
      : buffers_(std::move(buffers)), run_(std::move(run)) {}

  std::vector<Buffer> buffers_;  // arguments of the run
  KernelRun run_;
  std::unique_ptr<ThreadPool> alone_ = std::make_unique<ThreadPool>(1);
};

/// The results of the repetitions of a measurement, one element for each repetition.
struct PeakSamples {
  std::vector<double> flops;   // operations per second
  std::vector<double> shares;  // share of processor time that the threads got
};

PeakSamples SamplePeak(std::vector<CeilingRun>& runs, double flops) {
  PeakSamples samples;
  ThreadTeam team(static_cast<int>(runs.size()));
  for (int repetition = 0; repetition < kRepetitions; ++repetition) {
    if (repetition > 0) std::this_thread::sleep_for(kPause);
    const SideBySide all = team.Run([&](int thread) { runs[static_cast<size_t>(thread)].Run(); });
    samples.flops.push_back(flops / all.seconds);
    samples.shares.push_back(all.share);
  }
  return samples;
}

/// Returns the share of the machine that other processes had during the samples. The share is the
/// greater of two numbers: the part of the threads' time in which they had no processor, and
/// `counted`, the number from the system's counters. The spread of repetitions is not used: even an
/// idle virtual machine has a spread of 10 to 30 %.
double Disturbance(const PeakSamples& samples, double counted, const Target& target) {
  // If there are more threads than cores, the threads wait for each other even on an idle machine.
  const double most = std::min(1.0, static_cast<double>(target.host.cores) / target.host.threads);
  const double mean = std::accumulate(samples.shares.begin(), samples.shares.end(), 0.0) /
                      static_cast<double>(samples.shares.size());
  return std::max({1 - mean / most, counted, 0.0});
}

}  // namespace

Result<ArithmeticCeiling> MeasureArithmetic(const Target& target, const MacInstruction& by) {
  TUNEC_RETURN_IF_ERROR(CheckRunsHere(target));
  const CeilingKernel ceiling = MakeCeilingKernel(by, target, UsualRounds(by));
  TUNEC_ASSIGN(const KernelImage image, EmitImage(ceiling.nest, target));
  TUNEC_ASSIGN(const Kernel kernel, LoadKernel(image));
  std::vector<CeilingRun> runs;
  for (int thread = 0; thread < target.host.threads; ++thread) {
    TUNEC_ASSIGN(CeilingRun run, CeilingRun::Make(ceiling.nest, kernel));
    runs.push_back(std::move(run));
  }
  const LoadMeter load(target.host.threads);
  const PeakSamples samples = SamplePeak(runs, 2 * ceiling.multiply_adds * target.host.threads);
  return ArithmeticCeiling{*std::ranges::max_element(samples.flops),
                           Disturbance(samples, load.Share(), target)};
}

}  // namespace tunec
