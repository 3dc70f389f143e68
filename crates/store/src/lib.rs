//! What a cloud keeps, so that what was acknowledged survives power loss: accounts, devices and their credentials, readings,
//! and records of DTLS sessions.

mod accounts;
mod alert_clock;
mod alert_definitions;
mod alerts;
mod appending;
mod backup;
mod backup_digest;
mod belonging;
mod broker_points;
mod broker_progress;
mod broker_settings;
mod brokers;
mod changes;
mod changes_since;
mod channels;
mod clock;
mod command_queue;
mod commands;
mod computed_due;
mod computed_graph;
mod computed_streams;
mod conditions;
mod credentials;
mod cursor;
mod enrolment;
mod error;
mod expiry;
mod feed;
mod files;
mod fleet;
mod followed;
mod groups;
mod hashing;
mod hashing_turns;
mod heard_devices;
mod ids;
mod import;
pub mod journal;
mod known;
mod latest;
mod latest_sql;
mod left_out;
mod location;
mod long_reads;
mod master_key;
mod names;
mod oidc_links;
mod open;
mod outbox;
mod own_rows;
mod parsers;
mod password;
mod period;
mod points;
mod poller_rows;
mod profiles;
pub mod public_keys;
mod quotas;
mod reset_links;
mod resource_changes;
mod resource_log;
mod resources;
pub mod resumption;
mod retention;
mod revocation;
mod roles;
mod rollup;
mod rollup_rows;
mod rotation;
mod rules;
mod schema;
pub mod sealed;
mod search_words;
mod second_factors;
pub mod secrets;
mod sent_keys;
mod sharing;
mod sign_in_files;
mod sign_up;
pub mod snapshot;
mod snapshot_note;
mod statistics;
mod store;
mod streams;
mod tags;
mod token_access;
mod token_digest;
mod token_scope;
mod tokens;
mod totp;
mod user_change;
mod user_identities;
mod values;
mod windows;

pub use accounts::{ADMINISTRATOR, User};
pub use alert_definitions::{AlertDefinitions, DefinitionChanges, ReplacedDefinitions};
pub use alerts::{Alert, AlertState};
pub use backup::{back_up, last_backup, restore};
pub use belonging::is_new;
pub use broker_points::{BrokerPoint, BrokerWindow};
pub use broker_progress::BrokerProgress;
pub use broker_settings::{Broker, BrokerDevices, BrokerFormat, BrokerSettings, BrokerToServe, NewBroker};
pub use brokers::MOST_OF_ONE_OWNER as MOST_BROKERS;
pub use changes::{Change, Changed, Changes};
pub use channels::{Channel, ChannelKind, MOST_OF_ONE_OWNER as MOST_CHANNELS, NewChannel};
pub use clock::now_ms;
pub use commands::{Command, CommandOutcome, CommandState, CommandUnderWay, CommandValue, NewCommand};
pub use computed_streams::{Backfill, Computation, ComputedInput, ComputedStream, InputReference};
pub use conditions::{Condition, Operator, Severity};
pub use credentials::{Credential, HeldCredential};
pub use cursor::Cursor;
pub use enrolment::CertificateTerms;
pub use error::{BadDefinition, BadDevice, Error};
pub use expiry::SOON_MS;
pub use feed::{FeedPoint, LONGEST_REPLAY, Next, Scope};
pub use files::{
    DirectoryLock, create_private, lock, make_private_directory, read_private, replace_private,
    sync_directory,
};
pub use fleet::{
    Chosen, DeviceOrder, DeviceState, Fleet, FleetChange, FleetChanged, FleetDevice, FleetQuery,
    FleetSummary, Group, LONGEST_FLEET_PAGE, MOST_CHOSEN, PlacedDevice, Selection,
};
pub use followed::FollowedStream;
pub use groups::{
    GroupAccess, GroupDetails, GroupDevice, GroupMember, GroupOfResource, GroupResource, GroupStream,
    Membership, UserGroup,
};
pub use heard_devices::{DevicePart, HeardDevice};
pub use ids::{
    AlertId, BrokerId, ChannelId, CommandId, CredentialId, GroupId, Listing, ParserId, PointId, ResourceId,
    RuleId, StreamId, UserId,
};
pub use journal::{
    Append, Idempotency, RETRANSMISSION_WINDOW_MS, STREAMS_PER_RESOURCE, Transmission, Writer,
};
pub use known::{Holder, Known, KnownKey};
pub use latest::Latest;
pub use left_out::{LeftOut, LeftOutReason, Stored};
pub use location::Location;
pub use master_key::MasterKey;
pub use oidc_links::{OidcLink, OidcLinks};
pub use outbox::{GIVEN_UP_AFTER_MS, Message, pause_after};
pub use parsers::{NewParser, Parser};
pub use points::{LONGEST_PAGE, Page, Point};
pub use poller_rows::{NewPoller, PollCredential, Polled, Poller, Turn};
pub use profiles::{NamedProfile, Profile, ProfileStream};
pub use quotas::{DAY_MS, OwnQuotas, Quotas, Usage};
pub use resource_log::LogLine;
pub use resources::{Device, Enrolled, Resource, ResourceChange};
pub use retention::{Retention, RetentionChange};
pub use revocation::Revocation;
pub use roles::Role;
pub use rollup::HOUR_MS;
pub use rotation::{Rotated, Rotation};
pub use rules::{NewRule, Rule};
pub use second_factors::{SecondFactor, TotpSecret};
pub use secrets::Secret;
pub use sharing::{SharedStream, Sharing, WantedStream};
pub use sign_in_files::{ADMIN_PASSWORD, SIGN_IN_LINK, remove as remove_sign_in_file};
pub use sixlock_endpoint::AuthenticationMethod;
pub use sixlock_expression::Zone;
pub use sixlock_ingest::{Reading, Value, ValueType};
pub use statistics::{CloudCounts, PointCounts, UserCounts};
pub use store::Store;
pub use streams::{ChangedStream, Stream, StreamChange};
pub use token_access::{Access, SignedIn};
pub use token_digest::TokenDigest;
pub use token_scope::TokenScope;
pub use tokens::{ADMINISTRATORS_FILE, SESSION_MS, Token};
pub use user_change::UserChange;
pub use user_identities::{IdentityAccess, MadeIdentity, NewIdentity, UserIdentity};
pub use values::{type_schema, value_schema};
pub use windows::{NumberSummary, Summary, Width, Windows};
