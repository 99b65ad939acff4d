// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "spec/text/cat.h"
#include "tests/testing/grammar_graph.h"
#include "tests/testing/plain_block.h"
#include "tests/testing/plain_number.h"

namespace kirsch::testing {
namespace {

class TextWriter {
 public:
  TextWriter(const GrammarGraph& graph, std::mt19937& random)
      : graph_(graph), random_(random), uses_(graph.values.size()), inlined_(graph.values.size()) {
    for (const GrammarValue& value : graph.values)
      for (const GrammarArgument& argument : value.arguments)
        if (argument.value >= 0) ++uses_[static_cast<size_t>(argument.value)];
    for (size_t i = 0; i < inlined_.size(); ++i)
      inlined_[i] = !graph.values[i].op.empty() && uses_[i] == 1 && Below(3) == 0;
    const auto result = static_cast<size_t>(graph.result);
    inlined_[result] = uses_[result] == 0 && Below(3) != 0;
    // Several results have names.
    if (!graph.others.empty())
      for (int value : graph.results()) inlined_[static_cast<size_t>(value)] = false;
  }

  std::string Text() {
    ChooseNamedSize();
    std::string text = Cat("kernel drawn", size_ == 0 ? "" : Cat("[n = ", size_, "]"), "(");
    for (int i = 0; i < graph_.parameters; ++i)
      Append(&text, i > 0 ? ", " : "", graph_.at(i).name, ": ", graph_.at(i).constant ? "const " : "",
             TypeText(graph_.at(i)));
    const std::vector<int> results = graph_.results();
    const bool says_type = Below(3) == 0 || std::any_of(results.begin(), results.end(), [&](int value) {
                             return !graph_.at(value).strides.empty();
                           });
    Append(&text, ")", says_type ? Cat(" -> ", TypesText(results)) : "", ":\n");
    for (int statement : Order())
      Append(&text, graph_.at(statement).name, " = ", Expression(statement), "\n");
    text += "return ";
    for (size_t i = 0; i < results.size(); ++i) Append(&text, i > 0 ? ", " : "", Argument({results[i], ""}));
    return text + "\n";
  }

 private:
  size_t Below(size_t end) { return random_() % end; }

  // Some of the axes that are as long as a parameter's are called n; a size with one value is no family.
  void ChooseNamedSize() {
    if (Below(8) != 0) return;
    for (int i = 0; i < graph_.parameters; ++i)
      for (uint32_t size : graph_.at(i).dims) size_ = size_ == 0 || Below(2) == 0 ? size : size_;
    must_name_ = true;
  }

  std::string TypeText(const GrammarValue& value) {
    return Cat(value.type, "[",
               absl::StrJoin(value.dims, ",",
                             [&](std::string* text, uint32_t size) {
                               const bool named = size == size_ && (must_name_ || Below(2) == 0);
                               must_name_ = must_name_ && !named;
                               Append(text, named ? "n" : Cat(size));
                             }),
               "]", value.strides.empty() ? "" : Cat(" strides=[", absl::StrJoin(value.strides, ","), "]"));
  }

  // The types of all results.
  std::string TypesText(const std::vector<int>& results) {
    std::string text;
    for (int value : results) Append(&text, text.empty() ? "" : ", ", TypeText(graph_.at(value)));
    return results.size() > 1 ? Cat("(", text, ")") : text;
  }

  // Values whose statements have to come before this one's.
  std::vector<int> Needs(int value) const {
    std::vector<int> needs;
    for (const GrammarArgument& argument : graph_.at(value).arguments) {
      if (argument.value < graph_.parameters) continue;
      if (inlined_[static_cast<size_t>(argument.value)]) {
        const std::vector<int> inner = Needs(argument.value);
        needs.insert(needs.end(), inner.begin(), inner.end());
      } else {
        needs.push_back(argument.value);
      }
    }
    return needs;
  }

  // The statements, each after those that it needs.
  std::vector<int> Order() {
    std::vector<int> order, open;
    for (int i = graph_.parameters; i < static_cast<int>(graph_.values.size()); ++i)
      if (!inlined_[static_cast<size_t>(i)]) open.push_back(i);
    while (!open.empty()) {
      std::vector<int> ready;
      for (int value : open) {
        const std::vector<int> needs = Needs(value);
        if (std::all_of(needs.begin(), needs.end(),
                        [&](int need) { return std::find(order.begin(), order.end(), need) != order.end(); }))
          ready.push_back(value);
      }
      order.push_back(ready[Below(ready.size())]);
      open.erase(std::find(open.begin(), open.end(), order.back()));
    }
    return order;
  }

  std::string Argument(const GrammarArgument& argument) {
    if (argument.value < 0) return argument.number;
    return inlined_[static_cast<size_t>(argument.value)] ? Expression(argument.value)
                                                         : graph_.at(argument.value).name;
  }

  std::string Expression(int number) {
    const GrammarValue& value = graph_.at(number);
    std::string text = Cat(value.op, "(");
    for (const GrammarArgument& argument : value.arguments)
      Append(&text, &argument == &value.arguments.front() ? "" : ", ", Argument(argument));
    if (value.op == "cast") Append(&text, ", ", value.type);
    for (const auto& [name, option] : value.options)
      Append(&text, ", ", name, name.empty() ? "" : "=", option);
    return Cat(text, ")");
  }

  const GrammarGraph& graph_;
  std::mt19937& random_;
  std::vector<int> uses_;
  std::vector<bool> inlined_;
  uint32_t size_ = 0;  // that has a name; 0: none
  bool must_name_ = false;
};

}  // namespace

std::string GrammarText(const GrammarGraph& graph, std::mt19937& random) {
  return TextWriter(graph, random).Text();
}

std::vector<std::byte> StoredParameter(const GrammarValue& parameter, const std::vector<double>& elements) {
  std::vector<std::byte> bytes;
  if (const PlainBlockType* const blocks = FindPlainBlockType(parameter.type)) {
    bytes.resize(static_cast<size_t>(parameter.elements() / blocks->elements * blocks->bytes));
    StoreBlocks(*blocks, elements, bytes.data());
    return bytes;
  }
  const PlainType& type = PlainTypeOf(parameter.type);
  bytes.assign(static_cast<size_t>(parameter.span() * type.bytes), std::byte{0xff});
  for (size_t i = 0; i < elements.size(); ++i)
    StorePlain(type, elements[i], bytes.data(), parameter.PlaceOf(static_cast<int64_t>(i)));
  return bytes;
}

std::vector<double> RandomElements(const GrammarValue& parameter, std::mt19937& random) {
  if (const PlainBlockType* const blocks = FindPlainBlockType(parameter.type))
    return RandomBlocks(*blocks, parameter.elements(), random);
  const PlainType& type = PlainTypeOf(parameter.type);
  std::uniform_real_distribution<double> unit(-1, 1);
  std::vector<double> elements;
  for (int64_t i = 0; i < parameter.elements(); ++i) {
    const uint32_t kind = static_cast<uint32_t>(random() % 16);
    const double scale = kind == 0 ? 0 : kind == 1 ? 1e-4 : kind == 2 ? 6 : kind == 3 ? 0.03 : 1.5;
    const double most = std::min(type.most, kind == 0 ? type.most : random() % 2 == 0 ? 10.0 : 300.0);
    elements.push_back(RoundTo(type, IsFloat(type) ? unit(random) * scale : unit(random) * most));
  }
  return elements;
}

}  // namespace kirsch::testing
