//! Drawing the list of scheduled witnesses, as far as no stake is needed.
//!
//! hived orders witnesses by votes (that is, stake), then name, and a second time by *virtual time*, in which a witness
//! with more votes gets its turn sooner. Where nobody votes, all votes are 0: the first order is by name, and in the second
//! everybody has the same time, so that the witness created first is in front.
//!
//! # Since hardfork 4
//!
//! 1. The top 20 (before hardfork 17: 19) by votes and name.
//! 2. Before 17 one from the mining queue: entries are taken off its front until one is found that is not among the top.
//! 3. By virtual time until there are 21.
//!
//! Since hardfork 14 witnesses without a signing key are passed over in each step. So there are 21 entries, or as many as
//! there are such witnesses, whoever they are: the *size* is known even where stake decides about the entries.
//!
//! # Before hardfork 4
//!
//! Up to block 864000 (testnet 30) the queue of miners has precedence: if it is not empty, the schedule is the first 21 of
//! it, and nothing else; if it holds more than 21, the first one is taken off before. With an empty queue, and always
//! after that block: the top 19 of those that are not queued, the next of them by virtual time (which may be one of the
//! 19 once more), and after that block the first of the queue.
//!
//! # Virtual times
//!
//! They are all equal until the first vote. Every drawing since hardfork 4 at which nobody votes makes them equal again,
//! because hived then overflows its clock and starts it anew. Before hardfork 4 every drawing makes those of the top 19
//! equal, so that up to 19 witnesses are no problem there.

use cairn_chain::{AccountName, Time};

use super::shuffle::shuffle;

/// Entries of a schedule, and blocks of a round.
pub const ROUND: u32 = 21;

/// The same as a length.
pub const MOST_SCHEDULED: usize = 21;

/// What drawing needs to know of a witness.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WitnessFact {
    /// Its name.
    pub name: AccountName,
    /// Witnesses that were created before it.
    pub index: u32,
    /// Whether it has a signing key.
    pub enabled: bool,
    /// Its place in the mining queue; 0: not queued.
    pub queue_number: u64,
}

/// What drawing needs to know of all witnesses; cheap to keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WitnessCounts {
    /// Witnesses.
    pub total: usize,
    /// Those with a signing key.
    pub enabled: usize,
    /// hived's counter of queued miners. It counts every proof of work, even the first, which is not queued.
    pub mining_counter: u64,
    /// Whether the queue is certainly empty.
    pub queue_is_empty: bool,
    /// Whether queue and counter are known; they are not after a drawing that took an unknown part of the queue off.
    pub queue_is_known: bool,
}

/// Where and when a schedule is drawn: the block, divisible by 21, that ends a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DrawInput {
    /// Number of the block.
    pub block: u32,
    /// Its time.
    pub time: Time,
    /// Number of the last hardfork in force while it was applied.
    pub hardfork: u8,
    /// The last block at which miners have precedence (864000; testnet 30).
    pub miner_voting_block: u32,
    /// Whether any account's vote for a witness exists, after the block's transactions.
    pub votes_exist: bool,
    /// Whether virtual times may differ between witnesses: there were votes since they were equal.
    pub virtual_times_differ: bool,
    /// The witnesses, after the block's transactions.
    pub counts: WitnessCounts,
}

/// Why a schedule is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Undecidable {
    /// Accounts vote, so that stake decides.
    Votes,
    /// Nobody votes any more, but virtual times still differ.
    VirtualTimes,
    /// The mining queue is not known.
    MiningQueue,
    /// Before hardfork 4, more than 19 witnesses that are not queued: their virtual times are not followed.
    ManyEarlyWitnesses,
}

/// Who is scheduled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Schedule {
    /// The list, shuffled: its entries get the slots in turn. Before hardfork 4 one may stand in it twice.
    Known(Vec<AccountName>),
    /// Only stake could tell.
    Unknown {
        /// Number of entries.
        size: u8,
        /// Whether they certainly differ.
        distinct: bool,
        /// Why it is not known.
        reason: Undecidable,
    },
}

/// What a drawing takes off the mining queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Dequeued {
    /// These witnesses: their queue number becomes 0, and the counter of queued miners goes down by their number.
    Known(Vec<AccountName>),
    /// Some part from its front that only stake could tell: queue and counter are unknown from here on.
    Unknown,
}

/// Result of a drawing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draw {
    /// Who is scheduled.
    pub schedule: Schedule,
    /// Who is no longer in the mining queue.
    pub dequeued: Dequeued,
}

/// Draws. `facts` gives all witnesses in any order; it is asked only where they matter, which spares a chain with votes
/// and thousands of witnesses a scan every round.
///
/// # Errors
/// What `facts` fails with.
pub fn draw<E>(input: &DrawInput, facts: impl FnOnce() -> Result<Vec<WitnessFact>, E>) -> Result<Draw, E> {
    let mut draw = if input.hardfork < 4 {
        early(input, &facts_by_name(facts)?)
    } else {
        modern(input, facts)?
    };
    if let Schedule::Known(list) = &mut draw.schedule {
        // hived schedules nobody at all, an empty name, when there is nobody to schedule.
        if list.is_empty() {
            list.push(AccountName::EMPTY);
        }
        shuffle(list, input.time);
    }
    Ok(draw)
}

fn facts_by_name<E>(facts: impl FnOnce() -> Result<Vec<WitnessFact>, E>) -> Result<Vec<WitnessFact>, E> {
    let mut facts = facts()?;
    facts.sort_unstable_by_key(|fact| fact.name);
    Ok(facts)
}

/// The mining queue from its front.
fn queue(facts: &[WitnessFact]) -> Vec<&WitnessFact> {
    let mut queue: Vec<_> = facts.iter().filter(|fact| fact.queue_number > 0).collect();
    queue.sort_unstable_by_key(|fact| fact.queue_number);
    queue
}

/// Before hardfork 4. `facts` are sorted by name.
fn early(input: &DrawInput, facts: &[WitnessFact]) -> Draw {
    const TOP: usize = 19;
    let after_mining_era = input.block > input.miner_voting_block;
    let votes_decide = input.counts.mining_counter == 0 || after_mining_era;

    let mut queue = queue(facts);
    let mut dequeued = Vec::new();
    if input.counts.mining_counter > u64::from(ROUND) && !queue.is_empty() {
        dequeued.push(queue.remove(0).name);
    }

    // Who was taken off just now is still no candidate for the top.
    let mut list = Vec::new();
    let mut reason = None;
    if votes_decide {
        let candidates = || facts.iter().filter(|fact| fact.queue_number == 0);
        let count = candidates().count();
        reason = match count {
            0 | 1 => None,
            _ if input.votes_exist => Some(Undecidable::Votes),
            _ if input.virtual_times_differ => Some(Undecidable::VirtualTimes),
            _ if count > TOP => Some(Undecidable::ManyEarlyWitnesses),
            _ => None,
        };
        list.extend(candidates().take(TOP).map(|fact| fact.name));
        list.extend(candidates().min_by_key(|fact| fact.index).map(|fact| fact.name));
    }
    for miner in queue {
        list.push(miner.name);
        if after_mining_era || list.len() >= MOST_SCHEDULED {
            break;
        }
    }
    let schedule = match reason {
        None => Schedule::Known(list),
        Some(reason) => Schedule::Unknown {
            size: size(list.len()),
            distinct: false,
            reason,
        },
    };
    Draw {
        schedule,
        dequeued: Dequeued::Known(dequeued),
    }
}

/// Since hardfork 4.
fn modern<E>(input: &DrawInput, facts: impl FnOnce() -> Result<Vec<WitnessFact>, E>) -> Result<Draw, E> {
    let counts = &input.counts;
    let mining = input.hardfork < 17;
    let only_enabled = input.hardfork >= 14;
    let eligible = if only_enabled {
        counts.enabled
    } else {
        counts.total
    };
    let unknown = |reason| Draw {
        schedule: Schedule::Unknown {
            size: size(eligible),
            distinct: true,
            reason,
        },
        dequeued: match mining && !(counts.queue_is_known && counts.queue_is_empty) {
            true => Dequeued::Unknown,
            false => Dequeued::Known(Vec::new()),
        },
    };
    if mining && !counts.queue_is_known {
        return Ok(unknown(Undecidable::MiningQueue));
    }
    if input.votes_exist && eligible > 1 {
        return Ok(unknown(Undecidable::Votes));
    }

    let facts = facts_by_name(facts)?;
    let is_eligible = |fact: &WitnessFact| fact.enabled || !only_enabled;
    let top = if mining { 19 } else { 20 };
    let mut list: Vec<_> = facts
        .iter()
        .filter(|fact| is_eligible(fact))
        .take(top)
        .map(|fact| fact.name)
        .collect();

    let mut dequeued = Vec::new();
    if mining {
        for miner in queue(&facts) {
            dequeued.push(miner.name);
            if is_eligible(miner) && !list.contains(&miner.name) {
                list.push(miner.name);
                break;
            }
        }
    }

    let mut rest: Vec<_> = facts
        .iter()
        .filter(|fact| is_eligible(fact) && !list.contains(&fact.name))
        .collect();
    if rest.len() > 1 && input.virtual_times_differ {
        let mut draw = unknown(Undecidable::VirtualTimes);
        // The queue does not depend on virtual times.
        draw.dequeued = Dequeued::Known(dequeued);
        return Ok(draw);
    }
    rest.sort_unstable_by_key(|fact| fact.index);
    let free = MOST_SCHEDULED.saturating_sub(list.len());
    list.extend(rest.iter().take(free).map(|fact| fact.name));
    Ok(Draw {
        schedule: Schedule::Known(list),
        dequeued: Dequeued::Known(dequeued),
    })
}

/// Entries of a schedule with so many candidates; at least one, which may be nobody.
fn size(candidates: usize) -> u8 {
    candidates.clamp(1, MOST_SCHEDULED) as u8
}
