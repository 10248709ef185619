package check

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// suiteEntry is what of a check says what its verdicts mean.
type suiteEntry struct {
	ID      requirement.ID `json:"id"`
	Sources []Source       `json:"sources"`
	Relies  reliance       `json:"relies"`
	// Observations are what is counted, and the least of each that makes a pass.
	Observations []Observation `json:"observations"`
}

// Suite is the version of what this evenkeel judges by: a SHA-256, in hexadecimal,
// of the catalogue of requirements with its profiles, documented deviations and
// graduations, and of what each check counts, needs and relies on. Whatever of these changes makes
// it another one, so that nobody has to think of raising a number.
//
// How a check comes to its counts is not in it: that another evenkeel of the same
// suite comes to others shows when it judges the same history.
func Suite() string { return suite() }

var suite = sync.OnceValue(func() string {
	all := struct {
		Requirements []requirement.Requirement `json:"requirements"`
		Profiles     []requirement.Profile     `json:"profiles"`
		Deviations   []requirement.Deviation   `json:"deviations"`
		Graduations  []requirement.Graduation  `json:"graduations"`
		Checks       []suiteEntry              `json:"checks"`
	}{requirement.All(), requirement.Profiles(), requirement.Deviations(), requirement.Graduations(), suiteEntries()}
	raw, err := json.Marshal(all)
	if err != nil {
		// All of it is compiled in, and a test of this package encodes it.
		panic(fmt.Sprintf("the suite cannot be encoded: %v", err))
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
})

// suiteEntries are those of all checks, in the order of the catalogue.
func suiteEntries() []suiteEntry {
	var out []suiteEntry
	for _, req := range requirement.All() {
		if e, ok := registry[req.ID]; ok {
			out = append(out, suiteEntry{req.ID, e.sources, e.relies, e.make().Observations()})
		}
	}
	return out
}
