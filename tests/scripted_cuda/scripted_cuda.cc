// A replacement of libcuda.so.1 that follows a test's script. Its devices use the host's memory,
// and a launch that succeeds calls the script's function `run`. Calls check requirements of the
// driver, such as a current context and a stream. A call that would wait for a launch that never
// ends stops the program with a message.
// NOLINTBEGIN(*-static-initialization,*-int-to-ptr,*-identifier-naming,*EnumCastOutOfRange)
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/scripted_cuda/script.h"

#define TUNEC_EXPORT extern "C" __attribute__((visibility("default")))

namespace tunec::scripted_cuda {
namespace {

constexpr auto kInvalidValue = static_cast<CuResult>(1);
constexpr auto kInvalidContext = static_cast<CuResult>(201);
constexpr int64_t kUsualSharedBytes = 48 << 10;
constexpr int kMostSharedBytes = 227 << 10;

template <class T>
void ReadNumber(std::istringstream& words, T& value) {
  int number = 0;
  words >> number;
  value = static_cast<T>(number);
}

void Obey(const std::string& what, std::istringstream& words, Script& begin) {
  if (what == "init") ReadNumber(words, begin.init);
  if (what == "version") ReadNumber(words, begin.version);
  if (what == "gpu") words >> begin.capabilities[0].first >> begin.capabilities[0].second;
  if (what == "gpus") {
    size_t count = 0;
    ReadNumber(words, count);
    begin.capabilities.resize(count, {9, 0});
  }
  if (what == "missing") words >> begin.missing;
  if (what == "memory") words >> begin.memory_bytes;
  if (what == "load") ReadNumber(words, begin.load);
  if (what == "graph") ReadNumber(words, begin.graph);
  if (what == "fault") {
    ReadNumber(words, begin.fault);
    begin.faulting_launch = 1;
  }
  if (what == "hang") begin.hanging_launch = 1;
}

// Reads the script from the environment, for tests of other programs. TUNEC_CUDA_SCRIPT has any of
// the following, separated by spaces: "init N", "version N", "gpu MAJOR MINOR", "gpus N",
// "missing FUNCTION", "memory BYTES", "load N", "graph N", "fault N" (the first launch's error),
// "hang" (the first launch never ends). Modules have all functions, and kernels do nothing.
Script FromEnvironment() {
  Script begin{.any_function = true, .parameters = 0};
  const char* const text = std::getenv("TUNEC_CUDA_SCRIPT");
  std::istringstream words(text == nullptr ? "" : text);
  for (std::string what; words >> what;) Obey(what, words, begin);
  return begin;
}

Script script = FromEnvironment();

struct Function {
  std::string symbol;
  int shared_bytes = kUsualSharedBytes;
};
std::map<std::string, Function> functions;
std::map<CuDevicePtr, size_t> allocations;
thread_local std::vector<CuContext> current;
int here = 0;  // SomeHandle returns its address

template <class Handle>
Handle SomeHandle() {
  return reinterpret_cast<Handle>(&here);
}

// The streams, graphs or events, by handle. A destroyed object is removed.
template <class T>
std::map<void*, std::unique_ptr<T>> live_handles;

template <class Handle, class T>
Handle AddHandle(std::unique_ptr<T> value) {
  void* const address = value.get();
  live_handles<T>.emplace(address, std::move(value));
  return reinterpret_cast<Handle>(address);
}

template <class... Args>
void Log(fmt::format_string<Args...> format, Args&&... args) {
  script.log.push_back(fmt::format(format, std::forward<Args>(args)...));
}

// Returns the fault if a query met it, kInvalidContext if no context is current, else kSuccess.
CuResult State() {
  if (script.faulted) return script.fault;
  return current.empty() ? kInvalidContext : CuResult::kSuccess;
}

bool Hangs() { return script.hanging_launch > 0 && script.launches >= script.hanging_launch; }

// An operation that waits in its stream.
struct Held {
  CuStream stream = nullptr;
  std::function<void()> work;
  int awaits = 0;   // the event record that this operation waits for, or 0
  int records = 0;  // the event record that this operation completes, or 0
};
std::vector<Held> held;
std::set<int> unreached;  // event records that are not complete

void Put(CuStream stream, std::function<void()> work) {
  if (script.holds) {
    held.push_back({.stream = stream, .work = std::move(work)});
  } else {
    work();
  }
}

bool IsFirstOfItsStream(size_t i) {
  return std::none_of(held.begin(), held.begin() + static_cast<std::ptrdiff_t>(i),
                      [&](const Held& other) { return other.stream == held[i].stream; });
}

// Returns the index in `held` of the operation that runs next, or held.size() if none may run. This
// operation is the latest that is first in its stream and awaits no incomplete event record.
size_t NextHeld() {
  for (size_t i = held.size(); i-- > 0;)
    if (IsFirstOfItsStream(i) && !unreached.contains(held[i].awaits)) return i;
  return held.size();
}

void DoWhatWasHeld() {
  while (!held.empty()) {
    const size_t next = NextHeld();
    if (next == held.size()) {
      fmt::print(stderr, "streams wait for each other\n");
      std::abort();
    }
    const Held now = std::move(held[next]);
    held.erase(held.begin() + static_cast<std::ptrdiff_t>(next));
    if (now.work) now.work();
    unreached.erase(now.records);
  }
}

// Stops the program if a launch hangs, because a call of `function` would wait for the launch.
void StopIfItHangs(const char* function) {
  if (!Hangs()) return;
  fmt::print(stderr, "{} waits for a launch that never ends\n", function);
  std::abort();
}

// Stops the program if unfinished operations may use what a call of `function` releases.
void StopIfInFlight(const char* function) {
  StopIfItHangs(function);
  if (held.empty()) return;
  fmt::print(stderr, "{} comes before what was started is done\n", function);
  std::abort();
}

// Returns the result of a query. `waits` is true if a queried operation still waits in a stream.
// Completes all waiting operations if the script lets the streams run.
CuResult IsDone(bool waits) {
  if (Hangs()) return CuResult::kNotReady;
  if (script.unfinished_queries > 0) {
    if (--script.unfinished_queries == 0) script.holds = false;
    return CuResult::kNotReady;
  }
  if (waits && script.holds) return CuResult::kNotReady;
  if (!script.holds) DoWhatWasHeld();
  script.faulted = script.faulting_launch > 0 && script.launches >= script.faulting_launch;
  return State();
}

#define RETURN_UNLESS_SOUND() \
  if (const CuResult state = State(); state != CuResult::kSuccess) return state

bool IsDevice(CuDevice device) {
  return device >= 0 && device < static_cast<int>(script.capabilities.size());
}

CuResult GetErrorName(CuResult error, const char** name) {
  static const std::map<int, const char*> names = {
      {1, "CUDA_ERROR_INVALID_VALUE"},        {2, "CUDA_ERROR_OUT_OF_MEMORY"},
      {101, "CUDA_ERROR_INVALID_DEVICE"},     {200, "CUDA_ERROR_INVALID_IMAGE"},
      {201, "CUDA_ERROR_INVALID_CONTEXT"},    {209, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
      {500, "CUDA_ERROR_NOT_FOUND"},          {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"},
      {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},    {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"},
      {716, "CUDA_ERROR_MISALIGNED_ADDRESS"}, {719, "CUDA_ERROR_LAUNCH_FAILED"}};
  const auto found = names.find(static_cast<int>(error));
  if (found == names.end()) return kInvalidValue;
  *name = found->second;
  return CuResult::kSuccess;
}

CuResult GetErrorString(CuResult, const char** text) {
  *text = "as scripted";
  return CuResult::kSuccess;
}

CuResult DeviceGetCount(int* count) {
  *count = static_cast<int>(script.capabilities.size());
  return CuResult::kSuccess;
}

CuResult DeviceGet(CuDevice* device, int number) {
  if (!IsDevice(number)) return static_cast<CuResult>(101);
  *device = number;
  return CuResult::kSuccess;
}

CuResult DeviceGetName(char* name, int size, CuDevice) {
  std::strncpy(name, "NVIDIA S1", static_cast<size_t>(size));
  return CuResult::kSuccess;
}

CuResult DeviceGetUuid(CuUuid* uuid, CuDevice device) {
  for (size_t i = 0; i < uuid->size(); ++i) uuid->at(i) = static_cast<unsigned char>(i + device);
  return CuResult::kSuccess;
}

CuResult DeviceGetAttribute(int* value, CuDeviceAttribute attribute, CuDevice device) {
  using enum CuDeviceAttribute;
  const auto [major, minor] = script.capabilities.at(static_cast<size_t>(device));
  const std::map<CuDeviceAttribute, int> values = {{kProcessors, 132},
                                                   {kL2Bytes, 50 << 20},
                                                   {kCapabilityMajor, major},
                                                   {kCapabilityMinor, minor},
                                                   {kProcessorSharedBytes, 228 << 10},
                                                   {kBlockSharedBytes, kMostSharedBytes}};
  *value = values.at(attribute);
  return CuResult::kSuccess;
}

CuResult DeviceTotalMem(size_t* bytes, CuDevice) {
  *bytes = script.memory_bytes;
  return CuResult::kSuccess;
}

CuResult DevicePrimaryCtxRetain(CuContext* context, CuDevice) {
  ++script.contexts;
  *context = SomeHandle<CuContext>();
  return CuResult::kSuccess;
}

CuResult DevicePrimaryCtxRelease(CuDevice) {
  StopIfItHangs("cuDevicePrimaryCtxRelease");
  --script.contexts;
  return CuResult::kSuccess;
}

CuResult CtxPushCurrent(CuContext context) {
  current.push_back(context);
  return CuResult::kSuccess;
}

CuResult CtxPopCurrent(CuContext* context) {
  if (current.empty()) return kInvalidContext;
  *context = current.back();
  current.pop_back();
  return CuResult::kSuccess;
}

CuResult MemGetInfo(size_t* free, size_t* total) {
  RETURN_UNLESS_SOUND();
  *free = script.memory_bytes - script.allocated_bytes;
  *total = script.memory_bytes;
  return CuResult::kSuccess;
}

CuResult MemAlloc(CuDevicePtr* address, size_t bytes) {
  RETURN_UNLESS_SOUND();
  if (bytes == 0) return kInvalidValue;
  if (bytes > script.memory_bytes - script.allocated_bytes) return CuResult::kOutOfMemory;
  constexpr size_t kAlignment = 256;
  void* const memory =
      std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  *address = reinterpret_cast<CuDevicePtr>(memory);
  allocations[*address] = bytes;
  script.allocated_bytes += bytes;
  ++script.allocations;
  return CuResult::kSuccess;
}

CuResult MemFree(CuDevicePtr address) {
  StopIfInFlight("cuMemFree");
  const auto found = allocations.find(address);
  if (found == allocations.end()) return kInvalidValue;
  std::free(reinterpret_cast<void*>(address));
  script.allocated_bytes -= found->second;
  --script.allocations;
  allocations.erase(found);
  return State();
}

CuResult MemcpyHtoDAsync(CuDevicePtr to, const void* from, size_t bytes, CuStream stream) {
  RETURN_UNLESS_SOUND();
  if (stream == nullptr) return kInvalidValue;
  StopIfItHangs("cuMemcpyHtoDAsync");
  const auto* begin = static_cast<const std::byte*>(from);
  // Pageable memory is read immediately.
  Put(stream, [to, read = std::vector<std::byte>(begin, begin + bytes)] {
    std::memcpy(reinterpret_cast<void*>(to), read.data(), read.size());
  });
  Log("copy {} in", bytes);
  return CuResult::kSuccess;
}

CuResult MemcpyDtoHAsync(void* to, CuDevicePtr from, size_t bytes, CuStream stream) {
  RETURN_UNLESS_SOUND();
  if (stream == nullptr) return kInvalidValue;
  StopIfItHangs("cuMemcpyDtoHAsync");
  std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  Log("copy {} out", bytes);
  return CuResult::kSuccess;
}

CuResult MemcpyDtoDAsync(CuDevicePtr to, CuDevicePtr from, size_t bytes, CuStream stream) {
  RETURN_UNLESS_SOUND();
  if (stream == nullptr) return kInvalidValue;
  Put(stream, [=] {
    std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
  });
  Log("copy {} within", bytes);
  return CuResult::kSuccess;
}

// Returns the address of a copy's first byte at this end, in the host's or the device's memory.
const std::byte* AddressOf(const CuCopyEnd& end) {
  const bool on_host = end.type == CuMemoryType::kHost;
  const auto* begin = static_cast<const std::byte*>(
      on_host ? end.on_host : reinterpret_cast<const void*>(end.on_device));
  return begin + end.begin_rows * end.pitch + end.begin_bytes;
}

CuResult Memcpy2DAsync(const CuCopyRows* copy, CuStream stream) {
  RETURN_UNLESS_SOUND();
  if (stream == nullptr || copy->from.pitch < copy->row_bytes || copy->to.pitch < copy->row_bytes)
    return kInvalidValue;
  const auto copy_rows = [rows = *copy] {
    for (size_t r = 0; r < rows.rows; ++r)
      std::memcpy(const_cast<std::byte*>(AddressOf(rows.to)) + r * rows.to.pitch,
                  AddressOf(rows.from) + r * rows.from.pitch, rows.row_bytes);
  };
  const bool in = copy->from.type == CuMemoryType::kHost;
  const bool out = copy->to.type == CuMemoryType::kHost;
  if (in || out) {
    StopIfItHangs("cuMemcpy2DAsync");
    copy_rows();
  } else {
    Put(stream, copy_rows);
  }
  Log("copy {} rows of {} {}", copy->rows, copy->row_bytes, in ? "in" : out ? "out" : "within");
  return CuResult::kSuccess;
}

CuResult MemsetD8Async(CuDevicePtr to, unsigned char value, size_t bytes, CuStream stream) {
  RETURN_UNLESS_SOUND();
  if (stream == nullptr) return kInvalidValue;
  Put(stream, [=] { std::memset(reinterpret_cast<void*>(to), value, bytes); });
  Log("set {} to {:#x}", bytes, value);
  return CuResult::kSuccess;
}

CuResult ModuleLoadDataEx(CuModule* module, const void*, unsigned options, int*, void**) {
  RETURN_UNLESS_SOUND();
  if (options != 0) return kInvalidValue;
  if (script.load != CuResult::kSuccess) return script.load;
  if (!script.any_function) functions.clear();
  for (const std::string& name : script.functions) functions[name] = {name};
  ++script.modules;
  *module = SomeHandle<CuModule>();
  Log("load");
  return CuResult::kSuccess;
}

CuResult ModuleUnload(CuModule) {
  StopIfInFlight("cuModuleUnload");
  --script.modules;
  return State();
}

CuResult ModuleGetFunction(CuFunction* function, CuModule, const char* symbol) {
  RETURN_UNLESS_SOUND();
  if (script.any_function) functions.try_emplace(symbol, Function{symbol});
  const auto found = functions.find(symbol);
  if (found == functions.end()) return CuResult::kNotFound;
  *function = reinterpret_cast<CuFunction>(&found->second);
  return CuResult::kSuccess;
}

CuResult FuncSetAttribute(CuFunction function, CuFunctionAttribute attribute, int value) {
  RETURN_UNLESS_SOUND();
  if (attribute != CuFunctionAttribute::kMostDynamicSharedBytes || value > kMostSharedBytes) {
    return kInvalidValue;
  }
  reinterpret_cast<Function*>(function)->shared_bytes = value;
  return CuResult::kSuccess;
}

bool IsLaunch(const CuKernelNodeParams& with) {
  const auto& function = *reinterpret_cast<Function*>(with.function);
  return with.grid_x * with.grid_y * with.grid_z > 0 &&
         with.block_x * with.block_y * with.block_z <= 1024 &&
         with.shared_bytes <= static_cast<unsigned>(function.shared_bytes);
}

CuResult LaunchKernel(CuFunction handle, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                      unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                      CuStream stream, void** parameters, void**) {
  RETURN_UNLESS_SOUND();
  const auto& function = *reinterpret_cast<Function*>(handle);
  if (stream == nullptr || !IsLaunch({handle, grid_x, grid_y, grid_z, block_x, block_y, block_z,
                                      shared_bytes, parameters})) {
    return kInvalidValue;
  }
  if (++script.launches == script.rejected_launch) return script.rejection;
  Log("launch {} grid {}x{}x{} block {}x{}x{} shared {}", function.symbol, grid_x, grid_y, grid_z,
      block_x, block_y, block_z, shared_bytes);
  const Launch launch{function.symbol, grid_x, parameters};
  script.busy_ms += script.milliseconds(launch);
  if (script.launches != script.faulting_launch && !Hangs()) script.run(launch);
  return CuResult::kSuccess;
}

CuResult StreamCreate(CuStream* stream, unsigned) {
  RETURN_UNLESS_SOUND();
  ++script.streams_events;
  *stream = AddHandle<CuStream>(std::make_unique<int>(0));
  return CuResult::kSuccess;
}

CuResult StreamDestroy(CuStream stream) {
  --script.streams_events;
  live_handles<int>.erase(stream);
  return State();
}

CuResult StreamQuery(CuStream stream) {
  RETURN_UNLESS_SOUND();
  ++script.stream_queries;
  return IsDone(
      std::ranges::any_of(held, [&](const Held& operation) { return operation.stream == stream; }));
}

// A node of a graph, with its launch and copies of the values of all parameters. The script gives
// the number of parameters. A real driver gets this number from the function.
struct Node {
  CuKernelNodeParams with;
  std::vector<uint64_t> values;
  std::vector<void*> pointers;

  void Set(const CuKernelNodeParams& given) {
    with = given;
    values.clear();
    const auto& symbol = reinterpret_cast<Function*>(given.function)->symbol;
    const size_t count = script.parameters_of ? script.parameters_of(symbol) : script.parameters;
    for (size_t i = 0; i < count; ++i)
      values.push_back(*static_cast<const uint64_t*>(given.parameters[i]));
    pointers.clear();
    for (uint64_t& value : values) pointers.push_back(&value);
    with.parameters = pointers.data();
  }
};
// A CUDA graph. `prepared` has the instantiated graph's copies of `nodes`, by the nodes' handles.
struct Graph {
  std::vector<std::unique_ptr<Node>> nodes;
  std::map<CuGraphNode, Node> prepared;
};

CuResult GraphCreate(CuGraph* graph, unsigned flags) {
  RETURN_UNLESS_SOUND();
  if (flags != 0) return kInvalidValue;
  ++script.graphs;
  *graph = AddHandle<CuGraph>(std::make_unique<Graph>());
  return CuResult::kSuccess;
}

CuResult GraphDestroy(CuGraph graph) {
  --script.graphs;
  live_handles<Graph>.erase(graph);
  return State();
}

// Adds a node. Only chains are supported: each node waits for the previous node.
CuResult GraphAddKernelNode(CuGraphNode* node, CuGraph handle, const CuGraphNode* dependencies,
                            size_t count, const CuKernelNodeParams* parameters) {
  RETURN_UNLESS_SOUND();
  auto& graph = *reinterpret_cast<Graph*>(handle);
  const bool chained = graph.nodes.empty() ? count == 0
                                           : count == 1 && reinterpret_cast<Node*>(*dependencies) ==
                                                               graph.nodes.back().get();
  if (!chained || !IsLaunch(*parameters)) return kInvalidValue;
  auto& added = graph.nodes.emplace_back(std::make_unique<Node>());
  added->Set(*parameters);
  *node = reinterpret_cast<CuGraphNode>(added.get());
  return CuResult::kSuccess;
}

CuResult GraphInstantiateWithFlags(CuGraphExec* exec, CuGraph handle, unsigned long long flags) {
  RETURN_UNLESS_SOUND();
  if (flags != 0) return kInvalidValue;
  if (script.graph != CuResult::kSuccess) return script.graph;
  auto& graph = *reinterpret_cast<Graph*>(handle);
  for (const auto& node : graph.nodes)
    graph.prepared[reinterpret_cast<CuGraphNode>(node.get())].Set(node->with);
  ++script.graphs;
  *exec = reinterpret_cast<CuGraphExec>(&graph);
  Log("prepare a graph of {}", graph.nodes.size());
  return CuResult::kSuccess;
}

CuResult GraphExecKernelNodeSetParams(CuGraphExec exec, CuGraphNode node,
                                      const CuKernelNodeParams* parameters) {
  RETURN_UNLESS_SOUND();
  auto& graph = *reinterpret_cast<Graph*>(exec);
  const auto found = graph.prepared.find(node);
  if (found == graph.prepared.end() || found->second.with.function != parameters->function) {
    return kInvalidValue;
  }
  found->second.Set(*parameters);
  Log("update {}", reinterpret_cast<Function*>(parameters->function)->symbol);
  return CuResult::kSuccess;
}

// Launches the node in the stream with the current values of the node's parameters.
void StartNode(const Node& node, CuStream stream) {
  auto copy = std::make_shared<Node>();
  copy->Set(node.with);
  const auto symbol = reinterpret_cast<Function*>(node.with.function)->symbol;
  script.busy_ms += script.milliseconds({symbol, node.with.grid_x, copy->with.parameters});
  Put(stream, [copy, symbol] { script.run({symbol, copy->with.grid_x, copy->with.parameters}); });
}

CuResult GraphLaunch(CuGraphExec exec, CuStream stream) {
  RETURN_UNLESS_SOUND();
  if (stream == nullptr) return kInvalidValue;
  auto& graph = *reinterpret_cast<Graph*>(exec);
  script.streams.push_back(stream);
  Log("launch a graph");
  for (const auto& node : graph.nodes) {
    if (++script.launches == script.rejected_launch) return script.rejection;
    if (script.launches == script.faulting_launch || Hangs()) return CuResult::kSuccess;
    StartNode(graph.prepared.at(reinterpret_cast<CuGraphNode>(node.get())), stream);
  }
  return CuResult::kSuccess;
}

CuResult GraphExecDestroy(CuGraphExec) {
  StopIfInFlight("cuGraphExecDestroy");
  --script.graphs;
  return State();
}

// An event. `busy_ms` is the time of all launches before the last record, whose number is `record`.
struct Event {
  double busy_ms = 0;
  int record = 0;
};

CuResult EventCreate(CuEvent* event, unsigned) {
  RETURN_UNLESS_SOUND();
  ++script.streams_events;
  *event = AddHandle<CuEvent>(std::make_unique<Event>());
  return CuResult::kSuccess;
}

CuResult EventDestroy(CuEvent event) {
  --script.streams_events;
  live_handles<Event>.erase(event);
  return State();
}

CuResult EventRecord(CuEvent handle, CuStream stream) {
  RETURN_UNLESS_SOUND();
  if (stream == nullptr) return kInvalidValue;
  static int records = 0;
  auto& event = *reinterpret_cast<Event*>(handle);
  event = {.busy_ms = script.busy_ms, .record = ++records};
  if (!script.holds) return CuResult::kSuccess;
  unreached.insert(event.record);
  held.push_back({.stream = stream, .work = {}, .records = event.record});
  return CuResult::kSuccess;
}

CuResult EventQuery(CuEvent handle) {
  RETURN_UNLESS_SOUND();
  ++script.event_queries;
  return IsDone(unreached.contains(reinterpret_cast<Event*>(handle)->record));
}

CuResult StreamWaitEvent(CuStream stream, CuEvent handle, unsigned flags) {
  RETURN_UNLESS_SOUND();
  if (stream == nullptr || flags != 0) return kInvalidValue;
  Log("wait for an event");
  const int record = reinterpret_cast<Event*>(handle)->record;
  if (script.holds) held.push_back({.stream = stream, .work = {}, .awaits = record});
  return CuResult::kSuccess;
}

CuResult EventElapsedTime(float* milliseconds, CuEvent begin, CuEvent end) {
  RETURN_UNLESS_SOUND();
  *milliseconds = static_cast<float>(reinterpret_cast<Event*>(end)->busy_ms -
                                     reinterpret_cast<Event*>(begin)->busy_ms);
  return CuResult::kSuccess;
}

#define CHECK_TYPE(name, ...) \
  static_assert(std::is_same_v<decltype(&name), decltype(CudaDriver::name)>);
TUNEC_CUDA_FUNCTIONS(CHECK_TYPE)

#define ENTRY(name, ...) {"cu" #name, reinterpret_cast<void*>(&name)},
const std::map<std::string, void*> kTable = {TUNEC_CUDA_FUNCTIONS(ENTRY)};

}  // namespace

TUNEC_EXPORT Script* tunec_cuda_script() { return &script; }

TUNEC_EXPORT CuResult cuInit(unsigned) { return script.init; }

TUNEC_EXPORT CuResult cuDriverGetVersion(int* version) {
  *version = script.version;
  // A stub library fails here, too. Other errors of cuInit do not affect this call.
  return script.init == CuResult::kStubLibrary ? script.init : CuResult::kSuccess;
}

TUNEC_EXPORT CuResult cuGetProcAddress_v2(const char* name, void** function, int version, uint64_t,
                                          int*) {
  if (version > script.version) return kInvalidValue;
  const auto found = kTable.find(name);
  *function = found == kTable.end() || name == script.missing ? nullptr : found->second;
  return CuResult::kSuccess;
}

}  // namespace tunec::scripted_cuda
// NOLINTEND(*-static-initialization,*-int-to-ptr,*-identifier-naming,*EnumCastOutOfRange)
