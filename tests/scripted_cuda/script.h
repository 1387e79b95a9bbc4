// What a scripted libcuda.so.1 plays, and what it saw: tests/scripted_cuda/scripted_cuda.cc.
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
  // What it plays.
  CuResult init = CuResult::kSuccess;  // of the functions that start a driver
  int version = 13000;
  std::string missing = {};  // a function that it lacks, "cuMemAlloc"
  std::vector<std::pair<int, int>> capabilities = {{9, 0}};  // of each GPU
  size_t memory_bytes = 1 << 20;                             // of each GPU
  CuResult load = CuResult::kSuccess;
  std::vector<std::string> functions = {};  // of each module
  bool any_function = false;                // modules have every function that is asked for
  size_t parameters = 4;                    // of each function, of eight bytes each
  std::function<size_t(std::string_view)> parameters_of = {};     // the same by the function's name
  std::function<void(const Launch&)> run = [](const Launch&) {};  // what a launch does, at once
  std::function<double(const Launch&)> milliseconds = [](const Launch&) { return 1; };
  int refused_launch = 0;  // counted from 1, the call fails with `refusal`; 0: none
  CuResult refusal = CuResult::kLaunchOutOfResources;
  CuResult graph = CuResult::kSuccess;  // of preparing a graph
  int faulting_launch = 0;  // all calls fail with `fault` once it was waited for; 0: none
  CuResult fault = CuResult::kIllegalAddress;
  int hanging_launch = 0;      // neither it nor what is started after it ends; 0: none
  int unfinished_queries = 0;  // so often a stream is said to be busy, then to be done
  // Graphs, copies within a GPU and events wait in their streams, until this is false, by a test or
  // by the last of unfinished_queries. With the next query they are done: those of the latest
  // stream first, as far as events let them.
  bool holds = false;

  // What it saw.
  std::vector<std::string> log = {};  // calls that do something
  int launches = 0;
  double busy_ms = 0;      // of all launches together
  int contexts = 0;        // retained and not released
  int allocations = 0;     // not freed
  int streams_events = 0;  // not destroyed
  int stream_queries = 0;
  int event_queries = 0;
  int modules = 0;                     // not unloaded
  int graphs = 0;                      // not destroyed, prepared ones counted anew
  std::vector<CuStream> streams = {};  // that a launch of a graph was put into
  size_t allocated_bytes = 0;
  bool faulted = false;
};

/// The name of the function that gives the library's Script: `Script* ()`.
inline constexpr const char* kScriptFunction = "tunec_cuda_script";

}  // namespace tunec::scripted_cuda
