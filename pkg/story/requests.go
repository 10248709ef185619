package story

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// Start begins a new process of a member's API server.
func (p *ControlPlane) Start(m *Member, release string) {
	m.Release, m.Instance = release, m.Instance+1
	p.Emit(history.Event{Kind: history.KindProcess, Member: m.Name, Process: &history.Process{
		Component: history.ComponentAPIServer, Change: history.ProcessStarted, Instance: m.Instance,
		PID: 1000 + int(p.Now/Millisecond)%9000, StartTime: p.Now / Millisecond, Release: release, DisabledFeatures: m.DisabledFeatures,
	}})
	p.Advance(200)
}

// Exit ends it.
func (p *ControlPlane) Exit(m *Member, how string, expected bool) {
	p.Emit(history.Event{Kind: history.KindProcess, Member: m.Name, Process: &history.Process{
		Component: history.ComponentAPIServer, Change: history.ProcessExited, Instance: m.Instance, Release: m.Release, Exit: how, Expected: expected,
	}})
	m.watching = false
	p.Emit(history.Event{Kind: history.KindWatch, Member: m.Name, Watch: &history.Watch{Resource: "storageversions", Type: history.WatchBroken, Message: "the stream ended: EOF"}})
	p.Advance(300)
}

// Request records an answer that took 4 ms. That of a change which was stored just now was asked
// for before it was stored.
func (p *ControlPlane) Request(m *Member, r history.Request) {
	from := p.Now
	if r.ResourceVersion > 0 && r.ResourceVersion == p.Revision && !slices.Contains([]string{"get", "list"}, r.Verb) {
		from -= 2 * Millisecond
	}
	p.Advance(4)
	p.Emit(history.Event{Kind: history.KindRequest, Member: m.Name, From: from, Request: &r})
}

// RequestDuringBarrier sends one round of writes that the barrier holds back, with one
// request of each class that passes in between.
func (p *ControlPlane) RequestDuringBarrier(m *Member, classes ...string) {
	p.RefuseWrite(m, "configmaps")
	for _, class := range classes {
		switch class {
		case history.ClassRead:
			p.Request(m, history.Request{Class: class, Verb: "list", Version: "v1", Resource: "configmaps", Code: 200, ResourceVersion: p.Revision})
		case history.ClassReview:
			p.Request(m, history.Request{Class: class, Verb: "create", Group: "authorization.k8s.io", Version: "v1", Resource: "subjectaccessreviews", Code: 201})
		case history.ClassCustom:
			p.Request(m, history.Request{Class: class, Verb: "update", Group: "probe.evenkeel.dev", Version: "v1", Resource: "soundings", Name: "default/h0", Code: 200, ResourceVersion: p.NextRevision()})
		case history.ClassAggregated:
			p.Request(m, history.Request{Class: class, Verb: "create", Group: "backend.evenkeel.dev", Version: "v1", Resource: "echoes", Code: 201})
		}
	}
	p.RefuseWrite(m, "ballasts")
}

// RefuseWrite is a write that the barrier holds back.
func (p *ControlPlane) RefuseWrite(m *Member, resource string) {
	m.Writes++
	r := writeRequest(m, resource)
	r.Write, r.Code, r.Barrier = m.Writes, 503, true
	r.Reason, r.Message = "ServiceUnavailable", "wait for storage version registration to complete for resource: "+resource
	p.Request(m, r)
}

func writeRequest(m *Member, resource string) history.Request {
	r := history.Request{Class: history.ClassGuarded, Verb: "update", Version: "v1", Resource: resource, Name: "default/t0-" + m.Name}
	if resource == "ballasts" {
		r.Group = BallastGroup
	}
	return r
}

// Write stores an object through a member. Now and then the answer is recorded
// before etcd tells of the change.
func (p *ControlPlane) Write(m *Member, resource string) {
	m.Writes++
	r := writeRequest(m, resource)
	r.Write, r.Code = m.Writes, 200
	key, apiVersion, kind := "/registry/configmaps/default/t0-"+m.Name, "v1", "ConfigMap"
	if resource == "ballasts" {
		key, apiVersion, kind = "/registry/"+BallastGroup+"/ballasts/default/t0-"+m.Name, Releases[m.Release].Encoding, "Ballast"
	}
	tag := history.Stored{Writer: m.Name, Write: m.Writes}
	if m.Writes%2 == 0 {
		r.ResourceVersion = p.Revision + 2
		p.Request(m, r)
		p.Store(key, apiVersion, kind, r.Name, tag)
		return
	}
	from := p.Now
	p.Advance(2)
	r.ResourceVersion = p.Store(key, apiVersion, kind, r.Name, tag)
	p.Emit(history.Event{Kind: history.KindRequest, Member: m.Name, From: from, Request: &r})
}

// AnswerReady is an answer of /readyz; the first good one comes with a revision, and
// with what the member hosts.
func (p *ControlPlane) AnswerReady(m *Member, code int, first bool) {
	from := p.Now
	p.Advance(3)
	r := history.Ready{Code: code}
	if code != 200 {
		r.Failing = []string{"storage-version-registration"}
	}
	if first {
		r.Revision = p.Revision
	}
	p.Emit(history.Event{Kind: history.KindReady, Member: m.Name, From: from, Ready: &r})
	if first {
		p.ReadDiscovery(m)
	}
}

// ReadDiscovery fetches a member's discovery.
func (p *ControlPlane) ReadDiscovery(m *Member) {
	from := p.Now
	p.Advance(5)
	d := history.HostedResources{Revision: p.Revision}
	for _, r := range append(slices.Clone(Hosted), otherResources...) {
		if r.Resource == "ballasts" {
			r.Served = Releases[m.Release].Served
		}
		r.Served = slices.Clone(r.Served)
		if r.Persisted && !r.Custom {
			r.Hashes = []string{history.StorageVersionHash(entryOf(m, r).Encoding, r.Kind)}
		}
		d.Resources = append(d.Resources, r)
	}
	if p.LanternsDefined {
		served := []string{LanternsGroup + "/v1", LanternsGroup + "/v1beta1"}
		d.Resources = append(d.Resources, history.HostedResource{Group: LanternsGroup, Resource: "lanterns", Kind: "Lanterns", Served: served, Persisted: true, Custom: true})
	}
	p.Emit(history.Event{Kind: history.KindHostedResources, Member: m.Name, From: from, HostedResources: &d})
}

// Step records a phase of a step of the scenario.
func (p *ControlPlane) Step(index int, action string, phase history.Phase, m *Member, release string) {
	ev := history.Event{Kind: history.KindStep, Step: &history.Step{Index: index, Action: action, Phase: phase, Release: release}}
	if m != nil {
		ev.Member = m.Name
	}
	p.Emit(ev)
}
