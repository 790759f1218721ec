//! A source as a tree of statements, so that parts of it can be dropped while a failure is reduced.

use std::fmt::Write;

/// One statement, declaration or function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stmt {
    /// Text without parts.
    Line(String),
    /// Parts, each after its head (`if (c) {`, `} else {`), and what closes the last (`}`).
    Blocks(Vec<(String, Vec<Stmt>)>, String),
}

impl Stmt {
    /// A line.
    pub fn line(text: impl Into<String>) -> Self {
        Self::Line(text.into())
    }

    /// One part in braces.
    pub fn block(head: impl Into<String>, body: Vec<Stmt>) -> Self {
        Self::Blocks(vec![(head.into(), body)], "}".into())
    }
}

/// The text of statements, indented.
pub fn print(stmts: &[Stmt]) -> String {
    let mut out = String::new();
    write(&mut out, stmts, 0);
    out
}

fn write(out: &mut String, stmts: &[Stmt], depth: usize) {
    let pad = "  ".repeat(depth);
    for s in stmts {
        // Writing to a string cannot fail.
        match s {
            Stmt::Line(text) => {
                let _ = writeln!(out, "{pad}{text}");
            }
            Stmt::Blocks(parts, tail) => {
                for (head, body) in parts {
                    let _ = writeln!(out, "{pad}{head}");
                    write(out, body, depth + 1);
                }
                let _ = writeln!(out, "{pad}{tail}");
            }
        }
    }
}

/// The number of statements, inner ones included.
pub fn count(stmts: &[Stmt]) -> usize {
    let inner = |s: &Stmt| match s {
        Stmt::Line(_) => 0,
        Stmt::Blocks(parts, _) => parts.iter().map(|p| count(&p.1)).sum(),
    };
    stmts.iter().map(|s| 1 + inner(s)).sum()
}

/// What to do with a range of statements, numbered as [`count`] counts them: each before its inner ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Edit {
    /// Drop the statements from the first number to before the second, with all inside.
    Drop(usize, usize),
    /// Replace a statement by what is inside of it.
    Unwrap(usize),
    /// Empty a statement's last part.
    DropPart(usize),
}

/// A copy with an edit.
pub fn edited(stmts: &[Stmt], edit: Edit) -> Vec<Stmt> {
    walk(stmts, edit, &mut 0)
}

fn walk(stmts: &[Stmt], edit: Edit, number: &mut usize) -> Vec<Stmt> {
    let mut out = Vec::new();
    for s in stmts {
        let me = *number;
        *number += 1;
        match s {
            Stmt::Line(text) => {
                // Without its end, a function has no value that is defined.
                let is_end = text.starts_with("return ");
                if is_end || !matches!(edit, Edit::Drop(from, to) if (from..to).contains(&me)) {
                    out.push(s.clone());
                }
            }
            Stmt::Blocks(parts, tail) => {
                // The inner statements are walked even if they go: so the numbers of those behind them are the ones
                // that `count` gives.
                let mut inner: Vec<(String, Vec<Stmt>)> =
                    parts.iter().map(|(head, body)| (head.clone(), walk(body, edit, number))).collect();
                match edit {
                    Edit::Drop(from, to) if (from..to).contains(&me) => {}
                    Edit::Unwrap(n) if n == me => out.extend(inner.into_iter().flat_map(|p| p.1)),
                    _ => {
                        if edit == Edit::DropPart(me) && inner.len() > 1 {
                            inner.pop();
                        }
                        out.push(Stmt::Blocks(inner, tail.clone()));
                    }
                }
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_keep_the_rest() {
        let both = vec![("if (c) {".into(), vec![Stmt::line("b;")]), ("} else {".into(), vec![Stmt::line("d;")])];
        let tree = [Stmt::line("a;"), Stmt::Blocks(both, "}".into()), Stmt::line("e;")];
        assert_eq!(count(&tree), 5);
        assert_eq!(print(&tree), "a;\nif (c) {\n  b;\n} else {\n  d;\n}\ne;\n");
        let text = |edit| print(&edited(&tree, edit)).replace(['\n', ' '], "");
        assert_eq!(text(Edit::Drop(2, 3)), "a;if(c){}else{d;}e;");
        assert_eq!(text(Edit::Drop(0, 2)), "e;");
        assert_eq!(text(Edit::Unwrap(1)), "a;b;d;e;");
        assert_eq!(text(Edit::DropPart(1)), "a;if(c){b;}e;");
        let function = [Stmt::block("int f() {", vec![Stmt::line("a;"), Stmt::line("return 1;")])];
        let text = |edit| print(&edited(&function, edit)).replace(['\n', ' '], "");
        assert_eq!(text(Edit::Drop(1, 3)), "intf(){return1;}");
        assert_eq!(text(Edit::Drop(0, 3)), "");
    }
}
