//! `/device-metrics`: when devices were heard, for Prometheus. `docs/metrics.md` says how it is set up.

use std::fmt::Write;
use std::sync::Arc;

use axum::Extension;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use sixlock_store::{DevicePart, HeardDevice, UserId};

use super::app::App;
use super::caller::Owner;
use super::failure::Failure;
use super::metrics::OPEN_METRICS;

/// The most devices of an answer: each makes a time series, of which whoever collects them has to keep an index.
const MOST_DEVICES: u32 = 10_000;
/// The most parts that are asked for.
const MOST_PARTS: u16 = 1_000;

/// Which devices.
#[derive(Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct PartQuery {
    /// Which of the parts, 1 to `of`. A device stays in its part for good
    #[serde(default = "one")]
    #[param(minimum = 1, maximum = 1000)]
    part: u16,
    /// Into how many parts the devices are divided, at most 1000; 1 without it
    #[serde(default = "one")]
    #[param(minimum = 1, maximum = 1000)]
    of: u16,
}

const fn one() -> u16 {
    1
}

/// When the devices of all users were heard, as OpenMetrics
///
/// `sixlock_device_heard_timestamp_seconds{user,device}`, in seconds since 1970, of those that were ever heard. An answer has at most 10000
/// devices, those known for longest; `sixlock_devices_left_out` says how many it left out. A client that wants these asks for parts.
#[utoipa::path(get, path = "/device-metrics", tag = "resources", params(PartQuery),
    responses((status = 200, body = String, content_type = "application/openmetrics-text; version=1.0.0; charset=utf-8")))]
pub(super) async fn all(
    State(app): State<Arc<App>>,
    query: Result<Query<PartQuery>, QueryRejection>,
) -> Result<Response, Failure> {
    show(&app, None, query).await
}

/// When the devices of a user were heard, as OpenMetrics
///
/// As `/device-metrics`, of this user alone.
#[utoipa::path(get, path = "/users/{user}/device-metrics", tag = "resources", params(PartQuery),
    responses((status = 200, body = String, content_type = "application/openmetrics-text; version=1.0.0; charset=utf-8")))]
pub(super) async fn of_user(
    State(app): State<Arc<App>>,
    Extension(Owner(owner)): Extension<Owner>,
    query: Result<Query<PartQuery>, QueryRejection>,
) -> Result<Response, Failure> {
    show(&app, Some(owner.id), query).await
}

async fn show(
    app: &App,
    owner: Option<UserId>,
    query: Result<Query<PartQuery>, QueryRejection>,
) -> Result<Response, Failure> {
    let part = part(&query?.0)?;
    let (devices, all) = app.store.heard_devices(owner, part, MOST_DEVICES).await?;
    let kind = HeaderValue::from_static(OPEN_METRICS);
    Ok(([(header::CONTENT_TYPE, kind)], text(&devices, all)).into_response())
}

fn part(&PartQuery { part, of }: &PartQuery) -> Result<DevicePart, Failure> {
    if !(1..=MOST_PARTS).contains(&of) {
        return Err(Failure::invalid(format!("of is not between 1 and {MOST_PARTS}")));
    }
    match part.checked_sub(1).filter(|part| *part < of) {
        Some(part) => Ok(DevicePart { part, of }),
        None => Err(Failure::invalid(format!("part is not between 1 and {of}, which is of"))),
    }
}

/// The series of `devices`, which are some of `all`.
fn text(devices: &[HeardDevice], all: i64) -> String {
    let mut text = String::from(
        "# HELP sixlock_device_heard_timestamp_seconds When the last accepted post with readings arrived.\n\
         # TYPE sixlock_device_heard_timestamp_seconds gauge\n\
         # UNIT sixlock_device_heard_timestamp_seconds seconds\n",
    );
    for HeardDevice { owner, label, heard } in devices {
        let Some(heard) = heard else { continue };
        let (owner, label) = (escaped(owner), escaped(label));
        let (seconds, ms) = (heard.div_euclid(1_000), heard.rem_euclid(1_000));
        let _ = writeln!(
            text,
            "sixlock_device_heard_timestamp_seconds{{user=\"{owner}\",device=\"{label}\"}} {seconds}.{ms:03}"
        );
    }
    let left_out = all - devices.len() as i64;
    let _ = write!(
        text,
        "# HELP sixlock_devices Devices that there are, also those never heard.\n\
         # TYPE sixlock_devices gauge\n\
         sixlock_devices {all}\n\
         # HELP sixlock_devices_left_out Devices that there was no space for.\n\
         # TYPE sixlock_devices_left_out gauge\n\
         sixlock_devices_left_out {left_out}\n\
         # EOF\n"
    );
    text
}

/// A label's value, as OpenMetrics has it.
fn escaped(value: &str) -> String {
    value.replace('\\', r"\\").replace('"', r#"\""#).replace('\n', r"\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_label_ends_its_line_or_value_early() {
        let device = |label: &str, heard| HeardDevice { owner: "ann".into(), label: label.into(), heard };
        let devices = [device(r#"a "b\"#, Some(1_700_000_000_007)), device("silent", None)];
        let text = text(&devices, 5);
        let samples: Vec<_> = text.lines().filter(|line| !line.starts_with('#')).collect();
        let heard = r#"sixlock_device_heard_timestamp_seconds{user="ann",device="a \"b\\"} 1700000000.007"#;
        assert_eq!(samples, [heard, "sixlock_devices 5", "sixlock_devices_left_out 3"]);
        assert!(text.ends_with("\n# EOF\n"), "{text}");
        assert_eq!(escaped("a\nb"), r"a\nb");
    }

    #[test]
    fn the_document_explains_each_of_them_and_no_other() {
        let (_, explained) =
            include_str!("../../../../docs/metrics.md").split_once("\n## When devices were heard\n").unwrap();
        let rows = explained.lines().filter_map(|line| {
            let mut cells = line.strip_prefix("| `")?.split(" | ");
            Some((cells.next()?.strip_suffix('`')?, cells.next()?))
        });
        let text = text(&[], 0);
        let told = text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' '));
        assert_eq!(rows.collect::<Vec<_>>(), told.collect::<Vec<_>>());
    }

    #[test]
    fn there_is_no_part_beyond_the_last() {
        for (query, expected) in [
            ((1, 1), Some((0, 1))),
            ((4, 4), Some((3, 4))),
            ((1_000, 1_000), Some((999, 1_000))),
            ((0, 1), None),
            ((2, 1), None),
            ((1, 0), None),
            ((1, 1_001), None),
        ] {
            let found = part(&PartQuery { part: query.0, of: query.1 }).ok();
            assert_eq!(found.map(|found| (found.part, found.of)), expected, "{query:?}");
        }
    }
}
