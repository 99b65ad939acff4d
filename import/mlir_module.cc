// SPDX-License-Identifier: Apache-2.0
#include "import/mlir_module.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "spec/text/cat.h"

namespace kirsch {
namespace {

using nlohmann::json;

// At most 2^62: sizes come from a file, and may be any.
int64_t Product(const std::vector<int64_t>& shape) {
  constexpr int64_t kMost = int64_t{1} << 62;
  int64_t product = 1;
  for (const int64_t size : shape) {
    if (size > 0 && product > kMost / size) return kMost;
    product *= size;
  }
  return product;
}

TextPosition PositionOf(const json& read) {
  return {read.at("line").get<int>(), read.at("column").get<int>()};
}

MlirValue ValueOf(const json& read) {
  MlirValue value{read.at("id").get<int>(), {}};
  const json& type = read.at("type");
  value.type.tensor = type.contains("shape");
  value.type.element = type.at(value.type.tensor ? "element" : "text").get<std::string>();
  if (value.type.tensor) value.type.shape = type.at("shape").get<std::vector<int64_t>>();
  return value;
}

// A number, or the word for one that JSON cannot write.
bool AddNumber(const json& read, std::vector<double>* numbers) {
  using Limits = std::numeric_limits<double>;
  if (read.is_boolean()) numbers->push_back(read.get<bool>() ? 1 : 0);
  if (read.is_number()) numbers->push_back(read.get<double>());
  if (read == "inf") numbers->push_back(Limits::infinity());
  if (read == "-inf") numbers->push_back(-Limits::infinity());
  if (read == "nan") numbers->push_back(Limits::quiet_NaN());
  return read.is_boolean() || read.is_number() || read == "inf" || read == "-inf" || read == "nan";
}

void AddAttribute(const json& read, MlirAttribute* attribute) {
  if (AddNumber(read, &attribute->numbers)) return;
  if (read.is_string()) attribute->words.push_back(read.get<std::string>());
  if (read.is_array())
    for (const json& element : read) AddAttribute(element, attribute);
  if (!read.is_object()) return;
  if (read.contains("values")) AddAttribute(read.at("values"), attribute);
  if (read.contains("shape")) attribute->shape = read.at("shape").get<std::vector<int64_t>>();
  if (read.contains("map")) attribute->maps.push_back(read.at("map").get<MlirMap>());
  if (read.contains("text")) Append(&attribute->text, read.at("text").get<std::string>());
}

MlirBlock BlockOf(const json& read);

MlirOperation OperationOf(const json& read) {
  MlirOperation operation;
  operation.name = read.at("name").get<std::string>();
  operation.position = PositionOf(read);
  operation.operands = read.at("operands").get<std::vector<int>>();
  for (const json& result : read.at("results")) operation.results.push_back(ValueOf(result));
  for (const auto& [name, attribute] : read.at("attributes").items())
    AddAttribute(attribute, &operation.attributes[name]);
  for (const json& region : read.at("regions")) operation.regions.push_back(BlockOf(region));
  return operation;
}

MlirBlock BlockOf(const json& read) {
  MlirBlock block;
  for (const json& argument : read.at("arguments"))
    block.arguments.push_back({ValueOf(argument), PositionOf(argument), argument.value("label", "")});
  for (const json& operation : read.at("operations")) block.operations.push_back(OperationOf(operation));
  return block;
}

}  // namespace

int64_t MlirType::elements() const { return Product(shape); }

bool MlirType::integer() const {
  return !element.empty() && (element[0] == 'i' || element[0] == 'u' || element[0] == 's');
}

const MlirAttribute* MlirOperation::Find(const std::string& attribute) const {
  const auto found = attributes.find(attribute);
  return found == attributes.end() ? nullptr : &found->second;
}

std::vector<int64_t> MlirOperation::Integers(const std::string& attribute) const {
  constexpr double kMost = 0x1p53;
  constexpr int64_t kMostRepeated = 64;
  std::vector<int64_t> integers;
  const MlirAttribute* found = Find(attribute);
  if (found == nullptr) return integers;
  for (const double number : found->numbers)
    integers.push_back(std::abs(number) <= kMost ? static_cast<int64_t>(number) : -1);
  if (const int64_t elements = Product(found->shape); integers.size() == 1 && elements <= kMostRepeated)
    integers.resize(static_cast<size_t>(elements), integers[0]);
  return integers;
}

const MlirFunction* MlirModule::Find(std::string_view name) const {
  const auto found = std::find_if(functions.begin(), functions.end(),
                                  [&](const auto& function) { return function.name == name; });
  return found == functions.end() ? nullptr : &*found;
}

absl::StatusOr<MlirModule> ReadMlirModule(std::string_view text) {
  try {
    MlirModule module;
    const json whole = json::parse(text);
    for (const json& read : whole.at("functions")) {
      MlirFunction function{read.at("name").get<std::string>(), PositionOf(read), read.contains("body"), {}};
      if (function.defined) function.body = BlockOf(read.at("body"));
      module.functions.push_back(std::move(function));
    }
    return module;
  } catch (const json::exception& error) {
    return absl::InternalError(Cat("the plug-in for MLIR is not of this version: ", error.what()));
  }
}

}  // namespace kirsch
