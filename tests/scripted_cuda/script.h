// The script of the replacement of libcuda.so.1 in scripted_cuda.cc, and a record of the calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/cuda/driver_api.h"

namespace tunec::scripted_cuda {

struct Launch {
  std::string symbol;
  unsigned blocks = 0;  // along x
  void** parameters = nullptr;
};

struct Script {
  // These fields control the driver.
  CuResult init = CuResult::kSuccess;  // result of the functions that initialise a driver
  int version = 13000;
  std::string missing = {};  // a missing function, for example "cuMemAlloc"
  std::vector<std::pair<int, int>> capabilities = {{9, 0}};  // capabilities of each GPU
  size_t memory_bytes = 1 << 20;                             // memory of each GPU
  CuResult load = CuResult::kSuccess;
  std::vector<std::string> functions = {};  // functions of each module
  bool any_function = false;                // modules have every requested function
  size_t parameters = 4;  // number of each function's parameters, of eight bytes each
  std::function<size_t(std::string_view)> parameters_of = {};  // replaces `parameters`
  std::function<void(const Launch&)> run = [](const Launch&) {
  };  // the effect of a launch on memory
  std::function<double(const Launch&)> milliseconds = [](const Launch&) { return 1; };
  int rejected_launch =
      0;  // number of the launch that fails with `rejection`, counted from 1; 0: none
  CuResult rejection = CuResult::kLaunchOutOfResources;
  CuResult graph = CuResult::kSuccess;  // result of preparing a graph
  int faulting_launch =
      0;  // number of the launch after which, once waited for, all calls fail with `fault`; 0: none
  CuResult fault = CuResult::kIllegalAddress;
  int hanging_launch = 0;  // number of the launch that, with all later work, never ends; 0: none
  int unfinished_queries = 0;  // number of the first queries that return kNotReady
  // A flag that makes operations wait in their streams: graphs, copies within a GPU, events. A test
  // or the last of unfinished_queries sets the flag to false. The next query then completes the
  // waiting operations, in an order that streams and events allow.
  bool holds = false;

  // These fields record the calls.
  std::vector<std::string> log = {};  // calls with an effect
  int launches = 0;
  double busy_ms = 0;      // sum over all launches
  int contexts = 0;        // retained and not released
  int allocations = 0;     // not freed
  int streams_events = 0;  // not destroyed
  int stream_queries = 0;
  int event_queries = 0;
  int modules = 0;                     // not unloaded
  int graphs = 0;                      // not destroyed; prepared graphs count separately
  std::vector<CuStream> streams = {};  // streams of graph launches
  size_t allocated_bytes = 0;
  bool faulted = false;
};

/// The name of the function, of type `Script* ()`, that returns the library's Script.
inline constexpr const char* kScriptFunction = "tunec_cuda_script";

}  // namespace tunec::scripted_cuda
