package observe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// registryPrefix is below which Kubernetes keeps its objects in etcd.
const registryPrefix = "/registry/"

// Etcd records every change that etcd makes to a Kubernetes object, in the
// order of the revisions and each once, whichever member's etcd tells it.
type Etcd struct {
	members  []string
	config   func(member string) (clientv3.Config, error)
	recorder Recorder
	clock    clock.WithTicker

	// unread is why etcd may not be read; empty where it may.
	unread string

	mu      sync.Mutex
	clients map[string]*clientv3.Client
	// emitted is up to which revision all changes have been recorded, and moved
	// is closed and replaced whenever it grows.
	emitted int64
	moved   chan struct{}
	// agreementChanged is when the last change of a StorageVersion was recorded,
	// and agreementRevision the revision that made it.
	agreementChanged  time.Time
	agreementRevision int64
	// actors are the processes that acted last as the leader of each Lease; see LastActor.
	actors map[string]string
	// lying counts the objects of the harness in etcd by resource and stored version.
	lying map[hostedResource]map[string]int
	// written are those resources of which the harness has written an object.
	written map[hostedResource]WrittenResource
	// definitions are the CustomResourceDefinitions that exist, by their keys.
	definitions map[string]history.CustomResource
	// answered is which member answered the last read of the revision, so that
	// one that is down is not waited for each time.
	answered int

	// kept says which values are recorded, of an etcd that was there before the run; nil
	// where all are, from the first revision on.
	kept func(key string, value []byte) bool
	// own begins the names of all that the run writes; see OnlyOwn.
	own string
	// hosts are those on which members run, for what is kept.
	hosts []string

	// Only the goroutine of Run uses what follows. The watch in hand has told
	// everything up to told.
	next int64
	told int64
	keys map[string]storedKey
	// heard is the time of the history up to which all that etcd had is known to be
	// recorded, and excused up to when the history says that this was not known; 0 before.
	heard, excused int64
}

// storedKey is what is remembered of a key that exists.
type storedKey struct {
	name, tag     string
	resource      hostedResource
	version       string
	leaderActions []history.LeaderAction
}

type hostedResource struct{ group, resource string }

// NewEtcd makes a recorder that has recorded nothing yet. The config function
// is asked whenever a member's etcd is to be connected to, and may fail until
// that member is there.
func NewEtcd(members []string, config func(member string) (clientv3.Config, error), recorder Recorder, clk clock.WithTicker) *Etcd {
	return &Etcd{
		members: members, config: config, recorder: recorder, clock: clk,
		clients: map[string]*clientv3.Client{},
		moved:   make(chan struct{}),
		next:    1,
		keys:    map[string]storedKey{},
		lying:   map[hostedResource]map[string]int{},
		actors:  map[string]string{},

		written:     map[hostedResource]WrittenResource{},
		definitions: map[string]history.CustomResource{},

		agreementChanged: clk.Now(),
	}
}

// NewUnreadEtcd makes a recorder of an etcd that may not be read. All that it records
// is a gap, so that nothing is ever taken to follow from what etcd does not show; of
// revisions it knows none, which is 0.
func NewUnreadEtcd(members []string, why string, recorder Recorder, clk clock.WithTicker) *Etcd {
	r := NewEtcd(members, nil, recorder, clk)
	r.unread = why
	r.config = func(string) (clientv3.Config, error) { return clientv3.Config{}, errors.New(why) }
	return r
}

// Run records until the context ends.
func (r *Etcd) Run(ctx context.Context) {
	if r.unread != "" {
		r.recorder.Record(history.Event{Kind: history.KindRecorderMissed, RecorderMissed: &history.RecorderMissed{Source: history.SourceEtcd, Message: "nothing that lies in etcd is known: " + r.unread}})
		return
	}
	defer r.close()
	for turn := 0; ctx.Err() == nil; turn++ {
		r.follow(ctx, r.members[turn%len(r.members)])
		pause(ctx, r.clock, RetryInterval)
	}
}

func (r *Etcd) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, client := range r.clients {
		_ = client.Close()
	}
	clear(r.clients)
}

func (r *Etcd) client(member string) (*clientv3.Client, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if client, ok := r.clients[member]; ok {
		return client, nil
	}
	config, err := r.config(member)
	if err != nil {
		return nil, err
	}
	config.Logger = zap.NewNop()
	config.DialOptions = append(config.DialOptions, grpc.WithConnectParams(grpc.ConnectParams{
		Backoff:           backoff.Config{BaseDelay: RetryInterval, Multiplier: 2, MaxDelay: EtcdReconnect},
		MinConnectTimeout: DialTimeout,
	}))
	client, err := clientv3.New(config)
	if err != nil {
		return nil, fmt.Errorf("connect to the etcd of %s: %w", member, err)
	}
	r.clients[member] = client
	return client, nil
}

// follow watches through one member until that tells nothing any more.
func (r *Etcd) follow(ctx context.Context, member string) {
	client, err := r.client(member)
	if err != nil {
		return
	}
	if r.kept != nil && r.next == 1 && !r.begin(ctx, client) {
		return
	}
	ctx, cancel := context.WithCancel(clientv3.WithRequireLeader(ctx))
	var asking sync.WaitGroup
	defer asking.Wait()
	defer cancel()
	confirmed := make(chan int64)
	asking.Go(func() { r.confirm(ctx, client, confirmed) })
	r.told = 0
	// The client gives a watch only when a server has taken it: it would wait for a member
	// that is down until that is back.
	opened := make(chan clientv3.WatchChan, 1)
	next := r.next
	asking.Go(func() { opened <- client.Watch(ctx, registryPrefix, clientv3.WithPrefix(), clientv3.WithRev(next)) })
	var responses clientv3.WatchChan
	ticker := r.clock.NewTicker(EtcdProgress)
	defer ticker.Stop()
	heard := r.clock.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C():
			if r.clock.Since(heard) > EtcdSilence {
				return
			}
			if responses == nil {
				continue // no watch has begun yet that could report progress
			}
			// The answer comes as a response like any other; a failure shows as
			// silence.
			progress, done := context.WithTimeout(ctx, EtcdProgress)
			_ = client.RequestProgress(progress)
			done()
		case responses = <-opened:
			heard = r.clock.Now()
		case from := <-confirmed:
			r.hear(from)
		case response, open := <-responses:
			if !open || !r.take(response) {
				return
			}
			heard = r.clock.Now()
		}
	}
}

// take records a response; it is false when the watch has come to its end.
func (r *Etcd) take(response clientv3.WatchResponse) bool {
	if lost := response.CompactRevision; lost > r.next {
		r.recorder.Record(history.Event{Kind: history.KindRecorderMissed, RecorderMissed: &history.RecorderMissed{
			Source:  history.SourceEtcd,
			Message: fmt.Sprintf("etcd had compacted its history before it was recorded: changes of the revisions %d to %d may be missing", r.next, lost-1),
		}})
		r.next = lost
		return false
	}
	if response.Err() != nil {
		return false
	}
	if len(response.Events) > 0 {
		r.excuse()
	}
	agreement := int64(0)
	for _, event := range response.Events {
		if event.Kv.ModRevision < r.next {
			if event.Kv.ModRevision <= r.told {
				r.late(event)
			}
			continue // already told by another member
		}
		if r.kept != nil && !r.kept(string(event.Kv.Key), event.Kv.Value) {
			continue // the object is not for the history
		}
		stored := r.stored(event)
		if stored.StorageVersion != nil || stored.Type == history.StoredDelete && isStorageVersionKey(stored.Key) {
			agreement = stored.Revision
		}
		// All that etcd had at the time heard is recorded, so the change was made later.
		r.recorder.Record(history.Event{Kind: history.KindStored, From: r.heard, Stored: &stored})
		if a := stored.LeaderAction; a != nil {
			r.acted(a.Lease, cmp.Or(a.Holder, a.Host))
		}
	}
	// etcd never splits a revision over two responses unless asked to, so the
	// last revision of a response is complete.
	through := r.next - 1
	if n := len(response.Events); n > 0 {
		through = max(through, response.Events[n-1].Kv.ModRevision)
	} else if response.IsProgressNotify() {
		through = max(through, response.Header.Revision)
	}
	r.next = through + 1
	r.told = through

	r.mu.Lock()
	defer r.mu.Unlock()
	if agreement > 0 {
		r.agreementChanged, r.agreementRevision = r.clock.Now(), agreement
	}
	if through > r.emitted {
		r.emitted = through
		close(r.moved)
		r.moved = make(chan struct{})
	}
	return true
}

func (r *Etcd) acted(lease, actor string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.actors[lease] = actor
}

// LastActor returns the process that acted last as the leader of a Lease, which is given as
// <namespace>/<name>: its identity as a holder, or only the host that it runs on. It is
// empty if the harness has seen none act.
func (r *Etcd) LastActor(lease string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.actors[lease]
}

// confirm tells, over and over, of a time by which all that etcd had is recorded. That a
// member's etcd answers says nothing: one that is cut off, or behind the others, says that
// it has come no further, and what it tells later it tells late. Only a majority answers
// a read like this one.
func (r *Etcd) confirm(ctx context.Context, client *clientv3.Client, confirmed chan<- int64) {
	for ctx.Err() == nil {
		from := r.recorder.Now()
		bounded, done := context.WithTimeout(ctx, EtcdReadTimeout)
		response, err := client.Get(bounded, registryPrefix)
		if err == nil {
			err = r.WaitFor(bounded, response.Header.Revision)
		}
		done()
		if err == nil {
			select {
			case confirmed <- from:
			case <-ctx.Done():
			}
		}
		pause(ctx, r.clock, EtcdProgress)
	}
}

// hear notes that all that etcd had at a time is recorded.
func (r *Etcd) hear(from int64) {
	if r.heard > 0 {
		r.excuse()
	}
	r.heard = max(r.heard, from)
}

// excuse records for how long it was unknown whether the recorder had everything, if that
// took longer than EtcdAway: the events that etcd sends now may be that old.
func (r *Etcd) excuse() {
	now, since := r.recorder.Now(), max(r.heard, r.excused)
	if r.heard > 0 && now-since > int64(EtcdAway) {
		r.recorder.Record(history.Event{Kind: history.KindRecorderDelayed, From: since, RecorderDelayed: &history.RecorderDelayed{Source: history.SourceEtcd}})
		r.excused = now
	}
}

// late notes a change of which this very watch had said that it was past it.
// The history has to be in the order of the revisions, so the change itself
// has no place in it any more.
func (r *Etcd) late(event *clientv3.Event) {
	r.recorder.Record(history.Event{Kind: history.KindRecorderMissed, RecorderMissed: &history.RecorderMissed{
		Source:  history.SourceEtcd,
		Message: fmt.Sprintf("etcd told of revision %d only after it had told of %d, so that a change of %s is missing", event.Kv.ModRevision, r.told, event.Kv.Key),
	}})
}

func (r *Etcd) stored(event *clientv3.Event) history.Stored {
	key := string(event.Kv.Key)
	if event.Type == clientv3.EventTypeDelete {
		known := r.keys[key]
		delete(r.keys, key)
		r.define(key, nil)
		r.count(known, -1)
		return history.Stored{Type: history.StoredDelete, Key: key, Revision: event.Kv.ModRevision, Name: known.name}
	}
	object := decodeStored(event.Kv.Value)
	stored := history.Stored{
		Type:           history.StoredPut,
		Key:            key,
		Revision:       event.Kv.ModRevision,
		Created:        event.Kv.CreateRevision,
		APIVersion:     object.apiVersion,
		ObjectKind:     object.kind,
		Name:           object.name,
		Deleting:       object.deleting,
		Protected:      object.protected,
		StorageVersion: object.storageVersion,
		Lease:          object.lease,
		Migration:      object.migration,
		CustomResource: object.customResource,
		Candidate:      object.candidate,
		LeaderAction:   object.acted,
		Metadata:       object.metadata,
		Content:        object.content,
		Managed:        object.managed,
	}
	known := r.keys[key]
	r.count(known, -1)
	before := known
	if event.IsCreate() {
		before = storedKey{}
	}
	if stored.LeaderAction == nil {
		stored.LeaderAction = fresh(object.leaderActions, before.leaderActions, stored.Created)
	}
	// A tag that the object had before is a leftover: another client changed the object,
	// and this change is not the tagged write.
	if object.tag != before.tag {
		stored.Writer, stored.Write, _ = ParseTag(object.tag)
	}
	known = storedKey{name: object.name, tag: object.tag, version: object.apiVersion, leaderActions: object.leaderActions}
	known.resource.group, known.resource.resource, _ = stored.Hosted()
	r.keys[key] = known
	r.count(known, 1)
	r.noteWritten(key, known)
	r.define(key, object.customResource)
	return stored
}

// count adds an object of the harness to those that lie in etcd, or takes it away.
func (r *Etcd) count(known storedKey, by int) {
	if known.tag == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	versions := r.lying[known.resource]
	if versions == nil {
		versions = map[string]int{}
		r.lying[known.resource] = versions
	}
	versions[known.version] += by
}

// NotIn is how many objects of the harness lie in etcd in another version than
// the given one, as far as was recorded.
func (r *Etcd) NotIn(group, resource, apiVersion string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	total := 0
	for version, n := range r.lying[hostedResource{group, resource}] {
		if version != apiVersion {
			total += n
		}
	}
	return total
}

// Revision is etcd's current revision: everything acknowledged before the call
// is at or below it. Any member's etcd that answers will do. It is 0 of an etcd that
// may not be read.
func (r *Etcd) Revision(ctx context.Context) (int64, error) {
	if r.unread != "" {
		return 0, nil
	}
	r.mu.Lock()
	first := r.answered
	r.mu.Unlock()
	var errs []error
	for i := range r.members {
		turn := (first + i) % len(r.members)
		member := r.members[turn]
		client, err := r.client(member)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		bounded, cancel := context.WithTimeout(ctx, EtcdReadTimeout)
		response, err := client.Get(bounded, registryPrefix, clientv3.WithCountOnly())
		cancel()
		if err == nil {
			r.mu.Lock()
			r.answered = turn
			r.mu.Unlock()
			return response.Header.Revision, nil
		}
		errs = append(errs, fmt.Errorf("read the revision from the etcd of %s: %w", member, err))
	}
	return 0, errors.Join(errs...)
}

// WaitFor returns when every change up to the revision has been recorded.
func (r *Etcd) WaitFor(ctx context.Context, revision int64) error {
	for {
		r.mu.Lock()
		emitted, moved := r.emitted, r.moved
		r.mu.Unlock()
		if emitted >= revision {
			return nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return fmt.Errorf("wait until the changes of etcd are recorded up to revision %d, having come to %d: %w", revision, emitted, context.Cause(ctx))
		}
	}
}

// AgreementQuiet is for how long no StorageVersion has changed.
func (r *Etcd) AgreementQuiet() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.clock.Since(r.agreementChanged)
}

// AgreementRevision is the revision of the last change of a StorageVersion; 0
// if there was none.
func (r *Etcd) AgreementRevision() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.agreementRevision
}

// pause waits for the given time, or for the end of the context.
func pause(ctx context.Context, clk clock.WithTicker, d time.Duration) {
	timer := clk.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C():
	case <-ctx.Done():
	}
}
