// SPDX-License-Identifier: Apache-2.0
#include "memo/table.h"

#include <algorithm>
#include <utility>

#include "spec/check.h"
#include "spec/text/status_macros.h"

namespace kirsch {

// Reads a page once. A page that could not be read is forgotten, so the next call tries again.
absl::StatusOr<const Page*> Table::PageOf(const PageKey& key) {
  auto [page, is_new] = pages_.try_emplace(key);
  if (is_new && file_ != nullptr) {
    absl::StatusOr<Page> read = file_->ReadPage(key);
    if (!read.ok()) {
      pages_.erase(page);
      return read.status();
    }
    page->second = *std::move(read);
  }
  return &page->second;
}

// Finds the nearest entry that was added. Points are in lexicographic order with the number of lines last. So
// the first one that is not before `point` has the fewest lines, if it is of the same spec.
std::optional<PagePoint> Table::FindAdded(const PageKey& key, const CoordinateList& point) const {
  const auto page = added_.find(key);
  if (page == added_.end()) return std::nullopt;
  const auto next = page->second.lower_bound(point);
  if (next == page->second.end() || !std::equal(point.begin(), point.end() - 1, next->first.begin()))
    return std::nullopt;
  return PagePoint{next->first, next->second};
}

absl::StatusOr<std::optional<TableEntry>> Table::Find(const Spec& spec, Lines available) {
  const Coordinates coordinates = CoordinatesOf(spec, available);
  const PageKey key = PageKey::Of(coordinates);
  KIRSCH_ASSIGN_OR_RETURN(const Page* page, PageOf(key));
  std::optional<PagePoint> found = page->Find(coordinates.point);
  const std::optional<PagePoint> added = FindAdded(key, coordinates.point);
  // Of the file's entry and the added one, the one for fewer lines is nearer.
  if (added && (!found || added->point.back() < found->point.back())) found = added;
  if (!found) return std::nullopt;
  return TableEntry{spec, static_cast<Lines>(found->point.back()), found->decision};
}

// An entry contradicts only one for the same number of lines: for other numbers, another decision may be the
// optimum.
absl::StatusOr<bool> Table::Add(const TableEntry& entry) {
  KIRSCH_ASSIGN_OR_RETURN(std::optional<TableEntry> known, Find(entry.spec, entry.available));
  if (known && known->available == entry.available) {
    if (known->decision == entry.decision) return false;
    return absl::AlreadyExistsError("the table has another solution than the one to be added");
  }
  const Coordinates coordinates = CoordinatesOf(entry.spec, entry.available);
  added_[PageKey::Of(coordinates)][coordinates.point] = entry.decision;
  return true;
}

absl::StatusOr<std::optional<std::string>> Table::FindText(TextKind kind, const std::string& question) const {
  const Texts& added = texts_[kind];
  // Answers that were added come first. Commit unites them with those of the file.
  if (const auto found = added.find(question); found != added.end()) return found->second;
  if (file_ == nullptr) return std::optional<std::string>();
  return file_->FindText(kind, question);
}

absl::StatusOr<Cost> Table::FindBound(const Spec& spec, Lines available) const {
  KIRSCH_ASSIGN_OR_RETURN(const std::optional<std::string> found,
                          FindText(TextKind::kBound, BoundQuestion(spec, available)));
  if (!found) return Cost{0};
  return ParseBound(*found);
}

// Bounds are kept as texts, united by the greater one (United).
absl::Status Table::AddBound(const Spec& spec, Lines available, Cost bound) {
  return AddText(TextKind::kBound, BoundQuestion(spec, available), BoundText(bound));
}

// Pages that were added to are read again when they are next asked for, since the file may have points of
// other processes.
absl::Status Table::Commit() {
  if (file_ == nullptr) return absl::OkStatus();
  std::map<PageKey, std::vector<PagePoint>> points;
  for (const auto& [key, page] : added_)
    for (const auto& [point, decision] : page) points[key].push_back({point, decision});
  KIRSCH_RETURN_IF_ERROR(file_->Add(points, texts_));
  for (const auto& [key, page] : added_) pages_.erase(key);
  added_.clear();
  texts_.Clear();
  return absl::OkStatus();
}

std::vector<TableEntry> Table::Added() const {
  std::vector<TableEntry> entries;
  for (const auto& [key, page] : added_)
    for (const auto& [point, decision] : page) {
      // Only points of specs are ever added.
      const std::optional<Question> question = QuestionAt({key.plane, point});
      KIRSCH_CHECK(question.has_value());
      entries.push_back({question->spec, question->available, decision});
    }
  return entries;
}

}  // namespace kirsch
