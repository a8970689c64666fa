#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "harness/base/files.h"
#include "harness/base/named_file.h"
#include "harness/base/result.h"
#include "harness/base/text.h"
#include "harness/cli/common/spec_request.h"
#include "harness/runner/execute/ab_timing.h"
#include "harness/runner/execute/other_code.h"
#include "harness/runner/executors/local_executor.h"
#include "harness/runner/spec/plan.h"
#include "results/provenance/slice.h"
#include "results/regress/night.h"
#include "results/regress/regress_writers.h"
#include "results/store/records.h"

namespace hyfreedp::cli {
namespace {

constexpr std::string_view kText = R"(
hyfreedp regress SPEC --against REF [options]
Compares the rows of a spec in DIR with a reference and says what moved and whether chance explains
it; one line where nothing did. Trains nothing, but for --speed. SPEC: its name or its file. REF: a
database, an output folder, or the tag or commit of a kept reference. The spec's `regress` says
margins and the false alarms a night.

hyfreedp regress --keep [--commit HASH] [--tag NAME] [options]
Keeps what later nights are compared with as a reference.

Example: hyfreedp run experiments/nightly.yaml --out out/tonight
         hyfreedp regress nightly --out out/tonight --against v0.4.0 --references out/references \
           --markdown out/tonight.md --junit out/tonight.xml
Exit code: 0 the same or better, 1 regressed, or changed and not better, 2 could not tell (a cell
that failed as before, a seed that was not run, a row in DIR that other code trained than this
program's), bad input included (then nothing is on standard output).)";

namespace fs = std::filesystem;

constexpr std::size_t kLeastDigits = 4;
constexpr const char* kExtension = ".sqlite";

// A database that was kept as a reference for later nights: ROOT/TAG@COMMIT.sqlite,
// ROOT/COMMIT.sqlite or ROOT/TAG.sqlite.
struct Reference {
  std::string path;
  std::string tag;     // may be empty
  std::string commit;  // may be empty
  std::string name() const;
};

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

// Keeps the part of an output folder's database that results::write_reference writes. The default
// of `commit` is that of the program that made the database, if the database names one. Errors: a
// reference of that commit and tag exists, neither of them is known, or one of them is not a valid
// name.
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

// The database that `given` names: a file, an output folder, a tag, or the first digits of a commit
// (at least 4). The error lists the references that exist.
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

struct RegressRequest {
  std::string spec;
  std::string out = "out";
  std::string references;
  std::string against;
  std::string commit;
  std::string tag;
  std::string markdown;
  std::string junit;
  std::string worker;
  std::string other_worker;
  int rounds = 20;
  bool keep = false;
  bool no_hashes = false;
  bool speed = false;

  void describe(Options& options) {
    options.positional(spec, "spec", "SPEC");
    options.value(against, "against", "REF", "what to compare with");
    options.value(out, "out", "DIR", "output folder of tonight's `hyfreedp run`");
    options.value(references, "references", "DIR",
                  "where references are kept; default: references beside DIR's database");
    options.flag(no_hashes, "no-hashes", "compare no bits, only what tests can tell");
    options.value(markdown, "markdown", "FILE",
                  "also write it as Markdown: what moved, then every check, folded");
    options.value(junit, "junit", "FILE", "also write it as JUnit XML");
    options.flag(speed, "speed",
                 "time the spec's trials again, tonight's worker and --against-binary's by turns; specs with "
                 "a noise_seed only");
    options.value(other_worker, "against-binary", "PATH", "the reference's hyfreedp-worker, for --speed");
    options.value(worker, "worker", "PATH",
                  "tonight's hyfreedp-worker, for --speed; default: the one that `hyfreedp run` uses");
    options.value(rounds, "rounds", "N", "of --speed");
    options.flag(keep, "keep", "keep a reference of DIR's database");
    options.value(commit, "commit", "HASH",
                  "of the program that made it, for --keep; default: the one that the database names");
    options.value(tag, "tag", "NAME", "a name, for --keep");
  }

  Checked check() {
    if (references.empty()) references = out + "/references";
    if (keep) {
      if (against.empty() && !speed) return {};
      return unusable("--keep keeps and compares nothing; leave out --against and --speed");
    }
    if (!commit.empty() || !tag.empty()) return unusable("--commit and --tag are for --keep");
    if (spec.empty()) return unusable("name a spec of the database, for example nightly");
    if (against.empty()) return unusable("--against REF is missing");
    if (speed && other_worker.empty()) return unusable("--speed needs --against-binary PATH");
    if (!speed && (!other_worker.empty() || !worker.empty()))
      return unusable("--against-binary and --worker are for --speed");
    if (rounds < 2 || rounds > 1000) return unusable("--rounds must be from 2 to 1000");
    return {};
  }
};

// The mistakes of a spec come in several lines.
Refusal refusal_of(const Error& failure) {
  Refusal refusal(failure);
  refusal.in_lines = failure.message.find('\n') != std::string::npos;
  return refusal;
}

Outcome keep(const RegressRequest& request, std::ostream& out) {
  const auto kept = keep_reference(request.out, request.references, request.commit, request.tag);
  if (!kept) return refusal_of(kept.error());
  out << fmt::format("Kept {}: {}\n", kept->name(), kept->path);
  return 0;
}

// The first seed's reported run of each cell.
Result<std::vector<runner::AbTimingEntry>> entries_of(const results::Store& store, const std::string& spec) {
  const auto studies = store.studies(spec);
  if (!studies) return studies.error();
  std::vector<runner::AbTimingEntry> entries;
  std::set<std::tuple<std::string, std::string, std::optional<double>>> seen;
  for (const auto& study : *studies) {
    if (study.state != results::StudyState::concluded || study.reported_trial.empty()) continue;
    if (!seen.insert({study.panel, study.row, study.epsilon_target}).second) continue;
    const auto trial = store.trial(study.reported_trial);
    if (!trial) return trial.error();
    if (!*trial) continue;
    auto config = trial::TrialConfig::from_json((**trial).config, "trial " + study.reported_trial);
    if (!config) return config.error();
    entries.push_back({study.panel, study.row, study.epsilon_target, std::move(*config)});
  }
  if (entries.empty()) return error("no row has a run that could be timed.");
  return entries;
}

Result<std::vector<results::AbTiming>> timings_of(const RegressRequest& request, const results::Store& store,
                                                  const std::string& spec, std::ostream& err) {
  auto entries = entries_of(store, spec);
  if (!entries) return entries.error();
  auto worker = request.worker.empty() ? runner::find_worker() : Result<std::string>(request.worker);
  if (!worker) return worker.error();
  for (const auto& program : {*worker, request.other_worker}) {
    std::error_code failure;
    if (!std::filesystem::is_regular_file(program, failure))
      return error(program + ": there is no such worker program.");
  }
  const runner::AbTimingRequest timing{.tonight = *worker,
                                       .reference = request.other_worker,
                                       .entries = std::move(*entries),
                                       .rounds = request.rounds};
  return runner::run_ab_timing(
      timing, [&](int round) { err << fmt::format("round {} of {}\n", round + 1, request.rounds); });
}

Result<void> mark_other_code(const results::Store& store, results::Night& night) {
  const auto rows = runner::rows_of_other_code(store, night.spec, "");
  if (!rows) return rows.error();
  for (const auto& row : *rows) {
    for (auto& cell : night.cells) {
      if (cell.panel == row.panel && cell.row == row.row) cell.other_code = join(row.parts, ", ");
    }
  }
  return {};
}

Result<results::RegressReport> compare(const RegressRequest& request, std::ostream& err) {
  const auto name = name_of_spec(request.spec, "");
  if (!name) return name.error();
  const auto path = find_reference(request.against, request.references);
  if (!path) return path.error();
  const auto tonight_store = open_for_reading(request.out);
  if (!tonight_store) return tonight_store.error();
  const auto reference_store = results::Store::open(*path, results::Store::Mode::read_only);
  if (!reference_store) return reference_store.error();
  std::error_code failure;
  if (std::filesystem::equivalent(*path, request.out + "/hyfreedp.sqlite", failure)) {
    return error("the reference is tonight's own database; a night begins in a folder of its own (--out).");
  }
  auto tonight = results::read_night(**tonight_store, *name);
  if (!tonight) return in_context(request.out, tonight.error());
  const auto reference = results::read_night(**reference_store, *name);
  if (!reference) return in_context(*path, reference.error());
  if (auto marked = mark_other_code(**tonight_store, *tonight); !marked) return marked.error();
  const auto other_code = runner::other_code_note(**tonight_store, *name, "");
  if (!other_code) return other_code.error();
  if (!other_code->empty()) err << fmt::format("hyfreedp regress: in {}, {}\n", request.out, *other_code);
  const auto spec = (**tonight_store).spec(*name);
  if (!spec) return spec.error();
  const auto content = results::spec_of(**spec);
  if (!content) return content.error();
  auto settings = content->regress.value_or(spec::Regress{});
  if (request.no_hashes) settings.hashes = false;
  std::vector<results::AbTiming> timings;
  if (request.speed) {
    auto timed = timings_of(request, **tonight_store, *name, err);
    if (!timed) return timed.error();
    timings = std::move(*timed);
  }
  return results::compare_nights(*tonight, *reference, timings, settings);
}

Outcome regress(const RegressRequest& request, std::ostream& out, std::ostream& err) {
  if (request.keep) return keep(request, out);
  const auto report = compare(request, err);
  if (!report) return refusal_of(report.error());
  for (const auto& [file, text] : {std::pair{&request.markdown, &results::markdown_regress},
                                   std::pair{&request.junit, &results::junit_regress}}) {
    if (file->empty()) continue;
    if (auto written = write_named_file(*file, text(*report)); !written) return refusal_of(written.error());
  }
  out << results::terminal_regress(*report, results::style_of_standard_output());
  return report->exit_code();
}

}  // namespace

Command regress_command() {
  return {"regress", kText, action<RegressRequest>(regress),
          "compares tonight's rows with a reference: what moved, and whether chance explains it",
          "hyfreedp regress nightly --out out/tonight --against v0.4.0 --references refs"};
}

}  // namespace hyfreedp::cli
