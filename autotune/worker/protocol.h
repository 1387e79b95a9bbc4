// The messages between the tuner and its worker. A frame is the length of a message in four bytes,
// little-endian, then the message, which is JSON text. The worker answers a request with events.
// The last event is a DoneEvent, unless the worker ends. The FinishedEvent of a correct candidate
// of a MeasureRequest also has the candidate's object code. This binary code follows the JSON text
// and a zero byte, which JSON text never contains.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "autotune/measure/measurement.h"
#include "support/error.h"

namespace tunec {

/// The version of the messages, to be increased with each change of them. A worker rejects a
/// HelloRequest or a PrepareRequest with another version.
inline constexpr int kProtocolVersion = 10;

/// The first request to a worker, which answers at once. So a program that is not a worker, or has
/// another kProtocolVersion, is detected before the first real request.
struct HelloRequest {};
struct PrepareRequest {
  Workload workload;
  bool timing_lock = false;  // kernels are timed under the lock of the device (timing_lock.h)
  std::vector<CandidateRequest> ahead;  // see Workbench::Make
};
struct MeasureRequest {
  std::vector<CandidateRequest> candidates;
  std::optional<Incumbent> incumbent;
};
struct CompareRequest {
  std::vector<CandidateRequest> candidates;  // the first one is the reference
  double seconds = 0;
};
using Request = std::variant<HelloRequest, PrepareRequest, MeasureRequest, CompareRequest>;

enum class Stage { kCompile, kMeasure };

/// The event that a candidate enters a stage. The tuner starts the candidate's time limit anew.
struct StartedEvent {
  size_t candidate = 0;  // position in the request
  Stage stage = Stage::kCompile;
};
/// The event that a candidate was compiled successfully. The candidate's time limit ends.
struct CompiledEvent {
  size_t candidate = 0;
};
/// The event that the worker waits for the timing lock. It is sent again and again during the wait.
/// The tuner starts all time limits anew.
struct WaitingEvent {};
/// A line for users.
struct NoteEvent {
  std::string line;
};
struct FinishedEvent {
  size_t candidate = 0;
  Measurement measurement;
};
/// The event that the whole request failed. A DoneEvent follows.
struct FailedEvent {
  Error error;
};
struct DoneEvent {};
using Event = std::variant<StartedEvent, CompiledEvent, WaitingEvent, NoteEvent, FinishedEvent,
                           FailedEvent, DoneEvent>;

std::string Encode(const Request& request);
/// Decodes a request and verifies its workload (verify_workload.h). The schedules of candidates are
/// parsed later, at compilation. Errors: kUnsupported for another version of the protocol, kParse
/// for malformed text, kInvalidArgument for an invalid value, and those of ParseCompute,
/// ParseAccuracy and Verify.
Result<Request> DecodeRequest(std::string_view text);
std::string Encode(const Event& event);
/// Decodes an event. Fails with kParse for a malformed event, and for code whose hash differs from
/// the one in the event. Fails with kInvalidArgument for a number outside its limits.
Result<Event> DecodeEvent(std::string_view text);

/// Returns the target as one line of JSON.
std::string EncodeTarget(const Target& target);
Result<Target> DecodeTarget(std::string_view text);

inline constexpr size_t kLongestFrame = size_t{1} << 28;
/// Returns the frame that contains `text`.
std::string Frame(std::string_view text);

/// A buffer that collects bytes and returns the texts of whole frames.
class FrameReader {
 public:
  void Append(std::string_view bytes) { buffer_ += bytes; }
  /// Returns the text of the next frame; none while the frame is incomplete. Fails with kParse once
  /// for a text of more than `longest` bytes; later calls skip its frame.
  Result<std::optional<std::string>> Next(size_t longest = kLongestFrame);

 private:
  std::string buffer_;
  size_t skip_ = 0;  // bytes still to skip
};

/// Sends all bytes to a socket. Fails with kIo, for example if the other side has closed the
/// socket.
Status SendAll(int socket, std::string_view bytes);

}  // namespace tunec
