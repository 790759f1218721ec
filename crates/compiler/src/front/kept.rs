//! Sources that were compiled before: their IR in the disk cache, so that the front end need not run again.
//!
//! The input is a source, its options and the front end's description of the target; the output is the verified IR. An
//! entry also has the result of each `#include`, even if it found nothing. The entry counts only if each finds the same
//! file again, with the same contents: so a changed header is noticed, and so is a new one in a folder that is searched
//! earlier. (ccache's direct mode checks the files only, and misses that.) The IR of a source with diagnostics is not
//! kept, so that warnings are reported each time.

use super::includes::{Include, Resolver};
use super::source::{Il, Source};
use crate::cache::{Cache, Key};
use cloom_clc::Target;
use cloom_ir::Module;
use serde::Serialize;

/// The kind of file, for the envelope.
const KIND: u8 = b'S';

fn parts(target: &Target) -> impl Serialize {
    let Target { features, fp64, fp16, images, fma, fpmath } = target;
    (features, fp64, fp16, images, fma, fpmath)
}

/// Where a source's IR is kept.
pub struct Kept<'a> {
    cache: &'a Cache,
    key: Key,
}

impl<'a> Kept<'a> {
    /// The entry for a source with these options, compiled for this target.
    pub fn of(cache: &'a Cache, source: &Source<'_>, options: &str, target: &Target) -> Option<Kept<'a>> {
        Some(Kept { cache, key: Key::of_source(&("OpenCL C", source.name, source.text, options, parts(target)))? })
    }

    /// The entry for a module of SPIR-V.
    pub fn of_il(cache: &'a Cache, il: Il<'_>, options: &str, target: &Target) -> Option<Kept<'a>> {
        Some(Kept { cache, key: Key::of_source(&("SPIR-V", il.binary, il.constants, options, parts(target)))? })
    }

    /// The IR, if it is kept and the files that the source includes are the same.
    pub fn get(&self, resolver: &Resolver<'_>) -> Option<Module> {
        let decode = |name: &str, bytes: &[u8]| cloom_artifact::decode::<(Vec<Include>, Module)>(KIND, name, bytes);
        let (includes, module) = self.cache.get(&self.key, decode)?;
        includes.iter().all(|include| resolver.finds_again(include)).then_some(module)
    }

    /// Keeps IR.
    pub fn put(&self, resolver: &Resolver<'_>, module: &Module) {
        self.cache.put(&self.key, &cloom_artifact::encode(KIND, self.key.name(), &(resolver.found(), module)));
    }
}
