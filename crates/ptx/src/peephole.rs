//! Optimisations of PTX that LLVM 19 does not have.
//!
//! In: a draft of a module. Out: the draft with replaced instructions.
//!
//! # Addresses of variables
//!
//! LLVM makes the address of a variable in the frame a generic one, and casts that to private memory:
//!
//! ```text
//! add.u64 %rd4, %SP, 16;                      add.u64 %rd4, %SP, 16;
//! { .reg .b64 %tmp;                           { .reg .b64 %tmp;
//!   cvta.to.local.u64 %tmp, %rd4;      ▸        add.u64 %tmp, %SPL, 16;
//!   cvt.u32.u64 %r1, %tmp; }                    cvt.u32.u64 %r1, %tmp; }
//! ```
//!
//! LLVM has a peephole optimisation for the cast, but not if addresses of private memory have 32 bits. Without it,
//! ptxas does not know the alignment of the variable, and makes one access for each element instead of one for four. (A
//! decomposition of 6 by 6 matrices: 385 accesses instead of 438.)
//!
//! # Upper bits
//!
//! A bit field that ends at the highest bit, `bfe.s32 %r2, %r1, 24, 8`, is a shift, `shr.s32 %r2, %r1, 24`: one machine
//! instruction instead of two.
//!
//! # Extrema of 64 bits
//!
//! LLVM merges two comparisons with the same limit into one comparison of the larger number. That takes more
//! instructions if the hardware has no registers of 64 bits, and hides that one of the two does not change in a loop:
//!
//! ```text
//! max.u64 %rd3, %rd1, %rd2;           max.u64 %rd3, %rd1, %rd2;
//! setp.lt.u64 %p1, %rd3, %rd4;        { .reg .pred %first;
//!                              ▸        setp.lt.u64 %first, %rd1, %rd4;
//!                                       setp.lt.and.u64 %p1, %rd2, %rd4, %first; }
//! ```
//!
//! If the extremum has no other use, ptxas removes it. (A tile of a product of matrices, by indices of 64 bits: 65
//! instructions beside the multiplications instead of 135.)

use crate::draft::{Builder, Draft, Replacement};
use crate::tree::{Arg, Statement};
use crate::{DefUse, Literal, Operand, Operation, ParseError, Register, Type};
use rustc_hash::FxHashMap;

/// Makes these optimisations. Returns how many instructions were replaced.
pub fn optimise(draft: &mut Draft<'_>) -> Result<usize, ParseError> {
    // Once: what is made here is not looked at again.
    draft.replace_once(|function| {
        let body = function.body.as_deref().unwrap_or_default();
        // The look at opcodes saves the resolution of names for most functions.
        if !body.iter().any(may_change) {
            return Ok(Vec::new());
        }
        let of = DefUse::new(function)?;
        let mut frame = Frame::new(&of);
        let mut extrema = Extrema::default();
        let (mut replacements, mut next) = (Vec::new(), 0);
        for operation in &of.code {
            let between = body.get(next..operation.statement).unwrap_or_default();
            next = operation.statement + 1;
            for statement in between {
                match statement {
                    // Source lines have no effect.
                    Statement::Directive(_) => {}
                    // Control may come from a branch.
                    Statement::Label(..) => {
                        frame.variables.clear();
                        extrema.clear();
                    }
                    // In another block, a name may mean something else.
                    _ => extrema.clear(),
                }
            }
            // Before `see`: the instruction reads its operands before it sets its result.
            let other = match operation.name {
                "cvta" => frame.cast(operation),
                "bfe" => as_shift(operation),
                "setp" => extrema.compared_by(operation).and_then(|extremum| compared_apart(extremum, operation)),
                _ => None,
            };
            frame.see(operation);
            extrema.see(operation);
            if let Some(statements) = other {
                replacements.push(Replacement { at: operation.statement, statements });
            }
        }
        Ok(replacements)
    })
}

/// Whether a statement may be replaced, or may be the extremum that such a statement compares. Most functions have no
/// such statement.
fn may_change(statement: &Statement<'_>) -> bool {
    match statement {
        Statement::Inst(inst) => match &*inst.opcode {
            "cvta.to.local.u64" | "max.u64" | "max.s64" | "min.u64" | "min.s64" => true,
            opcode => opcode.starts_with("bfe."),
        },
        _ => false,
    }
}

/// The frame of a function: its generic and its local address, and the variables in it.
struct Frame<'t> {
    /// The register with its generic address, and the operand with its local one.
    addresses: Option<(Register, Arg<'t>)>,
    /// Registers that hold the generic address of the frame plus an offset, and this offset. They hold in this block
    /// only.
    variables: FxHashMap<u32, u64>,
}

impl<'t> Frame<'t> {
    /// Finds the frame of a function: LLVM begins with `mov.u64 %SPL, depot; cvta.local.u64 %SP, %SPL`. Neither
    /// register may be set elsewhere.
    fn new(of: &DefUse<'_, 't>) -> Frame<'t> {
        let mut frame = Frame { addresses: None, variables: FxHashMap::default() };
        let is_cast = |operation: &&Operation<'_, 't>| &*operation.inst.opcode == "cvta.local.u64";
        // Without this cast the function has no frame, and nothing of the kind to replace.
        let Some(cast) = of.code.iter().find(is_cast) else { return frame };
        let (Some(generic), Some(local)) = (cast.register(0), cast.register(1)) else { return frame };
        let Some(Arg::Name(name)) = cast.inst.args.get(1) else { return frame };
        // The name is written into instructions elsewhere in the function: it must mean the same register there.
        let mut is_constant = of.is_plain(name);
        let (mut of_generic, mut of_local) = (0, 0);
        for operation in &of.code {
            operation.for_each_write(|register| {
                of_generic += u32::from(register == generic);
                if register == local {
                    of_local += 1;
                    // The address of a variable is the same in the whole function.
                    is_constant &= operation.name == "mov" && matches!(operation.operands[1..], [Operand::Name(_)]);
                }
            });
        }
        // With one definition each, both hold the frame's address wherever they are used.
        if is_constant && (of_generic, of_local) == (1, 1) {
            frame.addresses = Some((generic, Arg::Name(name)));
        }
        frame
    }

    /// The replacement of a cast of a variable's generic address: an addition to the local address of the frame.
    fn cast(&self, operation: &Operation<'_, 't>) -> Option<Vec<Statement<'t>>> {
        let (_, local) = self.addresses.as_ref().filter(|_| &*operation.inst.opcode == "cvta.to.local.u64")?;
        let bytes = *self.variables.get(&operation.register(1)?.slot)?;
        let mut new = Builder::new(operation.inst);
        new.inst("add.u64", [operation.inst.args.first()?.clone(), local.clone(), Arg::int(bytes)]);
        new.finish()
    }

    /// Updates the facts by the registers that an instruction sets.
    fn see(&mut self, operation: &Operation<'_, '_>) {
        let Some((generic, _)) = self.addresses else { return };
        operation.for_each_write(|register| {
            // First what is no longer true: `add.u64 %rd4, %SP, 16` replaces the fact about `%rd4`.
            self.variables.remove(&register.slot);
        });
        if operation.name == "add"
            // With a predicate, the register may keep its old value.
            && operation.inst.guard.is_none()
            && &*operation.inst.opcode == "add.u64"
            && operation.register(1) == Some(generic)
            && let (Some(to), Some(Literal::Int(bytes))) = (operation.register(0), operation.literal(2))
        {
            self.variables.insert(to.slot, bytes);
        }
    }
}

/// The extrema of a basic block that can still be computed again from the same registers.
#[derive(Default)]
struct Extrema<'a, 't> {
    /// By the register that holds the extremum.
    found: FxHashMap<u32, &'a Operation<'a, 't>>,
    /// The statement by which this block has last set a register.
    set_at: FxHashMap<u32, usize>,
}

impl<'a, 't> Extrema<'a, 't> {
    fn clear(&mut self) {
        self.found.clear();
        self.set_at.clear();
    }

    /// The extremum that a comparison reads first, if neither it nor what it was computed from has been set since.
    fn compared_by(&self, comparison: &Operation<'_, 't>) -> Option<&'a Operation<'a, 't>> {
        let extremum = *self.found.get(&comparison.register(1)?.slot)?;
        // `None`, for a register that the block has not set, is less than any statement.
        let is_set_later = |register: Register| self.set_at.get(&register.slot) > Some(&extremum.statement);
        // All three: the result, which the comparison reads, and both operands, which the new comparisons read.
        let is_stale = (0..3).filter_map(|index| extremum.register(index)).any(is_set_later);
        (!is_stale).then_some(extremum)
    }

    fn see(&mut self, operation: &'a Operation<'a, 't>) {
        // Definitions before the first extremum are no matter: most blocks have none at all.
        if self.found.is_empty() && !matches!(operation.name, "max" | "min") {
            return;
        }
        operation.for_each_write(|register| {
            self.set_at.insert(register.slot, operation.statement);
        });
        if let ("max" | "min", Some(register)) = (operation.name, operation.register(0)) {
            self.found.insert(register.slot, operation);
        }
    }
}

/// The shift that is equal to an extraction of the upper bits.
fn as_shift<'t>(operation: &Operation<'_, 't>) -> Option<Vec<Statement<'t>>> {
    let ty = operation.inst.types().next().filter(|ty| matches!(ty.bits, 32 | 64))?;
    let [to, from, first, _] = operation.inst.args.as_slice() else { return None };
    let (Some(Literal::Int(start)), Some(Literal::Int(count))) = (operation.literal(2), operation.literal(3)) else {
        return None;
    };
    // A field of no bits is 0, which no shift gives.
    if start.checked_add(count)? != u64::from(ty.bits) || count == 0 {
        return None;
    }
    let mut new = Builder::new(operation.inst);
    new.inst(format!("shr.{ty}"), [to.clone(), from.clone(), first.clone()]);
    new.finish()
}

/// The two comparisons that replace a comparison of an extremum.
fn compared_apart<'t>(extremum: &Operation<'_, 't>, comparison: &Operation<'_, 't>) -> Option<Vec<Statement<'t>>> {
    let ty = extremum.inst.types().next().filter(|ty| ty.bits == 64 && !ty.is_float())?;
    let is_maximum = match extremum.name {
        "max" => true,
        "min" => false,
        _ => return None,
    };
    let mut parts = comparison.inst.modifiers();
    let relation = parts.next()?;
    let is_less = match relation {
        "lt" | "le" => true,
        "gt" | "ge" => false,
        _ => return None,
    };
    // Only `setp.relation.type`: a comparison that already combines a predicate, and one of another type, stay.
    if parts.next().and_then(Type::parse) != Some(ty) || parts.next().is_some() || extremum.inst.guard.is_some() {
        return None;
    }
    let ([_, a, b], [to @ Arg::Name(_), _, limit]) = (extremum.inst.args.as_slice(), comparison.inst.args.as_slice())
    else {
        return None;
    };
    let extreme_register = extremum.register(0)?;
    let reads_it = |operation: &Operation<'_, '_>, index| operation.register(index) == Some(extreme_register);
    // After `max %rd1, %rd1, %rd2`, the old operand is gone.
    let is_overwritten = reads_it(extremum, 1) || reads_it(extremum, 2) || reads_it(comparison, 2);
    if !reads_it(comparison, 1) || is_overwritten {
        return None;
    }
    // The larger number is below a limit if both are, and above it if one is. For the smaller number it is the other
    // way round.
    let both = if is_less == is_maximum { "and" } else { "or" };
    let mut new = Builder::new(comparison.inst);
    let first = new.register(Type::PRED, "%first");
    new.inst(format!("setp.{relation}.{ty}"), [first.clone(), a.clone(), limit.clone()]);
    new.inst(format!("setp.{relation}.{both}.{ty}"), [to.clone(), b.clone(), limit.clone(), first]);
    new.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    const REGISTERS: &str = ".reg .pred %p<4>; .reg .b32 %r<4>; .reg .b64 %rd<9>; .reg .b64 %SP; .reg .b64 %SPL;";
    const FRAME: &str = ".local .align 8 .b8 depot[64]; mov.u64 %SPL, depot; cvta.local.u64 %SP, %SPL;";

    /// A body with these optimisations, in one line.
    fn optimised(body: &str) -> String {
        let before = format!(".entry k() {{ {REGISTERS} ");
        let text = format!("{before}{body} }}");
        let mut draft = Draft::parse(&text).unwrap();
        optimise(&mut draft).unwrap();
        let printed = draft.print();
        let body = printed.strip_prefix(before.trim_end()).and_then(|rest| rest.strip_suffix(" }")).unwrap();
        body.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn stays(body: &str) {
        assert_eq!(optimised(body), body);
    }

    fn cast(from: &str) -> String {
        format!("{{ .reg .b64 %tmp; cvta.to.local.u64 %tmp, {from}; cvt.u32.u64 %r1, %tmp; }}")
    }

    #[test]
    fn a_cast_of_a_variables_address_is_folded() {
        let address = format!("{FRAME} add.u64 %rd4, %SP, 16;");
        let wanted = "{ .reg .b64 %tmp; add.u64 %tmp, %SPL, 16; cvt.u32.u64 %r1, %tmp; }";
        assert_eq!(optimised(&format!("{address} {}", cast("%rd4"))), format!("{address} {wanted}"));
        // A line of the source changes nothing.
        let line = format!("{address} mov.u32 %r3, 1; .loc 1 2 3\n");
        assert_eq!(optimised(&format!("{line}{}", cast("%rd4"))), format!("{} {wanted}", line.trim_end()));
    }

    #[test]
    fn other_casts_stay() {
        let address = format!("{FRAME} add.u64 %rd4, %SP, 16;");
        for between in [
            "$L__BB0_2:",
            "add.s64 %rd4, %rd4, 8;",
            "@%p1 mov.u64 %rd4, %rd3;",
            "ld.global.v2.u64 {%rd3, %rd4}, [%rd5];",
            // The frame is another one.
            "mov.u64 %SPL, %rd3;",
            "add.u64 %SP, %SP, 8;",
        ] {
            stays(&format!("{address} {between} {}", cast("%rd4")));
        }
        stays(&format!("{address} {}", cast("%rd5")));
        stays(&format!("{FRAME} @%p1 add.u64 %rd4, %SP, 16; {}", cast("%rd4")));
        stays(&format!("{FRAME} {{ .reg .b64 %rd4; add.u64 %rd4, %SP, 16; }} {}", cast("%rd4")));
    }

    #[test]
    fn extrema_of_64_bits_are_compared_apart() {
        let text = |operation: &str, comparison: &str| {
            (format!("{operation} %rd3, %rd1, %rd2;"), format!("{comparison} %p1, %rd3, %rd4;"))
        };
        for (operation, comparison, both) in [
            ("max.u64", "setp.lt.u64", "setp.lt.and.u64"),
            ("max.s64", "setp.ge.s64", "setp.ge.or.s64"),
            ("min.u64", "setp.gt.u64", "setp.gt.and.u64"),
            ("min.s64", "setp.le.s64", "setp.le.or.s64"),
        ] {
            let (extremum, compared) = text(operation, comparison);
            let apart =
                format!("{{ .reg .pred %first; {comparison} %first, %rd1, %rd4; {both} %p1, %rd2, %rd4, %first; }}");
            assert_eq!(optimised(&format!("{extremum} {compared}")), format!("{extremum} {apart}"));
        }
        for (operation, comparison) in
            [("max.u64", "setp.lt.s64"), ("max.u64", "setp.eq.u64"), ("max.u32", "setp.lt.u32")]
        {
            let (extremum, compared) = text(operation, comparison);
            stays(&format!("{extremum} {compared}"));
        }
        stays("max.u64 %rd1, %rd1, %rd2; setp.lt.u64 %p1, %rd1, %rd4;");
        let (extremum, compared) = text("max.u64", "setp.lt.u64");
        // Other instructions may be between them.
        let (apart, between) = (
            "{ .reg .pred %first; setp.lt.u64 %first, %rd1, %rd4; setp.lt.and.u64 %p1, %rd2, %rd4, %first; }",
            "mov.u64 %rd4, 5;",
        );
        assert_eq!(optimised(&format!("{extremum} {between} {compared}")), format!("{extremum} {between} {apart}"));
        let sets = ["mov.u64 %rd1, 5;", "mov.u64 %rd2, 5;", "mov.u64 %rd3, 5;", "@%p2 mov.u64 %rd3, 5;"];
        for between in ["L:", "{ .reg .b64 %rd1;"].into_iter().chain(sets) {
            let end = if between.starts_with('{') { " }" } else { "" };
            stays(&format!("{extremum} {between} {compared}{end}"));
        }
        stays(&format!("@%p2 {extremum} {compared}"));
        stays(&format!("{extremum} setp.lt.and.u64 %p1, %rd3, %rd4, %p2;"));
    }

    #[test]
    fn fields_that_end_with_the_register_are_shifts() {
        assert_eq!(optimised("bfe.s32 %r2, %r1, 24, 8;"), "shr.s32 %r2, %r1, 24;");
        assert_eq!(optimised("@%p1 bfe.u64 %rd2, %rd1, 48, 16;"), "@%p1 shr.u64 %rd2, %rd1, 48;");
        for other in ["bfe.s32 %r2, %r1, 16, 8;", "bfe.u32 %r2, %r1, %r3, 8;", "bfe.u64 %rd2, %rd1, 24, 8;"] {
            stays(other);
        }
    }
}
