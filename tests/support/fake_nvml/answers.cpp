#include "tests/support/fake_nvml/answers.hpp"

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

namespace attune::fake_nvml {
namespace {

const nlohmann::json& told() {
  static const nlohmann::json json = nlohmann::json::parse(std::getenv("ATTUNE_FAKE_NVML"));
  return json;
}

template <class Value>
int answer_as(const char* function, const char* key, Value* value) {
  if (fails(function)) return kNotSupported;
  if (!told().contains(key)) return kNotSupported;
  *value = told().at(key).get<Value>();
  return kSuccess;
}

}  // namespace

bool fails(const std::string& function) {
  if (const char* log = std::getenv("ATTUNE_FAKE_NVML_LOG"); log != nullptr) {
    std::ofstream(log, std::ios::app) << function << '\n';
  }
  for (const auto& failing : told().value("failing", nlohmann::json::array())) {
    if (failing == function) return true;
  }
  return false;
}

int answer(const char* function, const char* key, unsigned* value) { return answer_as(function, key, value); }
int answer(const char* function, const char* key, unsigned long long* value) { return answer_as(function, key, value); }

unsigned long long counts_of_20_ms() {
  using Count = std::chrono::duration<unsigned long long, std::ratio<20, 1000>>;
  return std::chrono::duration_cast<Count>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

bool is_device(const char* uuid) { return told().at("uuid") == uuid; }

}  // namespace attune::fake_nvml
