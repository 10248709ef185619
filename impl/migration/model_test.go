package migration

import (
	"fmt"
	"slices"
	"testing"

	apiserverinternalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"
	"pgregory.net/rapid"
)

// world is a control plane in miniature: servers that store what they have
// announced, objects with the version that each is stored in, and a worker that
// decides as this package says.
type world struct {
	announced map[string]string
	// announcements counts changes of what is announced, revision those of objects.
	announcements, revision int
	objects                 map[string]object
	worker                  Checkpoint
	// listed is the chunk that the worker has read and not written yet.
	listed []string
	seen   map[string]int
	next   string
}

type object struct {
	version  string
	revision int
}

// storageVersion is what the servers have announced.
func (w *world) storageVersion() *apiserverinternalv1alpha1.StorageVersion {
	var encodings []string
	for _, version := range w.announced {
		encodings = append(encodings, version)
	}
	agreed := ""
	if same := slices.Compact(slices.Sorted(slices.Values(encodings))); len(same) == 1 {
		agreed = same[0]
	}
	return storageVersion(fmt.Sprint(w.announcements), agreed, encodings...)
}

// list reads a chunk of at most two objects.
func (w *world) list() {
	var rest []string
	for name := range w.objects {
		if name > w.worker.Continue {
			rest = append(rest, name)
		}
	}
	slices.Sort(rest)
	size := min(2, len(rest))
	w.listed, w.next, w.seen = append([]string{}, rest[:size]...), "", map[string]int{}
	if len(rest) > size {
		w.next = rest[size-1]
	}
	for _, name := range w.listed {
		w.seen[name] = w.objects[name].revision
	}
}

// A success is never false: whatever servers, users and the worker do between
// each other's steps, when a migration succeeds every object is stored in the
// version that it says.
func TestNoFalseSuccess(t *testing.T) {
	versions := []string{"g/v1", "g/v2"}
	successes := 0
	rapid.Check(t, func(t *rapid.T) {
		w := &world{announced: map[string]string{"a": "g/v1", "b": "g/v1"}, objects: map[string]object{}}
		names := rapid.SampledFrom([]string{"k1", "k2", "k3", "k4", "k5"})
		servers := rapid.SampledFrom([]string{"a", "b"})
		store := func(name, version string) {
			w.revision++
			w.objects[name] = object{version, w.revision}
		}
		for range rapid.IntRange(0, 5).Draw(t, "objects") {
			store(names.Draw(t, "object"), "g/v1")
		}
		finish := func(t *rapid.T, basis Basis) {
			for name, o := range w.objects {
				if o.version != basis.Version {
					t.Fatalf("succeeded with %s stored as %s", name, o.version)
				}
			}
			successes++
			w.worker = Checkpoint{}
		}
		goOn := func(t *rapid.T) {
			basis, agreed := BasisOf(w.storageVersion())
			switch {
			case w.worker.Pass == 0:
				if agreed {
					w.worker, w.listed = Begun("m", 1, basis, nil), nil
				}
			case w.worker.Listed:
				switch w.worker.Basis.Check(w.storageVersion()) {
				case Lost:
					w.worker = Checkpoint{}
				case Moved:
					w.worker = w.worker.Again(basis, nil)
				case Holds:
					finish(t, w.worker.Basis)
				}
			case w.listed == nil:
				w.list()
			case len(w.listed) > 0:
				name := w.listed[0]
				w.listed = w.listed[1:]
				if o, exists := w.objects[name]; exists && o.revision == w.seen[name] {
					store(name, w.announced[servers.Draw(t, "server")])
				}
			default:
				w.worker, w.listed = w.worker.After(Chunk{Continue: w.next}), nil
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			// The worker has more turns than the others, or it would never be done.
			"the worker goes on":            goOn,
			"the worker goes on, again":     goOn,
			"the worker goes on, yet again": goOn,
			"the worker goes on and on": func(t *rapid.T) {
				for range 5 {
					goOn(t)
				}
			},
			"a server announces": func(t *rapid.T) {
				server, version := servers.Draw(t, "server"), rapid.SampledFrom(versions).Draw(t, "version")
				if w.announced[server] != version {
					w.announced[server] = version
					w.announcements++
				}
			},
			"a user writes": func(t *rapid.T) { store(names.Draw(t, "object"), w.announced[servers.Draw(t, "server")]) },
			"a user deletes": func(t *rapid.T) {
				w.revision++
				delete(w.objects, names.Draw(t, "object"))
			},
			"the worker crashes": func(*rapid.T) { w.listed = nil },
			"the token expires": func(t *rapid.T) {
				if w.worker.Continue != "" && w.listed == nil {
					w.worker = w.worker.Expired(rapid.SampledFrom([]string{"", w.worker.Continue}).Draw(t, "token"))
				}
			},
		})
	})
	if successes == 0 {
		t.Error("no migration ever succeeded, so nothing was tested")
	}
}
