package discovery_test

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// historyBuilder is a history that a test builds line by line. Members are a, b and c,
// whose servers are ida, idb and idc; each event takes a millisecond.
type historyBuilder struct {
	header history.Header
	events []history.Event
	now    int64
	next   int // of the events to read
}

const (
	groupsPath = "/apis"
	corePath   = "/api"
	listKind   = "APIGroupDiscoveryList"
	askedJSON  = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
	askedLocal = askedJSON + ";profile=nopeer"
)

// started is when the clock of the history begins, and epoch when the first event is.
var started = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

const epoch = time.Minute

const lights = "lights.io"

func newHistory() *historyBuilder {
	h := history.Header{Started: started}
	for _, name := range []string{"a", "b", "c"} {
		h.Members = append(h.Members, history.MemberHeader{Name: name, ServerID: "id" + name, Release: "1"})
	}
	return &historyBuilder{header: h, now: int64(epoch)}
}

func (t *historyBuilder) Header() history.Header { return t.header }
func (t *historyBuilder) Damage() []string       { return nil }

func (t *historyBuilder) add(ev history.Event) *historyBuilder {
	ev.Seq, ev.At = int64(len(t.events)+1), t.now
	if ev.From == 0 {
		ev.From = t.now // it was recorded at once, unless a test says otherwise
	}
	t.events = append(t.events, ev)
	t.now += int64(time.Millisecond)
	return t
}

func (t *historyBuilder) Next() (*history.Event, error) {
	if t.next == len(t.events) {
		return nil, io.EOF
	}
	t.next++
	ev := t.events[t.next-1]
	return &ev, nil
}

func (t *historyBuilder) pass(d time.Duration) *historyBuilder { t.now += int64(d); return t }

func (t *historyBuilder) starts(member string, instance int) *historyBuilder {
	return t.add(history.Event{Kind: history.KindProcess, Member: member, Process: &history.Process{
		Component: history.ComponentAPIServer, Change: history.ProcessStarted, Instance: instance}})
}

func (t *historyBuilder) exits(member string, instance int) *historyBuilder {
	return t.add(history.Event{Kind: history.KindProcess, Member: member, Process: &history.Process{
		Component: history.ComponentAPIServer, Change: history.ProcessExited, Instance: instance}})
}

func (t *historyBuilder) ready(member string, code int, revision int64) *historyBuilder {
	return t.add(history.Event{Kind: history.KindReady, Member: member, From: t.now, Ready: &history.Ready{Code: code, Revision: revision}})
}

func (t *historyBuilder) stored(s history.Stored) *historyBuilder {
	return t.add(history.Event{Kind: history.KindStored, Stored: &s})
}

func (t *historyBuilder) joins(member string, revision int64) *historyBuilder {
	return t.stored(history.Stored{Type: history.StoredPut, Key: fact.IdentityLeasePrefix + "id" + member, Revision: revision, Created: revision, Lease: &history.Lease{Identity: true}})
}

// renews has the identity Lease that was made at the created revision renewed,
// so long after the beginning; it lasts 10 s.
func (t *historyBuilder) renews(member string, revision, created int64, after time.Duration) *historyBuilder {
	return t.stored(history.Stored{Type: history.StoredPut, Key: fact.IdentityLeasePrefix + "id" + member, Revision: revision, Created: created,
		Lease: &history.Lease{Identity: true, Duration: 10, Renewed: started.Add(epoch + after)}})
}

func (t *historyBuilder) leaves(member string, revision int64) *historyBuilder {
	return t.stored(history.Stored{Type: history.StoredDelete, Key: fact.IdentityLeasePrefix + "id" + member, Revision: revision})
}

// judge ends the tale in good order, and judges it.
func (t *historyBuilder) judge(test *testing.T, ids ...requirement.ID) []check.Result {
	test.Helper()
	if len(t.events) == 0 || t.events[len(t.events)-1].End == nil {
		t.add(history.Event{Kind: history.KindEnd, End: &history.End{Complete: true}})
	}
	var all []requirement.Requirement
	for _, id := range ids {
		r, ok := requirement.Lookup(id)
		if !ok {
			test.Fatalf("no requirement %s", id)
		}
		all = append(all, r)
	}
	t.next = 0
	j, err := check.Judge(t, all)
	if err != nil {
		test.Fatal(err)
	}
	return j.Results
}

// blames wants one violation of each message, in order; none means that
// nothing may be blamed.
func (t *historyBuilder) blames(test *testing.T, id requirement.ID, messages ...string) check.Result {
	test.Helper()
	r := t.judge(test, id)[0]
	var got []string
	for _, v := range r.Violations {
		got = append(got, v.Message)
		for _, seq := range v.Evidence {
			if seq < 1 || int(seq) > len(t.events) {
				test.Errorf("evidence %d is no event", seq)
			}
		}
	}
	if !slices.EqualFunc(got, messages, strings.Contains) {
		test.Errorf("%s blames %q, want %q (%q)", id, got, messages, r.Reasons)
	}
	if strings.Contains(fmt.Sprint(r.Reasons), "crashed") {
		test.Errorf("%s: %q", id, r.Reasons)
	}
	if len(messages) > 0 && r.Verdict != check.Fail {
		test.Errorf("%s is %s", id, r.Verdict)
	}
	return r
}

// saw wants an observation to have been counted so often.
func saw(test *testing.T, r check.Result, what string, n int64) {
	test.Helper()
	for _, o := range r.Observations {
		if strings.Contains(o.What, what) {
			if o.Seen != n {
				test.Errorf("saw %d %s, want %d", o.Seen, o.What, n)
			}
			return
		}
	}
	test.Errorf("%s counts no %q: %v", r.ID, what, r.Observations)
}

func reason(test *testing.T, r check.Result, want string) {
	test.Helper()
	if !strings.Contains(fmt.Sprint(r.Reasons), want) {
		test.Errorf("%s gives the reasons %q, not %q", r.ID, r.Reasons, want)
	}
}

// stops ends a process on purpose.
func (t *historyBuilder) stops(member string, instance int) *historyBuilder {
	return t.add(history.Event{Kind: history.KindProcess, Member: member, Process: &history.Process{
		Component: history.ComponentAPIServer, Change: history.ProcessExited, Instance: instance, Expected: true}})
}

// serves has the harness define a custom resource of lights.io with the versions;
// without any it is deleted.
func (t *historyBuilder) serves(resource string, code int, versions ...string) *historyBuilder {
	return t.servesIn(lights, resource, code, versions...)
}

func (t *historyBuilder) servesIn(group, resource string, code int, versions ...string) *historyBuilder {
	verb := "update"
	if len(versions) == 0 {
		verb = "delete"
	}
	return t.add(history.Event{Kind: history.KindRequest, Member: "a", From: t.now, Request: &history.Request{
		Class: history.ClassGuarded, Verb: verb, Resource: "customresourcedefinitions", Code: code,
		Defines: &history.Definition{Group: group, Resource: resource, Versions: versions},
	}})
}

// lone is a control plane of one member that is ready.
func lone() *historyBuilder {
	t := newHistory()
	t.header.Members = t.header.Members[:1]
	return t.starts("a", 1).ready("a", 200, 5)
}

// hidden has something be seen while a change is under way that may explain it, and
// again when nothing does.
func (t *historyBuilder) hidden(change, see func(*historyBuilder)) *historyBuilder {
	from := t.now
	see(t)
	change(t)
	t.events[len(t.events)-1].From = from
	t.pass(12 * time.Second)
	see(t)
	return t.pass(6 * time.Second)
}

// hands has the harness put the APIService of tides there; the code is 0 where no
// answer came.
func (t *historyBuilder) hands(code int) *historyBuilder {
	return t.add(history.Event{Kind: history.KindRequest, Member: "a", From: t.now, Request: &history.Request{
		Class: history.ClassGuarded, Verb: "update", Resource: "apiservices", Code: code, Defines: &history.Definition{Remote: true, Group: tides, Versions: []string{"v1"}},
	}})
}

func (t *historyBuilder) backend(phase history.Phase, proof string) *historyBuilder {
	return t.add(history.Event{Kind: history.KindFault, Fault: &history.Fault{
		ID: "backend-1", Type: history.FaultBackend, Action: history.BackendHang, Group: tides, Phase: phase, Proof: proof,
	}})
}

// listsTides is a document of a's in which tides has a resource.
func (t *historyBuilder) listsTides(freshness string) *historyBuilder {
	listing := &history.Listing{Groups: []history.ListedGroup{{Name: tides, Versions: []history.ListedVersion{
		{Version: "v1", Freshness: freshness, Inventory: "known", Resources: []history.ListedResource{{Name: "flows"}}},
	}}}}
	return t.add(history.Event{Kind: history.KindDiscoveryDocument, Member: "a", From: t.now, DiscoveryDocument: &history.DiscoveryDocument{
		Path: groupsPath, Accept: askedJSON, Code: 200, Content: freshness, Listing: listing,
	}})
}

const tides = "tides.io"

// said is what came of a thorough look at a member. Each word is a group-version
// with its resources, such as "x.io/v1:ships,horns".
type said struct {
	// union and local are the two views, and own the documents of single
	// group-versions.
	union, local, own []string
	// denied are group-versions for which there was no such document.
	denied []string
	// handed are the answers to requests for objects, in order: a path and a code.
	handed []string
}

func listingOf(kind string, words []string) *history.Listing {
	l := &history.Listing{Kind: kind}
	for _, word := range words {
		name, resources, _ := strings.Cut(word, ":")
		group, version := parted(name)
		v := history.ListedVersion{Version: version, Freshness: history.FreshnessCurrent, Inventory: "inventory " + resources}
		for _, resource := range strings.Split(resources, ",") {
			v.Resources = append(v.Resources, history.ListedResource{Name: resource, Verbs: []string{"list"}})
		}
		at := slices.IndexFunc(l.Groups, func(g history.ListedGroup) bool { return g.Name == group })
		if at < 0 {
			at = len(l.Groups)
			l.Groups = append(l.Groups, history.ListedGroup{Name: group})
		}
		l.Groups[at].Versions = append(l.Groups[at].Versions, v)
	}
	return l
}

func (t *historyBuilder) answered(member string, d history.DiscoveryDocument) *historyBuilder {
	if d.Listing != nil {
		d.Content = d.Listing.Kind + fmt.Sprint(d.Listing.Groups)
		d.Digest, d.ETag = d.Content, d.Content
	}
	if d.Code == 0 && d.Error == "" {
		d.Code = 200
	}
	return t.add(history.Event{Kind: history.KindDiscoveryDocument, Member: member, From: t.now, DiscoveryDocument: &d})
}

// looksAt has a member looked at thoroughly.
func (t *historyBuilder) looksAt(member string, s said) *historyBuilder {
	number := int64(len(t.events) + 1)
	all := func() history.DiscoveryDocument {
		return history.DiscoveryDocument{Path: groupsPath, Accept: askedJSON, Sweep: number, Listing: listingOf("APIGroupDiscoveryList", s.union)}
	}
	t.answered(member, all())
	t.answered(member, history.DiscoveryDocument{Path: groupsPath, Accept: askedLocal, Sweep: number, Listing: listingOf("APIGroupDiscoveryList", s.local)})
	t.answered(member, history.DiscoveryDocument{Path: groupsPath, Sweep: number, Listing: listingOf("APIGroupList", s.own)})
	for _, word := range s.own {
		name, _, _ := strings.Cut(word, ":")
		t.answered(member, history.DiscoveryDocument{Path: groupsPath + "/" + name, Sweep: number, Listing: listingOf("APIResourceList", []string{word})})
	}
	for _, name := range s.denied {
		t.answered(member, history.DiscoveryDocument{Path: groupsPath + "/" + name, Sweep: number, Code: 404, Status: "NotFound"})
	}
	for _, request := range s.handed {
		var path string
		var code int
		if _, err := fmt.Sscan(request, &path, &code); err != nil {
			panic(err)
		}
		d := history.DiscoveryDocument{Path: groupsPath + "/" + path, Sweep: number, Code: code}
		if code == 0 {
			d.Error = "no answer"
		}
		t.answered(member, d)
	}
	last := all()
	last.Last = true
	return t.answered(member, last)
}

func (t *historyBuilder) polled(member string, union ...string) *historyBuilder {
	return t.answered(member, history.DiscoveryDocument{Path: groupsPath, Accept: askedJSON, Listing: listingOf("APIGroupDiscoveryList", union)})
}

var (
	newer = []string{"x.io/v1:ships", "y.io/v1:decks"}
	elder = []string{"x.io/v1beta1:ships", "y.io/v1:decks"}
	both  = []string{"x.io/v1:ships", "x.io/v1beta1:ships", "y.io/v1:decks"}
)

// fleet is a control plane whose members a and b host what is newer, and c what is
// older, and that has been so for long.
func fleet() *historyBuilder {
	t := newHistory()
	for i, member := range []string{"a", "b", "c"} {
		t.starts(member, 1).joins(member, int64(10+i)).ready(member, 200, int64(20+i))
	}
	t.header.Members[2].Release = "0"
	return t
}

func honest(member string) said {
	if member == "c" {
		return said{union: both, local: elder, own: elder, handed: []string{"x.io/v1/ships 200"}}
	}
	return said{union: both, local: newer, own: newer, handed: []string{"x.io/v1beta1/ships 200"}}
}

// froze has a member's process frozen, or let go on.
func (t *historyBuilder) froze(member, change string) *historyBuilder {
	return t.add(history.Event{Kind: history.KindProcess, Member: member, Process: &history.Process{
		Component: history.ComponentAPIServer, Change: change, Instance: 1}})
}

// does has the server of tides misbehave in a way, and be met.
func (t *historyBuilder) does(number int, action string, phases ...history.Phase) *historyBuilder {
	for _, phase := range phases {
		f := &history.Fault{ID: fmt.Sprint("backend-", number), Type: history.FaultBackend, Action: action, Group: tides, Phase: phase}
		if phase == history.PhaseWitness {
			f.Proof = "asked"
		}
		t.add(history.Event{Kind: history.KindFault, Fault: f})
	}
	return t
}

// denies is a look at a that has no document to show.
func (t *historyBuilder) denies(code int, took time.Duration) *historyBuilder {
	d := &history.DiscoveryDocument{Path: groupsPath, Accept: askedJSON, Code: code}
	if code == 0 {
		d.Error = "no answer"
	}
	from := t.now
	return t.pass(took).add(history.Event{Kind: history.KindDiscoveryDocument, Member: "a", From: from, DiscoveryDocument: d})
}

// stays has a be ready for a time.
func (t *historyBuilder) stays(d time.Duration) *historyBuilder {
	for end := t.now + int64(d); t.now < end; t.pass(time.Second) {
		t.ready("a", 200, 5)
	}
	return t
}

// struck is a control plane whose server of tides has just begun to misbehave.
func struck() *historyBuilder {
	return lone().hands(201).pass(time.Minute).polled("a", steady).does(1, history.BackendHang, history.PhaseInject, history.PhaseWitness)
}

const steady = "steady.io/v1:flows"

const (
	weather = "weather.io/v1"
	apps    = "apps.io/v1:decks"
)

// foreign tells of an APIService that the harness did not make; it may have been so for
// ago.
func (t *historyBuilder) foreign(change, name, available string, ago time.Duration) *historyBuilder {
	g, v := parted(name)
	return t.add(history.Event{Kind: history.KindThirdPartyObject, From: max(t.now-int64(ago), 1), ThirdPartyObject: &history.ThirdPartyObject{
		Type: history.ThirdPartyAPIService, Name: v + "." + g, Change: change, Group: g, Version: v, Available: available,
	}})
}

// documentOf lists words as listingOf does; one with an exclamation mark is stale.
func documentOf(words ...string) *history.Listing {
	var names []string
	for _, word := range words {
		names = append(names, strings.TrimSuffix(word, "!"))
	}
	l := listingOf(listKind, names)
	for _, word := range words {
		if name, ok := strings.CutSuffix(word, "!"); ok {
			name, _, _ = strings.Cut(name, ":")
			g, v := parted(name)
			found := versionIn(l, g, v)
			found.Freshness, found.Inventory, found.Resources = history.FreshnessStale, "inventory none", nil
		}
	}
	return l
}

// lists has a member give a document.
func (t *historyBuilder) listsAll(member string, words ...string) *historyBuilder {
	return t.answered(member, history.DiscoveryDocument{Path: groupsPath, Accept: askedJSON, Listing: documentOf(words...)})
}

// looksThrough has a member looked at thoroughly: it gives the document, the list of groups
// of the same, and the codes of the endpoints of group-versions.
func (t *historyBuilder) looksThrough(member string, words []string, codes map[string]int) *historyBuilder {
	number := int64(len(t.events) + 1)
	all := func(last bool) history.DiscoveryDocument {
		return history.DiscoveryDocument{Path: groupsPath, Accept: askedJSON, Sweep: number, Last: last, Listing: documentOf(words...)}
	}
	t.answered(member, all(false))
	plain := documentOf(words...)
	plain.Kind = "APIGroupList"
	t.answered(member, history.DiscoveryDocument{Path: groupsPath, Accept: "application/json", ContentType: "application/json", Sweep: number, Listing: plain})
	for _, word := range words {
		name, _, _ := strings.Cut(strings.TrimSuffix(word, "!"), ":")
		d := history.DiscoveryDocument{Path: groupsPath + "/" + name, Accept: "application/json", Sweep: number, Code: codes[name]}
		if d.Code == 0 {
			d.Code, d.Listing = 200, listingOf("APIResourceList", []string{strings.TrimSuffix(word, "!")})
		}
		t.answered(member, d)
	}
	return t.answered(member, all(true))
}

// parted gives the parts of a group-version's name.
func parted(name string) (group, version string) {
	group, version, _ = strings.Cut(name, "/")
	return group, version
}

// stale has the group-version be called stale, and empty, in the documents told since.
func (t *historyBuilder) stale(since int, group string) *historyBuilder {
	for _, ev := range t.events[since:] {
		d := ev.DiscoveryDocument
		if d == nil || d.Listing == nil || d.Listing.Kind != listKind {
			continue
		}
		for _, g := range d.Listing.Groups {
			if g.Name == group {
				g.Versions[0].Freshness, g.Versions[0].Resources, g.Versions[0].Inventory = history.FreshnessStale, nil, "nothing"
				d.Content += " stale " + group
				d.ETag, d.Digest = d.Content, d.Content
			}
		}
	}
	return t
}

// versionIn gives the group-version as a listing has it.
func versionIn(l *history.Listing, group, version string) *history.ListedVersion {
	for i := range l.Groups {
		for j := range l.Groups[i].Versions {
			if l.Groups[i].Name == group && l.Groups[i].Versions[j].Version == version {
				return &l.Groups[i].Versions[j]
			}
		}
	}
	return nil
}
