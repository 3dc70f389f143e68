//! Reading a request: whole, and independent of its datagram.

use serde::de::DeserializeOwned;
use sixlock_coap_msg::{Block, CoapOption, Code, ContentFormat, HEADER, MAX_TOKEN, Message, OptionNumber};
use sixlock_ingest::{DEEPEST, Format};
use sixlock_store::{ResourceId, StreamId};

use super::refusal::Refusal;
use crate::access::Action;
use sixlock_store::Secret;

/// What stands beside a block in the longest message: header and token, an ETag, Content-Format, Block2, Block1 and Size2,
/// and the payload marker.
const BESIDE_BLOCK: usize = HEADER + MAX_TOKEN + (3 + 8) + (3 + 2) + 2 * (3 + 3) + (3 + 3) + 1;

/// The arguments that queries may have, besides a key.
const ARGUMENTS: [&str; 8] = ["id", "resource", "user", "limit", "from", "until", "after", "all"];

/// A request.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    operation: Operation,
    /// What its path names; nothing, if there is no such path.
    pub(super) kind: Option<Kind>,
    /// Whether its query has an argument that no request has.
    unknown_argument: bool,
    /// The key of a request over plain CoAP.
    pub(super) key: Option<Secret>,
    /// The format of the answer; nothing for one that nobody has.
    accept: Option<Option<ContentFormat>>,
    /// Which states of what it asks for its client has.
    etags: Vec<Vec<u8>>,
    /// In which states what it changes is to be; an empty one stands for any.
    if_match: Vec<Vec<u8>>,
    if_none_match: bool,
    /// Which block of the answer it asks for; the inner nothing stands for one that there cannot be.
    block: Option<Option<Block>>,
    /// Which block of its body the payload is; the inner nothing stands for one that there cannot be.
    part: Option<Option<Block>>,
    /// How long its body is.
    size: Option<u32>,
    /// Its client takes blocks of 2^(`largest_block` + 4) bytes.
    pub(super) largest_block: u8,
    /// What a request for `/.well-known/core` looks for.
    pub(super) discovery: Option<Vec<Vec<u8>>>,
    pub(super) message_id: u16,
    pub(super) token: Vec<u8>,
    pub(super) payload: Vec<u8>,
}

/// What can be observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Observable {
    /// The points of a stream.
    Stream(StreamId),
    /// The latest point of each stream of a resource.
    Resource(ResourceId),
}

/// What a request does: what its blocks have in common
/// ([RFC 9175 section 3.3](https://www.rfc-editor.org/rfc/rfc9175#section-3.3)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Operation {
    method: Code,
    /// Of a request in blocks alone, as its tags.
    path: Vec<Vec<u8>>,
    arguments: Vec<(&'static str, Vec<u8>)>,
    /// Nothing where none is stated; a number that is none is one that nobody has.
    content_format: Option<Option<ContentFormat>>,
    tags: Vec<Vec<u8>>,
}

/// The kinds of things that paths name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Users,
    Resources,
    ResourcesData,
    Streams,
    StreamsData,
}

impl Kind {
    #[cfg(test)]
    pub(super) const ALL: [Self; 5] =
        [Self::Users, Self::Resources, Self::ResourcesData, Self::Streams, Self::StreamsData];

    pub(super) const fn segments(self) -> &'static [&'static str] {
        match self {
            Self::Users => &["users"],
            Self::Resources => &["resources"],
            Self::ResourcesData => &["resources", "data"],
            Self::Streams => &["streams"],
            Self::StreamsData => &["streams", "data"],
        }
    }

    /// What is at a path, given as its first three segments.
    fn at(path: [Option<&[u8]>; 3]) -> Option<Self> {
        match path {
            [Some(b"users"), None, _] => Some(Self::Users),
            [Some(b"resources"), None, _] => Some(Self::Resources),
            [Some(b"resources"), Some(b"data"), None] => Some(Self::ResourcesData),
            [Some(b"streams"), None, _] => Some(Self::Streams),
            [Some(b"streams"), Some(b"data"), None] => Some(Self::StreamsData),
            _ => None,
        }
    }

    /// The arguments, besides a key, that a method asks for: one that it does not must not be taken for one that it does.
    fn arguments(self, method: Code) -> (&'static [&'static str], &'static str) {
        match (self, method) {
            (Self::StreamsData, Code::GET) => (
                &["id", "resource", "limit", "from", "until"],
                "the query may have id, resource, key, limit, from and until",
            ),
            (Self::ResourcesData | Self::StreamsData, Code::DELETE) => (
                &["id", "resource", "from", "until", "all"],
                "the query may have id, resource, key, from, until and all",
            ),
            (Self::ResourcesData | Self::Streams, Code::GET) => {
                (&["id", "resource", "after"], "the query may have id, resource, key and after")
            }
            _ => (&["id", "resource"], "the query may have id, resource and key"),
        }
    }

    /// The same, of a user.
    fn arguments_of_user(self, method: Code) -> (&'static [&'static str], &'static str) {
        match (self, method) {
            (Self::Users, Code::GET) => (&["id", "after"], "the query may have id or after"),
            (Self::Users, Code::PUT | Code::DELETE) => (&["id"], "the query may have id"),
            (Self::Users, _) => (&[], "the query is to be empty"),
            (Self::Resources, Code::GET) => {
                (&["id", "user", "after", "all"], "the query may have id, or user or all, and after")
            }
            (Self::Resources, Code::POST) => (&["user"], "the query may have user"),
            (Self::Resources, _) => (&["id"], "the query may have id"),
            _ => self.arguments(method),
        }
    }

    /// What a method does to it; nothing, if it does not take the method.
    pub(super) fn action(self, method: Code) -> Option<Action> {
        let [get, post, put, delete] = match self {
            Self::Users => {
                [Action::ReadUser, Action::AddUser, Action::ChangeUser, Action::DeleteUser].map(Some)
            }
            Self::Resources => {
                use Action::{AddResource, ChangeResource, DeleteResource, ReadResource};
                [ReadResource, AddResource, ChangeResource, DeleteResource].map(Some)
            }
            Self::Streams => {
                [Action::ReadStream, Action::AddStream, Action::ChangeStream, Action::DeleteStream].map(Some)
            }
            Self::ResourcesData | Self::StreamsData => {
                [Some(Action::ReadPoints), Some(Action::AddPoints), None, Some(Action::DeletePoints)]
            }
        };
        match method {
            Code::GET => get,
            Code::POST => post,
            Code::PUT => put,
            Code::DELETE => delete,
            _ => None,
        }
    }
}

impl Operation {
    const fn new(method: Code) -> Self {
        Self { method, path: Vec::new(), arguments: Vec::new(), content_format: None, tags: Vec::new() }
    }

    /// Sets an argument that is not set yet.
    fn set_argument(&mut self, name: &'static str, value: &[u8]) {
        if self.arguments.iter().all(|(known, _)| *known != name) {
            self.arguments.push((name, value.to_vec()));
        }
    }
}

impl Request {
    /// Reads a request of a client that takes messages of `longest_answer` bytes.
    pub(crate) fn read(message: &Message<'_>, longest_answer: usize) -> Self {
        let mut segments = message.path();
        let path = std::array::from_fn(|_| segments.next());
        let mut request = Self {
            operation: Operation::new(message.code()),
            kind: Kind::at(path),
            unknown_argument: false,
            key: None,
            accept: None,
            etags: Vec::new(),
            if_match: Vec::new(),
            if_none_match: false,
            block: Block::of(message, OptionNumber::BLOCK2),
            part: Block::of(message, OptionNumber::BLOCK1),
            size: None,
            largest_block: largest_block(longest_answer),
            discovery: matches!(path, [Some(b".well-known"), Some(b"core"), None]).then(Vec::new),
            message_id: message.id(),
            token: message.token().to_vec(),
            payload: message.payload().to_vec(),
        };
        for option in message.options().filter(|option| option.number.allows_len(option.value.len())) {
            request.read_option(&option);
        }
        request
    }

    /// Reads an option; of one that may not be repeated, the first one counts.
    fn read_option(&mut self, option: &CoapOption<'_>) {
        let value = option.value;
        let as_format = || option.uint().and_then(content_format);
        match option.number {
            // What blocks have in common nothing else asks for.
            OptionNumber::URI_PATH if self.part.is_some() => self.operation.path.push(value.to_vec()),
            OptionNumber::REQUEST_TAG if self.part.is_some() => self.operation.tags.push(value.to_vec()),
            OptionNumber::URI_QUERY => self.read_query(value),
            OptionNumber::CONTENT_FORMAT => {
                self.operation.content_format.get_or_insert_with(as_format);
            }
            OptionNumber::ACCEPT => {
                self.accept.get_or_insert_with(as_format);
            }
            OptionNumber::ETAG => self.etags.push(value.to_vec()),
            OptionNumber::IF_MATCH => self.if_match.push(value.to_vec()),
            OptionNumber::IF_NONE_MATCH => self.if_none_match = true,
            OptionNumber::SIZE1 => self.size = self.size.or(option.uint()),
            _ => {}
        }
    }

    /// Reads an argument of the query; of several with the same name, the first one counts.
    fn read_query(&mut self, argument: &[u8]) {
        if let Some(filters) = &mut self.discovery {
            filters.push(argument.to_vec());
        }
        let named = |name: &'static str| Some((name, value_of(name, argument)?));
        match ARGUMENTS.into_iter().find_map(named) {
            Some((name, value)) => self.operation.set_argument(name, value),
            None => match value_of("key", argument) {
                Some(key) => {
                    self.key.get_or_insert_with(|| Secret::new(key.to_vec()));
                }
                None => self.unknown_argument |= !argument.is_empty(),
            },
        }
    }

    /// What is to be done.
    pub(super) fn action(&self) -> Option<Action> {
        self.kind?.action(self.operation.method)
    }

    /// The whole number that the query argument `name` gives; an empty one gives none.
    pub(super) fn number(&self, name: &str) -> Result<Option<i64>, Refusal> {
        let text =
            self.operation.arguments.iter().find(|(known, _)| *known == name).map(|(_, text)| &text[..]);
        match text {
            None | Some(b"") => Ok(None),
            Some(text) => {
                let text = std::str::from_utf8(text).ok().filter(|text| !text.starts_with('+'));
                let number = text.and_then(|text| text.parse().ok());
                number.map(Some).ok_or(Refusal::Malformed("a number in the query is not one"))
            }
        }
    }

    /// How the payload is written: as SenML JSON, if that is not stated.
    pub(super) fn format(&self) -> Result<Format, Refusal> {
        match self.operation.content_format {
            None => Ok(Format::SenmlJson),
            Some(stated) => stated.and_then(Format::of_content_format).ok_or(Refusal::ContentFormat),
        }
    }

    /// What the payload says, in JSON or CBOR.
    pub(super) fn content<T: DeserializeOwned>(&self) -> Result<T, Refusal> {
        const FIELDS: Refusal = Refusal::Malformed("the payload does not have the fields that are asked for");
        match self.operation.content_format {
            None | Some(Some(ContentFormat::JSON)) => {
                serde_json::from_slice(&self.payload).map_err(|_| FIELDS)
            }
            Some(Some(ContentFormat::CBOR)) => {
                let mut rest = &*self.payload;
                let content = ciborium::de::from_reader_with_recursion_limit(&mut rest, DEEPEST);
                content.ok().filter(|_| rest.is_empty()).ok_or(FIELDS)
            }
            _ => Err(Refusal::ContentFormat),
        }
    }

    /// In which format the answer is to be: JSON, if that is not stated.
    pub(super) fn accepted(&self) -> Result<Format, Refusal> {
        match self.accept {
            None => Ok(Format::Json),
            Some(stated) => stated.and_then(Format::of_content_format).ok_or(Refusal::NotAcceptable),
        }
    }

    /// Whether an answer in this format will do.
    pub(super) fn accepts(&self, format: ContentFormat) -> bool {
        self.accept.is_none_or(|stated| stated == Some(format))
    }

    /// Whether its client has this state of what it asks for.
    pub(super) fn has(&self, etag: &[u8]) -> bool {
        self.is_get() && self.etags.iter().any(|known| known == etag)
    }

    /// Which block of the answer it asks for.
    pub(super) fn block(&self) -> Option<Block> {
        self.block.flatten()
    }

    /// What it can observe: the stream or resource whose points it asks for by its id, from the first block on.
    pub(crate) fn observable(&self) -> Option<Observable> {
        let is_first = self.block().is_none_or(|block| block.number() == 0);
        let id = self.number("id").ok().flatten().filter(|_| self.is_get() && is_first)?;
        match self.kind? {
            Kind::StreamsData => Some(Observable::Stream(StreamId(id))),
            Kind::ResourcesData => Some(Observable::Resource(ResourceId(id))),
            _ => None,
        }
    }

    /// Whether it changes nothing, so that its client may be made to repeat it.
    pub(crate) fn is_get(&self) -> bool {
        self.operation.method == Code::GET
    }

    /// Which block of its body the payload is.
    pub(super) fn part(&self) -> Option<Block> {
        self.part.flatten()
    }

    /// How long its body is, if it says so.
    pub(super) fn size(&self) -> Option<u32> {
        self.size
    }

    /// What it does.
    pub(super) fn operation(&self) -> &Operation {
        &self.operation
    }

    /// Whether its query has nothing but what its method asks for.
    pub(super) fn check_arguments(&self, is_users: bool) -> Result<(), Refusal> {
        let Some(kind) = self.kind else { return Ok(()) };
        let method = self.operation.method;
        let (known, rule) = if is_users { kind.arguments_of_user(method) } else { kind.arguments(method) };
        let all_known = self.operation.arguments.iter().all(|(name, _)| known.contains(name));
        if self.unknown_argument || !all_known { Err(Refusal::Malformed(rule)) } else { Ok(()) }
    }

    /// Whether it says `all=true`.
    pub(super) fn is_of_all(&self) -> bool {
        let is_true = |(name, value): &(&str, Vec<u8>)| *name == "all" && value == b"true";
        self.operation.arguments.iter().any(is_true)
    }

    /// The points that are to be deleted: those of the span, or with `all=true`, which stands alone, all.
    pub(super) fn deleted_span(&self) -> Result<(Option<i64>, Option<i64>), Refusal> {
        let span = (self.number("from")?, self.number("until")?);
        let all = self.is_of_all();
        if all == (span != (None, None)) {
            return Err(Refusal::Malformed("say which points: from=, until= or both; or all=true, alone"));
        }
        Ok(span)
    }

    /// Whether it is a request for something there, of a client that knows the options that it uses.
    pub(super) fn check_options(&self) -> Result<(), Refusal> {
        if self.block == Some(None) || self.part == Some(None) {
            return Err(Refusal::Malformed("there is no such size of blocks"));
        }
        if self.part.is_some() && !matches!(self.operation.method, Code::POST | Code::PUT) {
            return Err(Refusal::Option("Block1 is for POST and PUT"));
        }
        if self.operation.method != Code::PUT && (!self.if_match.is_empty() || self.if_none_match) {
            return Err(Refusal::Option("If-Match and If-None-Match are for PUT"));
        }
        // Nothing here is made by PUT, so what a request is not to find is there.
        if self.if_none_match { Err(Refusal::Precondition) } else { Ok(()) }
    }

    /// Whether what it changes is to be in a certain state.
    pub(super) fn is_conditional(&self) -> bool {
        !self.if_match.is_empty()
    }

    /// Whether a thing in the state `etag` may be changed
    /// ([RFC 7252 section 5.10.8.1](https://www.rfc-editor.org/rfc/rfc7252#section-5.10.8.1)).
    pub(super) fn may_change(&self, etag: &[u8]) -> bool {
        self.if_match.iter().any(|state| state.is_empty() || state == etag)
    }

    /// The resource that it names by its id, whether there is one or not.
    pub(super) fn named_resource(&self) -> Option<ResourceId> {
        let number = |name| self.number(name).ok().flatten();
        let is_about = matches!(self.kind, Some(Kind::Resources | Kind::ResourcesData));
        number("id").filter(|_| is_about).or_else(|| number("resource")).map(ResourceId)
    }

    /// What it asks for, without its query: keys can stand there.
    pub(super) fn what(&self) -> String {
        format!("{} {}", self.method(), self.path())
    }

    /// What it does to it, in a word.
    fn method(&self) -> &'static str {
        match self.operation.method {
            Code::GET => "GET",
            Code::POST => "POST",
            Code::PUT => "PUT",
            Code::DELETE => "DELETE",
            _ => "?",
        }
    }

    /// Its path, with the id in its query.
    pub(super) fn path(&self) -> String {
        let segments = match (self.kind, &self.discovery) {
            (Some(kind), _) => kind.segments(),
            (None, Some(_)) => &[".well-known", "core"],
            (None, None) => &["?"],
        };
        let path = format!("/{}", segments.join("/"));
        match self.number("id") {
            Ok(Some(id)) => format!("{path} id={id}"),
            _ => path,
        }
    }
}

/// The exponent of the largest block for a client that takes messages of `longest_answer` bytes: of 0 to 6.
fn largest_block(longest_answer: usize) -> u8 {
    let room = longest_answer.saturating_sub(BESIDE_BLOCK);
    (1..=Block::LARGEST).rev().find(|exponent| room >= 16 << exponent).unwrap_or(0)
}

/// The value of the query argument `name=value`.
fn value_of<'a>(name: &str, argument: &'a [u8]) -> Option<&'a [u8]> {
    argument.strip_prefix(name.as_bytes())?.strip_prefix(b"=")
}

fn content_format(number: u32) -> Option<ContentFormat> {
    u16::try_from(number).ok().map(ContentFormat)
}

/// The operation of a post with a tag.
#[cfg(test)]
pub(super) fn operation(tag: &[u8]) -> Operation {
    Operation { tags: vec![tag.to_vec()], ..Operation::new(Code::POST) }
}
