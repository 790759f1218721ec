// Layouts that attributes and pragmas change, and accesses to what is aligned less than its type is.

#define CHECK(c) do { if (!(c)) { out[get_global_id(0)] = __LINE__; return; } } while (0)

typedef short A64 __attribute__((aligned(64)));
typedef __attribute__((aligned(32))) short A32;
typedef short __attribute__((aligned(16))) A16;
typedef int8 L __attribute__((aligned(4)));
typedef double2 D __attribute__((aligned(8)));
typedef struct { char c; int i; } pair;
typedef pair apair __attribute__((aligned(32)));
typedef struct V { int l; } __attribute__((aligned(512))) V;
struct S { char c; A64 a; char d; };
struct T { char c; L l; };
enum small { P = 40000 } __attribute__((packed));
enum smaller { M = -3, N = 100 } __attribute__((__packed__));
typedef int S16 __attribute__((mode(HI)));
typedef unsigned U8 __attribute__((__mode__(__QI__)));
typedef int I64 __attribute__((mode(DI)));
typedef short s4 __attribute__((vector_size(8)));

#pragma pack(push, 1)
struct R1 { char t; long v; };
#pragma pack(push, 2)
struct R2 { char t; long v; int8 w; };
#pragma pack(pop)
struct R3 { char t; int v; };
#pragma pack(4)
struct R4 { char t; long v; };
#pragma pack()
struct R5 { char t; long v; };
#pragma pack(pop)
struct R6 { char t; long v; };
_Pragma("pack(push, here, 1)")
struct R7 { char t; short v; };
#pragma pack(pop, here)
struct R8 { char t; short v; };

int unaligned(L *p) { return (*p).s7; }
int sum3(local L *p) { return p[1].s0; }

kernel void test(global int *out) {
    int id = get_local_id(0);
    local char pad;
    local int big[5] __attribute__((aligned(1024)));
    local L places[3];
    out[get_global_id(0)] = -2;
    CHECK(__alignof__(A64) == 64 && __alignof__(A32) == 32 && __alignof__(A16) == 16 && sizeof(A64) == 2);
    CHECK(__alignof__(L) == 4 && sizeof(L) == 32 && __alignof__(D) == 8 && __alignof__(apair) == 32);
    CHECK(sizeof(V) == 512 && __alignof__(V) == 512 && sizeof(struct S) == 128 && __alignof__(struct S) == 64);
    CHECK(sizeof(struct T) == 36 && __alignof__(struct T) == 4);
    CHECK(sizeof(enum small) == 2 && sizeof(enum smaller) == 1 && (enum smaller)M == -3 && (enum small)P == 40000);
    CHECK(sizeof(S16) == 2 && sizeof(U8) == 1 && (U8)-1 == 255 && (S16)40000 < 0 && sizeof(I64) == 8);
    CHECK(sizeof(s4) == 8);
    CHECK(sizeof(struct R1) == 9 && sizeof(struct R2) == 42 && sizeof(struct R3) == 5 && sizeof(struct R4) == 12);
    CHECK(sizeof(struct R5) == 16 && sizeof(struct R6) == 16 && sizeof(struct R7) == 3 && sizeof(struct R8) == 4);
    int variable __attribute__((aligned(128))) = 1;
    CHECK(__alignof__(variable) == 128 && ((ulong)&variable & 127) == 0);
    CHECK(((ulong)big & 1023) == 0);
    pad = 1;
    big[0] = 4;
    barrier(CLK_LOCAL_MEM_FENCE);
    CHECK(pad == 1 && big[0] == 4);

    // Four bytes past a boundary of 32.
    int words[20] __attribute__((aligned(32)));
    for (int i = 0; i < 20; i++) words[i] = i;
    L *p = (L *)(words + 1);
    CHECK((*p).s0 == 1 && p->s7 == 8 && p[1].s3 == 12 && unaligned(p) == 8);
    p[1] = *p + 100;
    CHECK(words[9] == 101 && words[16] == 108 && words[17] == 17);
    struct T t = { 1, (int8)(2) };
    t.l.s3 = 9;
    CHECK(t.l.s3 == 9 && t.l.s2 == 2 && t.c == 1);
    struct T ts[2] = { { 1, (int8)(2) }, { 3, (int8)(4) } };
    L *q = &ts[1].l;
    CHECK(q->s5 == 4 && ts[1].c == 3);
    places[id % 3] = (int8)(5);
    barrier(CLK_LOCAL_MEM_FENCE);
    CHECK(places[0].s0 == 5);
    struct R2 r = { 1, 2, (int8)(3) };
    r.w[id & 7] = 44;
    CHECK(r.w[id & 7] == 44 && r.v == 2);

    V across;
    across.l = id;
    barrier(CLK_LOCAL_MEM_FENCE);
    CHECK(((ulong)&across & 511) == 0 && across.l == id);
    barrier(CLK_LOCAL_MEM_FENCE);
    CHECK(across.l == id);

    // Constants that are variables.
    const uint width = 3;
    const int two = 2, three = two + 1;
    float b[width * 2];
    CHECK(sizeof(b) == 24);
    switch (id - id + 3) {
    case two: CHECK(0); break;
    case three: break;
    default: CHECK(0);
    }
    out[get_global_id(0)] = 0;
}
