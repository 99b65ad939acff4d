// SPDX-License-Identifier: Apache-2.0
#include "spec/language/kernel_family.h"

#include "spec/storage.h"

namespace kirsch {

int64_t CallersElements(const Spec& spec) {
  int64_t elements = 0;
  for (int operand = 0; operand < spec.op_info().num_operands; ++operand)
    elements += RootElements(spec, operand);
  return elements;
}

int64_t CallersElements(const Graph& graph) {
  int64_t elements = 0;
  for (int input = 0; input < graph.num_inputs(); ++input) elements += graph.at(input).type.elements();
  for (const GraphResult& result : graph.results) elements += graph.TypeOf(result).elements();
  return elements;
}

const std::string& KernelFamily::text() const {
  return std::visit([](const auto& family) -> const std::string& { return family.text(); }, family_);
}

std::vector<VaryingSize> KernelFamily::sizes() const {
  return graphs() != nullptr ? graphs()->sizes() : specs()->varying_sizes();
}

int64_t KernelFamily::count() const {
  return std::visit([](const auto& family) { return family.count(); }, family_);
}

KernelMember KernelFamily::member(int64_t index) const {
  return std::visit([&](const auto& family) -> KernelMember { return family.member(index); }, family_);
}

std::vector<Parameter> KernelFamily::entry_tensors(int64_t index) const {
  return specs() != nullptr ? specs()->member(index).parameters : std::vector<Parameter>();
}

}  // namespace kirsch
