// SPDX-License-Identifier: Apache-2.0
#include "memo/table_file.h"

#include <xxhash.h>
#include <zstd.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_replace.h"
#include "memo/checksum_vfs.h"
#include "memo/sqlite.h"
#include "spec/text/status_macros.h"

namespace kirsch {

struct TableRows {
  const char *table, *column, *one;  // the column of the keys; what a row is, for people
};

namespace {

constexpr int kBusyMilliseconds = 60'000;  // how long to wait for other processes
constexpr int kPollMilliseconds = 2;
constexpr int kCompression = 19;
constexpr uint64_t kMaxPageBytes = uint64_t{1} << 30;

// FORMAT.md describes the schema. It has one table for each kind of text.
std::string Schema() {
  std::string schema =
      "CREATE TABLE identity (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;"
      "CREATE TABLE pages (key BLOB NOT NULL UNIQUE, checksum INTEGER NOT NULL, data BLOB NOT NULL);";
  for (const TextKindInfo& texts : kTextKindInfos)
    Append(&schema, "CREATE TABLE ", texts.table,
           " (question BLOB NOT NULL UNIQUE, checksum INTEGER NOT NULL, data BLOB NOT NULL);");
  return schema;
}

// Covers key and data, so data under another key is found. Chained XXH64, see FORMAT.md.
int64_t Checksum(std::string_view key, std::string_view data) {
  return static_cast<int64_t>(XXH64(data.data(), data.size(), XXH64(key.data(), key.size(), 0)));
}

int64_t Checksum(const TableIdentity& identity) {
  return Checksum(identity.target,
                  Cat(identity.target_fingerprint, identity.rules_fingerprint, identity.cost_fingerprint));
}

std::string Compress(const std::string& bytes) {
  std::string data(ZSTD_compressBound(bytes.size()), '\0');
  data.resize(ZSTD_compress(data.data(), data.size(), bytes.data(), bytes.size(), kCompression));
  return data;
}

// A damaged size must not make the program take all memory.
absl::StatusOr<std::string> Decompress(std::string_view data) {
  const auto size = ZSTD_getFrameContentSize(data.data(), data.size());
  if (size > kMaxPageBytes) return absl::DataLossError("not compressed data");  // errors are large numbers
  std::string bytes(size, '\0');
  if (ZSTD_decompress(bytes.data(), bytes.size(), data.data(), data.size()) != size)
    return absl::DataLossError("not compressed data");
  return bytes;
}

// Calls use(name, value) for the members of an identity, with the names that they have in the file.
template <typename Identity, typename Use>
void ForEachMember(Identity& identity, Use use) {
  use("target_name", identity.target_name);
  use("target", identity.target);
  use("target_fingerprint", identity.target_fingerprint);
  use("rules_fingerprint", identity.rules_fingerprint);
  use("cost_fingerprint", identity.cost_fingerprint);
}

// True if all points of the page belong to a page of this key.
bool BelongsTo(const PageKey& key, const Page& page) {
  if (static_cast<size_t>(page.coordinates()) != key.block.size() + 1) return page.boxes().empty();
  for (const Page::Box& box : page.boxes())
    for (size_t i = 0; i < key.block.size(); ++i)
      if (box.low[i] / PageKey::kPageSide != key.block[i] || box.high[i] / PageKey::kPageSide != key.block[i])
        return false;
  return true;
}

constexpr TableRows kPages = {"pages", "key", "page"};
constexpr TableRows RowsOf(TextKind kind) { return {Info(kind).table, "question", Info(kind).one}; }

}  // namespace

// `uri`: a name with options, or "" for the plain path. The settings make SQLite check cells as it reads
// them, and trust no code that a schema may contain.
absl::StatusOr<std::unique_ptr<TableFile>> TableFile::OpenDatabase(const std::string& path, int flags,
                                                                   const std::string& uri) {
  sqlite3* database = nullptr;
  const int code = sqlite3_open_v2(uri.empty() ? path.c_str() : uri.c_str(), &database, flags, ChecksumVfs());
  std::unique_ptr<TableFile> file(new TableFile(path, database));
  if (code != SQLITE_OK) return SqliteError(database, path);
  sqlite3_busy_timeout(database, kBusyMilliseconds);
  KIRSCH_RETURN_IF_ERROR(RunSql(database, path, "PRAGMA cell_size_check=ON; PRAGMA trusted_schema=OFF;"));
  return file;
}

// Makes the table if the file is new, and then treats it like any other.
absl::StatusOr<std::unique_ptr<TableFile>> TableFile::Open(const std::string& path,
                                                           const TableIdentity& identity) {
  KIRSCH_ASSIGN_OR_RETURN(auto file, OpenDatabase(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE));
  KIRSCH_ASSIGN_OR_RETURN(bool is_new, file->IsNew());
  absl::Status status = is_new ? file->Create(identity) : absl::OkStatus();
  if (status.ok()) status = file->ReadIdentity();
  if (status.ok()) status = file->RefuseOthers(identity);
  if (!status.ok()) return status;
  return file;
}

// Takes the file's own identity, so none can be refused.
absl::StatusOr<std::unique_ptr<TableFile>> TableFile::OpenExisting(const std::string& path) {
  KIRSCH_ASSIGN_OR_RETURN(auto file, OpenDatabase(path, SQLITE_OPEN_READWRITE));
  KIRSCH_RETURN_IF_ERROR(file->ReadIdentity());
  return file;
}

// Opens a file as immutable. SQLite then takes no locks and makes no -shm beside it.
absl::StatusOr<std::unique_ptr<TableFile>> TableFile::OpenReadOnly(const std::string& path,
                                                                   const TableIdentity& identity) {
  // Characters that have a meaning in a URI.
  const std::string escaped = absl::StrReplaceAll(path, {{"%", "%25"}, {"?", "%3f"}, {"#", "%23"}});
  KIRSCH_ASSIGN_OR_RETURN(auto file, OpenDatabase(path, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI,
                                                  Cat("file:", escaped, "?immutable=1")));
  KIRSCH_ASSIGN_OR_RETURN(bool is_new, file->IsNew());
  if (is_new) return absl::UnavailableError(Cat("'", path, "': there is no table in it yet"));
  absl::Status status = file->ReadIdentity();
  if (status.ok()) status = file->RefuseOthers(identity);
  if (!status.ok()) return status;
  return file;
}

bool TableFile::writable() const { return sqlite3_db_readonly(database_, nullptr) == 0; }

TableFile::~TableFile() { sqlite3_close(database_); }

// True if nothing is in the file: no tables, and no other program's mark.
absl::StatusOr<bool> TableFile::IsNew() const {
  KIRSCH_ASSIGN_OR_RETURN(int64_t things,
                          QueryNumber(database_, path_, "SELECT count(*) FROM sqlite_schema"));
  KIRSCH_ASSIGN_OR_RETURN(int64_t id, QueryNumber(database_, path_, "PRAGMA application_id"));
  return things == 0 && id == 0;
}

absl::Status TableFile::Begin() { return RunSql(database_, path_, "BEGIN IMMEDIATE"); }

// Switches to a write-ahead log. If two processes do so at once, SQLite tells one of them right away that the
// file is busy, in spite of the timeout, as each might wait for the other. So this tries again.
absl::Status TableFile::UseWriteAheadLog() {
  for (int waited = 0;; waited += kPollMilliseconds) {
    absl::Status status = RunSql(database_, path_, "PRAGMA journal_mode=WAL");
    if (status.ok() || sqlite3_errcode(database_) != SQLITE_BUSY || waited >= kBusyMilliseconds)
      return status;
    sqlite3_sleep(kPollMilliseconds);
  }
}

// Makes the tables and the identity in one transaction. Several processes may come here at once: the first
// one makes them, the others find them made.
absl::Status TableFile::Create(const TableIdentity& identity) {
  // Room for checksums can be reserved only while the file has no pages.
  int reserved = kChecksumBytes;  // of a file without pages as yet
  sqlite3_file_control(database_, nullptr, SQLITE_FCNTL_RESERVE_BYTES, &reserved);
  absl::Status status = UseWriteAheadLog();
  if (status.ok()) status = Begin();
  if (!status.ok()) return status;
  // Another process may have been first.
  absl::StatusOr<bool> still_new = IsNew();
  status = still_new.status();
  if (status.ok() && *still_new) {
    status =
        RunSql(database_, path_,
               Cat(Schema(), "PRAGMA application_id=", kApplicationId, "; PRAGMA user_version=", kTableFormat)
                   .c_str());
    const auto insert = [&](const char* name, const std::string& value) {
      if (!status.ok()) return;
      SqlStatement statement(database_, path_, "INSERT INTO identity VALUES (?, ?)");
      status = statement.BindText(name).BindText(value).Run();
    };
    ForEachMember(identity, insert);
    insert("checksum", Cat(Checksum(identity)));
  }
  if (!status.ok()) {
    (void)RunSql(database_, path_, "ROLLBACK");
    return status;
  }
  return RunSql(database_, path_, "COMMIT");
}

// Checks in this order: a table at all, its format, its identity's checksum.
absl::Status TableFile::ReadIdentity() {
  KIRSCH_ASSIGN_OR_RETURN(int64_t id, QueryNumber(database_, path_, "PRAGMA application_id"));
  if (id != kApplicationId)
    return absl::FailedPreconditionError(Cat("'", path_, "': not a table of Kirsch's"));
  KIRSCH_ASSIGN_OR_RETURN(int64_t format, QueryNumber(database_, path_, "PRAGMA user_version"));
  if (format != kTableFormat)
    return absl::FailedPreconditionError(
        Cat("'", path_, "': expected a table of format ", kTableFormat, ", got format ", format));
  std::map<std::string, std::string> values;
  SqlStatement statement(database_, path_, "SELECT name, value FROM identity");
  while (statement.Step()) values[std::string(statement.Bytes(0))] = std::string(statement.Bytes(1));
  if (!statement.status().ok()) return statement.status();
  ForEachMember(identity_, [&](const char* name, std::string& value) { value = values[name]; });
  if (values["checksum"] != Cat(Checksum(identity_)))
    return absl::DataLossError(
        Cat("'", path_, "': damaged: what it says of its identity doesn't match its checksum"));
  // FORMAT.md says why this is safe enough.
  (void)RunSql(database_, path_, "PRAGMA synchronous=NORMAL");
  return absl::OkStatus();
}

const char* DifferenceOf(const TableIdentity& identity, const TableIdentity& expected) {
  return identity.target_fingerprint != expected.target_fingerprint ? "another target"
         : identity.rules_fingerprint != expected.rules_fingerprint ? "other rewrite rules"
         : identity.cost_fingerprint != expected.cost_fingerprint   ? "another cost model"
                                                                    : nullptr;
}

absl::Status TableFile::RefuseOthers(const TableIdentity& expected) const {
  const char* const other = DifferenceOf(identity_, expected);
  if (other == nullptr) return absl::OkStatus();
  return absl::FailedPreconditionError(Cat(
      "'", path_, "': a table for ", other,
      ", left as it is; expected one for this target and version (a directory for --db keeps one of each)"));
}

absl::Status TableFile::Damaged(const TableRows& rows, std::string_view key, std::string_view what) const {
  return absl::DataLossError(
      Cat("'", path_, "': damaged: ", rows.one, " ", XXH64(key.data(), key.size(), 0), ": ", what));
}

absl::StatusOr<std::string> TableFile::Unpacked(const TableRows& rows, std::string_view key, int64_t checksum,
                                                std::string_view data) const {
  if (checksum != Checksum(key, data)) return Damaged(rows, key, "its checksum doesn't match");
  absl::StatusOr<std::string> bytes = Decompress(data);
  if (!bytes.ok()) return Damaged(rows, key, std::string(bytes.status().message()));
  return bytes;
}

absl::StatusOr<std::optional<std::string>> TableFile::FindRow(const TableRows& rows,
                                                              const std::string& key) const {
  const std::string sql = Cat("SELECT checksum, data FROM ", rows.table, " WHERE ", rows.column, " = ?");
  SqlStatement statement(database_, path_, sql.c_str());
  if (!statement.Bind(key).Step()) {
    if (!statement.status().ok()) return statement.status();
    return std::optional<std::string>();
  }
  KIRSCH_ASSIGN_OR_RETURN(std::string bytes, Unpacked(rows, key, statement.Number(0), statement.Bytes(1)));
  return std::optional<std::string>(std::move(bytes));
}

absl::Status TableFile::SetRow(const TableRows& rows, const std::string& key, const std::string& bytes) {
  const std::string data = Compress(bytes);
  const std::string sql = Cat("INSERT INTO ", rows.table, " VALUES (?, ?, ?) ON CONFLICT (", rows.column,
                              ") DO UPDATE SET checksum = excluded.checksum, data = excluded.data");
  SqlStatement statement(database_, path_, sql.c_str());
  return statement.Bind(key).Bind(Checksum(key, data)).Bind(data).Run();
}

template <typename Decode, typename Visit>
absl::Status TableFile::ForEachRow(const TableRows& rows, const Decode& decode, const Visit& visit,
                                   const std::function<void(const absl::Status&)>& damaged) const {
  const std::string sql =
      Cat("SELECT ", rows.column, ", checksum, data FROM ", rows.table, " ORDER BY ", rows.column);
  SqlStatement statement(database_, path_, sql.c_str());
  while (statement.Step()) {
    const std::string key(statement.Bytes(0));
    const auto decoded = decode(key, statement.Number(1), statement.Bytes(2));
    if (decoded.ok()) {
      KIRSCH_RETURN_IF_ERROR(visit(key, *decoded));
    } else if (damaged != nullptr) {
      damaged(decoded.status());
    } else {
      return decoded.status();
    }
  }
  return statement.status();
}

absl::Status TableFile::Contradiction(const absl::Status& status) const {
  return absl::Status(status.code(), Cat("'", path_, "': it has another solution than the one to be added: ",
                                         std::string(status.message())));
}

// Checks the form before a page is used, and that its points belong to its key.
absl::StatusOr<Page> TableFile::DecodePage(const PageKey& key, std::string_view key_bytes,
                                           std::string_view bytes) const {
  absl::StatusOr<Page> page = Page::Decode(bytes);
  if (!page.ok()) return Damaged(kPages, key_bytes, std::string(page.status().message()));
  if (!BelongsTo(key, *page)) return Damaged(kPages, key_bytes, "it has points that belong elsewhere");
  return page;
}

// A page without a row is empty: nothing is known of its points.
absl::StatusOr<Page> TableFile::ReadPage(const PageKey& key) const {
  const std::string key_bytes = key.Encode();
  KIRSCH_ASSIGN_OR_RETURN(const std::optional<std::string> bytes, FindRow(kPages, key_bytes));
  if (!bytes) return Page();
  return DecodePage(key, key_bytes, *bytes);
}

// Reads the page within the transaction, so that points of other processes are kept.
absl::Status TableFile::AddToPage(const PageKey& key, const std::vector<PagePoint>& points) {
  KIRSCH_ASSIGN_OR_RETURN(Page page, ReadPage(key));
  std::vector<PagePoint> all = page.Points();
  all.insert(all.end(), points.begin(), points.end());
  const absl::StatusOr<Page> merged = Page::Of(std::move(all));
  if (!merged.ok()) return Contradiction(merged.status());
  return SetRow(kPages, key.Encode(), merged->Encode());
}

// No row means that the question has no answer yet.
absl::StatusOr<std::optional<std::string>> TableFile::FindText(TextKind kind,
                                                               const std::string& question) const {
  return FindRow(RowsOf(kind), question);
}

// Nothing is written if the answer stays as it is.
absl::Status TableFile::AddText(TextKind kind, const std::string& question, const std::string& answer) {
  KIRSCH_ASSIGN_OR_RETURN(const std::optional<std::string> known, FindText(kind, question));
  const absl::StatusOr<std::string> united = United(kind, known.value_or(answer), answer);
  if (!united.ok()) return Contradiction(united.status());
  if (known == *united) return absl::OkStatus();
  return SetRow(RowsOf(kind), question, *united);
}

absl::Status TableFile::ForEachText(
    TextKind kind,
    const std::function<absl::Status(const std::string& question, const std::string& answer)>& visit,
    const std::function<void(const absl::Status&)>& damaged) const {
  const auto decode = [&](std::string_view question, int64_t checksum, std::string_view data) {
    return Unpacked(RowsOf(kind), question, checksum, data);
  };
  return ForEachRow(RowsOf(kind), decode, visit, damaged);
}

// The first error ends the transaction without a trace.
absl::Status TableFile::Add(const std::map<PageKey, std::vector<PagePoint>>& points,
                            const TableTexts& texts) {
  if (points.empty() && texts.empty()) return absl::OkStatus();
  KIRSCH_RETURN_IF_ERROR(Begin());
  absl::Status status;
  for (const auto& [key, page] : points)
    if (status.ok()) status = AddToPage(key, page);
  for (const TextKind kind : kTextKinds)
    for (const auto& [question, answer] : texts[kind])
      if (status.ok()) status = AddText(kind, question, answer);
  if (status.ok()) status = RunSql(database_, path_, "COMMIT");
  if (!status.ok()) (void)RunSql(database_, path_, "ROLLBACK");
  return status;
}

// A row of the table, decoded with its key.
absl::StatusOr<TableFile::StoredPage> TableFile::DecodeRow(std::string_view key_bytes, int64_t checksum,
                                                           std::string_view data) const {
  absl::StatusOr<PageKey> key = PageKey::Decode(key_bytes);
  if (!key.ok())
    return absl::DataLossError(Cat("'", path_, "': damaged: ", std::string(key.status().message())));
  KIRSCH_ASSIGN_OR_RETURN(const std::string bytes, Unpacked(kPages, key_bytes, checksum, data));
  KIRSCH_ASSIGN_OR_RETURN(Page page, DecodePage(*key, key_bytes, bytes));
  return StoredPage{*std::move(key), std::move(page), static_cast<int64_t>(key_bytes.size() + data.size())};
}

absl::Status TableFile::ForEachPage(const std::function<absl::Status(const StoredPage&)>& visit,
                                    const std::function<void(const absl::Status&)>& damaged) const {
  const auto decode = [&](std::string_view key, int64_t checksum, std::string_view data) {
    return DecodeRow(key, checksum, data);
  };
  const auto visit_page = [&](const std::string&, const StoredPage& page) { return visit(page); };
  return ForEachRow(kPages, decode, visit_page, damaged);
}

// Compares the checksums of the file's pages. First everything that is committed is moved from the
// write-ahead log to the file, unless another process is reading. Another process that does the same now may
// be in the midst of writing a page, so a failure is tried again.
absl::Status TableFile::CheckPagesOfFile() const {
  constexpr int kTries = 20;
  absl::Status status;
  for (int i = 0; i < kTries; ++i) {
    (void)RunSql(database_, path_, "PRAGMA wal_checkpoint(PASSIVE)");
    status = CheckPages(path_);
    if (status.ok()) break;
    sqlite3_sleep(kPollMilliseconds);
  }
  return status;
}

// Our checksums first: they cover every byte. Then SQLite looks at the structure.
absl::Status TableFile::CheckIntegrity() const {
  KIRSCH_RETURN_IF_ERROR(CheckPagesOfFile());
  SqlStatement statement(database_, path_, "PRAGMA integrity_check(1)");
  std::string verdict = statement.Step() ? std::string(statement.Bytes(0)) : "";
  std::ranges::replace(verdict, '\n', ' ');
  if (!statement.status().ok()) return statement.status();
  if (verdict != "ok") return absl::DataLossError(Cat("'", path_, "': damaged: ", verdict));
  return absl::OkStatus();
}

}  // namespace kirsch
