#pragma once

// See CAres: the system headers that nghttp2.h includes are the Glibc module's already.
#if __has_feature(modules)
#pragma clang module import SwiftGlibc
#endif

#include <nghttp2/nghttp2.h>

// <malloc.h> is in no module.
extern size_t malloc_usable_size(void *block);
