#include "codegen/family_header.h"

#include "absl/strings/str_cat.h"
#include "codegen/dispatch.h"
#include "codegen/lower.h"
#include "spec/check.h"

namespace kirsch {
namespace {

std::string MemberName(const std::string& name, const SpecFamily& family, const UserSizes& sizes) {
  std::string member = name;
  for (int dim : family.varying())
    absl::StrAppend(&member, "_", SizeParameter(dim), sizes[static_cast<size_t>(dim)]);
  return member;
}

}  // namespace

HeaderFunction FunctionOf(const std::string& name, const SpecFamily& family) {
  HeaderFunction function;
  function.name = name;
  function.text = family.text();
  function.ranges = family.ranges();
  for (int64_t i = 0; i < family.count(); ++i) {
    const ParsedSpec member = family.member(i);
    function.members.push_back({member.spec, member.swapped});
  }
  return function;
}

std::vector<LoopProgram> LowerMembers(const std::string& name, const SpecFamily& family,
                                      absl::Span<const Impl* const> impls, const Target& target) {
  KIRSCH_CHECK(static_cast<int64_t>(impls.size()) == family.count());
  std::vector<LoopProgram> programs;
  for (size_t i = 0; i < impls.size(); ++i)
    programs.push_back(
        Lower(*impls[i], target, MemberName(name, family, family.sizes(static_cast<int64_t>(i)))));
  return programs;
}

}  // namespace kirsch
