//! Characters to preprocessing tokens.
//!
//! Lines continued by a backslash are joined first, because the backslash may be in the middle of any token; a table
//! maps the joined text back to the source. Files without such lines (most by size) are lexed in place. The lexer
//! reports nothing: it records problems, and the preprocessor, which knows whether the text is skipped, reports them.

use std::sync::Arc;

use super::token::{Token, TokenKind, flags};
use crate::source::{FileId, Interner, Span, Symbol};

/// A cursor over one file, or over a text whose tokens all have the same span.
pub(crate) struct Lexer {
    text: Arc<str>,
    pos: usize,
    file: FileId,
    /// The span of all tokens: the text is not in a file.
    fixed: Option<Span>,
    /// (offset in the joined text, how many bytes were removed before it)
    removed: Vec<(u32, u32)>,
    /// Where in `removed` the last token was.
    removed_at: usize,
    line_start: bool,
    /// Whether the end of a line is a token.
    pub directive: bool,
    /// A comment that does not end.
    pub unterminated_comment: Option<Span>,
    /// The first null character.
    pub null_character: Option<Span>,
    /// A backslash, space, newline.
    pub spaced_splice: Option<Span>,
}

fn is_name_byte(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_' || b == b'$'
}

/// The length of the name at the start of a text, 0 if there is none. Letters beyond ASCII are those of Unicode's
/// identifiers (XID).
fn name_len(bytes: &[u8]) -> usize {
    let mut len = 0;
    loop {
        len += bytes[len..].iter().position(|&b| !is_name_byte(b)).unwrap_or(bytes.len() - len);
        // ASCII that is no letter begins no name. A digit does not come here: numbers are scanned before.
        if len == 0 && bytes.first().is_none_or(u8::is_ascii) {
            return 0;
        }
        let letter = match bytes.get(len) {
            Some(b) if !b.is_ascii() => first_char(&bytes[len..]),
            _ => return len,
        };
        let belongs = match len {
            0 => unicode_ident::is_xid_start,
            _ => unicode_ident::is_xid_continue,
        };
        match letter.filter(|&c| belongs(c)) {
            Some(c) => len += c.len_utf8(),
            None => return len,
        }
    }
}

/// The first character of bytes that are UTF-8.
fn first_char(bytes: &[u8]) -> Option<char> {
    bytes[..bytes.len().min(4)].utf8_chunks().next()?.valid().chars().next()
}

/// The length of a backslash, white space and newline at the start of the text, and whether there is white space.
fn splice(bytes: &[u8]) -> Option<(usize, bool)> {
    if bytes.first() != Some(&b'\\') {
        return None;
    }
    // Compilers forgive white space after the backslash; it is reported because it is not seen.
    let blanks = bytes[1..].iter().take_while(|b| matches!(b, b' ' | b'\t' | b'\r')).count();
    let spaced = bytes[1..1 + blanks].iter().any(|&b| b != b'\r');
    (bytes.get(1 + blanks) == Some(&b'\n')).then_some((blanks + 2, spaced))
}

impl Lexer {
    /// Over a file.
    pub fn file(text: Arc<str>, file: FileId) -> Self {
        let mut this = Self::new(text, file, None);
        // A mark of the byte order is no text.
        this.pos = if this.text.starts_with('\u{feff}') { 3 } else { 0 };
        this.join_lines();
        this
    }

    /// Over a text that is not in a file; all tokens have the same span.
    pub fn text(text: &str, at: Span) -> Self {
        Self::new(text.into(), at.file, Some(at))
    }

    fn new(text: Arc<str>, file: FileId, fixed: Option<Span>) -> Self {
        Self {
            text,
            pos: 0,
            file,
            fixed,
            removed: Vec::new(),
            removed_at: 0,
            line_start: true,
            directive: false,
            unterminated_comment: None,
            null_character: None,
            spaced_splice: None,
        }
    }

    fn join_lines(&mut self) {
        let bytes = self.text.as_bytes();
        let mut joined: Vec<u8> = Vec::new();
        let (mut from, mut at) = (0, 0);
        // Backslashes are rare: the search goes over whole files at the speed of memory.
        while let Some(found) = memchr::memchr(b'\\', &bytes[at..]) {
            let i = at + found;
            let Some((len, spaced)) = splice(&bytes[i..]) else {
                at = i + 1;
                continue;
            };
            if spaced && self.spaced_splice.is_none() {
                self.spaced_splice = Some(Span::new(self.file, i as u32, (i + 1) as u32));
            }
            joined.extend_from_slice(&bytes[from..i]);
            at = i + len;
            from = at;
            self.removed.push((joined.len() as u32, (from - joined.len()) as u32));
        }
        if self.removed.is_empty() {
            return;
        }
        joined.extend_from_slice(&bytes[from..]);
        // Only whole ASCII characters were removed, so what is left is UTF-8 still.
        if let Ok(joined) = String::from_utf8(joined) {
            self.text = joined.into();
        }
    }

    /// The span in the source of a range of the joined text.
    fn span(&mut self, lo: usize, hi: usize) -> Span {
        if let Some(span) = self.fixed {
            return span;
        }
        if self.removed.is_empty() {
            return Span::new(self.file, lo as u32, hi as u32);
        }
        let (lo, hi) = (lo as u32, hi as u32);
        // Tokens come in the order of the text, so that the search goes on from the last token.
        while self.removed.get(self.removed_at).is_some_and(|r| r.0 <= lo) {
            self.removed_at += 1;
        }
        let before = |i: usize| i.checked_sub(1).map_or(0, |i| self.removed[i].1);
        let mut end = self.removed_at;
        while self.removed.get(end).is_some_and(|r| r.0 < hi) {
            end += 1;
        }
        Span::new(self.file, lo + before(self.removed_at), hi + before(end))
    }

    /// The span of the next character.
    pub fn here(&mut self) -> Span {
        self.span(self.pos, self.pos)
    }

    /// Whether only white space is left before the end of the line; used by what reads the text of a directive itself.
    pub fn rest_of_line(&mut self) -> String {
        let bytes = self.text.as_bytes();
        let end = memchr::memchr(b'\n', &bytes[self.pos..]).map_or(bytes.len(), |i| self.pos + i);
        let rest = self.text[self.pos..end].trim().to_owned();
        self.pos = end;
        rest
    }

    /// `<name>`, if that comes next: the name of a header is not made of tokens.
    pub fn header_name(&mut self) -> Option<(String, Span)> {
        let bytes = self.text.as_bytes();
        let blanks = bytes[self.pos..].iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
        let start = self.pos + blanks;
        if bytes.get(start) != Some(&b'<') {
            return None;
        }
        let len = bytes[start..].iter().position(|&b| matches!(b, b'>' | b'\n'))?;
        if bytes[start + len] != b'>' {
            return None;
        }
        let name = self.text[start + 1..start + len].to_owned();
        self.pos = start + len + 1;
        Some((name, self.span(start, start + len + 1)))
    }

    /// Goes to the start of the next line whose first character is `#`, without making tokens; false at the end. The
    /// text in between is in a group that does not count, but comments and strings in it still hide things.
    pub fn skip_to_directive(&mut self) -> bool {
        loop {
            // Only the first character of a line can begin a directive.
            if self.line_start {
                self.skip_blanks();
                let rest = &self.text.as_bytes()[self.pos..];
                // `%:` is the digraph of `#`.
                if rest.first() == Some(&b'#') || rest.starts_with(b"%:") {
                    return true;
                }
            }
            if !self.skip_line() {
                return false;
            }
        }
    }

    /// Skips white space and comments within the line (or started in it).
    fn skip_blanks(&mut self) {
        loop {
            let rest = &self.text.as_bytes()[self.pos..];
            match rest {
                // Null characters count as white space, here as in `next`.
                [b' ' | b'\t' | b'\r' | 0x0b | 0x0c | 0, ..] => self.pos += 1,
                [b'/', b'*', ..] => self.skip_block_comment(),
                _ => return,
            }
        }
    }

    fn skip_block_comment(&mut self) {
        let bytes = self.text.as_bytes();
        let start = self.pos;
        let mut at = start + 2;
        loop {
            match memchr::memchr(b'*', &bytes[at..]) {
                Some(i) if bytes.get(at + i + 1) == Some(&b'/') => {
                    self.pos = at + i + 2;
                    return;
                }
                Some(i) => at += i + 1,
                None => {
                    self.pos = bytes.len();
                    let span = self.span(start, start + 2);
                    self.unterminated_comment.get_or_insert(span);
                    return;
                }
            }
        }
    }

    /// Skips the rest of a line and its end; false at the end of the text.
    fn skip_line(&mut self) -> bool {
        loop {
            let bytes = self.text.as_bytes();
            let Some(&b) = bytes.get(self.pos) else { return false };
            match b {
                b'\n' => {
                    self.pos += 1;
                    self.line_start = true;
                    return true;
                }
                b'/' if bytes.get(self.pos + 1) == Some(&b'*') => self.skip_block_comment(),
                b'/' if bytes.get(self.pos + 1) == Some(&b'/') => {
                    self.pos = memchr::memchr(b'\n', &bytes[self.pos..]).map_or(bytes.len(), |i| self.pos + i);
                }
                // An apostrophe in skipped prose, as in `don't`, ends with its line.
                b'"' | b'\'' => {
                    let (len, _) = quoted_len(&bytes[self.pos..]);
                    self.pos += len;
                }
                _ => self.pos += 1,
            }
        }
    }

    /// The next token.
    pub fn next(&mut self, names: &mut Interner) -> Token {
        let mut fl = 0;
        let bytes_len = self.text.len();
        loop {
            let bytes = self.text.as_bytes();
            let Some(&b) = bytes.get(self.pos) else {
                let span = self.span(bytes_len, bytes_len);
                // A directive on the last line ends there, even if there is no newline.
                let kind = if self.directive { TokenKind::Newline } else { TokenKind::Eof };
                return Token { kind, flags: fl, text: Symbol::EMPTY, span };
            };
            match b {
                b' ' | b'\t' | b'\r' | 0x0b | 0x0c => {
                    self.pos += 1;
                    fl |= flags::SPACE;
                }
                b'\n' => {
                    if self.directive {
                        let span = self.span(self.pos, self.pos);
                        return Token { kind: TokenKind::Newline, flags: fl, text: Symbol::EMPTY, span };
                    }
                    self.pos += 1;
                    self.line_start = true;
                    fl |= flags::SPACE;
                }
                0 => {
                    if self.null_character.is_none() {
                        self.null_character = Some(self.span(self.pos, self.pos + 1));
                    }
                    self.pos += 1;
                    fl |= flags::SPACE;
                }
                b'/' if bytes.get(self.pos + 1) == Some(&b'/') => {
                    self.pos = memchr::memchr(b'\n', &bytes[self.pos..]).map_or(bytes_len, |i| self.pos + i);
                    fl |= flags::SPACE;
                }
                b'/' if bytes.get(self.pos + 1) == Some(&b'*') => {
                    self.skip_block_comment();
                    fl |= flags::SPACE;
                }
                _ => break,
            }
        }
        if self.line_start {
            fl |= flags::LINE_START;
            self.line_start = false;
        }
        let start = self.pos;
        let (kind, len, more) = scan(&self.text.as_bytes()[start..]);
        self.pos = start + len;
        // Punctuators are known by their kind; the spelling of all others is kept.
        let keep =
            matches!(kind, TokenKind::Ident | TokenKind::Number | TokenKind::Str | TokenKind::Char | TokenKind::Other)
                || len != kind.text().len();
        let text = if keep { names.intern(&self.text[start..start + len]) } else { Symbol::EMPTY };
        let span = self.span(start, start + len);
        Token { kind, flags: fl | more, text, span }
    }
}

/// The length of a string or character constant, and whether it lacks its end.
fn quoted_len(bytes: &[u8]) -> (usize, bool) {
    let quote = bytes[0];
    let mut i = 1;
    loop {
        match bytes.get(i) {
            None | Some(b'\n') => return (i, true),
            Some(b'\\') if bytes.get(i + 1).is_some_and(|&b| b != b'\n') => i += 2,
            Some(&b) if b == quote => return (i + 1, false),
            Some(_) => i += 1,
        }
    }
}

/// Kind, length and flags of the token at the start of a text that does not start with white space.
fn scan(bytes: &[u8]) -> (TokenKind, usize, u8) {
    use TokenKind::*;
    let at = |i: usize| bytes.get(i).copied().unwrap_or(0);
    let b = bytes[0];
    if !b.is_ascii_digit() {
        let len = name_len(bytes);
        if len > 0 {
            return (Ident, len, 0);
        }
    }
    if b.is_ascii_digit() || (b == b'.' && at(1).is_ascii_digit()) {
        let mut i = 1;
        loop {
            let c = at(i);
            // `1e+5` is one token, and so is `0xe+1`, as C has it.
            let sign = matches!(c, b'+' | b'-') && matches!(at(i - 1), b'e' | b'E' | b'p' | b'P');
            if !(sign || is_name_byte(c) || c == b'.') {
                return (Number, i, 0);
            }
            i += 1;
        }
    }
    let (kind, len) = match (b, at(1), at(2)) {
        (b'"' | b'\'', ..) => {
            let (len, open) = quoted_len(bytes);
            let mut end = len;
            if open {
                // The newline's carriage return is no part of it.
                while end > 1 && bytes[end - 1] == b'\r' {
                    end -= 1;
                }
            }
            let kind = if b == b'"' { Str } else { Char };
            return (kind, end, if open { flags::UNTERMINATED } else { 0 });
        }
        (b'[', ..) => (LBracket, 1),
        (b']', ..) => (RBracket, 1),
        (b'(', ..) => (LParen, 1),
        (b')', ..) => (RParen, 1),
        (b'{', ..) => (LBrace, 1),
        (b'}', ..) => (RBrace, 1),
        (b'.', b'.', b'.') => (Ellipsis, 3),
        (b'.', ..) => (Dot, 1),
        (b'-', b'>', _) => (Arrow, 2),
        (b'-', b'-', _) => (MinusMinus, 2),
        (b'-', b'=', _) => (MinusEq, 2),
        (b'-', ..) => (Minus, 1),
        (b'+', b'+', _) => (PlusPlus, 2),
        (b'+', b'=', _) => (PlusEq, 2),
        (b'+', ..) => (Plus, 1),
        (b'&', b'&', _) => (AmpAmp, 2),
        (b'&', b'=', _) => (AmpEq, 2),
        (b'&', ..) => (Amp, 1),
        (b'*', b'=', _) => (StarEq, 2),
        (b'*', ..) => (Star, 1),
        (b'~', ..) => (Tilde, 1),
        (b'!', b'=', _) => (Ne, 2),
        (b'!', ..) => (Bang, 1),
        (b'/', b'=', _) => (SlashEq, 2),
        (b'/', ..) => (Slash, 1),
        // Digraphs before the operators that begin like them.
        (b'%', b':', b'%') if at(3) == b':' => (HashHash, 4),
        (b'%', b':', _) => (Hash, 2),
        (b'%', b'>', _) => (RBrace, 2),
        (b'%', b'=', _) => (PercentEq, 2),
        (b'%', ..) => (Percent, 1),
        (b'<', b'<', b'=') => (ShlEq, 3),
        (b'<', b'<', _) => (Shl, 2),
        (b'<', b'=', _) => (Le, 2),
        (b'<', b':', _) => (LBracket, 2),
        (b'<', b'%', _) => (LBrace, 2),
        (b'<', ..) => (Lt, 1),
        (b'>', b'>', b'=') => (ShrEq, 3),
        (b'>', b'>', _) => (Shr, 2),
        (b'>', b'=', _) => (Ge, 2),
        (b'>', ..) => (Gt, 1),
        (b'=', b'=', _) => (EqEq, 2),
        (b'=', ..) => (Eq, 1),
        (b'^', b'=', _) => (CaretEq, 2),
        (b'^', ..) => (Caret, 1),
        (b'|', b'|', _) => (PipePipe, 2),
        (b'|', b'=', _) => (PipeEq, 2),
        (b'|', ..) => (Pipe, 1),
        (b'?', ..) => (Question, 1),
        (b':', b'>', _) => (RBracket, 2),
        (b':', ..) => (Colon, 1),
        (b';', ..) => (Semi, 1),
        (b',', ..) => (Comma, 1),
        (b'#', b'#', _) => (HashHash, 2),
        (b'#', ..) => (Hash, 1),
        // A whole character, so that the text is cut at its boundaries.
        _ => (Other, 1 + bytes[1..].iter().take_while(|&&b| b & 0xc0 == 0x80).count()),
    };
    (kind, len, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lex(text: &str) -> Vec<String> {
        let mut names = Interner::default();
        let mut lexer = Lexer::file(text.into(), FileId::default());
        std::iter::from_fn(|| {
            let t = lexer.next(&mut names);
            (t.kind != TokenKind::Eof).then(|| format!("{}@{}..{}", t.spelling(&names), t.span.lo, t.span.hi))
        })
        .collect()
    }

    #[test]
    fn continued_lines_are_joined_and_places_stay_those_of_the_source() {
        assert_eq!(lex("a\\\nb c\\ \r\n+\\\n+d"), ["ab@0..4", "c@5..6", "++@10..14", "d@14..15"]);
    }

    #[test]
    fn names_have_letters_of_all_languages() {
        assert_eq!(lex("größe=π_2·é1"), ["größe@0..7", "=@7..8", "π_2·é1@8..17"]);
        assert_eq!(lex("x→y“1"), ["x@0..1", "→@1..4", "y@4..5", "“@5..8", "1@8..9"]);
    }

    #[test]
    fn numbers_and_digraphs() {
        assert_eq!(lex(".5e+3f 0x1p-2.x 1..2"), [".5e+3f@0..6", "0x1p-2.x@7..15", "1..2@16..20"]);
        assert_eq!(lex("<:%:%:"), ["<:@0..2", "%:%:@2..6"]);
    }

    #[test]
    fn skipping_minds_comments_and_strings() {
        let mut lexer = Lexer::file("x /*\n#a\n*/ \"/*\"\n 'y\n /* */ #b".into(), FileId::default());
        lexer.line_start = false;
        assert!(lexer.skip_to_directive());
        assert_eq!(lexer.rest_of_line(), "#b");
    }
}
