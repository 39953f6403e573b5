//! The register trie by itself: batches of 10,000 changes, nine in ten of existing registers, on a trie of a million.
//!
//! ```text
//! cargo bench --locked -p cairn-state --bench trie                     ratios, then criterion's figures
//! REGISTERS=10000000 cargo bench --locked -p cairn-state --bench trie
//! ```
//!
//! The ratios are of one run: the variants take turns on one trie, with other batches each time, which are undone
//! unmeasured. What one thread does is measured by its time on a processor, so that other work on the machine counts
//! only by the caches that it takes. Two threads are compared with one by the clock, which says nothing when others
//! have the processors; then the share of the work that is left to the first thread says what there is to win.
//!
//! Measured on two cores that other builds kept busy (AVX-512, 2 MiB second-level cache): root of a batch 12.8 ms of a
//! processor and 1.1 ms for the leaves' hashes; one hash a call 2.7 times as much, copying 2.1, with undo 1.02; of two
//! threads the first has 0.52 of the work; no allocation; 167.6 bytes a register.
//! With ten million registers 21.8 ms (1.7 times as much), and 152.0 bytes each: what is left of chunks and the room to
//! work in weigh less.

#![allow(clippy::unwrap_used, missing_docs, reason = "a benchmark fails by panicking")]
#![allow(
    unsafe_code,
    reason = "an allocator that counts can only be put around the system's with unsafe code"
)]

#[path = "../tests/common/counting.rs"]
mod counting;

use std::hint::black_box;
use std::time::{Duration, Instant};

use cairn_state::Path;
use cairn_state::trie::{HeldRoot, Lanes, LeafBatch, LeafChange, Trie};
use criterion::{BatchSize, Criterion};
use rustix::time::{ClockId, clock_gettime};

/// Changes in a batch.
const BATCH: u32 = 10_000;
/// Different batches.
const BATCHES: u32 = 8;
/// Turns of each variant, with all batches.
const ROUNDS: u32 = 8;

/// The ways of updating that are compared.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Variant {
    /// In place, hashing many at once, one thread.
    Base,
    /// The same, one hash a call.
    OneLane,
    /// With the root of the batch before held, so that every touched node is copied.
    Copying,
    /// Leaving in the batch what undoes it.
    Undo,
    /// Two threads.
    TwoThreads,
}

const VARIANTS: [Variant; 5] = [
    Variant::Base,
    Variant::OneLane,
    Variant::Copying,
    Variant::Undo,
    Variant::TwoThreads,
];

/// Registers and their new values, in no order of paths.
type Registers = Vec<(Path, [u8; 64])>;

fn register(number: u32, round: u32) -> (Path, [u8; 64]) {
    let mut value = [0; 64];
    blake3::Hasher::new()
        .update(&number.to_le_bytes())
        .update(&round.to_le_bytes())
        .finalize_xof()
        .fill(&mut value);
    (Path::of(&number.to_le_bytes()), value)
}

/// A batch on `registers` registers.
fn batch(registers: u32, round: u32) -> Registers {
    let step = registers / BATCH;
    let number = |at: u32| match at % 10 {
        0 => registers + round * BATCH + at,
        _ => at * step + (round * 7_919 + at * 31) % step,
    };
    (0..BATCH).map(|at| register(number(at), round + 1)).collect()
}

fn collect(leaves: &mut LeafBatch, registers: &[(Path, [u8; 64])]) {
    leaves.clear();
    for (path, value) in registers {
        leaves.set(*path, 32, value);
    }
}

/// How long this thread has been on a processor.
fn on_processor() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
}

/// What a batch took.
#[derive(Clone, Copy)]
struct Took {
    /// From the values to the leaves' hashes, on a processor.
    leaves: Duration,
    /// From there to the root, on a processor and by the clock.
    root: Duration,
    clock: Duration,
}

struct Bench {
    trie: Trie,
    batches: Vec<Registers>,
    leaves: LeafBatch,
    held: Option<HeldRoot>,
}

impl Bench {
    fn load(registers: u32) -> Self {
        let (start, mut trie, mut leaves) = (Instant::now(), Trie::new(), LeafBatch::new());
        let mut loading = Duration::ZERO;
        for number in 0..registers {
            let (path, value) = register(number, 0);
            leaves.set(path, 32, &value);
            if leaves.len() == 100_000 || number + 1 == registers {
                let start = Instant::now();
                trie.update(leaves.changes()).unwrap();
                loading += start.elapsed();
                leaves.clear();
            }
        }
        let bytes = trie.memory().bytes as f64 / f64::from(registers);
        println!(
            "{registers} registers: {bytes:.1} bytes each; {loading:.2?} for their roots in batches of 100,000, \
             {:.2?} with their values",
            start.elapsed()
        );
        let (start, count) = (Instant::now(), trie.leaves().count());
        println!("{count} leaves gone through in {:.2?}", start.elapsed());
        Self {
            trie,
            batches: (0..BATCHES).map(|round| batch(registers, round)).collect(),
            leaves: LeafBatch::new(),
            held: None,
        }
    }

    fn set(&mut self, variant: Variant) {
        let lanes = if variant == Variant::OneLane {
            Lanes::one()
        } else {
            Lanes::many()
        };
        self.trie.set_lanes(lanes);
        self.leaves.set_lanes(lanes);
        let threads = if variant == Variant::TwoThreads { 2 } else { 1 };
        self.trie.set_threads(threads);
        self.held = (variant == Variant::Copying).then(|| self.trie.hold());
    }

    fn update(&mut self, variant: Variant, which: usize) -> Took {
        let start = on_processor();
        collect(&mut self.leaves, &self.batches[which]);
        let changes = self.leaves.changes();
        let leaves = on_processor();
        let clock = Instant::now();
        match variant {
            Variant::Undo => self.trie.exchange(changes).unwrap(),
            Variant::Copying => {
                // The root before is let go when there is the next: what it alone had is used again.
                self.held = Some(self.trie.hold());
                self.trie.update(changes).unwrap()
            }
            _ => self.trie.update(changes).unwrap(),
        };
        black_box(self.trie.root());
        Took {
            leaves: leaves - start,
            root: on_processor() - leaves,
            clock: clock.elapsed(),
        }
    }

    /// Makes all batches in turn, then undoes them.
    fn turn(&mut self, variant: Variant) -> Vec<Took> {
        let before: Vec<_> = (0..self.batches.len()).map(|which| self.before(which)).collect();
        self.set(variant);
        let took = (0..self.batches.len()).map(|which| self.update(variant, which));
        let took = took.collect();
        self.set(Variant::Base);
        for undo in before.iter().rev() {
            self.trie.update(undo).unwrap();
        }
        took
    }

    /// What undoes a batch, if the trie is as it was loaded but for registers of other batches.
    fn before(&self, which: usize) -> Vec<LeafChange> {
        let paths = self.batches[which].iter().map(|(path, _)| *path);
        let old = paths.map(|path| LeafChange {
            path,
            leaf: self.trie.leaf(&path),
        });
        old.collect()
    }

    fn ratios(&mut self) {
        let mut took: [Vec<Took>; VARIANTS.len()] = Default::default();
        for _ in 0..ROUNDS {
            for (variant, took) in VARIANTS.into_iter().zip(&mut took) {
                took.extend(self.turn(variant));
            }
        }
        let median = |variant: Variant, of: fn(&Took) -> Duration| {
            let mut times: Vec<_> = took[variant as usize].iter().map(of).collect();
            times.sort_unstable();
            times[times.len() / 2].as_secs_f64() * 1e3
        };
        let root = |variant| median(variant, |took| took.root);
        let all = |variant| median(variant, |took| took.leaves + took.root);
        let clock = |variant| median(variant, |took| took.clock);
        println!("medians, ms a batch:       leaves     root    clock");
        for variant in VARIANTS {
            let [all, root, clock] = [all(variant), root(variant), clock(variant)];
            println!(
                "{:>24} {:8.2} {root:8.2} {clock:8.2}",
                format!("{variant:?}"),
                all - root
            );
        }
        let base = root(Variant::Base);
        println!(
            "one hash a call / many, with the leaves: {:.2}",
            all(Variant::OneLane) / all(Variant::Base)
        );
        println!("always copying / in place: {:.2}", root(Variant::Copying) / base);
        println!("with undo / without: {:.2}", root(Variant::Undo) / base);
        println!(
            "one thread / two, by the clock: {:.2}",
            clock(Variant::Base) / clock(Variant::TwoThreads)
        );
    }

    /// Allocations of an update of existing registers, the third one of its size.
    fn allocations(&mut self) {
        let registers: Registers = (0..BATCH).map(|number| register(number, 1)).collect();
        self.set(Variant::Base);
        for turn in 0..3 {
            collect(&mut self.leaves, &registers);
            let before = counting::allocations();
            self.trie.exchange(self.leaves.changes()).unwrap();
            let allocations = counting::allocations() - before;
            self.trie.exchange(self.leaves.changes()).unwrap();
            if turn == 2 {
                println!("allocations of an update of existing registers: {allocations}");
            }
        }
    }
}

fn main() {
    let registers = std::env::var("REGISTERS").map_or(1_000_000, |registers| registers.parse().unwrap());
    let mut bench = Bench::load(registers);
    bench.allocations();
    bench.ratios();
    if std::env::var_os("RATIOS_ONLY").is_some() {
        return;
    }
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group(format!("root of {BATCH} changes on {registers}"));
    for variant in VARIANTS {
        group.bench_function(format!("{variant:?}"), |bencher| {
            bencher.iter_custom(|iterations| {
                let turns = iterations.div_ceil(u64::from(BATCHES));
                let took: Vec<_> = (0..turns).flat_map(|_| bench.turn(variant)).collect();
                took.iter().take(iterations as usize).map(|took| took.clock).sum()
            });
        });
    }
    group.finish();
    criterion.bench_function("leaf hashes of 10,000 values of 64 bytes", |bencher| {
        let registers = &bench.batches[0];
        bencher.iter_batched_ref(
            LeafBatch::new,
            |leaves| {
                collect(leaves, registers);
                black_box(leaves.changes());
            },
            BatchSize::LargeInput,
        );
    });
    criterion.final_summary();
}
