// The part of every generated NAME.hpp that is the same for all models: a run whose memory and arguments are looked after. Hosted C++17.
//
// kiln::session<Model> owns the workspace, checks every argument against the model's signature, and owns the outputs that the caller gives no memory for.
// A generated class derives from it and adds the named arguments. Faults are reported in two ways: run() throws kiln::error, and try_run() returns
// the status and never throws. message() then names the argument and what was expected of it.
#ifndef KILN_SESSION_H
#define KILN_SESSION_H

#include "builtin/tensor.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <initializer_list>

namespace kiln {

// Model has the signature (info), `shapes` and `most_elements` as functions of the dimensions, and `run`. One thread at a time may use a session; any number
// of sessions may run at once, because the model itself keeps no state.
template <typename Model> class session {
public:
  // A session can be moved. What it was moved from can be assigned to, and nothing else.
  session(session &&) noexcept = default;
  session &operator=(session &&) noexcept = default;

  // Runs the model. After a status other than KILN_STATUS_OK, message() says what is wrong and outputs are unspecified.
  kiln_status try_run() noexcept {
    int64_t before[Model::symbols + 1], none[Model::symbols + 1] = {};
    std::memcpy(before, raised, sizeof(raised));
    attempt();
    // Bounds that earlier runs have raised may leave no room together with those of this one, which starts again without them.
    if (!hasRoom && !changed && std::memcmp(before, none, sizeof(none)) != 0) {
      std::memcpy(raised, none, sizeof(none));
      attempt();
    }
    // A run without room leaves no trace. One that has changed its inputs cannot start again, so the next run is the one without bounds.
    if (!hasRoom)
      std::memcpy(raised, changed ? none : before, sizeof(none));
    return last;
  }
  // The text for the last run; empty if it succeeded.
  const char *message() const noexcept { return text; }
  // Threads and hooks for the runs to come. The context must outlive them. Null: one thread, no hooks.
  void use(const kiln_context *caller) noexcept { context = caller; }

protected:
  explicit session(const void *weights_ = nullptr, size_t weightsSize_ = 0) noexcept : weights(weights_), weightsSize(weightsSize_) {
    for (int64_t &dim : asked)
      dim = unset;
  }
  ~session() = default;

  template <typename Self> Self &finish(Self &self) {
    if (try_run() != KILN_STATUS_OK) {
#if defined(__cpp_exceptions)
      throw error(last, text);
#else
      std::fprintf(stderr, "%s\n", text);
      __builtin_trap();
#endif
    }
    return self;
  }
  void set_dim(size_t symbol, int64_t value) noexcept { asked[symbol] = value; }
  void set(size_t number, const void *data, size_t count) noexcept {
    detail::argument &argument = arguments[number];
    argument.data = const_cast<void *>(data);
    argument.count = count;
    argument.isSet = true;
    argument.hasShape = false;
  }
  void set(size_t number, const void *data, size_t count, const int64_t *shape, size_t rank) noexcept {
    set(number, data, count);
    arguments[number].hasShape = true;
    arguments[number].rank = rank;
    for (size_t axis = 0; axis < rank && axis < size_t(table(number).rank); ++axis)
      given[first(number) + axis] = shape[axis];
  }
  template <typename T> tensor<T> get(size_t number) const noexcept {
    if (last != KILN_STATUS_OK || !hasRun)
      return {};
    const detail::argument &argument = arguments[number];
    const void *place = argument.isSet ? argument.data : argument.own.data();
    return {static_cast<const T *>(place), product(number), shapes + first(number), size_t(table(number).rank)};
  }
  int64_t dim(size_t symbol) const noexcept { return dims[symbol]; }

private:
  static constexpr int64_t unset = INT64_MIN;
  static constexpr size_t given_symbols = Model::symbols - Model::computed;

  static const kiln_tensor_info &table(size_t number) noexcept {
    return number < Model::inputs ? Model::info().inputs[number] : Model::info().outputs[number - Model::inputs];
  }
  // Where the extents of a tensor are in `shapes` and `given`.
  static size_t first(size_t number) noexcept {
    size_t at = 0;
    for (size_t i = 0; i < number; ++i)
      at += size_t(table(i).rank);
    return at;
  }
  size_t product(size_t number) const noexcept {
    size_t count = 1;
    for (int32_t axis = 0; axis < table(number).rank; ++axis)
      count *= size_t(shapes[first(number) + size_t(axis)]);
    return count;
  }

#if defined(__GNUC__) || defined(__clang__)
  __attribute__((format(printf, 3, 4)))
#endif
  kiln_status fail(kiln_status status, const char *format, ...) noexcept {
    va_list values;
    va_start(values, format);
    const int length = std::snprintf(text, sizeof(text), "%s: ", Model::info().name);
    if (length > 0 && size_t(length) < sizeof(text))
      std::vsnprintf(text + length, sizeof(text) - size_t(length), format, values);
    va_end(values);
    return status;
  }
  struct shape_text {
    char characters[128];
  };
  static shape_text describe(const int64_t *extents, size_t rank) noexcept {
    shape_text result = {"["};
    size_t at = 1;
    for (size_t axis = 0; axis < rank && at < sizeof(result.characters) - 24; ++axis)
      at += size_t(std::snprintf(result.characters + at, 24, "%s%lld", axis ? "," : "", static_cast<long long>(extents[axis])));
    std::snprintf(result.characters + at, sizeof(result.characters) - at, "]");
    return result;
  }

  kiln_status find_dims() noexcept {
    for (size_t symbol = 0; symbol < given_symbols; ++symbol)
      dims[symbol] = asked[symbol];
    for (size_t number = 0; number < Model::inputs; ++number) {
      const kiln_tensor_info &input = table(number);
      if (!arguments[number].hasShape)
        continue;
      if (arguments[number].rank != size_t(input.rank))
        return fail(KILN_STATUS_INVALID_ARGUMENT, "input '%s' has %zu dimensions, expected %d", input.name, arguments[number].rank, int(input.rank));
      for (int32_t axis = 0; axis < input.rank && input.dim_symbols; ++axis)
        if (const int32_t symbol = input.dim_symbols[axis]; symbol >= 0 && size_t(symbol) < given_symbols && dims[symbol] == unset)
          dims[symbol] = given[first(number) + size_t(axis)];
    }
    for (size_t symbol = 0; symbol < given_symbols; ++symbol) {
      if (dims[symbol] == unset && Model::is_raised(symbol))
        dims[symbol] = raised[symbol];
      const kiln_symbol_info &known = Model::info().symbols[symbol];
      if (dims[symbol] == unset)
        return fail(KILN_STATUS_INVALID_ARGUMENT, "dimension '%s' is not set; set it, or give the shape of an input that has it", known.name);
    }
    char words[sizeof(text) / 2];
    const kiln_status status = Model::explain(dims, words, sizeof(words));
    return status ? fail(status, "%s", words) : status;
  }

  kiln_status check(size_t number, size_t most) noexcept {
    detail::argument &argument = arguments[number];
    const char *kind = number < Model::inputs ? "input" : "output", *name = table(number).name;
    const int64_t *shape = shapes + first(number), *mine = given + first(number);
    const size_t rank = size_t(table(number).rank);
    if (!argument.isSet && number < Model::inputs)
      return fail(KILN_STATUS_INVALID_ARGUMENT, "input '%s' is not set", name);
    if (argument.hasShape && std::memcmp(shape, mine, rank * sizeof(int64_t)) != 0)
      return fail(KILN_STATUS_INVALID_ARGUMENT, "%s '%s' has the shape %s, expected %s", kind, name, describe(mine, rank).characters,
                  describe(shape, rank).characters);
    const bool isComputed = Model::computed && Model::is_computed(number);
    if (argument.isSet && isComputed && argument.count < most)
      return fail(KILN_STATUS_INVALID_ARGUMENT, "%s '%s' has room for %zu elements, expected at least %zu", kind, name, argument.count, most);
    if (argument.isSet && !isComputed && argument.count != most)
      return fail(KILN_STATUS_INVALID_ARGUMENT, "%s '%s' has %zu elements, expected %zu: %s", kind, name, argument.count, most,
                  describe(shape, rank).characters);
    if (argument.isSet && argument.data)
      return KILN_STATUS_OK;
    if (argument.isSet && most)
      return fail(KILN_STATUS_NULL_POINTER, "%s '%s' is a null pointer", kind, name);
    // Without elements, any place will do.
    if (argument.own.reserve(most * Model::element_bytes(number)))
      return KILN_STATUS_OK;
    return fail(KILN_STATUS_OUT_OF_MEMORY, "out of memory for %s '%s'", kind, name);
  }

  kiln_status prepare() noexcept {
    hasRun = false;
    if (kiln_status status = find_dims())
      return status;
    const size_t bytes = Model::workspace_size(dims);
    if (Model::info().weights_file && weightsSize != size_t(Model::info().weights_size))
      return fail(KILN_STATUS_WEIGHTS_MISMATCH, "the weights have %zu bytes, expected %zu", weightsSize, size_t(Model::info().weights_size));
    Model::shapes(dims, shapes);
    for (size_t number = 0; number < Model::inputs + Model::outputs; ++number) {
      const bool isComputed = Model::computed && Model::is_computed(number);
      if (kiln_status status = check(number, isComputed ? Model::most_elements(dims, number) : product(number)))
        return status;
    }
    return workspace.reserve(bytes) ? KILN_STATUS_OK : fail(KILN_STATUS_OUT_OF_MEMORY, "out of memory for a workspace of %zu bytes", bytes);
  }

  kiln_status failChanged() noexcept {
    return fail(KILN_STATUS_DIMENSION_OUT_OF_BOUNDS,
                "the run has raised the bound of a size; give the inputs again before the next run, because input '%s' has the memory of an output", changed);
  }
  // Runs until no bound has to be raised. `hasRoom` is false if there is no room for the bounds; `last` and `text` then say why.
  void attempt() noexcept {
    text[0] = '\0';
    changed = nullptr;
    do {
      mustRepeat = false;
      last = prepare();
      hasRoom = last == KILN_STATUS_OK;
      if (hasRoom)
        last = changed ? failChanged() : call();
    } while (mustRepeat);
  }

  // Keeps the bounds that a run has raised for the next one. False: there are none.
  bool hasRaised() noexcept {
    bool isNew = false;
    for (size_t symbol = 0; symbol < given_symbols; ++symbol)
      if (Model::is_raised(symbol) && asked[symbol] == unset && dims[symbol] > raised[symbol]) {
        raised[symbol] = dims[symbol];
        isNew = true;
      }
    return isNew;
  }

  void *place(size_t number) const noexcept {
    const detail::argument &argument = arguments[number];
    return argument.isSet && argument.data ? argument.data : argument.own.data();
  }
  // The name of an input whose memory is also an output's, so that a run may have changed it. Null: there is none.
  const char *find_changed() const noexcept {
    for (size_t input = 0; input < Model::inputs; ++input)
      for (size_t output = Model::inputs; output < Model::inputs + Model::outputs; ++output)
        if (place(input) == place(output))
          return table(input).name;
    return nullptr;
  }

  kiln_status call() noexcept {
    void *places[Model::inputs + Model::outputs + 1];
    for (size_t number = 0; number < Model::inputs + Model::outputs; ++number)
      places[number] = place(number);
    if (kiln_status status = Model::run(dims, places, weights, workspace.data(), context)) {
      mustRepeat = status == KILN_STATUS_DIMENSION_OUT_OF_BOUNDS && hasRaised();
      if (!mustRepeat)
        return fail(status, "status %d: %s", int(status), detail::status_text(status));
      changed = find_changed();
      return status;
    }
    Model::shapes(dims, shapes);
    hasRun = true;
    return KILN_STATUS_OK;
  }

  detail::argument arguments[Model::inputs + Model::outputs + 1];
  int64_t shapes[Model::extents + 1] = {}, given[Model::extents + 1] = {};
  int64_t dims[Model::symbols + 1] = {}, asked[Model::symbols + 1] = {}, raised[Model::symbols + 1] = {};
  detail::buffer workspace;
  const void *weights = nullptr;
  size_t weightsSize = 0;
  const kiln_context *context = nullptr;
  kiln_status last = KILN_STATUS_OK;
  bool hasRun = false, mustRepeat = false, hasRoom = false;
  const char *changed = nullptr;
  char text[512] = {};
};

} // namespace kiln

#endif // KILN_SESSION_H
