//===- MachineFile.cpp - The machines that a plan is for --------------------===//
//
//   { "kiln_machine": 1, "name": "...", "cores": 2, "ranks_per_machine": 2, "speed": 1, "busy_speed": 0.98, "cache_bytes": 33554432,
//     "memory": { "one_gb_per_s": 35, "all_gb_per_s": 46 },
//     "inside": { "latency_us": 0.4, "message_us": 0.3, "gb_per_s": 9, "reduced_gb_per_s": 7 }, "between": { ... }, "turn_us": 5 }
//
//===----------------------------------------------------------------------===//
#include "compiler/plan/MachineFile.h"
#include "compiler/Recursion.h"
#include "compiler/files/Printable.h"
#include "compiler/files/Suggestion.h"
#include "compiler/run/Tensor.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cstdio>

using namespace llvm;

namespace kiln {

double PlanMachine::getMemory(double running) const { return std::min(std::max(running, 1.0) * memoryOfOne, memoryOfAll); }

double PlanMachine::getSpeed(double running, double own) const {
  double most = double(cores);
  if (most <= 1 || running <= own)
    return 1;
  // Between one core and all, the speed falls evenly.
  auto fall = [&](double busy) { return 1 - (1 - busySpeed) * (std::min(busy, most) - 1) / (most - 1); };
  return fall(running) / fall(own);
}

static constexpr double microseconds = 1e6, gigabytes = 1e-9;

static json::Object linkToJson(const Link &link) {
  return json::Object{{"latency_us", link.latency * microseconds}, {"message_us", link.message * microseconds}, {"gb_per_s", link.bytesPerSecond * gigabytes},
                      {"reduced_gb_per_s", link.reducedBytesPerSecond * gigabytes}, {"long_gb_per_s", link.longBytesPerSecond * gigabytes}};
}

json::Object toJson(const PlanMachine &machine) {
  json::Object object{{"kiln_machine", 1}, {"name", jsonText(machine.name)}, {"cores", machine.cores}, {"ranks_per_machine", machine.ranksPerMachine},
                      {"speed", machine.speed}, {"busy_speed", machine.busySpeed}, {"cache_bytes", machine.cacheBytes},
                      {"memory", json::Object{{"one_gb_per_s", machine.memoryOfOne * gigabytes}, {"all_gb_per_s", machine.memoryOfAll * gigabytes}}},
                      {"turn_us", machine.turn * microseconds}};
  if (machine.inside)
    object["inside"] = linkToJson(*machine.inside);
  if (machine.between)
    object["between"] = linkToJson(*machine.between);
  return object;
}

namespace {
/// The fields of an object, which must all be known. The first fault stays.
class Fields {
public:
  Fields(const json::Object &object, StringRef place, std::string &fault) : object(object), place(place.str()), fault(fault) {}

  /// A number in these bounds. It must be there, unless it has a value already that stays: `isOptional`.
  void read(StringRef key, double &value, double least, double most, bool isOptional = false) {
    const json::Value *field = take(key);
    if (!field && isOptional)
      return;
    std::optional<double> number = field ? field->getAsNumber() : std::nullopt;
    if (!field)
      lacks(key);
    else if (!number || !(*number >= least && *number <= most))
      demands(key, "a number from " + Twine(printNumber(least)) + " to " + printNumber(most));
    else
      value = *number;
  }
  void read(StringRef key, int64_t &value, int64_t most) {
    const json::Value *field = take(key);
    std::optional<int64_t> number = field ? field->getAsInteger() : std::nullopt;
    if (!field)
      lacks(key);
    else if (!number || *number < 1 || *number > most)
      demands(key, "an integer from 1 to " + Twine(most));
    else
      value = *number;
  }
  void read(StringRef key, std::string &value) {
    const json::Value *field = take(key);
    if (field && !field->getAsString())
      demands(key, "a string");
    else if (field)
      value = field->getAsString()->str();
  }
  const json::Object *inner(StringRef key, bool isOptional) {
    const json::Value *field = take(key);
    if (!field && isOptional)
      return nullptr;
    if (!field)
      lacks(key);
    else if (!field->getAsObject())
      demands(key, "an object");
    return field ? field->getAsObject() : nullptr;
  }
  void checkNames() {
    for (const auto &entry : object)
      if (StringRef name = entry.first; !is_contained(known, name))
        fail((place.empty() ? "it" : place) + " has an unknown field '" + name + "'" + suggest(name, known));
  }

private:
  static std::string printNumber(double number) {
    char text[32];
    std::snprintf(text, sizeof text, "%g", number);
    return text;
  }
  const json::Value *take(StringRef key) {
    known.push_back(key.str());
    return object.get(key);
  }
  void lacks(StringRef key) { fail((place.empty() ? "it" : place) + " lacks '" + key + "'"); }
  void demands(StringRef key, const Twine &what) { fail("'" + key + "'" + (place.empty() ? "" : " of " + place) + " must be " + what); }
  void fail(const Twine &text) {
    if (fault.empty())
      fault = text.str();
  }

  const json::Object &object;
  std::string place;
  std::string &fault;
  std::vector<std::string> known;
};
} // namespace

static std::optional<Link> readLink(Fields &machine, StringRef key, bool isOptional, std::string &fault) {
  const json::Object *object = machine.inner(key, isOptional);
  if (!object)
    return std::nullopt;
  Fields fields(*object, "'" + key.str() + "'", fault);
  // A second, and from a kilobyte to a petabyte per second.
  constexpr double longest = 1e6, slowest = 1e-6, fastest = 1e6;
  double latency = 0, message = 0, rate = 0, reduced = 0, ofLong = 0;
  fields.read("latency_us", latency, 0, longest);
  fields.read("message_us", message, 0, longest, /*isOptional=*/true);
  fields.read("gb_per_s", rate, slowest, fastest);
  reduced = ofLong = rate;
  fields.read("reduced_gb_per_s", reduced, slowest, fastest, /*isOptional=*/true);
  fields.read("long_gb_per_s", ofLong, slowest, fastest, /*isOptional=*/true);
  fields.checkNames();
  return Link{latency / microseconds, message / microseconds, rate / gigabytes, reduced / gigabytes, ofLong / gigabytes};
}

static PlanMachine readFields(const json::Object &object, std::string &fault) {
  PlanMachine machine;
  Fields fields(object, "", fault);
  int64_t version = 0;
  constexpr int64_t mostCores = 4096, mostRanks = 256;
  fields.read("kiln_machine", version, 1);
  fields.read("name", machine.name);
  fields.read("cores", machine.cores, mostCores);
  fields.read("ranks_per_machine", machine.ranksPerMachine, mostRanks);
  fields.read("speed", machine.speed, 1e-3, 1e3, /*isOptional=*/true);
  fields.read("busy_speed", machine.busySpeed, 1e-2, 1, /*isOptional=*/true);
  fields.read("cache_bytes", machine.cacheBytes, 0, 1e12);
  if (const json::Object *memory = fields.inner("memory", /*isOptional=*/false)) {
    Fields inner(*memory, "'memory'", fault);
    inner.read("one_gb_per_s", machine.memoryOfOne, 1e-3, 1e6);
    inner.read("all_gb_per_s", machine.memoryOfAll, 1e-3, 1e6);
    inner.checkNames();
    machine.memoryOfOne /= gigabytes, machine.memoryOfAll /= gigabytes;
  }
  fields.read("turn_us", machine.turn, 0, 1e6, /*isOptional=*/true);
  machine.turn /= microseconds;
  machine.inside = readLink(fields, "inside", /*isOptional=*/machine.ranksPerMachine == 1, fault);
  machine.between = readLink(fields, "between", /*isOptional=*/true, fault);
  fields.checkNames();
  return machine;
}

Expected<PlanMachine> readMachine(StringRef text) {
  Expected<json::Value> value = parseJson(text);
  if (!value)
    return value.takeError();
  const json::Object *object = value->getAsObject();
  if (!object)
    return makeError("expected what kiln plan --measure writes");
  std::string fault;
  PlanMachine machine = readFields(*object, fault);
  if (!fault.empty())
    return makeError(fault);
  return machine;
}

} // namespace kiln
