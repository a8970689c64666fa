#include "harness/cli/check/references.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <set>
#include <string_view>

#include "harness/base/files.h"
#include "harness/base/text.h"
#include "results/provenance/slice.h"

namespace hyfreedp::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLeastDigits = 4;
constexpr const char* kExtension = ".sqlite";

bool is_commit(const std::string& text) {
  return text.size() >= 7 && text.size() <= 64 &&
         text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

bool is_tag(const std::string& text) {
  return !text.empty() && text.front() != '.' && text.size() <= 100 &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
         });
}

std::string listed(const std::vector<Reference>& references) {
  std::vector<std::string> names;
  for (const auto& reference : references) names.push_back(reference.name());
  return join(names, ", ");
}

Result<void> write_database(const results::Store& store, const std::string& to) {
  const std::string unfinished = to + ".part";
  std::error_code failure;
  fs::remove(unfinished, failure);
  if (const auto written = results::write_reference(store, unfinished); !written) {
    fs::remove(unfinished, failure);
    return written.error();
  }
  fs::rename(unfinished, to, failure);
  if (failure) return error(fmt::format("{}: {}.", to, failure.message()));
  return {};
}

// The commit that every spec's program says (base/version.h); empty where they differ, or one had
// changes of its own.
Result<std::string> recorded_commit(const results::Store& store) {
  const auto specs = store.specs();
  if (!specs) return specs.error();
  constexpr std::string_view kBefore = ", commit ";
  std::set<std::string> commits;
  for (const auto& spec : *specs) {
    const auto at = spec.version.rfind(kBefore);
    const auto from = at == std::string::npos ? spec.version.size() : at + kBefore.size();
    commits.insert(spec.version.substr(from, spec.version.find(')', from) - from));
  }
  return commits.size() == 1 && is_commit(*commits.begin()) ? *commits.begin() : std::string();
}

}  // namespace

std::string Reference::name() const {
  if (tag.empty()) return commit;
  return commit.empty() ? tag : fmt::format("{} ({:.12})", tag, commit);
}

std::vector<Reference> references_in(const std::string& folder) {
  std::vector<Reference> found;
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(folder, failure)) {
    if (entry.path().extension() != kExtension) continue;
    const auto stem = entry.path().stem().string();
    Reference reference{.path = entry.path().string(), .tag = "", .commit = ""};
    if (const auto at = stem.find('@'); at != std::string::npos) {
      reference.tag = stem.substr(0, at);
      reference.commit = stem.substr(at + 1);
    } else {
      (is_commit(stem) ? reference.commit : reference.tag) = stem;
    }
    found.push_back(std::move(reference));
  }
  std::sort(found.begin(), found.end(),
            [](const Reference& a, const Reference& b) { return a.name() < b.name(); });
  return found;
}

Result<Reference> keep_reference(const std::string& out_folder, const std::string& folder,
                                 const std::string& given_commit, const std::string& tag) {
  const auto store = results::Store::open(out_folder + "/hyfreedp.sqlite", results::Store::Mode::read_only);
  if (!store) return store.error();
  const auto recorded = recorded_commit(**store);
  if (!recorded) return recorded.error();
  const auto commit = given_commit.empty() ? *recorded : given_commit;
  if (commit.empty() && tag.empty()) {
    return error("--keep needs a name: --commit \"$(git rev-parse HEAD)\", --tag NAME, or both.");
  }
  if (!commit.empty() && !is_commit(commit)) {
    return error(fmt::format("--commit is '{}'; it must be at least 7 hex digits.", commit));
  }
  if (!tag.empty() && (!is_tag(tag) || is_commit(tag))) {
    return error(fmt::format(
        "--tag is '{}'; it must be letters, digits, '-', '_' and '.', and not look like a commit.", tag));
  }
  for (const auto& known : references_in(folder)) {
    const bool same_tag = !tag.empty() && known.tag == tag;
    const bool same_commit = tag.empty() && known.tag.empty() && known.commit == commit;
    if (!same_tag && !same_commit) continue;
    return error(
        fmt::format("the reference {} exists already ({}); choose another --tag, or delete that file.",
                    known.name(), known.path));
  }
  const auto separator = tag.empty() || commit.empty() ? "" : "@";
  Reference kept{.path = fmt::format("{}/{}{}{}{}", folder, tag, separator, commit, kExtension),
                 .tag = tag,
                 .commit = commit};
  if (auto made = make_folders(folder); !made) return made.error();
  if (auto written = write_database(**store, kept.path); !written) return written.error();
  return kept;
}

Result<std::string> find_reference(const std::string& given, const std::string& folder) {
  std::error_code failure;
  if (fs::is_regular_file(given, failure)) return given;
  if (const auto inside = given + "/hyfreedp.sqlite"; fs::is_regular_file(inside, failure)) return inside;
  const auto known = references_in(folder);
  std::vector<Reference> matching;
  for (const auto& reference : known) {
    if (reference.tag == given) return reference.path;
    if (given.size() >= kLeastDigits && reference.commit.starts_with(given)) matching.push_back(reference);
  }
  if (matching.size() == 1) return matching.front().path;
  if (matching.size() > 1) {
    return error(
        fmt::format("--against {} is ambiguous; it matches {}. Give the tag, or more digits of the commit.",
                    given, listed(matching)));
  }
  const auto absent = fmt::format("--against {}: there is no such file, output folder, tag or commit", given);
  if (!known.empty()) return error(fmt::format("{}. References in {}: {}.", absent, folder, listed(known)));
  return error(
      fmt::format("{}, and no reference in {}. `hyfreedp regress --keep --tag {} --out OUT --references {}` "
                  "keeps one of a run that you trust.",
                  absent, folder, is_tag(given) && !is_commit(given) ? given : "good", folder));
}

}  // namespace hyfreedp::cli
