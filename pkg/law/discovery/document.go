package discovery

import (
	"crypto/sha256"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
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
	// askedProtobuf is the same document as askedJSON in another encoding.
	askedProtobuf = "application/vnd.kubernetes.protobuf;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
)

// plainKinds are the kinds of the documents that are not aggregated, by path.
var plainKinds = map[string]string{corePath: "APIVersions", groupsPath: "APIGroupList"}

// plainNames are what these documents list, in words.
var plainNames = map[string]string{corePath: "list of versions", groupsPath: "list of groups"}

// answer is a request for a document, and what came of it.
type answer struct {
	history.DiscoveryDocument
	member        *member
	seq, from, at int64
	// options are what the Accept header asks for.
	options []option
	// form of the answer; formed is whether it is one of a discovery document.
	form   form
	formed bool
	// listing is what the document says; nil where there is none.
	listing *listing
}

func (f *Facts) observeDocument(ev *history.Event) {
	m, d := f.member(ev.Member), ev.DiscoveryDocument
	if d.Listing != nil && d.Content != "" && f.listings[d.Content] == nil {
		f.listings[d.Content] = f.read(d.Listing)
	}
	a := &answer{DiscoveryDocument: *d, member: m, seq: ev.Seq, from: ev.From, at: ev.At, options: f.optionsOf(d.Accept), listing: f.listings[d.Content]}
	a.Listing = nil
	a.form, a.formed = formOf(d.ContentType)
	if d.Sweep > 0 {
		m.sweep(a)
	}
	if a.Path == groupsPath {
		m.atGroups = append(m.atGroups, a)
	}
	if a.unconditional() && a.Accept == askedJSON {
		f.looks = append(f.looks, a)
		if a.Path == groupsPath {
			m.looks = append(m.looks, a)
		}
	}
}

func (a *answer) moment() fact.Moment {
	return fact.Moment{Earliest: a.from, Latest: a.at, Seq: a.seq}
}

func (a *answer) entry(about string) law.Entry { return law.Of(about, a.moment()).By(a.member.name) }

// by is the process that gave the answer, of a member that was ready when it was asked; nil
// where that is not certain.
func (a *answer) by() *fact.Process {
	if a.member.wasReady().At(a.from) != fact.Yes {
		return nil
	}
	return a.member.process(a.from, a.at)
}

// busy is whether the answer says no more than that the server cannot answer now.
func (a *answer) busy() bool {
	return a.Code == 0 || a.Code == http.StatusTooManyRequests || a.Code == http.StatusServiceUnavailable
}

// lost is whether the line is missing that told what the document says.
func (a *answer) lost() bool { return a.Content != "" && a.listing == nil }

// lasting is whether it is the answer until the next look: the recorder leaves out that a
// member goes on giving none.
func (a *answer) lasting() bool { return a.Code == 0 && a.Sweep == 0 }

// unconditional is whether it is asked of one of the two documents, without a condition.
func (a *answer) unconditional() bool { return plainKinds[a.Path] != "" && a.IfNoneMatch == "" }

// told is the listing of a document that was given; nil for all other answers.
func (a *answer) told() *listing {
	if a == nil || a.Code != http.StatusOK {
		return nil
	}
	return a.listing
}

// says is what came in the place of a document, in words.
func (a *answer) says() string {
	switch a.Code {
	case http.StatusOK:
		return "gave a document that cannot be read"
	case 0:
		return "gave no answer"
	}
	return "answered " + strconv.Itoa(a.Code)
}

// groupVersion is a version of a group; the core group has no name.
type groupVersion struct{ group, version string }

// String writes a group-version as the API does.
func (g groupVersion) String() string {
	if g.group == "" {
		return g.version
	}
	return g.group + "/" + g.version
}

// path is the document that tells of it.
func (g groupVersion) path() string {
	if g.group == "" {
		return corePath
	}
	return groupsPath
}

func byName(a, b groupVersion) int { return strings.Compare(a.String(), b.String()) }

// located is the group-version, and the resource of it if any, that a path leads to; ok is
// false where it leads to anything else.
func located(path string) (of groupVersion, resource string, ok bool) {
	rest, core := strings.CutPrefix(path, corePath+"/")
	if core {
		rest = "/" + rest
	} else if rest, ok = strings.CutPrefix(path, groupsPath+"/"); !ok {
		return of, "", false
	}
	parts := strings.Split(rest, "/")
	if len(parts) < 2 || len(parts) > 3 || slices.Contains(parts[1:], "") || parts[0] == "" && !core {
		return of, "", false
	}
	return groupVersion{parts[0], parts[1]}, strings.Join(parts[2:], ""), true
}

// listing is what a document says.
type listing struct {
	*history.Listing
	facts *Facts
	// names are the group-versions in the order of the document.
	names    []groupVersion
	versions map[groupVersion]*history.ListedVersion
	// contents and order are those of all group-versions.
	contents, order string
	// twice is a group that the document lists more than once; empty if there is none.
	twice string
}

// read reads a listing. Of the resources of a group-version only the first listing tells.
func (f *Facts) read(told *history.Listing) *listing {
	l := &listing{Listing: told, facts: f, versions: map[groupVersion]*history.ListedVersion{}}
	for n, g := range told.Groups {
		if slices.ContainsFunc(told.Groups[:n], func(o history.ListedGroup) bool { return o.Name == g.Name }) {
			l.twice = g.Name
		}
		for i := range g.Versions {
			v, of := &g.Versions[i], groupVersion{g.Name, g.Versions[i].Version}
			if len(v.Resources) > 0 {
				f.inventories[v.Inventory] = v.Resources
			}
			if v.Accepts != nil {
				f.accepts[v.Accepted] = v.Accepts
			}
			if l.versions[of] == nil {
				l.versions[of], l.names = v, append(l.names, of)
			}
		}
	}
	l.contents, l.order = l.without(func(groupVersion) bool { return false })
	return l
}

// version is a group-version as the listing has it; nil if it has not.
func (l *listing) version(of groupVersion) *history.ListedVersion {
	if l == nil {
		return nil
	}
	return l.versions[of]
}

// all are the group-versions of the listing; none where there is no listing.
func (l *listing) all() []groupVersion {
	if l == nil {
		return nil
	}
	return l.names
}

// resources are those of a group-version as the listing has it.
func (l *listing) resources(of groupVersion) []history.ListedResource {
	if v := l.version(of); v != nil {
		return l.facts.inventories[v.Inventory]
	}
	return nil
}

// hosts is whether the listing has a resource of a group-version.
func (l *listing) hosts(of groupVersion, resource string) bool {
	return find(l.resources(of), resource) != nil
}

// current is whether the listing calls the group-version current, and has resources in it.
func (l *listing) current(of groupVersion) bool {
	v := l.version(of)
	return v != nil && v.Freshness == history.FreshnessCurrent && len(l.resources(of)) > 0
}

// stale is whether the listing has the group-version and calls it stale.
func (l *listing) stale(of groupVersion) bool {
	v := l.version(of)
	return v != nil && v.Freshness == history.FreshnessStale
}

// without names what the listing has, in whichever order, but for the group-versions that
// are left out, and the order of it.
func (l *listing) without(leftOut func(groupVersion) bool) (contents, order string) {
	var all, sequence []string
	for _, of := range l.names {
		if v := l.versions[of]; !leftOut(of) {
			all = append(all, of.String()+" "+v.Freshness+" "+v.Inventory)
			sequence = append(sequence, of.String()+" "+v.Order)
		}
	}
	slices.Sort(all)
	return digest(all), digest(sequence)
}

func digest(lines []string) string {
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return string(sum[:16])
}

// find gives a resource of a list; nil if it is not there.
func find(resources []history.ListedResource, name string) *history.ListedResource {
	i := slices.IndexFunc(resources, func(r history.ListedResource) bool { return r.Name == name })
	if i < 0 {
		return nil
	}
	return &resources[i]
}
