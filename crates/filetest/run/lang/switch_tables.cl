// Switches whose cases choose constants: of all widths, with gaps, among cases that do more.

#define CHECK(c) do { if (!(c)) { out[get_global_id(0)] = __LINE__; return; } } while (0)

#define FOUR(c, k) c(k) c(k + 1) c(k + 2) c(k + 3)
#define TWENTY(c, k) FOUR(c, k) FOUR(c, k + 4) FOUR(c, k + 8) FOUR(c, k + 12) FOUR(c, k + 16)
#define SIXTEEN(c, k) FOUR(c, k) FOUR(c, k + 4) FOUR(c, k + 8) FOUR(c, k + 12)
#define SIXTY_FOUR(c, k) SIXTEEN(c, k) SIXTEEN(c, k + 16) SIXTEEN(c, k + 32) SIXTEEN(c, k + 48)

#define SQUARE(k) case k: return (k) * (k) + 7;
int square(int x) { switch (x) { TWENTY(SQUARE, -9) default: return -1; } }
int square_or_same(int x) { switch (x) { TWENTY(SQUARE, -9) } return x; }
int square_unsigned(uint x) { switch (x) { TWENTY(SQUARE, 2147483640u) default: return 3; } }

#define THIRD(k) case 3 * (k) + 100: r = (k) - 4; break;
int gaps(int x) { int r; switch (x) { TWENTY(THIRD, 0) default: r = 99; } return r; }
int gaps_or_more(int x, int y) { int r; switch (x) { TWENTY(THIRD, 0) default: r = y * x; } return r; }

#define BYTE(k) case (uchar)(k): return (uchar)((k) * 7);
uchar all_bytes(uchar x) {
    switch (x) { SIXTY_FOUR(BYTE, 0) SIXTY_FOUR(BYTE, 64) SIXTY_FOUR(BYTE, 128) SIXTY_FOUR(BYTE, 192) }
    return 1;
}
#define SIGNED(k) case (char)((k) - 128): return (k);
int all_signed(char x) {
    switch (x) { SIXTY_FOUR(SIGNED, 0) SIXTY_FOUR(SIGNED, 64) SIXTY_FOUR(SIGNED, 128) SIXTY_FOUR(SIGNED, 192) }
    return -1;
}

#define LONG(k) case 0x700000000L + (k): return (k) * 0x100000001L;
long wide(long x) { switch (x) { TWENTY(LONG, 0) default: return -5; } }

#define SEVERAL(k) case k: f = (k) * 0.5f; v = (int4)(k, 1, -(k), 2); s = (k) + 30000; same = 8; break;
int several(int x) {
    float f; int4 v; short s; int same;
    switch (x) { TWENTY(SEVERAL, 2) default: f = -1; v = (int4)(0, 3, 0, 4); s = -7; same = 8; }
    return (int)(f * 2) + 100 * v.x + v.y + v.z + v.w + s + same;
}
int several_expected(int x) {
    return x >= 2 && x < 22 ? x + 100 * x + 1 - x + 2 + x + 30000 + 8 : -2 + 3 + 4 - 7 + 8;
}

#define EVEN(k) case 2 * (k): even = true; break;
bool is_even(int x) { bool even = false; switch (x) { TWENTY(EVEN, 0) } return even; }

#define VOWEL(k) case k: case k + 5: case k + 13: return 1;
int classes(int x) { switch (x) { VOWEL('a') VOWEL('b') VOWEL('c') VOWEL('A') VOWEL('B') VOWEL('C') } return 0; }
int classes_expected(int x) {
    int l = x >= 'a' ? x - 'a' : x - 'A';
    return (l >= 0 && l < 3) || (l >= 5 && l < 8) || (l >= 13 && l < 16);
}

int among_others(int x, int y, global int *out) {
    int r = 1;
    switch (x) {
        TWENTY(THIRD, 0)
        case 101: r = y + 5; break;
        case 104: r = y; for (int i = 0; i < y; i++) r += i;
        case 107: r += 2; break;
        case -1000: r = 12; break;
        default: out[get_global_id(0)] = -3; r = 77;
    }
    return r;
}
int among_others_expected(int x, int y) {
    if (x == 101) return y + 5;
    if (x == 104) return y + y * (y - 1) / 2 + 2;
    if (x == 107) return 3;
    if (x == -1000) return 12;
    return x >= 100 && x < 160 && (x - 100) % 3 == 0 ? (x - 100) / 3 - 4 : 77;
}

kernel void test(global int *out) {
    int id = get_global_id(0);
    out[id] = -2;
    int groups = get_num_groups(0);
    for (int i = -30; i < 200; i++) {
        // Different in each work-item, and the same in all.
        for (int k = 0; k < 2; k++) {
            int x = k ? i + groups : i + id * 3, y = id + 2;
            int inside = x >= -9 && x < 11;
            CHECK(square(x) == (inside ? x * x + 7 : -1));
            CHECK(square_or_same(x) == (inside ? x * x + 7 : x));
            uint u = 2147483645u + x;
            CHECK(square_unsigned(u) == (u - 2147483640u < 20 ? (int)(u * u + 7) : 3));
            int third = x >= 100 && x < 160 && (x - 100) % 3 == 0;
            CHECK(gaps(x) == (third ? (x - 100) / 3 - 4 : 99));
            CHECK(gaps_or_more(x, y) == (third ? (x - 100) / 3 - 4 : x * y));
            CHECK(all_bytes(x) == (uchar)(x * 7));
            CHECK(all_signed(x) == (char)x + 128);
            CHECK(wide(0x700000000L + x) == (x >= 0 && x < 20 ? x * 0x100000001L : -5));
            CHECK(wide(x) == -5);
            CHECK(several(x) == several_expected(x));
            CHECK(is_even(x) == (x >= 0 && x < 40 && x % 2 == 0));
            CHECK(classes(x) == classes_expected(x));
            CHECK(among_others(x, y, out) == among_others_expected(x, y));
        }
    }
    CHECK(among_others(-1000, 1, out) == 12);
    CHECK(square(INT_MIN) == -1 && square(INT_MAX) == -1 && gaps(INT_MIN + 100) == 99 && wide(LONG_MIN) == -5);
    out[id] = 0;
}
