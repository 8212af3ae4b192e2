#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "core/resource/driver_api.hpp"

namespace cuward {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

void stand_in() {}

DriverResolver resolver_without(const std::set<std::string>& absent) {
    return [absent](const char* name) {
        return absent.contains(name) ? nullptr : reinterpret_cast<void*>(&stand_in);
    };
}

TEST(DriverApi, IsCompleteWhenEveryNameResolves) {
    const LoadedDriver loaded = load_driver_api(resolver_without({}));
    EXPECT_THAT(loaded.missing, IsEmpty());
    EXPECT_NE(loaded.api.mem_alloc, nullptr);
    EXPECT_NE(loaded.api.mem_alloc_async, nullptr);
    EXPECT_NE(loaded.api.event_destroy, nullptr);
}

TEST(DriverApi, AsksForTheVersionsOfTheHeader) {
    std::set<std::string> asked;
    load_driver_api([&](const char* name) {
        asked.insert(name);
        return nullptr;
    });
    EXPECT_TRUE(asked.contains("cuMemAlloc_v2"));
    EXPECT_TRUE(asked.contains("cuMemFree_v2"));
    EXPECT_TRUE(asked.contains("cuEventDestroy_v2"));
}

TEST(DriverApi, NamesMissingFunctions) {
    const LoadedDriver loaded =
        load_driver_api(resolver_without({"cuMemFree_v2", "cuEventRecord"}));
    EXPECT_THAT(loaded.missing,
                ElementsAre(::testing::StrEq("cuEventRecord"), ::testing::StrEq("cuMemFree_v2")));
    EXPECT_EQ(loaded.api.mem_free, nullptr);
}

TEST(DriverApi, PoolFunctionsAreOptional) {
    const LoadedDriver loaded =
        load_driver_api(resolver_without({"cuMemAllocAsync", "cuMemFreeAsync"}));
    EXPECT_THAT(loaded.missing, IsEmpty());
    EXPECT_EQ(loaded.api.mem_alloc_async, nullptr);
    EXPECT_EQ(loaded.api.mem_free_async, nullptr);
}

}  // namespace
}  // namespace cuward
