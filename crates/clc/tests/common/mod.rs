//! What the tests of the preprocessor and parser share.
#![allow(dead_code, reason = "each test file uses a part")]

use std::collections::HashMap;

use cloom_clc::pp::{self, IncludeRequest, IncludeResolver, IncludedFile, MacroOption, PpOptions, Preprocessed, flags};
use cloom_clc::source::Session;
use cloom_clc::syntax::ast::TranslationUnit;
use cloom_clc::syntax::{self, ParseOptions};

/// Files in memory.
#[derive(Default)]
pub struct Memory(pub HashMap<&'static str, &'static str>);

impl IncludeResolver for Memory {
    fn resolve(&mut self, request: IncludeRequest<'_>) -> Option<IncludedFile> {
        let text = self.0.get(request.name)?;
        Some(IncludedFile { name: request.name.to_owned(), bytes: text.as_bytes().to_vec() })
    }
}

pub fn define(name: &str, text: &str) -> MacroOption {
    MacroOption::Define { name: name.into(), text: text.into() }
}

/// Preprocesses bytes.
pub fn preprocess(source: &[u8], options: &PpOptions, files: &mut dyn IncludeResolver) -> (Session, Preprocessed) {
    let mut session = Session::default();
    let file = session.sources.add("main.cl", source, None).expect("within the limits");
    let program = pp::preprocess(&mut session, file, options, files);
    (session, program)
}

/// Preprocesses and parses bytes.
pub fn parse(source: &[u8]) -> (Session, TranslationUnit) {
    let (mut session, program) = preprocess(source, &PpOptions::default(), &mut Memory::default());
    let unit = syntax::parse(&mut session, &program, ParseOptions::default());
    (session, unit)
}

/// The tokens as text, with one space where white space was and a new line where a line began.
pub fn text_of(session: &Session, program: &Preprocessed) -> String {
    let mut out = String::new();
    for t in &program.tokens {
        if t.has(flags::LINE_START) && !out.is_empty() {
            out.push('\n');
        } else if t.has(flags::SPACE) && !out.is_empty() {
            out.push(' ');
        }
        out.push_str(t.spelling(&session.names));
    }
    out.trim_end().to_owned()
}

/// The codes of what was found.
pub fn codes(session: &Session) -> Vec<&'static str> {
    session.diags.iter().map(|d| d.code).collect()
}
