#include "db/statements.hpp"

namespace attune::db {

Use::~Use() {
  statement_->tryReset();
  statement_->clearBindings();
}

Use& Use::bind(const std::string& text) {
  statement_->bind(next_++, text);
  return *this;
}

Use& Use::bind(double number) {
  // SQLite stores an integral real as an integer, which has no negative zero: what is stored must be what is read.
  statement_->bind(next_++, number + 0.0);
  return *this;
}

Use& Use::bind(int number) {
  statement_->bind(next_++, number);
  return *this;
}

Use& Use::bind(bool flag) {
  statement_->bind(next_++, flag ? 1 : 0);
  return *this;
}

Use& Use::bind(std::uint64_t number) {
  statement_->bind(next_++, static_cast<std::int64_t>(number));
  return *this;
}

Use& Use::bind(Blob blob) {
  statement_->bindNoCopy(next_++, blob.bytes.data(), static_cast<int>(blob.bytes.size()));
  return *this;
}

SQLite::Statement& StatementCache::prepared(const std::string& sql) {
  const auto found = statements_.find(sql);
  if (found != statements_.end()) return found->second;
  return statements_.emplace(sql, SQLite::Statement(*connection_, sql)).first->second;
}

}  // namespace attune::db
