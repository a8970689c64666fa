// A user's own images: a folder or archive with one folder a class, named by the option `path`
// (datasets/image/image_folder.h has the layouts). No code is needed. What the files were when the
// spec was read is part of a run's identity.
#pragma once

#include "datasets/image_folder_files.h"
#include "datasets/image_options.h"
#include "datasets/own/own_files.h"
#include "datasets/subset.h"
#include "harness/base/option_lines.h"

namespace hyfreedp::datasets {

struct ImageFolderOptions {
  CountOptions counts;
  std::optional<std::int64_t> classes, by_content;
  static constexpr std::array kInlined = {"counts"};
};
BOOST_DESCRIBE_STRUCT(ImageFolderOptions, (), (counts, classes, by_content))

struct ImageFolderDataset {
  static Facts facts() {
    return {
        .name = "image-folder",
        .title = "Your own images",
        .source = "files of the user",
        .how_to_get = "they are your files; 'path' names them",
        .options = joined(
            {options_of<ImageFolderOptions>(
                 {own_count("train", "images in private_train (default: all of that part)"),
                  own_count("validation", "images in private_validation (default: all, about a tenth)"),
                  own_count("test", "images in test (default: all of test/, or about a tenth of all)"),
                  own_count("classes", "number of classes; filled in when a spec is read"),
                  // Stored where there are any, since earlier versions of the program left these
                  // images out.
                  later_option(own_count("by_content",
                                         "images whose names do not end as those of JPEG, PNG or PPM; filled "
                                         "in when a spec is read"))}),
             own_files_options("folder, or archive of one, with train/CLASS/FILE and test/CLASS/FILE, or "
                               "CLASS/FILE; in $HYFREEDP_DATA or the working folder"),
             image_options(), other_people_option()}),
        .own_records = true,
        .sizes = sizes,
        .complete = complete,
        .check = check};
  }
  static Sizes sizes(const json::object& options) {
    const auto classes = read_options<ImageFolderOptions>(options).classes.value_or(0);
    return with_image_sizes(with_counts({.classes = classes}, options), options);
  }
  // In image_folder_files.cpp, which is without LibTorch.
  static Result<json::object> complete(json::object options, Notes& notes);
  static Result<void> check(const json::object& options);
  static Result<Dataset> load(const Facts& facts, const json::object& options, const std::string& device);
};

}  // namespace hyfreedp::datasets
