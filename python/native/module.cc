// The module tunec._native, with the part of the C interface that Python code uses. Users import
// the package tunec.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <exception>
#include <typeinfo>
#include <utility>

#include "python/native/compile.h"
#include "python/native/executable.h"
#include "python/native/graph.h"

namespace nb = nanobind;
using tunec::python::Executable;
using tunec::python::Graph;
using tunec::python::Listeners;

namespace {

void DefineProgress(nb::module_& module) {
  nb::class_<tunec_progress>(module, "Progress", "Progress of tuning.")
      .def_ro("tasks", &tunec_progress::tasks, "distinct kernels to tune")
      .def_ro("tasks_timed", &tunec_progress::tasks_timed, "tasks with a correct trial")
      .def_ro("trials", &tunec_progress::trials,
              "trials counted by the budget, including those of earlier runs")
      .def_ro("budget", &tunec_progress::budget, "the option trials")
      .def_ro("measured", &tunec_progress::measured, "trials of this call")
      .def_ro("elapsed_seconds", &tunec_progress::elapsed_seconds)
      .def_prop_ro(
          "model_seconds",
          [](const tunec_progress& progress) -> nb::object {
            if (progress.model_seconds < 0) return nb::none();
            return nb::float_(progress.model_seconds);
          },
          nb::sig("def model_seconds(self) -> float | None"),
          "sum of the best kernel times; None while some are unknown");
}

int TraverseExecutable(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  return nb::inst_ready(self) ? nb::inst_ptr<Executable>(self)->Visit(visit, arg) : 0;
}
PyType_Slot executable_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(TraverseExecutable)},
                                  {0, nullptr}};

void DefineExecutable(nb::module_& module) {
  nb::class_<Executable>(module, "Executable", nb::is_weak_referenceable(),
                         nb::type_slots(executable_slots),
                         "A compiled model. Call it with its inputs.")
      .def("__call__", &Executable::Call,
           nb::sig("def __call__(self, *inputs: object, out: object = None, **named: object) -> "
                   "typing.Any"))
      .def("profile", &Executable::Profile,
           nb::sig("def profile(self, *inputs: object, out: object = None, **named: object) -> "
                   "tuple[typing.Any, list[tuple[str, float]]]"),
           "Runs once and returns (outputs, [(name of the step, seconds), ...]).")
      .def("wait_tuning", &Executable::WaitTuning, nb::arg("timeout") = nb::none(),
           nb::sig("def wait_tuning(self, timeout: float | None = None) -> bool"),
           "Waits at most `timeout` seconds (None: no limit) for the end of tuning in the "
           "background. Returns True if tuning has ended. Raises the error that ended tuning.")
      .def("stop_tuning", &Executable::StopTuning,
           "Ends tuning in the background. The executable keeps its current code.")
      .def_prop_ro("_inputs", &Executable::Inputs)
      .def_prop_ro("_outputs", &Executable::Outputs)
      .def_prop_ro("_report", &Executable::Report)
      .def_prop_ro("notes", &Executable::Notes,
                   "Hints on how the model runs on its GPU, one per line.")
      .def_prop_ro("outside_indices", &Executable::OutsideIndices,
                   "Number of out-of-range gather indices in all runs; they were clamped.")
      .def_prop_ro("other_layouts", &Executable::OtherLayouts,
                   nb::sig("def other_layouts(self) -> list[dict[str, str]]"),
                   "Input layouts of earlier calls for which the model was compiled again.");
}

void DefineCompile(nb::module_& module) {
  module.def(
      "compile_file",
      [](const std::string& path, const std::string& options, nb::object progress, nb::object log) {
        return tunec::python::CompileFile(path, options,
                                          Listeners{std::move(progress), std::move(log)});
      },
      nb::arg("path"), nb::arg("options"), nb::arg("progress").none(), nb::arg("log").none());
  module.def(
      "compile_bytes",
      [](const nb::bytes& model, const std::string& format, const std::string& options,
         nb::object progress, nb::object log) {
        return tunec::python::CompileBytes(model, format, options,
                                           Listeners{std::move(progress), std::move(log)});
      },
      nb::arg("model"), nb::arg("format"), nb::arg("options"), nb::arg("progress").none(),
      nb::arg("log").none());
  module.def(
      "compile_graph",
      [](const std::string& text, const nb::dict& weights, const std::string& options,
         nb::object progress, nb::object log) {
        return tunec::python::CompileGraph(text, weights, options,
                                           Listeners{std::move(progress), std::move(log)});
      },
      nb::arg("text"), nb::arg("weights"), nb::arg("options"), nb::arg("progress").none(),
      nb::arg("log").none());
}

void DefineGraph(nb::module_& module) {
  nb::class_<Graph>(module, "Graph",
                    "A graph that is built value by value. Values have numbers, in their order. An "
                    "error of the compiler is raised as a subclass of tunec.Error.")
      .def(nb::init<const std::string&>(), nb::arg("name"))
      .def("add_input", &Graph::AddInput, nb::arg("name"), nb::arg("type"),
           "Adds an input of a type such as \"f32[n, 3*h + 1]\".")
      .def("add_weight", &Graph::AddWeight, nb::arg("name"), nb::arg("type"), nb::arg("key"),
           "Adds a weight, whose elements `compile` receives by `key`.")
      .def("add_constant", &Graph::AddConstant, nb::arg("name"), nb::arg("type"),
           nb::arg("elements"), "Adds a constant. `elements`: a text such as \"[1, 2.5]\".")
      .def("add_node", &Graph::AddNode, nb::arg("op"), nb::arg("operands"), nb::arg("attributes"),
           nb::arg("name"),
           nb::sig("def add_node(self, op: str, operands: list[int | None], attributes: str, "
                   "name: str) -> int"),
           "Adds a node. An operand is a value's number, or None if it is omitted. `attributes`: a "
           "text such as \"axes=[1], keepdims=0\".")
      .def("add_output", &Graph::AddOutput, nb::arg("name"), nb::arg("value"))
      .def("type", &Graph::Type, nb::arg("value"),
           nb::sig("def type(self, value: int) -> tuple[str, tuple[int | str, ...]]"),
           "Returns the element type and the shape. A size is a number or the text of an "
           "expression.")
      .def("text", &Graph::Text, "Returns the text of the graph.")
      .def("conditions", &Graph::Conditions,
           "Returns the conditions on named sizes, such as \"n == 2*m\", \"3 <= h + 2\" and \"n is "
           "1 or m\".")
      .def(
          "compile",
          [](const Graph& graph, const nb::dict& weights, const std::string& options,
             nb::object progress, nb::object log) {
            return tunec::python::CompileBuilt(graph.get(), weights, options,
                                               Listeners{std::move(progress), std::move(log)});
          },
          nb::arg("weights"), nb::arg("options"), nb::arg("progress").none(), nb::arg("log").none(),
          "Compiles the graph. `weights`: tensors by key, which the executable retains.");
  module.def("sizes_are_equal", &tunec::python::SizesAreEqual, nb::arg("one"), nb::arg("other"));
}

// Translates std::bad_cast to a TypeError with an explanation. nanobind would raise a RuntimeError.
void TranslateFailedCast(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::bad_cast&) {
    PyErr_SetString(PyExc_TypeError,
                    "an argument or an option has a type, a text or a number that the package "
                    "cannot convert");
  }
}

}  // namespace

NB_MODULE(_native, module) {
  // Caches, such as those of torch, may hold executables until the interpreter ends.
  nb::set_leak_warnings(false);
  module.doc() = "The C interface of tunec for Python; the package tunec is for people.";
  nb::register_exception_translator(TranslateFailedCast);
  DefineProgress(module);
  DefineExecutable(module);
  DefineGraph(module);
  DefineCompile(module);
  module.def("load", &tunec::python::Load, nb::arg("path"), nb::arg("threads"),
             nb::arg("share_threads"), nb::arg("device").none());
  module.def("processors", [] { return tunec_num_processors(); });
  module.def("version", [] { return tunec_version(); });
}
