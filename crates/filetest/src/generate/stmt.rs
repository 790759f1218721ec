//! Statements: declarations, assignments, control flow. Statements of the whole group are in `group`.

use super::expr::Place;
use super::tree::Stmt;
use super::types::{Scalar, Ty};
use super::{Gen, Profile};

/// The context of a statement.
#[derive(Clone, Copy, Debug)]
pub struct At {
    /// All work-items of the group execute it together.
    pub uniform: bool,
    /// `break` and `continue` are allowed, for a loop that is as uniform as the context.
    pub in_loop: bool,
    /// `break` is allowed, for a switch that is as uniform as the context.
    pub in_switch: bool,
    /// The work-item may return now; with this type.
    pub returns: Option<Option<Ty>>,
    /// `h`, `out` and `base` are there.
    pub kernel: bool,
}

impl At {
    /// Inside of a branch that work-items may take alone.
    fn diverged(self) -> At {
        if self.uniform {
            // Leaving the surrounding uniform loop would leave other work-items at its barriers.
            At { uniform: false, in_loop: false, in_switch: false, returns: None, ..self }
        } else {
            self
        }
    }
}

impl Gen {
    /// Some statements, in a scope of their own.
    pub fn body(&mut self, at: At, count: u64) -> Vec<Stmt> {
        let (places, structs, labels) = (self.places.len(), self.struct_vars.len(), self.labels.len());
        let mut out = Vec::new();
        for _ in 0..count {
            self.statement(at, &mut out);
        }
        if at.kernel {
            for i in places..self.places.len() {
                if self.rng.chance(50) {
                    let place = self.places[i].clone();
                    out.push(self.observe(&place));
                }
            }
        }
        self.places.truncate(places);
        self.struct_vars.truncate(structs);
        self.labels.truncate(labels);
        out
    }

    /// One statement whose declarations stay visible.
    pub fn open_body(&mut self, at: At) -> Vec<Stmt> {
        let mut out = Vec::new();
        self.statement(at, &mut out);
        out
    }

    /// Mixes an lvalue into the result of the work-item.
    pub fn observe(&mut self, place: &Place) -> Stmt {
        let text = self.text(place);
        let bits = |e: &str| match place.ty.s.bits() {
            64 => format!("fold({e})"),
            _ if place.ty.s.is_float() => format!("fold({e})"),
            _ => format!("(uint)({e})"),
        };
        if place.ty.n == 1 {
            return Stmt::Line(format!("h = h * 31u + {};", bits(&text)));
        }
        let digit = |c: u8| char::from_digit(u32::from(c), 16).unwrap_or('0');
        // Each component has an odd factor of its own: exchanged components give another sum, and no factor shifts bits
        // out.
        let parts: Vec<String> =
            (0..place.ty.n).map(|c| format!("{} * {}u", bits(&format!("{text}.s{}", digit(c))), 2 * c + 1)).collect();
        Stmt::Line(format!("h = h * 31u + {};", parts.join(" + ")))
    }

    /// A fresh name.
    pub fn name(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    /// Runs `make` in a group-uniform context, or not.
    pub fn as_same<T>(&mut self, same: bool, make: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.same;
        self.same |= same;
        let result = make(self);
        self.same = before;
        result
    }

    fn statement(&mut self, at: At, out: &mut Vec<Stmt>) {
        if self.budget <= 0 {
            return;
        }
        self.budget -= 1;
        match at.uniform && at.kernel && self.rng.chance(35) {
            true => self.whole_group(at, out),
            // Where barriers must not be in control flow, a statement that is not for the group is for each work-item
            // alone.
            false => self.any_statement(if self.straight { at.diverged() } else { at }, out),
        }
    }

    fn whole_group(&mut self, at: At, out: &mut Vec<Stmt>) {
        // Where no family of the program has a statement for this place, one is made that all programs have.
        if self.families.is_empty() || !self.rng.chance(65) || !self.family_group(at, out) {
            self.group_statement(at, out);
        }
    }

    fn any_statement(&mut self, at: At, out: &mut Vec<Stmt>) {
        // The order of the tests matters: a program without families must draw no number here, so that its text does
        // not depend on them.
        if !self.families.is_empty() && self.rng.chance(35) && self.family_statement(at, out) {
            return;
        }
        match self.rng.below(36) {
            0..=4 => self.declare(at, out),
            5..=8 => self.assign(at, out),
            9 => self.declare_array(out),
            10 => self.declare_struct(out),
            11 => self.copy_struct(out),
            12 => self.declare_pointer(out),
            13..=15 => self.branch(at, out),
            16..=19 => self.repeat(at, out),
            20 => self.switch(at, out),
            21 | 22 => self.leave(at, out),
            23 => self.forward_goto(at, out),
            24 => self.backward_goto(at, out),
            25 => self.enter_loop(at, out),
            26 if at.kernel => self.atomic(out),
            27 if at.kernel => self.effect(out),
            28..=30 => self.memory(at, out),
            33..=35 if at.kernel => self.neighbours(out),
            _ => self.assign(at, out),
        }
    }

    fn declare(&mut self, at: At, out: &mut Vec<Stmt>) {
        let ty = self.any_type();
        let uniform = at.uniform && self.rng.chance(30);
        let e = self.as_same(uniform, |g| g.expr(ty, 3));
        let name = self.name(if uniform { "u" } else { "v" });
        let qualifier = if self.rng.chance(4) { "volatile " } else { "" };
        out.push(Stmt::Line(format!("{qualifier}{} {name} = {e};", ty.name())));
        // Through a pointer, a work-item alone could write to a uniform variable; and a plain pointer must not lead to
        // a volatile one.
        let private = !uniform && qualifier.is_empty();
        self.places.push(Place { text: name, ty, writable: true, uniform, private });
    }

    /// A writable lvalue in scope.
    fn target(&mut self, at: At) -> Option<Place> {
        let list: Vec<Place> =
            self.places.iter().filter(|p| p.writable && (!p.uniform || at.uniform)).cloned().collect();
        (!list.is_empty()).then(|| self.rng.pick(&list))
    }

    fn assign(&mut self, at: At, out: &mut Vec<Stmt>) {
        let Some(place) = self.target(at) else { return self.declare(at, out) };
        self.as_same(place.uniform, |g| {
            let text = g.text(&place);
            let ty = place.ty;
            if ty.n > 1 && g.rng.chance(40) {
                let n = g.rng.pick(&[1, 1, 2, 3, 4]).min(ty.n);
                let mut components: Vec<u8> = (0..ty.n).collect();
                // The components stay different from each other: a vector with one of them twice is no lvalue.
                while components.len() > usize::from(n) {
                    let drop = g.rng.below(components.len() as u64) as usize;
                    components.remove(drop);
                }
                if g.rng.chance(50) {
                    components.reverse();
                }
                let hex: String =
                    components.iter().map(|&c| char::from_digit(u32::from(c), 16).unwrap_or('0')).collect();
                let e = g.expr(Ty::new(ty.s, n), 2);
                return out.push(Stmt::Line(format!("{text}.s{hex} = {e};")));
            }
            let line = match g.rng.below(6) {
                0 if !ty.s.is_float() => {
                    let e = g.expr(ty, 2);
                    format!("{text} {} {e};", g.rng.pick(&["&=", "|=", "^="]))
                }
                1 if !ty.s.is_float() => {
                    let e = g.expr(ty, 1);
                    format!("{text} {} {e};", g.rng.pick(&["<<=", ">>="]))
                }
                // Narrow types are promoted, so that nothing overflows but by conversion.
                2 if g.profile == Profile::Total || !ty.s.is_signed() && ty.n == 1 && ty.s != Scalar::UShort => {
                    let e = g.expr(ty, 2);
                    format!("{text} {} {e};", g.rng.pick(&["+=", "-=", "*="]))
                }
                3 if ty.n == 1 && !ty.s.is_float() && (g.profile == Profile::Total || ty.s.bits() < 32) => {
                    g.rng.pick(&["{}++;", "--{};", "{}--;", "++{};"]).replace("{}", &text)
                }
                _ => format!("{text} = {};", g.expr(ty, 3)),
            };
            out.push(Stmt::Line(line));
        });
    }

    fn declare_array(&mut self, out: &mut Vec<Stmt>) {
        let ty = self.any_type();
        let name = self.name("a");
        let (shape, places, count) = match self.rng.below(3) {
            0 => ("[4]", "[{3}]", 4),
            1 => ("[8]", "[{7}]", 8),
            _ => ("[4][2]", "[{3}][{1}]", 8),
        };
        if self.rng.chance(50) || shape.len() > 3 {
            let values: Vec<String> = (0..1 + self.rng.below(count)).map(|_| self.expr(ty, 1)).collect();
            // Braces around each row may be left out.
            out.push(Stmt::Line(format!("{} {name}{shape} = {{ {} }};", ty.name(), values.join(", "))));
        } else {
            out.push(Stmt::Line(format!("{} {name}{shape};", ty.name())));
            let e = self.expr(ty, 2);
            out.push(Stmt::Line(format!("for (int q = 0; q < {count}; q++) {name}[q] = {e};")));
        }
        self.places.push(Place { text: name + places, ty, writable: true, uniform: false, private: true });
    }

    fn declare_struct(&mut self, out: &mut Vec<Stmt>) {
        if self.structs.is_empty() {
            return;
        }
        let index = self.rng.below(self.structs.len() as u64) as usize;
        let name = self.name("s");
        let value = self.struct_value(index);
        let ty = self.structs[index].name.clone();
        let base = if self.rng.chance(25) {
            let others: Vec<String> = (0..self.rng.below(2)).map(|_| self.struct_value(index)).collect();
            let list: Vec<String> = std::iter::once(value).chain(others).collect();
            out.push(Stmt::Line(format!("{ty} {name}[2] = {{ {} }};", list.join(", "))));
            name + "[{1}]"
        } else {
            out.push(Stmt::Line(format!("{ty} {name} = {value};")));
            name
        };
        self.add_struct(index, &base, true);
    }

    /// Makes the fields of a structure lvalues.
    pub fn add_struct(&mut self, index: usize, base: &str, writable: bool) {
        let private = writable && !self.structs[index].packed;
        for (field, ty) in self.structs[index].leaves.clone() {
            let text = format!("{base}{field}");
            self.places.push(Place { text, ty, writable, uniform: !writable, private });
        }
        if writable {
            self.struct_vars.push((index, base.to_owned()));
        }
    }

    /// An initialiser of a structure.
    pub fn struct_value(&mut self, index: usize) -> String {
        let parts = self.structs[index].init.clone();
        let values: Vec<String> = parts.iter().map(|&ty| self.expr(ty, 1)).collect();
        let mut text = self.structs[index].pattern.clone();
        for v in values {
            text = text.replacen('$', &v, 1);
        }
        text
    }

    fn copy_struct(&mut self, out: &mut Vec<Stmt>) {
        if self.struct_vars.is_empty() {
            return;
        }
        let (index, to) = self.rng.pick(&self.struct_vars);
        let blank = |text: String| Place { text, ty: Ty::INT, writable: true, uniform: false, private: false };
        let to = self.text(&blank(to));
        let same: Vec<String> = self.struct_vars.iter().filter(|v| v.0 == index).map(|v| v.1.clone()).collect();
        let name = self.structs[index].name.clone();
        let value = match self.rng.below(3) {
            0 => format!("({name}){}", self.struct_value(index)),
            _ => {
                let from = self.rng.pick(&same);
                self.text(&blank(from))
            }
        };
        let changed = match self.structs[index].helper.clone() {
            Some(helper) if self.rng.chance(40) => {
                let e = self.expr(Ty::INT, 2);
                format!("{helper}({value}, {e})")
            }
            _ => value,
        };
        out.push(Stmt::Line(format!("{to} = {changed};")));
    }

    fn declare_pointer(&mut self, out: &mut Vec<Stmt>) {
        // Only private places that `&` may be taken of: a pointer to the address space `private` must not lead
        // elsewhere, nor to a member that may be less aligned than its type.
        let list: Vec<Place> = self.places.iter().filter(|p| p.private && p.writable).cloned().collect();
        if list.is_empty() {
            return;
        }
        let to = self.rng.pick(&list);
        let other = list.iter().rev().find(|p| p.ty == to.ty).cloned().unwrap_or(to.clone());
        let (a, b) = (self.text(&to), self.text(&other));
        let name = self.name("p");
        let ty = to.ty.name();
        if self.rng.chance(50) {
            let c = self.condition(2);
            out.push(Stmt::Line(format!("{ty} *{name} = {c} ? &{a} : &{b};")));
        } else {
            out.push(Stmt::Line(format!("private {ty} *{name} = &{a};")));
            if self.rng.chance(50) {
                let c = self.condition(2);
                out.push(Stmt::block(format!("if ({c}) {{"), vec![Stmt::Line(format!("{name} = &{b};"))]));
            }
        }
        let place = Place { text: format!("(*{name})"), ty: to.ty, writable: true, uniform: false, private: false };
        self.places.push(place);
    }

    fn branch(&mut self, at: At, out: &mut Vec<Stmt>) {
        let uniform = at.uniform && self.rng.chance(50);
        let c = self.as_same(uniform, |g| g.condition(3));
        let inner = if uniform { at } else { at.diverged() };
        let count = 1 + self.rng.below(3);
        let mut parts = vec![(format!("if ({c}) {{"), self.body(inner, count))];
        if self.rng.chance(25) {
            let c = self.as_same(uniform, |g| g.condition(2));
            parts.push((format!("}} else if ({c}) {{"), self.body(inner, 2)));
        }
        if self.rng.chance(50) {
            parts.push(("} else {".into(), self.body(inner, 2)));
        }
        out.push(Stmt::Blocks(parts, "}".into()));
    }

    /// A loop, if there is time for one.
    fn repeat(&mut self, at: At, out: &mut Vec<Stmt>) {
        let most = 2 + self.rng.below(5);
        // The product of the trip counts of nested loops is bounded, because each program must end within the ladder's
        // limit of instructions.
        if self.trips * most > 60 {
            return self.assign(at, out);
        }
        let uniform = at.uniform && self.rng.chance(60);
        let inner = At { in_loop: true, in_switch: false, uniform, ..if uniform { at } else { at.diverged() } };
        let i = self.name("i");
        let limit = self.as_same(uniform, |g| match g.rng.below(3) {
            0 => most.to_string(),
            _ => format!("(int)((uint){} % {}u)", g.expr(Ty::INT, 2), most + 1),
        });
        let places = self.places.len();
        // Not writable: a body that sets its own counter may never end.
        let counter = Place { text: i.clone(), ty: Ty::INT, writable: false, uniform, private: false };
        let count = 1 + self.rng.below(3);
        self.trips *= most;
        let kind = self.rng.below(5);
        match kind {
            0 => {
                // The counter is counted first, so that `continue` counts too.
                let c = self.as_same(uniform, |g| g.condition(2));
                self.places.push(counter);
                let body = self.body(inner, count);
                out.push(Stmt::Blocks(
                    vec![(format!("for (int {i} = {most}; {i}-- > 0 && {c};) {{"), body)],
                    "}".into(),
                ));
            }
            1 => {
                out.push(Stmt::Line(format!("int {i} = {limit};")));
                self.places.push(counter);
                let body = self.body(inner, count);
                let head = format!("while ({i}-- > 0) {{");
                out.push(Stmt::block(head, body));
            }
            2 => {
                out.push(Stmt::Line(format!("int {i} = 0;")));
                self.places.push(counter);
                let body = self.body(inner, count);
                let c = self.as_same(uniform, |g| g.condition(2));
                out.push(Stmt::Blocks(vec![("do {".into(), body)], format!("}} while (++{i} < {most} && {c});")));
            }
            3 => {
                self.places.push(counter);
                let body = self.body(inner, count);
                out.push(Stmt::block(format!("for (int {i} = {limit}; {i} > 0; --{i}) {{"), body));
            }
            _ => {
                self.places.push(counter);
                let body = self.body(inner, count);
                out.push(Stmt::block(format!("for (int {i} = 0; {i} < {most} && {i} < {limit}; {i}++) {{"), body));
            }
        }
        self.trips /= most;
        self.places.truncate(places);
    }

    fn switch(&mut self, at: At, out: &mut Vec<Stmt>) {
        let uniform = at.uniform && self.rng.chance(50);
        let inner = At { in_switch: true, ..if uniform { at } else { at.diverged() } };
        let ty = Ty::new(self.rng.pick(&[Scalar::Int, Scalar::UInt, Scalar::Char, Scalar::Long, Scalar::UShort]), 1);
        let e = self.as_same(uniform, |g| g.expr(ty, 2));
        let mask = self.rng.pick(&[3u64, 7]);
        let mut labels: Vec<u64> = (0..=mask).collect();
        let mut parts = vec![(format!("switch ({e} & {mask}) {{"), Vec::new())];
        let mut close = "";
        let mut default = self.rng.chance(70);
        for _ in 0..1 + self.rng.below(4) {
            let at = self.rng.below(labels.len() as u64) as usize;
            let mut head = format!("{close}case {}: ", labels.remove(at));
            if self.rng.chance(30) && !labels.is_empty() {
                head += &format!("case {}: ", labels.remove(0));
            }
            if std::mem::take(&mut default) && self.rng.chance(40) {
                head += "default: ";
            }
            parts.push((head + "{", self.body(inner, 1)));
            close = if self.rng.chance(70) { "} break; " } else { "} " };
            if labels.is_empty() {
                break;
            }
        }
        if default {
            parts.push((format!("{close}default: {{"), self.body(inner, 1)));
        }
        out.push(Stmt::Blocks(parts, "} }".into()));
    }

    /// `break`, `continue`, `return`, `goto`, on a condition.
    fn leave(&mut self, at: At, out: &mut Vec<Stmt>) {
        let mut ways: Vec<String> = Vec::new();
        if at.in_loop {
            ways.push("continue;".into());
        }
        if at.in_loop || at.in_switch {
            ways.push("break;".into());
        }
        // A work-item alone must not jump to a label of the whole group: it would pass a barrier at which the others
        // wait.
        ways.extend(self.labels.iter().filter(|l| l.1 == at.uniform).map(|l| format!("goto {};", l.0)));
        match at.returns {
            Some(None) => {
                // A return before the end stores what the work-item has computed so far, so that it is compared, too.
                ways.push(if at.kernel { "{ out[base + 15] = h; return; }".into() } else { "return;".into() });
            }
            Some(Some(ty)) => {
                let e = self.expr(ty, 2);
                ways.push(format!("return {e};"));
            }
            None => {}
        }
        if ways.is_empty() {
            return self.assign(at, out);
        }
        let way = self.rng.pick(&ways);
        let c = self.as_same(at.uniform, |g| g.condition(2));
        out.push(Stmt::Line(format!("if ({c}) {way}")));
    }

    fn forward_goto(&mut self, at: At, out: &mut Vec<Stmt>) {
        let label = self.name("done");
        self.labels.push((label.clone(), at.uniform));
        let depth = self.labels.len();
        let mut body = self.body(at, 2);
        let c = self.as_same(at.uniform, |g| g.condition(2));
        body.push(Stmt::Line(format!("if ({c}) goto {label};")));
        body.extend(self.body(at, 2));
        self.labels.truncate(depth - 1);
        out.push(Stmt::block("{", body));
        out.push(Stmt::Line(format!("{label}: ;")));
    }

    fn backward_goto(&mut self, at: At, out: &mut Vec<Stmt>) {
        let most = 2 + self.rng.below(3);
        if self.trips * most > 60 {
            return;
        }
        self.trips *= most;
        let (label, i) = (self.name("again"), self.name("g"));
        let body = self.body(at, 2);
        self.trips /= most;
        let c = self.as_same(at.uniform, |g| g.condition(2));
        out.push(Stmt::Line(format!("int {i} = 0;")));
        out.push(Stmt::Line(format!("{label}: ;")));
        out.push(Stmt::block("{", body));
        out.push(Stmt::Line(format!("if (++{i} < {most} && {c}) goto {label};")));
    }

    /// A loop that is entered in its middle: control flow that no structured statement makes.
    fn enter_loop(&mut self, at: At, out: &mut Vec<Stmt>) {
        let most = 2 + self.rng.below(3);
        if self.trips * most > 60 {
            return;
        }
        self.trips *= most;
        let (label, i) = (self.name("in"), self.name("j"));
        // Both halves are scopes of their own: a jump into the middle passes the declarations of the first one, whose
        // variables the second one must not read.
        let inner = At { in_loop: false, in_switch: false, ..at };
        let c = self.as_same(at.uniform, |g| g.condition(2));
        let first = self.body(inner, 1);
        let second = self.body(inner, 1);
        self.trips /= most;
        out.push(Stmt::Line(format!("int {i} = 0;")));
        out.push(Stmt::Line(format!("if ({c}) goto {label};")));
        let body = vec![Stmt::block("{", first), Stmt::Line(format!("{label}: ;")), Stmt::block("{", second)];
        out.push(Stmt::block(format!("for (; {i} < {most}; {i}++) {{"), body));
    }

    /// An atomic operation on the global counters; each counter has one kind of operation, so that the order does not
    /// matter.
    fn atomic(&mut self, out: &mut Vec<Stmt>) {
        let e = self.expr(Ty::UINT, 2);
        let i = self.expr(Ty::UINT, 1);
        let (ops, base): (&[&str], u32) = match self.rng.below(5) {
            0 => (&["atomic_add", "atomic_sub", "cas_add"], 0),
            1 => (&["atomic_xor"], 4),
            2 => (&["atomic_or"], 8),
            3 => (&["atomic_max"], 12),
            _ => (&["atomic_min"], 14),
        };
        let mask = if base < 12 { 3 } else { 1 };
        let op = self.rng.pick(ops);
        out.push(Stmt::Line(format!("{op}(&counters[{base}u + ({i} & {mask}u)], {e});")));
    }

    /// A store or print.
    fn effect(&mut self, out: &mut Vec<Stmt>) {
        let e = self.expr(Ty::UINT, 2);
        match self.rng.below(6) {
            0 => {
                let n = self.rng.pick(&[2u8, 3, 4]);
                let v = self.expr(Ty::new(Scalar::UInt, n), 2);
                out.push(Stmt::Line(format!("vstore{n}({v}, {e} & 1u, out + base + 4);")));
            }
            1 => {
                let s = self.rng.pick(&[Scalar::Char, Scalar::UShort, Scalar::Int]);
                let n = self.rng.pick(&[2u8, 4, 8]);
                let i = self.expr(Ty::UINT, 1);
                let e = format!("vload{n}({i} & 3u, (const global {} *)in)", s.name());
                let place = Place { text: e, ty: Ty::new(s, n), writable: false, uniform: false, private: false };
                out.push(self.observe(&place));
            }
            2 if self.profile == Profile::Total => {
                let v = self.expr(Ty::new(Scalar::Int, 2), 2);
                out.push(Stmt::Line(format!("printf(\"%u %v2hld\\n\", {e}, {v});")));
            }
            3 => out.push(Stmt::Line(format!("add_to(out + base, {e});"))),
            4 => out.push(Stmt::Line(format!("other(out, base, {e});"))),
            _ => out.push(Stmt::Line(format!("h ^= {e};"))),
        }
    }
}
