// What a decision costs at least: open addressing, a keyed 64-bit fingerprint (HalfSipHash-1-3) of a 16-byte key, GCRA,
// 16 bytes a slot, a reading of the clock. Prints nanoseconds of CPU a decision. limit hot|uniform
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { KEYS = 1000000, BATCH = 4096, WIDTH = 16, RUNS = 3, DECISIONS = 2000000 };
typedef struct {
  uint64_t fingerprint;
  double tat;
} Slot;
static const double INTERVAL = 10e6, BURST = 10e6 * 1e6; // microseconds
static const uint64_t MASK = (1 << 21) - 1;
static Slot *table;

#define ROTATE(x, b) (((x) << (b)) | ((x) >> (32 - (b))))
#define ROUND                                                                                      \
  v0 += v1; v1 = ROTATE(v1, 5) ^ v0; v0 = ROTATE(v0, 16); v2 += v3; v3 = ROTATE(v3, 8) ^ v2;       \
  v0 += v3; v3 = ROTATE(v3, 7) ^ v0; v2 += v1; v1 = ROTATE(v1, 13) ^ v2; v2 = ROTATE(v2, 16);

static uint64_t hash(const char *key) {
  const uint32_t k0 = 0x12345678, k1 = 0x9abcdef0;
  uint32_t v0 = k0, v1 = k1 ^ 0xee, v2 = 0x6c796765 ^ k0, v3 = 0x74656462 ^ k1, word;
  for (int i = 0; i < WIDTH; i += 4) {
    memcpy(&word, key + i, 4);
    v3 ^= word;
    ROUND v0 ^= word;
  }
  word = (uint32_t)WIDTH << 16;
  v3 ^= word;
  ROUND v0 ^= word;
  v2 ^= 0xee;
  ROUND ROUND ROUND
  uint64_t h = ((uint64_t)(v1 ^ v3) << 32) | (v0 ^ v2);
  return h ? h : 1;
}

static double now_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

static double cpu_ns(void) {
  struct rusage u;
  getrusage(RUSAGE_SELF, &u);
  return (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e9 + (u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e3;
}

static double decide(const char *key) {
  double now = now_us();
  uint64_t h = hash(key), i = h & MASK;
  while (table[i].fingerprint && table[i].fingerprint != h) i = (i + 1) & MASK;
  double tat = table[i].fingerprint && table[i].tat > now ? table[i].tat : now, next = tat + INTERVAL;
  if (next - now > BURST) return -(next - now - BURST);
  table[i].fingerprint = h;
  table[i].tat = next;
  return (BURST - (next - now)) / INTERVAL;
}

static uint32_t seed = 42;
static uint32_t draw(void) {
  seed ^= seed << 13;
  seed ^= seed >> 17;
  seed ^= seed << 5;
  return seed % KEYS;
}

static void write_key(char *to, uint32_t id) {
  memcpy(to, "user:", 5);
  for (int i = 15; i >= 5; i--, id /= 10) to[i] = '0' + id % 10;
}

int main(int count, char **words) {
  int hot = count > 1 && strcmp(words[1], "hot") == 0;
  double sink = 0, runs[RUNS];
  char *keys = malloc(BATCH * WIDTH);
  table = calloc(MASK + 1, sizeof(Slot));
  for (uint32_t i = 0; i < KEYS; i++) {
    write_key(keys, i);
    sink += decide(keys);
  }
  for (int r = 0; r < RUNS; r++) {
    double spent = 0;
    int done = 0;
    for (; done < DECISIONS; done += BATCH) {
      for (int j = 0; j < BATCH; j++) write_key(keys + j * WIDTH, hot ? 7 : draw());
      double before = cpu_ns();
      for (int j = 0; j < BATCH; j++) sink += decide(keys + j * WIDTH);
      spent += cpu_ns() - before;
    }
    runs[r] = spent / done;
  }
  double low = runs[0] < runs[1] ? runs[0] : runs[1], high = runs[0] < runs[1] ? runs[1] : runs[0];
  printf("%.1f\n", runs[2] < low ? low : runs[2] > high ? high : runs[2]);
  return sink == 1;
}
