// What the tuner and its worker say to each other: frames of JSON text, each preceded by its
// length in four bytes, little-endian. A request is answered by any number of events and kDone.
// The event of a correct candidate carries its object code, which is no text: it follows behind a
// zero byte, which JSON text never holds.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "autotune/measure/measurement.h"
#include "support/error.h"

namespace tunec {

/// Changes with the messages: a tuner and a worker of different builds refuse each other.
inline constexpr int kProtocolVersion = 8;

/// The first request to a worker. Answered at once, so that a program that is no worker, or one of
/// another build, is found out before anything is asked of it.
struct HelloRequest {};
struct PrepareRequest {
  Workload workload;
};
struct MeasureRequest {
  std::vector<CandidateRequest> candidates;
  std::optional<Incumbent> incumbent;
};
struct RetimeRequest {
  std::vector<CandidateRequest> candidates;
  int rounds = 5;
};
using Request = std::variant<HelloRequest, PrepareRequest, MeasureRequest, RetimeRequest>;

enum class Stage { kCompile, kMeasure };

/// A candidate has entered a stage; its time limit starts.
struct StartedEvent {
  size_t candidate = 0;  // position in the request
  Stage stage = Stage::kCompile;
};
/// A candidate is compiled and waits to be measured: no limit runs.
struct CompiledEvent {
  size_t candidate = 0;
};
struct FinishedEvent {
  size_t candidate = 0;
  Measurement measurement;
};
/// The request as a whole failed; kDone follows.
struct FailedEvent {
  Error error;
};
struct DoneEvent {};
using Event = std::variant<StartedEvent, CompiledEvent, FinishedEvent, FailedEvent, DoneEvent>;

std::string Encode(const Request& request);
/// What comes back is verified: its numbers are within limits, its workload holds what
/// verify_workload.h lists. The schedules of candidates are parsed when they are compiled.
/// kUnsupported for another version of the protocol.
Result<Request> DecodeRequest(std::string_view text);
std::string Encode(const Event& event);
/// kParse for what is no event, or brings other code than the worker says it measured.
Result<Event> DecodeEvent(std::string_view text);

/// One line of JSON.
std::string EncodeTarget(const Target& target);
Result<Target> DecodeTarget(std::string_view text);

inline constexpr size_t kLongestFrame = size_t{1} << 28;
/// The frame that carries `text`.
std::string Frame(std::string_view text);

/// Collects bytes and gives back whole frames.
class FrameReader {
 public:
  void Append(std::string_view bytes) { buffer_ += bytes; }
  /// The text of the next frame; none while it is incomplete. kParse for a longer one, once:
  /// the bytes of such a frame are then skipped.
  Result<std::optional<std::string>> Next(size_t longest = kLongestFrame);

 private:
  std::string buffer_;
  size_t skip_ = 0;  // bytes still to come of a frame that is not read
};

/// Sends all bytes to a socket. kIo when the other side is gone.
Status SendAll(int socket, std::string_view bytes);

}  // namespace tunec
