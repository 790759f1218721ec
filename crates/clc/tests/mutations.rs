//! Programs damaged at random: whatever is done to them, there is a tree, there are messages, and no panic. The seed is
//! fixed, so that a failure can be repeated; it is in the message.

mod common;

use common::parse;

const CORPUS: &[&str] = &[
    include_str!("diag/kernel_with_many_mistakes.cl"),
    "#define N 4\n#define MAD(a, b, c) ((a) * (b) + (c))\n#if defined(N) && N > 2\n#endif\n\
     __kernel __attribute__((reqd_work_group_size(8, 8, 1)))\nvoid mm(const __global float4 *restrict a, local float *t,\n\
     constant uint n[], image2d_t read_only img, sampler_t s) {\n  float4 acc = (float4)(0.0f, 1e-3f, 0x1p-4f, .5f);\n\
   \n#pragma unroll N\n for (uint i = 0, j = 1; i < n[0]; ++i, j <<= 1) {\n    acc.xyz += MAD(a[i].s012, (float3)(t[j]), acc.zyx);\n\
     barrier(CLK_LOCAL_MEM_FENCE);\n    if (i & 1) continue; else if (!j) break;\n  }\n  switch (n[1]) { case 1: case 'a':\n\
     return; default: do { acc = -acc; } while (any(acc > 0)); }\n  t[0] = n[0] ? acc.x : sizeof(float4[2]) + vec_step(int3);\n}\n",
    "typedef struct __attribute__((packed)) node { int v; struct node *next; union { float f; uint u[2][3]; }; } node_t;\n\
     enum color { RED = 1 << 3, GREEN, };\nstatic inline node_t make(int v) { node_t n = { .v = v, .u = { [1] = { 1, 2 } } };\n\
     return n; }\nconstant char text[] = \"a\" \"b\\n\\x41\";\n#include \"none.h\"\n_Pragma(\"OPENCL FP_CONTRACT OFF\")\n\
     void f(void) { int (*p)[4] = (int (*)[4])0, x; (*p)[2] = x = 1, ((node_t *)p)->v++; goto end; end: ; }\n",
];

/// Xorshift: enough to choose positions.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}

/// Pieces that matter to the grammar.
const PIECES: &[&str] = &[
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    ";",
    ",",
    "#",
    "##",
    "\n#",
    "\\\n",
    "\"",
    "'",
    "/*",
    "*/",
    "//",
    "->",
    ".",
    "...",
    "=",
    "?",
    ":",
    "*",
    "kernel ",
    "struct ",
    "float4",
    "(float4)(",
    "typedef ",
    "if (",
    "else ",
    "for (",
    "case ",
    "#if 1\n",
    "#endif\n",
    "#else\n",
    "#define N(x) #x x##x N(x)\n",
    "N(",
    "__VA_ARGS__",
    "_Pragma(\"unroll\")",
    "\0",
    "\r",
    "\u{20ac}",
    "0x",
    "1e",
    "1.5f",
    "__attribute__((",
    "defined",
    "@",
];

fn mutate(random: &mut Random) -> Vec<u8> {
    let mut text = CORPUS[random.below(CORPUS.len())].as_bytes().to_vec();
    for _ in 0..=random.below(6) {
        let at = random.below(text.len());
        let end = (at + random.below(40)).min(text.len());
        match random.below(6) {
            0 => drop(text.drain(at..end)),
            1 => {
                let piece = PIECES[random.below(PIECES.len())];
                text.splice(at..at, piece.bytes());
            }
            2 => {
                let copy = text[at..end].to_vec();
                let to = random.below(text.len());
                text.splice(to..to, copy);
            }
            3 => {
                if let Some(b) = text.get_mut(at) {
                    *b = random.next() as u8;
                }
            }
            4 => text.truncate(at.max(20)),
            _ => {
                let other = CORPUS[random.below(CORPUS.len())].as_bytes();
                let from = random.below(other.len());
                let to = (from + random.below(60)).min(other.len());
                text.splice(at..at, other[from..to].iter().copied());
            }
        }
    }
    text
}

#[test]
fn damaged_programs_are_survived() {
    for seed in 1..=600u64 {
        let source = mutate(&mut Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
        let result = std::panic::catch_unwind(|| {
            let (session, unit) = parse(&source);
            let text = cloom_clc::render(&session.sources, &session.diags);
            // Every diagnostic has a span in the text that is shown.
            for d in &session.diags {
                assert!(text.contains(d.code), "{} is not shown", d.code);
                for label in d.primary.iter().chain(&d.secondary) {
                    let len = session.sources.file(label.span.file).text.len();
                    assert!(label.span.lo <= label.span.hi && label.span.hi as usize <= len, "{:?}", label);
                }
            }
            unit.items.len()
        });
        assert!(result.is_ok(), "seed {seed}:\n{}", String::from_utf8_lossy(&source));
    }
}

#[test]
fn the_corpus_itself_is_right() {
    for source in &CORPUS[1..] {
        let (session, _) = parse(source.as_bytes());
        let codes: Vec<_> = session.diags.iter().map(|d| d.code).filter(|&c| c != "E0112").collect();
        assert!(codes.is_empty(), "{}", cloom_clc::render(&session.sources, &session.diags));
    }
}
