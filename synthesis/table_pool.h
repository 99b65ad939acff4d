// SPDX-License-Identifier: Apache-2.0
// Keeps tables open between questions: to open one takes longer than to answer most questions from it.
#ifndef KIRSCH_SYNTHESIS_TABLE_POOL_H_
#define KIRSCH_SYNTHESIS_TABLE_POOL_H_

#include <sys/types.h>

#include <memory>
#include <mutex>
#include <vector>

#include "memo/table.h"
#include "spec/target.h"

namespace kirsch {

// The tables of one DbOptions that nobody has at the moment. Each is lent to one user at a time, so several
// threads may ask. Thread-safe. A forked process opens its own: SQLite's connections can't be shared.
class TablePool : public std::enable_shared_from_this<TablePool> {
 public:
  // Returns a table for the target; null if there is none. It comes back when the last reference goes.
  std::shared_ptr<Table> Take(const Target& target);
  // Lends a table that has just been opened.
  std::shared_ptr<Table> Lend(const Target& target, std::unique_ptr<Table> table);

 private:
  struct Idle {
    Target target;
    std::unique_ptr<Table> table;
    pid_t process;  // that opened it
  };
  void Return(Idle idle);

  std::mutex mutex_;
  std::vector<Idle> idle_;  // guarded by mutex_
};

}  // namespace kirsch

#endif  // KIRSCH_SYNTHESIS_TABLE_POOL_H_
