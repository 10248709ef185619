package story

import (
	"fmt"
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// Epoch is the wall clock at time 0.
var Epoch = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

const (
	// BallastGroup is the API group of ballasts, the built-in resource whose encoding
	// version the releases change.
	BallastGroup = "reference.evenkeel.dev"
	// BallastVersion is the name of the StorageVersion of ballasts.
	BallastVersion = BallastGroup + ".ballasts"
	// LanternsGroup is the API group of lanterns, a custom resource that a story defines.
	LanternsGroup = "lanterns.evenkeel.dev"
	// Millisecond is a millisecond in the unit of a history's times, nanoseconds.
	Millisecond = int64(time.Millisecond)
)

// Hosted are the built-in resources, which have StorageVersions.
var Hosted = []history.HostedResource{
	{Resource: "configmaps", Kind: "ConfigMap", Served: []string{"v1"}, Persisted: true},
	{Resource: "namespaces", Kind: "Namespace", Served: []string{"v1"}, Persisted: true},
	{Resource: "secrets", Kind: "Secret", Served: []string{"v1"}, Persisted: true},
	{Group: "coordination.k8s.io", Resource: "leases", Kind: "Lease", Served: []string{"coordination.k8s.io/v1"}, Persisted: true},
	{Group: "internal.apiserver.k8s.io", Resource: "storageversions", Kind: "StorageVersion", Served: []string{"internal.apiserver.k8s.io/v1alpha1"}, Persisted: true},
	{Group: BallastGroup, Resource: "ballasts", Kind: "Ballast", Persisted: true},
}

// otherResources are resources that have none.
var otherResources = []history.HostedResource{
	{Group: "authorization.k8s.io", Resource: "subjectaccessreviews", Kind: "SubjectAccessReview", Served: []string{"authorization.k8s.io/v1"}},
	{Group: "probe.evenkeel.dev", Resource: "soundings", Kind: "Sounding", Served: []string{"probe.evenkeel.dev/v1"}, Persisted: true, Custom: true},
	{Group: "backend.evenkeel.dev", Resource: "echoes", Kind: "Echo", Served: []string{"backend.evenkeel.dev/v1"}, Aggregated: true},
}

// Release is how an API server of a release treats ballasts. All releases decode the same
// versions, Decodable. A version has the form group/version.
type Release struct {
	// Encoding is the version that the API server stores ballasts in.
	Encoding string
	// Served are the versions that the API server serves ballasts in.
	Served []string
}

// Releases are the releases that members run, by name.
var Releases = map[string]Release{
	"1.2": {BallastGroup + "/v1beta1", []string{BallastGroup + "/v1", BallastGroup + "/v1alpha1", BallastGroup + "/v1beta1"}},
	"1.3": {BallastGroup + "/v1", []string{BallastGroup + "/v1", BallastGroup + "/v1beta1"}},
	// A server that emulates another release serves and stores what that one does.
	Emulating: {BallastGroup + "/v1beta1", []string{BallastGroup + "/v1", BallastGroup + "/v1alpha1", BallastGroup + "/v1beta1"}},
}

// Emulating is a member's release while its binaries are new and behave like the old ones.
const Emulating = "1.3 emulating 1.2"

// Decodable are the versions of ballasts that API servers of each release decode.
var Decodable = []string{BallastGroup + "/v1alpha1", BallastGroup + "/v1beta1", BallastGroup + "/v1"}

// ControlPlane is a control plane that does everything right, and the recorders that
// look at it.
type ControlPlane struct {
	Now             int64
	Revision        int64
	Events          []history.Event
	Members         []*Member
	StorageVersions map[string]*history.StorageVersion
	created         map[string]int64 // revision that created each key
	// LanternsDefined is whether lanterns are defined.
	LanternsDefined bool
	// OtherServers are the IDs of servers that take part, and are no members.
	OtherServers []string
}

// Member is a member of the control plane: one API server with its etcd.
type Member struct {
	Name string
	// Release is the one that it runs, a key of Releases.
	Release string
	// Instance is the number of the API server's process; the first one is 1.
	Instance int
	watching bool
	// WatchesMigrations is whether the recorder watches migrations through it.
	WatchesMigrations bool
	// Left is whether it has left the participants.
	Left bool
	// DisabledFeatures are the features that its server was started without.
	DisabledFeatures []string
	// Writes is how many writes with a tag its recorder has sent.
	Writes int64
}

// ServerID gives the identity of the member's API server.
func (m *Member) ServerID() string { return "apiserver-" + m.Name }

// NewControlPlane gives three members at release 1.2, cp1 to cp3, of which none runs.
func NewControlPlane() *ControlPlane {
	p := &ControlPlane{Revision: 100, StorageVersions: map[string]*history.StorageVersion{}, created: map[string]int64{}}
	for _, name := range []string{"cp1", "cp2", "cp3"} {
		p.Members = append(p.Members, &Member{Name: name, Release: "1.2"})
	}
	return p
}

// NewHeader gives the header of a run of three members of the reference on the local
// provider.
func NewHeader() history.Header {
	h := history.Header{
		Format: history.Format, Version: history.Version, Run: "story", Seed: 1, Started: Epoch, Harness: "pkg/story",
		Scenario: "story", Provider: "local", Distribution: "reference",
		Writes: []history.WrittenResource{
			{Resource: "configmaps", Kind: "ConfigMap"},
			{Group: BallastGroup, Resource: "ballasts", Kind: "Ballast"},
		},
	}
	for _, m := range NewControlPlane().Members {
		h.Members = append(h.Members, history.MemberHeader{Name: m.Name, ServerID: m.ServerID(), Release: m.Release})
	}
	return h
}

// Advance lets time pass.
func (p *ControlPlane) Advance(milliseconds int64) { p.Now += milliseconds * Millisecond }

// Emit records an event that ends now.
func (p *ControlPlane) Emit(ev history.Event) {
	ev.At = p.Now
	p.Events = append(p.Events, ev)
	p.Advance(1)
}

// revisionStep leaves room between the revisions of a story for the edits of a case.
const revisionStep = 2

// NextRevision gives a new revision of etcd, and leaves room before it for edits.
func (p *ControlPlane) NextRevision() int64 {
	p.Revision += revisionStep
	return p.Revision
}

// Store records the write of an object and gives its revision.
func (p *ControlPlane) Store(key, apiVersion, kind, name string, s history.Stored) int64 {
	s.Type, s.Key, s.Revision = history.StoredPut, key, p.NextRevision()
	if p.created[key] == 0 {
		p.created[key] = s.Revision
	}
	s.Created, s.APIVersion, s.ObjectKind, s.Name = p.created[key], apiVersion, kind, name
	p.Emit(history.Event{Kind: history.KindStored, Stored: &s})
	return s.Revision
}

// RenewIdentity writes a member's identity Lease.
func (p *ControlPlane) RenewIdentity(m *Member) {
	p.Store("/registry/leases/kube-system/"+m.ServerID(), "coordination.k8s.io/v1", "Lease", "kube-system/"+m.ServerID(), history.Stored{
		Lease: &history.Lease{Holder: fmt.Sprintf("%s_%d", m.ServerID(), m.Instance), Duration: 3600, Renewed: Epoch.Add(time.Duration(p.Now)), Identity: true},
	})
}

// ReportResource has a member announce a built-in resource.
func (p *ControlPlane) ReportResource(m *Member, r history.HostedResource) {
	p.ReportEntry(m, StorageVersionName(r), entryOf(m, r))
}

// ReportEntry has a member put its entry into a StorageVersion, which nothing is
// written for if it is there already.
func (p *ControlPlane) ReportEntry(m *Member, name string, e history.Entry) {
	now := p.StorageVersions[name]
	if now == nil {
		p.StorageVersions[name] = &history.StorageVersion{}
		p.Publish(name)
		p.Advance(2)
		now = p.StorageVersions[name]
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
	p.UpdateAgreement(now)
	p.Publish(name)
}

// entryOf is what a member reports of a resource.
func entryOf(m *Member, r history.HostedResource) history.Entry {
	if r.Resource != "ballasts" {
		return history.Entry{ServerID: m.ServerID(), Encoding: r.Served[0], Decodable: r.Served, Served: r.Served}
	}
	rel := Releases[m.Release]
	return history.Entry{ServerID: m.ServerID(), Encoding: rel.Encoding, Decodable: Decodable, Served: rel.Served}
}

// Delete records that a key has gone.
func (p *ControlPlane) Delete(key, name string) {
	delete(p.created, key)
	p.Emit(history.Event{Kind: history.KindStored, Stored: &history.Stored{Type: history.StoredDelete, Key: key, Revision: p.NextRevision(), Name: name}})
}

// DeleteIdentity takes a server's identity Lease away.
func (p *ControlPlane) DeleteIdentity(id string) {
	p.Delete("/registry/leases/kube-system/"+id, "kube-system/"+id)
}

// Participates is whether a server does; parties counts those that do.
func (p *ControlPlane) Participates(id string) bool {
	return slices.Contains(p.OtherServers, id) || slices.ContainsFunc(p.Members, func(m *Member) bool { return m.ServerID() == id && !m.Left })
}

func (p *ControlPlane) participants() int {
	n := len(p.OtherServers)
	for _, m := range p.Members {
		if !m.Left {
			n++
		}
	}
	return n
}

// UpdateAgreement sets the agreed version, which takes the word of every server that takes
// part, and the condition.
func (p *ControlPlane) UpdateAgreement(sv *history.StorageVersion) {
	var common *string
	if len(sv.Entries) > 0 && len(sv.Entries) == p.participants() && !slices.ContainsFunc(sv.Entries, func(e history.Entry) bool { return e.Encoding != sv.Entries[0].Encoding }) {
		agreed := sv.Entries[0].Encoding
		common = &agreed
	}
	if len(sv.Conditions) == 0 || (common == nil) != (sv.Common == nil) || common != nil && *common != *sv.Common {
		sv.Conditions = []history.Condition{AgreementCondition(common, Epoch.Add(time.Duration(p.Now)).Truncate(time.Second))}
	}
	sv.Common = common
}

// AgreementCondition gives the condition of a StorageVersion with an agreed version, or
// without one for nil.
func AgreementCondition(common *string, transition time.Time) history.Condition {
	c := history.Condition{Type: "AllEncodingVersionsEqual", Status: "False", Transition: transition,
		Reason: "CommonEncodingVersionUnset", Message: "Common encoding version unset"}
	if common != nil {
		c.Status, c.Reason, c.Message = "True", "CommonEncodingVersionSet", "Common encoding version set"
	}
	return c
}

// Publish writes a StorageVersion, and shows it to the open watches.
func (p *ControlPlane) Publish(name string) {
	sv := p.StorageVersions[name]
	p.Store("/registry/storageversions/"+name, "internal.apiserver.k8s.io/v1alpha1", "StorageVersion", name, history.Stored{StorageVersion: CloneStorageVersion(sv)})
	for _, m := range p.Members {
		if m.watching {
			p.show(m, "MODIFIED", name)
		}
	}
}

func (p *ControlPlane) show(m *Member, what, name string) {
	p.Emit(history.Event{Kind: history.KindWatch, Member: m.Name, Watch: &history.Watch{
		Resource: "storageversions", Type: what, Name: name, ResourceVersion: p.Revision, StorageVersion: CloneStorageVersion(p.StorageVersions[name]),
	}})
}

// OpenWatch opens the recorder's watch through a member.
func (p *ControlPlane) OpenWatch(m *Member) {
	m.watching = true
	p.Emit(history.Event{Kind: history.KindWatch, Member: m.Name, Watch: &history.Watch{Resource: "storageversions", Type: history.WatchOpened, ResourceVersion: p.Revision}})
	for _, r := range Hosted {
		p.show(m, "ADDED", StorageVersionName(r))
	}
}

// StorageVersionName gives the name of the StorageVersion of a resource.
func StorageVersionName(r history.HostedResource) string {
	if r.Group == "" {
		return "core." + r.Resource
	}
	return r.Group + "." + r.Resource
}

// CloneStorageVersion copies all that cases may want to change.
func CloneStorageVersion(sv *history.StorageVersion) *history.StorageVersion {
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
