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
  speech_session session, shared;
  const std::vector<float> first(some, some + 3), second{300, 600}, third(far, far + 1);
  for (const std::vector<float> *durations : {&first, &second, &third, &first}) {
    if (session.durations(*durations, {int64_t(durations->size())}).try_run() != KILN_STATUS_OK) {
      std::printf("session far: %s\n", session.message());
      continue;
    }
    const kiln::tensor<float> sound = session.sound();
    std::printf("session: %d frames, last %g\n", int(session.frames_count()), double(sound.data()[sound.size() - 3]));
  }
  // The bound of 900 frames of the run before is too much for memory that has room for the 6 of this one.
  float few[18] = {}, both[18] = {1.5f, 3, 0.5f};
  session.durations(second, {2}).run();
  session.durations(first, {3}).sound({few, 17});
  std::printf("session %d: %s\n", int(session.try_run()), session.message());
  session.sound(few).run();
  std::printf("session: %d frames, last %g%s\n", int(session.frames_count()), double(few[15]), session.message());
  // A run whose input may have changed is not repeated, and a bound that is too large stays out of the next one.
  shared.durations({both, 3}, {3}).sound(both);
  std::printf("shared %d: %s\n", int(shared.try_run()), shared.message());
  shared.durations(first, {3}).run();
  std::printf("shared: %d frames, last %g\n", int(shared.frames_count()), double(both[15]));
  both[0] = far[0];
  shared.durations({both, 1}, {1}).try_run();
  std::printf("shared far: %s\n", shared.message());
  shared.durations(first, {3}).run();
  std::printf("shared: %d frames, last %g\n", int(shared.frames_count()), double(both[15]));
}
