//! Addresses of variables in the text of PTX.
//!
//! LLVM 19 makes the address of a variable in the frame a generic one, and casts that to private memory:
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

use std::collections::HashMap;

/// The text with such casts folded.
pub fn fold_casts(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    // Registers that hold the generic address of the frame and so many bytes, in this block.
    let mut frames: HashMap<&str, &str> = HashMap::new();
    for line in text.split_inclusive('\n') {
        let mut operands = operands(line);
        match (operands.next(), operands.next(), operands.next(), operands.next()) {
            (Some("add.u64"), Some(to), Some("%SP"), Some(bytes)) => {
                frames.insert(to, bytes);
            }
            (Some("cvta.to.local.u64"), Some("%tmp"), Some(from), None) if frames.contains_key(from) => {
                folded.push_str(&format!("\t  add.u64 \t%tmp, %SPL, {};\n", frames[from]));
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
        folded.push_str(line);
    }
    folded
}

/// The operation of a line and its operands.
fn operands(line: &str) -> impl Iterator<Item = &str> {
    line.split([' ', '\t', ',', ';', '\n']).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::fold_casts;

    fn cast(from: &str) -> String {
        format!("\t{{ .reg .b64 %tmp;\n\t  cvta.to.local.u64 \t%tmp, {from};\n\t  cvt.u32.u64 \t%r1, %tmp; }}\n")
    }

    #[test]
    fn a_cast_of_a_variables_address_is_folded() {
        let address = "\tadd.u64 \t%rd4, %SP, 16;\n";
        let text = fold_casts(&format!("{address}{}", cast("%rd4")));
        let wanted = "\t{ .reg .b64 %tmp;\n\t  add.u64 \t%tmp, %SPL, 16;\n\t  cvt.u32.u64 \t%r1, %tmp; }\n";
        assert_eq!(text, format!("{address}{wanted}"));
    }

    #[test]
    fn other_casts_stay() {
        let address = "\tadd.u64 \t%rd4, %SP, 16;\n";
        for between in ["$L__BB0_2:\n", "\tadd.s64 \t%rd4, %rd4, 8;\n", "}\n"] {
            let text = format!("{address}{between}{}", cast("%rd4"));
            assert_eq!(fold_casts(&text), text, "{between}");
        }
        let text = format!("{address}{}", cast("%rd5"));
        assert_eq!(fold_casts(&text), text);
    }
}
