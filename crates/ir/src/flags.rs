//! Flags of instructions: what the source promises, and what it permits.

use bitflags::bitflags;
use serde::{Deserialize, Serialize};

bitflags! {
    /// Promises (`nsw`, `nuw`) and permissions (fast-math) of one instruction. The result of an instruction does not
    /// depend on a promise: an addition with `nsw` still wraps. Analyses may rely on it.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash, Serialize, Deserialize)]
    pub struct Flags: u16 {
        /// The signed result does not wrap.
        const NSW = 1;
        /// The unsigned result does not wrap.
        const NUW = 2;
        /// No operand or result is a NaN.
        const NNAN = 4;
        /// No operand or result is an infinity.
        const NINF = 8;
        /// The sign of a zero does not matter.
        const NSZ = 16;
        /// A division may become a multiplication by the reciprocal.
        const ARCP = 32;
        /// Operations may be reassociated.
        const REASSOC = 64;
        /// Approximations of functions are allowed.
        const AFN = 128;
        /// The access must happen, once, as written.
        const VOLATILE = 256;
        /// Cold: runs rarely, so short code is better than fast code.
        const COLD = 512;
        /// A non-temporal store: the data is not read soon and may bypass the caches. Its address is aligned to cache
        /// lines, or to its size if that is smaller.
        const NONTEMPORAL = 1024;
        /// The condition may be assumed false: the code that it guards is an optimisation that pays only if all lanes
        /// are on.
        const ASSUME_FALSE_OK = 2048;
        /// A quotient or a square root of `f32` may be off by 2.5 ULP, as OpenCL C allows without
        /// `-cl-fp32-correctly-rounded-divide-sqrt`. (`!fpmath` of LLVM.)
        const FPMATH = 4096;
        /// It was moved to where it may be executed although the source does not execute it. Its promises hold where
        /// the source uses its result, and nowhere else.
        const SPECULATED = 8192;
    }
}

impl Flags {
    /// Those of an operation that moves to where it may be executed although the source does not execute it. Whoever
    /// moves one there takes these, or drops the promises.
    pub fn speculated(self) -> Flags {
        if self.intersects(Flags::NSW | Flags::NUW) { self | Flags::SPECULATED } else { self }
    }

    /// Those of an operation that stands for two.
    pub fn of_both(self, other: Flags) -> Flags {
        // A promise of one of the two only does not hold for the other. `speculated` limits a promise, so that one of
        // them is enough for it.
        self & other | (self | other) & Flags::SPECULATED
    }

    /// Name of each flag in the text form, in printing order.
    pub const NAMES: [(Flags, &'static str); 14] = [
        (Flags::NSW, "nsw"),
        (Flags::NUW, "nuw"),
        (Flags::NNAN, "nnan"),
        (Flags::NINF, "ninf"),
        (Flags::NSZ, "nsz"),
        (Flags::ARCP, "arcp"),
        (Flags::REASSOC, "reassoc"),
        (Flags::AFN, "afn"),
        (Flags::VOLATILE, "volatile"),
        (Flags::COLD, "cold"),
        (Flags::NONTEMPORAL, "nontemporal"),
        (Flags::ASSUME_FALSE_OK, "assume_false_ok"),
        (Flags::FPMATH, "fpmath"),
        (Flags::SPECULATED, "speculated"),
    ];
}
