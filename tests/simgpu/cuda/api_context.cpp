#include "body.hpp"

using namespace simgpu;

namespace {

CUresult create_context(CUcontext* out, unsigned flags, CUdevice device) {
    SIM_REQUIRE(out != nullptr);
    SIM_TRY(require_device(device));
    Context* context = Context::create(device, flags, false);
    push_context(context);
    *out = context->handle();
    return CUDA_SUCCESS;
}

CUresult synchronize_context(Context& context) {
    SIM_TRY(forbid_in_capture(context));
    if (!context.synchronize()) {
        return CUDA_ERROR_DEINITIALIZED;
    }
    trim_pools_at_sync(context.device());
    return CUDA_SUCCESS;
}

}  // namespace

SIM_API(cuCtxCreate, _v2, 3020, CUcontext*, pctx, unsigned int, flags, CUdevice, dev) {
    return create_context(pctx, flags, dev);
}

SIM_API(cuCtxCreate, _v3, 11040, CUcontext*, pctx, CUexecAffinityParam*, paramsArray, int,
        numParams, unsigned int, flags, CUdevice, dev) {
    return create_context(pctx, flags, dev);
}

SIM_API(cuCtxCreate, _v4, 12050, CUcontext*, pctx, CUctxCreateParams*, ctxCreateParams,
        unsigned int, flags, CUdevice, dev) {
    return create_context(pctx, flags, dev);
}

SIM_API(cuCtxDestroy, _v2, 4000, CUcontext, ctx) {
    Context* context = Context::from(ctx);
    SIM_REQUIRE(context != nullptr);
    if (!context->alive() || context->primary()) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    context->close();
    if (current_context() == context) {
        pop_context();
    }
    return CUDA_SUCCESS;
}

SIM_API(cuCtxPushCurrent, _v2, 4000, CUcontext, ctx) {
    SIM_REQUIRE(ctx != nullptr);
    push_context(Context::from(ctx));
    return CUDA_SUCCESS;
}

SIM_API(cuCtxPopCurrent, _v2, 4000, CUcontext*, pctx) {
    Context* top = pop_context();
    if (pctx != nullptr) {
        *pctx = top != nullptr ? top->handle() : nullptr;
    }
    return top != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

SIM_API(cuCtxSetCurrent, , 4000, CUcontext, ctx) {
    SIM_TRY(initialised() ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED);
    set_current_context(Context::from(ctx));
    return CUDA_SUCCESS;
}

SIM_API(cuCtxGetCurrent, , 4000, CUcontext*, pctx) {
    SIM_REQUIRE(pctx != nullptr);
    SIM_TRY(initialised() ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED);
    const Context* context = current_context();
    *pctx = context != nullptr ? context->handle() : nullptr;
    return CUDA_SUCCESS;
}

SIM_API(cuCtxGetDevice, , 2000, CUdevice*, device) {
    SIM_REQUIRE(device != nullptr);
    Context* context = nullptr;
    SIM_TRY(require_context(context));
    *device = context->device();
    return CUDA_SUCCESS;
}

SIM_API(cuCtxGetDevice, _v2, 13000, CUdevice*, device, CUcontext, ctx) {
    SIM_REQUIRE(device != nullptr);
    Context* context = Context::from(ctx);
    if (context == nullptr) {
        SIM_TRY(require_context(context));
    }
    *device = context->device();
    return CUDA_SUCCESS;
}

SIM_API(cuCtxGetFlags, , 7000, unsigned int*, flags) {
    SIM_REQUIRE(flags != nullptr);
    Context* context = nullptr;
    SIM_TRY(require_context(context));
    *flags = context->flags;
    return CUDA_SUCCESS;
}

SIM_API(cuCtxSetFlags, , 12010, unsigned int, flags) {
    Context* context = nullptr;
    SIM_TRY(require_context(context));
    context->flags = flags;
    return CUDA_SUCCESS;
}

SIM_API(cuCtxGetId, , 12000, CUcontext, ctx, unsigned long long*, ctxId) {
    SIM_REQUIRE(ctxId != nullptr);
    Context* context = Context::from(ctx);
    if (context == nullptr) {
        SIM_TRY(require_context(context));
    }
    *ctxId = context->uid();
    return CUDA_SUCCESS;
}

SIM_API(cuCtxGetApiVersion, , 3020, CUcontext, ctx, unsigned int*, version) {
    SIM_REQUIRE(version != nullptr);
    *version = 3020;
    return CUDA_SUCCESS;
}

SIM_API(cuCtxGetStreamPriorityRange, , 5050, int*, leastPriority, int*, greatestPriority) {
    if (leastPriority != nullptr) {
        *leastPriority = 0;
    }
    if (greatestPriority != nullptr) {
        *greatestPriority = -5;
    }
    return CUDA_SUCCESS;
}

SIM_API(cuCtxSetLimit, , 3010, CUlimit, limit, size_t, value) {
    Context* context = nullptr;
    SIM_TRY(require_context(context));
    SIM_REQUIRE(limit >= 0 && limit < CU_LIMIT_MAX);
    context->limits[static_cast<size_t>(limit)] = value;
    return CUDA_SUCCESS;
}

SIM_API(cuCtxGetLimit, , 3010, size_t*, pvalue, CUlimit, limit) {
    SIM_REQUIRE(pvalue != nullptr && limit >= 0 && limit < CU_LIMIT_MAX);
    Context* context = nullptr;
    SIM_TRY(require_context(context));
    *pvalue = context->limits[static_cast<size_t>(limit)];
    return CUDA_SUCCESS;
}

SIM_API(cuCtxGetCacheConfig, , 3020, CUfunc_cache*, pconfig) {
    SIM_REQUIRE(pconfig != nullptr);
    *pconfig = CU_FUNC_CACHE_PREFER_NONE;
    return CUDA_SUCCESS;
}

SIM_API(cuCtxSetCacheConfig, , 3020, CUfunc_cache, config) {
    return CUDA_SUCCESS;
}

SIM_API_NO_PARAMS(cuCtxSynchronize, , 2000) {
    Context* context = nullptr;
    SIM_TRY(require_context(context));
    return synchronize_context(*context);
}

SIM_API(cuCtxSynchronize, _v2, 13000, CUcontext, ctx) {
    Context* context = Context::from(ctx);
    if (context == nullptr) {
        SIM_TRY(require_context(context));
    }
    return synchronize_context(*context);
}

SIM_API(cuCtxEnablePeerAccess, , 4000, CUcontext, peerContext, unsigned int, Flags) {
    Context* context = nullptr;
    SIM_TRY(require_context(context));
    SIM_REQUIRE(peerContext != nullptr);
    return context->set_peer(Context::from(peerContext), true);
}

SIM_API(cuCtxDisablePeerAccess, , 4000, CUcontext, peerContext) {
    Context* context = nullptr;
    SIM_TRY(require_context(context));
    SIM_REQUIRE(peerContext != nullptr);
    return context->set_peer(Context::from(peerContext), false);
}
