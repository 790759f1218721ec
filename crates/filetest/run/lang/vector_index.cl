// Components of vectors by number, constant or not, in every address space; halves of vectors of three.

#define CHECK(c) do { if (!(c)) { out[get_global_id(0)] = __LINE__; return; } } while (0)

constant int4 table = (int4)(10, 11, 12, 13);

typedef struct { int before; float3 v; uchar16 w; } record;

int third(short8 v) { return v[2]; }
short8 made(int n) { return (short8)(n, n + 1, n + 2, n + 3, n + 4, n + 5, n + 6, n + 7); }

kernel void test(global int *out) {
    int id = get_local_id(0), one = min(id, 0) + 1;
    local int4 shared[16];
    local uchar3 narrow[16];
    out[get_global_id(0)] = -2;

    uchar16 v = 3;
    v[8 + one] = 200;
    CHECK(v.s9 == 200 && v.s8 == 3 && v.sa == 3);
    CHECK(v[8 + one] == 200 && v[9] == 200 && v[0] == 3);
    v[15] = 7;
    v[one] *= 4;
    v[one]++;
    CHECK(v.sf == 7 && v.s1 == 13 && v[one + 14] == 7);
    CHECK(v[one]-- == 13 && v[1] == 12);

    long2 l = (long2)(-1, -2);
    l[one] = 1L << 40;
    CHECK(l.x == -1 && l.y == 1L << 40);
    float3 f = (float3)(1, 2, 3);
    f[one + 1] = 9.5f;
    CHECK(f.x == 1 && f.y == 2 && f.z == 9.5f && f[one + 1] == 9.5f);
    for (int i = 0; i < 3; i++) f[i] = i;
    CHECK(f.x == 0 && f.y == 1 && f.z == 2);
    CHECK(f.zyx[one + 1] == 0 && f.zyx[0] == 2);
    f.zyx[one - 1] = 5;
    CHECK(f.z == 5 && f.x == 0);
    int sum = 0;
    short8 s = made(4);
    for (int i = 0; i < 8; i++) sum = sum * 2 + s[i];
    CHECK(sum == (((((((4 * 2 + 5) * 2 + 6) * 2 + 7) * 2 + 8) * 2 + 9) * 2 + 10) * 2 + 11));
    CHECK(third(s) == 6 && made(7)[one] == 8 && made(7)[3] == 10 && (s + (short8)(1))[one] == 6);
    CHECK(table[one] == 11 && table[3] == 13);

    shared[id] = (int4)(id);
    narrow[id] = (uchar3)(1, 2, 3);
    shared[id][one] = 100 + id;
    shared[id][3] -= 1;
    narrow[id][one + 1] = 77;
    CHECK(shared[id].x == id && shared[id].y == 100 + id && shared[id].z == id && shared[id].w == id - 1);
    CHECK(narrow[id].x == 1 && narrow[id].y == 2 && narrow[id].z == 77);

    record r = { 1, (float3)(4, 5, 6), (uchar16)(0) };
    record *p = &r;
    p->v[one] = 50;
    p->w[one + 10] = 60;
    CHECK(r.v.x == 4 && r.v.y == 50 && r.v.z == 6 && r.w.sb == 60 && p->v[one] == 50);
    int4 array[2][2];
    array[1][one] = (int4)(1, 2, 3, 4);
    array[one][1][one + 1] = 33;
    CHECK(array[1][1].z == 33 && array[1][1][3] == 4 && array[one][one][one] == 2);

    ushort3 q = (ushort3)(10, 20, 30);
    q.odd = (ushort2)(70, 80);
    CHECK(q.x == 10 && q.y == 70 && q.z == 30);
    q.hi = (ushort2)(7, 8);
    CHECK(q.x == 10 && q.y == 70 && q.z == 7);
    q.odd += (ushort2)(1, 1);
    q.hi += (ushort)1;
    CHECK(q.x == 10 && q.y == 71 && q.z == 8);
    q.odd = 5;
    CHECK(q.y == 5 && q.z == 8 && q.hi.x == 8 && q.odd.x == 5 && q.even.y == 8);
    q.zyx.hi = (ushort2)(1, 2);
    CHECK(q.x == 1 && q.y == 5 && q.z == 8);
    narrow[id].odd = (uchar2)(91, 92);
    narrow[id].hi = (uchar2)(93, 94);
    CHECK(narrow[id].x == 1 && narrow[id].y == 91 && narrow[id].z == 93);
    out[get_global_id(0)] = 0;
}
