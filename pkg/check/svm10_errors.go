package check

import (
	"net/http"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// svm10: errors that pass by themselves delay a migration and do not fail it; nor
// does an object count as migrated because its write came to such an error. Only
// errors that a fault put in the way of the controller are counted, because only of
// those is it known that they pass.
type svm10 struct {
	findings
	survived int64
	// kinds are the different errors under migrations that succeeded.
	kinds map[int]bool
	// under are the errors that migrations which run have met.
	under map[*migrationSeen]*errorsMet
}

// errorsMet are the errors that one migration has met.
type errorsMet struct {
	count int64
	kinds map[int]bool
	// writes are the first errors by the name of the object; last is the latest.
	writes map[string]moment
	last   moment
}

func newSVM10() *svm10 {
	return &svm10{kinds: map[int]bool{}, under: map[*migrationSeen]*errorsMet{}}
}

func (c *svm10) Observe(w *World, ev *history.Event) {
	if gr, name, code, ok := failedWrite(ev); ok {
		if m := w.migrations.runningOf(gr); m != nil {
			c.note(m, momentOf(ev), name, code)
		}
	}
	move := w.migrations.moved
	if move == nil || !move.ended && !move.gone {
		return
	}
	m := move.m
	met := c.under[m]
	delete(c.under, m)
	switch {
	case met != nil && move.stuck:
		c.stuck(w, m, met)
	case met == nil || !move.ended:
	case m.outcome == history.MigrationSucceeded:
		c.survived += met.count
		for kind := range met.kinds {
			c.kinds[kind] = true
		}
		c.compare(w, m, met)
	case m.held():
		c.infer(w, at(met.last.seq, m.ended.seq), "migration %s failed (%s) after %d errors that pass by themselves, with the servers in agreement", m.name, reasonOf(m), met.count)
	}
}

func (c *svm10) note(m *migrationSeen, when moment, name string, code int) {
	met := c.under[m]
	if met == nil {
		met = &errorsMet{kinds: map[int]bool{}, writes: map[string]moment{}}
		c.under[m] = met
	}
	met.count++
	met.kinds[code], met.last = true, when
	if _, known := met.writes[name]; !known && len(met.writes) < keptPassing {
		met.writes[name] = when
	}
}

// compare looks for objects that were left behind because of an error.
func (c *svm10) compare(w *World, m *migrationSeen, met *errorsMet) {
	target, _ := w.agreedOn(m.gr)
	if target == "" {
		return
	}
	target = w.migratedTo(m)
	for _, o := range w.migrations.of(m.gr) {
		if when, hit := met.writes[o.name]; hit && o.version != target && !w.excused(m, o) {
			c.infer(w, at(when.seq, o.seq, m.ended.seq), "migration %s succeeded at revision %d, and %s %s, whose write had met an error that passes by itself, is stored as %s and not as %s",
				m.name, m.ended.revision, m.gr.resource, o.name, o.version, target)
		}
	}
}

func (c *svm10) Finish(w *World) {
	for _, m := range w.migrations.live {
		if met := c.under[m]; met != nil && m.stuck(w) {
			c.stuck(w, m, met)
		}
	}
}

func (c *svm10) stuck(w *World, m *migrationSeen, met *errorsMet) {
	c.infer(w, at(met.last.seq, m.sign.seq), "migration %s met %d errors that pass by themselves and has not ended, and nothing came of it for %v or longer", m.name, met.count, healthyEnds)
}

func (c *svm10) Observations() []Observation {
	return []Observation{
		{What: "errors that pass by themselves under migrations that succeeded", Seen: c.survived, Need: needPassing},
		{What: "different ones among them", Seen: int64(len(c.kinds)), Need: needPassingKinds},
	}
}

// failedWrite is a write of an object by a controller manager which a fault had
// fail in a way that passes by itself: too many requests, an error of the server or
// of what is in between, or no answer at all (0).
func failedWrite(ev *history.Event) (gr groupResource, name string, code int, ok bool) {
	x := ev.Exchange
	if x == nil || x.Code != 0 && x.Code != http.StatusTooManyRequests && x.Code < http.StatusInternalServerError {
		return gr, "", 0, false
	}
	gr, name, ok = writtenBy(x)
	return gr, name, x.Code, ok
}

// writtenBy is the object that a controller manager's request was to write.
func writtenBy(x *history.Exchange) (gr groupResource, name string, ok bool) {
	if x.Component != history.ComponentControllerManager || x.Method != http.MethodPut && x.Method != http.MethodPatch {
		return gr, "", false
	}
	return objectOf(x.Path)
}

// objectOf reads which object a path of the API names, as a history names it; ok is
// false for any other path, one of a subresource too.
func objectOf(path string) (gr groupResource, name string, ok bool) {
	parts := strings.Split(strings.TrimPrefix(path, "/"), "/")
	switch {
	case len(parts) > 2 && parts[0] == "api":
		parts = parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		gr.group, parts = parts[1], parts[3:]
	default:
		return gr, "", false
	}
	namespace := ""
	if len(parts) == 4 && parts[0] == "namespaces" {
		namespace, parts = parts[1]+"/", parts[2:]
	}
	if len(parts) != 2 || parts[0] == "" || parts[1] == "" {
		return gr, "", false
	}
	gr.resource = parts[0]
	return gr, namespace + parts[1], true
}
