//! The preprocessor against the standard: the examples of ISO C99 6.10.3 and what each directive must do.

mod common;

use cloom_clc::pp::{MacroOption, PpOptions};
use cloom_clc::syntax::ast::{PragmaKind, Unroll};
use common::{Memory, codes, define, preprocess, text_of};

/// Preprocesses and gives the text and the codes of what was found.
fn run(source: &str) -> (String, Vec<&'static str>) {
    let (session, program) = preprocess(source.as_bytes(), &PpOptions::default(), &mut Memory::default());
    (text_of(&session, &program), codes(&session))
}

/// Preprocesses what must be right.
#[track_caller]
fn expand(source: &str) -> String {
    let (text, codes) = run(source);
    assert!(codes.is_empty(), "{codes:?}");
    text
}

#[test]
fn example_2_hash_hash() {
    let text = expand(
        "#define hash_hash # ## #\n#define mkstr(a) # a\n#define in_between(a) mkstr(a)\n\
         #define join(c, d) in_between(c hash_hash d)\nchar p[] = join(x, y);",
    );
    assert_eq!(text, "char p[] = \"x ## y\";");
}

#[test]
fn example_3_redefinition_and_reexamination() {
    let text = expand(
        "#define x 3\n#define f(a) f(x * (a))\n#undef x\n#define x 2\n#define g f\n#define z z[0]\n#define h g(~\n\
         #define m(a) a(w)\n#define w 0,1\n#define t(a) a\n#define p() int\n#define q(x) x\n#define r(x,y) x ## y\n\
         #define str(x) # x\n\
         f(y+1) + f(f(z)) % t(t(g)(0) + t)(1);\ng(x+(3,4)-w) | h 5) & m\n(f)^m(m);\n\
         p() i[q()] = { q(1), r(2,3), r(4,), r(,5), r(,) };\nchar c[2][6] = { str(hello), str() };",
    );
    assert_eq!(
        text,
        "f(2 * (y+1)) + f(2 * (f(2 * (z[0])))) % f(2 * (0)) + t(1);\n\
         f(2 * (2+(3,4)-0,1)) | f(2 * (~ 5)) & f(2 * (0,1))^m(0,1);\n\
         int i[] = { 1, 23, 4, 5, };\nchar c[2][6] = { \"hello\", \"\" };"
    );
}

#[test]
fn example_4_strings_and_pasting() {
    let mut files = Memory::default();
    files.0.insert("vers2.h", "included");
    let source = "#define str(s) # s\n#define xstr(s) str(s)\n\
         #define debug(s, t) printf(\"x\" # s \"= %d, x\" # t \"= %s\", \\\n x ## s, x ## t)\n\
         #define INCFILE(n) vers ## n\n#define glue(a, b) a ## b\n#define xglue(a, b) glue(a, b)\n\
         #define HIGHLOW \"hello\"\n#define LOW LOW \", world\"\ndebug(1, 2);\n\
         fputs(str(strncmp(\"abc\\0d\", \"abc\", '\\4') // this goes away\n== 0) str(: @\\n), s);\n\
         #include xstr(INCFILE(2).h)\nglue(HIGH, LOW);\nxglue(HIGH, LOW)";
    let (session, program) = preprocess(source.as_bytes(), &PpOptions::default(), &mut files);
    assert!(codes(&session).is_empty());
    assert_eq!(
        text_of(&session, &program),
        "printf(\"x\" \"1\" \"= %d, x\" \"2\" \"= %s\", x1, x2);\n\
         fputs(\"strncmp(\\\"abc\\\\0d\\\", \\\"abc\\\", '\\\\4') == 0\" \": @\\n\", s);\n\
         included\n\"hello\";\n\"hello\" \", world\""
    );
}

#[test]
fn example_5_placemarkers() {
    let text = expand(
        "#define t(x,y,z) x ## y ## z\n\
         int j[] = { t(1,2,3), t(,4,5), t(6,,7), t(8,9,), t(10,,), t(,11,), t(,,12), t(,,) };",
    );
    assert_eq!(text, "int j[] = { 123, 45, 67, 89, 10, 11, 12, };");
}

#[test]
fn example_6_redefinitions() {
    let valid = "#define OBJ_LIKE (1-1)\n#define OBJ_LIKE /* white space */ (1-1) /* other */\n\
                 #define FUNC_LIKE(a) ( a )\n#define FUNC_LIKE( a )( /* note the white space */ \\\n\
                 a /* other stuff on this line\n*/ )\n";
    assert_eq!(run(valid).1, [""; 0]);
    for wrong in ["OBJ_LIKE (0)", "OBJ_LIKE (1 - 1)", "FUNC_LIKE(b) ( a )", "FUNC_LIKE(b) ( b )"] {
        assert_eq!(run(&format!("{valid}#define {wrong}\n")).1, ["W0102"], "{wrong}");
    }
}

#[test]
fn example_7_variadic() {
    let text = expand(
        "#define debug(...) fprintf(stderr, __VA_ARGS__)\n#define showlist(...) puts(#__VA_ARGS__)\n\
         #define report(test, ...) ((test)?puts(#test):\\\n printf(__VA_ARGS__))\n\
         debug(\"Flag\");\ndebug(\"X = %d\\n\", x);\nshowlist(The first, second, and third items.);\n\
         report(x>y, \"x is %d but y is %d\", x, y);",
    );
    assert_eq!(
        text,
        "fprintf(stderr, \"Flag\");\nfprintf(stderr, \"X = %d\\n\", x);\n\
         puts(\"The first, second, and third items.\");\n\
         ((x>y)?puts(\"x>y\"): printf(\"x is %d but y is %d\", x, y));"
    );
}

#[test]
fn names_are_not_expanded_within_themselves() {
    assert_eq!(expand("#define f(a) a*g\n#define g(a) f(a)\nf(2)(9)"), "2*9*g");
    assert_eq!(expand("#define foo(x) bar(foo(x)\n#define bar(y) [y]\nfoo(1))"), "[foo(1)]");
    assert_eq!(expand("#define a b\n#define b a\na b"), "a b");
    assert_eq!(expand("#define f(x) x f\nf(1)(2)"), "1 f(2)");
    assert_eq!(expand("#define NIL(x) x\n#define G_0(a) NIL(G_1)(a)\n#define G_1(a) NIL(G_0)(a)\nG_0(42)"), "G_0(42)");
}

#[test]
fn comma_before_empty_variadic_arguments() {
    let p = "#define p(f, ...) print(f, ## __VA_ARGS__)\n#define q(f, a...) print(f, ##a)\n";
    assert_eq!(expand(&format!("{p}p(1) p(1, 2, 3) q(1) q(1, 2)")), "print(1) print(1, 2, 3) print(1) print(1,2)");
}

#[test]
fn calls_reach_over_lines_and_directives() {
    assert_eq!(expand("#define f(a, b) a+b\nf\n(\n1\n#define X 2\n,\n#ifdef X\nX\n#else\n3\n#endif\n) end"), "1+2 end");
    assert_eq!(expand("#define f(a) <a>\nf f (1) f"), "f <1> f");
}

#[test]
fn conditions() {
    for (condition, value) in [
        ("1", true),
        ("UNDEFINED", false),
        ("defined A && !defined(B)", true),
        ("IS_A && 2 > 1", true),
        ("-1 > 0u", true),
        ("-1 < 0", true),
        ("(2 || 1/0) && !(0 && 1/0)", true),
        ("1 ? 2 ? 0 : 1 : 1", false),
        ("0x7fffffffffffffff + 1 < 0", true),
        ("'a' == 97 && '\\n' == 10 && '\\377' < 0", true),
        ("7 / 2 * 2 + 7 % 2 == 7 && 1 << 3 == 8 && -16 >> 2 == -4", true),
        ("(1 | 6 ^ 3 & 2) == 5", true),
        ("0b101 == 5 && 010 == 8", true),
        ("true && !false", true),
        ("ADD(1, 2) == 3", true),
        ("18446744073709551615 == -1", true),
    ] {
        let source = format!(
            "#define A\n#define IS_A defined(A)\n#define ADD(a, b) a + b\n#if {condition}\nyes\n#else\nno\n#endif\n"
        );
        assert_eq!(expand(&source), if value { "yes" } else { "no" }, "{condition}");
    }
    for wrong in ["", "1 +", "1.0", "(1", "1 / 0", "1 ? 2", "\"a\"", "1 1", "defined", "08", "f(1)", "1 = 1", "#"] {
        let (text, codes) = run(&format!("#if {wrong}\nyes\n#else\nno\n#endif\n"));
        assert_eq!((text.as_str(), &codes[..1]), ("no", &["E0107"][..]), "{wrong}");
    }
}

#[test]
fn groups() {
    let source = "#if 0\n don't \"\n#bogus\n#if 1\na\n#else\nb\n#endif\n#elif 1\nc\n#elif 1/0\nd\n#else\ne\n#endif\n";
    assert_eq!(expand(source), "c");
    assert_eq!(expand("#ifndef X\n#ifdef X\na\n#else // b\nb\n#endif\n#else\nc\n#endif /* X */\n"), "b");
    assert_eq!(run("#else\n").1, ["E0106"]);
    assert_eq!(run("#endif\n").1, ["E0106"]);
    assert_eq!(run("#if 1\n#else\n#else\n#endif\n").1, ["E0106"]);
    assert_eq!(run("#if 1\n#else\n#elif 1\n#endif\n").1, ["E0106"]);
    assert_eq!(run("#if 1\n#if 0\n").1, ["E0106", "E0106"]);
    assert_eq!(run("#endif x\n").1, ["W0104", "E0106"]);
}

#[test]
fn wrong_definitions_and_uses() {
    for (source, code) in [
        ("#define\n", "E0104"),
        ("#define 1\n", "E0104"),
        ("#define defined 1\n", "E0119"),
        ("#undef __FILE__\n", "E0119"),
        ("#define f(a\n", "E0108"),
        ("#define f(a,a) a\n", "E0108"),
        ("#define f(a,) a\n", "E0108"),
        ("#define f(..., a) a\n", "E0108"),
        ("#define f(a) #b\n", "E0108"),
        ("#define f(a) # \n", "E0108"),
        ("#define f(a) ## a\n", "E0108"),
        ("#define f(a) a ##\n", "E0108"),
        ("#define x __VA_ARGS__\n", "E0108"),
        ("#define x+1\n", "W0106"),
        ("#define f(a) a\nf(1, 2)\n", "E0109"),
        ("#define f(a, b) a\nf(1)\n", "E0109"),
        ("#define f() 1\nf(1)\n", "E0109"),
        ("#define f(a) a\nf(1\n", "E0110"),
        ("#define g(a, b) a ## b\ng(+, *)\n", "E0111"),
        ("#define g(a, b) a ## b\ng(/, /)\n", "E0111"),
        ("#include \"none.h\"\n", "E0112"),
        ("#include\n", "E0104"),
        ("#include <a\n", "E0104"),
        ("#error it's wrong\n", "E0114"),
        ("#warning it's odd\n", "W0101"),
        ("#defin x\n", "E0105"),
        ("#line x\n", "E0104"),
        ("/* x\n", "E0101"),
        ("#pragma nonsense\n", "W0103"),
        ("_Pragma(1)\n", "E0104"),
        ("int a; \0\n", "W0107"),
        ("??=\n", "W0105"),
        ("a \\ \nb\n", "W0109"),
    ] {
        let codes = run(source).1;
        assert_eq!(codes.first(), Some(&code), "{source:?} gave {codes:?}");
    }
}

#[test]
fn predefined_macros_and_options() {
    let options = PpOptions {
        c_version: 300,
        features: vec!["cl_khr_fp64".into()],
        predefined: vec![("M_TWO".into(), "(1 + 1)".into())],
        fast_relaxed_math: true,
        macros: vec![
            define("A", "1"),
            define("F(x)", "x+A"),
            define("S", "\"a b\""),
            MacroOption::Undefine("A".into()),
            define("A", "2"),
            define("NL", "1\n#error no"),
        ],
        ..PpOptions::default()
    };
    let source = "__OPENCL_C_VERSION__ __OPENCL_VERSION__ CL_VERSION_1_2 cl_khr_fp64 __FAST_RELAXED_MATH__\n\
                  __IMAGE_SUPPORT__ __ENDIAN_LITTLE__ F(0) S __FILE__ __LINE__ __COUNTER__ __COUNTER__ M_TWO\nNL\n\
                  #line 7 \"b.cl\"\n__LINE__ __FILE__";
    let (session, program) = preprocess(source.as_bytes(), &options, &mut Memory::default());
    assert_eq!(
        text_of(&session, &program),
        "300 310 120 1 1\n__IMAGE_SUPPORT__ 1 0+2 \"a b\" \"main.cl\" 2 0 1 (1 + 1)\n1 #error no\n7 \"b.cl\""
    );
}

#[test]
fn includes() {
    let mut files = Memory::default();
    files.0.insert("a.h", "#pragma once\n#include <b.h>\na __FILE__ __LINE__\n");
    files.0.insert("b.h", "#ifndef B\n#define B\nb\n#endif");
    let source = "#include \"a.h\"\n#include <b.h> // again\n#include \"a.h\"\nmain __LINE__ __FILE__";
    let (session, program) = preprocess(source.as_bytes(), &PpOptions::default(), &mut files);
    assert!(codes(&session).is_empty());
    assert_eq!(text_of(&session, &program), "b\na \"a.h\" 3\nmain 4 \"main.cl\"");
    assert_eq!(session.sources.files().len(), 3);
}

#[test]
fn an_endless_include_is_an_error() {
    let mut files = Memory::default();
    files.0.insert("a.h", "#include \"a.h\"\n#include \"a.h\"\n");
    let (session, program) = preprocess(b"#include \"a.h\"\nx", &PpOptions::default(), &mut files);
    assert_eq!(codes(&session), ["E0113"]);
    assert!(program.truncated);
}

#[test]
fn pragmas_stand_beside_the_tokens() {
    let source = "#define N 4\n#define DO(x) _Pragma(#x) y\na\n#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n\
                  b\n#pragma unroll N\nc\n#pragma OPENCL FP_CONTRACT OFF\n#pragma unroll (N * 2)\nDO(unroll 3)\n\
                  #pragma unroll\n_Pragma(\"unroll M\") z\n#pragma GCC ivdep\n#pragma OPENCL EXTENSION all : disable\n";
    let (session, program) = preprocess(source.as_bytes(), &PpOptions::default(), &mut Memory::default());
    assert!(codes(&session).is_empty());
    assert_eq!(text_of(&session, &program), "a\nb\nc y z");
    let found: Vec<String> = program
        .pragmas
        .iter()
        .map(|(at, p)| match &p.kind {
            PragmaKind::Extension { name, enable } => format!("{at} {} {enable}", session.names.text(name.name)),
            PragmaKind::FpContract(on) => format!("{at} contract {on:?}"),
            PragmaKind::Unroll(Unroll::Factor(n)) => format!("{at} unroll {n}"),
            PragmaKind::Unroll(u) => format!("{at} {u:?}"),
            PragmaKind::Pack(p) => format!("{at} {p:?}"),
        })
        .collect();
    assert_eq!(
        found,
        [
            "1 cl_khr_fp64 true",
            "2 unroll 4",
            "3 contract Some(false)",
            "3 unroll 8",
            "3 unroll 3",
            "4 Enable",
            "4 Enable",
            "5 all false"
        ]
    );
}

#[test]
fn odd_layout() {
    assert_eq!(expand("#def\\\nine A 1 /* x\n y */ + 2\r\nA\r\n"), "1 + 2");
    assert_eq!(expand("a/\\\n/ comment \\\n still\nb /\\\n* x *\\\n/ c"), "a\nb c");
    assert_eq!(expand("\u{feff}#define A b\nA"), "b");
    assert_eq!(
        expand("  /* c */ # /* d */ define A(x) x\n%:define B(x) %:x\nA(1) B(2) <: :> <% %>"),
        "1 \"2\" <: :> <% %>"
    );
    assert_eq!(expand("a\x0b\x0cb"), "a b");
}

#[test]
fn places_in_macros_lead_to_use_and_definition() {
    let source = "#define INNER(x) x bad\n#define OUTER(x) INNER(x)\nOUTER(good);";
    let (session, program) = preprocess(source.as_bytes(), &PpOptions::default(), &mut Memory::default());
    let sources = &session.sources;
    let (good, bad) = (program.tokens[0].span, program.tokens[1].span);
    assert_eq!(sources.text(good), "good");
    assert!(sources.expansion(good.expansion).is_none());
    assert_eq!(sources.text(bad), "OUTER(good)");
    let inner = sources.expansion(bad.expansion).unwrap();
    assert_eq!(sources.text(inner.definition.unwrap()), "INNER");
    let outer = sources.expansion(inner.parent).unwrap();
    assert_eq!(sources.text(outer.definition.unwrap()), "OUTER");
}

#[test]
fn questions_to_the_compiler_are_answered() {
    // Programs test in this way for features of one vendor's compiler, which others may not know.
    let source = b"#if 0\n#elif __has_builtin(__builtin_x) || __has_attribute(y)\na\n#else\nb\n#endif\n";
    let (session, program) = preprocess(source, &PpOptions::default(), &mut Memory::default());
    assert_eq!((text_of(&session, &program).as_str(), codes(&session)), ("b", vec![]));
}

#[test]
fn elifdef_and_elifndef_are_obeyed() {
    for (defined, condition, chosen) in [
        ("", "elifdef X", "b"),
        ("#define X", "elifdef X", "a"),
        ("", "elifndef X", "a"),
        ("#define X", "elifndef X", "b"),
    ] {
        let text = expand(&format!("{defined}\n#ifdef Y\nz\n#{condition}\na\n#else\nb\n#endif\n"));
        assert_eq!(text, chosen, "{defined} {condition}");
        // After a group that was read none is, whatever it says; nested ones belong to their own conditional.
        let text = expand(&format!("{defined}\n#if 1\nz\n#{condition}\na\n#else\nb\n#endif\n"));
        assert_eq!(text, "z");
        let text = expand(&format!("{defined}\n#if 0\n#if 0\n#{condition}\na\n#endif\n#else\nb\n#endif\n"));
        assert_eq!(text, "b");
    }
    assert_eq!(run("#if 1\n#else\n#elifdef X\n#endif\n").1, ["E0106"]);
    assert_eq!(run("#elifndef X\n").1, ["E0106"]);
    assert_eq!(run("#if 0\n#elifdef\n#endif\n").1, ["E0104"]);
}

#[test]
fn commas_in_conditions_give_the_last_value() {
    assert_eq!(expand("#if (0,7)==7\na\n#endif\n#if 1, 0\nb\n#elif 0, (1 ? 2, 3 : 4) == 3\nc\n#endif\n"), "a\nc");
    assert_eq!(run("#if (1,)\n#endif\n").1, ["E0107"]);
}

#[test]
fn directives_of_other_compilers_do_what_they_do_there() {
    assert_eq!(expand("#ident \"v 1\"\n#sccs \"x\"\na\n"), "a");
    let mut files = Memory::default();
    files.0.insert("a.h", "a");
    files.0.insert("self.h", "#include_next \"self.h\"\ns");
    let source = b"#import \"a.h\"\n#import \"a.h\"\n#include_next \"a.h\"\n";
    let (session, program) = preprocess(source, &PpOptions::default(), &mut files);
    assert_eq!((text_of(&session, &program).as_str(), codes(&session)), ("a", vec![]));
    let (session, _) = preprocess(b"#include \"self.h\"\n", &PpOptions::default(), &mut files);
    assert_eq!(codes(&session), ["E0112"]);
}

#[test]
fn macros_of_clang_are_there_unless_they_name_it() {
    assert_eq!(
        expand("__SIZE_TYPE__ a; __UINT32_TYPE__ b; __INT64_TYPE__ c; __INT_MAX__ __CHAR_BIT__ __FLT_EPSILON__"),
        "long unsigned int a; unsigned int b; long int c; 2147483647 8 1.19209290e-7F"
    );
    assert_eq!(expand("#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && __LONG_MAX__ >> 62 == 1\ny\n#endif"), "y");
    assert_eq!(expand("__clang__ __GNUC__ __x86_64__ __OPTIMIZE__"), "__clang__ __GNUC__ __x86_64__ __OPTIMIZE__");
    // A program may define them itself.
    assert_eq!(run("#undef __SIZE_TYPE__\n#define __SIZE_TYPE__ uint\n__SIZE_TYPE__").0, "uint");
}

#[test]
fn questions_about_the_compiler_are_answered() {
    let text = "__has_builtin(__builtin_expect) __has_builtin(sin) __has_builtin(__builtin_none)
                __has_attribute(__aligned__) __has_attribute(packed) __has_attribute(regparm)
                __has_feature(c_static_assert) __has_extension(cxx_lambdas) __has_builtin";
    assert_eq!(expand(text).split_whitespace().collect::<String>(), "1101101 0__has_builtin".replace(' ', ""));
}
