//! The queue in front of a journal. An append is answered after the commit that holds it, never before.
//!
//! The writer does not wait for a batch to fill: what arrives during one commit makes the next batch, so a lone reading is
//! stored at once and a flood shares its commits.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use sixlock_telemetry::{At, Clock, Event, Events};
use tokio::sync::oneshot;

use super::append::{Append, POINTS_PER_POST};
use super::commit::{ClockLook, Commit, Journal, Upkeep};
use crate::changes::{Announcer, Changes};
use crate::error::Error;
use crate::left_out::Stored;

/// The most points of one batch.
const BATCH: usize = 1_024;
/// Appends waiting for the writer. Beyond them, posts are refused as busy.
const WAITING: usize = 4_096;
/// How long nothing is to arrive before a journal does what it has put off.
const IDLE: Duration = Duration::from_secs(1);

/// How long a journal that has put nothing off rests: time may have made something due.
const REST: Duration = Duration::from_secs(60);

type Answer = oneshot::Sender<Result<Stored, Error>>;
/// The answer to a look at the clock, and which look it is.
type AskedLook = (ClockLook, oneshot::Sender<Result<(), Error>>);

enum Task {
    Append(Append, Answer),
    /// There may be something to do for the journal.
    KeepUp,
    Close,
}

/// The way to the writer. Clones share it.
#[derive(Clone)]
pub struct Queue {
    tasks: SyncSender<Task>,
    /// Looks at the clock come another way, so that alerts do not wait until there are fewer posts.
    clock_looks: SyncSender<AskedLook>,
    events: Events,
}

/// The writer, to be waited for.
pub struct Writer(oneshot::Receiver<()>);

impl Writer {
    /// Returns when all that was handed to [`Queue::append`] is committed, after [`Queue::close`] or when the last clone of
    /// the queue was dropped.
    pub async fn ended(self) -> Result<(), Error> {
        self.0.await.map_err(|_| Error::Died("writer of the database"))
    }
}

impl Queue {
    /// Starts the writer of `journal`, a thread. It tells `events` of commits, and the feed of what is new.
    pub fn start<J: Journal>(
        mut journal: J,
        clock: Clock,
        events: Events,
    ) -> Result<(Self, Writer, Changes), Error> {
        let (announcer, changes) = Announcer::new(journal.end()?);
        let (tasks, waiting) = sync_channel(WAITING);
        let (tell, ended) = oneshot::channel();
        let (clock_looks, clock_asked) = sync_channel(1);
        let queue = Self { tasks, clock_looks, events: events.clone() };
        let mut appending =
            Appending { journal, clock, clock_asked, events, announcer, commit: Commit::default() };
        let run = move || {
            appending.run(&waiting);
            // Nobody may be waiting for it.
            let _ = tell.send(());
        };
        let started: io::Result<_> = thread::Builder::new().name("writer".into()).spawn(run);
        started.map_err(|_| Error::Died("writer of the database"))?;
        Ok((queue, Writer(ended), changes))
    }

    /// Stores the readings of a post. When this returns `Ok`, they have survived any crash and power loss, but for those that it tells; the
    /// readings of a retransmission are there once. [`Error::Busy`] if too many posts wait.
    pub async fn append(&self, append: Append) -> Result<Stored, Error> {
        if append.readings.len() > POINTS_PER_POST {
            return Err(Error::Invalid("a post holds at most 256 readings"));
        }
        let (answer, stored) = oneshot::channel();
        self.events.waiting(true);
        if self.tasks.try_send(Task::Append(append, answer)).is_err() {
            self.events.waiting(false);
            return Err(Error::Busy);
        }
        stored.await.map_err(|_| Error::Busy)?
    }

    /// Tells the journal that others have changed what it works with, so that it does not notice with the next append only.
    pub(crate) fn changed(&self) {
        // If there is no room, appends are waiting.
        let _ = self.tasks.try_send(Task::KeepUp);
    }

    /// Has done what time alone makes due, before the next batch. [`Error::Busy`] if another look waits for that.
    pub(crate) async fn look_at_clock(&self, look: ClockLook) -> Result<(), Error> {
        let (answer, done) = oneshot::channel();
        self.clock_looks.try_send((look, answer)).map_err(|_| Error::Busy)?;
        self.changed();
        done.await.map_err(|_| Error::Busy)?
    }

    /// Lets nothing more be appended.
    pub async fn close(&self) {
        let tasks = self.tasks.clone();
        // It waits for its place in the queue. If the writer has ended, there is nothing to close.
        let _ = tokio::task::spawn_blocking(move || tasks.send(Task::Close)).await;
    }
}

/// Appends that are stored in one commit, each with the way to its answer.
#[derive(Default)]
struct Batch {
    appends: Vec<Append>,
    answers: Vec<Answer>,
    points: usize,
}

impl Batch {
    /// Adds an append, unless there is no room for its points: then it is returned.
    fn add(&mut self, append: Append, answer: Answer) -> Option<(Append, Answer)> {
        let points = self.points + append.readings.len();
        if points > BATCH {
            return Some((append, answer));
        }
        self.points = points;
        self.appends.push(append);
        self.answers.push(answer);
        None
    }

    fn clear(&mut self) {
        self.appends.clear();
        self.answers.clear();
        self.points = 0;
    }
}

/// Batches of what is waiting.
struct Batches<'a> {
    waiting: &'a Receiver<Task>,
    batch: Batch,
    /// What had no room in the batch.
    next: Option<(Append, Answer)>,
    is_open: bool,
}

impl Batches<'_> {
    /// Fills the batch with all that waits. If nothing does, waits itself for so long. Returns false when nothing more can
    /// come.
    fn fill(&mut self, patience: Duration) -> bool {
        self.batch.clear();
        match self.next.take() {
            Some(next) => self.add(next),
            None if !self.is_open => return false,
            None => match self.waiting.recv_timeout(patience) {
                Ok(task) => self.take(task),
                Err(RecvTimeoutError::Timeout) => return true,
                Err(RecvTimeoutError::Disconnected) => self.is_open = false,
            },
        }
        while self.next.is_none()
            && let Ok(task) = self.waiting.try_recv()
        {
            self.take(task);
        }
        true
    }

    fn take(&mut self, task: Task) {
        match task {
            Task::Append(append, answer) => self.add((append, answer)),
            Task::KeepUp => {}
            Task::Close => self.is_open = false,
        }
    }

    fn add(&mut self, (append, answer): (Append, Answer)) {
        self.next = self.batch.add(append, answer);
    }
}

/// What the writer works with.
struct Appending<J> {
    journal: J,
    clock: Clock,
    clock_asked: Receiver<AskedLook>,
    events: Events,
    announcer: Announcer,
    commit: Commit,
}

impl<J: Journal> Appending<J> {
    /// Stores what is waiting until nobody may or can append any more, and everything is stored.
    fn run(&mut self, waiting: &Receiver<Task>) {
        let mut batches = Batches { waiting, batch: Batch::default(), next: None, is_open: true };
        while batches.fill(self.patience()) {
            if let Ok((look, answer)) = self.clock_asked.try_recv() {
                let _ = answer.send(self.journal.look_at_clock(look, (self.clock)()));
            }
            let Batch { appends, answers, .. } = &mut batches.batch;
            if appends.is_empty() {
                if batches.is_open {
                    self.keep_up(true);
                }
                continue;
            }
            appends.iter().for_each(|_| self.events.waiting(false));
            self.store(appends, &mut answers.drain(..));
            if self.journal.upkeep() == Upkeep::Due {
                self.keep_up(false);
            }
        }
    }

    fn patience(&self) -> Duration {
        match self.journal.upkeep() {
            Upkeep::None => REST,
            Upkeep::WhenIdle => IDLE,
            Upkeep::Due => Duration::ZERO,
        }
    }

    /// Stores a batch, and answers each append.
    fn store(&mut self, batch: &[Append], answers: &mut impl Iterator<Item = Answer>) {
        let began = Instant::now();
        self.commit.clear();
        match self.journal.append(batch, (self.clock)(), &mut self.commit) {
            Ok(()) => self.stored(batch.len(), began.elapsed(), answers),
            // What is wrong with one append must not take the others with it.
            Err(_) if batch.len() > 1 => batch.chunks(1).for_each(|one| self.store(one, answers)),
            Err(error) => {
                self.events.tell(Event::Fault { at: At::Commit, error: &error });
                let _ = answers.next().map(|answer| answer.send(Err(error)));
            }
        }
    }

    fn stored(&mut self, posts: usize, took: Duration, answers: &mut impl Iterator<Item = Answer>) {
        self.events.tell(Event::Committed { posts, points: self.commit.points, took });
        self.announce();
        for (result, answer) in self.commit.results.drain(..).zip(answers) {
            // Whoever appended may have gone away meanwhile.
            let _ = answer.send(result);
        }
    }

    /// Tells the feed of what is new.
    fn announce(&self) {
        if let Some(end) = self.commit.end {
            self.announcer.announce(end, &self.commit.changes);
        }
    }

    fn keep_up(&mut self, idle: bool) {
        self.commit.clear();
        match self.journal.keep_up(idle, (self.clock)(), &mut self.commit) {
            Ok(()) => self.announce(),
            Err(error) => self.events.tell(Event::Fault { at: At::Sorting, error: &error }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::laws::post;
    use super::super::memory::Memory;
    use super::*;
    use crate::ids::ResourceId;

    #[tokio::test]
    async fn what_one_post_has_no_room_for_takes_no_other_with_it() {
        let own = ResourceId(1);
        let journal = Memory::new(4);
        let points = journal.points();
        let (queue, writer, changes) = Queue::start(journal, || 0, Events::unheard()).unwrap();
        let append = |number, streams: &[&str]| {
            let (queue, post) = (queue.clone(), post(own, number, streams));
            tokio::spawn(async move { queue.append(post).await })
        };
        let posts = [append(1, &["t", "u"]), append(2, &["a", "b", "c", "d", "e"]), append(3, &["t"])];
        let mut results = Vec::new();
        for post in posts {
            results.push(post.await.unwrap());
        }
        assert!(matches!(&results[..], [Ok(_), Err(Error::DiskFull(_)), Ok(_)]), "{results:?}");
        assert_eq!(points.of(own, "t").len(), 2);
        assert_eq!(points.of(own, "a"), []);
        let changed: Vec<_> = changes.since(crate::Cursor::START).unwrap().streams;
        assert_eq!(changed.len(), 2, "t and u");
        queue.close().await;
        writer.ended().await.unwrap();
        assert!(matches!(queue.append(post(own, 4, &["t"])).await, Err(Error::Busy)));
    }
}
