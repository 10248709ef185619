package discovery

import (
	"net/http"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// Paths of the two documents.
const (
	corePath   = "/api"
	groupsPath = "/apis"
)

const (
	// askedJSON is the form in which documents are compared over time, and askedLocal the
	// one in which a server tells of itself alone.
	askedJSON  = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
	askedLocal = askedJSON + ";profile=nopeer"
)

// library keeps everything that documents repeat once.
type library struct {
	listings    map[string]*listing
	groups      map[string]*history.ListedGroup
	inventories map[string][]history.ListedResource
	questions   map[questionKey]*question
	replies     map[replyKey]*reply
}

func newLibrary() library {
	return library{
		listings: map[string]*listing{}, groups: map[string]*history.ListedGroup{}, inventories: map[string][]history.ListedResource{},
		questions: map[questionKey]*question{}, replies: map[replyKey]*reply{},
	}
}

// question is a request for a document.
type question struct {
	questionKey
	// options are what the Accept header asks for.
	options []option
}

type questionKey struct {
	path, accept, condition string
	itself                  bool
}

// reply is what came of a request.
type reply struct {
	replyKey
	// form of the answer; formed is whether it is one of a discovery document.
	form    form
	formed  bool
	listing *listing
}

type replyKey struct {
	code, size                                            int
	contentType, tag, digest, content, unreadable, status string
	count                                                 int64
	counted                                               bool
}

// answer is one request with its reply.
type answer struct {
	seq, from, at int64
	*question
	*reply
}

func (a *answer) moment() fact.Moment { return fact.Moment{Earliest: a.from, Latest: a.at, Seq: a.seq} }

// busy is whether a reply says no more than that the server cannot answer now.
func (r *reply) busy() bool { return r.code == 0 || r.code == 429 || r.code == 503 }

// untold is whether the line is lost that told what the document says.
func (r *reply) untold() bool { return r.content != "" && r.listing == nil }

// document is whether it asks for one of the two documents, without a condition.
func (q *question) document() bool {
	return (q.path == corePath || q.path == groupsPath) && q.condition == ""
}

func (f *Facts) observeDocument(ev *history.Event) {
	d := ev.Document
	if d.Listing != nil {
		f.library.learn(d.Content, d.Listing)
	}
	a := answer{seq: ev.Seq, from: ev.From, at: ev.At, question: f.library.question(d), reply: f.library.reply(d)}
	m := f.member(ev.Member)
	if a.path == groupsPath && (a.code == http.StatusNotModified || a.code == http.StatusOK && a.formed && a.form.aggregated() || a.accept == askedJSON && !a.busy()) {
		m.given = append(m.given, fact.Span{Begin: a.from, End: a.at})
	}
	if d.Sweep > 0 {
		m.sweep(d.Sweep, d.Last, a)
	}
	if a.document() && a.accept == askedJSON {
		m.look(a, d.Sweep > 0)
	}
}

func (l *library) question(d *history.Document) *question {
	key := questionKey{d.Path, d.Accept, d.IfNoneMatch, d.Itself}
	q := l.questions[key]
	if q == nil {
		q = &question{key, optionsOf(d.Accept)}
		l.questions[key] = q
	}
	return q
}

func (l *library) reply(d *history.Document) *reply {
	key := replyKey{code: d.Code, size: d.Size, contentType: d.ContentType, tag: d.ETag, digest: d.Digest, content: d.Content, unreadable: d.Unreadable, status: d.Status}
	if d.Aggregations != nil {
		key.count, key.counted = *d.Aggregations, true
	}
	r := l.replies[key]
	if r == nil {
		r = &reply{replyKey: key, listing: l.listings[d.Content]}
		r.form, r.formed = formOf(d.ContentType)
		l.replies[key] = r
	}
	return r
}

// listing is what a document says.
type listing struct {
	library           *library
	name              string
	kind, apiVersion  string
	metadata          []string
	groups            []*history.ListedGroup
	byName            []*history.ListedGroup
	contained, sorted string
}

// learn keeps a listing, whose groups are mostly those of others.
func (l *library) learn(name string, told *history.Listing) {
	if l.listings[name] != nil || name == "" {
		return
	}
	out := &listing{library: l, name: name, kind: told.Kind, apiVersion: told.APIVersion, metadata: told.Metadata}
	for _, g := range told.Groups {
		var key strings.Builder
		key.WriteString(g.Name + "\x00" + g.Preferred + "\x00" + strings.Join(g.Metadata, ","))
		for _, v := range g.Versions {
			key.WriteString("\x00" + v.Version + "\x00" + v.Freshness + "\x00" + v.Inventory + "\x00" + v.Order)
			if len(v.Resources) > 0 {
				l.inventories[v.Inventory] = v.Resources
			}
		}
		kept := l.groups[key.String()]
		if kept == nil {
			kept = &history.ListedGroup{Name: g.Name, Metadata: g.Metadata, Preferred: g.Preferred, Versions: slices.Clone(g.Versions)}
			for i := range kept.Versions {
				kept.Versions[i].Resources = nil
			}
			l.groups[key.String()] = kept
		}
		out.groups = append(out.groups, kept)
	}
	out.byName = slices.Clone(out.groups)
	slices.SortStableFunc(out.byName, func(a, b *history.ListedGroup) int { return strings.Compare(a.Name, b.Name) })
	l.listings[name] = out
}

// version is a group-version as the listing has it; nil if it has not.
func (l *listing) version(group, version string) *history.ListedVersion {
	if l == nil {
		return nil
	}
	i, ok := slices.BinarySearchFunc(l.byName, group, func(g *history.ListedGroup, name string) int { return strings.Compare(g.Name, name) })
	if !ok {
		return nil
	}
	for j := range l.byName[i].Versions {
		if v := &l.byName[i].Versions[j]; v.Version == version {
			return v
		}
	}
	return nil
}

// each calls do with each group-version.
func (l *listing) each(do func(group string, v *history.ListedVersion)) {
	if l == nil {
		return
	}
	for _, g := range l.groups {
		for i := range g.Versions {
			do(g.Name, &g.Versions[i])
		}
	}
}

// resources of a group-version as a listing has it.
func (l *library) resources(v *history.ListedVersion) []history.ListedResource {
	if v == nil {
		return nil
	}
	return l.inventories[v.Inventory]
}

// hosts is whether a group-version as a listing has it has the resource.
func (l *library) hosts(v *history.ListedVersion, resource string) bool {
	return find(l.resources(v), resource) != nil
}

// current is whether the listing calls the group-version current, and has resources in it.
func (l *listing) current(group, version string) bool {
	v := l.version(group, version)
	return v != nil && v.Freshness == history.FreshnessCurrent && len(l.library.resources(v)) > 0
}

// find gives a resource of a list; nil if it is not there.
func find(resources []history.ListedResource, name string) *history.ListedResource {
	i := slices.IndexFunc(resources, func(r history.ListedResource) bool { return r.Name == name })
	if i < 0 {
		return nil
	}
	return &resources[i]
}

// contents names what a listing has, in whichever order, but for the group-versions that
// are left out; and order names its order.
func (l *listing) contents(leaveOut func(group, version string) bool) (contents, order string) {
	if leaveOut == nil && l.contained != "" {
		return l.contained, l.sorted
	}
	var all, sequence []string
	l.each(func(group string, v *history.ListedVersion) {
		if leaveOut == nil || !leaveOut(group, v.Version) {
			all = append(all, named(group, v.Version)+" "+v.Freshness+" "+v.Inventory)
			sequence = append(sequence, named(group, v.Version)+" "+v.Order)
		}
	})
	slices.Sort(all)
	contents, order = digest(all), digest(sequence)
	if leaveOut == nil {
		l.contained, l.sorted = contents, order
	}
	return contents, order
}

// named writes a group-version as the API does.
func named(group, version string) string {
	if group == "" {
		return version
	}
	return group + "/" + version
}

// parted gives the parts of a group-version's name.
func parted(name string) (group, version string) {
	group, version, ok := strings.Cut(name, "/")
	if !ok {
		return "", name
	}
	return group, version
}

// versionOfPath is the group-version that is at a path; ok is false where a path leads to
// anything else, such as the objects of a resource.
func versionOfPath(path string) (group, version string, ok bool) {
	if version, ok = strings.CutPrefix(path, corePath+"/"); ok {
		return "", version, version != "" && !strings.Contains(version, "/")
	}
	rest, ok := strings.CutPrefix(path, groupsPath+"/")
	if !ok {
		return "", "", false
	}
	group, version, ok = strings.Cut(rest, "/")
	return group, version, ok && version != "" && !strings.Contains(version, "/")
}

// resourceOfPath is the resource whose objects are at a path; ok is false where a path
// leads to anything else.
func resourceOfPath(path string) (name, resource string, ok bool) {
	rest, ok := strings.CutPrefix(path, groupsPath+"/")
	if !ok {
		return "", "", false
	}
	parts := strings.Split(rest, "/")
	if len(parts) != 3 || slices.Contains(parts, "") {
		return "", "", false
	}
	return named(parts[0], parts[1]), parts[2], true
}
