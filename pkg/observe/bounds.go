package observe

import "time"

// Bounds of the recorders: how often they look and how long they wait. None of
// them is a bound that a requirement sets; those are the checks' own.
const (
	// RequestTimeout is after which a request's outcome counts as unknown.
	RequestTimeout = 3 * time.Second
	// DialTimeout bounds the making of a connection, TLS not included.
	DialTimeout = 1 * time.Second
	// RetryInterval is the pause before anything is tried again that failed.
	RetryInterval = 50 * time.Millisecond
	// PingInterval is the silence on a connection after which it is tested, so
	// that one to a server that is gone for good is not kept.
	PingInterval = 2 * time.Second

	// ReadyFast is how often /readyz is asked from a start until the first
	// answer of ready, and ReadySlow afterwards.
	ReadyFast = 20 * time.Millisecond
	ReadySlow = 200 * time.Millisecond
	// ReadyTimeout is after which /readyz counts as unanswered.
	ReadyTimeout = 1 * time.Second
	// ReadyRepeat is the longest time between two Ready events of a member,
	// even when nothing changes.
	ReadyRepeat = 1 * time.Second

	// EtcdProgress is how often the etcd watch is asked how far it is.
	EtcdProgress = 200 * time.Millisecond
	// EtcdSilence is after which a watch that tells nothing is given up for
	// another member's etcd.
	EtcdSilence = 3 * time.Second
	// EtcdAway is for how long nothing may have confirmed that the etcd recorder has all
	// that there is before it says, when it hears again, that it was away: a majority of
	// etcd is asked every EtcdProgress.
	EtcdAway = 1 * time.Second
	// EtcdReadTimeout bounds a read of the revision through one member.
	EtcdReadTimeout = 1 * time.Second
	// EtcdReconnect is the longest pause between two attempts to connect.
	EtcdReconnect = 200 * time.Millisecond

	// HashTimeout bounds one member's answer to a question for its hash, which etcd makes
	// of all that it holds: seconds where there are 100 000 objects.
	HashTimeout = 10 * time.Second
	// HashAttempts is how often a member is asked that has not come to the revision yet,
	// HashRounds how often all are asked while they have compacted their history to
	// different revisions, and HashRetry the pause in between.
	HashAttempts = 20
	HashRounds   = 5
	HashRetry    = 100 * time.Millisecond

	// ReadTimeout bounds one member's etcd's answer to a question for its keys.
	ReadTimeout = 5 * time.Second
	// ReadSample is how many objects of a resource each member is asked for by name, and
	// ReadLimit how many a list with a limit is asked for.
	ReadSample = 3
	ReadLimit  = 50
	// ReadStreamWait is how long a watch that begins with all objects may take to show them.
	ReadStreamWait = 20 * time.Second
	// ReadPageAge is how old a page may be for another member to be asked for the next one: an API
	// server may forget a revision soon after.
	ReadPageAge = 10 * time.Second
	// ReadMost is how many objects a resource may have for all of them to be listed; of
	// more, only the list with a limit, the page after it and the sample are asked for.
	ReadMost = 2000
	// ReadNames is how many differences of one answer are told by name.
	ReadNames = 5

	// VisibilityInterval is the pause between two writes of which all other members are
	// asked whether they show them.
	VisibilityInterval = 1 * time.Second
	// VisibilityWait is how long they are asked. It is above the bound within which a member
	// has to show a write (RO-06, showsWithin), so that the history shows one that is late.
	VisibilityWait = 12 * time.Second
	// visibilityUnderWay is how many writes a member is asked about at the same time.
	visibilityUnderWay = 16
	// visibilityKept is how many changes of an object a watch remembers.
	visibilityKept = 16

	// CustomInterval is the pause between two questions about custom resources to an API
	// server that starts. The resources take turns.
	CustomInterval = 100 * time.Millisecond
	// CustomAfterReady is how long it is asked on after it was ready first.
	CustomAfterReady = 5 * time.Second
	// CustomRepeat is the longest time that answers which are alike wait to be recorded as
	// one event.
	CustomRepeat = 1 * time.Second

	// BalancerInterval is the pause between two reads through the load balancer,
	// and BalancerTimeout how long such a client waits for its answer.
	BalancerInterval = 500 * time.Millisecond
	BalancerTimeout  = 5 * time.Second

	// starvationBeat is the timer whose lateness shows that the harness itself waits, and
	// starvationBeats how many make up a stretch of which is recorded how long processes
	// waited: a second. Longer ones would blur when it was, and shorter ones cost more.
	starvationBeat  = 100 * time.Millisecond
	starvationBeats = 10
	// starvedShare is the part of a stretch that processes must have waited for it to be
	// recorded. Processes that start wait for each other on a machine with few CPUs; a
	// quarter is more than a machine shows that has time for them.
	starvedShare = 0.25
	// slowDisk is how long a write takes to a disk that is slow: etcd warns of one at
	// 100 ms, and is unstable with it.
	slowDisk = 100 * time.Millisecond
	// diskBlock is how many bytes are written, as etcd does with one of its entries.
	diskBlock = 4 << 10
	// StarvationTimeout bounds the question to the members for how long their processes
	// waited.
	StarvationTimeout = 1 * time.Second

	// DiscoveryAttempts is how often discovery is fetched in vain before the
	// history gets a gap instead.
	DiscoveryAttempts = 20

	// DocumentInterval is the pause between two looks at a member's discovery
	// document: short, because how soon a change shows is judged in seconds.
	DocumentInterval = 250 * time.Millisecond
	// DocumentTimeout is after which a request for discovery counts as
	// unanswered. A server that fetches from others before it answers may take
	// as long as it waits for them.
	DocumentTimeout = 10 * time.Second
	// ForeignTimeout bounds a list of what may be foreign; a cluster may have many
	// CustomResourceDefinitions.
	ForeignTimeout = 5 * time.Second
	// SweepSpacing is the least time between two thorough looks at a member whose
	// document keeps changing; each is some sixty requests.
	SweepSpacing = 5 * time.Second

	// HandedOnAttempts is how often objects that only peers host are asked for
	// while the answer is a failure, and HandedOnRetry the pause in between.
	HandedOnAttempts = 4
	HandedOnRetry    = time.Second
	// maxHandedOn is how many group-versions are asked for so in one thorough look.
	maxHandedOn = 50

	// HammerInterval is the pause between two guarded writes of one probe to a
	// booting server. Two probes take turns, which makes one write each 10 ms.
	HammerInterval = 20 * time.Millisecond
	// LongestRest bounds the pause of a stream after a request, which is as long as the
	// answer took: the harness must see at once that a server answers again.
	LongestRest = 100 * time.Millisecond
	// HammerClassInterval is the pause between two probes of any other class.
	HammerClassInterval = 50 * time.Millisecond
	// HammerAfterReady is how long a server is hammered after it was ready
	// first, to see that the barrier never comes back.
	HammerAfterReady = 2 * time.Second
	// HammerLongest is how long a server is hammered that never gets ready. That it ends
	// before the server is ready is a gap, behind which nothing proves that a server came
	// too late: so it is longer than a check waits for a server (SV-10).
	HammerLongest = 150 * time.Second

	// ListAttempts is how often a list is asked for that is refused, and ListRetry the
	// pause in between: a server whose cache is being filled may refuse for a moment.
	ListAttempts = 5
	ListRetry    = 200 * time.Millisecond

	// InvalidAttempts is how often the harness sends a status again that the API server
	// refused only because another client had changed the object meanwhile.
	InvalidAttempts = 5
)
