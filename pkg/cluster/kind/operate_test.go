//go:build linux

package kind

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/agent"
)

// runningMember is a cluster of one member whose two components run as far as
// its agent tells.
func runningMember(t *testing.T) (*kindCluster, *fakeDocker, *fakeAgent, *changes) {
	t.Helper()
	engine, told := useFakeDocker(t), &changes{}
	c := newFakeCluster(t, fakeDistribution{}, 1, told.add)
	inNode := startAgent(t, c.members[0].shared)
	tell := c.members[0].units.Listener()
	for i, component := range c.upwards() {
		tell(agent.Event{Component: component, PID: i + 1, StartTime: 1})
	}
	*told = nil
	return c, engine, inNode, told
}

func TestPauseOfAWholeNode(t *testing.T) {
	c, engine, inNode, told := runningMember(t)
	engine.says("inspect", "false")
	if err := c.Pause(t.Context(), "cp1", cluster.Whole); err != nil {
		t.Fatal(err)
	}
	slices.Sort(*told)
	told.expect(t, "controller-manager paused 1 pid 1 at 1.2", "scheduler paused 1 pid 2 at 1.2")
	// What the engine says is what counts.
	for _, says := range []string{"false", "true"} {
		engine.says("inspect", says)
		for _, component := range []cluster.Component{cluster.Whole, cluster.Scheduler} {
			if paused, err := c.Paused("cp1", component); err != nil || paused != (says == "true") {
				t.Errorf("Paused %s = %v, %v when the engine says %s", component, paused, err, says)
			}
		}
	}
	expectError(t, c.Kill(t.Context(), "cp1", cluster.Scheduler), "while the whole member is paused: resume it first")
	expectError(t, c.Resume(t.Context(), "cp1", cluster.Scheduler), "while the whole member is paused: resume it first")
	*told = nil
	if err := c.Resume(t.Context(), "cp1", cluster.Whole); err != nil {
		t.Fatal(err)
	}
	slices.Sort(*told)
	told.expect(t, "controller-manager resumed 1 pid 1 at 1.2", "scheduler resumed 1 pid 2 at 1.2")
	var did []string
	for _, command := range engine.asked() {
		if command == "pause c-1-control-plane" || command == "unpause c-1-control-plane" {
			did = append(did, command)
		}
	}
	if !slices.Equal(did, []string{"pause c-1-control-plane", "unpause c-1-control-plane"}) {
		t.Errorf("the engine was asked %q", engine.asked())
	}
	if asked := inNode.asked(); len(asked) != 0 {
		t.Errorf("the agent was asked %q", asked)
	}
}

func TestPauseOfANodeThatFails(t *testing.T) {
	c, engine, _, told := runningMember(t)
	engine.fails("pause", "no cgroups here")
	expectError(t, c.Pause(t.Context(), "cp1", cluster.Whole), "cannot pause member cp1: docker pause c-1-control-plane failed: exit status 1: no cgroups here")
	told.expect(t)
	if c.members[0].isFrozen() {
		t.Error("it counts as paused")
	}
}

func TestWhatNeedsSomethingToRun(t *testing.T) {
	engine := useFakeDocker(t)
	c := newFakeCluster(t, fakeDistribution{}, 1, nil)
	for what, err := range map[string]error{
		"cannot pause member cp1":                  c.Pause(t.Context(), "cp1", cluster.Whole),
		"cannot resume member cp1":                 c.Resume(t.Context(), "cp1", cluster.Whole),
		"cannot take the power of member cp1 away": c.PowerOff(t.Context(), "cp1"),
		"cannot tell whether member cp1 is paused": errorOf(c.Paused("cp1", cluster.Whole)),
	} {
		expectError(t, err, what+": nothing of it runs")
	}
	expectError(t, errorOf(c.Paused("cp1", cluster.Scheduler)), "cannot tell whether the scheduler of member cp1 is paused: no process runs")
	expectError(t, c.Pause(t.Context(), "cp1", cluster.Etcd), "member cp1 has no etcd")
	if asked := engine.asked(); len(asked) != 0 {
		t.Errorf("the engine was asked %q", asked)
	}
}

func errorOf(_ bool, err error) error { return err }

func TestPowerBringsBackWhatWasStoppedOnPurpose(t *testing.T) {
	c, engine, inNode, told := runningMember(t)
	m := c.members[0]
	// The process ends as soon as the agent is asked for it.
	ended := make(chan error, 1)
	go func() { ended <- c.StopComponent(t.Context(), "cp1", cluster.Scheduler) }()
	for !m.isAway(cluster.Scheduler) {
		time.Sleep(time.Millisecond)
	}
	m.units.Listener()(agent.Event{Component: cluster.Scheduler, Gone: true, PID: 2, StartTime: 1})
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if asked := inNode.asked(); !slices.Equal(asked, []string{"end scheduler 15 true", "end scheduler 18 false"}) {
		t.Errorf("the agent was asked %q", asked)
	}

	engine.says("inspect", "true")
	expectError(t, c.PowerOn(t.Context(), "cp1"), "cannot give member cp1 power: it has it; take it away first")
	engine.fails("kill", "no such container")
	expectError(t, c.PowerOff(t.Context(), "cp1"), "cannot take the power of member cp1 away: docker kill")
	engine.fails("kill", "")
	old := m.units.Listener()
	if err := c.PowerOff(t.Context(), "cp1"); err != nil {
		t.Fatal(err)
	}
	told.expect(t, "scheduler stopping 1 pid 2 at 1.2", "scheduler exited 1 pid 2 at 1.2 expected", "controller-manager exited 1 pid 1 at 1.2 expected")
	expectError(t, c.PowerOff(t.Context(), "cp1"), "nothing of it runs")
	old(agent.Event{Component: cluster.Scheduler, PID: 8, StartTime: 1})
	if !m.units.None() {
		t.Error("the dead live")
	}

	// Once the engine has given power the address is asked for.
	engine.says("inspect", m.address)
	on := make(chan error, 1)
	go func() { on <- c.PowerOn(t.Context(), "cp1") }()
	for m.isAway(cluster.Scheduler) {
		time.Sleep(time.Millisecond)
	}
	for i, component := range c.upwards() {
		m.units.Listener()(agent.Event{Component: component, PID: i + 11, StartTime: 9})
	}
	if err := <-on; err != nil {
		t.Fatal(err)
	}
	if asked := inNode.asked(); !slices.Equal(asked, []string{"cleared scheduler", "pod scheduler"}) {
		t.Errorf("the agent was asked %q", asked)
	}
	if asked := engine.asked(); !slices.Contains(asked, "network connect --ip 10.0.0.2 c-1 c-1-control-plane") || !slices.Contains(asked, "start c-1-control-plane") {
		t.Errorf("the engine was asked %q", asked)
	}
}

// The kubelet starts a component once more if it notices the end of its process before
// the removal of the static Pod.
func TestAStartWaitsForWhatTheKubeletStartedOnceMore(t *testing.T) {
	c, _, inNode, told := runningMember(t)
	m := c.members[0]
	expectError(t, c.StartMembers(t.Context(), map[string]string{"cp1": "1.3"}), "cannot start member cp1: its controller-manager runs already; stop the member first")
	expectError(t, c.StartComponent(t.Context(), "cp1", cluster.Scheduler), "cannot start the scheduler of member cp1: it runs already; stop it first")
	tell := m.units.Listener()
	stopped := make(chan error, 1)
	go func() { stopped <- c.StopComponent(t.Context(), "cp1", cluster.Scheduler) }()
	for !m.isAway(cluster.Scheduler) {
		time.Sleep(time.Millisecond)
	}
	tell(agent.Event{Component: cluster.Scheduler, Gone: true, PID: 2, StartTime: 1})
	if err := <-stopped; err != nil {
		t.Fatal(err)
	}
	tell(agent.Event{Component: cluster.Scheduler, PID: 3, StartTime: 1})
	inNode.asked()

	began := make(chan error, 1)
	go func() { began <- c.StartComponent(t.Context(), "cp1", cluster.Scheduler) }()
	inNode.await(t, "cleared scheduler", began)
	tell(agent.Event{Component: cluster.Scheduler, Gone: true, PID: 3, StartTime: 1})
	inNode.await(t, "pod scheduler", began)
	tell(agent.Event{Component: cluster.Scheduler, PID: 4, StartTime: 1})
	if err := <-began; err != nil {
		t.Fatal(err)
	}
	told.expect(t, "scheduler stopping 1 pid 2 at 1.2", "scheduler exited 1 pid 2 at 1.2 expected", "scheduler started 2 pid 3 at 1.2",
		"scheduler exited 2 pid 3 at 1.2 expected", "scheduler started 3 pid 4 at 1.2")
}

// A kubelet may take long to start what it is to, and API servers are to begin at one time.
func TestMembersThatStartTogetherWaitForEachOther(t *testing.T) {
	useFakeDocker(t)
	c := newFakeCluster(t, fakeDistribution{}, 2, nil)
	one, other := startAgent(t, c.members[0].shared), startAgent(t, c.members[1].shared)
	began := make(chan error, 1)
	go func() { began <- c.StartMembers(t.Context(), map[string]string{"cp1": "1.2", "cp2": "1.3"}) }()
	one.await(t, "pod controller-manager", began)
	other.await(t, "pod controller-manager", began)
	c.members[0].units.Listener()(agent.Event{Component: cluster.ControllerManager, PID: 1, StartTime: 1})
	time.Sleep(2 * readyPoll) // by when it has been seen to be ready
	if asked := one.asked(); slices.Contains(asked, "pod scheduler") {
		t.Errorf("the agent was asked %q before the other member had come as far", asked)
	}
	c.members[1].units.Listener()(agent.Event{Component: cluster.ControllerManager, PID: 2, StartTime: 1})
	for i, agents := range []*fakeAgent{one, other} {
		agents.await(t, "pod scheduler", began)
		c.members[i].units.Listener()(agent.Event{Component: cluster.Scheduler, PID: i + 3, StartTime: 1})
	}
	if err := <-began; err != nil {
		t.Fatal(err)
	}
	if got := c.Release("cp1") + " " + c.Release("cp2"); got != "1.2 1.3" {
		t.Errorf("the releases are %s", got)
	}
}

func TestLinkOfAWholeNode(t *testing.T) {
	c, _, inNode, _ := runningMember(t)
	m := c.members[0]
	if err := c.SetLink(t.Context(), "cp1", cluster.LinkNode, cluster.Shape{Cut: true}); err != nil {
		t.Fatal(err)
	}
	inNode.stats = cluster.LinkStats{Withheld: 7}
	stats, err := c.LinkStats("cp1", cluster.LinkNode)
	if err != nil || stats.Withheld != 7 {
		t.Errorf("%+v, %v", stats, err)
	}
	if got := sum(cluster.LinkStats{Connections: 1, BytesToServer: 2, BytesToClient: 3, Withheld: 4, Delayed: 5}, cluster.LinkStats{Connections: 10, BytesToServer: 20, BytesToClient: 30, Withheld: 40, Delayed: 50}); got != (cluster.LinkStats{Connections: 11, BytesToServer: 22, BytesToClient: 33, Withheld: 44, Delayed: 55}) {
		t.Errorf("the sum is %+v", got)
	}
	if err := c.SetLink(t.Context(), "cp1", cluster.LinkNode, cluster.Shape{}); err != nil {
		t.Fatal(err)
	}
	if err := c.SetLink(t.Context(), "cp1", cluster.LinkClient, cluster.Shape{Cut: true}); err != nil {
		t.Fatal(err)
	}
	if asked := inNode.asked(); !slices.Equal(asked, []string{"link node cut true", "link node cut false"}) {
		t.Errorf("the agent was asked %q", asked)
	}
	if m.outside == m.client {
		t.Error("healing the node heals the client link")
	}
	expectError(t, c.SetLink(t.Context(), "cp1", cluster.LinkNode, cluster.Shape{Latency: -1}), "must not be negative")
	expectError(t, c.SetLink(t.Context(), "cp9", cluster.LinkNode, cluster.Shape{}), `the cluster has no member "cp9"; it has: cp1`)
}

func TestStopEndsAStart(t *testing.T) {
	engine := useFakeDocker(t)
	engine.says("network-inspect", "10.0.0.0/24")
	c := newFakeCluster(t, fakeDistribution{}, 1, nil)
	if err := c.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	expectError(t, c.Start(t.Context()), "cannot start the cluster c: the cluster was stopped")
	if asked := engine.asked(); len(asked) != 0 {
		t.Errorf("the engine was asked %q", asked)
	}
}

func TestWhatIsMadeIsTakenAwayUntilItsMakingEnds(t *testing.T) {
	engine := useFakeDocker(t)
	engine.says("ps", "abc\ndef")
	c := newFakeCluster(t, fakeDistribution{}, 1, nil)
	ended := make(chan error)
	finished := make(chan struct{})
	go func() { c.takeAwayUntil(context.WithoutCancel(t.Context()), ended); close(finished) }()
	ended <- errors.New("its nodes are gone")
	<-finished
	if asked := engine.asked(); !slices.Contains(asked, "rm --force --volumes abc def") {
		t.Errorf("the engine was asked %q", asked)
	}
}
