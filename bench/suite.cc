#include "bench/suite.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"

namespace kirsch {
namespace {

using nlohmann::json;

constexpr char kShape[] = R"({"name": "...", "specs": ["SPEC", ...]})";

struct Position {
  int line = 1, column = 1;
};

// Follows the parser event by event, as only then is it known where in the text a value stands.
class SuiteReader : public json::json_sax_t {
 public:
  SuiteReader(std::string_view text, std::istream& stream) : text_(text), stream_(stream) {}

  const std::string& error() const { return error_; }
  size_t error_offset() const { return error_offset_; }
  Suite& suite() { return suite_; }

  Position PositionOf(size_t offset) const {
    const std::string_view before = text_.substr(0, offset);
    const size_t line_start = before.rfind('\n') + 1;  // npos + 1 == 0
    return {static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1,
            static_cast<int>(offset - line_start) + 1};
  }

  bool null() override { return Refuse("null"); }
  bool boolean(bool) override { return Refuse("a boolean"); }
  bool number_integer(number_integer_t) override { return Refuse("a number"); }
  bool number_unsigned(number_unsigned_t) override { return Refuse("a number"); }
  bool number_float(number_float_t, const string_t&) override { return Refuse("a number"); }
  bool binary(binary_t&) override { return Refuse("binary data"); }

  bool string(string_t& value) override {
    if (where_ == Where::kName) {
      suite_.name = value;
      where_ = Where::kObject;
      return true;
    }
    if (where_ == Where::kLines && lines_++ > 0) {
      absl::StrAppend(&suite_.specs.back().text, "\n", value);
      return true;
    }
    if (where_ != Where::kSpecs && where_ != Where::kLines) return Refuse("a string");
    const Position position = PositionOf(StringStart() + 1);
    suite_.specs.push_back({value, position.line, position.column});
    return true;
  }

  bool start_object(size_t) override {
    if (where_ != Where::kStart) return Refuse("an object");
    where_ = Where::kObject;
    return true;
  }

  bool key(string_t& name) override {
    if (name == "name") where_ = Where::kName;
    if (name == "specs") where_ = Where::kSpecsKey;
    if (name == "name" || name == "specs") return true;
    return Fail(StringStart(), absl::StrCat("unknown key \"", name, "\", expected \"name\" or \"specs\""));
  }

  bool start_array(size_t) override {
    if (where_ != Where::kSpecsKey && where_ != Where::kSpecs) return Refuse("an array");
    where_ = where_ == Where::kSpecs ? Where::kLines : Where::kSpecs;
    lines_ = 0;
    return true;
  }

  bool end_array() override {
    if (where_ == Where::kLines && lines_ == 0)
      return Fail(Consumed() - 1, "no lines, expected those of a kernel");
    where_ = where_ == Where::kLines ? Where::kSpecs : Where::kObject;
    return true;
  }

  bool end_object() override {
    if (suite_.specs.empty()) return Fail(Consumed() - 1, absl::StrCat("no specs, expected ", kShape));
    where_ = Where::kEnd;
    return true;
  }

  bool parse_error(size_t position, const std::string&, const nlohmann::detail::exception& error) override {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error while ..."
    const std::string what = error.what();
    const size_t detail = what.find(": ");
    return Fail(position == 0 ? 0 : position - 1,
                absl::StrCat("malformed JSON: ", what.substr(detail == what.npos ? 0 : detail + 2),
                             "; expected ", kShape));
  }

 private:
  enum class Where { kStart, kObject, kName, kSpecsKey, kSpecs, kLines, kEnd };

  size_t Consumed() const {
    const auto offset = stream_.rdbuf()->pubseekoff(0, std::ios::cur, std::ios::in);
    return offset < 0 ? text_.size() : static_cast<size_t>(offset);
  }

  // Offset of the opening quote of the string just read.
  size_t StringStart() const {
    size_t quote = Consumed() - 1;
    do {
      quote = text_.rfind('"', quote - 1);
    } while (quote > 0 && text_[quote - 1] == '\\');
    return quote;
  }

  bool Fail(size_t offset, std::string message) {
    error_offset_ = offset;
    error_ = std::move(message);
    return false;
  }

  bool Refuse(const char* found) {
    const char* expected = where_ == Where::kName       ? "the suite's name, a string"
                           : where_ == Where::kSpecsKey ? "an array of specs"
                           : where_ == Where::kSpecs    ? "a spec, a string, or an array of a kernel's lines"
                           : where_ == Where::kLines    ? "a line of a kernel, a string"
                                                        : kShape;
    return Fail(Consumed() - 1, absl::StrCat("found ", found, ", expected ", expected));
  }

  std::string_view text_;
  std::istream& stream_;
  Where where_ = Where::kStart;
  int lines_ = 0;  // of the kernel that is being read
  Suite suite_;
  std::string error_;
  size_t error_offset_ = 0;
};

}  // namespace

absl::StatusOr<Suite> ParseSuite(std::string_view text, const std::string& file_name) {
  std::istringstream stream{std::string(text)};
  SuiteReader reader(text, stream);
  if (json::sax_parse(stream, &reader)) return std::move(reader.suite());
  const Position position = reader.PositionOf(reader.error_offset());
  return absl::InvalidArgumentError(
      absl::StrCat(file_name, ":", position.line, ":", position.column, ": ", reader.error()));
}

absl::StatusOr<Suite> LoadSuite(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  if (!file || !(text << file.rdbuf()))
    return absl::NotFoundError(absl::StrCat(path, ": cannot be read, expected a suite file ", kShape));
  return ParseSuite(text.str(), path);
}

}  // namespace kirsch
