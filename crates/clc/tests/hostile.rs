//! Sources that want to overflow the stack, fill the memory or never end: each gets a clean error, or is taken, in a
//! moment and on an ordinary stack.

mod common;

use cloom_clc::pp::PpOptions;
use cloom_clc::source::Session;
use common::{Memory, codes, parse, preprocess};

/// Parses within the stack that threads usually have, renders what was found, and gives the codes.
#[track_caller]
fn survive(source: &[u8]) -> Vec<&'static str> {
    let source = source.to_vec();
    let run = move || {
        let (session, unit) = parse(&source);
        drop(unit);
        let text = cloom_clc::render(&session.sources, &session.diags);
        assert!(text.len() < 1 << 20, "the messages have {} bytes", text.len());
        codes(&session)
    };
    std::thread::Builder::new().stack_size(2 << 20).spawn(run).unwrap().join().expect("no panic")
}

fn in_function(body: &str) -> Vec<u8> {
    format!("void f(int a) {{ {body} }}").into_bytes()
}

const MANY: usize = 1_000_000;

#[test]
fn nesting_is_bounded() {
    let expressions = [
        "(",
        "-",
        "- -",
        "!",
        "*",
        "& ",
        "a[",
        "f(",
        "(int)",
        "(int4)(",
        "sizeof ",
        "sizeof(",
        "a=",
        "a?",
        "a?a:",
        "a+(",
        "a||a&&a|a^a&a==a<a<<a+a*(",
        "(int[]){",
        "__extension__ ",
        "++",
    ];
    for e in expressions {
        assert_eq!(
            survive(&in_function(&format!("a = {}", e.repeat(if e.len() == 1 { MANY } else { MANY / 20 })))),
            ["E0208"],
            "{e}"
        );
    }
    // As a function, which is a mistake at each level.
    assert_eq!(survive(&in_function(&format!("a = {}", "int4(".repeat(MANY))))[0], "E0210");
    assert_eq!(survive(&in_function(&format!("a = {}", "({".repeat(MANY)))), ["E0208"]);
    let statements = format!("a = {}1;{};", "({ ".repeat(MANY), " })".repeat(MANY));
    assert_eq!(survive(&in_function(&statements)), ["E0208"]);
    let statements = [
        "{",
        "if (a) ",
        "if (a) ; else ",
        "while (a) ",
        "for (;;) ",
        "do ",
        "switch (a) ",
        "else ",
        "a: ; {",
        "for (int i = 0;;) {",
    ];
    for s in statements {
        let found = survive(&in_function(&s.repeat(MANY / 20)));
        assert!(found.contains(&"E0208") || found[0] == "E0214", "{s}: {found:?}");
    }
    let declarations = [
        "int (",
        "int a(",
        "int a(int (",
        "struct {",
        "struct a { union ",
        "int a = {",
        "int a[",
        "int *",
        "enum { a = (",
        "typeof(",
        "__attribute__((a(",
        "int a = (struct {",
        "_Alignas(",
    ];
    for d in declarations {
        let found = survive(d.repeat(MANY / 20).as_bytes());
        assert!(!found.is_empty() && found.len() < 70, "{d}: {found:?}");
    }
}

#[test]
fn chains_are_bounded() {
    let chains = ["+a", ",a", "[0]", "(0)", ".x", "->x", "++", "||a", "*a", "=a", "?a:a"];
    for c in chains {
        assert_eq!(survive(&in_function(&format!("a = a{};", c.repeat(MANY)))), ["E0208"], "{c}");
        // Sizes of real programs are accepted.
        assert_eq!(survive(&in_function(&format!("a = a{};", c.repeat(200)))), [""; 0], "{c}");
    }
    let chain = "if (a) ; else ".repeat(MANY);
    assert_eq!(survive(&in_function(&format!("{chain};"))), ["E0208"]);
    assert_eq!(survive(&in_function(&format!("{};", "if (a) ; else ".repeat(900)))), [""; 0]);
    assert_eq!(survive(format!("int {}a;", "*".repeat(MANY)).as_bytes()), ["E0208"]);
    assert_eq!(survive(format!("int a{};", "[1]".repeat(MANY)).as_bytes()), ["E0208"]);
    // Chains that make no deep tree have no bound.
    for flat in ["case 1: ", "a; ", "int b; ", ";", "{}", "l: "] {
        assert_eq!(survive(&in_function(&format!("switch (a) {{ {} ; }}", flat.repeat(100_000)))), [""; 0], "{flat}");
    }
    assert_eq!(survive(format!("int a[] = {{ {} }};", "1,".repeat(MANY)).as_bytes()), [""; 0]);
    assert_eq!(survive("const ".repeat(MANY).as_bytes()), ["E0204"]);
}

#[test]
fn macros_that_explode_are_bounded() {
    let mut doubling = String::new();
    for i in 0..60 {
        doubling += &format!("#define a{i} a{} a{}\n", i + 1, i + 1);
    }
    assert!(survive(format!("{doubling}a0").as_bytes()).contains(&"E0115"));
    let mut calls = String::from("#define f0(x) x x\n");
    for i in 1..60 {
        calls += &format!("#define f{i}(x) f{}(x) f{}(x)\n", i - 1, i - 1);
    }
    assert!(survive(format!("{calls}f59(y)").as_bytes()).contains(&"E0115"));
    let nested = format!("#define f(x) x\n{}1{}", "f(".repeat(MANY), ")".repeat(MANY));
    assert!(survive(nested.as_bytes()).contains(&"E0115"));
    let nested = format!("#define f(x) x\n{}1{};", "f(".repeat(100), ")".repeat(100));
    assert_eq!(
        survive(format!("int a = {nested}").replacen("int a = #", "#", 1).replacen("\nf", "\nint a = f", 1).as_bytes()),
        [""; 0]
    );
    // Text that doubles with each level: by `#` and by `##`.
    let quotes = format!("#define s(x) #x\n#define S(x) s(x)\n{}\"\\\\\"{}", "S(".repeat(150), ")".repeat(150));
    assert!(survive(quotes.as_bytes()).contains(&"E0115"));
    let pastes = format!("#define d(x) x##x\n#define D(x) d(x)\n{}a{}", "D(".repeat(150), ")".repeat(150));
    assert!(survive(pastes.as_bytes()).contains(&"E0115"));
    // Recursion by itself ends.
    assert_eq!(preprocess_codes("#define f(x) f(f(x)) f\nf(f(f(f(1))))"), [""; 0]);
    assert_eq!(preprocess_codes("#define a b\n#define b c\n#define c a\na b c"), [""; 0]);
}

fn preprocess_codes(source: &str) -> Vec<&'static str> {
    let (session, _) = preprocess(source.as_bytes(), &PpOptions::default(), &mut Memory::default());
    codes(&session)
}

#[test]
fn includes_that_explode_are_bounded() {
    let mut files = Memory::default();
    let names: Vec<(&'static str, &'static str)> = (0..60)
        .map(|i| {
            let text = format!("#include \"h{}\"\n#include \"h{}\"\n", i + 1, i + 1);
            (&*format!("h{i}").leak(), &*text.leak())
        })
        .collect();
    files.0.extend(names);
    files.0.insert("h60", "");
    let (session, _) = preprocess(b"#include \"h0\"\n", &PpOptions::default(), &mut files);
    assert_eq!(codes(&session), ["E0113"]);
}

#[test]
fn directives_in_masses() {
    assert_eq!(survive("#if 1\n".repeat(100_000).as_bytes()).len(), 64);
    assert_eq!(survive("#if 0\n".repeat(MANY).as_bytes()), ["E0106"]);
    let closed = format!("{}{}", "#if 1\n".repeat(100_000), "#endif\n".repeat(100_000));
    assert_eq!(survive(closed.as_bytes()), [""; 0]);
    for c in ["(", "!", "1?", "1?1:", "1+(", "1||"] {
        assert_eq!(survive(format!("#if {}\n#endif\n", c.repeat(MANY)).as_bytes()), ["E0107"], "{c}");
    }
    assert_eq!(survive(format!("#if 1{}\n#endif\n", "+1".repeat(MANY)).as_bytes()), [""; 0]);
    assert_eq!(survive(format!("#define f({}a) a\n", "a,".repeat(100_000)).as_bytes()), ["E0108"]);
    let wide: String = (0..20_000).map(|i| format!("a{i},")).collect();
    assert_eq!(survive(format!("#define f({wide}b) a0\n").as_bytes()), [""; 0]);
    assert_eq!(survive("#pragma unroll\n".repeat(100_000).as_bytes()), ["W0202"]);
    assert_eq!(survive("a\\\n".repeat(MANY).as_bytes()).len(), 1);
    assert_eq!(survive(" \\\n".repeat(MANY).as_bytes()), [""; 0]);
}

#[test]
fn size_is_bounded() {
    assert_eq!(survive(&b" ".repeat(100 << 20)), [""; 0]);
    assert_eq!(survive(&b"\n".repeat(20 << 20)), [""; 0]);
    assert_eq!(survive(&b"a;".repeat(5 << 20))[0], "E0100");
    assert_eq!(survive(&in_function(&"a;".repeat(5 << 20))), ["E0100"]);
    assert_eq!(survive(&in_function(&"a".repeat(20 << 20))), ["E0201"]);
    assert_eq!(survive(&in_function(&format!("a = {};", "9".repeat(1 << 20)))), ["E0118"]);
    let mut session = Session::default();
    assert!(session.sources.add("big", &vec![b' '; (256 << 20) + 1], None).is_none());
}

#[test]
fn nothing_that_lacks_an_end_hangs() {
    for source in [
        "/*",
        "//",
        "\"",
        "'",
        "\"\\",
        "'\\",
        "a \\",
        "a \\\n",
        "#",
        "#define",
        "#define a(",
        "#if",
        "#if 1",
        "#include <",
        "#include \"",
        "_Pragma(",
        "_Pragma(\"",
        "{",
        "}",
        "(",
        ")",
        "[",
        "]",
        "void f(",
        "void f() {",
        "void f() { if (",
        "void f() { do",
        "void f() { for (",
        "void f() { a = ",
        "void f() { a ? b",
        "struct",
        "struct s {",
        "struct s { int",
        "enum {",
        "enum { a =",
        "typedef",
        "typedef int",
        "int a[",
        "int a = {",
        "int a = { .",
        "int a = { [",
        "__attribute__",
        "__attribute__((",
        "__attribute__((a(",
        "void f() { case",
        "void f() { goto",
        "void f() { (int",
        "void f() { (int4)(",
        "void f() { sizeof",
        "void f() { __builtin_offsetof(",
        "_Static_assert(",
        "kernel",
        "kernel kernel",
        "\0",
        "\\",
        "@",
        "",
        "\u{feff}",
        "a",
        "1",
        "typeof(",
        "_Alignas",
        "_Alignas(",
        "asm(",
        "void f() { asm",
        "void f(a struct struct __attribute__((packed)) n { int v; } n",
        "struct struct __attribute__((a)) x;",
        "pipe",
        "_Generic",
        "a:",
        "...",
    ] {
        for tail in ["", "\n", "\r\n", " ", "\0"] {
            let text = format!("{source}{tail}");
            survive(text.as_bytes());
            survive(format!("void g() {{ {text}").as_bytes());
        }
    }
}

#[test]
fn any_bytes_are_taken() {
    assert_eq!(survive(b"// caf\xe9 \xff\xfe\nint a; /* \xc3\x28 */ int b;\r\nint c"), ["E0201"]);
    assert_eq!(survive(b"int \xff;"), ["E0103"]);
    assert_eq!(survive(b"int a;\0\0int b;"), ["W0107"]);
    assert_eq!(survive("void f() { char *s = \"\u{1F600}\"; int \u{20ac} = 1; }".as_bytes()), ["E0103"]);
    assert_eq!(survive("int gr\u{f6}\u{df}e, \u{3c0}_2, \u{6f22};".as_bytes()), [""; 0]);
    let all: Vec<u8> = (0..=255).cycle().take(100_000).collect();
    survive(&all);
}
