// A context that is destroyed takes its blocks along: they are no leak. One that lives on leaks
// them.
#include "driver_app.hpp"

int main() {
    const CUcontext context = create_context();
    CUdeviceptr data;
    CHECK(cuMemAlloc(&data, kBytes));  // ALLOC
    CHECK(cuMemsetD32(data, 0, kCount));
    CHECK(cuCtxSynchronize());
#ifdef FIXED
    CHECK(cuCtxDestroy(context));
#else
    static_cast<void>(context);
#endif
    std::puts("done");
    return 0;
}
