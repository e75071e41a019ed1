#include <fmt/core.h>
#include <nvrtc.h>

#include <chrono>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "attune/error.hpp"
#include "tuner/compile/compiler.hpp"
#include "tuner/compile/nvrtc_library.hpp"
#include "tuner/compile/ptxas_log.hpp"

namespace attune::compile {

struct Nvrtc::Api {
  NvrtcLibrary library = load_nvrtc();
  decltype(&::nvrtcGetErrorString) error_string = load<decltype(error_string)>("nvrtcGetErrorString");
  decltype(&::nvrtcCreateProgram) create_program = load<decltype(create_program)>("nvrtcCreateProgram");
  decltype(&::nvrtcDestroyProgram) destroy_program = load<decltype(destroy_program)>("nvrtcDestroyProgram");
  decltype(&::nvrtcCompileProgram) compile_program = load<decltype(compile_program)>("nvrtcCompileProgram");
  decltype(&::nvrtcGetProgramLogSize) log_size = load<decltype(log_size)>("nvrtcGetProgramLogSize");
  decltype(&::nvrtcGetProgramLog) log = load<decltype(log)>("nvrtcGetProgramLog");
  decltype(&::nvrtcGetPTXSize) ptx_size = load<decltype(ptx_size)>("nvrtcGetPTXSize");
  decltype(&::nvrtcGetPTX) ptx = load<decltype(ptx)>("nvrtcGetPTX");
  decltype(&::nvrtcGetCUBINSize) cubin_size = load<decltype(cubin_size)>("nvrtcGetCUBINSize");
  decltype(&::nvrtcGetCUBIN) cubin = load<decltype(cubin)>("nvrtcGetCUBIN");

  void check(nvrtcResult result, const char* call) const {
    if (result == NVRTC_SUCCESS) return;
    throw EnvironmentError(
        fmt::format("failed using NVRTC {}: {} returned {}", library.path.string(), call, error_string(result)));
  }

 private:
  template <class Function>
  Function load(const char* name) {
    return reinterpret_cast<Function>(nvrtc_symbol(library, name));
  }
};

namespace {

/// One nvrtcProgram and what came of it. `Api` is Nvrtc::Api, which only Nvrtc can name.
template <class Api>
class Program {
 public:
  Program(const Api& api, const std::string& source, const std::string& name) : api_(api) {
    api_.check(api_.create_program(&program_, source.c_str(), name.c_str(), 0, nullptr, nullptr), "nvrtcCreateProgram");
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() { api_.destroy_program(&program_); }

  nvrtcResult compile(const std::vector<std::string>& options) {
    std::vector<const char*> pointers;
    for (const std::string& option : options) pointers.push_back(option.c_str());
    return api_.compile_program(program_, static_cast<int>(pointers.size()), pointers.data());
  }
  [[nodiscard]] std::string log() const {
    std::string text = get(api_.log_size, api_.log, "nvrtcGetProgramLog");
    while (!text.empty() && (text.back() == '\0' || text.back() == '\n')) text.pop_back();
    return text.empty() ? text : text + '\n';
  }
  [[nodiscard]] std::string ptx() const { return get(api_.ptx_size, api_.ptx, "nvrtcGetPTX"); }
  [[nodiscard]] std::string cubin() const { return get(api_.cubin_size, api_.cubin, "nvrtcGetCUBIN"); }

 private:
  template <class Size, class Get>
  std::string get(Size size_of, Get get_bytes, const char* call) const {
    std::size_t size = 0;
    api_.check(size_of(program_, &size), call);
    std::string bytes(size, '\0');
    if (size > 0) api_.check(get_bytes(program_, bytes.data()), call);
    return bytes;
  }

  const Api& api_;
  nvrtcProgram program_ = nullptr;
};

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

}  // namespace

Nvrtc::Nvrtc() : api_(std::make_unique<Api>()) {
  const std::string library = api_->library.path.string();
  Program program(*api_, "", "empty.cu");
  const nvrtcResult result = program.compile({"--no-cache", "--modify-stack-limit=false", "--ptxas-options=-v"});
  if (result != NVRTC_SUCCESS) {
    throw EnvironmentError(
        fmt::format("failed compiling an empty program with NVRTC {}: nvrtcCompileProgram returned {} ({}); name "
                    "a newer library in ATTUNE_NVRTC",
                    library, api_->error_string(result), program.log()));
  }
  build_ = build_from_ptx(program.ptx(), library);
}

Nvrtc::~Nvrtc() = default;

CompileResult Nvrtc::compile(const CompileRequest& request) {
  const auto start = std::chrono::steady_clock::now();
  CompileResult result;
  result.key = cubin_key(request, build_);
  std::vector<std::string> options = full_options(request);
  const bool with_headers = includes_headers(request.source);
  if (with_headers) {
    for (const auto& folder : api_->library.include_folders) options.push_back("-I" + folder.string());
  }
  Program program(*api_, request.source, request.name);
  const nvrtcResult status = program.compile(options);
  const std::string log = program.log();
  result.log = without_ptxas_figures(log);
  if (status == NVRTC_SUCCESS) {
    result.cubin = program.cubin();
    result.kernels = parse_ptxas_log(log);
    result.status = result.cubin.empty() ? CompileStatus::Failed : CompileStatus::Ok;
    if (result.cubin.empty()) {
      result.log += fmt::format("no machine code for architecture '{}': ask for a real one such as sm_90\n",
                                request.architecture);
    }
  } else {
    // Only these two are the request's fault, and will be again; the others (memory, a missing builtins library,
    // internal errors) are the compiler's own.
    const bool refused = status == NVRTC_ERROR_COMPILATION || status == NVRTC_ERROR_INVALID_OPTION;
    result.status = refused ? CompileStatus::Failed : CompileStatus::Crashed;
    if (!refused || result.log.empty()) {
      result.log += fmt::format("nvrtcCompileProgram returned {}\n", api_->error_string(status));
    }
    if (with_headers && api_->library.include_folders.empty()) {
      result.log += "no CUDA headers were found beside NVRTC; set CUDA_HOME to a toolkit that has them\n";
    }
  }
  result.compile_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace attune::compile
