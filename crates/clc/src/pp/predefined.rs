//! Predefined macros: by language version, by device, and by the build options `-D` and `-U`.

use std::fmt::Write;

use super::lexer::Lexer;
use super::macros::{Has, Macro, MacroKind};
use super::token::TokenKind;
use super::{OpenFile, Preprocessor};
use crate::source::Span;

/// A `-D` or `-U`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MacroOption {
    /// `-D name=text`; the name may have parameters.
    Define {
        /// The name (with its parameters).
        name: String,
        /// The replacement.
        text: String,
    },
    /// `-U name`
    Undefine(String),
}

/// Options of the preprocessor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PpOptions {
    /// The version of the language, as `__OPENCL_C_VERSION__` has it: 100, 110, 120, 200, 300, 310.
    pub c_version: u32,
    /// The version of the device, as `__OPENCL_VERSION__` has it.
    pub device_version: u32,
    /// Names defined as 1: extensions and features (`cl_khr_fp64`, `__opencl_c_fp64`).
    pub features: Vec<String>,
    /// Macros with their text that are there as if by the language: the constants of the built-in functions.
    pub predefined: Vec<(String, String)>,
    /// Whether `__IMAGE_SUPPORT__` is defined.
    pub images: bool,
    /// Whether `__FAST_RELAXED_MATH__` is defined.
    pub fast_relaxed_math: bool,
    /// How deep uses of macros may nest in arguments of macros, and parentheses in `#if`.
    pub nesting: usize,
    /// Macros of the build options, in order.
    pub macros: Vec<MacroOption>,
}

impl Default for PpOptions {
    fn default() -> Self {
        Self {
            c_version: 120,
            device_version: 310,
            features: Vec::new(),
            predefined: Vec::new(),
            images: false,
            fast_relaxed_math: false,
            nesting: super::limits::NESTING,
            macros: Vec::new(),
        }
    }
}

impl Preprocessor<'_> {
    /// Defines everything that the options say.
    pub(super) fn define_predefined(&mut self, options: &PpOptions) {
        for (name, kind) in [
            (self.known.line, MacroKind::Line),
            (self.known.file, MacroKind::File),
            (self.known.counter, MacroKind::Counter),
            (self.session.names.intern("__has_builtin"), MacroKind::Has(Has::Builtin)),
            (self.session.names.intern("__has_attribute"), MacroKind::Has(Has::Attribute)),
            (self.session.names.intern("__has_feature"), MacroKind::Has(Has::Feature)),
            (self.session.names.intern("__has_extension"), MacroKind::Has(Has::Feature)),
        ] {
            let m = Macro { name, kind, definition: None, off: false.into() };
            self.set_macro(name, Some(m.into()));
        }
        let mut text = String::new();
        let versions = [("1_0", 100), ("1_1", 110), ("1_2", 120), ("2_0", 200), ("3_0", 300), ("3_1", 310)];
        for (name, number) in versions {
            let _ = writeln!(text, "#define CL_VERSION_{name} {number}");
        }
        let _ = writeln!(text, "#define __OPENCL_VERSION__ {}", options.device_version);
        let _ = writeln!(text, "#define __OPENCL_C_VERSION__ {}", options.c_version);
        text.push_str("#define __STDC__ 1\n");
        text.push_str(
            "#define __STDC_VERSION__ 199901L\n\
             #define __ENDIAN_LITTLE__ 1\n\
             #define __CLOOM__ 1\n\
             #define __kernel_exec(X, typen) __kernel __attribute__((work_group_size_hint(X, 1, 1))) \
             __attribute__((vec_type_hint(typen)))\n\
             #define kernel_exec(X, typen) __kernel __attribute__((work_group_size_hint(X, 1, 1))) \
             __attribute__((vec_type_hint(typen)))\n",
        );
        for (name, replacement) in super::clang_macros::MACROS {
            let _ = writeln!(text, "#define {name} {replacement}");
        }
        let _ = writeln!(text, "#define __FINITE_MATH_ONLY__ {}", u8::from(options.fast_relaxed_math));
        if options.images {
            text.push_str("#define __IMAGE_SUPPORT__ 1\n");
        }
        if options.fast_relaxed_math {
            text.push_str("#define __FAST_RELAXED_MATH__ 1\n");
        }
        for name in &options.features {
            let _ = writeln!(text, "#define {name} 1");
        }
        for (name, replacement) in &options.predefined {
            let _ = writeln!(text, "#define {name} {replacement}");
        }
        self.read_definitions("<predefined>", &text, true);
        if options.macros.is_empty() {
            return;
        }
        // A file of its own, so that a mistake in an option has a span.
        let mut text = String::new();
        // A newline in an option would begin another directive.
        let one_line = |s: &str| s.replace(['\n', '\r'], " ");
        for m in &options.macros {
            let _ = match m {
                MacroOption::Define { name, text: t } => writeln!(text, "#define {} {}", one_line(name), one_line(t)),
                MacroOption::Undefine(name) => writeln!(text, "#undef {}", one_line(name)),
            };
        }
        self.read_definitions("<build options>", &text, false);
    }

    fn read_definitions(&mut self, name: &str, text: &str, predefined: bool) {
        // These have no file: their spans are empty, and messages call them predefined.
        if predefined {
            let mut lexer = Lexer::text(text, Span::default());
            loop {
                lexer.directive = false;
                let hash = lexer.next(&mut self.session.names);
                if hash.kind != TokenKind::Hash {
                    return;
                }
                lexer.directive = true;
                lexer.next(&mut self.session.names);
                let mut line = Vec::new();
                loop {
                    let t = lexer.next(&mut self.session.names);
                    if t.kind == TokenKind::Newline {
                        break;
                    }
                    line.push(t);
                }
                self.define(Span::default(), &line, true);
            }
        }
        let Some(file) = self.session.sources.add(name, text.as_bytes(), None) else { return };
        let text = self.session.sources.file(file).text.clone();
        self.files.push(OpenFile { lexer: Lexer::file(text, file), file, conditionals: Vec::new() });
        // Only directives: nothing comes out but the end, which closes the file.
        while self.file_token().kind != TokenKind::Eof {}
    }
}
