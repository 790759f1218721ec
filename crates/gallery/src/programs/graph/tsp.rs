//! `tsp`: the shortest tour through a few cities, by branch and bound. A work-item tries all tours that begin with its
//! prefix of cities, and leaves out those that cannot be shorter than the shortest one known, which all share through
//! an atomic minimum. It starts from the tour that always goes on to the nearest city: how much the items try then
//! hardly depends on which of them start first, and a machine with many processors does not start with as many items
//! that know of no tour at all.
//!
//! The reference is dynamic programming over sets of cities (Bellman 1962; Held and Karp 1962): it never looks at a
//! tour as a whole. Several tours may be the shortest: the length is compared, and that the tour has that length.

use crate::args;
use crate::cl::{Session, round_up};
use crate::common::threads;
use crate::error::Result;
use crate::params::Params;
use crate::picture::{Picture, rgb};
use crate::program::{Answer, Outcome, Program, Variant, Verdict, Work};
use crate::random::Random;
use std::sync::atomic::{AtomicU32, Ordering};

pub struct Tsp;

const SOURCE: &str = include_str!("../../../kernels/tsp.cl");

/// The cities: places in the unit square, distances in thousandths of its side, and the shortest way out of each.
struct Map {
    places: Vec<(f64, f64)>,
    distances: Vec<u32>,
    nearest: Vec<u32>,
    // The length of a tour that is easily found.
    greedy: u32,
    prefix: usize,
    prefixes: usize,
}

impl Map {
    fn new(params: &Params) -> Result<Map> {
        params.only(&["cities", "prefix", "map"])?;
        let cities = params.number("cities", 11, 4..=13)? as usize;
        let prefix = params.number("prefix", 3, 1..=4)?.min(cities as u32 - 2) as usize;
        let mut random = Random::new(u64::from(params.number("map", 1962, 0..=u32::MAX)?));
        let mut places: Vec<(f64, f64)> = Vec::new();
        while places.len() < cities {
            // Of a few places, the one that is farthest from the others: cities do not lie on top of each other.
            let mut place = || (f64::from(random.signed()) * 0.44 + 0.5, f64::from(random.signed()) * 0.44 + 0.5);
            let apart = |p: &(f64, f64)| places.iter().map(|q| (p.0 - q.0).hypot(p.1 - q.1)).fold(9.0, f64::min);
            let some: [_; 6] = std::array::from_fn(|_| place());
            places.extend(some.into_iter().max_by(|p, q| apart(p).total_cmp(&apart(q))));
        }
        let between = |p: &(f64, f64), q: &(f64, f64)| ((p.0 - q.0).hypot(p.1 - q.1) * 1000.0).round() as u32;
        let distances: Vec<u32> = places.iter().flat_map(|p| places.iter().map(move |q| between(p, q))).collect();
        let shortest = |(i, row): (usize, &[u32])| {
            row.iter().enumerate().filter(|(j, _)| *j != i).map(|(_, &d)| d).min().unwrap_or(0)
        };
        let nearest = distances.chunks(cities).enumerate().map(shortest).collect();
        let prefixes = (1..=prefix).map(|depth| cities - depth).product();
        let mut map = Map { places, distances, nearest, greedy: 0, prefix, prefixes };
        map.greedy = map.greedy();
        Ok(map)
    }

    /// The length of the tour that always goes on to the nearest city.
    fn greedy(&self) -> u32 {
        let mut left: Vec<usize> = (1..self.cities()).collect();
        let (mut here, mut length) = (0, 0);
        while let Some(i) = (0..left.len()).min_by_key(|&i| self.between(here, left[i])) {
            let city = left.swap_remove(i);
            length += self.between(here, city);
            here = city;
        }
        length + self.between(here, 0)
    }

    /// What the search has to beat at first: it finds the tour of the greedy length, too.
    fn bound(&self) -> u32 {
        self.greedy + 1
    }

    fn cities(&self) -> usize {
        self.places.len()
    }

    fn between(&self, from: usize, to: usize) -> u32 {
        self.distances[from * self.cities() + to]
    }

    /// The length of a tour that visits every city once; nothing if it does not.
    fn length(&self, tour: &[u8]) -> Option<u32> {
        let mut sorted = tour.to_vec();
        sorted.sort_unstable();
        if !sorted.iter().map(|&c| usize::from(c)).eq(0..self.cities()) {
            return None;
        }
        let ways = tour.iter().zip(tour.iter().cycle().skip(1));
        Some(ways.map(|(&a, &b)| self.between(a.into(), b.into())).sum())
    }

    /// The shortest length: for every set of cities and every last one of it, the shortest way there from the last city
    /// of all through the whole set.
    fn shortest(&self) -> u32 {
        let (n, home) = (self.cities() - 1, self.cities() - 1);
        let mut ways = vec![u32::MAX; n << n];
        for set in 1usize..1 << n {
            for last in (0..n).filter(|last| set >> last & 1 == 1) {
                let before = set ^ 1 << last;
                let came = (0..n).filter(|c| before >> c & 1 == 1);
                let best = came.map(|c| ways[before * n + c] + self.between(c, last)).min();
                ways[set * n + last] = best.unwrap_or_else(|| self.between(home, last));
            }
        }
        let all = (1 << n) - 1;
        (0..n).map(|last| ways[all * n + last] + self.between(last, home)).min().unwrap_or(0)
    }

    /// The cities of a prefix: of those that are left, each digit of the number takes one.
    fn first_cities(&self, mut number: usize) -> Vec<u8> {
        let mut left: Vec<u8> = (1..self.cities() as u8).collect();
        let mut path = vec![0];
        for _ in 0..self.prefix {
            let digit = number % left.len();
            number /= left.len();
            path.push(left.remove(digit));
        }
        path
    }
}

/// The search of a thread.
struct Search<'a> {
    map: &'a Map,
    best: &'a AtomicU32,
    shortest: u32,
    tour: Vec<u8>,
}

impl Search<'_> {
    /// Tries what can follow a path of this length.
    fn go_on(&mut self, path: &mut Vec<u8>, length: u32) {
        let here = usize::from(path[path.len() - 1]);
        if path.len() == self.map.cities() {
            let whole = length + self.map.between(here, 0);
            if whole < self.shortest {
                self.shortest = whole;
                self.tour.clone_from(path);
                self.best.fetch_min(whole, Ordering::Relaxed);
            }
            return;
        }
        for city in 1..self.map.cities() {
            if path.contains(&(city as u8)) {
                continue;
            }
            let further = length + self.map.between(here, city);
            // A bound that is out of date leaves out fewer tours, never the shortest one.
            if further < self.best.load(Ordering::Relaxed) {
                path.push(city as u8);
                self.go_on(path, further);
                path.pop();
            }
        }
    }
}

/// For every prefix the shortest tour that was found and its length.
fn on_host(map: &Map, threads: usize) -> Vec<(u32, Vec<u8>)> {
    let best = AtomicU32::new(map.bound());
    let mut found = vec![(u32::MAX, Vec::new()); map.prefixes];
    threads::rows(&mut found, 1, threads, |number, found| {
        let mut path = map.first_cities(number);
        let length = path.windows(2).map(|w| map.between(w[0].into(), w[1].into())).sum();
        let mut search = Search { map, best: &best, shortest: u32::MAX, tour: Vec::new() };
        search.go_on(&mut path, length);
        found[0] = (search.shortest, search.tour);
    });
    found
}

/// The tour on a map, in the middle of the picture.
fn drawn(map: &Map, tour: &[u8], w: usize, h: usize) -> Picture {
    let side = w.min(h) as f64;
    let (left, top) = ((w as f64 - side) / 2.0, (h as f64 - side) / 2.0);
    let at = |city: u8| map.places.get(usize::from(city)).map_or((0.0, 0.0), |p| (left + p.0 * side, top + p.1 * side));
    let corners: Vec<(f64, f64)> = tour.iter().map(|&city| at(city)).collect();
    let (line, disc) = ((side / 220.0).max(0.8), (side / 60.0).max(1.5));
    let mut picture = Picture::new(w, h, 0);
    threads::rows(&mut picture.pixels, w, threads::count(), |y, row| {
        for (x, pixel) in row.iter_mut().enumerate() {
            let (px, py) = (x as f64 + 0.5, y as f64 + 0.5);
            let (mut to_way, mut to_city) = (f64::MAX, f64::MAX);
            for (a, b) in corners.iter().zip(corners.iter().cycle().skip(1)) {
                let (dx, dy) = (b.0 - a.0, b.1 - a.1);
                let along = ((px - a.0) * dx + (py - a.1) * dy) / (dx * dx + dy * dy).max(1e-9);
                let along = along.clamp(0.0, 1.0);
                to_way = to_way.min((px - a.0 - along * dx).hypot(py - a.1 - along * dy));
                to_city = to_city.min((px - a.0).hypot(py - a.1));
            }
            let home = corners.first().map_or(f64::MAX, |a| (px - a.0).hypot(py - a.1));
            // Each layer covers the ones before, its edge a pixel wide.
            let cover = |distance: f64, radius: f64| (radius + 0.5 - distance).clamp(0.0, 1.0);
            let mut colour = [243.0, 239.0, 226.0];
            let layers = [
                (cover(to_way, line), [0.0, 114.0, 178.0]),
                (cover(to_city, disc * 1.3), [40.0, 40.0, 48.0]),
                (cover(to_city, disc), [240.0, 180.0, 60.0]),
                (cover(home, disc), [213.0, 94.0, 0.0]),
            ];
            for (part, over) in layers {
                colour = std::array::from_fn(|c| colour[c] + (over[c] - colour[c]) * part);
            }
            let [r, g, b] = colour.map(|c: f64| c.round() as u8);
            *pixel = rgb(r, g, b);
        }
    });
    picture
}

impl Program for Tsp {
    fn name(&self) -> &'static str {
        "tsp"
    }

    fn about(&self) -> &'static str {
        "the shortest tour through a few cities, by branch and bound"
    }

    fn variants(&self) -> &'static [Variant] {
        &[
            Variant { name: "ocl", about: "one shortest length for all, and what the cities to come cost at least" },
            Variant { name: "ocl_length", about: "one shortest length for all, against the length so far" },
            Variant { name: "ocl_alone", about: "each work-item knows of its own tours only" },
            Variant { name: "seq", about: "one thread of the machine, no OpenCL, against the length so far" },
            Variant { name: "threads", about: "the machine's threads, which take prefixes as they get free" },
        ]
    }

    fn knobs(&self) -> &'static [&'static str] {
        &[
            "cities=11: how many, 4 to 13",
            "prefix=3: cities that a work-item's number gives, 1 to 4, and at most all but two",
            "map=1962: another number is another map",
        ]
    }

    fn source(&self, _: &Params) -> &'static str {
        SOURCE
    }

    fn build_options(&self, params: &Params) -> Result<(String, String)> {
        let map = Map::new(params)?;
        let options = format!("-DCITIES={} -DPREFIX={} -DPREFIXES={}", map.cities(), map.prefix, map.prefixes);
        let variant = self.variant(params)?;
        Ok((options, if variant.starts_with("ocl") { format!("tsp_{variant}") } else { "tsp_ocl".into() }))
    }

    fn run(&self, session: &Session, params: &Params) -> Result<Outcome> {
        let variant = self.variant(params)?;
        let map = Map::new(params)?;
        let (w, h) = params.size_or(768, 768)?;
        let (options, name) = self.build_options(params)?;
        let built = session.build("tsp", SOURCE, &options)?;
        let kernel = built.kernel(&name)?;
        let n = map.cities();
        let distances = session.upload(&map.distances)?;
        let nearest = session.upload(&map.nearest)?;
        let best = session.zeroed::<u32>(1)?;
        let lengths = session.zeroed::<u32>(map.prefixes)?;
        let tours = session.zeroed::<u8>(map.prefixes * n)?;
        // Work-items that each go their own way gain nothing from going in step.
        let group = params.group_or(1)?;
        let mut found = Vec::new();
        let times = session.measure_and(
            params.iterations,
            |_| {
                if variant.starts_with("ocl") {
                    // Anew for each iteration: one that knew the shortest length from the start would have hardly
                    // anything to do.
                    session.write(&best, &[map.bound()])?;
                    let args = args![&distances, &nearest, &best, &lengths, &tours];
                    session.launch(&kernel, args, &[round_up(map.prefixes, group)], &[group])?;
                } else {
                    found = on_host(&map, if variant == "seq" { 1 } else { threads::count() });
                }
                Ok(true)
            },
            |i| params.observer.progress(i as usize + 1, params.iterations as usize),
        )?;
        if variant.starts_with("ocl") {
            let tours = session.read(&tours)?;
            found = session.read(&lengths)?.into_iter().zip(tours.chunks(n).map(<[u8]>::to_vec)).collect();
        }
        let (length, mut tour) = found.into_iter().min_by_key(|(length, _)| *length).unwrap_or_default();
        // The same tour in the other direction is as long: one of the two is drawn on every device.
        if tour.len() == n && tour[1] > tour[n - 1] {
            tour[1..].reverse();
        }
        let want = map.shortest();
        let verdict = match map.length(&tour) {
            None => Verdict::Failed(format!("{tour:?} is no tour through all cities")),
            Some(real) if real != length => Verdict::Failed(format!("{tour:?} is {real} long, not {length}")),
            Some(_) if length != want => Verdict::Failed(format!("the shortest tour is {want} long, not {length}")),
            Some(_) => Verdict::Passed(format!("{length} is the shortest length, confirmed by dynamic programming")),
        };
        let all: f64 = (1..n).map(|i| i as f64).product();
        let picture = drawn(&map, &tour, w, h);
        // The film has one picture.
        params.observer.frame(|| Ok(picture.clone()))?;
        Ok(Outcome {
            variant,
            size: format!("{n} cities, {} prefixes in groups of {group}", map.prefixes),
            build: built.time,
            times,
            work: Some(Work::new(all, "tour")),
            verdict,
            answer: Answer::Exact(vec![length]),
            picture: Some(picture),
            chart: None,
            notes: vec![format!("tour {tour:?}, {length} long")],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn search_and_dynamic_programme_agree_and_prefixes_differ() {
        for (cities, prefix) in [(4, 3), (5, 1), (8, 2), (9, 4)] {
            let config = format!("cities={cities},prefix={prefix},map={cities}");
            let map = Map::new(&Params { config, ..Params::default() }).unwrap();
            let found = on_host(&map, 2).into_iter().min().unwrap();
            assert_eq!(found.0, map.shortest());
            assert_eq!(map.length(&found.1), Some(found.0));
            let mut all: Vec<Vec<u8>> = (0..map.prefixes).map(|p| map.first_cities(p)).collect();
            all.sort();
            all.dedup();
            assert_eq!(all.len(), map.prefixes);
        }
    }
}
