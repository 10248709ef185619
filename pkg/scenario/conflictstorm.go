package scenario

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/fault"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/observe"
	"github.com/evenkeel/evenkeel/pkg/registry"
)

// ConflictStorm restarts the API servers of members one after the other. While an API server
// starts, the harness edits StorageVersions that the API server has to write to, over and
// over through another member. Before that, the harness removes the API server's entries
// from them.
type ConflictStorm struct {
	// Members are selectors.
	Members []string `yaml:"members"`
	// Objects is the number of StorageVersions that the harness edits.
	Objects int `yaml:"objects"`
	// Interval is the mean pause between two edits of one object; the pauses are random.
	Interval time.Duration `yaml:"interval"`
	// WithFaults names faults that are active from before the start until the member is
	// ready. A slow link to etcd makes it more likely that an edit comes between the API
	// server's read and its write.
	WithFaults []string `yaml:"withFaults,omitempty"`
}

var _ = register("conflictStorm", func() Action { return &ConflictStorm{} }, registry.Fields{
	"members":    memberList,
	"objects":    registry.Count(1, 50, 1, 4, 12),
	"interval":   registry.Between(10*time.Millisecond, 10*time.Second, 100*time.Millisecond, 600*time.Millisecond),
	"withFaults": faultFiles,
}, cluster.ChangesControlPlane)

func (s *ConflictStorm) validate() error {
	if len(s.Members) == 0 || s.Objects <= 0 || s.Interval <= 0 {
		return errors.New("members must be there, and objects and interval positive")
	}
	return nil
}
func (s *ConflictStorm) selectors() []string       { return s.Members }
func (s *ConflictStorm) faults() []string          { return s.WithFaults }
func (s *ConflictStorm) fits(f *fault.Fault) error { return fitsAround(f) }
func (s *ConflictStorm) restarts(*Scenario) bool   { return true }

func (s *ConflictStorm) play(ctx context.Context, r *Runner, at target) error {
	return r.conflictStorm(ctx, at.members, s)
}

// stormAnnotation is the annotation that a conflict storm changes. No API server reads it.
const stormAnnotation = "evenkeel.dev/storm"

// conflictStorm restarts the API servers of members one after the other, each while the
// harness edits StorageVersions that the API server has to write to.
func (r *Runner) conflictStorm(ctx context.Context, members []string, conflictStorm *ConflictStorm) error {
	for _, member := range members {
		if err := r.stormOver(ctx, member, conflictStorm); err != nil {
			return err
		}
	}
	return nil
}

func (r *Runner) stormOver(ctx context.Context, member string, storm *ConflictStorm) (err error) {
	// The edits go through another member, so that the conflicts which this one
	// counts are its own.
	_, client, err := r.clientBeside(member)
	if err != nil {
		return err
	}
	defer client.Close()
	id := r.serverID(member)
	objects, err := reportedBy(ctx, client, id, storm.Objects)
	if err != nil {
		return err
	}
	// A fault proves that it bites while there is a server that feels it.
	for _, name := range storm.WithFaults {
		active, err := r.inject(ctx, name, member)
		r.active[name] = slices.Concat(r.active[name], active)
		if err != nil {
			return err
		}
	}
	if err := r.cluster.StopComponent(ctx, member, cluster.APIServer); err != nil {
		return err
	}
	// A server that finds its entries as it left them has nothing to write.
	for _, name := range objects {
		if err := r.strip(ctx, client, name, id); err != nil {
			return errors.Join(err, r.cluster.StartComponent(ctx, member, cluster.APIServer))
		}
	}
	r.storms++
	tell := func(phase history.Phase, count int64, proof string) {
		r.History.Record(history.Event{Kind: history.KindFault, Member: member, Fault: &history.Fault{
			ID: fmt.Sprintf("storm-%d", r.storms), Type: history.FaultConflictStorm, Action: history.FaultConflictStormEdits,
			Component: history.ComponentAPIServer, Objects: objects, Phase: phase, Count: count, Proof: proof,
		}})
	}
	tell(history.PhaseInject, 0, "")
	edits, ended := r.rage(ctx, client, objects, storm.Interval)
	err = r.cluster.StartComponent(ctx, member, cluster.APIServer)
	if err == nil {
		err = r.recorders.waitReady(ctx, member)
	}
	made := ended()
	// Whether or not it came about, the conflicts tell what the server met.
	if count, counted := r.conflictsAt(context.WithoutCancel(ctx), member); counted == nil && count > 0 && made > 0 {
		tell(history.PhaseWitness, count, fmt.Sprintf("%d edits of %d StorageVersions were taken, and %s counts %d writes of StorageVersions that it answered with a conflict",
			made, len(objects), member, count))
	}
	tell(history.PhaseHeal, 0, "")
	if err = errors.Join(err, edits()); err != nil {
		return err
	}
	for _, name := range storm.WithFaults {
		if err := r.heal(ctx, name, []string{member}); err != nil {
			return err
		}
	}
	return nil
}

// clientBeside returns a client of the member that follows the given one, and its name. The
// caller closes the client.
func (r *Runner) clientBeside(member string) (string, *observe.Client, error) {
	members := r.members()
	if len(members) < 2 {
		return "", nil, errors.New("it takes two members: one that starts, and another through which the StorageVersions are edited")
	}
	other := members[(slices.Index(members, member)+1)%len(members)]
	client, err := r.client(other)
	return other, client, err
}

// conflictsAt is how many writes of StorageVersions a member's API server has
// answered with a conflict since it was started.
func (r *Runner) conflictsAt(ctx context.Context, member string) (int64, error) {
	client, err := r.client(member)
	if err != nil {
		return 0, err
	}
	defer client.Close()
	return client.Conflicts(ctx, storageVersionResource)
}

// rage begins to edit the objects, each by itself, and goes on until ended is
// called, which says how many edits were taken. Failed says that none was.
func (r *Runner) rage(ctx context.Context, client *observe.Client, objects []string, every time.Duration) (failed func() error, ended func() int) {
	ctx, cancel := context.WithCancel(ctx)
	var raging sync.WaitGroup
	var mu sync.Mutex
	made := 0
	for _, name := range objects {
		// Edits in a steady rhythm would hit each write of a server that needs longer
		// than that from read to write, so that none could ever succeed.
		random := rand.New(rand.NewPCG(r.Rand.Uint64(), r.Rand.Uint64()))
		next := func() time.Duration { return time.Duration(random.ExpFloat64() * float64(every)) }
		raging.Go(func() {
			// One that is under way is waited for, so that its outcome is recorded.
			whole := context.WithoutCancel(ctx)
			for turn := 1; r.wait(ctx, next()) == nil; turn++ {
				answer := client.Do(whole, observe.Call{Class: history.ClassGuarded, Verb: "patch",
					Group: storageVersionGroup, Version: storageVersionVersion, Resource: storageVersionResource, Name: name,
					Body: map[string]any{"metadata": map[string]any{"annotations": map[string]string{stormAnnotation: strconv.Itoa(turn)}}}})
				if answer.OK() {
					mu.Lock()
					made++
					mu.Unlock()
				}
			}
		})
	}
	ended = func() int {
		cancel()
		raging.Wait()
		return made
	}
	failed = func() error {
		if made == 0 {
			return notThere(client.Member(), "none of the edits of StorageVersions through %s was taken", client.Member())
		}
		return nil
	}
	return failed, ended
}
