#pragma once
#include <random>
#include <string>
#include <vector>

#include "db/exchange.hpp"
#include "tests/unit/db/support.hpp"
#include "tuner/base/hash.hpp"

namespace attune::db::test {

/// Rules that refuse nothing: db/ itself is what is tested.
class NoRules : public RowSink {
 public:
  void take(const DeviceRow&) override {}
  void take(const TemplateRow&) override {}
  void take(const SessionRow&) override {}
  void take(const RecordRow&) override {}
  void take(const BestRow&) override {}
};

/// Rows whose keys are the hashes they claim to be; `i` tells them apart.
inline DeviceRow real_device(int i, const std::string& driver = "580.10") {
  const std::string hard = R"({"backend":"cuda","sm_count":)" + std::to_string(100 + i) + "}";
  return {base::content_key(hard), hard, R"({"driver":")" + driver + R"(","name":"GPU )" + std::to_string(i) + "\"}"};
}

inline TemplateRow real_template(int i) {
  TemplateRow row{"",
                  "kernel_" + std::to_string(i),
                  R"({"attune":1,"i":)" + std::to_string(i) + "}",
                  {{"a.cu", "// " + std::to_string(i) + "\n"}, {"bytes.cu", std::string("\0\xff\x80 bytes", 9)}}};
  row.hash = content_hash(row);
  return row;
}

inline RecordRow real_record(int i) {
  RecordRow row = record(i);
  row.template_hash = real_template(0).hash;
  row.device_key = real_device(0).hard_key;
  return row;
}

inline BestRow real_best(const std::string& size) {
  BestRow row = best(size);
  row.template_hash = real_template(0).hash;
  row.template_name = real_template(0).name;
  row.device_key = real_device(0).hard_key;
  return row;
}

/// What a best row needs beside it: the verified result of its configuration.
inline RecordRow record_of(const BestRow& best) {
  RecordRow row = real_record(1);
  row.template_hash = best.template_hash;
  row.problem = best.problem;
  row.device_key = best.device_key;
  row.policy = best.policy;
  row.configuration = best.configuration;
  return row;
}

/// A later run's record of the same configuration, which failed.
inline RecordRow failed_record_of(const BestRow& best, const std::string& recorded_at) {
  RecordRow row = record_of(best);
  row.recorded_at = recorded_at;
  row.outcome = "wrong_result";
  row.stage = "none";
  row.verified = false;
  row.median_us = row.low_us = row.high_us = 0;
  row.samples = 0;
  return row;
}

inline SessionRow real_session() {
  SessionRow row = session();
  row.template_hash = real_template(0).hash;
  row.device_key = real_device(0).hard_key;
  row.state = "finished";
  return row;
}

/// One of everything, a record that failed among them, and what does not travel.
inline void put_real_rows(Database& database) {
  database.put(real_device(0));
  database.put(real_device(1));
  database.put(real_template(0));
  for (int i = 3; i > 0; --i) database.put(real_record(i));
  RecordRow failed = real_record(4);
  failed.outcome = "crashed";
  failed.stage = "none";
  failed.verified = false;
  failed.median_us = failed.low_us = failed.high_us = 0;
  failed.samples = 0;
  failed.detail_json = "cut inside a character: \xc3";
  database.put(failed);
  database.put(real_session());
  SessionRow running = real_session();
  running.key = "session-2";
  running.state = "running";
  database.put(running);
  for (const char* size : {"4096", "1024"}) {
    database.put(record_of(real_best(size)));
    database.put(real_best(size));
  }
  database.put_cubin("cubin-1", kCubin, R"({"arch":"sm_90"})");
  database.set_in_flight("session-2", R"({"block_size":5})");
}

inline std::string export_text(const Database& database) {
  std::string text;
  NoRules rules;
  (void)export_lines(
      database, [&](const std::string& line) { text += line + "\n"; }, rules);
  return text;
}

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

/// A database of random rows under few keys, so that two of them overlap; every field that decides between two rows takes
/// few values, so that there are ties of all kinds. Some best rows are contradicted by a record, here or in another database.
inline void put_random_rows(Database& database, unsigned seed, int rows) {
  std::mt19937 random(seed);
  const auto pick = [&](int count) { return static_cast<int>(random() % static_cast<unsigned>(count)); };
  const auto date = [&] {
    const char* const fractions[] = {"", ".5", ".25"};
    return "2026-11-0" + std::to_string(1 + pick(3)) + "T00:00:00" + fractions[pick(3)] + "Z";
  };
  Database::Batch batch(database);
  for (int i = 0; i < 2; ++i) {
    database.put(real_device(i, pick(2) == 0 ? "580.9" : "580.10"));
    database.put(real_template(i));
  }
  for (int i = 0; i < rows; ++i) {
    RecordRow row = real_record(pick(4));
    row.template_hash = real_template(pick(2)).hash;
    row.device_key = real_device(pick(2)).hard_key;
    row.origin = pick(3) == 0 ? "recording:r.json" : "measured";
    row.recorded_at = date();
    const bool ok = pick(3) > 0;
    const char* const stages[] = {"screened", "measured", "run_off"};
    row.outcome = ok ? "ok" : "wrong_result";
    row.stage = ok ? stages[pick(3)] : "none";
    row.verified = ok;
    row.median_us = ok ? 1 + pick(2) : 0;
    row.low_us = row.high_us = row.median_us;
    row.samples = ok ? 3 : 0;
    row.detail_json = R"({"d":)" + std::to_string(pick(2)) + "}";
    database.put(row);
    BestRow chosen = real_best(std::to_string(1 << pick(4)));
    chosen.template_hash = row.template_hash;
    chosen.device_key = row.device_key;
    chosen.configuration = row.configuration;
    chosen.median_us = 1 + pick(2);
    chosen.recorded_at = date();
    chosen.detail_json = pick(3) == 0 ? "{}" : R"({"origin":"measured"})";
    chosen.cubin_key = pick(2) == 0 ? "" : "cubin-" + std::to_string(seed);
    database.put(chosen);
    RecordRow proof = record_of(chosen);
    proof.recorded_at = date();
    database.put(proof);
    if (pick(3) == 0) database.put(failed_record_of(chosen, date()));
    SessionRow run = real_session();
    const char* const states[] = {"running", "interrupted", "finished"};
    run.key = "session-" + std::to_string(pick(5));
    run.template_hash = row.template_hash;
    run.device_key = row.device_key;
    run.state = states[pick(3)];
    run.finished_at = date();
    database.put(run);
  }
  batch.commit();
}

}  // namespace attune::db::test
