package check

import (
	"fmt"
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// svm25: migrations that are there when members are replaced by another release, and
// by the one before again, can be listed and watched through every member, whichever
// release has written them: those that have ended one way or the other, and those
// that have not. It is judged at the end of each hold, by what clients of each member
// were shown and by lists in each version that it serves. Of what changed a moment
// ago nobody can tell that it is not on its way.
type svm25 struct {
	findings
	stored map[string]*leftover
	shown  map[string]*migrationViews
	broken map[string]brokenWatch
	// listed are the lists of this hold, by member and version; nil outside of holds.
	listed map[migrationList]*listing
	hold   moment
	// rolledBack is whether a member was rolled back since the last hold.
	rolledBack bool

	each, changes, lists     perMember
	succeeded, failed, going int64
	mixed, afterRollback     int64
	unseen                   once
	doubted                  []string
}

// leftover is a migration as etcd has it.
type leftover struct {
	moment
	created int64
	deleted bool
}

// migrationViews are what clients of one member were shown, since a list that was as
// etcd had it at a revision.
type migrationViews struct {
	opened int64
	byName map[string]int64 // its revision, by name
}

// brokenWatch is how a member's watch was lost.
type brokenWatch struct {
	seq, at int64
	code    int
	message string
}

type migrationList struct{ member, version string }

// listing is the outcome of the lists through one member in one version.
type listing struct {
	ok   bool
	seq  int64
	code int
}

const watchedMigrations = "storageversionmigrations"

func newSVM25() *svm25 {
	return &svm25{stored: map[string]*leftover{}, shown: map[string]*migrationViews{}, broken: map[string]brokenWatch{}}
}

func (c *svm25) Observe(w *World, ev *history.Event) {
	switch {
	case ev.Stored != nil:
		c.store(ev)
	case ev.Watch != nil && ev.Watch.Resource == watchedMigrations:
		c.watch(w, ev)
	case ev.Request != nil && ev.Request.Verb == "list" && ev.Request.Resource == watchedMigrations && c.listed != nil:
		c.list(ev)
	case ev.Step != nil && ev.Step.Action == "rollback" && ev.Step.Phase == history.PhaseEnd:
		c.rolledBack = true
	case ev.Hold != nil && ev.Hold.Phase == history.PhaseBegin:
		c.hold, c.listed = momentOf(ev), map[migrationList]*listing{}
	case ev.Hold != nil && ev.Hold.Phase == history.PhaseEnd && c.listed != nil:
		c.judge(w, ev)
		c.listed, c.rolledBack = nil, false
	}
}

func (c *svm25) store(ev *history.Event) {
	name, ok := migrationKey(ev.Stored.Key)
	if !ok {
		return
	}
	c.stored[name] = &leftover{moment: momentOf(ev), created: ev.Stored.Created, deleted: ev.Stored.Type == history.StoredDelete}
	if len(c.stored) > keptMigrations {
		for old, l := range c.stored {
			if l.deleted && old != name {
				delete(c.stored, old)
			}
		}
	}
}

func (c *svm25) watch(w *World, ev *history.Event) {
	member, shown := ev.Member, ev.Watch
	switch shown.Type {
	case history.WatchBroken:
		delete(c.shown, member)
		c.broken[member] = brokenWatch{ev.Seq, ev.At, shown.Code, shown.Message}
		return
	case history.WatchOpened:
		c.shown[member] = &migrationViews{opened: shown.ResourceVersion, byName: map[string]int64{}}
		return
	}
	views := c.shown[member]
	if views == nil {
		return
	}
	if shown.Type == "DELETED" {
		delete(views.byName, shown.Name)
	} else {
		views.byName[shown.Name] = shown.ResourceVersion
	}
	if shown.ResourceVersion > views.opened && len(releasesNow(w)) > 1 {
		c.changes.add(w, member)
	}
}

// releasesNow are the releases that the members' API servers run.
func releasesNow(w *World) map[string]bool {
	releases := map[string]bool{}
	for _, in := range w.running() {
		releases[in.release] = true
	}
	return releases
}

func (c *svm25) list(ev *history.Event) {
	key := migrationList{ev.Member, ev.Request.Version}
	if c.listed[key] == nil {
		c.listed[key] = &listing{}
	}
	if l := c.listed[key]; accepted(ev.Request) {
		l.ok = true
	} else if ev.Request.Code > 0 {
		l.seq, l.code = ev.Seq, ev.Request.Code
	}
}

func (c *svm25) judge(w *World, ev *history.Event) {
	whole, there := true, 0
	for _, l := range c.stored {
		if !l.deleted {
			there++
		}
	}
	for _, member := range w.order {
		if !up(w.servers[member]) {
			whole = false
			continue
		}
		whole = c.judgeLists(w, ev, member) && whole
		whole = c.judgeViews(w, ev, member) && whole
	}
	if !whole || there == 0 {
		return
	}
	releases := map[string]bool{}
	for _, release := range ev.Hold.Releases {
		releases[release] = true
	}
	if len(releases) > 1 {
		c.mixed++
	}
	if c.rolledBack {
		c.afterRollback++
	}
}

// judgeLists is whether a member answered a list in each version that it was asked in.
func (c *svm25) judgeLists(w *World, ev *history.Event, member string) bool {
	var versions []string
	for key := range c.listed {
		if key.member == member {
			versions = append(versions, key.version)
		}
	}
	slices.Sort(versions)
	all := len(versions) > 0
	for _, version := range versions {
		l := c.listed[migrationList{member, version}]
		switch {
		case l.ok:
			c.lists.add(w, member)
			continue
		case l.code > 0:
			c.infer(w, at(l.seq, ev.Seq), "in hold %q every list of migrations in %s was refused by %s, at last with %d", ev.Hold.Name, version, member, l.code)
		}
		all = false
	}
	if !all {
		c.miss("in hold %q it is not known in which versions %s lists migrations", ev.Hold.Name, member)
	}
	return all
}

// judgeViews is whether a member's clients were shown all migrations.
func (c *svm25) judgeViews(w *World, ev *history.Event, member string) bool {
	views := c.shown[member]
	if views == nil {
		if b := c.broken[member]; b.code > 0 && b.at < c.hold.at {
			c.infer(w, at(b.seq, c.hold.seq, ev.Seq), "all through hold %q clients of %s could not list and watch migrations: %s", ev.Hold.Name, member, b.message)
		} else {
			c.miss("in hold %q it is not known which migrations clients of %s are shown", ev.Hold.Name, member)
		}
		return false
	}
	whole := true
	for _, name := range sortedKeys(c.stored) {
		l := c.stored[name]
		revision, seen := views.byName[name]
		if l.deleted != seen && (l.deleted || revision >= l.revision) {
			if !l.deleted {
				c.count(w, member, name, l)
			}
			continue
		}
		whole = false
		switch due := time.Duration(ev.At-l.at) > migrationShows; {
		case !due:
		case l.deleted:
			c.infer(w, at(l.seq, ev.Seq), "in hold %q clients of %s are still shown migration %s, which was deleted %v before", ev.Hold.Name, member, name, migrationShows)
		case !seen:
			c.infer(w, at(l.seq, ev.Seq), "in hold %q clients of %s are not shown migration %s, which etcd has had for %v%s", ev.Hold.Name, member, name, migrationShows, c.past(w, member, l))
		default:
			c.infer(w, at(l.seq, ev.Seq), "in hold %q clients of %s are shown migration %s as it was before revision %d", ev.Hold.Name, member, name, l.revision)
		}
	}
	return whole
}

// past says in words that a migration is from before a member was replaced, if so.
func (c *svm25) past(w *World, member string, l *leftover) string {
	if in := w.servers[member].current(); l.created <= in.startRevision {
		return fmt.Sprintf(", since before that member was started at %s", in.release)
	}
	return ""
}

// count notes a migration that is shown by a member which has been replaced by
// another release since it was created.
func (c *svm25) count(w *World, member, name string, l *leftover) {
	srv := w.servers[member]
	in := srv.current()
	if n := len(srv.instances); n < 2 || srv.instances[n-2].release == in.release || l.created > in.startRevision {
		return
	}
	c.each.add(w, member)
	switch m := w.migrations.byName[name]; {
	case m == nil:
	case m.outcome == history.MigrationSucceeded:
		c.succeeded++
	case m.outcome == history.MigrationFailed:
		c.failed++
	default:
		c.going++
	}
}

func (c *svm25) miss(format string, args ...any) {
	if s := fmt.Sprintf(format, args...); len(c.doubted) < keptUnseen && c.unseen.first(s) {
		c.doubted = append(c.doubted, s)
	}
}

func (c *svm25) Finish(*World) {}

func (c *svm25) doubts() []string { return c.doubted }

func (c *svm25) Observations() []Observation {
	return []Observation{
		c.each.fewest("migrations shown by a member that had been replaced by another release since they were made", needShown),
		{What: "of them ones that had succeeded", Seen: c.succeeded, Need: needShown},
		{What: "of them ones that had failed", Seen: c.failed, Need: needShown},
		{What: "of them ones that had not ended", Seen: c.going, Need: needShown},
		c.changes.fewest("changes of migrations shown by a watch while members had different releases", needShown),
		c.lists.fewest("lists of migrations answered", needShown),
		{What: "holds in which members of different releases listed and showed all migrations", Seen: c.mixed, Need: needHolds},
		{What: "holds after a rollback in which members listed and showed all migrations", Seen: c.afterRollback, Need: needHolds},
	}
}
