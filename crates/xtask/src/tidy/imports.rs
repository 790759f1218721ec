//! Which file of a crate names which. In come the Rust files of its folder `src`; out come the imports.
//!
//! A file is a module, as Rust finds it. A path that begins with `crate`, `self`, `super`, with the name of a child
//! module or with a name that was imported is followed to the file that has the item, through `use` declarations and
//! re-exports, so that an import cannot hide behind the root of the crate. Re-exports of what is below a module are no
//! imports, nor is anything in code of tests.
//!
//! What is not found: calls of methods and macros, and what a binary beside a library names of that.

use super::tokens::{Token, closing};
use super::workspace::SourceFile;
use std::collections::{BTreeMap, BTreeSet};

/// The path of a module: its names from the root, which has none.
type Path = Vec<String>;

/// How many `use` declarations a name is followed through. Rust allows cycles of globs.
const MAX_ALIASES: usize = 8;

/// That a file names another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Import {
    /// The index of the file that names.
    pub from: usize,
    /// The index of the file that has the item.
    pub to: usize,
    /// The first line that does.
    pub line: usize,
    /// The item.
    pub item: String,
}

/// A file as a module.
#[derive(Default)]
struct Module {
    /// The index of its file.
    file: usize,
    /// The names of its items.
    items: BTreeSet<String>,
    /// Its macros with `#[macro_export]`, which the root of the crate has too.
    exported: BTreeSet<String>,
    /// What its `use` declarations bring in.
    uses: Vec<Use>,
    /// Every path in it that is not a `use` declaration, from the module that it stands in.
    paths: Vec<Named>,
    /// Every word outside of `use` declarations.
    words: BTreeSet<String>,
    /// The modules of tests in files of their own.
    tests: Vec<Path>,
}

/// One name of a `use` declaration.
struct Use {
    named: Named,
    /// What it is called here; `*` for all names of a module.
    alias: String,
    public: bool,
}

/// A path with the module that it is written in, which is below the file's for `mod x { … }`.
struct Named {
    base: Path,
    path: Vec<String>,
    line: usize,
}

/// The modules of a crate.
struct Modules {
    by_path: BTreeMap<Path, Module>,
}

/// The imports between the files of a crate, one for each pair of files, sorted. `files` are paths below `src` with the
/// file; files of tests are left out before.
pub fn imports(files: &[(&str, &SourceFile)]) -> Vec<Import> {
    let mut modules = Modules { by_path: BTreeMap::new() };
    let has_lib = files.iter().any(|(below, _)| *below == "lib.rs");
    for (i, (below, file)) in files.iter().enumerate() {
        let path = module_path(below, has_lib);
        let mut module = Module { file: i, ..Module::default() };
        if let Ok(tokens) = &file.tokens {
            Reader { tokens, module: &mut module }.read(0, tokens.len(), &path);
        }
        modules.by_path.insert(path, module);
    }
    // A file does not say that it is a module of tests; the `#[cfg(test)] mod` in another file does. So all are read
    // first.
    let tests: Vec<Path> = modules.by_path.values().flat_map(|m| m.tests.clone()).collect();
    modules.by_path.retain(|path, _| !tests.iter().any(|t| path.starts_with(t)));
    modules.imports()
}

/// The module of a file below `src`. The root of a binary beside a library keeps its name.
fn module_path(below: &str, has_lib: bool) -> Path {
    let stem = below.trim_end_matches(".rs");
    let stem = stem.strip_suffix("/mod").unwrap_or(stem);
    if stem == "lib" || stem == "main" && !has_lib { Vec::new() } else { stem.split('/').map(str::to_owned).collect() }
}

struct Reader<'a> {
    tokens: &'a [Token],
    module: &'a mut Module,
}

impl Reader<'_> {
    fn word(&self, i: usize) -> &str {
        self.tokens.get(i).map_or("", |t| t.text.as_str())
    }

    fn is_colons(&self, i: usize) -> bool {
        self.word(i) == ":" && self.tokens[i].joint && self.word(i + 1) == ":"
    }

    /// Reads the tokens of a module.
    fn read(&mut self, from: usize, to: usize, base: &Path) {
        let mut i = from;
        while i < to {
            if let Some(next) = self.after_test_item(i) {
                if next >= i + 3 && self.word(next - 3) == "mod" {
                    self.module.tests.push([base.as_slice(), &[self.word(next - 2).to_owned()]].concat());
                }
                i = next;
                continue;
            }
            match self.word(i) {
                "use" => i = self.read_use(i, base),
                "mod" if self.word(i + 2) == "{" => {
                    let close = closing(self.tokens, i + 2);
                    let inner = [base.as_slice(), &[self.word(i + 1).to_owned()]].concat();
                    self.read(i + 3, close, &inner);
                    i = close + 1;
                }
                "struct" | "enum" | "union" | "trait" | "type" | "fn" | "const" | "static" | "macro" => {
                    let at = i + 1 + usize::from(self.word(i + 1) == "mut");
                    self.module.items.insert(self.word(at).to_owned());
                    i += 1;
                }
                "macro_rules" => {
                    self.module.items.insert(self.word(i + 2).to_owned());
                    if i >= 2 && self.word(i - 2) == "macro_export" {
                        self.module.exported.insert(self.word(i + 2).to_owned());
                    }
                    i += 3;
                }
                word if is_name(word) => i = self.read_path(i, base),
                _ => i += 1,
            }
        }
    }

    /// The index after an item under `#[cfg(test)]`, also with `all(test, …)`, that begins at `at`.
    fn after_test_item(&self, at: usize) -> Option<usize> {
        if [self.word(at), self.word(at + 1), self.word(at + 2)] != ["#", "[", "cfg"] {
            return None;
        }
        let end = closing(self.tokens, at + 1);
        let condition: Vec<&str> = (at..end).map(|i| self.word(i)).collect();
        if !condition.contains(&"test") || condition.contains(&"not") || condition.contains(&"any") {
            return None;
        }
        let mut is_use = false;
        let mut i = end + 1;
        while i < self.tokens.len() {
            match self.word(i) {
                // The braces of a `use` are a group of names, behind which its semicolon follows.
                "use" => is_use = true,
                ";" => return Some(i + 1),
                "{" if !is_use => return Some(closing(self.tokens, i) + 1),
                "(" | "[" | "{" => i = closing(self.tokens, i),
                // A bracket that was not opened here closes the list in which this was the last item, such as a field
                // or an arm.
                ")" | "]" | "}" => return Some(i),
                _ => {}
            }
            i += 1;
        }
        Some(i)
    }

    /// Reads a path of an expression or a type; the index after it.
    fn read_path(&mut self, at: usize, base: &Path) -> usize {
        let mut path = vec![self.word(at).to_owned()];
        let mut i = at + 1;
        while self.is_colons(i) && is_name(self.word(i + 2)) {
            path.push(self.word(i + 2).to_owned());
            i += 3;
        }
        // What follows `::` is the rest of a path, as in `<T>::new`; what follows a dot is a method or a field, whose
        // type is not known here.
        let is_whole = at < 2 || !self.is_colons(at - 2);
        let is_field = at > 0 && self.word(at - 1) == ".";
        self.module.words.extend(path.iter().cloned());
        if path.len() > 1 && is_whole && !is_field {
            self.module.paths.push(Named { base: base.clone(), path, line: self.tokens[at].line });
        }
        i
    }

    /// Reads a `use` declaration; the index after it.
    fn read_use(&mut self, at: usize, base: &Path) -> usize {
        // Before `use` stands `pub`, or `pub(…)`.
        let public = at > 0 && matches!(self.word(at - 1), "pub" | ")");
        let end = (at..self.tokens.len()).find(|i| self.word(*i) == ";").unwrap_or(self.tokens.len());
        // `use<'a>` of a type is no declaration.
        if is_name(self.word(at + 1)) || self.word(at + 1) == "{" {
            self.read_tree(at + 1, end, &[], (base, public));
            return end + 1;
        }
        at + 1
    }

    /// Reads a tree of names, which ends before `end`.
    fn read_tree(&mut self, from: usize, end: usize, prefix: &[String], place: (&Path, bool)) {
        let mut path = prefix.to_vec();
        let mut alias = None;
        let mut i = from;
        while i < end {
            match self.word(i) {
                "{" => {
                    // Each part of a group is a tree of its own that begins with the path so far. Commas in inner
                    // groups are theirs.
                    let close = closing(self.tokens, i);
                    let mut begin = i + 1;
                    let mut j = begin;
                    while j <= close {
                        match self.word(j) {
                            "{" => j = closing(self.tokens, j),
                            "," | "}" => {
                                if j > begin {
                                    self.read_tree(begin, j, &path, place);
                                }
                                begin = j + 1;
                            }
                            _ => {}
                        }
                        j += 1;
                    }
                    return;
                }
                "as" => {
                    alias = Some(self.word(i + 1).to_owned());
                    i += 1;
                }
                "*" => alias = Some("*".to_owned()),
                // `a::{self, b}` names `a` itself.
                "self" if !path.is_empty() => {}
                word if is_name(word) => path.push(word.to_owned()),
                _ => {}
            }
            i += 1;
        }
        let alias = alias.or_else(|| path.last().cloned()).unwrap_or_default();
        let named = Named { base: place.0.clone(), path, line: self.tokens[from].line };
        self.module.uses.push(Use { named, alias, public: place.1 });
    }
}

fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

impl Modules {
    fn imports(&self) -> Vec<Import> {
        let mut found: BTreeMap<(usize, usize), Import> = BTreeMap::new();
        for (path, module) in &self.by_path {
            let used = module.uses.iter().filter(|used| {
                let target = self.target(&used.named, MAX_ALIASES);
                let below = target.is_some_and(|(at, _)| at.starts_with(path) && at.len() > path.len());
                // A re-export of what is below is an import all the same if the module uses the name itself.
                !(used.public && below) || module.words.contains(&used.alias)
            });
            for named in used.map(|u| &u.named).chain(&module.paths) {
                let Some((at, item)) = self.target(named, MAX_ALIASES) else { continue };
                let to = self.by_path[&at].file;
                if to != module.file {
                    let import = Import { from: module.file, to, line: named.line, item };
                    let first = found.entry((module.file, to)).or_insert_with(|| import.clone());
                    if import.line < first.line {
                        *first = import;
                    }
                }
            }
        }
        found.into_values().collect()
    }

    /// The module that has what a path names, with the name of the item. What is another crate's seems to be in the
    /// module that names it, which is no import.
    fn target(&self, named: &Named, fuel: usize) -> Option<(Path, String)> {
        let mut at = named.base.clone();
        let mut rest = named.path.as_slice();
        while let Some((first, after)) = rest.split_first() {
            match first.as_str() {
                "crate" => at.clear(),
                "self" => {}
                "super" => {
                    at.pop();
                }
                _ => break,
            }
            rest = after;
        }
        // Modules inside of a file are its own.
        while !self.by_path.contains_key(&at) {
            at.pop()?;
        }
        self.follow(at, rest, fuel)
    }

    /// Follows names from a module.
    fn follow(&self, mut at: Path, mut rest: &[String], fuel: usize) -> Option<(Path, String)> {
        while let Some((first, after)) = rest.split_first() {
            let child = [at.as_slice(), std::slice::from_ref(first)].concat();
            if self.by_path.contains_key(&child) {
                (at, rest) = (child, after);
                continue;
            }
            let module = self.by_path.get(&at)?;
            if fuel > 0 && !module.items.contains(first) {
                // A name that is imported by itself goes before one of a glob, as in Rust.
                for used in module.uses.iter().filter(|u| u.alias == *first) {
                    if let Some((at, item)) = self.target(&used.named, fuel - 1) {
                        return if after.is_empty() { Some((at, item)) } else { self.follow(at, after, fuel - 1) };
                    }
                }
                for used in module.uses.iter().filter(|u| u.alias == "*") {
                    if let Some((inner, _)) = self.target(&used.named, fuel - 1)
                        && inner != at
                        && self.by_path[&inner].items.contains(first)
                    {
                        return Some((inner, first.clone()));
                    }
                }
            }
            // A macro with `#[macro_export]` is named at the root, wherever it is written.
            if at.is_empty()
                && !module.items.contains(first)
                && let Some((other, _)) = self.by_path.iter().find(|(_, m)| m.exported.contains(first))
            {
                at.clone_from(other);
            }
            return Some((at, first.clone()));
        }
        let name = at.last().cloned().unwrap_or_default();
        Some((at, name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The imports of a crate as `from > to`, with the names of modules.
    fn shown(files: &[(&str, &str)]) -> Vec<String> {
        let sources: Vec<SourceFile> =
            files.iter().map(|(name, text)| SourceFile::new((*name).to_owned(), (*text).to_owned())).collect();
        let pairs: Vec<(&str, &SourceFile)> = files.iter().map(|(name, _)| *name).zip(&sources).collect();
        imports(&pairs).iter().map(|a| format!("{} > {} {}", files[a.from].0, files[a.to].0, a.item)).collect()
    }

    #[test]
    fn paths_lead_to_the_file_that_has_the_item() {
        let files = [
            ("lib.rs", "mod a; mod b; mod c;"),
            ("a.rs", "use crate::b::B; fn f() { crate::c::g(); std::fs::x(); }"),
            ("b.rs", "pub struct B; fn f() { super::c::g() }"),
            ("c/mod.rs", "mod d; pub fn g() { d::h::<u8>(); self::d::h() }"),
            ("c/d.rs", "pub fn h() { super::g() }"),
        ];
        let found = ["a.rs > b.rs B", "a.rs > c/mod.rs g", "b.rs > c/mod.rs g", "c/mod.rs > c/d.rs h"];
        assert_eq!(shown(&files)[..4], found);
        assert_eq!(shown(&files)[4..], ["c/d.rs > c/mod.rs g"]);
    }

    #[test]
    fn a_re_export_is_followed_and_is_no_import() {
        let files = [
            ("lib.rs", "mod a; mod b; mod c; pub use a::{A, other as Other}; pub(crate) use c::*;"),
            ("a.rs", "pub struct A; pub fn other() {}"),
            ("b.rs", "use crate::{Other, C}; fn f(a: crate::A) {}"),
            ("c.rs", "pub struct C;"),
        ];
        assert_eq!(shown(&files), ["b.rs > a.rs other", "b.rs > c.rs C"]);
    }

    #[test]
    fn a_root_that_uses_what_it_exports_has_an_import() {
        let files = [("lib.rs", "mod a; pub use a::A; fn f(a: A) {}"), ("a.rs", "pub struct A;")];
        assert_eq!(shown(&files), ["lib.rs > a.rs A"]);
    }

    #[test]
    fn tests_have_no_imports() {
        let files = [
            ("lib.rs", "mod a; mod b;"),
            ("a.rs", "#[cfg(test)] use crate::b::{B}; #[cfg(test)] mod tests { use crate::b::B; } fn f() {}"),
            ("c.rs", "#[cfg(test)] mod d;"),
            ("c/d.rs", "use crate::a::f;"),
            ("b.rs", "#[cfg(test)] fn f(x: [u8; 3]) { crate::a::f() } #[cfg(not(test))] fn g() { crate::a::f() }"),
        ];
        assert_eq!(shown(&files), ["b.rs > a.rs f"]);
    }

    #[test]
    fn an_exported_macro_is_found_where_it_is_defined() {
        let files = [
            ("lib.rs", "mod a; mod b;"),
            ("a.rs", "/// Head.\n#[macro_export]\nmacro_rules! m { () => {} }"),
            ("b.rs", "use crate::m; fn f() { m!() }"),
        ];
        assert_eq!(shown(&files), ["b.rs > a.rs m"]);
    }

    #[test]
    fn modules_inside_of_a_file_are_its_own() {
        let files = [
            ("lib.rs", "mod a; mod b;"),
            ("a.rs", "mod inner { fn f() { super::g(); super::super::b::h() } } fn g() {}"),
            ("b.rs", "pub fn h() {}"),
        ];
        assert_eq!(shown(&files), ["a.rs > b.rs h"]);
    }
}
