package stories

import (
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/story"
)

const (
	// CustomGroup is the group of the custom resource that exists from the beginning.
	CustomGroup = "probe.evenkeel.dev"
	// CustomResource is the plural name of the custom resource that exists from the beginning.
	CustomResource = "soundings"
	slowEtcd       = "slow-etcd-1"
)

// Builder is a control plane with the recorders of what every run owes.
type Builder struct {
	*story.ControlPlane
	// at is what happens besides at the points of the story that have a name.
	at map[string]func(*Builder)
}

// point is a place in the story at which something else may happen.
func (b *Builder) point(name string) {
	if do := b.at[name]; do != nil {
		do(b)
	}
}

func replacedStory() []history.Event { return Replaced(nil) }

// Replaced builds a run in which one member is upgraded, one is replaced beside a fault,
// and all answer for what they hold. The map names what happens besides at its points:
// ready, replaced, after that, at rest.
func Replaced(otherwise map[string]func(*Builder)) []history.Event {
	b := &Builder{ControlPlane: story.NewControlPlane(), at: otherwise}
	for _, m := range b.Members {
		b.etcd(m, history.ProcessStarted, 1)
		b.Serve(m, m.Release)
	}
	b.point("ready")
	b.Balance(200)
	b.WriteAndShow(4)

	cp1, cp2 := b.Members[0], b.Members[1]
	b.Step(1, "upgrade", history.PhaseBegin, cp1, "1.3")
	b.Exit(cp1, "exit status 0", true)
	b.Balance(503)
	b.Advance(1500)
	b.Balance(200)
	b.Serve(cp1, "1.3")
	b.point("replaced")
	b.Step(1, "upgrade", history.PhaseEnd, cp1, "1.3")
	b.point("after that")
	b.Balance(200)
	b.Compare()

	b.fault(cp2, history.PhaseInject)
	b.Step(2, "restart", history.PhaseBegin, cp2, "")
	b.Exit(cp2, "exit status 0", true)
	b.fault(cp2, history.PhaseWitness)
	b.Serve(cp2, "1.2")
	b.Step(2, "restart", history.PhaseEnd, cp2, "")
	b.fault(cp2, history.PhaseHeal)
	b.WriteAndShow(6)
	b.Balance(200)
	b.point("at rest")
	b.Compare()
	b.Advance(1000)
	b.Emit(history.Event{Kind: history.KindEnd, End: &history.End{Complete: true}})
	return b.Events
}

// etcd records a change of the process of a member's etcd.
func (b *Builder) etcd(m *story.Member, change string, instance int) {
	b.Emit(history.Event{Kind: history.KindProcess, Member: m.Name, Process: &history.Process{
		Component: history.ComponentEtcd, Change: change, Instance: instance, Expected: change == history.ProcessExited,
	}})
}

func (b *Builder) fault(m *story.Member, phase history.Phase) {
	f := &history.Fault{ID: slowEtcd, Type: "NetworkChaos", Action: "delay", Phase: phase}
	if phase == history.PhaseWitness {
		f.Proof, f.Count = "a read took longer", 3
	}
	b.Emit(history.Event{Kind: history.KindFault, Member: m.Name, Fault: f})
}

// Serve starts a member's API server, which becomes ready.
func (b *Builder) Serve(m *story.Member, release string) {
	b.Start(m, release)
	b.AnswerReady(m, 500, false)
	b.Custom(m, 500, 404)
	b.Advance(1000)
	b.AnswerReady(m, 200, true)
	b.Custom(m, 200, 200)
	b.Custom(m, 200, 200)
}

// Custom records an answer to a list of the custom resource, with that of /readyz before.
func (b *Builder) Custom(m *story.Member, ready, code int) {
	from := b.Now
	b.Advance(5)
	b.Emit(history.Event{Kind: history.KindCustomResourceAnswer, Member: m.Name, From: from, CustomResourceAnswer: &history.CustomResourceAnswer{
		Group: CustomGroup, Version: "v1", Resource: CustomResource, Instance: m.Instance, Ready: ready, Code: code, Count: 1,
	}})
}

// Balance records an answer of the load balancer that took 5 ms.
func (b *Builder) Balance(code int) {
	from := b.Now
	b.Advance(5)
	b.Emit(history.Event{Kind: history.KindLoadBalancer, From: from, LoadBalancer: &history.LoadBalancer{Code: code}})
}

// WriteAndShow writes through each member so many times, and has the next member asked for
// the last write.
func (b *Builder) WriteAndShow(times int) {
	for i, m := range b.Members {
		for range times {
			b.Write(m, "configmaps")
		}
		b.Show(b.Members[(i+1)%len(b.Members)], m, 20*time.Millisecond)
	}
}

// Show records that a member showed the last write, which another one acknowledged right
// now, after a time in get, list and watch.
func (b *Builder) Show(m, writer *story.Member, after time.Duration) {
	from := b.Now
	at := from + int64(after)
	shown := history.Shown{Asked: 1, Code: 200, ResourceVersion: b.Revision, Sent: from, At: at}
	watched := history.Shown{ResourceVersion: b.Revision, Sent: 1, At: at}
	b.Now = at
	b.Emit(history.Event{Kind: history.KindVisibility, Member: m.Name, From: from, Visibility: &history.Visibility{
		Writer: writer.Name, Write: writer.Writes, Name: "default/t0-" + writer.Name, ResourceVersion: b.Revision, Get: shown, List: shown, Watch: watched,
	}})
}

// Compare has all members read what etcd holds, and their etcd hashed.
func (b *Builder) Compare() {
	for _, m := range b.Members {
		for _, how := range []string{history.ReadConsistent, history.ReadNotOlder} {
			from := b.Now
			b.Advance(5)
			b.Emit(history.Event{Kind: history.KindRead, Member: m.Name, From: from, Read: &history.Read{
				How: how, Version: "v1", Resource: "configmaps", After: b.Revision, Code: 200, Items: 3, ResourceVersion: b.Revision, Compared: true, Stored: 3,
			}})
		}
	}
	b.Advance(20)
	h := &history.EtcdHash{Revision: b.Revision}
	for _, m := range b.Members {
		h.Members = append(h.Members, history.EtcdMemberHash{Member: m.Name, Hash: "5f4dcc3b", Compacted: -1, Current: b.Revision})
	}
	b.Emit(history.Event{Kind: history.KindEtcdHash, EtcdHash: h})
}
