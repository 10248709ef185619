package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// epoch is the wall clock at time 0.
var epoch = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

const (
	ballastGroup = "reference.evenkeel.dev"
	ballastsName = ballastGroup + ".ballasts"
	ms           = int64(time.Millisecond)
)

// hosted are the built-in resources, which have StorageVersions.
var hosted = []history.HostedResource{
	{Resource: "configmaps", Kind: "ConfigMap", Served: []string{"v1"}, Persisted: true},
	{Resource: "namespaces", Kind: "Namespace", Served: []string{"v1"}, Persisted: true},
	{Resource: "secrets", Kind: "Secret", Served: []string{"v1"}, Persisted: true},
	{Group: "coordination.k8s.io", Resource: "leases", Kind: "Lease", Served: []string{"coordination.k8s.io/v1"}, Persisted: true},
	{Group: "internal.apiserver.k8s.io", Resource: "storageversions", Kind: "StorageVersion", Served: []string{"internal.apiserver.k8s.io/v1alpha1"}, Persisted: true},
	{Group: ballastGroup, Resource: "ballasts", Kind: "Ballast", Persisted: true},
}

// others are resources that have none.
var others = []history.HostedResource{
	{Group: "authorization.k8s.io", Resource: "subjectaccessreviews", Kind: "SubjectAccessReview", Served: []string{"authorization.k8s.io/v1"}},
	{Group: "probe.evenkeel.dev", Resource: "soundings", Kind: "Sounding", Served: []string{"probe.evenkeel.dev/v1"}, Persisted: true, Custom: true},
	{Group: "backend.evenkeel.dev", Resource: "echoes", Kind: "Echo", Served: []string{"backend.evenkeel.dev/v1"}, Aggregated: true},
}

// release is how ballasts are treated; all releases decode the same versions.
type release struct {
	encoding string
	served   []string
}

var releases = map[string]release{
	"1.2": {ballastGroup + "/v1beta1", []string{ballastGroup + "/v1", ballastGroup + "/v1alpha1", ballastGroup + "/v1beta1"}},
	"1.3": {ballastGroup + "/v1", []string{ballastGroup + "/v1", ballastGroup + "/v1beta1"}},
}

var decodable = []string{ballastGroup + "/v1alpha1", ballastGroup + "/v1beta1", ballastGroup + "/v1"}

// plane is a control plane that does everything right, and the recorders that
// look at it.
type plane struct {
	now      int64
	revision int64
	events   []history.Event
	members  []*member
	versions map[string]*history.StorageVersion
	created  map[string]int64 // revision that created each key
	// lit is whether lanterns are defined.
	lit bool
	// guests are the IDs of servers that take part, and are no members.
	guests []string
}

type member struct {
	name     string
	release  string
	instance int
	watching bool
	// sees is whether the recorder watches migrations through it.
	sees bool
	// gone is whether it has left the participants.
	gone bool
	// off are the features that its server was started without.
	off    []string
	writes int64
}

func (m *member) id() string { return "apiserver-" + m.name }

func newPlane() *plane {
	p := &plane{revision: 100, versions: map[string]*history.StorageVersion{}, created: map[string]int64{}}
	for _, name := range []string{"cp1", "cp2", "cp3"} {
		p.members = append(p.members, &member{name: name, release: "1.2"})
	}
	return p
}

func header() history.Header {
	h := history.Header{
		Format: history.Format, Version: history.Version, Run: "story", Seed: 1, Started: epoch, Harness: "hack/histories",
		Scenario: "story", Provider: "local", Distribution: "reference",
		Writes: []history.WrittenResource{
			{Resource: "configmaps", Kind: "ConfigMap"},
			{Group: ballastGroup, Resource: "ballasts", Kind: "Ballast"},
		},
	}
	for _, m := range newPlane().members {
		h.Members = append(h.Members, history.MemberHeader{Name: m.name, ServerID: m.id(), Release: m.release})
	}
	return h
}

func (p *plane) pass(milliseconds int64) { p.now += milliseconds * ms }

// emit records an event that ends now.
func (p *plane) emit(ev history.Event) {
	ev.At = p.now
	p.events = append(p.events, ev)
	p.pass(1)
}

// next is a new revision of etcd. Every other one belongs to keys that nobody
// looks at, which leaves room for changes in cases.go.
func (p *plane) next() int64 {
	p.revision += 2
	return p.revision
}

func (p *plane) stored(key, apiVersion, kind, name string, s history.Stored) int64 {
	s.Type, s.Key, s.Revision = history.StoredPut, key, p.next()
	if p.created[key] == 0 {
		p.created[key] = s.Revision
	}
	s.Created, s.APIVersion, s.ObjectKind, s.Name = p.created[key], apiVersion, kind, name
	p.emit(history.Event{Kind: history.KindStored, Stored: &s})
	return s.Revision
}

// renew writes a member's identity Lease.
func (p *plane) renew(m *member) {
	p.stored("/registry/leases/kube-system/"+m.id(), "coordination.k8s.io/v1", "Lease", "kube-system/"+m.id(), history.Stored{
		Lease: &history.Lease{Holder: fmt.Sprintf("%s_%d", m.id(), m.instance), Duration: 3600, Renewed: epoch.Add(time.Duration(p.now)), Identity: true},
	})
}

// report has a member announce a built-in resource.
func (p *plane) report(m *member, r history.HostedResource) {
	p.announce(m, objectName(r), entry(m, r))
}

// announce has a member put its entry into a StorageVersion, which nothing is
// written for if it is there already.
func (p *plane) announce(m *member, name string, e history.Entry) {
	now := p.versions[name]
	if now == nil {
		p.versions[name] = &history.StorageVersion{}
		p.publish(name)
		p.pass(2)
		now = p.versions[name]
	}
	i := slices.IndexFunc(now.Entries, func(x history.Entry) bool { return x.ServerID == e.ServerID })
	switch {
	case i < 0:
		now.Entries = append(now.Entries, e)
	case now.Entries[i].Encoding == e.Encoding && slices.Equal(now.Entries[i].Served, e.Served):
		return
	default:
		now.Entries[i] = e
	}
	p.agree(now)
	p.publish(name)
}

// entry is what a member reports of a resource.
func entry(m *member, r history.HostedResource) history.Entry {
	if r.Resource != "ballasts" {
		return history.Entry{ServerID: m.id(), Encoding: r.Served[0], Decodable: r.Served, Served: r.Served}
	}
	rel := releases[m.release]
	return history.Entry{ServerID: m.id(), Encoding: rel.encoding, Decodable: decodable, Served: rel.served}
}

// deleted records that a key has gone.
func (p *plane) deleted(key, name string) {
	delete(p.created, key)
	p.emit(history.Event{Kind: history.KindStored, Stored: &history.Stored{Type: history.StoredDelete, Key: key, Revision: p.next(), Name: name}})
}

// leaves takes a server's identity Lease away.
func (p *plane) leaves(id string) {
	p.deleted("/registry/leases/kube-system/"+id, "kube-system/"+id)
}

// takesPart is whether a server does; parties counts those that do.
func (p *plane) takesPart(id string) bool {
	return slices.Contains(p.guests, id) || slices.ContainsFunc(p.members, func(m *member) bool { return m.id() == id && !m.gone })
}

func (p *plane) parties() int {
	n := len(p.guests)
	for _, m := range p.members {
		if !m.gone {
			n++
		}
	}
	return n
}

// agree sets the agreed version, which takes the word of every server that takes
// part, and the condition.
func (p *plane) agree(sv *history.StorageVersion) {
	var common *string
	if len(sv.Entries) > 0 && len(sv.Entries) == p.parties() && !slices.ContainsFunc(sv.Entries, func(e history.Entry) bool { return e.Encoding != sv.Entries[0].Encoding }) {
		agreed := sv.Entries[0].Encoding
		common = &agreed
	}
	if len(sv.Conditions) == 0 || (common == nil) != (sv.Common == nil) || common != nil && *common != *sv.Common {
		sv.Conditions = []history.Condition{condition(common, epoch.Add(time.Duration(p.now)).Truncate(time.Second))}
	}
	sv.Common = common
}

func condition(common *string, transition time.Time) history.Condition {
	c := history.Condition{Type: "AllEncodingVersionsEqual", Status: "False", Transition: transition,
		Reason: "CommonEncodingVersionUnset", Message: "Common encoding version unset"}
	if common != nil {
		c.Status, c.Reason, c.Message = "True", "CommonEncodingVersionSet", "Common encoding version set"
	}
	return c
}

// publish writes a StorageVersion, and shows it to who watches.
func (p *plane) publish(name string) {
	sv := p.versions[name]
	p.stored("/registry/storageversions/"+name, "internal.apiserver.k8s.io/v1alpha1", "StorageVersion", name, history.Stored{StorageVersion: clone(sv)})
	for _, m := range p.members {
		if m.watching {
			p.show(m, "MODIFIED", name)
		}
	}
}

func (p *plane) show(m *member, what, name string) {
	p.emit(history.Event{Kind: history.KindWatch, Member: m.name, Watch: &history.Watch{
		Resource: "storageversions", Type: what, Name: name, ResourceVersion: p.revision, StorageVersion: clone(p.versions[name]),
	}})
}

// watch opens the recorder's watch through a member.
func (p *plane) watch(m *member) {
	m.watching = true
	p.emit(history.Event{Kind: history.KindWatch, Member: m.name, Watch: &history.Watch{Resource: "storageversions", Type: history.WatchOpened, ResourceVersion: p.revision}})
	for _, r := range hosted {
		p.show(m, "ADDED", objectName(r))
	}
}

func objectName(r history.HostedResource) string {
	if r.Group == "" {
		return "core." + r.Resource
	}
	return r.Group + "." + r.Resource
}

// clone copies all that cases may want to change.
func clone(sv *history.StorageVersion) *history.StorageVersion {
	out := *sv
	out.Entries = slices.Clone(sv.Entries)
	for i := range out.Entries {
		out.Entries[i].Decodable = slices.Clone(out.Entries[i].Decodable)
		out.Entries[i].Served = slices.Clone(out.Entries[i].Served)
	}
	out.Conditions = slices.Clone(sv.Conditions)
	if sv.Common != nil {
		common := *sv.Common
		out.Common = &common
	}
	return &out
}
