// An in-memory memo: a hash table from spec to its boxes. Not thread-safe.
#ifndef KIRSCH_MEMO_HASH_MEMO_H_
#define KIRSCH_MEMO_HASH_MEMO_H_

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "memo/memo.h"

namespace kirsch {

class HashMemo : public Memo {
 public:
  Known Find(const Spec& spec, Lines available) const override;
  void AddSolution(const Spec& spec, const Solution& solution) override;
  void AddBound(const Spec& spec, Lines available, Cost bound) override;
  Counts counts() const override;

 private:
  struct Bound {
    Lines available;
    Cost cost;
  };
  struct Entry {
    absl::InlinedVector<Solution, 1> solutions;  // disjoint boxes
    absl::InlinedVector<Bound, 1> bounds;        // fewer lines, higher bound
  };
  struct SpecHash {
    size_t operator()(const Spec& spec) const;
  };
  absl::flat_hash_map<Spec, Entry, SpecHash> table_;
};

}  // namespace kirsch

#endif  // KIRSCH_MEMO_HASH_MEMO_H_
