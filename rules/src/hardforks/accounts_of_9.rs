//! The accounts of hardfork 9: those whose keys were stolen in July 2016.

/// Their names, in ascending order. Names that are not in the state are passed over.
#[rustfmt::skip]
pub(super) const ACCOUNTS_OF_9: [&str; 151] = [
    "aeico", "aenor", "aizensou", "albertogm", "alibaba", "alyssas", "amartinezque", "amazon",
    "animalrobot", "arsahk", "arwani-wawan", "auxon", "b0y2k", "binwah-de-rese", "bitcube",
    "blackjincrypto", "boatymcboatface", "boy", "bravenewcoin", "bryner", "btcturbo", "bu328281", "bue",
    "bue-witness", "bunny", "cheftony", "chhayll", "chitty", "chryspano", "citibank", "cmtzco",
    "coinbitgold", "coinfund", "complexring", "cyrano.witness3", "dahaz159", "dan", "dantheman",
    "daycrypter", "dragonslayer109", "dulila", "ebay", "elyaque", "estin", "expanse", "fanie-vanhoten",
    "felipemachado", "fex", "fishayley", "fminerten1", "gabbans", "gatoso", "gazm", "gottahaveit",
    "graavor", "gregm", "grumpymutt", "gtg", "hcf27", "hello", "hipster", "hsbc", "ibnu", "ihashfury",
    "ikigai", "jacor", "james1337", "jamie", "john-kimmel", "jpmorgan", "justiciar", "kaptainkrayola",
    "karen13", "kevinwong", "kingofchaos", "lighthil", "linouxis9", "loewan", "luiz-marchi", "lux",
    "marcelhattingh", "mathiasbaer", "mauricemikkers", "mexbit", "mikemiziner", "mldorton", "mynameisbrian",
    "ned", "ned-scott", "news", "nicolaswsk", "norbu", "nuno-nutcrusherz", "omarb", "omarbitcoin",
    "opengas", "ossama-benjohn", "owdy", "ozmaster", "ozzy-vega", "pal", "penambang", "pierregi", "pwlaslo",
    "qamarpinkpanda", "recursive", "reddit2steem", "rimantas", "rok-sivante", "rseixas", "samuel-stone",
    "samupaha", "schro", "sebastien", "signalandnoise", "simoneighties", "slocum", "softbank", "sonzweil",
    "spartako", "stan", "steem-id", "steemit1", "steemitblog", "steempower", "steemychicken1",
    "str11ngfello", "streemian", "streetstyle", "summon", "teatree", "techemist", "the-alien",
    "thecryptodrive", "thegoodguy", "tonykent", "top10", "trevonjb", "troller", "trung81", "ukon", "val",
    "vippero", "walmart", "windsok", "wingz", "world", "worldfamous", "yan-kovalenko", "zebbra2014",
    "zer0sum",
];
