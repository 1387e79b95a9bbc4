#include "python/native/compile.h"

#include <exception>
#include <vector>

#include "python/native/borrow.h"
#include "python/native/errors.h"

namespace nb = nanobind;

namespace tunec::python {
namespace {

/// The callbacks of one C call. The library calls them without the interpreter's lock, and they
/// must not throw.
class Callbacks {
 public:
  explicit Callbacks(const Listeners& listeners) : listeners_(listeners) {
    functions_.size = sizeof functions_;
    functions_.user = this;
    functions_.cancelled = [](void* user) { return Of(user).Cancelled() ? 1 : 0; };
    if (!listeners.progress.is_none())
      functions_.progress = [](void* user, const tunec_progress* progress) {
        Callbacks& of = Of(user);
        of.Guarded([&] { of.listeners_.progress(*progress); });
      };
    if (!listeners.log.is_none())
      functions_.log = [](void* user, const char* line) {
        Callbacks& of = Of(user);
        of.Guarded([&] { of.listeners_.log(line); });
      };
  }

  const tunec_callbacks* functions() const { return &functions_; }

  /// Raises the first exception of a callback or of a signal's handler, if there is one. Requires
  /// the interpreter's lock.
  void Rethrow() const {
    if (raised_) std::rethrow_exception(raised_);
  }

 private:
  static Callbacks& Of(void* user) { return *static_cast<Callbacks*>(user); }

  template <class Body>
  void Guarded(Body body) {
    if (raised_) return;
    const nb::gil_scoped_acquire locked;
    try {
      body();
    } catch (...) {
      raised_ = std::current_exception();
    }
  }

  bool Cancelled() {
    Guarded([] {
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
    });
    return raised_ != nullptr;
  }

  const Listeners& listeners_;
  tunec_callbacks functions_ = {};
  std::exception_ptr raised_;
};

/// The weights of a dict as arrays for the C interface.
struct NamedWeights {
  explicit NamedWeights(const nb::dict& weights) {
    names.reserve(weights.size());
    for (const auto& [key, value] : weights) {
      names.push_back(nb::cast<std::string>(key));
      name_pointers.push_back(names.back().c_str());
      tensors.push_back(&held.Hold(value, "weight '" + names.back() + "'"));
    }
  }

  std::vector<std::string> names;
  std::vector<const char*> name_pointers;
  std::vector<const DLTensor*> tensors;
  HeldTensors held;
};

template <class Compile>
Executable Compiled(const Listeners& listeners, HeldTensors held, Compile compile) {
  Callbacks callbacks(listeners);
  tunec_executable* executable = nullptr;
  int status = TUNEC_OK;
  {
    const nb::gil_scoped_release unlocked;
    status = compile(callbacks.functions(), &executable);
  }
  if (status != TUNEC_OK) callbacks.Rethrow();
  Check(status);
  Executable made(executable, std::move(held));
  callbacks.Rethrow();
  return made;
}

}  // namespace

Executable CompileFile(const std::string& path, const std::string& options,
                       const Listeners& listeners) {
  return Compiled(listeners, {}, [&](const tunec_callbacks* callbacks, auto* out) {
    return tunec_compile_with_callbacks(path.c_str(), options.c_str(), callbacks, out);
  });
}

Executable CompileBytes(const nb::bytes& model, const std::string& format,
                        const std::string& options, const Listeners& listeners) {
  return Compiled(listeners, {}, [&](const tunec_callbacks* callbacks, auto* out) {
    return tunec_compile_bytes(model.data(), model.size(),
                               format.empty() ? nullptr : format.c_str(), options.c_str(),
                               callbacks, out);
  });
}

Executable CompileGraph(const std::string& text, const nb::dict& weights,
                        const std::string& options, const Listeners& listeners) {
  NamedWeights given(weights);
  return Compiled(listeners, std::move(given.held),
                  [&](const tunec_callbacks* callbacks, auto* out) {
                    return tunec_compile_graph(text.data(), text.size(), given.names.size(),
                                               given.name_pointers.data(), given.tensors.data(),
                                               options.c_str(), callbacks, out);
                  });
}

Executable CompileBuilt(const tunec_graph* graph, const nb::dict& weights,
                        const std::string& options, const Listeners& listeners) {
  NamedWeights given(weights);
  return Compiled(
      listeners, std::move(given.held), [&](const tunec_callbacks* callbacks, auto* out) {
        return tunec_graph_compile(graph, given.names.size(), given.name_pointers.data(),
                                   given.tensors.data(), options.c_str(), callbacks, out);
      });
}

tunec_executable* CompileLayouts(const tunec_executable* of, const nb::dict& layouts,
                                 std::string& rejection) {
  const auto text = nb::cast<std::string>(nb::module_::import_("json").attr("dumps")(layouts));
  const Listeners nobody = {nb::none(), nb::none()};
  Callbacks callbacks(nobody);
  tunec_executable* executable = nullptr;
  int status = TUNEC_OK;
  {
    const nb::gil_scoped_release unlocked;
    status = tunec_compile_layouts(of, text.c_str(), callbacks.functions(), &executable);
  }
  if (status != TUNEC_OK) {
    callbacks.Rethrow();
    rejection = tunec_error_message();
  }
  return executable;
}

Executable Load(const std::string& path, size_t threads, bool share_threads,
                const std::optional<std::string>& device) {
  const tunec_load_options options = {.size = sizeof options,
                                      .threads = threads,
                                      .share_threads = share_threads ? size_t{1} : 0,
                                      .device = device ? device->c_str() : nullptr};
  tunec_executable* executable = nullptr;
  int status = TUNEC_OK;
  {
    const nb::gil_scoped_release unlocked;
    status = tunec_load(path.c_str(), &options, &executable);
  }
  Check(status);
  return Executable(executable);
}

}  // namespace tunec::python
