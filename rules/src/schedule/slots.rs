//! Slots: the times at which blocks may be made.
//!
//! A slot is three seconds long, on a grid of multiples of three seconds since 1970. Slot 1 is the first one behind the
//! head block; a block that is not the head's neighbour in time has slots between that were missed. While the chain is
//! empty, slot 1 lies three seconds behind genesis, wherever that is. hived does not demand that a block's time lies on
//! the grid.

use cairn_chain::Time;
use cairn_chain::spec::BLOCK_INTERVAL;

/// When slot 1 begins. `head`: time of the head block; `None` while the chain is empty.
#[must_use]
pub fn first_slot_time(head: Option<Time>, genesis: Time) -> u64 {
    let interval = u64::from(BLOCK_INTERVAL);
    match head {
        None => u64::from(genesis.seconds()) + interval,
        Some(head) => u64::from(head.seconds()) / interval * interval + interval,
    }
}

/// The slot that a time falls into; 0 if it is before slot 1.
#[must_use]
pub fn slot_at(head: Option<Time>, genesis: Time, time: Time) -> u32 {
    let Some(since_first) = u64::from(time.seconds()).checked_sub(first_slot_time(head, genesis)) else {
        return 0;
    };
    // Below 2^32 / 3, as times are.
    u32::try_from(since_first / u64::from(BLOCK_INTERVAL) + 1).unwrap_or(u32::MAX)
}
