#include "tests/integration/broken_databases/dispatch.hpp"

#include <dlfcn.h>
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>

#include "db/database.hpp"
#include "tests/support/best_row.hpp"
#include "tests/support/conditions.hpp"
#include "tuner/base/json.hpp"
#include "tuner/compile/compiler.hpp"
#include "tuner/gpu/handles.hpp"
#include "tuner/runtime/code_store.hpp"

namespace attune::test {
namespace {

namespace fs = std::filesystem;

/// Loaded by its path before the product asks for libcuda.so.1; for the whole program.
struct FakeDriver {
  FakeDriver() {
    ::setenv("ATTUNE_FAKE_CUDA", R"({"devices": [{"memory_bytes": 268435456}]})", 1);
    REQUIRE(::dlopen(ATTUNE_FAKE_CUDA_LIBRARY, RTLD_NOW) != nullptr);
    context = std::make_unique<gpu::Context>(0);
  }
  std::unique_ptr<gpu::Context> context;
};

const FakeDriver& fake_driver() {
  static const FakeDriver driver;
  return driver;
}

/// Compiled once for the whole program: what compiles is not the question here.
const std::string& cubin_of(const runtime::CodeRequest& request) {
  static std::map<std::string, std::string> cubins;
  std::string& cubin = cubins[request.cache_key];
  if (!cubin.empty()) return cubin;
  static compile::Nvrtc nvrtc;
  const auto compiled = nvrtc.compile(request.compile);
  REQUIRE_MESSAGE(compiled.status == compile::CompileStatus::Ok, compiled.log);
  return cubin = compiled.cubin;
}

std::string configuration_text(int block_size, int items) {
  return base::dump_json(nlohmann::json{{"block_size", block_size}, {"items", items}, {"waves", 2}, {"fault", "none"}});
}

void make_users(const fs::path& path) {
  if (::geteuid() == 0) REQUIRE(::lchown(path.c_str(), 65534, 65534) == 0);
}

}  // namespace

World::World()
    : data(folder / "data"),
      database(data / "user.db"),
      cache(folder / "cache"),
      kernel(spec::KernelTemplate::load(ATTUNE_SOURCE_DIR "/tests/support/fake_templates/synthetic")) {
  (void)fake_driver();
  device = gpu::read_device(0);
  fs::permissions(folder.path(), fs::perms(0755));
  for (const fs::path& made : {data, cache}) {
    fs::create_directory(made);
    fs::permissions(made, fs::perms(0700));
    make_users(made);
  }
  fs::copy(ATTUNE_SOURCE_DIR "/tests/support/fake_templates", folder / "templates", fs::copy_options::recursive);
  options.templates = {folder / "templates"};
  const int block_sizes[] = {256, 512, 64};
  for (int i = 0; i < 3; ++i) {
    const spec::Problem problem{{{"T", "i32"}, {"faults", "none"}}, {{"n", kSizes[i]}}};
    const auto chosen = spec::configuration_from_text(kernel, configuration_text(block_sizes[i], 2));
    const auto request = runtime::make_code_request(kernel, problem, chosen, device);
    auto row = test::best_row(kernel, problem, device, spec::to_text(kernel, chosen), request.source_key);
    row.median_us = 20 + i;
    row.cubin_key = request.cache_key;
    cubins_[request.cache_key] = cubin_of(request);
    rows[kSizes[i]] = std::move(row);
  }
  ::setenv("ATTUNE_DB", database.c_str(), 1);
  ::setenv("XDG_CACHE_HOME", cache.c_str(), 1);
  // An empty one: its absence would be a notice of its own.
  ::setenv("ATTUNE_SHIPPED_DB", (folder / "shipped.db").c_str(), 1);
  const fs::path empty = folder / "empty.db";
  db::Database::open(empty, db::OpenMode::ReadWrite).export_to(folder / "shipped.db");
}

World::~World() {
  for (const char* name : {"ATTUNE_DB", "XDG_CACHE_HOME", "ATTUNE_SHIPPED_DB"}) ::unsetenv(name);
}

void World::put_rows(const fs::path& path) const {
  auto file = db::Database::open(path, db::OpenMode::ReadWrite);
  file.put(test::device_row(device));
  for (const auto& [key, cubin] : cubins_) file.put_cubin(key, cubin, "{}");
  for (const auto& [size, row] : rows) file.put(row);
}

void World::tune(const fs::path& path) const {
  const TempFolder made;
  put_rows(made / "a.db");
  db::Database::open(made / "a.db", db::OpenMode::ReadOnly).export_to(path);
}

void World::tune_and_die(const fs::path& path) const {
  const TempFolder made;
  const auto open = db::Database::open(made / "a.db", db::OpenMode::ReadWrite);  // keeps the WAL from being moved
  put_rows(made / "a.db");
  for (const char* suffix : {"", "-wal"}) fs::copy_file((made / "a.db").string() + suffix, path.string() + suffix);
}

void World::give_to_user() const {
  make_users(data);
  for (const auto& entry : fs::directory_iterator(data)) make_users(entry.path());
}

bool World::launch(const Kernel& synthetic, std::int64_t n) const {
  const gpu::Stream stream;
  const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(std::int32_t);
  std::vector<std::int32_t> in(static_cast<std::size_t>(n)), out(in.size(), -1);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<std::int32_t>(3 * i + 1);
  const gpu::Buffer from(bytes), to(bytes);
  const auto& driver = gpu::Driver::get();
  REQUIRE(driver.cuMemcpyHtoDAsync(from.address(), in.data(), bytes, stream.get()) == CUDA_SUCCESS);
  synthetic.launch(
      {n},
      {Argument::pointer(reinterpret_cast<const void*>(from.address())), Argument::pointer(reinterpret_cast<const void*>(to.address()))},
      stream.get());
  REQUIRE(driver.cuMemcpyDtoHAsync(out.data(), to.address(), bytes, stream.get()) == CUDA_SUCCESS);
  return driver.cuStreamSynchronize(stream.get()) == CUDA_SUCCESS && in == out;
}

Dispatched World::dispatch(std::int64_t n) const { return dispatch(n, options); }

Dispatched World::dispatch(std::int64_t n, const Options& with) const {
  fake_driver().context->make_current();
  const Unprivileged user;
  Runtime runtime(with);
  const Kernel synthetic = runtime.kernel("synthetic", {{"T", "i32"}, {"faults", "none"}});
  Dispatched result;
  result.right_result = launch(synthetic, n);
  result.decision = synthetic.explain({n});
  result.notices = runtime.notices();
  return result;
}

bool World::is_exact(const Decision& decision, std::int64_t n) const { return decision.tier == Tier::ExactSize && is_honest(decision, n); }

bool World::is_honest(const Decision& decision, std::int64_t n) const {
  if (decision.tier == Tier::Default) {
    return decision.configuration == spec::to_text(kernel, spec::default_configuration(kernel)) && decision.donor_problem.empty();
  }
  for (const auto& [size, row] : rows) {
    if (decision.donor_problem != row.problem) continue;
    return decision.tier == (size == n ? Tier::ExactSize : Tier::NearestSize) && decision.configuration == row.configuration &&
           decision.median_us == row.median_us && decision.recorded_at == row.recorded_at && decision.donor_device == device.name;
  }
  return false;
}

std::size_t about(const std::vector<std::string>& notices, const fs::path& path) {
  std::size_t count = 0;
  for (const std::string& notice : notices) count += notice.find(path.string()) != std::string::npos ? 1 : 0;
  return count;
}

std::size_t unfinished_files(const fs::path& folder) {
  std::size_t count = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".new") || name.ends_with(".tmp")) ++count;
    if (name.ends_with(".cubin") && entry.file_size() < 100) ++count;
  }
  return count;
}

std::string read_bytes(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::map<std::string, std::string> contents_of(const fs::path& folder) {
  std::map<std::string, std::string> contents;
  for (const auto& entry : fs::directory_iterator(folder)) contents[entry.path().filename().string()] = read_bytes(entry.path());
  return contents;
}

}  // namespace attune::test
