// SPDX-License-Identifier: Apache-2.0
// Holds a module of MLIR as data: functions, operations, values, attributes. It is read from the JSON that
// the plug-in writes, so nothing here needs MLIR.
//
//   {"functions": [{"name", "line", "column", "body": BLOCK}]}            no body: declared only
//   BLOCK = {"arguments": [VALUE], "operations": [OPERATION]}             of a region the first block
//   OPERATION = {"name", "line", "column", "operands": [id], "results": [VALUE], "attributes", "regions":
//   [BLOCK]} VALUE = {"id", "type": {"shape", "element"} or {"text"}}              an argument also has a
//   place and a label
//   An affine map is {"map": [[coefficients of the dims, constant]]}. All structured operations of linalg
//   have "indexing_maps" and "iterator_types" (words), whether they are named or generic.
#ifndef KIRSCH_IMPORT_MLIR_MODULE_H_
#define KIRSCH_IMPORT_MLIR_MODULE_H_

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "spec/text/text.h"

namespace kirsch {

// The type of a value. One that is no tensor has its text as the element, and is not `tensor`.
struct MlirType {
  bool tensor = false;
  std::vector<int64_t> shape;  // -1: known when the program runs
  std::string element;         // "f32", "i1", "ui8"

  int64_t elements() const;
  bool integer() const;  // also truth values and unsigned numbers
};

struct MlirValue {
  int id = -1;  // unique in the module
  MlirType type;
};

// A linear affine map: of each result, the coefficients of all dims, and then the constant.
//
//   (d0, d1, d2) -> (d0, 2 * d1 + d2)      {{1, 0, 0, 0}, {0, 2, 1, 0}}
using MlirMap = std::vector<std::vector<int64_t>>;

// An attribute: numbers (of a list or of a dense tensor, booleans as 0 and 1), or words, or maps, or MLIR's
// own text.
struct MlirAttribute {
  std::vector<double> numbers;
  std::vector<int64_t> shape;  // of a dense tensor, all of whose elements may be a single number
  std::vector<std::string> words;
  std::vector<MlirMap> maps;  // of a list; those that are not linear are text
  std::string text;           // "#stablehlo.dot<...>"
};

struct MlirBlock;

struct MlirOperation {
  std::string name;  // "stablehlo.add"
  TextPosition position;
  std::vector<int> operands;
  std::vector<MlirValue> results;
  std::map<std::string, MlirAttribute> attributes;
  std::vector<MlirBlock> regions;

  // Null if there is none of that name.
  const MlirAttribute* Find(const std::string& attribute) const;
  // The numbers of an attribute, each of a short tensor; none if it is not there. One that no double has
  // exactly is -1.
  std::vector<int64_t> Integers(const std::string& attribute) const;
};

struct MlirBlock {
  struct Argument {
    MlirValue value;
    TextPosition position;
    std::string label;  // the name that the program's author gave it; empty: none
  };
  std::vector<Argument> arguments;
  std::vector<MlirOperation> operations;
};

struct MlirFunction {
  std::string name;
  TextPosition position;
  bool defined = false;
  MlirBlock body;
};

struct MlirModule {
  std::vector<MlirFunction> functions;

  // Null if there is none of that name.
  const MlirFunction* Find(std::string_view name) const;
};

// Reads what the plug-in wrote. Internal if it is not of that form: then plug-in and program do not belong
// together.
absl::StatusOr<MlirModule> ReadMlirModule(std::string_view json);

}  // namespace kirsch

#endif  // KIRSCH_IMPORT_MLIR_MODULE_H_
