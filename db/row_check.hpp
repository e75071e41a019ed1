#pragma once
#include <set>
#include <string>

#include "db/records.hpp"

namespace attune::db {

/// What a row of another file must satisfy whatever its template says: finite numbers in range, dates, texts of a sane
/// length, keys that are the hashes they claim to be, and references to a device and a template that came before it.
/// Each `take` throws Error saying what is wrong.
class RowCheck : public RowSink {
 public:
  void take(const DeviceRow& row) override;
  void take(const TemplateRow& row) override;
  void take(const SessionRow& row) override;
  void take(const RecordRow& row) override;
  void take(const BestRow& row) override;

 private:
  template <class Row>
  void check_common(const Row& row) const;

  std::set<std::string> devices_;
  std::set<std::string> templates_;
};

}  // namespace attune::db
