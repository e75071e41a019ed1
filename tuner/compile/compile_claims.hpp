#pragma once
#include <filesystem>
#include <string>

#include "tuner/base/file_descriptor.hpp"

namespace attune::compile {

/// Which cubins the processes that share a cache are compiling, so that each is compiled once: a claim is a lock on the byte of the
/// file `<cache>/claims` that the key stands for. The kernel gives it back when its process ends, however that ends.
class CompileClaims {
 public:
  /// Where nothing can be locked (no cache, a folder that is read-only or others', a file system without locks) every claim is ours.
  explicit CompileClaims(const std::filesystem::path& cache);
  /// Whether it is ours now; false: another process's.
  [[nodiscard]] bool take(const std::string& key) const;
  /// Does nothing where it is not ours.
  void give_back(const std::string& key) const;
  void give_back_all() const;

 private:
  base::FileDescriptor file_;
};

}  // namespace attune::compile
