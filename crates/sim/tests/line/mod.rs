//! A native node, an emulated one and a native one in a line, as a scenario; the last is reached through the emulated one.

/// How nodes contend for the channel, unless it is said otherwise.
pub(crate) const CSMA: &str = "min_be = 5\nmax_be = 7\nmax_retries = 7";

/// The scenario, with what `mac` and `rest` say of its MAC and its traffic.
pub(crate) fn line(platform: &str, security: &str, mac: &str, rest: &str) -> String {
    format!(
        r#"
        duration = "60s"
        security = "{security}"
        [mac]
        {mac}
        [topology]
        kind = "list"
        [[node]]
        id = 1
        x = "40m"
        [[node]]
        id = 2
        x = "80m"
        kind = "emulated"
        platform = "{platform}"
        [[node]]
        id = 3
        x = "120m"
        {rest}"#
    )
}
