// SPDX-License-Identifier: Apache-2.0
#include "import/plugin/mlir_plugin.h"

#include <llvm/ADT/APFloat.h>
#include <llvm/ADT/TypeSwitch.h>
#include <llvm/Support/CrashRecoveryContext.h>
#include <llvm/Support/MathExtras.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/SourceMgr.h>
#include <mlir/Dialect/Arith/IR/Arith.h>
#include <mlir/Dialect/Func/IR/FuncOps.h>
#include <mlir/Dialect/Linalg/IR/Linalg.h>
#include <mlir/Dialect/Math/IR/Math.h>
#include <mlir/Dialect/Tensor/IR/Tensor.h>
#include <mlir/Dialect/Tosa/IR/TosaOps.h>
#include <mlir/IR/AffineExpr.h>
#include <mlir/IR/AffineMap.h>
#include <mlir/IR/AsmState.h>
#include <mlir/IR/BuiltinAttributes.h>
#include <mlir/IR/BuiltinOps.h>
#include <mlir/IR/BuiltinTypes.h>
#include <mlir/IR/Diagnostics.h>
#include <mlir/IR/MLIRContext.h>
#include <mlir/IR/Operation.h>
#include <mlir/Parser/Parser.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace {

using nlohmann::json;

// A tensor with more elements than this that differ is not written out.
constexpr int64_t kMostElements = int64_t{1} << 20;

template <typename Printable>
std::string Print(const Printable& printable) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  printable.print(stream);
  return stream.str();
}

// JSON has no infinities and no NaN: those are words.
json Number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  return value;
}

json Number(const llvm::APFloat& value) {
  llvm::APFloat wide = value;
  bool inexact = false;
  wide.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &inexact);
  return Number(wide.convertToDouble());
}

json Number(const llvm::APInt& value, mlir::Type type) {
  if (type.isInteger(1)) return value.isZero() ? 0 : 1;
  return type.isUnsignedInteger() ? json(value.getZExtValue()) : json(value.getSExtValue());
}

json TypeJson(mlir::Type type) {
  const auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type);
  if (!tensor) return {{"text", Print(type)}};
  json shape = json::array();
  for (const int64_t size : tensor.getShape()) shape.push_back(mlir::ShapedType::isDynamic(size) ? -1 : size);
  return {{"shape", shape}, {"element", Print(tensor.getElementType())}};
}

json ElementsJson(mlir::DenseElementsAttr elements) {
  json written = TypeJson(elements.getType());
  const mlir::Type type = elements.getElementType();
  if (!type.isIntOrFloat() || type.getIntOrFloatBitWidth() > 64) return {{"text", "elements"}};
  json values = json::array();
  const auto add = [&](const auto& value) {
    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, llvm::APFloat>)
      values.push_back(Number(value));
    else
      values.push_back(Number(value, type));
  };
  const bool splat = elements.isSplat();
  if (!splat && elements.getNumElements() > kMostElements) return {{"text", "elements"}};
  if (llvm::isa<mlir::FloatType>(type)) {
    if (splat) add(elements.getSplatValue<llvm::APFloat>());
    if (!splat)
      for (const llvm::APFloat& value : elements.getValues<llvm::APFloat>()) add(value);
  } else {
    if (splat) add(elements.getSplatValue<llvm::APInt>());
    if (!splat)
      for (const llvm::APInt& value : elements.getValues<llvm::APInt>()) add(value);
  }
  written["values"] = values;  // a single one: all elements are it
  return written;
}

// Adds factor * expression to a row: a coefficient for each dim, then the constant. False if the expression
// is not linear, or has no such numbers.
bool AddTerms(mlir::AffineExpr expression, int64_t factor, std::vector<int64_t>* row) {
  if (const auto dim = llvm::dyn_cast<mlir::AffineDimExpr>(expression))
    return !llvm::AddOverflow((*row)[dim.getPosition()], factor, (*row)[dim.getPosition()]);
  int64_t product = 0;
  if (const auto constant = llvm::dyn_cast<mlir::AffineConstantExpr>(expression))
    return !llvm::MulOverflow(factor, constant.getValue(), product) &&
           !llvm::AddOverflow(row->back(), product, row->back());
  const auto binary = llvm::dyn_cast<mlir::AffineBinaryOpExpr>(expression);
  if (!binary) return false;
  if (binary.getKind() == mlir::AffineExprKind::Add)
    return AddTerms(binary.getLHS(), factor, row) && AddTerms(binary.getRHS(), factor, row);
  const auto scale = llvm::dyn_cast<mlir::AffineConstantExpr>(binary.getRHS());
  return binary.getKind() == mlir::AffineExprKind::Mul && scale &&
         !llvm::MulOverflow(factor, scale.getValue(), product) && AddTerms(binary.getLHS(), product, row);
}

json MapJson(mlir::AffineMap map) {
  json rows = json::array();
  for (const mlir::AffineExpr result : map.getResults()) {
    std::vector<int64_t> row(map.getNumDims() + 1, 0);
    if (!AddTerms(result, 1, &row)) return {{"text", Print(map)}};
    rows.push_back(row);
  }
  return {{"map", rows}};
}

// Attributes that are no numbers, words, maps or lists stay as MLIR writes them.
json AttributeJson(mlir::Attribute attribute) {
  return llvm::TypeSwitch<mlir::Attribute, json>(attribute)
      .Case([](mlir::BoolAttr value) { return json(value.getValue()); })
      .Case([](mlir::IntegerAttr value) {
        return value.getValue().getSignificantBits() <= 64 ? json(value.getValue().getSExtValue())
                                                           : json{{"text", Print(value)}};
      })
      .Case([](mlir::FloatAttr value) { return Number(value.getValue()); })
      .Case([](mlir::StringAttr value) { return json(value.getValue().str()); })
      .Case([](mlir::FlatSymbolRefAttr value) { return json(value.getValue().str()); })
      .Case([](mlir::DenseElementsAttr value) { return ElementsJson(value); })
      .Case([](mlir::DenseI64ArrayAttr value) { return json(value.asArrayRef().vec()); })
      .Case([](mlir::DenseI32ArrayAttr value) { return json(value.asArrayRef().vec()); })
      .Case([](mlir::DenseBoolArrayAttr value) {
        json list = json::array();
        for (const bool element : value.asArrayRef()) list.push_back(element);
        return list;
      })
      .Case([](mlir::AffineMapAttr value) { return MapJson(value.getValue()); })
      .Case([](mlir::ArrayAttr value) {
        json list = json::array();
        for (const mlir::Attribute element : value) list.push_back(AttributeJson(element));
        return list;
      })
      .Default([](mlir::Attribute other) { return json{{"text", Print(other)}}; });
}

// Numbers values as they come, and writes operations with what is in their regions.
class ModuleWriter {
 public:
  explicit ModuleWriter(llvm::StringRef source) : source_(source) {}

  json Write(mlir::ModuleOp module) {
    json functions = json::array();
    for (mlir::func::FuncOp function : module.getOps<mlir::func::FuncOp>()) {
      json written = Position(function.getLoc());
      written["name"] = function.getName().str();
      if (!function.isExternal()) written["body"] = Write(function.getBody().front());
      functions.push_back(written);
    }
    return {{"functions", functions}};
  }

 private:
  // The place in the text, 0 where a location says another file's; and the name that a location gives, as JAX
  // names parameters.
  json Position(mlir::Location location) const {
    json place = {{"line", 0}, {"column", 0}};
    location->walk([&](mlir::Location part) {
      if (const auto name = llvm::dyn_cast<mlir::NameLoc>(part); name && !place.contains("label"))
        place["label"] = name.getName().str();
      return mlir::WalkResult::advance();
    });
    if (const auto file = llvm::dyn_cast<mlir::FileLineColLoc>(location);
        file && file.getFilename().getValue() == source_) {
      place["line"] = file.getLine();
      place["column"] = file.getColumn();
    }
    return place;
  }

  int Of(mlir::Value value) {
    return numbers_.try_emplace(value.getAsOpaquePointer(), static_cast<int>(numbers_.size())).first->second;
  }

  json Define(mlir::Value value) { return {{"id", Of(value)}, {"type", TypeJson(value.getType())}}; }

  json Write(mlir::Block& block) {
    json arguments = json::array(), operations = json::array();
    for (const mlir::BlockArgument argument : block.getArguments()) {
      json written = Define(argument);
      written.update(Position(argument.getLoc()));
      arguments.push_back(written);
    }
    for (mlir::Operation& operation : block) operations.push_back(Write(operation));
    return {{"arguments", arguments}, {"operations", operations}};
  }

  json Write(mlir::Operation& operation) {
    json written = Position(operation.getLoc());
    written["name"] = operation.getName().getStringRef().str();
    written["operands"] = written["results"] = written["regions"] = json::array();
    written["attributes"] = json::object();
    for (const mlir::Value operand : operation.getOperands()) written["operands"].push_back(Of(operand));
    for (const mlir::Value result : operation.getResults()) written["results"].push_back(Define(result));
    // Also those that MLIR keeps as properties.
    for (const mlir::NamedAttribute attribute : operation.getAttrDictionary())
      written["attributes"][attribute.getName().str()] = AttributeJson(attribute.getValue());
    if (const auto properties =
            llvm::dyn_cast_or_null<mlir::DictionaryAttr>(operation.getPropertiesAsAttribute()))
      for (const mlir::NamedAttribute attribute : properties)
        written["attributes"][attribute.getName().str()] = AttributeJson(attribute.getValue());
    if (const auto structured = llvm::dyn_cast<mlir::linalg::LinalgOp>(operation))
      written["attributes"].update(StructureJson(structured));
    for (mlir::Region& region : operation.getRegions())
      if (!region.empty()) written["regions"].push_back(Write(region.front()));
    return written;
  }

  // Named operations have maps and iterators as linalg.generic has them, by what they are.
  static json StructureJson(mlir::linalg::LinalgOp operation) {
    json maps = json::array(), iterators = json::array();
    for (const mlir::AffineMap map : operation.getIndexingMapsArray()) maps.push_back(MapJson(map));
    for (const mlir::utils::IteratorType iterator : operation.getIteratorTypesArray())
      iterators.push_back(mlir::utils::stringifyIteratorType(iterator).str());
    return {{"indexing_maps", maps}, {"iterator_types", iterators}};
  }

  llvm::StringRef source_;
  std::map<const void*, int> numbers_;
};

// "<source>:<line>:<column>: <what>", where the location has a line. MLIR may print whole operations behind
// its first line, and long ones within it.
std::string DescribeError(mlir::Diagnostic& diagnostic, const char* source) {
  std::string text = source;
  if (const auto place = llvm::dyn_cast<mlir::FileLineColLoc>(diagnostic.getLocation()))
    text += ":" + std::to_string(place.getLine()) + ":" + std::to_string(place.getColumn());
  constexpr size_t kMostCharacters = 300;
  const std::string what = diagnostic.str();
  const std::string line = what.substr(0, what.find('\n'));
  text += ": " + line.substr(0, kMostCharacters) +
          (line.size() < what.size() || line.size() > kMostCharacters ? " ..." : "");
  return text;
}

// The module as JSON, or one line that says why there is none.
std::string Read(llvm::StringRef text, const char* source, bool* read) {
  mlir::DialectRegistry dialects;
  dialects.insert<mlir::arith::ArithDialect, mlir::func::FuncDialect, mlir::linalg::LinalgDialect,
                  mlir::math::MathDialect, mlir::tensor::TensorDialect, mlir::tosa::TosaDialect>();
  mlir::MLIRContext mlir(dialects, mlir::MLIRContext::Threading::DISABLED);
  mlir.allowUnregisteredDialects();
  std::string answer;
  const mlir::ScopedDiagnosticHandler handler(&mlir, [&](mlir::Diagnostic& diagnostic) {
    if (answer.empty() && diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error)
      answer = DescribeError(diagnostic, source);
    return mlir::success();
  });
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, source), llvm::SMLoc());
  const mlir::OwningOpRef<mlir::ModuleOp> module = mlir::parseSourceFile<mlir::ModuleOp>(sources, &mlir);
  *read = static_cast<bool>(module);
  if (module) answer = ModuleWriter(source).Write(*module).dump();
  if (!module && answer.empty()) answer = std::string(source) + ": expected a module of MLIR";
  return answer;
}

}  // namespace

int kirsch_mlir_read(const char* text, int64_t bytes, const char* source,
                     void (*take)(void*, const char*, int64_t), void* context) {
  std::string answer;
  bool read = false;
  // MLIR 19 crashes where an attribute of linalg.generic is none: `iterator_types = reduction`.
  llvm::CrashRecoveryContext::Enable();
  llvm::CrashRecoveryContext recovery;
  if (!recovery.RunSafely(
          [&] { answer = Read(llvm::StringRef(text, static_cast<size_t>(bytes)), source, &read); })) {
    read = false;
    answer = std::string(source) + ": expected text that MLIR's parser reads; it crashed";
  }
  llvm::CrashRecoveryContext::Disable();
  take(context, answer.data(), static_cast<int64_t>(answer.size()));
  return read ? 1 : 0;
}
