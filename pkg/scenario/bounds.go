package scenario

import "time"

// Bounds of the runner.
const (
	// ServiceTimeout is how long, after a step that failed, any member at all is waited
	// for to serve. Then the run ends early: what follows would show the same.
	ServiceTimeout = 60 * time.Second
	// AgainTimeout is how long a hold waits for a member that a step has waited for in
	// vain before.
	AgainTimeout = 10 * time.Second
	// VainTimeout is how long all steps may take together that fail because of the
	// control plane, so that a run ends whatever is broken: five times what a member may
	// take to be ready.
	VainTimeout = 15 * time.Minute
	// StepTimeout is the longest that any step may take for each member that it is done
	// to, a hold's own length not included. It is well above what a requirement allows a server to take
	// until it is ready, so that a slow one is judged and not cut off.
	StepTimeout = 210 * time.Second
	// PrepareTimeout is how long a provider may take to get all releases at hand;
	// images of a control plane are some hundred megabytes each.
	PrepareTimeout = 30 * time.Minute
	// BootTimeout is how long a provider may take to bring a control plane up.
	// One that makes machines first needs minutes; how long a component may take
	// to be ready is the provider's own to bound, and much shorter.
	BootTimeout = 15 * time.Minute
	// ReplaceTimeout is how long a provider's own way to another release may
	// take, which replaces and verifies one component after the other.
	ReplaceTimeout = 10 * time.Minute
	// ForeignTimeout is the longest that any step may take on an external cluster. The
	// topology says how long a hook may take, and the provider bounds it.
	ForeignTimeout = time.Hour
	// TriggerTimeout is how long a step waits for its trigger unless it says how long itself:
	// several times what an election or a write by a component takes that does it regularly.
	TriggerTimeout = time.Minute
	// SettleQuiet is for how long no StorageVersion may have changed before the
	// control plane counts as settled.
	SettleQuiet = 1500 * time.Millisecond
	// SettleTimeout bounds the wait for that. It is above the bound within which a member has
	// to be ready (RO-02, readyWithin), so that the history shows one that is late.
	SettleTimeout = 140 * time.Second
	// ShownTimeout is how long a hold waits for the members to show the latest
	// StorageVersions. Then it begins all the same: a server that does not show
	// them is to be judged, and not to end the run.
	ShownTimeout = 5 * time.Second
	// SettleLook is the pause between two looks at whether it has.
	SettleLook = 50 * time.Millisecond
	// CatchUpTimeout bounds the wait until the recorder of etcd has recorded
	// what had happened by a moment.
	CatchUpTimeout = 15 * time.Second
	// CompactTimeout bounds the wait until any member's etcd has compacted its history.
	CompactTimeout = 15 * time.Second
	// RejoinTimeout is how long etcd may take after a power cut until all its
	// members are there and have caught up, counted from when all components of
	// the member were ready. A member that was away for seconds needs a few
	// heartbeats; the rest is for machines that are not idle.
	RejoinTimeout = 60 * time.Second
	// RejoinLook is the pause between two looks at whether they are; each is a
	// line of the history.
	RejoinLook = 250 * time.Millisecond
	// DefineTimeout is how long a definition may be refused before the step has
	// failed: what was deleted just now may still be there.
	DefineTimeout = 30 * time.Second
	// GoneTimeout is how long a definition that was deleted may be there. An API server of
	// Kubernetes deletes its objects first; where it has just set up how to store them
	// ("storage is (re)initializing") that fails, and it tries again after up to two minutes.
	GoneTimeout = 150 * time.Second
	// DeleteNamespaceTimeout is how long a control plane may take to empty and delete a
	// namespace.
	DeleteNamespaceTimeout = 120 * time.Second
	// DepartTimeout is how long the entries of a server may stay whose identity Lease
	// was deleted, before the step has failed; twice what the checks allow.
	DepartTimeout = 60 * time.Second
	// BiteTimeout is how long it may take until an API server asks a misbehaving backend
	// for discovery. Kubernetes asks every minute unless an APIService changes.
	BiteTimeout = 90 * time.Second
	// LeaderTimeout is how long a step waits for a leader that renews: another one
	// takes over when the Lease of 15 seconds is over, and a member may be busy. Where
	// elections are coordinated, Kubernetes has had no leader for more than a minute
	// while members were upgraded.
	// LeaderInterval is the pause between two looks.
	LeaderTimeout = 150 * time.Second
	// ActsTimeout is how long a leader is waited for to do its first probe; published
	// ones read all that there is first.
	ActsTimeout    = 30 * time.Second
	LeaderInterval = 200 * time.Millisecond
	// LedTimeout is how long a hold waits for a leader that stays. Where elections are
	// coordinated, Kubernetes changes leaders two or three times in the first minute and
	// a half, each time after the Lease of 15 seconds has run out.
	LedTimeout = 3 * time.Minute
	// MeetTimeout is how long a step waits for requests that a fault is to hit: a
	// collector that has something to do asks at once, or tries again soon.
	HitsTimeout = 60 * time.Second
	// ChurnPauseLeast and ChurnPauseMost are around what is waited between two
	// changes of a churn: about as long as a change takes to show, so that many
	// are under way at once and some are not.
	ChurnPauseLeast = 50 * time.Millisecond
	ChurnPauseMost  = 700 * time.Millisecond
	// PopulateAlone is how many objects of a populate step a single writer of a member
	// sees to; of more there are several writers, at most PopulateWriters.
	PopulateAlone   = 1000
	PopulateWriters = 8
	// HeldEvery and HeldMost say how many objects each member adds to a population that are
	// deleted and held by a finalizer: one for so many that it owns, at least 1 and at most
	// HeldMost.
	HeldEvery = 20
	HeldMost  = 10
	// HeldTimeout is how long it may take to make them, and ReleaseTimeout to let go of
	// them when the run ends.
	HeldTimeout    = 30 * time.Second
	ReleaseTimeout = 10 * time.Second
	// MigrationTimeout is how long a step waits for a migration's end, or for a
	// share of it. Then the run goes on: a migration that does not end is to be
	// judged, and not to end the run. It is below StepTimeout.
	MigrationTimeout = 170 * time.Second
	// MigrationSlack is how much longer a step may take that waits for a migration than
	// it waits: what is final of one that has ended is tried then.
	MigrationSlack = 10 * time.Second
	// MigrationLook is the pause between two looks at a migration.
	MigrationLook = 50 * time.Millisecond
	// LearnTimeout is how long it may take to ask a cluster for its credentials.
	LearnTimeout = 10 * time.Second
	// CompareTimeout is how long the members are asked at the end of a hold, and of the run,
	// for what they and their etcd hold. What was not asked by then is a gap.
	CompareTimeout = 60 * time.Second
	// CleanUpTimeout is how long it may take at least to delete what a run has made in a
	// cluster that stays after it; each object adds to that. CleanUpWriters are deleted at
	// the same time.
	CleanUpTimeout = 8 * time.Second
	CleanUpWriters = 8
	// UndoTimeout bounds the healing of faults after a run was cut short.
	UndoTimeout = 5 * time.Second
	// ElectionTimeout is how long a step waits for the outcome of an election, and
	// HandoverTimeout is how long it waits until a leader gives way to a better candidate;
	// both are above what the checks allow. Then the run goes on: the checks judge what has
	// not come about, and it does not end the run. A handover is waited for twice as long as
	// CLE-08 allows: time for which a busy machine kept processes waiting is taken off.
	ElectionTimeout = 22 * time.Second
	HandoverTimeout = 90 * time.Second
	// CandidatesTimeout is how long a step waits until components whose candidates it has deleted
	// are candidates again. Kubernetes' learn of it when they renew next, after at most 300
	// seconds; it is above what the checks allow, which judge whether it comes about.
	CandidatesTimeout = 340 * time.Second
	// ElectionLook is the pause between two reads by which the harness's own candidates
	// learn whether the coordinator pings them.
	ElectionLook = 100 * time.Millisecond
	// ElectionSettle is how long all candidates exist before the election counts.
	ElectionSettle = 2500 * time.Millisecond
	// OddTimeout is how long a step waits until a coordinator acts on an odd content of a
	// Lease: it reads every five seconds, and candidates have as long to answer.
	OddTimeout = 12 * time.Second
	// LeadFor is the duration of the Leases that participants hold, and LeadRenewal
	// how often they renew them.
	LeadFor     = 5 * time.Second
	LeadRenewal = time.Second
	// SeizeFor is the duration of a Lease that the harness has taken from its holder. The
	// holder tries to renew it for 10 seconds, and only then has to stop.
	SeizeFor = 13 * time.Second
)
