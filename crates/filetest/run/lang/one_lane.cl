// Vectors that go round a loop and of which one lane is used afterwards. LLVM 19 (scalarizePHI of InstCombine) changes
// the order of the operands of such an operation: `c - x` becomes `x - c`.
#define CHECK(x) do { if (!(x) && !bad) bad = __LINE__; } while (0)

kernel void test(global int *out)
{
    int bad = 0;
    // The same for all work-items, so that the vectors stay vectors on CPUs too.
    const int id = (int)get_global_size(0) & 7, rounds = 3 + (id & 4);

    uchar4 bytes = (uchar4)(id, 2, 3, 4);
    for (int i = 0; i < rounds; i++)
        bytes = ~sub_sat(bytes, bytes) - bytes;
    CHECK(bytes.x == (uchar)(255 - id));

    int4 difference = (int4)(1, 2, id, 4);
    for (int i = 0; i < rounds; i++)
        difference = 100 - difference;
    CHECK(difference.z == 100 - id);

    float2 quotient = (float2)(3.0f, 4.0f + id);
    for (int i = 0; i < rounds; i++)
        quotient = 8.0f / quotient;
    CHECK(fabs(quotient.y - 8.0f / (4.0f + id)) < 1e-5f);

    uint2 shifted = (uint2)(1 + (id & 1), 7);
    for (int i = 0; i < 2; i++)
        shifted = (uint2)(1) << shifted;
    CHECK(shifted.x == ((id & 1) ? 16u : 4u));

    // Across a choice of lanes and a conversion.
    short8 numbers = (short8)(1, 2, 3, 4, 5, 6, 7, id);
    for (int i = 0; i < rounds; i++)
        numbers = (short)20 - numbers.s76543210.s76543210;
    long2 pair = convert_long2(numbers.s71);
    CHECK(pair.x == 20 - id);

    out[get_global_id(0)] = bad;
}
