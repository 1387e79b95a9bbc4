#include "python/native/graph_source.h"

#include <utility>

namespace nb = nanobind;

namespace tunec::python {

GraphSource::GraphSource(nb::object text_at, const nb::list& dimensions, const nb::list& example,
                         const nb::list& open, bool follows_rules)
    : text_at_(std::move(text_at)), follows_rules_(follows_rules) {
  for (const nb::handle name : dimensions) dimensions_.push_back(nb::cast<std::string>(name));
  for (const std::string& name : dimensions_) dimension_names_.push_back(name.c_str());
  for (const nb::handle size : example) example_.push_back(nb::cast<int64_t>(size));
  for (const nb::handle axis : open)
    open_.push_back(
        {nb::cast<size_t>(axis[0]), nb::cast<size_t>(axis[1]), nb::cast<size_t>(axis[2])});
}

tunec_graph_source GraphSource::Describe(const std::shared_ptr<GraphSource>& of) {
  return {.size = sizeof(tunec_graph_source),
          .user = new std::shared_ptr<GraphSource>(of),
          .num_dimensions = of->dimensions_.size(),
          .dimensions = of->dimension_names_.data(),
          .example = of->example_.data(),
          .num_axes = of->open_.size(),
          .axes = of->open_.data(),
          .text_at = TextAt,
          .release = Release,
          .follows_rules = of->follows_rules_ ? 1 : 0};
}

void GraphSource::Rethrow(int status) {
  if (!raised_ || (status == TUNEC_OK && !interrupted_)) return;
  interrupted_ = false;
  std::rethrow_exception(std::exchange(raised_, nullptr));
}

int GraphSource::Visit(visitproc visit, void* arg) const {
  Py_VISIT(text_at_.ptr());
  return held_.Visit(visit, arg);
}

// Does not clear `held_`, because executables may read its memory (see Executable::Clear).
void GraphSource::Clear() {
  // The member is replaced first, because destroying the function may run Python code.
  const nb::object function = std::exchange(text_at_, nb::none());
}

void GraphSource::Release(void* user) {
  const nb::gil_scoped_acquire locked;
  delete static_cast<std::shared_ptr<GraphSource>*>(user);
}

int GraphSource::TextAt(void* user, const int64_t* sizes, tunec_graph_text* text) {
  GraphSource& of = **static_cast<std::shared_ptr<GraphSource>*>(user);
  const nb::gil_scoped_acquire locked;
  return of.MakeText(sizes, text);
}

// Makes the text for these sizes, or stores the exception. After an interrupt, only returns
// TUNEC_CANCELLED until Rethrow.
int GraphSource::MakeText(const int64_t* sizes, tunec_graph_text* text) {
  if (interrupted_) return TUNEC_CANCELLED;
  try {
    raised_ = nullptr;
    Make(sizes, text);
    return TUNEC_OK;
  } catch (const nb::python_error& error) {
    raised_ = std::current_exception();
    interrupted_ = !error.matches(PyExc_Exception);
  } catch (...) {
    raised_ = std::current_exception();
  }
  return interrupted_ ? TUNEC_CANCELLED : TUNEC_UNSUPPORTED;
}

void GraphSource::Make(const int64_t* sizes, tunec_graph_text* text) {
  nb::list numbers;
  for (size_t d = 0; d < dimensions_.size(); ++d) numbers.append(sizes[d]);
  const nb::object made = text_at_(nb::tuple(numbers));
  text_ = nb::cast<std::string>(made[0]);
  names_.clear();
  name_pointers_.clear();
  tensors_.clear();
  const nb::dict weights = nb::cast<nb::dict>(made[1]);
  names_.reserve(weights.size());
  for (const auto& [key, value] : weights) {
    names_.push_back(nb::cast<std::string>(key));
    name_pointers_.push_back(names_.back().c_str());
    tensors_.push_back(&held_.Hold(value, "weight '" + names_.back() + "'"));
  }
  *text = {.text = text_.data(),
           .num_bytes = text_.size(),
           .num_weights = names_.size(),
           .names = name_pointers_.data(),
           .tensors = tensors_.data()};
}

}  // namespace tunec::python
