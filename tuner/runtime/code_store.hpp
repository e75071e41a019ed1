#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tuner/compile/compiler.hpp"
#include "tuner/compile/cubin_cache.hpp"
#include "tuner/runtime/lookup.hpp"

namespace attune::runtime {

/// What has to be compiled for a choice, and the keys by which it may be found compiled.
struct CodeRequest {
  compile::CompileRequest compile;
  /// Content key of source and architecture. The tuning session writes the same beside a stored cubin, so that a cubin
  /// of another source never loads and NVRTC need not be asked for its build.
  std::string source_key;
  /// Adds every option; names the cubin in the compile cache. It leaves out NVRTC's build on purpose: any build's cubin
  /// of this source and these options is valid here, and knowing the build means loading NVRTC.
  std::string cache_key;
};
[[nodiscard]] CodeRequest make_code_request(const spec::KernelTemplate& kernel, const spec::Problem& problem,
                                            const spec::Configuration& configuration, const spec::DeviceInfo& device);

struct Code {
  std::string cubin;
  const char* origin = "";  ///< Decision::cubin_source: "database", "cache" or "compiled"
};

/// Finds or makes cubins: a trusted layer's stored one, the compile cache, NVRTC in this process. One thread at a time.
class CodeStore {
 public:
  /// `folder`: of the compile cache; empty: none.
  explicit CodeStore(const std::filesystem::path& folder);
  /// The cubin stored with the choice, when its layer is trusted and it was compiled from this very source. A layer or
  /// row that is damaged has none.
  [[nodiscard]] std::optional<Code> stored(const CodeRequest& request, const Choice& choice, const std::vector<Layer>& layers) const;
  /// What this or another process compiled earlier.
  [[nodiscard]] std::optional<Code> cached(const CodeRequest& request) const;
  /// The first of these two; nothing when NVRTC would have to compile.
  [[nodiscard]] std::optional<Code> find(const CodeRequest& request, const Choice& choice, const std::vector<Layer>& layers) const;
  /// The only place where dispatch loads NVRTC; stores what it compiles, in place of what the cache had. Throws: EnvironmentError (no
  /// NVRTC), CompileError.
  [[nodiscard]] Code compile(const CodeRequest& request);
  /// Why compiled code is not kept or not used; empty when it is.
  [[nodiscard]] const std::string& warning() const noexcept { return cache_ ? cache_->warning() : warning_; }

 private:
  std::optional<compile::CubinCache> cache_;
  std::unique_ptr<compile::Nvrtc> nvrtc_;
  std::string warning_;
};

}  // namespace attune::runtime
