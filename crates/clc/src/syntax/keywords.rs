//! Keywords, and the class of each name (type, other, unknown) by scope, which the grammar of C depends on.

use super::types::{BuiltinType, builtin_type_names};
use crate::source::{Interner, Symbol};

macro_rules! keywords {
    ($($kw:ident: $($text:literal)*;)*) => {
        /// The keywords; spellings with and without underscores are one.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub(super) enum Kw { $($kw,)* }

        const KEYWORDS: &[(&str, Kw)] = &[$($(($text, Kw::$kw),)*)*];
    };
}

keywords! {
    Auto: "auto"; Break: "break"; Case: "case"; Char: "char"; Const: "const" "__const" "__const__";
    Continue: "continue"; Default: "default"; Do: "do"; Double: "double"; Else: "else"; Enum: "enum";
    Extern: "extern"; Float: "float"; For: "for"; Goto: "goto"; If: "if"; Inline: "inline" "__inline" "__inline__";
    Int: "int"; Long: "long"; Register: "register"; Restrict: "restrict" "__restrict" "__restrict__";
    Return: "return"; Short: "short"; Signed: "signed" "__signed" "__signed__"; Sizeof: "sizeof"; Static: "static";
    Struct: "struct"; Switch: "switch"; Typedef: "typedef"; Union: "union"; Unsigned: "unsigned"; Void: "void";
    Volatile: "volatile" "__volatile" "__volatile__"; While: "while"; Half: "half"; Bool: "bool" "_Bool";
    True: "true"; False: "false"; Kernel: "kernel" "__kernel"; Global: "global" "__global"; Local: "local" "__local";
    Constant: "constant" "__constant"; Private: "private" "__private"; Generic: "generic" "__generic";
    ReadOnly: "read_only" "__read_only"; WriteOnly: "write_only" "__write_only";
    ReadWrite: "read_write" "__read_write"; VecStep: "vec_step"; Pipe: "pipe" "__pipe";
    Alignof: "_Alignof" "__alignof" "__alignof__"; Attribute: "__attribute__" "__attribute";
    Typeof: "typeof" "__typeof" "__typeof__"; StaticAssert: "_Static_assert"; Noreturn: "_Noreturn";
    Atomic: "_Atomic"; Alignas: "_Alignas"; Asm: "asm" "__asm" "__asm__"; Extension: "__extension__";
    Offsetof: "__builtin_offsetof" "offsetof"; Complex: "_Complex" "__complex__"; Imaginary: "_Imaginary";
    Selection: "_Generic";
    TypedCall: "__builtin_astype" "__builtin_convertvector" "__builtin_types_compatible_p" "__builtin_bit_cast";
}

/// Words of C++ that a program in OpenCL C uses by mistake; as names they are fine.
pub(super) const CPP_WORDS: &[&str] = &[
    "class",
    "template",
    "typename",
    "namespace",
    "using",
    "new",
    "delete",
    "this",
    "public",
    "protected",
    "virtual",
    "operator",
    "nullptr",
    "static_cast",
    "reinterpret_cast",
    "const_cast",
    "constexpr",
    "decltype",
    "friend",
    "throw",
    "try",
    "catch",
    "explicit",
    "mutable",
    "auto",
];

/// The class of a name, as far as the grammar depends on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum NameClass {
    /// Not declared by the program: a built-in function, or a mistake.
    Unknown,
    /// A variable, function, parameter or enumerator.
    Ordinary,
    /// A type of the language.
    Builtin(BuiltinType),
    /// A type of the program; whether it is a vector, so that `(type)(a, b)` can be told from a cast.
    Typedef { vector: bool },
}

/// Keywords and name classes by symbol, with scopes.
pub(super) struct Names {
    keywords: Vec<Option<Kw>>,
    classes: Vec<NameClass>,
    /// Hidden names, restored at the end of the scope.
    hidden: Vec<(Symbol, NameClass)>,
    /// Lengths of `hidden` at the starts of the open scopes.
    scopes: Vec<usize>,
    /// Tags of records and enumerations: only for the error when one is used as a type.
    tags: rustc_hash::FxHashSet<Symbol>,
}

impl Names {
    /// `c_version` is 120, 300, …: some words are keywords only from 2.0 on.
    pub fn new(names: &mut Interner, c_version: u32) -> Self {
        let builtin = builtin_type_names(names);
        let words: Vec<(Symbol, Kw)> = KEYWORDS
            .iter()
            // Programs of OpenCL C 1.x may use these words as names; the spellings with underscores are keywords in any
            // version.
            .filter(|(text, _)| c_version >= 200 || !matches!(*text, "generic" | "pipe"))
            .map(|&(text, kw)| (names.intern(text), kw))
            .collect();
        let mut this = Self {
            // Indexed by symbol: the spellings of all tokens have been interned by now. Later names, such as those of
            // attributes without underscores, are no keywords and stay unknown.
            keywords: vec![None; names.len()],
            classes: vec![NameClass::Unknown; names.len()],
            hidden: Vec::new(),
            scopes: Vec::new(),
            tags: rustc_hash::FxHashSet::default(),
        };
        for (symbol, kw) in words {
            this.keywords[symbol.index()] = Some(kw);
        }
        #[expect(clippy::iter_over_hash_type, reason = "each entry has a place of its own")]
        for (symbol, ty) in builtin {
            this.classes[symbol.index()] = NameClass::Builtin(ty);
        }
        this
    }

    pub fn keyword(&self, name: Symbol) -> Option<Kw> {
        self.keywords.get(name.index()).copied().flatten()
    }

    pub fn class(&self, name: Symbol) -> NameClass {
        self.classes.get(name.index()).copied().unwrap_or(NameClass::Unknown)
    }

    pub fn declare(&mut self, name: Symbol, class: NameClass) {
        if let Some(slot) = self.classes.get_mut(name.index()) {
            let old = std::mem::replace(slot, class);
            // At file level nothing is restored.
            if !self.scopes.is_empty() {
                self.hidden.push((name, old));
            }
        }
    }

    pub fn declare_tag(&mut self, name: Symbol) {
        self.tags.insert(name);
    }

    pub fn is_tag(&self, name: Symbol) -> bool {
        self.tags.contains(&name)
    }

    pub fn open_scope(&mut self) {
        self.scopes.push(self.hidden.len());
    }

    pub fn close_scope(&mut self) {
        let from = self.scopes.pop().unwrap_or(0);
        // From the last on, so that a name that was hidden twice gets its oldest class back.
        while self.hidden.len() > from {
            if let Some((name, class)) = self.hidden.pop() {
                self.classes[name.index()] = class;
            }
        }
    }
}

/// The keywords as programs mostly write them.
pub(crate) fn keyword_texts() -> impl Iterator<Item = &'static str> {
    KEYWORDS.iter().map(|k| k.0).filter(|text| !text.starts_with('_'))
}

/// The names of types and the keywords that may start a declaration: what an unknown type name may have been meant to
/// be.
pub(super) fn type_like_words<'a>() -> impl Iterator<Item = &'a str> {
    const STARTERS: &[&str] = &[
        "__kernel",
        "kernel",
        "__global",
        "__local",
        "__constant",
        "__private",
        "const",
        "void",
        "char",
        "short",
        "int",
        "long",
        "float",
        "double",
        "half",
        "unsigned",
        "signed",
        "struct",
        "static",
        "inline",
        "volatile",
        "typedef",
        "return",
        "while",
        "switch",
        "break",
        "continue",
        "bool",
        "read_only",
        "write_only",
    ];
    STARTERS.iter().copied()
}
