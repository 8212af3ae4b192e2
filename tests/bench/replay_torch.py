"""Makes the allocations and frees of a trace again through PyTorch's allocator; prints nanoseconds for one allocation
and its free, the loop itself taken off. Arguments: TRACE [ROUNDS]."""

import statistics
import sys
import time

import torch


def read_trace(path):
    steps = []
    with open(path) as lines:
        for line in lines:
            sign, block, *size = line.split()
            steps.append((int(block), int(size[0]) if sign == "+" else 0))
    return steps


def play(steps, allocate, free):
    live = {}
    begin = time.perf_counter_ns()
    for block, size in steps:
        if size:
            live[block] = allocate(size)
        else:
            free(live.pop(block))
    took = time.perf_counter_ns() - begin
    for pointer in live.values():
        free(pointer)
    return took


def measure(steps, rounds):
    """What the allocator takes, without what Python takes to go through the trace."""
    stream = torch.cuda.current_stream()

    def allocate(size):
        return torch._C._cuda_cudaCachingAllocator_raw_alloc(size, stream.cuda_stream)

    free = torch._C._cuda_cudaCachingAllocator_raw_delete
    play(steps, allocate, free)
    with_allocator = statistics.median(play(steps, allocate, free) for _ in range(rounds))
    alone = statistics.median(play(steps, lambda size: size, lambda pointer: None) for _ in range(rounds))
    return (with_allocator - alone) / sum(1 for _, size in steps if size)


torch.cuda.init()
print(f"{measure(read_trace(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 5):.1f}")
