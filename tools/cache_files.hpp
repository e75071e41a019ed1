#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "tuner/spec/kernel_template.hpp"

namespace attune::tools {

enum class CacheFormat { KernelTuner, T4 };

struct CacheExport {
  spec::KernelTemplate kernel;
  spec::Problem problem = {};
  CacheFormat format = CacheFormat::KernelTuner;
  std::filesystem::path database = {};
  std::string recording = {};  ///< the source in place of the database; empty: the database
  std::string device = {};     ///< name or key; empty: the only one there is
  std::string policy = {};     ///< empty: cold/graph, or the recording's
  std::string output = {};
  bool verified_only = false;
  bool json_output = false;
};

struct CacheImport {
  spec::KernelTemplate kernel;
  spec::Problem problem = {};
  std::filesystem::path database = {};
  std::string file = {};
  std::string device = {};  ///< name, key or architecture; empty: what the file names
  std::string policy = {};  ///< empty: simulate::ImportTarget's
  std::string output = {};
  bool json_output = false;
};

/// What `attune cache export|import` do; each returns the exit code. Ctrl-C ends them with 130, and nothing of the work stays. Throw:
/// attune::Error.
[[nodiscard]] int export_cache(const CacheExport& work);
[[nodiscard]] int import_cache(const CacheImport& work);

}  // namespace attune::tools
