// Declarations that cannot be.
int global_counter = 0;
global int shared;
struct node { int v; struct node next; };
struct bits { int a : 3; };
void (*callback)(int);
int f(int a, int a) { return a; }
int f(int a, int b) { return a; }
float f(int a, int b);
void g(int x) { int x; { int x; } }
void va(int n, ...) { }
enum { RED, GREEN, RED };
typedef int number; number number_of = 1;
void h(void) {
  goto nowhere;
  break;
  case 1: ;
  continue;
  int a[] ;
  int b[-1];
  int c[3] = {1, 2, 3, 4};
  struct unknown u;
  void v;
  switch (1.5f) { case 1: case 1: default: default: ; }
again:
again: ;
  int d = sizeof(struct unknown);
  return 5;
}
int i(void) { return; }
static void unused(void) { }
kernel static void k(global int *p) { static int s; extern int e; register int r; auto int q; }
kernel void k2(global int p, local int l, constant float c) { }
kernel void k3(global void *p, constant struct node *n) { }
int main(void) { return 0; }
