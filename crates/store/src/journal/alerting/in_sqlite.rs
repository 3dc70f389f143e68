//! Rules in the database.

use std::collections::{BTreeMap, HashMap, VecDeque, btree_map, hash_map};
use std::sync::Arc;

use rusqlite::Connection;
use sixlock_ingest::Value;
use tokio::sync::Notify;

use super::alert_rows::{AlertRows, Cause};
use super::judge::{Decision, Judged, Seen};
use super::silence::Rhythm;
use crate::conditions::{Condition, ConditionRow, text};
use crate::error::Error;
use crate::ids::{ResourceId, StreamId};

/// Streams and resources whose rules are remembered; when there are more, remembering begins anew.
const REMEMBERED: usize = 65_536;
/// The most alerts of one rule that one commit opens. Of one that wavers more than that, the newest are kept, and the messages of the others
/// are counted.
const ALERTS_PER_COMMIT: usize = 16;
/// How many rules the clock decides in one commit.
const RULES_PER_LOOK: i64 = 256;

/// A point that was stored.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Accepted {
    pub(crate) stream: StreamId,
    /// The resource that posted it; `None` if it was computed.
    pub(crate) resource: Option<ResourceId>,
    /// Its time.
    pub(crate) time: i64,
    /// Its value; for a truth value, the number that stands for it.
    pub(crate) value: Value,
}

/// What readings a rule watches, and for what.
#[derive(Debug)]
struct Watch {
    rule: i64,
    condition: Condition,
}

/// What the journal knows of rules.
pub(crate) struct Alerting {
    of_streams: HashMap<StreamId, Vec<Arc<Watch>>>,
    /// Those that watch a whole resource.
    of_resources: HashMap<ResourceId, Vec<Arc<Watch>>>,
    /// Which version of the rules that is.
    version: Option<i64>,
    /// Whether there are any at all.
    has_rules: bool,
    /// Tells that there is something in the outbox.
    outbox: Arc<Notify>,
    /// Whether the transaction that is being made put something there.
    has_told: bool,
}

/// What becomes of one rule in a commit.
struct Progress {
    watch: Arc<Watch>,
    before: RuleState,
    judged: Judged,
    rhythm: Rhythm,
    decisions: VecDeque<(Decision, Cause)>,
    /// How many were left out of them, because newer ones came.
    left_out: usize,
}

/// What the database has of a rule beside what its owner said.
struct RuleState {
    judged: Judged,
    alert: Option<i64>,
    rhythm: Rhythm,
    due: Option<i64>,
}

impl Alerting {
    /// Remembers nothing yet; `outbox` is told when there is something in it.
    pub(crate) fn new(outbox: Arc<Notify>) -> Self {
        Self {
            of_streams: HashMap::new(),
            of_resources: HashMap::new(),
            version: None,
            has_rules: false,
            outbox,
            has_told: false,
        }
    }

    /// Forgets what others have changed; to be called in each transaction. As long as nobody else has written, this asks nothing of the
    /// database.
    pub(crate) fn begin(&mut self, connection: &Connection, others_wrote: bool) -> rusqlite::Result<()> {
        self.has_told = false;
        if !others_wrote && self.version.is_some() {
            return Ok(());
        }
        let sql = "SELECT version, EXISTS (SELECT 1 FROM rules) FROM rules_version";
        let (version, has_rules) =
            connection.prepare_cached(sql)?.query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        if self.version != Some(version) {
            self.of_streams.clear();
            self.of_resources.clear();
            (self.version, self.has_rules) = (Some(version), has_rules);
        }
        Ok(())
    }

    /// The transaction was not made.
    pub(crate) fn discard(&mut self) {
        self.version = None;
    }

    /// The transaction was made: tells of what it put into the outbox.
    pub(crate) fn keep(&mut self) {
        if std::mem::take(&mut self.has_told) {
            self.outbox.notify_one();
        }
    }

    /// Whether points matter at all.
    pub(crate) fn has_rules(&self) -> bool {
        self.has_rules
    }

    /// Has all rules judge these points, in their order.
    pub(crate) fn judge(
        &mut self,
        connection: &Connection,
        accepted: &[Accepted],
        now: i64,
    ) -> Result<(), Error> {
        let mut progress: BTreeMap<i64, Progress> = BTreeMap::new();
        for accepted in accepted {
            for watch in self.watches(connection, accepted)? {
                let rule = match progress.entry(watch.rule) {
                    btree_map::Entry::Occupied(rule) => rule.into_mut(),
                    btree_map::Entry::Vacant(rule) => rule.insert(Progress::begin(connection, watch)?),
                };
                rule.take((accepted.time, &accepted.value), now);
            }
        }
        let mut rows = AlertRows::new(connection, now);
        for (rule, progress) in progress {
            progress.write(connection, &mut rows, rule, now)?;
        }
        self.has_told |= rows.finish()?;
        Ok(())
    }

    /// The rules that watch this point.
    fn watches(&mut self, connection: &Connection, accepted: &Accepted) -> Result<Vec<Arc<Watch>>, Error> {
        if self.of_streams.len() + self.of_resources.len() >= REMEMBERED {
            self.of_streams.clear();
            self.of_resources.clear();
        }
        let Accepted { stream, resource, .. } = *accepted;
        let find_those = |condition, id| find(connection, condition, id);
        let mut watches = match self.of_streams.entry(stream) {
            hash_map::Entry::Occupied(known) => known.get().clone(),
            hash_map::Entry::Vacant(new) => new.insert(find_those("stream = ?1", stream.0)?).clone(),
        };
        let Some(resource) = resource else { return Ok(watches) };
        let of_resource = match self.of_resources.entry(resource) {
            hash_map::Entry::Occupied(known) => known.into_mut(),
            hash_map::Entry::Vacant(new) => {
                new.insert(find_those("resource = ?1 AND stream IS NULL", resource.0)?)
            }
        };
        watches.extend(of_resource.iter().cloned());
        Ok(watches)
    }

    /// Lets silence go on at `now` where it stood when the clock was looked at last, for nobody was heard while there was no cloud.
    pub(crate) fn begin_clock(connection: &Connection, now: i64) -> rusqlite::Result<()> {
        let looked: i64 = connection.query_row("SELECT looked FROM alert_clock", [], |row| row.get(0))?;
        let sql = "UPDATE rules SET due = CASE WHEN due + ?2 < ?1 + wait THEN due + ?2 ELSE ?1 + wait END
                   WHERE kind = 'silence' AND due IS NOT NULL";
        connection.execute(sql, [now, now.saturating_sub(looked).max(0)])?;
        note_look(connection, now)
    }

    /// Opens the alerts that time alone opens. What is left for the next look is due.
    pub(crate) fn look_at_clock(&mut self, connection: &Connection, now: i64) -> Result<(), Error> {
        // Those that watch a frozen stream rest.
        let sql = "UPDATE rules SET due = NULL WHERE due <= ?1
                   AND stream IN (SELECT id FROM streams WHERE frozen IS NOT NULL)";
        connection.prepare_cached(sql)?.execute([now])?;
        let sql =
            "SELECT id, seen_value, seen_text, kind, alert FROM rules WHERE due <= ?1 ORDER BY due LIMIT ?2";
        let mut due = connection.prepare_cached(sql)?;
        let due = due
            .query_map((now, RULES_PER_LOOK), |row| {
                Ok((row.get(0)?, seen_value(row.get(1)?, row.get(2)?), row.get(3)?, row.get(4)?))
            })?
            .collect::<rusqlite::Result<Vec<(i64, Option<Value>, String, Option<i64>)>>>()?;
        let mut rows = AlertRows::new(connection, now);
        for (rule, value, kind, alert) in due {
            let value = value.filter(|_| kind != "silence");
            let alert = match alert {
                Some(alert) => alert,
                None => rows.open(rule, &Cause { time: now, value })?,
            };
            let sql = "UPDATE rules SET alert = ?2, due = NULL WHERE id = ?1";
            connection.prepare_cached(sql)?.execute((rule, alert))?;
        }
        self.has_told |= rows.finish()?;
        Ok(note_look(connection, now)?)
    }
}

fn note_look(connection: &Connection, now: i64) -> rusqlite::Result<()> {
    connection.execute("UPDATE alert_clock SET looked = ?1", [now]).map(drop)
}

fn find(connection: &Connection, condition: &str, id: i64) -> Result<Vec<Arc<Watch>>, Error> {
    let sql = format!(
        "SELECT rules.id, {} FROM rules WHERE {condition} AND NOT paused ORDER BY rules.id",
        Condition::COLUMNS
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query([id])?;
    let mut watches = Vec::new();
    while let Some(row) = rows.next()? {
        let condition = Condition::of_row(ConditionRow {
            kind: row.get(1)?,
            operator: row.get(2)?,
            operand: row.get(3)?,
            hysteresis: row.get(4)?,
            hold: row.get(5)?,
            periods: row.get(6)?,
            pause: row.get(7)?,
            operand_type: row.get(8)?,
            operand_text: row.get(9)?,
        });
        // One that another version made, and this one does not know, decides nothing.
        if let Some(condition) = condition {
            watches.push(Arc::new(Watch { rule: row.get(0)?, condition }));
        }
    }
    Ok(watches)
}

/// The value of the newest reading that was judged, as a rule's row has it.
fn seen_value(number: Option<f64>, text: Option<String>) -> Option<Value> {
    number.map(Value::Number).or(text.map(Value::Text))
}

impl RuleState {
    fn read(connection: &Connection, rule: i64) -> rusqlite::Result<Self> {
        let sql =
            "SELECT seen_time, seen_value, seen_text, met_since, alert, heard, intervals, due FROM rules
                   WHERE id = ?1";
        connection.prepare_cached(sql)?.query_row([rule], |row| {
            let time: Option<i64> = row.get(0)?;
            let seen =
                time.zip(seen_value(row.get(1)?, row.get(2)?)).map(|(time, value)| Seen { time, value });
            let alert: Option<i64> = row.get(4)?;
            let judged = Judged { seen, met_since: row.get(3)?, is_open: alert.is_some() };
            let rhythm = Rhythm::read(row.get(5)?, row.get_ref(6)?.as_blob()?);
            Ok(Self { judged, alert, rhythm, due: row.get(7)? })
        })
    }
}

impl Progress {
    fn begin(connection: &Connection, watch: Arc<Watch>) -> Result<Self, Error> {
        let before = RuleState::read(connection, watch.rule)?;
        let (judged, rhythm) = (before.judged.clone(), before.rhythm.clone());
        Ok(Self { watch, before, judged, rhythm, decisions: VecDeque::new(), left_out: 0 })
    }

    fn take(&mut self, (time, value): (i64, &Value), now: i64) {
        let cause = |time| Cause { time, value: Some(value.clone()) };
        if !matches!(self.watch.condition, Condition::Silence { .. }) {
            // A clock that is ahead blinds a rule to nothing that comes later.
            let decision = self.judged.reading(&self.watch.condition, time.min(now), value);
            if let Some(decision) = decision {
                self.decide(decision, cause(time));
            }
            return;
        }
        // However late a reading is, its source is not silent.
        self.rhythm.hear(now);
        if std::mem::take(&mut self.judged.is_open) {
            self.decide(Decision::Cleared, cause(now));
        }
    }

    /// Keeps the newest decisions.
    fn decide(&mut self, decision: Decision, cause: Cause) {
        self.decisions.push_back((decision, cause));
        // Each is opened and then cleared; before them the alert may be cleared that was there.
        let first = usize::from(self.decisions.front().is_some_and(|(first, _)| *first == Decision::Cleared));
        if self.decisions.len() - first > 2 * ALERTS_PER_COMMIT {
            self.decisions.drain(first..first + 2);
            self.left_out += 2;
        }
    }

    fn write(
        mut self,
        connection: &Connection,
        rows: &mut AlertRows<'_>,
        rule: i64,
        now: i64,
    ) -> Result<(), Error> {
        let mut alert = self.before.alert;
        if self.left_out > 0 {
            rows.leave_out(rule, self.left_out as i64)?;
        }
        for (decision, cause) in std::mem::take(&mut self.decisions) {
            match (decision, alert) {
                (Decision::Opened, None) => alert = Some(rows.open(rule, &cause)?),
                (Decision::Cleared, Some(open)) => {
                    rows.clear(rule, open, &cause)?;
                    alert = None;
                }
                (Decision::Opened, Some(_)) | (Decision::Cleared, None) => {}
            }
        }
        let wait = self.rhythm.patience(&self.watch.condition);
        let due = match self.watch.condition {
            Condition::Silence { .. } => wait.map(|wait| now.saturating_add(wait)),
            Condition::Threshold { hold_s, .. } if alert.is_none() && self.judged.met_since.is_some() => {
                let is_same = self.judged.met_since == self.before.judged.met_since;
                let since = self.before.due.filter(|_| is_same);
                since.or(Some(now.saturating_add(hold_s.saturating_mul(1_000))))
            }
            Condition::Threshold { .. } | Condition::Change { .. } => None,
        };
        let sql = "UPDATE rules SET seen_time = ?2, seen_value = ?3, met_since = ?4, alert = ?5, heard = ?6, intervals = ?7,
                   wait = ?8, due = ?9, seen_text = ?10 WHERE id = ?1";
        let Judged { seen, met_since, .. } = &self.judged;
        let time = seen.as_ref().map(|seen| seen.time);
        let number = seen.as_ref().and_then(|seen| seen.value.number());
        let text = seen.as_ref().and_then(|seen| text(&seen.value));
        let (heard, intervals) = (self.rhythm.heard, self.rhythm.written());
        connection
            .prepare_cached(sql)?
            .execute((rule, time, number, met_since, alert, heard, intervals, wait, due, text))?;
        Ok(())
    }
}
