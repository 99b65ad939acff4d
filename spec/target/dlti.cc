// SPDX-License-Identifier: Apache-2.0
#include "spec/target/dlti.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "spec/target/targets.h"
#include "spec/text/cat.h"
#include "spec/text/status_macros.h"
#include "spec/text/text.h"

namespace kirsch {
namespace {

using nlohmann::ordered_json;

// Keys of other compilers, and where a target file has the same number.
struct CommonKey {
  std::string_view key, pointer;
};
constexpr std::array<CommonKey, 4> kCommonKeys = {{{"L1_cache_size_in_bytes", "/memory/L1/bytes"},
                                                   {"L2_cache_size_in_bytes", "/memory/L2/bytes"},
                                                   {"L3_cache_size_in_bytes", "/memory/L3/bytes"},
                                                   {"num_threads", "/cores"}}};
constexpr std::string_view kVectorBits = "max_vector_width";
constexpr std::string_view kOwnPrefix = "kirsch";  // before the pointer of a target file
constexpr std::string_view kSystem = "#dlti.target_system_spec", kDevice = "#dlti.target_device_spec",
                           kEntry = "#dlti.dl_entry";
constexpr std::string_view kFeatureList = "/features/";
constexpr int kWideBits = 512;
constexpr std::string_view kWideTarget = "skylake-avx512";

// A value, and the place of its key.
struct DltiEntry {
  ordered_json value;
  TextPosition position;
};
using DltiEntries = std::map<std::string, DltiEntry>;

std::optional<ordered_json> NumberIn(std::string_view word) {
  // Whole numbers first, as files of targets tell them from others.
  const char* const end = word.data() + word.size();
  int64_t whole = 0;
  double number = 0;
  const auto is_all = [&](const std::from_chars_result& read) {
    return read.ptr == end && read.ec == std::errc() && !word.empty();
  };
  if (is_all(std::from_chars(word.data(), end, whole))) return whole;
  if (is_all(std::from_chars(word.data(), end, number)) && std::isfinite(number)) return number;
  return std::nullopt;
}

// The text with blanks for comments, which go from // to the end of the line.
std::string BlankComments(std::string_view text) {
  std::string blanked(text);
  bool quoted = false;
  for (size_t i = 0; i < blanked.size(); ++i) {
    if (blanked[i] == '"' && (i == 0 || blanked[i - 1] != '\\')) quoted = !quoted;
    if (blanked[i] == '\n') quoted = false;
    if (!quoted && blanked[i] == '/' && i + 1 < blanked.size() && blanked[i + 1] == '/')
      for (; i < blanked.size() && blanked[i] != '\n'; ++i) blanked[i] = ' ';
  }
  return blanked;
}

// Reads the attribute from its place on. The text has no comments.
class DltiReader {
 public:
  DltiReader(std::string_view text, std::string_view file) : text_(text), file_(file) {}

  // The entries of the CPU. Of several devices of which none is called so, the first counts.
  absl::StatusOr<DltiEntries> Read() {
    const size_t system = text_.find(kSystem), device = text_.find(kDevice);
    at_ = system != std::string_view::npos ? system : device;
    if (at_ == std::string_view::npos)
      return ErrorAt(file_, {}, Cat("expected ", kSystem, "<...> or ", kDevice, "<...>"));
    return system == std::string_view::npos ? ReadDevice() : ReadSystem();
  }

 private:
  void SkipBlanks() {
    while (at_ < text_.size() && absl::ascii_isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  bool Take(std::string_view sign) {
    SkipBlanks();
    if (!text_.substr(at_).starts_with(sign)) return false;
    at_ += sign.size();
    return true;
  }
  TextPosition Position() const { return PositionAfter({}, text_.substr(0, at_)); }
  absl::Status Expected(std::string_view what) {
    SkipBlanks();
    const size_t end = text_.find_first_of(" \n\t,<>", at_ + 1);
    return ExpectedAt(file_, {text_.substr(at_, std::min(end, text_.size()) - at_), Position()}, what);
  }
  absl::Status Need(std::string_view sign) {
    return Take(sign) ? absl::OkStatus() : Expected(Cat("'", sign, "'"));
  }

  // "text"; a backslash stands before a quote or another backslash.
  absl::StatusOr<std::string> ReadString() {
    SkipBlanks();
    if (at_ >= text_.size() || text_[at_] != '"') return Expected("a text in quotes");
    std::string read;
    for (size_t i = at_ + 1; i < text_.size(); ++i) {
      if (text_[i] == '"') {
        at_ = i + 1;
        return read;
      }
      if (text_[i] == '\\' && i + 1 < text_.size()) ++i;
      read += text_[i];
    }
    return Expected("a text that ends in a quote");
  }

  // <"CPU" : DEVICE, ...>
  absl::StatusOr<DltiEntries> ReadSystem() {
    at_ += kSystem.size();
    std::optional<DltiEntries> first;
    KIRSCH_RETURN_IF_ERROR(Need("<"));
    do {
      KIRSCH_ASSIGN_OR_RETURN(const std::string name, ReadString());
      if (!Take("=") && !Take(":")) return Expected("':' or '='");
      KIRSCH_ASSIGN_OR_RETURN(DltiEntries entries, ReadDevice());
      if (absl::EqualsIgnoreCase(name, "CPU")) return entries;
      if (!first) first = std::move(entries);
    } while (Take(","));
    KIRSCH_RETURN_IF_ERROR(Need(">"));
    return *std::move(first);
  }

  // #dlti.target_device_spec<ENTRY, ...>
  absl::StatusOr<DltiEntries> ReadDevice() {
    DltiEntries entries;
    for (std::string_view sign : {kDevice, std::string_view("<")}) KIRSCH_RETURN_IF_ERROR(Need(sign));
    while (!Take(">")) {
      if (!entries.empty()) KIRSCH_RETURN_IF_ERROR(Need(","));
      KIRSCH_RETURN_IF_ERROR(ReadEntry(&entries));
    }
    return entries;
  }

  // #dlti.dl_entry<"key", VALUE>, or "key" = VALUE
  absl::Status ReadEntry(DltiEntries* entries) {
    const bool spelled = Take(kEntry);
    if (spelled) KIRSCH_RETURN_IF_ERROR(Need("<"));
    SkipBlanks();
    const TextPosition position = Position();
    KIRSCH_ASSIGN_OR_RETURN(const std::string key, ReadString());
    KIRSCH_RETURN_IF_ERROR(Need(spelled ? "," : "="));
    KIRSCH_ASSIGN_OR_RETURN(ordered_json value, ReadValue());
    if (!entries->emplace(key, DltiEntry{std::move(value), position}).second)
      return ErrorAt(file_, position, Cat("expected each key once, got ", Quoted(key)));
    return spelled ? Need(">") : absl::OkStatus();
  }

  // "text", true, false, or a number, whose type says nothing: 2097152 : i64. Null for any other value, which
  // only keys have that mean nothing here.
  absl::StatusOr<ordered_json> ReadValue() {
    SkipBlanks();
    if (at_ < text_.size() && text_[at_] == '"') {
      KIRSCH_ASSIGN_OR_RETURN(std::string read, ReadString());
      return ordered_json(std::move(read));
    }
    const size_t end = std::min(text_.find_first_of(" \n\t\r,>:", at_), text_.size());
    const std::string_view word = text_.substr(at_, end - at_);
    if (word.empty()) return Expected("a number or a text in quotes");
    std::optional<ordered_json> value = NumberIn(word);
    if (word == "true" || word == "false") value = word == "true";
    SkipValue();
    return value.value_or(nullptr);
  }

  // Goes to the comma or bracket behind the value, whatever it is.
  void SkipValue() {
    bool quoted = false;
    for (int open = 0; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '"' && text_[at_ - 1] != '\\') quoted = !quoted;
      if (quoted) continue;
      if (open == 0 && (c == ',' || c == '>' || c == ']' || c == ')' || c == '}')) return;
      open += c == '<' || c == '[' || c == '(' || c == '{' ? 1 : 0;
      open -= c == '>' || c == ']' || c == ')' || c == '}' ? 1 : 0;
    }
  }

  const std::string_view text_, file_;
  size_t at_ = 0;
};

bool IsOwn(std::string_view key) { return key.starts_with(Cat(kOwnPrefix, "/")); }

// The pointer into a target file that the key stands for; empty: there is none.
std::string PointerOf(const std::string& key) {
  if (IsOwn(key)) return key.substr(kOwnPrefix.size());
  for (const CommonKey& common : kCommonKeys)
    if (common.key == key) return std::string(common.pointer);
  return "";
}

// Some write numbers as texts.
ordered_json AsNumber(const ordered_json& value) {
  const std::optional<ordered_json> number =
      value.is_string() ? NumberIn(value.get<std::string>()) : std::nullopt;
  return number ? *number : value;
}

// What the entries leave open, as pointers and values. A list of features is given as a whole.
ordered_json BaseOf(const DltiEntries& entries) {
  const auto bits = entries.find(std::string(kVectorBits));
  const bool wide = bits != entries.end() && AsNumber(bits->second.value) == kWideBits;
  Target base = DefaultTarget();
  for (const Target& target : NamedTargets())
    if (wide && target.name == kWideTarget) base = target;
  ordered_json all = ordered_json::parse(PrintTarget(base)).flatten(), kept;
  const bool lists = std::ranges::any_of(
      entries, [](const auto& entry) { return entry.first.starts_with(Cat(kOwnPrefix, kFeatureList)); });
  for (const auto& [pointer, value] : all.items())
    if (!lists || !pointer.starts_with(kFeatureList)) kept[pointer] = value;
  return kept;
}

// The target file that has these values at these pointers; nothing if one pointer goes through another's
// value.
std::optional<std::string> Nested(const ordered_json& pointers) {
  try {
    return pointers.unflatten().dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  } catch (const ordered_json::exception&) {
    return std::nullopt;
  }
}

// What the file is called, without its folder and its ending, as a target may be called.
std::string NameOfFile(std::string_view file) {
  file = file.substr(file.rfind('/') + 1);
  std::string name(file.substr(0, file.rfind('.')));
  for (char& c : name)
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '_') c = '_';
  return name.empty() || !absl::ascii_isalpha(static_cast<unsigned char>(name.front())) ? Cat("t", name)
                                                                                        : name;
}

// Reads a target file. An error has the place in the user's text, not in this one, which nobody has seen.
absl::StatusOr<TargetFile> ReadPointers(const ordered_json& pointers, std::string_view file,
                                        TextPosition position) {
  const std::optional<std::string> nested = Nested(pointers);
  if (!nested)
    return ErrorAt(file, position, Cat("expected keys of a target file behind '", kOwnPrefix, "/'"));
  absl::StatusOr<TargetFile> target = ParseTarget(*nested, file);
  if (target.ok()) return target;
  const std::string message(target.status().message());
  const size_t what = message.find(": expected");
  return ErrorAt(file, position, what == std::string::npos ? message : message.substr(what + 2));
}

// A number as MLIR reads it: floats have a point, even with an exponent.
std::string Literal(const ordered_json& value) {
  std::string text = value.dump();
  if (value.is_number_float() && text.find('.') == std::string::npos)
    text.insert(std::min(text.find('e'), text.size()), ".0");
  return value.is_number_float() ? Cat(text, " : f64") : value.is_number() ? Cat(text, " : i64") : text;
}

// The error of the entry that is wrong by itself; if there is none, that of all together.
absl::Status ErrorOfOne(const DltiEntries& entries, const ordered_json& base, std::string_view file,
                        const absl::Status& error) {
  for (const auto& [key, entry] : entries) {
    const std::string pointer = PointerOf(key);
    if (pointer.empty() || pointer.starts_with(kFeatureList)) continue;
    ordered_json alone = base;
    alone[pointer] = IsOwn(key) ? entry.value : AsNumber(entry.value);
    KIRSCH_RETURN_IF_ERROR(ReadPointers(alone, file, entry.position).status());
  }
  return error;
}

}  // namespace

bool IsDltiFile(std::string_view path) { return path.ends_with(".mlir"); }

absl::StatusOr<TargetFile> ParseDlti(std::string_view text, std::string_view file) {
  const std::string blanked = BlankComments(text);
  KIRSCH_ASSIGN_OR_RETURN(const DltiEntries entries, DltiReader(blanked, file).Read());
  const ordered_json base = BaseOf(entries);
  ordered_json json = base;
  json["/name"] = NameOfFile(file);
  std::vector<std::string> unknown, missing;
  std::set<std::string> given;
  for (const auto& [key, entry] : entries) {
    const std::string pointer = PointerOf(key);
    if (pointer.empty()) {
      if (key != kVectorBits) unknown.push_back(key);
      continue;
    }
    if (!given.insert(pointer).second)
      return ErrorAt(file, entry.position, Cat("expected each number once, got ", Quoted(key), ", too"));
    json[pointer] = IsOwn(key) ? entry.value : AsNumber(entry.value);
  }
  absl::StatusOr<TargetFile> target =
      ReadPointers(json, file, entries.empty() ? TextPosition{} : entries.begin()->second.position);
  if (!target.ok()) return ErrorOfOne(entries, base, file, target.status());
  for (const CommonKey& common : kCommonKeys)
    if (!given.contains(std::string(common.pointer))) missing.emplace_back(common.key);
  if (!unknown.empty())
    target->warnings.push_back(Cat(file, ": keys that mean nothing here: ", Printable(Join(unknown, " "))));
  if (!missing.empty())
    target->warnings.push_back(Cat(file, ": as those of ", base["/name"].get<std::string>(),
                                   ", since it does not say them: ", Join(missing, " ")));
  return target;
}

std::string PrintDlti(const Target& target) {
  const ordered_json json = ordered_json::parse(PrintTarget(target)).flatten();
  std::vector<std::string> entries;
  const auto add = [&](std::string_view key, const std::string& value) {
    entries.push_back(Cat("    ", kEntry, "<\"", key, "\", ", value, ">"));
  };
  for (const CommonKey& common : kCommonKeys) add(common.key, Literal(json[std::string(common.pointer)]));
  add(kVectorBits, Cat(8 * target.vectors.front().bytes, " : i64"));
  for (const auto& [pointer, value] : json.items()) {
    const auto is_common = [&, at = pointer](const CommonKey& common) { return common.pointer == at; };
    if (std::ranges::none_of(kCommonKeys, is_common)) add(Cat(kOwnPrefix, pointer), Literal(value));
  }
  return Cat(kSystem, "<\n  \"CPU\" : ", kDevice, "<\n", Join(entries, ",\n"), ">>\n");
}

}  // namespace kirsch
