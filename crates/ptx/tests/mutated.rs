//! Texts that no compiler makes: the parser returns a tree or an error, in bounded time and depth. The printer keeps a
//! tree as it is, and the analyses and passes end. The output of the passes is PTX without known bugs of ptxas.

use cloom_ptx::tree::Item;

/// The generator SplitMix64: small, and the same on each machine.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut value = self.0;
        value = (value ^ value >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        value = (value ^ value >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((value ^ value >> 31) % bound.max(1) as u64) as usize
    }
}

const TEXTS: [&str; 4] = [
    include_str!("ptx/mixed.ptx"),
    include_str!("ptx/calls.ptx"),
    include_str!("ptx/sampler.ptx"),
    include_str!("ptx/module.ptx"),
];

/// The output of the passes for a text.
fn passed(text: &str) -> Result<String, cloom_ptx::ParseError> {
    let mut draft = cloom_ptx::Draft::parse(text)?;
    cloom_ptx::peephole::optimise(&mut draft)?;
    cloom_ptx::errata::rewrite(&mut draft)?;
    Ok(draft.print())
}

/// Parses a text, prints and parses the tree, and analyses its functions. Tells whether there is a tree.
fn check(text: &str) -> bool {
    let Ok(module) = cloom_ptx::parse(text) else { return false };
    let printed = module.to_string();
    assert_eq!(cloom_ptx::parse(&printed).as_ref(), Ok(&module), "{text}\n────\n{printed}");
    for item in &module.items {
        if let Item::Function(function) = item {
            let _ = cloom_ptx::errata::first(function);
        }
    }
    if let Ok(changed) = passed(text) {
        let module = cloom_ptx::parse(&changed).unwrap_or_else(|error| panic!("{error}\n{text}\n────\n{changed}"));
        let functions = module.items.iter().filter_map(|item| match item {
            Item::Function(function) => Some(function),
            _ => None,
        });
        for function in functions {
            let found = cloom_ptx::errata::first(function).unwrap();
            assert!(found.is_none_or(|found| found.erratum.rewrite.is_none()), "{text}\n────\n{changed}");
        }
    }
    true
}

/// Some lines of a text, with pieces of other places in them.
fn mutated(random: &mut Random) -> String {
    const PIECES: [&str; 24] = [
        "{",
        "}",
        "(",
        ")",
        "[",
        "]",
        ";",
        ",",
        ":",
        "-",
        "+",
        "|",
        "!",
        "@",
        "<",
        "=",
        "\"",
        "/*",
        "0x",
        "1.5e-300",
        "18446744073709551615",
        ".align 8",
        ".reg .b32 %r<9>;",
        "é",
    ];
    let text = TEXTS[random.below(TEXTS.len())];
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..1 + random.below(4) {
        let at = random.below(bytes.len());
        let end = (at + random.below(12)).min(bytes.len());
        match random.below(4) {
            0 => drop(bytes.drain(at..end)),
            1 => drop(bytes.splice(at..at, PIECES[random.below(PIECES.len())].bytes())),
            2 => bytes[at] = random.below(128) as u8,
            _ => {
                let piece = bytes[at..end].to_vec();
                let to = random.below(bytes.len());
                drop(bytes.splice(to..to, piece));
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn mutated_texts_are_a_tree_or_an_error() {
    let mut random = Random(1);
    let taken = (0..4000).filter(|_| check(&mutated(&mut random))).count();
    // A test of errors alone would say nothing of the printer.
    assert!((200..3800).contains(&taken), "{taken}");
}

#[test]
fn a_text_may_end_anywhere() {
    for text in TEXTS {
        for (end, _) in text.char_indices().step_by(7) {
            check(&text[..end]);
        }
    }
}

#[test]
fn depth_is_limited() {
    for open in ["{", "(", "[", "!", "-", "@", "a|"] {
        let many = open.repeat(200_000);
        for text in [
            format!(".entry k() {{ mov.u32 {many}"),
            format!(".entry k() {{ {many}"),
            format!(".global .b32 x = {many}"),
            format!(".entry k{many}"),
            format!(".global .attribute{many}"),
            many.clone(),
        ] {
            check(&text);
        }
    }
    let blocks = |depth: usize| format!(".entry k() {{ {}{} }}", "{".repeat(depth), "}".repeat(depth));
    assert!(check(&blocks(60)) && !check(&blocks(100_000)));
}
