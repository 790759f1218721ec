//! Work-arounds for bugs of ptxas, and of the same compiler in the driver: PTX that it miscompiles, or on which it
//! crashes.
//!
//! In: a function of a tree, or a draft of a module. Out: the instructions that have such a bug, each with its row of
//! [`ERRATA`]; or the draft without them.
//!
//! Each bug has an id, the versions in which it was seen, the pattern that finds it, the reason in words, the rewrite
//! to equivalent instructions, a reduced program that has it and a mended one that does not. They are on PTX because
//! several LLVM patterns produce the same instructions. Code generation [rewrites](rewrite) what is found. The
//! simulated GPU refuses what is found, so that every test with it looks for all bugs.
//!
//! How to add a row: `docs/internals/ptx.md`, "A new fault of ptxas".

mod constant;
mod facts;
mod patterns;
mod rewrites;
#[cfg(test)]
mod tests;

pub use facts::{Facts, Select};

use crate::draft::{Draft, Replacement};
use crate::tree::{Function, Line, Statement};
use crate::{Operation, ParseError};

/// A bug of ptxas.
#[derive(Clone, Copy, Debug)]
pub struct Erratum {
    /// Its name in messages and tests.
    pub id: &'static str,
    /// The versions of ptxas in which it was seen. None for a bug of LLVM.
    pub versions: &'static [&'static str],
    /// The PTX that has it, for a message.
    pub what: &'static str,
    /// What ptxas does with this PTX.
    pub reason: &'static str,
    /// The first parts of the opcodes of instructions that may have it; none if any opcode may.
    pub opcodes: &'static [&'static str],
    /// Whether an instruction of a function, given by its position, has it. The opcode is one of `opcodes`.
    pub pattern: fn(&Facts<'_, '_>, usize) -> bool,
    /// The statements that replace an instruction that has it; `None` for an unknown form. A row without a rewrite says
    /// in its reason who avoids the bug.
    pub rewrite: Option<Rewrite>,
    /// The body of the smallest function that has it, with the registers of [`REGISTERS`].
    pub reduced: &'static str,
    /// The same function without it.
    pub mended: &'static str,
}

/// Returns the replacement of an instruction of a function, given by its position.
pub type Rewrite = for<'a, 't> fn(&Facts<'a, 't>, usize) -> Option<Vec<Statement<'t>>>;

/// Declarations of the registers that the programs in [`ERRATA`] use.
pub const REGISTERS: &str =
    ".reg .pred %p<3>;\n.reg .b16 %h<4>;\n.reg .b32 %r<4>;\n.reg .f32 %f<4>;\n.reg .f64 %d<4>;\n";

/// An instruction that has a bug of the table.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    /// Where it stands.
    pub line: Line,
    /// The row of the bug.
    pub erratum: &'static Erratum,
}

impl Erratum {
    /// Whether an instruction with this opcode may have it.
    fn concerns(&self, operation: &Operation<'_, '_>) -> bool {
        self.opcodes.is_empty() || self.opcodes.contains(&operation.name)
    }

    /// Whether the instruction at a position of a function has it.
    fn is_at(&self, facts: &Facts<'_, '_>, at: usize) -> bool {
        self.concerns(&facts.of.code[at]) && (self.pattern)(facts, at)
    }
}

/// The first instruction of a function that has a fault.
pub fn first(function: &Function<'_>) -> Result<Option<Found>, ParseError> {
    let facts = Facts::new(function)?;
    Ok((0..facts.of.code.len()).find_map(|at| {
        let erratum = ERRATA.iter().find(|erratum| erratum.is_at(&facts, at))?;
        Some(Found { line: facts.of.code[at].inst.line, erratum })
    }))
}

/// How often a replacement may be replaced. No rewrite of the table needs it.
const DEEPEST: u32 = 8;

/// Rewrites each instruction that has a bug, until no pattern with a rewrite finds one. An instruction in a form that
/// the row's rewrite does not know is an error. Returns how many instructions were rewritten.
pub fn rewrite(draft: &mut Draft<'_>) -> Result<usize, ParseError> {
    draft.replace(DEEPEST, |function| {
        let facts = Facts::new(function)?;
        let mut replacements = Vec::new();
        for (at, operation) in facts.of.code.iter().enumerate() {
            let mut rows = ERRATA.iter().filter_map(|erratum| Some((erratum, erratum.rewrite?)));
            // The first row that matches rewrites the instruction. If another one matches as well, it finds the
            // replacement in the next round.
            let Some((erratum, rewrite)) = rows.find(|(erratum, _)| erratum.is_at(&facts, at)) else { continue };
            let Some(statements) = rewrite(&facts, at) else {
                let (what, id, inst) = (erratum.what, erratum.id, operation.inst);
                let what = format!("NVIDIA's compiler cannot be given {what} ({id}), and has no rewrite for `{inst}`");
                return Err(ParseError { line: inst.line.0, what });
            };
            replacements.push(Replacement { at: operation.statement, statements });
        }
        Ok(replacements)
    })
}

/// All known bugs. The versions are those that were at hand when the bug was found.
pub const ERRATA: &[Erratum] = &[
    Erratum {
        id: "cycle-with-two-entries",
        versions: &["13.0"],
        what: "a cycle with two entries",
        reason: "The threads of a warp are not joined behind such a cycle, yet values are kept in registers of the warp \
                 there: the counter of a loop around it counts for each part of the warp. There is no rewrite: \
                 llvm/cpp/branches.cpp makes cycles with one entry of such before LLVM selects instructions.",
        opcodes: &[],
        pattern: patterns::is_second_entry,
        rewrite: None,
        reduced: "@%p1 bra A;\nB: mov.u32 %r1, 1;\nA: @%p2 bra B;",
        mended: "B: mov.u32 %r1, 1;\nA: @%p2 bra B;",
    },
    Erratum {
        id: "extremum-of-16-bits",
        versions: &["12.9", "13.0"],
        what: "an extremum of 16 bits",
        reason: "The extremum of a value and a constant, compared with the constant, becomes one instruction for both \
                 halves of a register, and the answer is taken from the upper half, in which there is nothing. The \
                 compiler also finds out by itself that a register holds a constant.",
        opcodes: &["min", "max"],
        pattern: patterns::is_extremum_of_16_bits,
        rewrite: Some(rewrites::extremum),
        reduced: "min.u16 %h1, %h2, 127;",
        mended: "cvt.u32.u16 %r1, %h2;\nmin.u32 %r1, %r1, 127;\ncvt.u16.u32 %h1, %r1;",
    },
    Erratum {
        id: "negation-of-16-bits",
        versions: &["12.9", "13.0"],
        what: "a negation or an absolute value of 16 bits",
        reason: "The result has 32 bits in machine code and is not cut to 16 before it is extended by its sign: \
                 -(-32768) is 32768 and greater than anything.",
        opcodes: &["neg", "abs"],
        pattern: patterns::is_negation_of_16_bits,
        rewrite: Some(rewrites::negation),
        reduced: "neg.s16 %h1, %h2;",
        mended: "mul.lo.s16 %h1, %h2, -1;",
    },
    Erratum {
        id: "half-tested-for-nan",
        versions: &["12.9", "13.0"],
        what: "a test of a half for NaN",
        reason: "The compiler, and the process with it, dies of such a test now and then, in a kernel of 1,400 lines.",
        opcodes: &["setp", "set"],
        pattern: patterns::is_half_tested_for_nan,
        rewrite: Some(rewrites::test_for_nan),
        reduced: "setp.nan.f16 %p1, %h1, %h1;",
        mended: "cvt.f32.f16 %f1, %h1;\nsetp.nan.f32 %p1, %f1, %f1;",
    },
    Erratum {
        id: "signed-byte-extracted",
        versions: &["12.9", "13.0"],
        what: "an extraction of a signed byte",
        reason: "The extracted byte, converted to a float as an unsigned number, is converted as a signed byte: -60 \
                 becomes -60 and not 4294967236.",
        opcodes: &["bfe"],
        pattern: patterns::is_signed_byte_extracted,
        rewrite: Some(rewrites::extraction),
        reduced: "bfe.s32 %r1, %r2, 8, 8;\ncvt.rn.f32.u32 %f1, %r1;",
        mended: "prmt.b32 %r1, %r2, 0, 0x9991;\ncvt.rn.f32.u32 %f1, %r1;",
    },
    Erratum {
        id: "select-of-doubles-converted",
        versions: &["12.9", "13.0"],
        what: "a conversion of a select of doubles that are floats",
        reason: "The lower halves of such doubles are zero and share a register. Under register pressure, the upper half \
                 of a second one is put where that of the first was and is not converted: the result of the first \
                 conversion is used again.",
        opcodes: &["cvt"],
        pattern: patterns::is_select_of_doubles_converted,
        rewrite: Some(rewrites::converted_select),
        reduced: "selp.f64 %d1, 0d3FF8000000000000, 0d402E400000000000, %p1;\ncvt.rn.f32.f64 %f1, %d1;",
        mended: "selp.f32 %f1, 0f3FC00000, 0f41720000, %p1;",
    },
    Erratum {
        id: "select-of-least-number-converted",
        versions: &["13.0", "13.5"],
        what: "a conversion of a select of the least number and zero",
        reason: "By its bits, the least denormal number is taken for the integer 1, and the select for a predicate that \
                 is converted: the result is 1 and not 0, also in a conversion to an integer.",
        opcodes: &["cvt"],
        pattern: patterns::is_select_of_least_number_converted,
        rewrite: Some(rewrites::converted_select),
        reduced: "selp.f32 %f1, 0f00000001, 0f00000000, %p1;\ncvt.rzi.u32.f32 %r1, %f1;",
        mended: "selp.b32 %r1, 0, 0, %p1;",
    },
    Erratum {
        id: "select-of-minus-one-converted",
        versions: &["13.0", "13.5"],
        what: "a conversion of a select of -1 and zero to an unsigned number",
        reason: "The select of -1.0 and 0.0 is taken for that of -1 and 0, as if the result had a sign: it is 4294967295 \
                 and not 0.",
        opcodes: &["cvt"],
        pattern: patterns::is_select_of_minus_one_converted,
        rewrite: Some(rewrites::converted_select),
        reduced: "selp.f32 %f1, 0fBF800000, 0f00000000, %p1;\ncvt.rzi.u32.f32 %r1, %f1;",
        mended: "selp.b32 %r1, 0, 0, %p1;",
    },
    Erratum {
        id: "equality-with-bound",
        versions: &["12.9", "13.0"],
        what: "an equality of what is not negative",
        reason: "For architectures from 9.0 on, max(min(x, y), 0) == y becomes one instruction, VIMNMX.RELU, and the \
                 predicate that comes with it is taken for the answer: for a negative x it is true. The compiler does \
                 not look behind a negation. 13.5 does not do it.",
        opcodes: &["setp", "set"],
        pattern: patterns::is_equality_with_bound,
        rewrite: Some(rewrites::equality),
        reduced: "max.s32 %r1, %r2, 0;\nsetp.eq.s32 %p1, %r1, 255;",
        mended: "max.s32 %r1, %r2, 0;\nsetp.ne.s32 %p1, %r1, 255;\nnot.pred %p1, %p1;",
    },
    Erratum {
        id: "float-to-16-bits",
        versions: &["12.9", "13.0", "13.5"],
        what: "a conversion of a float to 16 bits",
        reason: "The conversion is taken to clear the upper half of its register, or to fill it with the sign, and so are \
                 copies of the result. But a copy keeps what was in the upper half before.",
        opcodes: &["cvt"],
        pattern: patterns::is_float_to_16_bits,
        rewrite: Some(rewrites::float_to_16_bits),
        reduced: "cvt.rzi.u16.f32 %h1, %f1;",
        mended: "cvt.rzi.u32.f32 %r1, %f1;\ncvt.u16.u32 %h1, %r1;",
    },
    Erratum {
        id: "uniform-halves",
        versions: &["13.0", "13.5"],
        what: "a division into halves of what may be the same for a warp",
        reason: "A register that is the same for all threads of a warp may be taken for a pair of registers when it is \
                 divided: the upper half is then read from a second register, which nothing sets. A register that is \
                 set in one place and depends on the thread is not divided so, and neither is a shift.",
        opcodes: &["mov"],
        pattern: patterns::is_uniform_divided,
        rewrite: Some(rewrites::halves),
        reduced: "mov.u32 %r1, %ctaid.x;\nmov.b32 {%h1, %h2}, %r1;",
        mended: "mov.u32 %r1, %ctaid.x;\ncvt.u16.u32 %h1, %r1;\nshr.u32 %r2, %r1, 16;\ncvt.u16.u32 %h2, %r2;",
    },
    Erratum {
        id: "negation-in-two-extrema",
        versions: &["12.9", "13.0"],
        what: "a negation that is compared in two extrema",
        reason: "For architectures from 9.0 on, min(min(x, -y), z) becomes one instruction, VIMNMX3, which cannot negate, \
                 and the negation of the second operand is lost. The same holds of max, of a product with -1, and of a \
                 negated difference, which becomes the difference. 13.5 does not do it.",
        opcodes: &["neg", "sub", "mul", "mad"],
        pattern: patterns::is_negated_in_two_extrema,
        rewrite: Some(rewrites::negated_word_by_complement),
        reduced: "neg.s32 %r1, %r2;\nmin.s32 %r1, %r3, %r1;\nmin.s32 %r1, %r1, %r2;",
        mended: "not.b32 %r1, %r2;\nadd.s32 %r1, %r1, 1;\nmin.s32 %r1, %r3, %r1;\nmin.s32 %r1, %r1, %r2;",
    },
    Erratum {
        id: "generic-address-of-32-bits",
        versions: &[],
        what: "a generic address of 32 bits",
        reason: "Generic addresses have 64 bits. LLVM 19 makes such an access when it has forgotten that the pointer \
                 leads to shared or local memory, whose addresses have 32. ptxas 13.5 refuses it. There is no rewrite: \
                 what the address leads to is no longer known here. llvm/src/gpu/lane.rs and legalise.rs do not give LLVM \
                 what it makes such an access of.",
        opcodes: &["ld", "ldu", "st"],
        pattern: patterns::is_generic_address_of_32_bits,
        rewrite: None,
        reduced: "ld.u32 %r1, [%r2];",
        mended: "ld.shared.u32 %r1, [%r2];",
    },
];
