//! The types that generated programs compute with, and the generator of numbers.

/// A small generator of numbers: the same on every machine.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// From a seed; neighbouring seeds have nothing in common.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number (splitmix64).
    #[expect(clippy::should_implement_trait, reason = "there is no end to it")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`, which is not 0.
    pub fn below(&mut self, n: u64) -> u64 {
        // Not quite uniform, which does not matter for numbers so much smaller than 2^64.
        self.next() % n
    }

    /// True in `percent` of cases.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// One of a list that is not empty.
    pub fn pick<T: Clone>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u64) as usize].clone()
    }
}

/// A scalar type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "named like the types")]
pub enum Scalar {
    Char,
    UChar,
    Short,
    UShort,
    Int,
    UInt,
    Long,
    ULong,
    Half,
    Float,
    Double,
}

use Scalar::*;

impl Scalar {
    /// All but `half`, which not all programs may have; the common ones are there more than once.
    pub const LIST: [Scalar; 17] =
        [Char, UChar, Short, UShort, Int, UInt, Int, UInt, Int, UInt, Int, Long, ULong, Float, Float, Float, Double];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Char => "char",
            UChar => "uchar",
            Short => "short",
            UShort => "ushort",
            Int => "int",
            UInt => "uint",
            Long => "long",
            ULong => "ulong",
            Half => "half",
            Float => "float",
            Double => "double",
        }
    }

    /// Its width.
    pub fn bits(self) -> u32 {
        match self {
            Char | UChar => 8,
            Short | UShort | Half => 16,
            Int | UInt | Float => 32,
            Long | ULong | Double => 64,
        }
    }

    /// Whether it is a floating-point type.
    pub fn is_float(self) -> bool {
        matches!(self, Half | Float | Double)
    }

    /// Whether it is an integer type with a sign.
    pub fn is_signed(self) -> bool {
        matches!(self, Char | Short | Int | Long)
    }

    /// The integer of the same width without a sign.
    pub fn unsigned(self) -> Scalar {
        match self.bits() {
            8 => UChar,
            16 => UShort,
            32 => UInt,
            _ => ULong,
        }
    }

    /// The integer of the same width with a sign: what comparisons of vectors give.
    pub fn signed(self) -> Scalar {
        match self.bits() {
            8 => Char,
            16 => Short,
            32 => Int,
            _ => Long,
        }
    }
}

/// A scalar or a short vector.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ty {
    /// Of what.
    pub s: Scalar,
    /// How many: 1, 2, 3, 4, 8 or 16.
    pub n: u8,
}

impl Ty {
    /// `int`
    pub const INT: Ty = Ty { s: Int, n: 1 };
    /// `uint`
    pub const UINT: Ty = Ty { s: UInt, n: 1 };

    /// A vector, or a scalar for 1.
    pub fn new(s: Scalar, n: u8) -> Self {
        Self { s, n }
    }

    /// Its name.
    pub fn name(self) -> String {
        if self.n == 1 { self.s.name().into() } else { format!("{}{}", self.s.name(), self.n) }
    }

    /// One component.
    pub fn scalar(self) -> Ty {
        Ty::new(self.s, 1)
    }

    /// With components of another type.
    pub fn of(self, s: Scalar) -> Ty {
        Ty::new(s, self.n)
    }
}
