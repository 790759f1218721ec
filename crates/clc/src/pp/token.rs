//! Tokens: the type that the preprocessor works on and the parser receives.

use crate::source::{Interner, Span, Symbol};

/// A token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Bits of [`flags`].
    pub flags: u8,
    /// The spelling of names, numbers, strings and characters (and of digraphs); empty where the kind says it all.
    pub text: Symbol,
    /// Where it is.
    pub span: Span,
}

/// Bits of [`Token::flags`].
pub mod flags {
    /// It is preceded by white space.
    pub const SPACE: u8 = 1;
    /// First of its line.
    pub const LINE_START: u8 = 2;
    /// A macro's name that must not be expanded any more.
    pub const NO_EXPAND: u8 = 4;
    /// It replaces an error that was reported: errors caused by it are not reported again.
    pub const POISON: u8 = 16;
    /// A string or character constant without its end.
    pub const UNTERMINATED: u8 = 8;
}

macro_rules! kinds {
    ($($name:ident $text:literal,)*) => {
        /// What a token is.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[allow(missing_docs, reason = "the punctuators are named by their characters")]
        pub enum TokenKind {
            /// The end of everything (also of a list of tokens inside the preprocessor).
            Eof,
            /// The end of a directive; never leaves the preprocessor.
            Newline,
            /// A name or keyword.
            Ident,
            /// A preprocessing number.
            Number,
            /// A string literal.
            Str,
            /// A character constant.
            Char,
            /// A character that is no token.
            Other,
            $($name,)*
        }

        impl TokenKind {
            /// The characters of a punctuator; empty for other kinds.
            pub fn text(self) -> &'static str {
                match self {
                    $(TokenKind::$name => $text,)*
                    _ => "",
                }
            }
        }
    };
}

kinds! {
    LBracket "[", RBracket "]", LParen "(", RParen ")", LBrace "{", RBrace "}",
    Dot ".", Arrow "->", PlusPlus "++", MinusMinus "--", Amp "&", Star "*", Plus "+", Minus "-", Tilde "~", Bang "!",
    Slash "/", Percent "%", Shl "<<", Shr ">>", Lt "<", Gt ">", Le "<=", Ge ">=", EqEq "==", Ne "!=", Caret "^",
    Pipe "|", AmpAmp "&&", PipePipe "||", Question "?", Colon ":", Semi ";", Ellipsis "...", Eq "=", StarEq "*=",
    SlashEq "/=", PercentEq "%=", PlusEq "+=", MinusEq "-=", ShlEq "<<=", ShrEq ">>=", AmpEq "&=", CaretEq "^=",
    PipeEq "|=", Comma ",", Hash "#", HashHash "##",
}

impl Token {
    /// Whether a flag is set.
    pub fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// As written.
    pub fn spelling<'a>(&self, names: &'a Interner) -> &'a str {
        if self.text == Symbol::EMPTY { self.kind.text() } else { names.text(self.text) }
    }
}
