// The calls of a kiln_communicator, made of a transport's messages. Reductions take the ranks in their order, whatever arrives first.
#ifndef KILN_RUNTIME_RANKS_COLLECTIVES_H
#define KILN_RUNTIME_RANKS_COLLECTIVES_H

#include "Transport.h"

namespace kiln {

// One rank's end.
struct Collectives;

// Null where there is no memory. Its calls go to `transport`, whose user stays the caller's.
Collectives *createCollectives(int32_t rank, int32_t size, int64_t deadlineNs, const Transport &transport);
void destroyCollectives(Collectives *collectives);

// Lives as long as `collectives`.
kiln_communicator *communicatorOf(Collectives *collectives);
const Transport &transportOf(const kiln_communicator &communicator);

// Forgets a failure, and starts to count transfers anew. All ranks must do so, with a transport in which no message is left.
void resetCollectives(Collectives *collectives);

// Passes time between two looks at what other threads or processes change: first none, later yields, later sleeps.
void passTime(int64_t looks, int32_t spins);

} // namespace kiln

#endif // KILN_RUNTIME_RANKS_COLLECTIVES_H
