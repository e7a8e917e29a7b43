//===- LoadedModel.h - A compiled model, ready to run ----------------------===//
#ifndef KILN_COMPILER_RUN_LOADEDMODEL_H
#define KILN_COMPILER_RUN_LOADEDMODEL_H

#include "compiler/run/LaunchedModel.h"
#include "compiler/run/Program.h"
#include "compiler/run/RankTeam.h"
#include "compiler/run/Tensor.h"
#include "llvm/Support/MemoryBuffer.h"
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace llvm::orc {
class LLJIT;
}

namespace kiln {

struct LinkingFaults;

/// Sizes of dynamic dimensions by their names.
using NamedSizes = std::map<std::string, int64_t>;

/// The objects of a library, linked into this process, or into a program that a command runs. Any number may exist at once. In this process, running is const
/// and thread-safe.
class LoadedModel {
public:
  /// Links the objects that would be packaged as `name`. `weights` are the contents of the weights file, or of each rank's; none if they are embedded.
  static llvm::Expected<std::unique_ptr<LoadedModel>> load(llvm::StringRef name, std::vector<std::unique_ptr<llvm::MemoryBuffer>> objects,
                                                           std::vector<std::unique_ptr<llvm::MemoryBuffer>> weights = {});
  /// The model of a program.
  static llvm::Expected<std::unique_ptr<LoadedModel>> load(std::unique_ptr<Program> program, std::unique_ptr<llvm::MemoryBuffer> weights = nullptr);
  /// Links the objects of a library that has a model in stages, `stages` being their names in order. It looks like the whole model, and a run calls one stage
  /// after the other. Of a sharded one, `weights` are those of all ranks of the first stage, of the second one, and so on.
  static llvm::Expected<std::unique_ptr<LoadedModel>> loadStages(llvm::StringRef name, llvm::ArrayRef<std::string> stages,
                                                                 std::vector<std::unique_ptr<llvm::MemoryBuffer>> objects,
                                                                 std::vector<std::unique_ptr<llvm::MemoryBuffer>> weights = {});
  ~LoadedModel();
  /// Its ranks are the processes of a launch, not threads of this one.
  void setLaunched(std::shared_ptr<LaunchedModel> model) { launched = std::move(model); }

  const kiln_model_info &getInfo() const { return *info; }
  /// The target that is used on the machine.
  const char *getTarget() const { return target; }
  /// The program that the model is, or null if it is in this process.
  const Program *getProgram() const { return program.get(); }
  llvm::ArrayRef<kiln_tensor_info> getInputs() const { return {info->inputs, size_t(info->num_inputs)}; }
  llvm::ArrayRef<kiln_tensor_info> getOutputs() const { return {info->outputs, size_t(info->num_outputs)}; }
  /// Whether a run raises the dimension, which the caller guesses.
  bool isRaised(int symbol) const;
  /// The dimension along which an input or output is cut, of which each rank has its part, one for each axis of the grid; empty if all have the whole.
  llvm::StringRef findCut(llvm::StringRef tensor) const;
  llvm::ArrayRef<kiln_sequence_info> getSequences() const { return {info->sequences, size_t(info->num_sequences)}; }

  /// An input or output of the ONNX model, and its tensors.
  struct Slot {
    /// Null for a plain tensor.
    const kiln_sequence_info *list;
    size_t first, count;
    /// Not an output of the ONNX model, but the bytes that strings point into.
    bool isBytes() const { return list && list->is_bytes; }
  };
  std::vector<Slot> getSlots(bool isOutput) const;

  /// The values of the model's dynamic dimensions that these inputs have; checks element types, ranks and every dimension.
  llvm::Expected<std::vector<int64_t>> inferDims(llvm::ArrayRef<Tensor> inputs, const NamedSizes &given = {}) const;
  /// The dimensions of a tensor for these values.
  llvm::Expected<llvm::SmallVector<int64_t>> getShape(const kiln_tensor_info &tensor, llvm::ArrayRef<int64_t> dims) const;
  /// The number of elements that output `output` needs room for, if its size depends on the data.
  llvm::Expected<std::optional<int64_t>> getMostElements(size_t output, llvm::ArrayRef<int64_t> dims) const;
  llvm::Expected<size_t> getWorkspaceSize(llvm::ArrayRef<int64_t> dims) const;

  llvm::ArrayRef<kiln_demand_info> getDemands() const { return {info->demands, size_t(info->num_demands)}; }
  /// The number that a demand is about; nullopt if it cannot be computed for these sizes.
  std::optional<int64_t> evaluateDemand(const kiln_demand_info &demand, llvm::ArrayRef<int64_t> dims) const;
  static bool isMet(const kiln_demand_info &demand, int64_t number) { return demand.is_least ? number >= 0 : number == 0; }
  /// What NAME_explain of the header says of these sizes: "height 33: must be a multiple of 32 (Add 'p')"; empty if nothing is wrong.
  std::string explain(llvm::ArrayRef<int64_t> dims) const;
  /// Demands on sizes that the data decide: ": the data must give ...". A run that ends with KILN_STATUS_DIMENSION_MISMATCH has found one that does not hold.
  std::string describeDataDemands() const;

private:
  friend class Execution;
  LoadedModel();
  /// Whether this version of Kiln can run it on the machine.
  llvm::Error check() const;
  llvm::Expected<size_t> askWorkspaceSize(llvm::ArrayRef<int64_t> dims) const;
  llvm::Expected<size_t> sumWorkspaces(llvm::ArrayRef<int64_t> dims) const;
  llvm::Error findFunctions();
  llvm::Error link(std::vector<std::unique_ptr<llvm::MemoryBuffer>> objects);
  llvm::Error solveDim(const kiln_tensor_info &tensor, int axis, int64_t size, std::vector<int64_t> &dims) const;
  std::string getSymbolField(int symbol) const;
  std::string describeBound(int symbol, int64_t size) const;
  llvm::Expected<int64_t> evaluate(llvm::StringRef text, llvm::ArrayRef<int64_t> dims) const;
  /// The number of symbols that the caller gives. The run computes the others.
  int getNumGiven() const { return info->num_symbols - info->num_computed; }

  std::string name;
  /// Those of a model in stages.
  std::vector<std::unique_ptr<LoadedModel>> stages;
  std::shared_ptr<llvm::orc::LLJIT> jit;
  /// The functions that the objects lack, as the linker has told.
  std::shared_ptr<LinkingFaults> faults;
  std::unique_ptr<Program> program;
  /// What `info` points to, for a program.
  llvm::BumpPtrAllocator tables;
  /// One, or one for each rank that is in this process, or none.
  std::vector<std::shared_ptr<llvm::MemoryBuffer>> weights;
  /// Rank 0's end of a model whose ranks are processes.
  std::shared_ptr<LaunchedModel> launched;
  const kiln_model_info *info = nullptr;
  const char *target = nullptr;
  void *runFunction = nullptr;
  void *workspaceFunction = nullptr;
};

/// Everything one thread needs to run a model: outputs, workspace, the structs of the call.
class Execution {
public:
  /// `inputs` must outlive the execution. `given` has the dimensions that no input has.
  static llvm::Expected<Execution> prepare(const LoadedModel &model, llvm::ArrayRef<Tensor> inputs, const NamedSizes &given = {});

  /// Runs once. Fails with the text of the status, or if the model wrote outside a buffer.
  llvm::Error run(const kiln_context *context);
  /// Only the call, for measurements of a model in this process.
  kiln_status call(const kiln_context *context) const;
  /// Runs a model that is a program, as often as the counts say.
  llvm::Expected<RunTimes> runElsewhere(const RunCounts &counts);
  /// The instructions of one run of a model that is a program: what a second run adds to the first. nullopt: nothing counts them.
  llvm::Expected<std::optional<int64_t>> countInstructions() const;

  /// What the ranks of a sharded model have taken in all runs since the last call; empty for another model.
  llvm::Expected<std::vector<RankTimes>> takeRankTimes() const;
  /// Whether the runs have written nothing beyond their buffers.
  llvm::Error checkMemory() const;
  /// digestOutput() of the memory of each output.
  std::vector<uint64_t> digestOutputs() const;

  /// In their actual shapes after `run`.
  llvm::ArrayRef<Tensor> getOutputs() const { return outputs; }
  size_t getWorkspaceSize() const { return workspace.getByteSize(); }

private:
  const LoadedModel *model = nullptr;
  llvm::Error prepareStages();
  llvm::Error prepareStages(void *const *places, const void *room);
  kiln_status callStages(int32_t rank, const kiln_context *context) const;
  bool areGuardsIntact() const;
  llvm::Error shapeOutputs();
  llvm::Error makeRoom();
  llvm::Expected<bool> grow(const std::vector<int64_t> &before);
  kiln_status callRank(int32_t rank, void *const *outputPlaces, const void *room, const kiln_context *context) const;
  /// The buffers that runs write to.
  std::vector<const Tensor *> listBuffers() const;
  /// The same, null for those of which each rank has its part.
  std::vector<const Tensor *> listEqualBuffers() const;
  bool runsAllRanks(const kiln_context *context) const { return team && !(context && context->communicator); }
  RequestWriter makeRequest(const RunCounts &counts) const;
  /// The answer of a model that is a program, which has asked for the pictures that it wants decoded.
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> askForRun(const RunCounts &counts);
  llvm::Error decodePicture(AnswerReader &reader);

  /// The run writes the dimensions that depend on the data.
  mutable std::vector<int64_t> dims;
  /// Those that a model that is a program has asked for, as they stand in its requests.
  std::vector<std::string> pictures;
  std::vector<const Tensor *> inputTensors;
  std::vector<const void *> inputPointers;
  std::vector<void *> outputPointers;
  /// Those of a stage are only the borders to later ones.
  std::vector<Tensor> outputs;
  /// The buffers of outputs whose size depends on the data, by output.
  std::map<size_t, Tensor> rooms;
  /// The ranks of a sharded model, unless the caller has a communicator.
  std::unique_ptr<RankTeam> team;
  Tensor workspace;
  /// Those of a model in stages, for each rank, whose workspaces are parts of the rank's.
  std::vector<std::vector<Execution>> stages;
  void *stageWorkspace = nullptr;
};

} // namespace kiln

#endif // KILN_COMPILER_RUN_LOADEDMODEL_H
