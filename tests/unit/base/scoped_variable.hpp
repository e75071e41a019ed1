#pragma once
#include <cstdlib>
#include <string>

namespace attune::testing {

/// Sets (nullptr: unsets) an environment variable and puts the old value back.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const char* value) : name_(name) {
    if (const char* const old = std::getenv(name)) {
      was_set_ = true;
      old_ = old;
    }
    set(value);
  }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;
  ~ScopedVariable() { set(was_set_ ? old_.c_str() : nullptr); }

 private:
  void set(const char* value) const {
    if (value == nullptr) {
      unsetenv(name_);
    } else {
      setenv(name_, value, 1);
    }
  }
  const char* name_;
  bool was_set_ = false;
  std::string old_;
};

}  // namespace attune::testing
