// The ways to compile, with Python's callbacks.
#pragma once

#include <nanobind/nanobind.h>
#include <tunec/tunec.h>

#include <memory>
#include <optional>
#include <string>

#include "python/native/executable.h"
#include "python/native/graph_source.h"

namespace tunec::python {

/// `progress` and `log` are callables or None. They are called in the calling thread. What one of
/// them raises, and what a signal's handler raises (KeyboardInterrupt), ends the call.
struct Listeners {
  nanobind::object progress;  // of a tunec_progress
  nanobind::object log;       // of a line
};

Executable CompileFile(const std::string& path, const std::string& options,
                       const Listeners& listeners);
/// `format`: "onnx" or "graph"; empty: told from the bytes.
Executable CompileBytes(const nanobind::bytes& model, const std::string& format,
                        const std::string& options, const Listeners& listeners);
/// A .graph text, with weights by name (a dict of tensors). They are kept by the executable.
Executable CompileGraph(const std::string& text, const nanobind::dict& weights,
                        const std::string& options, const Listeners& listeners);

/// A model of any size, whose graphs a function makes.
Executable CompileAnySize(std::shared_ptr<GraphSource> source, const std::string& options,
                          const Listeners& listeners);

/// The model of `of` for tensors that lie as `layouts` says, a dict of text by name. Null, with a
/// reason, where that cannot be. Raises what a signal's handler raises.
tunec_executable* CompileLayouts(const tunec_executable* of, const nanobind::dict& layouts,
                                 std::string& refusal);

/// A bundle. `threads`: 0 for as many as it was built for.
Executable Load(const std::string& path, size_t threads, bool share_threads,
                const std::optional<std::string>& device);

}  // namespace tunec::python
