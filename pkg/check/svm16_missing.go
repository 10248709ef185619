package check

import (
	"cmp"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// missing are objects that went, and requests to delete some. Either of the two may be
// told first.
type missing struct {
	// gone are the objects that went, and what others went with, until somebody is known
	// to have asked for that; and asked counts for each how often somebody asked to delete it, until it goes: of
	// what is made anew meanwhile the recorder may tell late, and all at once.
	gone  map[deletion]goneObject
	asked map[deletion]int
	// never are those that went, and were there again, without that having been asked.
	never []lostObject
	// unheard counts the requests for which there was no room.
	unheard int64
}

// deletion is of an object by its name.
type deletion struct {
	gr   groupResource
	name string
}

// goneObject is when an object went, the event that had stored it, and the first
// migration of its resource; nil if none had begun.
type goneObject struct {
	seq, at, stored int64
	after           *migrationSeen
}

// lostObject is an object that went and that nobody had asked to delete.
type lostObject struct {
	deletion
	goneObject
}

func newMissing() *missing {
	return &missing{gone: map[deletion]goneObject{}, asked: map[deletion]int{}}
}

// lose notes that an object went.
func (ms *missing) lose(d deletion, g goneObject) {
	if n := ms.asked[d]; n > 0 {
		if ms.asked[d] = n - 1; n == 1 {
			delete(ms.asked, d)
		}
		return
	}
	if old, there := ms.gone[d]; there && old.after != nil && g.at-old.at > int64(underWay) {
		ms.never = append(ms.never, lostObject{d, old}) // who asked for it would have been answered by now
	}
	ms.gone[d] = g
}

// ask notes that somebody asked to delete an object. Of a request without an answer,
// or one that a server gave up on, nobody knows what came of it.
func (ms *missing) ask(r *history.Request) {
	if r.Verb != "delete" || !accepted(r) && r.Code != 0 && (r.Code < 500 || r.Barrier) {
		return
	}
	d := deletion{groupResource{r.Group, r.Resource}, r.Name}
	switch _, gone := ms.gone[d]; {
	case gone:
		ms.excuse(d, ms.gone[d].seq)
		delete(ms.gone, d)
	case ms.asked[d] > 0 || len(ms.asked) < keptBuried:
		ms.asked[d]++
	default:
		ms.unheard++
	}
}

// leave notes that a namespace or a definition went, which is after all that went with it.
// Whatever comes after that under the same name is something else.
func (ms *missing) leave(d deletion, g goneObject) {
	if n := ms.asked[d]; n == 0 {
		ms.gone[d] = g
		return
	}
	if ms.asked[d]--; ms.asked[d] == 0 {
		delete(ms.asked, d)
	}
	ms.excuse(d, g.seq)
}

// excuse forgets what went with a namespace or a definition that somebody had asked to
// delete, and that was gone at an event.
func (ms *missing) excuse(keeper deletion, until int64) {
	for d, g := range ms.gone {
		if g.seq < until && slices.Contains(keepersOf(d), keeper) {
			delete(ms.gone, d)
		}
	}
}

var (
	namespaces  = groupResource{"", "namespaces"}
	definitions = groupResource{"apiextensions.k8s.io", "customresourcedefinitions"}
)

// keepersOf are the namespace that an object is in, if any, and the definition that its
// resource may have.
func keepersOf(d deletion) []deletion {
	out := []deletion{{definitions, d.gr.resource + "." + d.gr.group}}
	if namespace, _, ok := strings.Cut(d.name, "/"); ok {
		out = append(out, deletion{namespaces, namespace})
	}
	return out
}

// keeperOf is the namespace or definition that etcd keeps under a key; ok is false for
// anything else.
func keeperOf(key string) (d deletion, ok bool) {
	if namespace, ok := strings.CutPrefix(key, namespacesPrefix); ok {
		return deletion{namespaces, namespace}, true
	}
	_, name, ok := strings.Cut(key, customPrefixSuffix)
	return deletion{definitions, name}, ok
}

// lost are the objects that went after a migration had begun and before a time, and
// that nobody had asked to delete, oldest first: who asked for what went later may not
// have been answered yet.
func (ms *missing) lost(before int64) []lostObject {
	out := slices.Clone(ms.never)
	for d, g := range ms.gone {
		if slices.ContainsFunc(keepersOf(d), func(keeper deletion) bool { return ms.asked[keeper] > 0 }) {
			continue // it went with that
		}
		if g.after != nil && g.at < before {
			out = append(out, lostObject{d, g})
		}
	}
	slices.SortFunc(out, func(a, b lostObject) int { return cmp.Compare(a.seq, b.seq) })
	return out
}
