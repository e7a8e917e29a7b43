// What a sketch finds in the Arduino core, as far as the sketches of Kiln's folders use it.
#include <cstdio>

struct {
  void begin(long) {}
  void println(int number) { std::printf("%d\n", number); }
} Serial;

void setup();
void loop();
int main() {
  setup();
  loop();
}
