//! What the shim recorded. `crash-shim/shim.c` describes the format.

/// A change of a file or folder, or a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation<'a> {
    /// A process started.
    Started,
    /// The process killed itself.
    Killed,
    /// An empty file was made.
    Create {
        /// Under the recorded folder, as all paths here.
        path: &'a str,
        /// Names the file from now on; a later file may have the same number when this one is gone.
        inode: u64,
    },
    /// Bytes were written.
    Write {
        /// The file.
        inode: u64,
        /// Where.
        offset: u64,
        /// What.
        data: &'a [u8],
    },
    /// The length was set.
    Length {
        /// The file.
        inode: u64,
        /// In bytes.
        length: u64,
    },
    /// A file was synced.
    Sync {
        /// The file.
        inode: u64,
    },
    /// A folder was synced.
    SyncFolder {
        /// The folder; empty for the recorded one.
        path: &'a str,
    },
    /// A file or folder got another name; a file that had this name lost it.
    Rename {
        /// Before.
        from: &'a str,
        /// After.
        to: &'a str,
    },
    /// A file got one more name.
    Link {
        /// A name that it has.
        from: &'a str,
        /// The new one.
        to: &'a str,
    },
    /// A file lost a name.
    Unlink {
        /// The name.
        path: &'a str,
    },
    /// A folder was made.
    MakeFolder {
        /// Its name.
        path: &'a str,
    },
    /// An empty folder was removed.
    RemoveFolder {
        /// Its name.
        path: &'a str,
    },
}

impl Operation<'_> {
    /// Whether it changes names, and not what is in a file.
    #[must_use]
    pub fn changes_names(&self) -> bool {
        matches!(
            self,
            Self::Create { .. }
                | Self::Rename { .. }
                | Self::Link { .. }
                | Self::Unlink { .. }
                | Self::MakeFolder { .. }
                | Self::RemoveFolder { .. }
        )
    }

    /// Whether it makes something durable.
    #[must_use]
    pub fn is_sync(&self) -> bool {
        matches!(self, Self::Sync { .. } | Self::SyncFolder { .. })
    }
}

/// The operations of a journal, in order.
///
/// # Panics
/// When the journal is damaged, or holds something that the shim could not record: then nothing can be concluded.
#[must_use]
pub fn parse(journal: &[u8]) -> Vec<Operation<'_>> {
    let mut rest = Fields(journal);
    let mut operations = Vec::new();
    while !rest.0.is_empty() {
        let mut fields = Fields(rest.bytes());
        operations.push(operation(&mut fields));
        assert!(fields.0.is_empty(), "a record is longer than its kind");
    }
    operations
}

fn operation<'a>(fields: &mut Fields<'a>) -> Operation<'a> {
    match fields.take(1)[0] {
        b'P' => Operation::Started,
        b'K' => Operation::Killed,
        b'C' => Operation::Create {
            path: fields.text(),
            inode: fields.number(),
        },
        b'W' => Operation::Write {
            inode: fields.number(),
            offset: fields.number(),
            data: fields.bytes(),
        },
        b'T' => Operation::Length {
            inode: fields.number(),
            length: fields.number(),
        },
        b'S' => Operation::Sync {
            inode: fields.number(),
        },
        b'G' => Operation::SyncFolder { path: fields.text() },
        b'R' => Operation::Rename {
            from: fields.text(),
            to: fields.text(),
        },
        b'L' => Operation::Link {
            from: fields.text(),
            to: fields.text(),
        },
        b'U' => Operation::Unlink { path: fields.text() },
        b'M' => Operation::MakeFolder { path: fields.text() },
        b'D' => Operation::RemoveFolder { path: fields.text() },
        b'X' => panic!(
            "the process changes files in a way that is not recorded: {}",
            fields.text()
        ),
        other => panic!("a record of the unknown kind {other}"),
    }
}

struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn take(&mut self, length: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at_checked(length).expect("the journal is whole");
        self.0 = rest;
        taken
    }

    fn bytes(&mut self) -> &'a [u8] {
        let length = u32::from_le_bytes(self.take(4).try_into().expect("4 bytes"));
        self.take(length as usize)
    }

    fn number(&mut self) -> u64 {
        u64::from_le_bytes(self.take(8).try_into().expect("8 bytes"))
    }

    fn text(&mut self) -> &'a str {
        std::str::from_utf8(self.bytes()).expect("Cairn's names are UTF-8")
    }
}
