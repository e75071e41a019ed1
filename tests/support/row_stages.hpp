#pragma once
#include <map>
#include <string>
#include <vector>

namespace attune::test {

/// Every way of sharing a row, with the lanes that belong to it.
inline const std::vector<std::map<std::string, std::string>> kRowStages = {{{"row_stage", "thread"}, {"lanes", "1"}},
                                                                           {{"row_stage", "sub_warp"}, {"lanes", "2"}},
                                                                           {{"row_stage", "sub_warp"}, {"lanes", "4"}},
                                                                           {{"row_stage", "sub_warp"}, {"lanes", "8"}},
                                                                           {{"row_stage", "sub_warp"}, {"lanes", "16"}},
                                                                           {{"row_stage", "warp"}},
                                                                           {{"row_stage", "block"}},
                                                                           {{"row_stage", "two_pass"}},
                                                                           {{"row_stage", "last_block"}},
                                                                           {{"row_stage", "ticket"}},
                                                                           {{"row_stage", "adaptive"}}};

}  // namespace attune::test
