//! The mesh of `heat3d`: the surface of a knotted tube (a trefoil), with corners off their places and quads cut along
//! either diagonal, so that cells have four to eight neighbours. In come its sides, out come the corners in space, the
//! triangles between them, and who neighbours whom. Cells are the corners; their numbering is chosen apart.

use crate::random::Random;
use std::f64::consts::TAU;

/// How cells are numbered.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// By patches of 16 by 16 cells, one after another.
    Patches,
    /// Ring by ring around the tube.
    Rings,
    /// At random.
    Random,
    /// By halves of halves in space: cells of near numbers are near each other.
    Bisect,
}

pub struct Mesh {
    /// Where each cell is.
    pub places: Vec<[f32; 3]>,
    /// The cells at the corners of each triangle.
    pub triangles: Vec<[u32; 3]>,
    /// Pairs of neighbours, each once.
    pub pairs: Vec<(u32, u32)>,
    /// The temperature at the start.
    pub start: Vec<f32>,
    /// Whether a cell is held at it.
    pub held: Vec<bool>,
}

const PATCH: usize = 16;

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn unit(a: [f64; 3]) -> [f64; 3] {
    let length = a.iter().map(|c| c * c).sum::<f64>().sqrt().max(1e-12);
    a.map(|c| c / length)
}

/// A place on the tube: `t` along it, `s` around it.
fn on_tube(t: f64, s: f64) -> [f32; 3] {
    let middle = [t.sin() + 2.0 * (2.0 * t).sin(), t.cos() - 2.0 * (2.0 * t).cos(), -(3.0 * t).sin()];
    let along = [t.cos() + 4.0 * (2.0 * t).cos(), -t.sin() + 4.0 * (2.0 * t).sin(), -3.0 * (3.0 * t).cos()];
    let bent = [-t.sin() - 8.0 * (2.0 * t).sin(), -t.cos() + 8.0 * (2.0 * t).cos(), 9.0 * (3.0 * t).sin()];
    // The curve is bent everywhere: its second derivative gives the tube a direction that closes after a turn.
    let up = unit(cross(along, bent));
    let side = cross(unit(along), up);
    std::array::from_fn(|c| (middle[c] + 0.62 * (s.cos() * side[c] + s.sin() * up[c])) as f32)
}

/// Sorts the cells of a list so that each half of it lies on one side of a plane, and each half of that, and so on
/// (recursive coordinate bisection, Berger and Bokhari 1987): any stretch of it is a few compact pieces. It needs to
/// know of the mesh only where its cells are.
fn bisect(cells: &mut [usize], places: &[[f32; 3]]) {
    if cells.len() < 2 {
        return;
    }
    let extent = |axis: usize| {
        let along = cells.iter().map(|&c| places[c][axis]);
        along.clone().fold(f32::MIN, f32::max) - along.fold(f32::MAX, f32::min)
    };
    let longest = (1..3).fold(0, |best, axis| if extent(axis) > extent(best) { axis } else { best });
    let middle = cells.len() / 2;
    // Ties go by number, so that the order does not depend on how the selection works.
    cells.select_nth_unstable_by(middle, |&a, &b| places[a][longest].total_cmp(&places[b][longest]).then(a.cmp(&b)));
    let (low, high) = cells.split_at_mut(middle);
    bisect(low, places);
    bisect(high, places);
}

/// The number of each place of a grid of `w` by `h`.
fn numbers(w: usize, h: usize, order: Order) -> Vec<u32> {
    let mut places: Vec<usize> = (0..w * h).collect();
    match order {
        Order::Rings => places.sort_by_key(|i| (i % w, i / w)),
        Order::Patches => places.sort_by_key(|i| (i / w / PATCH, i % w / PATCH, i / w, i % w)),
        Order::Bisect => {
            // The places of an even grid: near enough to those of the cells, which are not made yet.
            let of = |i: usize| on_tube((i % w) as f64 / w as f64 * TAU, (i / w) as f64 / h as f64 * TAU);
            let on_grid: Vec<[f32; 3]> = (0..w * h).map(of).collect();
            bisect(&mut places, &on_grid);
        }
        Order::Random => {
            let mut random = Random::new(1822);
            for i in (1..places.len()).rev() {
                places.swap(i, random.below(i + 1));
            }
        }
    }
    let mut numbers = vec![0; w * h];
    places.iter().enumerate().for_each(|(number, &place)| numbers[place] = number as u32);
    numbers
}

impl Mesh {
    /// A mesh of `w` cells along the tube and `h` around it.
    pub fn new(w: usize, h: usize, order: Order) -> Mesh {
        let numbers = numbers(w, h, order);
        // Random numbers are drawn in the order of the grid, not of the numbering: every order has the same mesh.
        let mut random = Random::new(3);
        let n = w * h;
        let mut mesh = Mesh {
            places: vec![[0.0; 3]; n],
            triangles: Vec::with_capacity(2 * n),
            pairs: Vec::with_capacity(3 * n),
            start: vec![0.0; n],
            held: vec![false; n],
        };
        for y in 0..h {
            for x in 0..w {
                let cell = numbers[y * w + x] as usize;
                let (dx, dy) = (f64::from(random.signed()) * 0.3, f64::from(random.signed()) * 0.3);
                let (t, s) = ((x as f64 + dx) / w as f64 * TAU, (y as f64 + dy) / h as f64 * TAU);
                mesh.places[cell] = on_tube(t, s);
                // Three rings are held hot, three cold; what lies between starts with waves.
                let sixth = t / TAU * 6.0 + 0.5;
                let (ring, off) = (sixth.floor() as i64, (sixth.fract() - 0.5).abs());
                mesh.held[cell] = off < 0.06;
                let wave = 0.45 + 0.3 * (5.0 * t + 2.0 * s).sin() * (3.0 * s - 4.0 * t).cos();
                mesh.start[cell] = if mesh.held[cell] { (ring.rem_euclid(2)) as f32 } else { wave as f32 };
                let at = |x: usize, y: usize| numbers[y % h * w + x % w];
                let [a, b, c, d] = [at(x, y), at(x + 1, y), at(x, y + 1), at(x + 1, y + 1)];
                let falls = random.below(2) == 0;
                mesh.triangles.extend(if falls { [[a, b, d], [a, d, c]] } else { [[a, b, c], [b, d, c]] });
                let diagonal = if falls { (a, d) } else { (b, c) };
                mesh.pairs.extend([(a, b), (a, c), diagonal].map(|(p, q)| (p.min(q), p.max(q))));
            }
        }
        // A side of one or two cells closes on itself.
        mesh.pairs.retain(|(p, q)| p != q);
        // Sorting costs time and changes the order of the pairs: only small meshes have pairs twice.
        if w.min(h) < 3 {
            mesh.pairs.sort_unstable();
            mesh.pairs.dedup();
        }
        mesh
    }

    /// Cells that are not held start at zero.
    pub fn cool(&mut self) {
        self.start.iter_mut().zip(&self.held).filter(|(_, held)| !**held).for_each(|(t, _)| *t = 0.0);
    }

    /// The neighbours of each cell that is not held, in compressed rows: where each row begins, and all rows.
    pub fn rows(&self) -> (Vec<u32>, Vec<u32>) {
        let both = || self.pairs.iter().flat_map(|&(p, q)| [(p, q), (q, p)]).filter(|(p, _)| !self.held[*p as usize]);
        let mut first = vec![0u32; self.places.len() + 1];
        both().for_each(|(p, _)| first[p as usize + 1] += 1);
        (1..first.len()).for_each(|i| first[i] += first[i - 1]);
        // Counting sort: each row is filled from its beginning, in the order of the pairs.
        let mut next = first.clone();
        let mut neighbours = vec![0; first[first.len() - 1] as usize];
        for (p, q) in both() {
            neighbours[next[p as usize] as usize] = q;
            next[p as usize] += 1;
        }
        (first, neighbours)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_numbering_gives_the_same_closed_surface() {
        let count = |order| {
            let mesh = Mesh::new(21, 35, order);
            let (first, neighbours) = mesh.rows();
            let mut degrees: Vec<u32> = first.windows(2).map(|w| w[1] - w[0]).collect();
            assert!(degrees.iter().zip(&mesh.held).all(|(d, held)| if *held { *d == 0 } else { (4..=8).contains(d) }));
            assert!(neighbours.iter().all(|&q| (q as usize) < 21 * 35));
            // Euler's characteristic of a torus is 0.
            assert_eq!(mesh.places.len() + mesh.triangles.len(), mesh.pairs.len());
            degrees.sort_unstable();
            degrees
        };
        assert_eq!(count(Order::Patches), count(Order::Random));
        assert_eq!(count(Order::Patches), count(Order::Rings));
        assert_eq!(count(Order::Patches), count(Order::Bisect));
        assert_eq!(Mesh::new(1, 1, Order::Random).pairs, []);
        assert_eq!(Mesh::new(2, 1, Order::Rings).pairs, [(0, 1)]);
    }
}
