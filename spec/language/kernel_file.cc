// SPDX-License-Identifier: Apache-2.0
#include "spec/language/kernel_file.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "spec/language/contraction_graph.h"
#include "spec/language/graph_shorthand.h"
#include "spec/text/cat.h"
#include "spec/text/identifier.h"
#include "spec/text/nearest.h"
#include "spec/text/status_macros.h"
#include "spec/text/text.h"

namespace kirsch {
namespace {

constexpr std::string_view kBlanks = " \t\r\n\f\v";

// The word without the blanks around it; within it they stay.
Word WithoutBlanks(const Word& word) {
  const size_t first = std::min(word.text.find_first_not_of(kBlanks), word.text.size());
  const size_t last = word.text.find_last_not_of(kBlanks);
  return word.Part(first, last == std::string_view::npos ? 0 : last + 1 - first);
}

// [NAME =] SPEC
struct Entry {
  Word name;  // empty: none
  Word spec;
};

// Splits a line into its name and its spec. The first '=' is the name's if there is a single word before it;
// any other is of the spec's options.
Entry SplitEntry(const Word& line) {
  const size_t equals = line.text.find('=');
  if (equals != std::string_view::npos) {
    const Word name = WithoutBlanks(line.Part(0, equals));
    if (name.text.find_first_of(kBlanks) == std::string_view::npos)
      return {name, WithoutBlanks(line.Part(equals + 1))};
  }
  // An entry without a name has an empty one at the line's beginning.
  return {line.Part(0, 0), line};
}

// "kernel NAME(" or "kernel NAME[": the beginning of a kernel in the kernel language, which ends with its
// return. In "kernel = matmul ..." the word is a name: '=' comes before any bracket.
bool StartsKernel(const Word& text) {
  const Word first = SplitWords(text.text).front();
  return first.text == "kernel" && text.text.find_first_of("([") < text.text.find('=');
}

// A hint at the shorthand that may have been meant.
std::string OperationHint(std::string_view word) {
  std::vector<std::string_view> known = ContractionsOfSizes(), graphs = GraphShorthandNames();
  known.insert(known.end(), graphs.begin(), graphs.end());
  return DidYouMean(word, known);
}

bool HasConvolution(const Graph& graph) {
  return std::ranges::any_of(graph.nodes, [](const GraphNode& node) { return IsConvolution(node.op); });
}

// The request for a kernel in the forms that it has, of which there is one at least: a spec, if it can be
// one.
KernelRequest MakeRequest(std::string name, std::string_view source, std::optional<SpecFamily> specs,
                          std::optional<GraphFamily> graph) {
  KernelRequest request{std::move(name), {}, std::string(source)};
  request.graph = std::move(graph);
  if (specs)
    request.family = *std::move(specs);
  else
    request.UseGraph();
  return request;
}

// A shorthand: a matmul or a row of graph shorthands, each perhaps with ranges.
absl::StatusOr<KernelRequest> ParseRequest(const Word& text, std::string_view source) {
  const Word operation = SplitWords(text).front();
  if (FindContraction(operation.text) != nullptr) {
    KIRSCH_ASSIGN_OR_RETURN(SpecFamily family, ParseFamily(text, source));
    const std::string name = MakeIdentifier(family.text());
    return KernelRequest{name, std::move(family)};
  }
  if (operation.text == "kernel")
    return ExpectedAt(source, text, "kernel NAME(PARAMETER: TYPE, ...): STATEMENTS");
  if (!IsGraphShorthand(text.text))
    return ExpectedAt(
        source, operation,
        Cat("an operation (", Join(ContractionsOfSizes(), "|"), "|", Join(GraphShorthandNames(), "|"), ")"),
        OperationHint(operation.text));
  if (!RangesOf(text).empty()) {
    KIRSCH_ASSIGN_OR_RETURN(GraphFamily family, ParseShorthandFamily(text, source));
    const std::string name = family.name();
    return KernelRequest{name, std::move(family), std::string(source)};
  }
  KIRSCH_ASSIGN_OR_RETURN(ShorthandKernel kernel, ParseShorthand(text, source));
  if (!kernel.spec.ok() && !kernel.graph.ok()) return kernel.graph.status();
  std::optional<SpecFamily> specs;
  if (kernel.spec.ok()) specs.emplace(*std::move(kernel.spec));
  std::optional<GraphFamily> graph;
  if (kernel.graph.ok()) graph.emplace(*std::move(kernel.graph));
  return MakeRequest(MakeIdentifier(kernel.text), source, std::move(specs), std::move(graph));
}

// Makes blanks of comments, so that all else stays in its place. A comment goes to the end of the line; no
// text has a '#' otherwise.
std::string WithoutComments(std::string_view text) {
  std::string blanked(text);
  for (size_t at = blanked.find('#'); at != std::string::npos; at = blanked.find('#', at))
    while (at < blanked.size() && blanked[at] != '\n') blanked[at++] = ' ';
  return blanked;
}

// Reads line after line, without comments. A kernel of the kernel language collects lines in block_ until its
// return.
class KernelFileParser {
 public:
  explicit KernelFileParser(std::string_view source) : source_(source) {}

  absl::Status ParseLine(const Word& line) {
    Word content = WithoutBlanks(line);
    if (content.text.empty()) return absl::OkStatus();
    if (head_) {
      const char* const end = content.text.data() + content.text.size();
      content = {{head_->text.data(), static_cast<size_t>(end - head_->text.data())}, head_->position};
    }
    // The head of a kernel may go on behind a comma. It is then all the text from its first line on.
    const bool goes_on = block_.empty() && StartsKernel(content) && content.text.back() == ',' &&
                         EndOfHead(content.text) == content.text.size();
    head_ = goes_on ? std::optional(content) : std::nullopt;
    if (goes_on) return absl::OkStatus();
    if (!block_.empty() || StartsKernel(content)) return AddLineToKernel(content);
    const Entry entry = SplitEntry(content);
    // A name that is empty ("= matmul ...") is there, too, and is refused.
    const bool named = entry.spec.text.data() != content.text.data();
    if (named && IsIdentifier(entry.name.text) && !IsKernelName(entry.name.text))
      return ExpectedAt(source_, entry.name, "a name that neither C's library nor the header's code has");
    if (named && !IsIdentifier(entry.name.text))
      return ExpectedAt(
          source_, entry.name,
          "a name (letters, digits, underscores; a letter first, no keyword or macro of C or C++)");
    KIRSCH_ASSIGN_OR_RETURN(KernelRequest request, ParseRequest(entry.spec, source_));
    if (named) request.name = std::string(entry.name.text);
    request.label = named ? request.name : std::string(entry.spec.text);
    return Add(std::move(request), content.position);
  }

  // OK if no kernel is left open. If one is, parsing it says what it lacks, with the place.
  absl::Status End() const {
    if (head_) return ParseGraphFamily({*head_}, source_).status();
    return block_.empty() ? absl::OkStatus() : ParseGraphFamily(block_, source_).status();
  }

  std::vector<KernelRequest> requests() && { return std::move(requests_); }

 private:
  // Adds a line to the open kernel, or begins one. Statements may follow the head on its line, and each
  // other: "kernel f(...): y = ...; return y".
  absl::Status AddLineToKernel(const Word& line) {
    const size_t head = block_.empty() ? EndOfHead(line.text) : 0;
    if (head > 0) block_.push_back(WithoutBlanks(line.Part(0, head)));
    const Word statements{line.text.substr(head), PositionAfter(line.position, line.text.substr(0, head))};
    for (const Word& part : Split(statements, ';')) {
      const Word statement = WithoutBlanks(part);
      if (statement.text.empty()) continue;
      if (block_.empty()) return ExpectedAt(source_, statement, "nothing after the return");
      KIRSCH_RETURN_IF_ERROR(AddToKernel(statement));
    }
    return absl::OkStatus();
  }

  // How long the head of a kernel is, its colon included. Colons within brackets are those of parameters'
  // types.
  static size_t EndOfHead(std::string_view line) {
    int depth = 0;  // of parentheses and brackets
    for (size_t i = 0; i < line.size(); ++i) {
      if (line[i] == '(' || line[i] == '[') ++depth;
      if (line[i] == ')' || line[i] == ']') --depth;
      if (line[i] == ':' && depth == 0) return i + 1;
    }
    return line.size();
  }

  // Adds a line to the kernel. The return ends it: then it becomes a request, in the form that it is to have.
  absl::Status AddToKernel(const Word& line) {
    block_.push_back(line);
    if (SplitWords(line.text).front().text != "return") return absl::OkStatus();
    // The kernel is complete, whether it is right or not.
    const std::vector<Word> lines = std::exchange(block_, {});
    KIRSCH_ASSIGN_OR_RETURN(GraphFamily graph, ParseGraphFamily(lines, source_));
    const std::string name = graph.name();
    std::optional<SpecFamily> specs = AsSpecs(graph);
    std::optional<GraphFamily> graphs = std::move(graph);
    return Add(MakeRequest(name, source_, std::move(specs), std::move(graphs)), lines.front().position);
  }

  // The family of contractions that a kernel is, if it is what a shorthand of it would be; else nothing.
  // Every member has to be a contraction.
  std::optional<SpecFamily> AsSpecs(const GraphFamily& graph) const {
    // No shorthand of specs has convolutions of many sizes.
    if (graph.count() > 1 && HasConvolution(graph.member(0))) return std::nullopt;
    std::vector<ParsedSpec> members;
    for (int64_t i = 0; i < graph.count(); ++i) {
      absl::StatusOr<ParsedSpec> spec = AsContraction(graph.member(i), source_);
      if (!spec.ok()) return std::nullopt;
      members.push_back(*std::move(spec));
    }
    if (graph.count() == 1) return SpecFamily(std::move(members.front()));
    // A shorthand has a mixture of one size only.
    if (graph.sizes().size() > 1)
      for (const std::vector<SizeShare>& mixture : graph.mixtures())
        if (!mixture.empty()) return std::nullopt;
    return MakeFamily(std::move(members), graph.sizes(), graph.mixtures().front());
  }

  // Adds the request unless its name is taken. A name collides with the names of other functions that a
  // kernel's code has, too: "f" has "f_pack", so no other kernel is called so, whichever comes first.
  absl::Status Add(KernelRequest request, TextPosition position) {
    const std::string& name = request.name;
    const auto taken = [&](int line, std::string_view what) {
      return ErrorAt(source_, position, Cat("expected another name, as line ", line, " has ", what));
    };
    if (const auto before = lines_.find(name); before != lines_.end())
      return taken(before->second, Quoted(name));
    for (std::string_view suffix : GeneratedSuffixes()) {
      if (const auto before = lines_.find(Cat(name, suffix)); before != lines_.end())
        return taken(before->second, Cat(Quoted(before->first), ", which its own code has"));
      if (name.size() <= suffix.size() || !name.ends_with(suffix)) continue;
      const auto before = lines_.find(name.substr(0, name.size() - suffix.size()));
      if (before != lines_.end())
        return taken(before->second, Cat(Quoted(before->first), ", whose code has ", Quoted(name)));
    }
    lines_[name] = position.line;
    request.position = position;
    if (request.label.empty()) request.label = name;
    requests_.push_back(std::move(request));
    return absl::OkStatus();
  }

  const std::string_view source_;
  std::map<std::string, int> lines_;  // of the names so far
  std::vector<Word> block_;           // lines of a kernel that has not ended
  std::optional<Word> head_;          // lines of a head that has not ended
  std::vector<KernelRequest> requests_;
};

}  // namespace

void KernelRequest::UseGraph() {
  if (graph) family = *std::exchange(graph, std::nullopt);
}

void KernelRequest::UseGraphOfConvolution() {
  if (graph && HasConvolution(graph->member(0))) UseGraph();
}

absl::StatusOr<KernelRequest> ParseKernelLine(std::string_view text, std::string_view source) {
  // A kernel in the kernel language may have several lines, so it is read as a file.
  if (!StartsKernel({text, {}})) return ParseRequest(WithoutBlanks({text, {}}), source);
  KIRSCH_ASSIGN_OR_RETURN(std::vector<KernelRequest> kernels, ParseKernelFile(text, source));
  if (kernels.size() > 1) return ErrorAt(source, kernels[1].position, "expected a single kernel");
  return std::move(kernels.front());
}

absl::StatusOr<std::vector<KernelRequest>> ParseKernelFile(std::string_view text, std::string_view source) {
  KernelFileParser parser(source);
  const std::string without_comments = WithoutComments(text);
  std::vector<Word> lines = Split({without_comments, {}}, '\n');
  for (size_t i = 0; i < lines.size(); ++i) {
    // Split counts columns through the whole text; errors count them within the line.
    lines[i].position = {static_cast<int>(i) + 1, 1};
    KIRSCH_RETURN_IF_ERROR(parser.ParseLine(lines[i]));
  }
  KIRSCH_RETURN_IF_ERROR(parser.End());
  std::vector<KernelRequest> requests = std::move(parser).requests();
  if (requests.empty()) return ExpectedAt(source, Word{}, "a kernel ([NAME =] SPEC)");
  return requests;
}

}  // namespace kirsch
