// Integer dot products: dot and dot_acc_sat of four bytes, as vectors or packed into a word, the lowest byte first.
//
// In: vectors of signed or unsigned bytes in any mix; out: the sum of the products in 32 bits, where it is exact, and
// then the sum with the accumulator, saturated once.

#define FN __attribute__((overloadable))

#define BYTES_s(word) as_char4(word)
#define BYTES_u(word) as_uchar4(word)

#define DOT(R, A, B, a_sign, b_sign, name)                                                          \
    R FN dot(A a, B b)                                                                              \
    {                                                                                               \
        return (R)a.x * b.x + (R)a.y * b.y + (R)a.z * b.z + (R)a.w * b.w;                           \
    }                                                                                               \
    R FN dot_acc_sat(A a, B b, R acc)                                                               \
    {                                                                                               \
        return __cl_add_sat(dot(a, b), acc);                                                        \
    }                                                                                               \
    R FN dot_4x8packed_##name(uint a, uint b)                                                       \
    {                                                                                               \
        return dot(BYTES_##a_sign(a), BYTES_##b_sign(b));                                           \
    }                                                                                               \
    R FN dot_acc_sat_4x8packed_##name(uint a, uint b, R acc)                                        \
    {                                                                                               \
        return __cl_add_sat(dot(BYTES_##a_sign(a), BYTES_##b_sign(b)), acc);                        \
    }

DOT(uint, uchar4, uchar4, u, u, uu_uint)
DOT(int, char4, char4, s, s, ss_int)
DOT(int, uchar4, char4, u, s, us_int)
DOT(int, char4, uchar4, s, u, su_int)
