// An array in a packed structure is no more aligned than the structure, in an argument and through a pointer.
// run: global=3 local=1
// arg: buffer long 3 = zero
// arg: value int 7
// arg: value uchar 1 2 0 0 0 0 0 0 0 3 0 0 0 0 0 0 0 4
// expect: 0 long = 13 14 15
typedef struct __attribute__((packed)) { char a; long list[2]; char b; } tight;
long second(const private tight *t, int i) { return t->list[i]; }
kernel void k(global long *out, int n, tight t) {
  size_t i = get_global_id(0);
  tight copies[2] = { t, t };
  out[i] = t.a + t.list[i & 1] + second(&copies[1], 1 - (i & 1)) + n + i;
}
