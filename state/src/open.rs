//! Opening a store, so that a mistake costs nothing.
//!
//! RocksDB changes a directory as soon as it opens it for writing: it replays and rotates its log and rewrites its
//! manifest. So a directory is looked at first, read-only: whether there is a store, of which chain and of which
//! format version. Only a store that fits, an empty directory or a missing one is opened for writing.

use std::fs;
use std::io;
use std::path::{Path as FilePath, PathBuf};

use rocksdb::{DB, DEFAULT_COLUMN_FAMILY_NAME, IteratorMode};

use crate::error::{Activity, StateError};
use crate::metadata::{self, Decoded, Metadata, MetadataError};
use crate::options::StoreOptions;
use crate::read_only;
use crate::tuning::{self, LOCAL, REGISTERS};

/// Opens or creates a store for writing.
pub(crate) fn for_writing(dir: &FilePath, options: &StoreOptions) -> Result<(DB, Metadata), StateError> {
    if has_database(dir)? {
        let glance = read_only::steadily(dir, || DB::open_for_read_only(&tuning::read_only(), dir, false));
        // Files that never stand still are another process's work, which is what the lock would say.
        let glance = glance.map_err(|error| match error {
            StateError::Changing { dir } => StateError::Locked { dir },
            other => other,
        })?;
        match read_metadata(&glance, dir)? {
            Some(metadata) => check_chain(dir, &metadata, &options.chain)?,
            None => check_unused(&glance, dir)?,
        }
    } else {
        check_vacant(dir)?;
    }
    check_writable(dir)?;

    let db = DB::open_cf_descriptors(&tuning::database(options), dir, tuning::families(options))
        .map_err(|source| StateError::database(dir, Activity::Open, source))?;
    let metadata = match read_metadata(&db, dir)? {
        Some(metadata) => metadata,
        None => begin(&db, dir, options)?,
    };
    check_chain(dir, &metadata, &options.chain)?;
    Ok((db, metadata))
}

/// Opens a store for reading, beside a writer or not.
pub(crate) fn for_reading(dir: &FilePath) -> Result<(DB, Metadata), StateError> {
    if !has_database(dir)? {
        return Err(StateError::Missing {
            dir: dir.to_path_buf(),
        });
    }
    if is_half_made(dir) {
        return Err(StateError::Missing {
            dir: dir.to_path_buf(),
        });
    }
    let db = read_only::steadily(dir, || {
        DB::open_cf_descriptors_read_only(&tuning::read_only(), dir, tuning::read_only_families(), false)
    })?;
    match read_metadata(&db, dir)? {
        Some(metadata) => Ok((db, metadata)),
        // Its creation was interrupted, or is under way just now.
        None if is_empty(&db, dir)? => Err(StateError::Missing {
            dir: dir.to_path_buf(),
        }),
        None => Err(StateError::CorruptMetadata {
            dir: dir.to_path_buf(),
            source: MetadataError::Missing,
        }),
    }
}

/// Whether the creation of a store was interrupted before all of its column families were there: it has never held
/// anything. A list that cannot be read is for opening to complain about.
fn is_half_made(dir: &FilePath) -> bool {
    let families = DB::list_cf(&tuning::read_only(), dir).unwrap_or_default();
    let ours = [DEFAULT_COLUMN_FAMILY_NAME, REGISTERS, LOCAL];
    !families.is_empty()
        && families.len() < ours.len()
        && families.iter().all(|name| ours.contains(&name.as_str()))
}

/// Whether RocksDB has finished creating a database here: `CURRENT` is the last file that it makes.
fn has_database(dir: &FilePath) -> Result<bool, StateError> {
    match fs::metadata(dir.join("CURRENT")) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(source) => Err(StateError::Unwritable {
            dir: dir.to_path_buf(),
            source,
        }),
    }
}

/// Refuses a directory with files that are not RocksDB's. Its own may be there: creating a store may have been
/// interrupted. Tables and write-ahead logs come after `CURRENT`: without it they are a state that has lost it, of which
/// RocksDB would make an empty one.
fn check_vacant(dir: &FilePath) -> Result<(), StateError> {
    let unwritable = |source| StateError::Unwritable {
        dir: dir.to_path_buf(),
        source,
    };
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(source) => return Err(unwritable(source)),
    };
    for entry in entries {
        let name = entry.map_err(unwritable)?.file_name();
        let known = name.to_str().is_some_and(|name| {
            matches!(name, "LOCK" | "IDENTITY" | "lost+found")
                || ["LOG", "MANIFEST-", "OPTIONS-"]
                    .iter()
                    .any(|start| name.starts_with(start))
                || name.ends_with(".dbtmp")
        });
        if !known {
            return Err(StateError::NotAStore {
                dir: dir.to_path_buf(),
                found: PathBuf::from(name),
            });
        }
    }
    Ok(())
}

/// Refuses a database without metadata that cannot be one whose creation was interrupted: with entries, or with
/// column families that are not a store's.
fn check_unused(glance: &DB, dir: &FilePath) -> Result<(), StateError> {
    let failed = |source| StateError::database(dir, Activity::Open, source);
    let families = DB::list_cf(&tuning::read_only(), dir).map_err(failed)?;
    let known = |name: &String| [DEFAULT_COLUMN_FAMILY_NAME, REGISTERS, LOCAL].contains(&name.as_str());
    let first = glance
        .iterator(IteratorMode::Start)
        .next()
        .transpose()
        .map_err(failed)?;
    if first.is_some() || !families.iter().all(known) {
        return Err(StateError::CorruptMetadata {
            dir: dir.to_path_buf(),
            source: MetadataError::Missing,
        });
    }
    Ok(())
}

/// Creates the directory and opens the lock file in it as RocksDB will, for the operating system's own error.
fn check_writable(dir: &FilePath) -> Result<(), StateError> {
    fs::create_dir_all(dir)
        .and_then(|()| {
            fs::OpenOptions::new()
                .write(true)
                .create(true)
                .truncate(false)
                .open(dir.join("LOCK"))
        })
        .map(|_| ())
        .map_err(|source| StateError::Unwritable {
            dir: dir.to_path_buf(),
            source,
        })
}

/// Writes the metadata record of a new store.
fn begin(db: &DB, dir: &FilePath, options: &StoreOptions) -> Result<Metadata, StateError> {
    if !is_empty(db, dir)? {
        return Err(StateError::CorruptMetadata {
            dir: dir.to_path_buf(),
            source: MetadataError::Missing,
        });
    }
    let metadata = Metadata::new(options.chain);
    db.put_opt(metadata::KEY, metadata.encode(), &tuning::synced())
        .map_err(|source| StateError::database(dir, Activity::Commit, source))?;
    Ok(metadata)
}

/// Whether neither registers nor the local index hold anything.
fn is_empty(db: &DB, dir: &FilePath) -> Result<bool, StateError> {
    for name in [REGISTERS, LOCAL] {
        let family = db
            .cf_handle(name)
            .expect("every column family is opened with the database");
        let first = db.iterator_cf(family, IteratorMode::Start).next().transpose();
        if first
            .map_err(|source| StateError::database(dir, Activity::Read, source))?
            .is_some()
        {
            return Ok(false);
        }
    }
    Ok(true)
}

fn read_metadata(db: &DB, dir: &FilePath) -> Result<Option<Metadata>, StateError> {
    let stored = db
        .get_pinned(metadata::KEY)
        .map_err(|source| StateError::database(dir, Activity::Read, source))?;
    let Some(stored) = stored else { return Ok(None) };
    match Metadata::decode(&stored) {
        Ok(Decoded::Known(metadata)) => Ok(Some(metadata)),
        Ok(Decoded::Newer(found)) => Err(StateError::NewerFormat {
            dir: dir.to_path_buf(),
            found,
        }),
        Err(source) => Err(StateError::CorruptMetadata {
            dir: dir.to_path_buf(),
            source,
        }),
    }
}

/// Refuses the store of another chain.
pub(crate) fn check_chain(
    dir: &FilePath,
    metadata: &Metadata,
    expected: &[u8; 32],
) -> Result<(), StateError> {
    if metadata.chain == *expected {
        return Ok(());
    }
    Err(StateError::OtherChain {
        dir: dir.to_path_buf(),
        expected: *expected,
        found: metadata.chain,
    })
}
