// What a table's solutions hold for: one target, one set of rules, one cost model.
#ifndef KIRSCH_MEMO_TABLE_IDENTITY_H_
#define KIRSCH_MEMO_TABLE_IDENTITY_H_

#include <string>

namespace kirsch {

// Fingerprints are 32 hexadecimal digits. Where one differs, no solution carries over.
struct TableIdentity {
  std::string target_name;
  std::string target;              // its target file, whole: the table can be worked on without it
  std::string target_fingerprint;  // of what the search sees of the target
  std::string rules_fingerprint;   // of the rewrites and of how the search chooses between equals
  std::string cost_fingerprint;    // of the cost model
};

}  // namespace kirsch

#endif  // KIRSCH_MEMO_TABLE_IDENTITY_H_
