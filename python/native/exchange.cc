#include "python/native/exchange.h"

#include <map>

namespace tunec::python {
namespace {

constexpr uint32_t kMajorVersion = 1;

const DlpackExchange* FindExchange(PyTypeObject* type) {
  PyObject* capsule =
      PyObject_GetAttrString(reinterpret_cast<PyObject*>(type), "__dlpack_c_exchange_api__");
  if (capsule == nullptr) {
    PyErr_Clear();
    return nullptr;
  }
  // The table is a constant of its library, so the table outlives the capsule.
  const auto* table =
      static_cast<const DlpackExchange*>(PyCapsule_GetPointer(capsule, "dlpack_exchange_api"));
  Py_DECREF(capsule);
  PyErr_Clear();
  while (table != nullptr && table->version.major > kMajorVersion) table = table->previous;
  return table;
}

}  // namespace

const DlpackExchange* ExchangeOf(PyObject* object) {
  // The cache holds a reference to each type, so that no other type can get its address. Only a few
  // types of tensors occur in a process.
  static auto& known = *new std::map<PyTypeObject*, const DlpackExchange*>;
  PyTypeObject* type = Py_TYPE(object);
  const auto found = known.find(type);
  if (found != known.end()) return found->second;
  Py_INCREF(reinterpret_cast<PyObject*>(type));
  return known[type] = FindExchange(type);
}

}  // namespace tunec::python
