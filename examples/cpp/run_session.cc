// Compiles a model, prints types and shapes of inputs and outputs, and runs the model once. float32
// inputs are repeated ramps; other inputs are zero. Prints up to 8 elements of each float32 output,
// and the report. With --bytes, the model is compiled from memory.
//
//     run_session [--bytes] MODEL [OPTIONS_JSON]
#include <algorithm>
#include <fstream>
#include <iostream>
#include <iterator>
#include <tunec/tunec.hpp>

namespace {

struct Arguments {
  bool bytes = false;
  std::string model;
  std::string options;
};

std::optional<Arguments> ReadArguments(std::span<char*> words) {
  Arguments arguments;
  arguments.bytes = !words.empty() && std::string_view(words[0]) == "--bytes";
  if (arguments.bytes) words = words.subspan(1);
  if (words.empty() || words.size() > 2) return std::nullopt;
  arguments.model = words[0];
  if (words.size() == 2) arguments.options = words[1];
  return arguments;
}

tunec::Result<tunec::Session> Compile(const Arguments& arguments) {
  const tunec::Callbacks callbacks = {
      .progress =
          [](const tunec_progress& progress) {
            std::cerr << progress.trials << " of " << progress.budget << " trials\n";
          },
      .log = [](std::string_view line) { std::cerr << line << "\n"; }};
  if (!arguments.bytes)
    return tunec::Session::Compile(arguments.model, arguments.options, callbacks);
  std::ifstream file(arguments.model, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return tunec::Session::CompileBytes(std::as_bytes(std::span(text)), "", arguments.options,
                                      callbacks);
}

void Print(std::string_view kind, const tunec::TensorSpec& spec) {
  std::cout << kind << " " << spec.name << ": " << static_cast<int>(spec.type.bits) << "-bit type "
            << static_cast<int>(spec.type.code) << ", shape [";
  for (size_t i = 0; i < spec.shape.size(); ++i) std::cout << (i > 0 ? ", " : "") << spec.shape[i];
  std::cout << "]\n";
}

// Fills a float32 tensor with repeated ramps. Tensors of other types stay zero.
void FillWithRamp(const tunec::Tensor& tensor) {
  const auto elements = tensor.As<float>();
  if (!elements) return;
  for (size_t i = 0; i < elements->size(); ++i)
    (*elements)[i] = static_cast<float>(i % 17) / 16 - 0.5F;
}

void PrintBeginning(std::string_view name, const tunec::Tensor& tensor) {
  const auto elements = tensor.As<const float>();
  if (!elements) return;
  std::cout << name << ":";
  for (const float element : elements->first(std::min<size_t>(elements->size(), 8)))
    std::cout << " " << element;
  std::cout << "\n";
}

int Complain(const tunec::Error& error) {
  std::cerr << error.message << "\n";
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  const auto arguments = ReadArguments({argv + 1, static_cast<size_t>(std::max(argc - 1, 0))});
  if (!arguments) {
    std::cerr << "usage: run_session [--bytes] MODEL [OPTIONS_JSON]\n";
    return 2;
  }
  const auto session = Compile(*arguments);
  if (!session) return Complain(session.error());

  const std::vector<tunec::TensorSpec> results = session->Outputs();
  for (const tunec::TensorSpec& spec : session->Inputs()) Print("input", spec);
  for (const tunec::TensorSpec& spec : results) Print("output", spec);

  const std::vector<tunec::Tensor> inputs = session->NewInputs();
  for (const tunec::Tensor& tensor : inputs) FillWithRamp(tensor);
  const auto outputs = session->Run(inputs);
  if (!outputs) return Complain(outputs.error());
  for (size_t i = 0; i < results.size(); ++i) PrintBeginning(results[i].name, (*outputs)[i]);
  std::cout << "report " << session->Report() << "\n";
  return 0;
}
