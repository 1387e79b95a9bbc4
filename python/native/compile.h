// Functions that compile a model, some of them with Python's callbacks, or load a model.
#pragma once

#include <nanobind/nanobind.h>
#include <tunec/graph.h>
#include <tunec/tunec.h>

#include <memory>
#include <optional>
#include <string>

#include "python/native/executable.h"

namespace tunec::python {

/// Callbacks of a compilation: callables or None. They are called in the calling thread. An
/// exception of a callback or of a signal's handler (KeyboardInterrupt) ends the compilation.
struct Listeners {
  nanobind::object progress;  // receives a tunec_progress
  nanobind::object log;       // receives a line of text
};

Executable CompileFile(const std::string& path, const std::string& options,
                       const Listeners& listeners);
/// Compiles a model given as bytes. `format` is "onnx", "graph", or empty to detect the format.
Executable CompileBytes(const nanobind::bytes& model, const std::string& format,
                        const std::string& options, const Listeners& listeners);
/// Compiles a .graph text. `weights` maps names to tensors; the executable retains the tensors.
Executable CompileGraph(const std::string& text, const nanobind::dict& weights,
                        const std::string& options, const Listeners& listeners);

/// Compiles a built graph. `weights` maps the keys of weights to tensors; the executable retains
/// the tensors.
Executable CompileBuilt(const tunec_graph* graph, const nanobind::dict& weights,
                        const std::string& options, const Listeners& listeners);

/// Compiles the model of `of` again for other axis orders. `layouts` maps names of inputs and
/// outputs to the text of a layout. Returns null and sets `rejection` if the compilation
/// fails. Raises the exception of a signal's handler.
tunec_executable* CompileLayouts(const tunec_executable* of, const nanobind::dict& layouts,
                                 std::string& rejection);

/// Loads a bundle. If `threads` is 0, runs use the number of threads that the bundle was built for,
/// at most one per core. `device` is the number or UUID of a GPU, or "cpu"; without a value, the
/// library chooses.
Executable Load(const std::string& path, size_t threads, bool share_threads,
                const std::optional<std::string>& device);

}  // namespace tunec::python
