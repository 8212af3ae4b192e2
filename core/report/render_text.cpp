#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "core/report/render.hpp"
#include "core/report/text.hpp"
#include "core/report/wording.hpp"

namespace cuward::report {

namespace {

constexpr std::string_view kRed = "\x1b[1;31m";
constexpr std::string_view kGreen = "\x1b[1;32m";
constexpr std::string_view kBold = "\x1b[1m";
constexpr std::string_view kOff = "\x1b[0m";

// Kernel names of template libraries run to thousands of characters; JSON has them whole.
constexpr std::size_t kLongestFunction = 240;

class TextRenderer {
  public:
    TextRenderer(const Report& report, bool colour, std::ostream& out)
        : report_(report), colour_(colour), out_(out) {}

    void render() {
        for (const Process& process : report_.processes) {
            render_process(process);
        }
        for (const std::string& remark : report_.remarks) {
            line(0, "cuward: " + remark);
        }
        for (const Finding& finding : report_.findings) {
            render_finding(finding);
        }
        for (const Held& held : report_.held) {
            line(0, held_line(held));
        }
        const bool wrong = report_.summary.anything_wrong();
        out_ << paint("cuward: " + escape(verdict_line(report_)), wrong ? kRed : kGreen) << '\n';
    }

  private:
    bool several() const { return report_.processes.size() > 1; }

    std::string paint(const std::string& text, std::string_view colour) const {
        return colour_ ? fmt::format("{}{}{}", colour, text, kOff) : text;
    }

    void line(int indent, const std::string& text) {
        out_ << std::string(static_cast<std::size_t>(indent), ' ') << escape(text) << '\n';
    }

    void render_process(const Process& process) {
        for (const std::string& remark : process.remarks) {
            line(0, fmt::format(
                        "cuward: {}: {}",
                        several() ? process_name(process) : std::string(base_name(process.log)),
                        remark));
        }
    }

    void render_finding(const Finding& finding) {
        out_ << "==================\n";
        const std::string where =
            several() ? " in " + process_name(report_.processes[finding.process]) : "";
        out_ << paint(escape("cuward: " + title(finding)) + escape(where), kRed) << '\n';
        line(2, finding.message);
        for (const AccessPlace& access : finding.accesses) {
            out_ << '\n';
            line(2, access_line(finding, access) + ":");
            render_stack(access.stack);
            if (access.node) {
                out_ << '\n';
                line(2, node_line(access) + ":");
                render_stack(access.node->stack);
            }
        }
        if (finding.refusal) {
            render_holders(*finding.refusal);
        }
        if (finding.block) {
            render_block(finding);
        }
        if (finding.repaired > 0) {
            out_ << '\n';
            line(2, repair_line(finding));
        }
        out_ << '\n';
        out_ << "  " << paint("Fix:", kBold) << ' ' << escape(finding.suggestion) << "\n\n";
    }

    void render_holders(const BudgetRefusal& refusal) {
        for (const Holder& holder : refusal.holders) {
            out_ << '\n';
            line(2, holder_line(holder) + ":");
            render_stack(holder.stack);
        }
        if (refusal.further_places > 0) {
            out_ << '\n';
            line(2, further_holders_line(refusal));
        }
    }

    // What the accesses show already is not repeated.
    void render_block(const Finding& finding) {
        const auto shown_as_access = [&](std::string_view op) {
            return std::any_of(finding.accesses.begin(), finding.accesses.end(),
                               [&](const AccessPlace& access) { return access.op == op; });
        };
        out_ << '\n';
        const bool with_stack = !shown_as_access("alloc");
        line(2, allocation_line(finding) + (with_stack ? ":" : ""));
        if (with_stack) {
            render_stack(finding.block->allocated.stack);
        }
        if (finding.block->freed && !shown_as_access("free")) {
            out_ << '\n';
            line(2, free_line(*finding.block) + ":");
            render_stack(finding.block->freed->stack);
        }
    }

    void render_stack(const Stack& stack) {
        if (stack.frames.empty()) {
            line(4, "(no stack)");
        }
        for (std::size_t i = 0; i < stack.frames.size(); ++i) {
            render_frame(i, stack.frames[i]);
        }
    }

    void render_frame(std::size_t number, const Frame& frame) {
        std::string function = frame.function.empty() ? "<unknown>" : frame.function;
        if (function.size() > kLongestFunction) {
            function = to_utf8(function.substr(0, kLongestFunction)) + "...";
        }
        const std::string source =
            frame.line != 0 ? fmt::format(" {}:{}", frame.file, frame.line) : "";
        const std::string address =
            frame.module.empty() ? hex(frame.offset)
                                 : fmt::format("{}+{:#x}", base_name(frame.module), frame.offset);
        line(4, fmt::format("#{} {}{} ({})", number, function, source, address));
    }

    const Report& report_;
    bool colour_;
    std::ostream& out_;
};

}  // namespace

void render_text(const Report& report, bool colour, std::ostream& out) {
    TextRenderer(report, colour, out).render();
}

}  // namespace cuward::report
