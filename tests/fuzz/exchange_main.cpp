// Exchange files: plain, and packed by zstd, into an empty database and into one that has rows. Most mutated files have their
// checksums, counts, digest and keys made to match, as a forger would.
#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <string_view>

#include "attune/error.hpp"
#include "db/exchange.hpp"
#include "db/exchange_lines.hpp"
#include "tests/fuzz/fuzz_driver.hpp"
#include "tests/support/exchange_files.hpp"
#include "tests/support/synthetic_recording.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/write_bytes.hpp"
#include "tuner/base/hash.hpp"
#include "tuner/base/zstd.hpp"
#include "tuner/session/source/replay_backend.hpp"
#include "tuner/session/tune/exchange_rules.hpp"
#include "tuner/session/tune/session.hpp"

namespace {

using namespace attune;

constexpr std::string_view kMagic = "\x28\xB5\x2F\xFD";
constexpr std::string_view kChecksum = R"({"checksum":")";
constexpr std::size_t kBody = kChecksum.size() + 34;  ///< behind the checksum's 32 digits, its quote and comma

std::string export_text(const db::Database& database) {
  std::string text;
  session::ExchangeRules rules;
  (void)db::export_lines(
      database, [&](const std::string& line) { text += line + "\n"; }, rules);
  return text;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

/// With a checksum that matches the rest, whatever that is.
void seal(std::string& line) {
  if (line.size() <= kBody || !line.starts_with(kChecksum)) return;
  line.replace(kChecksum.size(), 32, base::content_key("{" + line.substr(kBody)));
}

/// The key that a template or device of a line has, and the one that its contents make.
struct KeyOfContents : db::RowSink {
  void take(const db::DeviceRow& row) override { was = row.hard_key, is = base::content_key(row.hard_json); }
  void take(const db::TemplateRow& row) override { was = row.hash, is = db::content_hash(row); }
  void take(const db::SessionRow&) override {}
  void take(const db::RecordRow&) override {}
  void take(const db::BestRow&) override {}
  std::string was, is;
};

void replace_all(std::string& text, const std::string& what, const std::string& with) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
}

/// Every line with the key that a template or device now has in the place of the one it had.
void rekey(std::vector<std::string>& lines) {
  constexpr std::size_t kKeyDigits = 32;
  std::map<std::string, std::string> keys;
  for (const std::string& line : lines) {
    KeyOfContents sink;
    int schema = db::Database::kSchemaVersion;
    db::EndOfRows end;
    try {
      (void)db::read_line(line, sink, schema, end);
    } catch (const Error&) {  // the mutation broke more than its key
    }
    if (sink.was.size() == kKeyDigits && sink.is != sink.was) keys.emplace(sink.was, sink.is);
  }
  for (const auto& [was, is] : keys) {
    for (std::string& line : lines) replace_all(line, was, is);
  }
}

std::string end_of(const std::vector<std::string>& lines) {
  db::RowCounts counts;
  base::ContentHasher digest;
  for (std::size_t i = 1; i + 1 < lines.size(); ++i) {
    if (lines[i].size() > kBody) digest.add(db::checksum_of(lines[i]));
    const auto is = [&](const char* kind) { return lines[i].find(std::string(R"("kind":")") + kind + '"') != std::string::npos; };
    if (is("device"))
      ++counts.devices;
    else if (is("template"))
      ++counts.templates;
    else if (is("session"))
      ++counts.sessions;
    else if (is("record"))
      ++counts.records;
    else if (is("best"))
      ++counts.best;
  }
  return db::end_line(counts, digest.key());
}

void forge(std::string& input, std::mt19937_64& random) {
  if (random() % 4 == 0 || std::string_view(input).starts_with(kMagic)) return;
  auto lines = lines_of(input);
  if (lines.size() < 2) return;
  std::for_each(lines.begin(), lines.end(), seal);
  rekey(lines);
  std::for_each(lines.begin(), lines.end(), seal);
  if (random() % 8 != 0) lines.back() = end_of(lines);
  input.clear();
  for (const std::string& line : lines) input += line + "\n";
}

/// Lines removed, doubled, swapped, exchanged for those of other files; the rest is the mutator's work.
test::Change line_changes(const std::vector<std::string>& corpus) {
  std::vector<std::string> known;
  for (const std::string& file : corpus) {
    if (!std::string_view(file).starts_with(kMagic)) {
      for (std::string& line : lines_of(file)) known.push_back(std::move(line));
    }
  }
  return [known](std::string& input, std::mt19937_64& random) {
    auto lines = lines_of(input);
    if (lines.empty()) return;
    const std::size_t at = random() % lines.size();
    switch (random() % 4) {
      case 0:
        lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(at));
        break;
      case 1:
        std::swap(lines[at], lines[random() % lines.size()]);
        break;
      case 2:
        lines[at] = known[random() % known.size()];
        break;
      default: {  // one value in the place of another of its line
        const std::string& other = known[random() % known.size()];
        const auto value_of = [&](const std::string& line) {
          const std::size_t begin = std::min(line.find("\":", random() % (line.size() + 1)), line.size());
          return std::pair(begin, std::min(line.find(",\"", begin + 1), line.size()));
        };
        const auto [begin, end] = value_of(lines[at]);
        const auto [from, to] = value_of(other);
        lines[at].replace(begin, end - begin, other, from, to - from);
      }
    }
    input.clear();
    for (const std::string& line : lines) input += line + "\n";
  };
}

struct Files {
  test::TempFolder folder;
  std::filesystem::path plain = folder / "rows.jsonl", packed = folder / "rows.jsonl.zst";
};

db::ImportReport import_text(const Files& files, db::Database& database, const std::string& text) {
  const auto& path = std::string_view(text).starts_with(kMagic) ? files.packed : files.plain;
  test::write_bytes(path, text);
  session::ExchangeRules rules;
  return db::test::import_file(database, path, rules);
}

/// Every refusal is one of the file's: it names the place.
db::ImportReport import_fuzzed(const Files& files, db::Database& database, const std::string& text) {
  try {
    return import_text(files, database, text);
  } catch (const SpecError& error) {
    if (error.exit_code() != ExitCode::Spec || error.file().empty()) throw std::logic_error("a refusal that names no file");
    throw;
  } catch (const Error& error) {
    throw std::logic_error(std::string("a refusal that is no SpecError: ") + error.what());
  }
}

void require_verified(const db::Database& database) {
  for (const auto& best : database.best({})) {
    const auto record = database.record({best.template_hash, std::nullopt, best.problem, best.device_key, best.policy}, best.configuration);
    if (!record || !db::is_verified(*record)) throw std::logic_error("a best row without a verified record");
  }
}

/// A forger may give rows in another order; no line is exported that he did not write.
void require_lines_of(const std::string& input, const std::string& exported) {
  const auto given = lines_of(input), lines = lines_of(exported);
  const std::set<std::string_view> known(given.begin(), given.end());
  // The header says which schema wrote it, and may be an older one's.
  for (std::size_t i = 1; i + 1 < lines.size(); ++i) {
    if (!known.contains(lines[i])) throw std::logic_error("what was taken exports as another line");
  }
}

void read_input(const Files& files, const std::string& rows, const std::string& input) {
  auto database = db::Database::open_in_memory();
  const bool has_rows = !input.empty() && base::content_key(input)[0] < '4';
  if (has_rows) (void)import_text(files, database, rows);
  const std::string before = export_text(database);
  db::ImportReport report;
  try {
    report = import_fuzzed(files, database, input);
  } catch (const SpecError&) {
    if (export_text(database) != before) throw std::logic_error("a refused import has stored something");
    throw;
  }
  require_verified(database);
  const std::string after = export_text(database);
  if (!has_rows && !std::string_view(input).starts_with(kMagic)) require_lines_of(input, after);
  if (import_fuzzed(files, database, input).stored.all() != 0) throw std::logic_error("a second import of a file has stored something");
  auto other = db::Database::open_in_memory();
  try {
    (void)import_fuzzed(files, other, after);
  } catch (const SpecError& error) {
    throw std::logic_error(std::string("an export is refused: ") + error.what());
  }
  if (export_text(other) != after) throw std::logic_error("export, import and export give other bytes");
}

std::string tuned_text(const spec::KernelTemplate& kernel, const std::vector<spec::Problem>& problems, std::uint64_t configurations,
                       std::uint64_t failing) {
  auto database = db::Database::open_in_memory();
  const auto time_of = [&](const std::string&, std::uint64_t i) { return i == failing ? 0.0 : 5.0 + static_cast<double>(i); };
  session::ReplayBackend backend(test::synthetic_recording(kernel, problems, time_of), "r.json", kernel);
  session::TuneRequest request;
  request.problems = problems;
  request.budget.configurations = configurations;
  (void)session::tune(kernel, request, backend, database, {});
  return export_text(database);
}

/// Words that mutations put into inputs.
std::vector<std::string> dictionary() {
  return {"{",
          "}",
          "[",
          "]",
          ",",
          ":",
          "\"",
          "\\\"",
          "\\u0000",
          "\\ud800",
          "\\n",
          "null",
          "true",
          "false",
          "1.0",
          "-1",
          "1e308",
          "\xC3",
          "\xFF",
          "\"kind\":\"device\"",
          "\"kind\":\"template\"",
          "\"kind\":\"session\"",
          "\"kind\":\"record\"",
          "\"kind\":\"best\"",
          "\"kind\":\"header\"",
          "\"kind\":\"end\"",
          "{\"base16\":\"ff\"}",
          "\"base16:ff\":\"\"",
          "\"verified\":false",
          "\"verified\":true",
          "\"outcome\":\"ok\"",
          "wrong_result",
          "crashed",
          "running",
          "finished",
          "cold/graph",
          "warm/stream",
          "measured",
          "run_off",
          "screened",
          "none",
          "2026-11-20T13:00:00Z",
          "recording:r.json",
          "\\\"n\\\":",
          "\\\"T\\\":\\\"f64\\\"",
          "#include \\\"a\\\"\\n",
          "R\\\"(",
          "\"../x.cu\":\"\",",
          std::string(kMagic),
          "\n"};
}

}  // namespace

int main(int argc, char** argv) {
  const auto kernel = test::small_template();
  const auto odd = spec::KernelTemplate::parse(test::small_template_json(),
                                               {{"double_it.cu", std::string("// \xff\x01\n") + test::small_template_source()}}, "t");
  const std::string rows = tuned_text(kernel, {test::small_problem(1000)}, 4, 2);
  const std::vector<std::string> corpus{rows, tuned_text(kernel, {test::small_problem(1000), test::small_problem(4096)}, 6, 3),
                                        tuned_text(odd, {test::small_problem(7)}, 2, 100), base::compress(rows),
                                        export_text(db::Database::open_in_memory())};
  const Files files;
  return test::fuzz_main(argc, argv, "exchange", corpus, dictionary(), [&](const std::string& input) { read_input(files, rows, input); },
                         {{line_changes(corpus), forge}});
}
