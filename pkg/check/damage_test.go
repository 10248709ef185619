package check

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/story"
)

const (
	// randomDamages is how many times a few lines are taken out of each story.
	randomDamages = 20
	// rounds is how often each story is judged.
	rounds = 5
)

// A history from which any line is missing never passes.
func TestJudge_DamageNeverPasses(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, f := range fixtures(t) {
		t.Run(f.Name, func(t *testing.T) {
			lines := bytes.SplitAfter(bytes.TrimSuffix(f.data, []byte("\n")), []byte("\n"))
			last := len(lines) - 1
			lines[last] = append(slices.Clone(lines[last]), '\n')
			damages := map[string][][]byte{
				"no end":                lines[:last],
				"a cut line at the end": append(slices.Clone(lines[:last]), lines[last][:len(lines[last])/2]),
				"only the header":       lines[:1],
				"an event twice":        slices.Insert(slices.Clone(lines), 2, lines[1]),
				"an empty line":         slices.Insert(slices.Clone(lines), 2, []byte("\n")),
			}
			for i := range randomDamages {
				kept := slices.Clone(lines)
				var removed []int
				for range min(1+random.IntN(4), last) {
					n := 1 + random.IntN(len(kept)-1)
					kept = slices.Delete(kept, n, n+1)
					removed = append(removed, n)
				}
				damages[fmt.Sprintf("%d: without lines %v", i, removed)] = kept
			}
			for name, kept := range damages {
				r := judgeFile(t, bytes.Join(kept, nil), f.Requirement)
				if r.Verdict != Inconclusive && r.Verdict != Fail {
					t.Errorf("%s: %s", name, r.Verdict)
				}
				if r.Verdict == Fail && f.Want != story.Fail {
					t.Errorf("%s: a violation is reported where there was none: %v", name, r.Violations)
				}
				if len(r.Reasons) == 0 {
					t.Errorf("%s: no reason says that it is damaged", name)
				}
			}
		})
	}
}

func TestRead_RejectsHistoryWithoutHeader(t *testing.T) {
	for _, f := range fixtures(t)[:3] {
		_, rest, _ := bytes.Cut(f.data, []byte("\n"))
		if _, err := history.NewReader(bytes.NewReader(rest)); err == nil {
			t.Errorf("%s is read without its header", f.Name)
		}
	}
}

// The iteration order of maps is random, so a result that depends on it differs within a
// few rounds.
func TestJudge_SameHistoryGivesSameResults(t *testing.T) {
	for _, f := range fixtures(t) {
		var first string
		for i := range rounds {
			out, err := json.Marshal(judgeFile(t, f.data, f.Requirement))
			if err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				first = string(out)
			} else if string(out) != first {
				t.Errorf("%s gives now\n%s\nand now\n%s", f.Name, first, out)
			}
		}
	}
}
