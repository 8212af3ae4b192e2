// Which hook answers for which name or request.
#include "interpose/hooks.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <set>

namespace cuward {
namespace {

std::optional<Hook> by_symbol(const char* symbol) {
    Hook hook{};
    return find_hook(symbol, hook) ? std::optional(hook) : std::nullopt;
}

std::optional<Hook> by_request(const char* base, int cuda_version, bool per_thread = false) {
    Hook hook{};
    return find_hook(base, cuda_version, per_thread, hook) ? std::optional(hook) : std::nullopt;
}

TEST(Hooks, AreFoundByTheirSymbolOnly) {
    EXPECT_EQ(by_symbol("cuMemAlloc_v2"), Hook::cuMemAlloc_v2_);
    EXPECT_EQ(by_symbol("cuMemFreeAsync_ptsz"), Hook::cuMemFreeAsync_ptsz_);
    EXPECT_EQ(by_symbol("cuMemAlloc"), std::nullopt);  // 32-bit sizes, not taken over
    EXPECT_EQ(by_symbol("cuMemcpy"), std::nullopt);
    EXPECT_EQ(by_symbol(""), std::nullopt);
}

TEST(Hooks, HaveAddressesOfTheirOwn) {
    std::set<void*> addresses;
    for (const Hook hook : kHooks) {
        EXPECT_NE(address_of(hook), nullptr);
        addresses.insert(address_of(hook));
    }
    EXPECT_EQ(addresses.size(), kHooks.size());
}

TEST(Hooks, RequestGetsTheNewestFunctionOfItsVersion) {
    EXPECT_EQ(by_request("cuMemAlloc", 12000), Hook::cuMemAlloc_v2_);
    EXPECT_EQ(by_request("cuMemAlloc", 3010), std::nullopt);
    EXPECT_EQ(by_request("cuGetProcAddress", 11040), Hook::cuGetProcAddress_);
    EXPECT_EQ(by_request("cuGetProcAddress", 12000), Hook::cuGetProcAddress_v2_);
    EXPECT_EQ(by_request("cuMemHostRegister", 6000), Hook::cuMemHostRegister_);
    EXPECT_EQ(by_request("cuMemHostRegister", 6050), Hook::cuMemHostRegister_v2_);
    EXPECT_EQ(by_request("cuMemAlloc_v2", 12000), std::nullopt);
}

TEST(Hooks, RequestGetsTheDefaultStreamItAskedFor) {
    EXPECT_EQ(by_request("cuMemAllocAsync", 12000), Hook::cuMemAllocAsync_);
    EXPECT_EQ(by_request("cuMemAllocAsync", 12000, true), Hook::cuMemAllocAsync_ptsz_);
    EXPECT_EQ(by_request("cuMemAlloc", 12000, true), Hook::cuMemAlloc_v2_);
    EXPECT_EQ(by_request("cuMemAllocAsync", 11010), std::nullopt);
}

}  // namespace
}  // namespace cuward
