#pragma once
#include "db/records.hpp"

namespace attune::db {

/// A RowSink that does the same with every row, of whichever table: `template <class Row> void give(const Row&)` of `Sink`.
template <class Sink>
class EveryRow : public RowSink {
 public:
  void take(const DeviceRow& row) override { sink().give(row); }
  void take(const TemplateRow& row) override { sink().give(row); }
  void take(const SessionRow& row) override { sink().give(row); }
  void take(const RecordRow& row) override { sink().give(row); }
  void take(const BestRow& row) override { sink().give(row); }

 private:
  Sink& sink() { return static_cast<Sink&>(*this); }
};

}  // namespace attune::db
