//! Makes a failing program small by dropping statements.

use crate::generate::tree::{Edit, Stmt, count, edited, print};

/// Candidates tried, at most.
const TRIES: usize = 3000;

/// The smallest program found for which `fails` still holds. `fails` must also reject invalid programs.
pub fn smallest(tree: &[Stmt], mut fails: impl FnMut(&str) -> bool) -> Vec<Stmt> {
    let mut best = tree.to_vec();
    let mut tries = 0;
    let mut attempt = |best: &mut Vec<Stmt>, edit: Edit| {
        let candidate = edited(best, edit);
        tries += 1;
        let better = candidate != *best && tries <= TRIES && fails(&print(&candidate));
        if better {
            *best = candidate;
        }
        better
    };
    loop {
        let before = best.clone();
        // Long runs first: most of a program is unrelated to the failure.
        let mut run = (count(&best) / 2).max(1);
        loop {
            let mut at = count(&best);
            while at > 0 {
                let from = at.saturating_sub(run);
                attempt(&mut best, Edit::Drop(from, at));
                // From the end to the beginning: a drop does not change the numbers of the statements before it. It
                // takes inner statements along, so that fewer may be left than the next number says.
                at = from.min(count(&best));
            }
            if run == 1 {
                break;
            }
            run /= 2;
        }
        for make in [Edit::Unwrap, Edit::DropPart] {
            let mut at = count(&best);
            while at > 0 {
                at -= 1;
                attempt(&mut best, make(at));
                at = at.min(count(&best));
            }
        }
        if best == before {
            return best;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_matters_is_left() {
        let inner = vec![Stmt::line("bad;"), Stmt::line("noise;")];
        let tree: Vec<Stmt> =
            (0..20).map(|i| Stmt::Line(format!("noise{i};"))).chain([Stmt::block("if (c) {", inner)]).collect();
        let left = smallest(&tree, |text| text.contains("bad;"));
        assert_eq!(print(&left), "bad;\n");
    }
}
