#pragma once
#include "attune/error.hpp"

namespace attune::db {

/// What a file holds is at fault: it is damaged, or no database that attune made. What any other DatabaseError tells (a lock, a limit, a
/// right, a later attune's schema) says nothing of that, and may pass.
class ContentsError : public DatabaseError {
 public:
  using DatabaseError::DatabaseError;
};

}  // namespace attune::db
