//! `cairn state get`: the registers of one owner, decoded.

use anyhow::{Context, bail};
use cairn_chain::{AccountName, Authority};
use cairn_rules::registers::{
    AccountCore, ActiveAuthority, Comment, CommentId, DeclinedVotingRequest, Globals, JsonMetadata,
    OwnerAuthority, PostingAuthority, PostingJsonMetadata, PostingTimes, Record, RecoveryAccountChange,
    RecoveryRequest, Tables, Witness, WitnessActivity, WitnessUrl, WitnessVotes,
};
use cairn_state::Registers;
use serde_json::{Map, Value, json};

use crate::cli::StateGetArgs;
use crate::data_dir::DataDir;
use crate::exit::{CommandError, ExitCode};
use crate::output;
use crate::state_commands::proof;

/// The tables that can be asked by name, with what names an owner in each.
const TABLES: &str = "account NAME, witness NAME, comment AUTHOR/PERMLINK, global";

/// Prints the registers of one owner, or one register by its key.
///
/// # Errors
/// When there is no state, no such table (exit code 2), or no such owner.
pub fn execute(args: &StateGetArgs) -> Result<ExitCode, CommandError> {
    let data_dir = DataDir::new(&args.data_dir);
    let store = data_dir.read_state()?;
    if args.proof {
        return proof::print(&store, &data_dir.trie_file(), &keys(args)?, args.json);
    }
    let value = match (&args.key, args.table.as_deref()) {
        (Some(key), _) => {
            let bytes = key_bytes(key)?;
            let value = store.get(&bytes).map_err(anyhow::Error::new)?;
            let value = value.with_context(|| format!("there is no register with key {key}"))?;
            json!({ "key": key, "value": hex::encode(value) })
        }
        (None, table) => {
            let mut tables = Tables::new(Registers::for_reading(store));
            let owner = args.owner.as_deref();
            let fields = match (table, owner) {
                (Some("account"), Some(name)) => account(&mut tables, name)?,
                (Some("witness"), Some(name)) => witness(&mut tables, name)?,
                (Some("comment"), Some(comment_id)) => comment(&mut tables, comment_id)?,
                (Some("global"), _) => global(&mut tables)?,
                (table, owner) => return Err(no_table(table, owner)),
            };
            select(fields, args.field.as_deref())?
        }
    };
    if args.json {
        output::json_line(&value)?;
    } else {
        output::json_pretty(&value)?;
    }
    Ok(ExitCode::Done)
}

fn key_bytes(hex: &str) -> Result<Vec<u8>, CommandError> {
    hex::decode(hex)
        .context("--key is not hex")
        .map_err(CommandError::Usage)
}

/// The keys of what was asked for, each with the kind of its register.
fn keys(args: &StateGetArgs) -> Result<Vec<(&'static str, Vec<u8>)>, CommandError> {
    if let Some(key) = &args.key {
        return Ok(vec![("register", key_bytes(key)?)]);
    }
    let account = |text: &str| AccountName::new(text.as_bytes());
    Ok(match (args.table.as_deref(), args.owner.as_deref()) {
        (Some("account"), Some(name)) => keys_of_account(&account(name)),
        (Some("witness"), Some(name)) => keys_of_witness(&account(name)),
        (Some("comment"), Some(text)) => {
            let (author, permlink) = text
                .split_once('/')
                .context("a comment is named AUTHOR/PERMLINK")?;
            let author = account(author);
            vec![key_of::<Comment>(CommentId {
                author: &author,
                permlink: permlink.as_bytes(),
            })]
        }
        (Some("global"), _) => vec![key_of::<Globals>(())],
        (table, owner) => return Err(no_table(table, owner)),
    })
}

fn keys_of_account(name: &AccountName) -> Vec<(&'static str, Vec<u8>)> {
    vec![
        key_of::<AccountCore>(name),
        key_of::<OwnerAuthority>(name),
        key_of::<ActiveAuthority>(name),
        key_of::<PostingAuthority>(name),
        key_of::<JsonMetadata>(name),
        key_of::<PostingJsonMetadata>(name),
        key_of::<PostingTimes>(name),
        key_of::<WitnessVotes>(name),
        key_of::<RecoveryRequest>(name),
        key_of::<RecoveryAccountChange>(name),
        key_of::<DeclinedVotingRequest>(name),
    ]
}

fn keys_of_witness(name: &AccountName) -> Vec<(&'static str, Vec<u8>)> {
    vec![
        key_of::<Witness>(name),
        key_of::<WitnessUrl>(name),
        key_of::<WitnessActivity>(name),
    ]
}

/// The kind of a register and its key.
pub(super) fn key_of<R: Record>(owner: R::Owner<'_>) -> (&'static str, Vec<u8>) {
    let mut key = Vec::new();
    R::key(owner, &mut key);
    (R::NAME, key)
}

/// The kind of a register that can be asked for by name; `register` for all others.
pub(super) fn kind_of(key: &[u8]) -> &'static str {
    let name = key.get(1..17).map(AccountName::new);
    let named = name.map(|name| {
        let mut kinds = keys_of_account(&name);
        kinds.extend(keys_of_witness(&name));
        let permlink = key.get(17..).unwrap_or_default();
        kinds.push(key_of::<Comment>(CommentId {
            author: &name,
            permlink,
        }));
        kinds
    });
    let mut kinds = named.unwrap_or_default();
    kinds.push(key_of::<Globals>(()));
    let found = kinds.into_iter().find(|(_, other)| other == key);
    found.map_or("register", |(kind, _)| kind)
}

fn no_table(table: Option<&str>, owner: Option<&str>) -> CommandError {
    let found = format!("{} {}", table.unwrap_or(""), owner.unwrap_or(""));
    CommandError::usage(anyhow::anyhow!(
        "no registers are named `{}`; there are: {TABLES}",
        found.trim()
    ))
}

fn select(fields: Map<String, Value>, field: Option<&str>) -> anyhow::Result<Value> {
    let Some(field) = field else {
        return Ok(fields.into());
    };
    match fields.get(field) {
        Some(value) => Ok(json!({ field: value })),
        None => {
            let known: Vec<&str> = fields.keys().map(String::as_str).collect();
            bail!("no field {field}; there are: {}", known.join(", "))
        }
    }
}

fn account(tables: &mut Tables, text: &str) -> anyhow::Result<Map<String, Value>> {
    let name = AccountName::new(text.as_bytes());
    let core: AccountCore = tables
        .read(&name)?
        .with_context(|| format!("there is no account {text}"))?;
    let mut out = Map::new();
    let mut put = |key: &str, value: Value| out.insert(key.to_owned(), value);
    put("name", text.into());
    put(
        "owner",
        tables
            .read::<OwnerAuthority>(&name)?
            .map(|found| authority(&found.0))
            .into(),
    );
    put(
        "active",
        tables
            .read::<ActiveAuthority>(&name)?
            .map(|found| authority(&found.0))
            .into(),
    );
    put(
        "posting",
        tables
            .read::<PostingAuthority>(&name)?
            .map(|found| authority(&found.0))
            .into(),
    );
    put("memo_key", core.memo_key.to_string().into());
    put("recovery_account", core.recovery_account.to_string().into());
    put("proxy", core.proxy.to_string().into());
    put("can_vote", core.can_vote.into());
    put("mined", core.mined.into());
    put("created", core.created.to_string().into());
    put("last_owner_update", core.last_owner_update.0.into());
    put("previous_owner_update", core.previous_owner_update.0.into());
    put("last_account_recovery", core.last_account_recovery.0.into());
    put("claimed_accounts", core.claimed_accounts.into());
    put("governance_vote_expiration", core.governance_expiry.0.into());
    let metadata = tables
        .read::<JsonMetadata>(&name)?
        .map(|found| found.0)
        .unwrap_or_default();
    put("json_metadata", String::from_utf8_lossy(&metadata).into());
    let metadata = tables
        .read::<PostingJsonMetadata>(&name)?
        .map(|found| found.0)
        .unwrap_or_default();
    put("posting_json_metadata", String::from_utf8_lossy(&metadata).into());
    if let Some(times) = tables.read::<PostingTimes>(&name)? {
        put("last_root_post", times.last_root_post.to_string().into());
        put("last_post", times.last_post.to_string().into());
    }
    let votes = tables.read::<WitnessVotes>(&name)?;
    let votes: Vec<String> = votes
        .iter()
        .flat_map(|votes| votes.witnesses())
        .map(ToString::to_string)
        .collect();
    put("witness_votes", votes.into());
    if let Some(request) = tables.read::<RecoveryRequest>(&name)? {
        let value = json!({
            "expires": request.expires.to_string(),
            "new_owner_authority": authority(&request.new_owner_authority),
        });
        put("recovery_request", value);
    }
    if let Some(change) = tables.read::<RecoveryAccountChange>(&name)? {
        let value = json!({
            "new_recovery_account": change.new_recovery_account.to_string(),
            "effective": change.effective.to_string(),
        });
        put("recovery_account_change", value);
    }
    if let Some(request) = tables.read::<DeclinedVotingRequest>(&name)? {
        put("declined_voting_request", request.effective.to_string().into());
    }
    Ok(out)
}

fn witness(tables: &mut Tables, text: &str) -> anyhow::Result<Map<String, Value>> {
    let name = AccountName::new(text.as_bytes());
    let witness: Witness = tables
        .read(&name)?
        .with_context(|| format!("there is no witness {text}"))?;
    let url = tables
        .read::<WitnessUrl>(&name)?
        .map(|found| found.0)
        .unwrap_or_default();
    let mut out = Map::new();
    let mut put = |key: &str, value: Value| out.insert(key.to_owned(), value);
    put("name", text.into());
    put("signing_key", witness.signing_key.to_string().into());
    put("url", String::from_utf8_lossy(&url).into());
    put("created", witness.created.to_string().into());
    put("account_creation_fee", witness.account_creation_fee.into());
    put("maximum_block_size", witness.maximum_block_size.into());
    put("hbd_interest_rate", witness.interest_rate.into());
    put("account_subsidy_budget", witness.subsidy_budget.into());
    put("account_subsidy_decay", witness.subsidy_decay.into());
    if let Some(feed) = &witness.feed {
        put(
            "feed",
            json!({ "base": feed.base, "quote": feed.quote, "time": witness.feed_time.to_string() }),
        );
    }
    if let Some(activity) = tables.read::<WitnessActivity>(&name)? {
        put("last_block", activity.last_block.into());
        put("running_version", activity.running_version.to_string().into());
    }
    Ok(out)
}

fn comment(tables: &mut Tables, text: &str) -> anyhow::Result<Map<String, Value>> {
    let (author, permlink) = text
        .split_once('/')
        .context("a comment is named AUTHOR/PERMLINK")?;
    let name = AccountName::new(author.as_bytes());
    let id = CommentId {
        author: &name,
        permlink: permlink.as_bytes(),
    };
    let comment: Comment = tables
        .read(id)?
        .with_context(|| format!("there is no comment {text}"))?;
    let parent = comment.parent.map(|parent| {
        json!({ "author": parent.author.to_string(), "permlink": String::from_utf8_lossy(&parent.permlink) })
    });
    let mut out = Map::new();
    out.insert("author".into(), author.into());
    out.insert("permlink".into(), permlink.into());
    out.insert("parent".into(), parent.into());
    out.insert("depth".into(), comment.depth.into());
    out.insert("replies".into(), comment.replies.into());
    Ok(out)
}

fn global(tables: &mut Tables) -> anyhow::Result<Map<String, Value>> {
    let globals: Globals = tables.require(())?;
    let mut out = Map::new();
    out.insert("head_block_number".into(), globals.head_number.into());
    out.insert("head_block_id".into(), globals.head_id.to_string().into());
    out.insert("time".into(), globals.head_time.to_string().into());
    out.insert("hardfork".into(), globals.hardfork.into());
    out.insert("accounts".into(), globals.accounts.into());
    out.insert("witnesses".into(), globals.witnesses.into());
    Ok(out)
}

/// As `condenser_api` prints it.
fn authority(authority: &Authority) -> Value {
    let accounts: Vec<Value> = authority
        .account_auths
        .iter()
        .map(|(name, weight)| json!([name.to_string(), weight]))
        .collect();
    let keys: Vec<Value> = authority
        .key_auths
        .iter()
        .map(|(key, weight)| json!([key.to_string(), weight]))
        .collect();
    json!({ "weight_threshold": authority.weight_threshold, "account_auths": accounts, "key_auths": keys })
}
