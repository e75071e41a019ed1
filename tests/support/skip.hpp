#pragma once
#include <string>

namespace attune::test {

/// Tells why this test case cannot try its claim here; the case returns after it. doctest cannot skip at run time: the runner
/// (main.cpp) exits with 77 when a case was skipped and none failed, which ctest shows as skipped. A file with such a case is an
/// entry of its own (APART or BY_FILE in tests/CMakeLists.txt), so that no other claim is shown as skipped with it.
void skip(const std::string& reason);

}  // namespace attune::test
