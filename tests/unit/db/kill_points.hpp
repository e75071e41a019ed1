#pragma once
#include <string>

namespace attune::db::test {

/// Ends this process with SIGKILL at the `count`-th statement that SQLite begins ("statement", all connections together),
/// or in the middle of the `count`-th change that it makes to a file ("change": half of the bytes are written; a file is
/// cut or removed, or not), or before the `count`-th file that anything renames ("rename"). Through SQLite's own hooks and a `rename` of
/// this program's: the product has none.
void kill_at(const std::string& what, int count);

}  // namespace attune::db::test
