// Sizes, alignments and offsets of scalars, vectors, structures, unions and arrays.
#define CHECK(c) do { if (!(c)) { out[get_global_id(0)] = __LINE__; return; } } while (0)
#define DONE out[get_global_id(0)] = 0

struct plain { char a; int b; char c; };
struct vecs { char a; float3 b; char c; double2 d; };
struct __attribute__((packed)) tight { char a; int b; char c; };
struct __attribute__((aligned(64))) wide { char a; };
struct member_aligned { char a; int b __attribute__((aligned(16))); };
struct nested { struct plain p[3]; short tail; };
union mix { char c[5]; int i; double d; };
enum colour { RED, GREEN = 10, BLUE };
typedef struct { uchar4 px; struct { int x, y; } pos; } anon_t;
#define OFFSET(t, m) ((size_t)((private char *)&((private t *)0)->m - (private char *)0))
kernel void test(global int *out) {
  CHECK(sizeof(char) == 1 && sizeof(short) == 2 && sizeof(int) == 4 && sizeof(long) == 8);
  CHECK(sizeof(float) == 4 && sizeof(double) == 8 && sizeof(half) == 2);
  CHECK(sizeof(size_t) == sizeof(private void *) && sizeof(ptrdiff_t) == sizeof(size_t));
  CHECK(sizeof(uchar2) == 2 && sizeof(uchar3) == 4 && sizeof(char16) == 16);
  CHECK(sizeof(float3) == 16 && sizeof(float4) == 16 && sizeof(double16) == 128);
  CHECK(sizeof(struct plain) == 12);
  CHECK(sizeof(struct vecs) == 64);
  CHECK(sizeof(struct tight) == 6);
  CHECK(sizeof(struct wide) == 64);
  CHECK(sizeof(struct member_aligned) == 32);
  CHECK(sizeof(struct nested) == 40);
  CHECK(sizeof(union mix) == 8);
  CHECK(sizeof(anon_t) == 12);
  CHECK(sizeof(int[7]) == 28 && sizeof(float3[2]) == 32);
  CHECK(OFFSET(struct vecs, b) == 16 && OFFSET(struct vecs, c) == 32 && OFFSET(struct vecs, d) == 48);
  CHECK(OFFSET(struct tight, b) == 1);
  CHECK(OFFSET(struct nested, tail) == 36);
  CHECK(RED == 0 && GREEN == 10 && BLUE == 11);
  CHECK(vec_step(float4) == 4 && vec_step(float3) == 4 && vec_step(int) == 1);
  union mix u;
  u.d = 0.0;
  u.i = 0x01020304;
  CHECK(u.c[0] == 4 && u.c[3] == 1);
  struct nested n, m;
  n.p[1].b = 5;
  n.tail = 7;
  m = n;
  n.p[1].b = 6;
  CHECK(m.p[1].b == 5 && m.tail == 7 && n.p[1].b == 6);
  private int arr[3] = {1, 2, 3};
  CHECK(sizeof arr == 12 && sizeof(arr)/sizeof(arr[0]) == 3);
  CHECK(((size_t)&n & 3) == 0);
  DONE;
}
