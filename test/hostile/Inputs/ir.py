"""IR as text and bytecode, which enters after import: what MLIR's parser, the verifiers and the stages have to bear."""

MODULE = 'module attributes {nn.model = "m", nn.symbols = []} {\n%s\n}\n'
MAIN = 'func.func @main(%%x: tensor<2x3xf32> {nn.name = "x"}) -> (tensor<2x3xf32> {nn.name = "y"}) {\n%s\n}'


def main_of(body):
    return MODULE % (MAIN % body)


def add(suite):
    suite.add("good.mlir", main_of("%y = nn.relu %x : tensor<2x3xf32>\nreturn %y : tensor<2x3xf32>"), "accept")
    text = {"empty": "", "not_utf8": b"\xff\xfe\0", "unclosed": "module {", "unknown_dialect": 'module { "foo.bar"() : () -> () }', "unknown_operation": main_of("%y = nn.nope %x : tensor<2x3xf32>\nreturn %y : tensor<2x3xf32>"),
            "wrong_types": main_of("%y = nn.add %x : tensor<2x3xf32>\nreturn %y : tensor<2x3xf32>"), "no_main": "module {}", "two_mains": MODULE % (2 * (MAIN % "return %x : tensor<2x3xf32>")),
            "undefined_value": main_of("return %z : tensor<2x3xf32>"), "main_is_declaration": MODULE % "func.func private @main(tensor<2xf32>) -> tensor<2xf32>", "main_is_not_a_function": MODULE % 'kernel.weight @main',
            "wide_integer": "module { func.func @main(%x: tensor<2xi16777217>) { return } }", "huge_tensor": "module { func.func @main(%x: tensor<99999999999x99999999999xf32>) { return } }",
            "dense_too_short": main_of("%c = nn.constant dense<[1.0, 2.0]> : tensor<3xf32>\nreturn %x : tensor<2x3xf32>"), "dense_hex_odd": main_of('%c = nn.constant dense<"0x00000"> : tensor<2xf32>\nreturn %x : tensor<2x3xf32>'),
            "resource_missing": main_of("%c = nn.constant dense_resource<nothing> : tensor<300xf32>\n%b = nn.relu %c : tensor<300xf32>\nreturn %x : tensor<2x3xf32>"),
            "resource_short": main_of("%c = nn.constant dense_resource<r> : tensor<2x3xf32>\n%b = nn.add %c, %x : tensor<2x3xf32>\nreturn %b : tensor<2x3xf32>") + '{-# dialect_resources: { builtin: { r: "0x040000000000803F" } } #-}',
            "cycle_of_aliases": "#a = #b\n#b = #a\nmodule attributes {x = #a} {}",
            "bad_transpose": main_of("%y = nn.transpose %x [0, 0] : tensor<2x3xf32> -> tensor<2x2xf32>\nreturn %x : tensor<2x3xf32>"), "bad_reshape": main_of("%y = nn.reshape %x : tensor<2x3xf32> -> tensor<7xf32>\nreturn %x : tensor<2x3xf32>"),
            "bad_softmax": main_of("%y = nn.softmax %x axis 9 : tensor<2x3xf32>\nreturn %y : tensor<2x3xf32>"), "dynamic_without_sizes": "module { func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> { return %x : tensor<?xf32> } }",
            "symbols_not_strings": 'module attributes {nn.symbols = [1, 2]} { func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> } }',
            "dims_with_dimensions": "module { func.func @main(%x: tensor<?xf32, #nn.dims<(d0) -> (d0)>>) { return } }", "division_by_zero": "module { func.func @main(%x: tensor<?xf32, #nn.dims<()[s0] -> (s0 floordiv 0)>>) { return } }",
            "symbols_missing": "module { func.func @main(%x: tensor<?xf32, #nn.dims<()[s0] -> (s0)>>) -> tensor<?xf32, #nn.dims<()[s0] -> (s0)>> { return %x : tensor<?xf32, #nn.dims<()[s0] -> (s0)>> } }",
            "model_is_code": 'module attributes {nn.model = "a; int b"} { func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> } }', "model_is_number": "module attributes {nn.model = 3} {}",
            "constraints_wrong": "module attributes {nn.constraints = affine_map<(d0)[s0] -> (d0)>} {}", "main_of_numbers": "module { func.func @main(%x: f32) -> f32 { return %x : f32 } }",
            "long_sum": "module { func.func @main(%x: tensor<?xf32, #nn.dims<()[s0] -> (" + "s0 + " * 20000 + "s0)>>) { return } }", "many_minus": "#m = affine_map<()[s0] -> (" + "- " * 30000 + "s0)>",
            "deep_attributes": "module attributes {x = " + "[" * 50000 + "]" * 50000 + "} {}", "deep_regions": '"builtin.module"() ({' * 5000 + "}) : () -> ()" * 5000, "deep_types": "module { func.func @main(%x: " + "tuple<" * 20000 + "i1" + ">" * 20000 + ") { return } }",
            "deep_expression": "module { func.func @main(%x: tensor<?xf32, #nn.dims<()[s0] -> (" + "(" * 20000 + "s0" + ")" * 20000 + ")>>) { return } }"}
    for name, content in text.items():
        suite.add(f"{name}.mlir", content, say="error")
    bytecode = {"only_magic": b"ML\xefR", "version": b"ML\xefR\xff\xff\xff\x7f", "zeros": b"ML\xefR" + bytes(100), "ones": b"ML\xefR" + b"\xff" * 100, "sections": b"ML\xefR\x0d" + b"MLIR22\0" + b"\0\xff" * 40, "text": "module {}"}
    for name, content in bytecode.items():
        suite.add(f"{name}.mlirbc", content, say="error")
