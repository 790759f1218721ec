// `({ … })`, which GNU C has and programs use in macros.
#define MAX(a, b) ({ __typeof__(a) a_ = (a); __typeof__(b) b_ = (b); a_ > b_ ? a_ : b_; })
#define SQUARE(x) ({ int x_ = (x); x_ * x_; })

typedef struct { int a; float4 v; } pair;

int counted(int *calls) { return ++*calls; }

int first_above(int limit) {
    for (int i = 0;; i++) {
        int r = ({ if (i * i > limit) return i; i; });
        if (r > 100) break;
    }
    return -1;
}

kernel void test(global int *out) {
    size_t gid = get_global_id(0);
    int n = (int)gid;
    int line = 0;
#define CHECK(c) if (line == 0 && !(c)) line = __LINE__
    int calls = 0;
    CHECK(MAX(counted(&calls), 0) == 1);
    CHECK(calls == 1);
    CHECK(MAX(MAX(n, 3), MAX(2, 1)) == (n > 3 ? n : 3));
    CHECK(SQUARE(SQUARE(n + 1)) == (n + 1) * (n + 1) * (n + 1) * (n + 1));
    CHECK(first_above(10) == 4);

    // The value of a record, and of a vector.
    pair p = ({ pair q; q.a = n; q.v = (float4)(1, 2, 3, n); q; });
    CHECK(p.a == n && p.v.w == (float)n && p.v.x == 1.0f);
    CHECK(({ p; }).a == n);
    CHECK(({ float4 t = p.v; t += 1; t; }).y == 3.0f);

    // Of no value; in conditions; with loops and switches inside; `break` inside leaves the loop outside.
    ({ p.a = 7; });
    CHECK(p.a == 7);
    ({ });
    int sum = 0;
    for (int i = 0; ({ sum += i; i < 4; }); i++) {
        switch (i) {
        case 2: sum += ({ int s = 0; switch (n) { case 0: s = 100; break; default: s = 200; } s; }); break;
        default: break;
        }
    }
    CHECK(sum == 10 + (n == 0 ? 100 : 200));
    int rounds = 0;
    while (1) {
        rounds++;
        rounds += ({ if (rounds > 4) break; 1; });
    }
    CHECK(rounds == 5);
    int k = 3;
    k += ({ k = 10; int t = k; t * 2; });
    CHECK(k == 23 || k == 30);
    out[gid] = line;
}
