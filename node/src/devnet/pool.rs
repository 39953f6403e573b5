//! Threads that work on many inputs at once and give the results back in the order of the inputs.

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, Sender, never, unbounded};

/// A function run by several threads. The owner bounds the queues: it holds back inputs while
/// [`Self::pending`] is high.
pub(super) struct OrderedPool<I, O> {
    inputs: Option<Sender<(u64, I)>>,
    results: Receiver<(u64, Result<O, Panic>)>,
    /// Results that arrived before their turn.
    early: BTreeMap<u64, O>,
    submitted: u64,
    taken: u64,
    threads: Vec<JoinHandle<()>>,
}

type Panic = Box<dyn Any + Send>;

impl<I: Send + 'static, O: Send + 'static> OrderedPool<I, O> {
    /// Starts `threads` threads (at least one). Each makes its own worker with `make`, so that workers may
    /// keep buffers.
    pub(super) fn start<W>(threads: usize, make: impl Fn() -> W + Send + Sync + 'static) -> Self
    where
        W: FnMut(I) -> O,
    {
        let (inputs, jobs) = unbounded::<(u64, I)>();
        let (done, results) = unbounded();
        let make = Arc::new(make);
        let threads = (0..threads.max(1))
            .map(|_| {
                let (jobs, done, make) = (jobs.clone(), done.clone(), Arc::clone(&make));
                std::thread::spawn(move || {
                    let mut worker = make();
                    for (number, input) in jobs {
                        // A panic must reach the owner, which would otherwise wait for this result for ever.
                        let result = catch_unwind(AssertUnwindSafe(|| worker(input)));
                        let failed = result.is_err();
                        if done.send((number, result)).is_err() || failed {
                            return;
                        }
                    }
                })
            })
            .collect();
        Self {
            inputs: Some(inputs),
            results,
            early: BTreeMap::new(),
            submitted: 0,
            taken: 0,
            threads,
        }
    }

    /// Hands over the next input.
    pub(super) fn submit(&mut self, input: I) {
        if let Some(inputs) = &self.inputs {
            // The receiving side closes only after a panic, which the next `take` reports.
            let _closed = inputs.send((self.submitted, input));
            self.submitted += 1;
        }
    }

    /// Inputs whose results were not taken yet.
    pub(super) fn pending(&self) -> u64 {
        self.submitted - self.taken
    }

    /// Waits for the next result; `None` if every result was taken.
    ///
    /// # Panics
    ///
    /// Goes on with the panic of a worker.
    pub(super) fn take(&mut self) -> Option<O> {
        if self.pending() == 0 {
            return None;
        }
        loop {
            if let Some(result) = self.early.remove(&self.taken) {
                self.taken += 1;
                return Some(result);
            }
            match self.results.recv() {
                Ok((number, Ok(result))) => {
                    self.early.insert(number, result);
                }
                Ok((_, Err(panic))) => resume_unwind(panic),
                Err(_) => return None,
            }
        }
    }
}

impl<I, O> Drop for OrderedPool<I, O> {
    fn drop(&mut self) {
        self.inputs = None;
        // With nobody to take results, threads stop at their present input.
        self.results = never();
        for thread in self.threads.drain(..) {
            let _panicked = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::OrderedPool;

    #[test]
    fn results_come_in_the_order_of_inputs() {
        let mut pool = OrderedPool::start(4, || {
            |n: u64| {
                std::thread::sleep(std::time::Duration::from_micros((n * 7919) % 500));
                n * 2
            }
        });
        for n in 0..200 {
            pool.submit(n);
        }
        assert_eq!(pool.pending(), 200);
        let results: Vec<u64> = std::iter::from_fn(|| pool.take()).collect();
        assert_eq!(results, (0..200).map(|n| n * 2).collect::<Vec<_>>());
        assert_eq!(pool.pending(), 0);
    }

    #[test]
    #[should_panic(expected = "input 3 is bad")]
    fn a_panic_reaches_the_owner() {
        let mut pool = OrderedPool::start(2, || |n: u32| assert!(n != 3, "input {n} is bad"));
        for n in 0..8 {
            pool.submit(n);
        }
        while pool.take().is_some() {}
    }
}
