// The session repeats runs itself.
#include "speech.hpp"
#include <cstdio>
#include <vector>

extern "C" int speak(const float *durations, int64_t words, int64_t guess);

int main() {
  const float some[] = {1.5f, 3, 0.5f}, none[] = {0}, many[] = {400, 600}, far[] = {3e6f};
  if (speak(some, 3, 0) || speak(some + 1, 1, 5) || speak(none, 1, 0) || speak(many, 2, 6))
    return 1;
  if (speak(far, 1, 0) == KILN_STATUS_DIMENSION_OUT_OF_BOUNDS)
    std::printf("far: a dynamic dimension outside the bounds\n");
  speech_session session;
  const std::vector<float> first(some, some + 3), second{300, 600}, third(far, far + 1);
  for (const std::vector<float> *durations : {&first, &second, &third}) {
    if (session.durations(*durations, {int64_t(durations->size())}).try_run() != KILN_STATUS_OK) {
      std::printf("session far: %s\n", session.message());
      continue;
    }
    const kiln::tensor<float> sound = session.sound();
    std::printf("session: %d frames, last %g\n", int(session.frames_count()), double(sound.data()[sound.size() - 3]));
  }
}
