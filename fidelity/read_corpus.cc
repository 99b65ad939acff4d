// SPDX-License-Identifier: Apache-2.0
#include "fidelity/read_corpus.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "spec/text/cat.h"
#include "spec/text/file.h"
#include "spec/text/json.h"
#include "spec/text/json_members.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

using Kind = JsonValue::Kind;

// Reads one file. The first error stays, and what is read after it is empty.
class CorpusReader : JsonMembers {
 public:
  explicit CorpusReader(std::string_view file) : JsonMembers(file) {}

  absl::StatusOr<Corpus> Read(const JsonValue& document) {
    Corpus corpus;
    corpus.threads = static_cast<int>(Number(document, "threads", 1, 255));
    if (Member(document, "cold", Kind::kBool, "true or false").boolean) corpus.residency = Residency::kCold;
    for (const JsonValue& spec : Member(document, "specs", Kind::kArray, "an array of specs").children)
      corpus.specs.push_back(Spec(spec));
    if (!ok()) return status();
    return corpus;
  }

 private:
  MeasuredSpec Spec(const JsonValue& json) {
    MeasuredSpec spec;
    spec.text = Member(json, "spec", Kind::kString, "a spec, a string").text;
    spec.ghz = Number(json, "ghz", 0, HUGE_VAL);
    for (const JsonValue& program : Member(json, "programs", Kind::kArray, "an array of programs").children)
      spec.programs.push_back(Program(program));
    return spec;
  }

  MeasuredProgram Program(const JsonValue& json) {
    MeasuredProgram program;
    program.schedule = Member(json, "schedule", Kind::kString, "a schedule, a string").text;
    program.cycles = Number(json, "cycles", kLeastTime, HUGE_VAL);
    program.seconds = Number(json, "seconds", kLeastTime, HUGE_VAL);
    program.spread = Number(json, "spread", 0, HUGE_VAL);
    return program;
  }

  // Refuses numbers beyond `least` and `most`, and NaN, of which neither comparison holds.
  double Number(const JsonValue& object, std::string_view key, double least, double most) {
    const JsonValue& member = Member(object, key, Kind::kNumber, "a number");
    if (ok() && !(member.number >= least && member.number <= most))
      Refuse(member, least > 0 ? "a number above 0" : "a number that is not negative");
    return member.number;
  }

  static constexpr double kLeastTime = 1e-300;  // times are divided by, so 0 is none
};

// Adds a spec to the corpus, or its programs to the same spec from an earlier file.
void Add(MeasuredSpec spec, Corpus* corpus) {
  const auto known = std::find_if(corpus->specs.begin(), corpus->specs.end(),
                                  [&](const MeasuredSpec& other) { return other.text == spec.text; });
  if (known == corpus->specs.end()) return corpus->specs.push_back(std::move(spec));
  std::move(spec.programs.begin(), spec.programs.end(), std::back_inserter(known->programs));
}

}  // namespace

absl::StatusOr<Corpus> ParseCorpus(std::string_view text, std::string_view file) {
  KIRSCH_ASSIGN_OR_RETURN(const JsonValue document, ParseJson(text, file));
  return CorpusReader(file).Read(document);
}

absl::StatusOr<Corpus> ReadCorpora(const std::vector<std::string>& paths) {
  Corpus all;
  for (const std::string& path : paths) {
    KIRSCH_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
    KIRSCH_ASSIGN_OR_RETURN(Corpus corpus, ParseCorpus(text, path));
    // The first file says what the others must be like.
    if (&path == &paths.front()) {
      all.threads = corpus.threads;
      all.residency = corpus.residency;
    }
    if (corpus.threads != all.threads || corpus.residency != all.residency)
      return absl::InvalidArgumentError(Cat(path, ": expected a corpus measured as ", paths.front(),
                                            " was, got other threads or operands elsewhere"));
    for (MeasuredSpec& spec : corpus.specs) Add(std::move(spec), &all);
  }
  return all;
}

}  // namespace kirsch
