#include "CProtoCompiler.h"
