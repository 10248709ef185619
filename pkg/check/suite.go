package check

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// suiteEntry holds the parts of a requirement that decide what its verdicts mean. It has no
// sentences, so that rewording them does not make another suite.
type suiteEntry struct {
	ID         requirement.ID    `json:"id"`
	Level      requirement.Level `json:"level"`
	KEPOnly    bool              `json:"kepOnly,omitempty"`
	Bounds     []suiteBound      `json:"bounds,omitempty"`
	Tolerances []suiteBound      `json:"tolerances,omitempty"`
	Needs      []suiteNeed       `json:"needs,omitempty"`
	Sources    []fact.Source     `json:"sources,omitempty"`
}

type suiteBound struct {
	Name    string `json:"name"`
	Value   string `json:"value"`
	Formula string `json:"formula,omitempty"`
}

type suiteNeed struct {
	Name  string `json:"name"`
	Least int64  `json:"least"`
}

// Suite is the version of what this evenkeel judges by: a SHA-256, in hexadecimal,
// of each requirement's level, bounds, tolerances and needs, of the recorders that its law
// relies on, and of the profiles, documented deviations and graduations. A change of any of
// these changes the version, so that no number has to be raised by hand.
//
// The code of the laws is not part of it. If another evenkeel of the same suite counts
// differently, that shows when it judges the same history.
func Suite() string { return suite() }

var suite = sync.OnceValue(func() string {
	all := struct {
		Requirements []suiteEntry                `json:"requirements"`
		Notions      map[string][]suiteBound     `json:"notions"`
		Profiles     map[string][]requirement.ID `json:"profiles"`
		Deviations   []requirement.Deviation     `json:"deviations"`
		Graduations  []requirement.Graduation    `json:"graduations"`
	}{suiteEntries(), map[string][]suiteBound{}, map[string][]requirement.ID{}, withoutWords(requirement.Deviations()), requirement.Graduations()}
	for _, n := range requirement.Notions() {
		all.Notions[string(n.ID)] = suiteBounds(n.Bounds)
	}
	for _, p := range requirement.Profiles() {
		all.Profiles[p.Name] = p.Requirements
	}
	raw, err := json.Marshal(all)
	if err != nil {
		// All the data is compiled in, and a test of this package encodes it.
		panic(fmt.Sprintf("the suite cannot be encoded: %v", err))
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
})

// suiteEntries returns the entries of all requirements, in the order of the catalog.
func suiteEntries() []suiteEntry {
	rows := map[requirement.ID]law.Row{}
	for _, k := range keps {
		for _, row := range k.Rows() {
			rows[row.ID] = row
		}
	}
	var out []suiteEntry
	for _, req := range requirement.All() {
		e := suiteEntry{ID: req.ID, Level: req.Level, KEPOnly: req.KEPOnly, Bounds: suiteBounds(req.Bounds), Tolerances: suiteBounds(req.Tolerances), Sources: rows[req.ID].Sources}
		for _, n := range req.Needs {
			e.Needs = append(e.Needs, suiteNeed{n.Name, n.Least})
		}
		out = append(out, e)
	}
	return out
}

func suiteBounds(bounds []requirement.Bound) []suiteBound {
	var out []suiteBound
	for _, b := range bounds {
		out = append(out, suiteBound{b.Name, b.Value, b.Formula})
	}
	return out
}

// withoutWords returns the deviations without the sentences that say how they differ.
func withoutWords(deviations []requirement.Deviation) []requirement.Deviation {
	for i := range deviations {
		deviations[i].Differs, deviations[i].Source = "", ""
	}
	return deviations
}
