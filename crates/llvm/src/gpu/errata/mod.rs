//! Instructions of which NVIDIA's compiler makes wrong machine code, or of which it dies (seen with 12.9 and 13.0), in
//! other words, in the text of PTX: code generation makes them of many things.
//!
//! # Extrema of 16 bits
//!
//! Of `min(x, 127) == 127` it makes one instruction for both halves of a register, and takes the answer for the upper
//! half, in which there is nothing; also if it finds out by itself that a register holds a constant. It does not do so
//! to 32 bits:
//!
//! ```text
//! min.u16 %rs2, %rs1, 127;      ▸      { .reg .b32 %wide<2>;
//!                                        cvt.u32.u16 %wide0, %rs1;
//!                                        mov.u32 %wide1, 127;
//!                                        min.u32 %wide0, %wide0, %wide1;
//!                                        cvt.u16.u32 %rs2, %wide0; }
//! ```
//!
//! # Negation and absolute value of 16 bits
//!
//! These have 32 bits in machine code, and where the result is extended by its sign, for a comparison or a conversion,
//! it is not cut to 16 before: -(-32768) is 32768 and greater than anything. A product is cut, and is no slower:
//!
//! ```text
//! neg.s16 %rs2, %rs1;      ▸      mul.lo.s16 %rs2, %rs1, -1;
//! ```
//!
//! # Whether a half is no number
//!
//! Now and then the compiler dies of that in a kernel of 1,400 lines, and the process with it. The same of a float is
//! no slower, as the value is mostly needed as a float too.
//!
//! # Unsigned numbers that were signed bytes
//!
//! Of `convert_float(convert_uint(c))`, where `c` is a `char` in a word, it makes one conversion, of a signed byte: -60
//! becomes -60 and not 4294967236. A byte that is moved is none to it, and one instruction, too:
//!
//! ```text
//! bfe.s32 %r2, %r1, 8, 8;      ▸      prmt.b32 %r2, %r1, 0, 0x9991;
//! cvt.rn.f32.u32 %f1, %r2;            cvt.rn.f32.u32 %f1, %r2;
//! ```
//!
//! # Conversions of choices
//!
//! See [`choices`].
//!
//! # Whether what is not negative is a bound
//!
//! Of `max(min(x, y), 0) == y`, for architectures from 9.0 on, it makes one instruction, `VIMNMX.RELU`, and takes the
//! predicate that comes with it for the answer: for a negative `x` it is true. (13.5 does not.) It does so in
//! `convert_uchar_sat(x) == 255`, also where the numbers are cut to 16 bits. It does not look behind a negation, which
//! takes no instruction:
//!
//! ```text
//! max.s32 %r2, %r1, 0;              max.s32 %r2, %r1, 0;
//! setp.eq.s32 %p1, %r2, 255;   ▸    setp.ne.s32 %p1, %r2, 255;
//!                                   not.pred %p1, %p1;
//! ```
//!
//! # Conversions to 16 bits
//!
//! The conversion of a float to 16 bits is taken to clear the upper half of its register, and so are copies of the
//! result. But a copy keeps what was in the upper half before (`F2I.U16 R12, R12` and `PRMT R4, R12, 0x7610, R4`; 13.5
//! does so, too). A conversion to 32 bits whose upper half is cut off is not copied so:
//!
//! ```text
//! cvt.rzi.u16.f32 %rs1, %f1;      ▸      { .reg .b32 %wide;
//!                                          cvt.rzi.u32.f32 %wide, %f1;
//!                                          cvt.u16.u32 %rs1, %wide; }
//! ```
//!
//! # Halves of what is the same for a warp
//!
//! A register that is the same for all threads of a warp may be taken for a pair of registers when it is divided: the
//! upper half is then the lower one of the second register, which nothing sets (`UPRMT UR4, UR9, 0x7610, UR4`, where
//! `UR8` holds both; 13.5 does so, too). A shift is not divided, and no slower. So is divided what may be the same: not
//! what depends on the thread, if it is set in one place. What is loaded from the same address for all may be the same.
//!
//! ```text
//! mov.b32 {%rs1, %rs2}, %r1;      ▸      { .reg .b32 %upper;
//!                                          cvt.u16.u32 %rs1, %r1;
//!                                          shr.u32 %upper, %r1, 16;
//!                                          cvt.u16.u32 %rs2, %upper; }
//! ```

mod choices;

use super::peephole::operands;
use choices::Choices;
use std::collections::HashSet;

/// The text without such instructions.
pub fn avoid(text: &str) -> String {
    let mut avoided = String::with_capacity(text.len());
    // A function, with what goes before it.
    for function in text.split_inclusive("\n}\n") {
        let (merged, varying) = (merged(function), varying(function));
        let (choices, clamped) = (Choices::new(function, &merged), clamped(function));
        for line in function.split_inclusive('\n') {
            let other = (choices.converted(line).or_else(|| in_other_words(line)))
                .or_else(|| negated(line, &clamped))
                .or_else(|| divided(line, |from| merged.contains(from) || !varying.contains(from)));
            match other {
                Some(other) => avoided.push_str(&other),
                None => avoided.push_str(line),
            }
        }
    }
    avoided
}

/// Registers with the larger of two numbers, or zero in the place of some, and those with copies of them. Some of these
/// are not meant; that does no harm.
fn clamped(function: &str) -> HashSet<&str> {
    let mut registers = HashSet::new();
    for line in function.lines() {
        let mut words = operands(line);
        let (Some(operation), Some(to), Some(a)) = (words.next(), words.next(), words.next()) else { continue };
        let is_one = match operation {
            "max.s32" | "max.s16" => true,
            "selp.b32" | "selp.b16" => a == "0" || words.next() == Some("0"),
            "cvt.u16.u32" | "cvt.u32.u16" | "cvt.s32.s16" | "mov.u32" | "mov.b32" | "mov.u16" => registers.contains(a),
            _ => false,
        };
        if is_one {
            registers.insert(to);
        }
    }
    registers
}

/// An equality of one of these registers, as a negation.
fn negated(line: &str, clamped: &HashSet<&str>) -> Option<String> {
    let mut words = operands(line);
    let ty = words.next()?.strip_prefix("setp.eq.").filter(|ty| ["s32", "s16"].contains(ty))?;
    let (to, a, b) = (words.next()?, words.next()?, words.next()?);
    let is_meant = clamped.contains(a) || clamped.contains(b);
    is_meant.then(|| format!("\tsetp.ne.{ty} \t{to}, {a}, {b};\n\tnot.pred \t{to}, {to};\n"))
}

/// Registers that are set in several places, and those with copies of them.
fn merged(function: &str) -> HashSet<&str> {
    let (mut set, mut merged) = (HashSet::new(), HashSet::new());
    for line in function.lines().map(undeclared) {
        let mut words = operands(line).skip_while(|word| word.starts_with('@'));
        let Some(operation) = words.next() else { continue };
        let is_copy = matches!(operation, "mov.b32" | "mov.u32") && words.nth(1).is_some_and(|a| merged.contains(a));
        for register in split(line, operation).0 {
            if !set.insert(register) || is_copy {
                merged.insert(register);
            }
        }
    }
    merged
}

/// The instruction of a line in which LLVM declares a register for what is not needed.
fn undeclared(line: &str) -> &str {
    line.trim_start().strip_prefix("{ .reg").and_then(|rest| rest.split_once(';')).map_or(line, |(_, inst)| inst)
}

/// The registers that an instruction sets, and what stands behind them.
fn split<'a>(line: &'a str, operation: &str) -> (impl Iterator<Item = &'a str>, &'a str) {
    let operands = line.split_once(operation).map_or("", |(_, operands)| operands.trim_start());
    // Several stand in braces, as those of a load do, or have a predicate beside them.
    let (to, from) = match operands.strip_prefix('{') {
        Some(to) => to.split_once('}').unwrap_or((to, "")),
        None => operands.split_once([',', '|']).unwrap_or((operands, "")),
    };
    (to.split(',').map(str::trim).filter(|to| to.starts_with('%')), from)
}

/// Registers that depend on the thread, in the order of the text: of what a loop sets behind it, nothing is known.
fn varying(function: &str) -> HashSet<&str> {
    // What a load finds depends on the thread if its address does. The same local address is another one for each.
    const OF_THREAD: [&str; 6] = ["%tid", "%laneid", "%lanemask", "%clock", "atom.", "ld.local."];
    // The same for all, whatever they are of.
    const OF_WARP: [&str; 6] = ["redux.", "vote.", "match.", "activemask.", "bar.", "barrier."];
    let is_of = |word: &str, of: &[&str]| of.iter().any(|of| word.starts_with(of));
    let mut varying = HashSet::new();
    for line in function.lines().map(undeclared) {
        let Some(operation) = operands(line).find(|word| !word.starts_with('@')) else { continue };
        let (to, from) = split(line, operation);
        let mut words = from.split(|c: char| !c.is_ascii_alphanumeric() && !['%', '_', '$'].contains(&c));
        let is_one =
            is_of(operation, &OF_THREAD) || words.any(|word| varying.contains(word) || is_of(word, &OF_THREAD));
        if is_one && !is_of(operation, &OF_WARP) {
            varying.extend(to);
        }
    }
    varying
}

/// The division of such a register, as a shift. LLVM has a register `tmp` for a half that is not needed.
fn divided(line: &str, may_be_same: impl Fn(&str) -> bool) -> Option<String> {
    let (_, halves) = line.split_once("mov.b32")?;
    let (halves, from) = halves.trim_start().strip_prefix('{')?.split_once('}')?;
    let from = operands(from).next().filter(|from| may_be_same(from))?;
    let (lower, upper) = halves.split_once(',')?;
    Some(format!("\t{{ .reg .b32 %upper;\n{}\t}}\n", shifted(from, lower.trim(), upper.trim())))
}

/// Sets the halves of a register, but for one of the name `tmp`. It needs a register `%upper`.
fn shifted(from: &str, lower: &str, upper: &str) -> String {
    let mut text = String::new();
    if lower != "tmp" {
        text += &format!("\t  cvt.u16.u32 \t{lower}, {from};\n");
    }
    if upper != "tmp" {
        text += &format!("\t  shr.u32 \t%upper, {from}, 16;\n\t  cvt.u16.u32 \t{upper}, %upper;\n");
    }
    text
}

/// Of a conversion of a float to an integer of 16 bits, what stands behind `cvt`, the integer's sign, and the float.
fn to_16_bits(operation: &str) -> Option<(&str, &str, &str)> {
    let (operation, from) = operation.strip_prefix("cvt")?.rsplit_once('.')?;
    let (rounding, ty) = operation.rsplit_once('.')?;
    let sign = ty.strip_suffix("16").filter(|sign| ["u", "s"].contains(sign))?;
    from.starts_with('f').then_some((rounding, sign, from))
}

fn in_other_words(line: &str) -> Option<String> {
    let mut words = operands(line);
    let (operation, to, a) = (words.next()?, words.next()?, words.next()?);
    match operation {
        "neg.s16" => return Some(format!("\tmul.lo.s16 \t{to}, {a}, -1;\n")),
        "abs.s16" => {
            return Some(format!(
                "\t{{ .reg .b32 %wide;\n\
                 \t  cvt.s32.s16 \t%wide, {a};\n\
                 \t  abs.s32 \t%wide, %wide;\n\
                 \t  cvt.u16.u32 \t{to}, %wide; }}\n"
            ));
        }
        _ => {}
    }
    if let Some((rounding, ty, from)) = to_16_bits(operation) {
        return Some(format!(
            "\t{{ .reg .b32 %wide;\n\
             \t  cvt{rounding}.{ty}32.{from} \t%wide, {a};\n\
             \t  cvt.u16.u32 \t{to}, %wide; }}\n"
        ));
    }
    let b = words.next()?;
    let (name, ty) = operation.rsplit_once('.')?;
    // Where denormal numbers are zeros; those of halves are normal floats.
    let name = name.strip_suffix(".ftz").unwrap_or(name);
    match (name, ty) {
        ("min" | "max", "u16" | "s16") => {
            let sign = &ty[..1];
            let wide = |operand: &str, into: &str| match operand.parse::<i64>() {
                Ok(n) if sign == "u" => format!("\t  mov.u32 \t{into}, {};\n", n as u16),
                Ok(n) => format!("\t  mov.s32 \t{into}, {};\n", n as i16),
                Err(_) => format!("\t  cvt.{sign}32.{sign}16 \t{into}, {operand};\n"),
            };
            let (a, b) = (wide(a, "%wide0"), wide(b, "%wide1"));
            Some(format!(
                "\t{{ .reg .b32 %wide<2>;\n{a}{b}\
                 \t  {name}.{sign}32 \t%wide0, %wide0, %wide1;\n\
                 \t  cvt.u16.u32 \t{to}, %wide0; }}\n"
            ))
        }
        // A digit of the mask is the number of a byte, or 8 more for its sign.
        ("bfe", "s32") => {
            let mask = match (b, words.next()?) {
                ("0", "8") => "0x8880",
                ("8", "8") => "0x9991",
                ("16", "8") => "0xaaa2",
                ("24", "8") => "0xbbb3",
                ("0", "16") => "0x9910",
                ("8", "16") => "0xaa21",
                ("16", "16") => "0xbb32",
                _ => return None,
            };
            Some(format!("\tprmt.b32 \t{to}, {a}, 0, {mask};\n"))
        }
        ("setp.nan" | "setp.num", "f16") => Some(format!(
            "\t{{ .reg .f32 %wide<2>;\n\
             \t  cvt.f32.f16 \t%wide0, {a};\n\
             \t  cvt.f32.f16 \t%wide1, {b};\n\
             \t  {name}.f32 \t{to}, %wide0, %wide1; }}\n"
        )),
        ("setp.nan" | "setp.num", "f16x2") => {
            let (low, high) = to.split_once('|')?;
            // As what is `divided`: it may be set in several places.
            let halves = [("a", a), ("b", b)].map(|(name, from)| {
                format!(
                    "{}\
                     \t  cvt.f32.f16 \t%{name}0, %low;\n\
                     \t  cvt.f32.f16 \t%{name}1, %high;\n",
                    shifted(from, "%low", "%high")
                )
            });
            Some(format!(
                "\t{{ .reg .b16 %low, %high;\n\
                 \t  .reg .b32 %upper;\n\
                 \t  .reg .f32 %a<2>, %b<2>;\n\
                 {}\
                 \t  {name}.f32 \t{low}, %a0, %b0;\n\
                 \t  {name}.f32 \t{high}, %a1, %b1; }}\n",
                halves.concat()
            ))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::avoid;

    #[test]
    fn extrema_have_32_bits() {
        let text = avoid("\tmin.u16 \t%rs2, %rs1, -5;\n");
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        let [first, constant] = ["cvt.u32.u16 \t%wide0, %rs1;", "mov.u32 \t%wide1, 65531;"];
        let least = "min.u32 \t%wide0, %wide0, %wide1;";
        assert_eq!(lines, ["{ .reg .b32 %wide<2>;", first, constant, least, "cvt.u16.u32 \t%rs2, %wide0; }"]);
        assert!(avoid("\tmax.s16 \t%rs2, %rs1, 65531;\n").contains("mov.s32 \t%wide1, -5;"));
        assert!(avoid("\tmax.s16 \t%rs2, %rs1, %rs3;\n").contains("cvt.s32.s16 \t%wide1, %rs3;"));
        for other in ["min.u32 \t%r2, %r1, 5;", "sub.s16 \t%rs2, %rs1, 5;"] {
            assert_eq!(avoid(other), other);
        }
    }

    #[test]
    fn what_is_negated_is_cut_to_16_bits() {
        assert_eq!(avoid("\tneg.s16 \t%rs2, %rs1;\n"), "\tmul.lo.s16 \t%rs2, %rs1, -1;\n");
        let absolute = avoid("\tabs.s16 \t%rs2, %rs1;\n");
        assert!(absolute.contains("abs.s32 \t%wide, %wide;") && absolute.contains("cvt.u16.u32 \t%rs2, %wide;"));
        for other in ["\tneg.s32 \t%r2, %r1;\n", "\tneg.f16 \t%rs2, %rs1;\n", "\tabs.s32 \t%r2, %r1;\n"] {
            assert_eq!(avoid(other), other);
        }
    }

    #[test]
    fn signed_bytes_are_moved() {
        assert_eq!(avoid("\tbfe.s32 \t%r2, %r1, 8, 8;\n"), "\tprmt.b32 \t%r2, %r1, 0, 0x9991;\n");
        assert_eq!(avoid("\tbfe.s32 \t%r2, %r1, 0, 16;\n"), "\tprmt.b32 \t%r2, %r1, 0, 0x9910;\n");
        for other in
            ["\tbfe.u32 \t%r2, %r1, 8, 8;\n", "\tbfe.s32 \t%r2, %r1, 4, 8;\n", "\tbfe.s32 \t%r2, %r1, 8, %r3;\n"]
        {
            assert_eq!(avoid(other), other);
        }
    }

    #[test]
    fn equality_with_a_bound_is_negated() {
        let equal = |a: &str, ty: &str| format!("\tsetp.eq.{ty} \t%p1, {a}, 255;\n");
        let negated = |a: &str, ty: &str| format!("\tsetp.ne.{ty} \t%p1, {a}, 255;\n\tnot.pred \t%p1, %p1;\n");
        let max = "\tmax.s32 \t%r2, %r1, 0;\n";
        assert_eq!(avoid(&format!("{max}{}", equal("%r2", "s32"))), format!("{max}{}", negated("%r2", "s32")));
        let cut = format!("{max}\tcvt.u16.u32 \t%rs1, %r2;\n");
        assert_eq!(avoid(&format!("{cut}{}", equal("%rs1", "s16"))), format!("{cut}{}", negated("%rs1", "s16")));
        // A loop may be laid out before what goes ahead of it.
        assert_eq!(avoid(&format!("{}{max}", equal("%r2", "s32"))), format!("{}{max}", negated("%r2", "s32")));
        let choice = "\tselp.b32 \t%r2, %r1, 0, %p2;\n";
        assert_eq!(avoid(&format!("{choice}{}", equal("%r2", "s32"))), format!("{choice}{}", negated("%r2", "s32")));
        for other in [equal("%r1", "s32"), equal("%r2", "s64"), negated("%r2", "s32")] {
            assert_eq!(avoid(&format!("{max}{other}")), format!("{max}{other}"));
        }
    }

    #[test]
    fn floats_are_converted_to_32_bits() {
        let wide =
            |cvt: &str| format!("\t{{ .reg .b32 %wide;\n\t  {cvt} \t%wide, %f1;\n\t  cvt.u16.u32 \t%rs1, %wide; }}\n");
        for (cvt, other) in [
            ("cvt.rzi.u16.f32", "cvt.rzi.u32.f32"),
            ("cvt.rni.ftz.s16.f32", "cvt.rni.ftz.s32.f32"),
            ("cvt.rmi.s16.f64", "cvt.rmi.s32.f64"),
            ("cvt.rzi.u16.f16", "cvt.rzi.u32.f16"),
        ] {
            assert_eq!(avoid(&format!("\t{cvt} \t%rs1, %f1;\n")), wide(other));
        }
        for other in ["cvt.rzi.u32.f32", "cvt.u16.u32", "cvt.rn.f16.f32", "cvt.s32.s16", "cvt.rn.f32.u16"] {
            let line = format!("\t{other} \t%r1, %r2;\n");
            assert_eq!(avoid(&line), line);
        }
    }

    #[test]
    fn what_may_be_the_same_for_a_warp_is_divided_by_a_shift() {
        let divided = |lines: &str| avoid(&format!("{lines}\tmov.b32 \t{{%rs1, %rs2}}, %r1;\n")).contains("shr.u32");
        for same in [
            "\tld.param.u32 \t%r1, [k_param_0];\n",
            "\tld.global.u32 \t%r1, [%rd1];\n",
            "\tld.shared.v4.b32 \t{%r1, %r3, %r4, %r5}, [local_memory+224];\n",
            "\tmov.u32 \t%r2, %ctaid.x;\n\tadd.s32 \t%r1, %r2, 1;\n",
            "\tmov.b32 \t%r2, {%rs5, %rs6};\n\tor.b32  \t%r1, %r2, 10682368;\n",
            "\tmov.u32 \t%r2, %tid.x;\n\tredux.sync.or.b32 \t%r1, %r2, -1;\n",
        ] {
            assert!(divided(same), "{same}");
        }
        for other in [
            "\tmul.wide.u32 \t%rd1, %r2, 4;\n\tld.global.u32 \t%r1, [%rd1+8];\n",
            "\tcvt.u64.u32 \t%rd1, %r2;\n\tld.v2.u32 \t{%r1, %r7}, [%rd1];\n",
            "\tmad.lo.s32 \t%r1, %r3, %r2, 5;\n",
            "\tld.shared.v2.u16 \t{%rs5, %rs6}, [%r2];\n\tmov.b32 \t%r1, {%rs6, %rs5};\n",
            "\tld.local.u32 \t%r3, [%SPL];\n\t{ .reg .b16 tmp; mov.b32 {tmp, %rs5}, %r3; }\n\tcvt.u32.u16 \t%r1, %rs5;\n",
            "\tatom.global.add.u32 \t%r1, [%rd1], 1;\n",
        ] {
            let other = &format!("\tmov.u32 \t%r2, %tid.x;\n{other}");
            assert!(!divided(other), "{other}");
        }
    }

    #[test]
    fn what_is_set_in_several_places_is_divided_by_a_shift() {
        let set = |lines: &str, divides: &str| avoid(&format!("{lines}{divides}"));
        let (one, both) = ("\tmov.u32 \t%r1, %tid.x;\n", "\tmov.b32 \t%r1, 242;\n\tadd.s32 \t%r1, %r3, 1;\n");
        let lower = |from: &str| format!("\t  cvt.u16.u32 \t%rs1, {from};\n");
        let upper = |from: &str| format!("\t  shr.u32 \t%upper, {from}, 16;\n\t  cvt.u16.u32 \t%rs2, %upper;\n");
        let divides = "\tmov.b32 \t{%rs1, %rs2}, %r1;\n";
        assert_eq!(set(one, divides), format!("{one}{divides}"));
        let shifts = format!("\t{{ .reg .b32 %upper;\n{}{}\t}}\n", lower("%r1"), upper("%r1"));
        assert_eq!(set(both, divides), format!("{both}{shifts}"));
        // One half, in LLVM's words; a copy; a predicated one.
        let low = "\t{ .reg .b16 tmp; mov.b32 {%rs1, tmp}, %r1; }\n";
        assert_eq!(set(both, low), format!("{both}\t{{ .reg .b32 %upper;\n{}\t}}\n", lower("%r1")));
        let high = "\t{ .reg .b16 tmp; mov.b32 {tmp, %rs2}, %r2; }\n";
        let copied = format!("{both}\tmov.b32 \t%r2, %r1;\n");
        assert_eq!(set(&copied, high), format!("{copied}\t{{ .reg .b32 %upper;\n{}\t}}\n", upper("%r2")));
        let chosen = format!("{one}\t@%p1 mov.b32 \t%r1, 1;\n");
        assert_eq!(set(&chosen, divides), format!("{chosen}{shifts}"));
        let unpacked = format!("{one}\t{{ .reg .b32 tmp; mov.b64 {{tmp, %r1}}, %rd1; }}\n");
        assert_eq!(set(&unpacked, divides), format!("{unpacked}{shifts}"));
        let loaded = format!("{one}\tld.global.v2.u32 \t{{%r5, %r1}}, [%rd1];\n");
        assert_eq!(set(&loaded, divides), format!("{loaded}{shifts}"));
        // What is put together has no halves to take.
        let packs = "\tmov.b32 \t%r1, {%rs1, %rs2};\n";
        assert_eq!(set(both, packs), format!("{both}{packs}"));
    }

    #[test]
    fn halves_are_numbers_if_floats_are() {
        let one = avoid("\tsetp.nan.f16 \t%p1, %rs1, %rs2;\n");
        assert!(one.contains("cvt.f32.f16 \t%wide1, %rs2;") && one.contains("setp.nan.f32 \t%p1, %wide0, %wide1;"));
        let flushed = avoid("\tsetp.nan.ftz.f16 \t%p1, %rs1, %rs1;\n");
        assert!(flushed.contains("setp.nan.f32 \t%p1, %wide0, %wide1;"));
        let two = avoid("\tsetp.num.f16x2 \t%p1|%p2, %r1, %r1;\n");
        assert!(two.contains("setp.num.f32 \t%p1, %a0, %b0;") && two.contains("setp.num.f32 \t%p2, %a1, %b1;"));
        let other = "\tsetp.lt.f16 \t%p1, %rs1, %rs2;\n";
        assert_eq!(avoid(other), other);
    }
}
