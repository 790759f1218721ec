// Blocks: what they must not be.
typedef int (^unary)(int);
constant int three = 3;
int (^program_block)(int) = ^(int x) { return x * three; };
int (^missing)(int);
extern int (^elsewhere)(int);
constant unary wrong_type = ^(float x) { return x; };
struct holder { unary member; };
unary chosen(int which);
void taker(int (^b)(int));
int apply(int x, int (^b)(int)) { return b(x) + b(1); }
int apply(float x, int (^b)(int)) { return b(x); }
int wrong_body(int (^b)(int)) { return b(1, 2) + n; }
void endless(int (^b)(int)) { endless(^(int x) { return x; }); }
kernel void takes_block(int (^b)(int)) { }
int (^takes_itself)(unary) = ^(unary b) { return b(1); };
unary *pointer;
unary many[2];

kernel void k(global int *out) {
  int n = 2, m[2] = {1, 2};
  unary twice = ^(int x) { return x * n; };
  unary nothing;
  twice = ^(int x) { return x; };
  unary other = n > 1 ? twice : program_block;
  out[0] = twice(1, 2);
  out[1] = twice(out);
  out[2] = *twice;
  out[3] = sizeof(twice);
  void (^captures)(void) = ^{ out[4] = twice(1); };
  void (^assigns)(void) = ^{ n = 3; };
  int (^mixed)(int) = ^(int x) { if (x) return 1; return 2.0f; };
  int (^may_end)(int) = ^int(int x) { if (x) return 1; };
  void (^jumps)(void) = ^{ break; };
  void (^variadic)(int) = ^(int a, ...) { };
  void (^unnamed)(int) = ^(int) { };
  int number = ^{ return 1; };
  unary list = { ^(int x) { return x; } };
  global int *address = &twice;
  for (int i = 0; i < 2; i++) ^{ continue; }();
  unary self = ^(int x) { return self(x); };
  ^(int x) { return x; };
  int ^(odd)(int) = 0;
  void (^nested)(void) = ^{ int (^inner)(void) = ^{ return n + m[1]; }; out[5] = inner(); };
  nested();
  taker(twice);
  out[7] = apply(1, twice) + apply(out[0], ^(int x) { return x * n; });
  apply(1, out);
  apply(1);
  apply(1, ^{ });
  apply;
  wrong_body(twice);
  endless(twice);
  out[6] = program_block(n) + ^(int x) { return x + n; }(4);
}
