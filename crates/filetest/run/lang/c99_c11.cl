// `_Generic`, `__func__`, flexible array members, address spaces by attribute, the prototype of `printf`.

#define CHECK(c) do { if (!(c)) { out[get_global_id(0)] = __LINE__; return; } } while (0)
#define KIND(x) _Generic((x), int: 1, uint: 2, float: 3, float4: 4, global int *: 5, const char *: 7, default: 6)

int printf(constant const char *restrict format, ...);

struct flexible { short n; int v[]; };
struct aligned_tail { char n; long v[]; };

int twice(__attribute__((opencl_global)) int *p) { return *p * 2; }
int third(int __attribute__((opencl_local)) *p) { return p[2]; }
int length(void) { return sizeof(__func__); }

kernel void test(global int *out) {
    int id = get_global_id(0), lid = get_local_id(0);
    local int shared[64];
    out[id] = -2;
    shared[lid & 63] = lid;
    shared[2] = 12;
    barrier(CLK_LOCAL_MEM_FENCE);

    CHECK(KIND(id) == 1 && KIND(1u) == 2 && KIND(1.0f) == 3 && KIND((float4)(0)) == 4 && KIND(out) == 5);
    CHECK(KIND('c') == 1 && KIND((char)1) == 6 && KIND(1L) == 6);
    int evaluated = 0;
    CHECK(_Generic(evaluated++, int: 3, default: undeclared) == 3 && evaluated == 0);
    CHECK(_Generic(shared, local int *: 8, default: 9) == 8);
    CHECK(_Generic((const int)1, int: 1, default: 0) == 1);

    constant char *name = __func__;
    CHECK(name[0] == 't' && name[1] == 'e' && name[2] == 's' && name[3] == 't' && name[4] == 0);
    CHECK(sizeof(__func__) == 5 && sizeof(__FUNCTION__) == 5 && length() == 7);

    CHECK(sizeof(struct flexible) == 4 && sizeof(struct aligned_tail) == 8);
    int memory[6] = {0};
    struct flexible *f = (struct flexible *)memory;
    f->n = 3;
    f->v[0] = 10 + id;
    for (int i = 1; i < f->n; i++) f->v[i] = f->v[i - 1] + i;
    CHECK(memory[1] == 10 + id && memory[3] == 13 + id && f->v[2] == 13 + id && memory[4] == 0);

    CHECK(third(shared) == 12);
    out[id] = 21;
    CHECK(twice(out + id) == 42);
    out[id] = 0;
}
