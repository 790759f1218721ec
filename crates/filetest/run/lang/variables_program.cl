// Variables of program scope and static ones: initial values, addresses, changes, by one work-item of several.
#define CHECK(c) do { if (!(c)) { out[get_global_id(0)] = __LINE__; return; } } while (0)
#define DONE out[get_global_id(0)] = 0

typedef struct { char tag; int4 v; global int *to; } item;

global int counter = 5;
int zero, zeros[3];
static const float table[] = {1, 2.5f, -3};
constant char *global text = "text";
global int *constant where = &counter;
global int *constant *global twice = &where;
int *anything = zeros + 1;
extern global int later;
global int later = 9;
global item items[2] = {{'a', (int4)(1, 2, 3, 4), &later}, {'b', (int4)(5), zeros + 2}};
constant int numbers[] = {10, 20, 30};
constant int *picked = numbers + 1;
volatile global atomic_int sum = ATOMIC_VAR_INIT(7);
global uchar bytes[5] = {1, 2};
global short after = -2;

int next(void) { static int calls = 40; return ++calls; }
global int *also(void) { static global int once; return &once; }
__attribute__((noinline)) int add(global int *p, int x) { return *p += x; }

kernel void test(global int *out) {
  const bool first = get_global_id(0) == 0;
  if (!first) { atomic_fetch_add(&sum, 0); DONE; return; }
  CHECK(counter == 5 && zero == 0 && zeros[0] + zeros[1] + zeros[2] == 0);
  CHECK(table[1] == 2.5f && sizeof(table) == 12 && table[2] == -3);
  CHECK(text[0] == 't' && text[4] == 0);
  CHECK(where == &counter && **twice == 5 && *where == 5);
  *where += 2;
  CHECK(counter == 7);
  CHECK(add(&counter, 3) == 10 && counter == 10);
  CHECK(anything == &zeros[1]);
  *anything = 11;
  CHECK(zeros[1] == 11 && zeros[0] == 0 && zeros[2] == 0);
  CHECK(later == 9 && items[0].to == &later && items[1].to == zeros + 2);
  CHECK(items[0].tag == 'a' && items[1].v.w == 5 && all(items[0].v == (int4)(1, 2, 3, 4)));
  items[1].v.y = 6;
  *items[1].to = 12;
  items[0] = items[1];
  CHECK(items[0].v.y == 6 && items[0].v.x == 5 && items[0].tag == 'b' && zeros[2] == 12);
  CHECK(*picked == 20 && picked[1] == 30);
  CHECK(next() == 41 && next() == 42);
  CHECK(*also() == 0);
  ++*also();
  CHECK(*also() == 1);
  CHECK(atomic_fetch_sub(&sum, 3) == 7 && atomic_load(&sum) == 4);
  CHECK(bytes[0] == 1 && bytes[1] == 2 && bytes[2] == 0 && after == -2);
  bytes[4] = 0xff;
  after++;
  CHECK(after == -1 && bytes[4] == 0xff);
  CHECK(((ulong)&items & 15) == 0);
  DONE;
}
