package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/history"
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

func sameString(a, b *string) bool {
	return (a == nil) == (b == nil) && (a == nil || *a == *b)
}

// conditionType is the condition that mirrors the agreement.
const conditionType = "AllEncodingVersionsEqual"

// agreementCondition gives the condition that mirrors the agreement.
func agreementCondition(sv *history.StorageVersion) (history.Condition, bool) {
	for _, c := range sv.Conditions {
		if c.Type == conditionType {
			return c, true
		}
	}
	return history.Condition{}, false
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

func showCommon(c *string) string {
	if c == nil {
		return "none"
	}
	return *c
}

func showEntries(entries []history.Entry) string {
	if len(entries) == 0 {
		return "none"
	}
	out := make([]string, 0, len(entries))
	for _, e := range entries {
		out = append(out, fmt.Sprintf("%s: %s", e.ServerID, e.Encoding))
	}
	return strings.Join(out, ", ")
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
