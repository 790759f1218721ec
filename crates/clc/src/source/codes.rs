//! The codes of all diagnostics, one line each.
//!
//! `E` codes are errors by nature, `W` codes warnings (which `-Werror` may turn into errors). The hundreds say who finds
//! it: 00 build options, 01 preprocessor and lexer, 02 parser, from 03 on semantic analysis.

/// Code and short description, sorted by code.
pub const CODES: &[(&str, &str)] = &[
    ("E0001", "unknown build option"),
    ("E0002", "build option lacks its argument"),
    ("E0003", "build option has an invalid argument"),
    ("E0004", "unterminated quotation in the build options"),
    ("E0005", "build option is not allowed here"),
    ("E0100", "source or program is too large"),
    ("E0101", "unterminated comment"),
    ("E0102", "unterminated string or character constant"),
    ("E0103", "stray character"),
    ("E0104", "malformed preprocessing directive"),
    ("E0105", "unknown preprocessing directive"),
    ("E0106", "conditional directives do not match"),
    ("E0107", "invalid expression in a conditional directive"),
    ("E0108", "invalid macro definition"),
    ("E0109", "wrong number of macro arguments"),
    ("E0110", "unterminated macro arguments"),
    ("E0111", "pasting does not give a token"),
    ("E0112", "included file not found"),
    ("E0113", "includes are nested too deeply"),
    ("E0114", "#error"),
    ("E0115", "macro expansion is too large"),
    ("E0116", "invalid number"),
    ("E0117", "invalid character constant or escape sequence"),
    ("E0118", "number is too large"),
    ("E0119", "reserved macro name"),
    ("E0200", "unexpected token"),
    ("E0201", "missing semicolon"),
    ("E0202", "unmatched bracket"),
    ("E0203", "expected an expression"),
    ("E0204", "expected a type"),
    ("E0205", "expected a name"),
    ("E0206", "unknown type name"),
    ("E0207", "conflicting declaration specifiers"),
    ("E0208", "nested too deeply"),
    ("E0209", "not supported in OpenCL C"),
    ("E0210", "C++ in OpenCL C"),
    ("E0211", "function pointers are not allowed"),
    ("E0212", "bit-fields are not allowed"),
    ("E0213", "expected a statement"),
    ("E0214", "`else` without `if`"),
    ("E0215", "misplaced declaration"),
    ("E0216", "malformed attribute"),
    ("E0217", "variable-length argument list"),
    ("W0101", "#warning"),
    ("W0102", "macro redefined"),
    ("W0103", "unknown pragma"),
    ("W0104", "extra tokens after a directive"),
    ("W0105", "trigraph ignored"),
    ("W0106", "missing space or odd text in a macro definition"),
    ("W0107", "null character"),
    ("W0108", "unknown escape sequence"),
    ("W0109", "backslash and newline are separated by space"),
    ("W0110", "multi-character constant"),
    ("W0201", "unknown attribute"),
    ("W0202", "pragma has no effect here"),
    ("W0203", "extra semicolon"),
    ("W0204", "declaration declares nothing"),
    ("W0205", "implicit `int`"),
];

/// The description of a code.
pub fn describe(code: &str) -> Option<&'static str> {
    CODES.binary_search_by_key(&code, |c| c.0).ok().map(|i| CODES[i].1)
}

#[cfg(test)]
mod tests {
    #[test]
    fn codes_are_sorted_and_unique() {
        assert!(super::CODES.windows(2).all(|w| w[0].0 < w[1].0));
    }
}
