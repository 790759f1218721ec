//! What the families of a program add to it: functions, statements, attributes of the kernel.

use super::families::Family;
use super::families::{alias, atomics, half, pointers};
use super::stmt::At;
use super::tree::Stmt;
use super::{Gen, Profile};

impl Gen {
    /// Whether the program has a family.
    pub fn has(&self, family: Family) -> bool {
        self.families.has(family)
    }

    /// Counts a construct.
    pub fn count(&mut self, family: Family, construct: &'static str) {
        self.statistics.count(family, construct);
    }

    /// The functions that families bring along.
    pub fn preludes(&mut self, tree: &mut Vec<Stmt>) {
        let mut lines = Vec::new();
        if self.has(Family::Atomics) {
            lines.extend(atomics::PRELUDE);
        }
        if self.c11 {
            lines.extend(atomics::PRELUDE_C11);
        }
        if self.has(Family::Pointers) {
            lines.extend(pointers::PRELUDE);
        }
        if self.has(Family::Alias) {
            lines.extend(alias::PRELUDE);
        }
        tree.extend(lines.into_iter().map(Stmt::line));
        if self.has_half() {
            tree.extend(half::PRELUDE.map(Stmt::line));
        }
        if self.has(Family::Link) {
            self.far_functions(tree);
        }
    }

    /// One of the program's families that has a statement for this context.
    fn family(&mut self, has: impl Fn(&Self, Family) -> bool) -> Option<Family> {
        let list: Vec<Family> = self.families.iter().filter(|&f| has(self, f)).collect();
        (!list.is_empty()).then(|| self.rng.pick(&list))
    }

    /// A statement of one of the program's families, if any has one for this place.
    pub fn family_statement(&mut self, at: At, out: &mut Vec<Stmt>) -> bool {
        let total = self.profile == Profile::Total;
        let family = self.family(|g, f| match f {
            Family::Math => at.kernel || total,
            Family::Pointers | Family::Alias | Family::Initialisers => true,
            Family::Long => g.long_left > 0 && g.trips == 1,
            Family::Atomics | Family::Half | Family::Link | Family::Dialect => at.kernel,
            _ => false,
        });
        match family {
            Some(Family::Math) => self.math_statement(out),
            Some(Family::Pointers) => self.pointer_statement(at, out),
            Some(Family::Alias) => self.alias_statement(at, out),
            Some(Family::Long) => self.long_loop(at, out),
            Some(Family::Atomics) => self.atomic_statement(out),
            Some(Family::Half) => self.half_statement(out),
            Some(Family::Dialect) => self.dialect_statement(out),
            Some(Family::Initialisers) => self.initialised(at, out),
            Some(Family::Link) => self.far_statement(at, out),
            _ => return false,
        }
        true
    }

    /// The same for what the whole group does.
    pub fn family_group(&mut self, at: At, out: &mut Vec<Stmt>) -> bool {
        let family = self.family(|g, f| match f {
            Family::Atomics | Family::Subgroups | Family::Collectives => true,
            Family::Records => !g.records.is_empty(),
            _ => false,
        });
        match family {
            Some(Family::Atomics) => self.atomic_group(at, out),
            Some(Family::Subgroups) => {
                self.c3 = true;
                self.exchange_subgroups(out);
            }
            Some(Family::Collectives) => {
                self.c3 = true;
                self.collective(out);
            }
            Some(Family::Records) => self.record_group(out),
            _ => return false,
        }
        true
    }

    /// Attributes of the kernel.
    pub fn attributes(&mut self) -> String {
        let mut text = String::new();
        let mut add = |g: &mut Self, name, inside: String| {
            g.count(Family::Attributes, name);
            text += &format!("__attribute__(({name}({inside}))) ");
        };
        if let Some([x, y, z]) = self.required {
            add(self, "reqd_work_group_size", format!("{x}, {y}, {z}"));
        } else if self.rng.chance(50) {
            let x = 1 << self.rng.below(7);
            add(self, "work_group_size_hint", format!("{x}, 1, 1"));
        }
        if self.rng.chance(60) {
            let ty = self.any_type().name();
            add(self, "vec_type_hint", ty);
        }
        text
    }
}
