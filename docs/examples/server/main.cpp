// Answers requests of any length in several threads, as a server does: each line of the standard input is one request, the numbers of its words. Usage: server THREADS
#include "intent.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace {

std::string answer(intent_session &session, const std::string &request) {
  std::vector<int64_t> tokens;
  std::istringstream words(request);
  for (int64_t token; words >> token;)
    tokens.push_back(token);
  // A request that the model cannot take is answered like any other. try_run() never throws.
  if (session.tokens(tokens, {1, int64_t(tokens.size())}).try_run() != KILN_STATUS_OK)
    return session.message();
  kiln::tensor<float> probabilities = session.probabilities();
  const float *best = std::max_element(probabilities.begin(), probabilities.end());
  char text[64];
  std::snprintf(text, sizeof text, "class %d, %.1f %%", int(best - probabilities.begin()), 100 * double(*best));
  return text;
}

} // namespace

int main(int argc, char **argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 1;
  std::vector<std::string> requests;
  for (std::string line; std::getline(std::cin, line);)
    requests.push_back(line);
  std::vector<std::string> answers(requests.size());

  std::mutex lock;
  size_t next = 0;
  std::vector<std::thread> workers;
  for (int i = 0; i < threads; ++i)
    workers.emplace_back([&] {
      // One session for each thread. It keeps its memory, so that only longer requests than all before allocate.
      intent_session session;
      for (;;) {
        std::unique_lock<std::mutex> guard(lock);
        if (next == requests.size())
          return;
        const size_t mine = next++;
        guard.unlock();
        answers[mine] = answer(session, requests[mine]);
      }
    });
  for (std::thread &worker : workers)
    worker.join();
  for (const std::string &text : answers)
    std::puts(text.c_str());
}
