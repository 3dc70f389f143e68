//! Who may do what: the one policy of HTTP and CoAP. It is asked before any handler runs, and what it does not allow
//! is refused.

use sixlock_store::{GroupAccess, ResourceId, Role, StreamId, TokenScope, UserId};

/// Who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Caller {
    /// Somebody who proved nothing.
    Nobody,
    /// Nobody known either, but a program on this machine.
    ThisMachine,
    /// The device of this resource: its key has been proved.
    Device(ResourceId),
    /// A person who is signed in, or a program with a token or a DTLS identity of that person, which may allow less than the person may do.
    User { id: UserId, role: Role, scope: TokenScope },
}

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    SignIn,
    /// Make an account of one's own.
    SignUp,
    /// Learn whether one may.
    ReadSignUp,
    /// Set a password by a one-time link.
    ResetPassword,
    SignOut,
    /// Learn who one is.
    ReadSelf,
    /// Learn where devices report to.
    ReadEndpoints,
    ReadDescription,
    ReadNetwork,
    ReadMetrics,
    ReadAudit,
    /// Read how the cloud is doing.
    ReadStatistics,
    /// Follow the points of all that one may see.
    Follow,
    ListUsers,
    /// List the resources of all users.
    ListResources,
    AddUser,
    ReadUser,
    ChangeUser,
    /// Change what a user may do.
    ChangeRole,
    /// Make a one-time link that sets a user's password.
    MakeResetLink,
    DeleteUser,
    /// Read all that is kept of a user.
    ExportUser,
    ReadSecondFactor,
    /// Begin to use a second factor.
    ChangeSecondFactor,
    RemoveSecondFactor,
    /// Read by which accounts at OpenID providers a user signs in.
    ReadOidcLinks,
    /// Begin to link one.
    LinkOidc,
    UnlinkOidc,
    ReadQuotas,
    ChangeQuotas,
    ReadTokens,
    /// Make and end tokens for programs.
    ChangeTokens,
    /// Read which DTLS identities a user has.
    ReadIdentities,
    /// Make and end DTLS identities of a user.
    ChangeIdentities,
    ReadResource,
    AddResource,
    ChangeResource,
    DeleteResource,
    /// Change or delete many resources at once.
    ChangeFleet,
    /// Change what devices of one kind have in common that are made from then on.
    ChangeProfiles,
    /// Give a resource a new credential, or end one.
    ChangeCredentials,
    /// Read what happened to a resource: also what was refused, and who changed it.
    ReadResourceLog,
    ReadPoller,
    ChangePoller,
    ReadStream,
    AddStream,
    /// Change what a stream is, and whom it is shared with.
    ChangeStream,
    DeleteStream,
    /// Change how long points are kept, and whether new ones are taken.
    ChangeRetention,
    /// Find streams that are public to find.
    FindStreams,
    /// Read a stream that is shared, and its points.
    ReadShared,
    ReadFollowed,
    /// Follow a stream, or no more.
    ChangeFollowed,
    ReadPoints,
    AddPoints,
    DeletePoints,
    ReadParsers,
    ChangeParsers,
    ReadComputedStreams,
    ChangeComputedStreams,
    /// Try what is to compute a stream, of any resource of theirs.
    TryComputation,
    ReadCommands,
    /// Set something of a device, or take that back.
    Command,
    /// Read rules, alerts and channels.
    ReadAlerts,
    ChangeRules,
    AcknowledgeAlert,
    /// Make, test and delete channels on which alerts are told.
    ChangeChannels,
    /// Read where the readings of a user's devices are published.
    ReadBrokers,
    /// Make, change, test and delete brokers.
    ChangeBrokers,
    /// Read a user's groups, those that the user is in, and what is given to these.
    ReadGroups,
    /// Make and delete groups, and take from them what others gave.
    ChangeGroups,
    /// Say who is in a group of one's own, and what they may do.
    ChangeGroupMembers,
    /// Join a group that one is asked to join, or leave one.
    ChangeMembership,
    /// Read which groups a resource is given to.
    ReadResourceGroups,
    /// Give a resource to a group, or take it back.
    ChangeResourceGroups,
}

/// Whom it concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// Nobody in particular.
    Nothing,
    /// This user, and what is theirs.
    User(UserId),
    /// This resource of a user; without one, a resource of theirs that is not there.
    ResourceOf(UserId, Option<ResourceId>),
    /// This resource of a user, with which a group lets the caller do this, who is not that user.
    GivenResource(UserId, ResourceId, GroupAccess),
    /// This stream of a user's resource, where the caller may be one for a stream alone.
    StreamOf(UserId, StreamId),
    /// This resource, what is in it, and whose it is.
    Resource(ResourceId),
    /// A stream that is found by its id alone, and whether a group lets the caller read it.
    Stream { owner: UserId, resource: ResourceId, stream: StreamId, is_public: bool, is_given: bool },
    /// What is named is not there.
    Unknown,
}

impl Target {
    /// The user whose it is, where that is known.
    const fn user(self) -> Option<UserId> {
        match self {
            Self::User(user)
            | Self::ResourceOf(user, _)
            | Self::GivenResource(user, ..)
            | Self::StreamOf(user, _) => Some(user),
            Self::Stream { owner, .. } => Some(owner),
            Self::Nothing | Self::Resource(_) | Self::Unknown => None,
        }
    }
}

/// Why it is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Denial {
    /// Only those who prove who they are may ask: 401, 4.01.
    Unauthenticated,
    /// It is not theirs: 403, 4.03.
    Forbidden,
    /// They may know that it is not there: 404, 4.04.
    Unknown,
}

/// Which people may do something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum People {
    /// All, known or not.
    Everybody,
    /// All, where it concerns a public stream; else the user whom it concerns, members of groups that the stream is given to,
    /// administrators, and whoever has a token for the stream. To anybody else it is as if there were none.
    Readers,
    /// Programs on this machine, and whoever is signed in.
    ThisMachine,
    /// Programs on this machine, and administrators.
    Operator,
    /// Whoever is signed in.
    SignedIn,
    /// The user whom it concerns, and nobody else.
    Oneself,
    /// The user whom it concerns, and administrators; of what may be done to a resource by a group, whoever is in one that it is given to.
    Owner,
    /// Administrators.
    Administrator,
}

impl Action {
    /// Which people may do it.
    pub(crate) const fn people(self) -> People {
        match self {
            Self::SignIn | Self::SignUp | Self::ReadSignUp | Self::ResetPassword | Self::FindStreams => {
                People::Everybody
            }
            Self::ReadShared => People::Readers,
            Self::ReadDescription | Self::ReadNetwork => People::ThisMachine,
            Self::ReadMetrics => People::Operator,
            Self::SignOut | Self::ReadSelf | Self::ReadEndpoints | Self::Follow => People::SignedIn,
            Self::ChangeSecondFactor | Self::LinkOidc | Self::ChangeMembership => People::Oneself,
            Self::ReadAudit
            | Self::ReadStatistics
            | Self::ListUsers
            | Self::ListResources
            | Self::AddUser
            | Self::ChangeRole
            | Self::ChangeQuotas
            | Self::MakeResetLink => People::Administrator,
            Self::ReadUser
            | Self::ChangeUser
            | Self::DeleteUser
            | Self::ExportUser
            | Self::ReadSecondFactor
            | Self::RemoveSecondFactor
            | Self::ReadOidcLinks
            | Self::UnlinkOidc
            | Self::ReadQuotas
            | Self::ReadTokens
            | Self::ChangeTokens
            | Self::ReadIdentities
            | Self::ChangeIdentities
            | Self::ReadResource
            | Self::AddResource
            | Self::ChangeResource
            | Self::DeleteResource
            | Self::ChangeFleet
            | Self::ChangeProfiles
            | Self::ChangeCredentials
            | Self::ReadResourceLog
            | Self::ReadPoller
            | Self::ChangePoller
            | Self::ReadStream
            | Self::AddStream
            | Self::ChangeStream
            | Self::DeleteStream
            | Self::ChangeRetention
            | Self::ReadFollowed
            | Self::ChangeFollowed
            | Self::ReadPoints
            | Self::AddPoints
            | Self::DeletePoints
            | Self::ReadParsers
            | Self::ChangeParsers
            | Self::ReadComputedStreams
            | Self::ChangeComputedStreams
            | Self::TryComputation
            | Self::ReadCommands
            | Self::Command
            | Self::ReadAlerts
            | Self::ChangeRules
            | Self::AcknowledgeAlert
            | Self::ChangeChannels
            | Self::ReadBrokers
            | Self::ChangeBrokers
            | Self::ReadGroups
            | Self::ChangeGroups
            | Self::ChangeGroupMembers
            | Self::ReadResourceGroups
            | Self::ChangeResourceGroups => People::Owner,
        }
    }

    /// Whether it changes nothing.
    const fn only_reads(self) -> bool {
        matches!(
            self,
            Self::ReadSelf
                | Self::ReadSignUp
                | Self::ReadEndpoints
                | Self::ReadDescription
                | Self::ReadNetwork
                | Self::ReadMetrics
                | Self::ReadAudit
                | Self::ReadStatistics
                | Self::Follow
                | Self::ListUsers
                | Self::ListResources
                | Self::ExportUser
                | Self::ReadUser
                | Self::ReadSecondFactor
                | Self::ReadOidcLinks
                | Self::ReadQuotas
                | Self::ReadTokens
                | Self::ReadIdentities
                | Self::ReadResource
                | Self::ReadResourceLog
                | Self::ReadPoller
                | Self::ReadStream
                | Self::FindStreams
                | Self::ReadShared
                | Self::ReadFollowed
                | Self::ReadPoints
                | Self::ReadParsers
                | Self::ReadComputedStreams
                | Self::TryComputation
                | Self::ReadCommands
                | Self::ReadAlerts
                | Self::ReadBrokers
                | Self::ReadGroups
                | Self::ReadResourceGroups
        )
    }

    /// Whether rights are looked at again when the whole body of a request is there: they may have ended while it came, and what this does
    /// outlives them. Points do not, and come too often.
    pub(crate) const fn is_decided_again(self) -> bool {
        let is_for_all = matches!(self.people(), People::Everybody);
        !self.only_reads() && !is_for_all && !matches!(self, Self::AddPoints | Self::SignOut)
    }

    /// Whether a user of this role may do it at all, where it concerns what is theirs.
    const fn is_for_role(self, role: Role) -> bool {
        match role {
            Role::Administrator | Role::Member => true,
            Role::Viewer => {
                self.only_reads()
                    || matches!(
                        self,
                        Self::SignOut
                            | Self::ChangeUser
                            | Self::ChangeFollowed
                            | Self::ChangeMembership
                            | Self::ChangeSecondFactor
                            | Self::RemoveSecondFactor
                            | Self::LinkOidc
                            | Self::UnlinkOidc
                    )
            }
        }
    }

    /// Whether strangers ask it: people who are not signed in, and whoever has a token for a stream.
    pub(crate) const fn is_for_strangers(self) -> bool {
        matches!(self, Self::FindStreams | Self::ReadShared)
    }

    /// Whether a token or identity of this scope may be used for it. None but one for everything makes tokens or credentials, or
    /// changes a user. One for a stream may be anybody's, so it reads that stream, or posts points to it, and does nothing else.
    fn is_for_scope(self, scope: TokenScope, target: Target) -> bool {
        if let Some(only) = scope.stream {
            return match target {
                Target::Stream { stream, .. } => {
                    stream == only && self == Self::ReadShared && !scope.is_write_only()
                }
                Target::StreamOf(_, stream) => {
                    stream == only && self == Self::AddPoints && scope.is_write_only()
                }
                _ => false,
            };
        }
        let may_change = !scope.read_only || self.only_reads() || self == Self::SignOut;
        let is_within = match (scope.resource, target) {
            (None, _) => true,
            (Some(only), Target::ResourceOf(_, Some(resource))) => {
                only == resource && self.is_within_resource()
            }
            (Some(only), Target::Stream { resource, .. }) => only == resource && self == Self::ReadShared,
            (Some(_), Target::Nothing) => {
                matches!(self, Self::SignOut | Self::ReadSelf | Self::ReadEndpoints | Self::ReadDescription)
            }
            (Some(_), _) => false,
        };
        may_change && is_within
    }

    /// Returns whether a token for one resource allows this action there. Actions that reach further are not allowed: a poller sends
    /// requests, a computed stream reads other resources, and a new key outlives the token.
    const fn is_within_resource(self) -> bool {
        matches!(
            self,
            Self::ReadResource
                | Self::ChangeResource
                | Self::ReadResourceLog
                | Self::ReadPoller
                | Self::ReadStream
                | Self::AddStream
                | Self::ChangeStream
                | Self::DeleteStream
                | Self::ChangeRetention
                | Self::ReadPoints
                | Self::AddPoints
                | Self::DeletePoints
                | Self::ReadParsers
                | Self::ChangeParsers
                | Self::ReadComputedStreams
                | Self::ReadCommands
                | Self::Command
        )
    }

    /// The least right with which a member of a group may do it to a resource that somebody else has given to that; nothing if no member may.
    /// What destroys, what reaches further than the resource, and who may have it is its owner's.
    pub(crate) const fn for_members(self) -> Option<GroupAccess> {
        match self {
            Self::ReadResource
            | Self::ReadStream
            | Self::ReadPoints
            | Self::ReadParsers
            | Self::ReadCommands => Some(GroupAccess::Read),
            Self::ChangeResource | Self::ChangeStream | Self::ChangeParsers | Self::Command => {
                Some(GroupAccess::Change)
            }
            _ => None,
        }
    }

    /// Whether a device may do it to its own resource, or to its owner where it is about users.
    const fn is_for_devices(self) -> bool {
        matches!(
            self,
            Self::ReadUser
                | Self::ReadResource
                | Self::ChangeResource
                | Self::ReadStream
                | Self::AddStream
                | Self::ChangeStream
                | Self::DeleteStream
                | Self::ReadPoints
                | Self::AddPoints
                | Self::DeletePoints
        )
    }
}

/// Whether `caller` may do `action` to `target`.
pub(crate) fn decide(caller: Caller, action: Action, target: Target) -> Result<(), Denial> {
    let people = action.people();
    if people == People::Readers {
        return if reads(caller, action, target) { Ok(()) } else { Err(Denial::Unknown) };
    }
    if let Caller::User { role, scope, .. } = caller
        && people != People::Everybody
        && !(action.is_for_role(role) && action.is_for_scope(scope, target))
    {
        return Err(Denial::Forbidden);
    }
    match (caller, people) {
        (_, People::Everybody) | (Caller::ThisMachine, People::ThisMachine | People::Operator) => Ok(()),
        (Caller::Nobody | Caller::ThisMachine, _) => Err(Denial::Unauthenticated),
        (Caller::User { .. }, People::ThisMachine | People::SignedIn) => Ok(()),
        (Caller::User { role, .. }, People::Administrator | People::Operator)
            if role != Role::Administrator =>
        {
            Err(Denial::Forbidden)
        }
        (Caller::User { .. } | Caller::Device(_), _) if target == Target::Unknown => Err(Denial::Unknown),
        (Caller::User { role: Role::Administrator, .. }, people) if people != People::Oneself => Ok(()),
        (Caller::User { id, .. }, People::Owner | People::Oneself) if target.user() == Some(id) => Ok(()),
        (Caller::User { .. }, People::Owner) if is_given(action, target) => Ok(()),
        (Caller::Device(own), _) if action.is_for_devices() && target == Target::Resource(own) => Ok(()),
        (Caller::User { .. } | Caller::Device(_), _) => Err(Denial::Forbidden),
    }
}

/// Whether a group lets the caller do `action` to `target`.
const fn is_given(action: Action, target: Target) -> bool {
    match (target, action.for_members()) {
        (Target::GivenResource(_, _, access), Some(least)) => access.includes(least),
        _ => false,
    }
}

/// Whether `caller` may do `action`, which reads, to a stream.
fn reads(caller: Caller, action: Action, target: Target) -> bool {
    let Target::Stream { owner, is_public, is_given, .. } = target else { return false };
    is_public
        || match caller {
            Caller::User { id, role, scope } => {
                // A token for a resource or a stream is for one of one's own.
                let by_group = is_given && scope.resource.is_none();
                let is_theirs = id == owner || role == Role::Administrator;
                (is_theirs || by_group) && action.is_for_scope(scope, target)
            }
            Caller::Nobody | Caller::ThisMachine | Caller::Device(_) => false,
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANN: UserId = UserId(1);
    const BOB: UserId = UserId(2);
    const NODE: ResourceId = ResourceId(1);

    #[test]
    fn what_is_somebodys_is_for_them_and_for_administrators() {
        let user = |id, admin: bool| Caller::User { id, role: admin.into(), scope: TokenScope::default() };
        let of_ann = |caller| decide(caller, Action::AddResource, Target::User(ANN));
        assert_eq!(of_ann(user(ANN, false)), Ok(()));
        assert_eq!(of_ann(user(BOB, true)), Ok(()));
        assert_eq!(of_ann(user(BOB, false)), Err(Denial::Forbidden));
        assert_eq!(of_ann(Caller::Nobody), Err(Denial::Unauthenticated));
        assert_eq!(of_ann(Caller::ThisMachine), Err(Denial::Unauthenticated));
        assert_eq!(of_ann(Caller::Device(NODE)), Err(Denial::Forbidden));
        assert_eq!(decide(user(ANN, false), Action::AddResource, Target::Unknown), Err(Denial::Unknown));
        assert_eq!(
            decide(Caller::Nobody, Action::AddResource, Target::Unknown),
            Err(Denial::Unauthenticated)
        );
        // Whether something exists is not told to those who may not ask.
        assert_eq!(decide(user(ANN, false), Action::AddUser, Target::Unknown), Err(Denial::Forbidden));
    }

    #[test]
    fn a_viewer_reads_and_changes_nothing_but_the_own_account() {
        let viewer = Caller::User { id: ANN, role: Role::Viewer, scope: TokenScope::default() };
        let own = |action| decide(viewer, action, Target::ResourceOf(ANN, Some(NODE)));
        for action in [Action::ReadPoints, Action::ReadParsers, Action::ReadTokens, Action::ChangeUser] {
            assert_eq!(own(action), Ok(()), "{action:?}");
        }
        for action in [
            Action::AddPoints,
            Action::ChangeParsers,
            Action::ChangeTokens,
            Action::DeleteUser,
            Action::AddUser,
        ] {
            assert_eq!(own(action), Err(Denial::Forbidden), "{action:?}");
        }
        assert_eq!(decide(viewer, Action::ReadPoints, Target::User(BOB)), Err(Denial::Forbidden));
        assert_eq!(decide(viewer, Action::SignOut, Target::Nothing), Ok(()));
    }

    #[test]
    fn a_token_is_for_no_more_than_its_scope() {
        let with = |role, read_only, resource| Caller::User {
            id: ANN,
            role,
            scope: TokenScope { read_only, resource, stream: None },
        };
        let other = ResourceId(2);
        for role in [Role::Member, Role::Administrator] {
            let reader = with(role, true, None);
            assert_eq!(decide(reader, Action::ReadPoints, Target::ResourceOf(ANN, Some(NODE))), Ok(()));
            let one = with(role, false, Some(NODE));
            for (action, resource, may) in [
                (Action::AddPoints, Some(NODE), true),
                (Action::ReadPoints, Some(NODE), true),
                (Action::ReadPoints, Some(other), false),
                (Action::ReadPoints, None, false),
                (Action::ChangeCredentials, Some(NODE), false),
                (Action::ChangeComputedStreams, Some(NODE), false),
                (Action::DeleteResource, Some(NODE), false),
            ] {
                let decided = decide(one, action, Target::ResourceOf(ANN, resource));
                assert_eq!(decided.is_ok(), may, "{action:?} {resource:?}");
            }
            let both = with(role, true, Some(NODE));
            assert_eq!(decide(both, Action::ReadPoints, Target::ResourceOf(ANN, Some(NODE))), Ok(()));
            for narrow in [reader, one, both] {
                for action in [
                    Action::ChangeTokens,
                    Action::ChangeIdentities,
                    Action::ChangeUser,
                    Action::ChangeRole,
                    Action::DeleteUser,
                    Action::AddResource,
                    Action::AddUser,
                ] {
                    let decided = decide(narrow, action, Target::User(ANN));
                    assert_eq!(decided, Err(Denial::Forbidden), "{action:?}");
                }
            }
            assert_eq!(
                decide(both, Action::AddPoints, Target::ResourceOf(ANN, Some(NODE))),
                Err(Denial::Forbidden)
            );
            for action in [Action::Follow, Action::ReadMetrics, Action::ReadNetwork] {
                assert_eq!(decide(one, action, Target::Nothing), Err(Denial::Forbidden), "{action:?}");
            }
        }
    }

    #[test]
    fn a_stream_is_read_by_all_if_it_is_public_and_else_by_few_and_to_others_it_is_not_there() {
        let of = |is_public, is_given, owner| Target::Stream {
            owner,
            resource: NODE,
            stream: StreamId(7),
            is_public,
            is_given,
        };
        let stream = |is_public, owner| of(is_public, false, owner);
        let with = |id, role, read_only, resource, stream: Option<i64>| Caller::User {
            id,
            role,
            scope: TokenScope { read_only, resource, stream: stream.map(StreamId) },
        };
        let (member, administrator, viewer) = (Role::Member, Role::Administrator, Role::Viewer);
        for (caller, reads_private) in [
            (Caller::Nobody, false),
            (Caller::ThisMachine, false),
            (Caller::Device(NODE), false),
            (with(ANN, member, false, None, None), true),
            (with(ANN, viewer, false, None, None), true),
            (with(ANN, member, true, None, None), true),
            (with(ANN, member, false, Some(NODE), None), true),
            (with(ANN, member, false, Some(ResourceId(2)), None), false),
            (with(ANN, member, true, Some(NODE), Some(7)), true),
            (with(ANN, member, true, Some(NODE), Some(8)), false),
            (with(ANN, member, false, Some(NODE), Some(7)), false),
            (with(BOB, member, false, None, None), false),
            (with(BOB, administrator, false, None, None), true),
            (with(BOB, administrator, true, Some(NODE), Some(8)), false),
        ] {
            let private = decide(caller, Action::ReadShared, stream(false, ANN));
            assert_eq!(private, if reads_private { Ok(()) } else { Err(Denial::Unknown) }, "{caller:?}");
            assert_eq!(decide(caller, Action::ReadShared, stream(true, ANN)), Ok(()), "{caller:?}");
            assert_eq!(
                decide(caller, Action::ReadShared, Target::Unknown),
                Err(Denial::Unknown),
                "{caller:?}"
            );
        }
        // A group lets its members read it, and nobody by a token for anything of their own.
        for (caller, may) in [
            (with(BOB, member, false, None, None), true),
            (with(BOB, viewer, false, None, None), true),
            (with(BOB, member, true, None, None), true),
            (with(BOB, member, false, Some(NODE), None), false),
            (with(BOB, member, true, Some(NODE), Some(7)), false),
            (Caller::Nobody, false),
            (Caller::Device(NODE), false),
        ] {
            let decided = decide(caller, Action::ReadShared, of(false, true, ANN));
            assert_eq!(decided, if may { Ok(()) } else { Err(Denial::Unknown) }, "{caller:?}");
        }
        // A token for a stream may be anybody's, and so it does nothing but that.
        let token = with(ANN, administrator, true, Some(NODE), Some(7));
        for (action, target) in [
            (Action::ReadSelf, Target::Nothing),
            (Action::SignOut, Target::Nothing),
            (Action::ReadEndpoints, Target::Nothing),
            (Action::ReadNetwork, Target::Nothing),
            (Action::ReadPoints, Target::ResourceOf(ANN, Some(NODE))),
            (Action::ReadTokens, Target::User(ANN)),
            (Action::ReadFollowed, Target::User(ANN)),
            (Action::ReadUser, Target::Unknown),
        ] {
            assert_eq!(decide(token, action, target), Err(Denial::Forbidden), "{action:?}");
        }
    }

    #[test]
    fn a_token_to_post_to_a_stream_does_that_and_nothing_else() {
        let with = |role, stream| Caller::User {
            id: ANN,
            role,
            scope: TokenScope { read_only: false, resource: Some(NODE), stream: Some(StreamId(stream)) },
        };
        let its = Target::StreamOf(ANN, StreamId(7));
        for role in [Role::Member, Role::Administrator] {
            assert_eq!(decide(with(role, 7), Action::AddPoints, its), Ok(()));
            for (stream, action, target) in [
                (8, Action::AddPoints, its),
                // The resource as a whole takes points for any stream.
                (7, Action::AddPoints, Target::ResourceOf(ANN, Some(NODE))),
                (7, Action::ReadPoints, its),
                (7, Action::ReadStream, its),
                (7, Action::ChangeStream, its),
                (7, Action::DeleteStream, its),
                (7, Action::DeletePoints, its),
                (7, Action::ReadTokens, Target::User(ANN)),
                (7, Action::ReadSelf, Target::Nothing),
                (7, Action::SignOut, Target::Nothing),
                (7, Action::AddPoints, Target::Unknown),
            ] {
                let decided = decide(with(role, stream), action, target);
                assert_eq!(decided, Err(Denial::Forbidden), "{action:?} {target:?}");
            }
        }
        // A token is never for more than its user.
        assert_eq!(decide(with(Role::Viewer, 7), Action::AddPoints, its), Err(Denial::Forbidden));
        // One that reads a stream posts nothing to it.
        let scope = TokenScope { read_only: true, resource: Some(NODE), stream: Some(StreamId(7)) };
        let reader = Caller::User { id: ANN, role: Role::Member, scope };
        assert_eq!(decide(reader, Action::AddPoints, its), Err(Denial::Forbidden));
    }

    #[test]
    fn a_member_of_a_group_does_what_their_right_there_says_and_no_role_or_token_does_more() {
        let bob = |role, scope| Caller::User { id: BOB, role, scope };
        let whole = TokenScope::default();
        let reads_only = TokenScope { read_only: true, ..whole };
        let given = |access| Target::GivenResource(ANN, NODE, access);
        let [read, change] = [GroupAccess::Read, GroupAccess::Change];
        let reads = [Action::ReadResource, Action::ReadStream, Action::ReadPoints, Action::ReadCommands];
        let changes = [Action::ChangeResource, Action::ChangeStream, Action::ChangeParsers, Action::Command];
        let never = [
            Action::DeleteResource,
            Action::ChangeCredentials,
            Action::ReadResourceLog,
            Action::ReadPoller,
            Action::ChangePoller,
            Action::AddPoints,
            Action::DeletePoints,
            Action::AddStream,
            Action::DeleteStream,
            Action::ChangeRetention,
            Action::ReadComputedStreams,
            Action::ChangeComputedStreams,
            Action::ReadAlerts,
            Action::ChangeRules,
            Action::ReadResourceGroups,
            Action::ChangeResourceGroups,
            Action::ReadUser,
            Action::ReadTokens,
        ];
        for (caller, access, may_read, may_change) in [
            (bob(Role::Member, whole), read, true, false),
            (bob(Role::Member, whole), change, true, true),
            (bob(Role::Viewer, whole), change, true, false),
            (bob(Role::Member, reads_only), change, true, false),
            // A token for one resource is for one of one's own.
            (bob(Role::Member, TokenScope { resource: Some(NODE), ..whole }), change, false, false),
            (Caller::Device(NODE), change, false, false),
        ] {
            for (actions, may) in [(&reads[..], may_read), (&changes, may_change), (&never, false)] {
                for action in actions {
                    let decided = decide(caller, *action, given(access));
                    assert_eq!(
                        decided,
                        if may { Ok(()) } else { Err(Denial::Forbidden) },
                        "{caller:?} {action:?}"
                    );
                }
            }
        }
        for nobody in [Caller::Nobody, Caller::ThisMachine] {
            assert_eq!(decide(nobody, Action::ReadPoints, given(change)), Err(Denial::Unauthenticated));
        }
    }

    #[test]
    fn a_device_acts_for_its_own_resource_only() {
        let device = |action, target| decide(Caller::Device(NODE), action, target);
        assert_eq!(device(Action::AddPoints, Target::Resource(NODE)), Ok(()));
        assert_eq!(device(Action::AddPoints, Target::Resource(ResourceId(2))), Err(Denial::Forbidden));
        assert_eq!(device(Action::AddPoints, Target::Unknown), Err(Denial::Unknown));
        assert_eq!(device(Action::DeleteResource, Target::Resource(NODE)), Err(Denial::Forbidden));
        assert_eq!(device(Action::AddPoints, Target::User(ANN)), Err(Denial::Forbidden));
    }

    #[test]
    fn this_machine_may_look_and_no_more() {
        assert_eq!(decide(Caller::ThisMachine, Action::ReadNetwork, Target::Nothing), Ok(()));
        assert_eq!(decide(Caller::ThisMachine, Action::ReadMetrics, Target::Nothing), Ok(()));
        for (admin, may) in [(true, Ok(())), (false, Err(Denial::Forbidden))] {
            let user = Caller::User { id: ANN, role: Role::from(admin), scope: TokenScope::default() };
            assert_eq!(decide(user, Action::ReadMetrics, Target::Nothing), may);
        }
        assert_eq!(
            decide(Caller::Nobody, Action::ReadNetwork, Target::Nothing),
            Err(Denial::Unauthenticated)
        );
        assert_eq!(
            decide(Caller::ThisMachine, Action::Follow, Target::Nothing),
            Err(Denial::Unauthenticated)
        );
    }
}
