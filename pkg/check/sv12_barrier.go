package check

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// sv12: before it has registered, a server refuses guarded writes with 503
// (KEP-2339, updating StorageVersion), and stores none of what it refused. An
// accepted write must have a higher revision than the entry by which this
// process announced the resource, and must not come before a refusal. A
// restart that announces nothing new writes no entry; only the order of its
// answers can be judged.
type sv12 struct {
	findings
	refusals, registrations int64
	refusalsEach, each      perMember
	open                    perInstance[map[string]*barrierState]
	// unplaced counts accepted writes of which the revision is not known.
	unplaced int64
	// evaded are answers in place of the 503 that may have an excuse.
	evaded map[memberName]*evasions
	// silent are resources that were not written to while a server booted.
	silent []string
}

func newSV12() *sv12 { return &sv12{evaded: map[memberName]*evasions{}} }

// memberName is a resource as one member has it.
type memberName struct{ member, name string }

// evasions are such answers of one member to writes of one resource.
type evasions struct {
	// count is of all of them, slow of those that were not answered, or shed, and
	// refused of the writes that the member refused as it must.
	count, slow, refused int64
	first                early
}

// barrierState is what one process did with writes to one resource.
type barrierState struct {
	// acceptedRevision is the lowest of the writes that it accepted.
	acceptedRevision, acceptedSeq int64
	// held is whether an accepted write was found to follow some entry of the
	// server in this process's life; the writes after it do so too.
	held bool
	// asked is whether anything was written to the resource before the process
	// was ready.
	asked bool
	// blamed is whether an accepted write was found without one, and blame reports it
	// when it is known what the process hosts.
	blamed bool
	blame  func()
	// closed is whether the process was judged.
	closed  bool
	refused bool
	// odd is the first refusal by a code that nothing excuses, mild by one that
	// something may, missed by one that tells of an object that is not there or
	// not as it was, so that the server had looked.
	odd, mild, missed early
	// taken is the first write that was accepted, blind the first one of these
	// of which the answer does not tell what it made in etcd.
	taken, blind early
}

// early is an answer that may have come before the server had registered.
type early struct {
	code    int
	verb    string
	at, seq int64
	// booting is whether the process had not been ready yet.
	booting bool
	// behind is whether a 503 of the barrier came on a write sent later.
	behind bool
	// next is the lowest revision of a write that anybody sent later.
	next int64
	// named is the revision that the answer names: etcd had come to it by then.
	named int64
}

func (c *sv12) Observe(w *World, ev *history.Event) {
	if before, until := w.replaced(ev); before != nil {
		states := c.states(before)
		w.when(until, func() { c.judge(w, before, states, until) })
	}
	if w.matched != nil && w.matched.answer.guarded {
		c.compare(w, w.matched)
	}
	r := ev.Request
	if r == nil || r.Class != history.ClassGuarded || r.Code == 0 && noServer(r) {
		return
	}
	revision := writtenAt(r)
	c.follow(w, ev, revision)
	in := w.instanceAt(ev.Member, ev)
	if in == nil {
		return
	}
	name := guardedName(r)
	st := c.state(in, name)
	st.asked = st.asked || in.ready == nil
	if r.Barrier {
		if in.since(ev.From) {
			return // it has shut the barrier anew: that says nothing of its registration
		}
		c.refusals++
		c.refusalsEach.add(w, ev.Member)
		c.evasions(ev.Member, name).refused++
		st.refused = true
		for _, x := range st.all() {
			// Once it is ready a server may have to shut the barrier again; that
			// says nothing about what it took before.
			x.behind = x.behind || x.seq > 0 && ev.From >= x.at && in.ready == nil
		}
		return
	}
	if accepted(r) {
		st.taken.note(in, ev)
		if revision == 0 {
			st.blind.note(in, ev)
			if r.Write == 0 && tellsRevision(r) {
				c.unplaced++
			}
		}
		c.place(w, in, name, st, revision, ev.Seq)
		return
	}
	switch r.Code {
	case 404, 409, 410:
		st.missed.note(in, ev)
	case 0, 429, 503, 504:
		st.mild.note(in, ev)
	default:
		st.odd.note(in, ev)
	}
}

// place judges an accepted write by the revision that it made.
func (c *sv12) place(w *World, in *instance, name string, st *barrierState, revision, seq int64) {
	if revision <= in.startRevision {
		return
	}
	if st.acceptedRevision == 0 || revision < st.acceptedRevision {
		st.acceptedRevision, st.acceptedSeq = revision, seq
	}
	if !st.held {
		w.when(revision, func() { c.judgeAccepted(w, in, name, st, revision, seq) })
	}
}

// compare holds what a server said of a write against what etcd has of it.
func (c *sv12) compare(w *World, x *write) {
	a, s := x.answer, x.stored
	switch {
	case a.barrier:
		c.violate(at(a.seq, s.seq), "%s refused write %d because its registration was not complete, and stored it all the same, at revision %d", x.id.member, x.id.number, s.revision)
	case (!a.accepted || a.revision != s.revision) && a.in != nil:
		if a.in != a.in.server.current() {
			c.unplaced++ // its books are closed
			return
		}
		c.place(w, a.in, a.name, c.state(a.in, a.name), s.revision, s.seq)
	}
}

// noServer is whether a request went unanswered because nobody was there.
func noServer(r *history.Request) bool {
	return strings.Contains(r.Error, "connection refused")
}

// tellsRevision is whether the answer to a write should have the revision that
// the write made. That to a delete has the one of what was deleted; that to a
// change of a subresource may have changed nothing.
func tellsRevision(r *history.Request) bool {
	switch r.Verb {
	case "create", "update", "patch":
		return !strings.Contains(r.Resource, "/")
	}
	return false
}

// note keeps the first such answer.
func (x *early) note(in *instance, ev *history.Event) {
	if x.seq == 0 {
		*x = early{code: ev.Request.Code, verb: ev.Request.Verb, at: ev.At, seq: ev.Seq, booting: in.ready == nil, named: ev.Request.ResourceVersion}
	}
}

func (st *barrierState) all() []*early {
	return []*early{&st.odd, &st.mild, &st.missed, &st.taken, &st.blind}
}

// writtenAt is the revision that an accepted write made, 0 where it is none or
// where its answer does not tell.
func writtenAt(r *history.Request) int64 {
	if !accepted(r) || !tellsRevision(r) {
		return 0
	}
	return r.ResourceVersion
}

func (c *sv12) state(in *instance, name string) *barrierState {
	states := c.open.of(in)
	if *states == nil {
		*states = map[string]*barrierState{}
	}
	st := (*states)[name]
	if st == nil {
		st = &barrierState{}
		(*states)[name] = st
	}
	return st
}

// follow notes writes that were sent after an answer that may have come too
// early: what they made in etcd came after it.
func (c *sv12) follow(w *World, ev *history.Event, revision int64) {
	if revision == 0 {
		return
	}
	for _, s := range c.open.slots {
		for _, st := range s.kept {
			for _, x := range st.all() {
				if x.seq > 0 && ev.From >= x.at && (x.next == 0 || revision < x.next) {
					x.next = revision
				}
			}
		}
	}
}

// judgeAccepted runs when etcd's history has reached the write's revision.
func (c *sv12) judgeAccepted(w *World, in *instance, name string, st *barrierState, revision, seq int64) {
	if w.heldDuring(in, name, revision, func(history.Entry) bool { return true }) {
		st.held = true
		return
	}
	if st.blamed {
		return
	}
	st.blamed = true
	st.blame = func() {
		if in.handsOn(name) || in.silent() {
			return
		}
		if left, ok := w.changeAt(name, in.server.id, in.startRevision); ok && left.present {
			c.infer(w, at(left.seq, seq), "%s accepted a write at revision %d although it had not joined, and %s had no entry of it but what the process before had left", in.server.member, revision, name)
			return
		}
		c.infer(w, at(seq), "%s accepted a write at revision %d although %s had no entry of %s", in.server.member, revision, name, in.server.id)
	}
	if st.closed {
		st.blame()
	}
}

// judge compares, when a process's life is over, what it accepted and refused
// with the revision at which it announced something new.
func (c *sv12) judge(w *World, in *instance, states map[string]*barrierState, until int64) {
	barred := false // whether the barrier was seen at any resource
	for _, st := range states {
		barred = barred || st.refused
	}
	c.judgeSilence(w, in, states, until)
	for _, name := range sortedKeys(states) {
		st := states[name]
		st.closed = true
		if st.blame != nil {
			st.blame()
		}
		change, ok := w.registration(in, name, until)
		c.judgeOrder(w, in, name, st, change, ok)
		c.judgeEvasion(w, in, name, st, change, ok, barred)
		if !ok {
			continue
		}
		if st.acceptedRevision > 0 && st.acceptedRevision < change.revision && !st.blamed {
			c.infer(w, at(st.acceptedSeq, change.seq), "%s accepted a write at revision %d, before it announced %s in %s at revision %d",
				in.server.member, st.acceptedRevision, change.entry.Encoding, name, change.revision)
		}
		if st.refused && st.acceptedRevision > 0 {
			c.registrations++
			c.each.add(w, in.server.member)
		}
	}
}

// judgeOrder looks at the answers that tell no revision: whether they came
// before the registration shows by what came after them.
func (c *sv12) judgeOrder(w *World, in *instance, name string, st *barrierState, change entryChange, announced bool) {
	member := in.server.member
	before := func(x early) bool { return x.behind || announced && x.before(w, change) }
	switch {
	case st.blamed:
	case st.taken.behind:
		c.infer(w, at(st.taken.seq), "%s accepted a %s in %s, and refused a later write because its registration was not complete", member, st.taken.verb, name)
	case before(st.blind):
		c.infer(w, at(st.blind.seq, change.seq), "%s accepted a %s before it announced its version in %s", member, st.blind.verb, name)
	}
	if before(st.odd) {
		c.infer(w, at(st.odd.seq, change.seq), "%s refused a write with %d instead of 503, before it announced its version in %s", member, st.odd.code, name)
	}
}

// judgeEvasion looks at refusals that may have an excuse. A server that sheds
// load or is slow to answer may do so beside the barrier, but not in its place:
// where it held back other resources while it booted, and this one never, the
// barrier of this one was not seen.
func (c *sv12) judgeEvasion(w *World, in *instance, name string, st *barrierState, change entryChange, announced, barred bool) {
	instead := func(x early) bool {
		return !st.refused && (x.booting && barred && x.seq > 0 || announced && x.before(w, change))
	}
	if instead(st.mild) {
		c.evade(in.server.member, name, st.mild)
	}
	if instead(st.missed) || st.missed.behind {
		c.evade(in.server.member, name, st.missed)
	}
}

// keptSilent bounds how many of them are told.
const keptSilent = 10

// judgeSilence looks for resources that the harness writes, that the process
// announced anew, and that nothing was written to while it booted.
func (c *sv12) judgeSilence(w *World, in *instance, states map[string]*barrierState, until int64) {
	if in.ready == nil {
		return
	}
	for _, x := range w.Header.Writes {
		name := objectName(x.Group, x.Resource)
		if st := states[name]; st != nil && st.asked {
			continue
		}
		if _, ok := w.registration(in, name, until); ok && len(c.silent) < keptSilent {
			c.silent = append(c.silent, fmt.Sprintf("nothing was written to %s while process %d of %s booted, which announced a version of it", name, in.number, in.server.member))
		}
	}
}

func (c *sv12) evade(member, name string, x early) {
	of := c.evasions(member, name)
	if of.count == 0 {
		of.first = x
	}
	of.count++
	if slow(x.code) {
		of.slow++
	}
}

func (c *sv12) evasions(member, name string) *evasions {
	key := memberName{member, name}
	if c.evaded[key] == nil {
		c.evaded[key] = &evasions{}
	}
	return c.evaded[key]
}

// excused is whether a slow machine explains them: it lets a few writes time out
// among many that are refused, to the same resource by the same member.
func (e *evasions) excused() bool { return e.count == e.slow && e.slow*answersForSlow <= e.refused }

func (e *evasions) tell(key memberName) string {
	answer := fmt.Sprintf("with %d", e.first.code)
	if e.first.code == 0 {
		answer = "with nothing"
	}
	told := fmt.Sprintf("%s answered a %s in %s %s instead of 503 before it had registered (event %d)", key.member, e.first.verb, key.name, answer, e.first.seq)
	if e.count > 1 {
		told += fmt.Sprintf(", and %d times more", e.count-1)
	}
	return told
}

// before is whether the answer certainly came before a change in etcd: the
// barrier was seen to be shut later, or something was written in between, or
// the change was told so much later that no recorder lags that far. An answer which
// names a later revision came later whatever the clock says.
func (x early) before(w *World, change entryChange) bool {
	late := time.Duration(change.at-x.at) > w.aways.lag(x.at, change.at) && x.named < change.revision
	return x.seq > 0 && (x.behind || x.next > 0 && x.next < change.revision || late)
}

func (c *sv12) doubts() []string {
	out := slices.Clone(c.silent)
	for _, key := range slices.SortedFunc(maps.Keys(c.evaded), func(a, b memberName) int {
		return cmp.Or(cmp.Compare(a.member, b.member), cmp.Compare(a.name, b.name))
	}) {
		if e := c.evaded[key]; !e.excused() {
			out = append(out, e.tell(key))
		}
	}
	if c.unplaced > 0 {
		out = append(out, fmt.Sprintf("%d writes were accepted of which nobody knows what they made in etcd", c.unplaced))
	}
	return out
}

// states gives what a process did, by StorageVersion, and forgets it.
func (c *sv12) states(in *instance) map[string]*barrierState {
	if s := c.open.take(in); s != nil {
		return *s
	}
	return nil
}

func (c *sv12) Finish(w *World) {
	for _, in := range w.running() {
		c.judge(w, in, c.states(in), w.Revision)
	}
}

func (c *sv12) Observations() []Observation {
	return []Observation{
		{What: "guarded writes refused by a server that had not registered", Seen: c.refusals, Need: needBarrierRefusals},
		c.refusalsEach.fewest("guarded writes refused by a server that had not registered", needRefusalsEach),
		{What: "registrations of a new version, refusing before and judged by the writes accepted after", Seen: c.registrations, Need: needRegistrations},
		c.each.fewest("registrations of a new version", needRegistrations),
	}
}
