// Which images a folder or archive has, with their classes: a data set without code.
//
//   train/CLASS/FILE  test/CLASS/FILE   two splits; without test/, all is train
//   test/CLASS/FILE                     test images alone, whose folders are the classes
//   CLASS/FILE                          one undivided set
//   train/CLASS/FILE  test/FILE         as GTSRB is published: a test/NAME.csv with the columns
//                                       Filename and ClassId (separated by ; or ,) has the classes.
//                                       A class is a folder's name, or its number (16 is 00016); a
//                                       file may have another ending than the table says
// One more folder around all of it is allowed, as tar makes it of a folder.
//
// Classes are the folders' names, sorted by byte: class c is classes[c]. Files are sorted by name,
// so that a folder and its tar give the same list. Images are the files that end in .jpg, .jpeg,
// .png, .ppm, .pgm, in any case. Files that other software leaves beside images (.csv, .txt, hidden
// ones) are left out; images of another kind are errors, because leaving them out would
// make another data set. So is a class that test has and train has not, and a name that occurs
// twice.
//
// The list is made from names alone (but for the table): no image is opened.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "datasets/image/archive.h"

namespace hyfreedp::datasets {

enum class ImageSplit { train, test, undivided };

struct ImageFile {
  ImageSplit split = ImageSplit::undivided;
  std::int64_t label = 0;  // an index of ImageFolder::classes
  std::string name;        // as visit_files gives it

  bool operator==(const ImageFile&) const = default;
};

struct ImageFolder {
  std::vector<std::string> classes;   // at least 2, sorted
  std::vector<ImageFile> files;       // at least 1, sorted by name
  std::vector<std::string> left_out;  // files that are no images, sorted
  std::string wrapping;               // the folder around all images with its slash; "": none
};

// A table of test/, by the name it has in the folder.
struct ClassTable {
  std::string name;
  std::string content;
};

// The list for these names, of which `tables` are the .csv files directly in test/. Errors begin
// with `path` and name the file and the layouts.
Result<ImageFolder> image_folder_of(const std::string& path, std::vector<std::string> names,
                                    const std::vector<ClassTable>& tables = {});

// Whether a file of that name would be read as an image.
bool is_image_name(std::string_view name);
// The same of a folder or archive.
Result<ImageFolder> read_image_folder(const std::string& path, const ArchiveLimits& limits = {});

}  // namespace hyfreedp::datasets
