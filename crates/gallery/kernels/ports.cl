// Loops of one class of operations each, to measure how many of them a core executes in a second.
//
// T and I are a type of floats and one of integers of the same width, EACH repeats a step on chains that do not wait
// for each other: enough chains that the units never idle, and no more than there are registers for. With SELF a group
// has one work-item, so that the code has no vectors.

#define JOIN2(a, b) a##b
#define JOIN(a, b) JOIN2(a, b)
#define EACH3(STEP) STEP(0) STEP(1) STEP(2)
#define EACH6(STEP) EACH3(STEP) STEP(3) STEP(4) STEP(5)
#define EACH12(STEP) EACH6(STEP) STEP(6) STEP(7) STEP(8) STEP(9) STEP(10) STEP(11)

#ifdef SELF
#define SHAPE __attribute__((reqd_work_group_size(1, 1, 1)))
#else
#define SHAPE __attribute__((reqd_work_group_size(64, 1, 1)))
#endif

// Chains of floats (a), of integers (b) and of integers that all work-items share (s).
#define BEGIN_A(i) T a##i = in[i * 64 + l];
#define BEGIN_B(i) I b##i = more[i * 64 + l];
#define BEGIN_S(i) uint s##i = plain[i] + g;
#define END_A(i) r += a##i;
#define END_B(i) q += b##i;
#define END_S(i) p += s##i;

#define LOOP(NAME, STEP) \
    kernel SHAPE void NAME(global T *out, global const T *in, global const I *more, global const uint *plain, int n) { \
        uint g = get_group_id(0), l = get_local_id(0); \
        T x = in[0], y = in[1], r = 0; \
        I u = more[0], v = more[1], q = 0; \
        uint t = plain[0], w = plain[1], p = 0; \
        EACH(BEGIN_A) EACH(BEGIN_B) EACH(BEGIN_S) \
        for (int j = 0; j < n; j++) { \
            EACH(STEP) \
        } \
        EACH(END_A) EACH(END_B) EACH(END_S) \
        global T *to = out + g * 1024 + l; \
        to[0] = r + (T)q + (T)p; \
    }

#define FMA(i) a##i = fma(a##i, x, y);
#define ADD(i) a##i = a##i + x;
#define DIVIDE(i) a##i = x / a##i;
#define ROOT(i) a##i = sqrt(a##i);
#define INTEGER(i) b##i = (b##i ^ u) + v;
#define MULTIPLY(i) b##i = b##i * u + v;
#define SCALAR(i) s##i = (s##i ^ t) + w;
#define SCALAR_DIVIDE(i) s##i = t / (s##i | 1);
#define FMA_ADD(i) FMA(i) b##i = JOIN(as_, I)(JOIN(as_, T)(b##i) + y);
#define FMA_INTEGER(i) FMA(i) INTEGER(i)
#define FMA_SCALAR(i) FMA(i) SCALAR(i)
#define ALL(i) FMA(i) INTEGER(i) SCALAR(i)
#define SHUFFLE(i) a##i = sub_group_shuffle_xor(a##i, 1);
// What stands at another address in each iteration is not hoisted.
#define LOAD(i) b##i ^= more[((j & 3) + i) * 64 + l];
#define LOAD_SCALAR(i) s##i ^= plain[(j & 3) + i];
#define STORE(i) (out + g * 1024)[((j & 3) + i) * 64 + l] = a##i;

LOOP(fma_, FMA)
LOOP(add_, ADD)
LOOP(divide_, DIVIDE)
LOOP(root_, ROOT)
LOOP(integer_, INTEGER)
LOOP(multiply_, MULTIPLY)
LOOP(scalar_, SCALAR)
LOOP(scalar_divide_, SCALAR_DIVIDE)
LOOP(fma_add_, FMA_ADD)
LOOP(fma_integer_, FMA_INTEGER)
LOOP(fma_scalar_, FMA_SCALAR)
LOOP(all_, ALL)
#ifndef SELF
LOOP(shuffle_, SHUFFLE)
#endif
LOOP(load_, LOAD)
LOOP(load_scalar_, LOAD_SCALAR)
LOOP(store_, STORE)

kernel void empty_(global T *out, global const T *in, global const I *more, global const uint *plain, int n) {}

// The indices change, so that the compiler finds no pattern in them. Each group has numbers of its own, which the first
// cache holds.
kernel SHAPE void gather_(global float *out, global const float *in, global const int *more, global const uint *plain, int n) {
    uint l = get_local_id(0), k = l * 7 & 511;
    float a = 0, b = 0, c = 0, d = 0;
    for (int j = 0; j < n; j++) {
        a += in[k];
        b += in[k + 11];
        c += in[k + 22];
        d += in[k + 33];
        k = k + 17 & 511;
    }
    out[get_group_id(0) * 1024 + l] = a + b + c + d;
}

kernel SHAPE void scatter_(global float *out, global const float *in, global const int *more, global const uint *plain, int n) {
    uint l = get_local_id(0), k = l * 7 & 511;
    global float *to = out + get_group_id(0) * 1024;
    float a = in[l];
    for (int j = 0; j < n; j++) {
        to[k] = a;
        to[k + 85] = a;
        to[k + 170] = a;
        k = k + 17 & 511;
    }
}

kernel SHAPE void atomic_(global int *out, global const float *in, global const int *more, global const uint *plain, int n) {
    global int *to = out + get_group_id(0) * 1024 + (get_local_id(0) & 15) * 16;
    for (int j = 0; j < n; j++) atomic_add(to + (j & 3), 3);
}
