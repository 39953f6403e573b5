use std::{
    fs,
    time::{Duration, SystemTime},
};

use libp2p::PeerId;
use proptest::prelude::*;

use super::{BanList, file, record::*};

const MINUTE: Duration = Duration::from_secs(60);
const DAY: Duration = Duration::from_secs(86_400);

#[test]
fn bans_end_and_the_longer_one_holds() {
    let bans = BanList::load(None);
    let peer = PeerId::random();
    assert_eq!(bans.get(&peer), None);
    assert!(!bans.ban(peer, MINUTE, "first").1);
    assert!(
        bans.ban(peer, Duration::from_secs(1), "second").1,
        "it held already"
    );
    assert_eq!(bans.get(&peer).unwrap().reason, "first");
    assert_eq!(bans.all().len(), 1);
    assert!(bans.unban(&peer) && !bans.unban(&peer));
    bans.ban(peer, Duration::ZERO, "over");
    assert_eq!(bans.get(&peer), None);
    assert!(bans.all().is_empty());
    bans.ban(peer, Duration::MAX, "for ever");
    assert!(bans.get(&peer).is_some());
}

#[test]
fn a_repeated_offence_costs_twice_as_much_until_it_is_forgotten() {
    let mut record = Record::default();
    let peer = PeerId::random();
    let mut now = SystemTime::now();
    let mut lengths = Vec::new();
    for _ in 0..12 {
        let entry = record.ban(peer, 10 * MINUTE, "", now);
        lengths.push(entry.length.as_secs() / 60);
        now = entry.until + MINUTE;
    }
    assert_eq!(
        lengths,
        [10, 20, 40, 80, 160, 320, 640, 1280, 1440, 1440, 1440, 1440]
    );
    // The same offence, reported twice.
    let first = record.ban(peer, MINUTE, "", now);
    let second = record.ban(peer, MINUTE, "", now + MINUTE);
    assert_eq!((second.until, second.offences), (first.until, first.offences));
    // A while of good behavior.
    now = second.until + FORGET_AFTER;
    let entry = record.ban(peer, MINUTE, "", now);
    assert_eq!((entry.length, entry.offences), (MINUTE, 1));
    // A long ban is not cut to a day.
    let other = PeerId::random();
    assert_eq!(record.ban(other, 3 * DAY, "", now).length, 3 * DAY);
}

#[test]
fn being_turned_away_is_no_offence() {
    let mut record = Record::default();
    let peer = PeerId::random();
    let now = SystemTime::now();
    record.turn_away(peer, 10 * MINUTE, "another chain", now);
    assert!(record.get(&peer).unwrap().holds(now));
    let entry = record.ban(peer, 20 * MINUTE, "a bad block", now);
    assert_eq!((entry.offences, entry.length), (1, 20 * MINUTE));
    // Nor does it make an offence forgotten.
    record.turn_away(peer, DAY, "another chain", now);
    assert_eq!(record.get(&peer).unwrap().offences, 1);
    let other = PeerId::random();
    record.turn_away(other, MINUTE, "another chain", now);
    record.sweep(now + 2 * MINUTE);
    assert!(record.get(&other).is_none() && record.get(&peer).is_some());
}

#[test]
fn the_list_has_a_limit_and_the_longest_bans_stay() {
    let mut record = Record::default();
    let now = SystemTime::now();
    let worst = PeerId::random();
    record.ban(worst, DAY, "", now);
    for _ in 0..MOST_ENTRIES + 1000 {
        record.ban(PeerId::random(), MINUTE, "", now);
    }
    assert!(record.len() <= MOST_ENTRIES && record.len() > MOST_ENTRIES / 2);
    assert!(record.get(&worst).is_some());
    record.sweep(now + DAY + FORGET_AFTER);
    assert_eq!(record.len(), 0);
}

#[test]
fn bans_survive_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bans.json");
    let list = || BanList::load(Some(path.clone()));
    let (peer, other, gone) = (PeerId::random(), PeerId::random(), PeerId::random());
    {
        let bans = list();
        bans.ban(peer, MINUTE, "sent \u{1b}[31m \"nonsense\"");
        bans.ban(gone, Duration::ZERO, "over");
        bans.turn_away(other, MINUTE, "another chain");
        bans.save();
    }
    let bans = list();
    let ban = bans.get(&peer).unwrap();
    assert_eq!((ban.reason.as_str(), ban.offences), ("sent [31m \"nonsense\"", 1));
    assert!(ban.remaining <= MINUTE && ban.remaining > MINUTE / 2);
    assert_eq!(bans.all().len(), 1, "{:?}", bans.all());
    // The offence whose ban is over is remembered.
    assert_eq!(bans.ban(gone, MINUTE, "again").0.offences, 2);
    assert!(bans.unban(&peer));
    bans.save();
    let bans = list();
    assert_eq!(bans.all().len(), 1);
    assert_eq!(bans.get(&gone).unwrap().offences, 2);
    assert_eq!(
        fs::read_dir(folder.path()).unwrap().count(),
        1,
        "nothing is left beside it"
    );
}

#[test]
fn a_damaged_file_is_kept_aside() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bans.json");
    for bytes in [
        &b"{ \"version\": 1, \"bans\": [ "[..],
        b"",
        b"\xff\xfe",
        b"{ \"version\": 9, \"bans\": [] }",
        b"{ \"version\": 1 }",
    ] {
        for entry in fs::read_dir(folder.path()).unwrap() {
            fs::remove_file(entry.unwrap().path()).unwrap();
        }
        fs::write(&path, bytes).unwrap();
        let bans = BanList::load(Some(path.clone()));
        assert!(bans.all().is_empty() && !path.exists());
        let kept = fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap();
        assert!(
            kept.file_name()
                .to_str()
                .unwrap()
                .starts_with("bans.json.damaged-")
        );
        assert_eq!(fs::read(kept.path()).unwrap(), bytes);
        bans.ban(PeerId::random(), MINUTE, "");
        bans.save();
        assert_eq!(BanList::load(Some(path.clone())).all().len(), 1);
    }
}

#[test]
fn a_file_that_cannot_be_written_is_tried_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("later").join("bans.json");
    let bans = BanList::load(Some(path.clone()));
    bans.ban(PeerId::random(), MINUTE, "");
    bans.save();
    assert_eq!(bans.all().len(), 1);
    fs::create_dir(path.parent().unwrap()).unwrap();
    bans.save();
    assert_eq!(BanList::load(Some(path)).all().len(), 1);
}

#[test]
fn entries_that_make_no_sense_are_left_out() {
    let now = SystemTime::now();
    let good = PeerId::random();
    let until = now.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs() + 60;
    let text = format!(
        r#"{{ "version": 1, "bans": [ 7, {{}}, {{ "peer": "nobody", "until": 1, "seconds": 1, "offences": 1, "reason": "" }},
        {{ "peer": "{good}", "until": {until}, "seconds": 60, "offences": 3, "reason": "x" }} ] }}"#
    );
    let (record, unusable) = file::parse(&text, now).unwrap();
    assert_eq!(unusable, 3);
    assert_eq!(record.get(&good).unwrap().offences, 3);
    // The clock ran ahead when the ban was spoken.
    let text = format!(
        r#"{{ "version": 1, "bans": [ {{ "peer": "{good}", "until": 9999999999, "seconds": 60, "offences": 1, "reason": "x" }} ] }}"#
    );
    let (record, _) = file::parse(&text, now).unwrap();
    let entry = record.get(&good).unwrap();
    assert!(entry.holds(now) && !entry.holds(now + 61 * MINUTE / 60));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read_or_refused(text: String) {
        let _ = file::parse(&text, SystemTime::now());
    }

    #[test]
    fn a_changed_list_is_read_or_refused(at in 0usize..220, with: u8) {
        let mut record = Record::default();
        let now = SystemTime::now();
        record.ban(PeerId::random(), MINUTE, "reason", now);
        let mut bytes = file::text(&mut record, now).into_bytes();
        let length = bytes.len();
        bytes[at % length] = with;
        let text = String::from_utf8_lossy(&bytes);
        let _ = file::parse(&text, now);
    }
}
