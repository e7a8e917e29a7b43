//===- CompileTests.cpp - From IR to running objects -----------------------===//
#include "compiler/Compile.h"
#include "compiler/emit/ArchiveWriter.h"
#include "compiler/run/LoadedModel.h"

#include "llvm/Object/Archive.h"
#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include <gtest/gtest.h>

using namespace kiln;

namespace {

// y[i] = x[i] * w[i] with packed (reversed) weights, rows of 4.
constexpr const char *model = R"mlir(
module attributes {nn.model = "small", nn.symbols = ["rows"], kernel.workspace_bytes = 64 : i64} {
  kernel.weight @w : memref<4xf32> = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32> packed <shape = [4], map = (i) -> (3 - i)>
  func.func private @scale(%x: memref<?xf32>, %w: memref<4xf32>, %y: memref<?xf32> {kernel.written}, %begin: index, %end: index) attributes {kernel.nodes = ["Mul_0(Mul)"]} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    scf.for %i = %begin to %end step %c1 {
      %at = arith.muli %i, %c4 : index
      %v = vector.load %x[%at] : memref<?xf32>, vector<4xf32>
      %s = vector.load %w[%c0] : memref<4xf32>, vector<4xf32>
      %p = arith.mulf %v, %s : vector<4xf32>
      vector.store %p, %y[%at] : memref<?xf32>, vector<4xf32>
    }
    return
  }
  kernel.entry @run inputs [{name = "x", type = tensor<?x4xf32, #nn.dims<()[s0] -> (s0, 4)>>}] outputs [{name = "y", type = tensor<?x4xf32, #nn.dims<()[s0] -> (s0, 4)>>}] {
  ^bb0(%x: memref<?xf32>, %y: memref<?xf32>, %workspace: memref<?xi8>, %rows: index):
    %w = kernel.get_weight @w : memref<4xf32>
    kernel.launch @scale(%x, %w, %y) tasks(%rows) parallel : memref<?xf32>, memref<4xf32>, memref<?xf32>
  }
})mlir";

class Compile : public testing::Test {
protected:
  Compile() {
    int file;
    EXPECT_FALSE(llvm::sys::fs::createTemporaryFile("model", "mlir", file, path));
    llvm::raw_fd_ostream(file, true) << model;
    options.model = path.str().str();
    options.targets = {"generic"};
  }
  ~Compile() override { llvm::sys::fs::remove(path); }

  void compile() {
    CompileStatus status = compileModel(options, result, errors);
    EXPECT_EQ(status, CompileStatus::Done);
    for (const std::string &error : errors)
      ADD_FAILURE() << error;
  }

  /// Links the objects into this process and runs two rows.
  void expectRightNumbers() {
    std::vector<std::unique_ptr<llvm::MemoryBuffer>> objects;
    for (const OutputFile &object : result.objects)
      objects.push_back(object.toBuffer());
    std::vector<std::unique_ptr<llvm::MemoryBuffer>> weights;
    if (!result.weights.path.empty())
      weights.push_back(result.weights.toBuffer());
    auto loaded = LoadedModel::load(result.name, std::move(objects), std::move(weights));
    ASSERT_TRUE(bool(loaded)) << toString(loaded.takeError());
    EXPECT_STREQ((*loaded)->getInfo().name, "small");
    std::vector<Tensor> inputs;
    inputs.push_back(cantFail(Tensor::create(KILN_ELEMENT_F32, {2, 4})));
    for (int i = 0; i < 8; ++i)
      inputs[0].setValue(i, i + 1);
    auto execution = Execution::prepare(**loaded, inputs);
    ASSERT_TRUE(bool(execution)) << toString(execution.takeError());
    ASSERT_FALSE(bool(execution->run(nullptr)));
    const double want[] = {4, 6, 6, 4, 20, 18, 14, 8};
    for (int i = 0; i < 8; ++i)
      EXPECT_EQ(execution->getOutputs()[0].getValue(i), want[i]);
  }

  CompileOptions options;
  Compilation result;
  std::vector<std::string> errors;
  llvm::SmallString<128> path;
};

TEST_F(Compile, AsksForTilesEvenWhereTheCpuIsKnown) {
  options.checksCpu = false;
  auto hasCheck = [&](const char *target) {
    options.targets = {target};
    Compilation compilation;
    EXPECT_EQ(compileModel(options, compilation, errors), CompileStatus::Done);
    return llvm::any_of(compilation.objects, [](const OutputFile &object) { return llvm::StringRef(object.path).ends_with("_cpu.o"); });
  };
  EXPECT_FALSE(hasCheck("x86-64-v4"));
  EXPECT_TRUE(hasCheck("sapphirerapids"));
  options.checksCpu = true;
  EXPECT_TRUE(hasCheck("x86-64-v4"));
}

TEST_F(Compile, InProcess) {
  compile();
  expectRightNumbers();
}

TEST_F(Compile, ForThisMachine) {
  options.targets = {"native"};
  compile();
  EXPECT_EQ(result.target, "native");
  expectRightNumbers();
}

TEST_F(Compile, ForSeveralTargets) {
  options.targets = {"generic", "native"};
  compile();
  EXPECT_EQ(result.target, "generic,native");
  ASSERT_EQ(result.targets.size(), 2u);
  EXPECT_EQ(result.targets[1].name, "native");
  expectRightNumbers();
}

TEST_F(Compile, SeveralTargetsWithWeightsInAFile) {
  options.targets = {"native", "generic"};
  options.externalWeights = true;
  compile();
  EXPECT_EQ(result.weights.getSize(), 64u); // both use the same
  expectRightNumbers();
}

TEST_F(Compile, WeightsInAFile) {
  options.externalWeights = true;
  compile();
  EXPECT_EQ(result.weights.path, "small_weights.bin");
  EXPECT_EQ(result.weights.getSize(), 64u);
  expectRightNumbers();
}

TEST_F(Compile, WithAnotherCompiler) {
  options.cxx = "c++";
  compile();
  expectRightNumbers();
}

TEST_F(Compile, SameBytesTwice) {
  compile();
  std::string first = makeArchive(result).toBuffer()->getBuffer().str();
  Compilation again;
  options.jobs = 1;
  EXPECT_EQ(compileModel(options, again, errors), CompileStatus::Done);
  EXPECT_EQ(first, makeArchive(again).toBuffer()->getBuffer().str());
}

/// The archive that LLVM's own writer makes of the same objects.
TEST_F(Compile, TheArchiveIsLLVMs) {
  options.name = "a_name_that_is_longer_than_the_header";
  compile();
  std::vector<std::unique_ptr<llvm::MemoryBuffer>> objects;
  std::vector<llvm::NewArchiveMember> members;
  auto add = [&](const OutputFile &object) {
    objects.push_back(object.toBuffer());
    members.emplace_back(llvm::MemoryBufferRef(objects.back()->getBuffer(), object.path));
  };
  llvm::for_each(result.objects, add);
  OutputFile record = makeRecord(result);
  add(record);
  std::string want;
  llvm::raw_string_ostream out(want);
  auto format = llvm::object::Archive::K_GNU;
  ASSERT_FALSE(bool(llvm::writeArchiveToStream(out, members, llvm::SymtabWritingMode::NormalSymtab, format, true, false)));
  OutputFile file = makeArchive(result);
  EXPECT_EQ(file.getSize(), want.size());
  EXPECT_TRUE(file.toBuffer()->getBuffer() == want);
}

TEST_F(Compile, AnArchiveOfMoreThan4GiBHasAWideIndex) {
  auto none = [](llvm::raw_ostream &) {};
  ArchiveMember members[] = {{"weights.o", uint64_t(5) << 30, {"weights"}, none}, {"code.o", 100, {"run"}, none}};
  std::string text;
  llvm::raw_string_ostream out(text);
  writeArchive(out, members);
  EXPECT_EQ(archiveBytes(members), 8 + 60 + 8 * 3 + 12 + 60 + (uint64_t(5) << 30) + 60 + 100);
  EXPECT_TRUE(llvm::StringRef(text).substr(8).starts_with("/SYM64/ "));
  EXPECT_EQ(llvm::support::endian::read64be(text.data() + 68), 2u);
  EXPECT_EQ(llvm::support::endian::read64be(text.data() + 76), 8u + 60 + 24 + 12);
  EXPECT_EQ(llvm::support::endian::read64be(text.data() + 84), 8u + 60 + 24 + 12 + 60 + (uint64_t(5) << 30));
}

TEST_F(Compile, OnlyTheModelsOwnSymbols) {
  options.name = "other";
  compile();
  OutputFile file = makeArchive(result);
  auto bytes = file.toBuffer();
  auto archive = llvm::cantFail(llvm::object::Archive::create(bytes->getMemBufferRef()));
  size_t count = 0;
  for (const llvm::object::Archive::Symbol &symbol : archive->symbols()) {
    EXPECT_TRUE(symbol.getName().starts_with("other_")) << symbol.getName().str();
    ++count;
  }
  EXPECT_GE(count, 5u); // run, workspace_size, info, weights, the kernel
}

TEST_F(Compile, WeightsBeyondTheReachOfCodeAreRefused) {
  std::string text = model;
  constexpr llvm::StringLiteral pack = "shape = [4], map = (i) -> (3 - i)";
  text.replace(text.find(pack), pack.size(), "shape = [600000000], map = (i) -> (i)"); // zeros behind the four elements
  std::error_code error;
  llvm::raw_fd_ostream(path, error) << text;
  EXPECT_EQ(compileModel(options, result, errors), CompileStatus::AtFault);
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0], "the weights take 2400000000 bytes, but at most 2013265920 can be embedded; use --weights=file");
}

TEST_F(Compile, AMissingCompilerIsTheUsersFault) {
  options.cxx = "no-such-compiler";
  EXPECT_EQ(compileModel(options, result, errors), CompileStatus::AtFault);
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0], "cannot find the compiler 'no-such-compiler'");
}

TEST_F(Compile, AFailingCompilerIsQuoted) {
  options.cxx = "false";
  EXPECT_EQ(compileModel(options, result, errors), CompileStatus::AtFault);
  ASSERT_FALSE(errors.empty());
  EXPECT_NE(errors[0].find("false' failed"), std::string::npos) << errors[0];
}

TEST_F(Compile, AnUnknownTargetIsNamed) {
  options.targets = {"vax"};
  EXPECT_EQ(compileModel(options, result, errors), CompileStatus::AtFault);
  EXPECT_EQ(errors[0].find("unknown target 'vax', expected one of: native, generic, x86-64-v2, x86-64-v3,"), 0u) << errors[0];
}

} // namespace
