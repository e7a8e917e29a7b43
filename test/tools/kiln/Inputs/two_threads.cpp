// Two models, one of them run by two threads at once, each with its own outputs and workspace.
#include "first.h"
#include "second.h"

#include <cstdio>
#include <thread>
#include <vector>

static bool runOften(std::vector<float> &y) {
  static const float x[] = {1, 2, 3, 4, 5, 6, 7, 8};
  std::vector<unsigned char> memory(first_workspace_size() + 64);
  void *workspace = memory.data() + 64 - reinterpret_cast<uintptr_t>(memory.data()) % 64;
  first_inputs inputs = {x};
  first_outputs outputs = {y.data()};
  for (int i = 0; i < 100; ++i)
    if (first_run(&inputs, &outputs, workspace, nullptr) != KILN_STATUS_OK)
      return false;
  return true;
}

int main() {
  std::vector<float> a(8), b(8), c(8);
  bool ranA = false, ranB = false;
  std::thread one([&] { ranA = runOften(a); }), two([&] { ranB = runOften(b); });
  one.join();
  two.join();
  static const float x[] = {1, 2, 3, 4, 5, 6, 7, 8};
  std::vector<unsigned char> memory(second_workspace_size() + 64);
  second_inputs inputs = {x};
  second_outputs outputs = {c.data()};
  void *workspace = memory.data() + 64 - reinterpret_cast<uintptr_t>(memory.data()) % 64;
  bool ranC = second_run(&inputs, &outputs, workspace, nullptr) == KILN_STATUS_OK;
  bool equal = ranA && ranB && ranC && a == b && a == c;
  std::puts(equal ? "equal" : "different");
  return !equal;
}
