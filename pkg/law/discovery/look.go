package discovery

import (
	"cmp"
	"crypto/sha256"
	"net/http"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/fact"
)

// member is what one member was asked.
type member struct {
	facts *Facts
	name  string
	// ready is its last answer of /readyz.
	ready int
	// looks at the two documents in JSON, by path, in the order of time.
	looks  map[string][]*look
	sweeps []*sweep
	// given are the times between which the member was asked for the document of all groups
	// and gave it, or said that it is the same.
	given []fact.Span
	// epoch counts what happened between looks: those before and after are not joined.
	epoch int
	// signals are derived facts while no event was observed after signalled.
	signals   map[string]fact.Signal
	signalled int64
}

// look is one answer of a document in JSON, or several alike after each other between which
// nothing happened.
type look struct {
	member *member
	answer
	// until and last are the times of the request for, and of, the last answer, and lastSeq
	// the number of its event.
	until, last, lastSeq int64
	// swept is whether the first answer is part of a sweep.
	swept bool
	epoch int
	// alike is how many answers it stands for.
	alike int
}

// part has the looks that follow be told from those before.
func (m *member) part() { m.epoch++ }

func (m *member) look(a answer, swept bool) {
	all := m.looks[a.path]
	if n := len(all); n > 0 && all[n-1].epoch == m.epoch && all[n-1].reply == a.reply {
		all[n-1].until, all[n-1].last, all[n-1].lastSeq = a.from, a.at, a.seq
		all[n-1].alike++
		return
	}
	m.looks[a.path] = append(all, &look{member: m, answer: a, until: a.from, last: a.at, lastSeq: a.seq, swept: swept, epoch: m.epoch, alike: 1})
}

// polls are the looks at the document of all groups.
func (m *member) polls() []*look { return m.looks[groupsPath] }

// process is the one that gave the answers; nil where that is not certain.
func (k *look) process() *fact.Process { return k.member.process(k.from, k.last) }

// ready is whether the member was ready when it was asked, as far as was seen, and its
// process is known.
func (k *look) ready() bool {
	return k.member.wasReady().At(k.from) == fact.Yes && k.process() != nil
}

// told is the listing of a document that was given; nil for all other answers.
func (k *look) told() *listing {
	if k.code != http.StatusOK {
		return nil
	}
	return k.listing
}

func digest(lines []string) string {
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return string(sum[:16])
}

// looks are those of all members at the documents of some paths, in the order of time.
func (f *Facts) looks(paths ...string) []*look {
	var out []*look
	for _, m := range f.all() {
		for _, path := range paths {
			out = append(out, m.looks[path]...)
		}
	}
	slices.SortFunc(out, func(a, b *look) int { return cmp.Compare(a.seq, b.seq) })
	return out
}
