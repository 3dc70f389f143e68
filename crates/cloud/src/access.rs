//! Who may do what: the one policy of HTTP and CoAP. It is asked before any handler runs, and what it does not allow
//! is refused.

use sixlock_store::{ResourceId, UserId};

/// Who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Caller {
    /// Somebody who proved nothing.
    Nobody,
    /// Nobody known either, but a program on this machine.
    ThisMachine,
    /// The device of this resource: its key has been proved.
    Device(ResourceId),
    /// A person who is signed in.
    User { id: UserId, admin: bool },
}

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    SignIn,
    SignOut,
    /// Learn who one is.
    ReadSelf,
    /// Learn where devices report to.
    ReadEndpoints,
    ReadDescription,
    ReadNetwork,
    ReadMetrics,
    ReadAudit,
    /// Follow the points of all that one may see.
    Follow,
    ListUsers,
    AddUser,
    ReadUser,
    ChangeUser,
    DeleteUser,
    /// List, make and end tokens for programs.
    ManageTokens,
    ReadResource,
    AddResource,
    ChangeResource,
    DeleteResource,
    /// Give a resource a new credential, or end one.
    ChangeCredentials,
    ReadPoller,
    ChangePoller,
    ReadStream,
    AddStream,
    ChangeStream,
    DeleteStream,
    ReadPoints,
    AddPoints,
    DeletePoints,
    ReadParsers,
    ChangeParsers,
    ReadComputedStreams,
    ChangeComputedStreams,
    /// Read rules, alerts and channels.
    ReadAlerts,
    ChangeRules,
    AcknowledgeAlert,
    /// Make, test and delete channels on which alerts are told.
    ChangeChannels,
}

/// Whom it concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// Nobody in particular.
    Nothing,
    /// This user, and what is theirs.
    User(UserId),
    /// This resource, what is in it, and whose it is.
    Resource(ResourceId),
    /// What is named is not there.
    Unknown,
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
    /// Programs on this machine, and whoever is signed in.
    ThisMachine,
    /// Programs on this machine, and administrators.
    Operator,
    /// Whoever is signed in.
    SignedIn,
    /// The user whom it concerns, and administrators.
    Owner,
    /// Administrators.
    Administrator,
}

impl Action {
    /// Which people may do it.
    pub(crate) const fn people(self) -> People {
        match self {
            Self::SignIn => People::Everybody,
            Self::ReadDescription | Self::ReadNetwork => People::ThisMachine,
            Self::ReadMetrics => People::Operator,
            Self::SignOut | Self::ReadSelf | Self::ReadEndpoints | Self::Follow => People::SignedIn,
            Self::ReadAudit | Self::ListUsers | Self::AddUser => People::Administrator,
            Self::ReadUser
            | Self::ChangeUser
            | Self::DeleteUser
            | Self::ManageTokens
            | Self::ReadResource
            | Self::AddResource
            | Self::ChangeResource
            | Self::DeleteResource
            | Self::ChangeCredentials
            | Self::ReadPoller
            | Self::ChangePoller
            | Self::ReadStream
            | Self::AddStream
            | Self::ChangeStream
            | Self::DeleteStream
            | Self::ReadPoints
            | Self::AddPoints
            | Self::DeletePoints
            | Self::ReadParsers
            | Self::ChangeParsers
            | Self::ReadComputedStreams
            | Self::ChangeComputedStreams
            | Self::ReadAlerts
            | Self::ChangeRules
            | Self::AcknowledgeAlert
            | Self::ChangeChannels => People::Owner,
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
    match (caller, people) {
        (_, People::Everybody) | (Caller::ThisMachine, People::ThisMachine | People::Operator) => Ok(()),
        (Caller::Nobody | Caller::ThisMachine, _) => Err(Denial::Unauthenticated),
        (Caller::User { .. }, People::ThisMachine | People::SignedIn) => Ok(()),
        (Caller::User { admin: false, .. }, People::Administrator | People::Operator) => {
            Err(Denial::Forbidden)
        }
        (Caller::User { .. } | Caller::Device(_), _) if target == Target::Unknown => Err(Denial::Unknown),
        (Caller::User { admin: true, .. }, People::Owner | People::Administrator | People::Operator) => {
            Ok(())
        }
        (Caller::User { id, .. }, People::Owner) if target == Target::User(id) => Ok(()),
        (Caller::Device(own), _) if action.is_for_devices() && target == Target::Resource(own) => Ok(()),
        (Caller::User { .. } | Caller::Device(_), _) => Err(Denial::Forbidden),
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
        let user = |id, admin| Caller::User { id, admin };
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
            let user = Caller::User { id: ANN, admin };
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
