// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "spec/graph/graph.h"
#include "spec/graph/types.h"
#include "spec/language/along_axis_options.h"
#include "spec/language/convolution_options.h"
#include "spec/language/shorthand.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

// Prints a graph as a kernel with a statement for each operation. What it prints is read as the same graph.
class GraphPrinter {
 public:
  explicit GraphPrinter(const Graph& graph) : graph_(graph) {
    for (const GraphNode& node : graph.nodes)
      // Names of parameters stay. A value's name must differ from them.
      if (node.op == Operation::kInput) taken_.insert(node.text);
    // Results keep their names, too, if there are several.
    if (graph.results.size() > 1)
      for (const GraphResult& result : graph.results) taken_.insert(result.name);
    for (size_t i = 0; i < graph.nodes.size(); ++i) names_.push_back(NameOf(graph.nodes[i], i));
  }

  std::string Print() const {
    std::vector<std::string> parameters;
    for (const GraphNode& node : graph_.nodes)
      if (node.op == Operation::kInput)
        parameters.push_back(
            Cat(node.text, ": ", node.constant ? Cat(kConstantWord, " ") : "", PrintTensorType(node.type)));
    const std::string returns = Join(graph_.results, ", ", [&](const GraphResult& result) {
      return PrintTensorType(graph_.TypeOf(result));
    });
    std::string text = Cat("kernel ", graph_.name, "(", Join(parameters, ", "), ") -> ",
                           graph_.results.size() > 1 ? Cat("(", returns, ")") : returns, ":\n");
    for (size_t i = 0; i < graph_.nodes.size(); ++i)
      if (Info(graph_.nodes[i].op).kind != OperationKind::kLeaf)
        Append(&text, "  ", names_[i], " = ", Call(graph_.nodes[i]), "\n");
    const auto name = [&](const GraphResult& result) { return names_[static_cast<size_t>(result.value)]; };
    return Cat(text, "  return ", Join(graph_.results, ", ", name), "\n");
  }

 private:
  // Numbers are written where they are used; every other value is v and its number, with underscores if that
  // is taken.
  std::string NameOf(const GraphNode& node, size_t number) const {
    if (node.op == Operation::kInput || node.op == Operation::kNumber) return node.text;
    const std::optional<size_t> result = graph_.FindResult(static_cast<int>(number));
    if (result && graph_.results.size() > 1) return graph_.results[*result].name;
    std::string name = Cat("v", number);
    while (taken_.contains(name)) name += "_";
    return name;
  }

  // A call with its options. Numbers and the options of convolutions are written even where they have their
  // usual value.
  std::string Call(const GraphNode& node) const {
    std::vector<std::string> arguments;
    for (int input : node.inputs) arguments.push_back(names_[static_cast<size_t>(input)]);
    if (node.op == Operation::kCast) arguments.emplace_back(Info(node.type.dtype).name);
    const bool copies = Info(node.op).kind == OperationKind::kRearrange;
    if (copies)
      arguments.push_back(
          Cat("[", Join(node.op == Operation::kPermute ? node.axes : node.type.dims, ","), "]"));
    for (uint32_t axis : node.axes)
      if (!copies) arguments.push_back(Cat("axis=", axis));
    AlongAxis along = node.along;
    for (const AlongAxisOption& option : AlongAxisOptionsOf(node.op))
      arguments.push_back(Cat(option.name, "=", option.of(along)));
    if (const NumberOption& option = Info(node.op).option; !option.name.empty())
      arguments.push_back(Cat(option.name, "=", PrintOption(node)));
    if (node.lhs_as != LhsAs::kItself)
      arguments.push_back(Cat(kLhsAsOption, "=", kirsch::NameOf(node.lhs_as)));
    if (Info(node.op).image_axes > 0)
      for (const OptionText& option :
           PrintOptions(node.conv, Info(node.op).image_axes, Info(node.op).transposed))
        arguments.push_back(Cat(option.name, "=", option.value));
    return Cat(Info(node.op).name, "(", Join(arguments, ", "), ")");
  }

  // An f32's fewest digits, where the operation is of f32s or narrower floats.
  static std::string PrintOption(const GraphNode& node) {
    const bool words = node.type.dtype != Dtype::kF64 && IsFloating(node.type.dtype);
    return words ? PrintNumber(static_cast<float>(node.number)) : PrintNumber(node.number);
  }

  const Graph& graph_;
  std::set<std::string> taken_;
  std::vector<std::string> names_;
};

}  // namespace

std::string PrintTensorType(const TensorType& type) {
  const std::string shape = Cat(Info(type.dtype).name, "[", Join(type.dims, ","), "]");
  return type.dense() ? shape : Cat(shape, " ", kStridesWord, "=[", Join(type.strides, ","), "]");
}

std::string PrintGraph(const Graph& graph) { return GraphPrinter(graph).Print(); }

}  // namespace kirsch
