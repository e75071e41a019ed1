#include <fmt/core.h>
#include <sys/resource.h>

#include <chrono>
#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "attune/error.hpp"
#include "tuner/compile/compiler.hpp"
#include "tuner/compile/host_code_note.hpp"
#include "tuner/compile/nvrtc_api.hpp"
#include "tuner/compile/precompiled_headers.hpp"
#include "tuner/compile/ptxas_log.hpp"

namespace attune::compile {
namespace {

/// nvrtcVersion tells 13.0 for every build of 13.0; the comment at the top of its PTX tells which one it is.
std::string build_from_ptx(const std::string& ptx, const std::string& library) {
  static const std::regex build("Compiler Build ID: (\\S+)");
  static const std::regex version("Cuda compilation tools, release [^,]+, V(\\S+)");
  std::smatch build_match;
  std::smatch version_match;
  if (!std::regex_search(ptx, build_match, build) || !std::regex_search(ptx, version_match, version)) {
    throw EnvironmentError(
        fmt::format("failed reading the build of NVRTC {}: its PTX does not tell it; name another library in "
                    "ATTUNE_NVRTC",
                    library));
  }
  return version_match[1].str() + " " + build_match[1].str();
}

/// An include directive, or what looks like one in a comment: a folder too many does no harm.
bool includes_headers(std::string_view source) {
  constexpr std::string_view kBlanks = " \t";
  constexpr std::string_view kWord = "include";
  for (std::size_t at = source.find(kWord); at != std::string_view::npos; at = source.find(kWord, at + 1)) {
    const std::size_t before = at == 0 ? std::string_view::npos : source.find_last_not_of(kBlanks, at - 1);
    const std::size_t after = source.find_first_not_of(kBlanks, at + kWord.size());
    if (before == std::string_view::npos || after == std::string_view::npos) continue;
    if (source[before] == '#' && (source[after] == '<' || source[after] == '"')) return true;
  }
  return false;
}

/// A compilation that ran into the limit of its process is not the source's fault, and another limit has another end.
bool out_of_memory(const std::string& log) { return log.find("catastrophic error: out of memory") != std::string::npos; }

std::string memory_limit_note() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return "";
  return fmt::format("the compile worker's limit is {} MiB of address space\n", limit.rlim_cur >> 20);
}

void take(const NvrtcProgram& program, const std::string& log, const std::string& architecture, CompileResult& result) {
  result.cubin = program.cubin();
  result.kernels = parse_ptxas_log(log);
  result.log = without_ptxas_figures(log);
  result.status = result.cubin.empty() ? CompileStatus::Failed : CompileStatus::Ok;
  if (result.cubin.empty()) {
    result.log += fmt::format("no machine code for architecture '{}': ask for a real one such as sm_90\n", architecture);
  }
}

void explain_failure(const NvrtcApi& api, nvrtcResult status, const std::string& log, CompileResult& result) {
  result.log = without_ptxas_figures(log);
  // Only these two are the request's fault, and will be again; the others (memory, a missing builtins library,
  // internal errors) are the compiler's own.
  const bool named = status == NVRTC_ERROR_COMPILATION || status == NVRTC_ERROR_INVALID_OPTION;
  const bool refused = named && !out_of_memory(log);
  result.status = refused ? CompileStatus::Failed : CompileStatus::Crashed;
  if (!refused || result.log.empty()) {
    result.log += fmt::format("nvrtcCompileProgram returned {}\n", api.error_string(status));
  }
  if (!refused) result.log += memory_limit_note();
}

}  // namespace

struct Nvrtc::State {
  NvrtcApi api;
  std::optional<PrecompiledHeaders> headers;
};

Nvrtc::Nvrtc(Headers headers) : state_(std::make_unique<State>()) {
  const NvrtcApi& api = state_->api;
  const std::string library = api.library.path.string();
  NvrtcProgram program(api, "", "empty.cu");
  const nvrtcResult result = program.compile({"--no-cache", "--modify-stack-limit=false", "--ptxas-options=-v"});
  if (result != NVRTC_SUCCESS) {
    throw EnvironmentError(
        fmt::format("failed compiling an empty program with NVRTC {}: nvrtcCompileProgram returned {} ({}); name "
                    "a newer library in ATTUNE_NVRTC",
                    library, api.error_string(result), program.log()));
  }
  build_ = build_from_ptx(program.ptx(), library);
  if (headers == Headers::Precompiled && api.knows_precompiled_headers()) state_->headers.emplace(api);
}

Nvrtc::~Nvrtc() = default;

CompileResult Nvrtc::compile(const CompileRequest& request) {
  const auto start = std::chrono::steady_clock::now();
  const NvrtcApi& api = state_->api;
  CompileResult result;
  result.key = cubin_key(request, build_);
  std::vector<std::string> options = full_options(request);
  const bool with_headers = includes_headers(request.source);
  if (with_headers) {
    for (const auto& folder : api.library.include_folders) options.push_back("-I" + folder.string());
  }
  bool done = false;
  if (const auto prefix = PrecompiledHeaders::prefix_of(request.source); prefix && state_->headers) {
    NvrtcProgram program(api, request.source, request.name);
    const auto attempt = state_->headers->compile(program, *prefix, options);
    result.headers = attempt.use;
    result.headers_refusal = attempt.refusal;
    done = attempt.compiled;
    if (done) take(program, attempt.log, request.architecture, result);
  }
  // What fails with precompiled headers is compiled again without: they must decide neither an outcome nor its log.
  if (!done) {
    NvrtcProgram program(api, request.source, request.name);
    const nvrtcResult status = program.compile(options);
    if (status == NVRTC_SUCCESS)
      take(program, program.log(), request.architecture, result);
    else
      explain_failure(api, status, program.log(), result);
    if (status != NVRTC_SUCCESS && with_headers && api.library.include_folders.empty()) {
      result.log += "no CUDA headers were found beside NVRTC; set CUDA_HOME to a toolkit that has them\n";
    } else if (result.status == CompileStatus::Failed) {
      result.log += host_code_note(request, result.log, api.library.include_folders);
    }
  }
  result.compile_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace attune::compile
