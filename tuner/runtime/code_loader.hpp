#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tuner/gpu/handles.hpp"
#include "tuner/runtime/code_store.hpp"

namespace attune::runtime {

/// A module of one context, shared by the plans that use it.
struct LoadedCode {
  std::shared_ptr<const gpu::Module> module;
  const char* origin = "";  ///< Decision::cubin_source
  bool compiled = false;    ///< NVRTC ran for it in this process
};

/// Loads code into the current context: the cubin stored with the result, else the compile cache's, else what NVRTC
/// makes. A cubin that is cut off, or that the driver refuses although its digest is right (another driver's, another
/// device's), is passed over like one that is not there; what is compiled then replaces the cache's, so that no later
/// process compiles again.
class CodeLoader {
 public:
  /// `compiles` counts runs of NVRTC; `notices` gets a line for each refused cubin.
  CodeLoader(CodeStore& store, const std::vector<Layer>& layers, std::atomic<std::uint64_t>& compiles, std::vector<std::string>& notices)
      : store_(store), layers_(layers), compiles_(compiles), notices_(notices) {}
  /// Requires: a current context. Throws: EnvironmentError (no NVRTC), CompileError, CudaError (the driver refuses what
  /// was compiled for it, or is out of memory).
  [[nodiscard]] LoadedCode load(const CodeRequest& request, const Choice& choice);

 private:
  [[nodiscard]] std::optional<LoadedCode> try_load(const std::optional<Code>& code, const std::string& place);

  CodeStore& store_;
  const std::vector<Layer>& layers_;
  std::atomic<std::uint64_t>& compiles_;
  std::vector<std::string>& notices_;
};

}  // namespace attune::runtime
