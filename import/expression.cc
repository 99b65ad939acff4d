// SPDX-License-Identifier: Apache-2.0
#include "import/expression.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <utility>

#include "spec/check.h"
#include "spec/operation.h"

namespace kirsch {
namespace {

class ExpressionParser {
 public:
  explicit ExpressionParser(std::string_view text) : rest_(text) {}

  Expression Parse() {
    Expression expression = One();
    KIRSCH_CHECK(rest_.empty());
    return expression;
  }

 private:
  Expression One() {
    SkipBlanks();
    const size_t length = std::min(rest_.find_first_of("(,) "), rest_.size());
    const std::string word(rest_.substr(0, length));
    KIRSCH_CHECK(!word.empty());
    rest_.remove_prefix(length);
    if (std::isdigit(static_cast<unsigned char>(word[0])) || word[0] == '-')
      return {Expression::Kind::kNumber, std::strtod(word.c_str(), nullptr), ""};
    if (!Take('(')) return {Expression::Kind::kVariable, 0, word};
    Expression call{Expression::Kind::kCall, 0, word};
    do call.arguments.push_back(One());
    while (Take(','));
    KIRSCH_CHECK(Take(')'));
    return call;
  }

  void SkipBlanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(' '), rest_.size())); }

  bool Take(char wanted) {
    SkipBlanks();
    if (rest_.empty() || rest_[0] != wanted) return false;
    rest_.remove_prefix(1);
    return true;
  }

  std::string_view rest_;
};

// Null if there is none that has a meaning of its own.
const OperationInfo* FindElementwise(std::string_view name) {
  for (const OperationInfo& info : kOperations)
    if (info.name == name && info.meaning != nullptr && info.option.name.empty()) return &info;
  return nullptr;
}

}  // namespace

Expression ParseExpression(std::string_view text) { return ExpressionParser(text).Parse(); }

bool IsKnown(const std::string& operation) {
  return operation == "select" || FindElementwise(operation) != nullptr;
}

double ValueOf(const std::string& operation, absl::Span<const double> arguments) {
  if (operation == "select") return arguments[0] != 0 ? arguments[1] : arguments[2];
  const OperationInfo* info = FindElementwise(operation);
  KIRSCH_CHECK(info != nullptr);
  return info->meaning(arguments[0], arguments.size() > 1 ? arguments[1] : 0);
}

}  // namespace kirsch
