//! The invariants of the workspace that a compiler does not check. In comes the workspace; out come findings, one a
//! line.
//!
//! * `layers`: which crate may use which.
//! * `sources`, `functions`: heads, lengths, the fence of `unsafe`, words that belong to one crate.
//! * `cpp`: heads, lengths and the format of C++.
//! * `modules`, `imports`: the order of the modules of a crate, and the size of folders.
//! * `panics`: libraries do not panic on purpose.
//! * `passes`: passes are run by the pass manager.
//! * `manifests`: one table of lints, no dependency that nothing names.
//! * `vendors`: the words of one vendor's GPUs stand where they belong.
//! * `supply`: licences, versions and sources of what is depended on, and the compiler that it needs.
//! * `commits`: the subjects of commits.
//! * `concurrency`: the tables of threads and locks are those of the code.
//! * `docs`: paths, links, commands and variables that documents name exist.

mod commits;
mod concurrency;
mod cpp;
mod docs;
mod functions;
mod imports;
mod layers;
mod manifests;
mod modules;
mod panics;
mod passes;
mod sources;
mod supply;
mod tokens;
mod vendors;
mod workspace;

use crate::outcome::Outcome;
use crate::tools::root;
use crate::usage::USAGE;
use anyhow::Result;
use std::fs;

pub use supply::shipped;
pub use workspace::Workspace;

/// The document that lists the crates.
const MAP: &str = "docs/ARCHITECTURE.md";

/// Checks all; prints what is wrong, and where `unsafe` stands.
pub fn run() -> Result<Outcome> {
    let workspace = Workspace::load(&root())?;
    let mut findings = Vec::new();
    let mut unsafe_files = sources::UnsafeFiles::new();
    let passes = passes::modules(&workspace);
    for member in &workspace.members {
        layers::check(member, &mut findings);
        for file in &member.files {
            sources::check(&member.name, file, &mut unsafe_files, &mut findings);
            if let Ok(tokens) = &file.tokens {
                passes::check(&member.name, &file.shown, tokens, &passes, &mut findings);
            }
        }
    }
    for compiler in workspace.members.iter().filter(|m| m.name == "compiler") {
        layers::check_fingerprint(compiler, &mut findings);
    }
    let names: Vec<&str> = workspace.members.iter().map(|m| m.name.as_str()).collect();
    layers::check_map(MAP, &fs::read_to_string(workspace.root.join(MAP))?, &names, &mut findings);
    cpp::check(&workspace, &mut findings)?;
    modules::check(&workspace, &mut findings)?;
    vendors::check(&workspace, &mut findings)?;
    manifests::check(&workspace, &mut findings);
    manifests::check_known(&workspace, &mut findings);
    commits::check(&names, &mut findings);
    let threads_and_locks = fs::read_to_string(workspace.root.join(concurrency::DOCUMENT))?;
    concurrency::check(&workspace, &threads_and_locks, &mut findings);
    supply::check(&workspace, &mut findings)?;
    docs::check(&workspace, &docs::Names::of(&workspace, USAGE)?, &mut findings)?;
    findings.sort();
    for finding in &findings {
        eprintln!("tidy: {finding}");
    }
    sources::print_unsafe(&unsafe_files);
    println!("xtask tidy: {} findings", findings.len());
    Ok(Outcome::of(findings.is_empty()))
}
