package check

import (
	"github.com/evenkeel/evenkeel/pkg/history"
	"maps"
	"slices"
)

func indexOf(entries []history.Entry, id string) int {
	return slices.IndexFunc(entries, func(e history.Entry) bool { return e.ServerID == id })
}

func sameEntry(a, b history.Entry) bool {
	return a.ServerID == b.ServerID && a.Encoding == b.Encoding &&
		sameSet(a.Decodable, b.Decodable) && sameSet(a.Served, b.Served)
}

// sameSet compares without regard to order and repetition.
func sameSet(a, b []string) bool { return includes(a, b) && includes(b, a) }

func includes(all, some []string) bool {
	for _, x := range some {
		if !slices.Contains(all, x) {
			return false
		}
	}
	return true
}

// allEqual gives the one version that all entries encode to, if there is one.
func allEqual(entries []history.Entry) (string, bool) {
	if len(entries) == 0 {
		return "", false
	}
	for _, e := range entries {
		if e.Encoding != entries[0].Encoding {
			return "", false
		}
	}
	return entries[0].Encoding, true
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
