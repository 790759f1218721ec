kernel void straight(global int *a, int n) {
    int x;
    a[0] = x;
    a[1] = x;
    int y;
    if (n) y = 1;
    a[2] = y;
    int z;
    if (n) { z = 1; } else { a[3] = z; }
    int late;
    if (n == 3) { late = 1; return; }
    a[4] = late;
    int both;
    if (n) both = 1; else both = 2;
    a[5] = both;
    int one;
    if (n) one = 1; else return;
    a[6] = one;
    int self = self;
    a[7] = self;
    int cast; (void)cast; a[8] = cast;
    int p, *q = &p; a[9] = p + *q;
    int *ptr; *ptr = 3;
    volatile int v; a[10] = v;
    int array[4]; a[11] = array[0];
}

kernel void expressions(global int *a, int n) {
    int b, c, d, e, f;
    if (n && (b = a[3])) a[0] = b;
    c = n ? (c = 3) : c;
    a[1] = ({ int g; g; });
    a[2] = (d = 3, d) + n;
    e += n;
    f++;
    int h;
    a[3] = n > 3 || h > 4;
}

kernel void vectors(global int *a, int n) {
    int4 v, w, u;
    v.x = 1;
    a[0] = v.y;
    a[1] = w.y;
    u[n] = 3;
    a[2] = u[n + 1];
    int4 t;
    t.s01 += 1;
}

kernel void loops(global int *a, int n) {
    int sum;
    for (int i = 0; i < n; i++) sum += a[i];
    int last;
    for (int i = 0; i < n; i++) { if (i > 0) a[i] = last; last = i; }
    for (int i = 0; i < n; i++) { float s; for (int j = 0; j < n; j++) s += a[j]; a[i] = s; }
    float t;
    for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) t += a[j];
    int once; do { once = 3; } while (once < n); a[0] = once;
    bool first = true;
    int kept;
    for (int i = 0; i < n; i++) { if (first) { kept = i; first = false; } a[i] = kept; }
    int found;
    for (int i = 0; i < n; i++) { if (a[i]) { found = i; break; } }
    a[1] = found;
    int limit;
    while (n < limit) { limit = 4; n++; }
    int skipped;
    for (int i = 0; i < n; i++) { if (i == 0) { skipped = i; continue; } a[i] = skipped; }
    for (int i = 0, old; i < n; i++) { if (i) a[i] = old; old = i; }
}

kernel void jumps(global int *a, int n) {
    int u;
    switch (n) { case 0: u = 1; break; default: a[0] = 1; }
    a[1] = u;
    int w;
    for (int i = 0; i < n; i++) switch (i) { case 0: a[i] = w; break; case 1: w = 3; }
    int x;
    switch (n) { default: a[2] = x; }
}

kernel void leaps(global int *a, int n) {
    int x;
    goto set;
use:
    a[0] = x;
    return;
set:
    x = 3;
    goto use;
}
