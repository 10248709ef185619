package discovery

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// ad26: what the harness did not make (an APIService whose Service is missing, a server
// that comes and goes) takes nothing else out of discovery. While the server of a foreign
// APIService is in trouble, each ready member goes on to list the built-in group-versions
// of its release and all that the harness has defined, as current.
var ad26 = law.Written[*Facts]{
	Row: law.Row{ID: "AD-26", Sources: readiness, Needs: each("looks", "aggregated")},
	Judge: func(f *Facts, l *law.Ledger, _ law.Bounds) {
		h := &harmless{facts: f, ledger: l, builtin: map[string]map[[2]string]builtinVersion{}, shown: map[*fact.Process]map[[2]string]int64{}, broken: map[string]bool{}}
		sweeps := f.sweeps()
		for _, k := range f.looks(groupsPath) {
			for len(sweeps) > 0 && sweeps[0].last().seq < k.seq {
				h.plain(sweeps[0])
				sweeps = sweeps[1:]
			}
			if k.ready() {
				h.look(k)
			}
		}
		for _, s := range sweeps {
			h.plain(s)
		}
	},
}

// harmless compares what members list while a foreign server is in trouble with what they
// have to list.
type harmless struct {
	facts  *Facts
	ledger *law.Ledger
	// builtin are the group-versions that a member listed as current, by the release with
	// the features that its process is without, while all members were alike: what only
	// peers host goes when they do.
	builtin map[string]map[[2]string]builtinVersion
	// shown is when a process called current last what the harness has defined.
	shown  map[*fact.Process]map[[2]string]int64
	broken map[string]bool
}

// countedAlike bounds how many answers in a row that are alike have entries of their own.
const countedAlike = 100

type builtinVersion struct {
	inventory string
	seq       int64
}

// program names what processes run that must host the same.
func program(p *fact.Process) string { return p.Release + " " + strings.Join(p.Off, " ") }

func (h *harmless) look(k *look) {
	trouble := h.facts.trouble(k.from, k.last)
	if k.told() == nil {
		if trouble != nil && k.code >= 400 && !k.busy() {
			h.breach(k.member, "document", fmt.Sprintf("%s answers %d for the discovery document while %s is in trouble", k.member.name, k.code, trouble), k.moment(), trouble.seq, k.seq)
		}
		return
	}
	p := k.process()
	alike := h.alike(p, k.at)
	if alike && (trouble == nil || h.builtin[program(p)] == nil) {
		h.learn(k, program(p))
	}
	kept := h.defined(k, p, trouble)
	if trouble == nil {
		return
	}
	tags := []string{"looks"}
	if kept {
		tags = append(tags, "aggregated")
	}
	for range min(k.alike, countedAlike) {
		h.ledger.MetBy(k.member.name, trouble.String(), k.moment(), tags...)
	}
	for _, version := range h.required(program(p)) {
		before := h.builtin[program(p)][version]
		found := k.listing.version(version[0], version[1])
		harm := harmed(found)
		if harm == "" && alike && found.Inventory != before.inventory {
			harm = "lists other resources in it than before"
		}
		if harm != "" {
			h.takesOut(k, version, harm, trouble, before.seq)
		}
	}
}

// alike is whether every process that lives must host what this one does.
func (h *harmless) alike(p *fact.Process, at int64) bool {
	return !slices.ContainsFunc(h.facts.all(), func(m *member) bool {
		other := h.facts.LastProcess(m.name, history.ComponentAPIServer, at)
		return other != nil && other.Alive().At(at) != fact.No && program(other) != program(p)
	})
}

// learn notes what a member lists as current.
func (h *harmless) learn(k *look, of string) {
	if h.builtin[of] == nil {
		h.builtin[of] = map[[2]string]builtinVersion{}
	}
	k.listing.each(func(group string, v *history.ListedVersion) {
		if v.Freshness == history.FreshnessCurrent && !h.facts.isDefined(group) && !k.member.isForeign(group, v.Version, k.from) {
			h.builtin[of][[2]string{group, v.Version}] = builtinVersion{v.Inventory, k.seq}
		}
	})
}

// required are the built-in group-versions of a program, sorted.
func (h *harmless) required(of string) [][2]string {
	return slices.SortedFunc(maps.Keys(h.builtin[of]), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) })
}

// harmed says what is wrong with what must be listed as current; empty if nothing is.
func harmed(found *history.ListedVersion) string {
	switch {
	case found == nil:
		return "does not list it"
	case found.Freshness != history.FreshnessCurrent:
		return "calls it " + quoted(found.Freshness)
	}
	return ""
}

// defined looks for what the harness has defined long enough ago: custom resources, and
// aggregated servers that answer. It is whether any of those is current.
func (h *harmless) defined(k *look, p *fact.Process, trouble *foreignThing) (kept bool) {
	f := h.facts
	if h.shown[p] == nil {
		h.shown[p] = map[[2]string]int64{}
	}
	for _, d := range f.definitions {
		now := d.latest(k.at)
		if now == nil || !now.known || f.misbehaves(d.group, k.at) != nil || !d.remote && f.shared(d.group) {
			continue
		}
		for _, version := range now.versions {
			name := [2]string{d.group, version}
			current := k.listing.current(d.group, version)
			if listed, must := h.must(k, p, now, name); trouble != nil && !current && (must || listed && k.listing.version(d.group, version) == nil) {
				harm := harmed(k.listing.version(d.group, version))
				if harm == "" {
					harm = "lists no resources in it"
				}
				h.takesOut(k, name, harm, trouble, now.seq)
			}
			if current {
				h.shown[p][name] = k.until
				kept = kept || d.remote
			}
		}
	}
	return kept
}

// must is whether a member has to list a group-version that the harness has defined, and
// whether as current. It lists an APIService soon. The server of one it has to fetch from
// first, which may take longer; but once a process has called it current it has no reason
// to take that back.
func (h *harmless) must(k *look, p *fact.Process, now *change, name [2]string) (listed, current bool) {
	changed := now.at
	for _, o := range h.facts.outages {
		if o.group == name[0] && o.until <= k.at {
			changed = max(changed, o.until)
		}
	}
	from := max(changed, k.member.readySince(k.from))
	if k.from <= from+int64(showsWithin()) {
		return false, false
	}
	return true, !now.of.remote || k.from > from+int64(recoversWithin()) || h.shown[p][name] > changed
}

func (h *harmless) takesOut(k *look, version [2]string, harm string, trouble *foreignThing, before int64) {
	name := named(version[0], version[1])
	if h.facts.changing(version[0], k.from, k.last) || k.member.isForeign(version[0], version[1], k.from) {
		return
	}
	h.breach(k.member, name, fmt.Sprintf("%s has to list %s as current, and while %s is in trouble it %s", k.member.name, name, trouble, harm), k.moment(), trouble.seq, before, k.seq)
}

// plain looks for the built-in group-versions in the list of groups that is not aggregated.
func (h *harmless) plain(s *sweep) {
	plain, trouble := s.plain(groupsPath), h.facts.trouble(s.from, s.to)
	if !s.wasReady || !s.settled || plain == nil || trouble == nil || !h.alike(s.process, s.to) {
		return
	}
	for _, version := range h.required(program(s.process)) {
		name := named(version[0], version[1])
		if version[0] != "" && plain.listing.version(version[0], version[1]) == nil && !s.member.isForeign(version[0], version[1], s.from) {
			h.breach(s.member, "plain "+name, fmt.Sprintf("%s hosts %s, and while %s is in trouble its list of groups that is not aggregated does not have it", s.member.name, name, trouble),
				s.moment(), trouble.seq, h.builtin[program(s.process)][version].seq, plain.seq)
		}
	}
}

func (h *harmless) breach(m *member, id, why string, at fact.Moment, evidence ...int64) {
	if h.broken[m.name+" "+id] {
		return
	}
	h.broken[m.name+" "+id] = true
	h.ledger.Add(law.Entry{Ending: law.Broken, About: id, Member: m.name, Began: at, Why: why, Evidence: law.Evidence(evidence...)})
}
