# `cmake --install` puts the two programs in place, and a CMake package with the parts that need no LibTorch.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
