#pragma once
#include <filesystem>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/base/file_descriptor.hpp"
#include "tuner/compile/compiler.hpp"
#include "tuner/compile/nvrtc_api.hpp"

namespace attune::compile {

/// Headers that this process has compiled once and keeps for sources that begin with the same ones. NVRTC takes them
/// only from files of its own process (they hold addresses), so each worker has its own. A file is unlinked as soon as
/// it is made, and used through a descriptor, of a copy in memory where there is room: nothing stays behind, however the
/// process ends.
/// Source: docs/decisions/0003-nvrtc.md
class PrecompiledHeaders {
 public:
  /// The part of a source that can be precompiled: up to and with its `#pragma nv_hdrstop`; nothing without one.
  [[nodiscard]] static std::optional<std::string_view> prefix_of(const std::string& source);

  /// Requires: outlived by `api`, which knows precompiled headers.
  explicit PrecompiledHeaders(const NvrtcApi& api) : api_(api) {}

  struct Attempt {
    HeaderUse use = HeaderUse::Refused;
    std::string refusal;    ///< why the file was not safe to make, or to load, with the remedy; empty otherwise
    bool compiled = false;  ///< the program holds a cubin; false: compile a new one without
    std::string log;        ///< without what NVRTC says about precompiled headers
  };
  /// Compiles the program of a source with this prefix, creating the headers the first time.
  [[nodiscard]] Attempt compile(NvrtcProgram& program, std::string_view prefix, std::vector<std::string> options);

 private:
  struct Entry {
    std::string key;            ///< of prefix and options
    base::FileDescriptor file;  ///< not open: NVRTC would not make it
  };
  [[nodiscard]] Attempt create(NvrtcProgram& program, const std::string& key, std::vector<std::string> options);
  [[nodiscard]] Attempt use(NvrtcProgram& program, const Entry& entry, std::vector<std::string> options) const;

  const NvrtcApi& api_;
  std::list<Entry> entries_;  ///< most recently used first
};

}  // namespace attune::compile
