package check

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
	"github.com/evenkeel/evenkeel/pkg/story"
)

// A history from which anything is missing never passes, whatever it was.
func TestDamageNeverPasses(t *testing.T) {
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
			for i := range 40 {
				kept := slices.Clone(lines)
				var removed []int
				for range 1 + random.IntN(4) {
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
					t.Errorf("%s: what kept its promise is blamed: %v", name, r.Violations)
				}
				if len(r.Reasons) == 0 {
					t.Errorf("%s: no reason says that it is damaged", name)
				}
			}
		})
	}
}

func TestAHistoryWithoutItsHeaderIsNone(t *testing.T) {
	for _, f := range fixtures(t)[:3] {
		_, rest, _ := bytes.Cut(f.data, []byte("\n"))
		if _, err := history.NewReader(bytes.NewReader(rest)); err == nil {
			t.Errorf("%s is read without its header", f.Name)
		}
	}
}

// Maps have no order, so whatever leaks theirs shows within a few rounds.
func TestJudgingAgainGivesTheSame(t *testing.T) {
	for _, f := range fixtures(t) {
		var first string
		for i := range 10 {
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

// The same for histories that break a promise in many objects at once.
func TestManyBreachesComeInOneOrder(t *testing.T) {
	chaos := func() *tale {
		told := tell()
		revision := int64(10)
		many := []history.HostedResource{}
		for i := range 9 {
			many = append(many, history.HostedResource{Group: group, Resource: fmt.Sprint("r", i), Kind: "K", Served: []string{v1}, Persisted: true})
		}
		for n := range 2 {
			for _, m := range []string{"a", "b", "c"} {
				told.starts(m, n+1).asks(m, 403, 0).ready(m, 200, revision).lists(m, revision, many...)
			}
			for i := range 9 {
				name := fmt.Sprint("g.io.r", i)
				told.asks("a", 200, revision+1, func(ev *history.Event) { ev.Request.Resource = fmt.Sprint("r", i) })
				for j, entries := range [][]string{{"a=x", "b=y", "c=z"}, {"a=y", "b=x"}, {"c=x", "c=y"}, {"b=x", "z=x"}} {
					revision += 2
					told.disagrees(name, revision, entries...).says("."+name, revision+1, entries...)
					told.events[len(told.events)-1].Stored.StorageVersion.Conditions[0].Transition = started.AddDate(0, 0, -j)
				}
			}
			told.joins("a", revision+2).joins("b", revision+3)
			revision += 4
			told.holds(history.PhaseBegin, revision).pass(departedEntryGoes * 2)
			for _, m := range []string{"a", "b", "c"} {
				told.lists(m, revision, many...)
			}
			told.holds(history.PhaseEnd, revision)
		}
		return told
	}
	first := map[requirement.ID]Result{}
	for i := range 20 {
		for _, id := range slices.Sorted(maps.Keys(registry)) {
			r := chaos().judge(t, id)[0]
			if i == 0 {
				first[id] = r
			} else if !reflect.DeepEqual(r, first[id]) {
				t.Fatalf("%s gives\n%v\nand now\n%v", id, first[id].Violations, r.Violations)
			}
		}
	}
	for _, id := range []requirement.ID{"SV-01", "SV-02", "SV-03", "SV-09", "SV-12", "SV-14", "SV-21"} {
		if first[id].ViolationCount < 2 {
			t.Errorf("%s finds %d breaches, too few to put in order: %v", id, first[id].ViolationCount, first[id].Violations)
		}
	}
}
