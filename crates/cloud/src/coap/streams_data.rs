//! `/streams/data`: points of a stream.

use super::Devices;
use super::answer::{Answer, LONGEST_ANSWER, Refusal};
use super::request::Request;
use crate::store::{LONGEST_PAGE, Page, Point, StreamId};

/// The most points of one answer that are looked at: more do not fit it.
const MOST_POINTS: i64 = 64;

impl Devices {
    /// A page of points, as much of it as fits an answer.
    pub(super) async fn read_points(&self, stream: StreamId, request: &Request) -> Result<Answer, Refusal> {
        let limit = request.number("limit")?.unwrap_or(MOST_POINTS);
        if !(1..=LONGEST_PAGE).contains(&limit) {
            return Err(Refusal::Malformed("limit is not between 1 and 10000"));
        }
        let page = Page {
            limit: limit.min(MOST_POINTS),
            from: request.number("from")?,
            until: request.number("until")?,
        };
        let points = self.store.points(stream, page).await?;
        Ok(Answer::json(write_points(&points, page.from.is_some())))
    }
}

/// As many of `points` as fit an answer, the first ones or the last ones.
fn write_points(points: &[Point], first: bool) -> Vec<u8> {
    let mut json: Vec<Vec<u8>> = points.iter().filter_map(|point| serde_json::to_vec(point).ok()).collect();
    if !first {
        json.reverse();
    }
    let mut length = 2;
    let fitting = json.iter().take_while(|point| {
        length += point.len() + 1;
        length <= LONGEST_ANSWER
    });
    let fitting = fitting.count();
    json.truncate(fitting);
    if !first {
        json.reverse();
    }
    [b"[", json.join(&b","[..]).as_slice(), b"]"].concat()
}
