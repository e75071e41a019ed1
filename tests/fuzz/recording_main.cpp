// Recordings: as plain JSON, and packed by zstd. What is read is replayed, made a layer, and saved again.
#include <stdexcept>

#include "attune/error.hpp"
#include "tests/fuzz/fuzz_driver.hpp"
#include "tests/support/synthetic_recording.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/write_bytes.hpp"
#include "tuner/base/files.hpp"
#include "tuner/base/zstd.hpp"
#include "tuner/session/source/recording.hpp"
#include "tuner/session/source/replay_backend.hpp"
#include "tuner/session/tune/layer.hpp"

namespace {

using namespace attune;

constexpr std::string_view kMagic = "\x28\xB5\x2F\xFD";

struct Files {
  test::TempFolder folder;
  std::filesystem::path plain = folder / "r.json", packed = folder / "r.json.zst";
};

void write(const std::filesystem::path& path, const std::string& bytes) { test::write_bytes(path, bytes); }

/// An error of reading names the file, and its exit code says that the file is at fault.
session::Recording load(const std::filesystem::path& path) {
  try {
    return session::Recording::load(path);
  } catch (const SpecError& error) {
    if (error.file() != path.string() || error.exit_code() != ExitCode::Spec) throw std::logic_error("a refusal that names no file");
    throw;
  } catch (const Error& error) {
    throw std::logic_error(std::string("a refusal that is no SpecError: ") + error.what());
  }
}

void use(const session::Recording& recording, const spec::KernelTemplate& kernel) {
  auto of_kernel = recording;
  of_kernel.template_hash = kernel.content_hash;
  try {
    const auto rows = session::layer_rows({{of_kernel, "r.json", kernel}});
    if (rows.best.at(0).size() != recording.problems.size()) throw std::logic_error("a layer lacks a problem");
  } catch (const SpecError&) {  // it may hold what the template has not
  }
  session::ReplayBackend backend(of_kernel, "r.json", kernel);
  for (const auto& problem : recording.problems) {
    try {
      backend.prepare(kernel, problem.problem);
      std::vector<spec::Configuration> finalists;
      for (const auto& text : problem.finalists) finalists.push_back(spec::configuration_from_text(kernel, text));
      (void)backend.run_off(finalists, {}, 1);
    } catch (const SpecError&) {
    }
  }
}

void read_input(const Files& files, const spec::KernelTemplate& kernel, const std::string& input) {
  const bool is_packed = std::string_view(input).starts_with(kMagic);
  const auto& path = is_packed ? files.packed : files.plain;
  write(path, input);
  const auto recording = load(path);
  use(recording, kernel);
  // Rounding is done once: what was read, saved and read again is the same file.
  recording.save(files.plain);
  const std::string once = base::read_file(files.plain);
  session::Recording::load(files.plain).save(files.plain);
  if (base::read_file(files.plain) != once) throw std::logic_error("a recording that is saved again is another file");
}

std::string text_of(const session::Recording& recording) {
  const test::TempFolder folder;
  recording.save(folder / "r.json");
  return base::read_file(folder / "r.json");
}

}  // namespace

int main(int argc, char** argv) {
  const auto kernel = test::small_template();
  const auto time_of = [](const std::string&, std::uint64_t i) { return i % 5 == 4 ? 0.0 : 5.0 + static_cast<double>(i); };
  auto recording = test::synthetic_recording(kernel, {test::small_problem(1000), test::small_problem(100000)}, time_of);
  auto& problem = recording.problems[0];
  problem.rounds_per_epoch = 5;
  problem.left.push_back({problem.finalists.back(), {1.05, 1.01, 1.1}, 3});
  problem.finalists.pop_back();
  for (auto& round : problem.rounds_us) round.pop_back();
  const std::string text = text_of(recording);
  const Files files;
  return test::fuzz_main(argc, argv, "recording",
                         {text, text_of(test::synthetic_recording(kernel, {test::small_problem(1)}, time_of)), base::compress(text),
                          base::compress(text.substr(0, 500), 3) + base::compress(text.substr(500), 3), "{\"attune_recording\":1}"},
                         {"[",
                          "]",
                          "{\"a\":",
                          "}",
                          "[[],[]],",
                          "1e400",
                          "4294967428",
                          "18446744073709551616",
                          "-1",
                          "null",
                          "true",
                          "\"NaN\"",
                          "\\u0000",
                          "\"values\"",
                          "\"measurements\":",
                          "\"rounds_us\":",
                          "\"finalists\":",
                          "\"device\":",
                          "\"sm_count\":",
                          "\"n\":",
                          "\xFF",
                          "\xC3",
                          std::string(kMagic),
                          std::string(1, '\0'),
                          "\x50\x2A\x4D\x18"},
                         [&](const std::string& input) { read_input(files, kernel, input); });
}
