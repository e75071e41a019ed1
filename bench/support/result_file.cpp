#include "bench/support/result_file.hpp"

#include <cuda.h>

#include <fmt/format.h>

#include "attune/error.hpp"
#include "attune_build/content_hash.hpp"
#include "bench/support/json.hpp"
#include "tuner/base/output_file.hpp"
#include "tuner/base/text.hpp"

namespace attune::bench {

double relative_half(double low, double high, double middle) { return (high - low) / 2 / middle; }

std::string content_hash() { return build::kContentHash; }

std::filesystem::path results_folder(const std::filesystem::path& chosen) {
  if (!chosen.empty()) return chosen;
  const std::filesystem::path sources = ATTUNE_BENCH_SOURCES;
  if (std::filesystem::is_directory(sources)) return sources / "results";
  throw UsageError(fmt::format("failed choosing the results folder: the source folder {} is not on this machine; pass --output FOLDER",
                               sources.string()));
}

std::filesystem::path results_path(const std::filesystem::path& folder, const std::string& bench, const spec::DeviceInfo& device) {
  return folder / device.slug() / (bench + ".json");
}

std::filesystem::path write_results(const std::filesystem::path& folder, const std::string& bench, const spec::DeviceInfo& device,
                                    const nlohmann::ordered_json& fields, const std::vector<nlohmann::ordered_json>& rows) {
  nlohmann::ordered_json file{{"bench", bench},
                              {"device", device.to_json()},
                              {"driver", device.driver},
                              {"cuda", fmt::format("{}.{}", CUDA_VERSION / 1000, CUDA_VERSION % 1000 / 10)},
                              {"date", base::utc_now()},
                              {"content", build::kContentHash},
                              {"spread_is", kSpreadMeaning}};
  file.update(fields);
  file["rows"] = rows;
  const auto path = results_path(folder, bench, device);
  std::error_code failure;
  std::filesystem::create_directories(path.parent_path(), failure);
  if (failure) {
    throw EnvironmentError(fmt::format("failed creating the results folder {}: {}; choose another with --output",
                                       path.parent_path().string(), failure.message()));
  }
  base::write_output(path, dump_json(file, 1) + "\n");
  return path;
}

}  // namespace attune::bench
