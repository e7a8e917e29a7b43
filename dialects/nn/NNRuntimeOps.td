//===- NNRuntimeOps.td - Random numbers, strings and pictures --------------===//
//
// Operations that are calls of functions of the runtime's kernel headers.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_NN_RUNTIME_OPS
#define KILN_NN_RUNTIME_OPS

include "dialects/nn/NNBase.td"
include "dialects/nn/NNInterfaces.td"

class NN_RuntimeOp<string mnemonic, list<Trait> traits = []> : NN_Op<mnemonic,
    !listconcat([DeclareOpInterfaceMethods<NN_RuntimeFunction>], traits)>;
// An operation that computes each element independently.
class NN_EachOp<string mnemonic, list<Trait> traits = []> : NN_Op<mnemonic,
    !listconcat([Pure, DeclareOpInterfaceMethods<NN_RuntimeFunction, ["isElementwise"]>], traits)>;
// An operation whose results may exceed their room.
class NN_RoomOp<string mnemonic, list<Trait> traits = []> : NN_Op<mnemonic,
    !listconcat([NN_DataSized, DeclareOpInterfaceMethods<NN_RuntimeFunction, ["reportsFaults"]>], traits)>;

def NN_Distribution : I32EnumAttr<"Distribution", "how random numbers are distributed", [
    I32EnumAttrCase<"Uniform", 0, "uniform">,
    I32EnumAttrCase<"Normal", 1, "normal">]> {
  let cppNamespace = "::kiln::nn";
  let genSpecializedAttr = 0;
}
def NN_DistributionAttr : EnumAttr<NN_Dialect, NN_Distribution, "distribution">;

def NN_RandomOp : NN_RuntimeOp<"random", [Pure]> {
  let summary = "Random numbers: ONNX RandomUniform, RandomNormal and the operators based on them.";
  let description = [{
    The generator is the Mersenne Twister MT19937, started with the seed's low 32 bits: element i of the result is number i of
    `numpy.random.RandomState(seed)`, uniform in [`first`, `second`), or normal with mean `first` and standard deviation `second`.
    The same operation gives the same numbers in every run, whatever the target and the number of threads.
    ```mlir
    %r = nn.random uniform seed 7 of 0.0 and 1.0 : tensor<2x3xf32>
    ```
  }];
  let arguments = (ins NN_DistributionAttr:$distribution, I64Attr:$seed, F64Attr:$first, F64Attr:$second);
  let results = (outs NN_TensorOf<[F64, F32], "f32 or f64">:$result);
  let assemblyFormat = "$distribution `seed` $seed `of` $first `and` $second attr-dict `:` type($result)";
}

def NN_StringsOp : NN_RuntimeOp<"strings", [Pure]> {
  let summary = "Strings that are known when the model is compiled.";
  let description = "```mlir\n%s = nn.strings [\"a\", \"b\"] : tensor<2xi128>\n```";
  let arguments = (ins StrArrayAttr:$values);
  let results = (outs NN_StringTensor:$result);
  let assemblyFormat = "$values attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def NN_StringEqualOp : NN_EachOp<"string_equal", [AllTypesMatch<["lhs", "rhs"]>]> {
  let summary = "Whether strings have the same bytes: ONNX Equal.";
  let description = "```mlir\n%r = nn.string_equal %a, %b : tensor<2xi128> -> tensor<2xi1>\n```";
  let arguments = (ins NN_StringTensor:$lhs, NN_StringTensor:$rhs);
  let results = (outs NN_BoolTensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)";
  let hasVerifier = 1;
}

def NN_StringFindOp : NN_EachOp<"string_find"> {
  let summary = "The index of a string among the keys: ONNX LabelEncoder is a gather at it.";
  let description = [{
    The index of the first key that equals the string, or the number of keys if there is none.
    ```mlir
    %r = nn.string_find %x in ["cat", "dog"] : tensor<5xi128> -> tensor<5xi64>
    ```
  }];
  let arguments = (ins NN_StringTensor:$input, StrArrayAttr:$keys);
  let results = (outs NN_TensorOf<[I64], "i64">:$result);
  let assemblyFormat = "$input `in` $keys attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def NN_StringMatchOp : NN_EachOp<"string_match"> {
  let summary = "Whether a regular expression matches the whole string: ONNX RegexFullMatch.";
  let description = [{
    A subset of RE2's syntax (dialects/nn/Regex.h), compiled to a table that is walked byte by byte.
    ```mlir
    %r = nn.string_match %x with "[a-z]+" : tensor<5xi128> -> tensor<5xi1>
    ```
  }];
  let arguments = (ins NN_StringTensor:$input, StrAttr:$pattern);
  let results = (outs NN_BoolTensor:$result);
  let assemblyFormat = "$input `with` $pattern attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def NN_StringConcatOp : NN_RoomOp<"string_concat", [AllTypesMatch<["lhs", "rhs"]>]> {
  let summary = "Pairs of strings joined: ONNX StringConcat.";
  let description = [{
    The strings of the result point into `bytes`, which has room for `room` bytes and `each` more for each string. The symbol `counts` is its used length,
    and the symbol's bound its capacity. `bytes` must be a result of the model, so that it outlives the run.
    ```mlir
    %r, %bytes, %n = nn.string_concat %a, %b room 65536 each 1024 counts 0 : tensor<2xi128>
      -> tensor<2xi128>, tensor<?xui8, #nn.dims<()[s0] -> (s0)>>, tensor<1xi64>
    ```
  }];
  let arguments = (ins NN_StringTensor:$lhs, NN_StringTensor:$rhs, I64Attr:$room, DefaultValuedAttr<I64Attr, "0">:$each, I64Attr:$counts);
  let results = (outs NN_StringTensor:$result, NN_TensorOf<[UI8], "bytes">:$bytes, NN_IndexTensor:$count);
  let assemblyFormat = [{
    $lhs `,` $rhs `room` $room (`each` $each^)? `counts` $counts attr-dict `:` type($lhs) `->` type($result) `,` type($bytes) `,` type($count)
  }];
  let hasVerifier = 1;
}

def NN_StringCaseOp : NN_RoomOp<"string_case"> {
  let summary = "Strings converted to lower or upper case: a part of ONNX StringNormalizer.";
  let description = [{
    Letters of ASCII, Latin-1, Greek and Cyrillic are converted, all others are kept. `bytes` is as in `nn.string_concat`.
    ```mlir
    %r, %bytes, %n = nn.string_case %x upper room 65536 each 1024 counts 0 : tensor<2xi128>
      -> tensor<2xi128>, tensor<?xui8, #nn.dims<()[s0] -> (s0)>>, tensor<1xi64>
    ```
  }];
  let arguments = (ins NN_StringTensor:$input, UnitAttr:$upper, I64Attr:$room, DefaultValuedAttr<I64Attr, "0">:$each, I64Attr:$counts);
  let results = (outs NN_StringTensor:$result, NN_TensorOf<[UI8], "bytes">:$bytes, NN_IndexTensor:$count);
  let assemblyFormat = [{
    $input (`upper` $upper^)? `room` $room (`each` $each^)? `counts` $counts attr-dict
    `:` type($input) `->` type($result) `,` type($bytes) `,` type($count)
  }];
  let hasVerifier = 1;
}

def NN_StringFilterOp : NN_RuntimeOp<"string_filter", [NN_DataSized]> {
  let summary = "The strings that are not stop words, or one empty string if none is left: a part of ONNX StringNormalizer.";
  let description = [{
    ```mlir
    %r, %n = nn.string_filter %x without ["the", "a"] counts 0 : tensor<4xi128> -> tensor<?xi128, #nn.dims<()[s0] -> (s0)>>, tensor<1xi64>
    ```
  }];
  let arguments = (ins NN_StringTensor:$input, StrArrayAttr:$stop_words, UnitAttr:$case_sensitive, I64Attr:$counts);
  let results = (outs NN_StringTensor:$result, NN_IndexTensor:$count);
  let assemblyFormat = [{
    $input `without` $stop_words (`case` $case_sensitive^)? `counts` $counts attr-dict `:` type($input) `->` type($result) `,` type($count)
  }];
  let hasVerifier = 1;
}

def NN_StringSplitOp : NN_RoomOp<"string_split"> {
  let summary = "The parts of strings between delimiters: ONNX StringSplit.";
  let description = [{
    A row of the result holds the parts of a string. It is padded with empty strings to the largest number of parts, which is the symbol `counts`. An
    empty delimiter stands for any white space. There are at most `splits` splits. A string with more than `room` parts is a fault of the data.
    ```mlir
    %r, %sizes, %n = nn.string_split %x at "." splits 9 room 10 counts 0
      : tensor<2xi128> -> tensor<2x?xi128, #nn.dims<()[s0] -> (2, s0)>>, tensor<2xi64>, tensor<1xi64>
    ```
  }];
  let arguments = (ins NN_StringTensor:$input, StrAttr:$delimiter, I64Attr:$splits, I64Attr:$room, I64Attr:$counts);
  let results = (outs NN_StringTensor:$result, NN_IndexTensor:$sizes, NN_IndexTensor:$count);
  let assemblyFormat = [{
    $input `at` $delimiter `splits` $splits `room` $room `counts` $counts attr-dict
    `:` type($input) `->` type($result) `,` type($sizes) `,` type($count)
  }];
  let hasVerifier = 1;
}

def NN_StringTokenizeOp : NN_RoomOp<"string_tokenize"> {
  let summary = "The tokens of strings, by regular expressions: com.microsoft Tokenizer.";
  let description = [{
    From the left, the longest match of the pattern is a token, or with `between` what separates tokens; of several separators, each one divides what
    those before it have left. Tokens of fewer than `least` characters are dropped. A row of the result holds the tokens of a string, with `marks` one
    byte 2 before them and one byte 3 behind them. It is padded with the string `padding` to the longest row, whose length is the symbol `counts`; if no
    string has a token, it is 0. More than `room` of them are a fault of the data.
    ```mlir
    %r, %n = nn.string_tokenize %x between [" "] least 1 padding "" marks room 10 counts 0
      : tensor<2xi128> -> tensor<2x?xi128, #nn.dims<()[s0] -> (2, s0)>>, tensor<1xi64>
    ```
  }];
  let arguments = (ins NN_StringTensor:$input, StrArrayAttr:$patterns, UnitAttr:$between, I64Attr:$least, StrAttr:$padding, UnitAttr:$marks, I64Attr:$room,
    I64Attr:$counts);
  let results = (outs NN_StringTensor:$result, NN_IndexTensor:$count);
  let assemblyFormat = [{
    $input (`between` $between^)? $patterns `least` $least `padding` $padding (`marks` $marks^)? `room` $room `counts` $counts attr-dict
    `:` type($input) `->` type($result) `,` type($count)
  }];
  let hasVerifier = 1;
}

def NN_PixelFormat : I32EnumAttr<"PixelFormat", "the channels of a pixel, as kiln_pixel_format numbers them", [
    I32EnumAttrCase<"Rgb", 0, "rgb">,
    I32EnumAttrCase<"Bgr", 1, "bgr">,
    I32EnumAttrCase<"Grayscale", 2, "grayscale">]> {
  let cppNamespace = "::kiln::nn";
  let genSpecializedAttr = 0;
}
def NN_PixelFormatAttr : EnumAttr<NN_Dialect, NN_PixelFormat, "pixel_format">;

def NN_DecodeImageOp : NN_RuntimeOp<"decode_image", [
    NN_DataSized, DeclareOpInterfaceMethods<NN_RuntimeFunction, ["reportsFaults", "callsHook"]>]> {
  let summary = "The pixels of an encoded picture: ONNX ImageDecoder.";
  let description = [{
    The hook `decode_image` of the caller's context decodes it. `size` is the height and width, at least 1; `counts` is the symbol for the number of bytes
    of all pixels. If the pixels have a static type, the picture must have exactly the size `within`. A larger or broken picture ends the run, and so does a
    context without the hook.
    ```mlir
    %p, %size, %n = nn.decode_image %file to rgb within 480 by 640 counts 0
      : tensor<900xui8> -> tensor<?xui8, #nn.dims<()[s0] -> (s0)>>, tensor<2xi64>, tensor<1xi64>
    ```
  }];
  let arguments = (ins NN_TensorOf<[UI8], "bytes">:$file, NN_PixelFormatAttr:$format, I64Attr:$max_height, I64Attr:$max_width, I64Attr:$counts);
  let results = (outs NN_TensorOf<[UI8], "bytes">:$pixels, NN_IndexTensor:$size, NN_IndexTensor:$count);
  let assemblyFormat = [{
    $file `to` $format `within` $max_height `by` $max_width `counts` $counts attr-dict
    `:` type($file) `->` type($pixels) `,` type($size) `,` type($count)
  }];
  let hasVerifier = 1;
}

#endif // KILN_NN_RUNTIME_OPS
