#include "autotune/protocol.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "db/text.h"

namespace tunec {
namespace {

using Json = nlohmann::json;

// Texts may come from a crash; JSON is UTF-8.
std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json ToJson(const Target& target) {
  return {{"kind", target.kind},
          {"cpu", target.cpu},
          {"features", target.features},
          {"vector_bits", target.vector_bits},
          {"vector_registers", target.vector_registers},
          {"l1", target.l1_bytes},
          {"l2", target.l2_bytes},
          {"l3", target.l3_bytes},
          {"cores", target.cores},
          {"threads", target.threads}};
}

Target TargetFrom(const Json& json) {
  Target target;
  json.at("kind").get_to(target.kind);
  json.at("cpu").get_to(target.cpu);
  json.at("features").get_to(target.features);
  json.at("vector_bits").get_to(target.vector_bits);
  json.at("vector_registers").get_to(target.vector_registers);
  json.at("l1").get_to(target.l1_bytes);
  json.at("l2").get_to(target.l2_bytes);
  json.at("l3").get_to(target.l3_bytes);
  json.at("cores").get_to(target.cores);
  json.at("threads").get_to(target.threads);
  return target;
}

Json ToJson(const std::vector<CandidateRequest>& candidates) {
  Json list = Json::array();
  for (const CandidateRequest& candidate : candidates) {
    list.push_back({{"schedule", candidate.schedule}, {"fault", Name(candidate.fault)}});
  }
  return list;
}

std::vector<CandidateRequest> CandidatesFrom(const Json& json) {
  std::vector<CandidateRequest> candidates;
  for (const Json& item : json) {
    const auto fault = ParseFault(item.at("fault").get<std::string>());
    candidates.push_back({item.at("schedule").get<std::string>(), fault.value_or(Fault::kNone)});
  }
  return candidates;
}

Json ToJson(const PrepareRequest& request) {
  Json lowerings = Json::array();
  for (const NamedCompute& lowering : request.workload.lowerings) {
    lowerings.push_back({{"name", lowering.name}, {"compute", Print(lowering.compute)}});
  }
  return {{"request", "prepare"},
          {"version", kProtocolVersion},
          {"lowerings", lowerings},
          {"target", ToJson(request.workload.target)},
          {"accuracy", Print(request.workload.accuracy)},
          {"seed", request.workload.seed}};
}

Json ToJson(const MeasureRequest& request) {
  Json json{{"request", "measure"}, {"candidates", ToJson(request.candidates)}};
  if (request.best_seconds) json["best"] = *request.best_seconds;
  return json;
}

Json ToJson(const RetimeRequest& request) {
  return {{"request", "retime"},
          {"candidates", ToJson(request.candidates)},
          {"rounds", request.rounds}};
}

Result<PrepareRequest> PrepareFrom(const Json& json) {
  if (json.at("version").get<int>() != kProtocolVersion) {
    return Fail(ErrorCode::kUnsupported, "the tuner speaks protocol {}, this worker {}",
                json.at("version").get<int>(), kProtocolVersion);
  }
  PrepareRequest request;
  for (const Json& item : json.at("lowerings")) {
    NamedCompute lowering{.name = item.at("name").get<std::string>()};
    TUNEC_ASSIGN(lowering.compute,
                 ParseCompute(item.at("compute").get<std::string>(), lowering.name));
    request.workload.lowerings.push_back(std::move(lowering));
  }
  request.workload.target = TargetFrom(json.at("target"));
  TUNEC_ASSIGN(request.workload.accuracy, ParseAccuracy(json.at("accuracy").get<std::string>()));
  json.at("seed").get_to(request.workload.seed);
  return request;
}

Result<Request> RequestFrom(const Json& json) {
  const std::string kind = json.at("request").get<std::string>();
  if (kind == "prepare") return PrepareFrom(json);
  if (kind == "measure") {
    MeasureRequest request{.candidates = CandidatesFrom(json.at("candidates"))};
    if (json.contains("best")) request.best_seconds = json.at("best").get<double>();
    return request;
  }
  if (kind == "retime") {
    return RetimeRequest{.candidates = CandidatesFrom(json.at("candidates")),
                         .rounds = json.at("rounds").get<int>()};
  }
  return Fail(ErrorCode::kParse, "unknown request '{}'", kind);
}

Json ToJson(const StartedEvent& event) {
  return {{"event", "started"},
          {"candidate", event.candidate},
          {"stage", event.stage == Stage::kCompile ? "compile" : "measure"}};
}

Json ToJson(const CompiledEvent& event) {
  return {{"event", "compiled"}, {"candidate", event.candidate}};
}

Json ToJson(const FinishedEvent& event) {
  const Measurement& m = event.measurement;
  Json json{{"event", "finished"},
            {"candidate", event.candidate},
            {"status", static_cast<int>(m.status)},
            {"samples", m.samples},
            {"message", m.message},
            {"compile_ms", m.compile_ms},
            {"check_ms", m.check_ms},
            {"measure_ms", m.measure_ms}};
  if (m.accuracy_error) json["error"] = *m.accuracy_error;
  return json;
}

Json ToJson(const FailedEvent& event) {
  return {{"event", "failed"},
          {"code", static_cast<int>(event.error.code)},
          {"message", event.error.message}};
}

Json ToJson(const DoneEvent&) { return {{"event", "done"}}; }

FinishedEvent FinishedFrom(const Json& json) {
  FinishedEvent event{.candidate = json.at("candidate").get<size_t>()};
  Measurement& m = event.measurement;
  m.status = static_cast<TrialStatus>(json.at("status").get<int>());
  json.at("samples").get_to(m.samples);
  json.at("message").get_to(m.message);
  json.at("compile_ms").get_to(m.compile_ms);
  json.at("check_ms").get_to(m.check_ms);
  json.at("measure_ms").get_to(m.measure_ms);
  if (json.contains("error")) m.accuracy_error = json.at("error").get<double>();
  return event;
}

Result<Event> EventFrom(const Json& json) {
  const std::string kind = json.at("event").get<std::string>();
  if (kind == "started") {
    const bool compile = json.at("stage").get<std::string>() == "compile";
    return StartedEvent{json.at("candidate").get<size_t>(),
                        compile ? Stage::kCompile : Stage::kMeasure};
  }
  if (kind == "compiled") return CompiledEvent{json.at("candidate").get<size_t>()};
  if (kind == "finished") return FinishedFrom(json);
  if (kind == "failed") {
    const auto code = static_cast<ErrorCode>(json.at("code").get<int>());
    return FailedEvent{Error{code, json.at("message").get<std::string>(), std::nullopt}};
  }
  if (kind == "done") return DoneEvent{};
  return Fail(ErrorCode::kParse, "unknown event '{}'", kind);
}

// nlohmann's exceptions end here.
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
  return std::visit([](const auto& e) { return Dump(ToJson(e)); }, event);
}

Result<Event> DecodeEvent(std::string_view text) {
  return Decoded<Event>(text, "event", EventFrom);
}

std::string EncodeTarget(const Target& target) { return Dump(ToJson(target)); }

Result<Target> DecodeTarget(std::string_view text) {
  return Decoded<Target>(text, "target",
                         [](const Json& json) -> Result<Target> { return TargetFrom(json); });
}

std::string Frame(std::string_view text) {
  std::string frame;
  for (int shift = 0; shift < 32; shift += 8) {
    frame += static_cast<char>((text.size() >> shift) & 0xff);
  }
  return frame += text;
}

Result<std::optional<std::string>> FrameReader::Next() {
  constexpr size_t kHeader = 4;
  constexpr size_t kLongest = size_t{1} << 30;
  if (buffer_.size() < kHeader) return std::optional<std::string>();
  size_t length = 0;
  for (size_t i = 0; i < kHeader; ++i) {
    length |= static_cast<size_t>(static_cast<unsigned char>(buffer_[i])) << (8 * i);
  }
  if (length > kLongest) return Fail(ErrorCode::kParse, "a frame of {} bytes", length);
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
