// SPDX-License-Identifier: Apache-2.0
#include "calibrate/measurements.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "spec/target/target_keys.h"
#include "spec/text/cat.h"
#include "spec/text/json.h"
#include "spec/text/json_members.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

// Returns the path with today's name of its key: "memory.L2.usable" becomes "memory.L2.capacity_share".
std::string CurrentPath(const std::string& path) {
  const size_t key = path.rfind('.') + 1;
  return Cat(path.substr(0, key), CurrentName(std::string_view(path).substr(key)));
}

using nlohmann::ordered_json;
using Kind = JsonValue::Kind;

// Reads the members one by one, and remembers the first error. Values are of no use before ok() is asked.
class Reader : JsonMembers {
 public:
  explicit Reader(std::string_view file) : JsonMembers(file) {}

  absl::StatusOr<Measurements> Read(const JsonValue& document) {
    Measurements measurements;
    measurements.signature = Member(document, "signature", Kind::kString, "a machine's signature").text;
    for (const JsonValue& key : Member(document, "keys", Kind::kArray, "an array of keys").children)
      measurements.keys.push_back(Key(key));
    for (const JsonValue& one : Member(document, "programs", Kind::kArray, "an array of programs").children)
      measurements.programs.push_back(Program(one));
    if (!ok()) return status();
    return measurements;
  }

 private:
  CalibratedKey Key(const JsonValue& json) {
    CalibratedKey key;
    key.name = CurrentPath(Member(json, "name", Kind::kString, "a key's name").text);
    key.value = Number(json, "value");
    key.low = Number(json, "low");
    key.high = Number(json, "high");
    key.origin = Origin::kMeasured;
    return key;
  }

  Remembered Program(const JsonValue& json) {
    Remembered program;
    program.experiment.problem = Member(json, "problem", Kind::kString, "a problem, a string").text;
    program.experiment.programs = 1;
    program.experiment.cold = Flag(json, "cold");
    program.experiment.schedule = Member(json, "schedule", Kind::kString, "a schedule, a string").text;
    program.cycles = Number(json, "cycles");
    program.spread = Number(json, "spread");
    program.chosen = Flag(json, "chosen");
    program.distance = Number(json, "distance");
    program.fresh = Flag(json, "fresh");
    // Both are optional, since files of earlier versions have neither.
    if (json.Find("group") != nullptr)
      program.experiment.group = Member(json, "group", Kind::kString, "a group's name, a string").text;
    if (json.Find("held_out") != nullptr) program.experiment.held_out = Flag(json, "held_out");
    return program;
  }

  bool Flag(const JsonValue& object, std::string_view key) {
    return Member(object, key, Kind::kBool, "true or false").boolean;
  }

  // All numbers of the file are finite and not negative. Cycles are divided by, so they must not be 0.
  double Number(const JsonValue& object, std::string_view key) {
    const JsonValue& member = Member(object, key, Kind::kNumber, "a number");
    if (ok() && !(member.number >= 0 && std::isfinite(member.number)))
      Refuse(member, "a number that is not negative");
    if (ok() && key == "cycles" && member.number == 0) Refuse(member, "a number above 0");
    return member.number;
  }
};

}  // namespace

std::string_view Name(Origin origin) {
  constexpr std::string_view kNames[] = {"measured", "fitted", "vendor", "default"};
  return kNames[static_cast<size_t>(origin)];
}

std::string PrintMeasurements(const Measurements& measurements) {
  ordered_json json = {{"signature", measurements.signature},
                       {"keys", ordered_json::array()},
                       {"programs", ordered_json::array()}};
  for (const CalibratedKey& key : measurements.keys)
    json["keys"].push_back({{"name", key.name}, {"value", key.value}, {"low", key.low}, {"high", key.high}});
  for (const Remembered& one : measurements.programs)
    json["programs"].push_back({{"problem", one.experiment.problem},
                                {"cold", one.experiment.cold},
                                {"schedule", one.experiment.schedule},
                                {"cycles", one.cycles},
                                {"spread", one.spread},
                                {"chosen", one.chosen},
                                {"distance", one.distance},
                                {"fresh", one.fresh},
                                {"group", one.experiment.group},
                                {"held_out", one.experiment.held_out}});
  return Cat(json.dump(1), "\n");
}

absl::StatusOr<Measurements> ParseMeasurements(std::string_view text, std::string_view file) {
  KIRSCH_ASSIGN_OR_RETURN(const JsonValue document, ParseJson(text, file));
  return Reader(file).Read(document);
}

}  // namespace kirsch
