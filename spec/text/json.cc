// SPDX-License-Identifier: Apache-2.0
#include "spec/text/json.h"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>

#include "spec/text/cat.h"

namespace kirsch {
namespace {

// Values are nested, and so are the calls that destroy them or look at their members. Any text has to be
// safe.
constexpr size_t kMaxNesting = 64;

// Reads the text for the library and notes how far it has come. The library reports events (a string, the end
// of an object) without their place; the place is computed from how much was read when the event came.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, const char** furthest) : at_(at), furthest_(furthest) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    *furthest_ = ++at_;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const CountingIterator& a, const CountingIterator& b) { return a.at_ == b.at_; }

 private:
  const char* at_;
  const char** furthest_;
};

// Builds the tree from the library's events. An event comes when its token has been read, of a number one
// byte later. So the token began at the first byte since the last event that is neither punctuation nor white
// space:
//
//   {"a": 12, "b"
//            ^  the number's event came when the comma had been read: the search begins here
//             ^ the first byte that counts: the token "b" begins here
//
// Every handler returns false to stop the parser; status() has the reason then.
class TreeBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
  TreeBuilder(std::string_view text, std::string_view file) : text_(text), file_(file), read_(text.data()) {
    open_.push_back(&top_);  // an array of one element, the document
  }

  // How far the iterators have come; they write it.
  const char** read() { return &read_; }
  const absl::Status& status() const { return status_; }
  JsonValue TakeDocument() { return std::move(top_.children.front()); }

  // The handlers of values: each adds a leaf to the innermost open array or object.
  bool null() override { return Leaf(JsonValue::Kind::kNull) != nullptr; }
  bool boolean(bool value) override {
    Leaf(JsonValue::Kind::kBool)->boolean = value;
    return true;
  }
  bool number_integer(int64_t value) override { return Number(static_cast<double>(value), Cat(value)); }
  bool number_unsigned(uint64_t value) override { return Number(static_cast<double>(value), Cat(value)); }
  bool number_float(double value, const std::string& text) override { return Number(value, text); }
  bool string(std::string& value) override {
    Leaf(JsonValue::Kind::kString)->text = std::move(value);
    return true;
  }
  bool binary(nlohmann::json::binary_t&) override { return false; }  // not in JSON text
  bool start_object(size_t) override { return Open(JsonValue::Kind::kObject); }
  bool end_object() override { return Close(); }
  bool start_array(size_t) override { return Open(JsonValue::Kind::kArray); }
  bool end_array() override { return Close(); }

  // The key is kept until its value comes, which takes it (Leaf).
  bool key(std::string& key) override {
    key_position_ = TokenPosition();
    if (open_.back()->Find(key) != nullptr)
      return Fail(ErrorAt(file_, key_position_, Cat("expected each key once, got ", Quoted(key))));
    key_ = std::move(key);
    return true;
  }

  // `place` counts the bytes read, the offending one (or the end) included. The message has the place where
  // the bad token begins, not the byte in it that was too much.
  bool parse_error(size_t place, const std::string&, const nlohmann::json::exception& error) override {
    const size_t last = std::min(place > 0 ? place - 1 : 0, text_.size());
    const size_t first = std::min(text_.find_first_not_of(" \t\r\n,:", end_of_last_), last);
    const std::string_view token = text_.substr(first, last + 1 - first);
    return Fail(ErrorAt(file_, PositionAfter({}, text_.substr(0, first)),
                        Cat("malformed JSON: ", Reason(error.what()), ", got ",
                            token.empty() ? "the end of the text" : Quoted(token))));
  }

 private:
  // The reason in the library's message, without place and token: "expected '}'" or "invalid literal". The
  // library calls a number that no double can hold an error as well; its message has neither form.
  static std::string Reason(std::string_view message) {
    constexpr std::string_view kInvalid = " - invalid ", kExpected = "; expected ";
    if (const size_t invalid = message.find(kInvalid); invalid != std::string_view::npos) {
      const std::string_view reason = message.substr(invalid + kInvalid.size());
      return Cat("invalid ", reason.substr(0, reason.find_first_of(":;")));
    }
    const size_t expected = message.rfind(kExpected);
    if (expected == std::string_view::npos) return "number out of range";
    return Cat("expected ", message.substr(expected + kExpected.size()));
  }

  // Stops the parser, as it is what a handler returns.
  bool Fail(absl::Status status) {
    status_ = std::move(status);
    return false;
  }

  // Where the token of the present event begins. Positions are counted on from the last one, so that a whole
  // document takes time in proportion to its length.
  TextPosition TokenPosition() {
    const size_t begin = std::min(text_.find_first_not_of(" \t\r\n,:]}", end_of_last_), text_.size());
    position_ = PositionAfter(position_, text_.substr(position_offset_, begin - position_offset_));
    position_offset_ = begin;
    end_of_last_ = static_cast<size_t>(read_ - text_.data());
    return position_;
  }

  // Adds a value to the innermost open array or object. Elements of arrays have no key: the last one was
  // taken.
  JsonValue* Leaf(JsonValue::Kind kind) {
    JsonValue& value = open_.back()->children.emplace_back();
    value.kind = kind;
    value.position = TokenPosition();
    value.key = std::exchange(key_, "");
    value.key_position = key_position_;
    return &value;
  }

  bool Number(double number, std::string text) {
    JsonValue* value = Leaf(JsonValue::Kind::kNumber);
    value->number = number;
    value->text = std::move(text);
    return true;
  }

  // `open_` holds the document's array, too, hence one more level.
  bool Open(JsonValue::Kind kind) {
    JsonValue* value = Leaf(kind);
    open_.push_back(value);  // stays valid: its parent gets no other child while it is open
    if (open_.size() <= kMaxNesting + 1) return true;
    return Fail(ErrorAt(file_, value->position, Cat("expected at most ", kMaxNesting, " levels of nesting")));
  }

  bool Close() {
    open_.pop_back();
    end_of_last_ = static_cast<size_t>(read_ - text_.data());
    return true;
  }

  std::string_view text_;
  std::string_view file_;
  const char* read_;
  size_t end_of_last_ = 0;
  TextPosition position_;  // of the byte at position_offset_
  size_t position_offset_ = 0;
  std::string key_;
  TextPosition key_position_;
  JsonValue top_;
  std::vector<JsonValue*> open_;
  absl::Status status_;
};

}  // namespace

const JsonValue* JsonValue::Find(std::string_view wanted) const {
  for (const JsonValue& child : children)
    if (child.key == wanted) return &child;
  return nullptr;
}

std::string JsonValue::Describe() const {
  switch (kind) {
    case Kind::kNull:
      return "null";
    case Kind::kBool:
      return boolean ? "true" : "false";
    case Kind::kNumber:
      return text;
    case Kind::kString:
      return Cat("the string ", text.empty() ? "\"\"" : Quoted(text));
    case Kind::kArray:
      return "an array";
    case Kind::kObject:
      return "an object";
  }
  return "";
}

absl::Status ExpectedAt(std::string_view file, const JsonValue& value, std::string_view expected) {
  return ErrorAt(file, value.position, Cat("expected ", expected, ", got ", value.Describe()));
}

absl::StatusOr<JsonValue> ParseJson(std::string_view text, std::string_view file) {
  TreeBuilder builder(text, file);
  const CountingIterator first(text.data(), builder.read());
  const CountingIterator last(text.data() + text.size(), builder.read());
  if (nlohmann::json::sax_parse(first, last, &builder)) return builder.TakeDocument();
  return builder.status();
}

}  // namespace kirsch
