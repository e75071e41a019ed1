#pragma once
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace attune::db {

struct Blob {
  std::string_view bytes;  ///< must outlive the statement's use
};

/// A prepared statement while it is used: bind, then step through rows or run. Reset and unbound again on destruction,
/// whatever happened: a SELECT that is left open would keep its snapshot and stop the WAL from shrinking.
class Use {
 public:
  explicit Use(SQLite::Statement& statement) : statement_(&statement) {}
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;
  ~Use();

  Use& bind(const std::string& text);
  Use& bind(double number);
  Use& bind(int number);
  Use& bind(bool flag);
  Use& bind(std::uint64_t number);
  Use& bind(Blob blob);
  /// The next parameter stays NULL.
  Use& skip() {
    ++next_;
    return *this;
  }

  [[nodiscard]] bool step() { return statement_->executeStep(); }
  /// Returns: how many rows were inserted, changed or removed.
  int run() { return statement_->exec(); }
  [[nodiscard]] SQLite::Statement& row() { return *statement_; }

 private:
  SQLite::Statement* statement_;
  int next_ = 1;
};

/// Reads the columns of the current row in order.
class ColumnReader {
 public:
  explicit ColumnReader(SQLite::Statement& statement) : statement_(&statement) {}
  void operator()(std::string& text) {
    const SQLite::Column column = next();
    blobs_ += column.isBlob() ? 1 : 0;
    nulls_ += column.isNull() ? 1 : 0;
    text = column.getString();
    bytes_ += text.size();
  }
  void operator()(double& number) { number = next().getDouble(); }
  void operator()(int& number) { number = next().getInt(); }
  void operator()(bool& flag) { flag = next().getInt() != 0; }
  void operator()(std::uint64_t& number) { number = static_cast<std::uint64_t>(next().getInt64()); }

  /// Bytes of the texts that were read.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  /// How many of them are stored as blobs.
  [[nodiscard]] int blobs() const { return blobs_; }
  /// How many of them are not there.
  [[nodiscard]] int nulls() const { return nulls_; }

 private:
  SQLite::Column next() { return statement_->getColumn(column_++); }
  SQLite::Statement* statement_;
  int column_ = 0;
  std::uint64_t bytes_ = 0;
  int blobs_ = 0;
  int nulls_ = 0;
};

/// The prepared statements of one connection, by their text; preparing costs more than running (facts of SQLite).
class StatementCache {
 public:
  explicit StatementCache(SQLite::Database& connection) : connection_(&connection) {}
  [[nodiscard]] SQLite::Statement& prepared(const std::string& sql);

  template <class... Values>
  void run(const std::string& sql, const Values&... values) {
    Use use(prepared(sql));
    (use.bind(values), ...);
    use.run();
  }

 private:
  SQLite::Database* connection_;
  std::unordered_map<std::string, SQLite::Statement> statements_;
};

}  // namespace attune::db
