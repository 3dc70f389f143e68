//! `/streams/data`: points of a stream.

use super::answer::{LONGEST_ANSWER, Refusal};
use super::request::Request;
use super::{Devices, Peer};
use crate::store::{Page, Point, StreamId};

/// The most points of one answer that are looked at: more do not fit it.
pub(super) const MOST_POINTS: i64 = 64;

impl Devices {
    /// A page of points, as much of it as fits an answer.
    pub(super) async fn read_points(
        &self,
        peer: &Peer,
        stream: StreamId,
        request: &Request,
        page: Page,
    ) -> Result<Vec<u8>, Refusal> {
        let resource = self.store.resource_of_stream(stream).await?;
        match (peer.resource, resource) {
            (Some(own), Some(resource)) if own == resource => {}
            (Some(_), Some(_)) => return Err(Refusal::AnothersResource),
            (Some(_), None) => return Err(Refusal::NotFound),
            (None, Some(resource)) => {
                self.check_key(resource, request).await?;
            }
            (None, None) => return Err(Refusal::Key),
        }
        let points = self.store.points(stream, page).await?;
        Ok(write_points(&points, page.from.is_some()))
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
