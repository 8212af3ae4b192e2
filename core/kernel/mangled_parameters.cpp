// Reads names after the Itanium C++ ABI, section 5.1 ("External Names"). Every rule that adds to
// the table of substitutions (5.1.10, "Compression") must be followed, or later references would
// point to the wrong type; what a name says beyond that is skipped.
#include "core/kernel/mangled_parameters.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace cuward {
namespace {

/// What is remembered of a type, or of a template argument.
struct Type {
    PointerKind kind = PointerKind::Value;
    PointerKind pointee = PointerKind::Value;
    bool is_const = false;
    bool is_function = false;
    bool is_reference = false;
    bool is_pack = false;
    std::vector<Type> pack{};  ///< the elements of a pack
};

template <typename Change>
Type each(Type type, Change change) {
    if (!type.is_pack) {
        return change(type);
    }
    for (Type& element : type.pack) {
        element = change(element);
    }
    return type;
}

Type pointer_to(Type type) {
    return each(std::move(type), [](const Type& pointee) {
        if (pointee.is_function) {
            return Type{};
        }
        Type pointer;
        pointer.kind = pointee.is_const ? PointerKind::PointerToConst : PointerKind::Pointer;
        pointer.pointee =
            pointee.kind == PointerKind::ObjectHandle ? PointerKind::Value : pointee.kind;
        return pointer;
    });
}

Type reference_to(Type type) {
    return each(std::move(type), [](const Type& referred) {
        if (referred.is_reference) {
            return referred;  // references to references collapse
        }
        Type reference = pointer_to(referred);
        reference.is_reference = true;
        return reference;
    });
}

Type const_of(Type type) {
    return each(std::move(type), [](Type element) {
        element.is_const = true;
        return element;
    });
}

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool is_lower(char c) {
    return c >= 'a' && c <= 'z';
}
bool is_upper(char c) {
    return c >= 'A' && c <= 'Z';
}

/// What follows an operator, in this order.
struct Operands {
    bool type = false;
    int expressions = 0;
    bool list = false;
};
constexpr Operands kNone{};
constexpr Operands kOne{.expressions = 1};
constexpr Operands kTwo{.expressions = 2};
constexpr Operands kThree{.expressions = 3};
constexpr Operands kType{.type = true};
constexpr Operands kTypeAndOne{.type = true, .expressions = 1};
constexpr Operands kList{.list = true};
constexpr Operands kTypeAndList{.type = true, .list = true};
struct Operator {
    std::string_view code;
    Operands operands;
};
constexpr std::array<Operator, 67> kOperators{{
    {"tr", kNone},       {"ps", kOne},         {"ng", kOne},        {"ad", kOne},
    {"de", kOne},        {"co", kOne},         {"nt", kOne},        {"sz", kOne},
    {"az", kOne},        {"nx", kOne},         {"sp", kOne},        {"tw", kOne},
    {"te", kOne},        {"dl", kOne},         {"da", kOne},        {"pl", kTwo},
    {"mi", kTwo},        {"ml", kTwo},         {"dv", kTwo},        {"rm", kTwo},
    {"an", kTwo},        {"or", kTwo},         {"eo", kTwo},        {"aS", kTwo},
    {"pL", kTwo},        {"mI", kTwo},         {"mL", kTwo},        {"dV", kTwo},
    {"rM", kTwo},        {"aN", kTwo},         {"oR", kTwo},        {"eO", kTwo},
    {"ls", kTwo},        {"rs", kTwo},         {"lS", kTwo},        {"rS", kTwo},
    {"eq", kTwo},        {"ne", kTwo},         {"lt", kTwo},        {"gt", kTwo},
    {"le", kTwo},        {"ge", kTwo},         {"ss", kTwo},        {"aa", kTwo},
    {"oo", kTwo},        {"cm", kTwo},         {"ix", kTwo},        {"ds", kTwo},
    {"pm", kTwo},        {"qu", kThree},       {"st", kType},       {"at", kType},
    {"ti", kType},       {"sc", kTypeAndOne},  {"dc", kTypeAndOne}, {"rc", kTypeAndOne},
    {"cc", kTypeAndOne}, {"cl", kList},        {"cp", kList},       {"il", kList},
    {"sP", kList},       {"tl", kTypeAndList}, {"cv", kTypeAndOne}, {"pt", kOne},
    {"dt", kOne},        {"pp", kOne},         {"mm", kOne},
}};

/// What an encoding must know of the name it starts with.
struct NameTraits {
    bool ends_with_arguments = false;  ///< a template: the return type is part of the encoding
    bool has_no_return_type = false;   ///< constructor, destructor, conversion
};

class Reader {
  public:
    explicit Reader(std::string_view text) : text_(text) {}

    std::optional<std::vector<ParameterType>> function() {
        std::vector<Type> parameters = encoding();
        if (failed_ || (!at_end() && look() != '.')) {
            return std::nullopt;
        }
        std::vector<ParameterType> kinds;
        kinds.reserve(parameters.size());
        for (const Type& parameter : parameters) {
            kinds.push_back({parameter.kind, parameter.pointee});
        }
        if (!is_function_) {
            return std::nullopt;
        }
        return kinds;
    }

  private:
    // --- text ---------------------------------------------------------------------------------
    bool at_end() const { return position_ >= text_.size(); }
    char look(std::size_t ahead = 0) const {
        return position_ + ahead < text_.size() ? text_[position_ + ahead] : '\0';
    }
    bool consume(char c) {
        if (look() != c || at_end()) {
            return false;
        }
        ++position_;
        return true;
    }
    bool consume(std::string_view word) {
        if (!text_.substr(std::min(position_, text_.size())).starts_with(word)) {
            return false;
        }
        position_ += word.size();
        return true;
    }
    void fail() {
        failed_ = true;
        position_ = text_.size();
    }
    void expect(char c) {
        if (!consume(c)) {
            fail();
        }
    }
    /// Whether a list that ends with 'E' goes on; takes the 'E'.
    bool more() {
        if (at_end()) {
            fail();
        }
        return !failed_ && !consume('E');
    }
    std::size_t number() {
        std::size_t value = 0;
        if (!is_digit(look())) {
            fail();
        }
        while (is_digit(look()) && value <= text_.size()) {
            value = value * 10 + static_cast<std::size_t>(look() - '0');
            ++position_;
        }
        return value;
    }
    void optional_number() {
        consume('n');
        while (is_digit(look())) {
            ++position_;
        }
    }
    /// `[0-9A-Z]* _`: "_" is 0, "0_" is 1.
    std::size_t sequence_number() {
        if (consume('_')) {
            return 0;
        }
        std::size_t value = 0;
        while ((is_digit(look()) || is_upper(look())) && value <= text_.size()) {
            const auto digit = is_digit(look()) ? look() - '0' : look() - 'A' + 10;
            value = value * 36 + static_cast<std::size_t>(digit);
            ++position_;
        }
        expect('_');
        return value + 1;
    }

    /// Guards the stack against names nested without bound.
    class Depth {
      public:
        explicit Depth(Reader& reader) : reader_(reader) {
            constexpr int kDeepest = 400;
            if (++reader_.depth_ > kDeepest) {
                reader_.fail();
            }
        }
        ~Depth() { --reader_.depth_; }
        Depth(const Depth&) = delete;
        Depth& operator=(const Depth&) = delete;

      private:
        Reader& reader_;
    };

    // --- encodings and names ------------------------------------------------------------------
    /// <encoding>; returns the parameters.
    std::vector<Type> encoding() {
        const Depth depth(*this);
        if (!consume("_Z") && depth_ == 1) {
            fail();
            return {};
        }
        if (look() == 'T' || (look() == 'G' && look(1) != 'T')) {
            fail();  // special names: tables, guards, thunks
            return {};
        }
        std::vector<Type> outer_arguments;
        std::swap(outer_arguments, arguments_);
        NameTraits traits;
        name(&traits);
        std::vector<Type> parameters;
        const bool is_function = !at_encoding_end();
        if (is_function) {
            if (traits.ends_with_arguments && !traits.has_no_return_type) {
                type();
            }
            parameters = parameter_list();
        }
        is_function_ = is_function;
        std::swap(outer_arguments, arguments_);
        return parameters;
    }
    bool at_encoding_end() const { return at_end() || look() == 'E' || look() == '.'; }

    std::vector<Type> parameter_list() {
        std::vector<Type> parameters;
        if (consume('v')) {
            return parameters;
        }
        while (!failed_ && !at_encoding_end()) {
            Type parameter = type();
            if (!parameter.is_pack) {
                parameters.push_back(std::move(parameter));
                continue;
            }
            for (Type& element : parameter.pack) {
                parameters.push_back(std::move(element));
            }
        }
        return parameters;
    }

    /// <name>. `traits` is given for the name of an encoding only: its template arguments are the
    /// ones that T_ refers to afterwards.
    void name(NameTraits* traits) {
        const Depth depth(*this);
        if (look() == 'N') {
            nested_name(traits);
            return;
        }
        if (look() == 'Z') {
            local_name(traits);
            return;
        }
        if (look() == 'S' && look(1) != 't') {
            substitution();
            template_arguments(traits);
            return;
        }
        consume("St");
        unqualified_name(traits);
        if (look() == 'I') {
            remember({});
            template_arguments(traits);
        }
    }

    void nested_name(NameTraits* traits) {
        expect('N');
        cv_qualifiers();
        if (!consume('R')) {
            consume('O');
        }
        bool last_is_remembered = false;
        while (more()) {
            if (traits != nullptr && look() != 'I') {
                *traits = {};
            }
            last_is_remembered = prefix_component(traits);
        }
        // The whole name is no candidate here: as a type it is remembered by whoever asked for it.
        if (last_is_remembered && !known_.empty()) {
            known_.pop_back();
        }
    }

    /// One step of a <prefix>; returns whether it was remembered.
    bool prefix_component(NameTraits* traits) {
        if (look() == 'S' && look(1) == 't') {
            position_ += 2;
            return false;  // "St" alone is no candidate
        }
        if (look() == 'S') {
            substitution();
            return false;
        }
        if (look() == 'I') {
            template_arguments(traits);
        } else if (look() == 'T') {
            template_parameter();
        } else if (look() == 'D' && (look(1) == 't' || look(1) == 'T')) {
            decltype_of();
        } else {
            unqualified_name(traits);
            consume('M');  // the name is the data member whose initializer holds a closure
        }
        remember({});
        return true;
    }

    /// Z <function encoding> E <entity name>: something local to a function.
    void local_name(NameTraits* traits) {
        expect('Z');
        encoding();
        expect('E');
        if (consume('s')) {
            discriminator();
            return;
        }
        if (consume('d')) {
            optional_number();
            expect('_');
        }
        name(traits);
        discriminator();
    }

    void discriminator() {
        if (look() != '_') {
            return;
        }
        if (is_digit(look(1))) {
            position_ += 2;
        } else if (look(1) == '_' && is_digit(look(2))) {
            position_ += 2;
            number();
            expect('_');
        }
    }

    void unqualified_name(NameTraits* traits) {
        const Depth depth(*this);
        consume('L');  // internal linkage
        if (is_digit(look())) {
            source_name();
        } else if (consume("Ut")) {
            optional_number();
            expect('_');
        } else if (consume("Ul")) {
            closure();
        } else if (look() == 'C' || (look() == 'D' && is_digit(look(1)))) {
            constructor_or_destructor(traits);
        } else if (consume("DC")) {
            while (more()) {
                source_name();
            }
        } else {
            operator_name(traits);
        }
        while (consume('B')) {
            source_name();
        }
    }

    void source_name() {
        const std::size_t length = number();
        if (length == 0 || length > text_.size() - std::min(position_, text_.size())) {
            fail();
            return;
        }
        position_ += length;
    }

    /// Ul <parameter types> E [number] _
    void closure() {
        std::vector<Type> outer_arguments;
        // T_ in the signature of a generic closure is the closure's own parameter.
        std::swap(outer_arguments, arguments_);
        while (consume("Ty")) {
        }
        while (more()) {
            type();
        }
        optional_number();
        expect('_');
        std::swap(outer_arguments, arguments_);
    }

    void constructor_or_destructor(NameTraits* traits) {
        const bool inherited = look() == 'C' && look(1) == 'I';
        position_ += inherited ? 3 : 2;
        if (inherited) {
            type();
        }
        if (traits != nullptr) {
            traits->has_no_return_type = true;
        }
    }

    void operator_name(NameTraits* traits) {
        if (consume("cv")) {
            type();
            if (traits != nullptr) {
                traits->has_no_return_type = true;
            }
        } else if (consume("li")) {
            source_name();
        } else if (is_lower(look()) && (is_lower(look(1)) || is_upper(look(1)))) {
            position_ += 2;
        } else {
            fail();
        }
    }

    // --- template arguments and parameters ----------------------------------------------------
    void template_arguments(NameTraits* traits) {
        const Depth depth(*this);
        expect('I');
        if (traits != nullptr) {
            arguments_.clear();
            traits->ends_with_arguments = true;
        }
        while (more()) {
            Type argument = template_argument();
            if (traits != nullptr) {
                arguments_.push_back(std::move(argument));
            }
        }
    }

    Type template_argument() {
        const Depth depth(*this);
        if (consume('X')) {
            expression();
            expect('E');
            return {};
        }
        if (look() == 'L') {
            literal();
            return {};
        }
        if (consume('J')) {
            Type pack{.is_pack = true};
            while (more()) {
                pack.pack.push_back(template_argument());
            }
            return pack;
        }
        return type();
    }

    /// T_ or T<number>_. One whose arguments are not known is taken for a value.
    Type template_parameter() {
        expect('T');
        if (consume('L')) {
            optional_number();
            expect('_');
            sequence_number();
            return {};
        }
        const std::size_t index = sequence_number();
        if (index >= arguments_.size()) {
            return {};
        }
        if (arguments_[index].is_pack) {
            pack_size_ = arguments_[index].pack.size();
        }
        return arguments_[index];
    }

    // --- substitutions ------------------------------------------------------------------------
    void remember(Type type) { known_.push_back(std::move(type)); }

    Type substitution() {
        expect('S');
        constexpr std::string_view kStandard = "absiodt";
        if (kStandard.find(look()) != std::string_view::npos && !at_end()) {
            ++position_;
            while (consume('B')) {
                source_name();
            }
            return {};
        }
        const std::size_t index = sequence_number();
        if (index >= known_.size()) {
            fail();
            return {};
        }
        if (known_[index].is_pack) {
            pack_size_ = known_[index].pack.size();
        }
        return known_[index];
    }

    // --- types --------------------------------------------------------------------------------
    /// Takes r, V, K; returns whether K was there.
    bool cv_qualifiers() {
        consume('r');
        consume('V');
        return consume('K');
    }

    /// <type>; remembers it where the ABI makes it a candidate.
    Type type() {
        const Depth depth(*this);
        if (failed_) {
            return {};
        }
        constexpr std::string_view kBuiltin = "vwbcahstijlmxynofdegz";
        if (kBuiltin.find(look()) != std::string_view::npos && !at_end()) {
            const bool is_handle = look() == 'y';
            ++position_;
            return {.kind = is_handle ? PointerKind::ObjectHandle : PointerKind::Value};
        }
        if (look() == 'D' && builtin_d_type()) {
            return {};
        }
        if (look() == 'S' && look(1) != 't') {
            Type known = substitution();
            if (look() != 'I') {
                return known;
            }
            template_arguments(nullptr);
            remember({});
            return {};
        }
        Type result = compound_type();
        if (failed_) {
            return {};
        }
        remember(result);
        return result;
    }

    Type compound_type() {
        switch (look()) {
            case 'r':
            case 'V':
            case 'K': {
                const bool is_const = cv_qualifiers();
                if (look() == 'F') {
                    return function_type();  // of a member function: one candidate with its cv
                }
                Type qualified = type();
                return is_const ? const_of(std::move(qualified)) : qualified;
            }
            case 'U':
                ++position_;
                source_name();
                if (look() == 'I') {
                    template_arguments(nullptr);
                }
                return type();
            case 'P':
                ++position_;
                return pointer_to(type());
            case 'R':
            case 'O':
                ++position_;
                return reference_to(type());
            case 'C':
            case 'G':
                ++position_;
                type();
                return {};
            case 'F':
                return function_type();
            case 'A':
                return array_type();
            case 'M':
                ++position_;
                type();
                type();
                return {};
            case 'T':
                return template_parameter_type();
            case 'D':
                return compound_d_type();
            case 'u':
                ++position_;
                source_name();
                if (look() == 'I') {
                    template_arguments(nullptr);
                }
                return {};
            default:
                name(nullptr);
                return {};
        }
    }

    Type template_parameter_type() {
        constexpr std::string_view kElaborated = "sue";  // struct, union, enum
        if (kElaborated.find(look(1)) != std::string_view::npos && look(1) != '\0') {
            position_ += 2;
            name(nullptr);
            return {};
        }
        Type parameter = template_parameter();
        if (look() != 'I') {
            return parameter;
        }
        remember({});  // a template template parameter
        template_arguments(nullptr);
        return {};
    }

    /// Builtin types of two or more letters; false and nothing taken for other types.
    bool builtin_d_type() {
        constexpr std::string_view kLetters = "defhisacnu";
        if (kLetters.find(look(1)) != std::string_view::npos && look(1) != '\0') {
            position_ += 2;
            return true;
        }
        if (look(1) != 'F' && look(1) != 'B' && look(1) != 'U') {
            return false;
        }
        position_ += 2;  // _FloatN, std::bfloat16_t, _BitInt
        optional_number();
        if (!consume('b') && !consume('x')) {
            expect('_');
        }
        return true;
    }

    Type compound_d_type() {
        switch (look(1)) {
            case 't':
            case 'T':
                decltype_of();
                return {};
            case 'p':
                position_ += 2;
                return pack_expansion();
            case 'v':
                position_ += 2;
                if (consume('_')) {
                    expression();
                } else {
                    number();
                }
                expect('_');
                if (!consume('p')) {
                    type();
                }
                return {};
            case 'o':
            case 'O':
            case 'w':
            case 'x':
                return function_type();
            default:
                fail();
                return {};
        }
    }

    Type pack_expansion() {
        const std::optional<std::size_t> outer_size = std::exchange(pack_size_, std::nullopt);
        Type pattern = type();
        const std::optional<std::size_t> size = std::exchange(pack_size_, outer_size);
        if (pattern.is_pack) {
            return pattern;
        }
        if (!size) {
            fail();  // a pack of unknown length
            return {};
        }
        return {.is_pack = true, .pack = std::vector<Type>(*size, pattern)};
    }

    void decltype_of() {
        position_ += 2;
        expression();
        expect('E');
    }

    Type function_type() {
        if (consume("DO")) {
            expression();
            expect('E');
        } else if (consume("Dw")) {
            while (more()) {
                type();
            }
        } else if (!consume("Do")) {
            consume("Dx");
        }
        expect('F');
        consume('Y');
        while (more()) {
            if ((look() == 'R' || look() == 'O') && look(1) == 'E') {
                ++position_;  // ref-qualifier
                continue;
            }
            type();
        }
        return {.is_function = true};
    }

    Type array_type() {
        expect('A');
        if (is_digit(look())) {
            number();
        } else if (look() != '_') {
            expression();
        }
        expect('_');
        Type element = type();
        return {.is_const = element.is_const};
    }

    // --- expressions --------------------------------------------------------------------------
    void expressions_to_end() {
        while (more()) {
            expression();
        }
    }

    /// L <type> <value> E, or L _Z <encoding> E.
    void literal() {
        expect('L');
        if (look() == '_' && look(1) == 'Z') {
            encoding();
            expect('E');
            return;
        }
        type();
        if (look() == '_' && look(1) == 'Z') {
            encoding();
        }
        while (more()) {
            const char c = look();
            if (!is_digit(c) && !is_lower(c) && c != '_') {
                fail();
                return;
            }
            ++position_;
        }
    }

    void simple_name() {
        if (consume("on")) {
            operator_name(nullptr);
        } else if (consume("dn")) {
            if (is_digit(look())) {
                source_name();
            } else {
                type();
            }
        } else {
            source_name();
        }
        if (look() == 'I') {
            template_arguments(nullptr);
        }
    }

    /// After "sr": the scope of a dependent name, then the name. One compiler writes the scope as a
    /// type, the other as a list of names that ends with 'E' and adds no candidates.
    void scoped_name() {
        if (!scope_list()) {
            type();
        }
        simple_name();
    }

    bool scope_list() {
        const std::size_t start = position_;
        const std::size_t candidates = known_.size();
        int names = 0;
        bool last_has_arguments = false;
        while (is_digit(look())) {
            simple_name();
            ++names;
            last_has_arguments = !failed_ && text_[position_ - 1] == 'E';
        }
        const bool is_scope_and_name = names == 2 && !last_has_arguments;
        if (names > 0 && !is_scope_and_name && look() == 'E' && is_digit(look(1))) {
            ++position_;
            return true;
        }
        if (!failed_) {
            position_ = start;
            known_.resize(candidates);
        }
        return false;
    }

    void function_parameter() {
        if (consume("fpT")) {
            return;  // this
        }
        if (consume("fL")) {
            optional_number();
            expect('p');
        } else {
            position_ += 2;
        }
        cv_qualifiers();
        optional_number();
        expect('_');
    }

    void expression() {
        const Depth depth(*this);
        if (failed_) {
            return;
        }
        consume("gs");
        if (look() == 'L') {
            literal();
        } else if (look() == 'T') {
            template_parameter();
        } else if (look() == 'f' && (look(1) == 'p' || (look(1) == 'L' && is_digit(look(2))))) {
            function_parameter();
        } else if (look() == 'f' &&
                   (look(1) == 'l' || look(1) == 'r' || look(1) == 'L' || look(1) == 'R')) {
            fold();
        } else if (is_digit(look()) || (look() == 'o' && look(1) == 'n')) {
            simple_name();
        } else if (consume("sr")) {
            scoped_name();
        } else if (consume("sZ")) {
            expression();
        } else {
            operation();
        }
    }

    /// fl, fr: one operand; fL, fR: two.
    void fold() {
        const bool has_two = is_upper(look(1));
        position_ += 4;
        expression();
        if (has_two) {
            expression();
        }
    }

    void operation() {
        const auto* const found =
            std::find_if(kOperators.begin(), kOperators.end(),
                         [this](const Operator& candidate) { return consume(candidate.code); });
        if (found == kOperators.end()) {
            fail();
            return;
        }
        if (found->code == "pt" || found->code == "dt") {
            expression();
            if (consume("sr")) {
                scoped_name();
            } else {
                simple_name();
            }
            return;
        }
        if (found->code == "pp" || found->code == "mm") {
            consume('_');  // prefix form
        }
        operands_of(*found);
    }

    void operands_of(const Operator& operation) {
        if (operation.operands.type) {
            type();
        }
        if (operation.code == "cv" && consume('_')) {
            expressions_to_end();  // a conversion of several values
            return;
        }
        for (int i = 0; i < operation.operands.expressions; ++i) {
            expression();
        }
        if (operation.operands.list) {
            expressions_to_end();
        }
    }

    std::string_view text_;
    std::size_t position_ = 0;
    int depth_ = 0;
    bool failed_ = false;
    bool is_function_ = false;              ///< whether the encoding read last had parameters
    std::vector<Type> known_;               ///< substitution candidates
    std::vector<Type> arguments_;           ///< what T_, T0_, … stand for
    std::optional<std::size_t> pack_size_;  ///< of the pack met last inside an expansion
};

}  // namespace

std::optional<std::vector<ParameterType>> mangled_parameters(std::string_view name) {
    if (!name.starts_with("_Z")) {
        return std::nullopt;
    }
    return Reader(name).function();
}

}  // namespace cuward
