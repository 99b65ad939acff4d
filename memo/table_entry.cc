// SPDX-License-Identifier: Apache-2.0
#include "memo/table_entry.h"

#include <map>
#include <utility>

#include "memo/page.h"
#include "memo/page_key.h"
#include "memo/varint.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

// The length comes first, so that DecodeEntries knows where keys and pages end.
void AppendBytes(std::string_view bytes, std::string* all) {
  AppendVarint(bytes.size(), all);
  all->append(bytes);
}

}  // namespace

// Groups entries by pages first: a page merges its points.
absl::StatusOr<std::string> EncodeEntries(const std::vector<TableEntry>& entries) {
  std::map<PageKey, std::vector<PagePoint>> pages;
  for (const TableEntry& entry : entries) {
    Coordinates coordinates = CoordinatesOf(entry.spec, entry.available);
    pages[PageKey::Of(coordinates)].push_back({std::move(coordinates.point), entry.decision});
  }
  std::string bytes;
  for (auto& [key, points] : pages) {
    KIRSCH_ASSIGN_OR_RETURN(Page page, Page::Of(std::move(points)));
    AppendBytes(key.Encode(), &bytes);
    AppendBytes(page.Encode(), &bytes);
  }
  return bytes;
}

absl::StatusOr<std::vector<TableEntry>> DecodeEntries(std::string_view bytes) {
  std::vector<TableEntry> entries;
  VarintReader reader(bytes);
  while (reader.ok() && reader.remaining() > 0) {
    KIRSCH_ASSIGN_OR_RETURN(PageKey key, PageKey::Decode(reader.NextBytes()));
    KIRSCH_ASSIGN_OR_RETURN(Page page, Page::Decode(reader.NextBytes()));
    for (PagePoint& point : page.Points()) {
      const std::optional<Question> question = QuestionAt({key.plane, std::move(point.point)});
      if (!question) return absl::DataLossError("not the coordinates of a spec");
      entries.push_back({question->spec, question->available, point.decision});
    }
  }
  if (!reader.ok()) return absl::DataLossError("not entries of a table");
  return entries;
}

}  // namespace kirsch
