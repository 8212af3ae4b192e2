// A library through which a test calls itself; built twice, the two alike but for their names.
extern "C" __attribute__((visibility("default"), noinline)) unsigned call_through(
    unsigned (*function)(void*), void* argument) {
    const unsigned result = function(argument);
    asm volatile("" ::: "memory");  // no tail call
    return result;
}
