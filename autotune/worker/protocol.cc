#include "autotune/worker/protocol.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "autotune/worker/verify_workload.h"
#include "support/hash.h"

namespace tunec {
namespace {

using Json = nlohmann::json;

// Returns the JSON as text. Replaces invalid UTF-8 in strings, for which nlohmann's library throws
// an exception by default.
std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// An integer property of a device and its name in JSON. The value 0 means unknown.
struct DeviceNumber {
  const char* name;
  int64_t Accelerator::*field;
};
constexpr std::array kDeviceNumbers = {
    DeviceNumber{"shared_bytes", &Accelerator::shared_bytes},
    DeviceNumber{"registers", &Accelerator::registers},
    DeviceNumber{"processor_shared_bytes", &Accelerator::processor_shared_bytes},
    DeviceNumber{"resident_threads", &Accelerator::resident_threads},
    DeviceNumber{"resident_blocks", &Accelerator::resident_blocks},
    DeviceNumber{"multiply_adds", &Accelerator::multiply_adds},
    DeviceNumber{"matrix_f16", &Accelerator::matrix_f16},
    DeviceNumber{"matrix_tf32", &Accelerator::matrix_tf32},
    DeviceNumber{"matrix_i8", &Accelerator::matrix_i8},
    DeviceNumber{"l2_bytes", &Accelerator::l2_bytes},
    DeviceNumber{"bytes_per_second", &Accelerator::bytes_per_second},
    DeviceNumber{"clock_hertz", &Accelerator::clock_hertz},
};

Json ToJson(const Accelerator& device) {
  Json json = {{"name", device.name},
               {"features", device.features},
               {"processors", device.processors},
               {"part", device.part}};
  for (const DeviceNumber& number : kDeviceNumbers) json[number.name] = device.*number.field;
  return json;
}

Json ToJson(const Target& target) {
  const Host& host = target.host;
  Json json = {{"kind", target.Kind()},
               {"cpu", host.cpu},
               {"features", host.features},
               {"vector_bits", host.vector_bits},
               {"vector_registers", host.vector_registers},
               {"l1", host.l1_bytes},
               {"l2", host.l2_bytes},
               {"l3", host.l3_bytes},
               {"cores", host.cores},
               {"threads", host.threads}};
  if (target.device) json["device"] = ToJson(*target.device);
  return json;
}

// Reads an integer from `least` to `most`; fails for other values. The conversions of nlohmann's
// library would wrap and truncate silently.
template <class Integer>
Status Get(const Json& json, const char* name, Integer least, Integer most, Integer& value) {
  const Json& field = json.at(name);
  const bool whole = field.is_number_integer();
  const bool huge = field.is_number_unsigned() && field.get<uint64_t>() > uint64_t{INT64_MAX};
  if (whole && !huge && field.get<int64_t>() >= least && field.get<int64_t>() <= most) {
    value = static_cast<Integer>(field.get<int64_t>());
    return {};
  }
  return Fail(ErrorCode::kInvalidArgument, "{} is {}, expected a whole number from {} to {}", name,
              Dump(field), least, most);
}

constexpr int64_t kMostCacheBytes = int64_t{1} << 44;
constexpr int kMostThreads = 4096;
constexpr int kMostProcessors = 1 << 16;
constexpr int64_t kMostDeviceNumber = int64_t{1} << 53;

Result<Accelerator> AcceleratorFrom(const Json& json, std::string kind) {
  if (kind.empty() || kind == Target().Kind()) {
    return Fail(ErrorCode::kInvalidArgument, "target kind '{}' has a device", kind);
  }
  Accelerator device{.kind = std::move(kind)};
  json.at("name").get_to(device.name);
  json.at("features").get_to(device.features);
  TUNEC_RETURN_IF_ERROR(Get(json, "processors", 1, kMostProcessors, device.processors));
  json.at("part").get_to(device.part);
  for (const DeviceNumber& number : kDeviceNumbers) {
    TUNEC_RETURN_IF_ERROR(
        Get<int64_t>(json, number.name, 0, kMostDeviceNumber, device.*number.field));
  }
  return device;
}

Result<Target> TargetFrom(const Json& json) {
  Target target;
  Host& host = target.host;
  const std::string kind = json.at("kind").get<std::string>();
  if (json.contains("device")) {
    TUNEC_ASSIGN(target.device, AcceleratorFrom(json.at("device"), kind));
  } else if (kind != target.Kind()) {
    return Fail(ErrorCode::kInvalidArgument, "target kind '{}' without a device, expected '{}'",
                kind, target.Kind());
  }
  json.at("cpu").get_to(host.cpu);
  json.at("features").get_to(host.features);
  TUNEC_RETURN_IF_ERROR(Get(json, "vector_bits", 64, 4096, host.vector_bits));
  TUNEC_RETURN_IF_ERROR(Get(json, "vector_registers", 1, 256, host.vector_registers));
  TUNEC_RETURN_IF_ERROR(Get<int64_t>(json, "l1", 0, kMostCacheBytes, host.l1_bytes));
  TUNEC_RETURN_IF_ERROR(Get<int64_t>(json, "l2", 0, kMostCacheBytes, host.l2_bytes));
  TUNEC_RETURN_IF_ERROR(Get<int64_t>(json, "l3", 0, kMostCacheBytes, host.l3_bytes));
  TUNEC_RETURN_IF_ERROR(Get(json, "cores", 1, kMostThreads, host.cores));
  TUNEC_RETURN_IF_ERROR(Get(json, "threads", 1, kMostThreads, host.threads));
  return target;
}

Json ToJson(const std::vector<CandidateRequest>& candidates) {
  Json list = Json::array();
  for (const CandidateRequest& candidate : candidates) {
    list.push_back({{"schedule", candidate.schedule}});
  }
  return list;
}

std::vector<CandidateRequest> CandidatesFrom(const Json& json) {
  std::vector<CandidateRequest> candidates;
  for (const Json& item : json.at("candidates").get_ref<const Json::array_t&>()) {
    candidates.push_back({item.at("schedule").get<std::string>()});
  }
  return candidates;
}

Json ToJson(const HelloRequest&) { return {{"request", "hello"}, {"version", kProtocolVersion}}; }

Json ToJson(const PrepareRequest& request) {
  Json lowerings = Json::array();
  for (const NamedCompute& lowering : request.workload.lowerings) {
    lowerings.push_back({{"name", lowering.name}, {"compute", Print(lowering.compute)}});
  }
  Json json = {{"request", "prepare"},
               {"version", kProtocolVersion},
               {"lowerings", lowerings},
               {"target", ToJson(request.workload.target)},
               {"accuracy", Print(request.workload.accuracy)},
               {"seed", request.workload.seed}};
  if (!request.workload.device.empty()) json["device"] = request.workload.device;
  if (!request.workload.callers.empty()) json["callers"] = request.workload.callers;
  if (request.timing_lock) json["timing_lock"] = true;
  if (!request.ahead.empty()) json["candidates"] = ToJson(request.ahead);
  return json;
}

Json ToJson(const MeasureRequest& request) {
  Json json{{"request", "measure"}, {"candidates", ToJson(request.candidates)}};
  if (request.incumbent) {
    json["incumbent"] = {{"schedule", request.incumbent->schedule},
                         {"seconds", request.incumbent->seconds}};
  }
  return json;
}

Json ToJson(const CompareRequest& request) {
  return {{"request", "compare"},
          {"candidates", ToJson(request.candidates)},
          {"seconds", request.seconds}};
}

Status CheckVersion(const Json& json) {
  if (json.at("version") == kProtocolVersion) return {};
  return Fail(ErrorCode::kUnsupported, "the tuner speaks protocol {}, this worker {}",
              Dump(json.at("version")), kProtocolVersion);
}

Result<HelloRequest> HelloFrom(const Json& json) {
  TUNEC_RETURN_IF_ERROR(CheckVersion(json));
  return HelloRequest{};
}

Result<PrepareRequest> PrepareFrom(const Json& json) {
  TUNEC_RETURN_IF_ERROR(CheckVersion(json));
  PrepareRequest request;
  for (const Json& item : json.at("lowerings").get_ref<const Json::array_t&>()) {
    NamedCompute lowering{.name = item.at("name").get<std::string>()};
    TUNEC_ASSIGN(lowering.compute,
                 ParseCompute(item.at("compute").get<std::string>(), lowering.name));
    request.workload.lowerings.push_back(std::move(lowering));
  }
  TUNEC_ASSIGN(request.workload.target, TargetFrom(json.at("target")));
  TUNEC_ASSIGN(request.workload.accuracy, ParseAccuracy(json.at("accuracy").get<std::string>()));
  json.at("seed").get_to(request.workload.seed);
  if (json.contains("device")) json.at("device").get_to(request.workload.device);
  if (json.contains("callers")) json.at("callers").get_to(request.workload.callers);
  if (json.contains("timing_lock")) json.at("timing_lock").get_to(request.timing_lock);
  if (json.contains("candidates")) request.ahead = CandidatesFrom(json);
  TUNEC_RETURN_IF_ERROR(Verify(request.workload));
  return request;
}

Result<MeasureRequest> MeasureFrom(const Json& json) {
  MeasureRequest request{.candidates = CandidatesFrom(json)};
  if (!json.contains("incumbent")) return request;
  const Json& given = json.at("incumbent");
  Incumbent incumbent{given.at("schedule").get<std::string>(), given.at("seconds").get<double>()};
  if (!(incumbent.seconds > 0)) {
    return Fail(ErrorCode::kInvalidArgument, "the incumbent's seconds are {}, expected more than 0",
                incumbent.seconds);
  }
  request.incumbent = std::move(incumbent);
  return request;
}

Result<CompareRequest> CompareFrom(const Json& json) {
  CompareRequest request{.candidates = CandidatesFrom(json),
                         .seconds = json.at("seconds").get<double>()};
  if (request.seconds >= 0) return request;
  return Fail(ErrorCode::kInvalidArgument, "a comparison has {} seconds, expected at least 0",
              request.seconds);
}

Result<Request> RequestFrom(const Json& json) {
  const std::string kind = json.at("request").get<std::string>();
  if (kind == "hello") return HelloFrom(json);
  if (kind == "prepare") return PrepareFrom(json);
  if (kind == "measure") return MeasureFrom(json);
  if (kind == "compare") return CompareFrom(json);
  return Fail(ErrorCode::kParse, "unknown request '{}'", kind);
}

std::string HashOf(const Artifact& artifact) {
  return StableHash(
      fmt::format("{} {}{}", artifact.metadata.size(), artifact.metadata, artifact.object));
}

Json ToJson(const StartedEvent& event) {
  return {{"event", "started"},
          {"candidate", event.candidate},
          {"stage", event.stage == Stage::kCompile ? "compile" : "measure"}};
}

Json ToJson(const CompiledEvent& event) {
  return {{"event", "compiled"}, {"candidate", event.candidate}};
}

Json ToJson(const WaitingEvent&) { return {{"event", "waiting"}}; }

Json ToJson(const NoteEvent& event) { return {{"event", "note"}, {"line", event.line}}; }

Json ToJson(const FinishedEvent& event) {
  const Measurement& m = event.measurement;
  Json json{{"event", "finished"},
            {"candidate", event.candidate},
            {"status", static_cast<int>(m.status)},
            {"samples", m.samples},
            {"message", m.message},
            {"note", m.note},
            {"compile_ms", m.compile_ms},
            {"check_ms", m.check_ms},
            {"measure_ms", m.measure_ms}};
  if (m.accuracy_error) json["error"] = *m.accuracy_error;
  if (m.ratio) json["ratio"] = *m.ratio;
  if (m.low_ratio) json["low_ratio"] = *m.low_ratio;
  if (m.artifact)
    json["code"] = {{"metadata", m.artifact->metadata}, {"hash", HashOf(*m.artifact)}};
  return json;
}

// Returns the object code that follows the zero byte of the frame; empty if the event has no code.
std::string_view CodeOf(const Event& event) {
  const auto* finished = std::get_if<FinishedEvent>(&event);
  if (finished == nullptr || !finished->measurement.artifact) return {};
  return finished->measurement.artifact->object;
}

Json ToJson(const FailedEvent& event) {
  return {{"event", "failed"},
          {"code", static_cast<int>(event.error.code)},
          {"message", event.error.message}};
}

Json ToJson(const DoneEvent&) { return {{"event", "done"}}; }

Result<size_t> CandidateFrom(const Json& json) {
  int64_t candidate = 0;
  TUNEC_RETURN_IF_ERROR(Get<int64_t>(json, "candidate", 0, INT32_MAX, candidate));
  return static_cast<size_t>(candidate);
}

Result<FinishedEvent> FinishedFrom(const Json& json, std::string_view code) {
  FinishedEvent event;
  TUNEC_ASSIGN(event.candidate, CandidateFrom(json));
  Measurement& m = event.measurement;
  int status = 0;
  TUNEC_RETURN_IF_ERROR(Get(json, "status", 1, static_cast<int>(TrialStatus::kIllegal), status));
  m.status = static_cast<TrialStatus>(status);
  json.at("samples").get_to(m.samples);
  json.at("message").get_to(m.message);
  json.at("note").get_to(m.note);
  json.at("compile_ms").get_to(m.compile_ms);
  json.at("check_ms").get_to(m.check_ms);
  json.at("measure_ms").get_to(m.measure_ms);
  if (json.contains("error")) m.accuracy_error = json.at("error").get<double>();
  if (json.contains("ratio")) m.ratio = json.at("ratio").get<double>();
  if (json.contains("low_ratio")) m.low_ratio = json.at("low_ratio").get<double>();
  if (!json.contains("code")) return event;
  m.artifact = {.object = std::string(code),
                .metadata = json.at("code").at("metadata").get<std::string>()};
  if (HashOf(*m.artifact) == json.at("code").at("hash").get<std::string>()) return event;
  return Fail(ErrorCode::kParse, "the code of candidate {} does not match its hash",
              event.candidate);
}

Result<FailedEvent> FailedFrom(const Json& json) {
  int code = 0;
  TUNEC_RETURN_IF_ERROR(Get(json, "code", 1, static_cast<int>(ErrorCode::kInternal), code));
  return FailedEvent{
      Error{static_cast<ErrorCode>(code), json.at("message").get<std::string>(), std::nullopt}};
}

Result<Event> EventFrom(const Json& json, std::string_view code) {
  const std::string kind = json.at("event").get<std::string>();
  if (kind == "started") {
    const bool compile = json.at("stage").get<std::string>() == "compile";
    TUNEC_ASSIGN(const size_t candidate, CandidateFrom(json));
    return StartedEvent{candidate, compile ? Stage::kCompile : Stage::kMeasure};
  }
  if (kind == "compiled") {
    TUNEC_ASSIGN(const size_t candidate, CandidateFrom(json));
    return CompiledEvent{candidate};
  }
  if (kind == "waiting") return WaitingEvent{};
  if (kind == "note") return NoteEvent{json.at("line").get<std::string>()};
  if (kind == "finished") return FinishedFrom(json, code);
  if (kind == "failed") return FailedFrom(json);
  if (kind == "done") return DoneEvent{};
  return Fail(ErrorCode::kParse, "unknown event '{}'", kind);
}

// Parses a JSON text and decodes it. Converts the exceptions of nlohmann's library into kParse.
template <class T, class Decode>
Result<T> Decoded(std::string_view text, const char* what, const Decode& decode) {
  try {
    return decode(Json::parse(text));
  } catch (const Json::exception& problem) {
    return Fail(ErrorCode::kParse, "malformed {}: {}", what, problem.what());
  }
}

}  // namespace

std::string Encode(const Request& request) {
  return std::visit([](const auto& r) { return Dump(ToJson(r)); }, request);
}

Result<Request> DecodeRequest(std::string_view text) {
  return Decoded<Request>(text, "request", RequestFrom);
}

std::string Encode(const Event& event) {
  std::string text = std::visit([](const auto& e) { return Dump(ToJson(e)); }, event);
  if (const std::string_view code = CodeOf(event); !code.empty()) {
    text += '\0';
    text += code;
  }
  return text;
}

Result<Event> DecodeEvent(std::string_view text) {
  const size_t end = std::min(text.find('\0'), text.size());
  const std::string_view code = end < text.size() ? text.substr(end + 1) : std::string_view();
  return Decoded<Event>(text.substr(0, end), "event",
                        [&](const Json& json) { return EventFrom(json, code); });
}

std::string EncodeTarget(const Target& target) { return Dump(ToJson(target)); }

Result<Target> DecodeTarget(std::string_view text) {
  return Decoded<Target>(text, "target", TargetFrom);
}

std::string Frame(std::string_view text) {
  std::string frame;
  for (int shift = 0; shift < 32; shift += 8) {
    frame += static_cast<char>((text.size() >> shift) & 0xff);
  }
  return frame += text;
}

Result<std::optional<std::string>> FrameReader::Next(size_t longest) {
  constexpr size_t kHeader = 4;
  const size_t skipped = std::min(skip_, buffer_.size());
  buffer_.erase(0, skipped);
  skip_ -= skipped;
  if (skip_ > 0 || buffer_.size() < kHeader) return std::optional<std::string>();
  size_t length = 0;
  for (size_t i = 0; i < kHeader; ++i) {
    length |= static_cast<size_t>(static_cast<unsigned char>(buffer_[i])) << (8 * i);
  }
  if (length > longest) {
    skip_ = kHeader + length;
    return Fail(ErrorCode::kParse, "a frame of {} bytes, expected at most {}", length, longest);
  }
  if (buffer_.size() < kHeader + length) return std::optional<std::string>();
  std::string text = buffer_.substr(kHeader, length);
  buffer_.erase(0, kHeader + length);
  return std::optional(std::move(text));
}

Status SendAll(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return Fail(ErrorCode::kIo, "cannot send: {}", std::strerror(errno));
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return {};
}

}  // namespace tunec
