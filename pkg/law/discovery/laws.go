package discovery

import (
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// KEP is KEP-3352 with KEP-4020.
func KEP() law.KEP { return law.New(begin, laws) }

var laws = []law.Law[*Facts]{
	ad01, ad02, ad03, ad04, ad05, ad06, ad07, ad08, ad09, ad10, ad11, ad12, ad13,
	ad14, ad15, ad16, ad17, ad18, ad19, ad20, ad21, ad22, ad23, ad24, ad25, ad26, ad27, ad28, ad29, ad30, ad31,
}

// notion is a bound that is part of what a word of the KEP means.
func notion(name string) func() time.Duration {
	return func() time.Duration { return requirement.MustBound("KEP-3352", name) }
}

var (
	// showsWithin is how soon a ready server shows what was defined, changed or deleted.
	showsWithin = notion("showsWithin")
	// recoversWithin is how soon a server has fetched anew from an aggregated server that
	// answers again.
	recoversWithin = notion("recoversWithin")
	// turnsWithin is how soon after one misbehavior another one begins where the server
	// never answers in between.
	turnsWithin = notion("turnsWithin")
	// landsWithin is how long a request whose answer was lost may still be carried out.
	landsWithin = notion("landsWithin")
	// clocksApart is how far the clock of a server may be from that of the recorder.
	clocksApart = notion("clocksApart")
)

// The recorders that laws rely on.
var (
	documents   = []fact.Source{fact.Documents}
	definitions = []fact.Source{fact.Documents, fact.Requests}
	readiness   = []fact.Source{fact.Documents, fact.Requests, fact.Readyz}
	peers       = []fact.Source{fact.Documents, fact.Requests, fact.Readyz, fact.Etcd}
)

// each is a need of each member of obligations with a tag.
func each(names ...string) []law.Need {
	return fact.Each(names, func(name string) law.Need { return law.Need{Name: name, Tag: name, Each: true} })
}

// anyOf is a need of obligations with a tag, of whichever member.
func anyOf(names ...string) []law.Need {
	return fact.Each(names, func(name string) law.Need { return law.Need{Name: name, Tag: name} })
}

// atBoth is each of the tags at both documents.
func atBoth(tags ...string) []law.Need {
	var names []string
	for _, tag := range tags {
		names = append(names, onPath(tag, corePath), onPath(tag, groupsPath))
	}
	return each(names...)
}

// onPath tells a tag at one of the two documents from that at the other one.
func onPath(tag, path string) string {
	if path == corePath {
		return tag + "AtCore"
	}
	return tag + "AtGroups"
}

// formLaw is a law about the form of the answers of thorough looks. Judge gives the tag of an
// answer that is right, or what is wrong with one that is not; neither where the law does
// not speak of it.
func formLaw(row law.Row, judge func(*sweep, *answer) (tag, wrong string)) law.Law[*Facts] {
	return law.Written[*Facts]{Row: row, Judge: func(f *Facts, l *law.Ledger, _ law.Bounds) {
		for _, s := range f.sweeps() {
			if s.by == nil {
				l.Excused(s.member.name, s.moment(), "the member was not ready all the time of a thorough look")
				continue
			}
			for _, a := range s.answers {
				e := a.entry(a.Path + " " + a.Accept)
				switch tag, wrong := judge(s, a); {
				case tag == "" && wrong == "":
				case a.busy():
					l.Add(e.Excused("the server could not answer"))
				case wrong != "":
					l.Add(e.Broken("%s, asked at %s with Accept: %q and If-None-Match: %q, %s: it answered %d with the content type %q and the tag %q",
						s.member.name, a.Path, a.Accept, a.IfNoneMatch, wrong, a.Code, a.ContentType, a.ETag).Shown(a.seq, s.steadySeq(a.Path)))
				default:
					l.Add(e.Met(onPath(tag, a.Path)))
				}
			}
		}
	}}
}

// sighting is what something was seen with first, and which processes had it last.
type sighting struct {
	with string
	seq  int64
	by   map[string]*fact.Process
}

// sightings are by what was seen.
type sightings struct {
	facts *Facts
	of    map[string]*sighting
	// latest is what a member had last.
	latest map[string]string
}

func (f *Facts) sightings() *sightings {
	return &sightings{facts: f, of: map[string]*sighting{}, latest: map[string]string{}}
}

// first is what something was seen with first, and whether that is now.
func (s *sightings) first(what, with string, seq int64) (first *sighting, isNew bool) {
	first = s.of[what]
	if isNew = first == nil; isNew {
		first = &sighting{with: with, seq: seq, by: map[string]*fact.Process{}}
		s.of[what] = first
	}
	return first, isNew
}

// news are the tags of one more time that a process had something: after a restart, after
// something else, and as the last of all members.
func (s *sightings) news(what string, k *answer) (tags []string) {
	p, name := k.member.process(k.from, k.at), k.member.name
	if p == nil {
		return nil
	}
	by := s.of[what].by
	before, had := by[name]
	if had && before != p {
		tags = append(tags, "restarted")
	}
	if had && s.latest[name+k.Path] != what {
		tags = append(tags, "returned")
	}
	by[name], s.latest[name+k.Path] = p, what
	if !had && len(by) == len(s.facts.Members()) {
		tags = append(tags, "common")
	}
	return tags
}
