#include <gmock/gmock.h>

#include <map>

#include "core/settings.hpp"

namespace cuward {
namespace {

using ::testing::HasSubstr;

tl::expected<Settings, std::string> read(std::map<std::string, std::string> variables) {
    return read_settings([&](const char* name) -> std::optional<std::string> {
        const auto found = variables.find(name);
        return found == variables.end() ? std::nullopt : std::optional(found->second);
    });
}

TEST(Settings, DefaultIsToCheckMemoryOfTheDriver) {
    const auto settings = read({});
    ASSERT_TRUE(settings);
    EXPECT_EQ(settings->mode, Mode::Check);
    EXPECT_EQ(settings->backend, Backend::Direct);
    EXPECT_FALSE(settings->guard);
    EXPECT_FALSE(settings->budget);
}

TEST(Settings, EnforceHasAScopeAndAWayOfWaiting) {
    const auto settings = read(
        {{"CUWARD_MODE", "enforce"}, {"CUWARD_ENFORCE", "all"}, {"CUWARD_ENFORCE_EXACT", "1"}});
    ASSERT_TRUE(settings);
    EXPECT_EQ(settings->mode, Mode::Enforce);
    EXPECT_TRUE(settings->enforce_all);
    EXPECT_TRUE(settings->enforce_exact);
}

TEST(Settings, GuardGoesOverEitherBackend) {
    EXPECT_TRUE(read({{"CUWARD_BACKEND", "guard"}})->guard);
    const auto both = read({{"CUWARD_BACKEND", "async,guard"}});
    ASSERT_TRUE(both);
    EXPECT_TRUE(both->guard);
    EXPECT_EQ(both->backend, Backend::Async);
}

TEST(Settings, GuardChecksWhenAndWhereItIsTold) {
    const auto usual = read({{"CUWARD_BACKEND", "guard"}});
    EXPECT_TRUE(usual->guard_front);
    EXPECT_FALSE(usual->guard_checks_sync);
    const auto told = read({{"CUWARD_GUARD_FRONT", "0"}, {"CUWARD_GUARD_CHECK", "sync"}});
    ASSERT_TRUE(told);
    EXPECT_FALSE(told->guard_front);
    EXPECT_TRUE(told->guard_checks_sync);
    EXPECT_FALSE(read({{"CUWARD_GUARD_CHECK", "often"}}));
}

TEST(Settings, OneBackendAtATime) {
    const auto settings = read({{"CUWARD_BACKEND", "direct,async"}});
    ASSERT_FALSE(settings);
    EXPECT_THAT(settings.error(), HasSubstr("CUWARD_BACKEND is 'direct,async'"));
}

TEST(Settings, BudgetHasAUnitAndAScope) {
    EXPECT_EQ(read({{"CUWARD_BUDGET", "1000"}})->budget->bytes, 1000u);
    const auto settings = read({{"CUWARD_BUDGET", "2GiB:process"}});
    ASSERT_TRUE(settings);
    EXPECT_EQ(settings->budget->bytes, std::uint64_t{2} << 30);
    EXPECT_TRUE(settings->budget->for_process);
}

TEST(Settings, WhatCannotBeReadIsNamed) {
    for (const auto& [name, value] :
         std::multimap<std::string, std::string>{{"CUWARD_MODE", "repair"},
                                                 {"CUWARD_ENFORCE", "some"},
                                                 {"CUWARD_ENFORCE_EXACT", "yes"},
                                                 {"CUWARD_BACKEND", "pool"},
                                                 {"CUWARD_GUARD_QUARANTINE", "-1"},
                                                 {"CUWARD_BUDGET", "0"},
                                                 {"CUWARD_BUDGET", "12X"},
                                                 {"CUWARD_BUDGET", "99999999999999999999"},
                                                 {"CUWARD_BUDGET", "20000000T"},
                                                 {"CUWARD_BUDGET", "1G:node"},
                                                 {"CUWARD_LOG_MEMORY", "on"}}) {
        const auto settings = read({{name, value}});
        ASSERT_FALSE(settings) << name << '=' << value;
        EXPECT_THAT(settings.error(), HasSubstr(name + " is '" + value + "'"));
    }
}

}  // namespace
}  // namespace cuward
