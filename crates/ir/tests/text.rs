//! The text form: what is printed parses to the same module, and no text makes the parser panic.

use cloom_ir::print::TEXT_VERSION;
use cloom_ir::*;

/// A module with one of everything.
const ALL: &str = include_str!("all.ir");

#[test]
fn the_text_of_everything_is_canonical() {
    let module = parse(ALL).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(verify(&module), []);
    assert_eq!(module.to_string(), ALL);
}

#[test]
fn a_text_of_another_version_is_refused_whatever_it_contains() {
    let module = parse(ALL).unwrap();
    let (line, rest) = ALL.split_once('\n').unwrap();
    assert_eq!(line, format!("version {TEXT_VERSION}"));
    assert_eq!(parse(rest).as_ref(), Ok(&module), "the line may be missing");
    assert_eq!(parse(&format!("; a comment\n\n {line} ; and another\n{rest}")).as_ref(), Ok(&module));
    for (text, number, place) in [("version 2\n§ ~", "2", "1:9"), ("; ~\n  version  1.5 ; ~", "1.5", "2:12")] {
        let error = parse(text).unwrap_err().to_string();
        assert!(error.starts_with(&format!("{place}: the text is of version {number} of the IR")), "{error}");
    }
    // It is the first line, alone.
    assert_eq!(parse("string \"a\"\nversion 1\n").unwrap_err().line, 2);
    assert_eq!(parse("version 1 string \"a\"\n").unwrap_err().line, 1);
}

#[test]
fn numbers_and_order_of_the_text_are_free() {
    let text = "func internal @f(i32) -> i32 { bb7(v9: i32): jump bb3 ; comment
                bb5: ret v4  bb3: v4: i32 = add v9, v9 jump bb5 }";
    let module = parse(text).unwrap();
    assert_eq!(verify(&module), []);
    let printed = module.to_string();
    assert_eq!(parse(&printed).unwrap().to_string(), printed);
    assert!(printed.contains("bb1:\n    ret v1"), "{printed}");
}

#[test]
fn errors_say_where() {
    let cases = [
        ("func internal @f() {\n bb0:\n  frobnicate v1\n ret }", "3:3: expected an instruction"),
        ("func internal @f() {\n bb0: jump bb1 }", "2:12: no block has this number"),
        ("func internal @f() -> i32 {\n bb0: ret v3 }", "2:11: no value has this number"),
        ("func internal @f() { bb0: call @g ret }", "1:32: no function has this name"),
        ("func internal @f() { bb0: ret }\nfunc internal @f() { bb0: ret }", "2:15: a second function of this name"),
        ("func internal @f() { }", "1:22: a body has one block at least"),
        (
            "func internal @f() { bb0: v0: i32 = const 0x1 v0: i32 = const 0x2 ret }",
            "1:47: a second value of this number",
        ),
        ("string \"ab", "1:8: a string without its end"),
        ("global @g constant size 99999999999999999999 align 4", "1:25: not a number of 64 bits"),
        ("func internal @f() { bb0: printf s0 ret }", "1:34: no string has this number"),
        ("func internal @f(i32x70000)", "1:18: a type with a strange number of lanes"),
        ("func internal @f() { inlined @g !0:1:2@1 bb0: ret }", "1:39: no inlined call has this number"),
        ("func internal @f() { inlined @g bb0: ret !0:1:2@2 }", "1:48: no inlined call has this number"),
        ("func internal @f() { inlined @g bb0: ret !0:1:2@0 }", "1:48: no inlined call has this number"),
        ("func internal @f() { inlined @g bb0: ret !0:1:2@g }", "1:48: no inlined call has this number"),
        ("func internal @f() { inlined @g bb0: ret !0:1:2@99999 }", "1:48: no inlined call has this number"),
        ("é", "1:1: a character that has no meaning here"),
    ];
    for (text, want) in cases {
        assert_eq!(parse(text).unwrap_err().to_string(), want, "{text}");
    }
}

/// A small generator of numbers; a test must give the same on every run.
struct Rng(u64);

impl Rng {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) as usize) % n.max(1)
    }
}

#[test]
fn damaged_texts_give_errors_or_modules_that_the_verifier_survives() {
    let mut rng = Rng(7);
    let (mut good, mut bad) = (0, 0);
    for _ in 0..4000 {
        let mut text = ALL.as_bytes().to_vec();
        for _ in 0..=rng.below(4) {
            let at = rng.below(text.len());
            match rng.below(4) {
                0 => text[at] = b" v0123ibx@\"(){}:,=-"[rng.below(19)],
                1 => drop(text.drain(at..(at + rng.below(12)).min(text.len()))),
                2 => {
                    let from = rng.below(text.len());
                    let part = text[from..(from + rng.below(40)).min(text.len())].to_vec();
                    text.splice(at..at, part);
                }
                _ => {
                    // Another number in place of one.
                    if text[at].is_ascii_digit() {
                        text[at] = b'0' + rng.below(10) as u8;
                    }
                }
            }
        }
        let Ok(text) = String::from_utf8(text) else { continue };
        match parse(&text) {
            Ok(module) => {
                good += 1;
                verify(&module);
                let printed = module.to_string();
                let again = parse(&printed).unwrap_or_else(|e| panic!("{e}\n{printed}"));
                assert_eq!(again.to_string(), printed);
            }
            Err(_) => bad += 1,
        }
    }
    assert!(good > 100 && bad > 100, "{good} {bad}");
}

fn random_span(rng: &mut Rng, calls: usize) -> Span {
    let [file, col, inlined] = [3, 9, calls + 1].map(|n| rng.below(n) as u16);
    Span { file, line: rng.below(50) as u32, col, inlined }
}

/// A random function: inlined calls, blocks with parameters, values of all scalar types, edges forward and back.
fn random_function(rng: &mut Rng, name: &str) -> Function {
    let types = [Type::I1, Type::I8, Type::I32, Type::I64, Type::F32, Type::vector(Scalar::F32, 4), Type::F64];
    let params: Vec<Type> = (0..rng.below(4)).map(|_| types[rng.below(types.len())]).collect();
    let mut f = Function::new(name, params.clone(), None);
    for calls in 0..rng.below(4) {
        f.inlined.push(CallSite { function: "a name".into(), span: random_span(rng, calls) });
    }
    let blocks: Vec<Block> = (0..=rng.below(6)).map(|_| f.add_block()).collect();
    for &ty in &params {
        f.add_block_param(blocks[0], ty);
    }
    for &b in &blocks[1..] {
        for _ in 0..rng.below(3) {
            f.add_block_param(b, types[rng.below(types.len())]);
        }
    }
    // Blocks in another order than they were made, with dead instructions between.
    for i in (2..f.layout.len()).rev() {
        f.layout.swap(i, 1 + rng.below(i));
    }
    for &b in &blocks {
        let mut w = Builder::new(&mut f, b);
        w.span = random_span(rng, w.func.inlined.len());
        for _ in 0..rng.below(8) {
            let ty = types[rng.below(types.len())];
            let x = w.iconst(ty, rng.below(1 << 30) as u64 * 0x1_0000_0001);
            if ty.is_int() {
                let op = BinOp::ALL[rng.below(20)];
                let wraps = matches!(op, BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Shl);
                let flags = Flags::from_bits_truncate(if wraps { rng.below(4) as u16 } else { 0 });
                w.binary_flags(op, x, x, flags);
            }
        }
        let mut edge = |w: &mut Builder<'_>| {
            let to = blocks[rng.below(blocks.len())];
            if to == blocks[0] {
                return None;
            }
            let types: Vec<Type> = w.func.blocks[to].params.iter().map(|&p| w.func.ty(p)).collect();
            let args: Vec<Value> = types.into_iter().map(|ty| w.iconst(ty, 1)).collect();
            Some(Edge::new(to, args))
        };
        let term = match (edge(&mut w), edge(&mut w)) {
            (Some(then), Some(els)) => {
                let cond = w.iconst(Type::I1, 1);
                Term::Branch { cond, then, els }
            }
            (Some(e), None) => Term::Jump(e),
            (None, Some(default)) => {
                let value = w.iconst(Type::I32, 3);
                Term::Switch { value, cases: vec![(7, default.clone())], default }
            }
            (None, None) => Term::Return(None),
        };
        w.term(term);
    }
    f
}

#[test]
fn random_modules_survive_the_text_form() {
    let mut rng = Rng(1);
    for round in 0..500 {
        let mut module = Module::new();
        module.files.push("a \"b\" é".into());
        for i in 0..=rng.below(3) {
            let f = random_function(&mut rng, &format!("f {i}"));
            module.funcs.push(f);
        }
        assert_eq!(verify(&module), [], "round {round}\n{module}");
        let text = module.to_string();
        let parsed = parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        assert_eq!(parsed.to_string(), text);
        // A second time, nothing is renumbered: the modules are equal as data.
        assert_eq!(parse(&parsed.to_string()).unwrap(), parsed);
    }
}
