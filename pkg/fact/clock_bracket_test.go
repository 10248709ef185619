package fact_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/evenkeel/evenkeel/pkg/fact"
)

// Whatever recorders tell of revisions, as long as it is true, the time at which a
// revision was made stays within what the clock gives.
func TestClock_NeverExcludesTheTimeAtWhichARevisionWasMade(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c fact.Clock
		made := []int64{0}
		for range rapid.IntRange(1, 12).Draw(t, "revisions") {
			made = append(made, made[len(made)-1]+rapid.Int64Range(0, 20).Draw(t, "after"))
		}
		revision := func(what string) int { return rapid.IntRange(1, len(made)-1).Draw(t, what) }
		for range rapid.IntRange(0, 15).Draw(t, "readings") {
			r := revision("revision")
			if rapid.Bool().Draw(t, "made") {
				// The revisions of writes are unique: a higher one is made after it was sent.
				c.Made(int64(r), made[r]-rapid.Int64Range(0, 9).Draw(t, "sent"), made[r]+rapid.Int64Range(0, 9).Draw(t, "answered"))
			} else {
				c.Seen(int64(r), made[r]+rapid.Int64Range(0, 30).Draw(t, "seen"))
			}
		}
		r := revision("asked")
		earliest := made[r] - rapid.Int64Range(0, 40).Draw(t, "earliest")
		latest := made[r] + rapid.Int64Range(0, 40).Draw(t, "latest")
		from, to := c.Bracket(int64(r), earliest, latest)
		if from > made[r] || to < made[r] || from < earliest || to > latest {
			t.Fatalf("revision %d was made at %d, and the clock narrows [%d, %d] to [%d, %d]", r, made[r], earliest, latest, from, to)
		}
	})
}

func TestClock_NarrowsByWritesBeforeAndAnswersAfter(t *testing.T) {
	var c fact.Clock
	c.Made(10, 100, 120)
	c.Seen(12, 150)
	if from, to := c.Bracket(11, 0, 1000); from != 100 || to != 150 {
		t.Errorf("revision 11 was made in [%d, %d], want [100, 150]: after the write of 10 was sent, before 12 was seen", from, to)
	}
	if from, to := c.Bracket(9, 0, 1000); from != 0 || to != 120 {
		t.Errorf("revision 9 was made in [%d, %d], want [0, 120]: before the write of 10 was answered", from, to)
	}
}
