//! The list of findings of a launch: each bug once, however often it is seen.

use super::Checker;
use super::objects::Region;
use crate::finding::{self, Event, Finding, Object, Place};
use crate::kind::{Group, Kind};
use cloom_ir::Span;

/// Findings of one launch that are kept.
const MAX_FINDINGS: usize = 1000;

/// What tells findings apart: one bug is one finding, however often it is seen.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Key {
    kind: Kind,
    places: [Span; 2],
}

impl Checker<'_> {
    /// Without the barrier that a race lacks, a work-item reads local memory before another one writes it: that the
    /// memory was not written yet says nothing more.
    pub(super) fn drop_consequences(&mut self) {
        let race = |f: &&Finding| f.kind == Kind::RaceLocal;
        let races: Vec<(String, Vec<Place>)> = self
            .findings
            .iter()
            .filter(race)
            .filter_map(|f| {
                Some((f.object.as_ref()?.name.clone(), f.events.iter().flat_map(|e| e.place.clone()).collect()))
            })
            .collect();
        self.findings.retain(|f| {
            let Some(object) = f.object.as_ref().filter(|o| f.kind == Kind::Uninitialised && o.space == "local") else {
                return true;
            };
            let at_race = |places: &[Place]| f.events.iter().flat_map(|e| &e.place).any(|p| places.contains(p));
            !races.iter().any(|(name, places)| *name == object.name && at_race(places))
        });
    }

    /// Keeps a finding, or counts one that is known. `make` gives it when it is new.
    pub(super) fn found(&mut self, kind: Kind, places: [Span; 2], make: impl FnOnce(&Self) -> Finding) {
        if !self.kinds.has(kind) {
            return;
        }
        let key = Key { kind, places: places.map(Span::place) };
        if let Some(&n) = self.by_key.get(&key) {
            self.findings[n].count += 1;
            if self.last_groups[n] != self.group {
                self.last_groups[n] = self.group;
                self.findings[n].groups += 1;
            }
        } else if self.findings.len() < MAX_FINDINGS {
            let mut finding = make(self);
            finding.follows = self.follows(&finding);
            self.by_key.insert(key, self.findings.len());
            self.last_groups.push(self.group);
            self.findings.push(finding);
        }
    }

    /// An access that was dropped leaves its object without what it should have written: later findings may come
    /// from that.
    fn follows(&self, finding: &Finding) -> Option<String> {
        let name = finding.object.as_ref().filter(|o| !o.name.is_empty()).map(|o| &o.name);
        let drops = |f: &&Finding| {
            let misses = f.kind.group() == Group::Bounds && f.kind != Kind::ArrayIndex;
            misses || f.kind == Kind::Uninitialised
        };
        let same = |f: &&Finding| f.object.as_ref().map(|o| &o.name) == name && f.kernel == finding.kernel;
        let earlier = self.findings.iter().filter(drops).find(|f| name.is_some() && same(f))?;
        (finding.kind == Kind::Uninitialised).then(|| earlier.id.clone())
    }

    /// An object as a finding shows it, for an access of some bytes at an offset.
    pub(super) fn object(&self, region: &Region, offset: i64, size: u64) -> Object {
        let origin = self.points.declared(region.declared).map(finding::Origin::Declared);
        Object { origin, ..region.object(offset, size) }
    }

    /// A finding without its sentences.
    pub(super) fn finding(&self, kind: Kind, events: Vec<Event>, object: Option<Object>) -> Finding {
        let kernel = self.subject.module.funcs[self.subject.kernel].name.clone();
        let place = events.iter().find_map(|e| e.place.as_ref());
        let (file, line) = place.map_or(("", 0), |p| (p.file.as_str(), p.line));
        let text = self.subject.sources.line(file, line).unwrap_or_default();
        let same =
            |f: &&Finding| f.kind == kind && f.place().map(|p| (&p.file, p.line)) == place.map(|p| (&p.file, p.line));
        let number = self.findings.iter().filter(same).count() as u64;
        let id = finding::fingerprint(kind, file, &kernel, text, number);
        Finding { groups: 1, first_launch: 1, kernel, events, object, ..Finding::new(id, kind) }
    }
}
