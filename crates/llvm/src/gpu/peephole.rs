//! Optimisations of the text of PTX, where LLVM 19 has none.
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
//! It has a peephole optimisation for the cast, but not where addresses of private memory have 32 bits. Without it, the
//! driver's compiler does not see how a variable is aligned, and makes one access for each number instead of one for
//! four. (A decomposition of 6 by 6 matrices: 385 accesses instead of 438.)
//!
//! # Upper bits
//!
//! A field that ends with the register, `bfe.s32 %r2, %r1, 24, 8`, is a shift, `shr.s32 %r2, %r1, 24`: one instruction
//! of the machine instead of two.
//!
//! # Extrema of 64 bits
//!
//! LLVM makes of two comparisons with one limit one of the larger number, which takes more instructions where there are
//! no registers of 64 bits, and hides that one of the two is the same in each iteration of a loop:
//!
//! ```text
//! max.u64 %rd3, %rd1, %rd2;           max.u64 %rd3, %rd1, %rd2;
//! setp.lt.u64 %p1, %rd3, %rd4;        { .reg .pred %first;
//!                              ▸        setp.lt.u64 %first, %rd1, %rd4;
//!                                       setp.lt.and.u64 %p1, %rd2, %rd4, %first; }
//! ```
//!
//! If nothing else needs the extremum, the driver's compiler leaves it out. (A tile of a product of matrices, by
//! indices of 64 bits: 65 instructions beside the multiplications instead of 135.)

use std::collections::HashMap;

/// The optimised text.
pub fn optimise(text: &str) -> String {
    let mut optimised = String::with_capacity(text.len());
    // Registers that hold the generic address of the frame and so many bytes, in this block.
    let mut frames: HashMap<&str, &str> = HashMap::new();
    let mut before = "";
    for line in text.split_inclusive('\n') {
        let extremum = std::mem::replace(&mut before, line);
        let mut operands = operands(line);
        match (operands.next(), operands.next(), operands.next(), operands.next()) {
            (Some("add.u64"), Some(to), Some("%SP"), Some(bytes)) => {
                frames.insert(to, bytes);
            }
            (Some("cvta.to.local.u64"), Some("%tmp"), Some(from), None) if frames.contains_key(from) => {
                optimised.push_str(&format!("\t  add.u64 \t%tmp, %SPL, {};\n", frames[from]));
                continue;
            }
            (Some(operation), Some(to), Some(from), Some(limit))
                if let Some(comparison) = operation.strip_prefix("setp.")
                    && operands.next().is_none()
                    && let Some(apart) = compared_apart(extremum, comparison, [to, from, limit]) =>
            {
                optimised.push_str(&apart);
                continue;
            }
            (Some(operation), Some(to), Some(from), Some(first))
                if let Some(shift) = shift_of(operation, first, operands.next()) =>
            {
                frames.remove(to);
                optimised.push_str(&format!("\t{shift} \t{to}, {from}, {first};\n"));
                continue;
            }
            (Some(operation), to, ..) => {
                if operation.ends_with(':') || matches!(operation, "{" | "}") && to.is_none() {
                    frames.clear();
                } else if let Some(to) = to {
                    frames.remove(to);
                }
            }
            (None, ..) => {}
        }
        optimised.push_str(line);
    }
    optimised
}

/// The shift that is the same as an extraction of so many bits from the first one on, if there is one.
fn shift_of(operation: &str, first: &str, count: Option<&str>) -> Option<&'static str> {
    let (shift, bits) = match operation {
        "bfe.s32" => ("shr.s32", 32),
        "bfe.u32" => ("shr.u32", 32),
        "bfe.s64" => ("shr.s64", 64),
        "bfe.u64" => ("shr.u64", 64),
        _ => return None,
    };
    let (first, count): (u32, u32) = (first.parse().ok()?, count?.parse().ok()?);
    (first.checked_add(count)? == bits).then_some(shift)
}

/// A comparison, `lt.u64`, with these operands, as two comparisons, if the line before makes the extremum that is
/// compared.
fn compared_apart(extremum: &str, comparison: &str, [to, from, limit]: [&str; 3]) -> Option<String> {
    let mut words = operands(extremum);
    let (operation, extreme, a, b) = (words.next()?, words.next()?, words.next()?, words.next()?);
    let (is_maximum, ty) = match operation {
        "max.u64" | "max.s64" => (true, &operation[4..]),
        "min.u64" | "min.s64" => (false, &operation[4..]),
        _ => return None,
    };
    let relation = comparison.strip_suffix(ty)?.strip_suffix('.')?;
    let is_less = match relation {
        "lt" | "le" => true,
        "gt" | "ge" => false,
        _ => return None,
    };
    if words.next().is_some() || from != extreme || [a, b, limit].contains(&extreme) {
        return None;
    }
    let both = if is_less == is_maximum { "and" } else { "or" };
    Some(format!(
        "\t{{ .reg .pred %first;\n\t  setp.{relation}.{ty} \t%first, {a}, {limit};\n\t  \
         setp.{relation}.{both}.{ty} \t{to}, {b}, {limit}, %first; }}\n"
    ))
}

/// The operation of a line and its operands.
pub fn operands(line: &str) -> impl Iterator<Item = &str> {
    line.split([' ', '\t', ',', ';', '\n']).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::optimise;

    fn cast(from: &str) -> String {
        format!("\t{{ .reg .b64 %tmp;\n\t  cvta.to.local.u64 \t%tmp, {from};\n\t  cvt.u32.u64 \t%r1, %tmp; }}\n")
    }

    #[test]
    fn a_cast_of_a_variables_address_is_folded() {
        let address = "\tadd.u64 \t%rd4, %SP, 16;\n";
        let text = optimise(&format!("{address}{}", cast("%rd4")));
        let wanted = "\t{ .reg .b64 %tmp;\n\t  add.u64 \t%tmp, %SPL, 16;\n\t  cvt.u32.u64 \t%r1, %tmp; }\n";
        assert_eq!(text, format!("{address}{wanted}"));
    }

    #[test]
    fn other_casts_stay() {
        let address = "\tadd.u64 \t%rd4, %SP, 16;\n";
        for between in ["$L__BB0_2:\n", "\tadd.s64 \t%rd4, %rd4, 8;\n", "}\n"] {
            let text = format!("{address}{between}{}", cast("%rd4"));
            assert_eq!(optimise(&text), text, "{between}");
        }
        let text = format!("{address}{}", cast("%rd5"));
        assert_eq!(optimise(&text), text);
    }

    #[test]
    fn extrema_of_64_bits_are_compared_apart() {
        let text = |operation: &str, comparison: &str| {
            (format!("\t{operation} \t%rd3, %rd1, %rd2;\n"), format!("\t{comparison} \t%p1, %rd3, %rd4;\n"))
        };
        for (operation, comparison, both) in [
            ("max.u64", "setp.lt.u64", "setp.lt.and.u64"),
            ("max.s64", "setp.ge.s64", "setp.ge.or.s64"),
            ("min.u64", "setp.gt.u64", "setp.gt.and.u64"),
            ("min.s64", "setp.le.s64", "setp.le.or.s64"),
        ] {
            let (extremum, compared) = text(operation, comparison);
            let apart = format!(
                "\t{{ .reg .pred %first;\n\t  {comparison} \t%first, %rd1, %rd4;\n\t  \
                 {both} \t%p1, %rd2, %rd4, %first; }}\n"
            );
            assert_eq!(optimise(&format!("{extremum}{compared}")), format!("{extremum}{apart}"));
        }
        for (operation, comparison) in
            [("max.u64", "setp.lt.s64"), ("max.u64", "setp.eq.u64"), ("max.u32", "setp.lt.u32")]
        {
            let (extremum, compared) = text(operation, comparison);
            let text = format!("{extremum}{compared}");
            assert_eq!(optimise(&text), text);
        }
        let overwritten = "\tmax.u64 \t%rd1, %rd1, %rd2;\n\tsetp.lt.u64 \t%p1, %rd1, %rd4;\n";
        assert_eq!(optimise(overwritten), overwritten);
    }

    #[test]
    fn fields_that_end_with_the_register_are_shifts() {
        assert_eq!(optimise("\tbfe.s32 \t%r2, %r1, 24, 8;\n"), "\tshr.s32 \t%r2, %r1, 24;\n");
        assert_eq!(optimise("\tbfe.u64 \t%rd2, %rd1, 48, 16;\n"), "\tshr.u64 \t%rd2, %rd1, 48;\n");
        for other in
            ["\tbfe.s32 \t%r2, %r1, 16, 8;\n", "\tbfe.u32 \t%r2, %r1, %r3, 8;\n", "\tbfe.u64 \t%rd2, %rd1, 24, 8;\n"]
        {
            assert_eq!(optimise(other), other);
        }
    }
}
