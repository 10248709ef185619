package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/history"
)

const (
	lightsGroup = "lights.evenkeel.dev"
	tidesGroup  = "tides.aggregated.evenkeel.dev"
	wrecksGroup = "wrecks.aggregated.evenkeel.dev"

	plainJSON = "application/json"
	listType  = ";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
	v2JSON    = plainJSON + listType
	v2YAML    = "application/yaml" + listType
	v2Proto   = "application/vnd.kubernetes.protobuf" + listType
)

var (
	betaJSON    = strings.Replace(v2JSON, "v=v2", "v=v2beta1", 1)
	unknownJSON = strings.Replace(v2JSON, "v=v2", "v=v97", 1)
)

// hostedVersion is a group-version in the story of discovery.
type hostedVersion struct {
	group, version, resource string
	remote, stale            bool
}

// harbour is a control plane whose discovery does everything right, and the
// recorder that looks at it.
type harbour struct {
	*plane
	own, defined []hostedVersion
	// fetched is what a member has of the tides' server: its freshness.
	aggregations int64
	sweeps       map[string]int64
	ids          map[string]int
}

// discoveryStory is a run in which discovery is as it should be: custom resources
// and aggregated servers are defined, changed, removed, lost and found again, and
// a member is restarted.
func discoveryStory() []history.Event {
	h := &harbour{
		plane: newPlane(), sweeps: map[string]int64{}, ids: map[string]int{},
		own: []hostedVersion{
			{group: "coordination.k8s.io", version: "v1", resource: "leases"},
			{group: ballastGroup, version: "v1", resource: "ballasts"},
			{group: ballastGroup, version: "v1beta1", resource: "ballasts"},
		},
	}
	cp1, cp2, cp3 := h.members[0], h.members[1], h.members[2]
	for _, m := range h.members {
		h.start(m, m.release)
		h.readied(m)
	}
	h.define(cp1, false, lightsGroup, "lights", "v1", "v1beta1")
	h.define(cp2, false, tidesGroup, "piers", "v1beta1")
	h.define(cp3, true, tidesGroup, "tides", "v1")
	h.polls()
	h.quiet()
	h.define(cp1, false, lightsGroup, "lights", "v1")
	h.polls()
	h.define(cp1, false, lightsGroup, "lights", "v1", "v1beta1")
	h.polls() // as it was before
	h.define(cp2, false, lightsGroup, "buoys", "v1")
	h.polls()
	h.define(cp2, false, lightsGroup, "buoys")
	h.polls()
	h.pass(12_000)
	h.define(cp3, true, tidesGroup, "tides")
	h.polls()
	h.define(cp3, true, tidesGroup, "tides", "v1")
	h.polls()
	h.pass(12_000)
	h.define(cp1, false, tidesGroup, "piers")
	h.polls()
	h.pass(12_000)
	h.restarted(cp2)
	h.polls()
	h.fault("wrecks", wrecksGroup, 1, history.BackendHang, history.PhaseInject)
	h.defineStale(cp1, wrecksGroup, "wrecks", "v1")
	h.fault("wrecks", wrecksGroup, 1, history.BackendHang, history.PhaseWitness)
	h.polls()
	h.pass(12_000)
	h.restarted(cp2)
	h.sweep(cp2)
	for i, action := range []string{history.BackendGarbage, history.BackendForeign, history.BackendUnchanged, history.BackendHang} {
		h.fault("tides", tidesGroup, i+1, action, history.PhaseInject)
		h.pass(500)
		h.fault("tides", tidesGroup, i+1, action, history.PhaseWitness)
		h.mark(tidesGroup, action == history.BackendHang)
		h.polls()
		h.fault("tides", tidesGroup, i+1, action, history.PhaseHeal)
		h.pass(2000)
		h.mark(tidesGroup, false)
		h.polls()
	}
	h.fault("wrecks", wrecksGroup, 1, history.BackendHang, history.PhaseHeal)
	h.pass(2000)
	h.mark(wrecksGroup, false)
	h.polls()
	h.pass(72_000)
	h.polls()
	h.quiet()
	h.emit(history.Event{Kind: history.KindEnd, End: &history.End{Complete: true}})
	return h.events
}

// readied has a member be ready, and be looked at in that moment.
func (h *harbour) readied(m *member) {
	h.pass(1000)
	from := h.now
	h.pass(3)
	h.emit(history.Event{Kind: history.KindReady, Member: m.name, From: from, Ready: &history.Ready{Code: 200, Revision: h.revision}})
	h.poll(m)
}

// restarted has a member stop and come back as it was.
func (h *harbour) restarted(m *member) {
	h.emit(history.Event{Kind: history.KindProcess, Member: m.name, Process: &history.Process{
		Component: history.ComponentAPIServer, Change: history.ProcessExited, Instance: m.instance, Release: m.release, Exit: "exit status 0", Expected: true,
	}})
	h.start(m, m.release)
	h.readied(m)
}

// define has the harness define a custom resource or an APIService, whose server
// answers; without versions it takes that back.
func (h *harbour) define(m *member, remote bool, group, resource string, versions ...string) {
	h.request(m, definition(remote, group, resource, versions))
	h.defined = slices.DeleteFunc(h.defined, func(v hostedVersion) bool { return v.group == group && v.resource == resource })
	for _, version := range versions {
		h.defined = append(h.defined, hostedVersion{group: group, version: version, resource: resource, remote: remote})
	}
	slices.SortFunc(h.defined, func(a, b hostedVersion) int {
		return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.resource, b.resource), cmp.Compare(a.version, b.version))
	})
	h.aggregations++
}

// defineStale is define of an APIService whose server does not answer.
func (h *harbour) defineStale(m *member, group, resource, version string) {
	h.define(m, true, group, resource, version)
	h.mark(group, true)
}

func definition(remote bool, group, resource string, versions []string) history.Request {
	r := history.Request{
		Class: history.ClassGuarded, Verb: "update", Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions", Name: resource + "." + group, Code: 200,
		Defines: &history.Definition{Remote: remote, Group: group, Resource: resource, Versions: versions},
	}
	if remote {
		r.Group, r.Resource, r.Name, r.Defines.Resource = "apiregistration.k8s.io", "apiservices", "v1."+group, ""
	}
	if len(versions) == 0 {
		r.Verb = "delete"
	}
	return r
}

// mark has all members know whether a group's server answers.
func (h *harbour) mark(group string, stale bool) {
	for i := range h.defined {
		if h.defined[i].group == group && h.defined[i].remote {
			h.defined[i].stale = stale
		}
	}
	h.aggregations++
}

func (h *harbour) fault(name, group string, number int, action string, phase history.Phase) {
	f := &history.Fault{ID: fmt.Sprintf("backend-%s-%d", name, number), Type: history.FaultBackend, Action: action, Group: group, Phase: phase}
	if phase == history.PhaseWitness {
		f.Proof = "the backend of " + group + " was asked for discovery 3 times, and its answer was: " + action
	}
	h.emit(history.Event{Kind: history.KindFault, Fault: f})
}

// polls has every member looked at.
func (h *harbour) polls() {
	h.pass(800)
	for _, m := range h.members {
		h.poll(m)
	}
}

func (h *harbour) poll(m *member) { h.answer(m, history.Document{Path: "/apis", Accept: v2JSON}) }

// quiet waits until everything shows, and looks at all of every member.
func (h *harbour) quiet() {
	h.pass(12_000)
	for _, m := range h.members {
		h.sweep(m)
	}
}

func (h *harbour) sweep(m *member) {
	h.sweeps[m.name]++
	ask := func(d history.Document) {
		d.Sweep = h.sweeps[m.name]
		h.answer(m, d)
	}
	ask(history.Document{Path: history.MetricsPath})
	for _, path := range []string{"/api", "/apis"} {
		for _, accept := range []string{v2JSON, "", v2YAML, v2Proto, v2JSON + "," + plainJSON, plainJSON + "," + v2JSON, betaJSON, unknownJSON, unknownJSON + "," + plainJSON} {
			ask(history.Document{Path: path, Accept: accept})
		}
		tag := h.tag(path)
		for _, condition := range []string{tag, `"0"`, "W/" + tag, `"0", ` + tag, "*"} {
			ask(history.Document{Path: path, Accept: v2JSON, IfNoneMatch: condition})
		}
	}
	ask(history.Document{Path: "/api/v1", Accept: plainJSON})
	for _, v := range slices.Concat(h.own, h.defined) {
		ask(history.Document{Path: "/apis/" + v.group + "/" + v.version, Accept: plainJSON})
	}
	ask(history.Document{Path: "/api", Accept: v2JSON})
	ask(history.Document{Path: "/apis", Accept: v2JSON})
	ask(history.Document{Path: history.MetricsPath, Last: true})
}

// answer fills in what a member answers, and records it.
func (h *harbour) answer(m *member, d history.Document) {
	from := h.now
	h.pass(2)
	d.Code, d.ContentType = 200, plainJSON
	switch {
	case d.Path == history.MetricsPath:
		count := h.aggregations
		d.ContentType, d.Aggregations = "text/plain", &count
	case d.Path != "/api" && d.Path != "/apis":
		d.Listing = h.single(d.Path)
	case d.Accept == unknownJSON:
		d.Code, d.Status = 406, "NotAcceptable"
	case d.Accept == "" || strings.HasPrefix(d.Accept, plainJSON+",") || strings.HasSuffix(d.Accept, ","+plainJSON) && strings.HasPrefix(d.Accept, unknownJSON):
		d.Listing = h.plain(d.Path)
	default:
		d.ContentType, _, _ = strings.Cut(d.Accept, ",")
		d.Listing, d.ETag = h.aggregated(d.Path), h.tag(d.Path)
		if d.Accept == betaJSON {
			d.Listing.APIVersion = "apidiscovery.k8s.io/v2beta1"
		}
	}
	switch {
	case d.IfNoneMatch != "" && d.IfNoneMatch != `"0"`:
		d.Code, d.Listing = 304, nil
	case d.Listing != nil:
		d.Content = h.name("told", d.Listing)
		d.Digest, d.Size = d.Content+" "+d.ContentType, 900
	}
	h.emit(history.Event{Kind: history.KindDocument, Member: m.name, From: from, Document: &d})
}

// name gives what is the same the same short name.
func (h *harbour) name(prefix string, value any) string {
	raw, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	key := prefix + string(raw)
	if h.ids[key] == 0 {
		h.ids[key] = len(h.ids) + 1
	}
	return fmt.Sprintf("%s-%d", prefix, h.ids[key])
}

func (h *harbour) tag(path string) string { return `"` + h.name("tag", h.aggregated(path)) + `"` }

// aggregated is the aggregated document at a path.
func (h *harbour) aggregated(path string) *history.Listing {
	listing := &history.Listing{APIVersion: "apidiscovery.k8s.io/v2", Kind: "APIGroupDiscoveryList"}
	if path == "/api" {
		listing.Groups = []history.ListedGroup{{Versions: []history.ListedVersion{listedVersion(hostedVersion{version: "v1", resource: "configmaps"}, true)}}}
		return listing
	}
	for _, v := range slices.Concat(h.own, h.defined) {
		at := slices.IndexFunc(listing.Groups, func(g history.ListedGroup) bool { return g.Name == v.group })
		if at < 0 {
			at = len(listing.Groups)
			listing.Groups = append(listing.Groups, history.ListedGroup{Name: v.group})
		}
		versions := &listing.Groups[at].Versions
		if same := slices.IndexFunc(*versions, func(l history.ListedVersion) bool { return l.Version == v.version }); same >= 0 {
			more := listedVersion(v, true)
			l := &(*versions)[same]
			l.Resources = append(more.Resources, l.Resources...)
			l.Inventory, l.Order = more.Inventory+"+"+l.Inventory, more.Order+"+"+l.Order
			continue
		}
		*versions = append(*versions, listedVersion(v, true))
	}
	return listing
}

// plain is the document that is not aggregated.
func (h *harbour) plain(path string) *history.Listing {
	listing := h.aggregated(path)
	listing.Kind, listing.APIVersion = "APIGroupList", "v1"
	if path == "/api" {
		listing.Kind = "APIVersions"
	}
	for i := range listing.Groups {
		group := &listing.Groups[i]
		if path != "/api" {
			group.Preferred = group.Versions[0].Version
		}
		for j := range group.Versions {
			group.Versions[j] = history.ListedVersion{Version: group.Versions[j].Version}
		}
	}
	return listing
}

// single is the document of one group-version.
func (h *harbour) single(path string) *history.Listing {
	listing := &history.Listing{APIVersion: "v1", Kind: "APIResourceList"}
	from := "/apis"
	if strings.HasPrefix(path, "/api/") {
		from = "/api"
	}
	for _, group := range h.aggregated(from).Groups {
		for _, version := range group.Versions {
			if path == from+"/"+strings.TrimPrefix(group.Name+"/"+version.Version, "/") {
				version.Freshness = ""
				listing.Groups = []history.ListedGroup{{Name: group.Name, Versions: []history.ListedVersion{version}}}
			}
		}
	}
	return listing
}

func listedVersion(v hostedVersion, fresh bool) history.ListedVersion {
	l := history.ListedVersion{
		Version: v.version, Freshness: history.FreshnessCurrent, Inventory: v.resource + " of " + v.version, Order: v.resource,
		Resources: []history.ListedResource{{Name: v.resource, Kind: v.group + "/" + v.version + "/" + v.resource, Namespaced: true, Verbs: []string{"get", "list"}, ShortNames: []string{v.resource[:2]}}},
	}
	if v.stale {
		l.Freshness = history.FreshnessStale
		if v.group == wrecksGroup {
			l.Inventory, l.Order, l.Resources = "nothing", "nothing", nil
		}
	}
	return l
}

// tellOnce leaves out what a history has told before, as recorders do.
func tellOnce(events []history.Event) {
	told := map[string]bool{}
	for i := range events {
		d := events[i].Document
		if d == nil || d.Listing == nil {
			continue
		}
		copied := *d
		events[i].Document = &copied
		if told[d.Content] {
			copied.Listing = nil
			continue
		}
		told[d.Content] = true
		raw, err := json.Marshal(d.Listing)
		if err != nil {
			panic(err)
		}
		copied.Listing = &history.Listing{}
		if err := json.Unmarshal(raw, copied.Listing); err != nil {
			panic(err)
		}
		for g := range copied.Listing.Groups {
			versions := copied.Listing.Groups[g].Versions
			for v := range versions {
				if told[versions[v].Inventory] {
					versions[v].Resources = nil
				}
				told[versions[v].Inventory] = true
			}
		}
	}
}
