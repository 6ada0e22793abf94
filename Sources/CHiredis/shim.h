#pragma once

// The system headers that hiredis.h includes are the Glibc module's already. Without this their types would become this
// module's, and files that import Glibc alone would lose them.
#if __has_feature(modules)
#pragma clang module import SwiftGlibc
#endif

// Its reader and its command format; its own I/O is not used.
#include <hiredis/hiredis.h>
