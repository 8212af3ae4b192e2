#include "cupti/driver_queries.hpp"

#include <dlfcn.h>

namespace cuward::cupti {
namespace {

template <typename Function>
void look_up(void* driver, Function& slot, const char* name) {
    slot = reinterpret_cast<Function>(dlsym(driver, name));
}

}  // namespace

DriverQueries load_driver_queries() {
    DriverQueries queries;
    void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (driver == nullptr) {
        return queries;
    }
    look_up(driver, queries.driver_version, "cuDriverGetVersion");
    look_up(driver, queries.function_parameter, "cuFuncGetParamInfo");
    look_up(driver, queries.kernel_parameter, "cuKernelGetParamInfo");
    look_up(driver, queries.function_name, "cuFuncGetName");
    look_up(driver, queries.kernel_name, "cuKernelGetName");
    look_up(driver, queries.stream_flags, "cuStreamGetFlags");
    look_up(driver, queries.module_global, "cuModuleGetGlobal_v2");
    look_up(driver, queries.library_global, "cuLibraryGetGlobal");
    look_up(driver, queries.capture_info, "cuStreamGetCaptureInfo_v3");
    look_up(driver, queries.node_in_clone, "cuGraphNodeFindInClone");
    look_up(driver, queries.graph_edges, "cuGraphGetEdges_v2");
    return queries;
}

}  // namespace cuward::cupti
