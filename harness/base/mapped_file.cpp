#include "harness/base/mapped_file.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace hyfreedp {

Result<SharedBytes> map_file(const std::string& path) {
  const auto failed = [&](const std::string& why) { return error(path + ": cannot be read (" + why + ")"); };
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return failed(std::strerror(errno));
  struct stat status {};
  const int asked = ::fstat(descriptor, &status);
  if (asked != 0 || !S_ISREG(status.st_mode)) {
    const std::string why = asked != 0 ? std::strerror(errno) : "not a file";
    ::close(descriptor);
    return failed(why);
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) {
    ::close(descriptor);
    return SharedBytes{};
  }
  void* const data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  const int number = errno;
  ::close(descriptor);
  if (data == MAP_FAILED) return failed(std::strerror(number));
  return SharedBytes{.bytes = {static_cast<const char*>(data), size},
                     .owner = std::shared_ptr<const void>(
                         data, [size](const void* begin) { ::munmap(const_cast<void*>(begin), size); })};
}

SharedBytes owned_bytes(std::string text) {
  // A short string lies inside its object, which is aligned to 8 bytes at least, as is the heap.
  const auto kept = std::make_shared<const std::string>(std::move(text));
  return {.bytes = *kept, .owner = kept};
}

}  // namespace hyfreedp
