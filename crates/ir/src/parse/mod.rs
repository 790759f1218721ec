//! From the text form to a module: the inverse of [`crate::print`].
//!
//! In comes any text; out comes a module whose entities are all in range, or the first error with its line and column.
//! The parser knows names and shapes only; types and dominance are the verifier's. It neither recurses nor allocates
//! more than a small multiple of the text, because binaries that a host hands over are texts too.
//!
//! A use may precede its definition, in a function (blocks may be in any order) and in the module. So names are kept as
//! numbers in the order of first mention and turned into entities at the end.

mod body;
mod lex;

use crate::checked::{AccessedObject, CheckedAccess};
use crate::entity::{Entity, FuncRef, GlobalRef, StrRef};
use crate::function::{Function, Hidden, KernelMeta, KernelParam, Linkage, ParamKind};
use crate::inst::Op;
use crate::module::{CallSite, Global, GlobalLinkage, Module, Reloc, Span};
use crate::print::{TEXT_VERSION, param_kind_name};
use crate::types::{Scalar, Space, Type};
use lex::{Placed, Token};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;

/// A syntax error with its location.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{line}:{column}: {message}")]
pub struct ParseError {
    /// Line, from 1.
    pub line: usize,
    /// Column in bytes, from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
}

impl ParseError {
    fn new(text: &str, offset: usize, message: impl Into<String>) -> Self {
        let before = &text.as_bytes()[..offset.min(text.len())];
        let line = 1 + before.iter().filter(|&&b| b == b'\n').count();
        let column = 1 + before.iter().rev().take_while(|&&b| b != b'\n').count();
        Self { line, column, message: message.into() }
    }
}

/// Where the text begins after its line `version N`, if it has one. That is looked at before anything else: a text of
/// another version may be wrong in any way.
fn after_version(text: &str) -> Result<usize> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let code = line.split(';').next().unwrap_or_default().trim();
        if !code.is_empty() {
            let Some(number) = code.strip_prefix("version ").map(str::trim) else { break };
            if number != TEXT_VERSION.to_string() {
                let message = format!(
                    "the text is of version {number} of the IR, and only version {TEXT_VERSION} can be read; make it again \
                     from its source"
                );
                return Err(ParseError::new(text, at + line.find(number).unwrap_or(0), message));
            }
            at += line.len();
            break;
        }
        at += line.len();
    }
    Ok(at)
}

/// Reads a module. The line with the version may be missing.
pub fn parse(text: &str) -> Result<Module, ParseError> {
    let mut p = Parser {
        text,
        tokens: lex::tokens(text, after_version(text)?)?,
        at: 0,
        module: Module::new(),
        funcs: Names::default(),
        globals: Names::default(),
        strings: Vec::new(),
    };
    p.module()?;
    p.resolve()?;
    Ok(p.module)
}

type Result<T, E = ParseError> = std::result::Result<T, E>;

/// Names of functions or globals: numbered by first mention, with the offset of that mention, and later what they are.
#[derive(Default)]
struct Names {
    numbers: FxHashMap<String, usize>,
    mentions: Vec<(usize, Option<usize>)>,
}

impl Names {
    fn mention(&mut self, name: String, offset: usize) -> usize {
        match self.numbers.entry(name) {
            Entry::Occupied(e) => *e.get(),
            Entry::Vacant(e) => {
                self.mentions.push((offset, None));
                *e.insert(self.mentions.len() - 1)
            }
        }
    }

    /// False if the name is defined already.
    fn define(&mut self, name: &str, offset: usize, index: usize) -> bool {
        let number = self.mention(name.to_owned(), offset);
        self.mentions[number].1.replace(index).is_none()
    }

    /// The index of each number.
    fn resolved(&self) -> Result<Vec<usize>, usize> {
        self.mentions.iter().map(|&(offset, index)| index.ok_or(offset)).collect()
    }
}

struct Parser<'t> {
    text: &'t str,
    tokens: Vec<Placed>,
    at: usize,
    module: Module,
    /// Until parsing ends, calls and addresses refer to numbers in these.
    funcs: Names,
    globals: Names,
    /// The string of each printf, and its offset in the text.
    strings: Vec<(usize, usize)>,
}

impl<'t> Parser<'t> {
    fn peek(&self) -> &Token {
        // The last token is the end of the text, and remains the next one.
        &self.tokens[self.at.min(self.tokens.len() - 1)].0
    }

    fn peek2(&self) -> &Token {
        &self.tokens[(self.at + 1).min(self.tokens.len() - 1)].0
    }

    fn offset(&self) -> usize {
        self.tokens[self.at.min(self.tokens.len() - 1)].1
    }

    fn error<T>(&self, message: impl Into<String>) -> Result<T> {
        Err(ParseError::new(self.text, self.offset(), message))
    }

    fn error_at<T>(&self, offset: usize, message: impl Into<String>) -> Result<T> {
        Err(ParseError::new(self.text, offset, message))
    }

    /// The word that comes next, if one does.
    fn peek_word(&self) -> Option<&'t str> {
        match *self.peek() {
            Token::Word(from, to) => Some(&self.text[from..to]),
            _ => None,
        }
    }

    fn word(&mut self) -> Result<&'t str> {
        match self.peek_word() {
            Some(w) => {
                self.at += 1;
                Ok(w)
            }
            None => self.error("expected a word"),
        }
    }

    /// Takes the word if it comes next.
    fn eat_word(&mut self, word: &str) -> bool {
        let found = self.peek_word() == Some(word);
        self.at += usize::from(found);
        found
    }

    fn keyword(&mut self, word: &str) -> Result<()> {
        if self.eat_word(word) { Ok(()) } else { self.error(format!("expected `{word}`")) }
    }

    fn eat(&mut self, c: u8) -> bool {
        let found = *self.peek() == Token::Punct(c);
        self.at += usize::from(found);
        found
    }

    fn punct(&mut self, c: u8) -> Result<()> {
        if self.eat(c) { Ok(()) } else { self.error(format!("expected `{}`", c as char)) }
    }

    fn int(&mut self) -> Result<u64> {
        match *self.peek() {
            Token::Int(false, n) => {
                self.at += 1;
                Ok(n)
            }
            _ => self.error("expected a number"),
        }
    }

    /// A number that fits in `T`.
    fn small<T: TryFrom<u64>>(&mut self) -> Result<T> {
        let offset = self.offset();
        let n = self.int()?;
        T::try_from(n).or_else(|_| self.error_at(offset, "the number is too large"))
    }

    /// `word` and a number.
    fn field<T: TryFrom<u64>>(&mut self, word: &str) -> Result<T> {
        self.keyword(word)?;
        self.small()
    }

    fn name(&mut self) -> Result<String> {
        match self.peek() {
            Token::Name(s) => {
                let s = s.clone();
                self.at += 1;
                Ok(s)
            }
            _ => self.error("expected a name that begins with @"),
        }
    }

    fn bytes(&mut self) -> Result<Vec<u8>> {
        match self.peek() {
            Token::Str(s) => {
                let s = s.clone();
                self.at += 1;
                Ok(s)
            }
            _ => self.error("expected a string"),
        }
    }

    fn string(&mut self) -> Result<String> {
        let offset = self.offset();
        String::from_utf8(self.bytes()?).or_else(|_| self.error_at(offset, "a string that is not UTF-8"))
    }

    fn space(&mut self) -> Result<Space> {
        let word = self.peek_word();
        match Space::ALL.into_iter().find(|s| Some(s.name()) == word) {
            Some(space) => {
                self.at += 1;
                Ok(space)
            }
            None => self.error("expected an address space"),
        }
    }

    fn ty(&mut self) -> Result<Type> {
        let offset = self.offset();
        let word = self.word()?;
        if word == "ptr" {
            self.punct(b'<')?;
            let space = self.space()?;
            self.punct(b'>')?;
            // The lanes of `ptr<global>x4` are a word of their own; those of `i32x4` are in the word of the type.
            let lanes = match self.peek_word().and_then(|w| w.strip_prefix('x')).map(str::parse) {
                Some(Ok(lanes)) => {
                    self.at += 1;
                    lanes
                }
                _ => 1,
            };
            return Ok(Type::vector(Scalar::Ptr(space), lanes));
        }
        let (scalar, lanes) = word.split_once('x').unwrap_or((word, "1"));
        let scalar = match scalar {
            "i1" => Scalar::I1,
            "i8" => Scalar::I8,
            "i16" => Scalar::I16,
            "i32" => Scalar::I32,
            "i64" => Scalar::I64,
            "f16" => Scalar::F16,
            "f32" => Scalar::F32,
            "f64" => Scalar::F64,
            _ => return self.error_at(offset, "expected a type"),
        };
        match lanes.parse() {
            Ok(lanes) => Ok(Type::vector(scalar, lanes)),
            Err(_) => self.error_at(offset, "a type with a strange number of lanes"),
        }
    }

    fn module(&mut self) -> Result<()> {
        loop {
            if *self.peek() == Token::End {
                return Ok(());
            }
            match self.peek_word() {
                Some("file") => {
                    self.at += 1;
                    let name = self.string()?;
                    self.module.files.push(name);
                }
                Some("string") => {
                    self.at += 1;
                    let s = self.bytes()?;
                    self.module.strings.push(s);
                }
                Some("global") => {
                    self.at += 1;
                    self.global()?;
                }
                Some("func") => {
                    self.at += 1;
                    self.function()?;
                }
                _ => return self.error("expected `file`, `string`, `global` or `func`"),
            }
        }
    }

    fn global(&mut self) -> Result<()> {
        let linkage = match () {
            () if self.eat_word("external") => GlobalLinkage::External,
            () if self.eat_word("linkonce") => GlobalLinkage::LinkOnce,
            () if self.eat_word("import") => GlobalLinkage::Import,
            () => GlobalLinkage::Internal,
        };
        let offset = self.offset();
        let name = self.name()?;
        let space = self.space()?;
        let (size, align) = (self.field("size")?, self.field("align")?);
        let place = if self.eat_word("at") { Some(self.int()?) } else { None };
        let init = if self.eat_word("init") {
            self.keyword("x")?;
            let offset = self.offset();
            let hex = self.bytes()?;
            match hex_bytes(&hex) {
                Some(bytes) => bytes,
                None => return self.error_at(offset, "expected pairs of hexadecimal digits"),
            }
        } else {
            Vec::new()
        };
        let mut relocs = Vec::new();
        while self.eat_word("reloc") {
            let at = self.int()?;
            let name_offset = self.offset();
            let target = self.name()?;
            self.punct(b'+')?;
            let addend = match *self.peek() {
                Token::Int(negative, n) => signed(negative, n),
                _ => None,
            };
            let Some(addend) = addend else { return self.error("expected a signed number of 64 bits") };
            self.at += 1;
            let target = GlobalRef::new(self.globals.mention(target, name_offset));
            relocs.push(Reloc { offset: at, target, addend });
        }
        if !self.globals.define(&name, offset, self.module.globals.len()) {
            return self.error_at(offset, "a second global of this name");
        }
        self.module.globals.push(Global { name, linkage, space, size, align, init, relocs, place });
        Ok(())
    }

    fn function(&mut self) -> Result<()> {
        let linkage = match self.word()? {
            "internal" => Linkage::Internal,
            "external" => Linkage::External,
            "linkonce" => Linkage::LinkOnce,
            "builtin" => Linkage::Builtin,
            _ => {
                self.at -= 1;
                return self.error("expected `internal`, `external`, `linkonce` or `builtin`");
            }
        };
        let offset = self.offset();
        let name = self.name()?;
        self.punct(b'(')?;
        let mut params = Vec::new();
        if !self.eat(b')') {
            loop {
                params.push(self.ty()?);
                if !self.eat(b',') {
                    break;
                }
            }
            self.punct(b')')?;
        }
        let ret = if *self.peek() == Token::Arrow {
            self.at += 1;
            Some(self.ty()?)
        } else {
            None
        };
        if !self.funcs.define(&name, offset, self.module.funcs.len()) {
            return self.error_at(offset, "a second function of this name");
        }
        let mut func = Function::new(name, params, ret);
        func.linkage = linkage;
        func.noinline = self.eat_word("noinline");
        if self.eat_word("kernel") {
            func.kernel = Some(Box::new(self.kernel()?));
        }
        if self.eat(b'{') {
            body::parse(self, &mut func)?;
        }
        self.module.funcs.push(func);
        Ok(())
    }

    fn kernel(&mut self) -> Result<KernelMeta> {
        const KINDS: [ParamKind; 9] = [
            ParamKind::Value,
            ParamKind::Struct,
            ParamKind::Global,
            ParamKind::Constant,
            ParamKind::Local,
            ParamKind::Sampler,
            ParamKind::Image,
            ParamKind::Pipe,
            ParamKind::Queue,
        ];
        let mut meta = KernelMeta::default();
        self.punct(b'{')?;
        // Optional words come in the order in which `print` writes them, here and below.
        while self.eat_word("param") {
            let (name, type_name) = (self.string()?, self.string()?);
            let word = self.word()?;
            let Some(kind) = KINDS.into_iter().find(|&k| param_kind_name(k) == word) else {
                self.at -= 1;
                return self.error("expected a kind of parameter");
            };
            let (size, align) = (self.field("size")?, self.field("align")?);
            let is_const = self.eat_word("const");
            let is_restrict = self.eat_word("restrict");
            let is_volatile = self.eat_word("volatile");
            let access = if self.eat_word("access") { self.small()? } else { 0 };
            let pointee_align = if self.eat_word("pointee") { self.small()? } else { 1 };
            meta.params.push(KernelParam {
                name,
                type_name,
                kind,
                size,
                align,
                is_const,
                is_restrict,
                is_volatile,
                access,
                pointee_align,
            });
        }
        let mut triple = |word: &str| -> Result<Option<[u32; 3]>> {
            let found = self.eat_word(word);
            if found { Ok(Some([self.small()?, self.small()?, self.small()?])) } else { Ok(None) }
        };
        meta.reqd_group_size = triple("reqd_group_size")?;
        meta.group_size_hint = triple("group_size_hint")?;
        if self.eat_word("reqd_subgroup_size") {
            meta.reqd_subgroup_size = Some(self.small()?);
        }
        if self.eat_word("expected_subgroup_size") {
            meta.expected_subgroup_size = Some(self.small()?);
        }
        if self.eat_word("vec_type_hint") {
            meta.vec_type_hint = Some(self.string()?);
        }
        meta.partial_groups = self.eat_word("partial_groups");
        meta.is_block = self.eat_word("block");
        while self.eat_word("hidden") {
            meta.hidden.push(if self.eat_word("stop") {
                Hidden::Stop
            } else if self.eat_word("reports") {
                Hidden::Reports
            } else {
                Hidden::Size(self.field("size")?)
            });
        }
        while self.eat_word("checked") {
            meta.checked.push(self.checked()?);
        }
        self.punct(b'}')?;
        Ok(meta)
    }

    fn checked(&mut self) -> Result<CheckedAccess> {
        let is_store = self.eat_word("write");
        let bytes = if is_store { self.small()? } else { self.field("read")? };
        let align = self.field("align")?;
        let object = match self.word()? {
            "param" => AccessedObject::Param(self.small()?),
            "variable" => AccessedObject::Variable { name: self.string()?, space: self.space()? },
            "several" => AccessedObject::Several,
            "foreign" => AccessedObject::Foreign,
            _ => return self.error("expected an object"),
        };
        let span = self.position()?.unwrap_or(Span::NONE);
        let mut calls = Vec::new();
        while self.eat_word("in") {
            calls.push(CallSite { function: self.string()?.into(), span: self.position()?.unwrap_or(Span::NONE) });
        }
        Ok(CheckedAccess { span, calls, is_store, bytes, align, object })
    }

    /// A position, up to its inlined call, if there is one.
    fn position(&mut self) -> Result<Option<Span>> {
        if !self.eat(b'!') {
            return Ok(None);
        }
        let file = self.small()?;
        self.punct(b':')?;
        let line = self.small()?;
        self.punct(b':')?;
        Ok(Some(Span { file, line, col: self.small()?, inlined: 0 }))
    }

    /// Turns numbers of names into what they name.
    fn resolve(&mut self) -> Result<()> {
        let funcs = self.funcs.resolved().or_else(|offset| self.error_at(offset, "no function has this name"))?;
        let globals = self.globals.resolved().or_else(|offset| self.error_at(offset, "no global has this name"))?;
        // Only now, because a string may be written after the function that prints it.
        if let Some(&(_, offset)) = self.strings.iter().find(|s| s.0 >= self.module.strings.len()) {
            return self.error_at(offset, "no string has this number");
        }
        for g in self.module.globals.values_mut() {
            for r in &mut g.relocs {
                r.target = GlobalRef::new(globals[r.target.index()]);
            }
        }
        for f in self.module.funcs.values_mut() {
            for inst in f.insts.values_mut() {
                match &mut inst.op {
                    Op::Call(f) | Op::PureCall(f) => *f = FuncRef::new(funcs[f.index()]),
                    Op::GlobalAddr(g) => *g = GlobalRef::new(globals[g.index()]),
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// `s3`, checked at the end.
    fn str_ref(&mut self) -> Result<StrRef> {
        let offset = self.offset();
        match self.peek_word().and_then(|w| numbered(w, "s")) {
            Some(n) => {
                self.at += 1;
                self.strings.push((n as usize, offset));
                Ok(StrRef::new(n as usize))
            }
            None => self.error("expected a string's number, like s0"),
        }
    }
}

/// The number of `prefix` + digits; the largest is left out, because no entity has it.
fn numbered(word: &str, prefix: &str) -> Option<u32> {
    let digits = word.strip_prefix(prefix)?;
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok().filter(|&n| n != u32::MAX)
}

fn signed(negative: bool, magnitude: u64) -> Option<i64> {
    if negative { 0i64.checked_sub_unsigned(magnitude) } else { i64::try_from(magnitude).ok() }
}

fn hex_bytes(digits: &[u8]) -> Option<Vec<u8>> {
    let digit = |b: u8| (b as char).to_digit(16);
    let (pairs, rest) = digits.as_chunks::<2>();
    let bytes = pairs.iter().map(|&[a, b]| Some((digit(a)? * 16 + digit(b)?) as u8)).collect();
    if rest.is_empty() { bytes } else { None }
}
