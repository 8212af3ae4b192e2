// Turns the identifiers of one log into what they stand for.
#pragma once

#include "core/report/log_model.hpp"
#include "core/report/model.hpp"
#include "core/report/symbolizer.hpp"

namespace cuward::report {

class Resolver {
  public:
    Resolver(const LogModel& log, Symbolizer& symbolizer, bool all_frames)
        : log_(log), symbolizer_(symbolizer), all_frames_(all_frames) {}

    Block block(const LoggedBlock& logged) const;
    AccessPlace access(const LoggedAccess& logged) const;
    BudgetRefusal refusal(const LoggedRefusal& logged) const;
    std::string kernel(std::uint64_t id) const;

  private:
    Stack stack(std::uint64_t id, const std::string& kernel = {}) const;
    std::optional<Stream> stream(std::uint64_t id) const;
    Call call(const LoggedCall& logged) const;

    const LogModel& log_;
    Symbolizer& symbolizer_;
    bool all_frames_;
};

}  // namespace cuward::report
