// SPDX-License-Identifier: Apache-2.0
#include "codegen/c/c_statements.h"

#include "absl/strings/str_split.h"
#include "spec/check.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

// Returns the statements of a block. `*line` is its first line at the beginning, and the line of its end
// afterwards.
Statements BlockAt(absl::Span<const std::string> lines, size_t* line) {
  Statements statements;
  for (; *line < lines.size(); ++*line) {
    const std::string& whole = lines[*line];
    const std::string_view text = std::string_view(whole).substr(whole.find_first_not_of(' '));
    if (text == "}") return statements;
    Statement& statement = statements.emplace_back(Statement{PatternOf(text)});
    if (text.back() != '{') continue;
    statement.is_block = true;
    ++*line;
    statement.body = BlockAt(lines, line);
    KIRSCH_CHECK(*line < lines.size());
  }
  return statements;
}

void AppendHoles(absl::Span<const Statement> statements, std::vector<Hole>* holes) {
  for (const Statement& statement : statements) {
    holes->insert(holes->end(), statement.head.holes.begin(), statement.head.holes.end());
    AppendHoles(statement.body, holes);
  }
}

// `*hole` counts the holes across statements, in the same order as AppendHoles.
void SetValues(const Parameters& parameters, size_t* hole, Statements* statements) {
  for (Statement& statement : *statements) {
    for (Hole& known : statement.head.holes) known.value = parameters.Value((*hole)++);
    SetValues(parameters, hole, &statement.body);
  }
}

}  // namespace

Statements SplitStatements(std::string_view text) {
  const std::vector<std::string> lines = absl::StrSplit(ForAbsl(text), '\n', absl::SkipEmpty());
  size_t line = 0;
  return BlockAt(lines, &line);
}

std::string ShapeOf(const Statement& statement) {
  std::string shape = statement.head.Shape();
  // Control characters, which C text has none of, keep the parts of a key apart.
  if (statement.macro != kNone) Append(&shape, "\3", statement.macro);
  if (!statement.is_block) return shape + "\n";
  for (const Statement& inner : statement.body) shape += ShapeOf(inner);
  return shape + "}\n";
}

std::vector<Hole> FindHoles(absl::Span<const Statement> statements) {
  std::vector<Hole> holes;
  AppendHoles(statements, &holes);
  return holes;
}

Statements WithValues(absl::Span<const Statement> statements, const Parameters& parameters) {
  Statements with(statements.begin(), statements.end());
  size_t hole = 0;
  SetValues(parameters, &hole, &with);
  return with;
}

}  // namespace kirsch
