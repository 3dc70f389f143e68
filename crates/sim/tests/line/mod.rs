//! A native node, an emulated one and a native one in a line, as a scenario; the last is reached through the emulated one.

/// The scenario, with what `rest` says of its traffic.
pub(crate) fn line(platform: &str, security: &str, rest: &str) -> String {
    format!(
        r#"
        duration = "60s"
        security = "{security}"
        [mac]
        min_be = 5
        max_be = 7
        max_retries = 7
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
