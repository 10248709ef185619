package stories

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/story"
)

const (
	customGroup      = "lights.evenkeel.dev"
	sharedGroup      = "tides.aggregated.evenkeel.dev"
	unreachableGroup = "wrecks.aggregated.evenkeel.dev"

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

// builder is a control plane whose discovery does everything right, and the
// recorder that looks at it.
type builder struct {
	*story.ControlPlane
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
	h := &builder{
		ControlPlane: story.NewControlPlane(), sweeps: map[string]int64{}, ids: map[string]int{},
		own: []hostedVersion{
			{group: "coordination.k8s.io", version: "v1", resource: "leases"},
			{group: story.BallastGroup, version: "v1", resource: "ballasts"},
			{group: story.BallastGroup, version: "v1beta1", resource: "ballasts"},
		},
	}
	cp1, cp2, cp3 := h.Members[0], h.Members[1], h.Members[2]
	for _, m := range h.Members {
		h.Start(m, m.Release)
		h.becomeReady(m)
	}
	h.define(cp1, false, customGroup, "lights", "v1", "v1beta1")
	h.define(cp2, false, sharedGroup, "piers", "v1beta1")
	h.define(cp3, true, sharedGroup, "tides", "v1")
	h.pollAll()
	h.settleAndSweep()
	h.define(cp1, false, customGroup, "lights", "v1")
	h.pollAll()
	h.define(cp1, false, customGroup, "lights", "v1", "v1beta1")
	h.pollAll() // as it was before
	h.define(cp2, false, customGroup, "buoys", "v1")
	h.pollAll()
	h.define(cp2, false, customGroup, "buoys")
	h.pollAll()
	h.Advance(12_000)
	h.define(cp3, true, sharedGroup, "tides")
	h.pollAll()
	h.define(cp3, true, sharedGroup, "tides", "v1")
	h.pollAll()
	h.Advance(12_000)
	h.define(cp1, false, sharedGroup, "piers")
	h.pollAll()
	h.Advance(12_000)
	h.restart(cp2)
	h.pollAll()
	h.fault("wrecks", unreachableGroup, 1, history.BackendHang, history.PhaseInject)
	h.defineStale(cp1, unreachableGroup, "wrecks", "v1")
	h.fault("wrecks", unreachableGroup, 1, history.BackendHang, history.PhaseWitness)
	h.pollAll()
	h.Advance(12_000)
	h.restart(cp2)
	h.sweep(cp2)
	for i, action := range []string{history.BackendGarbage, history.BackendWrongGroups, history.BackendNotModified, history.BackendHang} {
		h.fault("tides", sharedGroup, i+1, action, history.PhaseInject)
		h.Advance(500)
		h.fault("tides", sharedGroup, i+1, action, history.PhaseWitness)
		h.setFreshness(sharedGroup, action == history.BackendHang)
		h.pollAll()
		h.fault("tides", sharedGroup, i+1, action, history.PhaseHeal)
		h.Advance(2000)
		h.setFreshness(sharedGroup, false)
		h.pollAll()
	}
	h.fault("wrecks", unreachableGroup, 1, history.BackendHang, history.PhaseHeal)
	h.Advance(2000)
	h.setFreshness(unreachableGroup, false)
	h.pollAll()
	h.Advance(72_000)
	h.pollAll()
	h.settleAndSweep()
	h.Emit(history.Event{Kind: history.KindEnd, End: &history.End{Complete: true}})
	return h.Events
}

// becomeReady has a member be ready, and be looked at in that moment.
func (h *builder) becomeReady(m *story.Member) {
	h.Advance(1000)
	from := h.Now
	h.Advance(3)
	h.Emit(history.Event{Kind: history.KindReady, Member: m.Name, From: from, Ready: &history.Ready{Code: 200, Revision: h.Revision}})
	h.poll(m)
}

// restart has a member stop and come back as it was.
func (h *builder) restart(m *story.Member) {
	h.Emit(history.Event{Kind: history.KindProcess, Member: m.Name, Process: &history.Process{
		Component: history.ComponentAPIServer, Change: history.ProcessExited, Instance: m.Instance, Release: m.Release, Exit: "exit status 0", Expected: true,
	}})
	h.Start(m, m.Release)
	h.becomeReady(m)
}

// define has the harness define a custom resource or an APIService, whose server
// answers; without versions it takes that back.
func (h *builder) define(m *story.Member, remote bool, group, resource string, versions ...string) {
	h.Request(m, definition(remote, group, resource, versions))
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
func (h *builder) defineStale(m *story.Member, group, resource, version string) {
	h.define(m, true, group, resource, version)
	h.setFreshness(group, true)
}

func definition(remote bool, group, resource string, versions []string) history.Request {
	r := history.Request{
		Class: history.ClassGuarded, Verb: "update", Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions", Name: resource + "." + group, Code: 200,
		Defines: &history.Definition{Remote: remote, Group: group, Resource: resource, Versions: versions},
	}
	if remote {
		r.Group, r.Resource, r.Name, r.Defines.Resource = "apiregistration.k8s.io", "apiservices", "v1."+group, ""
	}
	switch {
	case len(versions) == 0:
		r.Verb = "delete"
	case !remote:
		r.Defines.ShortNames = []string{resource[:2]}
	}
	return r
}

// setFreshness has all members know whether a group's server answers.
func (h *builder) setFreshness(group string, stale bool) {
	for i := range h.defined {
		if h.defined[i].group == group && h.defined[i].remote {
			h.defined[i].stale = stale
		}
	}
	h.aggregations++
}

func (h *builder) fault(name, group string, number int, action string, phase history.Phase) {
	f := &history.Fault{ID: fmt.Sprintf("backend-%s-%d", name, number), Type: history.FaultBackend, Action: action, Group: group, Phase: phase}
	if phase == history.PhaseWitness {
		f.Proof = "the backend of " + group + " was asked for discovery 3 times, and its answer was: " + action
	}
	h.Emit(history.Event{Kind: history.KindFault, Fault: f})
}

// pollAll has every member looked at.
func (h *builder) pollAll() {
	h.Advance(800)
	for _, m := range h.Members {
		h.poll(m)
	}
}

func (h *builder) poll(m *story.Member) {
	h.answer(m, history.DiscoveryDocument{Path: "/apis", Accept: v2JSON})
}

// settleAndSweep waits until everything shows, and looks at all of every member.
func (h *builder) settleAndSweep() {
	h.Advance(12_000)
	for _, m := range h.Members {
		h.sweep(m)
	}
}

func (h *builder) sweep(m *story.Member) {
	h.sweeps[m.Name]++
	ask := func(d history.DiscoveryDocument) {
		d.Sweep = h.sweeps[m.Name]
		h.answer(m, d)
	}
	ask(history.DiscoveryDocument{Path: history.MetricsPath})
	for _, path := range []string{"/api", "/apis"} {
		for _, accept := range []string{v2JSON, "", v2YAML, v2Proto, v2JSON + "," + plainJSON, plainJSON + "," + v2JSON, betaJSON, unknownJSON, unknownJSON + "," + plainJSON} {
			ask(history.DiscoveryDocument{Path: path, Accept: accept})
		}
		if len(m.DisabledFeatures) > 0 {
			continue // there is no tag
		}
		tag := h.tag(path)
		for _, condition := range []string{tag, `"0"`, "W/" + tag, `"0", ` + tag, "*"} {
			ask(history.DiscoveryDocument{Path: path, Accept: v2JSON, IfNoneMatch: condition})
		}
		if path == "/apis" { // enough to tell of
			ask(history.DiscoveryDocument{Path: path, Accept: v2Proto, IfNoneMatch: tag})
			ask(history.DiscoveryDocument{Path: path, Accept: v2Proto, IfNoneMatch: `"0"`})
		}
	}
	ask(history.DiscoveryDocument{Path: "/api/v1", Accept: plainJSON})
	for _, v := range slices.Concat(h.own, h.defined) {
		ask(history.DiscoveryDocument{Path: "/apis/" + v.group + "/" + v.version, Accept: plainJSON})
	}
	for _, legacy := range []bool{false, true} {
		found := &history.DiscoveryClient{Legacy: legacy, Requests: 2, Resources: 1 + len(h.own) + len(h.defined), Mapping: h.identify("mapping", h.aggregated("/apis"))}
		if legacy || len(m.DisabledFeatures) > 0 {
			found.Requests += found.Resources
		}
		ask(history.DiscoveryDocument{Path: history.ClientPath, Client: found})
	}
	ask(history.DiscoveryDocument{Path: "/api", Accept: v2JSON})
	ask(history.DiscoveryDocument{Path: "/apis", Accept: v2JSON})
	ask(history.DiscoveryDocument{Path: history.MetricsPath, Last: true})
}

// answer fills in what a member answers, and records it.
func (h *builder) answer(m *story.Member, d history.DiscoveryDocument) {
	from := h.Now
	h.Advance(2)
	d.Code, d.ContentType = 200, plainJSON
	switch {
	case d.Path == history.MetricsPath:
		count, timed := h.aggregations, h.aggregations
		if len(m.DisabledFeatures) > 0 {
			timed = -1
		}
		d.ContentType, d.Aggregations, d.Durations = "text/plain", &count, &timed
	case d.Path == history.ClientPath:
		d.ContentType = ""
	case d.Path != "/api" && d.Path != "/apis":
		d.Listing = h.single(d.Path)
	case d.Accept == unknownJSON, len(m.DisabledFeatures) > 0 && isAggregated(d.Accept):
		d.Code, d.Status = 406, "NotAcceptable"
	case len(m.DisabledFeatures) > 0, d.Accept == "" || strings.HasPrefix(d.Accept, plainJSON+",") || strings.HasSuffix(d.Accept, ","+plainJSON) && strings.HasPrefix(d.Accept, unknownJSON):
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
		d.Content = h.identify("told", d.Listing)
		d.Digest, d.Size = d.Content+" "+d.ContentType, 900
	}
	h.Emit(history.Event{Kind: history.KindDiscoveryDocument, Member: m.Name, From: from, DiscoveryDocument: &d})
}

// identify gives what is the same the same short name.
func (h *builder) identify(prefix string, value any) string {
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

func (h *builder) tag(path string) string { return `"` + h.identify("tag", h.aggregated(path)) + `"` }

// aggregated is the aggregated document at a path.
func (h *builder) aggregated(path string) *history.Listing {
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
func (h *builder) plain(path string) *history.Listing {
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
func (h *builder) single(path string) *history.Listing {
	listing := &history.Listing{APIVersion: "v1", Kind: "APIResourceList"}
	from := "/apis"
	if strings.HasPrefix(path, "/api/") {
		from = "/api"
	}
	for _, group := range h.aggregated(from).Groups {
		for _, version := range group.Versions {
			if path == from+"/"+strings.TrimPrefix(group.Name+"/"+version.Version, "/") {
				version.Freshness, version.Accepted, version.Accepts = "", "", nil
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
	if v.resource == "ballasts" {
		l.Resources[0].Subresources = []history.ListedResource{{Name: "status", Kind: l.Resources[0].Kind, Verbs: []string{"get", "update"}}}
		l.Accepted, l.Accepts = "a ballast of "+v.version, map[string][]string{"ballasts/status": {l.Resources[0].Kind}}
	}
	if v.stale {
		l.Freshness = history.FreshnessStale
		if v.group == unreachableGroup {
			l.Inventory, l.Order, l.Resources = "nothing", "nothing", nil
		}
	}
	return l
}
