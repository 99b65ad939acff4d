// SPDX-License-Identifier: Apache-2.0
// Measures which representation keeps the pages of the table best. The candidates are in
// bench/micro/representations, the contents are those of family.h. All are checked against a hash table
// before anything is measured.
//
// The figures are in bench/lab/2026-11-21.md ("Representations compared").
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

// Makes a representation of a page's entries; null if it can't hold them.
using Make = std::function<std::unique_ptr<Representation>(const std::vector<Entry>&)>;
constexpr size_t kQueries = 1 << 15;

// A question: a page, and a point of its plane.
struct Query {
  size_t page;
  Point point;
};

// Pages with decisions as numbers, and points to ask for: `hits` are stored, `misses` are not.
struct Contents {
  std::vector<std::vector<Entry>> pages;
  std::vector<Query> hits, misses;
  size_t entries = 0;
};

// Replaces each decision by the number of its first place in the page.
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

// Replaces one coordinate of a stored point by that of another one. The result is often no stored point, but
// near some.
Point Mutated(const std::vector<Entry>& page, std::mt19937* random) {
  Point point = page[(*random)() % page.size()].point;
  const size_t coordinate = (*random)() % kPointSize;
  point[coordinate] = page[(*random)() % page.size()].point[coordinate];
  return point;
}

// Draws hits and misses with a fixed seed.
Contents ContentsOf(const std::map<PageKey, std::vector<PagePoint>>& family) {
  Contents contents;
  std::vector<size_t> page_of;  // of each entry: a page is asked as often as it has entries
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
  // Mutated points that turn out to be stored are drawn again.
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

// Checks that all answers are those of the hash table: of stored points, of others, and after an insertion.
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
    // A page that lacks one entry, which is then inserted.
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

// Bytes in use, as the allocator counts them: with its own overhead, which small nodes have much of.
double HeapBytes() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<double>(info.uordblks + info.hblkhd);
}

// All pages that `make` can make. The others are null, and their entries don't count.
struct Built {
  std::vector<std::unique_ptr<Representation>> pages;
  size_t entries = 0;
  double heap_bytes = 0;

  Built(const Make& make, const Contents& contents) {
    pages.resize(contents.pages.size());
    // The difference is what the pages take, as nothing else is allocated meanwhile.
    const double before = HeapBytes();
    for (size_t i = 0; i < pages.size(); ++i) {
      pages[i] = make(contents.pages[i]);
      if (pages[i] != nullptr) entries += contents.pages[i].size();
    }
    heap_bytes = HeapBytes() - before;
  }
};

// Bytes that zstd makes of a page.
double CompressedSize(const std::string& bytes, int level) {
  std::string data(ZSTD_compressBound(bytes.size()), '\0');
  return static_cast<double>(ZSTD_compress(data.data(), data.size(), bytes.data(), bytes.size(), level));
}

// Times making all pages, and reports bytes per entry: in memory, on disk, and compressed. `share` is that of
// the entries that the representation can hold.
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

// Times one question after the other, as far as the representation has their pages.
void BM_Find(benchmark::State& state, const Make& make, const Contents& contents,
             const std::vector<Query>& queries) {
  const Built built(make, contents);
  // Questions whose page this representation could not make are left out.
  std::vector<Query> possible;
  std::copy_if(queries.begin(), queries.end(), std::back_inserter(possible),
               [&](const Query& query) { return built.pages[query.page] != nullptr; });
  size_t i = 0;
  for (auto _ : state) {
    const Query& query = possible[i++ % possible.size()];
    benchmark::DoNotOptimize(built.pages[query.page]->Find(query.point));
  }
}

// Times the insertion of a point. Only Insert counts; the page is made before, and lacks just the point that
// is to come.
void BM_Insert(benchmark::State& state, const Make& make, const Contents& contents) {
  size_t i = 0;
  for (auto _ : state) {
    std::unique_ptr<Representation> page;
    Entry entry;
    // Pages that can't be made, or that would be empty, are left out.
    while (page == nullptr) {
      const Query& query = contents.hits[i++ % contents.hits.size()];
      std::vector<Entry> entries = contents.pages[query.page];
      const auto at = std::find_if(entries.begin(), entries.end(),
                                   [&](const Entry& other) { return other.point == query.point; });
      entry = *at;
      entries.erase(at);
      if (!entries.empty()) page = make(entries);
    }
    // From here on the insertion alone.
    const auto start = std::chrono::steady_clock::now();
    page->Insert(entry);
    state.SetIterationTime(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
}

// The bytes that dense arrays would take if all pages could be made.
double DenseBytesPerEntry(const Contents& contents) {
  double bytes = 0;
  for (const std::vector<Entry>& page : contents.pages) bytes += DenseBytes(page);
  return bytes / static_cast<double>(contents.entries);
}

// Registers four benchmarks for each representation. Runs go along each coordinate but the first.
void RegisterRepresentations(const Contents& contents) {
  // All but the runs, which have one for each coordinate.
  std::vector<std::pair<std::string, Make>> makers = {
      {"dense", MakeDense},         {"nested_icl", MakeNestedIntervals}, {"boxes_scanned", MakeScannedBoxes},
      {"boxes_rtree", MakeBoxTree}, {"boxes_bitmaps", MakeIndexedBoxes}, {"hash", MakeHash}};
  const char* const names[kPointSize] = {"b", "m", "k", "n", "lhs", "rhs", "out", "lines"};
  for (size_t along = 1; along < kPointSize; ++along)
    makers.push_back({Cat("runs_", names[along]),
                      [=](const std::vector<Entry>& entries) { return MakeRuns(entries, along); }});
  for (const auto& [name, make] : makers) {
    // A representation that is wrong ends the program before its first figure.
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
