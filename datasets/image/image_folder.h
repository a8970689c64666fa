// Lists the images of a folder or archive, with their classes: a data set without code.
//
//   train/CLASS/FILE  test/CLASS/FILE   two splits; without test/, all is train. Beside them
//                                       val/CLASS/FILE (or valid/, validation/) is a third
//   test/CLASS/FILE                     test images alone, whose folders are the classes
//   CLASS/FILE                          one undivided set
//   train/CLASS/FILE  test/FILE         as GTSRB is published: a test/NAME.csv with the columns
//                                       Filename and ClassId (separated by ; or ,) has the classes.
//                                       A class is a folder's name, or its number (16 is 00016); a
//                                       file may have another ending than the table says
// One more folder around all of it is allowed, as tar makes it of a folder.
//
// Classes are the folders' names, sorted by byte: class c is classes[c]. Two names that are the
// same letters in other Unicode forms (macOS takes accents apart) are one class. Files are sorted
// by name, so that a folder and its tar give the same list.
//
// Images are the files that begin as a JPEG, PNG or PPM does, whatever their names, and those that
// end in .jpg, .jpeg, .png, .ppm, .pgm, in any case, which are broken where they begin otherwise.
// Hidden files, and what else lies beside images (.csv, .txt), are left out; files that end as
// images of another kind (.webp) and are no JPEG, PNG or PPM are errors, because leaving them out
// would make another data set. So is a class that test has and train has not, and a name that
// occurs twice.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "datasets/image/archive.h"
#include "harness/base/error_list.h"

namespace hyfreedp::datasets {

enum class ImageSplit { train, validation, test, undivided };

struct ImageFile {
  ImageSplit split = ImageSplit::undivided;
  std::int64_t label = 0;  // an index of ImageFolder::classes
  std::string name;        // as visit_files gives it

  bool operator==(const ImageFile&) const = default;
};

// Findings from the first bytes of files, by their names.
struct FileHeads {
  std::set<std::string> images;               // not named as images, and yet images
  std::map<std::string, std::string> broken;  // named as images, and yet none: a sentence each
  std::int64_t turned = 0;                    // images that EXIF says to turn or mirror
};

struct ImageFolder {
  std::vector<std::string> classes;   // at least 2, sorted
  std::vector<ImageFile> files;       // at least 1, sorted by name
  std::vector<std::string> left_out;  // files that are no images, sorted
  std::string wrapping;               // the folder around all images with its slash; "": none
  FileHeads heads;
  std::vector<std::string> joined;  // folders that are one class, a sentence each
};

// A table of test/, by the name it has in the folder.
struct ClassTable {
  std::string name;
  std::string content;
};

// The list for these names, of which `tables` are the .csv files directly in test/. Errors begin
// with `path` and name the file and the layouts.
Result<ImageFolder> image_folder_of(const std::string& path, std::vector<std::string> names,
                                    const std::vector<ClassTable>& tables = {}, FileHeads heads = {});

// The same of a folder or archive, of whose files it reads the first bytes.
Result<ImageFolder> read_image_folder(const std::string& path, const ArchiveLimits& limits = {});
// The same, where what is wrong with single files is added to `problems`, and the others are
// listed.
Result<ImageFolder> read_image_folder(const std::string& path, ErrorList& problems,
                                      const ArchiveLimits& limits = {});

// True if a file of that name is read as an image whatever it begins with.
bool is_image_name(std::string_view name);
// The name with letters and accents in one (Unicode's form C); bytes that are not UTF-8 stay.
std::string composed(std::string_view name);
// True if two classes' names are the same but for their Unicode forms.
bool is_same_class(std::string_view one, std::string_view other);

}  // namespace hyfreedp::datasets
