// SPDX-License-Identifier: Apache-2.0
// Processes that work on one task together. Every call is made by all of them, in the same order.
#ifndef KIRSCH_SEARCH_TABLE_PROCESS_GROUP_H_
#define KIRSCH_SEARCH_TABLE_PROCESS_GROUP_H_

#include <string>
#include <utility>
#include <vector>

namespace kirsch {

class ProcessGroup {
 public:
  virtual ~ProcessGroup() = default;
  virtual int rank() const = 0;  // of this process, from 0
  virtual int size() const = 0;

  // Everybody's bytes, by rank, on rank 0; nothing elsewhere.
  virtual std::vector<std::string> Gather(const std::string& bytes) = 0;

  // Rank 0's bytes, on every rank.
  virtual std::string Broadcast(std::string bytes) = 0;
};

// A process on its own.
class OneProcess : public ProcessGroup {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  std::vector<std::string> Gather(const std::string& bytes) override { return {bytes}; }
  std::string Broadcast(std::string bytes) override { return bytes; }
};

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_TABLE_PROCESS_GROUP_H_
