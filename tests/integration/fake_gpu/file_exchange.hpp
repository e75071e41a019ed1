#pragma once
#include <atomic>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace attune::test {

/// An all-gather among processes by files in one folder: what Options::agree is given. A fault spoils what one call returns.
class FileExchange {
 public:
  FileExchange(std::filesystem::path folder, std::size_t rank, std::size_t ranks, std::string fault, int fault_at)
      : folder_(std::move(folder)), rank_(rank), ranks_(ranks), fault_(std::move(fault)), fault_at_(fault_at) {}

  [[nodiscard]] std::vector<std::string> gather(const std::string& text) {
    under_way_ = true;
    const int call = ++calls_;
    const auto own = file(call, rank_);
    std::ofstream(own.string() + ".new", std::ios::binary) << text;
    std::filesystem::rename(own.string() + ".new", own);
    std::vector<std::string> texts;
    for (std::size_t rank = 0; rank < ranks_; ++rank) texts.push_back(read(file(call, rank)));
    if (call == fault_at_) spoil(texts);
    under_way_ = false;
    return texts;
  }
  [[nodiscard]] bool under_way() const { return under_way_; }

 private:
  [[nodiscard]] std::filesystem::path file(int call, std::size_t rank) const {
    return folder_ / (std::to_string(call) + "." + std::to_string(rank));
  }
  static std::string read(const std::filesystem::path& path) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(120);
    while (!std::filesystem::exists(path)) {
      if (std::chrono::steady_clock::now() > end) throw std::runtime_error("no rank has written " + path.string());
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  void spoil(std::vector<std::string>& texts) const {
    if (fault_ == "cut") texts.back().resize(texts.back().size() / 2);
    if (fault_ == "few") texts.pop_back();
    if (fault_ == "throw") throw std::runtime_error("the exchange itself has failed");
  }

  std::filesystem::path folder_;
  std::size_t rank_, ranks_;
  std::string fault_;
  int fault_at_;
  std::atomic<int> calls_{0};
  std::atomic<bool> under_way_{false};
};

}  // namespace attune::test
