//! Linking: copies functions of one module into another, with the functions, globals, strings and files that they use.
//!
//! Functions with external or builtin linkage are the same if they have the same name: a declaration gets the body that
//! the other module has. The same holds for globals: an `import` gets the bytes of the `external` global of its name.
//! Of several `linkonce` definitions of a name one is kept, an `external` one if there is any.
//! Internal functions and globals belong to their module, so a clash of their names is settled by renaming. The
//! compiler links the library of built-ins that way, and programs that a host compiled apart.

use crate::entity::{Entity, FuncRef, GlobalRef, StrRef};
use crate::function::{Function, Linkage};
use crate::inst::Op;
use crate::module::{Global, GlobalLinkage, Module, Reloc, Span};
use crate::types::Space;
use rustc_hash::{FxHashMap, FxHashSet};

/// Why two modules cannot be linked.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ImportError {
    /// Both modules define the name.
    #[error("`{0}` is defined twice")]
    Duplicate(String),
    /// Types of parameters or result differ.
    #[error("`{0}` is declared with another type than it is defined with")]
    Signature(String),
}

impl Module {
    /// Copies functions of another module, and all that they use, into this one. If it fails, this module is no longer
    /// usable.
    pub fn import(&mut self, from: &Module, roots: impl IntoIterator<Item = FuncRef>) -> Result<(), ImportError> {
        self.import_all(from, roots, [])
    }

    fn import_all(
        &mut self,
        from: &Module,
        roots: impl IntoIterator<Item = FuncRef>,
        globals: impl IntoIterator<Item = GlobalRef>,
    ) -> Result<(), ImportError> {
        let mut importer = Importer::new(self, from);
        // A global that no function of its module uses may be what another module imports.
        for g in globals {
            importer.global(g)?;
        }
        for root in roots {
            importer.request(root)?;
        }
        importer.run()
    }

    /// Links another program: copies its definitions, and resolves its declarations by this module's definitions.
    pub fn link(&mut self, from: &Module) -> Result<(), ImportError> {
        let roots = from.funcs.iter().filter(|(_, f)| !f.is_declaration() && f.linkage != Linkage::Internal);
        let globals =
            from.globals.iter().filter(|(_, g)| matches!(g.linkage, GlobalLinkage::External | GlobalLinkage::LinkOnce));
        self.import_all(from, roots.map(|(r, _)| r), globals.map(|(r, _)| r))
    }

    /// Gives declarations the bodies that a library has. Returns how many declarations had one; the copied bodies may
    /// have further declarations.
    pub fn import_declared(&mut self, library: &Module) -> Result<usize, ImportError> {
        let bodies: FxHashMap<&str, FuncRef> = library
            .funcs
            .iter()
            .filter(|(_, f)| !f.is_declaration() && f.linkage != Linkage::Internal)
            .map(|(r, f)| (f.name.as_str(), r))
            .collect();
        let wanted = self.funcs.values().filter(|f| f.is_declaration());
        let roots: Vec<FuncRef> = wanted.filter_map(|f| bodies.get(f.name.as_str()).copied()).collect();
        let count = roots.len();
        self.import(library, roots)?;
        Ok(count)
    }
}

struct Importer<'a> {
    into: &'a mut Module,
    from: &'a Module,
    names: FxHashMap<String, FuncRef>,
    global_names: FxHashMap<String, GlobalRef>,
    funcs: FxHashMap<FuncRef, FuncRef>,
    globals: FxHashMap<GlobalRef, GlobalRef>,
    strings: FxHashMap<StrRef, StrRef>,
    files: FxHashMap<u16, Option<u16>>,
    /// Functions whose bodies are to be copied.
    bodies: Vec<FuncRef>,
}

impl<'a> Importer<'a> {
    fn new(into: &'a mut Module, from: &'a Module) -> Self {
        let names = into.funcs.iter().map(|(r, f)| (f.name.clone(), r)).collect();
        let global_names = into.globals.iter().map(|(r, g)| (g.name.clone(), r)).collect();
        Self {
            into,
            from,
            names,
            global_names,
            funcs: FxHashMap::default(),
            globals: FxHashMap::default(),
            strings: FxHashMap::default(),
            files: FxHashMap::default(),
            bodies: Vec::new(),
        }
    }

    fn run(&mut self) -> Result<(), ImportError> {
        while let Some(f) = self.bodies.pop() {
            let body = self.translate(&self.from.funcs[f])?;
            let place = &mut self.into.funcs[self.funcs[&f]];
            // The target keeps its name, which may be a new one.
            *place = Function { name: std::mem::take(&mut place.name), ..body };
        }
        Ok(())
    }

    /// The function's index in the target module.
    fn request(&mut self, f: FuncRef) -> Result<FuncRef, ImportError> {
        if let Some(&done) = self.funcs.get(&f) {
            return Ok(done);
        }
        let source = &self.from.funcs[f];
        let place = match self.names.get(&source.name).copied() {
            Some(old) if source.linkage != Linkage::Internal => {
                if self.into.funcs[old].linkage == Linkage::Internal && !self.into.funcs[old].is_declaration() {
                    let name = self.fresh(&source.name);
                    // Calls name functions by index, so that they still mean the renamed one. `add` then gives the old
                    // name to the new function.
                    self.names.insert(name.clone(), old);
                    self.into.funcs[old].name = name;
                    self.add(f, source.name.clone())
                } else {
                    self.join(f, old)?
                }
            }
            Some(_) => {
                let name = self.fresh(&source.name);
                self.add(f, name)
            }
            None => self.add(f, source.name.clone()),
        };
        self.funcs.insert(f, place);
        Ok(place)
    }

    /// A new function, whose body is copied later.
    fn add(&mut self, f: FuncRef, name: String) -> FuncRef {
        let source = &self.from.funcs[f];
        let mut shell = Function::new(name.clone(), source.params.clone(), source.ret);
        (shell.linkage, shell.noinline, shell.kernel) = (source.linkage, source.noinline, source.kernel.clone());
        let place = self.into.funcs.push(shell);
        self.names.insert(name, place);
        if !source.is_declaration() {
            self.bodies.push(f);
        }
        place
    }

    /// A function that is there already, under the same name.
    fn join(&mut self, f: FuncRef, old: FuncRef) -> Result<FuncRef, ImportError> {
        let (source, here) = (&self.from.funcs[f], &self.into.funcs[old]);
        if source.params != here.params || source.ret != here.ret {
            return Err(ImportError::Signature(source.name.clone()));
        }
        match (source.is_declaration(), here.is_declaration()) {
            // The body brings its linkage and metadata along: see `run`.
            (false, true) => self.bodies.push(f),
            (false, false) if here.linkage == Linkage::LinkOnce && source.linkage == Linkage::External => {
                self.bodies.push(f);
            }
            // There is one library; a second import of it is no conflict.
            (false, false) if source.linkage == Linkage::External && here.linkage == Linkage::External => {
                return Err(ImportError::Duplicate(source.name.clone()));
            }
            _ => {}
        }
        Ok(old)
    }

    fn fresh(&self, name: &str) -> String {
        (1u32..).map(|i| format!("{name}.{i}")).find(|n| !self.names.contains_key(n)).unwrap_or_default()
    }

    fn translate(&mut self, source: &Function) -> Result<Function, ImportError> {
        // The arenas are copied whole, so that values and instructions keep their numbers, and only entities of the
        // module are translated.
        let mut func = source.clone();
        for call in &mut func.inlined {
            // `span` drops the whole position if the target has no room for the file. The chain of calls must survive
            // that.
            call.span = Span { inlined: call.span.inlined, ..self.span(call.span) };
        }
        let mut live = vec![false; func.insts.len()];
        for i in 0..func.layout.len() {
            let b = func.layout[i];
            func.blocks[b].term_span = self.span(func.blocks[b].term_span);
            for k in 0..func.blocks[b].insts.len() {
                let i = func.blocks[b].insts[k];
                live[i.index()] = true;
                let inst = &mut func.insts[i];
                inst.span = self.span(inst.span);
                match &mut inst.op {
                    Op::Call(f) | Op::PureCall(f) => *f = self.request(*f)?,
                    Op::GlobalAddr(g) => *g = self.global(*g)?,
                    Op::Printf(s) => *s = self.string(*s),
                    _ => {}
                }
            }
        }
        // An instruction in no block may name an entity that is not imported: it becomes an unused constant.
        for i in func.insts.keys().filter(|i| !live[i.index()]).collect::<Vec<_>>() {
            if matches!(func.insts[i].op, Op::Call(_) | Op::PureCall(_) | Op::GlobalAddr(_) | Op::Printf(_)) {
                func.insts[i].op = Op::Const(0);
                func.insts[i].args.clear();
            }
        }
        Ok(func)
    }

    fn span(&mut self, span: Span) -> Span {
        if span.place() == Span::NONE {
            return span;
        }
        let (into, from) = (&mut *self.into, self.from);
        let file = *self.files.entry(span.file).or_insert_with(|| {
            let name = from.files.get(usize::from(span.file))?;
            let old = into.files.iter().position(|f| f == name);
            let index = old.unwrap_or_else(|| {
                into.files.push(name.clone());
                into.files.len() - 1
            });
            // A position in a file beyond the 65536th is dropped: it would name another file.
            u16::try_from(index).ok()
        });
        file.map_or(Span::NONE, |file| Span { file, ..span })
    }

    fn string(&mut self, s: StrRef) -> StrRef {
        let (into, from) = (&mut *self.into, self.from);
        *self.strings.entry(s).or_insert_with(|| into.strings.push(from.strings[s].clone()))
    }

    /// The global's index in the target module; globals whose addresses it holds are copied too.
    fn global(&mut self, g: GlobalRef) -> Result<GlobalRef, ImportError> {
        if let Some(&done) = self.globals.get(&g) {
            return Ok(done);
        }
        let mut seen = FxHashSet::default();
        let mut list = vec![g];
        let mut copied = Vec::new();
        while let Some(g) = list.pop() {
            if self.globals.contains_key(&g) || !seen.insert(g) {
                continue;
            }
            let index = self.place_global(g, &mut copied)?;
            // The index is known before the relocations are followed, because two globals may hold each other's
            // address.
            self.globals.insert(g, index);
            list.extend(self.from.globals[g].relocs.iter().map(|r| r.target));
        }
        // Only now each target has its place.
        for index in copied {
            let globals = &self.globals;
            for r in &mut self.into.globals[index].relocs {
                *r = Reloc { target: globals[&r.target], ..*r };
            }
        }
        Ok(self.globals[&g])
    }

    /// The target of one global: a new one, or an existing equal one. A copied global still has the relocations of its
    /// own module and is listed in `copied`.
    fn place_global(&mut self, g: GlobalRef, copied: &mut Vec<GlobalRef>) -> Result<GlobalRef, ImportError> {
        let source = &self.from.globals[g];
        let Some(old) = self.global_names.get(&source.name).copied() else {
            return Ok(self.add_global(source.clone(), copied));
        };
        let here = &self.into.globals[old];
        if source.linkage == GlobalLinkage::Internal {
            // The same table of the same library. A variable has a state of its own, so this is for constants only.
            // Relocations name targets by index, which in the other module is another global.
            if source.space == Space::Constant && source.relocs.is_empty() && *here == *source {
                return Ok(old);
            }
            let name = self.fresh_global(&source.name);
            return Ok(self.add_global(Global { name, ..source.clone() }, copied));
        }
        if here.linkage == GlobalLinkage::Internal {
            let name = self.fresh_global(&source.name);
            self.into.globals[old].name.clone_from(&name);
            self.global_names.insert(name, old);
            return Ok(self.add_global(source.clone(), copied));
        }
        // An open size (`extern constant int n[];`) is compatible with any.
        let sizes_fit = source.size == here.size
            || (source.linkage == GlobalLinkage::Import && source.size == 0)
            || (here.linkage == GlobalLinkage::Import && here.size == 0);
        if source.space != here.space || !sizes_fit {
            return Err(ImportError::Signature(source.name.clone()));
        }
        match (source.linkage, here.linkage) {
            (GlobalLinkage::External, GlobalLinkage::External) => {
                return Err(ImportError::Duplicate(source.name.clone()));
            }
            (GlobalLinkage::External, _) | (GlobalLinkage::LinkOnce, GlobalLinkage::Import) => {
                let align = source.align.max(here.align);
                // In the place of the old one, so that code and relocations that name it stay as they are. Accesses of
                // either module may rely on its own alignment.
                self.into.globals[old] = Global { align, ..source.clone() };
                copied.push(old);
            }
            _ => {
                // Of two declarations, the one with a size wins; a definition has its size already.
                let here = &mut self.into.globals[old];
                here.size = here.size.max(source.size);
                here.align = here.align.max(source.align);
            }
        }
        Ok(old)
    }

    fn add_global(&mut self, global: Global, copied: &mut Vec<GlobalRef>) -> GlobalRef {
        let name = global.name.clone();
        let index = self.into.globals.push(global);
        self.global_names.insert(name, index);
        copied.push(index);
        index
    }

    fn fresh_global(&self, name: &str) -> String {
        let taken = &self.global_names;
        (1u32..).map(|i| format!("{name}.{i}")).find(|n| !taken.contains_key(n)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROGRAM: &str = "
        global @table constant size 4 align 4 init x\"01020304\"
        func external @main(i32) kernel { param \"n\" \"int\" value size 4 align 4 } {
        bb0(v0: i32):
            v1: i32 = call @double v0
            v2: ptr<constant> = globaladdr @table
            call @twice
            ret
        }
        func internal @twice() {
        bb0: ret
        }
        func builtin @double(i32) -> i32
    ";

    const LIBRARY: &str = "
        file \"lib.cl\"
        file \"lib.h\"
        global @table constant size 4 align 4 init x\"05060708\"
        global @index constant size 8 align 8 init x\"0000000000000000\" reloc 0 @table + -4
        func builtin @double(i32) -> i32 {
            inlined @again !1:9:8
        bb0(v0: i32):
            v1: i32 = call @helper v0 !0:3:4@1
            v2: ptr<constant> = globaladdr @index
            call @twice
            ret v1
        }
        func internal @helper(i32) -> i32 {
        bb0(v0: i32): ret v0
        }
        func internal @twice() {
        bb0: ret
        }
        func builtin @unused() {
        bb0: ret
        }
    ";

    #[test]
    fn what_a_removed_call_named_does_not_come_along() {
        let mut source = crate::parse(PROGRAM).unwrap();
        let (main, twice) = (source.find("main").unwrap(), source.find("twice").unwrap());
        // The call is in no block any more, but in the arena.
        let entry = source.funcs[main].entry();
        let insts = &source.funcs[main].insts;
        let calls: Vec<_> = insts.iter().filter(|(_, d)| d.op == Op::Call(twice)).map(|(i, _)| i).collect();
        source.funcs[main].blocks[entry].insts.retain(|i| !calls.contains(i));
        let mut module = Module::new();
        module.import(&source, [main]).unwrap();
        assert!(module.find("twice").is_none());
        assert_eq!(crate::verify(&module), []);
    }

    #[test]
    fn a_declaration_gets_its_body_with_all_that_it_uses() {
        let (mut program, library) = (crate::parse(PROGRAM).unwrap(), crate::parse(LIBRARY).unwrap());
        assert_eq!(program.import_declared(&library), Ok(1));
        assert_eq!(program.import_declared(&library), Ok(0));
        assert_eq!(crate::verify(&program), []);
        let names: Vec<&str> = program.funcs.values().map(|f| f.name.as_str()).collect();
        assert_eq!(names, ["main", "twice", "double", "helper", "twice.1"]);
        let globals: Vec<&str> = program.globals.values().map(|g| g.name.as_str()).collect();
        assert_eq!(globals, ["table", "index", "table.1"]);
        let text = program.to_string();
        assert!(text.contains("reloc 0 @table.1 + -4") && text.contains("call @twice.1") && text.contains("!1:3:4@1"));
        assert!(text.contains("inlined @again !0:9:8\n"), "{text}");
        assert_eq!(program.files, ["lib.h", "lib.cl"]);
    }

    #[test]
    fn programs_link_unless_both_define_a_function_or_types_differ() {
        let user = "func external @main() { bb0: call @f ret } func external @f() func internal @g() { bb0: ret }";
        let other = "func external @f() { bb0: call @g ret } func internal @g() { bb0: ret }";
        let (user, other) = (crate::parse(user).unwrap(), crate::parse(other).unwrap());
        for (first, second) in [(&user, &other), (&other, &user)] {
            let mut linked = first.clone();
            linked.link(second).unwrap();
            assert_eq!(crate::verify(&linked), []);
            assert!(!linked.funcs[linked.find("f").unwrap()].is_declaration());
        }
        assert_eq!(other.clone().link(&other), Err(ImportError::Duplicate("f".into())));
        let wrong = crate::parse("func external @f(i32) { bb0(v0: i32): ret }").unwrap();
        assert_eq!(user.clone().link(&wrong), Err(ImportError::Signature("f".into())));
    }

    #[test]
    fn of_several_definitions_one_is_kept_where_that_is_allowed() {
        let once = |result: &str, byte: &str| {
            let text = format!(
                "global linkonce @n constant size 4 align 4 init x\"{byte}\"
                func linkonce @f() -> i32 {{ bb0: v0: i32 = const {result} ret v0 }}"
            );
            crate::parse(&text).unwrap()
        };
        let user = crate::parse(
            "global import @n constant size 4 align 4
            func external @g() -> ptr<constant> { bb0: v0: ptr<constant> = globaladdr @n ret v0 }",
        )
        .unwrap();
        let external = crate::parse(
            "global external @n constant size 4 align 4 init x\"09\"
            func external @f() -> i32 { bb0: v0: i32 = const 9 ret v0 }",
        )
        .unwrap();
        let (first, second) = (once("1", "01"), once("2", "02"));
        assert_eq!(crate::parse(&first.to_string()).unwrap(), first);
        let linked = |list: &[&Module]| {
            let mut all = Module::new();
            list.iter().try_for_each(|m| all.link(m)).unwrap();
            assert_eq!(crate::verify(&all), []);
            all.to_string()
        };
        let text = linked(&[&user, &first, &second, &first]);
        assert!(text.contains("linkonce @n constant size 4 align 4 init x\"01\""), "{text}");
        assert!(text.contains("const 0x1") && !text.contains("const 0x2"), "{text}");
        for order in [[&first, &external], [&external, &first]] {
            let text = linked(&order);
            assert!(text.contains("external @n constant size 4 align 4 init x\"09\""), "{text}");
            assert!(text.contains("func external @f()") && text.contains("const 0x9"), "{text}");
        }
        assert_eq!(external.clone().link(&external), Err(ImportError::Duplicate("n".into())));
    }

    #[test]
    fn a_declared_global_gets_the_bytes_of_its_definition() {
        let user = "
            global import @n constant size 4 align 4
            global import @list constant size 0 align 4
            global @at constant size 16 align 8 init x\"00000000000000000000000000000000\" reloc 8 @list + 4
            func external @f() -> ptr<constant> { bb0: v0: ptr<constant> = globaladdr @n
                v1: ptr<constant> = globaladdr @at ret v0 }";
        let other = "
            global external @n constant size 4 align 4 init x\"2a\"
            global external @list constant size 12 align 16 init x\"01\"
            global @at constant size 4 align 4 init x\"07\"
            func external @g() -> ptr<constant> { bb0: v0: ptr<constant> = globaladdr @at ret v0 }";
        let (user, other) = (crate::parse(user).unwrap(), crate::parse(other).unwrap());
        assert_eq!(crate::parse(&user.to_string()).unwrap(), user);
        assert_eq!(crate::verify(&user), []);
        for (first, second) in [(&user, &other), (&other, &user)] {
            let mut linked = Module::new();
            linked.link(first).unwrap();
            linked.link(second).unwrap();
            assert_eq!(crate::verify(&linked), []);
            let text = linked.to_string();
            assert!(text.contains("global external @n constant size 4 align 4 init x\"2a\""), "{text}");
            assert!(
                text.contains("@list constant size 12 align 16 init x\"01\"") && !text.contains("import"),
                "{text}"
            );
            assert!(text.contains("reloc 8 @list + 4") && text.contains("@at.1 constant"), "{text}");
        }
        let mut twice = other.clone();
        assert_eq!(twice.link(&other), Err(ImportError::Duplicate("n".into())));
        let wrong = crate::parse("global external @n constant size 8 align 8").unwrap();
        assert_eq!(user.clone().link(&wrong), Err(ImportError::Signature("n".into())));
        // An internal global of that name is another one.
        let mut own = crate::parse("global @n constant size 8 align 8").unwrap();
        own.link(&other).unwrap();
        assert!(own.to_string().contains("global @n.1 constant size 8") && crate::verify(&own).is_empty());
    }

    #[test]
    fn an_internal_function_makes_room_for_an_external_one() {
        let mut a = crate::parse("func internal @f() { bb0: ret } func external @a() { bb0: call @f ret }").unwrap();
        let b = crate::parse("func external @f() { bb0: unreachable }").unwrap();
        a.link(&b).unwrap();
        assert_eq!(crate::verify(&a), []);
        assert!(a.to_string().contains("func internal @f.1()") && a.to_string().contains("call @f.1\n"));
    }
}
