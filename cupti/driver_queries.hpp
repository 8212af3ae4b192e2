// The few questions the decoder asks the driver, none of them on the path of a known launch.
#pragma once

#include <cuda.h>

namespace cuward::cupti {

/// Driver functions under their CUDA names; null where the driver does not have them.
struct DriverQueries {
    decltype(&::cuDriverGetVersion) driver_version = nullptr;
    decltype(&::cuFuncGetParamInfo) function_parameter = nullptr;  ///< since CUDA 12.4
    decltype(&::cuKernelGetParamInfo) kernel_parameter = nullptr;  ///< since CUDA 12.4
    decltype(&::cuFuncGetName) function_name = nullptr;            ///< since CUDA 12.3
    decltype(&::cuKernelGetName) kernel_name = nullptr;            ///< since CUDA 12.3
    decltype(&::cuStreamGetFlags) stream_flags = nullptr;
    decltype(&::cuModuleGetGlobal) module_global = nullptr;
    decltype(&::cuLibraryGetGlobal) library_global = nullptr;
    decltype(&::cuStreamGetCaptureInfo_v3) capture_info = nullptr;  ///< since CUDA 12.3
    decltype(&::cuGraphNodeFindInClone) node_in_clone = nullptr;
    decltype(&::cuGraphGetEdges_v2) graph_edges = nullptr;  ///< since CUDA 12.3
};

/// The functions of the driver that the process has loaded; all null when it has none.
DriverQueries load_driver_queries();

}  // namespace cuward::cupti
