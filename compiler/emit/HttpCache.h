//===- HttpCache.h - A shared cache behind HTTP ----------------------------===//
#ifndef KILN_COMPILER_EMIT_HTTPCACHE_H
#define KILN_COMPILER_EMIT_HTTPCACHE_H

#include "compiler/emit/SharedCache.h"
#include <memory>

namespace kiln {

/// GET and PUT of LOCATION/KEY.kiln, by libcurl, which is loaded when it is first needed.
std::unique_ptr<SharedCache> makeHttpCache(const SharedCacheAddress &address);

} // namespace kiln

#endif // KILN_COMPILER_EMIT_HTTPCACHE_H
