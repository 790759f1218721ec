#define LIMIT 4
inline int helper(int x) {
    return x +;
}
