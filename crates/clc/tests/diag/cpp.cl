template <typename T> T add(T a, T b) { return a + b; }
class Shape { int sides; };
namespace n { int x; }
using namespace n;
int by_reference(int &x) { return x; }
int with_default(int x = 3) { return x; }
struct Pair { public: int a; };
kernel void f(global int *a) {
    auto x = 3;
    int *p = new int;
    int *q = nullptr;
    int y{4};
    float3 v = float3(1, 2, 3);
    a[0] = static_cast<int>(x);
    a[1] = int(2.5f);
    std::max(1, 2);
    for (int i : a) { }
}
extern "C" { int z; }
