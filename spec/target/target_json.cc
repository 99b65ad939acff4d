// SPDX-License-Identifier: Apache-2.0
#include "spec/target/target_json.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>

#include "spec/feature.h"
#include "spec/instruction.h"
#include "spec/target/target_keys.h"
#include "spec/text/cat.h"
#include "spec/text/json.h"
#include "spec/text/nearest.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

bool HasTiles(const Instruction& row, const Target& target) {
  return !row.tiles.feature.empty() && target.HasFeature(row.tiles.feature);
}

// True if vectors multiply what tiles leave of an operand that is packed for them: in groups as long.
bool VectorsTakeOver(const Instruction& tiles, const Target& target) {
  return std::ranges::any_of(kInstructions, [&](const Instruction& row) {
    return row.group == tiles.group && (row.rhs == tiles.rhs || row.unpacked == tiles.rhs) &&
           EncodingOf(row.arithmetic, target.vectors.front(), target) != nullptr;
  });
}

using Kind = JsonValue::Kind;

constexpr Level kMemoryLevels[] = {Level::kL1, Level::kL2, Level::kL3, Level::kRam};

// The member of `unit` that the row's keys set. `unit`: a VectorUnit, const or not, as the reader and the
// writer share the tables.
template <typename Unit>
auto& RateOf(const Instruction& row, Unit& unit) {
  return unit.rates[static_cast<size_t>(row.arithmetic)];
}

template <typename Unit>
auto& WideningOf(const DtypeInfo& row, Unit& unit) {
  return unit.widening[static_cast<size_t>(row.dtype)];
}

// Members that are not set here have their defaults in the struct.
VectorUnit DefaultVectorUnit(int bytes) {
  VectorUnit unit;
  unit.bytes = bytes;
  unit.registers = 16;
  unit.fma_per_cycle = 2;
  unit.loads_per_cycle = 2;
  unit.stores_per_cycle = 1;
  return unit;
}

// `unstreamed_cycles_per_line` is 0 for L1 only. There, a page costs nothing, either.
MemoryLevel DefaultCache(int64_t bytes, int ways, double cycles_per_line, double unstreamed_cycles_per_line,
                         int ramp_lines, double overlap) {
  MemoryLevel level;
  level.bytes = bytes;
  level.ways = ways;
  level.cycles_per_line = cycles_per_line;
  level.unstreamed_cycles_per_line = unstreamed_cycles_per_line;
  level.ramp_lines = ramp_lines;
  level.streams = 12;
  level.cycles_per_page = unstreamed_cycles_per_line > 0 ? 8 : 0;
  level.overlap = overlap;
  return level;
}

// The names of the keys of some tables, for hints about a key that is not known.
template <typename... Tables>
std::vector<std::string> KeyNames(const Tables&... tables) {
  std::vector<std::string> names;
  const auto add = [&](const auto& table) {
    for (const auto& key : table) names.emplace_back(key.name);
  };
  (add(tables), ...);
  return names;
}

// Keys of instructions and of types are made from two tables: "dot_u8s8" and "_latency".
std::vector<std::string> VectorKeyNames() {
  std::vector<std::string> names = KeyNames(kVectorKeys);
  names.emplace_back("masks");
  for (const Instruction& row : kInstructions)
    if (!row.timing.empty())
      for (const auto& key : kRateKeys) names.push_back(Cat(row.timing, key.name));
  for (const DtypeInfo& row : kDtypes)
    if (IsNarrow(row.dtype))
      for (const auto& key : kWideningKeys) names.push_back(Cat(row.name, key.name));
  return names;
}

// Reads one file. Each method returns the first error that it finds. Warnings collect in the result, as a
// file with keys that mean nothing is still a good one.
class TargetReader {
 public:
  explicit TargetReader(std::string_view file) : file_(file) {}

  absl::StatusOr<TargetFile> Read(const JsonValue& document) {
    // Keys overwrite the defaults one by one. So the order of keys in a file does not matter; what concerns
    // several keys is checked at the end.
    result_.target = DefaultTarget();
    if (document.kind != Kind::kObject)
      return ExpectedAt(file_, document, "an object with the keys of a target");
    KIRSCH_RETURN_IF_ERROR(CheckNames(document));
    for (const JsonValue& value : document.children) KIRSCH_RETURN_IF_ERROR(ReadKey(value));
    KIRSCH_RETURN_IF_ERROR(Check(document));
    return std::move(result_);
  }

 private:
  // No object may have a key under both of its names: which one counts would depend on their order.
  absl::Status CheckNames(const JsonValue& value) {
    for (const JsonValue& child : value.children) {
      const std::string_view name = CurrentName(child.key);
      if (name != child.key && value.Find(name) != nullptr)
        return ErrorAt(file_, child.key_position,
                       Cat("expected one of ", Quoted(name), " and ", Quoted(child.key),
                           ", which are the same key, got both"));
      KIRSCH_RETURN_IF_ERROR(CheckNames(child));
    }
    return absl::OkStatus();
  }

  // A key of the outermost object: one that has a form of its own, or a number of kTargetKeys.
  absl::Status ReadKey(const JsonValue& value) {
    Target& target = result_.target;
    if (value.key == "name") return ReadString(value, &target.name);
    if (value.key == "cpu") {
      // Whether LLVM knows the CPU is found out later, where LLVM is linked. The error needs this place then.
      result_.cpu = value.position;
      return ReadString(value, &target.cpu);
    }
    if (value.key == "calibration") return ReadCalibration(value);
    if (value.key == "features") return ReadFeatures(value);
    if (value.key == "vectors") return ReadVectors(value);
    if (value.key == "matrix") return ReadMatrix(value);
    if (value.key == "memory") return ReadMemory(value);
    bool known = false;
    absl::Status status = ReadNumber<Target>(value, kTargetKeys, &target, &known);
    if (known) return status;
    std::vector<std::string> names = KeyNames(kTargetKeys);
    names.insert(names.end(), {"name", "cpu", "calibration", "features", "vectors", "matrix", "memory"});
    WarnUnknown(value, names);
    return status;
  }

  void WarnUnknown(const JsonValue& value, const std::vector<std::string>& known) {
    const std::string hint = DidYouMean(value.key, known);
    result_.warnings.push_back(std::string(
        ErrorAt(file_, value.key_position, Cat("unknown key ", Quoted(value.key), " is ignored", hint))
            .message()));
  }

  // Names go into messages, commands and LLVM's options: nothing but letters, digits and ".-_+".
  absl::Status ReadString(const JsonValue& value, std::string* result) {
    constexpr std::string_view kAllowed =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_+";
    if (value.kind != Kind::kString || value.text.empty() || value.text.size() > 64 ||
        value.text.find_first_not_of(kAllowed) != std::string::npos)
      return ExpectedAt(file_, value, "a name (letters, digits, '.', '-', '_', '+')");
    *result = value.text;
    return absl::OkStatus();
  }

  // The record of a calibration: what was measured, and how sure that is. It is for people, and for
  // calibrate/, which reads all of it. A target needs no more than its date.
  absl::Status ReadCalibration(const JsonValue& value) {
    if (value.kind != Kind::kObject) return ExpectedAt(file_, value, "an object");
    const JsonValue* const date = value.Find("date");
    return date == nullptr ? absl::OkStatus() : ReadString(*date, &result_.calibrated);
  }

  // A feature may be newer than this code, so it is no error. A typo is one that nobody would find.
  void WarnOfFeature(const JsonValue& element, const std::string& name) {
    std::vector<std::string_view> names;
    for (const Feature& feature : kFeatures) names.push_back(feature.name);
    result_.warnings.push_back(
        std::string(ErrorAt(file_, element.position,
                            Cat("no code is made for the feature ", Quoted(name), DidYouMean(name, names)))
                        .message()));
  }

  absl::Status ReadFeatures(const JsonValue& value) {
    if (value.kind != Kind::kArray) return ExpectedAt(file_, value, "an array of feature names");
    result_.target.features.clear();
    for (const JsonValue& element : value.children) {
      std::string& name = result_.target.features.emplace_back();
      KIRSCH_RETURN_IF_ERROR(ReadString(element, &name));
      if (FindFeature(name) == nullptr) WarnOfFeature(element, name);
    }
    return absl::OkStatus();
  }

  absl::Status ReadVectors(const JsonValue& value) {
    if (value.kind != Kind::kArray || value.children.empty())
      return ExpectedAt(file_, value, "an array of one object per vector width");
    result_.target.vectors.clear();
    for (const JsonValue& element : value.children) {
      // Keys that the object lacks have the defaults of 32 bytes.
      VectorUnit& unit = result_.target.vectors.emplace_back(DefaultVectorUnit(32));
      if (element.kind != Kind::kObject)
        return ExpectedAt(file_, element, "an object with the keys of a vector unit");
      KIRSCH_RETURN_IF_ERROR(ReadVectorUnit(element, &unit));
    }
    return absl::OkStatus();
  }

  absl::Status ReadVectorUnit(const JsonValue& object, VectorUnit* unit) {
    for (const JsonValue& value : object.children) {
      if (value.key == "masks") {
        if (value.kind != Kind::kBool) return ExpectedAt(file_, value, "true or false");
        unit->masks = value.boolean;
        continue;
      }
      // A key belongs to one of three tables: of the unit itself, of an instruction, of a type.
      bool known = false;
      absl::Status status = ReadNumber<VectorUnit>(value, kVectorKeys, unit, &known);
      for (const Instruction& row : kInstructions)
        if (status.ok() && !known && !row.timing.empty())
          status = ReadNumber<ArithmeticRate>(value, kRateKeys, &RateOf(row, *unit), &known, row.timing);
      for (const DtypeInfo& row : kDtypes)
        if (status.ok() && !known && IsNarrow(row.dtype))
          status = ReadNumber<WideningCosts>(value, kWideningKeys, &WideningOf(row, *unit), &known, row.name);
      if (!status.ok()) return status;
      if (!known) WarnUnknown(value, VectorKeyNames());
    }
    // The default is one of the three, so if it is none of them, the object has the key.
    const JsonValue* bytes = object.Find("bytes");
    if (unit->bytes != 16 && unit->bytes != 32 && unit->bytes != 64)
      return ExpectedAt(file_, *bytes, "16, 32 or 64");
    if (unit->bytes == 64 && !unit->masks)
      return ErrorAt(file_, object.position, "expected masks with 64-byte vectors");
    return absl::OkStatus();
  }

  absl::Status ReadMatrix(const JsonValue& object) {
    if (object.kind != Kind::kObject)
      return ExpectedAt(file_, object, "an object with the keys of a matrix unit");
    // The key `matrix` says that there is such a unit, even if it is an empty object.
    MatrixUnit& unit = result_.target.matrix.emplace();
    for (const JsonValue& value : object.children) {
      bool known = false;
      KIRSCH_RETURN_IF_ERROR(ReadNumber<MatrixUnit>(value, kMatrixKeys, &unit, &known));
      if (!known) WarnUnknown(value, KeyNames(kMatrixKeys));
    }
    return absl::OkStatus();
  }

  absl::Status ReadMemory(const JsonValue& value) {
    if (value.kind != Kind::kObject)
      return ExpectedAt(file_, value, "an object with the keys L1, L2, L3, RAM");
    for (const JsonValue& member : value.children) {
      const auto level = std::find_if(std::begin(kMemoryLevels), std::end(kMemoryLevels),
                                      [&](Level level) { return Name(level) == member.key; });
      if (level == std::end(kMemoryLevels)) {
        WarnUnknown(member, {"L1", "L2", "L3", "RAM"});
        continue;
      }
      KIRSCH_RETURN_IF_ERROR(ReadLevel(member, *level));
    }
    return absl::OkStatus();
  }

  absl::Status ReadLevel(const JsonValue& object, Level level) {
    if (object.kind != Kind::kObject)
      return ExpectedAt(file_, object, "an object with the keys of a memory level");
    MemoryLevel& memory = result_.target.memory[static_cast<size_t>(Index(level))];
    for (const JsonValue& value : object.children) {
      bool known = false;
      absl::Status status = ReadNumber<MemoryLevel>(value, kTransferKeys, &memory, &known);
      // RAM has no capacity: there, these are unknown keys.
      if (status.ok() && !known && level != Level::kRam)
        status = ReadNumber<MemoryLevel>(value, kCapacityKeys, &memory, &known);
      if (!status.ok()) return status;
      if (!known)
        WarnUnknown(value,
                    level == Level::kRam ? KeyNames(kTransferKeys) : KeyNames(kTransferKeys, kCapacityKeys));
    }
    return absl::OkStatus();
  }

  // If `value` is one of `keys`, after `prefix`: checks it, stores it, and sets *known. A key that is none of
  // them is no error; the caller tries other tables.
  template <typename Struct>
  absl::Status ReadNumber(const JsonValue& value, std::span<const NumericKey<Struct>> keys, Struct* object,
                          bool* known, std::string_view prefix = "") {
    const std::string_view name = CurrentName(value.key);
    const auto key = std::ranges::find_if(keys, [&](const auto& k) {
      return name.size() == prefix.size() + k.name.size() && name.starts_with(prefix) &&
             name.ends_with(k.name);
    });
    if (key == keys.end()) return absl::OkStatus();
    *known = true;
    // A member that is an integer takes whole numbers only.
    const bool whole = !std::holds_alternative<double Struct::*>(key->member);
    const bool good = value.kind == Kind::kNumber && value.number >= key->low && value.number <= key->high &&
                      (!whole || value.number == std::floor(value.number));
    if (!good)
      return ExpectedAt(file_, value,
                        Cat(whole ? "a whole number" : "a number", " from ", key->low, " to ", key->high,
                            " for ", value.key));
    std::visit(
        [&](auto member) {
          object->*member = static_cast<std::decay_t<decltype(object->*member)>>(value.number);
        },
        key->member);
    return absl::OkStatus();
  }

  // Checks what concerns several keys. The place of an error is that of the key which is most likely wrong,
  // or of the document where it is left out.
  absl::Status Check(const JsonValue& document) {
    const Target& target = result_.target;
    const auto place = [&](std::string_view key) {
      const JsonValue* value = document.Find(key);
      return value != nullptr ? value->position : document.position;
    };
    for (size_t i = 0; i < target.vectors.size(); ++i) {
      for (const std::string& feature : FeaturesOf(target.vectors[i]))
        if (!target.HasFeature(feature))
          return ErrorAt(file_, place("features"),
                         Cat("expected the feature ", feature, ", which vectors[", i, "] needs"));
      // The search takes the first unit for the widest one.
      if (i > 0 && target.vectors[i].bytes >= target.vectors[i - 1].bytes)
        return ErrorAt(file_, place("vectors"), "expected each vector width once, the widest first");
    }
    if (target.matrix && !target.HasFeature(kTileFeature))
      return ErrorAt(file_, place("features"),
                     Cat("expected the feature ", kTileFeature, ", which matrix needs"));
    for (const Instruction& row : kInstructions)
      if (target.matrix && HasTiles(row, target) && !VectorsTakeOver(row, target))
        return ErrorAt(file_, place("features"),
                       Cat("expected the feature ", *row.encodings.front().features.begin(), ", which ",
                           row.tiles.feature, " needs beside it"));
    // There are register tiles of the matrix unit only beside vectors as long as a row of a tile is.
    if (target.matrix && target.vectors.front().bytes != kTileRowBytes)
      return ErrorAt(file_, place("vectors"),
                     Cat("expected vectors of ", kTileRowBytes, " bytes, which matrix needs"));
    if (target.at(Level::kL1).bytes > target.at(Level::kL2).bytes ||
        target.at(Level::kL2).bytes > target.at(Level::kL3).bytes)
      return ErrorAt(file_, place("memory"),
                     "expected every cache to be at least as large as the one before it");
    // Footprints divide by them by shifts.
    for (const auto& [key, bytes] :
         {std::pair{"line_bytes", target.line_bytes}, {"page_bytes", target.page_bytes}})
      if ((bytes & (bytes - 1)) != 0)
        return ErrorAt(file_, place(key), Cat("expected a power of two for ", key, ", got ", bytes));
    return absl::OkStatus();
  }

  std::string_view file_;
  TargetFile result_;
};

// Adds the numbers of one table to `json`, each after `prefix`. The reader finds them by the same rows.
template <typename Struct>
void Write(std::span<const NumericKey<Struct>> keys, const Struct& object, nlohmann::ordered_json* json,
           std::string_view prefix = "") {
  for (const NumericKey<Struct>& key : keys)
    std::visit([&](auto member) { (*json)[Cat(prefix, key.name)] = object.*member; }, key.member);
}

}  // namespace

Target DefaultTarget() {
  Target target;
  target.name = "unnamed";
  target.cpu = "x86-64-v3";
  target.features = {"avx2", "fma"};
  target.vectors = {DefaultVectorUnit(32), DefaultVectorUnit(16)};
  auto& memory = target.memory;
  // From L1 to RAM, a line costs more cycles, and less of its cost hides behind arithmetic.
  memory[static_cast<size_t>(Level::kL1)] = DefaultCache(32 << 10, 8, 1, 0, 0, 1);
  memory[static_cast<size_t>(Level::kL2)] = DefaultCache(512 << 10, 8, 2, 0.5, 2, 0.7);
  memory[static_cast<size_t>(Level::kL3)] = DefaultCache(8 << 20, 16, 4, 4, 16, 0.5);
  MemoryLevel& ram = memory[static_cast<size_t>(Level::kRam)];
  // RAM has more bytes than any operand, so that everything fits.
  ram = DefaultCache(int64_t{1} << 60, 1, 10, 11, 32, 0.4);
  ram.write_factor = 1.5;
  return target;
}

absl::StatusOr<TargetFile> ParseTarget(std::string_view text, std::string_view file) {
  KIRSCH_ASSIGN_OR_RETURN(JsonValue document, ParseJson(text, file));
  return TargetReader(file).Read(document);
}

std::string PrintTarget(const Target& target) {
  nlohmann::ordered_json json;
  json["name"] = target.name;
  json["cpu"] = target.cpu;
  json["features"] = target.features;
  Write<Target>(kTargetKeys, target, &json);
  for (const VectorUnit& unit : target.vectors) {
    nlohmann::ordered_json object;
    Write<VectorUnit>(kVectorKeys, unit, &object);
    for (const Instruction& row : kInstructions)
      if (!row.timing.empty()) Write<ArithmeticRate>(kRateKeys, RateOf(row, unit), &object, row.timing);
    for (const DtypeInfo& row : kDtypes)
      if (IsNarrow(row.dtype)) Write<WideningCosts>(kWideningKeys, WideningOf(row, unit), &object, row.name);
    object["masks"] = unit.masks;
    json["vectors"].push_back(object);
  }
  if (target.matrix) Write<MatrixUnit>(kMatrixKeys, *target.matrix, &json["matrix"]);
  for (Level level : kMemoryLevels) {
    nlohmann::ordered_json& object = json["memory"][std::string(Name(level))];
    if (level != Level::kRam) Write<MemoryLevel>(kCapacityKeys, target.at(level), &object);
    Write<MemoryLevel>(kTransferKeys, target.at(level), &object);
  }
  return Cat(json.dump(2), "\n");
}

}  // namespace kirsch
