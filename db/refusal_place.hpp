#pragma once
#include <string>
#include <utility>

#include "attune/error.hpp"
#include "db/exchange_parts.hpp"

namespace attune::db {

/// Throws: SpecError at a line of a file. `row`: what stands there; empty: nothing is known of it.
[[noreturn]] inline void refuse_at(const std::string& file, int line, const std::string& row, const std::string& why) {
  throw SpecError(file, line, line > 0 ? 1 : 0, row.empty() ? why : row + ": " + why);
}

/// A refusal of `work` is told at its place in the file, whatever place the refusal itself names: a template has lines of its
/// own. The database's failures, and being interrupted, stay what they are.
template <class Work>
void at_place(const std::string& file, int line, const std::string& row, Work&& work) {
  if (const auto why = why_refused(work)) refuse_at(file, line, row, *why);
}

}  // namespace attune::db
