#pragma once
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace attune::compile {

/// What NVRTC is asked for.
struct CompileRequest {
  std::string source;                ///< the whole program (spec::make_source)
  std::string name;                  ///< what the log calls it, e.g. "reduce.cu"
  std::string architecture;          ///< "sm_90"
  std::vector<std::string> options;  ///< the template's own, after ours
};

/// Per-kernel figures from ptxas.
struct KernelResources {
  std::string kernel;
  int registers = 0;
  int static_shared_bytes = 0;  ///< as ptxas reports it; from sm_80 on 1024 more are reserved per block
  int stack_bytes = 0;          ///< of the kernel's own frame
  int spill_store_bytes = 0;
  int spill_load_bytes = 0;
};

enum class CompileStatus {
  Ok,
  Failed,    ///< the source or an option was refused; asked again, it would be again
  TimedOut,  ///< killed at the deadline
  Crashed,   ///< the compiler itself broke (its process died twice, or it reported an internal error)
};

/// What precompiled headers had to do with a compilation (docs/decisions/0003-nvrtc.md). Never changes the cubin.
enum class HeaderUse {
  None,     ///< no headers in front of the source, or an Nvrtc that does not precompile
  Created,  ///< precompiled them for later compilations
  Used,     ///< used those of an earlier compilation
  Refused,  ///< NVRTC would not, and compiled them as text
};

struct CompileResult {
  CompileStatus status = CompileStatus::Failed;
  std::string key;  ///< cubin_key of the request
  std::string cubin;
  std::vector<KernelResources> kernels;
  std::string log;        ///< errors and warnings, without ptxas' figures; for TimedOut and Crashed what happened
  double compile_ms = 0;  ///< 0 when answered from the cache
  bool from_cache = false;
  HeaderUse headers = HeaderUse::None;
  std::string headers_refusal;  ///< of Refused: why others could have changed what would be loaded, with the remedy; empty otherwise
};

[[nodiscard]] nlohmann::json to_json(const CompileRequest& request);
[[nodiscard]] CompileRequest request_from_json(const nlohmann::json& json);
[[nodiscard]] nlohmann::json to_json(const CompileResult& result);
/// Throws: Error when the value is not what `to_json` makes (also request_from_json).
[[nodiscard]] CompileResult result_from_json(const nlohmann::json& json);

/// The flags every compilation gets, in front of the request's own: -arch, --no-cache, --modify-stack-limit=false,
/// --ptxas-options=-v, -default-device, c++17, ... (docs/decisions say why each).
[[nodiscard]] std::vector<std::string> full_options(const CompileRequest& request);

/// Registers, shared memory, stack and spills per kernel out of a `--ptxas-options=-v` log.
[[nodiscard]] std::vector<KernelResources> parse_ptxas_log(const std::string& log);

/// NVRTC, loaded at run time into this process. Single-threaded use: one instance a compile worker.
/// Search order: $ATTUNE_NVRTC (a file), the loader's path (libnvrtc.so.13, .12), the toolkit found at build time,
/// $CUDA_HOME and /usr/local/cuda. With $ATTUNE_NVRTC set that file and no other is used.
/// Sources that include headers get the CUDA include folders that belong to the library.
/// Source: docs/decisions/0003-nvrtc.md
class Nvrtc {
 public:
  /// Precompiled: headers in front of a source (before spec's `#pragma nv_hdrstop`) are read once and kept for later
  /// sources that begin with the same ones: for processes that compile many. Costs some 100 MB of temporary disk space
  /// while the process lives.
  enum class Headers { Text, Precompiled };

  /// Throws: EnvironmentError listing what was tried and the remedy.
  explicit Nvrtc(Headers headers = Headers::Text);
  ~Nvrtc();
  Nvrtc(const Nvrtc&) = delete;
  Nvrtc& operator=(const Nvrtc&) = delete;

  /// Source text to cubin. A source that does not compile is a result (Failed with the log), no exception.
  [[nodiscard]] CompileResult compile(const CompileRequest& request);
  /// "13.0.88 CL-36424714": version and full build, read out of the PTX of an empty program once.
  [[nodiscard]] const std::string& build() const noexcept { return build_; }

 private:
  struct State;
  std::unique_ptr<State> state_;
  std::string build_;
};

/// Content key of a cubin: format, NVRTC build, target, options, source. Not the name, and not where CUDA's headers
/// lie: both differ between machines that make the same cubin.
[[nodiscard]] std::string cubin_key(const CompileRequest& request, const std::string& nvrtc_build);

/// Of the same: what dispatch can check without NVRTC. Requests with no options of their own have the key that they had before options
/// counted.
[[nodiscard]] std::string source_key(const CompileRequest& request);

/// Main of `attune worker-compile`: answers requests on the worker channel until it closes. First message out is
/// {"nvrtc": build} or {"error": text}.
int compile_worker_main();

}  // namespace attune::compile
