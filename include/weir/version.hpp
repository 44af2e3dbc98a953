// weir: the version, in the one place where it is written
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_VERSION_HPP
#define WEIR_VERSION_HPP

// The build files read the version from these three lines: it is set nowhere else.
#define WEIR_VERSION_MAJOR 0
#define WEIR_VERSION_MINOR 1
#define WEIR_VERSION_PATCH 0

#endif
