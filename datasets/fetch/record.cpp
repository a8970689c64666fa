#include "datasets/fetch/record.h"

#include <ctime>
#include <filesystem>
#include <fmt/format.h>

#include "harness/base/files.h"
#include "harness/base/json.h"

namespace hyfreedp::datasets {
namespace {

std::string now_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[32];
  const auto length = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return {text, length};
}

}  // namespace

std::string record_path(const std::string& file) { return file + ".source.json"; }

Result<void> write_record(const std::string& file, Record record) {
  if (record.date.empty()) record.date = now_utc();
  const json::object object = {{"from", record.from},
                               {"bytes", record.bytes},
                               {"sha256", record.sha256},
                               {"checksum", record.pinned ? "pinned" : "unpinned"},
                               {"date", record.date}};
  return write_file_atomically(record_path(file), pretty_json(object));
}

std::optional<Record> read_record(const std::string& file) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(record_path(file), ignored)) return std::nullopt;
  const auto value = read_json_file(record_path(file));
  if (!value || !value->is_object()) return std::nullopt;
  const auto& object = value->get_object();
  const auto from = get_string(object, "from", "");
  const auto bytes = get_int(object, "bytes", "");
  const auto sha256 = get_string(object, "sha256", "");
  const auto checksum = get_string(object, "checksum", "");
  const auto date = get_string(object, "date", "");
  if (!from || !bytes || *bytes < 0 || !sha256 || !checksum || !date) return std::nullopt;
  return Record{.from = *from,
                .bytes = static_cast<std::uint64_t>(*bytes),
                .sha256 = *sha256,
                .pinned = *checksum == "pinned",
                .date = *date};
}

}  // namespace hyfreedp::datasets
