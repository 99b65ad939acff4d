// SPDX-License-Identifier: Apache-2.0
#include "synthesis/family_regions.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"
#include "spec/text/cat.h"
#include "spec/text/quantity.h"

namespace kirsch {
namespace {

std::string RangeText(const SizeRange& range) {
  return range.varies() ? Cat(range.low, "..", range.high) : Cat(range.low);
}

// Two columns of fixed width, so that titles and figures stand below each other.
std::string LossColumns(std::string_view mean, std::string_view most) {
  return absl::StrFormat("%9s  %9s  ", mean, most);
}

std::string LossText(const RegionLoss& loss) {
  if (loss.known == 0) return LossColumns("-", "-");
  return LossColumns(absl::StrFormat("%.2f %%", 100 * loss.mean),
                     absl::StrFormat("%s%.2f %%", loss.exact < loss.known ? "<" : "", 100 * loss.largest));
}

}  // namespace

std::pair<double, double> RatesOf(const Regions& regions, const Region& region) {
  const auto rate = [&](int64_t member) { return regions.gflops[static_cast<size_t>(member)]; };
  std::pair<double, double> rates = {rate(region.last()), rate(region.last())};
  for (int64_t member : region.members)
    rates = {std::min(rates.first, rate(member)), std::max(rates.second, rate(member))};
  return rates;
}

RegionLoss LossOf(const Regions& regions, const Region& region) {
  RegionLoss loss;
  for (int64_t member : region.members) {
    const std::optional<MemberLoss>& own = regions.losses[static_cast<size_t>(member)];
    if (!own) continue;
    ++loss.known;
    if (own->exact) ++loss.exact;
    loss.mean += own->most;
    loss.largest = std::max(loss.largest, own->most);
  }
  if (loss.known > 0) loss.mean /= static_cast<double>(loss.known);
  return loss;
}

Region RegionOf(const std::vector<VaryingSize>& sizes, absl::Span<const int64_t> members) {
  Region region;
  region.members.assign(members.begin(), members.end());
  for (size_t size = 0; size < sizes.size(); ++size) {
    // Which of the size's values the member has. Members are numbered with the last size varying fastest.
    const auto number = [&](int64_t member) {
      return member / CountMembers(absl::MakeConstSpan(sizes).subspan(size + 1)) %
             static_cast<int64_t>(sizes[size].values.size());
    };
    const auto [least, most] = std::minmax_element(
        members.begin(), members.end(), [&](int64_t a, int64_t b) { return number(a) < number(b); });
    region.box.push_back({sizes[size].LeastServed(static_cast<size_t>(number(*least))),
                          sizes[size].values[static_cast<size_t>(number(*most))]});
  }
  return region;
}

std::string RegionTable(const Regions& regions) {
  std::string text;
  for (const VaryingSize& size : regions.sizes) absl::StrAppendFormat(&text, "%-12s ", size.name);
  // Without losses the table has no columns for them.
  const bool shares = !regions.losses.empty();
  absl::StrAppendFormat(&text, "%7s  %18s  %s%s\n", "kernels", Cat(RateUnit(regions.integers), ", from - to"),
                        shares ? LossColumns("mean loss", "most loss") : "", "decision");
  for (const Region& region : regions.list) {
    for (const SizeRange& range : region.box) absl::StrAppendFormat(&text, "%-12s ", RangeText(range));
    const auto [least, most] = RatesOf(regions, region);
    absl::StrAppendFormat(&text, "%7d  %18s  ", region.members.size(),
                          absl::StrFormat("%.1f - %.1f", least, most));
    if (shares) {
      Append(&text, LossText(LossOf(regions, region)));
    }
    Append(&text, region.decision, "\n");
  }
  return text;
}

std::string RegionText(const Regions& regions, const Region& region) {
  std::string text;
  for (size_t i = 0; i < region.box.size(); ++i)
    Append(&text, i == 0 ? "" : ", ", regions.sizes[i].name, " ", RangeText(region.box[i]));
  const auto [least, most] = RatesOf(regions, region);
  absl::StrAppendFormat(&text, ": %d %s, %.1f to %.1f %s predicted", region.members.size(),
                        region.members.size() == 1 ? "kernel" : "kernels", least, most,
                        RateUnit(regions.integers));
  return text;
}

}  // namespace kirsch
