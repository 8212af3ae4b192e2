// Memory that a graph allocates when it runs.
#pragma once

#include "graphs/nodes.hpp"
#include "kernels.hpp"

/// A use of memory that may not be there: the kernel is given it, and touches nothing.
#define USE(memory, stream) add_one<<<kGrid, kThreads, 0, (stream)>>>((memory), 0)
