// SPDX-License-Identifier: Apache-2.0
// What keeps the pages of the table best: the representations in bench/representations, on the contents that
// family.h says. All are checked against a hash table before anything is measured.
#include <benchmark/benchmark.h>
#include <malloc.h>
#include <zstd.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <random>

#include "bench/micro/family.h"
#include "bench/micro/representations/representation.h"
#include "spec/check.h"
#include "spec/target/targets.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

using Make = std::function<std::unique_ptr<Representation>(const std::vector<Entry>&)>;
constexpr size_t kQueries = 1 << 15;

struct Query {
  size_t page;
  Point point;
};

// Pages with decisions as numbers, and points to ask for.
struct Contents {
  std::vector<std::vector<Entry>> pages;
  std::vector<Query> hits, misses;
  size_t entries = 0;
};

std::vector<Entry> Numbered(const std::vector<PagePoint>& points) {
  std::vector<Decision> decisions;
  std::vector<Entry> entries;
  for (const PagePoint& point : points) {
    KIRSCH_CHECK(point.point.size() == kPointSize);
    const auto at = std::find(decisions.begin(), decisions.end(), point.decision);
    entries.push_back({{}, static_cast<uint32_t>(at - decisions.begin())});
    if (at == decisions.end()) decisions.push_back(point.decision);
    std::copy(point.point.begin(), point.point.end(), entries.back().point.begin());
  }
  return entries;
}

// One coordinate of a stored point replaced by that of another one; often no stored point.
Point Mutated(const std::vector<Entry>& page, std::mt19937* random) {
  Point point = page[(*random)() % page.size()].point;
  const size_t coordinate = (*random)() % kPointSize;
  point[coordinate] = page[(*random)() % page.size()].point[coordinate];
  return point;
}

Contents ContentsOf(const std::map<PageKey, std::vector<PagePoint>>& family) {
  Contents contents;
  std::vector<size_t> page_of;  // of each entry, so that pages are asked as often as they have entries
  for (const auto& [key, points] : family) {
    page_of.insert(page_of.end(), points.size(), contents.pages.size());
    contents.pages.push_back(Numbered(points));
  }
  contents.entries = page_of.size();
  std::mt19937 random(1);
  while (contents.hits.size() < kQueries) {
    const size_t page = page_of[random() % page_of.size()];
    const std::vector<Entry>& entries = contents.pages[page];
    contents.hits.push_back({page, entries[random() % entries.size()].point});
  }
  std::vector<std::unique_ptr<Representation>> tables;
  for (const auto& page : contents.pages) tables.push_back(MakeHash(page));
  for (int tries = 0; contents.misses.size() < kQueries; ++tries) {
    KIRSCH_CHECK(tries < 10'000'000);
    const size_t page = page_of[random() % page_of.size()];
    const Point point = Mutated(contents.pages[page], &random);
    if (!tables[page]->Find(point)) contents.misses.push_back({page, point});
  }
  return contents;
}

void CheckAgainst(const Make& make, const Contents& contents) {
  std::mt19937 random(2);
  for (const std::vector<Entry>& page : contents.pages) {
    const auto expected = MakeHash(page);
    auto table = make(page);
    if (table == nullptr) continue;
    for (const Entry& entry : page)
      KIRSCH_CHECK(table->Find(entry.point) == Found({entry.point[kLast], entry.decision}));
    for (size_t i = 0; i < 2 * page.size(); ++i) {
      const Point point = Mutated(page, &random);
      KIRSCH_CHECK(table->Find(point) == expected->Find(point));
    }
    std::vector<Entry> fewer = page;
    const Entry last = page[random() % page.size()];
    std::erase(fewer, last);
    if (fewer.empty()) continue;
    const auto grown = make(fewer);
    grown->Insert(last);
    for (const Entry& entry : page)
      KIRSCH_CHECK(grown->Find(entry.point) == Found({entry.point[kLast], entry.decision}));
  }
}

double HeapBytes() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<double>(info.uordblks + info.hblkhd);
}

// All pages that `make` can make, the others null.
struct Built {
  std::vector<std::unique_ptr<Representation>> pages;
  size_t entries = 0;
  double heap_bytes = 0;

  Built(const Make& make, const Contents& contents) {
    pages.resize(contents.pages.size());
    const double before = HeapBytes();
    for (size_t i = 0; i < pages.size(); ++i) {
      pages[i] = make(contents.pages[i]);
      if (pages[i] != nullptr) entries += contents.pages[i].size();
    }
    heap_bytes = HeapBytes() - before;
  }
};

double CompressedSize(const std::string& bytes, int level) {
  std::string data(ZSTD_compressBound(bytes.size()), '\0');
  return static_cast<double>(ZSTD_compress(data.data(), data.size(), bytes.data(), bytes.size(), level));
}

void BM_Build(benchmark::State& state, const Make& make, const Contents& contents) {
  size_t entries = 0;
  for (auto _ : state) entries += Built(make, contents).entries;
  state.counters["s/entry"] = benchmark::Counter(static_cast<double>(entries),
                                                 benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  const Built built(make, contents);
  double plain = 0, compressed = 0;
  for (const auto& page : built.pages) {
    if (page == nullptr) continue;
    const std::string bytes = page->Serialize();
    plain += static_cast<double>(bytes.size());
    compressed += CompressedSize(bytes, 9);
  }
  const auto count = static_cast<double>(built.entries);
  state.counters["share"] = count / static_cast<double>(contents.entries);
  state.counters["B/entry"] = built.heap_bytes / count;
  state.counters["disk B/entry"] = plain / count;
  state.counters["zstd B/entry"] = compressed / count;
}

void BM_Find(benchmark::State& state, const Make& make, const Contents& contents,
             const std::vector<Query>& queries) {
  const Built built(make, contents);
  std::vector<Query> possible;
  std::copy_if(queries.begin(), queries.end(), std::back_inserter(possible),
               [&](const Query& query) { return built.pages[query.page] != nullptr; });
  size_t i = 0;
  for (auto _ : state) {
    const Query& query = possible[i++ % possible.size()];
    benchmark::DoNotOptimize(built.pages[query.page]->Find(query.point));
  }
}

// Only Insert is timed; the page lacks just the point that is to come.
void BM_Insert(benchmark::State& state, const Make& make, const Contents& contents) {
  size_t i = 0;
  for (auto _ : state) {
    std::unique_ptr<Representation> page;
    Entry entry;
    while (page == nullptr) {
      const Query& query = contents.hits[i++ % contents.hits.size()];
      std::vector<Entry> entries = contents.pages[query.page];
      const auto at = std::find_if(entries.begin(), entries.end(),
                                   [&](const Entry& other) { return other.point == query.point; });
      entry = *at;
      entries.erase(at);
      if (!entries.empty()) page = make(entries);
    }
    const auto start = std::chrono::steady_clock::now();
    page->Insert(entry);
    state.SetIterationTime(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
}

double DenseBytesPerEntry(const Contents& contents) {
  double bytes = 0;
  for (const std::vector<Entry>& page : contents.pages) bytes += DenseBytes(page);
  return bytes / static_cast<double>(contents.entries);
}

void RegisterRepresentations(const Contents& contents) {
  std::vector<std::pair<std::string, Make>> makers = {
      {"dense", MakeDense},         {"nested_icl", MakeNestedIntervals}, {"boxes_scanned", MakeScannedBoxes},
      {"boxes_rtree", MakeBoxTree}, {"boxes_bitmaps", MakeIndexedBoxes}, {"hash", MakeHash}};
  const char* const names[kPointSize] = {"b", "m", "k", "n", "lhs", "rhs", "out", "lines"};
  for (size_t along = 1; along < kPointSize; ++along)
    makers.push_back({Cat("runs_", names[along]),
                      [=](const std::vector<Entry>& entries) { return MakeRuns(entries, along); }});
  for (const auto& [name, make] : makers) {
    CheckAgainst(make, contents);
    const auto add = [&, make = make](const char* what, auto run) {
      return benchmark::RegisterBenchmark(Cat(what, "/", name).c_str(),
                                          [=](benchmark::State& state) { run(state, make); });
    };
    add("Build", [&](benchmark::State& state, const Make& make) {
      BM_Build(state, make, contents);
    })->Unit(benchmark::kMillisecond);
    add("FindHit",
        [&](benchmark::State& state, const Make& make) { BM_Find(state, make, contents, contents.hits); });
    add("FindMiss",
        [&](benchmark::State& state, const Make& make) { BM_Find(state, make, contents, contents.misses); });
    add("Insert", [&](benchmark::State& state, const Make& make) { BM_Insert(state, make, contents); })
        ->UseManualTime()
        ->Iterations(200);
  }
}

}  // namespace
}  // namespace kirsch

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  const absl::StatusOr<kirsch::TargetFile> file = kirsch::FindTarget("znver4", "");
  KIRSCH_CHECK(file.ok());
  const kirsch::CostModel model(file->target);
  const kirsch::Contents contents = kirsch::ContentsOf(kirsch::SolveFamily(kirsch::FamilyBound(), model));
  kirsch::RegisterRepresentations(contents);
  benchmark::AddCustomContext("contents",
                              kirsch::Cat(contents.pages.size(), " pages, ", contents.entries, " entries"));
  benchmark::AddCustomContext("dense, with the pages too large to build",
                              kirsch::Cat(kirsch::DenseBytesPerEntry(contents), " B/entry"));
  benchmark::RunSpecifiedBenchmarks();
}
