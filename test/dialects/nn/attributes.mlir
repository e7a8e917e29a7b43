// Discardable attributes of the dialect: each has one place and one kind of value, and those that nobody knows are refused.
// RUN: kiln-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{expects a string in nn.model}}
module attributes {nn.model = 1} {}

// -----

// expected-error @below {{expects a list of names in nn.symbols}}
module attributes {nn.symbols = ["n", 1]} {}

// -----

// expected-error @below {{expects a list of [lowest, highest] sizes, each of which may be empty in nn.symbol_bounds}}
module attributes {nn.symbols = ["n"], nn.symbol_bounds = [array<i64: 4, 1>]} {}

// -----

// expected-error @below {{expects a list of [lowest, highest] sizes, each of which may be empty in nn.symbol_bounds}}
module attributes {nn.symbols = ["n"], nn.symbol_bounds = [[1, 4]]} {}

// -----

// expected-error @below {{expects a list of symbols in nn.raised_symbols}}
module attributes {nn.raised_symbols = [0]} {}

// -----

// expected-error @below {{expects an affine map of symbols in nn.computed_symbols}}
module attributes {nn.computed_symbols = affine_map<(d0) -> (d0)>} {}

// -----

// expected-error @below {{expects an affine map of symbols in nn.constraints}}
module attributes {nn.constraints = "s0 - 1"} {}

// -----

// expected-error @below {{expects an affine map of symbols in nn.assumed}}
module attributes {nn.assumed = [1]} {}

// -----

// expected-error @below {{expects a list of sizes, -1 for any in nn.special_sizes}}
module attributes {nn.special_sizes = array<i64: -2>} {}

// -----

// expected-error @below {{expects pairs of an input and an output in nn.asked_in_place}}
module attributes {nn.asked_in_place = array<i64: 0>} {}

// -----

// expected-error @below {{expects a list of dictionaries with name, kind, first and count in nn.sequences}}
module attributes {nn.sequences = [{name = "x", kind = "list", first = 0, count = 1}]} {}

// -----

// expected-error @below {{expects "strict" or "fast" in nn.accuracy}}
module attributes {nn.accuracy = "exact"} {}

// -----

// expected-error @below {{expects a number that is not negative (i64) in nn.transposes}}
module attributes {nn.transposes = "none"} {}

// -----

// expected-error @below {{'func.func' op has nn.model, which belongs to builtin.module}}
func.func private @place() attributes {nn.model = "m"}

// -----

// expected-error @below {{has the attribute nn.secret, which its dialect does not define}}
module attributes {nn.secret} {}

// -----

// expected-error @below {{expects a string in nn.name}}
func.func private @argument(%x: tensor<4xf32> {nn.name}) { return }

// -----

// expected-error @below {{expects two numbers (f64), the lower one first in nn.range}}
func.func private @range(%x: tensor<4xf32> {nn.range = array<f64: 1.0, 0.0>}) { return }

// -----

// expected-error @below {{has the attribute nn.node, which its dialect does not define}}
func.func private @unknown(%x: tensor<4xf32> {nn.node = "n0(Relu)"}) { return }

// -----

// expected-error @below {{expects a string in nn.name}}
func.func private @result() -> (tensor<4xf32> {nn.name = 1})

// -----

// expected-error @below {{expects a string in nn.node}}
func.func private @node() -> (tensor<4xf32> {nn.node = ["n0(Relu)"]})

// -----

func.func @form(%x: tensor<4xf32>) {
  // expected-error @below {{expects a string in nn.form}}
  %0 = nn.relu %x {nn.form = 1} : tensor<4xf32>
  return
}

// -----

func.func @value_range(%x: tensor<4xf32>) {
  // expected-error @below {{expects a string in nn.value_range}}
  %0 = nn.relu %x {nn.value_range = array<f64: 0.0, 1.0>} : tensor<4xf32>
  return
}

// -----

func.func @shift(%x: tensor<4xf32>) {
  // expected-error @below {{attribute 'shift' failed to satisfy constraint: 64-bit float attribute}}
  %0 = nn.softmax %x axis 0 {shift = 1 : i64} : tensor<4xf32>
  return
}

// -----

func.func @places(%x: tensor<4xf32>) {
  // expected-error @below {{expects in 'places' a map to one element, or unit, for each input and result}}
  %0 = nn.group(%x) {places = [unit]} : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    nn.yield %a : tensor<4xf32>
  }
  return
}

// -----

func.func @place(%x: tensor<4xf32>) {
  // expected-error @below {{expects in 'places' a map to one element, or unit, for each input and result}}
  %0 = nn.group(%x) {places = [unit, affine_map<(d0, d1) -> (d0)>]} : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    nn.yield %a : tensor<4xf32>
  }
  return
}

// -----

func.func @in_place(%x: tensor<4xf32>) {
  // expected-error @below {{expects inputs of its own in 'in_place'; got [1]}}
  %0 = nn.group(%x) {in_place = array<i64: 1>} : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    nn.yield %a : tensor<4xf32>
  }
  return
}

// -----

func.func @view(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  // expected-error @below {{is a 'view', but has not one input and one result}}
  %0 = nn.group(%x, %y) {view} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    %s = nn.add %a, %b : tensor<4xf32>
    nn.yield %s : tensor<4xf32>
  }
  return
}
