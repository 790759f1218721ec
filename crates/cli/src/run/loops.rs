//! The lines of a kernel's loops, to name them when it does not end.

use cloom_ir::cfg::Cfg;
use cloom_ir::dom::DomTree;
use cloom_ir::loops::{Loop, Loops};
use cloom_ir::{Block, FuncRef, Function, Module, Span};

/// Lines of one message, at most.
const MAX_LINES: usize = 8;

/// Where the loops of the source's functions are, in order.
pub fn lines(module: &Module, source: &str) -> Vec<u32> {
    let in_source = in_source(module, source);
    let mut lines: Vec<u32> = module.funcs.values().flat_map(|f| of(f, &in_source)).collect();
    lines.sort_unstable();
    lines.dedup();
    lines.truncate(MAX_LINES);
    lines
}

/// Where the loop with that header is, if it is in the source.
pub fn line_of(module: &Module, func: FuncRef, header: Block, source: &str) -> Option<u32> {
    let func = &module.funcs[func];
    let loops = find(func);
    first(func, loops.loops.iter().find(|l| l.header == header)?, &in_source(module, source))
}

/// Whether positions are in the source, and not in a file that it includes or in the library.
fn in_source(module: &Module, source: &str) -> impl Fn(Span) -> bool {
    move |span| span != Span::NONE && module.files.get(usize::from(span.file)).is_some_and(|name| name == source)
}

fn find(func: &Function) -> Loops {
    let cfg = Cfg::new(func);
    let dom = DomTree::new(func, &cfg);
    Loops::new(func, &cfg, &dom)
}

/// The first position of a loop's own blocks is that of its condition or of its first statement.
fn first(func: &Function, l: &Loop, in_source: &impl Fn(Span) -> bool) -> Option<u32> {
    let spans = l.blocks.iter().flat_map(|&b| {
        let block = &func.blocks[b];
        block.insts.iter().map(|&i| func.insts[i].span).chain([block.term_span])
    });
    spans.filter(|&s| in_source(s)).map(|s| s.line).min()
}

fn of(func: &Function, in_source: &impl Fn(Span) -> bool) -> Vec<u32> {
    if func.blocks.is_empty() {
        return Vec::new();
    }
    let loops = find(func);
    // A cycle with several entries, as `goto` makes them, is no natural loop; the branch that closes it has its line.
    let irreducible = loops.irreducible.iter().map(|&(from, _)| func.blocks[from].term_span);
    let irreducible = irreducible.filter(|&s| in_source(s)).map(|s| s.line);
    loops.loops.iter().filter_map(|l| first(func, l, in_source)).chain(irreducible).collect()
}
