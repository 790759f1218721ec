//! Private arrays and structures with a list of initial values: long ones, of constants or not, in part, nested; read
//! and written at varying indices, and as bytes; arrays that a nest of loops sorts.
//!
//! The compiler makes tables of constant ones, and lays the lanes' copies of the others out by the accesses to them.

use super::Family::Initialisers;
use crate::generate::Gen;
use crate::generate::expr::Place;
use crate::generate::stmt::At;
use crate::generate::tree::Stmt;
use crate::generate::types::Ty;

/// A type that a long array may have.
fn element(g: &mut Gen) -> Ty {
    Ty::new(g.any_scalar(), g.rng.pick(&[1, 1, 1, 1, 2, 3, 4]))
}

/// The largest mask for indices of an array of so many elements.
fn mask(count: u64) -> u64 {
    (1 << count.ilog2()) - 1
}

impl Gen {
    /// Declares such an object, and perhaps uses it at once.
    pub fn initialised(&mut self, at: At, out: &mut Vec<Stmt>) {
        match self.rng.below(8) {
            0 | 1 => self.initialised_array(at, out),
            2 => self.partly_initialised(out),
            3 => self.initialised_in_loop(out),
            4 | 5 if at.kernel => self.elements_chosen_by_data(out),
            _ => self.initialised_structure(out),
        }
    }

    /// A list of values of a type, some of them constants.
    fn values(&mut self, ty: Ty, count: u64, constants: u64) -> String {
        let values: Vec<String> = (0..count)
            .map(|_| match self.rng.chance(constants) {
                true => self.literal(ty),
                false => self.expr(ty, 1),
            })
            .collect();
        values.join(", ")
    }

    fn initialised_array(&mut self, at: At, out: &mut Vec<Stmt>) {
        let ty = element(self);
        let count = self.rng.pick(&[3u64, 9, 16, 17, 25, 40, 70]);
        let (construct, constants) = match self.rng.below(3) {
            0 => ("array of constants", 100),
            1 => ("array of constants and others", 90),
            _ => ("array of values", 0),
        };
        self.count(Initialisers, construct);
        let count = if constants == 0 { count.min(17) } else { count };
        // Some of the values that are not written are zero.
        let given = if self.rng.chance(25) { 1 + self.rng.below(count) } else { count };
        let values = self.values(ty, given, constants);
        let is_const = self.rng.chance(50);
        let qualifier = if is_const { "const " } else { "" };
        let name = self.name("t");
        out.push(Stmt::Line(format!("{qualifier}{} {name}[{count}] = {{ {values} }};", ty.name())));
        let place = Place {
            text: format!("{name}[{{{}}}]", mask(count)),
            ty,
            writable: !is_const,
            uniform: false,
            private: !is_const,
        };
        if !is_const && self.rng.chance(50) {
            let (to, value) = (self.text(&place), self.expr(ty, 2));
            out.push(Stmt::Line(format!("{to} = {value};")));
        }
        if at.kernel && self.rng.chance(50) {
            self.count(Initialisers, "read in a loop");
            let all = Place { text: format!("{name}[q]"), ..place.clone() };
            let observed = self.observe(&all);
            out.push(Stmt::block(format!("for (int q = 0; q < {count}; q++) {{"), vec![observed]));
        }
        if at.kernel && ty.n != 3 && self.rng.chance(25) {
            self.count(Initialisers, "bytes of an array");
            let (i, bytes) = (self.expr(Ty::UINT, 1), count * u64::from(ty.s.bits() / 8 * u32::from(ty.n)));
            out.push(Stmt::Line(format!("h = h * 31u + ((private const uchar *){name})[{i} % {bytes}u];")));
        }
        self.places.push(place);
    }

    /// Sorts the rows of an array by a column: a nest of loops in which the lengths of inner ones depend on the outer
    /// one, and data chooses rows.
    fn elements_chosen_by_data(&mut self, out: &mut Vec<Stmt>) {
        self.count(Initialisers, "elements chosen by data");
        let (t, ty) = (self.name("t"), self.rng.pick(&["uint", "ushort", "short", "uchar", "ulong"]));
        let (rows, columns) = (2 + self.rng.below(9), self.rng.pick(&[1u64, 1, 2, 3]));
        let (seed, column) = (self.expr(Ty::UINT, 2), self.rng.below(columns));
        let factor = self.rng.pick(&["7u", "0x9e3779b9u", "0xffffff31u"]);
        let first = format!("{t}[q / {columns}][q % {columns}] = ({ty})(({seed}) * (uint)(q + 1) * {factor} >> 3);");
        // The loops may leave rows alone.
        let step = self.rng.pick(&["k++", "k++", "k += 2"]);
        let from = self.rng.pick(&["k + 1", "k + 1", "0"]);
        let less = self.rng.pick(&["<", ">", "<="]);
        let change = match self.rng.below(3) {
            0 => format!("{t}[best][j] += ({ty})k;"),
            1 => format!("{ty} x = {t}[k][j]; {t}[k][j] = {t}[best][j]; {t}[best][j] = x;"),
            _ => format!("{t}[k][j] ^= {t}[best][j]; if (best != k) {t}[best][j] -= {t}[k][j];"),
        };
        let line = |text: String| Stmt::Line(text);
        out.push(line(format!("{ty} {t}[{rows}][{columns}];")));
        out.push(Stmt::block(format!("for (int q = 0; q < {}; q++) {{", rows * columns), vec![line(first)]));
        let body = vec![
            line("int best = k;".into()),
            line(format!(
                "for (int i = {from}; i < {rows}; i++) if ({t}[i][{column}] {less} {t}[best][{column}]) best = i;"
            )),
            line(format!("for (int j = 0; j < {columns}; j++) {{ {change} }}")),
            line("h = h * 31u + (uint)best;".into()),
        ];
        out.push(Stmt::block(format!("for (int k = 0; k < {rows}; {step}) {{"), body));
        let all = line(format!("h = h * 31u + (uint){t}[q / {columns}][q % {columns}];"));
        out.push(Stmt::block(format!("for (int q = 0; q < {}; q++) {{", rows * columns), vec![all]));
    }

    /// Designators, ranges, and zeros between them.
    fn partly_initialised(&mut self, out: &mut Vec<Stmt>) {
        self.count(Initialisers, "array in part");
        let ty = element(self);
        let name = self.name("t");
        let mut parts = Vec::new();
        let mut next = self.rng.below(4);
        // PoCL refuses programs with ranges.
        let ranges = self.rng.chance(25);
        while next < 32 {
            let (value, end) = (self.values(ty, 1, 50), next + self.rng.below(6));
            parts.push(match ranges && self.rng.chance(50) && end < 32 {
                true => format!("[{next} ... {end}] = {value}"),
                false => format!("[{next}] = {value}"),
            });
            next = end + 1 + self.rng.below(5);
        }
        out.push(Stmt::Line(format!("{} {name}[32] = {{ {} }};", ty.name(), parts.join(", "))));
        self.places.push(Place { text: name + "[{31}]", ty, writable: true, uniform: false, private: true });
    }

    /// Each iteration begins with the same values.
    fn initialised_in_loop(&mut self, out: &mut Vec<Stmt>) {
        self.count(Initialisers, "array in a loop");
        let ty = element(self);
        let (name, sum) = (self.name("t"), self.name("v"));
        let (count, constants) = (self.rng.pick(&[4u64, 8, 20, 33]), self.rng.pick(&[100, 100, 80]));
        let place =
            Place { text: format!("{name}[{{{}}}]", mask(count)), ty, writable: true, uniform: false, private: true };
        let values = self.values(ty, count, constants);
        let mut body = vec![Stmt::Line(format!("{} {name}[{count}] = {{ {values} }};", ty.name()))];
        if self.rng.chance(60) {
            let (to, value) = (self.text(&place), self.expr(ty, 1));
            body.push(Stmt::Line(format!("{to} = {value};")));
        }
        let read = self.text(&place);
        body.push(Stmt::Line(format!("{sum} = {read};")));
        let trips = match self.rng.chance(50) {
            true => "3".to_owned(),
            false => format!("1 + ({} & 3)", self.expr(Ty::INT, 1)),
        };
        let zero = self.literal(ty);
        out.push(Stmt::Line(format!("{} {sum} = {zero};", ty.name())));
        // The bound is a variable, so that its expression is evaluated once and not before each round.
        let end = self.name("n");
        out.push(Stmt::Line(format!("int {end} = {trips};")));
        out.push(Stmt::block(format!("for (int q = 0; q < {end}; q++) {{"), body));
        self.places.push(Place { text: sum, ty, writable: true, uniform: false, private: true });
    }

    /// A structure with arrays, of several sizes.
    fn initialised_structure(&mut self, out: &mut Vec<Stmt>) {
        self.count(Initialisers, "structure with arrays");
        let (tag, name) = (self.name("T"), self.name("t"));
        let (mut fields, mut values, mut leaves) = (String::new(), Vec::new(), Vec::new());
        for f in 0..2 + self.rng.below(3) {
            let ty = element(self);
            let constants = self.rng.pick(&[100, 50]);
            match self.rng.below(4) {
                0 => {
                    fields += &format!("{} f{f}; ", ty.name());
                    leaves.push((format!(".f{f}"), ty));
                    values.push(self.values(ty, 1, constants));
                }
                1 if !self.structs.is_empty() => {
                    let index = self.rng.below(self.structs.len() as u64) as usize;
                    fields += &format!("{} f{f}[4]; ", self.structs[index].name);
                    let inner = self.structs[index].leaves.clone();
                    leaves.extend(inner.into_iter().map(|(text, ty)| (format!(".f{f}[{{3}}]{text}"), ty)));
                    let rows: Vec<String> = (0..1 + self.rng.below(4)).map(|_| self.struct_value(index)).collect();
                    values.push(format!("{{ {} }}", rows.join(", ")));
                }
                _ => {
                    let count = self.rng.pick(&[2u64, 5, 8, 16, 20]);
                    fields += &format!("{} f{f}[{count}]; ", ty.name());
                    leaves.push((format!(".f{f}[{{{}}}]", mask(count)), ty));
                    let given = 1 + self.rng.below(count);
                    values.push(format!("{{ {} }}", self.values(ty, given, constants)));
                }
            }
        }
        let is_const = self.rng.chance(25);
        let qualifier = if is_const { "const " } else { "" };
        out.push(Stmt::Line(format!("{qualifier}struct {tag} {{ {fields}}} {name} = {{ {} }};", values.join(", "))));
        let mut base = name;
        if !is_const && self.rng.chance(30) {
            self.count(Initialisers, "copy of a structure with arrays");
            let copy = self.name("t");
            out.push(Stmt::Line(format!("struct {tag} {copy} = {base};")));
            base = copy;
        }
        for (leaf, ty) in leaves {
            let text = format!("{base}{leaf}");
            // Its members may be packed: no pointers to them.
            self.places.push(Place { text, ty, writable: !is_const, uniform: false, private: false });
        }
    }
}
