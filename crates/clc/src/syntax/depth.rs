//! Bounds on nesting, by the stack that the front end runs on: every stage recurses on the trees that the parser makes.

/// How deep a program may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Depth {
    /// Nesting of brackets and statements, in the units of the parser: 4 for a pair of brackets, or for a statement in
    /// another.
    pub nesting: u32,
    /// The greatest height of an expression tree, and of a statement tree. The operators of a chain such as `a + b + c`
    /// add nothing to it: the stages with large stack frames walk along a chain in a loop.
    pub height: u16,
    /// How many operators one chain may have.
    pub chain: usize,
}

impl Depth {
    /// For the stacks that threads usually have.
    pub const SHALLOW: Self = Self { nesting: 1024, height: 1000, chain: 1000 };
    /// For a stack of [`DEEP_STACK`](Self::DEEP_STACK) bytes.
    pub const DEEP: Self = Self { nesting: 12_800, height: 3200, chain: 32_768 };
    /// Bytes of the stack for the largest bounds. It is memory only as far as it is used.
    pub const DEEP_STACK: usize = 512 << 20;
}
