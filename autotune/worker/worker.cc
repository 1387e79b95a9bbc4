#include "autotune/worker/worker.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <thread>

#include "autotune/worker/protocol.h"
#include "autotune/worker/verify_workload.h"
#include "device/open_device.h"

namespace tunec {
namespace {

void Limit(int resource, rlim_t value) {
  const rlimit limit{value, value};
  // An error is ignored: the worker also works without the limit.
  (void)setrlimit(static_cast<__rlimit_resource>(resource), &limit);
}

struct CachedBench {
  std::string text;  // text of the PrepareRequest, without `ahead`, that the bench was made for
  std::unique_ptr<Workbench> bench;
};

class Server {
 public:
  Server(int socket, const CandidateHook& hook) : socket_(socket), hook_(hook) {}

  Status Serve() {
    FrameReader reader;
    std::string chunk(size_t{1} << 16, '\0');
    for (;;) {
      const Result<std::optional<std::string>> text = reader.Next();
      if (!text || *text) {
        if (text) {
          Answer(**text);
        } else {
          Send(FailedEvent{text.error()});
        }
        if (device_lost_) return {};
        Send(DoneEvent{});
        if (disconnected_) return {};
        continue;
      }
      const ssize_t got = recv(socket_, chunk.data(), chunk.size(), 0);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return Fail(ErrorCode::kIo, "cannot receive: {}", std::strerror(errno));
      if (got == 0) return {};
      reader.Append(std::string_view(chunk).substr(0, static_cast<size_t>(got)));
    }
  }

 private:
  void Answer(const std::string& text) {
    const Result<Request> request = DecodeRequest(text);
    if (!request) {
      prepared_ = false;  // a failed Prepare must not leave an earlier workload active
      Send(FailedEvent{request.error()});
    } else if (const auto* prepare = std::get_if<PrepareRequest>(&*request)) {
      Prepare(*prepare);
    } else if (!std::holds_alternative<HelloRequest>(*request)) {
      Handle(*request);
    }
  }

  void Send(const Event& event) {
    const std::string frame = Frame(Encode(event));
    const std::lock_guard lock(mutex_);
    if (!SendAll(socket_, frame)) disconnected_ = true;
  }

  // Prepares a workload, or sends a FailedEvent. The tuner returns to earlier workloads, so their
  // benches are cached.
  void Prepare(const PrepareRequest& request) {
    const Workload& workload = request.workload;
    const std::string text = Encode(PrepareRequest{workload, request.timing_lock, {}});
    prepared_ = false;
    if (!benches_.empty() && benches_.front().text != text) benches_.front().bench->DropIncumbent();
    const auto same = [&](const CachedBench& cached) { return cached.text == text; };
    const auto known = std::ranges::find_if(benches_, same);
    if (known != benches_.end()) {
      std::rotate(benches_.begin(), known, known + 1);
      prepared_ = true;
      return;
    }
    if (const Status here = CheckRunsHere(workload.target, {.name = workload.device}); !here) {
      Send(FailedEvent{here.error()});
      return;
    }
    const int threads = workload.target.host.threads;
    if (!pool_ || pool_->threads() != threads) {
      benches_.clear();
      pool_ = std::make_unique<ThreadPool>(threads, Pinning::kCores);
    }
    Result<Workbench> bench = Prepared(request);
    if (!bench) {
      Send(FailedEvent{bench.error()});
      return;
    }
    benches_.insert(benches_.begin(), {text, std::make_unique<Workbench>(std::move(*bench))});
    prepared_ = true;
    DropOldest();
  }

  void DropOldest() {
    constexpr size_t kMostBytes = size_t{2} << 30;
    size_t bytes = 0;
    size_t cached = 0;
    for (; cached < benches_.size(); ++cached) {
      bytes += benches_[cached].bench->Bytes();
      if (cached > 0 && bytes > kMostBytes) break;
    }
    benches_.resize(cached);
  }

  // Returns the lock of the workload's device. The tuner's time limits start anew during a wait.
  TimingLock& LockOf(const Workload& workload) {
    const std::string path =
        TimingLockPath(DeviceIdentity(workload.target, {.name = workload.device}));
    const LockWait wait{.cancelled = [this] { return disconnected_.load(); },
                        .on_wait = [this] { Send(WaitingEvent{}); },
                        .on_note = [this](const std::string& line) { Send(NoteEvent{line}); }};
    return locks_.try_emplace(path, path, wait).first->second;
  }

  Result<Workbench> Prepared(const PrepareRequest& request) {
    TimingLock* const lock = request.timing_lock ? &LockOf(request.workload) : nullptr;
    try {
      return Workbench::Make(request.workload, *pool_, hook_, lock, request.ahead);
    } catch (const std::bad_alloc&) {
      return Fail(ErrorCode::kResourceLimit, "no memory for the workload's reference");
    }
  }

  void Handle(const Request& request) {
    if (!prepared_) {
      Send(FailedEvent{MakeError(ErrorCode::kInvalidArgument, "no workload was prepared")});
      return;
    }
    if (const auto* measure = std::get_if<MeasureRequest>(&request)) Measure(*measure);
    if (const auto* compare = std::get_if<CompareRequest>(&request)) Compare(*compare);
  }

  Workbench& Bench() { return *benches_.front().bench; }

  void Measure(const MeasureRequest& request) {
    std::vector<CompiledCandidate> compiled = CompileAll(request.candidates);
    for (size_t i = 0; i < compiled.size() && !disconnected_ && !device_lost_; ++i) {
      if (compiled[i].failure()) continue;
      Send(StartedEvent{i, Stage::kMeasure});
      const Measurement measured = MeasureOne(std::move(compiled[i]), request.incumbent);
      device_lost_ = measured.status == TrialStatus::kCrashed;
      Send(FinishedEvent{i, measured});
    }
  }

  Measurement MeasureOne(CompiledCandidate candidate, const std::optional<Incumbent>& incumbent) {
    try {
      return Bench().Measure(std::move(candidate), incumbent);
    } catch (const std::bad_alloc&) {
      return {.status = TrialStatus::kOutOfMemory, .message = "no memory while measuring"};
    }
  }

  void Compare(const CompareRequest& request) {
    std::vector<CompiledCandidate> compiled = CompileAll(request.candidates);
    std::vector<bool> sent;
    for (const CompiledCandidate& candidate : compiled) {
      sent.push_back(candidate.failure().has_value());
    }
    const std::vector<Measurement> timed =
        Bench().Compare(std::move(compiled), {.seconds = request.seconds});
    for (size_t i = 0; i < timed.size(); ++i) {
      if (!sent[i]) Send(FinishedEvent{i, timed[i]});
      device_lost_ |= timed[i].status == TrialStatus::kCrashed;
    }
  }

  // Compiles the candidates and sends their events. Stops early if the tuner has disconnected.
  std::vector<CompiledCandidate> CompileAll(const std::vector<CandidateRequest>& candidates) {
    std::vector<CompiledCandidate> compiled(candidates.size());
    std::atomic<size_t> next = 0;
    const auto work = [&] {
      for (size_t i = next++; i < candidates.size() && !disconnected_; i = next++) {
        Send(StartedEvent{i, Stage::kCompile});
        compiled[i] = Bench().Compile(candidates[i]);
        if (compiled[i].failure()) {
          Send(FinishedEvent{i, *compiled[i].failure()});
        } else {
          Send(CompiledEvent{i});
        }
      }
    };
    const size_t threads =
        std::min<size_t>(Bench().workload().target.host.threads, candidates.size());
    std::vector<std::jthread> others;
    for (size_t t = 1; t < threads; ++t) others.emplace_back(work);
    work();
    others.clear();
    return compiled;
  }

  int socket_;
  const CandidateHook& hook_;
  std::mutex mutex_;  // guards writes to the socket
  std::atomic<bool> disconnected_ = false;
  std::unique_ptr<ThreadPool> pool_;
  std::map<std::string, TimingLock> locks_;  // key: path
  // The cached benches, most recently used first. They follow the pool and the locks, which must
  // outlive them.
  std::vector<CachedBench> benches_;
  bool prepared_ = false;     // the last Prepare succeeded
  bool device_lost_ = false;  // a candidate failed on the device, so later ones would fail
};

int64_t NumberAfter(std::span<const std::string_view> words, std::string_view option) {
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] != option) continue;
    int64_t value = 0;
    (void)std::from_chars(words[i + 1].data(), words[i + 1].data() + words[i + 1].size(), value);
    return value;
  }
  return 0;
}

void Confine(int64_t memory_bytes, int64_t parent) {
  if (parent != 0) {
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);  // the parent died before the call
  }
  // Ignores signals that a terminal or `timeout` sends to the whole process group: the tuner
  // handles them.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) (void)std::signal(signal, SIG_IGN);
  // Exits if `new` runs out of memory: LLVM is compiled without exceptions, so bad_alloc cannot
  // pass through LLVM.
  std::set_new_handler([] { _exit(kOutOfMemoryExit); });
  Limit(RLIMIT_CORE, 0);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  // RLIMIT_AS would also count memory that is only reserved. With the address or thread sanitizer
  // there is no limit, since the shadow memory is larger than any sensible limit.
  if (memory_bytes > 0) Limit(RLIMIT_DATA, static_cast<rlim_t>(memory_bytes));
#else
  (void)memory_bytes;
#endif
}

}  // namespace

Status ServeRequests(int socket, const CandidateHook& hook) { return Server(socket, hook).Serve(); }

Status ServeTuner(std::span<const std::string_view> arguments, const CandidateHook& hook) {
  Confine(NumberAfter(arguments, "--memory"), NumberAfter(arguments, "--parent"));
  constexpr int kSocket = 0;
  return ServeRequests(kSocket, hook);
}

}  // namespace tunec
