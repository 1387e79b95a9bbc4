// A fuzz target for frames between tuner and worker. A frame is decoded as an event and as a
// request. Small workloads are prepared, and at most two candidates are measured.
#include "autotune/measure/measure.h"
#include "autotune/worker/protocol.h"
#include "autotune/worker/verify_workload.h"
#include "device/open_device.h"
#include "tests/fuzz_input/finding.h"

namespace tunec::fuzz {
namespace {

constexpr int64_t kMostInstances = 1 << 14;
constexpr size_t kMostCandidates = 2;
constexpr int kThreads = 2;

bool IsQuick(const Workload& workload) {
  for (const NamedCompute& lowering : workload.lowerings) {
    for (const Tensor& tensor : lowering.compute.tensors) {
      if (StorageElements(tensor) > kMostInstances) return false;
    }
    for (const Statement& statement : lowering.compute.statements) {
      int64_t instances = 1;
      for (const Iterator& it : statement.iterators) instances *= it.extent;
      if (instances > kMostInstances) return false;
    }
  }
  return true;
}

/// An executor of requests, with a worker's state between requests.
class Serving {
 public:
  void Take(const Request& request) {
    if (const auto* prepare = std::get_if<PrepareRequest>(&request)) Prepare(prepare->workload);
    if (const auto* measure = std::get_if<MeasureRequest>(&request)) Measure(*measure);
  }

 private:
  void Prepare(Workload workload) {
    bench_.reset();
    if (!IsQuick(workload) || !CheckRunsHere(workload.target)) return;
    workload.target.host.threads = kThreads;
    static ThreadPool pool(kThreads);
    Result<Workbench> bench = Workbench::Make(std::move(workload), pool);
    if (!bench) return RequireTheirFault(bench.error(), "preparing");
    bench_ = std::make_unique<Workbench>(std::move(*bench));
  }

  void Measure(const MeasureRequest& request) {
    if (!bench_) return;
    for (const CandidateRequest& candidate : request.candidates) {
      if (++measured_ > kMostCandidates) return;
      const TimingPolicy once{.least_samples = 1, .most_samples = 1};
      (void)bench_->Measure(bench_->Compile(candidate), request.incumbent, once);
    }
  }

  std::unique_ptr<Workbench> bench_;
  size_t measured_ = 0;
};

void CheckEvent(const std::string& text) {
  const Result<Event> event = DecodeEvent(text);
  if (event) RequireOk(DecodeEvent(Encode(*event)), "an event reads back");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  FrameReader reader;
  reader.Append(std::string_view(reinterpret_cast<const char*>(data), size));
  Serving serving;
  while (true) {
    const Result<std::optional<std::string>> text = reader.Next();
    if (text && !*text) return 0;
    if (!text) continue;
    CheckEvent(**text);
    const Result<Request> request = DecodeRequest(**text);
    if (!request) {
      RequireTheirFault(request.error(), "decoding");
      continue;
    }
    RequireOk(DecodeRequest(Encode(*request)), "a request reads back");
    serving.Take(*request);
  }
}

}  // namespace tunec::fuzz
