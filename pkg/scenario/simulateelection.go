package scenario

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/ptr"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/observe"
	"github.com/evenkeel/evenkeel/pkg/registry"
	"github.com/evenkeel/evenkeel/pkg/release"
)

// SimulateElection has candidates of the harness stand for a Lease that no component uses.
// As KEP-4355 specifies, they answer pings, lead when the coordinator elects them, and give
// way when it names another preferred holder. At the end the step deletes the candidates and
// the Lease.
type SimulateElection struct {
	// Member is the member to whose API server the candidates send their requests.
	Member string `yaml:"member"`
	// Lease is a name in the namespace kube-system, to which the harness adds a prefix.
	Lease string `yaml:"lease"`
	// Participants are the candidates.
	Participants []Participant `yaml:"participants"`
	// Elections is the number of elections; before each but the first the step deletes the
	// Lease.
	Elections int `yaml:"elections,omitempty"`
	// MalformedLease has the step write invalid content before the last election.
	MalformedLease bool `yaml:"malformedLease,omitempty"`
	// Strategy is the strategy of all candidates; empty means OldestEmulationVersion. With
	// any other strategy the step waits for the Lease, and then gives it a holder that is
	// no candidate.
	Strategy string `yaml:"strategy,omitempty"`
	// ChooseStrategies are strategies that the step sets on the Lease as an operator, one after
	// the other, when the elections are over. After each it waits until the candidate leads
	// that should lead by it.
	ChooseStrategies []string `yaml:"chooseStrategies,omitempty"`
	// LegacyHolderFor has a holder without coordinated leader election claim the Lease before
	// the candidates stand, and renew it for so long. Then the holder lets it expire.
	LegacyHolderFor time.Duration `yaml:"legacyHolderFor,omitempty"`
}

var _ = register("simulateElection", func() Action { return &SimulateElection{} }, registry.Fields{
	"member":           oneMember,
	"lease":            registry.AnyText("e1", "e2", "e3"),
	"participants":     participantFields.Of(reflect.TypeFor[Participant]()).List(1, mostCandidates),
	"elections":        registry.Count(1, 20, 1, 3),
	"malformedLease":   registry.Flag(),
	"strategy":         registry.AnyText(oldestStrategy, newestStrategy, uncoordinatedStrategy, "example.com/draft"),
	"chooseStrategies": registry.OneOf(newestStrategy, oldestStrategy).List(1, 4),
	"legacyHolderFor":  outage,
}, cluster.ChangesControlPlane)

func (e *SimulateElection) selectors() []string { return []string{e.Member} }

func (e *SimulateElection) play(ctx context.Context, r *Runner, at target) error {
	return r.simulateElection(ctx, at.one(), e)
}

// Participant is a candidate of the harness.
type Participant struct {
	Name string `yaml:"name"`
	// Binary and Emulation are versions such as 1.2.0; an empty Emulation means the version
	// of the binary.
	Binary    string `yaml:"binary"`
	Emulation string `yaml:"emulation,omitempty"`
	// IgnoresPings is whether the candidate does not answer pings.
	IgnoresPings bool `yaml:"ignoresPings,omitempty"`
	// RenewedAgo is how long ago the candidate has renewed for the last time; it does not
	// renew any more.
	RenewedAgo time.Duration `yaml:"renewedAgo,omitempty"`
	// JoinsLast has the candidate stand only after the elections; the step waits until it
	// leads.
	JoinsLast bool `yaml:"joinsLast,omitempty"`
	// Strategy is the strategy of this candidate; empty means the strategy of the step.
	Strategy string `yaml:"strategy,omitempty"`
	// WhenPreferred has the candidate join last, and go as soon as the coordinator names it the
	// preferred holder: it leaves, which deletes it, or fallsSilent, and answers no ping any more.
	// The step waits until another candidate leads.
	WhenPreferred string `yaml:"whenPreferred,omitempty"`
	// Becomes is the version that the candidate declares after the elections, as its binary
	// and its emulation; the step waits until the candidate leads that should lead then.
	Becomes string `yaml:"becomes,omitempty"`
}

// What may become of a preferred holder before it leads.
const (
	leaves      = "leaves"
	fallsSilent = "fallsSilent"
)

// ownPrefix marks what belongs to participants of the harness's own.
const ownPrefix = "evenkeel-"

// Strategies by which a coordinator elects, and the one that leaves a Lease to the instances.
const (
	oldestStrategy        = string(coordinationv1.OldestEmulationVersion)
	newestStrategy        = "NewestEmulationVersion"
	uncoordinatedStrategy = "NoCoordination"
)

func (e *SimulateElection) validate() error {
	return errors.Join(missing("member", e.Member), missing("lease", e.Lease), e.fieldsProblem())
}

// fieldsProblem says what is wrong with its other fields.
func (e *SimulateElection) fieldsProblem() error {
	if len(e.Participants) == 0 || e.Elections < 0 || e.LegacyHolderFor < 0 {
		return errors.New("participants must be there, and elections and legacyHolderFor not negative")
	}
	names := map[string]bool{}
	for _, p := range e.Participants {
		if len(validation.IsDNS1123Label(p.Name)) > 0 || names[p.Name] || p.Binary == "" {
			return fmt.Errorf("the participant %q needs a name of its own that is a short DNS label, and a binary version", p.Name)
		}
		if p.Emulation != "" && release.Compare(p.Emulation, p.Binary) > 0 {
			return fmt.Errorf("the participant %q emulates %s, which is later than its binary %s: no API server takes such a candidate", p.Name, p.Emulation, p.Binary)
		}
		if p.WhenPreferred != "" && p.WhenPreferred != leaves && p.WhenPreferred != fallsSilent {
			return fmt.Errorf("whenPreferred of the participant %q must be %s or %s", p.Name, leaves, fallsSilent)
		}
		names[p.Name] = true
	}
	for _, s := range e.ChooseStrategies {
		if s != oldestStrategy && s != newestStrategy {
			return fmt.Errorf("chooseStrategies may have %s and %s, and has %q", oldestStrategy, newestStrategy, s)
		}
	}
	if len(validation.IsDNS1123Label(e.Lease)) > 0 {
		return fmt.Errorf("%q is no short DNS label", e.Lease)
	}
	return nil
}

// crew is the participants of a SimulateElection at work.
type crew struct {
	client *observe.Client
	now    func() time.Time
	step   *SimulateElection
	lease  string
	// renewed is when the leader of them renewed last.
	renewed time.Time
	// standing are the participants that have declared themselves and do their part.
	standing map[string]*Participant
}

// elect plays a SimulateElection.
func (r *Runner) simulateElection(ctx context.Context, member string, step *SimulateElection) error {
	client, err := r.client(member)
	if err != nil {
		return err
	}
	defer client.Close()
	c := &crew{client: client, now: r.Clock.Now, step: step, lease: ownPrefix + step.Lease, standing: map[string]*Participant{}}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), UndoTimeout)
		defer cancel()
		c.withdraw(ctx)
	}()
	if step.LegacyHolderFor > 0 {
		c.claim(ctx)
	}
	var late []*Participant
	for i := range step.Participants {
		if p := &step.Participants[i]; p.JoinsLast || p.WhenPreferred != "" {
			late = append(late, p)
		} else if err := c.declare(ctx, p); err != nil {
			return err
		}
	}
	if step.Strategy != "" && step.Strategy != oldestStrategy && step.Strategy != newestStrategy {
		return r.thirdParty(ctx, c)
	}
	if err := r.claimFor(ctx, c, step.LegacyHolderFor); err != nil {
		return err
	}
	for i := range max(1, step.Elections) {
		if i > 0 {
			if err := r.endTerm(ctx, c, step.MalformedLease && i == step.Elections-1); err != nil {
				return err
			}
		}
		if err := r.workUntil(ctx, c, ElectionTimeout, c.settled); err != nil {
			return err
		}
	}
	if err := r.changeElection(ctx, c); err != nil {
		return err
	}
	for _, p := range late {
		if err := c.declare(ctx, p); err != nil {
			return err
		}
		if err := r.join(ctx, c, p); err != nil {
			return err
		}
	}
	return r.workFor(ctx, c, ElectionSettle)
}

// join waits until a participant that came last leads, or until another one does where it goes
// before that.
func (r *Runner) join(ctx context.Context, c *crew, p *Participant) error {
	if p.WhenPreferred == "" {
		return r.workUntil(ctx, c, HandoverTimeout, func(l *coordinationv1.Lease) bool { return c.mine(l) == p })
	}
	prefers := func(l *coordinationv1.Lease) bool {
		return l != nil && (c.mine(l) == p || ptr.Deref(l.Spec.PreferredHolder, "") == c.name(p))
	}
	if err := r.workUntil(ctx, c, HandoverTimeout, prefers); err != nil {
		return err
	}
	if p.WhenPreferred == leaves {
		c.client.Do(ctx, electionCall(history.ElectionParticipate, candidateCall("delete", c.name(p))))
	}
	delete(c.standing, c.name(p))
	return r.workUntil(ctx, c, HandoverTimeout, func(l *coordinationv1.Lease) bool { return c.mine(l) != nil && !prefers(l) })
}

// endTerm has the leader work for a while and then deletes the Lease, so that another election
// follows. Before that it can write fields to the Lease that no election would leave.
func (r *Runner) endTerm(ctx context.Context, c *crew, malformed bool) error {
	if err := r.workFor(ctx, c, ElectionSettle); err != nil {
		return err
	}
	if malformed {
		if err := r.odd(ctx, c); err != nil {
			return err
		}
	}
	if err := c.revive(ctx); err != nil {
		return err
	}
	return c.erase(ctx)
}

// thirdParty waits for a Lease without a holder, and gives it one.
func (r *Runner) thirdParty(ctx context.Context, c *crew) error {
	if err := r.workUntil(ctx, c, ElectionTimeout, func(l *coordinationv1.Lease) bool { return l != nil }); err != nil {
		return err
	}
	lease := c.read(ctx)
	if lease == nil {
		return nil // there is nothing to give; which is judged
	}
	now := metav1.NewMicroTime(c.now())
	holder, how := history.ThirdPartyHolder, history.ElectionAssign
	if c.step.Strategy == uncoordinatedStrategy { // there the first candidate takes it
		holder, how = c.name(&c.step.Participants[0]), history.ElectionParticipate
	}
	lease.Spec.HolderIdentity, lease.Spec.AcquireTime, lease.Spec.RenewTime = &holder, &now, &now
	lease.Spec.LeaseDurationSeconds = ptr.To(int32(time.Hour / time.Second))
	c.put(ctx, how, lease)
	return r.workFor(ctx, c, 2*LeadFor)
}

// workFor has the participants do their part for a while.
func (r *Runner) workFor(ctx context.Context, c *crew, lasts time.Duration) error {
	until := r.Clock.Now().Add(lasts)
	for r.Clock.Now().Before(until) {
		c.work(ctx)
		if err := r.wait(ctx, ElectionLook); err != nil {
			return err
		}
	}
	return nil
}

// workUntil has them do so until the Lease is as it should be, or for as long as
// that may take.
func (r *Runner) workUntil(ctx context.Context, c *crew, bound time.Duration, enough func(*coordinationv1.Lease) bool) error {
	until, since := r.Clock.Now().Add(bound), r.History.Now()
	for r.Clock.Now().Before(until) {
		if enough(c.work(ctx)) {
			return nil
		}
		if err := r.wait(ctx, ElectionLook); err != nil {
			return err
		}
	}
	r.passOver(ctx, since, bound, history.AwaitedLeader, c.client.Member(), "the Lease %s has not come to be what the step waits for", c.lease)
	return nil
}

// declare makes the candidate of a participant.
func (c *crew) declare(ctx context.Context, p *Participant) error {
	renewed := metav1.NewMicroTime(c.now().Add(-p.RenewedAgo))
	strategy := coordinationv1.CoordinatedLeaseStrategy(cmp.Or(p.Strategy, c.step.Strategy, oldestStrategy))
	emulation := p.Emulation
	if emulation == "" {
		emulation = p.Binary
	}
	call := electionCall(history.ElectionParticipate, candidateCall("create", c.name(p)))
	call.Body = &coordinationv1beta1.LeaseCandidate{
		TypeMeta:   metav1.TypeMeta{APIVersion: coordinationv1beta1.SchemeGroupVersion.String(), Kind: "LeaseCandidate"},
		ObjectMeta: metav1.ObjectMeta{Name: c.name(p), Namespace: leaseNamespace},
		Spec: coordinationv1beta1.LeaseCandidateSpec{
			LeaseName: c.lease, BinaryVersion: p.Binary, EmulationVersion: emulation, Strategy: strategy, RenewTime: &renewed,
		},
	}
	if answer := c.client.Do(ctx, call); !answer.OK() && answer.Code != http.StatusConflict {
		return refused(call, c.client.Member(), answer)
	}
	c.standing[c.name(p)] = p
	return nil
}

func (c *crew) name(p *Participant) string { return c.lease + "-" + p.Name }

// mine is the participant that holds the Lease, or nil.
func (c *crew) mine(l *coordinationv1.Lease) *Participant {
	if l == nil {
		return nil
	}
	return c.standing[ptr.Deref(l.Spec.HolderIdentity, "")]
}

// settled returns whether the election is over: one of the candidates holds the Lease, or
// the coordinator has left the Lease to one that knows its strategy.
func (c *crew) settled(l *coordinationv1.Lease) bool {
	if c.mine(l) != nil || l == nil || ptr.Deref(l.Spec.HolderIdentity, "") != "" {
		return c.mine(l) != nil
	}
	strategy := string(ptr.Deref(l.Spec.Strategy, ""))
	return strategy != "" && strategy != oldestStrategy && strategy != newestStrategy
}

// work has every participant do what is asked of it now, and gives the Lease.
func (c *crew) work(ctx context.Context) *coordinationv1.Lease {
	var all coordinationv1beta1.LeaseCandidateList
	c.get(ctx, candidatesPath, &all)
	for i := range all.Items {
		k := &all.Items[i]
		p := c.standing[k.Name]
		if p == nil || p.IgnoresPings || p.RenewedAgo > 0 || k.Spec.PingTime == nil || k.Spec.RenewTime != nil && !k.Spec.RenewTime.Before(k.Spec.PingTime) {
			continue
		}
		renewed := metav1.NewMicroTime(c.now())
		if renewed.Before(k.Spec.PingTime) {
			renewed = *k.Spec.PingTime
		}
		k.TypeMeta = metav1.TypeMeta{APIVersion: coordinationv1beta1.SchemeGroupVersion.String(), Kind: "LeaseCandidate"}
		k.Spec.RenewTime, k.ManagedFields = &renewed, nil
		call := electionCall(history.ElectionParticipate, candidateCall("update", k.Name))
		call.Body = k
		// A conflict means that there is another ping, which is seen next time.
		c.client.Do(ctx, call)
	}
	lease := c.read(ctx)
	leader := c.mine(lease)
	if leader == nil {
		return lease
	}
	preferred := ptr.Deref(lease.Spec.PreferredHolder, "")
	if preferred != "" && preferred != c.name(leader) || leader.IgnoresPings || leader.RenewedAgo > 0 || c.now().Sub(c.renewed) < LeadRenewal {
		return lease // told to give way, it lets the Lease expire
	}
	renewed := metav1.NewMicroTime(c.now())
	lease.Spec.RenewTime, lease.Spec.LeaseDurationSeconds = &renewed, ptr.To(int32(LeadFor/time.Second))
	if c.put(ctx, history.ElectionParticipate, lease).OK() {
		c.renewed = renewed.Time
	}
	return lease
}

// revive declares those again that had expired and are gone: whether one was there yet in
// an election before is a matter of when the coordinator looked for such.
func (c *crew) revive(ctx context.Context) error {
	for i := range c.step.Participants {
		if p := &c.step.Participants[i]; p.RenewedAgo > 0 {
			if err := c.declare(ctx, p); err != nil {
				return err
			}
		}
	}
	return nil
}

// withdraw takes candidates and Lease away, but for candidates that have expired:
// those are for the coordinator to remove.
func (c *crew) withdraw(ctx context.Context) {
	for i := range c.step.Participants {
		p := &c.step.Participants[i]
		if (c.standing[c.name(p)] != nil || p.WhenPreferred == fallsSilent) && p.RenewedAgo == 0 {
			c.client.Do(ctx, electionCall(history.ElectionParticipate, candidateCall("delete", c.name(p))))
		}
	}
	c.client.Do(ctx, electionCall(history.ElectionDelete, leaseCall("delete", c.lease)))
}

// oddities are contents of a Lease that make little sense; a server may refuse them.
func oddities(now time.Time) []coordinationv1.LeaseSpec {
	oldest := coordinationv1.OldestEmulationVersion
	long, past, future := strings.Repeat("x", 4096), metav1.NewMicroTime(time.Unix(0, 0)), metav1.NewMicroTime(now.AddDate(1000, 0, 0))
	return []coordinationv1.LeaseSpec{
		{},
		{HolderIdentity: ptr.To("unknown")},
		{HolderIdentity: ptr.To(""), LeaseDurationSeconds: ptr.To[int32](1 << 30)},
		{HolderIdentity: &long, LeaseDurationSeconds: ptr.To[int32](1), Strategy: &oldest},
		{RenewTime: &past, LeaseTransitions: ptr.To[int32](1<<31 - 1), Strategy: &oldest},
		{HolderIdentity: ptr.To("tomorrow"), RenewTime: &future, AcquireTime: &future, LeaseDurationSeconds: ptr.To[int32](1), Strategy: &oldest},
		{HolderIdentity: ptr.To("torn"), PreferredHolder: ptr.To("unknown"), Strategy: &oldest, LeaseDurationSeconds: ptr.To[int32](1)},
	}
}

// odd writes one odd content after the other to the Lease. Each stays until a coordinator
// has acted on it: a content that no coordinator reads tests nothing.
func (r *Runner) odd(ctx context.Context, c *crew) error {
	for _, spec := range oddities(c.now()) {
		lease := c.read(ctx)
		if lease == nil {
			lease = &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: c.lease, Namespace: leaseNamespace}}
		}
		lease.Spec = spec
		if !c.put(ctx, history.ElectionMalformed, lease).OK() {
			continue // a server may refuse it
		}
		if err := r.workUntil(ctx, c, OddTimeout, c.dealt); err != nil {
			return err
		}
	}
	return nil
}

// dealt is whether a coordinator has given the Lease to one of them, or wants to.
func (c *crew) dealt(l *coordinationv1.Lease) bool {
	return c.mine(l) != nil || l != nil && c.standing[ptr.Deref(l.Spec.PreferredHolder, "")] != nil
}

// seize gives a Lease to a holder that does not exist, and repeats that if another client
// writes at the same time.
func (r *Runner) seize(ctx context.Context, c *crew) error {
	for {
		lease := c.read(ctx)
		if lease == nil {
			return notThere(c.client.Member(), "there is no Lease %s to seize", c.lease)
		}
		now := metav1.NewMicroTime(c.now())
		lease.Spec.HolderIdentity, lease.Spec.RenewTime, lease.Spec.AcquireTime = ptr.To(history.AbsentHolder), &now, &now
		lease.Spec.LeaseDurationSeconds = ptr.To(int32(SeizeFor / time.Second))
		answer := c.put(ctx, history.ElectionAbsentHolder, lease)
		if answer.OK() {
			return nil
		}
		if answer.Code != http.StatusConflict {
			return refused(leaseCall("update", c.lease), c.client.Member(), answer)
		}
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
	}
}

// participantFields are the domains of a participant's fields.
var participantFields = registry.Fields{
	"name":          registry.AnyText("a", "b", "c", "d", "e"),
	"binary":        registry.AnyText("1.1.0", "1.2.0", "1.3.0"),
	"emulation":     registry.AnyText("1.1.0", "1.2.0"),
	"ignoresPings":  registry.Flag(),
	"renewedAgo":    registry.Between(time.Second, longestTimeout, 5*time.Minute),
	"joinsLast":     registry.Flag(),
	"whenPreferred": registry.OneOf(leaves, fallsSilent),
	"strategy":      registry.AnyText(oldestStrategy, newestStrategy, uncoordinatedStrategy, "example.com/draft"),
	"becomes":       registry.AnyText("1.1.0", "1.2.0", "1.3.0"),
}
