// What the guard of device memory finds, on its way to the tracker.
#pragma once

#include "core/log/log.hpp"
#include "core/resource/guard/guard_reports.hpp"
#include "core/tracker.hpp"

namespace cuward {

class GuardFindings final : public GuardReports {
  public:
    GuardFindings(Tracker& tracker, Log& log) : tracker_(tracker), log_(log) {}

    bool is_capturing() override { return tracker_.is_capturing(); }
    void written_out_of_bounds(const BlockId& block, Address first_bad) override {
        tracker_.written_out_of_bounds(block, first_bad);
    }
    void written_after_free(const BlockId& block, Address first_bad) override {
        tracker_.written_after_free(block, first_bad);
    }
    void note(std::string_view line) override {
        log_.note(line);
        say(line);
    }

  private:
    Tracker& tracker_;
    Log& log_;
};

}  // namespace cuward
