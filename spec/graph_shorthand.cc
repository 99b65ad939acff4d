#include "spec/graph_shorthand.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "spec/cat.h"
#include "spec/graph_parser.h"
#include "spec/graph_types.h"
#include "spec/identifier.h"
#include "spec/shorthand.h"
#include "spec/spec.h"

namespace kirsch {
namespace {

// The words after the name; each shorthand takes what it knows.
class Words {
 public:
  Words(const Word& text, std::string_view source) : source_(source) {
    for (const Word& word : SplitWords(text.text))
      words_.push_back({word.text,
                        {text.position.line + word.position.line - 1,
                         word.position.line == 1 ? text.position.column + word.position.column - 1
                                                 : word.position.column}});
  }

  absl::Status Expected(const Word& word, std::string_view what) const {
    return ExpectedAt(source_, word, what);
  }
  Word Take() { return next_ + 1 < words_.size() ? words_[next_++] : words_.back(); }
  const Word& Peek() const { return words_[next_]; }

  // The word that says how large everything is: where what is wrong with the whole is told.
  const Word& subject() const { return subject_; }
  void SetSubject(const Word& word) { subject_ = word; }

  // One of `names`.
  absl::StatusOr<std::string> Choice(absl::Span<const std::string_view> names, std::string_view what) {
    const Word word = Take();
    if (absl::Status status = Check(word, names, what); !status.ok()) return status;
    return std::string(word.text);
  }
  absl::Status Check(const Word& word, absl::Span<const std::string_view> names,
                     std::string_view what) const {
    if (std::find(names.begin(), names.end(), word.text) != names.end()) return absl::OkStatus();
    return Expected(word, Cat(what, " (", Join(names, "|"), ")"));
  }

  // "32x1024": from `least` to `most` sizes.
  absl::StatusOr<std::vector<uint32_t>> Sizes(const Word& word, size_t least, size_t most) const {
    const std::vector<Word> parts = Split(word, 'x');
    if (parts.size() < least || parts.size() > most)
      return Expected(word, Cat(least == most ? "" : Cat(least, " to "), most, " sizes with x between them"));
    std::vector<uint32_t> sizes;
    for (const Word& part : parts) {
      absl::StatusOr<uint32_t> size = ParseNumber(source_, part, "a size", 1, kMaxSide);
      if (!size.ok()) return size.status();
      sizes.push_back(*size);
    }
    if (IsTooLarge(sizes)) return Expected(word, Cat("at most ", kMaxElements, " elements"));
    return sizes;
  }
  absl::StatusOr<std::vector<uint32_t>> TakeSizes(size_t least, size_t most) {
    SetSubject(Take());
    return Sizes(subject(), least, most);
  }

  // NAME=VALUE, the rest of the words, each of `known`, each once; and the word `flag`, without a value.
  absl::Status TakeOptions(absl::Span<const std::string_view> known, std::map<std::string, Word>* options,
                           std::string_view flag = "") {
    while (!Peek().text.empty()) {
      const Word word = Take();
      const size_t equals = word.text.find('=');
      const std::string name(word.text.substr(0, equals));
      const bool valued = std::find(known.begin(), known.end(), name) != known.end();
      if (equals == std::string_view::npos ? name != flag : !valued)
        return Expected(word, known.empty() ? "the end"
                                            : Cat("an option (", Join(known, "= "), "=",
                                                  flag.empty() ? "" : " ", flag, ")"));
      if (!options->try_emplace(name, word.Part(equals + 1)).second)
        return Expected(word, "each option once");
    }
    return absl::OkStatus();
  }

  absl::StatusOr<uint32_t> Number(const std::map<std::string, Word>& options, const std::string& name,
                                  int64_t least = 1) const {
    const auto found = options.find(name);
    if (found == options.end()) return Expected(words_.back(), Cat(name, "=NUMBER"));
    return Number(found->second, name, least, kMaxSide);
  }
  absl::StatusOr<uint32_t> Number(const Word& word, std::string_view what, int64_t least,
                                  int64_t most) const {
    return ParseNumber(source_, word, what, least, most);
  }

 private:
  const std::string_view source_;
  std::vector<Word> words_;
  size_t next_ = 0;
  Word subject_;
};

constexpr std::array<std::string_view, 3> kFloats = {"f32", "bf16", "f16"};
constexpr std::array<std::string_view, 1> kF32 = {"f32"};

std::string Dims(const std::vector<uint32_t>& dims) { return absl::StrJoin(dims, ","); }

// What follows "kernel NAME"; a value of f32 is narrowed to the type.
std::string Kernel(const std::string& parameters, const std::string& type, const std::string& value) {
  return Cat("(", parameters, "):\nreturn ", type == "f32" ? value : Cat("cast(", value, ", ", type, ")"));
}

absl::StatusOr<std::string> Rowwise(Words& words, std::string_view name, int vectors) {
  absl::StatusOr<std::string> type = words.Choice(kFloats, "an element type");
  if (!type.ok()) return type.status();
  absl::StatusOr<std::vector<uint32_t>> sizes = words.TakeSizes(1, kMaxRank);
  if (!sizes.ok()) return sizes.status();
  std::string parameters = Cat("x: ", *type, "[", Dims(*sizes), "]"), arguments = "x";
  constexpr std::array<std::string_view, 2> kVectors = {"scale", "shift"};
  for (size_t i = 0; i < static_cast<size_t>(vectors); ++i) {
    Append(&parameters, ", ", kVectors[i], ": ", *type, "[", sizes->back(), "]");
    Append(&arguments, ", ", kVectors[i]);
  }
  std::map<std::string, Word> options;
  static constexpr std::array<std::string_view, 1> kEps = {"eps"};
  if (absl::Status status =
          words.TakeOptions(vectors > 0 ? kEps : absl::Span<const std::string_view>(), &options);
      !status.ok())
    return status;
  if (const auto eps = options.find("eps"); eps != options.end()) {
    if (!ParseFinite(eps->second.text)) return words.Expected(eps->second, "a number");
    Append(&arguments, ", eps=", eps->second.text);
  }
  return Kernel(parameters, *type, Cat(name, "(", arguments, ")"));
}

absl::StatusOr<std::string> Reduce(Words& words) {
  static constexpr std::array<std::string_view, 3> kKinds = {"sum", "max", "mean"};
  absl::StatusOr<std::string> kind = words.Choice(kKinds, "a reduction");
  if (!kind.ok()) return kind.status();
  absl::StatusOr<std::string> type = words.Choice(kFloats, "an element type");
  if (!type.ok()) return type.status();
  absl::StatusOr<std::vector<uint32_t>> sizes = words.TakeSizes(1, kMaxRank);
  if (!sizes.ok()) return sizes.status();
  std::map<std::string, Word> options;
  static constexpr std::array<std::string_view, 1> kAxis = {"axis"};
  if (absl::Status status = words.TakeOptions(kAxis, &options); !status.ok()) return status;
  const auto last = static_cast<uint32_t>(sizes->size()) - 1;
  std::string arguments = options.contains("axis") ? "" : Cat(", axis=", last);  // as all that goes by rows
  std::set<uint32_t> seen;
  for (const auto& [name, axes] : options)
    for (const Word& axis : Split(axes, ',')) {
      const absl::StatusOr<uint32_t> number = words.Number(axis, "an axis", 0, last);
      if (!number.ok()) return number.status();
      if (!seen.insert(*number).second) return words.Expected(axis, "each axis once");
      Append(&arguments, ", axis=", *number);
    }
  return Kernel(Cat("x: ", *type, "[", Dims(*sizes), "]"), *type,
                Cat("reduce_", *kind, "(x", arguments, ")"));
}

absl::StatusOr<std::string> Transpose(Words& words) {
  absl::StatusOr<std::string> type = words.Choice(kFloats, "an element type");
  if (!type.ok()) return type.status();
  absl::StatusOr<std::vector<uint32_t>> sizes = words.TakeSizes(2, kMaxRank);
  if (!sizes.ok()) return sizes.status();
  std::map<std::string, Word> options;
  if (absl::Status status = words.TakeOptions({}, &options); !status.ok()) return status;
  return Cat("(x: ", *type, "[", Dims(*sizes), "]):\nreturn transpose(x)");
}

absl::StatusOr<std::string> Attention(Words& words) {
  absl::StatusOr<std::string> type = words.Choice(kF32, "an element type");
  if (!type.ok()) return type.status();
  std::map<std::string, Word> options;
  static constexpr std::array<std::string_view, 3> kKnown = {"heads", "tokens", "dim"};
  if (absl::Status status = words.TakeOptions(kKnown, &options); !status.ok()) return status;
  std::vector<uint32_t> sizes;
  for (std::string_view name : kKnown) {
    absl::StatusOr<uint32_t> size = words.Number(options, std::string(name));
    if (!size.ok()) return size.status();
    sizes.push_back(*size);
  }
  words.SetSubject(options["tokens"]);
  const std::string shape = Cat(*type, "[", Dims(sizes), "]");
  return Cat("(q: ", shape, ", k: ", shape, ", v: ", shape, "):\nscores = mul(matmul(q, transpose(k)), ",
             PrintNumber(1 / std::sqrt(static_cast<float>(sizes[2]))),
             ")\nreturn matmul(softmax(scores), v)");
}

absl::StatusOr<std::string> Conv2d(Words& words) {
  absl::StatusOr<std::string> type = words.Choice(kF32, "an element type");
  if (!type.ok()) return type.status();
  absl::StatusOr<std::vector<uint32_t>> image = words.TakeSizes(4, 4);
  if (!image.ok()) return image.status();
  std::map<std::string, Word> options;
  static constexpr std::array<std::string_view, 7> kKnown = {"filters",  "kernel", "stride", "pad",
                                                             "dilation", "groups", "layout"};
  if (absl::Status status = words.TakeOptions(kKnown, &options, kConstantFiltersWord); !status.ok())
    return status;
  absl::StatusOr<uint32_t> filters = words.Number(options, "filters");
  if (!filters.ok()) return filters.status();
  absl::StatusOr<uint32_t> groups = options.contains("groups") ? words.Number(options, "groups") : 1u;
  if (!groups.ok()) return groups.status();
  if ((*image)[1] % *groups != 0)
    return words.Expected(options["groups"], Cat("a divisor of the image's ", (*image)[1], " channels"));
  if (!options.contains("kernel")) return words.Expected(words.Peek(), "kernel=HxW");
  absl::StatusOr<std::vector<uint32_t>> kernel = words.Sizes(options["kernel"], 2, 2);
  if (!kernel.ok()) return kernel.status();
  words.SetSubject(options["kernel"]);
  const uint32_t n = (*image)[0], c = (*image)[1], h = (*image)[2], w = (*image)[3], per_group = c / *groups;
  if (options.contains("layout"))
    if (absl::Status status = words.Check(options["layout"], kImageLayouts, "a layout"); !status.ok())
      return status;
  const bool nhwc = options.contains("layout") && options["layout"].text == "nhwc";
  std::string arguments;
  for (size_t i = 2; i < kKnown.size(); ++i) {
    const auto found = options.find(std::string(kKnown[i]));
    if (found == options.end()) continue;
    if (found->first != "layout")
      if (absl::Status status = words.Number(options, found->first, found->first == "pad" ? 0 : 1).status();
          !status.ok())
        return status;
    Append(&arguments, ", ", found->first, "=", found->second.text);
  }
  const auto shape = [&](std::vector<uint32_t> dims) { return Cat(*type, "[", Dims(dims), "]"); };
  const bool constant = options.contains(std::string(kConstantFiltersWord));
  return Cat("(image: ", shape(nhwc ? std::vector{n, h, w, c} : std::vector{n, c, h, w}),
             ", filters: ", constant ? Cat(kConstantWord, " ") : "",
             shape(nhwc ? std::vector{(*kernel)[0], (*kernel)[1], per_group, *filters}
                        : std::vector{*filters, per_group, (*kernel)[0], (*kernel)[1]}),
             "):\nreturn conv2d(image, filters", arguments, ")");
}

struct Shorthand {
  std::string_view name;
  absl::StatusOr<std::string> (*kernel)(Words& words);
};

constexpr std::array<Shorthand, 7> kShorthands = {{
    {"conv2d", Conv2d},
    {"softmax", [](Words& words) { return Rowwise(words, "softmax", 0); }},
    {"layernorm", [](Words& words) { return Rowwise(words, "layernorm", 2); }},
    {"rmsnorm", [](Words& words) { return Rowwise(words, "rmsnorm", 1); }},
    {"reduce", Reduce},
    {"transpose", Transpose},
    {"attention", Attention},
}};

const Shorthand* Find(std::string_view name) {
  const auto found = std::find_if(kShorthands.begin(), kShorthands.end(),
                                  [&](const Shorthand& shorthand) { return shorthand.name == name; });
  return found == kShorthands.end() ? nullptr : &*found;
}

}  // namespace

bool IsGraphShorthand(std::string_view text) { return Find(SplitWords(text).front().text) != nullptr; }

std::string GraphShorthandNames() {
  return absl::StrJoin(kShorthands, "|",
                       [](std::string* names, const Shorthand& shorthand) { Append(names, shorthand.name); });
}

absl::StatusOr<Graph> ParseGraphShorthand(const Word& text, std::string_view source) {
  Words words(text, source);
  const Word name = words.Take();
  const Shorthand* const shorthand = Find(name.text);
  if (shorthand == nullptr) return words.Expected(name, Cat("an operation (", GraphShorthandNames(), ")"));
  absl::StatusOr<std::string> kernel = shorthand->kernel(words);
  if (!kernel.ok()) return kernel.status();
  const std::string whole = Cat("kernel ", IdentifierOf(text.text), *kernel);
  std::vector<Word> lines = Split({whole, {}}, '\n');
  absl::StatusOr<Graph> graph = ParseGraph(lines, source);
  if (graph.ok()) {
    for (GraphNode& node : graph->nodes) node.position = name.position;
    return graph;
  }
  // What is wrong with it as a whole; places are those of another text.
  const std::string message(graph.status().message());
  return ErrorAt(source, words.subject().position,
                 message.substr(std::min(message.find("expected"), message.size())));
}

}  // namespace kirsch
