package main

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// start begins a new process of a member's API server.
func (p *plane) start(m *member, release string) {
	m.release, m.instance = release, m.instance+1
	p.emit(history.Event{Kind: history.KindProcess, Member: m.name, Process: &history.Process{
		Component: history.ComponentAPIServer, Change: history.ProcessStarted, Instance: m.instance,
		PID: 1000 + int(p.now/ms)%9000, StartTime: p.now / ms, Release: release, Off: m.off,
	}})
	p.pass(200)
}

// exit ends it.
func (p *plane) exit(m *member, how string, expected bool) {
	p.emit(history.Event{Kind: history.KindProcess, Member: m.name, Process: &history.Process{
		Component: history.ComponentAPIServer, Change: history.ProcessExited, Instance: m.instance, Release: m.release, Exit: how, Expected: expected,
	}})
	m.watching = false
	p.emit(history.Event{Kind: history.KindWatch, Member: m.name, Watch: &history.Watch{Resource: "storageversions", Type: history.WatchBroken, Message: "the stream ended: EOF"}})
	p.pass(300)
}

// request records an answer that took 4 ms.
func (p *plane) request(m *member, r history.Request) {
	from := p.now
	p.pass(4)
	p.emit(history.Event{Kind: history.KindRequest, Member: m.name, From: from, Request: &r})
}

// hammer sends one round of writes that the barrier holds back, with one
// request of each class that passes in between.
func (p *plane) hammer(m *member, classes ...string) {
	p.refused(m, "configmaps")
	for _, class := range classes {
		switch class {
		case history.ClassRead:
			p.request(m, history.Request{Class: class, Verb: "list", Version: "v1", Resource: "configmaps", Code: 200, ResourceVersion: p.revision})
		case history.ClassReview:
			p.request(m, history.Request{Class: class, Verb: "create", Group: "authorization.k8s.io", Version: "v1", Resource: "subjectaccessreviews", Code: 201})
		case history.ClassCustom:
			p.request(m, history.Request{Class: class, Verb: "update", Group: "probe.evenkeel.dev", Version: "v1", Resource: "soundings", Name: "default/h0", Code: 200, ResourceVersion: p.next()})
		case history.ClassAggregated:
			p.request(m, history.Request{Class: class, Verb: "create", Group: "backend.evenkeel.dev", Version: "v1", Resource: "echoes", Code: 201})
		}
	}
	p.refused(m, "ballasts")
}

// refused is a write that the barrier holds back.
func (p *plane) refused(m *member, resource string) {
	m.writes++
	r := target(m, resource)
	r.Write, r.Code, r.Barrier = m.writes, 503, true
	r.Reason, r.Message = "ServiceUnavailable", "wait for storage version registration to complete for resource: "+resource
	p.request(m, r)
}

func target(m *member, resource string) history.Request {
	r := history.Request{Class: history.ClassGuarded, Verb: "update", Version: "v1", Resource: resource, Name: "default/t0-" + m.name}
	if resource == "ballasts" {
		r.Group = ballastGroup
	}
	return r
}

// write stores an object through a member. Now and then the answer is recorded
// before etcd tells of the change.
func (p *plane) write(m *member, resource string) {
	m.writes++
	r := target(m, resource)
	r.Write, r.Code = m.writes, 200
	key, apiVersion, kind := "/registry/configmaps/default/t0-"+m.name, "v1", "ConfigMap"
	if resource == "ballasts" {
		key, apiVersion, kind = "/registry/"+ballastGroup+"/ballasts/default/t0-"+m.name, releases[m.release].encoding, "Ballast"
	}
	tag := history.Stored{Writer: m.name, Write: m.writes}
	if m.writes%2 == 0 {
		r.ResourceVersion = p.revision + 2
		p.request(m, r)
		p.stored(key, apiVersion, kind, r.Name, tag)
		return
	}
	from := p.now
	p.pass(2)
	r.ResourceVersion = p.stored(key, apiVersion, kind, r.Name, tag)
	p.emit(history.Event{Kind: history.KindRequest, Member: m.name, From: from, Request: &r})
}

// ready is an answer of /readyz; the first good one comes with a revision, and
// with what the member hosts.
func (p *plane) ready(m *member, code int, first bool) {
	from := p.now
	p.pass(3)
	r := history.Ready{Code: code}
	if code != 200 {
		r.Failing = []string{"storage-version-registration"}
	}
	if first {
		r.Revision = p.revision
	}
	p.emit(history.Event{Kind: history.KindReady, Member: m.name, From: from, Ready: &r})
	if first {
		p.look(m)
	}
}

// look fetches a member's discovery.
func (p *plane) look(m *member) {
	from := p.now
	p.pass(5)
	d := history.Discovery{Revision: p.revision}
	for _, r := range append(slices.Clone(hosted), others...) {
		if r.Resource == "ballasts" {
			r.Served = releases[m.release].served
		}
		r.Served = slices.Clone(r.Served)
		d.Resources = append(d.Resources, r)
	}
	if p.lit {
		served := []string{lanternsGroup + "/v1", lanternsGroup + "/v1beta1"}
		d.Resources = append(d.Resources, history.HostedResource{Group: lanternsGroup, Resource: "lanterns", Kind: "Lanterns", Served: served, Persisted: true, Custom: true})
	}
	p.emit(history.Event{Kind: history.KindDiscovery, Member: m.name, From: from, Discovery: &d})
}
