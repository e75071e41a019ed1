// Precompiled headers with the real NVRTC: what they change (nothing but time) and what they leave behind (nothing).
#include <doctest/doctest.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/temp_folder.hpp"
#include "tests/unit/base/scoped_variable.hpp"
#include "tuner/base/files.hpp"
#include "tuner/compile/compiler.hpp"
#include "tuner/compile/precompiled_headers.hpp"

namespace test_precompiled_headers {

namespace fs = std::filesystem;
using namespace attune::compile;
using attune::test::TempFolder;
using attune::testing::ScopedVariable;

namespace {

constexpr const char* kHalf = "#include <cuda_fp16.h>\n#pragma nv_hdrstop\n";

/// As spec::make_source lays it out.
CompileRequest half_request(int block, std::vector<std::string> options = {}) {
  return {fmt::format("{}#define BLOCK {}\n#line 1 \"half.cu\"\n\n"
                      "extern \"C\" __global__ void f(__half* p) {{ int unused; p[BLOCK] = p[0] + p[1]; }}\n",
                      kHalf, block),
          "half.cu", "sm_90", std::move(options)};
}

CompileRequest broken_request() {
  CompileRequest request = half_request(1);
  request.source += "\n\nint missing_semicolon\nextern \"C\" __global__ void g() { nowhere(); }\n";
  return request;
}

Nvrtc precompiling() { return Nvrtc(Nvrtc::Headers::Precompiled); }

}  // namespace

TEST_CASE("what can be precompiled ends with the pragma, at the beginning of a line") {
  CHECK(PrecompiledHeaders::prefix_of("#include <a>\n#pragma nv_hdrstop\nint x;") == "#include <a>\n#pragma nv_hdrstop\n");
  CHECK_FALSE(PrecompiledHeaders::prefix_of("#include <a>\nint x;"));
  CHECK_FALSE(PrecompiledHeaders::prefix_of("#include <a>\n// #pragma nv_hdrstop\nint x;"));
}

// CUB: tests/unit/templates.
TEST_CASE("cooperative groups give the same cubin precompiled as they do as text") {
  Nvrtc text;
  Nvrtc precompiled = precompiling();
  HeaderUse expected = HeaderUse::Created;
  for (const int block : {64, 128}) {
    const std::string source = fmt::format(R"(#include <cooperative_groups.h>
#pragma nv_hdrstop
#define BLOCK {}
#line 1 "heavy.cu"
extern "C" __global__ void sum(const float* in, float* out) {{
  const auto block = cooperative_groups::this_thread_block();
  const auto warp = cooperative_groups::tiled_partition<32>(block);
  float all = in[threadIdx.x + BLOCK];
  for (int i = 16; i > 0; i /= 2) all += warp.shfl_down(all, i);
  block.sync();
  if (threadIdx.x == 0) *out = all;
}}
)",
                                           block);
    const CompileRequest request{source, "heavy.cu", "sm_90", {}};
    const CompileResult with = precompiled.compile(request);
    const CompileResult without = text.compile(request);
    REQUIRE(with.status == CompileStatus::Ok);
    CHECK(with.headers == expected);
    CHECK(without.headers == HeaderUse::None);
    CHECK(with.cubin == without.cubin);
    CHECK(with.key == without.key);
    CHECK(with.log == without.log);
    expected = HeaderUse::Used;
  }
}

TEST_CASE("a source without headers in front has nothing to do with it") {
  Nvrtc nvrtc = precompiling();
  const CompileResult result = nvrtc.compile({"extern \"C\" __global__ void f() {}", "plain.cu", "sm_90", {}});
  CHECK(result.status == CompileStatus::Ok);
  CHECK(result.headers == HeaderUse::None);
}

TEST_CASE("headers are precompiled anew for other options and other architectures") {
  Nvrtc nvrtc = precompiling();
  CHECK(nvrtc.compile(half_request(1)).headers == HeaderUse::Created);
  CHECK(nvrtc.compile(half_request(1, {"-DA=1"})).headers == HeaderUse::Created);
  CompileRequest older = half_request(1);
  older.architecture = "sm_80";
  const CompileResult result = nvrtc.compile(older);
  CHECK(result.headers == HeaderUse::Created);
  CHECK(result.cubin == Nvrtc().compile(older).cubin);
  CHECK(nvrtc.compile(half_request(2)).headers == HeaderUse::Used);
  CHECK(nvrtc.compile(half_request(2, {"-DA=1"})).headers == HeaderUse::Used);
}

TEST_CASE("the headers of the four last kinds of source are kept") {
  Nvrtc nvrtc = precompiling();
  const auto use_of = [&](int kind) { return nvrtc.compile(half_request(1, {fmt::format("-DKIND={}", kind)})).headers; };
  for (int kind = 0; kind < 5; ++kind) CHECK(use_of(kind) == HeaderUse::Created);
  for (int kind = 1; kind < 5; ++kind) CHECK(use_of(kind) == HeaderUse::Used);
  CHECK(use_of(0) == HeaderUse::Created);
}

TEST_CASE("warnings and errors read as they do without precompiled headers") {
  Nvrtc nvrtc = precompiling();
  Nvrtc text;
  const std::string warned = text.compile(half_request(1)).log;
  CHECK(warned.find("half.cu(2): warning") != std::string::npos);
  CHECK(nvrtc.compile(half_request(1)).log == warned);
  CHECK(nvrtc.compile(half_request(2)).log == warned);
  for (int i = 0; i < 2; ++i) {
    const CompileResult broken = nvrtc.compile(broken_request());
    CHECK(broken.status == CompileStatus::Failed);
    CHECK(broken.log == text.compile(broken_request()).log);
  }
  CHECK(nvrtc.compile(half_request(3)).headers == HeaderUse::Used);
}

TEST_CASE("a broken first configuration leaves headers for the next one") {
  Nvrtc nvrtc = precompiling();
  CHECK(nvrtc.compile(broken_request()).status == CompileStatus::Failed);
  const CompileResult next = nvrtc.compile(half_request(1));
  CHECK(next.headers == HeaderUse::Used);
  CHECK(next.cubin == Nvrtc().compile(half_request(1)).cubin);
}

TEST_CASE("a header that is not there is an error that names it") {
  Nvrtc nvrtc = precompiling();
  const CompileResult result = nvrtc.compile({"#include <no_such_header.h>\n#pragma nv_hdrstop\nint x;\n", "some.cu", "sm_90", {}});
  CHECK(result.status == CompileStatus::Failed);
  CHECK(result.log.find("no_such_header.h") != std::string::npos);
}

TEST_CASE("where no file can be made headers are read as text, and it is told") {
  const ScopedVariable folder("TMPDIR", "/nonexistent");
  Nvrtc nvrtc = precompiling();
  for (int block = 1; block <= 2; ++block) {
    const CompileResult result = nvrtc.compile(half_request(block));
    CHECK(result.status == CompileStatus::Ok);
    CHECK(result.headers == HeaderUse::Refused);
    CHECK(result.cubin == Nvrtc().compile(half_request(block)).cubin);
  }
}

TEST_CASE("headers that do not fit NVRTC's heap are precompiled by the next compilation, in a larger one") {
  const NvrtcApi api;
  REQUIRE(api.set_pch_heap(std::size_t{1} << 20) == NVRTC_SUCCESS);
  Nvrtc nvrtc = precompiling();
  const std::string cubin = Nvrtc().compile(half_request(1)).cubin;
  for (const HeaderUse expected : {HeaderUse::Refused, HeaderUse::Created, HeaderUse::Used}) {
    const CompileResult result = nvrtc.compile(half_request(1));
    CHECK(result.headers == expected);
    CHECK(result.cubin == cubin);
  }
  REQUIRE(api.set_pch_heap(std::size_t{1} << 28) == NVRTC_SUCCESS);
}

TEST_CASE("nothing stays in the temporary folder, and what a killed process left there is removed") {
  const TempFolder folder;
  const ScopedVariable variable("TMPDIR", folder.path().c_str());
  const auto path_for = [&](const std::string& pid) { return folder.path() / fmt::format("attune-headers-{}-{}", ::getuid(), pid); };
  const fs::path dead = path_for("4194999"), alive = path_for(std::to_string(::getppid())), other = path_for("x");
  for (const fs::path& path : {dead, alive, other}) fs::create_directory(path);
  Nvrtc nvrtc = precompiling();
  CHECK(nvrtc.compile(half_request(1)).headers == HeaderUse::Created);
  CHECK_FALSE(fs::exists(dead));
  CHECK(fs::exists(alive));
  CHECK(fs::exists(other));
  CHECK_FALSE(fs::exists(path_for(std::to_string(::getpid()))));
  CHECK(nvrtc.compile(half_request(2)).headers == HeaderUse::Used);
}

TEST_CASE("what is kept lies in memory, where no disk writes it") {
  Nvrtc nvrtc = precompiling();
  REQUIRE(nvrtc.compile(half_request(1)).headers == HeaderUse::Created);
  int in_memory = 0, deleted = 0;
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
    std::error_code gone;  // the descriptor that lists them
    const std::string to = fs::read_symlink(entry.path(), gone).string();
    in_memory += to.starts_with("/memfd:attune file") ? 1 : 0;
    deleted += to.find("headers.pch") == std::string::npos ? 0 : 1;
  }
  CHECK(in_memory == 1);
  CHECK(deleted == 0);
  CHECK(nvrtc.compile(half_request(2)).headers == HeaderUse::Used);
}

TEST_CASE("where others could put a file of theirs in the place of ours, headers are read as text, and path and remedy are told") {
  const TempFolder folder;
  const ScopedVariable variable("TMPDIR", folder.path().c_str());
  fs::permissions(folder.path(), fs::perms(0777));
  const CompileResult refused = precompiling().compile(half_request(1));
  CHECK(refused.headers == HeaderUse::Refused);
  CHECK(refused.headers_refusal.find("chmod go-w '" + folder.path().string() + "'") != std::string::npos);
  CHECK(fs::is_empty(folder.path()));
  fs::permissions(folder.path(), fs::perms(01777));  // as /tmp is
  const CompileResult created = precompiling().compile(half_request(1));
  CHECK(created.headers == HeaderUse::Created);
  CHECK(created.headers_refusal.empty());
}

TEST_CASE("headers are precompiled whatever the umask gives to others") {
  struct Umask {
    explicit Umask(mode_t mask) : before(::umask(mask)) {}
    Umask(const Umask&) = delete;
    Umask& operator=(const Umask&) = delete;
    ~Umask() { ::umask(before); }
    mode_t before;
  };
  for (const mode_t mask : {0002, 0000, 0022, 0077}) {
    CAPTURE(mask);
    const Umask set(mask);
    Nvrtc nvrtc = precompiling();
    const CompileResult first = nvrtc.compile(half_request(1));
    CHECK(first.headers == HeaderUse::Created);
    CHECK(first.headers_refusal.empty());
    CHECK(nvrtc.compile(half_request(2)).headers == HeaderUse::Used);
  }
}

TEST_CASE("what somebody has put under the name of our folder is not used, entered or removed") {
  const TempFolder folder, elsewhere;
  const ScopedVariable variable("TMPDIR", folder.path().c_str());
  const auto path_for = [&](const std::string& pid) { return folder.path() / fmt::format("attune-headers-{}-{}", ::geteuid(), pid); };
  const fs::path dead = path_for("4194999"), ours = path_for(std::to_string(::getpid()));
  std::ofstream(elsewhere / "headers.pch") << "planted";
  SUBCASE("a folder that others may write") {
    for (const fs::path& path : {dead, ours}) {
      fs::create_directory(path);
      std::ofstream(path / "headers.pch") << "planted";
      fs::permissions(path, fs::perms(0777));
    }
  }
  SUBCASE("a link to a folder") {
    for (const fs::path& path : {dead, ours}) fs::create_directory_symlink(elsewhere.path(), path);
    fs::permissions(folder.path(), fs::perms(01777));  // anybody could have put it there
  }
  CHECK(Nvrtc(Nvrtc::Headers::Precompiled).compile(half_request(1)).headers == HeaderUse::Refused);
  for (const fs::path& path : {dead, ours}) CHECK(attune::base::read_file(path / "headers.pch") == "planted");
}

}  // namespace test_precompiled_headers
