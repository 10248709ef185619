package check

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// writes ties what servers answered to what etcd has: each write of a built-in or
// custom resource that the harness tags has one answer and at most one change that bears its tag,
// whichever is told first. Without it a server could refuse what it stores, or
// store what nobody can lay at its door.
type writes struct {
	open map[writeID]*write
	// order is that in which they were begun, so that those that never find
	// their counterpart can be given up.
	order []*write
	// untold counts the accepted writes of each member that etcd never showed.
	untold map[string]int64
}

type writeID struct {
	member string
	number int64
}

// write is one tagged write.
type write struct {
	id writeID
	// at is when the first of its two sides was told.
	at     int64
	answer *answer
	stored *storedWrite
}

// answer is what a server said to a write.
type answer struct {
	// from is when the write was sent.
	from              int64
	seq, revision     int64
	accepted, barrier bool
	// guarded is whether the registration barrier holds such writes back.
	guarded bool
	name    string // of the StorageVersion of what is written
	// in is the process that answered, nil where it could be either of two.
	in *instance
}

// storedWrite is the change in etcd that bears the tag.
type storedWrite struct{ seq, revision int64 }

func newWrites() *writes {
	return &writes{open: map[writeID]*write{}, untold: map[string]int64{}}
}

// takeAnswer notes the answer to a tagged write; it gives the write if its change was
// told before.
func (w *World) takeAnswer(ev *history.Event) *write {
	r := ev.Request
	if r.Class != history.ClassGuarded && r.Class != history.ClassCustom || r.Write <= 0 {
		return nil
	}
	x := w.writes.of(writeID{ev.Member, r.Write}, ev.At)
	x.answer = &answer{
		from: ev.From, seq: ev.Seq, revision: r.ResourceVersion, accepted: accepted(r), barrier: r.Barrier, guarded: r.Class == history.ClassGuarded,
		name: guardedName(r), in: w.instanceAt(ev.Member, ev),
	}
	return w.writes.close(x)
}

// takeChange is takeAnswer for the other side.
func (w *World) takeChange(ev *history.Event) *write {
	s := ev.Stored
	if s.Type != history.StoredPut || s.Writer == "" || s.Write <= 0 {
		return nil
	}
	w.writes.expire(w.aways, ev.At)
	x := w.writes.of(writeID{s.Writer, s.Write}, ev.At)
	x.stored = &storedWrite{seq: ev.Seq, revision: s.Revision}
	return w.writes.close(x)
}

func (ws *writes) of(id writeID, now int64) *write {
	for len(ws.open) >= maxOpenWrites {
		ws.giveUp(ws.order[0])
		ws.order = ws.order[1:]
	}
	x := ws.open[id]
	if x == nil {
		x = &write{id: id, at: now}
		ws.open[id] = x
		ws.order = append(ws.order, x)
	}
	return x
}

// expire gives up what has waited for longer than the recorder of etcd can have lagged.
// It is for when that tells something: while it tells nothing, nobody knows yet whether
// it is away.
func (ws *writes) expire(a aways, now int64) {
	for len(ws.order) > 0 {
		oldest := ws.order[0]
		if ws.open[oldest.id] == oldest && time.Duration(now-oldest.at) <= writeUntold+a.between(oldest.at, now) {
			return
		}
		ws.giveUp(oldest)
		ws.order = ws.order[1:]
	}
}

// close forgets a write of which both sides are known, and gives it.
func (ws *writes) close(x *write) *write {
	if x.answer == nil || x.stored == nil {
		return nil
	}
	delete(ws.open, x.id)
	return x
}

// giveUp notes that nothing more will be told of a write.
func (ws *writes) giveUp(x *write) {
	if ws.open[x.id] != x {
		return // it was closed
	}
	delete(ws.open, x.id)
	if x.answer != nil && x.answer.accepted {
		ws.untold[x.id.member]++
	}
}

// finish gives up what was answered so long before the end that etcd's
// recorder had the time to tell.
func (ws *writes) finish(before int64) {
	for _, x := range ws.order {
		if x.at < before {
			ws.giveUp(x)
		}
	}
	ws.order = nil
}

// doubts are the reasons not to trust that each write was seen.
func (ws *writes) doubts() []string {
	var out []string
	for _, member := range sortedKeys(ws.untold) {
		out = append(out, fmt.Sprintf("%d writes that %s accepted never showed in etcd under their tag, so that nobody knows what it stored", ws.untold[member], member))
	}
	return out
}

// perMember counts for each member on its own: a sum would let the others make
// up for one that nothing was seen of.
type perMember struct {
	members []string
	seen    map[string]int64
}

func (p *perMember) add(w *World, member string) { p.addMany(w, member, 1) }

func (p *perMember) addMany(w *World, member string, n int64) {
	if p.seen == nil {
		p.members, p.seen = w.order, map[string]int64{}
	}
	if slices.Contains(p.members, member) {
		p.seen[member] += n
	}
}

// fewest is what the member that has the fewest must have.
func (p *perMember) fewest(what string, need int64) Observation {
	return Observation{What: what + withFewest, Seen: p.least(), Need: need}
}

// least is the count of the member with the fewest.
func (p *perMember) least() int64 {
	if len(p.members) == 0 {
		return 0
	}
	least := p.seen[p.members[0]]
	for _, member := range p.members {
		least = min(least, p.seen[member])
	}
	return least
}

// maxOpenWrites bounds how many writes wait for their other side.
const maxOpenWrites = 50_000

// keptUnseen bounds how many things that were not seen are told one by one.
const keptUnseen = 20

// noServer is whether a request went unanswered because no server was there.
func noServer(r *history.Request) bool {
	return strings.Contains(r.Error, "connection refused")
}

// accepted is whether a server took what was sent.
func accepted(r *history.Request) bool { return r.Code >= 200 && r.Code < 300 }

// guardedName is the name of the StorageVersion of what a request is about; a
// subresource is stored with its resource.
func guardedName(r *history.Request) string {
	resource, _, _ := strings.Cut(r.Resource, "/")
	return objectName(r.Group, resource)
}
